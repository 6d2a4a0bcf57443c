# gpu_timing.py - what the benchmarks on a GPU share: a kernel timed by grout, a call of torch by CUDA events.
# SPDX-License-Identifier: Apache-2.0
"""Medians of REPEATS runs after WARMUP, of both sides, in microseconds."""

import re
import statistics
import subprocess
import sys

WARMUP = 5


def find_torch():
    """torch, or the end of the program with exit code 77: there is none, or no GPU."""
    try:
        import torch
    except ImportError:
        print("no torch here")
        sys.exit(77)
    if not torch.cuda.is_available():
        print("no GPU here")
        sys.exit(77)
    return torch


def time_grout(grout, path, inputs, defines, repeats, options=()):
    """Microseconds of a kernel, or None if it failed. Each array of inputs gets random normal numbers."""
    command = [grout, "run", path, "--device", "cuda", "--no-watchdog", *options]
    command += ["--repeats", str(repeats), "--warmup", str(WARMUP)]
    for seed, name in enumerate(inputs, 1):
        command += ["--input", f"{name}=randn:{seed}"]
    for define in defines:
        command += ["-D", define]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False)
    text = done.stdout + done.stderr
    found = re.search(r"median ([0-9.]+) us", text)
    if done.returncode != 0 or not found:
        print(text[-2000:], file=sys.stderr)
        return None
    return float(found.group(1))


def time_torch(torch, call, repeats):
    """Microseconds of a call of torch."""
    times = []
    for i in range(repeats + WARMUP):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()
        end.record()
        torch.cuda.synchronize()
        if i >= WARMUP:
            times.append(start.elapsed_time(end) * 1000)
    return statistics.median(times)
