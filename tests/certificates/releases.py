"""Launch lists in which a grid lets the next one begin, and releases to it what it has done.

Draws lists of two and three kernels with plain writes, atomics, tickets, a write by whichever CTA comes first, and
reads of what the grids before did, by their number alone. A CTA runs griddepcontrol_launch_dependents somewhere, with
order(release) or without, or never; the grid after waits, or does not. What comes before what is worked out here, and
so are all interleavings that this leaves:
without grout. Asked for is:

- two accesses of two grids are reported where nothing orders them, and only there;
- a launch whose verdict is said to hold for every schedule has the same findings under all interleavings: those that
  were reported;
- a list in which nothing depends on the schedule has verdicts that hold for every schedule.

usage: releases.py --grout PATH [--first N] [--count N] [--keep FOLDER]

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import random
import sys

sys.dont_write_bytecode = True  # the folder is a source tree

import by_number
from lists import RUNS, SIZE, apply, write_operation, write_use
from running import Crash, call

IGNORED = ("output-not-written", "unused-result", "not-reached")
TRIGGERS = {"release": "griddepcontrol_launch_dependents order(release)", "trigger": "griddepcontrol_launch_dependents"}
STATES_MAX = 30000


class Step:
    """An operation of a CTA, a wait, or a use of what an array holds; line: of its access, -1 where it is none."""

    def __init__(self, kind, *what):
        self.kind, self.what, self.line, self.ticket_line = kind, what, -1, -1

    def list_accesses(self):
        """(array, element, how, line) of each; how: r, w or the scope of an atomic."""
        if self.kind == "op":
            kind, element, _, scope = self.what
            if kind == "first":
                return [("n", 0, "gpu", self.line), ("w", element, "w", self.ticket_line[0] + 1)]
            if kind == "write":
                return [("w", element, "w", self.line)]
            ticket = [("k", self.ticket_line[1], "w", self.ticket_line[0])] if kind == "ticket" else []
            return [("m", element, scope, self.line)] + ticket
        if self.kind == "use":
            kind, array, element, _ = self.what
            out = [("y", self.ticket_line[1], "w", self.ticket_line[0])] if kind == "store" else []
            return [(array, element % 2 if array == "m" else element, "r", self.line)] + out
        return []


class Launch:
    """A kernel and its launch. Each CTA has its steps; those of a grid of one CTA may use what is there."""

    def __init__(self, name):
        self.name, self.ctas, self.is_dependent, self.first_line, self.last_line = name, [], False, 0, 0


def draw_operation(draw, kinds, narrow):
    kind = draw.choice(kinds)
    if kind == "write":
        return Step("op", kind, draw.randint(0, SIZE - 1), draw.randint(0, 4), None)
    value = 1 if kind == "ticket" else draw.randint(1, 4)
    return Step("op", kind, draw.choice((0, 0, 1)), value, "cta" if draw.random() < narrow else "gpu")


def draw_launch(draw, launch, kinds, is_first, narrow):
    """Each CTA writes elements of its own: races within a grid are drawn elsewhere."""
    count = 1 if narrow else draw.choice((1, 1, 2))
    for number in range(count):
        steps = [draw_operation(draw, kinds, narrow) for _ in range(draw.choice((0, 1, 1, 2)))]
        for element in range(number, SIZE, count):
            if draw.random() < (0.8 if is_first else 0.15):
                steps.append(Step("op", "write", element, draw.randint(0, 4), None))
        launch.ctas.append([s for s in steps if s.what[0] != "write" or s.what[1] % count == number])
    if launch.is_dependent and draw.random() < 0.35:
        for steps in launch.ctas:
            steps.insert(draw.randint(0, len(steps)) if draw.random() < 0.4 else 0, Step("wait"))
    if count == 1 and not is_first:
        for _ in range(draw.choice((0, 1, 1, 2))):
            launch.ctas[0].append(Step("use", draw.choice(("branch", "store")), draw.choice("mww"),
                                       draw.randint(0, SIZE - 1), draw.randint(0, 6)))
    for steps in launch.ctas:
        for _ in range(draw.choice((0, 1, 1, 1, 1, 2))):
            at = len(steps) if draw.random() < 0.6 else draw.randint(0, len(steps))
            steps.insert(at, Step(draw.choice(("release", "release", "release", "trigger"))))
    if is_first and count == 2 and draw.random() < 0.3:
        order = draw.choice((0, 1))
        for number, steps in enumerate(launch.ctas):
            steps.insert(draw.randint(0, len(steps)), Step("op", "first", number, order, None))


def draw_chance(draw):
    """Whether the first grid writes is chance, and the second one writes too: no value goes by it."""
    first, second = Launch("a"), Launch("b")
    order, second.is_dependent = draw.choice((0, 1)), True
    first.ctas = [[Step("op", "first", number, order, None)] for number in range(2)]
    second.ctas = [[Step("op", "write", draw.randint(0, SIZE - 1), draw.randint(0, 4), None)]]
    for steps in (*first.ctas, *second.ctas):
        if draw.random() < 0.5:
            steps.insert(draw.randint(0, 1), Step(draw.choice(("release", "trigger"))))
    return [first, second]


def draw_list(number):
    draw = random.Random(f"releases {number}")
    if number % 10 == 0:
        return draw_chance(draw)
    kinds = draw.choice((("write",), ("add", "write"), ("add",), ("add", "exchange"), ("max", "write"),
                         ("ticket", "add")))
    narrow = 0.5 if draw.random() < 0.2 else 0
    launches = [Launch(name) for name in "abc"[:draw.choice((2, 2, 3))]]
    for i, launch in enumerate(launches):
        launch.is_dependent = i > 0 and draw.random() < 0.85
        draw_launch(draw, launch, kinds, i == 0, narrow)
    return launches


# ---- text --------------------------------------------------------------------------------------------


def write_first(step):
    """CTAs come in one order or the other: in one of them, each writes."""
    _, element, order, _ = step.what
    return [f"%q{element} = atomic_fetch_add %n[0], 1 scope(gpu)",
            f"if (eq %q{element}, {element if order == 0 else 1 - element}) {{", f"  store %w[{element}], 4", "}"]


def write_step(step, numbers, text):
    """Adds its lines, and says where they are."""
    if step.kind == "wait":
        text.append("griddepcontrol_wait")
    elif step.kind in TRIGGERS:
        text.append(TRIGGERS[step.kind])
    elif step.kind == "op":
        numbers["op"] += 1
        step.line = len(text)
        text += write_first(step) if step.what[0] == "first" else write_operation(numbers["op"], step.what)
        step.ticket_line = (step.line + 1, numbers["op"] % 8)
    else:
        step.line = len(text)
        text += write_use(numbers["use"], step.what)
        step.ticket_line = (step.line + 1, numbers["use"])
        numbers["use"] += 1


def write_kernel(launch, is_first, text):
    launch.first_line = len(text) + 1
    text += [(f"kernel @{launch.name}(%m: inout gmem i32[2]{' init(zeros)' if is_first else ''}, "
             f"%n: inout gmem i32[1]{' init(zeros)' if is_first else ''}, %w: {'out' if is_first else 'inout'} "
             f"gmem i32[{SIZE}], %k: inout gmem i32[8], %y: inout gmem i32[8]) "
             f"grid(g = {len(launch.ctas)})"), "{"]
    numbers = collections.Counter()
    for c, steps in enumerate(launch.ctas):
        text.append(f"if (eq (axis_index g), {c}) {{")
        for step in steps:
            write_step(step, numbers, text)
        text.append("}")
    text.append("}")
    launch.last_line = len(text)


def write_list(launches):
    """Lines count from 1: those of the steps from 0."""
    text = []
    for i, launch in enumerate(launches):
        write_kernel(launch, i == 0, text)
    for launch in launches:
        text.append(f"launch @{launch.name}(%m, %n, %w, %k, %y){' dependent' if launch.is_dependent else ''}")
    return "\n".join(text) + "\n"


# ---- what comes before what --------------------------------------------------------------------------


def find_release(steps):
    """Where the first launch_dependents of a CTA stands, if it releases: None otherwise."""
    at = next((i for i, step in enumerate(steps) if step.kind in TRIGGERS), None)
    return at if at is not None and steps[at].kind == "release" else None


def list_released(launches, i, start, end):
    """The steps that come before the start of the grid after launch i, if it depends."""
    known, launch = set(), launches[i]
    for c, steps in enumerate(launch.ctas):
        at = find_release(steps)
        if at is not None:
            known |= start[i] | {(i, c, n) for n in range(at)}
            if launch.is_dependent and any(step.kind == "wait" for step in steps[:at]):
                known |= end[i - 1]
    return known


def order(launches):
    """By launch: the steps (launch, CTA, place) that come before its start, and before its end."""
    start, end, over = [], [], frozenset()
    for i, launch in enumerate(launches):
        if not launch.is_dependent:
            over = frozenset().union(*end)
        start.append(over | (list_released(launches, i - 1, start, end) if launch.is_dependent else set()))
        waits = launch.is_dependent and any(step.kind == "wait" for steps in launch.ctas for step in steps)
        own = {(i, c, n) for c, steps in enumerate(launch.ctas) for n in range(len(steps))}
        end.append(frozenset(own | start[i] | (end[i - 1] if waits else set())))
    return start, end


def list_past(launches, start, end):
    """By step: the steps of other launches that come before it."""
    past = {}
    for i, launch in enumerate(launches):
        for c, steps in enumerate(launch.ctas):
            known = start[i]
            for n, step in enumerate(steps):
                if step.kind == "wait" and launch.is_dependent:
                    known = known | end[i - 1]
                past[i, c, n] = known
    return past


def conflict(a, b):
    if a[:2] != b[:2] or (a[2] == "r" and b[2] == "r"):
        return False
    return "r" in (a[2], b[2]) or "w" in (a[2], b[2]) or "cta" in (a[2], b[2])


def list_races(launches, past, may_be=False):
    """By launch: pairs of lines of accesses that nothing orders, this one's and an earlier one's; may_be: under some
    schedule."""
    places = [(key, access) for key in past for access in launches[key[0]].ctas[key[1]][key[2]].list_accesses()]
    races = {launch.name: set() for launch in launches}
    for key, access in places:
        for other, earlier in places:
            is_sure = launches[other[0]].ctas[other[1]][other[2]].what[:1] != ("first",)
            if other[0] < key[0] and other not in past[key] and conflict(earlier, access) and (is_sure or may_be):
                races[launches[key[0]].name].add(tuple(sorted((earlier[3] + 1, access[3] + 1))))
    return races


# ---- what may happen ---------------------------------------------------------------------------------


def use(step, state):
    """The finding of a use, or None."""
    kind, array, element, value = step.what
    at = state[0][element % 2] if array == "m" else state[1][element]
    if at is None:
        return ("uninitialised-read", step.line + 2)  # where it is used
    return ("out-of-bounds", step.line + 3) if kind == "branch" and at == value else None


def apply_first(state, what):
    """%n is the last element of the first array."""
    _, element, order, _ = what
    memory, written = list(state[0]), list(state[1])
    if memory[2] == (element if order == 0 else 1 - element):
        written[element] = 4
    memory[2] += 1
    return tuple(memory), tuple(written)


def go_through(launches, past):
    """By launch, the findings that it may have: a set of sets. None: too many states."""
    ctas = [(i, c) for i, launch in enumerate(launches) for c in range(len(launch.ctas))]
    start = ((((0, 0, 0), (None,) * SIZE)), tuple(0 for _ in ctas), tuple(frozenset() for _ in launches))
    todo, seen, ends = [start], set(), set()
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        if len(seen) > STATES_MAX:
            return None
        state, places, found = at
        done = dict(zip(ctas, places))
        is_over = True
        for x, (i, c) in enumerate(ctas):
            if places[x] == len(launches[i].ctas[c]):
                continue
            is_over = False
            if any(done[j, d] <= n for j, d, n in past[i, c, places[x]]):
                continue
            step, now, own = launches[i].ctas[c][places[x]], state, found
            if step.kind == "op":
                now = apply_first(state, step.what) if step.what[0] == "first" else apply(state, step.what)
            elif step.kind == "use" and use(step, state):
                own = found[:i] + (found[i] | {use(step, state)},) + found[i + 1:]
            todo.append((now, places[:x] + (places[x] + 1,) + places[x + 1:], own))
        if is_over:
            ends.add(found)
    return {launch.name: {end[i] for end in ends} for i, launch in enumerate(launches)}


# ---- judging -----------------------------------------------------------------------------------------


def read_report(report):
    """By launch: whether its verdict holds for every schedule, its races with other launches, and other findings."""
    out = {entry["kernel"]: (entry["holds_for_every_schedule"], set(), set())
           for entry in report["coverage"]["kernels"]}
    for finding in report["findings"]:
        line = finding["primary"]["line"]
        if finding["code"] == "gmem-race":
            out[finding["kernel"]][1].add(tuple(sorted((line, finding["related"]["line"]))))
        elif finding["code"] not in IGNORED:
            out[finding["kernel"]][2].add((finding["code"], line))
    return out


def meets_later(launch, may_race):
    """Whether a later launch may race with this one: that is a finding of the later one, without which verdicts
    hold."""
    lines = {access[3] + 1 for steps in launch.ctas for step in steps for access in step.list_accesses()}
    return any(lines & set(pair) for name, pairs in may_race.items() if name != launch.name for pair in pairs)


def judge(launches, races, may_race, truth, said, how):
    faults, is_racing = [], False
    for launch in launches:
        if launch.name not in said:
            continue
        holds, pairs, findings = said[launch.name]
        sure, possible = races[launch.name], may_race[launch.name]
        if not sure <= pairs <= possible:
            faults.append(f"@{launch.name} races at {sorted(pairs)} with {how}, and should at {sorted(sure)}")
        if holds and sure != possible and not (pairs and "--explore" in how):
            faults.append(f"@{launch.name} is said to hold for every schedule with {how}, and may race at "
                          f"{sorted(possible)}")
        is_racing = is_racing or bool(possible)
        if is_racing or meets_later(launch, may_race):
            continue  # what it reads may be anything
        may = truth[launch.name]
        if holds and not (findings and "--explore" in how) and may != {frozenset(findings)}:
            faults.append(f"@{launch.name} is said to hold for every schedule with {how}: {sorted(findings)}, and may "
                          f"have {[sorted(one) for one in may if one != frozenset(findings)][:2]}")
        if frozenset.intersection(*may) - findings:
            faults.append(f"@{launch.name} does not have {sorted(frozenset.intersection(*may) - findings)} with {how}")
        if findings - frozenset.union(*may):
            faults.append(f"@{launch.name} has {sorted(findings)} with {how}, which is not possible")
    return faults


def is_certain(launches, races, truth):
    """Nothing depends on the schedule, and nothing is wrong: additions alone."""
    kinds = {step.what[0] for launch in launches for steps in launch.ctas for step in steps if step.kind == "op"}
    return (kinds <= {"add", "write"} and not any(races.values()) and
            all(found == {frozenset()} for found in truth.values()))


def check(grout, number, folder, tally, keep):
    launches = draw_list(number)
    text = write_list(launches)
    start, end = order(launches)
    past = list_past(launches, start, end)
    races, may_race = list_races(launches, past), list_races(launches, past, may_be=True)
    truth, faults = go_through(launches, past), []
    if truth is None:
        tally["left out"] += 1
        return 0
    path = os.path.join(folder, "list.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    explore = ["--explore", "--budget", "2", "--save-schedule", os.path.join(folder, "explored")]
    for options in (*RUNS, explore):
        try:
            said = read_report(call(grout, path, options))
        except Crash as crash:
            faults.append(str(crash))
            break
        how = " ".join(options[:1] if options is explore else options)
        faults += judge(launches, races, may_race, truth, said, how)
        tally["certificates"] += sum(holds for holds, _, _ in said.values())
        if is_certain(launches, races, truth):
            faults += [f"@{name} has no certificate with {how}" for name, (holds, _, _) in said.items() if not holds]
    tally["lists"] += 1
    tally["by chance"] += any(len(found) > 1 for found in truth.values())
    tally["with a race"] += any(may_race.values())
    tally["with one by chance"] += races != may_race
    tally["ordered by a release"] += any(
        launch.is_dependent and start[i] for i, launch in enumerate(launches)) and not any(races.values())
    return by_number.tell("list", number, faults, keep, text)


if __name__ == "__main__":
    sys.exit(by_number.main("releases", "lists", check, 300, least=0.5))
