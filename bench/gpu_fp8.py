#!/usr/bin/env python3
# gpu_fp8.py - a matmul of 8-bit floats next to cuBLAS (torch._scaled_mm), in TFLOP/s.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_fp8.py GROUT FILE M,N,K[,NAME=VALUE...] ...

Both get random normal operands of f8e4m3 and write bf16, in one run. The kernel has the constants M, N, K and the
parameters %a and %b; it is timed by 'grout run --repeats', cuBLAS by CUDA events around each call; medians of both.
cuBLAS is timed twice: with its fast sums in the tensor core (what wgmma does) and with exact ones.
Exit code 77 without a GPU or torch.
"""

import re
import statistics
import subprocess
import sys

REPEATS = 30


def time_grout(grout, path, size, defines):
    m, n, k = size
    command = [grout, "run", path, "--device", "cuda", "--no-watchdog", "--input", "a=randn:1", "--input", "b=randn:2",
               "--repeats", str(REPEATS), "--warmup", "5", "-D", f"M={m}", "-D", f"N={n}", "-D", f"K={k}"]
    for define in defines:
        command += ["-D", define]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    text = done.stdout + done.stderr
    found = re.search(r"median ([0-9.]+) us", text)
    if done.returncode != 0 or not found:
        print(text[-2000:], file=sys.stderr)
        return None
    return float(found.group(1))


def time_torch(torch, size, is_fast):
    m, n, k = size
    a = torch.randn(m, k, device="cuda").to(torch.float8_e4m3fn)
    b = torch.randn(n, k, device="cuda").to(torch.float8_e4m3fn).t()
    one = torch.ones((), device="cuda")
    times = []
    for i in range(REPEATS + 5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        torch._scaled_mm(a, b, scale_a=one, scale_b=one, out_dtype=torch.bfloat16, use_fast_accum=is_fast)
        end.record()
        torch.cuda.synchronize()
        if i >= 5:
            times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times)


def main():
    if len(sys.argv) < 4:
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
    print(f"{'case':40} {'grout us':>10} {'TFLOP/s':>8} {'cuBLAS us':>10} {'TFLOP/s':>8} {'ratio':>6} {'exact us':>10}")
    for case in sys.argv[3:]:
        parts = case.split(",")
        size = [int(part) for part in parts[:3]]
        ours = time_grout(sys.argv[1], sys.argv[2], size, parts[3:])
        fast, exact = (time_torch(torch, size, is_fast) for is_fast in (True, False))
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
