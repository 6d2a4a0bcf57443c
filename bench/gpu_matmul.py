#!/usr/bin/env python3
# gpu_matmul.py - a matmul of kernels/ next to cuBLAS (torch.matmul) in one run, in TFLOP/s.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_matmul.py GROUT [KERNEL.grout] [M,N,K[,NAME=VALUE...] ...]

KERNEL computes C = A B of bf16, or D = A B + C (then cuBLAS adds, too); by default it is
kernels/matmul_hopper_ws.grout.

Both get random normal operands of the same type and size: the clock of the GPU depends on them. The
kernel is timed by 'grout run --repeats', cuBLAS by CUDA events around each call; medians of both.
Exit code 77 without a GPU or torch.
"""

import sys

from gpu_timing import find_torch, time_grout, time_torch

KERNEL = "kernels/matmul_hopper_ws.grout"
REPEATS = 30
DEFAULT = ["8192,8192,8192", "4096,4096,8192", "4096,4096,4096", "8192,8192,4096"]


def time_cublas(torch, size, adds):
    m, n, k = size
    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
    if adds:
        c = torch.randn(m, n, device="cuda", dtype=torch.bfloat16)
        return time_torch(torch, lambda: torch.addmm(c, a, b), REPEATS)
    return time_torch(torch, lambda: torch.matmul(a, b), REPEATS)


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    torch = find_torch()
    is_ok = True
    words = sys.argv[2:]
    kernel = words.pop(0) if words and words[0].endswith(".grout") else KERNEL
    with open(kernel, encoding="utf-8") as file:
        adds = "%d: out" in file.read()
    print(kernel)
    print(f"{'size':24} {'grout us':>10} {'TFLOP/s':>8} {'cuBLAS us':>10} {'TFLOP/s':>8} {'ratio':>6}")
    for shape in words or DEFAULT:
        parts = shape.split(",")
        size = [int(part) for part in parts[:3]]
        ours = time_grout(sys.argv[1], kernel, "abc" if adds else "ab", [*map("{}={}".format, "MNK", size), *parts[3:]],
                          REPEATS)
        theirs = time_cublas(torch, size, adds)
        flop = 2.0 * size[0] * size[1] * size[2]
        if ours is None:
            print(f"{shape:24} failed")
            is_ok = False
            continue
        print(f"{shape:24} {ours:10.1f} {flop / ours / 1e6:8.1f} {theirs:10.1f} {flop / theirs / 1e6:8.1f}"
              f" {theirs / ours:6.3f}", flush=True)
    return 0 if is_ok else 1


if __name__ == "__main__":
    sys.exit(main())
