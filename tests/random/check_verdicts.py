"""Drawn kernels with mistakes: what the checker finds against an independent model of the rules.

usage: check_verdicts.py --grout PATH KIND FIRST COUNT        KIND: order, threads

order: one thread, a straight line of wgmmas, plain accesses, TMA and waits, in any order. The model
says which findings there are, each with its code, place and related place; they have to be exactly
these.
threads: two or three threads that hand each other barriers. The model says which pairs of accesses
no rule of docs/memory_model.md orders: without one the verdict has to be clean, with one or more it
must not be, and of a single one code and places have to be right, under every schedule.

A kernel whose findings differ is printed. Closing line: 'N passed, N failed, N findings'.
"""
import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import typing

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

TIMINGS = ("lazy", "eager", "random")
ORDER_CODES = {"mma-operand-reuse", "missing-commit-smem", "missing-commit-smem-war", "async-not-awaited",
               "smem-race", "same-value-race", "smem-source-reuse", "accumulator-in-flight", "async-at-exit"}
WRITES = ("store", "tma-load")
EQUAL_AS = {"same-value-race": "smem-race"}
ASYNC = ("wgmma", "tma-load", "tma-store")


def find(grout, text, options):
    """The findings about order as (code, line, related line), or what went wrong as text."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "drawn.grout")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([grout, "check", "--format", "json", "-q", "--max-findings", "1000", *options, path],
                              capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    try:
        findings = json.loads(done.stdout)["findings"]
    except ValueError:
        return f"exit code {done.returncode}: {done.stdout[-500:]}{done.stderr[-500:]}"
    return {(f["code"], f["primary"]["line"], f["related"] and f["related"]["line"])
            for f in findings if f["code"] in ORDER_CODES}


# ---- one thread ----------------------------------------------------------------------------------


class Line:
    """One thread's program and what the checker has to say of it."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.lines = ["kernel @k(%a: in gmem f16[64, 64], %b: in gmem f16[64, 128],",
                      "    %y: out gmem f16[64, 64, 64], %c: out gmem f32[64, 64, 128])", "{",
                      "  scratch %as : smem f16[3, 64, 64] tile(8, 64) swizzle(128)",
                      "  scratch %bs : smem f16[2, 64, 128] tile(8, 64) swizzle(128)",
                      "  scratch %acc : acc f32[64, 128]", "  scratch %full : barrier[64]"]
        self.expected = set()
        # slots of A, then halves of the two slots of B: the last write, and the reads since
        self.regions = {i: {"write": None, "reads": []} for i in range(7)}
        self.groups = 0  # wgmmas issued
        self.done = 0  # of them known to be over
        self.reported = 0  # the newest that a finding asks to wait for
        self.stores = 0
        self.stores_read = 0
        self.loads = []
        self.open = []  # plain accesses without a commit
        # The newest wgmma on each half of the accumulator: line, group, width.
        self.halves: list[typing.Any] = [None, None]
        self.outputs = 0

    def emit(self, text):
        self.lines.append("  " + text)
        return len(self.lines)

    def expect(self, code, line, access, group=0):
        self.expected.add((code, line, access))
        self.reported = max(self.reported, group)

    def judge_write_before(self, write, kind, line):
        if write["kind"] == "tma-load" and not write["awaited"]:
            self.expect("async-not-awaited", line, write["line"])
        if write["kind"] == "store" and not write["committed"] and kind in ASYNC:
            self.expect("missing-commit-smem", line, write["line"])

    def judge_reads_before(self, reads, kind, line):
        wgmmas = [r for r in reads if r["kind"] == "wgmma" and r["group"] > self.done]
        stores = [r for r in reads if r["kind"] == "tma-store" and r["group"] > self.stores_read]
        loads = [r for r in reads if r["kind"] == "load" and not r["committed"]]
        if wgmmas:
            self.expect("mma-operand-reuse", line, wgmmas[-1]["line"], wgmmas[-1]["group"])
        if stores:
            self.expect("smem-source-reuse", line, stores[-1]["line"])
        if loads and kind == "tma-load":
            for load in loads:
                self.expect("missing-commit-smem-war", line, load["line"])

    def access(self, kind, regions, line, group=0):
        it = {"kind": kind, "line": line, "group": group, "committed": False, "awaited": False}
        for region in (self.regions[i] for i in regions):
            if region["write"]:
                self.judge_write_before(region["write"], kind, line)
            if kind in WRITES:
                self.judge_reads_before(region["reads"], kind, line)
                region["write"], region["reads"] = it, []
            else:
                region["reads"].append(it)
        if kind not in ASYNC:
            self.open.append(it)
        return it

    def draw_store(self, slot=None):
        slot = self.draw.randrange(5) if slot is None else slot
        if slot < 3:
            self.access("store", [slot], self.emit(f"store %as[{slot}], (load %a)"))
        else:
            first = 2 * slot - 3
            self.access("store", [first, first + 1], self.emit(f"store %bs[{slot - 3}], (load %b)"))

    def draw_commit(self):
        self.emit("commit_smem")
        for it in self.open:
            it["committed"] = True
        self.open = []

    def draw_wgmma(self):
        half, i, j = self.draw.randrange(3), self.draw.randrange(3), self.draw.randrange(2)
        name = self.draw.choice(["wgmma", "wgmma_async", "wgmma_async"])
        is_register = self.draw.random() < 0.2
        a = "(load %a)" if is_register else f"%as[{i}]"
        b = f"%bs[{j}]" if half == 2 else f"%bs[{j}, :, ds({64 * half}, 64)]"
        line = self.emit(f"{name} {self.get_accumulator(half)}, {a}, {b}")
        self.groups += 1
        for h in ((0, 1) if half == 2 else (half,)):
            before = self.halves[h]
            if before and before[1] > self.done and before[2] != half:
                self.expect("accumulator-in-flight", line, before[0], before[1])
            self.halves[h] = (line, self.groups, half)
        used = [3 + 2 * j, 4 + 2 * j] if half == 2 else [3 + 2 * j + half]
        self.access("wgmma", used if is_register else [i] + used, line, self.groups)
        if name == "wgmma":
            self.done = max(self.done, self.groups - 1)

    @staticmethod
    def get_accumulator(half):
        return "%acc" if half == 2 else f"%acc[:, ds({64 * half}, 64)]"

    def draw_accumulator(self):
        way, half = self.draw.randrange(4), self.draw.randrange(3)
        acc, columns = self.get_accumulator(half), 128 if half == 2 else 64
        to = f"%c[{self.outputs}, :, ds(0, {columns})]"
        self.outputs += 1
        if way == 0:
            self.done = self.groups
            line = self.emit(f"store {to}, (load {acc})")
        elif way == 1:
            left = self.draw.randrange(3)
            self.done = max(self.done, self.groups - left)
            line = self.emit(f"store {to}, (acc_load {acc} wait({left}))")
        elif way == 2:
            line = self.emit(f"store {to}, (acc_load {acc})")
        else:
            line = self.emit(f"acc_store {acc}, (broadcast 1.0 : f32[64, {columns}])")
        for h in ((0, 1) if half == 2 else (half,)):
            before = self.halves[h]
            if before and before[1] > self.done:
                self.expect("accumulator-in-flight", line, before[0], before[1])
            self.halves[h] = None if way == 3 else before

    def draw_wait(self):
        left = self.draw.choice([0, 0, 1, 1, 2, 3])
        self.emit(f"wgmma_wait {left}")
        self.done = max(self.done, self.groups - left)

    def draw_tma_load(self):
        number, slot = len(self.loads), self.draw.randrange(7)
        if slot < 3:
            line = self.emit(f"copy_gmem_to_smem %a, %as[{slot}], %full[{number}]")
        else:
            half = f"ds({64 * ((slot - 3) % 2)}, 64)"
            line = self.emit(f"copy_gmem_to_smem %b[:, {half}], %bs[{(slot - 3) // 2}, :, {half}], %full[{number}]")
        self.loads.append(self.access("tma-load", [slot], line))

    def draw_barrier_wait(self, is_all=False):
        waiting = [i for i, it in enumerate(self.loads) if not it["awaited"]]
        for number in waiting if is_all else waiting[:1]:
            self.emit(f"barrier_wait %full[{number}]")
            self.loads[number]["awaited"] = True

    def draw_tma_store(self):
        slot = self.draw.randrange(3)
        line = self.emit(f"copy_smem_to_gmem %as[{slot}], %y[{self.outputs}]")
        self.outputs += 1
        self.stores += 1
        self.access("tma-store", [slot], line, self.stores)

    def draw_store_wait(self):
        left = self.draw.randrange(3)
        self.emit(f"wait_smem_to_gmem {left} read_only")
        self.stores_read = max(self.stores_read, self.stores - left)

    def draw_load(self):
        slot = self.draw.randrange(3)
        line = self.emit(f"store %y[{self.outputs}], (load %as[{slot}])")
        self.outputs += 1
        self.access("load", [slot], line)

    def end(self):
        self.draw_barrier_wait(is_all=True)
        self.emit("wait_smem_to_gmem 0")
        if self.draw.random() < 0.8:
            self.emit("wgmma_wait 0")
            self.done = self.groups
        # Only the newest of the wgmmas that use the same bytes is named, and none that a wait that
        # another finding asks for would cover.
        newest = [it["line"] for region in self.regions.values()
                  for it in [r for r in region["reads"] if r["kind"] == "wgmma"][-1:]
                  if it["group"] > max(self.done, self.reported)]
        newest += [it[0] for it in self.halves if it and it[1] > max(self.done, self.reported)]
        self.expected |= {("async-at-exit", line, None) for line in newest}
        self.lines.append("}")

    def make(self):
        for slot in range(5):
            self.draw_store(slot)
        self.draw_commit()
        operations = ([self.draw_wgmma] * 5 + [self.draw_wait, self.draw_accumulator, self.draw_tma_load] * 2 +
                      [self.draw_barrier_wait] * 3 + [self.draw_store, self.draw_commit] * 2 +
                      [self.draw_tma_store, self.draw_store_wait, self.draw_load])
        for _ in range(self.draw.randrange(10, 36)):
            self.draw.choice(operations)()
        self.end()
        return "\n".join(self.lines) + "\n"


def check_order(grout, seed):
    program = Line(seed)
    text = program.make()
    found = find(grout, text, ["--timing", TIMINGS[seed % 3]])
    return text, program.expected, found if found != program.expected else None, len(program.expected)


# ---- several threads -----------------------------------------------------------------------------


class Threads:
    """Threads that make accesses to two slots and arrive on barriers of one phase each."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.count = self.draw.choice([2, 3])
        self.known = [set() for _ in range(self.count)]  # what each has done or heard of
        self.published = [set() for _ in range(self.count)]  # and what of that is committed
        self.bodies = [[] for _ in range(self.count)]
        self.groups = [[] for _ in range(self.count)]
        self.waited = [set() for _ in range(self.count)]
        self.barriers = []
        self.accesses = []
        self.outputs = 0

    def add(self, thread, text, access=None):
        self.bodies[thread].append((text, access))

    def access(self, thread, kind, slot, text):
        it = {"number": len(self.accesses), "kind": kind, "slot": slot, "known": set(self.known[thread]),
              "published": set(self.published[thread])}
        self.accesses.append(it)
        self.known[thread].add((it["number"], "issued"))
        if kind not in ASYNC:
            self.known[thread].add((it["number"], "over"))
        self.add(thread, text, it)
        return it

    def draw_op(self):
        thread, slot = self.draw.randrange(self.count), self.draw.randrange(2)
        way = self.draw.choice(["store", "load", "wgmma", "wgmma", "tma-load", "wait", "commit", "commit", "arrive",
                                "arrive", "acquire", "acquire", "acquire"])
        known, published = self.known[thread], self.published[thread]
        if way == "store":
            self.access(thread, way, slot, f"store %as[{slot}], (load %a)")
        elif way == "load":
            self.access(thread, way, slot, f"store %y[{self.outputs}], (load %as[{slot}])")
            self.outputs += 1
        elif way == "wgmma":
            self.groups[thread].append(self.access(thread, way, slot, f"wgmma_async %acc, %as[{slot}], %bs"))
        elif way == "wait":
            left = self.draw.choice([0, 0, 1])
            self.add(thread, f"wgmma_wait {left}")
            known |= {(it["number"], "over") for it in self.groups[thread][:len(self.groups[thread]) - left]}
        elif way == "commit":
            self.add(thread, "commit_smem")
            published |= known
        elif way == "tma-load":
            it = self.access(thread, way, slot, f"copy_gmem_to_smem %a, %as[{slot}], %bar[{len(self.barriers)}]")
            self.barriers.append((known | {(it["number"], "over")}, set(published)))
        elif way == "arrive":
            self.add(thread, f"barrier_arrive %bar[{len(self.barriers)}]")
            self.barriers.append((set(known), set(published)))
        else:
            new = [i for i in range(len(self.barriers)) if i not in self.waited[thread]][-4:]
            if new:
                self.acquire(thread, self.draw.choice(new))

    def acquire(self, thread, number):
        self.waited[thread].add(number)
        self.add(thread, f"barrier_wait %bar[{number}]")
        self.known[thread] |= self.barriers[number][0]
        self.published[thread] |= self.barriers[number][1]

    def make(self):
        for slot in range(2):
            self.access(0, "store", slot, f"store %as[{slot}], (load %a)")
        self.add(0, "commit_smem")
        self.published[0] |= self.known[0]
        self.add(0, "barrier_arrive %start[0]")
        for thread in range(1, self.count):
            self.add(thread, "barrier_wait %start[0]")
            self.known[thread] |= self.known[0]
            self.published[thread] |= self.published[0]
        for _ in range(self.draw.randrange(8, 22)):
            self.draw_op()
        lines = [(f"kernel @k(%a: in gmem f16[64, 64], %b: in gmem f16[64, 64], "
                 f"%y: out gmem f16[{max(self.outputs, 1)}, 64, 64], %c: out gmem f32[{self.count}, 64, 64])"),
                 f"    threads(wg = {self.count})", "{",
                 "  scratch %as : smem f16[2, 64, 64] tile(8, 64) swizzle(128)",
                 "  scratch %bs : smem f16[64, 64] tile(8, 64) swizzle(128)",
                 f"  scratch %bar : barrier[{max(len(self.barriers), 1)}]", "  scratch %start : barrier[1]",
                 "  scratch %once : barrier[1]", "  scratch %acc : acc f32[64, 64]"]
        for thread, body in enumerate(self.bodies):
            lines.append(f"  if (eq (axis_index wg), {thread}) {{")
            lines += ["    copy_gmem_to_smem %b, %bs, %once[0]"] if thread == 0 else []
            lines.append("    barrier_wait %once[0]")
            for text, access in body:
                lines.append("    " + text)
                if access:
                    access["line"] = len(lines)
            lines += ["    wgmma_wait 0", f"    store %c[{thread}], (load %acc)", "  }"]
        return "\n".join(lines + ["}"]) + "\n"


def is_ordered(first, then):
    over = (first["number"], "over")
    needs_commit = first["kind"] not in ASYNC and then["kind"] in ASYNC
    return over in then["known"] and (not needs_commit or over in then["published"])


def is_conflict(one, two):
    return one["slot"] == two["slot"] and (one["kind"] in WRITES or two["kind"] in WRITES)


def is_covered(first, then, accesses):
    """In order, or an access between is in order with both, and has or would have its own finding."""
    return is_ordered(first, then) or any(
        it is not first and it is not then and it["slot"] == first["slot"] and
        (first["kind"] in WRITES or it["kind"] in WRITES) and is_ordered(first, it) and is_ordered(it, then)
        for it in accesses)


def name_race(one, two):
    kinds = {one["kind"], two["kind"]}
    write, other = (one, two) if one["kind"] in WRITES else (two, one)
    if "tma-load" in kinds and kinds & {"load", "wgmma"}:
        return "async-not-awaited", other["line"], write["line"]
    if other["kind"] in WRITES:  # all of %a, so they leave the same values
        lines = sorted((one["line"], two["line"]))
        return "same-value-race", lines[1], lines[0]
    return "smem-race", write["line"], other["line"]


def name_conflict(first, then):
    """Code, line and related line of the one pair that is in no order; first was drawn first."""
    if (first["number"], "issued") not in then["known"]:
        return name_race(first, then)
    code = {"store": "missing-commit-smem", "load": "missing-commit-smem-war", "wgmma": "mma-operand-reuse",
            "tma-load": "async-not-awaited"}[first["kind"]]
    return code, then["line"], first["line"]


def check_threads(grout, seed):
    program = Threads(seed)
    text = program.make()
    pairs = [(one, two) for one, two in itertools.combinations(program.accesses, 2)
             if is_conflict(one, two) and not is_covered(one, two, program.accesses) and
             not is_covered(two, one, program.accesses)]
    expected = {name_conflict(*pair) for pair in pairs}
    for i in range(6):
        options = ["--timing", TIMINGS[i % 3]]
        found = find(grout, text, options + (["--schedule", "random", "--seed", str(seed + i)] if i > 0 else []))
        wanted = expected
        if isinstance(found, set) and any(it[0] == "async-at-exit" for it in found):
            # loads that nobody waits for are no subject here; what they leave, nobody knows
            found = {it for it in found if it[0] != "async-at-exit"}
            found, wanted = ({(EQUAL_AS.get(it[0], it[0]), *it[1:]) for it in them} for them in (found, expected))
        is_right = found == wanted if len(pairs) < 2 else isinstance(found, set) and found
        if not is_right:
            return text, expected, found, len(pairs)
    return text, expected, None, len(pairs)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("kind", choices=["order", "threads"])
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    arguments = parser.parse_args()
    passed = failed = findings = 0
    for seed in range(arguments.first, arguments.first + arguments.count):
        check = check_order if arguments.kind == "order" else check_threads
        text, expected, wrong, count = check(arguments.grout, seed)
        findings += count
        if wrong is None:
            passed += 1
            continue
        failed += 1
        print(f"---- {arguments.kind} {seed}: expected {sorted(expected, key=str)}, found "
              f"{sorted(wrong, key=str) if isinstance(wrong, set) else wrong}\n{text}----")
    print(f"{passed} passed, {failed} failed, {findings} findings")
    return 1 if failed or findings == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
