#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an exploration says may happen, held against interleavings of the PTX. Needs NVRTC: 77 without it.

usage: explored.py --grout PATH [--first 1] [--count 100] [--interleavings 12] [--jobs 1] [--state FILE] [--keep FOLDER]
                   [--list]

Kernels of tests/certificates/outcomes.py: chance decides their outcome, a small number, and an exploration reports each
outcome that it has seen. Each kernel is explored, and checked without --explore; then its PTX runs in this many
interleavings, whose seeds and timings differ. Where a verdict is said to hold for every schedule, each outcome of the
PTX is one of those reported; it hangs only where a deadlock is, and races only where there is a fault of order. The
closing lines say how many of the explored outcomes the PTX has reached: it need not reach all.
"""
import argparse
import collections
import json
import os
import re
import struct
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
import races
from comparing import AGREES, DIFFERS, LEFT_OUT, Result

TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TESTS, "certificates"))
import outcomes

BUDGET = 1  # seconds of an exploration
BATCH = 10
STEPS, MORE_STEPS = 200000, 5000000  # of an interleaving: actors that look again and again take many
HOWS = (("explored", ["--explore", "--budget", str(BUDGET)]), ("checked", []),
        ("explored with random timing", ["--explore", "--budget", str(BUDGET), "--timing", "random"]))
TIMINGS = ("random", "lazy", "random", "eager")
LIMIT, RACE = "limit-reached", "ptx-race"
# Errors that end a run otherwise. With any other one the interpreter goes on as the text means it, not as a GPU does.
ENDS = {"deadlock", "step-limit"}
FAULTS = {"ptx-hang": {"deadlock"}, RACE: races.ORDER | races.MAYBE, LIMIT: {"deadlock", "step-limit"}}


class Said:
    """What a check says: the outcomes and the codes of all findings, and of which schedules that is."""

    def __init__(self, report, has_arrays):
        facts = report["coverage"]["kernels"][0]
        self.outcomes, self.codes, self.has_mistake = set(), set(), False
        for finding in report["findings"]:
            if finding["code"] == "debug-check-failed":
                self.outcomes.add(int(re.search(r"it is (\d+)", finding["message"])[1]))
            else:
                self.codes.add(finding["code"])
                self.has_mistake |= finding["severity"] == "error" and finding["code"] not in ENDS
        self.schedules = facts["schedules_explored"]
        holds, interleaved = facts["holds_for_every_schedule"], facts["holds_for_every_interleaving"]
        # The machine has one memory: it does nothing that no order of whole atomics does.
        # Atomics of several elements are one after another in an interleaving, and not on the machine.
        self.has_all_faults = (holds or interleaved and not has_arrays) and not facts["assuming"]
        self.is_complete = self.has_all_faults and not self.has_mistake
        self.scope = "every schedule" if holds else "every interleaving" if interleaved else "some schedules"
        self.scope += ", with a mistake" if self.has_mistake else ""


def check(arguments, case, how, folder):
    """Said, or the text of what went wrong."""
    command = [arguments.grout, "check", case.path, *case.options, *how, "--format", "json", "-q", "--max-findings",
               "1000", "--save-schedule", os.path.join(folder, "found.schedule")]
    if "--explore" not in how:
        command = command[:-2]  # else it looks at no other schedule
    code, out, err = comparing.call(command, arguments.seconds)
    try:
        report = json.loads(out)
    except ValueError:
        return f"$ {' '.join(command)}\nexit code {code}\n{out[:500]}{err[:500]}"
    if report["verdict"] == "invalid":
        return f"invalid: {report['findings'][0]['message']}"
    return Said(report, case.has_arrays)


def run_machine(arguments, case, seed, folder, steps=STEPS):
    """(outcome, "") of one interleaving, or (None, the code of what ended it)."""
    output = os.path.join(folder, "outcome.npy")
    command = [arguments.grout, "run", "-q", case.path, *case.options, "--device", "ptx", "--check",
               "--no-debug-checks", "--seed", str(seed), "--timing", TIMINGS[seed % 4], "--max-steps", str(steps),
               f"--output={case.output}={output}"]
    code, out, err = comparing.call(command, arguments.seconds)
    if "[nvrtc-missing]" in out + err:
        raise comparing.NoNvrtc
    if code != 0:
        return None, comparing.get_code(out + err)[0] or f"exit code {code}"
    with open(output, "rb") as file:
        return struct.unpack("<i", file.read()[-4:])[0], ""


class Seen:
    """What the interleavings of the PTX have shown: the seed that did so first, by outcome and by code."""

    def __init__(self, arguments, case, folder, may_hang):
        self.outcomes, self.codes = {}, {}
        for seed in range(arguments.interleavings):
            outcome, code = run_machine(arguments, case, seed, folder)
            if code == LIMIT and not may_hang:
                outcome, code = run_machine(arguments, case, seed, folder, MORE_STEPS)
            (self.codes if code else self.outcomes).setdefault(code or outcome, seed)


def find_fault(said, seen):
    """(what the PTX does that was not said, whether it should have been), or None."""
    for code, seed in seen.codes.items():
        if not FAULTS.get(code, set()) & said.codes:
            is_known = said.has_all_faults if code == RACE else said.is_complete
            return f"{code}, with seed {seed}: said were {sorted(said.codes) or 'no faults'}", is_known
    for outcome, seed in seen.outcomes.items():
        if outcome not in said.outcomes:
            return f"outcome {outcome}, with seed {seed}: said were {sorted(said.outcomes)}", said.is_complete
    return None


class Explored(comparing.Case):
    def __init__(self, number, folder):
        kernel = outcomes.draw_kernel(number)
        path = os.path.join(folder, f"choices_{number}.grout")
        with open(path, "w", encoding="utf-8") as file:
            file.write(kernel.make_text())
        super().__init__(path, kernel.options)
        self.output, self.has_arrays = kernel.outcome, kernel.has_arrays


def compare(arguments, case, folder, counts):
    saids = {}
    for name, how in HOWS:
        said = check(arguments, case, how, folder)
        if isinstance(said, str):
            return Result(DIFFERS, "[check]", said)
        saids[name] = said
    seen = Seen(arguments, case, folder, bool(saids["explored"].codes & FAULTS[LIMIT]))
    unknown = set(seen.codes) - set(FAULTS)
    if unknown & (comparing.NO_CODE | {"ptx-unsupported"}):
        return Result(LEFT_OUT, f"no run {sorted(unknown)}", "")
    explored = saids["explored"]
    for name, said in saids.items():
        fault = find_fault(said, seen)
        if fault and fault[1]:
            return Result(DIFFERS, f"[{name}]", fault[0])
        counts[f"{name}: {said.scope}{', and the PTX does something else' if fault else ''}"] += 1
    counts["schedules explored"] += explored.schedules
    if explored.is_complete:
        counts["outcomes of complete explorations"] += len(explored.outcomes)
        counts["outcomes of those that the PTX reaches"] += len(explored.outcomes & set(seen.outcomes))
    counts["kernels with several outcomes"] += len(explored.outcomes) > 1
    counts["kernels whose PTX has several"] += len(seen.outcomes) + len(seen.codes) > 1
    return Result(AGREES, f"for {explored.scope}", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    comparing.add_options(parser, 12)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    tally, counts = comparing.Tally(arguments.state, arguments.list), collections.Counter()

    def work(numbers):
        for number in numbers:
            name = f"choices {number}"
            result = tally.get(name)
            if not result:
                with tempfile.TemporaryDirectory(prefix="grout-explored-") as folder:
                    case = Explored(number, folder)
                    result = compare(arguments, case, folder, counts)
                    if result.what == DIFFERS and arguments.keep:
                        os.makedirs(arguments.keep, exist_ok=True)
                        os.replace(case.path, os.path.join(arguments.keep, os.path.basename(case.path)))
            yield name, result

    last = arguments.first + arguments.count
    batches = [range(first, min(first + BATCH, last)) for first in range(arguments.first, last, BATCH)]
    code = comparing.run_all(batches, work, tally, arguments.jobs, arguments.interleavings)
    for what, count in sorted(counts.items()):
        print(f"{count:6} {what}")
    return code


if __name__ == "__main__":
    sys.exit(main())
