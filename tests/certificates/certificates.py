"""Certificates: a verdict that holds for every schedule does hold for others, and right kernels get one.

Draws kernels that synchronise, by their number alone, and runs each under the fair schedule and under
others, with several timings. About half have no mistake by construction; the others have one to
three, or accesses in drawn order, of which oracle.py knows what there is to find. Asked for is:

- a verdict that is said to hold for every schedule is that of every run: the same findings, and of a
  clean kernel the same outputs. That holds for one that --explore gives too. Where other schedules were run for it, and
  all fail, it says that each fails, not that each has the same findings;
- a right kernel is clean in every run, has the same outputs in all, and its verdict holds for every
  schedule unless a value that depends on the schedule decides something;
- where the oracle knows the findings, every run has exactly these;
- findings are the same under every timing of the fair schedule;
- no crash, and the exit code of the verdict.

Counted, no fault: kernels with an error under some schedule, of which neither the fair run nor
--explore within its budget knows.

usage: certificates.py --grout PATH [--first N] [--count N] [--family NAME] [--schedules N] [--keep FOLDER]

--family draws kernels of one family only.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import os
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree

from cancels import draw_cancels
from chances import draw_chances
from ends import draw_ends
from handovers import draw_handovers
from kernel import Kernel
from lives import draw_lives
from meetings import draw_meetings
from mistakes import make_mistakes
from names import draw_names
from oracle import draw_graphs
from pairs import draw_pairs
from phases import draw_phases
from relays import draw_relays
from rows import draw_rows
from running import Crash, list_rejected, make_file, run
from tensors import draw_tensors

FAMILIES = {"handovers": (draw_handovers, 34), "meetings": (draw_meetings, 28), "lives": (draw_lives, 18),
            "graphs": (draw_graphs, 16), "phases": (draw_phases, 4), "chances": (draw_chances, 6),
            "cancels": (draw_cancels, 6), "tensors": (draw_tensors, 0), "pairs": (draw_pairs, 0),
            "rows": (draw_rows, 0), "relays": (draw_relays, 0), "ends": (draw_ends, 0),
            "names": (draw_names, 0)}
# This many numbers, and which of them: the others draw what they have drawn without these families.
OF_NUMBERS = {"tensors": (16, 0), "pairs": (32, 8), "rows": (32, 24), "relays": (16, 4), "ends": (16, 12),
              "names": (32, 2)}
AS_DRAWN = ("cancels",)  # a wrong answer decides how often a loop goes round: no mistakes but their own
EXPLORED_EVERY = 8  # of these: nearly none has so few schedules that all can be tried
BATCH = 40  # kernels of a file
EXPLORE_SECONDS = 2


def draw_kernel(number, family=None):
    kernel = Kernel(number)
    drawn = kernel.draw.choices(list(FAMILIES), [weight for _, weight in FAMILIES.values()])[0]
    by_number = [name for name, (every, rest) in OF_NUMBERS.items() if number % every == rest]
    kernel.family = family or (by_number or [drawn])[0]
    FAMILIES[kernel.family][0](kernel)
    if kernel.expected is None and kernel.family not in AS_DRAWN and kernel.draw.random() < 0.45:
        make_mistakes(kernel)
    return kernel


def list_runs(first, count):
    """The options of the runs: the fair schedule in lazy and eager timing, then others."""
    runs = [["--schedule", "fair", "--timing", "lazy"], ["--schedule", "fair", "--timing", "eager"]]
    for i in range(count):
        schedule = ("random", "pct:3", "random", "pct:2")[i % 4]
        timing = ("lazy", "random", "eager")[i % 3]
        runs.append(["--schedule", schedule, "--seed", str(first + i + 1), "--timing", timing])
    return runs


def judge_right(kernel, outcomes):
    faults = []
    for outcome in outcomes:
        is_starved = outcome.status == "step-limit" and not kernel.is_certain and "pct" in outcome.how
        if not outcome.is_clean and not is_starved:
            faults.append(f"it is right, and not clean with {outcome.say()}")
        elif kernel.is_certain and not outcome.holds:
            faults.append(f"it is right, and has no certificate with {outcome.say()}")
    return faults


def is_as_said(certified, outcome):
    """Whether a run is as a verdict for every schedule has it."""
    if certified.is_of_several and certified.has_error:
        return outcome.has_failed
    return outcome.identities == certified.identities


def judge(kernel, outcomes):
    """What is wrong with what the runs said, as sentences."""
    faults = judge_right(kernel, outcomes) if kernel.is_right else []
    fair, eager = outcomes[:2]
    if kernel.expected is not None:
        expected = {place for place in kernel.expected if place[1] not in kernel.unsure}
        for outcome in outcomes:
            places = {place for place in outcome.places if place[1] not in kernel.unsure}
            if places != expected:
                faults.append(f"missing {sorted(expected - places)}, not expected {sorted(places - expected)} "
                              f"with {outcome.say()}")
    for certified in [outcome for outcome in outcomes if outcome.holds][:1]:
        for outcome in outcomes:
            if outcome.is_complete and not is_as_said(certified, outcome):
                faults.append(f"said to hold for every schedule with {certified.say()}; but with {outcome.say()}")
    clean = [outcome for outcome in outcomes if outcome.is_clean]
    if (kernel.is_right or fair.holds) and len({outcome.digest for outcome in clean}) > 1:
        other = next(outcome for outcome in clean if outcome.digest != clean[0].digest)
        faults.append(f"the outputs differ: with {clean[0].say()}; with {other.say()}")
    if fair.is_complete and eager.is_complete and fair.identities != eager.identities and kernel.is_certain:
        faults.append(f"the timing changes the findings: with {fair.say()}; with {eager.say()}")
    return faults


def judge_explored(explored, outcomes):
    if not explored.holds or explored.has_error:
        return []
    return [f"said to hold for every schedule with {explored.say()} ({explored.schedules} schedules); "
            f"but with {o.say()}" for o in outcomes if o.is_complete and o.pairs - explored.pairs][:1]


class Tally:
    def __init__(self, keep):
        self.keep, self.counts, self.codes = keep, collections.Counter(), collections.Counter()
        self.rejected = collections.Counter()
        self.faults, self.listed = 0, []

    def add_fault(self, kernel, faults):
        self.faults += 1
        text = make_file([kernel])[0]
        head = "".join(f"// {line}\n" for fault in faults for line in fault.split("\n"))
        print(f"kernel {kernel.number} ({kernel.family}): {faults[0]}" + (
            f" and {len(faults) - 1} more" if len(faults) > 1 else ""), flush=True)
        self.save(kernel, head, text)

    def save(self, kernel, head, text):
        if self.keep:
            os.makedirs(self.keep, exist_ok=True)
            with open(os.path.join(self.keep, kernel.name + ".grout"), "w", encoding="utf-8") as file:
                file.write(f"{head}// options: {' '.join(kernel.options)}\n{text}")

    def add(self, kernel, outcomes):
        counts = self.counts
        counts["right" if kernel.is_right else "with mistakes"] += 1
        counts["certified"] += outcomes[0].holds
        counts["right and certified"] += outcomes[0].holds and kernel.is_right
        counts["clean with a mistake"] += outcomes[0].is_clean and not kernel.is_right
        counts["clean and certified with a mistake"] += (outcomes[0].is_clean and outcomes[0].holds and
                                                         not kernel.is_right)
        counts["findings differ"] += len({frozenset(o.identities) for o in outcomes if o.is_complete}) > 1
        counts["incomplete"] += any(not o.is_complete for o in outcomes)
        self.codes.update(outcomes[0].codes)


def is_worth_exploring(kernel, outcomes):
    """The fair run does not know all; of kernels that poll there are too many schedules to see them all."""
    if outcomes[0].has_error or any(outcome.holds for outcome in outcomes):
        return False
    if kernel.family in AS_DRAWN and kernel.number % EXPLORED_EVERY:
        return False
    return any(outcome.has_error for outcome in outcomes) or all(text != "while {" for _, text in kernel.lines)


def check_batch(grout, kernels, runs, tally):
    with tempfile.TemporaryDirectory() as folder:
        rejected = list_rejected(grout, kernels, folder)
        tally.counts["kernels"] += len(kernels)
        tally.counts["accepted"] += len(kernels) - len(rejected)
        tally.rejected.update(rejected.values())
        for kernel in kernels:
            if kernel.name in rejected and kernel.is_right:
                tally.add_fault(kernel, [f"it is right, and not accepted: {rejected[kernel.name]}"])
        kernels = [kernel for kernel in kernels if kernel.name not in rejected]
        if not kernels:
            return
        outcomes = {kernel.name: [] for kernel in kernels}
        for options in runs:
            for name, outcome in run(grout, kernels, folder, options).items():
                outcomes[name].append(outcome)
        explored = {}
        for kernel in kernels:
            if is_worth_exploring(kernel, outcomes[kernel.name]):
                explored.update(run(grout, [kernel], folder, ["--explore", "--budget", str(EXPLORE_SECONDS),
                                                              "--save-schedule", os.path.join(folder, "explored")]))
    for kernel in kernels:
        judge_kernel(kernel, outcomes[kernel.name], explored.get(kernel.name), tally)


def judge_kernel(kernel, outcomes, explored, tally):
    tally.add(kernel, outcomes)
    faults = judge(kernel, outcomes)
    if explored:
        tally.counts["explored"] += 1
        tally.counts["certified by exploring"] += explored.holds
        faults += judge_explored(explored, outcomes)
        hidden = [o for o in outcomes if o.has_error]
        if hidden and explored.has_error:
            tally.counts["hidden, found by exploring"] += 1
        elif hidden:
            tally.counts["hidden, not found by exploring"] += 1
            tally.listed.append(f"{kernel.number}: {explored.say()} ({explored.schedules} schedules); "
                                f"{hidden[0].say()}")
            tally.save(kernel, f"// hidden: {hidden[0].say()}\n", make_file([kernel])[0])
    if faults:
        tally.add_fault(kernel, faults)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--schedules", type=int, default=6)
    parser.add_argument("--keep")
    arguments = parser.parse_args()
    tally = Tally(arguments.keep)
    runs = list_runs(arguments.first, arguments.schedules)
    numbers = range(arguments.first, arguments.first + arguments.count)
    for start in range(0, len(numbers), BATCH):
        kernels = [draw_kernel(number, arguments.family) for number in numbers[start:start + BATCH]]
        try:
            check_batch(os.path.abspath(arguments.grout), kernels, runs, tally)
        except Crash as crash:
            if len(kernels) > 1:  # which of them
                for kernel in kernels:
                    try:
                        check_batch(os.path.abspath(arguments.grout), [kernel], runs, tally)
                    except Crash as again:
                        tally.add_fault(kernel, [str(again)])
            else:
                tally.add_fault(kernels[0], [str(crash)])
    for line in tally.listed:
        print("hidden", line)
    print("rejected:", dict(tally.rejected.most_common()))
    print("findings of the fair schedule:", dict(tally.codes.most_common()))
    print(", ".join(f"{count} {what}" for what, count in tally.counts.items()))
    print(f"certificates: {tally.counts['kernels']} kernels, {tally.faults} faults")
    accepted = tally.counts["accepted"] >= 0.8 * tally.counts["kernels"]
    return 0 if accepted and tally.counts["kernels"] and not tally.faults else 1


if __name__ == "__main__":
    sys.exit(main())
