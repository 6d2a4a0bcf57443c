#!/usr/bin/env python3
# registers_in_flight.py - machine code of kernels: nothing is written to registers that the tensor core still reads.
# SPDX-License-Identifier: Apache-2.0
"""usage: registers_in_flight.py GROUT [--nvdisasm PATH] [--loops] [FILE [-D NAME=VALUE]...]

A wgmma reads an a in registers, and the metadata of a sparse one, until a wait covers it; so does it write its
accumulator. ptxas assigns the registers and says nothing if it gives one of them away too early. This follows each path
through the machine code of FILE's kernels, with the groups that are in flight on it, and fails on an instruction that
writes to a register of theirs. It needs NVRTC and nvdisasm (of the CUDA toolkit), and no GPU.

--loops draws a file of loops: one to three in flight, trips known and unknown, carries, two wgmmas a turn, an a that
is the same in all turns.

Exit code 0: nothing found; 1: something; 77: no nvdisasm.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

STATES_MAX = 400000  # places times groups in flight, of a kernel
GMMA = ("HGMMA", "IGMMA", "QGMMA")
# What writes to no register, or to predicates and uniform registers alone.
NO_RESULT = set("""ACQBULK BAR BMOV BPT BRA BREAK BSSY BSYNC CALL CCTL CGAERRBAR DEPBAR DSETP ELECT ERRBAR EXIT FENCE
    FSETP HSETP2 ISETP KILL LDGDEPBAR LDGSTS MEMBAR NANOSLEEP NOP PLOP3 PREEXIT R2P R2UR RED RET ST STG STL STS STSM
    SYNCS UBLKCP UCGABAR_ARV UCGABAR_WAIT USETMAXREG UTMACCTL UTMACMDFLUSH UTMALDG UTMASTG VOTEU WARPGROUP WARPSYNC
    YIELD""".split())
LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(@!?U?P\d+\s+)?([A-Z][\w.]*)\s*([^;]*);")


class Instruction:
    def __init__(self, match):
        self.place, self.condition, self.name, operands = match.groups()
        self.base = self.name.split(".")[0]
        self.operands = [operand.strip() for operand in operands.split(",")]
        self.target = re.search(r"\((\.L_\w+)\)", operands)

    def get_results(self):
        """The registers that it writes to."""
        found = next((operand for operand in self.operands[:2] if re.match(r"R\d", operand)), None)
        if self.base in NO_RESULT or found is None or (
                found == self.operands[1] and not re.match(r"!?U?P(T|\d)", self.operands[0])):
            return set()
        first, count = int(re.match(r"R(\d+)", found).group(1)), 1
        if self.base in GMMA:
            count = self.count_sums()
        elif ".128" in self.name or self.base in ("HMMA", "IMMA", "QMMA") or "LDSM" in self.name and ".4" in self.name:
            count = 4
        elif ".64" in self.name or ".WIDE" in self.name or self.base in ("CS2R", "DADD", "DMUL", "DFMA") or (
                self.base == "LDSM" and ".2" in self.name):
            count = 2
        return set(range(first, first + count))

    def count_sums(self):
        return int(re.search(r"x(\d+)x", self.name).group(1)) // (2 if ".F32" in self.name or
                                                                  self.base == "IGMMA" else 4)

    def get_inputs(self):
        """The registers that a wgmma goes on reading: four of a, one of metadata."""
        read = set()
        if re.match(r"R\d", self.operands[1]):
            first = int(re.match(r"R(\d+)", self.operands[1]).group(1))
            read |= set(range(first, first + 4))
        if ".SP" in self.name:
            registers = [operand for operand in self.operands if re.match(r"R\d", operand)]
            read.add(int(re.match(r"R(\d+)", registers[-1]).group(1)))
        return read


def read_kernels(text):
    """Instructions and labels by kernel, in the text of nvdisasm."""
    kernels, code = {}, None
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([^,]+),", line)
        label, found = re.match(r"(\.L_\w+):", line), LINE.match(line)
        if section:
            code = kernels.setdefault(section.group(1), [])
        elif line.startswith("//-----"):
            code = None
        elif code is not None and (label or found):
            code.append(label.group(1) if label else Instruction(found))
    return kernels


class Walk:
    """All paths of a kernel; a state is the groups in flight, the oldest first: (closed, {(register, place, is
    sum)})."""

    def __init__(self, code):
        self.code = code
        self.labels = {item: at for at, item in enumerate(code) if isinstance(item, str)}
        self.found, self.wgmmas = set(), 0

    def step(self, state, one):
        """What is in flight after an instruction."""
        written = one.get_results()
        is_wgmma = one.base in GMMA
        for _, group in state:
            self.found |= {(place, one.place, register, one.name) for register, place, is_sum in group
                           if register in written and not (is_wgmma and is_sum)}
        if is_wgmma:
            entries = frozenset([(register, one.place, False) for register in one.get_inputs()] +
                                [(register, one.place, True) for register in written])
            if state and not state[-1][0]:
                entries, state = entries | state[-1][1], state[:-1]
            return (state + ((any("gsb0" in operand for operand in one.operands), entries),))[-9:]
        if one.name.startswith("WARPGROUP.DEPBAR"):
            left = int(one.operands[1], 16)
            closed = [group for group in state if group[0]]
            return tuple(closed[len(closed) - left:] if 0 < left
                         else []) + tuple(group for group in state if not group[0])
        return state

    def run(self):
        work, seen = [(0, ())], set()
        while work:
            at, state = work.pop()
            while at < len(self.code) and (at, state) not in seen:
                seen.add((at, state))
                if len(seen) > STATES_MAX:
                    sys.exit("registers_in_flight: a kernel has more than %d states" % STATES_MAX)
                one = self.code[at]
                at += 1
                if isinstance(one, str):
                    continue
                state = self.step(state, one)
                if one.base == "BRA" and one.target:
                    target = self.labels[one.target.group(1)]
                    is_open = one.condition or re.match(r"!?U?P\d", one.operands[0])
                    at = at if is_open else target
                    if is_open:
                        work.append((target, state))
                elif one.base == "EXIT" and not one.condition:
                    break
        return sorted(self.found)


def check_oneself():
    """A register that the next turn computes while it is read, and one that it computes after the wait."""
    turn = ["/*0010*/ HGMMA.64x32x16.F32 R24, R44, gdesc[UR4].tnspB, R24, gsb0 ;",
            "/*0020*/ WARPGROUP.DEPBAR.LE gsb0, 0x%d ;", "/*0030*/ @P0 BRA `(.L_x_0) ;", "/*0040*/ EXIT ;"]
    for left, found in ((1, 1), (0, 0)):
        text = "\n".join([" .section .text.k,", ".L_x_0:", "/*0000*/ IADD3 R45, R2, R3, RZ ;"] + turn) % left
        if len(Walk(read_kernels(text)["k"]).run()) != found:
            sys.exit("registers_in_flight: does not find what it is for")


def draw_loops():
    lines, number = [], 0
    trips = ["0..1", "0..2", "0..3", "0..4", "0..5", "0..7", "0..8", "0..%n", "1..%n", "1..%n step 3"]
    for flying in (1, 2, 3):
        for trip in trips:
            for style in ("plain", "two", "carry", "kept"):
                number += 1
                lines += ["kernel @%s_%d(%%x: in gmem f16[9, 64, 64], %%b: in gmem f16[64, 64], %%n: i32, %%c: out "
                          "gmem f32[64, 64]) {"
                          % (style, number), "  scratch %bs : smem f16[64, 64] tile(8, 64) swizzle(128)",
                          "  scratch %acc : acc f32[64, 64]", "  scratch %other : acc f32[64, 64]",
                          "  store %bs, (load %b)", "  commit_smem"]
                if style == "carry":
                    lines += ["  %l = for %i in " + trip + " carry(%p = (load %x[0])) {",
                              "    wgmma_async %acc, %p, %bs", "    %q = add (load %x[%i]), 1.0",
                              "    wgmma_wait %d" % flying, "    yield %q", "  }"]
                elif style == "kept":
                    lines += ["  %l = for %k in 0..3 carry(%p = (load %x[0])) {", "    for %i in " + trip + " {",
                              "      wgmma_async %acc, %p, %bs", "      wgmma_wait %d" % flying, "    }",
                              "    %q = add (load %x[%k]), 1.0", "    wgmma_wait 0", "    yield %q", "  }"]
                else:
                    lines += ["  for %i in " + trip + " {", "    %a = add (load %x[%i]), 0.5",
                              "    wgmma_async %acc, %a, %bs"]
                    lines += ["    wgmma_async %other, (mul %a, 2.0), %bs"] if style == "two" else []
                    lines += ["    wgmma_wait %d" % flying, "  }"]
                lines += ["  store %c, (add (load %acc), (load %other))", "}"]
    return "\n".join(lines) + "\n"


def check_file(options, path, folder):
    cubin = os.path.join(folder, "kernels.cubin")
    defines = [word for define in options.defines for word in ("-D", define)]
    subprocess.run([options.grout, "emit", "--to", "cubin", "-q", "-o", cubin, path] + defines, check=True,
                   stderr=subprocess.DEVNULL)
    text = subprocess.run([options.nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
    failed = False
    for name, code in sorted(read_kernels(text).items()):
        wgmmas = [one for one in code if not isinstance(one, str) and one.base in GMMA]
        found = Walk(code).run()
        failed = failed or bool(found)
        for place, at, register, instruction in found[:4]:
            print("%s @%s: R%d of the wgmma at %s is written at %s by %s" % (path, name, register, place, at,
                                                                             instruction))
        if wgmmas:
            print("%s  %s @%s, %d wgmmas" % ("FAILED" if found else "ok    ", path, name, len(wgmmas)))
    return failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grout")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm") or "/usr/local/cuda/bin/nvdisasm")
    parser.add_argument("--loops", action="store_true")
    parser.add_argument("-D", dest="defines", action="append", default=[])
    options = parser.parse_intermixed_args()
    check_oneself()
    if not os.path.exists(options.nvdisasm):
        print("skipped: no nvdisasm")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        if options.loops:
            options.files.append(os.path.join(folder, "loops.grout"))
            with open(options.files[-1], "w", encoding="utf-8") as file:
                file.write(draw_loops())
        return 1 if any(check_file(options, path, folder) for path in options.files) else 0


if __name__ == "__main__":
    sys.exit(main())
