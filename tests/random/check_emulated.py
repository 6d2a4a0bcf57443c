#!/usr/bin/env python3
# check_emulated.py - drawn kernels as emitted CUDA on the CPU, held against the float64 reference.
# SPDX-License-Identifier: Apache-2.0
"""usage: check_emulated.py --grout GROUT --random CHECK_RANDOM [--cxx CXX] [--runtime LIBRARY] [--header DIR]
                            [--jobs N] [--only-emit] KIND FIRST COUNT [STRIDE]

'check_random KIND FIRST COUNT STRIDE write=FOLDER' draws the kernels and leaves each with its inputs and what it has to
leave; emulate.py compiles what 'grout emit' makes of each and runs it with them. What the reference knows exactly has
to be equal bit for bit, everything else as near as its bound says: functions within the units in the last place that
docs/operations.md states, and what is computed from them as far as they carry. Every other kernel has copies that land
late.

With --only-emit they are written as CUDA, and that is all: cheap enough for many.

Exit code 0: all equal; 1: not; 77: no C++ compiler.
"""
import argparse
import concurrent.futures
import glob
import os
import shutil
import subprocess
import sys
import tempfile

EMULATE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "differential", "emulate", "emulate.py")


def emit(options, path):
    """None, or what is wrong with its CUDA: none, or a reason why."""
    done = subprocess.run([options.grout, "emit", "-q", path], capture_output=True, text=True)
    if done.returncode == 0 and "__global__" in done.stdout:
        return None
    return "%s: exit code %d, %d characters\n%s" % (path, done.returncode, len(done.stdout), done.stderr)


def emulate(options, path):
    """None, or what is wrong."""
    if options.only_emit:
        return emit(options, path)
    seed = os.path.basename(path).split("_")[-1].split(".")[0]
    command = [sys.executable, EMULATE, "--grout", options.grout, "--cxx", options.cxx, "--seed", seed, "--beside", path]
    for name in ("runtime", "header"):
        if getattr(options, name):
            command += ["--" + name, getattr(options, name)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    with open(path, encoding="utf-8") as file:
        return "%s%s%s" % (done.stdout, done.stderr, file.read())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grout", required=True)
    parser.add_argument("--random", required=True)
    parser.add_argument("--cxx", default="c++")
    parser.add_argument("--runtime")
    parser.add_argument("--header")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only-emit", action="store_true")
    parser.add_argument("kind")
    parser.add_argument("first")
    parser.add_argument("count")
    parser.add_argument("stride", nargs="?", default="1")
    options = parser.parse_args()
    if shutil.which(options.cxx) is None:
        print("skipped: no C++ compiler '%s'" % options.cxx)
        return 77
    with tempfile.TemporaryDirectory(prefix="grout-drawn-") as folder, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        # Its exit code says whether these few kernels have every operation, too.
        drawn = subprocess.run([options.random, options.kind, options.first, options.count, options.stride,
                                "write=" + folder], capture_output=True, text=True, check=False).stdout
        paths = sorted(glob.glob(os.path.join(folder, "*.grout")))
        faults = [fault for fault in pool.map(lambda path: emulate(options, path), paths) if fault]
    for fault in faults:
        print(fault)
    print("%d passed, %d failed" % (len(paths) - len(faults), len(faults)))
    if not paths or "\n%d passed, 0 failed\n" % len(paths) not in drawn:
        print("on the CPU:\n" + drawn)
        return 1
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
