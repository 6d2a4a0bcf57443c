"""The same report from one OS thread and from several.

usage: run_threads.py --grout PATH [--threads N] KERNEL-OR-FOLDER...

Each kernel is checked under the fair schedule, and under a drawn one with random timing. The JSON
reports have to be equal.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

WAYS = ((), ("--schedule", "random", "--timing", "random", "--seed", "5"))


def find_kernels(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
            continue
        for name in sorted(os.listdir(path)):
            if name.endswith(".grout"):
                yield os.path.join(path, name)


def check(grout, kernel, way, threads, folder):
    command = [grout, "check", "--format", "json", "-q", *way, "--threads", str(threads), kernel]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, cwd=folder)
    return done.returncode, done.stdout, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--threads", type=int, default=3)
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    compared = differ = 0
    with tempfile.TemporaryDirectory(prefix="grout-threads-") as folder:
        for kernel in find_kernels([os.path.abspath(path) for path in args.paths]):
            for way in WAYS:
                one = check(args.grout, kernel, way, 1, folder)
                several = check(args.grout, kernel, way, args.threads, folder)
                compared += 1
                if one != several:
                    differ += 1
                    print(f"{kernel} {' '.join(way)}: {args.threads} threads say something else")
    print(f"{compared} reports, {differ} that differ")
    return differ > 0 or compared == 0


if __name__ == "__main__":
    sys.exit(main())
