"""Runs 'grout check --expect' on kernels, or 'grout-expect' beside it (tests/expect), which the options --seeds and
--all-timings are of: what a file expects must be what is found in it.

usage: run_expect.py --grout PATH [--options "..."] [--every N] [--without NAME]... KERNEL-OR-FOLDER...

One process checks them all. Only if it fails, each kernel runs in a process of its own, so that one that
crashes is named and the others are checked nevertheless. --options go to the program, e.g. "--seeds 20
--all-timings": the findings must not depend on schedule and timing. --every N takes each N-th of the
files, --without leaves a file out.
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import families
import stale
from limit import SECONDS


def find_kernels(paths, without, folder, every=1):
    """Each N-th of the files and of all in the folders, whatever is left out of them. A name of --without that none of
    them has is a mistake. Programs of families are written into the folder."""
    found = [path for path in paths if os.path.isfile(path)]
    for path in paths:
        found += [] if path in found else families.sort_kernels([path], folder)
    missing = set(without) - {os.path.basename(path) for path in found}
    if missing:
        sys.exit(f"--without: no file {', '.join(sorted(missing))}")
    return [path for path in found[::every] if os.path.basename(path) not in without]


def begin(grout, options):
    """The program, and the words with which it compares."""
    if "--seeds" in options or "--all-timings" in options:
        return [os.path.join(os.path.dirname(grout), "grout-expect"), "-q"]
    return [grout, "check", "--expect", "-q"]


def check(grout, options, kernels):
    """What is wrong, or None."""
    command = [*begin(grout, options), *options, *kernels]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s\n"
    return f"exit code {done.returncode}\n{done.stdout}{done.stderr}" if done.returncode != 0 else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--options", default="")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="grout-expect-") as folder:
        return check_all(args, folder)


def check_all(args, folder):
    options = args.options.split()
    kernels = find_kernels(args.paths, args.without, folder, args.every)
    if not kernels:
        sys.exit("no kernels")
    together = check(args.grout, options, kernels)
    if together is None:
        print(f"{len(kernels)} kernels as expected")
        return 0
    failures = 0
    for kernel in kernels:
        alone = check(args.grout, options, [kernel])
        if alone is not None:
            failures += 1
            print(f"---- {' '.join([*begin('grout', options), *options, kernel])}: {alone}", end="")
    if failures == 0:
        print(f"---- each kernel alone is as expected, but together: {together}", end="")
    print(stale.explain(begin(args.grout, options)[0]), end="")
    print(f"{failures} of {len(kernels)} kernels are not as expected")
    return 1


if __name__ == "__main__":
    sys.exit(main())
