"""Runs 'grout check FILE' without any option: its verdict must be the one that the file's comments say.

usage: run_plain.py --grout PATH KERNEL-OR-FOLDER...

'grout check --expect' adds the options of the '// run:' comments. A reader of a kernel has none of them, so
what the kernel needs has to be in the kernel: sizes in its consts, contents in init(..).
"""
import argparse
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
from limit import SECONDS
from run_expect import find_kernels


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def check(grout, kernel, folder):
    """What is wrong, or None."""
    with open(kernel, encoding="utf-8") as file:
        lines = file.readlines()
    copy = os.path.join(folder, os.path.basename(kernel))
    with open(copy, "w", encoding="utf-8") as file:
        file.writelines(line for line in lines if not line.startswith("// run:"))
    code, text = run([grout, "check", "--expect", "-q", copy])
    if code != 0:
        return text
    wanted = 1 if any("expect-error:" in line for line in lines) else 0
    code, text = run([grout, "check", "-q", kernel])  # without the search for sizes that reach more, which is a note
    return None if code == wanted else f"exit code {code}, not {wanted}\n{text}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        kernels = find_kernels(args.paths, [], os.path.join(folder, "families"))
        if not kernels:
            sys.exit("no kernels")
        for kernel in kernels:
            wrong = check(args.grout, kernel, folder)
            if wrong is not None:
                failures += 1
                print(f"---- grout check {kernel}: {wrong}", end="")
    print(f"{failures} of {len(kernels)} kernels have another verdict than their comments say")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
