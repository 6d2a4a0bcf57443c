#!/usr/bin/env python3
# gpu_attention_backward.py - the gradients of attention next to cuDNN's and torch's own kernels, in TFLOP/s.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_attention_backward.py GROUT S,HEADS,D,CAUSAL[,NAME=VALUE...] ...

Times kernels/attention_hopper_backward.grout (with D = 256 attention_hopper_backward_wide), and what comes before and
after it in attention_hopper_backward_rows, by 'grout run --repeats', and the backward pass of
scaled_dot_product_attention by CUDA events, with cuDNN and with torch's FlashAttention; medians. The ratio is that of
the whole, all three kernels, to cuDNN. Counted are 10 S S D operations for each head; a causal mask halves them. Exit
code 77 without a GPU or torch.
"""

import sys

from gpu_timing import find_torch, time_grout, time_torch

KERNEL = "kernels/attention_hopper_backward{}.grout"
REPEATS = 10


def time_ours(grout, shape, defines):
    """Microseconds of the products, and of all three kernels; or None."""
    s, heads, d, is_causal = shape
    sizes = [f"S={s}", f"HEADS={heads}", f"D={d}"]
    # A row's sum is about S exp(1/2) of its terms.
    lse = ["--input", f"lse2={s.bit_length()}"]
    times = [time_grout(grout, KERNEL.format("_wide" if d > 128 else ""), ["q", "k", "v", "do", "delta"],
                        [*sizes, f"CAUSAL={is_causal}", *defines], REPEATS, lse)]
    for name, inputs in (("rows", ["o", "do", "lse"]), ("queries", ["sums"])):
        options = ["--kernel", "@attention_backward_" + name]
        times.append(time_grout(grout, KERNEL.format("_rows"), inputs, sizes, REPEATS, options))
    return None if None in times else (times[0], sum(times))


def time_theirs(torch, shape, backend):
    """Microseconds, or None if the backend cannot."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    s, heads, d, is_causal = shape
    q, k, v, grad = (torch.randn(1, heads, s, d, device="cuda", dtype=torch.float16) for _ in range(4))
    inputs = [one.requires_grad_() for one in (q, k, v)]
    try:
        with sdpa_kernel(getattr(SDPBackend, backend)):
            out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=bool(is_causal))
            return time_torch(torch, lambda: torch.autograd.grad(out, inputs, grad, retain_graph=True), REPEATS)
    except RuntimeError as error:
        print(f"{backend}: {error}", file=sys.stderr)
        return None


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    torch = find_torch()
    is_ok = True
    print(f"{'case':28} {'main us':>9} {'all us':>9} {'TFLOP/s':>8} {'cuDNN us':>9} {'TFLOP/s':>8} {'ratio':>6}"
          f" {'torch us':>9}")
    for case in sys.argv[2:]:
        parts = case.split(",")
        shape = tuple(int(part) for part in parts[:4])
        ours = time_ours(sys.argv[1], shape, parts[4:])
        theirs = [time_theirs(torch, shape, backend) for backend in ("CUDNN_ATTENTION", "FLASH_ATTENTION")]
        flop = 10.0 * shape[0] * shape[0] * shape[1] * shape[2] / (2 if shape[3] else 1)
        if ours is None:
            print(f"{case:28} failed (cuDNN, torch: {theirs} us)")
            is_ok = False
            continue
        cudnn, flash = (one or float("nan") for one in theirs)
        print(f"{case:28} {ours[0]:9.1f} {ours[1]:9.1f} {flop / ours[1] / 1e6:8.1f} {cudnn:9.1f}"
              f" {flop / cudnn / 1e6:8.1f} {cudnn / ours[1]:6.3f} {flash:9.1f}", flush=True)
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
