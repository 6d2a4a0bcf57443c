#!/usr/bin/env python3
# wgmma_sweep.py - every legal form of wgmma: element types, tilings, swizzles, transpositions, a in registers,
# all N, tiles that hang over the edges. On the GPU against the CPU, or compiled only.
# SPDX-License-Identifier: Apache-2.0
"""usage: wgmma_sweep.py GROUT [--mode cuda|cubin|check|ptx|list] [--jobs N] [--part I/N] [--only TEXT]
                      [--log FILE]

Kernels are made up here, a file each. Modes: cuda compares GPU and CPU bit for bit (small integers; random normal
numbers with exact numerics) and, for a part of them, within the documented bound (random normal numbers; not 8-bit
floats); cubin compiles them with NVRTC, and fails on spills and on wgmmas that are not kept in flight; check runs the
race checker; ptx runs the PTX on the CPU (../ptx/run_files.py). --part 2/4 is the second quarter, --only keeps kernels
whose name holds TEXT.

Exit code 0: all as expected; 1: not; 77: the mode needs what is not there.
"""
import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
# a, b, sums, bytes of an operand's element
TYPES = [("bf16", "bf16", "f32", 2), ("f16", "f16", "f32", 2), ("f16", "f16", "f16", 2), ("f32", "f32", "f32", 4),
         ("f8e4m3", "f8e4m3", "f32", 1), ("f8e4m3", "f8e5m2", "f32", 1), ("f8e5m2", "f8e4m3", "f32", 1),
         ("f8e5m2", "f8e5m2", "f32", 1), ("f8e4m3", "f8e4m3", "f16", 1), ("f8e5m2", "f8e4m3", "f16", 1),
         ("i8", "i8", "i32", 1), ("u8", "u8", "i32", 1), ("i8", "u8", "i32", 1), ("u8", "i8", "i32", 1)]
# the operand use_acc: none, constant, known to the run only
USES = ["", ", true", ", (gt %k, 0)", ", (ne %k, 1)", ", false"]
SWIZZLES = [128, 64, 32, 0]
WIDTHS = list(range(8, 257, 8))


def declare(name, dtype, rows, columns, swizzle, size, is_tall):
    """An operand in SMEM: rows cut to the swizzle, in tiles of 8 rows or of all."""
    width = (swizzle or 16) // size
    text = "  scratch %%%s : smem %s[%d, %d] tile(%d, %d)" % (
        name, dtype, rows, columns, rows if is_tall else 8, width)
    return text + (" swizzle(%d)\n" % swizzle if swizzle else "\n")


class Case:
    def __init__(self, number, types, a_swizzle, b_swizzle, turned, in_registers, columns):
        self.a_type, self.b_type, self.sum, self.size = types
        self.types = types
        self.a_swizzle, self.b_swizzle = a_swizzle, b_swizzle
        self.a_turned, self.b_turned = turned
        self.in_registers = in_registers
        self.columns = columns
        self.is_tall = number % 3 == 0
        self.has_slices = number % 4 == 1
        self.is_cut = number % 5 == 2 and columns % 16 == 0
        self.use = USES[number % 7 % len(USES)]
        registers = columns // (4 if self.sum == "f16" else 2)
        self.rows = 128 if number % 2 == 1 and registers <= 64 else 64
        self.depth = 128 // self.size
        self.name = "%s_%s_%s_n%d_m%d_a%d%s%s_b%d%s%s%s%s%s" % (
            self.a_type, self.b_type, self.sum, columns, self.rows, a_swizzle, "t" if self.a_turned else "",
            "r" if in_registers else "", b_swizzle, "t" if self.b_turned else "",
            "_tall" if self.is_tall else "", "_ksplit" if self.has_slices else "",
            "_nsplit" if self.is_cut else "", "_use%d" % USES.index(self.use) if self.use else "")

    def is_legal(self):
        a_width, b_width = (s // self.size if s else 16 // self.size for s in (self.a_swizzle, self.b_swizzle))
        if self.size != 2 and (self.a_turned or self.b_turned) or self.size == 4 and self.in_registers:
            return False
        if self.sum == "i32" and self.columns > 32 and self.columns % 16:
            return False
        if self.sum == "i32" and self.is_cut and self.columns > 64 and self.columns % 32:
            self.is_cut = False
        if self.a_turned and self.rows % a_width:
            return False
        if self.b_turned and self.columns % b_width:
            return False
        if self.is_cut and self.b_turned and self.columns // 2 % b_width:
            self.is_cut = False
        return True

    @staticmethod
    def reference(name, spans, is_swapped):
        """A reference to an operand, cut along its dimensions in memory (None: all of one), perhaps transposed."""
        cut = ", ".join(":" if span is None else "ds(%d, %d)" % span for span in spans)
        return "%%%s%s%s" % (name, "[%s]" % cut if any(spans) else "", ".transpose(1, 0)" if is_swapped else "")

    def get_a(self, depth):
        return self.reference("as", (depth, None) if self.a_turned else (None, depth), self.a_turned)

    def get_b(self, depth, columns):
        return self.reference("bs", (depth, columns) if self.b_turned else (columns, depth), not self.b_turned)

    def multiply(self):
        """The wgmmas of one step: K in one go or in two slices, N too."""
        lines = []
        half = self.depth // 2
        depths = [(0, half), (half, half)] if self.has_slices and not self.in_registers else [None]
        wide = [(0, self.columns // 2), (self.columns // 2, self.columns // 2)] if self.is_cut else [None]
        for span in wide:
            for depth in depths:
                # the second slice of K adds to what the first has begun
                use = self.use if depth in (None, depths[0]) else ""
                acc = "%acc" if span is None else "%%acc[:, ds(%d, %d)]" % span
                a = "%left" if self.in_registers else self.get_a(depth)
                lines.append("    wgmma_async %s, %s, %s%s\n" % (acc, a, self.get_b(depth, span), use))
        return "".join(lines) + "    wgmma_wait 0\n"

    def text(self):
        rows, columns, depth = self.rows, self.columns, self.depth
        m, n, k = rows + 40, columns + 8, 2 * depth + 16 // self.size
        a_shape, b_shape = ((k, m) if self.a_turned else (m, k)), ((k, n) if self.b_turned else (n, k))
        a_box = ["ds(%%row, %d)" % rows, "ds(%%k * %d, %d)" % (depth, depth)]
        b_box = ["ds(%%col, %d)" % columns, "ds(%%k * %d, %d)" % (depth, depth)]
        if self.a_turned:
            a_box.reverse()
        if self.b_turned:
            b_box.reverse()
        text = "// Made by wgmma_sweep.py.\n// expect: clean\n"
        text += "kernel @%s(%%a: in gmem %s[%d, %d], %%b: in gmem %s[%d, %d], %%c: out gmem %s[%d, %d])\n" % (
            self.name, self.a_type, *a_shape, self.b_type, *b_shape, self.sum, m, n)
        text += "    grid(m = 2, n = 2) threads(wg = 1)\n{\n"
        a_size = (depth, rows) if self.a_turned else (rows, depth)
        b_size = (depth, columns) if self.b_turned else (columns, depth)
        text += declare("as", self.a_type, a_size[0], a_size[1], self.a_swizzle, self.size, self.is_tall)
        text += declare("bs", self.b_type, b_size[0], b_size[1], self.b_swizzle, self.size, self.is_tall)
        text += "  scratch %%cs : smem %s[%d, %d]\n" % (self.sum, rows, columns)
        text += "  scratch %full : barrier[1] arrivals(2)\n"
        text += "  scratch %%acc : acc %s[%d, %d]\n" % (self.sum, rows, columns)
        text += "  %%row = mul (axis_index m), %d\n  %%col = mul (axis_index n), %d\n" % (rows, columns)
        text += "  for %k in 0..3 {\n"
        text += "    copy_gmem_to_smem %%a[%s], %%as, %%full[0]\n" % ", ".join(a_box)
        text += "    copy_gmem_to_smem %%b[%s], %%bs, %%full[0]\n" % ", ".join(b_box)
        text += "    barrier_wait %full[0]\n"
        if self.in_registers:
            text += "    %%left = load %s\n" % self.get_a(None)
        text += self.multiply()
        if self.in_registers:
            text += "    commit_smem\n"
        text += "  }\n  store %cs, (load %acc)\n  commit_smem\n"
        text += "  copy_smem_to_gmem %%cs, %%c[ds(%%row, %d), ds(%%col, %d)]\n" % (rows, columns)
        return text + "  wait_smem_to_gmem 0\n}\n"


def make_cases():
    """Every combination of what a descriptor says, each with a few N, and every N with each pair of types."""
    cases, number, names = [], 0, set()
    for types in TYPES:
        forms = [(a, b, (ta, tb), ra) for a in SWIZZLES for b in SWIZZLES for ta in (False, True)
                 for tb in (False, True) for ra in (False, True)]
        legal = []
        for form in forms:
            case = Case(0, types, *form, 64)
            if case.is_legal():
                legal.append(form)
        rounds = 2 if types[3] == 2 else 4
        for turn in range(rounds):
            for index, form in enumerate(legal):
                start = (index * 5 + turn * 16) % len(WIDTHS)
                for step in range(len(WIDTHS)):
                    case = Case(number, types, *form, WIDTHS[(start + step) % len(WIDTHS)])
                    if case.is_legal():
                        break
                number += 1
                if case.name not in names:
                    names.add(case.name)
                    cases.append(case)
        seen = {case.columns for case in cases if case.types == types}
        for columns in (width for width in WIDTHS if width not in seen):
            number += 1
            case = Case(number, types, *legal[number % 4 * 4 % len(legal)], columns)
            if case.is_legal():
                cases.append(case)
    return cases


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        return done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired:
        return 124, "no end after %d s" % SECONDS


def draw(case, name, seed, path):
    """The input of an operand: all that 8-bit integers can be, in a file, else random normal numbers."""
    dtype, shape = re.search(rf"%{name}: in gmem (\w+)\[([0-9, ]+)\]", case.text()).groups()
    if dtype not in ("i8", "u8"):
        return f"{name}=randn:{seed}"
    sizes = [int(size) for size in shape.split(",")]
    header = f"{{'descr': '|{dtype[0]}1', 'fortran_order': False, 'shape': ({sizes[0]}, {sizes[1]})}}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    file_name = f"{path}.{name}.npy"
    with open(file_name, "wb") as file:
        file.write(b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode())
        file.write(random.Random(seed).randbytes(sizes[0] * sizes[1]))
    return f"{name}={file_name}"


def get_commands(options, path, number, case):
    """What a case consists of: commands, and a text that their output must not hold."""
    if options.mode == "cuda":
        commands = [[options.grout, "run", path, "--device", "cuda", "--compare", "cpu", "-q"]]
        numbers = ["--input", draw(case, "a", 1, path), "--input", draw(case, "b", 2, path)]
        if number % 8 == 0 and not case.a_type.startswith("f8"):  # of those the tensor core keeps 13 bits
            commands.append(commands[0] + numbers)
        commands.append(commands[0] + numbers + ["--numerics", "exact"])
        return commands, "gpu-loss"
    if options.mode == "cubin":
        return [[options.grout, "emit", path, "--to", "cubin", "-q", "-o", path + ".cubin"]], "gpu-loss"
    if options.mode == "check":
        return [[options.grout, "check", "--expect", "-q", path]], None
    return [[sys.executable, os.path.join(os.path.dirname(HERE), "ptx", "run_files.py"), "--grout", options.grout,
             path]], None


def try_case(options, folder, number, case):
    path = os.path.join(folder, case.name + ".grout")
    with open(path, "w", encoding="utf-8") as file:
        file.write(case.text())
    commands, unwanted = get_commands(options, path, number, case)
    shown = ""
    for command in commands:
        code, output = run(command)
        shown += "$ %s\n%s[exit %d]\n" % (" ".join(command), output, code)
        if code != 0 or (unwanted and unwanted in output):
            return False, shown + case.text()
    return True, shown


def find_gpu(options):
    code, output = run([options.grout, "doctor"])
    return code == 0 and "\ngpu 0:" in "\n" + output and "no kernel can run on a GPU" not in output


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("grout")
    parser.add_argument("--mode", choices=["cuda", "cubin", "check", "ptx", "list"], default="cuda")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 4)
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--only", default="")
    parser.add_argument("--log", default="wgmma_sweep.log")
    options = parser.parse_args()
    part, parts = (int(word) for word in options.part.split("/"))
    cases = [case for case in make_cases() if options.only in case.name][part - 1::parts]
    if options.mode == "list":
        print("\n".join(case.name for case in cases))
        return 0
    if options.mode == "cuda" and not find_gpu(options):
        print("no usable GPU")
        return 77
    failed = 0
    with tempfile.TemporaryDirectory(prefix="wgmma-sweep-") as folder, \
            open(options.log, "w", encoding="utf-8") as log, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(try_case, options, folder, number, case) for number, case in enumerate(cases)]
        for case, job in zip(cases, jobs):
            is_fine, shown = job.result()
            log.write(shown + "\n")
            if not is_fine:
                failed += 1
                print("FAILED  %s" % case.name, flush=True)
    print("%d cases, %d failed; all output is in %s" % (len(cases), failed, options.log))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
