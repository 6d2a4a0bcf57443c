"""The relations of PTX ISA 9.1, 8 'Memory Consistency Model', of one run of a drawn program, and the races that they
leave.

Nothing here is shared with ptx/order, which keeps clocks: this builds the events of the run, from the values that were
read, and closes the relations. The verdict of the machine's search has to be this one, for each seed.

    python3 oracle.py --runner ptx_litmus FIRST COUNT

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import pathlib
import random
import subprocess
import sys
import tempfile

import draw

SEEDS = 6
BATCH = 50

# kind: r, w, u (read and write), fence, arrive, wait, meet. value: what it writes: (store, its adds so far) is what a
# place holds. read: what it read.
Event = collections.namedtuple("Event", "number thread cta kind name place sem scope value read is_red")


def includes(scope, cta, other, cluster):
    return {"cta": cta == other, "cluster": cta // cluster == other // cluster}.get(scope, scope in ("gpu", "sys"))


def is_release(event):
    return event.sem in ("release", "acq_rel", "sc")


def is_acquire(event):
    return event.sem in ("acquire", "acq_rel", "sc")


class Run:
    """The events of a run and their relations, as sets of bits."""

    def __init__(self, program, values, guess=0):
        self.program, self.values = program, values
        self.guess, self.guesses = guess, 1  # which write a reduction has read, where no value tells
        self.cluster = program.shape[1]
        self.events, self.edges = [], []  # edges[i]: the events right after i
        self.of_thread = [[] for _ in program.threads]
        self.build_events()
        self.order_places()
        self.link_patterns()
        self.close()

    # ---- events

    def add(self, thread, kind, op=None, **more):
        cta = self.program.threads[thread][0]
        event = Event(len(self.events), thread, cta, kind, op.name if op else "", op.place if op else None,
                      op.sem if op else "", op.scope if op else "", more.get("value"), more.get("read"),
                      more.get("is_red", False))
        self.events.append(event)
        self.edges.append(set())
        if self.of_thread[thread]:
            self.edges[self.of_thread[thread][-1].number].add(event.number)
        self.of_thread[thread].append(event)
        return event

    def build_events(self):
        for i, part in enumerate(self.program.parts):
            for thread, ops in enumerate(part):
                for op in ops:
                    self.add_op(thread, op)
            if i < len(self.program.meets):
                self.add_meet(self.program.meets[i])

    def add_op(self, thread, op):
        read = None if op.log is None else self.values.get(op.log, 0)
        if op.kind == "ld":
            if self.values[op.log + 1] > 1:
                self.add(thread, "r", op, read=0)  # all rounds of the loop but the last
            self.add(thread, "r", op, read=read)
        elif op.kind == "st":
            self.add(thread, "w", op, value=op.value)
        elif op.kind in ("atom", "exch", "red"):
            self.add(thread, "u", op, value=op.value, read=read, is_red=op.kind == "red")
        else:
            self.add(thread, op.kind, op)

    def meets_with(self, kind, thread, other):
        (cta, number), (cta2, number2) = self.program.threads[thread], self.program.threads[other]
        if kind == "cluster":
            return cta // self.cluster == cta2 // self.cluster
        return cta == cta2 and (kind == "bar" or number // 32 == number2 // 32)

    def add_meet(self, meet):
        came = [self.add(thread, "meet") for thread in range(len(self.program.threads))]
        left = [self.add(thread, "meet") for thread in range(len(self.program.threads))]
        for a in came:
            for b in left:
                if self.meets_with(meet[0], a.thread, b.thread):
                    self.link_meet(meet, a, b)

    def link_meet(self, meet, a, b):
        if meet != ("cluster", "relaxed"):
            self.edges[a.number].add(b.number)
            return
        for fence in self.of_thread[a.thread]:  # a fence makes a relaxed arrival a release
            if fence.number < a.number and fence.kind == "fence" and is_release(fence) and fence.scope != "cta":
                self.edges[fence.number].add(b.number)

    # ---- what was read

    def order_places(self):
        """For each read, the write that it read from; for each atomic operation, the one before it, too."""
        self.source = {}
        for place in range(draw.PLACES):
            here = [e for e in self.events if e.place == place and e.kind in "rwu"]
            newest = {}  # a value that the place had: the write that made it
            for event in here:
                if event.kind == "w" or (event.kind == "u" and event.value >= 256):
                    newest[event.value] = event
                elif event.kind == "u" and event.read is not None:
                    newest[event.read + event.value] = event
            for event in here:  # a reduction, whose value is not logged: what it read is what nobody else made
                if event.is_red:
                    self.place_reduction(event, here, newest)
            for event in here:
                if event.kind in "ru" and event.number not in self.source:
                    self.source[event.number] = newest.get(event.read)

    def place_reduction(self, red, here, newest):
        """Its value is in some that were read: the smallest of those minus its own bit is what it read."""
        seen = [e.read for e in here if e.read is not None and e.read & red.value]
        if seen:
            made = min(seen, key=lambda value: bin(value & 255).count("1"))
            newest[made] = red
            self.source[red.number] = newest.get(made - red.value)
            return
        # nobody has seen it: it came last, or a store came after it
        last = self.values.get(red.place, 0)
        writes = [newest.get(last - red.value)] if last & red.value else [None] + list(newest.values())
        self.guesses = max(self.guesses, len(writes))
        self.source[red.number] = writes[self.guess % len(writes)]

    def is_strong_pair(self, a, b):
        """Morally strong: PTX ISA 8.7; all accesses here are of one size and the generic proxy."""
        if a.thread == b.thread:
            return True
        return a.sem not in ("weak", "") and b.sem not in ("weak", "") and \
            includes(a.scope, a.cta, b.cta, self.cluster) and includes(b.scope, b.cta, a.cta, self.cluster)

    def observed(self, event):
        """The writes that precede a read in observation order: PTX ISA 8.9.2."""
        found = []
        while True:
            write = self.source.get(event.number)
            if write is None or not self.is_strong_pair(write, event):
                return found
            found.append(write)
            if write.kind != "u":
                return found
            event = write

    # ---- patterns

    def release_patterns(self, write):
        """The first operations of the patterns that end with a strong write: PTX ISA 8.8."""
        for event in self.of_thread[write.thread]:
            if event.number > write.number:
                return
            same = event.kind in "wu" and event.place == write.place
            if is_release(event) and (event.number == write.number or event.kind == "fence" or same):
                yield event

    def acquire_patterns(self, read):
        for event in self.of_thread[read.thread]:
            if event.number < read.number:
                continue
            same = event.kind in "ru" and event.place == read.place
            if is_acquire(event) and (event.number == read.number or event.kind == "fence" or same):
                yield event

    def synchronize(self, write, read):
        for first in self.release_patterns(write):
            for last in self.acquire_patterns(read):
                if self.is_strong_pair(first, last):
                    self.edges[first.number].add(last.number)

    def link_patterns(self):
        for read in self.events:
            if read.kind in ("r", "u") and read.sem != "weak" and not read.is_red:
                for write in self.observed(read):
                    if write.sem != "weak":
                        self.synchronize(write, read)
        arrivals = [e for e in self.events if e.kind == "arrive"]
        for wait in self.events:
            if wait.kind == "wait":
                for arrival in arrivals:
                    if self.is_strong_pair(arrival, wait):
                        self.synchronize(arrival, wait)

    # ---- order

    def close(self):
        """after[i]: the events that i precedes in base causality order, as bits; edges may go backwards in number."""
        self.after = [0] * len(self.events)
        changed = True
        while changed:
            changed = False
            for i in reversed(range(len(self.events))):
                bits = self.after[i]
                for j in self.edges[i]:
                    bits |= self.after[j] | 1 << j
                if bits != self.after[i]:
                    self.after[i], changed = bits, True
        self.observers = collections.defaultdict(int)
        for event in self.events:
            if event.kind in "ru" and event.place is not None and event.sem != "weak":
                for write in self.observed(event):
                    self.observers[write.number] |= 1 << event.number

    def is_before(self, x, y):
        """Causality order: PTX ISA 8.9.5."""
        return bool(self.after[x.number] >> y.number & 1) or any(
            self.observers[x.number] >> z & 1 and self.after[z] >> y.number & 1 for z in range(len(self.events)))

    def is_before_by_coherence(self, x, y):
        """The one liberty of ptx/order: one that has observed a strong write of a place comes after the strong accesses
        that come before that write, because coherence order is transitive."""
        for write in self.events:
            if write.place == x.place and write.kind in ("w", "u") and write.sem != "weak" and x.sem != "weak" and \
                    write.number != x.number and self.is_before(write, y):
                return True
        return False

    def races(self):
        memory = [e for e in self.events if e.place is not None]
        for i, x in enumerate(memory):
            for y in memory[i + 1:]:
                if x.place == y.place and x.thread != y.thread and (x.kind != "r" or y.kind != "r") and \
                        not self.is_strong_pair(x, y) and not self.is_before(x, y) and not self.is_before(y, x):
                    yield x, y


# ---- against the machine

def parse_line(line):
    verdict, _, values = line.partition(" :")
    pairs = (word.split("=") for word in values.split())
    return verdict.split(), {int(at): int(value) for at, value in pairs}


def judge(program, line):
    """None: the verdicts agree; else what is wrong. And whether it is a race, or decided by coherence."""
    verdict, values = parse_line(line)
    run = Run(program, values)
    fault, what = compare(verdict, run)
    for guess in range(1, run.guesses):
        if fault is not None:
            fault, what = compare(verdict, Run(program, values, guess))
    return fault, what


def compare(verdict, run):
    races = list(run.races())
    pairs = {frozenset((x.name, y.name)) for x, y in races}
    if verdict[0] == "ordered":
        if all(run.is_before_by_coherence(x, y) or run.is_before_by_coherence(y, x) for x, y in races):
            return None, "coherent" if races else "ordered"
        return "the machine found no race: %s" % sorted(tuple(sorted(pair)) for pair in pairs), "race"
    if frozenset(verdict[2:]) not in pairs:
        return "the machine says '%s', which is none of %s" % (" ".join(verdict),
                                                               sorted(tuple(sorted(p)) for p in pairs)), "race"
    return None, "race"


def run_batch(runner, folder, numbers, counts):
    programs, paths = [], []
    for number in numbers:
        program = draw.draw(random.Random(number))
        path = folder / ("%d.ptx" % number)
        path.write_text(draw.print_program(program))
        programs.append((number, program))
        paths.append(str(path))
    result = subprocess.run([runner, "--values", str(SEEDS)] + paths, capture_output=True, text=True, check=False)
    lines = result.stdout.splitlines()
    if result.returncode != 0 or len(lines) != SEEDS * len(programs):
        print(result.stdout[-2000:], result.stderr[-2000:])
        return len(programs)
    wrong = 0
    for i, (number, program) in enumerate(programs):
        for seed in range(SEEDS):
            fault, what = judge(program, lines[i * SEEDS + seed])
            counts[what] += 1
            if fault is not None:
                wrong += 1
                print("program %d, seed %d: %s" % (number, seed, fault))
                break
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runner", required=True)
    parser.add_argument("--show", action="store_true", help="print the programs instead")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    counts, wrong = collections.Counter(), 0
    numbers = range(arguments.first, arguments.first + arguments.count)
    if arguments.show:
        for number in numbers:
            print(draw.print_program(draw.draw(random.Random(number))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(numbers), BATCH):
            wrong += run_batch(arguments.runner, pathlib.Path(folder), numbers[start:start + BATCH], counts)
    print("%d programs, %d runs: %s; %d programs wrong" % (
        len(numbers), sum(counts.values()), ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())),
        wrong))
    return 1 if wrong or min(counts["race"], counts["ordered"]) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
