"""Atomics of several elements, and of elements that an edge without memory leads to: what an exploration claims is
true.

Draws kernels of two or three CTAs by their number alone. Each has one or two atomics on an array: of one element, or of
a few side by side. A semaphore may lead from one CTA to another, by an edge that carries memory or by one that does
not. What the atomics have found decides whether an index is outside. The kernels are small, so that all that may happen
can be gone through here, without grout:

- what a GPU may do: each element has an order of its own, which keeps the order of each CTA and the edges that carry
memory;
- interleavings: the elements one after another, in some order of all of them.

Asked for is that a verdict which is said to hold for every schedule holds for all of the first kind, and one for every
interleaving for all of the second; that nothing is found which may not happen; and no crash.

usage: parts.py --grout PATH [--first N] [--count N] [--keep FOLDER]

SPDX-License-Identifier: Apache-2.0
"""
import collections
import itertools
import os
import random
import sys

sys.dont_write_bytecode = True  # the folder is a source tree

import by_number
from running import Crash, call

RUNS = (["--explore", "--budget", "4"], ["--explore", "--budget", "4", "--schedule", "random", "--seed", "5"], [])
SIZE = 3  # elements of %m
Operation = collections.namedtuple("Operation", "kind first count value")
Edge = collections.namedtuple("Edge", "source after target before carries")  # operations of two CTAs


class Drawn:
    def __init__(self, number):
        draw = self.draw = random.Random(f"parts {number}")
        self.ctas = [[self.draw_operation() for _ in range(draw.choice((1, 1, 2)))]
                     for _ in range(draw.choice((2, 2, 2, 3)))]
        self.edge = None
        if draw.random() < 0.4:
            self.edge = Edge(0, len(self.ctas[0]), 1, draw.randrange(len(self.ctas[1])), draw.choice((True, False)))
        self.weak = draw.choice(("order(relaxed)", "scope(cta)"))
        self.wanted = [None] * len(self.ctas)
        values = [sorted({sums[c] for sums in self.list_sums(True)}) for c in range(len(self.ctas))]
        for c in draw.sample(range(len(self.ctas)), draw.choice((1, 1, 2))):
            if any(operation.kind != "add" for operation in self.ctas[c]):
                self.wanted[c] = draw.choice(values[c])

    def draw_operation(self):
        first = self.draw.randrange(SIZE)
        count = min(self.draw.choice((1, 1, 2, 2, 3)), SIZE - first)
        return Operation(self.draw.choice(("fetch", "fetch", "exchange", "add")), first, count,
                         self.draw.choice((1, 1, 2)))

    # ---- text ----

    def write(self):
        text = [f"kernel @k(%m: inout gmem i32[{SIZE}] init(zeros), %y: inout gmem i32[4]) grid(g = {len(self.ctas)})",
                "{",
                "  scratch %u : semaphore[1] global"]
        self.lines = {}
        for c, operations in enumerate(self.ctas):
            text.append(f"  if (eq (axis_index g), {c}) {{")
            for i, operation in enumerate(operations + [None]):
                text += ["    " + line for line in self.write_edge(c, i)]
                text += ["    " + line for line in write_operation(i, operation)]
            if self.wanted[c] is not None:
                sums = [f"%s{i}" for i, operation in enumerate(operations) if operation.kind != "add"]
                text += [f"    if (eq ({' + '.join(sums)} + 0), {self.wanted[c]}) {{",
                         f"      store %y[100 + {sums[0]}], 1", "    }"]
                self.lines[c] = len(text) - 1
            text.append("  }")
        return "\n".join(text + ["}"]) + "\n"

    def write_edge(self, c, i):
        edge = self.edge
        words = "" if edge is None or edge.carries else " " + self.weak
        if edge is not None and (c, i) == (edge.source, edge.after):
            return [f"semaphore_signal %u[0], 1{words}"]
        if edge is not None and (c, i) == (edge.target, edge.before):
            return [f"semaphore_wait %u[0], 1{words}"]
        return []

    # ---- what may happen ----

    def comes_before(self, a, b):
        """Whether an operation (CTA, index) of one CTA is before one of the same or another, in memory."""
        edge = self.edge
        return (a[0] == b[0] and a[1] < b[1]) or (
            edge is not None and edge.carries and a[0] == edge.source and b[0] == edge.target and
            a[1] < edge.after and b[1] >= edge.before)

    def list_sums(self, is_gpu):
        """Sums that the CTAs may have found: a tuple for each way."""
        return self.list_of_gpu() if is_gpu else self.list_interleaved()

    def list_of_gpu(self):
        ways = []
        for element in range(SIZE):
            places = [(c, i) for c, operations in enumerate(self.ctas) for i, operation in enumerate(operations)
                      if operation.first <= element < operation.first + operation.count]
            found = set()
            for order in itertools.permutations(places):
                if all(not self.comes_before(b, a) for a, b in itertools.combinations(order, 2)):
                    found.add(self.go_through(order))
            ways.append(found)
        return {tuple(map(sum, zip(*way))) for way in itertools.product(*ways)}

    def go_through(self, order):
        """What each CTA finds in one element, summed up."""
        value, sums = 0, [0] * len(self.ctas)
        for c, i in order:
            operation = self.ctas[c][i]
            sums[c] += value if operation.kind != "add" else 0
            value = operation.value if operation.kind == "exchange" else value + operation.value
        return tuple(sums)

    def list_interleaved(self):
        """In time: the wait for a semaphore orders, whatever it carries."""
        start = ((0,) * SIZE, (0,) * len(self.ctas), tuple((0, frozenset()) for _ in self.ctas))
        seen, todo, found = {start}, [start], set()
        while todo:
            memory, sums, places = todo.pop()
            more = list(self.list_steps(memory, sums, places))
            if all(places[c][0] == len(operations) for c, operations in enumerate(self.ctas)):
                found.add(sums)
            for state in more:
                if state not in seen:
                    seen.add(state)
                    todo.append(state)
        return found

    def list_steps(self, memory, sums, places):
        edge = self.edge
        for c, (i, done) in enumerate(places):
            is_blocked = edge is not None and (c, i) == (edge.target, edge.before) and \
                places[edge.source][0] < edge.after
            if i == len(self.ctas[c]) or is_blocked:
                continue
            operation = self.ctas[c][i]
            for element in set(range(operation.first, operation.first + operation.count)) - done:
                new = list(memory)
                new[element] = operation.value if operation.kind == "exchange" else memory[element] + operation.value
                total = list(sums)
                total[c] += memory[element] if operation.kind != "add" else 0
                rest = done | {element}
                at = (i + 1, frozenset()) if len(rest) == operation.count else (i, rest)
                yield tuple(new), tuple(total), places[:c] + (at,) + places[c + 1:]

    def list_outcomes(self, is_gpu):
        """The sets of CTAs whose index may be outside together."""
        return {frozenset(c for c, wanted in enumerate(self.wanted) if wanted is not None and sums[c] == wanted)
                for sums in self.list_sums(is_gpu)}


def write_operation(number, operation):
    if operation is None:
        return []
    name = {"fetch": "atomic_fetch_add", "exchange": "atomic_exchange", "add": "atomic_add"}[operation.kind]
    result = f"%v{number} = " if operation.kind != "add" else ""
    if operation.count == 1:
        return [f"{result.replace('%v', '%s')}{name} %m[{operation.first}], {operation.value}"]
    array = f"i32[{operation.count}]"
    lines = [f"{result}{name} %m[ds({operation.first}, {operation.count})], (broadcast {operation.value} : {array})"]
    return lines + ([f"%s{number} = reduce_sum %v{number}"] if result else [])


# ---- judging -----------------------------------------------------------------------------------------


def judge(drawn, report, how):
    entry, = report["coverage"]["kernels"]
    lines = {line: c for c, line in drawn.lines.items()}
    found = frozenset(lines[f["primary"]["line"]] for f in report["findings"] if f["code"] == "out-of-bounds")
    others = [f["code"] for f in report["findings"] if f["severity"] == "error" and f["code"] != "out-of-bounds"]
    faults = [f"it has {others} with {how}"] if others else []
    for key, words, is_gpu in (("holds_for_every_schedule", "every schedule", True),
                               ("holds_for_every_interleaving", "every interleaving", False)):
        outcomes = drawn.list_outcomes(is_gpu)
        if entry[key] and len({bool(outcome) for outcome in outcomes}) > 1:
            faults.append(f"said to hold for {words} with {how}: {sorted(found)}, and may have "
                          f"{sorted(map(sorted, outcomes))}")
    if found - frozenset.union(*drawn.list_outcomes(True)):
        faults.append(f"it has {sorted(found)} with {how}, which is not possible")
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
            report = call(grout, path, [*options, "--save-schedule", os.path.join(folder, "explored")]
                          if options else options)
            faults += judge(drawn, report, " ".join(options))
        except Crash as crash:
            faults.append(str(crash))
            break
        entry, = report["coverage"]["kernels"]
        tally["certificates"] += entry["holds_for_every_schedule"]
        tally["of interleavings"] += entry["holds_for_every_interleaving"] and not entry["holds_for_every_schedule"]
    tally["kernels"] += 1
    tally["by chance"] += len(drawn.list_outcomes(True)) > 1
    return by_number.tell("kernel", number, faults, keep, text)


if __name__ == "__main__":
    sys.exit(by_number.main("parts", "kernels", check, 200))
