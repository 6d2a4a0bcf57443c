#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutated kernels: texts of kernels/, tests/behaviour and tests/golden with mistakes put in, through every command.

Each case is one file and one call of check, run, fix, emit or fmt, with options that are drawn and limits of time,
steps and memory. Beside what soak.py calls a fault: a JSON report that is no JSON, canonical text that is not
canonical, an output that is torn, and any file that the call should not have made.
"""
import json
import re
import sys

import soak

sys.path.insert(0, str(soak.ROOT / "tests"))
import families
from mutate import NUMBERS, draw_words, mutate_text

SECONDS, MEGABYTES = 1, 256
NAME_MOST = 4096  # bytes of a name in an argument
LIMITS = ("--timeout", SECONDS, "--max-memory", f"{MEGABYTES}M")
FORMATS = ("text", "json", "sarif", "github")
# Golden texts are mostly wrong as they are, and ops are small: each folder has a weight.
FOLDERS = (("kernels", 6), ("tests/golden", 2), ("tests/ops", 2))
STAGES = (("behaviour", 6), ("corpus", 2), ("litmus", 2))  # they have families
WEIGHTS = [weight for _, weight in FOLDERS + STAGES]


def load_texts():
    """The texts of each folder."""
    texts = [[path.read_text(encoding="utf-8", errors="surrogateescape")
              for path in sorted((soak.ROOT / folder).rglob("*.grout"))] for folder, _ in FOLDERS]
    return texts + [[program.text for program in sorted(families.list_programs(stage))] for stage, _ in STAGES]


def find_names(pattern, text):
    """The names of a text that a shell can hand on: Linux takes no argument of 128 KiB."""
    return [name for name in re.findall(pattern, text) if len(name) < NAME_MOST]


class Source:
    """The text of a case, and the names in it."""

    def __init__(self, case, texts, words):
        self.random = case.random
        folder = case.random.choices(texts, WEIGHTS)[0]
        self.original = case.random.choice(folder)
        self.text = (mutate_text(case.random, self.original, words, folder) if case.random.randrange(20)
                     else self.original)
        self.written = find_names(r"%(\w+)\s*:\s*(?:out|inout)\b", self.text)
        self.read = find_names(r"%(\w+)\s*:\s*(?:in|inout)\b", self.text)
        self.consts = find_names(r"\bconst\s+(\w+)", self.text)
        self.kernels = find_names(r"\bkernel\s+(@\w+)", self.text)

    def draw_number(self):
        return self.random.choice((*NUMBERS[:20], "2", "3", "8", "32", "64"))


def draw_launch(source):
    """Options that every run has, a few of them."""
    rng, words = source.random, [*LIMITS]
    if rng.randrange(2):
        words += ["--max-steps", rng.choice((1, 1000, 200000, 50000000))]
    choices = [("--schedule", rng.choice(("fair", "random", "pct:3", "pct:0"))), ("--seed", source.draw_number()),
               ("--timing", rng.choice(("lazy", "eager", "random"))), ("--numerics", "exact"), ("--non-finite",),
               ("--sms", source.draw_number()), ("--resident", source.draw_number()), ("--strict-fences",),
               ("--stats",), ("--threads", rng.choice((2, 3, 300))),
               ("--arch", rng.choice(("any", "sm_100a", "sm_103a", "sm_90a"))),
               ("--full-arrays",), ("-q",), ("-v",), ("--max-findings", source.draw_number()), ("--werror",)]
    for choice in rng.sample(choices, rng.choice((0, 0, 1, 2, 4))):
        words += choice
    for name in source.consts[:3]:
        if rng.randrange(4) == 0:
            words += ["-D", f"{name}={source.draw_number()}"]
    for name in source.read[:3]:
        if rng.randrange(5) == 0:
            words += ["--input", f"{name}=" + rng.choice(("zeros", "ones", "arange", "randn:3", "uniform:1:-1:1", "nan",
                                                          source.draw_number(), "none.npy"))]
    if source.kernels and rng.randrange(8) == 0:
        words += ["--kernel", rng.choice(source.kernels)]
    return words


def draw_check(source, case):
    rng, words = source.random, ["check", *draw_launch(source)]
    choices = [("--explore",), ("--no-explore",), ("--minimise",), ("--advice",), ("--repeat", rng.choice((2, 3, 64))),
               ("--html", "page.html"), ("--save-schedule", "k.schedule"), ("--budget", "0.5")]
    if source.consts:
        choices.append(("--sweep", f"{rng.choice(source.consts)}={source.draw_number()},{source.draw_number()}"))
    for choice in rng.sample(choices, rng.choice((0, 1, 1, 2, 3))):
        words += choice
    if rng.randrange(3) == 0:
        words += ["--format", rng.choice(FORMATS)]
    return [*words, *draw_outputs(source), draw_path(source, case)]


def draw_outputs(source):
    return [word for name in source.written[:2] if source.random.randrange(3) == 0
            for word in ("--output", f"{name}={name[:40]}.npy")]


def draw_expect(source, _case):
    rng = source.random
    return ["check", "--expect", *LIMITS, *rng.choice(((), ("--timing", "eager"), ("--schedule", "random"))), "k.grout"]


def draw_run(source, case):
    words = ["run", *draw_launch(source), *draw_outputs(source)]
    if source.random.randrange(4) == 0:
        words += ["--check", *source.random.choice(((), ("--format", "json")))]
    return [*words, draw_path(source, case)]


def draw_fix(source, _case):
    rng = source.random
    return ["fix", *draw_launch(source), "--budget", "0.5", rng.choice(("--yes", "--diff", "-q")), "k.grout"]


def draw_emit(source, case):
    rng, words = source.random, ["emit"]
    words += rng.choice(((), ("--to", "cuda"), ("--to", "host"), ("--to", "ptx")))
    words += rng.choice(((), ("-o", "k.cu"), ("--lineinfo",), ("--manifest", "k.json", "-o", "k.cu"), ("-v",)))
    for name in source.consts[:3]:
        if rng.randrange(4) == 0:
            words += ["-D", f"{name}={source.draw_number()}"]
    if rng.randrange(4) == 0:
        words += ["--arch", rng.choice(("any", "sm_100a", "sm_90a"))]
    return [*words, draw_path(source, case)]


def draw_fmt(source, case):
    return ["fmt", *source.random.choice(((), ("-i",), ("--check",))), draw_path(source, case)]


def draw_path(source, case):
    """The file, or stdin."""
    case.is_stdin = source.random.randrange(10) == 0
    return "-" if case.is_stdin else "k.grout"


COMMANDS = ((draw_check, 8), (draw_expect, 2), (draw_run, 3), (draw_fix, 2), (draw_emit, 3), (draw_fmt, 2))


def look_at_answer(command, outcome):
    """A report in JSON is JSON, whatever the kernel is."""
    words = command.words
    if "--format" in words and words[words.index("--format") + 1] in ("json", "sarif") and outcome.out:
        try:
            json.loads(outcome.out)
        except ValueError as error:
            raise soak.Fault(f"the report is not JSON: {error}") from None


def look_at_outputs(case, source):
    """What was written is whole. An array may be large, and what this process takes counts as its children's."""
    for path in case.folder.iterdir():
        with open(path, "rb") as file:
            begin = file.read(64)
            file.seek(max(0, path.stat().st_size - 64))
            end = file.read()
        is_whole = {".html": end.rstrip().endswith(b"</html>"), ".npy": begin.startswith(b"\x93NUMPY"),
                    ".cu": end.endswith(b"\n"), ".json": end.rstrip().endswith(b"}")}.get(path.suffix, True)
        if not is_whole:
            raise soak.Fault(f"{path.name} is torn")
    names = {"k.grout", "k.cu", "k.json", "page.html", *(f"{name[:40]}.npy" for name in source.written)}
    schedules = {path.name for path in case.folder.glob("*.schedule")}
    case.expect_files(names | schedules)


def look_at_format(case, command, outcome):
    """Canonical text stays as it is."""
    if command.words[0] == "fmt" and outcome.code == 0 and outcome.out and "--check" not in command.words:
        case.write("again.grout", outcome.out)
        again = case.run(soak.Command(["fmt", "again.grout"]))
        if again.out != outcome.out:
            raise soak.Fault("canonical text is not canonical")
        (case.folder / "again.grout").unlink()


def make_play(texts, words):
    def play(case):
        source = Source(case, texts, words)
        case.is_stdin = False
        draw = case.random.choices([draw for draw, _ in COMMANDS], [weight for _, weight in COMMANDS])[0]
        arguments = draw(source, case)
        data = case.write("k.grout", source.text).read_bytes()
        command = soak.Command(arguments, stdin=data if case.is_stdin else None, seconds=SECONDS,
                               memory=MEGABYTES * soak.MEGABYTE, env={"GROUT_NVRTC": "/nowhere/libnvrtc.so"})
        outcome = case.run(command)
        look_at_answer(command, outcome)
        look_at_outputs(case, source)
        look_at_format(case, command, outcome)
        return f"{arguments[0]} {outcome.code}"
    return play


def main():
    options = soak.make_parser("kernels", __doc__, 20000).parse_args()
    texts = load_texts()
    return soak.run(options, make_play(texts, draw_words(text for folder in texts for text in folder)))


if __name__ == "__main__":
    sys.exit(main())
