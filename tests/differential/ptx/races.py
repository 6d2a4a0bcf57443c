#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The races that the machine for PTX finds, held against the findings of the checker, for every kernel of the tree. Needs
NVRTC: 77 without it.

usage: races.py --grout PATH [--interleavings 6] [--jobs 1] [--share N] [--only WORD] [--state FILE] [--list]

The checker looks at the kernel, the machine at the PTX that the kernel becomes, and neither knows the other. Two things
are mistakes of one of them, or of the emitter:

- the checker finds no fault of order under any of its schedules, and the machine a race;
- the checker finds a fault of ORDER, and the machine no race in any interleaving.

unfound.txt says of the second why for those where nothing is wrong: most have PTX that orders more than they ask for. A fault or a
hang that ends a run comes before what the run would have shown: then each interleaving runs by itself.
"""
import argparse
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
import tree
from comparing import AGREES, DIFFERS, LEFT_OUT, Result

HERE = os.path.dirname(os.path.abspath(__file__))
# Findings that say that two accesses of memory are in no order, as errors.
ORDER = {"missing-commit-smem", "missing-commit-smem-war", "missing-commit-gmem", "async-not-awaited", "smem-race", "gmem-race",
         "smem-source-reuse", "mma-operand-reuse", "cluster-smem-reuse", "insufficient-scope", "init-not-visible",
         "gmem-write-not-visible"}
# Those of which the machine may find a race, or else: what has no order is no memory that it looks at, or the fault ends
# the run, or lets threads go on that should wait.
MAYBE = {"accumulator-in-flight", "async-at-exit", "barrier-overrun", "barrier-partial-at-end", "barrier-skipped-phase",
         "barrier-too-many-arrivals", "barrier-tx-mismatch", "barrier-uninitialised", "barrier-unobserved-phase",
         "barrier-wrong-parity", "cluster-exit", "named-barrier-mismatch", "named-barrier-range", "out-of-bounds",
         "pair-leader", "scatter-conflict", "semaphore-ambiguous", "tensor-core-order", "tensor-pipe-order", "tensormap-in-flight",
         "tmem-load-not-awaited", "tmem-race", "tmem-store-not-committed", "uninitialised-read"}
NO_END = {"deadlock", "step-limit"}
RACE = "ptx-race"
STOPPED = ("ptx-fault", "ptx-hang")
SCHEDULES = 12  # of the checker, before a race that it does not know is a disagreement


class Codes:
    """The findings in a kernel. A warning of ORDER is about what another rule than that of PTX may ask for."""

    def __init__(self, judged):
        self.all = set(tree.list_codes(judged.report, judged.kernel))
        self.order = set(tree.list_codes(judged.report, judged.kernel, "error")) & ORDER
        self.maybe = self.all & (ORDER | MAYBE)


def read_reasons():
    """{kernel: reason} of lines '= REASON' and, below, the names of kernels."""
    reasons, reason = {}, ""
    for line in tree.read(os.path.join(HERE, "unfound.txt")).split("\n"):
        if line.startswith("= "):
            reason = line[2:].strip()
        elif line.strip() and not line.startswith("#"):
            reasons[line.strip()] = reason
    return reasons


def run_machine(arguments, case, interleavings, seed=0):
    """(code, text): the code of what ended the runs, "" if they came to their end."""
    command = [arguments.grout, "run", case.path, *case.options, "--device", "ptx", "--check", "--numerics", "exact", "--seed",
               str(seed), "--interleavings", str(interleavings)]
    if interleavings == 1:
        command += ["--timing", ("random", "lazy", "eager")[seed % 3]]
    code, out, err = comparing.call(command, arguments.seconds)
    text = "\n".join(f"$ {' '.join(command)}\n{out}{err}".split("\n")[:comparing.LINES_SHOWN])
    if "[nvrtc-missing]" in out + err:
        raise comparing.NoNvrtc
    return "" if code == 0 else comparing.get_code(out + err)[0] or str(code), text


def search(arguments, case, wants_race):
    """The same of all interleavings; if a race is wanted and something else came first, of each alone."""
    found, text = run_machine(arguments, case, arguments.interleavings)
    for seed in range(arguments.interleavings if wants_race and found in STOPPED else 0):
        again, its_text = run_machine(arguments, case, 1, seed)
        if again == RACE:
            return again, its_text
    return found, text


def check_elsewhere(arguments, case, kernel):
    """The faults of order that the checker finds under other schedules."""
    codes = set()
    for seed in range(1, SCHEDULES + 1):
        options = ["--schedule", "random", "--seed", str(seed), "--timing", ("lazy", "eager", "random")[seed % 3]]
        report, _ = tree.check(arguments, case.path, [*case.options, *options])
        if report is not None:
            codes |= set(tree.list_codes(report, kernel))
    return codes & (ORDER | MAYBE)


def judge_race(arguments, judged, codes, text):
    """The machine has found a race."""
    if codes.order:
        return Result(AGREES, "both find a race", "")
    if codes.maybe:
        return Result(AGREES, f"the machine finds a race where the checker says [{min(codes.maybe)}]", "")
    elsewhere = check_elsewhere(arguments, judged.case, judged.kernel)
    if elsewhere:
        return Result(AGREES, f"both find a race, the checker under another schedule [{min(elsewhere)}]", "")
    return Result(DIFFERS, "a race for the machine alone", text)


def judge_none(judged, codes, found, text, reasons):
    """The machine has found none."""
    if not codes.order:
        return Result(AGREES, "neither finds a race", "")
    which = min(codes.order)
    if found in STOPPED:
        return Result(AGREES, f"another fault ends each run: [{which}], [{found}]", "")
    if judged.name in reasons:
        return Result(AGREES, f"the PTX orders more: {reasons[judged.name]}", "")
    return Result(DIFFERS, f"[{which}] for the checker alone", text)


def compare(arguments, judged, reasons):
    """What becomes of a kernel."""
    if judged.report is None:
        return Result(LEFT_OUT, judged.why, "")
    if judged.report["verdict"] == "invalid" or not tree.get_facts(judged.report, judged.kernel):
        return Result(LEFT_OUT, "not legal", "")
    codes = Codes(judged)
    if NO_END & codes.all and not codes.order:
        return Result(LEFT_OUT, f"its run does not end [{min(NO_END & codes.all)}]", "")
    found, text = search(arguments, judged.case, codes.order)
    if found in comparing.NO_CODE or found == "ptx-unsupported":
        return Result(LEFT_OUT, f"no run [{found}]", text)
    if found == RACE:
        return judge_race(arguments, judged, codes, text)
    if found and found not in STOPPED:
        return Result(DIFFERS, f"[{found}]", text)
    return judge_none(judged, codes, found, text, reasons)


def main():
    parser = argparse.ArgumentParser()
    tree.add_options(parser, 6)
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    os.chdir(tree.ROOT)
    tally, reasons = comparing.Tally(arguments.state, arguments.list), read_reasons()

    def work(path):
        text = tree.read(path)
        for run in tree.list_runs(text):
            for it in tree.judge_kernels(arguments, folder, path, text, run):
                yield it.name, tally.get(it.name) or compare(arguments, it, reasons)

    with tempfile.TemporaryDirectory(prefix="grout-ptx-") as folder:
        return comparing.run_all(tree.find_files(arguments), work, tally, arguments.jobs, arguments.interleavings)


if __name__ == "__main__":
    sys.exit(main())
