#!/usr/bin/env python3
# sass_loops.py - what the loops of a kernel's machine code consist of.
# SPDX-License-Identifier: Apache-2.0
"""usage: sass_loops.py [--nvdisasm PATH] [--text FILE | GROUT FILE [-D NAME=VALUE]...] [--kernel NAME] [--every]

Compiles the kernels of FILE with 'GROUT emit --to cubin', disassembles them with nvdisasm, and counts the instructions
of each loop by what executes them. --text takes what nvdisasm has written instead. It needs NVRTC and nvdisasm, and no
GPU. Without arguments it checks itself.

A loop is what lies between a label and the last branch back to it. Its own instructions are those that lie in no loop
inside it, so the lines of nested loops add up. Where a wait does not succeed at once the code spins after the end of
the kernel, in a loop of a few instructions, and then goes back to where it came from, which is no loop. Loops that only
spin are not shown, nor those without any of the tensor core, TMA, mbarriers, exponentials or memory, unless --every is
given.

Exit code 0: counted, or the check of itself holds; 1: it does not, or a command failed; 77: no nvdisasm.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile

LINE = re.compile(r"\s*/\*([0-9a-f]{4,})\*/\s+(?:(@!?U?P\w+)\s+)?([A-Z][\w.]*)(.*?);")
TARGET = re.compile(r"(!?UP\d)?,?\s*`\((\.L_\w+)\)")

# The first that fits. A kind is what an instruction waits for or keeps busy, not always one unit of the hardware.
KINDS = (
    ("mma", r"UTC\w*MMA|HGMMA|IGMMA|QGMMA|BGMMA|HMMA|IMMA|DMMA"),
    ("commit", r"UTCBAR|WARPGROUP\.ARRIVE"),
    ("tmem", r"LDTM|STTM|UTCCP|UTCSHIFT|UTCATOMSWS"),
    ("tma", r"UTMA|UBLKCP|UBLKRED|UBLKPF"),
    ("mbarrier", r"SYNCS|ARRIVES"),
    ("bar", r"BAR\b|WARPSYNC|UCGABAR|WARPGROUP"),
    ("fence", r"MEMBAR|FENCE|CCTL|ERRBAR|CGAERRBAR|DEPBAR|LDGDEPBAR"),
    ("spill", r"LDL|STL"),
    ("smem", r"LDS|STS|ATOMS|STAS|LDSM|STSM"),
    ("gmem", r"LDG|STG|ATOMG|REDG|RED\b|LD\b|ST\b"),
    ("sfu", r"MUFU"),
    ("float2", r"FFMA2|FADD2|FMUL2"),
    ("float",
     r"F(?:FMA|ADD|MUL|MNMX3?|SEL|SETP|CHK|SWZADD)\b|H(?:FMA2|ADD2|MUL2|MNMX2|SETP2)\b|D(?:FMA|ADD|MUL|SETP)\b"),
    ("convert", r"F2FP|F2F|F2I|I2F|I2FP|FRND"),
    ("lanes", r"SHFL|VOTE|REDUX|CREDUX|MATCH|ELECT"),
    ("control", r"BRA|BRX|BSSY|BSYNC|EXIT|CALL|RET|NANOSLEEP|BREAK|USETMAXREG|BPT|WARPSYNC"),
    ("nop", r"NOP"),
    ("uniform", r"U[A-Z0-9]+|R2UR|S2UR"),
    ("alu", r"\w+"),
)
KIND_PATTERNS = tuple((kind, re.compile(pattern)) for kind, pattern in KINDS)
TELLING = ("mma", "commit", "tmem", "tma", "mbarrier", "smem", "gmem", "sfu", "spill")
SPIN_MAX = 8  # instructions of a loop that only waits


def get_kind(name):
    return next(kind for kind, pattern in KIND_PATTERNS if pattern.match(name))


def read_kernels(text):
    """By kernel, its instructions (place, condition, name, operands) and the index that each label stands at."""
    kernels, code, labels = {}, None, None
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([^,]+),", line)
        label, found = re.match(r"(\.L_\w+):", line), LINE.match(line)
        if section:
            code, labels = kernels.setdefault(section.group(1), ([], {}))
        elif line.startswith("//-----"):
            code = None
        elif code is not None and label:
            labels[label.group(1)] = len(code)
        elif code is not None and found:
            code.append((int(found.group(1), 16),) + found.group(2, 3, 4))
    return kernels


def find_branch(code, labels, at):
    """Where a branch goes, and whether it has a condition; None for other instructions."""
    _, condition, name, operands = code[at]
    target = TARGET.search(operands)
    if not name.startswith("BRA") or target is None or target.group(2) not in labels:
        return None
    return labels[target.group(2)], bool(condition or target.group(1))


def is_return(code, labels, at):
    """A branch without a condition right after one that spins: back from a wait."""
    branch, before = find_branch(code, labels, at), find_branch(code, labels, at - 1) if at > 0 else None
    return not branch[1] and before is not None and before[1] and 0 < at - before[0] <= SPIN_MAX


def find_loops(code, labels):
    """(first, last) of each loop, outer ones before inner ones."""
    ends = {}
    for at in range(len(code)):
        branch = find_branch(code, labels, at)
        if branch is not None and branch[0] <= at and not is_return(code, labels, at):
            ends[branch[0]] = max(at, ends.get(branch[0], at))
    return sorted(ends.items(), key=lambda loop: (loop[0], -loop[1]))


def count(code, loops, loop):
    """The loop's own instructions by kind, and the depth that it lies at."""
    inner = [one for one in loops if one != loop and loop[0] <= one[0] and one[1] <= loop[1]]
    outer = [one for one in loops if one != loop and one[0] <= loop[0] and loop[1] <= one[1]]
    counts = {}
    for at in range(loop[0], loop[1] + 1):
        if not any(one[0] <= at <= one[1] for one in inner):
            kind = get_kind(code[at][2])
            counts[kind] = counts.get(kind, 0) + 1
    return counts, len(outer)


def is_telling(counts):
    is_spin = sum(counts.values()) <= SPIN_MAX and not any(kind in counts for kind in ("mma", "tma", "tmem", "sfu"))
    return not is_spin and any(kind in counts for kind in TELLING)


def describe(name, code, labels, shows_all):
    lines = ["%s: %d instructions" % (name, len(code))]
    loops = find_loops(code, labels)
    for loop in loops:
        counts, depth = count(code, loops, loop)
        if shows_all or is_telling(counts):
            kinds = ", ".join("%s %d" % (kind, counts[kind]) for kind, _ in KINDS if kind in counts)
            lines.append("  %s%04x..%04x: %d: %s" % ("  " * depth, code[loop[0]][0], code[loop[1]][0],
                                                     sum(counts.values()), kinds))
    return lines


def check_oneself():
    """Two loops, one in the other, and one that spins for the inner one's wait."""
    lines = [" .section .text.k,", "/*0000*/ UMOV UR4, URZ ;", ".L_x_0:", "/*0010*/ FFMA2 R2, R2, R4, R6 ;", ".L_x_1:",
             "/*0020*/ SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5], R4 ;", "/*0030*/ @!P0 BRA `(.L_x_3) ;", ".L_x_2:",
             "/*0040*/ UTCHMMA.2CTA gdesc[UR8], gdesc[UR10], tmem[UR4], tmem[UR32], idesc[UR33], UP1 ;",
             "/*0050*/ UTCBAR.2CTA.MULTICAST [UR8], URZ, UR9 ;", "/*0060*/ BRA.U UP1, `(.L_x_1) ;",
             "/*0070*/ MUFU.EX2 R5, R5 ;", "/*0080*/ @P1 BRA `(.L_x_0) ;", "/*0090*/ EXIT ;", ".L_x_3:",
             "/*00a0*/ SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR5], R4 ;", "/*00b0*/ @!P0 BRA `(.L_x_3) ;",
             "/*00c0*/ BRA `(.L_x_2) ;"]
    expected = ["k: 13 instructions", "  0010..0080: 3: sfu 1, float2 1, control 1",
                "    0020..0060: 5: mma 1, commit 1, mbarrier 1, control 2"]
    code, labels = read_kernels("\n".join(lines))["k"]
    found = describe("k", code, labels, False)
    if found != expected:
        sys.exit("sass_loops: its own check gives\n" + "\n".join(found))
    names = {"LDTM.x64": "tmem", "STL.64": "spill", "UTMALDG.2D.2CTA": "tma", "BAR.SYNC.DEFER_BLOCKING": "bar",
             "R2UR": "uniform", "LOP3.LUT": "alu", "F2FP.BF16.F32.PACK_AB": "convert", "FMNMX3.NAN": "float"}
    for name, kind in names.items():
        if get_kind(name) != kind:
            sys.exit("sass_loops: %s is taken for %s" % (name, get_kind(name)))


def disassemble(options):
    with tempfile.TemporaryDirectory() as folder:
        cubin = os.path.join(folder, "kernels.cubin")
        defines = [word for define in options.defines for word in ("-D", define)]
        subprocess.run([options.grout, "emit", "--to", "cubin", "-q", "-o", cubin, options.file] + defines, check=True)
        return subprocess.run([options.nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grout", nargs="?")
    parser.add_argument("file", nargs="?")
    parser.add_argument("--nvdisasm", default=shutil.which("nvdisasm") or "/usr/local/cuda/bin/nvdisasm")
    parser.add_argument("--text")
    parser.add_argument("--kernel")
    parser.add_argument("--every", action="store_true")
    parser.add_argument("-D", dest="defines", action="append", default=[])
    options = parser.parse_intermixed_args()
    check_oneself()
    if options.text is not None:
        with open(options.text, encoding="utf-8") as file:
            text = file.read()
    elif options.file is None:
        return 0
    elif not os.path.exists(options.nvdisasm):
        print("skipped: no nvdisasm")
        return 77
    else:
        text = disassemble(options)
    for name, (code, labels) in sorted(read_kernels(text).items()):
        if options.kernel in (None, name):
            print("\n".join(describe(name, code, labels, options.every)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
