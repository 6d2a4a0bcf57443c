#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutated PTX: texts of tests/ with mistakes put in, parsed, printed and launched, each fourth time with sizes and
arguments that no program would give.

The program is the fuzz target ptx_run (tests/fuzz/fuzz_ptx_run.c), as any build has it: the first line of a text says
what is launched. It ends with an abort if a run fails without a reason, or comes to its end with one.
"""
import pathlib
import sys

import soak

sys.path.insert(0, str(soak.ROOT / "tests/ptx_litmus"))
import frames  # type: ignore[import-not-found]  # of tests/ptx_litmus: for lint_types.py in another part
from mutate import draw_words, mutate_text

# 8,000 instructions of warps: no launch takes longer.
SECONDS = 2
MEMORY = 2048 * soak.MEGABYTE  # a launch of 2^24 CTAs has a list of them


def load_texts():
    paths = sorted(path for path in (soak.ROOT / "tests").rglob("*.ptx") if "ptx_litmus" not in path.parts)
    return [*(path.read_text(encoding="utf-8", errors="surrogateescape") for path in paths),
            *(program.text for program in frames.list_programs())]


def make_play(program, texts, words):
    def play(case):
        text = case.random.choice(texts)
        if case.random.randrange(20):
            text = mutate_text(case.random, text, words, texts)
        case.write("k.ptx", f"// launch: {case.random.randrange(1 << 40)}\n{text}")
        case.run(soak.Command(["k.ptx"], seconds=SECONDS, memory=MEMORY, exit_codes=(0,)), program)
        case.expect_files({"k.ptx"})
        return "ran"
    return play


def main():
    parser = soak.make_parser("ptx", __doc__, 10000)
    parser.add_argument("--program", type=pathlib.Path, default=soak.ROOT / "build/release/bin/fuzz_ptx_run")
    options = parser.parse_args()
    texts = load_texts()
    return soak.run(options, make_play(options.program.resolve(), texts, draw_words(texts)))


if __name__ == "__main__":
    sys.exit(main())
