#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package, call after call in one process: for one_process.py --python.

usage: python_calls.py SECONDS SEED     prints 'round MEMORY_KIB FILES THREADS CALLS' after each round
"""
import contextlib
import ctypes
import gc
import os
import pathlib
import random
import sys
import tempfile
import time

import grout
import grout.ptx
import one_process

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests/ptx_litmus")]
import families
import frames  # type: ignore[import-not-found]  # of tests/ptx_litmus: for lint_types.py in another part


def check(path, **options):
    str(grout.load(path).check(timeout=5, max_steps=300000, **options))


def emit(path):
    grout.load(path).emit()


def run(path):
    grout.load(path).run(max_steps=300000, timeout=5)


def run_ptx(path):
    module = grout.ptx.load(path)
    for entry in module:
        entry.run(*[bytes(size) for _, size in entry.layout], block=32, max_steps=2000, find_races=True)


def draw_calls(rng, folder):
    kernels = [path for name in one_process.KERNELS for path in (ROOT / "kernels").glob(f"{name}.grout")]
    others = list(families.write(rng.sample(families.list_programs("behaviour"), 40), folder))
    broken = rng.sample(sorted((ROOT / "tests/golden").rglob("*.grout")), 20)
    texts = frames.write_programs(folder, rng.sample(frames.list_programs(), 20))
    calls = [(check, path, {"threads": threads}) for path in kernels for threads in (1, 2)]
    calls += [(check, path, {}) for path in others + broken]
    calls += [(emit, path, {}) for path in kernels + broken] + [(run, path, {}) for path in others]
    return calls + [(run_ptx, path, {}) for path in texts]


def make_rounds(rng, calls):
    rounds, end = 0, time.monotonic() + float(sys.argv[1])
    while time.monotonic() < end or rounds < 2 * one_process.WARM_ROUNDS:
        for call, path, options in rng.sample(calls, len(calls)):
            # What the kernel is wrong with is not looked at here.
            with contextlib.suppress(grout.GroutError, ValueError, TypeError):
                call(path, **options)
        gc.collect()
        ctypes.CDLL(None).malloc_trim(0)
        rounds += 1
        print("round", *one_process.measure(os.getpid()), len(calls), flush=True)


def main():
    rng = random.Random(int(sys.argv[2]))
    with tempfile.TemporaryDirectory(prefix="grout-calls-") as folder:
        make_rounds(rng, draw_calls(rng, folder))


if __name__ == "__main__":
    main()
