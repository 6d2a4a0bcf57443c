#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Drawn kernels on the machine that knows PTX alone, held against the interpreter. Needs NVRTC: 77 without it.

usage: drawn_ptx.py --grout PATH --random CHECK_RANDOM --synchronised CHECK_SYNCHRONISED [--arch hopper|blackwell|both]
                    [--first 1] [--count 2000] [--interleavings 20] [--check] [--jobs 1] [--state FILE] [--keep FOLDER]
                    [--list]

It draws this many kernels for each architecture that are right by construction, by their numbers alone: of
check_synchronised and check_random, and of tests/certificates. Each is compiled once and runs in this many
interleavings, and each of these has to leave what the interpreter leaves, and, with --check, be without a race. --keep
FOLDER keeps the kernels that differ.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
from comparing import DIFFERS, LEFT_OUT, Case, Result

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TESTS, "certificates"))
import certificates

# Who draws a kind, and how many numbers of a hundred kernels of an architecture. About 60 of 100
# numbers of certificates draw a right one.
KINDS = {
    "hopper": (("synchronised", "rings", 14), ("synchronised", "clusters", 14), ("synchronised", "grids", 10),
               ("synchronised", "meetings", 8), ("random", "table", 6), ("random", "values", 8),
               ("random", "copies", 8), ("random", "wgmma", 8), ("random", "mma", 6), ("random", "groups", 6),
               ("random", "updates", 6), ("certificates", "handovers", 5), ("certificates", "lives", 4),
               ("certificates", "meetings", 4),
               ("certificates", "relays", 4)),  # some of them have 'attr arch' of their own
    "blackwell": (("synchronised", "tensors", 20), ("synchronised", "pairs", 18), ("synchronised", "rows", 10),
                  ("synchronised", "cancels", 10), ("random", "tcgen05", 20), ("certificates", "tensors", 5),
                  ("certificates", "pairs", 5), ("certificates", "rows", 4), ("certificates", "cancels", 4),
                  # the same numbers as for hopper
                  ("synchronised", "clusters", 3), ("synchronised", "grids", 2), ("synchronised", "meetings", 2),
                  ("random", "copies", 3), ("random", "mma", 2), ("random", "updates", 2)),
}
ARCHS = {"hopper": "sm_90a", "blackwell": "sm_100a"}
BATCH = 10  # kernels that are drawn at once
NOTHING = Result(LEFT_OUT, "its number draws nothing that is right", "")


def spread(archs, first, count):
    """(arch, source, kind, first number, count) of batches that hold this many kernels of each architecture, the kinds
    in turn."""
    batches = []
    for arch in archs:
        for source, kind, share in KINDS[arch]:
            last = first + max(1, round(count * share / 100))
            batches += [(number - first, arch, source, kind, number, min(BATCH, last - number))
                        for number in range(first, last, BATCH)]
    return [batch[1:] for batch in sorted(batches)]


def write(folder, name, text):
    path = os.path.join(folder, name + ".grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    return path


def draw_synchronised(arguments, folder, kind, first, count):
    """Case by number."""
    done = subprocess.run([arguments.synchronised, "print", kind, str(first), str(count)], capture_output=True,
                          text=True, check=True)
    cases = {}
    for part in done.stdout.split(f"// {kind} ")[1:]:
        number, _, text = part.partition("\n")
        cases[int(number)] = Case(write(folder, f"{kind}_{number}", text), [], False)
    return cases


def draw_random(arguments, folder, kind, first, count):
    # Its exit code says whether these few kernels have every operation, too.
    done = subprocess.run([arguments.random, kind, str(first), str(count), "1", "write=" + folder], capture_output=True,
                          text=True, check=False)
    if " passed, 0 failed" not in done.stdout:
        raise RuntimeError(f"{kind} {first}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    cases = {}
    for path in glob.glob(os.path.join(folder, "*.grout")):
        beside, options = path[:-len(".grout")], []
        for source in glob.glob(beside + ".*.npy"):
            parameter = source[len(beside) + 1:-len(".npy")]
            if "." not in parameter:
                options += ["--input", f"{parameter}={source}"]
        number = int(beside.rsplit("_", 1)[1])
        cases[number] = Case(path, options, False)
    return cases


def draw_certificates(_, folder, kind, first, count):
    cases = {}
    for number in range(first, first + count):
        kernel = certificates.draw_kernel(number, kind)
        if kernel.is_right:
            path = write(folder, f"{kind}_{number}", certificates.make_file([kernel])[0])
            cases[number] = Case(path, kernel.options, not kernel.is_certain)
    return cases


DRAW = {"synchronised": draw_synchronised, "random": draw_random, "certificates": draw_certificates}


def get_name(arch, source, kind, number):
    of_both = arch == "blackwell" and any((source, kind) == row[:2] for row in KINDS["hopper"])
    return f"{'blackwell ' if of_both else ''}{'certificates ' if source == 'certificates' else ''}{kind} {number}"


def set_arch(path, arch):
    if arch != "hopper":
        with open(path, encoding="utf-8") as file:
            text = file.read()
        with open(path, "w", encoding="utf-8") as file:
            file.write(comparing.set_arch(text, ARCHS[arch]))


def compare_batch(arguments, tally, batch):
    """(name, Result) of each number of a batch."""
    arch, source, kind, first, count = batch
    names = {number: get_name(arch, source, kind, number) for number in range(first, first + count)}
    if all(tally.get(name) for name in names.values()):
        yield from ((name, tally.get(name)) for name in names.values())
        return
    with tempfile.TemporaryDirectory(prefix="grout-drawn-") as folder:
        cases = DRAW[source](arguments, folder, kind, first, count)
        for number, name in names.items():
            result = tally.get(name) or NOTHING
            if number in cases and result == NOTHING:
                set_arch(cases[number].path, arch)
                result = comparing.compare(arguments.grout, cases[number], arguments.interleavings, arguments.seconds,
                                           arguments.check)
            if result.what == DIFFERS and arguments.keep and number in cases:
                os.makedirs(arguments.keep, exist_ok=True)
                for path in glob.glob(cases[number].path[:-len("grout")] + "*"):
                    shutil.copy(path, arguments.keep)
            yield name, result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    comparing.add_options(parser, 20)
    parser.add_argument("--random", required=True)
    parser.add_argument("--synchronised", required=True)
    parser.add_argument("--arch", choices=[*KINDS, "both"], default="both")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--check", action="store_true", help="look for races of the PTX, too")
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    tally = comparing.Tally(arguments.state, arguments.list)
    archs = [arch for arch in KINDS if arguments.arch in (arch, "both")]
    batches = spread(archs, arguments.first, arguments.count)
    return comparing.run_all(batches, lambda batch: compare_batch(arguments, tally, batch), tally, arguments.jobs,
                             arguments.interleavings)


if __name__ == "__main__":
    sys.exit(main())
