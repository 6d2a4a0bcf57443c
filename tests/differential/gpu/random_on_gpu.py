#!/usr/bin/env python3
# random_on_gpu.py - the drawn kernels of tests/random on the GPU.
# SPDX-License-Identifier: Apache-2.0
"""usage: random_on_gpu.py GROUT WHAT [--jobs N] [--emit] [--only TEXT]

WHAT is one of

- a folder, or an archive (.tar.gz) of one, that 'check_random KIND FIRST COUNT STRIDE write=FOLDER' has filled: each
  kernel with its inputs, what the CPU made of them, and the bounds of the float64 reference. Elements that the
  reference knows exactly have to be the CPU's, bit for bit but for the bits of a NaN; the others have to be as near to
  the reference as it says;
- a file of kernels, each after a line '// KIND SEED' ('check_random .. print', 'check_synchronised print ..'): they run
  with small whole numbers on both sides, and have to be equal bit for bit. Kernels with functions that no hardware
  rounds correctly, or with sums of floats that need not be whole, are left out: a comparison after them may fall either
  way. The tensor core is that of --numerics exact: sums of 8-bit floats have few bits on Hopper.

--emit compiles each kernel to a cubin instead, which needs NVRTC and no GPU. Nothing but libc and Python is needed
beside the bundle of 'make gpu-bundle'.

Exit code 0: all equal; 1: not; 77: no usable GPU.
"""
import argparse
import concurrent.futures
import glob
import math
import os
import re
import struct
import subprocess
import sys
import tarfile
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from limit import SECONDS

INEXACT = re.compile(r"= (exp2?|expm1|log2?|log1p|atan2|pow|reduce_prod|sin|cos|tanh|rsqrt|logistic|cbrt|erf|"
                     r"reduce_sum) ")
PARAMETER = re.compile(r"%(\w+): (in|out|inout) gmem (\w+)\[")
LETTERS = {1: "B", 2: "H", 4: "I", 8: "Q"}
# Bits of the fraction and of the exponent.
FLOATS = {"f64": (52, 11), "f32": (23, 8), "bf16": (7, 8), "f16": (10, 5), "f8e5m2": (2, 5), "f8e4m3": (3, 4),
          "f6e3m2": (2, 3), "f6e2m3": (3, 2), "f4e2m1": (1, 2)}
FINITE = ("f8e4m3", "f6e3m2", "f6e2m3", "f4e2m1")  # without infinities; the first has a NaN
SHOWN = 3  # kernels that are printed whole


class Mismatch(Exception):
    pass


# ---- elements --------------------------------------------------------------------------------------------------------

def decode(bits, dtype, size):
    """The number of an element."""
    if dtype == "f8e8m0":
        return math.nan if bits == 255 else 2.0 ** (bits - 127)
    if dtype not in FLOATS:
        width = 4 if dtype == "i4" else 8 * size
        return bits - (1 << width) if dtype[0] == "i" and bits >> (width - 1) else bits
    fraction_bits, exponent_bits = FLOATS[dtype]
    fraction, exponent = bits & (1 << fraction_bits) - 1, bits >> fraction_bits & (1 << exponent_bits) - 1
    sign = -1.0 if bits >> (fraction_bits + exponent_bits) & 1 else 1.0
    all_ones, bias = (1 << exponent_bits) - 1, (1 << (exponent_bits - 1)) - 1
    if exponent == all_ones and dtype not in FINITE:
        return math.nan if fraction else sign * math.inf
    if dtype == "f8e4m3" and exponent == all_ones and fraction == 7:
        return math.nan
    if exponent == 0:
        return sign * math.ldexp(fraction, 1 - bias - fraction_bits)
    return sign * math.ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits)


def read_bytes(path):
    """What follows the header of a .npy file, and the size of its elements."""
    with open(path, "rb") as file:
        data = file.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return data[start:], int(re.search(rb"'descr': '..(\d)'", data[:start]).group(1))


def is_near(have, value, bound):
    if math.isinf(bound):
        return True
    if math.isnan(have) or math.isnan(value):
        return math.isnan(have) and math.isnan(value)
    return have == value or abs(have - value) <= bound


def compare_array(have_path, want_path, bounds_path, dtype):
    """Raises Mismatch at the first element that may not be so; returns how many may differ in their bits."""
    have, size = read_bytes(have_path)
    want, _ = read_bytes(want_path)
    if have == want:
        return 0
    if len(have) != len(want):
        raise Mismatch(f"{len(have)} bytes, expected {len(want)}")
    count = len(want) // size
    have_bits = struct.unpack(f"<{count}{LETTERS[size]}", have)
    want_bits = struct.unpack(f"<{count}{LETTERS[size]}", want)
    bounds = [(0.0, 0.0)] * count
    if os.path.exists(bounds_path):
        bounds = list(struct.iter_unpack("<dd", read_bytes(bounds_path)[0]))
    loose = 0
    for i in range(count):
        if have_bits[i] == want_bits[i]:
            continue
        mine, other = decode(have_bits[i], dtype, size), decode(want_bits[i], dtype, size)
        value, bound = bounds[i]
        if bound == 0 and not (mine != mine and other != other):
            raise Mismatch(f"element {i} is {mine} ({have_bits[i]:#x}), and on the CPU {other} ({want_bits[i]:#x})")
        if bound > 0 and not is_near(mine, value, bound):
            raise Mismatch(f"element {i} is {mine} ({have_bits[i]:#x}), on the CPU {other} ({want_bits[i]:#x}), "
                           f"and the reference has {value} within {bound}")
        loose += 1
    return loose


# ---- kernels ---------------------------------------------------------------------------------------------------------

def call(command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def emit(grout, path):
    done = call([grout, "emit", path, "--to", "cubin", "-o", os.devnull])
    return done.returncode, done.stdout + done.stderr


def run_with_files(grout, path, work, device=("--device", "cuda")):
    """Runs a kernel with the files beside it; returns the exit code and what there is to say."""
    name = os.path.basename(path)[:-len(".grout")]
    with open(path, encoding="utf-8") as file:
        parameters = PARAMETER.findall(file.read())
    beside, made, command = path[:-len(".grout")], {}, [grout, "run", path, *device]
    for parameter, direction, _ in parameters:
        source = f"{beside}.{parameter}.npy"
        made[parameter] = os.path.join(work, f"{name}.{parameter}.npy")
        command += {"in": ["--input", f"{parameter}={source}"],
                    "out": ["--output", f"{parameter}={made[parameter]}"],
                    "inout": ["--inout", f"{parameter}={source}:{made[parameter]}"]}[direction]
    done = call(command)
    if done.returncode != 0:
        return done.returncode, done.stdout + done.stderr
    for parameter, direction, dtype in parameters:
        if direction == "in":
            continue
        try:
            compare_array(made[parameter], f"{beside}.{parameter}.want.npy", f"{beside}.{parameter}.bounds.npy", dtype)
        except Mismatch as mismatch:
            return 1, f"%{parameter} ({dtype}): {mismatch}"
        os.remove(made[parameter])
    return 0, ""


def run_beside_cpu(grout, path, _):
    done = call([grout, "run", path, "--device", "cuda", "--compare", "cpu", "--numerics", "exact"])
    return done.returncode, done.stdout + done.stderr


def try_one(function, *arguments):
    try:
        return function(*arguments)
    except subprocess.TimeoutExpired:
        return 124, f"it did not end in {SECONDS} s"
    except (OSError, struct.error, AttributeError) as error:
        return 1, f"{type(error).__name__}: {error}"


def unpack(what, folder):
    """The kernels' paths, and how each is run."""
    if os.path.isdir(what):
        return sorted(glob.glob(os.path.join(what, "*.grout"))), run_with_files
    if tarfile.is_tarfile(what):
        with tarfile.open(what) as archive:
            archive.extractall(folder)
        return sorted(glob.glob(os.path.join(folder, "**", "*.grout"), recursive=True)), run_with_files
    with open(what, encoding="utf-8") as file:
        parts = re.split(r"^// (\w+ \d+)\n", file.read(), flags=re.M)
    paths = []
    for name, kernel in zip(parts[1::2], parts[2::2]):
        if not INEXACT.search(kernel):
            paths.append(os.path.join(folder, name.replace(" ", "_") + ".grout"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(kernel)
    return paths, run_beside_cpu


def has_gpu(grout):
    doctor = subprocess.run([grout, "doctor"], capture_output=True, text=True, check=False).stdout
    return "\ngpu 0:" in "\n" + doctor and "no kernel can run on a GPU" not in doctor


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("grout")
    parser.add_argument("what")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--emit", action="store_true")
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    if not arguments.emit and not has_gpu(arguments.grout):
        print("no usable GPU")
        return 77
    failed, start = 0, time.time()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        paths, run = unpack(arguments.what, folder)
        paths = [path for path in paths if arguments.only in path]
        jobs = [(path, pool.submit(try_one, emit, arguments.grout, path) if arguments.emit
                 else pool.submit(try_one, run, arguments.grout, path, work)) for path in paths]
        for path, job in jobs:
            code, text = job.result()
            if code != 0:
                failed += 1
                print(f"---- {os.path.basename(path)} (exit {code})\n{text}", flush=True)
                if failed <= SHOWN:
                    with open(path, encoding="utf-8") as file:
                        print(file.read(), flush=True)
    print(f"{len(paths) - failed} passed, {failed} failed, {time.time() - start:.0f} s")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
