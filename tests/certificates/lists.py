"""Launch lists: what a verdict says of a launch is true whatever the launches before and beside it leave.

Draws lists of two and three kernels with atomics, tickets, arrays written in part, and grids that overlap (programmatic
dependent launch), by their number alone. The kernels are small, so that all their interleavings can be gone through
here, without grout. Asked for is:

- a launch whose verdict is said to hold for every schedule has the same findings whatever came before it, under every
  interleaving: those that were reported. That holds for one that --explore gives, too;
- what every interleaving finds is found: elements that no launch wrote and that one goes by, and atomics whose scope
does
  not hold both of two grids or CTAs;
- a list in which nothing depends on the schedule is clean, and its verdicts hold for every schedule.

usage: lists.py --grout PATH [--first N] [--count N] [--keep FOLDER]

SPDX-License-Identifier: Apache-2.0
"""
import os
import random
import sys

sys.dont_write_bytecode = True  # the folder is a source tree

import by_number
from running import Crash, call

RUNS = (["--timing", "lazy"], ["--timing", "eager"], ["--schedule", "random", "--seed", "3", "--timing", "random"],
        ["--schedule", "random", "--seed", "8"])
SIZE = 3  # elements of %w
IGNORED = ("output-not-written", "unused-result", "not-reached")


class Launch:
    """A kernel and its launch: the operations of each CTA, and what it does when those before it are over."""

    def __init__(self, name):
        self.name, self.ctas, self.uses = name, [[]], []
        self.triggers = self.is_dependent = False
        self.lines, self.first_line = [], 0


def draw_atomics(draw, launch, kinds, narrow):
    for cta in launch.ctas:
        for _ in range(draw.choice((1, 1, 2))):
            kind = draw.choice(kinds)
            value = 1 if kind == "ticket" else draw.randint(1, 4)
            cta.append((kind, draw.choice((0, 0, 1)), value, "cta" if draw.random() < narrow else "gpu"))


def draw_list(number):
    draw = random.Random(f"lists {number}")
    kinds = draw.choice((("add",), ("add", "exchange"), ("add", "exchange"), ("add", "max", "exchange"),
                         ("ticket", "add"), ("max",)))
    is_pure = draw.random() < 0.3  # one kind in each launch: they commute within it
    has_narrow = draw.random() < 0.15  # scopes: then each grid has one CTA
    launches = [Launch(name) for name in "abc"[:draw.choice((2, 2, 3))]]
    for i, launch in enumerate(launches):
        is_last = i + 1 == len(launches)
        launch.ctas = [[] for _ in range(1 if is_last or has_narrow else draw.choice((1, 2, 2)))]
        launch.is_dependent = i > 0 and draw.random() < 0.4
        launch.triggers = draw.random() < 0.7
        if not is_last or draw.random() < 0.5:
            draw_atomics(draw, launch, (draw.choice(("add", "max")),) if is_pure else kinds,
                         0.4 if has_narrow else 0.01)
    for element in range(SIZE):
        if draw.random() < 0.75:
            cta = launches[0].ctas[element % len(launches[0].ctas)]
            cta.append(("write", element, draw.randint(0, 4), None))
    for launch in launches[1:]:
        for _ in range(draw.choice((0, 1, 1, 2)) if launch is not launches[-1] else draw.choice((1, 2))):
            launch.uses.append((draw.choice(("branch", "branch", "store")), draw.choice("mmw"),
                                draw.randint(0, SIZE - 1), draw.randint(0, 6)))
    for launch in launches:
        if len(launch.ctas) > 1:
            launch.uses = []  # its CTAs would all do it
    aim(draw, launches)
    return launches


# ---- text --------------------------------------------------------------------------------------------


def write_operation(number, operation):
    kind, element, value, scope = operation
    if kind == "write":
        return [f"store %w[{element}], {value}"]
    name = {"add": "atomic_add", "max": "atomic_max"}.get(kind)
    if name:
        return [f"{name} %m[{element}], {value} scope({scope})"]
    fetch = "atomic_exchange" if kind == "exchange" else "atomic_fetch_add"
    lines = [f"%t{number} = {fetch} %m[{element}], {value} scope({scope})"]
    return lines + ([f"store %k[{number % 8}], %t{number}"] if kind == "ticket" else [])


def write_use(number, use):
    kind, array, element, value = use
    lines = [f"%v{number} = load %{array}[{element % 2 if array == 'm' else element}]"]
    if kind == "store":
        return lines + [f"store %y[{number}], %v{number}"]
    return lines + [f"if (eq %v{number}, {value}) {{", f"  store %y[%v{number} + 20], 1", "}"]


def write_kernel(launch, is_first):
    """Sets the lines of its uses: (use, line from the kernel's)."""
    grid = f" grid(g = {len(launch.ctas)})"
    text = [(f"kernel @{launch.name}(%m: inout gmem i32[2]{' init(zeros)' if is_first else ''}, "
            f"%w: {'out' if is_first else 'in'} gmem i32[{SIZE}], %k: inout gmem i32[8], %y: inout gmem i32[8]){grid}"),
            "{"]
    text += ["  griddepcontrol_launch_dependents"] if launch.triggers else []
    number = 0
    for c, cta in enumerate(launch.ctas):
        text.append(f"  if (eq (axis_index g), {c}) {{")
        for operation in cta:
            number += 1
            text += ["    " + line for line in write_operation(number, operation)]
        text.append("  }")
    text += ["  griddepcontrol_wait"] if launch.is_dependent else []
    launch.lines = []
    for i, use in enumerate(launch.uses):
        start = len(text)
        text += ["  " + line for line in write_use(i, use)]
        launch.lines.append((start + 1, start + 2))  # of the if or the first store, of the store in the if
    return text + ["}"]


def write_list(launches):
    text = []
    for i, launch in enumerate(launches):
        launch.first_line = len(text) + 1
        text += write_kernel(launch, i == 0)
    for launch in launches:
        text.append(f"launch @{launch.name}(%m, %w, %k, %y){' dependent' if launch.is_dependent else ''}")
    return "\n".join(text) + "\n"


# ---- what may happen ---------------------------------------------------------------------------------


def apply(state, operation):
    memory, written = list(state[0]), list(state[1])
    kind, element, value, _ = operation
    if kind == "write":
        written[element] = value
    elif kind == "exchange":
        memory[element] = value
    elif kind == "max":
        memory[element] = max(memory[element], value)
    else:
        memory[element] += value
    return tuple(memory), tuple(written)


def interleave(state, sequences):
    """All states after the sequences, in every order of their operations."""
    ends, seen, todo = set(), set(), [(state, tuple(0 for _ in sequences))]
    while todo:
        at = todo.pop()
        if at in seen:
            continue
        seen.add(at)
        now, places = at
        is_over = True
        for i, sequence in enumerate(sequences):
            if places[i] < len(sequence):
                is_over = False
                todo.append((apply(now, sequence[places[i]]), places[:i] + (places[i] + 1,) + places[i + 1:]))
        if is_over:
            ends.add(now)
    return ends


def find_in(launch, state):
    found = set()
    for use, (first, second) in zip(launch.uses, launch.lines):
        kind, array, element, value = use
        at = state[0][element % 2] if array == "m" else state[1][element]
        if at is None:
            found.add(("uninitialised-read", launch.first_line + first))
        elif kind == "branch" and at == value:
            found.add(("out-of-bounds", launch.first_line + second))
    return frozenset(found)


def list_states(launches):
    """By launch, the states in which it may come to its uses."""
    starts, states, index = {((0, 0), (None,) * SIZE)}, {}, 0
    while index < len(launches):
        group = [launches[index]]
        while index + len(group) < len(launches) and launches[index + len(group)].is_dependent:
            group.append(launches[index + len(group)])
        sequences = [cta for launch in group for cta in launch.ctas]
        starts = {state for start in starts for state in interleave(start, sequences)}
        states.update((launch.name, starts) for launch in group)
        index += len(group)
    return states


def aim(draw, launches):
    """Lets branches ask for what may be there."""
    states = list_states(launches)
    for launch in launches:
        values = [sorted({state[0][element] for state in states[launch.name]}) for element in range(2)]
        for i, (kind, array, element, _value) in enumerate(launch.uses):
            if kind == "branch" and array == "m" and draw.random() < 0.8:
                most = max(range(2), key=lambda element: len(values[element]))
                launch.uses[i] = (kind, array, most, draw.choice(values[most]))


def go_through(launches):
    """By launch, the findings that it may have: a set of sets."""
    states = list_states(launches)
    return {launch.name: {find_in(launch, state) for state in states[launch.name]} for launch in launches}


def are_beside(launches, i, j):
    return all(launch.is_dependent for launch in launches[i + 1:j + 1])


def has_race(launches):
    """Whether a scope does not hold both of two atomics on an element that nothing orders."""
    places = [(i, c, operation) for i, launch in enumerate(launches) for c, cta in enumerate(launch.ctas)
              for operation in cta if operation[0] != "write"]
    return any(a[2][1] == b[2][1] and "cta" in (a[2][3], b[2][3]) and (a[0] != b[0] or a[1] != b[1]) and
               (a[0] == b[0] or are_beside(launches, a[0], b[0]))
               for n, a in enumerate(places) for b in places[n + 1:])


def is_plain_pdl(launches):
    """What the model leaves out: a launch of three that waits for a grid which has not waited itself, and plain reads
    of what a grid beside writes."""
    for i, launch in enumerate(launches):
        if launch.is_dependent and i > 1 and launches[i - 1].is_dependent:
            return False
        if i + 1 < len(launches) and launches[i + 1].is_dependent and launch.uses and any(
                operation[0] != "write" for cta in launches[i + 1].ctas for operation in cta):
            return False
        if any(launches[j].is_dependent for j in range(i + 1, len(launches))) and any(
                operation[0] == "ticket" for cta in launch.ctas for operation in cta):
            return False  # two grids store tickets in one place
    return True


# ---- judging -----------------------------------------------------------------------------------------


def read_report(report):
    """By launch: whether its verdict holds for every schedule, and its findings."""
    out = {entry["kernel"]: (entry["holds_for_every_schedule"], set()) for entry in report["coverage"]["kernels"]}
    for finding in report["findings"]:
        if finding["code"] not in IGNORED:
            out[finding["kernel"]][1].add((finding["code"], finding["primary"]["line"]))
    return out


def judge(launches, truth, said, how):
    faults = []
    race = has_race(launches)
    found = {code for _, findings in said.values() for code, _ in findings}
    if race and "gmem-race" not in found:
        faults.append(f"a scope does not hold both atomics, and nobody says so with {how}")
    for launch in launches:
        if launch.name not in said:
            continue
        holds, findings = said[launch.name]
        holds = holds and not (findings and "--explore" in how)  # then some schedules may show some of them
        if not race and holds and truth[launch.name] != {frozenset(findings)}:
            faults.append(f"@{launch.name} is said to hold for every schedule with {how}: {sorted(findings)}, and may "
                          f"have {[sorted(one) for one in truth[launch.name] if one != frozenset(findings)][:2]}")
        sure = frozenset.intersection(*truth[launch.name]) if truth[launch.name] else frozenset()
        if not race and sure - findings:
            faults.append(f"@{launch.name} does not have {sorted(sure - findings)} with {how}")
        if not race and findings - frozenset.union(*truth[launch.name]):
            faults.append(f"@{launch.name} has {sorted(findings)} with {how}, which is not possible")
    return faults


def is_certain(launches, truth):
    """Nothing depends on the schedule, and nothing is wrong: additions alone."""
    operations = [operation for launch in launches for cta in launch.ctas for operation in cta]
    return (all(kind in ("add", "write") for kind, _, _, _ in operations) and not has_race(launches) and
            all(found == {frozenset()} for found in truth.values()))


def check(grout, number, folder, tally, keep):
    launches = draw_list(number)
    if not is_plain_pdl(launches):
        tally["left out"] += 1
        return 0
    text = write_list(launches)
    path = os.path.join(folder, "list.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    truth, faults = go_through(launches), []
    explore = ["--explore", "--budget", "2", "--save-schedule", os.path.join(folder, "explored")]
    for options in (*RUNS, explore):
        try:
            said = read_report(call(grout, path, options))
        except Crash as crash:
            faults.append(str(crash))
            break
        faults += judge(launches, truth, said, " ".join(options[:1] if options is explore else options))
        tally["certificates"] += sum(holds for holds, _ in said.values())
        if is_certain(launches, truth):
            faults += [f"@{name} has no certificate with {' '.join(options)}"
                       for name, (holds, _) in said.items() if not holds]
    tally["lists"] += 1
    tally["by chance"] += any(len(found) > 1 for found in truth.values())
    tally["overlapping"] += any(launch.is_dependent for launch in launches)
    tally["with a race"] += has_race(launches)
    return by_number.tell("list", number, faults, keep, text)


if __name__ == "__main__":
    sys.exit(by_number.main("lists", "lists", check, 300, least=0.5))
