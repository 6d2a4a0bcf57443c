"""Each report of a deadlock ends with what to do, and has ten notes at most, the last of which counts the rest.

usage: deadlocks.py --grout PATH KERNEL-OR-FOLDER...

Every kernel is checked whose text speaks of a deadlock, with the options of its '// run:' or '// RUN: grout check'
line. What its help quotes is compiled by quoted_code.py.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
from quoted_code import Kernel, Program, families, read_text

NOTES_MAX = 10


def is_stuck(finding):
    return finding["code"] == "deadlock"


def find_faults(kernel):
    """(finding, what is wrong with it)"""
    for finding in filter(is_stuck, kernel.findings):
        notes = [note for note in finding["notes"] if note["severity"] == "note"]
        if finding["notes"][-1]["severity"] != "help" or not finding["repair"]:
            yield finding, "no help at its end"
        if len(notes) > NOTES_MAX:
            yield finding, f"{len(notes)} notes"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    program = Program(args.grout)
    with tempfile.TemporaryDirectory(prefix="grout-help-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = [path for path in families.find_kernels(args.paths, folder) if "deadlock" in read_text(path)]
        kernels = list(pool.map(lambda path: Kernel(program, path), paths))
    faults = [(kernel, *fault) for kernel in kernels for fault in find_faults(kernel)]
    for kernel, finding, what in faults:
        print(f"{kernel.path}:{(finding['primary'] or {'line': 0})['line']}: {what}: {finding['message']}")
    count = sum(is_stuck(finding) for kernel in kernels for finding in kernel.findings)
    print(f"{count} deadlocks in {len(kernels)} kernels, {len(faults)} faults")
    return len(faults) > 0 or count == 0


if __name__ == "__main__":
    sys.exit(main())
