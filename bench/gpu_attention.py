#!/usr/bin/env python3
# gpu_attention.py - a kernel of attention next to cuDNN (torch's scaled_dot_product_attention), in TFLOP/s.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_attention.py GROUT FILE S,HEADS,D,CAUSAL[,NAME=VALUE...] ...

Both get random normal operands of one type and size in one run: the clock of the GPU depends on them. The kernel has
the constants S, D, CAUSAL (0 or 1) and one of HEADS, H or BH for the number of heads. It is timed by
'grout run --repeats', cuDNN by CUDA events around each call; medians of both. A causal mask halves the counted work.
Exit code 77 without a GPU or torch.
"""

import re
import sys

from gpu_timing import find_torch, time_grout, time_torch

REPEATS = 20


def name_of_heads(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return next(name for name in ("HEADS", "BH", "H") if re.search(rf"\b{name}\s*(:\s*\w+\s*)?=", text))


def list_defines(path, shape):
    s, heads, d, is_causal = shape
    return [f"S={s}", f"{name_of_heads(path)}={heads}", f"D={d}", f"CAUSAL={is_causal}"]


def time_cudnn(torch, shape):
    from torch.nn.attention import SDPBackend, sdpa_kernel
    s, heads, d, is_causal = shape
    q, k, v = (torch.randn(1, heads, s, d, device="cuda", dtype=torch.float16) for _ in range(3))
    with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
        return time_torch(torch, lambda: torch.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=bool(is_causal)), REPEATS)


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    torch = find_torch()
    is_ok = True
    seen = {}
    print(f"{'case':48} {'grout us':>10} {'TFLOP/s':>8} {'cuDNN us':>10} {'TFLOP/s':>8} {'ratio':>6}")
    for case in sys.argv[3:]:
        parts = case.split(",")
        shape = tuple(int(part) for part in parts[:4])
        defines = list_defines(sys.argv[2], shape) + parts[4:]
        ours = time_grout(sys.argv[1], sys.argv[2], "qkv", defines, REPEATS)
        if shape not in seen:
            seen[shape] = time_cudnn(torch, shape)
        theirs = seen[shape]
        flop = 4.0 * shape[0] * shape[0] * shape[1] * shape[2] / (2 if shape[3] else 1)
        if ours is None:
            print(f"{case:48} failed (cuDNN {flop / theirs / 1e6:8.1f})")
            is_ok = False
            continue
        print(f"{case:48} {ours:10.1f} {flop / ours / 1e6:8.1f} {theirs:10.1f} {flop / theirs / 1e6:8.1f}"
              f" {theirs / ours:6.3f}", flush=True)
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
