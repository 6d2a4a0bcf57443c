"""Counts what an importer would make of each operation of Gluon kernels.

usage: count.py [--arch 90] [--each] FILE CALL     as trace.py
       count.py --text FILE..                      of texts of TTGIR

Prints a row of a Markdown table for each kernel; --each also prints each operation that is no plain counterpart, with
the lines of the Python where it stands.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import os
import trace

import counterparts
import ttgir

KINDS = (counterparts.ONE, counterparts.FOLDED, counterparts.REWRITE, counterparts.MISSING)


def count(text):
    """For each kind: how often which operation, and the places of each operation."""
    kinds = {kind: collections.Counter() for kind in KINDS}
    lines = collections.defaultdict(set)
    for top in ttgir.parse(text):
        for op in top.walk():
            if op.name == "module":
                continue
            kinds[counterparts.counterpart(op.name)[0]][op.name] += 1
            if op.place:
                lines[op.name].add(f"{os.path.basename(op.place[0])}:{op.place[1]}")
    return kinds, lines


def row(kernel, text, each):
    kinds, lines = count(text)
    sums = [sum(kinds[kind].values()) for kind in KINDS]
    missing = ", ".join(f"`{name}` {times}" for name, times in sorted(kinds[counterparts.MISSING].items()))
    print("| `" + kernel + "` | " + " | ".join(map(str, [sum(sums)] + sums)) + " | " + (missing or "-") + " |")
    if each:
        for kind in KINDS[2:]:
            for name, times in sorted(kinds[kind].items()):
                print(f"    {kind}: {times} {name} at {' '.join(sorted(lines[name]))}")


def main():
    parser = argparse.ArgumentParser(description="what an importer would make of Gluon kernels")
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("--each", action="store_true")
    parser.add_argument("--text", action="store_true")
    parser.add_argument("files", nargs="+")
    args = parser.parse_args()
    counterparts.check()
    if args.text:
        for path in args.files:
            with open(path, encoding="utf-8") as file:
                text = file.read()
            row(text.split(",")[0].replace("// kernel ", ""), text, args.each)
    else:
        for launch in trace.trace(args.files[0], args.files[1], args.arch):
            row(launch.kernel, launch.text, args.each)


if __name__ == "__main__":
    main()
