#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The races that the PTX emulator finds in drawn kernels with mistakes, held against the findings of the checker, as
races.py does for the tree. Needs NVRTC: 77 without it.

usage: drawn_races.py --grout PATH --synchronised CHECK_SYNCHRONISED [--only WORD] [--first 1] [--count 100]
                      [--interleavings 4] [--jobs 1] [--state FILE] [--keep FOLDER] [--list]

It draws this many numbers of each kind: of check_synchronised, kernels with one operation dropped, moved or changed; of
tests/certificates, kernels of all families, with mistakes and without. --keep FOLDER keeps the kernels that differ.
"""
import argparse
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
import drawn_ptx
import races
import tree
from comparing import DIFFERS, LEFT_OUT, Case, Result

KINDS = ("rings", "clusters", "grids", "meetings", "tensors", "pairs", "cancels")  # of check_synchronised
BATCH = 10  # kernels that are drawn at once


def draw_synchronised(arguments, folder, kind, first, count):
    """Case by number."""
    done = subprocess.run([arguments.synchronised, "print-mistakes", kind, str(first), str(count)], capture_output=True,
                          text=True, check=True)
    cases = {}
    for part in done.stdout.split(f"// {kind} ")[1:]:
        number, _, text = part.partition("\n")
        cases[int(number)] = Case(drawn_ptx.write(folder, f"{kind}_{number}", text), [])
    return cases


def draw_certificates(_, folder, kind, first, count):
    cases = {}
    for number in range(first, first + count):
        kernel = drawn_ptx.certificates.draw_kernel(number, kind)
        path = drawn_ptx.write(folder, f"{kind}_{number}", drawn_ptx.certificates.make_file([kernel])[0])
        cases[number] = Case(path, kernel.options)
    return cases


def list_batches(arguments):
    """(draw, name, kind, first number, count), the kinds in turn."""
    sources = [(draw_synchronised, kind, kind) for kind in KINDS]
    sources += [(draw_certificates, f"certificates {kind}", kind) for kind in drawn_ptx.certificates.FAMILIES]
    last = arguments.first + arguments.count
    for number in range(arguments.first, last, BATCH):
        for draw, name, kind in sources:
            if arguments.only in name:
                yield draw, name, kind, number, min(BATCH, last - number)


def judge_case(arguments, name, case):
    report, why = tree.check(arguments, case.path, case.options)
    return races.compare(arguments, tree.Judged(name, case, "", report, why))


def judge_batch(arguments, tally, batch):
    """(name, Result) of each number of a batch."""
    draw, name, kind, first, count = batch
    names = {number: f"{name} {number}" for number in range(first, first + count)}
    if all(tally.get(each) for each in names.values()):
        yield from ((each, tally.get(each)) for each in names.values())
        return
    with tempfile.TemporaryDirectory(prefix="grout-drawn-") as folder:
        cases = draw(arguments, folder, kind, first, count)
        for number, each in names.items():
            result = tally.get(each) or Result(LEFT_OUT, "its number draws nothing", "")
            if number in cases and not tally.get(each):
                result = judge_case(arguments, each, cases[number])
            if result.what == DIFFERS and arguments.keep:
                os.makedirs(arguments.keep, exist_ok=True)
                shutil.copy(cases[number].path, arguments.keep)
            yield each, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    comparing.add_options(parser, 4)
    parser.set_defaults(seconds=races.SECONDS)
    parser.add_argument("--synchronised", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    arguments.grout, arguments.synchronised = os.path.abspath(arguments.grout), os.path.abspath(arguments.synchronised)
    arguments.keep = arguments.keep and os.path.abspath(arguments.keep)
    os.chdir(tree.ROOT)
    arguments.reasons = races.Reasons()
    tally = comparing.Tally(arguments.state, arguments.list)
    return comparing.run_all(list_batches(arguments), lambda batch: judge_batch(arguments, tally, batch), tally,
                             arguments.jobs, arguments.interleavings)


if __name__ == "__main__":
    sys.exit(main())
