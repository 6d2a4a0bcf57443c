"""Looks into the library's objects for what the sources may not have: mutable globals, exported privates.

usage: lint_globals.py BUILD_FOLDER     a build without sanitizers, as the preset release

Nothing global is mutable (style.md, memory 5), so no object of a module has anything in .data or .bss.
A global name starts with grout_, so that the static library does not clash with a user's names.
"""
import glob
import os
import re
import subprocess
import sys

# address, flags, section, size, [visibility,] name
SYMBOL = re.compile(r"^[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.\w+ +)?(\S+)$")
MUTABLE = re.compile(r"^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)(?!\.rel\.ro)")


def faults_of(archive):
    listing = subprocess.run(["objdump", "-t", archive], capture_output=True, text=True, check=True).stdout
    member = ""
    for line in listing.splitlines():
        if ": " in line and "file format" in line:
            member = line.split(":")[0]
        match = SYMBOL.match(line)
        if not match:
            continue
        flags, section, name = match.groups()
        if MUTABLE.match(section) and "d" not in flags:
            yield f"{member}: '{name}' is a mutable global (in {section})"
        if "g" in flags[0] and section != "*UND*" and not name.startswith("grout_"):
            yield f"{member}: the global name '{name}' lacks the prefix 'grout_'"


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    count = 0
    archives = 0
    for archive in glob.glob(os.path.join(sys.argv[1], "**", "libgrout_*.a"), recursive=True):
        if os.path.basename(archive) != "libgrout_cli.a":
            archives += 1
            for fault in faults_of(archive):
                print(fault)
                count += 1
    print(f"lint_globals: {archives} folders, {count} faults")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
