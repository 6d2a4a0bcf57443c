"""Draws kernels that compute indices, and asks whether grout finds the integers that wrap around on their way.

usage: index_overflow.py --grout PATH [FIRST COUNT]

A drawn kernel has one thread. It computes with scalars and arrays of 8 elements, of all integer types, from an input
and from constants: sums, products, shifts, casts, what ends the trace, what moves elements, loops that carry a value,
and branches. Some of the values say which memory is touched, how much, or how often a loop runs. The oracle computes
with Python's integers, which never wrap, and has for each element the lines that it has wrapped at.

For each use, one index-overflow has to be found if an element of it has wrapped, at one of its lines, and none if none
has. Other findings are not asked for: what wraps leaves the arrays.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import json
import os
import random
import subprocess
import sys
import tempfile

COUNT = 8  # elements of an array
BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32, "u64": 64}
TYPES = ("i32", "i32", "i32", "i32", "i64", "u32", "i16", "u16", "i8", "u64", "u8")
CODE = "index-overflow"
NONE = frozenset()
BATCH = 25  # kernels of a file


def fit(dtype, number):
    """The number as the type holds it."""
    bits = BITS[dtype]
    number &= (1 << bits) - 1
    return number - (1 << bits) if dtype[0] == "i" and number >> (bits - 1) else number


def divide(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


class Value:
    """elements: (number, lines that it has wrapped at); of a scalar one."""

    def __init__(self, name, dtype, is_array, elements):
        self.name, self.dtype, self.is_array, self.elements = name, dtype, is_array, elements


class Kernel:
    def __init__(self, number):
        self.rng = random.Random(number)
        self.number, self.lines, self.values, self.names = number, [], [], 0
        self.uses = []  # (line, elements)
        self.array_lines = set()  # where an element of an array has wrapped: grout keeps the first of them for all
        self.draw()

    # ---- text ----

    def name(self):
        self.names += 1
        return f"%v{self.names}"

    def line(self):
        """The number of the next line, from the kernel's first one on."""
        return 3 + len(self.lines)

    def emit(self, text):
        self.lines.append(text)

    def constant(self, dtype):
        top = 1 << BITS[dtype] - (dtype[0] == "i")
        low = -top if dtype[0] == "i" else 0
        draw = self.rng.choice((0, 1, 2, 3, 7, 64, 100, 127, 255, 300, 4096, 40000, 65535, 65536, 1 << 20, 1 << 30,
                                top - 1, top // 2, low, low // 2, -1, -2, -100))
        return min(max(draw, low), top - 1, (1 << 63) - 1)  # what a literal holds

    # ---- values ----

    def make(self, text, dtype, is_array, elements):
        name = self.name()
        self.emit(f"{name} = {text}")
        self.values.append(Value(name, dtype, is_array, elements))
        self.array_lines.update(*(lines for _, lines in elements if is_array))
        return self.values[-1]

    def pick(self, dtype=None, is_array=None):
        found = [v for v in self.values if (dtype is None or v.dtype == dtype) and is_array in (None, v.is_array)]
        return self.rng.choice(found[-4:] if found and self.rng.random() < 0.7 else found) if found else None

    def other(self, value, constant=None):
        """A second operand: its text, and its elements."""
        found = self.pick(value.dtype, value.is_array)
        if constant is None and found and self.rng.random() < 0.35:
            return found.name, found.elements
        number = self.constant(value.dtype) if constant is None else constant
        text = f"(broadcast {number} : {value.dtype}[{COUNT}])" if value.is_array else str(number)
        return text, [(number, NONE)] * len(value.elements)

    def settle(self, dtype, number, came, is_wrapping=True):
        """An element of a result: it wraps here if the type does not hold it."""
        wraps = is_wrapping and number != fit(dtype, number)
        return fit(dtype, number), came | ({self.line()} if wraps else NONE)

    def add_arithmetic(self):
        a = self.pick()
        op = self.rng.choice(("add", "add", "sub", "mul", "mul", "mul", "or", "xor"))
        text, others = self.other(a)
        apply = {"add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
                 "or": lambda x, y: x | y, "xor": lambda x, y: x ^ y}[op]
        self.make(f"{op} {a.name}, {text}", a.dtype, a.is_array,
                  [self.settle(a.dtype, apply(x, y), f | g) for (x, f), (y, g) in zip(a.elements, others)])

    def add_unary(self):
        a = self.pick()
        op = self.rng.choice(("neg", "abs", "not"))
        apply = {"neg": lambda x: -x, "abs": abs, "not": lambda x: fit(a.dtype, ~x)}[op]
        self.make(f"{op} {a.name}", a.dtype, a.is_array, [self.settle(a.dtype, apply(x), f) for x, f in a.elements])

    def add_shift(self):
        a = self.pick()
        count = self.rng.choice((0, 1, 2, 3, 6, BITS[a.dtype] - 2))
        op = self.rng.choice(("shl", "shl", "shr"))
        text, _ = self.other(a, count)
        self.make(f"{op} {a.name}, {text}", a.dtype, a.is_array,
                  [self.settle(a.dtype, x << count, f) if op == "shl" else (x >> count, NONE) for x, f in a.elements])

    def add_division(self):
        a = self.pick()
        by = self.rng.choice((1, 2, 3, 7, 64, 100))
        op = self.rng.choice(("div", "div", "cdiv", "rem"))
        text, _ = self.other(a, by)

        def apply(x, f):
            quotient = divide(x, by)
            if op == "rem":
                return x - quotient * by, NONE
            return quotient + (op == "cdiv" and x > quotient * by), f
        self.make(f"{op} {a.name}, {text}", a.dtype, a.is_array, [apply(x, f) for x, f in a.elements])

    def add_end(self):
        a = self.pick()
        op = self.rng.choice(("and", "clamp", "popcount", "clz"))
        size = BITS[a.dtype]
        if op == "and":
            text, others = self.other(a)
            self.make(f"and {a.name}, {text}", a.dtype, a.is_array,
                      [(x & y, NONE) for (x, _), (y, _) in zip(a.elements, others)])
        elif op == "clamp":
            low, high = self.other(a, 0)[0], self.other(a, 63)[0]
            self.make(f"clamp {a.name}, {low}, {high}", a.dtype, a.is_array,
                      [(min(max(x, 0), 63), NONE) for x, _ in a.elements])
        else:
            bits = [x & ((1 << size) - 1) for x, _ in a.elements]
            self.make(f"{op} {a.name}", a.dtype, a.is_array,
                      [(bin(x).count("1") if op == "popcount" else size - x.bit_length(), NONE) for x in bits])

    def add_bound(self):
        a = self.pick()
        op = self.rng.choice(("min", "max"))
        text, others = self.other(a)
        pick = min if op == "min" else max
        self.make(f"{op} {a.name}, {text}", a.dtype, a.is_array,
                  [(pick(x, y), f | g if f and g else NONE) for (x, f), (y, g) in zip(a.elements, others)])

    def add_choice(self):
        a = self.pick()
        text, others = self.other(a)
        limit = self.constant(a.dtype)
        bound, _ = self.other(a, limit)
        self.make(f"select (lt {a.name}, {bound}), {a.name}, {text}", a.dtype, a.is_array,
                  [one if one[0] < limit else other for one, other in zip(a.elements, others)])

    def add_cast(self):
        a = self.pick()
        dtype = self.rng.choice(TYPES)
        if dtype != a.dtype:
            self.make(f"cast {a.name} : {dtype}", dtype, a.is_array, [self.settle(dtype, x, f) for x, f in a.elements])

    def add_bitcast(self):
        a = self.pick()
        dtype = ("u" if a.dtype[0] == "i" else "i") + a.dtype[1:]
        self.make(f"bitcast {a.name} : {dtype}", dtype, a.is_array, [(fit(dtype, x), NONE) for x, _ in a.elements])

    def add_move(self):
        a = self.pick()
        if not a.is_array:
            self.make(f"broadcast {a.name} : {a.dtype}[{COUNT}]", a.dtype, True, a.elements * COUNT)
            return
        how = self.rng.choice(("slice", "turn", "halves"))
        if how == "slice":
            at = self.rng.randrange(COUNT)
            self.make(f"slice {a.name}[{at}]", a.dtype, False, [a.elements[at]])
        elif how == "turn":
            self.make(f"reshape (transpose (reshape {a.name} : {a.dtype}[2, 4]) perm(1, 0)) : {a.dtype}[{COUNT}]",
                      a.dtype, True, [a.elements[i % 2 * 4 + i // 2] for i in range(COUNT)])
        else:
            b = self.pick(a.dtype, True)
            self.make(f"concatenate (slice {a.name}[ds(4, 4)]), (slice {b.name}[ds(0, 4)]) dim(0)", a.dtype, True,
                      a.elements[4:] + b.elements[:4])

    def add_many(self):
        a = self.pick(None, True)
        if a is None or BITS[a.dtype] > 32:
            return
        op = self.rng.choice(("reduce_sum", "reduce_max", "cumsum", "reduce_prod"))
        came = frozenset().union(*(f for _, f in a.elements))
        numbers = [x for x, _ in a.elements]
        if op == "cumsum":
            elements, total, before = [], 0, NONE
            for x, f in a.elements:
                total, before = total + x, before | f
                elements.append(self.settle(a.dtype, total, before))
            self.make(f"cumsum {a.name} dim(0)", a.dtype, True, elements)
            return
        total = 1
        for x in numbers:
            total *= x
        result = {"reduce_sum": sum(numbers), "reduce_max": max(numbers), "reduce_prod": total}[op]
        if op == "reduce_prod" and result == 0:
            return  # by way of what leaves 64 bits
        self.make(f"{op} {a.name}", a.dtype, False, [self.settle(a.dtype, result, came)])

    def add_loop(self):
        a = self.pick(None, False)
        if a is None:
            return
        turns, op, by = self.rng.randrange(4), self.rng.choice(("add", "mul", "sub")), self.constant(a.dtype)
        name, carry, inner = self.name(), self.name(), self.name()
        element = a.elements[0]
        self.emit(f"{name} = for %k{name[1:]} in 0..{turns} carry({carry} = {a.name}) {{")
        for _ in range(turns):
            number = {"add": element[0] + by, "mul": element[0] * by, "sub": element[0] - by}[op]
            element = self.settle(a.dtype, number, element[1])
        self.emit(f"{inner} = {op} {carry}, {by}")
        self.emit(f"yield {inner}")
        self.emit("}")
        self.values.append(Value(name, a.dtype, False, [element]))

    def add_branch(self):
        a = self.pick(None, False)
        b = self.pick(a.dtype, False) if a else None
        if b is None:
            return
        limit, name, inner = self.constant(a.dtype), self.name(), self.name()
        self.emit(f"{name} = if (lt {a.name}, {limit}) {{")
        element = self.settle(a.dtype, a.elements[0][0] * 3, a.elements[0][1])
        self.emit(f"{inner} = mul {a.name}, 3")
        for text in (f"yield {inner}", "} else {", f"yield {b.name}", "}"):
            self.emit(text)
        self.values.append(Value(name, a.dtype, False, [element if a.elements[0][0] < limit else b.elements[0]]))

    def add_memory(self):
        a = self.pick("i32")
        if a is None:
            return
        at = f"%s[0, 0:{COUNT}]" if a.is_array else "%s[1, 0]"
        at = at.replace(f"0:{COUNT}", ":")
        self.emit(f"store {at}, {a.name}")
        self.make(f"load {at}", "i32", a.is_array, [(x, NONE) for x, _ in a.elements])

    def add_index(self):
        extent = self.rng.choice((4, 8))
        step = self.rng.choice((1, 1000, 1 << 28))
        if self.rng.random() < 0.5:
            self.make(f"mul (iota dim(0) : i32[{COUNT}]), (broadcast {step} : i32[{COUNT}])", "i32", True,
                      [self.settle("i32", i * step, NONE) for i in range(COUNT)])
        else:
            name, index, inner = self.name(), self.name(), self.name()
            element = (0, NONE)
            self.emit(f"{name} = for {index} in 0..{extent} carry(%c{name[2:]} = 0) {{")
            for i in range(extent):
                element = self.settle("i32", i * step, NONE)
            self.emit(f"{inner} = mul {index}, {step}")
            self.emit(f"yield {inner}")
            self.emit("}")
            self.values.append(Value(name, "i32", False, [element]))

    # ---- uses ----

    def add_use(self):
        a = self.pick("i32") if self.rng.random() < 0.8 else None
        if a is None:
            b = self.pick()
            if b.dtype == "i32":
                return
            a = self.make(f"cast {b.name} : i32", "i32", b.is_array, [self.settle("i32", x, f) for x, f in b.elements])
        where = self.line()
        if a.is_array:
            lines = self.rng.choice(([f"%u{where} = gather %x, {a.name}", f"store %out, %u{where}"],
                                     [f"scatter %s8, {a.name}, (broadcast 1 : i32[{COUNT}])"],
                                     [f"async_gather %x, %s8, {a.name}", "async_copy_commit_group",
                                      "async_copy_wait 0"]))
        else:
            lines = self.rng.choice((
                [f"%u{where} = load %x[{a.name}]", f"store %out[0], %u{where}"], [f"store %s8[{a.name}], 1"],
                [f"for %j{where} in {a.name}..{a.name} {{", "}"],
                [f"copy_gmem_to_smem %x[ds({a.name}, 8)], %s8, %full", "barrier_wait %full"],
                [f"semaphore_signal %units[0], {a.name}"], [f"store %x[ds({a.name}, 4)], (broadcast 1 : i32[4])"],
                [f"async_copy %x[ds({a.name}, 4)], %s8[ds(0, 4)]", "async_copy_commit_group", "async_copy_wait 0"],
                [f"copy_smem_to_gmem %s8, %x[ds({a.name}, 8)]", "wait_smem_to_gmem 0"]))
        self.uses.append((where, a.elements, a.name))
        for text in lines:
            self.emit(text)

    # ---- all ----

    def draw(self):
        rng = self.rng
        dtype = rng.choice(("i32", "i32", "i32", "u32", "i64"))
        numbers = [self.constant(dtype) for _ in range(COUNT)]
        self.input = dtype, numbers
        self.make("load %n", dtype, True, [(x, NONE) for x in numbers])
        self.make("load %n[3]", dtype, False, [(numbers[3], NONE)])
        adders = (self.add_arithmetic, self.add_arithmetic, self.add_arithmetic, self.add_unary, self.add_shift,
                  self.add_division, self.add_end, self.add_bound, self.add_choice, self.add_cast, self.add_cast,
                  self.add_bitcast, self.add_move, self.add_move, self.add_many, self.add_loop, self.add_branch,
                  self.add_memory, self.add_index)
        for _ in range(rng.randrange(2, 12)):
            rng.choice(adders)()
            if rng.random() < 0.2:
                self.add_use()
        self.add_use()

    def make_text(self):
        dtype, numbers = self.input
        head = (f"kernel @k{self.number}(%n: in gmem {dtype}[{COUNT}] init([{', '.join(map(str, numbers))}]), "
                f"%x: inout gmem i32[64] init(arange), %out: out gmem i32[{COUNT}])\n{{")
        return "\n".join([head] + ["  " + line for line in self.lines] +
                         ["}"]).replace("{\n", "{\n" + self.scratch(), 1) + "\n"

    @staticmethod
    def scratch():
        return "".join(f"  scratch {what}\n" for what in SCRATCH)

    def judge(self, findings):
        """What is wrong, as sentences. findings: (line of where it wrapped, line of the use)."""
        faults = []
        for where, elements, name in self.uses:
            lines = frozenset().union(*(f for _, f in elements))
            found = {first for first, use in findings if use == where}
            if len(found) > 1 or bool(found) != bool(lines) or not found <= lines | self.array_lines:
                faults.append(f"line {where}, {name}: wrapped at {sorted(lines)}, found at {sorted(found)}")
        known = {where for where, _, _ in self.uses}
        return faults + [f"line {use}: no use, and found" for _, use in findings if use not in known]


SCRATCH = (f"%s : smem i32[2, {COUNT}]", f"%s8 : smem i32[{COUNT}]", "%full : barrier", "%units : semaphore[1]")


def run_batch(grout, kernels):
    """For each kernel the sentences about it; raises if the report is none."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "drawn.grout")
        text, starts = "", {}
        for kernel in kernels:
            starts[kernel.number] = text.count("\n") + len(SCRATCH)
            text += kernel.make_text()
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        command = [grout, "check", path, "--format", "json", "-q", "--max-findings", "10000"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        try:
            report = json.loads(done.stdout)
        except ValueError:
            raise RuntimeError(f"no report: {done.stderr[-500:]}") from None
    if report["verdict"] not in ("clean", "error"):
        first = [f for f in report["findings"] if f["severity"] == "error"][:1]
        raise RuntimeError(f"{report['verdict']}: {first and first[0]['message']}\n{text}")
    faults = {}
    for kernel in kernels:
        found = set()
        for finding in report["findings"]:
            if finding["code"] == CODE and finding["kernel"] == f"k{kernel.number}":
                start = starts[kernel.number]
                first = finding["primary"]["line"] - start
                found.add((first, finding["related"]["line"] - start if finding["related"] else first))
        faults[kernel.number] = kernel.judge(found)
    return faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--keep")
    parser.add_argument("first", type=int, nargs="?", default=1)
    parser.add_argument("count", type=int, nargs="?", default=300)
    arguments = parser.parse_args()
    grout = os.path.abspath(arguments.grout)
    kernels = [Kernel(number) for number in range(arguments.first, arguments.first + arguments.count)]
    batches = [kernels[i:i + BATCH] for i in range(0, len(kernels), BATCH)]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        faults = {}
        for found in pool.map(lambda batch: run_batch(grout, batch), batches):
            faults.update(found)
    wrong = [kernel for kernel in kernels if faults[kernel.number]]
    for kernel in wrong[:20]:
        print(f"kernel {kernel.number}: {faults[kernel.number][0]}")
        if arguments.keep:
            os.makedirs(arguments.keep, exist_ok=True)
            with open(os.path.join(arguments.keep, f"k{kernel.number}.grout"), "w", encoding="utf-8") as file:
                file.write(kernel.make_text())
    uses = sum(len(kernel.uses) for kernel in kernels)
    wrapped = sum(any(f for _, f in elements) for kernel in kernels for _, elements, _ in kernel.uses)
    print(f"{len(kernels)} kernels: {uses} uses, {wrapped} of what has wrapped, {len(wrong)} kernels wrong")
    return 1 if wrong or not wrapped else 0


if __name__ == "__main__":
    sys.exit(main())
