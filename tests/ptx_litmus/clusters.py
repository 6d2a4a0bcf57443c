"""Draws programs in PTX of two CTAs of a cluster that use the shared memory of each other, and asks whether the machine
tells what it has to of CTAs that begin and end, of mbarriers that are made, of ld.global.nc, and of writes of equal
values.

usage: clusters.py --runner PATH [--show] FIRST COUNT

A program is parts with meetings between. In each part threads load and store words of either CTA's shared memory, and
of an array, some by ld.global.nc; in some, a thread arrives at the mbarrier of the other CTA. A meeting is bar.sync,
barrier.cluster with a release or relaxed, a flag that one thread raises for another one, or nothing. The oracle knows
no clocks: of each access it has the set of those before it, the CTAs that its thread knows to have begun, and the
mbarriers that it knows to be made. Each run has to find one of the races that these leave, or only equal writes, or
nothing.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import pathlib
import random
import subprocess
import sys
import tempfile

SEEDS = 6
BATCH = 100
BLOCK = 64
THREADS = ((0, 0), (0, 32), (1, 0), (1, 32))  # CTA, number in the block
MAKERS = (0, 2)  # of the mbarriers
FLAGS = 64  # the first word of the array that is a flag
WORDS = 40  # of shared memory
NO_MBARRIER = "no mbarrier is at this address"
FLAG_ORDERS = (("release", "acquire"),) * 3 + (("relaxed", "acquire"), ("release", "relaxed"), ("relaxed", "relaxed"))

# kind: ld, st (of shared memory of the CTA), arrive (at its mbarrier), gld, gst, nc (of the array). An access is named
# by its mark.
Access = collections.namedtuple("Access", "name thread kind cta word value")
# after a part: ("",), ("bar",), ("cluster", "release" or "relaxed"), ("flag", from, to, order of store, order of load).
Program = collections.namedtuple("Program", "parts meets")


class Profile:
    """What a program is about: peers, cached reads, or equal writes of few words."""

    def __init__(self, rng):
        self.about = rng.choice(("peers", "peers", "cached", "equal"))
        self.careful = rng.choice((0.2, 0.6, 0.9)) if self.about == "peers" else rng.choice((0, 0.5))
        self.threads = range(len(THREADS)) if self.about != "equal" else rng.choice(((0, 1), (1, 3), (0, 1, 2)))
        self.kinds = {"peers": ("ld", "st", "st", "st", "gld", "gst", "nc"), "cached": ("nc", "nc", "gld", "gst"),
                      "equal": rng.choice((("st", "st", "st", "ld"), ("gst", "gst", "gld"), ("gst",)))}[self.about]
        self.words = {"peers": 2, "cached": 6, "equal": 1}[self.about]

    def draw_access(self, rng, number):
        kind = rng.choice(self.kinds)
        word = 8 + number if rng.random() < self.careful else rng.randrange(self.words)
        thread = rng.choice(self.threads)
        cta = (0 if self.about == "equal" else rng.randrange(2)) if kind in ("ld", "st") else None
        return Access("e%d" % number, thread, kind, cta, word, rng.choice((1, 1, 1, 1, 2)))

    def draw_meet(self, rng):
        what = rng.random()
        if self.about == "equal" and what < 0.5:
            return ("",)
        if what < 0.25 + 0.3 * self.careful:
            return ("cluster", rng.choice(("release", "release", "relaxed")))
        if what < 0.75:
            return ("bar",)
        if what < 0.95:
            first, other = rng.sample(range(len(THREADS)), 2)
            return draw_flag(rng, first, other)
        return ("",)


def draw_flag(rng, first, other):
    return ("flag", first, other, *rng.choice(FLAG_ORDERS))


def make_arrival(number, thread):
    return Access("e%d" % number, thread, "arrive", 1 - THREADS[thread][0], None, 0)


def draw_told(rng):
    """One flag, or two, from a thread of a CTA that has made its mbarrier to one that arrives there."""
    thread = rng.choice(range(len(THREADS)))
    there = rng.choice([i for i, (cta, _) in enumerate(THREADS) if cta != THREADS[thread][0]])
    between = rng.choice([[], [i for i in range(len(THREADS)) if i not in (thread, there)]])
    way = [there, *([rng.choice(between)] if between else []), thread]
    meets = [("bar",)] + [draw_flag(rng, *ends) for ends in zip(way, way[1:])] + [("cluster", "release")]
    if rng.random() < 0.2:
        meets.insert(-1, ("bar",))
    return Program([[] for _ in meets[1:]] + [[make_arrival(0, thread)]], meets)


def draw(rng):
    if rng.random() < 0.2:
        return draw_told(rng)
    profile = Profile(rng)
    parts, meets, number = [], [], 0
    for _ in range(rng.randrange(2, 6)):
        part = []
        for _ in range(rng.randrange(0, 4)):
            part.append(profile.draw_access(rng, number))
            number += 1
        parts.append(part)
        meets.append(profile.draw_meet(rng))
    if rng.random() < profile.careful or profile.about == "equal":
        meets[0] = ("cluster", rng.choice(("release", "relaxed")))
        parts[0] = [access for access in parts[0] if access.cta in (None, THREADS[access.thread][0])]
    if rng.random() < 0.3 + 0.6 * profile.careful or profile.about == "equal":
        meets[-1] = ("cluster", "release")
    if profile.about == "peers" and rng.random() < 0.4:
        rng.choice(parts).append(make_arrival(number, rng.choice(range(len(THREADS)))))
    return Program(parts, meets)


def has_arrivals(program):
    return any(access.kind == "arrive" for part in program.parts for access in part)


# ---- the oracle

class Oracle:
    def __init__(self, program):
        self.before = [set() for _ in THREADS]  # of each thread: names before what it does next
        self.begun = [{cta} for cta, _ in THREADS]
        self.made = [{cta} if i in MAKERS else set() for i, (cta, _) in enumerate(THREADS)]  # mbarriers, likewise
        self.seen = {}  # by name: the access, and what is before it
        self.races, self.equals = set(), set()
        for part, meet in zip(program.parts, program.meets):
            for access in part:
                self.do(access)
            self.meet(meet)
        self.end()
        self.compare()

    def do(self, access):
        if access.cta is not None and access.cta not in self.begun[access.thread]:
            self.races.add(("begin", frozenset((access.name, "-"))))
        elif access.kind == "arrive" and access.cta not in self.made[access.thread]:
            self.races.add(("order", frozenset((access.name, "init"))))
        self.seen[access.name] = (access, frozenset(self.before[access.thread]))
        self.before[access.thread].add(access.name)

    def join(self, threads, is_full):
        """fence.mbarrier_init tells of an mbarrier along a relaxed way, too."""
        before, begun, made = (set().union(*(each[i] for i in threads))
                               for each in (self.before, self.begun, self.made))
        for i in threads:
            self.before[i] |= before if is_full else set()
            self.begun[i] |= begun
            self.made[i] |= made

    def meet(self, meet):
        if meet[0] == "bar":
            for cta in range(2):
                self.join([i for i, thread in enumerate(THREADS) if thread[0] == cta], True)
        elif meet[0] == "cluster":
            self.join(range(len(THREADS)), meet[1] == "release")
        elif meet[0] == "flag":
            self.raise_flag(*meet[1:])

    def raise_flag(self, first, other, store, load):
        """A relaxed one after fence.mbarrier_init tells a load that acquires of what its thread has made itself."""
        is_full = (store, load) == ("release", "acquire")
        own = {THREADS[first][0]} if first in MAKERS else set()
        self.begun[other] |= self.begun[first]
        self.before[other] |= self.before[first] if is_full else set()
        self.made[other] |= self.made[first] if is_full else own if load == "acquire" else set()

    def end(self):
        for name, (access, _) in self.seen.items():
            if access.cta not in (None, THREADS[access.thread][0]) and not any(
                    name in self.before[i] for i, thread in enumerate(THREADS) if thread[0] == access.cta):
                self.races.add(("end", frozenset((name, "-"))))

    def compare(self):
        items = list(self.seen.values())
        for i, (a, _) in enumerate(items):
            for b, _before in items[:i]:
                if (a.cta, a.word) != (b.cta, b.word) or not {"st", "gst"} & {a.kind, b.kind}:
                    continue
                pair = frozenset((a.name, b.name))
                if "nc" in (a.kind, b.kind):
                    self.races.add(("cached", pair))
                elif b.name not in self.seen[a.name][1]:
                    is_equal = a.kind == b.kind and a.value == b.value
                    (self.equals if is_equal else self.races).add(("order", pair))


def judge(oracle, line):
    """None: right; else what is wrong. And what the run is."""
    words = line.split(" : ")[0].split(" :")[0].split()
    found = (words[1], frozenset(words[2:4])) if len(words) > 1 else None
    if oracle.races:
        right, what = words[0] == "race" and found in oracle.races, "race"
    elif oracle.equals:
        right, what = words[0] == "same" and found in oracle.equals, "same"
    else:
        right, what = words[0] == "ordered", "ordered"
    expected = sorted((kind, sorted(pair)) for kind, pair in oracle.races or oracle.equals)
    return None if right else "the machine says '%s', expected %s %s" % (" ".join(words), what, expected), what


# ---- as PTX

HEAD = """\
// PTX ISA 9.1, 2.2.2 'Cluster of Cooperative Thread Arrays', 8 'Memory Consistency Model', 9.7.9 'ld.global.nc'.
// launch: grid 2 cluster 2 block %d
// expect: ordered

.version 8.7
.target sm_90a
.address_size 64

.visible .entry k(.param .u64 data)
{
    .reg .pred %%p<4>;
    .reg .b32 %%r<8>, %%t, %%c, %%n;
    .reg .b64 %%d, %%rd<4>;
    .shared .align 16 .b8 s[%d];
    .shared .align 8 .b64 bar;
    ld.param.u64 %%d, [data];
    mov.u32 %%t, %%tid.x;
    mov.u32 %%c, %%ctaid.x;
    mad.lo.u32 %%n, %%c, %d, %%t;
    mov.u32 %%r4, s;
    mapa.shared::cluster.u32 %%r5, %%r4, 0;
    mapa.shared::cluster.u32 %%r6, %%r4, 1;
"""


# Each CTA's mbarrier, of which no phase ends.
MAKE = ["setp.eq.u32 %p0, %t, 0;", "@%p0 mbarrier.init.shared::cta.b64 [bar], 1000; // init",
        "@%p0 fence.mbarrier_init.release.cluster;"]


def print_arrival(access):
    return ["mov.u32 %r2, bar;", "mapa.shared::cluster.u32 %%r3, %%r2, %d;" % access.cta,
            "@%%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%%r3]; // %s" % access.name]


def print_access(access):
    if access.kind == "arrive":
        return print_arrival(access)
    shared, word = "%%r%d" % (5 + (access.cta or 0)), 4 * access.word
    form = {"ld": "ld.shared::cluster.u32 %%r0, [%s+%d];" % (shared, word),
            "st": "st.shared::cluster.u32 [%s+%d], %d;" % (shared, word, access.value),
            "gld": "ld.global.u32 %%r0, [%%d+%d];" % word, "nc": "ld.global.nc.u32 %%r0, [%%d+%d];" % word,
            "gst": "st.global.u32 [%%d+%d], %d;" % (word, access.value)}[access.kind]
    return ["@%%p0 %s // %s" % (form, access.name)]


def choose(thread):
    return "setp.eq.u32 %%p0, %%n, %d;" % (THREADS[thread][0] * BLOCK + THREADS[thread][1])


def print_flag(meet, number):
    _, first, other, store, load = meet
    at = "[%%d+%d]" % (4 * (FLAGS + number))
    return [choose(first), "@%%p0 st.%s.gpu.global.u32 %s, 1;" % (store, at), choose(other),
            "@!%%p0 bra over%d;" % number, "again%d:" % number,
            "ld.%s.gpu.global.u32 %%r1, %s;" % (load, at),
            "setp.eq.u32 %p1, %r1, 0;", "@%%p1 bra again%d;" % number, "over%d:" % number]


def print_program(program):
    out = list(MAKE) if has_arrivals(program) else []
    for number, (part, meet) in enumerate(zip(program.parts, program.meets)):
        for access in part:
            out += [choose(access.thread), *print_access(access)]
        if meet[0] == "bar":
            out.append("bar.sync 0;")
        elif meet[0] == "cluster":
            out += ["barrier.cluster.arrive.%s.aligned;" % meet[1], "barrier.cluster.wait.acquire.aligned;"]
        elif meet[0] == "flag":
            out += print_flag(meet, number)
    return HEAD % (BLOCK, 4 * WORDS, BLOCK) + \
        "".join(("%s\n" if line.endswith(":") else "    %s\n") % line for line in [*out, "ret;"]) + "}\n"


# ---- all of them

def run_batch(runner, folder, numbers, counts):
    programs, paths = [], []
    for number in numbers:
        program = draw(random.Random(number))
        path = folder / ("%d.ptx" % number)
        path.write_text(print_program(program))
        programs.append((number, Oracle(program)))
        paths.append(str(path))
    result = subprocess.run([runner, "--values", str(SEEDS)] + paths, capture_output=True, text=True, check=False)
    lines, wrong = result.stdout.splitlines(), 0
    if result.returncode != 0 or len(lines) != SEEDS * len(programs):
        if len(programs) > 1:  # which of them it was
            return sum(run_batch(runner, folder, [number], counts) for number in numbers)
        oracle = programs[0][1]
        if NO_MBARRIER in result.stdout + result.stderr and any("init" in pair for _, pair in oracle.races):
            counts["too early"] += 1  # the arrival came first: a fault, which ends the run
            return 0
        print(result.stdout[-2000:], result.stderr[-2000:])
        return 1
    for i, (number, oracle) in enumerate(programs):
        for seed in range(SEEDS):
            fault, what = judge(oracle, lines[i * SEEDS + seed])
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
            print(print_program(draw(random.Random(number))))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        for start in range(0, len(numbers), BATCH):
            wrong += run_batch(arguments.runner, pathlib.Path(folder), numbers[start:start + BATCH], counts)
    print("%d passed, %d failed; runs: %s" % (len(numbers) - wrong, wrong,
                                             ", ".join("%d %s" % (n, what) for what, n in sorted(counts.items()))))
    return 1 if wrong or min(counts[what] for what in ("race", "same", "ordered")) == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
