#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The functions that the installed headers export: each has a comment, and there are no more than there were.

usage: exports.py [LIBRARY]     LIBRARY: libgrout as a shared library, whose exports have to be those of the headers

A declaration stands directly below its comment, or below others that share it. Builders that are made from the table of
operations do not count.
"""
import glob
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Lower it when functions go: it never rises without a reason in the commit.
MOST = 180
IN_WHEEL = {"grout_command_main"}  # cli/command.h: the library of the wheel has the command, too
NAME = re.compile(r"\b(grout_\w+)\s*\(")


def list_exports(lines):
    """(line, name, whether a comment stands above) of each declaration."""
    for number, line in enumerate(lines):
        if not line.startswith("GROUT_API"):
            continue
        above = number - 1
        while above >= 0 and lines[above].strip() and not lines[above].rstrip().endswith("*/"):
            above -= 1
        name = NAME.search(" ".join(lines[number:number + 3]))
        yield number + 1, name.group(1) if name else line, above >= 0 and lines[above].rstrip().endswith("*/")


def read_headers():
    """Names by header, and the faults of their comments."""
    names, faults = set(), []
    for path in sorted(glob.glob(f"{ROOT}/include/grout/*.h")):
        with open(path, encoding="utf-8") as file:
            for line, name, has_comment in list_exports(file.read().split("\n")):
                names.add(name)
                if not has_comment:
                    faults.append(f"{os.path.relpath(path, ROOT)}:{line}: {name} has no comment")
    return names, faults


def list_symbols(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in listing.splitlines()}


def main():
    names, faults = read_headers()
    if len(names) > MOST:
        faults.append(f"{len(names)} functions are exported, and {MOST} are allowed")
    for library in sys.argv[1:]:
        symbols = list_symbols(library)
        generated = {name for name in symbols if name.startswith("grout_build_")}
        faults += [f"{library} exports {name}, which no header declares"
                   for name in sorted(symbols - names - generated - IN_WHEEL)]
        faults += [f"{library} does not export {name}" for name in sorted(names - symbols)]
    for fault in faults:
        print(fault)
    print(f"exports: {len(names)} functions beside the generated builders, {len(faults)} faults")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
