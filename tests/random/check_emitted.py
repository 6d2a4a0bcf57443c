#!/usr/bin/env python3
# check_emitted.py - drawn kernels as PTX on the CPU, held against the float64 reference.
# SPDX-License-Identifier: Apache-2.0
"""usage: check_emitted.py --grout GROUT --random CHECK_RANDOM [--jobs N] [--only-emit] KIND FIRST COUNT [STRIDE]

'check_random KIND FIRST COUNT STRIDE write=FOLDER' draws the kernels and leaves each with its inputs and what it has to
leave; 'grout run --device ptx' runs what NVRTC makes of each. What the reference knows exactly has
to be equal bit for bit, everything else as near as its bound says: functions within the units in the last place that
docs/operations.md states, and what is computed from them as far as they carry. Copies land early, late, or at any time.

With --only-emit they are written as CUDA, and that is all: cheap enough for many.

Exit code 0: all equal; 1: not; 77: no NVRTC.
"""
import argparse
import concurrent.futures
import glob
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "differential", "gpu"))
from random_on_gpu import run_with_files, try_one

TIMINGS = ("random", "lazy", "eager")
MISSING = 77


def emit(options, path):
    """None, or what is wrong with its CUDA: none, or a reason why."""
    done = subprocess.run([options.grout, "emit", "-q", path], capture_output=True, text=True, check=False)
    if done.returncode == 0 and "__global__" in done.stdout:
        return None
    return "%s: exit code %d, %d characters\n%s" % (path, done.returncode, len(done.stdout), done.stderr)


def run(options, path, work):
    """None, or what is wrong."""
    if options.only_emit:
        return emit(options, path)
    seed = os.path.basename(path).split("_")[-1].split(".")[0]
    device = ["--device", "ptx", "--numerics", "exact", "--seed", seed, "--timing", TIMINGS[int(seed) % len(TIMINGS)]]
    code, text = try_one(run_with_files, options.grout, path, work, device)
    if code == 0 or "[nvrtc-missing]" in text:
        return text or None
    with open(path, encoding="utf-8") as file:
        return "%s: %s\n%s" % (path, text, file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grout", required=True)
    parser.add_argument("--random", required=True)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only-emit", action="store_true")
    parser.add_argument("kind")
    parser.add_argument("first")
    parser.add_argument("count")
    parser.add_argument("stride", nargs="?", default="1")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="grout-drawn-") as folder, tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # Its exit code says whether these few kernels have every operation, too.
        drawn = subprocess.run([options.random, options.kind, options.first, options.count, options.stride,
                                "write=" + folder], capture_output=True, text=True, check=False).stdout
        paths = sorted(glob.glob(os.path.join(folder, "*.grout")))
        faults = [fault for fault in pool.map(lambda path: run(options, path, work), paths) if fault]
    for fault in faults:
        print(fault)
    if any("[nvrtc-missing]" in fault for fault in faults):
        return MISSING
    print("%d passed, %d failed" % (len(paths) - len(faults), len(faults)))
    if not paths or "\n%d passed, 0 failed\n" % len(paths) not in drawn:
        print("on the CPU:\n" + drawn)
        return 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
