"""Draws kernels whose mbarriers have several lives on the same bytes, right ones and ones with a mistake, and lets
'grout check --expect' compare what it finds, under every timing, with what the drawn kernel is known to have.

usage: check_lives.py --grout PATH FIRST COUNT     the seeds

One thread fills, by plain stores, cp.async, both together or TMA; another one waits for the phase and reads. The
mistakes are those that no value shows, since here every arrival comes in time:

    ended-early     nobody waits for the phase of the last async_copy_arrive before the mbarrier ends
    left-live       a life does not end before the next one, or before its scope, does
    unseen          a phase that nobody waits for before the next one's arrive: a warning
    bare            async_copy_arrive order(relaxed) announces a plain store

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

COLUMNS = 64
FILLS = ("plain", "async", "bare", "both", "tma")
MISTAKES = ("none", "ended-early", "left-live", "unseen", "bare")
ASYNC = ("async", "bare", "both")


class Kernel:
    """The lines of one kernel. A comment at the end of a line says what is found there."""

    def __init__(self):
        self.lines = []
        self.depth = 1

    def add(self, text):
        """Returns the place of the line, for expect()."""
        if text.startswith("}"):
            self.depth -= 1
        self.lines.append("  " * self.depth + text)
        if text.endswith("{"):
            self.depth += 1
        return len(self.lines) - 1

    def expect(self, place, what, code):
        self.lines[place] += ("; " if "  // " in self.lines[place] else "  // ") + f"expect-{what}: {code}"


Phase = collections.namedtuple("Phase", "fill source number is_seen is_awaited")


class Lives:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.mistake = MISTAKES[seed % len(MISTAKES)]
        self.is_scoped = self.random.random() < 0.5
        self.lives = [[self.random.choice(FILLS) for _ in range(self.random.randint(1, 4))]
                      for _ in range(self.random.randint(1, 3))]
        self.chosen = self.random.randrange(len(self.lives))
        if self.mistake == "ended-early":
            self.lives[self.chosen][-1] = self.random.choice(ASYNC)
        elif self.mistake == "left-live" and not self.is_scoped:
            self.lives.append(["plain"])  # the life of the CTA's mbarrier may end with the CTA
        elif self.mistake == "unseen":
            self.lives[self.chosen][:0] = ["plain", self.random.choice(FILLS)]
        elif self.mistake == "bare":
            self.lives[self.chosen][0] = "both"
        self.kernel = Kernel()
        self.last_init = None

    def make_phases(self, life):
        """The phases of a life, with the rows of the source that they bring."""
        first = sum(len(fills) for fills in self.lives[:life])
        fills = self.lives[life]
        is_chosen = life == self.chosen
        return [Phase(fill, first + i, i,
                      not (is_chosen and self.mistake == "unseen" and i == 0),
                      not (is_chosen and self.mistake == "ended-early" and i == len(fills) - 1))
                for i, fill in enumerate(fills)]

    def add_fill(self, phase, is_bare):
        """Returns the lines of the store and of the arrive."""
        k, store = self.kernel, None
        if phase.fill in ("plain", "both"):
            store = k.add(f"store %t, (load %x[{phase.source}])")
        if phase.fill in ASYNC:
            k.add(f"async_copy %x[{phase.source}], %s")
            order = " order(relaxed)" if phase.fill == "bare" or is_bare else ""
            return store, k.add(f"async_copy_arrive %b[0]{order}")
        if phase.fill == "plain":
            return store, k.add("mbarrier_arrive %b[0]")
        arrive = k.add(f"mbarrier_expect %b[0], {COLUMNS * 4}")
        k.add(f"copy_gmem_to_smem %x[{phase.source}], %s, %b[0]")
        return store, arrive

    def add_filler(self, phases, is_chosen):
        """The place of a store that is announced too weakly, or None; and that of the last arrive."""
        k, weak, last = self.kernel, None, None
        for phase in phases:
            is_bare = is_chosen and self.mistake == "bare" and phase.number == 0
            store, last = self.add_fill(phase, is_bare)
            if is_bare:
                weak = store
            if phase.number == 1 and not phases[0].is_seen:
                k.expect(last, "warning", "barrier-unobserved-phase")
            if not phase.is_seen:
                k.add("barrier_arrive %told[0]")
            if phase.is_seen and phase.is_awaited:
                k.add("barrier_wait %back[0]")
        k.add("async_copy_commit_group")
        k.add("async_copy_wait 0")
        k.add("fence_async_shared")
        return weak, last

    def add_reader(self, phases, weak):
        k = self.kernel
        for phase in phases:
            row = f"%y[{phase.source}"
            if not phase.is_seen:
                k.add("barrier_wait %told[0]")
            if not (phase.is_seen and phase.is_awaited):
                k.add(f"store {row}, 0], (load %x[{phase.source}])")
                k.add(f"store {row}, 1], (load %x[{phase.source}])")
                continue
            k.add(f"mbarrier_wait %b[0], {phase.number % 2}")
            stored = "%t" if phase.fill in ("plain", "both") else "%s"
            copied = "%t" if phase.fill == "plain" else "%s"
            use = k.add(f"store {row}, 0], (load {stored})")
            k.add(f"store {row}, 1], (load {copied})")
            if weak is not None and phase.number == 0:
                k.expect(weak, "note", "insufficient-scope")
                k.expect(use, "error", "insufficient-scope")
            k.add("fence_async_shared")
            k.add("barrier_arrive %back[0]")

    def add_end(self, is_chosen, scope, init, last):
        k = self.kernel
        if is_chosen and self.mistake == "left-live":
            if self.is_scoped:
                k.expect(init, "error", "barrier-left-live")
                k.expect(scope, "note", "barrier-left-live")
            else:
                self.last_init = init
            return
        k.add("if (eq %me, 0) {")
        end = k.add("mbarrier_invalidate %b[0]")
        k.add("}")
        if is_chosen and self.mistake == "ended-early":
            k.expect(end, "error", "barrier-uninitialised")
            k.expect(last, "note", "barrier-uninitialised")

    def add_life(self, life):
        k, phases, is_chosen = self.kernel, self.make_phases(life), life == self.chosen
        scope = k.add("scoped(%b : mbarrier[1]) collective {") if self.is_scoped else None
        k.add("if (eq %me, 0) {")
        init = k.add("mbarrier_init %b[0], 1")
        if self.last_init is not None:
            k.expect(init, "error", "barrier-uninitialised")
            k.expect(self.last_init, "note", "barrier-uninitialised")
            self.last_init = None
        k.add("}")
        k.add("block_barrier")
        k.add("if (eq %me, 0) {")
        weak, last = self.add_filler(phases, is_chosen)
        k.add("}")
        k.add("if (eq %me, 1) {")
        self.add_reader(phases, weak)
        k.add("}")
        k.add("block_barrier")
        self.add_end(is_chosen, scope, init, last)
        if self.is_scoped:
            k.add("}")

    def make(self):
        k, rows = self.kernel, sum(len(fills) for fills in self.lives)
        k.add("%me = axis_index wg")
        for life in range(len(self.lives)):
            self.add_life(life)
        objects = [("%s", f"smem f32[{COLUMNS}]"), ("%t", f"smem f32[{COLUMNS}]"), ("%back", "barrier[1]"),
                   ("%told", "barrier[1]")] + ([] if self.is_scoped else [("%b", "mbarrier[1]")])
        body = "\n".join(k.lines)
        scratch = [f"  scratch {name} : {what}" for name, what in objects if re.search(name + r"\b", body)]
        head = ["// expect: clean"] if self.mistake == "none" else []
        holds = "every" if self.mistake in ("none", "unseen") else "this"
        head.append(f"// expect-holds: {holds}-schedule")
        head.append(f"kernel @k(%x: in gmem f32[{rows}, {COLUMNS}], %y: out gmem f32[{rows}, 2, {COLUMNS}]) "
                    "threads(wg = 2)")
        return "\n".join(head + ["{"] + scratch + k.lines + ["}", ""])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        names, mistakes = [], collections.Counter()
        for seed in range(asked.first, asked.first + asked.count):
            lives = Lives(seed)
            mistakes[lives.mistake] += 1
            names.append(f"{seed}-{lives.mistake}.grout")
            with open(os.path.join(folder, names[-1]), "w") as file:
                file.write(lives.make())
        command = [os.path.join(os.path.dirname(os.path.abspath(asked.grout)), "grout-expect"), "-q", "--all-timings",
                   "--seeds", "2", "--timeout", str(SECONDS)]
        done = subprocess.run(command + names, capture_output=True, text=True, cwd=folder, check=False)
        print(done.stdout + done.stderr, end="")
        said = set(done.stdout.splitlines())
        failed = [name for name in names if f"{name}: FAILED" in said]
        for name in failed[:2]:
            with open(os.path.join(folder, name)) as file:
                print(f"---- {name} ----\n{file.read()}", end="")
    print(", ".join(f"{count} {mistake}" for mistake, count in sorted(mistakes.items())))
    print(f"{len(names) - len(failed)} passed, {len(failed)} failed")
    return 0 if done.returncode == 0 and names else 1


sys.exit(main())
