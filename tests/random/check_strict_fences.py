"""Draws small kernels, and says itself which fences --strict-fences misses.

usage: check_strict_fences.py --grout PATH FIRST COUNT

Threads store a row each time, commit, arrive on barriers of one phase and wait for them; then somebody copies the row.
The simple model walks the graph of what happens before what:

    the two are in no order                                     a race, which is not looked at here
    no commit of any thread is on the way                       the plain rule is broken, primary place the copy
    no commit of the storing thread itself is on the way        the strict rule is broken, primary place the store

The rows are of SMEM or of GMEM. Some kernels load rows of GMEM, which somebody then stores over by TMA: the plain rule
asks for no commit, the strict one for any, primary place the copy. Schedule and timing are drawn too: the answer has
nothing to do with them.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

THREADS = 3


class Kernel:
    """Operations in an order in which they could run: (thread, what, number)."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.space = self.draw.choice(["smem", "gmem"])
        self.loads = self.space == "gmem" and seed % 3 == 0  # what is called a store is a load
        self.ops, self.stored, self.told = [], [], []
        self.store(self.draw.randrange(THREADS))
        for _ in range(self.draw.randrange(15, 45)):
            self.add_op()
        for row in list(self.stored):
            for _ in range(self.draw.randrange(6)):
                self.add_op(may_store=False)
            self.add(self.draw.randrange(THREADS), "copy", row)

    def add(self, thread, what, number):
        self.ops.append((thread, what, number))

    def store(self, thread):
        self.add(thread, "store", len(self.stored))
        self.stored.append(len(self.stored))

    def add_op(self, may_store=True):
        thread = self.draw.randrange(THREADS)
        what = self.draw.choices(["store", "commit", "arrive", "wait"], [2, 3, 4, 8])[0]
        if what == "store" and may_store:
            self.store(thread)
        elif what == "commit":
            self.add(thread, what, 0)
        elif what == "arrive":
            self.add(thread, what, len(self.told))
            self.told.append(set())
        elif what == "wait" and self.told:
            number = self.draw.randrange(max(0, len(self.told) - 4), len(self.told))
            if thread not in self.told[number]:
                self.told[number].add(thread)
                self.add(thread, what, number)

    def is_before(self, a, b):
        """Whether operation a happens before operation b."""
        reached = {a}
        for i in range(a + 1, b + 1):
            thread, what, number = self.ops[i]
            for j in reached:
                other, earlier, its_number = self.ops[j]
                if other == thread or (what == "wait" and earlier == "arrive" and its_number == number):
                    reached.add(i)
                    break
        return b in reached

    def write_op(self, what, number):
        array = "%rows" if self.space == "smem" else "%z"
        if what == "store" and self.loads:
            return f"store %y[{number}], (load %z[{number}])"
        if what == "store":
            return f"store {array}[{number}], (broadcast 1.0 : f32[N])"
        if what == "commit":
            return f"commit_{self.space}"
        if what == "arrive":
            return f"barrier_arrive %bar[{number}]"
        if what == "wait":
            return f"barrier_wait %bar[{number}]"
        if self.space == "smem":
            return f"copy_smem_to_gmem %rows[{number}], %y[{number}]"
        if self.loads:
            return f"copy_smem_to_gmem %rows[{number}], %z[{number}]"
        return f"copy_gmem_to_smem %z[{number}], %rows[{number}], %full[{number}]"

    def write(self):
        """The text, and the line of each operation."""
        rows, bars = len(self.stored), max(1, len(self.told))
        lines = [f"const N = 32, R = {rows}",
                 f"kernel @k(%z: inout gmem f32[R, N], %y: out gmem f32[R, N]) threads(wg = {THREADS}) {{",
                 "  scratch %rows : smem f32[R, N]", f"  scratch %bar : barrier[{bars}]",
                 "  scratch %full : barrier[R]", "  %w = axis_index wg"]
        if self.loads:
            lines += ["  if (eq %w, 0) {", "    store %rows, (broadcast 2.0 : f32[R, N])", "    commit_smem", "  }",
                      "  block_barrier"]
        places = {}
        for thread in range(THREADS):
            lines.append(f"  if (eq %w, {thread}) {{")
            for i, (own, what, number) in enumerate(self.ops):
                if own == thread:
                    lines.append("    " + self.write_op(what, number))
                    places[i] = len(lines)
                    if what == "copy" and self.space == "gmem" and not self.loads:
                        lines.append(f"    barrier_wait %full[{number}]")
            lines += ["    wait_smem_to_gmem 0", "  }"]
        return "\n".join(lines + ["}", ""]), places

    def expect(self, places, is_strict):
        """(primary line, related line) of each finding."""
        found = set()
        for i, (_, what, row) in enumerate(self.ops):
            if what != "copy":
                continue
            store = next(j for j, op in enumerate(self.ops) if op[1:] == ("store", row))
            if not self.is_before(store, i):
                continue
            fences = [self.ops[j][0] for j in range(store, i)
                      if self.ops[j][1] == "commit" and self.is_before(store, j) and self.is_before(j, i)]
            if self.loads:
                found |= {(places[i], places[store])} if is_strict and not fences else set()
            elif not fences:
                found.add((places[i], places[store]))
            elif is_strict and self.ops[store][0] not in fences:
                found.add((places[store], places[i]))
        return found


def check(grout, path, options):
    command = [grout, "check", "--format", "json", "-q", "--max-findings", "1000", *options, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    report = json.loads(done.stdout)
    if report["verdict"] == "invalid":
        raise ValueError(done.stdout)
    return {(found["primary"]["line"], found["related"]["line"]) for found in report["findings"]
            if found["code"].startswith("missing-commit")}


def check_kernel(grout, folder, seed):
    """The number of findings that only the strict rule makes, and what is wrong, or None."""
    kernel = Kernel(seed)
    text, places = kernel.write()
    path = os.path.join(folder, "drawn.grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    plain, strict = kernel.expect(places, False), kernel.expect(places, True)
    timing = random.Random(seed).choice(["lazy", "eager", "random"])
    for options, expected in (([], plain), (["--strict-fences"], strict)):
        for schedule in ("fair", "random"):
            run = [*options, "--timing", timing, "--schedule", schedule, "--seed", str(seed)]
            found = check(grout, path, run)
            if found != expected:
                return 0, f"seed {seed}, {' '.join(run)}: found {found - expected}, not {expected - found}\n{text}"
    return len(strict - plain), None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    args = parser.parse_args()
    strict = failures = 0
    with tempfile.TemporaryDirectory(prefix="grout-fences-") as folder:
        for seed in range(args.first, args.first + args.count):
            count, fault = check_kernel(args.grout, folder, seed)
            strict += count
            if fault is not None:
                failures += 1
                print(fault)
    print(f"{args.count} kernels, {strict} findings of the strict rule alone, {failures} kernels judged otherwise")
    return failures > 0 or strict == 0


if __name__ == "__main__":
    sys.exit(main())
