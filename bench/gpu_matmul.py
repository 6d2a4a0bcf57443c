#!/usr/bin/env python3
# gpu_matmul.py - kernels/matmul_hopper_ws.grout next to cuBLAS (torch.matmul) in one run, in TFLOP/s.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_matmul.py GROUT [M,N,K[,NAME=VALUE...] ...]

Both get random normal operands of the same type and size: the clock of the GPU depends on them. The
kernel is timed by 'grout run --repeats', cuBLAS by CUDA events around each call; medians of both.
Exit code 77 without a GPU or torch.
"""

import re
import statistics
import subprocess
import sys

KERNEL = "kernels/matmul_hopper_ws.grout"
REPEATS = 30
DEFAULT = ["8192,8192,8192", "4096,4096,8192", "4096,4096,4096", "8192,8192,4096"]


def time_grout(grout, size, defines):
    m, n, k = size
    command = [grout, "run", KERNEL, "--device", "cuda", "--no-watchdog", "--input", "a=randn:1", "--input",
               "b=randn:2", "--repeats", str(REPEATS), "--warmup", "5", "-D", f"M={m}", "-D", f"N={n}", "-D", f"K={k}"]
    for define in defines:
        command += ["-D", define]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    text = done.stdout + done.stderr
    found = re.search(r"median ([0-9.]+) us", text)
    if done.returncode != 0 or not found:
        print(text, file=sys.stderr)
        return None
    return float(found.group(1))


def time_torch(torch, size):
    m, n, k = size
    a = torch.randn(m, k, device="cuda", dtype=torch.bfloat16)
    b = torch.randn(k, n, device="cuda", dtype=torch.bfloat16)
    times = []
    for i in range(REPEATS + 5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        torch.matmul(a, b)
        end.record()
        torch.cuda.synchronize()
        if i >= 5:
            times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times)


def main():
    if len(sys.argv) < 2:
        print(__doc__)
        return 2
    try:
        import torch
    except ImportError:
        print("no torch here")
        return 77
    if not torch.cuda.is_available():
        print("no GPU here")
        return 77
    is_ok = True
    print(f"{'size':24} {'grout us':>10} {'TFLOP/s':>8} {'cuBLAS us':>10} {'TFLOP/s':>8} {'ratio':>6}")
    for shape in sys.argv[2:] or DEFAULT:
        parts = shape.split(",")
        size = [int(part) for part in parts[:3]]
        ours = time_grout(sys.argv[1], size, parts[3:])
        theirs = time_torch(torch, size)
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
