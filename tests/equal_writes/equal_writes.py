"""Draws kernels in which actors write the same bytes, and asks whether grout tells equal values from others.

usage: equal_writes.py --grout PATH [--ptx INTERLEAVINGS] [FIRST COUNT]

A drawn kernel has CTAs and threads that write boxes of an array in GMEM, and of one in SMEM that nobody reads: by plain
stores, masked ones, TMA and cp.async, in rounds with a block_barrier between; in some kernels, columns of tensor
memory, too. What is written is a number of the place, of the actor, of the input, or all of these but for one element.
The oracle knows no clocks: two writes are in order if one CTA
makes them, in different rounds or in one thread. It compares element by element what the two leave, the input as
symbols: two elements of it are equal if they are the same one.

A pair of lines has to be found, as a warning if each two writes of the lines leave the same and as an error if
one does not. Where a later write, in order with one of the two, has taken its bytes, the checker may meet the pair or
not.

With --ptx the search for races in the PTX that the kernel becomes has to say the same of the kernel as a whole, in this
many interleavings. That needs NVRTC: 77 without it.

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

ROWS, COLUMNS = 16, 32  # of 128 bytes: TMA and cp.async move whole rows to SMEM
LANES = 128  # of tensor memory, which a store takes whole
SKIPPED = 77
RACES = {"gmem-race", "smem-race", "tmem-race", "same-value-race"}
WITHOUT_MEANING = {"output-not-written", "uninitialised-read", "unused-result"}
UNDEFINED = ("undefined",)


class Op:
    """A line that writes, as each actor runs it that takes part."""

    line: int  # in the text, once that is written

    def __init__(self, rng, number, round_, kernel):
        self.number, self.round = number, round_
        self.space = rng.choice("gs")
        self.how = rng.choice(["store", "store", "tma", "masked"] if self.space == "g" else
                              ["store", "store", "masked", "tma", "cp"])
        self.only = rng.choice([None, None, rng.randrange(kernel.threads)])  # a thread
        self.height = rng.choice([4, 8])
        self.row = [rng.choice([0, 0, 4, 8]), rng.choice([0, 0, 0, 4]), rng.choice([0, 0, 0, 4])]  # and by wg, by g
        self.left, self.width = (0, COLUMNS) if self.how in ("tma", "cp") \
            else rng.choice([(0, 32), (0, 16), (8, 16), (16, 16)])
        kinds = ["place", "place", "number", "actor", "spot", "input", "by actor", "part"]
        kinds += ["undefined"] if self.space == "s" and self.how == "store" else []
        self.kind = "input" if self.how == "cp" or (self.how == "tma" and self.space == "s") else rng.choice(kinds)
        self.value = rng.randrange(3)
        self.weights = rng.choice([(0, 1), (1, 0), (1, 2), (0, 0)])  # of wg and g, in an actor's number
        self.spot = rng.randrange(self.width)
        self.lines = []

    def move_to_tensor(self, rng):
        """The same in tensor memory: all of its lanes, in some columns."""
        self.space, self.how, self.height, self.row = "t", "tensor", LANES, [0, 0, 0]
        self.left, self.width = rng.choice([(0, 32), (0, 16), (8, 16), (16, 16)])
        self.kind, self.spot = rng.choice(["place", "number", "number", "actor", "spot"]), rng.randrange(self.width)

    def start(self, wg, g):
        return 0 if self.space == "t" else min(self.row[0] + self.row[1] * wg + self.row[2] * g, ROWS - self.height)

    def actor(self, wg, g):
        return self.weights[0] * wg + self.weights[1] * g

    def value_at(self, kernel, wg, g, row, column):
        """What one actor leaves at a place of the array."""
        place = row * COLUMNS + column
        if self.kind == "undefined":
            return UNDEFINED
        if self.kind == "number":
            return self.value
        if self.kind == "place":
            return place
        if self.kind == "actor":
            return self.actor(wg, g)
        if self.kind == "spot":
            return place + (self.actor(wg, g) if column - self.left == self.spot else 0)
        far = self.actor(wg, g) if self.kind in ("by actor", "part") else 0
        if kernel.is_zero and kernel.dtype == "i32":  # given integers change their places: zeros stay
            return 0
        return ("part" if self.kind == "part" else "input", row + far, column)

    def write(self, kernel):
        """Its lines; the one that writes is marked."""
        dtype, shape = kernel.dtype, "[%d, %d]" % (self.height, self.width)
        n = self.number
        box = "[ds(%%r%d, %d), ds(%d, %d)]" % (n, self.height, self.left, self.width)
        rows = "[ds(%%r%d, %d), :]" % (n, self.height)
        yield "%%r%d = min (add (add (mul %%w, %d), (mul %%g, %d)), %d), %d" % (
            n, self.row[1], self.row[2], self.row[0], max(ROWS - self.height, 0))
        yield "%%a%d = add (mul %%w, %d), (mul %%g, %d)" % (n, *self.weights)
        if self.how == "cp":
            yield "async_copy %%x%s, %%s%s" % (rows, rows), True
            yield "async_copy_commit_group"
            yield "async_copy_wait 0"
            return
        if self.how == "tma" and self.space == "s":
            yield "commit_smem"
            yield "copy_gmem_to_smem %%x%s, %%s%s, %%full[%%w]" % (rows, rows), True
            yield "barrier_wait %full[%w]"
            return
        if self.kind in ("place", "spot"):
            yield "%%i%d = mul (add (iota dim(0) : i32%s), (broadcast %%r%d : i32%s)), %d" % (n, shape, n, shape,
                                                                                              COLUMNS)
            yield "%%p%d = add %%i%d, (add (iota dim(1) : i32%s), %d)" % (n, n, shape, self.left)
        if self.kind == "spot":
            yield "%%h%d = eq (iota dim(1) : i32%s), %d" % (n, shape, self.spot)
            yield "%%q%d = select %%h%d, (add %%p%d, (broadcast %%a%d : i32%s)), %%p%d" % (n, n, n, n, shape, n)
        far = "[ds((add %%r%d, %%a%d), %d), ds(%d, %d)]" % (n, n, self.height, self.left, self.width)
        made = {"place": "%%p%d" % n, "spot": "%%q%d" % n, "actor": "(broadcast %%a%d : i32%s)" % (n, shape),
                "number": "(broadcast %d : i32%s)" % (self.value, shape)}
        if self.kind in made:
            yield "%%v%d = %s" % (n, "add %s, 0" % made[self.kind] if dtype == "i32"
                                  else "cast %s : f32" % made[self.kind])
        elif self.kind == "undefined":
            yield "%%v%d = load %%never%s" % (n, box)
        elif self.kind == "part":  # 0 of whole numbers that are small
            yield "%%u%d = load %%x%s" % (n, far)
            yield "%%v%d = %s" % (n, "div %%u%d, 100" % n if dtype == "i32" else "sub %%u%d, (floor %%u%d)" % (n, n))
        else:
            yield "%%v%d = load %%x%s" % (n, box if self.kind == "input" else far)
        name = "%%v%d" % n
        target = ("%y" if self.space == "g" else "%s") + box
        if self.how == "tensor":
            yield "async_store_tmem %%t[:, ds(%d, %d)], %s" % (self.left, self.width, name), True
            yield "commit_tmem"
        elif self.how == "masked":
            yield "masked_store %s, %s, (ge (iota dim(0) : i32%s), 0)" % (target, name, shape), True
        elif self.how == "tma":
            yield "store %%b[%%w, ds(0, %d), :], %s" % (self.height, name)
            yield "commit_smem"
            yield "commit_gmem"
            yield "copy_smem_to_gmem %%b[%%w, ds(0, %d), :], %%y%s" % (self.height, rows), True
            yield "wait_smem_to_gmem 0"
        else:
            yield "store %s, %s" % (target, name), True


class Kernel:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.ctas, self.threads = rng.choice([(1, 2), (1, 3), (2, 1), (2, 2), (3, 1)])
        self.dtype = rng.choice(["i32", "f32"])
        self.is_zero = rng.random() < 0.3
        self.rounds = rng.randrange(1, 4)
        self.ops = [Op(rng, number, rng.randrange(self.rounds), self) for number in range(rng.randrange(2, 6))]
        tensor = random.Random("tensor %d" % seed)
        self.uses_tensor = tensor.random() < 0.3
        for op in self.ops:
            if self.uses_tensor and tensor.random() < 0.7:
                op.move_to_tensor(tensor)
        self.uses_tensor = any(op.space == "t" for op in self.ops)
        self.text = self._write()

    def _write(self):
        d = self.dtype
        lines = ["kernel @k(%%x: in gmem %s[%d, %d], %%y: out gmem %s[%d, %d]) grid(c = %d) threads(t = %d)%s" % (
            d, ROWS + 8, COLUMNS, d, ROWS, COLUMNS, self.ctas, self.threads,
            ' attr arch = "sm_100a"' * self.uses_tensor), "{",
            *["  scratch %%t : tmem %s[%d, %d]" % (d, LANES, COLUMNS)] * self.uses_tensor,
            "  scratch %%s : smem %s[%d, %d]" % (d, ROWS, COLUMNS),
            "  scratch %%never : smem %s[%d, %d]" % (d, ROWS, COLUMNS),
            "  scratch %%b : smem %s[%d, 8, %d]" % (d, self.threads, COLUMNS),
            "  scratch %%full : barrier[%d] arrivals(1)" % self.threads,
            "  %g = axis_index c", "  %w = axis_index t"]
        for round_ in range(self.rounds):
            lines += ["  block_barrier"] if round_ > 0 else []
            for op in (op for op in self.ops if op.round == round_):
                indent = "  "
                if op.only is not None:
                    lines.append("  if (eq %%w, %d) {" % op.only)
                    indent = "    "
                for line in op.write(self):
                    text, is_write = (line, False) if isinstance(line, str) else line
                    lines.append(indent + text)
                    if is_write:
                        op.line = len(lines)
                lines += ["  }"] if op.only is not None else []
        return "\n".join(lines + ["}", ""])

    # ---- the oracle

    def writes(self):
        """(space and CTA of the bytes, op, actor, {place: value}) of each execution."""
        for op in self.ops:
            for g in range(self.ctas):
                for wg in range(self.threads):
                    if op.only in (None, wg):
                        row = op.start(wg, g)
                        yield ("g" if op.space == "g" else "%s%d" % (op.space, g), op, (g, wg),
                               {(y, x): op.value_at(self, wg, g, y, x) for y in range(row, row + op.height)
                                for x in range(op.left, op.left + op.width)})

    def judge(self):
        """By pair of lines: (classes of its pairs: equal or not, whether each of them must be seen)."""
        writes, found = list(self.writes()), {}
        in_order = lambda a, b: a[2][0] == b[2][0] and (a[1].round != b[1].round or a[2] == b[2])
        hidden = lambda a, bytes_: any(b is not a and b[0] == a[0] and in_order(a, b) and bytes_ & b[3].keys()
                                       for b in writes)
        for i, a in enumerate(writes):
            for b in writes[:i]:
                both = a[3].keys() & b[3].keys()
                if a[0] != b[0] or not both or in_order(a, b):
                    continue
                is_equal = all(a[3][place] == b[3][place] != UNDEFINED for place in both)
                entry = found.setdefault(frozenset((a[1].line, b[1].line)), [set(), True])
                entry[0].add(is_equal)
                entry[1] = entry[1] and not hidden(a, both) and not hidden(b, both)
        return found


class NoNvrtc(Exception):
    """There is no PTX without it."""


def check_ptx(grout, seed, kernel, path, options, interleavings):
    """What is wrong with what the search in PTX says of a kernel; None: nothing."""
    done = subprocess.run([grout, "run", "--device", "ptx", "--check", "--interleavings", str(interleavings), *options,
                           path],
                          capture_output=True, text=True, timeout=300, check=False)
    text = done.stdout + done.stderr
    if "[nvrtc-missing]" in text:
        raise NoNvrtc
    said = next((word for word in ("ptx-race", "ptx-fault", "same-value-race") if f"[{word}]" in text), "nothing")
    classes = [(all(equal), is_strict) for equal, is_strict in kernel.judge().values()]
    allowed = {"ptx-race"} if (False, True) in classes else {"same-value-race"} if (True, True) in classes \
        else {"nothing"}
    if (False, True) not in classes:  # what a pair that may not be met adds
        allowed |= {"ptx-race"} if (False, False) in classes else {"same-value-race"} if (True, False) in classes \
            else set()
    if said in allowed or said == "ptx-fault":  # a value that nothing has set
        return None
    return "%d: the search in PTX says %s, the oracle %s\n%s\n%s" % (seed, said, sorted(allowed), text, kernel.text)


def check(grout, seed, folder, interleavings):
    """What is wrong with a kernel, or the number of its pairs by class."""
    kernel = Kernel(seed)
    path = os.path.join(folder, "k%d.grout" % seed)
    with open(path, "w") as file:
        file.write(kernel.text)
    options = ["--input", "x=zeros"] if kernel.is_zero else []
    if seed % 2:  # what is equal does not depend on the schedule
        options += ["--schedule", "random", "--timing", "random", "--seed", str(seed)]
    done = subprocess.run([grout, "check", "--format", "json", "--max-findings", "1000", *options, path],
                          capture_output=True, text=True, timeout=300, check=False)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        return "%d: %s%s\n%s" % (seed, done.stdout, done.stderr, kernel.text), None
    said = {}
    for finding in report["findings"]:
        if finding["code"] in RACES:
            pair = frozenset((finding["primary"]["line"], finding["related"]["line"]))
            said[pair] = finding["code"] == "same-value-race"
        elif finding["code"] not in WITHOUT_MEANING:
            return "%d: %s: %s\n%s" % (seed, finding["code"], finding["message"], kernel.text), None
    expected, counts = kernel.judge(), {True: 0, False: 0}
    for pair in said.keys() | expected.keys():
        classes, is_strict = expected.get(pair, (set(), True))
        if pair not in said and not is_strict:
            continue
        if pair not in said or not classes or said[pair] != all(classes):
            return "%d: lines %s: grout says %s, the oracle %s\n%s" % (
                seed, sorted(pair), {None: "nothing", True: "equal", False: "a race"}[said.get(pair)],
                sorted(classes) or "nothing", kernel.text), None
        counts[said[pair]] += 1
    wrong = check_ptx(grout, seed, kernel, path, [word for word in options[:2] if kernel.is_zero], interleavings) \
        if interleavings else None
    return wrong, counts


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--ptx", type=int, default=0)
    parser.add_argument("range", nargs="*", type=int, default=[1, 200])
    args = parser.parse_args()
    first, count = args.range
    total, bad = {True: 0, False: 0}, 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for wrong, counts in pool.map(lambda seed: check(args.grout, seed, folder, args.ptx),
                                      range(first, first + count)):
            if wrong:
                bad += 1
                print(wrong if bad <= 3 else wrong.split("\n")[0])
            else:
                total = {key: total[key] + counts[key] for key in total}
    print("%d kernels: %d pairs of lines equal, %d races, %d kernels wrong" % (count, total[True], total[False], bad))
    if not bad and (not total[True] or not total[False]):
        print("nothing of one class was drawn")
        bad = 1
    return 1 if bad else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NoNvrtc:
        print("there is no NVRTC")
        sys.exit(SKIPPED)
