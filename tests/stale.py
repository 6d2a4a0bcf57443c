"""Whether a program of the build is older than the tables of operations: then it does not know an operation that is in
them now, and what it says of one is no help.

SPDX-License-Identifier: Apache-2.0
"""
import glob
import os

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def explain(*programs):
    """For the end of what a failed test says: a line for each program that is older, or nothing."""
    tables = glob.glob(os.path.join(ROOT, "include", "**", "*.def"), recursive=True)
    newest = max(tables, key=os.path.getmtime)
    return "".join(
        f"{os.path.basename(program)} is older than {os.path.relpath(newest, ROOT)}, and may not know what is there: "
        "build all programs of the tests first, cmake --build build/release\n"
        for program in programs if program and os.path.exists(program)
        and os.path.getmtime(program) < os.path.getmtime(newest))
