#!/usr/bin/env python3
# check_non_finite.py - what --non-finite names, in drawn kernels that make one NaN or infinity, or none.
# SPDX-License-Identifier: Apache-2.0
"""usage: check_non_finite.py --grout PATH FIRST COUNT     the seeds

A drawn kernel computes with numbers that stay small, in one of the float types, through loops, SMEM, TMA, layouts and
reductions. Every other one has no more than that: --non-finite finds nothing in it, though masks of -inf, casts that
saturate and boxes that TMA fills with NaN are among it. In the others one operation makes NaN or infinity in one
element of one thread at one turn: it is the one finding, at that element, and what is computed from it afterwards is
counted and not named. Each sort of operation that can do so is planted in turn.

Exit code 0: all as drawn.
"""
import argparse
import collections
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

ROWS, COLUMNS, TURNS = 64, 16, 3
LARGEST = {"f16": "65504.0", "bf16": "0x1.fep127", "f32": "0x1.fffffep127", "f64": "0x1.fffffffffffffp1023"}
TYPES = ("f32", "f32", "f16", "bf16", "f64")

# What makes NaN or infinity of an element that a mask %hit picks. {v}: numbers from -8 to 8; {big}: the largest of the
# type; N(x): the number x as a literal of it. A tuple: what is made, operands one by one, each 'bad | good', and the
# op.
ELEMENTWISE = [
    ("inf", "div", "{v1} | {v1}", "N(0.0) | N(2.0)"),
    ("nan", "div", "N(0.0) | {v}", "N(0.0) | N(2.0)"),
    ("inf", "mul", "{big} | {v}", "N(2.0) | {v}"),
    ("nan", "mul", "N(inf) | {v}", "N(0.0) | {v}"),
    ("inf", "add", "{big} | {v}", "{big} | {v}"),
    ("nan", "add", "N(inf) | {v}", "N(-inf) | {v}"),
    ("inf", "sub", "{big} | {v}", "N(-0x1p15) * {big} | {v}"),
    ("nan", "sub", "N(-inf) | {v}", "N(-inf) | {v}"),
    ("inf", "fma", "{big} | {v}", "N(4.0) | {v}", "{v} | {v}"),
    ("nan", "fma", "N(inf) | {v}", "N(2.0) | {v}", "N(-inf) | {v}"),
    ("inf", "exp", "N(2000.0) | {v}"),
    ("inf", "exp2", "N(2000.0) | {v}"),
    ("inf", "expm1", "N(2000.0) | {v}"),
    ("inf", "log", "N(0.0) | {v1}"),
    ("nan", "log", "N(-1.0) | {v1}"),
    ("inf", "log2", "N(0.0) | {v1}"),
    ("nan", "log2", "N(-2.0) | {v1}"),
    ("inf", "log1p", "N(-1.0) | {v1}"),
    ("nan", "log1p", "N(-2.0) | {v1}"),
    ("nan", "sqrt", "N(-2.0) | {v1}"),
    ("inf", "rsqrt", "N(0.0) | {v1}"),
    ("nan", "rsqrt", "N(-1.0) | {v1}"),
    ("nan", "sin", "N(inf) | {v}"),
    ("nan", "cos", "N(-inf) | {v}"),
    ("inf", "pow", "N(0.0) | {v1}", "N(-2.0) | N(2.0)"),
    ("nan", "pow", "N(-2.0) | {v1}", "N(0.5) | N(0.5)"),
]
# The same of operations that are no more than a row of the table: functions of Planting.
OTHERS = ["cast", "reduce_sum", "reduce_prod", "cumsum", "cumprod", "mma", "wgmma", "atomic_add", "atomic_scatter_add",
          "tma_add"]
PLANTS = [plant for each in ELEMENTWISE + OTHERS for plant in (None, each)]
# What keeps numbers that stay small as they are, or an infinity an infinity.
TAME = ["add {a}, N(1.0)", "mul {a}, N(0.5)", "neg {a}", "abs {a}", "max {a}, N(-4.0)", "select {mask}, {a}, {a}"]
# What may be done to NaN besides: every result follows.
WILD = ["sub {a}, {a}", "mul {a}, {a}", "exp {a}", "sqrt (abs {a})", "log (add (abs {a}), N(1.0))", "sin {a}",
        "div {a}, (add (abs {a}), N(1.0))", "rsqrt (add (abs {a}), N(1.0))", "pow (abs {a}), N(1.5)",
        "cumsum {a} dim(0)", "fma {a}, {a}, {a}", "reshape (reshape {a} : {flat}) : {shape}"]


class Planting:
    """One kernel, drawn."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.plant = PLANTS[seed % len(PLANTS)]
        self.dtype = self.random.choice(TYPES)
        if self.plant in ("mma", "wgmma", "tma_add", "atomic_add"):
            self.dtype = "f16"
        elif self.plant == "atomic_scatter_add" or self.plant == "cast" and self.dtype in ("f16", "bf16"):
            self.dtype = "f32"
        self.threads = self.random.randint(1, 2)
        self.lines, self.depth, self.names, self.objects = [], 1, 0, []
        self.place = (self.random.randrange(ROWS), self.random.randrange(COLUMNS))
        self.element = None  # where the message has to find it; None: it need not say
        self.line = None     # of the plant
        self.is_once = True

    # ---- lines ----

    def add(self, text):
        if text.startswith("}"):
            self.depth -= 1
        self.lines.append("  " * self.depth + text)
        if text.endswith("{"):
            self.depth += 1

    def let(self, text):
        """A new value; returns its name."""
        self.names += 1
        self.add(f"%v{self.names} = {self.fill(text)}")
        return f"%v{self.names}"

    def fill(self, text):
        """N(x) as a literal of the type."""
        while "N(" in text:
            start = text.index("N(")
            end = text.index(")", start)
            number = text[start + 2:end]
            text = text[:start] + self.literal(number) + text[end + 1:]
        return text

    def literal(self, number, dtype=None):
        dtype = dtype or self.dtype
        return number if dtype == "f32" else f"{dtype}:{number}"

    def shape(self, dtype=None):
        return f"{dtype or self.dtype}[{ROWS}, {COLUMNS}]"

    def spread(self, number):
        return self.let(f"broadcast {self.literal(number)} : {self.shape()}")

    def scratch(self, what):
        self.objects.append(what)
        return f"%s{len(self.objects)}"

    # ---- numbers that stay small ----

    def tame(self, value):
        return self.let(f"clamp {value}, N(-8.0), N(8.0)")

    def draw_number(self, value):
        """Something else made of numbers from -8 to 8, which makes neither NaN nor infinity."""
        draw = self.random.choice
        shape = self.shape()
        positive = f"(add (abs {value}), N(1.0))"
        way = draw(["binary", "function", "div", "rows", "columns", "scan", "smem", "cast", "saturate", "mask",
                    "layout", "tma"])
        if way == "binary":
            return self.tame(self.let(f"{draw(['add', 'sub', 'mul', 'max', 'min'])} {value}, {value}"))
        if way == "function":
            inside = draw([f"exp {value}", f"tanh {value}", f"sin {value}", f"logistic {value}", f"erf {value}",
                           f"sqrt {positive}", f"log {positive}", f"rsqrt {positive}", f"log1p {positive}",
                           f"exp2 {value}", f"expm1 {value}", f"atan2 {value}, {value}", f"pow {positive}, N(2.0)"])
            return self.tame(self.let(inside))
        if way == "div":
            return self.tame(self.let(f"div {value}, {positive}"))
        if way in ("rows", "columns"):
            dim = 1 if way == "rows" else 0
            op = draw(["reduce_sum", "reduce_max", "reduce_min"])
            return self.tame(self.let(f"broadcast ({op} {value} dim({dim})) dim({1 - dim}) : {shape}"))
        if way == "scan":
            return self.tame(self.let(f"{draw(['cumsum', 'cummax'])} {value} dim(1)"))
        if way == "smem":
            place = self.scratch(f"smem {shape}") + ("[%wg]" if self.threads > 1 else "")
            self.add(f"store {place}, {value}")
            return self.let(f"load {place}")
        if way == "cast":
            there = draw([t for t in ("f32", "f16", "bf16", "f64", "i32") if t != self.dtype])
            return self.let(f"cast (cast {value} : {there}) : {self.dtype}")
        if way == "saturate":  # no float of 8 bits becomes infinite
            there = draw(["f8e4m3", "f8e5m2"])
            wide = self.let(f"cast (mul (cast {value} : f32), 1e6) : {there}")
            return self.tame(self.let(f"cast (cast {wide} : f32) : {self.dtype}") if self.dtype in ("f32", "bf16") else
                             self.let(f"cast (mul (cast {wide} : f32), 1e-2) : {self.dtype}"))
        if way == "mask":  # the first of each row stays: its largest is a number
            mask = self.let(f"lt (iota dim(1) : i32[{ROWS}, {COLUMNS}]), {self.random.randint(1, COLUMNS)}")
            masked = self.let(f"select {mask}, {value}, (broadcast N(-inf) : {shape})")
            most = self.let(f"broadcast (reduce_max {masked} dim(1)) dim(0) : {shape}")
            return self.let(f"exp (sub {masked}, {most})")
        if way == "layout":
            return self.let(f"layout_cast (layout_cast {value} wgmma) wg_strided")
        return self.draw_outside(value)

    def draw_outside(self, value):
        """TMA fills what lies outside with NaN, which nobody has made; it is dropped."""
        if self.dtype == "f64" or self.threads > 1 or self.depth > 1:
            return self.tame(value)
        box, full = self.scratch(f"smem {self.dtype}[8, {COLUMNS}]"), self.scratch("barrier[1]")
        self.add(f"copy_gmem_to_smem %x[0, ds({ROWS - 4}, 8)], {box}, {full}[0] oob(nan)")
        self.add(f"barrier_wait {full}[0]")
        row = self.let(f"reduce_max (load {box}[ds(0, 4)]) dim(0)")
        self.add(f"store %bits[0], (cast (reduce_max (load {box}[ds(7, 1)])) : f32)")
        return self.tame(self.let(f"add {value}, (broadcast {row} dim(1) : {self.shape()})"))

    # ---- the one operation that makes it ----

    def pick(self, bad, good):
        """{bad} in the element that is hit, {good} elsewhere."""
        operands = [part if part.startswith("%") else f"(broadcast {part} : {self.shape()})" for part in (bad, good)]
        return self.let(f"select %hit, {operands[0]}, {operands[1]}")

    def mark(self, text, is_value=True):
        """The line of the plant."""
        made = self.let(text) if is_value else self.add(text)
        self.line = len(self.lines)
        return made

    def plant_elementwise(self, value):
        _, op, *operands = self.plant
        words = {"v": value, "v1": self.let(f"add (abs {value}), N(1.0)"), "big": self.literal(LARGEST[self.dtype])}
        names = []
        for operand in operands:
            bad, good = (self.fill(part.strip().format(**words)) for part in operand.split("|"))
            if "*" in bad:  # minus the largest
                bad = self.literal("-" + LARGEST[self.dtype])
            names.append(self.pick(bad, good))
        self.element = self.place
        return self.mark(f"{op} {', '.join(names)}")

    def plant_other(self, value):
        return getattr(self, "plant_" + self.plant)(value)

    def plant_cast(self, value):
        narrow = "f32" if self.dtype == "f64" else "f16"
        large = self.pick(self.literal("1e300" if self.dtype == "f64" else "1e6"), value)
        self.element = self.place
        made = self.mark(f"cast {large} : {narrow}")
        return self.let(f"cast {made} : {self.dtype}")

    def plant_reduction(self, op, value):
        other = self.place[1] ^ 1  # two of the row: their sum, and their product, overflows
        pair = self.let(f"and %hit_row, (or %hit_column, (eq (iota dim(1) : i32[{ROWS}, {COLUMNS}]), {other}))")
        big = self.spread(LARGEST[self.dtype])
        small = self.let(f"add (abs {value}), N(1.0)") if op.endswith("prod") else value
        operand = self.let(f"select {pair}, {big}, {small}")
        if op.startswith("cum"):
            self.is_once = False
            self.element = (self.place[0], max(self.place[1], other))
            return self.mark(f"{op} {operand} dim(1)")
        self.element = self.place[:1]
        made = self.mark(f"{op} {operand} dim(1)")
        return self.let(f"broadcast {made} dim(0) : {self.shape()}")

    def plant_reduce_sum(self, value):
        return self.plant_reduction("reduce_sum", value)

    def plant_reduce_prod(self, _):
        # the others must not overflow it: ones
        return self.plant_reduction("reduce_prod", self.spread("0.0"))

    def plant_cumsum(self, _):
        # nor may they in f16, by the way
        return self.plant_reduction("cumsum", self.spread("0.0"))

    def plant_cumprod(self, _):
        return self.plant_reduction("cumprod", self.spread("0.0"))

    def plant_mma(self, _):
        c = self.pick(self.literal(LARGEST["f16"]), self.literal("0.0"))
        a = self.let(f"broadcast f16:8.0 : f16[{ROWS}, 16]")
        b = self.let(f"broadcast f16:8.0 : f16[16, {COLUMNS}]")
        self.element = self.place
        return self.mark(f"mma {c}, {a}, {b}")

    def plant_wgmma(self, _):
        a = self.scratch(f"smem f16[{ROWS}, 64] tile(8, 64) swizzle(128)")
        b = self.scratch(f"smem f16[64, {COLUMNS}] tile(8, {COLUMNS}) swizzle(32)")
        where = "[%wg]" if self.threads > 1 else ""
        acc = self.scratch(f"acc f16[{ROWS}, {COLUMNS}]")
        c = self.pick(self.literal(LARGEST["f16"]), self.literal("0.0"))
        self.add(f"store {a}{where}, (broadcast f16:8.0 : f16[{ROWS}, 64])")
        self.add(f"store {b}{where}, (broadcast f16:1.0 : f16[64, {COLUMNS}])")
        self.add("commit_smem")
        self.add(f"acc_store {acc}, {c}")
        self.mark(f"wgmma {acc}, {a}{where}, {b}{where}", False)
        self.element = self.place
        self.add("wgmma_wait 0")
        return self.let(f"load {acc}")

    def plant_atomic_add(self, value):
        half = self.pick(self.literal("48000.0"), self.literal("0.0"))
        where = "%sums[%wg]"
        self.add(f"atomic_add {where}, {half}")
        self.mark(f"atomic_add {where}, {half}", False)
        self.element = self.place
        return value

    def plant_atomic_scatter_add(self, value):
        half = self.pick(self.literal("2e38"), self.literal("0.0"))
        rows = self.let(f"iota dim(0) : i32[{ROWS}]")
        self.add(f"atomic_scatter_add %sums[%wg], {rows}, {half} dim(0)")
        self.mark(f"atomic_scatter_add %sums[%wg], {rows}, {half} dim(0)", False)
        return value

    def plant_tma_add(self, value):
        source = self.scratch(f"smem f16[{ROWS}, {COLUMNS}]") + ("[%wg]" if self.threads > 1 else "")
        half = self.pick(self.literal("48000.0"), self.literal("0.0"))
        self.add(f"store {source}, {half}")
        self.add("commit_smem")
        self.add(f"copy_smem_to_gmem {source}, %sums[%wg] reduce(add)")
        self.add("wait_smem_to_gmem 0")
        self.mark(f"copy_smem_to_gmem {source}, %sums[%wg] reduce(add)", False)
        self.add("wait_smem_to_gmem 0")
        self.element = self.place
        return value

    # ---- what follows ----

    def follow(self, value):
        """Computes on, from NaN anything, from an infinity what keeps it."""
        is_nan = isinstance(self.plant, tuple) and self.plant[0] == "nan"
        value = self.tame(value) if is_nan else value
        for _ in range(self.random.randint(0, 4)):
            text = self.random.choice(TAME + WILD if is_nan else TAME)
            flat = f"{self.dtype}[{ROWS * COLUMNS}]"
            value = self.let(text.format(a=value, mask="%hit", flat=flat, shape=self.shape()))
            value = self.tame(value) if is_nan else value
        return value

    def make(self):
        turn = self.random.randrange(TURNS)
        iota = f"i32[{ROWS}, {COLUMNS}]"
        self.add("%wg = axis_index wg")
        self.add("%x_mine = load %x[%wg]")
        value = self.let("cast %x_mine : " + self.dtype)
        for _ in range(self.random.randint(1, 5)):
            value = self.draw_number(value)
        self.names += 1
        result = f"%v{self.names}"
        self.add(f"{result} = for %t in 0..{TURNS} carry(%c = {value}) {{")
        self.add(f"%now = and (eq %t, {turn}), (eq %wg, {self.random.randrange(self.threads)})")
        self.add(f"%hit_row = and (eq (iota dim(0) : {iota}), {self.place[0]}), %now")
        self.add(f"%hit_column = eq (iota dim(1) : {iota}), {self.place[1]}")
        self.add("%hit = and %hit_row, %hit_column")
        value = "%c"
        for _ in range(self.random.randint(0, 3)):
            value = self.draw_number(value)
        if self.plant is not None:
            planted = self.plant_elementwise(value) if isinstance(self.plant, tuple) else self.plant_other(value)
            self.add(f"store %y[%t, %wg], {self.follow(planted)}")
        else:
            self.add(f"store %y[%t, %wg], {value}")
        for _ in range(self.random.randint(0, 2)):
            value = self.draw_number(value)
        self.add(f"yield {value}")
        self.add("}")
        self.add(f"store %z[%wg], {result}")
        return self.make_text()

    def make_text(self):
        scratch = []
        for number, what in enumerate(self.objects, 1):
            if what.startswith("smem") and self.threads > 1:  # one for each thread
                what = what.replace("[", f"[{self.threads}, ", 1)
            scratch.append(f"  scratch %s{number} : {what}")
        lead = f"{self.threads}, {ROWS}, {COLUMNS}"
        head = (f"kernel @k(%x: in gmem {self.dtype}[{lead}], %sums: inout gmem {self.dtype}[{lead}], %bits: out gmem "
                f"f32[1], %y: out gmem {self.dtype}[{TURNS}, {lead}], %z: out gmem {self.dtype}[{lead}]) "
                f"threads(wg = {self.threads})")
        first = ["  if (eq (axis_index wg), 0) {", "    store %bits, (broadcast 0.0 : f32[1])", "  }"]
        before = [head, "{"] + scratch + first
        if self.line is not None:
            self.line += len(before)
        return "\n".join(before + self.lines + ["}", ""])


def judge(grout, path, drawn, seed):
    """None, or what is wrong."""
    timing = ("lazy", "eager", "random")[seed % 3]
    done = subprocess.run([grout, "check", path, "--non-finite", "--format", "json", "--timing", timing, "--timeout",
                           str(SECONDS)], capture_output=True, text=True, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return done.stdout + done.stderr
    found = [(f["code"], (f["primary"] or {}).get("line"), f["message"]) for f in report["findings"]
             if f["code"] != "unused-result"]
    kernels = report["coverage"]["kernels"]
    made = kernels[0].get("non_finite_made") if kernels else None
    if drawn.plant is None:
        return None if not found and made == 0 else f"nothing is made, and {made} are said to be: {found}"
    if len(found) != 1 or found[0][:2] != ("non-finite", drawn.line):
        return f"one finding is due, at line {drawn.line}: {found}\n{done.stderr}"
    if drawn.element is not None and f"at element {list(drawn.element)}" not in found[0][2]:
        return f"it is made at element {list(drawn.element)}: {found}"
    if made is None or made < 1 or (made > 1 and drawn.is_once):
        return f"one is made, not {made}"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    asked = parser.parse_args()
    failed, planted = 0, collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(asked.first, asked.first + asked.count):
            drawn = Planting(seed)
            text = drawn.make()
            path = os.path.join(folder, f"{seed}.grout")
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            fault = judge(os.path.abspath(asked.grout), path, drawn, seed)
            name = drawn.plant[1] if isinstance(drawn.plant, tuple) else drawn.plant or "nothing"
            planted[name] += 1
            if fault is not None:
                failed += 1
                print(f"---- {seed}: {name} ----\n{fault}\n" + (text if failed <= 2 else ""))
    print(", ".join(f"{count} {name}" for name, count in sorted(planted.items())))
    print(f"{asked.count - failed} passed, {failed} failed")
    return 1 if failed or not asked.count else 0


if __name__ == "__main__":
    sys.exit(main())
