#!/usr/bin/env python3
# gpu_fp8.py - a matmul of 8-bit floats next to cuBLAS (torch._scaled_mm), in TFLOP/s.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_fp8.py GROUT FILE M,N,K[,NAME=VALUE...] ...

Both get random normal operands of f8e4m3 and write bf16, in one run. The kernel has the constants M, N, K and the
parameters %a and %b; it is timed by 'grout run --repeats', cuBLAS by CUDA events around each call; medians of both.
cuBLAS is timed twice: with its fast sums in the tensor core (what wgmma does) and with exact ones.
Exit code 77 without a GPU or torch.
"""

import sys

from gpu_timing import find_torch, time_grout, time_torch

REPEATS = 30


def time_cublas(torch, size, is_fast):
    m, n, k = size
    a = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")
    return time_torch(torch, lambda: torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16,
                                                      use_fast_accum=is_fast), REPEATS)


def main():
    if len(sys.argv) < 4:
        print(__doc__)
        return 2
    torch = find_torch()
    is_ok = True
    print(f"{'case':40} {'grout us':>10} {'TFLOP/s':>8} {'cuBLAS us':>10} {'TFLOP/s':>8} {'ratio':>6} {'exact us':>10}")
    for case in sys.argv[3:]:
        parts = case.split(",")
        size = [int(part) for part in parts[:3]]
        ours = time_grout(sys.argv[1], sys.argv[2], "ab", [*map("{}={}".format, "MNK", size), *parts[3:]], REPEATS)
        fast, exact = (time_cublas(torch, size, is_fast) for is_fast in (True, False))
        flop = 2.0 * size[0] * size[1] * size[2]
        if ours is None:
            print(f"{case:40} failed (cuBLAS {fast:.1f} us, {flop / fast / 1e6:.1f} TFLOP/s)")
            is_ok = False
            continue
        print(f"{case:40} {ours:10.1f} {flop / ours / 1e6:8.1f} {fast:10.1f} {flop / fast / 1e6:8.1f}"
              f" {fast / ours:6.3f} {exact:10.1f}", flush=True)
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
