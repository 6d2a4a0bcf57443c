#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What mypy says of the scripts: tools, tests and benches, which are no package. Their settings are those of mypy.ini.

usage: lint_types.py        with a Python that has mypy, as that of tools/python_lints.sh

A script imports from its folder and from those that it adds to sys.path. mypy takes one file of a name at a time, so
folders with files of the same names go to it in several parts.
"""
import os
import subprocess
import sys

from lint_files import ROOT, list_files

PACKAGE = "python/src/"
LEFT_OUT = ("python/tests/types/wrong.py",)  # mistakes that a test looks for


def find_folders():
    """By folder its files, with those of the packages in it."""
    folders: dict[str, list[str]] = {}
    for file in list_files(endings=".py"):
        if file.startswith(PACKAGE) or file in LEFT_OUT:
            continue
        folder = os.path.dirname(file)
        while os.path.exists(os.path.join(ROOT, folder, "__init__.py")):
            folder = os.path.dirname(folder)
        folders.setdefault(folder, []).append(file)
    return folders


def name_modules(folder, files):
    return {os.path.relpath(file, folder).split(os.sep)[0].removesuffix(".py") for file in files}


def split(folders):
    """Parts of the folders, in each of which a name is one module."""
    parts = []
    for folder, files in folders.items():
        names = name_modules(folder, files)
        part = next((part for part in parts if not names & part["names"]), None)
        if part is None:
            part = {"names": set(), "folders": []}
            parts.append(part)
        part["names"] |= names
        part["folders"].append(folder)
    return parts


def check(folders, part):
    """What mypy says of a part. Its scripts may import from the folders of the others."""
    names, path = set(part["names"]), list(part["folders"])
    for folder, files in folders.items():
        if not name_modules(folder, files) & names:
            names |= name_modules(folder, files)
            path.append(folder)
    files = [file for folder in part["folders"] for file in folders[folder]]
    done = subprocess.run([sys.executable, "-m", "mypy", "--no-error-summary", *files], cwd=ROOT, capture_output=True,
                          text=True, check=False, env={**os.environ, "MYPYPATH": os.pathsep.join(path)})
    return done.returncode, (done.stdout + done.stderr).splitlines()


def main():
    if len(sys.argv) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    folders, said, status = find_folders(), {}, 0
    parts = split(folders)
    for part in parts:
        code, lines = check(folders, part)
        said.update(dict.fromkeys(lines))  # what two parts import is said once
        status = max(status, code)
    print("".join(f"{line}\n" for line in said), end="")
    print(f"lint_types: {sum(map(len, folders.values()))} files in {len(parts)} parts, "
          f"{sum(': error:' in line for line in said)} faults")
    return status


if __name__ == "__main__":
    sys.exit(main())
