#!/usr/bin/env python3
# random_on_gpu.py - the drawn kernels of tests/random on the GPU and on the CPU.
# SPDX-License-Identifier: Apache-2.0
"""usage: check_random values 1 500 1 print >FILE; random_on_gpu.py GROUT FILE [JOBS]

FILE holds kernels, each after a line '// KIND SEED'. With their default inputs (small whole numbers) all that is
computed alike on both sides has to be equal bit for bit. Kernels with functions that no hardware rounds correctly, or
with sums of floats that need not be whole, are left out: a comparison after them may fall either way.

The tensor core is that of --numerics exact: sums of 8-bit floats have few bits on Hopper.

Exit code 0: all equal; 1: not; 77: no usable GPU.
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

INEXACT = re.compile(r"= (exp2?|expm1|log2?|log1p|atan2|pow|reduce_prod|sin|cos|tanh|rsqrt|logistic|erf|reduce_sum) ")


def split(text):
    parts = re.split(r"^// (\w+ \d+)\n", text, flags=re.M)
    return [(name, kernel) for name, kernel in zip(parts[1::2], parts[2::2]) if not INEXACT.search(kernel)]


def compare(grout, folder, name, kernel):
    path = os.path.join(folder, name.replace(" ", "_") + ".grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(kernel)
    done = subprocess.run([grout, "run", path, "--device", "cuda", "--compare", "cpu", "--numerics", "exact"], capture_output=True, text=True,
                          timeout=SECONDS)
    return name, kernel, done.returncode, done.stdout + done.stderr


def main():
    if len(sys.argv) < 3:
        print(__doc__)
        return 2
    grout = sys.argv[1]
    doctor = subprocess.run([grout, "doctor"], capture_output=True, text=True).stdout
    if "\ngpu 0:" not in "\n" + doctor or "no kernel can run on a GPU" in doctor:
        print("no usable GPU")
        return 77
    with open(sys.argv[2], encoding="utf-8") as file:
        kernels = split(file.read())
    failed = 0
    with tempfile.TemporaryDirectory() as folder, \
            concurrent.futures.ThreadPoolExecutor(int(sys.argv[3]) if len(sys.argv) > 3 else 8) as pool:
        for name, kernel, code, text in pool.map(lambda k: compare(grout, folder, *k), kernels):
            if code != 0:
                failed += 1
                print(f"---- {name} (exit {code})\n{text}\n{kernel if failed < 4 else ''}")
    print(f"{len(kernels) - failed} passed, {failed} failed")
    return 1 if failed or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
