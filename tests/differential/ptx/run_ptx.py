#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs kernels' PTX on the machine that knows PTX alone, and compares with the interpreter, bit for bit
where the numbers are determined. Needs NVRTC: 77 without it.

usage: run_ptx.py --grout PATH [--all] [--only WORD] [--seeds N] [--timing lazy|eager|random]

Without --all the few kernels of FEW, which hold one thing each that is easily got wrong; with it every
kernel of kernels/ and tests/differential/ that is of sm_90a.
"""
import argparse
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
SECONDS = 200
FEW = ("kernels/softmax.grout@softmax", "kernels/add_tma.grout@add_tma", "tests/differential/sync.grout@eight",
       "tests/differential/wgmma_registers.grout", "tests/differential/partitions.grout@loaders")


def get_own(text, kernel):
    """The options of the '// same:' comment of a kernel; those above the first kernel are that one's."""
    own = ""
    for line in text.split("\n"):
        same, found = re.match(r"// same: (.*)", line), re.match(r"kernel @(\w+)", line)
        own += same.group(1) + " " if same else ""
        if found and kernel == found.group(1):
            return own.split()
        own = "" if found else own
    return []


def find_kernels(arguments):
    """Each (path, kernel)."""
    paths = sorted(glob.glob("kernels/*.grout") + glob.glob("tests/differential/*.grout"))
    for path in paths:
        with open(path, encoding="utf-8") as file:
            kernels = re.findall(r"^kernel @(\w+)", file.read(), re.M)
        for kernel in kernels:
            is_few = f"{path}@{kernel}" in FEW or (path in FEW and kernel == kernels[0])
            if "blackwell" not in path and arguments.only in f"{path}@{kernel}" and (arguments.all or is_few):
                yield path, kernel


def run(arguments, path, kernel, seed):
    """What went wrong, or None."""
    with open(path, encoding="utf-8") as file:
        own = get_own(file.read(), kernel)
    command = [arguments.grout, "run", path, "--kernel", "@" + kernel, *own, "--device", "ptx", "--compare", "cpu",
               "--numerics", "exact", "--seed", str(seed), "--timing", arguments.timing]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    output = done.stdout + done.stderr
    if "[nvrtc-missing]" in output:
        sys.exit(77)
    return None if done.returncode == 0 and "compared with the CPU" in output else output


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--timing", default="random")
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    os.chdir(ROOT)
    count = wrong = 0
    for path, kernel in find_kernels(arguments):
        for seed in range(arguments.seeds):
            output = run(arguments, path, kernel, seed)
            count += 1
            if output is not None:
                wrong += 1
                print(f"{path}@{kernel}, seed {seed}:\n{output}")
    print(f"{count} runs, {wrong} wrong")
    return 1 if wrong > 0 or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
