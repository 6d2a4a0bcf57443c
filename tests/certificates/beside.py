"""Grids that overlap, of which one goes by the schedule: what a verdict says of those after it holds whatever that one
does.

Draws lists of two or three launches by their number alone (programmatic dependent launch). In the first one two CTAs
race at a counter, and what one of them finds there may decide whether it accesses %x. The one in the middle may wait
for the first always, never, or by what it finds at a counter of its own. The last one accesses %x too, before its wait,
after it, or without one. All that may happen is gone through here, without grout. Asked for is that a verdict of the
last launch which is said to hold for every schedule has the same findings under all; that a race which all of them have
is found, and none that cannot be; and that the last one of two launches has its certificate where its wait comes first.

usage: beside.py --grout PATH [--first N] [--count N] [--keep FOLDER]

SPDX-License-Identifier: Apache-2.0
"""
import os
import random
import sys

sys.dont_write_bytecode = True  # the folder is a source tree

import by_number
from running import Crash, call

RUNS = ([], ["--timing", "eager"], ["--schedule", "random", "--seed", "4"], ["--no-explore"],
        ["--explore", "--budget", "2"])
ACCESSES = {"store": "store %x, (broadcast 1.0 : f32[64])", "load": "store %y, (load %x)"}


class Race:
    """Two CTAs, or threads, at a counter: what the second one may find."""

    def __init__(self, draw):
        self.other = draw.choice(("exchange", "fetch", "fetch", "nothing"))
        self.values = {"exchange": (0, 7), "fetch": (0, 1), "nothing": (0,)}[self.other]
        self.wanted = draw.choice((*self.values, 0, 3))

    def write(self, name, axis, body):
        first = {"exchange": [f"%o = atomic_exchange %{name}[0], 7"], "fetch": [f"atomic_add %{name}[0], 1"],
                 "nothing": []}
        return ([f"if (eq (axis_index {axis}), 0) {{", *("  " + line for line in first[self.other]), "} else {",
                 f"  %t = atomic_fetch_add %{name}[0], 1", f"  if (eq %t, {self.wanted}) {{",
                 *("    " + line for line in body), "  }", "}"])

    def list_ways(self):
        return {value == self.wanted for value in self.values}


class Drawn:
    def __init__(self, number):
        draw = random.Random(f"beside {number}")
        self.first, self.middle = Race(draw), Race(draw) if draw.random() < 0.5 else None
        self.first_access = draw.choice(("store", "load"))
        self.middle_waits = draw.choice(("always", "never", "chance", "chance"))
        self.triggers = draw.random() < 0.9
        self.last_access = draw.choice(("store", "store", "load"))
        self.last_waits = draw.choice(("first", "first", "later", "never"))

    def write(self):
        words = {"store": "inout", "load": "in"}
        trigger = ["  griddepcontrol_launch_dependents"] if self.triggers else []
        text = [(f"kernel @a(%m: inout gmem i32[1] init(zeros), %x: {words[self.first_access]} gmem f32[64], "
                "%y: inout gmem f32[64]) grid(g = 2)"), "{", *trigger,
                *("  " + line for line in self.first.write("m", "g", [ACCESSES[self.first_access]])), "}"]
        if self.middle:
            wait = {"always": [], "never": [], "chance": ["griddepcontrol_wait"]}[self.middle_waits]
            text += ["kernel @b(%n: inout gmem i32[1] init(zeros), %k: inout gmem i32[1]) threads(wg = 2)", "{",
                     "  griddepcontrol_launch_dependents",
                     *("  " + line for line in self.middle.write("n", "wg", ["store %k[0], 1", *wait])),
                     *["  griddepcontrol_wait"] * (self.middle_waits == "always"), "}"]
        access, wait = "  " + ACCESSES[self.last_access].replace("%y", "%z"), "  griddepcontrol_wait"
        body = {"first": [wait, access], "later": [access, wait], "never": [access]}[self.last_waits]
        text += [f"kernel @c(%x: {words[self.last_access]} gmem f32[64], %z: inout gmem f32[64])", "{", *body, "}",
                 "launch @a(%m, %x, %y)"]
        text += ["launch @b(%n, %k) dependent"] if self.middle else []
        return "\n".join(text + ["launch @c(%x, %z) dependent"]) + "\n"

    def list_outcomes(self):
        """Whether the last launch races with the first one: all answers that there may be."""
        is_conflict = "store" in (self.first_access, self.last_access)
        waits = {"always": {True}, "never": {False}}
        middle = {True} if self.middle is None else waits.get(self.middle_waits) or self.middle.list_ways()
        return {is_conflict and accesses and not (self.last_waits == "first" and has_waited)
                for accesses in self.first.list_ways() for has_waited in middle}

    def is_surely_awaited(self):
        """And nothing of what the last launch reads is left to the schedule."""
        return (self.last_waits == "first" and self.last_access == "store" and
                self.middle is None)


def judge(drawn, report, how):
    holds = {entry["kernel"]: entry["holds_for_every_schedule"] for entry in report["coverage"]["kernels"]}["c"]
    found = any(finding["kernel"] == "c" and finding["code"] == "gmem-race" for finding in report["findings"])
    outcomes, faults = drawn.list_outcomes(), []
    if holds and outcomes != {found}:
        faults.append(f"said to hold for every schedule with {how}, where the race is {sorted(outcomes)}")
    if outcomes == {True} and not found:
        faults.append(f"no schedule is without the race, and it is not found with {how}")
    if found and True not in outcomes:
        faults.append(f"a race that there is not is found with {how}")
    if drawn.is_surely_awaited() and not holds:
        faults.append(f"it waits first, and has no certificate with {how}")
    return faults


def check(grout, number, folder, tally, keep):
    drawn = Drawn(number)
    text = drawn.write()
    path = os.path.join(folder, "drawn.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    faults = []
    for options in RUNS:
        try:
            faults += judge(drawn, call(grout, path, [*options, "--save-schedule", os.path.join(folder, "explored")]
                                        if "--explore" in options else options), " ".join(options))
        except Crash as crash:
            faults.append(str(crash))
            break
    tally["lists"] += 1
    tally["by chance"] += len(drawn.list_outcomes()) > 1
    tally["surely awaited"] += drawn.is_surely_awaited()
    return by_number.tell("list", number, faults, keep, text)


if __name__ == "__main__":
    sys.exit(by_number.main("beside", "lists", check, 200))
