#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that uses the library writes the reports of the command, byte for byte and with its exit code.

usage: same_reports.py CHECKS GROUT     the program of checks.c, and the command
"""
import glob
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
from limit import SECONDS

# Bugs with paths and edits, a kernel that is right, a file that is none.
FILES = [*sorted(glob.glob("kernels/bugs/*.grout", root_dir=ROOT))[::25], "kernels/add_one.grout",
         "tests/behaviour/exploration/counter-reset-by-first.grout", "README.md"]
FORMS = ("text", "json", "sarif", "html")


def run(*words):
    done = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout


def run_command(grout, path, form):
    if form == "html":
        page = os.path.join(os.getcwd(), "page.html")
        code, _ = run(grout, "check", path, "--html", page)
        with open(page, "rb") as file:
            return code, file.read()
    return run(grout, "check", path, "--format", form)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    program, grout = map(os.path.abspath, sys.argv[1:])
    faults = 0
    for path in FILES:
        for form in FORMS:
            if run(program, path, form) != run_command(grout, path, form):
                faults += 1
                print(f"{path}: as {form} the library and the command do not say the same")
    print(f"same_reports: {len(FILES)} files in {len(FORMS)} forms, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
