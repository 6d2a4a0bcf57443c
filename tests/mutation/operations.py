"""Every operation of sync.def has mutants, or a reason why it has none; and the share of the kernels that a test
tries has each kind of mutant that all of them have.

usage: operations.py --share FILE... --all FILE...

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate  # which has the path of the tests
from mutate import families

# Operations that synchronise, start no engine and fork nothing, and of which no form is weaker.
REASONS = {
    "scoped": "it has a block: its objects begin and end with it",  # by name: a reason
    "semaphore_read": "it has a result, and orders nothing",  # by name: a reason
}


def list_kinds(paths):
    """The kinds of the mutants: mutate.py --few tries each."""
    kinds = set()
    for path in paths:
        lines = mutate.strip_expectations(families.read_kernel(path)).split("\n")
        kinds.update(mutate.name_kind(lines, line, what) for line, what, _ in mutate.mutants(lines))
    return kinds


def find_faults(share, whole):
    seen = {op for op, _ in share}
    for op, row in mutate.TABLE.items():
        if op in REASONS and op in seen:
            yield f"{op}: it has mutants, and a reason why it has none: {REASONS[op]}"
        elif op not in REASONS and op not in seen and (op in mutate.CHANGED or row.mode not in mutate.WORKING):
            yield f"{op}: no file of the share has a mutant of it: add one to mutation_share in tests/CMakeLists.txt," \
                  " or a reason to operations.py"
    yield from (f"{op}: the reason is for no operation of sync.def" for op in REASONS if op not in mutate.TABLE)
    yield from (f"the share has no mutant '{what}', and other kernels have" for _, what in sorted(whole - share))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--share", nargs="+", required=True)
    parser.add_argument("--all", nargs="+", required=True)
    arguments = parser.parse_args()
    share, whole = list_kinds(arguments.share), list_kinds(arguments.all)
    faults = list(find_faults(share, whole))
    for fault in faults:
        print(fault)
    print(f"{len({op for op, _ in share})} operations, {len(share)} kinds of mutants, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
