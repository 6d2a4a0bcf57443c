#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files of one shape, each twice as large as the one before, through every command: time has to double with them.

Each shape of shapes.py goes through each command, and each of ptx_shapes.py through what one_ptx.c does, at sizes N, 2
N, 4 N and so on: four sizes at least, and more until one takes --seconds, or the shape has no larger one. N is the
first size that takes --least seconds. What is measured is the CPU
time of the process, user and system. A doubling that multiplies it by more than --ratio is measured again, a few times,
of which the least counts: another process may have been in the way. What stays is a fault, and so are an exit code that
is not the wanted one, a signal, a message about a bug, and more memory than --max-memory and what the text itself
takes. One row a pair is printed, in Markdown.

--short looks at few pairs and at two sizes of each, the second of which is 16 times the first, with a bound that only a
quadratic part reaches, whatever else the machine does: for CTest.
"""
import argparse
import fnmatch
import os
import pathlib
import resource
import shutil
import subprocess
import sys
import time

import ptx_shapes
import soak
from shapes import SHAPES

# What each command is called with; FILE is the text.
COMMANDS = {
    "check": ["check", "--no-explore", "FILE"],
    "json": ["check", "--no-explore", "--format", "json", "FILE"],
    "sarif": ["check", "--no-explore", "--format", "sarif", "FILE"],
    "github": ["check", "--no-explore", "--format", "github", "FILE"],
    "html": ["check", "--no-explore", "--html", "page.html", "FILE"],
    "verbose": ["check", "--no-explore", "-v", "FILE"],
    "explore": ["check", "--explore", "--budget", "100", "FILE"],
    "advice": ["check", "--no-explore", "--advice", "--budget", "100", "FILE"],
    "minimise": ["check", "--no-explore", "--minimise", "--budget", "100", "FILE"],
    "expect": ["check", "--expect", "FILE"],
    "run": ["run", "FILE"],
    "fix": ["fix", "--diff", "--budget", "100", "FILE"],
    "emit": ["emit", "FILE"],
    "host": ["emit", "--to", "host", "FILE"],
    "manifest": ["emit", "--lineinfo", "--manifest", "k.json", "-o", "k.cu", "FILE"],
    "fmt": ["fmt", "FILE"],
}
MEMORY = 1024 * soak.MEGABYTE
SECONDS_OF_PTX = 1000  # the bound is asked for its time, and never reached
COMMANDS_OF_PTX = {how: [how, "FILE", f"{SECONDS_OF_PTX}", f"{MEMORY // soak.MEGABYTE}"] for how in ptx_shapes.HOW}
WITH_MEMORY = ("check", "run", "fix", "emit", "fmt")
# A text is held as it was read, by the diagnostics, and as what is written of it; a report and a page come on top.
MEMORY_OF_A_BYTE = 64
FILE_MAX = 64 * soak.MEGABYTE  # GROUT_FILE_MAX
RUNS = 4  # of a size, where a ratio is too large
SHORT = ("check scalars", "check kernels", "check scopes", "check semaphores", "check wgmmas", "check inferred-tiles",
         "json kernels-with-findings", "sarif kernels-with-findings", "expect expected-races", "check suppressed-races",
         "emit scalar-parameters", "emit kernels", "emit nested-loops", "emit semaphores", "fmt scalars",
         "verbose kernels", "fix kernels", "html kernels-with-findings", "check launched-parameters",
         "host launched-parameters", "check parameters-of-grids", "expect run-lines", "expect expected-races-of-a-loop",
         "check chained-products", "json swept-kernels", "check barriers", "run barriers", "emit barriers",
         "emit used-barriers", "check recasts-of-inferred-tiles", "check missing-quotients", "check unwritten-values",
         "check bulk-groups", "run bulk-groups", "check unawaited-copies", "check races-of-all",
         "check equal-races-of-all", "check equal-races", "check smem-races", "check missing-commits",
         "check missing-waits", "check missing-commits-of-others", "check scopes-beside-copies",
         "check scopes-with-copies", "check deliveries", "check reads", "check reads-beside-equal-writes",
         "check racing-reads", "check reads-of-gmem", "check early-releases", "check missing-waits-of-a-loop",
         "check overruns", "emit spread-stores-of-a-cluster")
SHORT_OF_PTX = ("print ptx-instructions", "run ptx-entries", "run ptx-functions", "print ptx-registers",
                "run ptx-globals", "run ptx-labels", "parse ptx-unknown-names", "races ptx-stores", "races ptx-copies",
                "run ptx-copies-in-flight", "races ptx-copies-in-flight", "races ptx-copies-left",
                "run ptx-copies-in-turn", "races ptx-many-readers", "races ptx-equal-writes", "races ptx-mbarriers")
SHORT_TIMES = 16
SHORT_LEAST = 16  # every shape has what it is named after
SHORT_RATIO = 80.0  # a linear part gives 16, and somewhat more as caches overflow; a quadratic one 256


def get_commands(made):
    return COMMANDS_OF_PTX if made.is_ptx else COMMANDS


class Texts:
    """The files of a shape, each size made once."""

    def __init__(self, shape, folder):
        self.shape, self.folder, self.made = shape, folder, {}

    def get(self, count):
        """The folder of a size. A process of its own makes the files: what this one takes counts for those it
        starts."""
        folder = self.folder / f"{count}"
        if count not in self.made:
            folder.mkdir(parents=True)
            made = os.fork()
            if made == 0:
                os._exit(self.make(folder, count))
            if os.waitstatus_to_exitcode(os.waitpid(made, 0)[1]) != 0:
                raise RuntimeError(f"{self.shape.name}: no text of {count}")
            self.made[count] = (folder / self.shape.file).stat().st_size
        return folder

    def make(self, folder, count):
        (folder / self.shape.file).write_text(self.shape.make(count), encoding="utf-8")
        for name, make in self.shape.files.items():
            (folder / name).write_text(make(count), encoding="utf-8")
        return 0

    def is_small(self, count):
        """Whether a file of this many is one that grout reads."""
        if count > self.shape.last:
            return False
        self.get(count)
        return self.made[count] <= FILE_MAX


def read_ends(path):
    """The beginning and the end of what was printed: all of it may be hundreds of megabytes."""
    with open(path, "rb") as file:
        first = file.read(1 << 16)
        file.seek(max(len(first), os.fstat(file.fileno()).st_size - (1 << 16)))
        return first + file.read()


class Series:
    """One command on one shape: sizes, and the least time that each has taken."""

    def __init__(self, options, name, texts):
        self.options, self.name, self.texts, self.shape = options, name, texts, texts.shape
        self.sizes, self.seconds, self.memory = [], [], 0
        self.most = max(options.ratio, self.shape.ratio, self.shape.ratios.get(name, 0))
        words = [*get_commands(self.shape)[name], *self.shape.words.get(name, ())]
        self.words = [self.shape.file if word == "FILE" else word for word in words]
        self.program = options.ptx if self.shape.is_ptx else options.grout
        if not self.shape.is_ptx and self.words[0] in WITH_MEMORY:
            self.words += ["--max-memory", f"{MEMORY // soak.MEGABYTE}M"]

    def run(self, count):
        """One call. The CPU time of the process."""
        folder = self.texts.get(count)
        with open(folder / "out", "wb") as out, open(folder / "err", "wb") as err:
            process = subprocess.Popen([self.program, *self.words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err,
                                       env={"PATH": os.environ["PATH"], "HOME": str(folder), "LC_ALL": "C.UTF-8",
                                            **{key: value for key, value in os.environ.items()
                                               if key in ("ASAN_OPTIONS", "UBSAN_OPTIONS")}})
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (self.options.most, self.options.most + 1))
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = 0  # so that Popen does not wait again
        outcome = soak.Outcome(status, usage, *(read_ends(folder / name) for name in ("out", "err")), wall=0)
        self.judge(outcome, folder)
        return outcome.cpu

    def judge(self, outcome, folder):
        if soak.BUG.search(outcome.out) or soak.BUG.search(outcome.err):
            raise soak.Fault(f"it speaks of a bug: {outcome.describe()}")
        wanted = self.shape.codes.get(self.name, 0)
        if outcome.code != wanted:
            raise soak.Fault(f"exit code {wanted} is right: {outcome.describe()}: "
                             f"{(outcome.out[:300] + outcome.err[:300])!r}")
        self.memory = max(self.memory, outcome.memory)
        most = MEMORY + soak.MEMORY_SLACK + MEMORY_OF_A_BYTE * (folder / self.shape.file).stat().st_size
        if not self.options.sanitized and outcome.memory > most:
            raise soak.Fault(f"more memory than {most // soak.MEGABYTE} MiB: {outcome.describe()}")

    def first_size(self):
        """The first size that takes long enough to measure, with three larger ones after it."""
        sizes = [self.shape.last >> k for k in range(3, 40) if self.shape.last >> k >= 64] or \
            [max(1, self.shape.last >> 3)]
        sizes = [count for count in reversed(sizes) if self.texts.is_small(8 * count)]
        for count in sizes[::2]:
            if self.run(count) >= self.options.least:
                return count
        return sizes[-1]

    def measure(self):
        count = self.first_size()
        while self.texts.is_small(count) and (len(self.sizes) < 4 or self.seconds[-1] < self.options.seconds):
            self.seconds.append(self.run(count))
            self.sizes.append(count)
            if len(self.sizes) > 1 and self.ratio(-1) > self.most:
                self.look_again()
            count *= 2

    def measure_short(self):
        """Two sizes: the first one that takes long enough, and a much larger one."""
        count = SHORT_LEAST
        while count * 2 * SHORT_TIMES <= self.shape.last and self.run(count) < self.options.least:
            count *= 2
        for size in (count, SHORT_TIMES * count):
            self.seconds.append(self.run(size))
            self.sizes.append(size)
        if self.ratio(-1) > self.most:
            self.look_again()

    def ratio(self, at):
        return self.seconds[at] / self.seconds[at - 1]

    def look_again(self):
        """Both sizes of the last ratio, a few times more: something else may have been in the way."""
        for _ in range(RUNS):
            for at in (-2, -1):
                self.seconds[at] = min(self.seconds[at], self.run(self.sizes[at]))
            if self.ratio(-1) <= self.most:
                return
        raise soak.Fault(f"{self.sizes[-2]} take {self.seconds[-2]:.3f} s, {self.sizes[-1]} take "
                         f"{self.seconds[-1]:.3f} s")

    def describe(self):
        ratios = " ".join(f"{self.ratio(at):.2f}" for at in range(1, len(self.sizes)))
        first, last = (f"{at:.2f}" for at in (self.seconds[0], self.seconds[-1])) if self.seconds else ("", "")
        sizes = f"{self.sizes[0]:,} to {self.sizes[-1]:,}" if self.sizes else ""
        return f"| {self.name} | {self.shape.name} | {sizes} | {first} to {last} | {ratios} | " \
            f"{self.memory // soak.MEGABYTE} |"


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns.split(","))


def run_pair(options, name, texts):
    """One row. Whether it is as it should be."""
    series = Series(options, name, texts)
    fault = None
    try:
        (series.measure_short if options.short else series.measure)()
    except soak.Fault as found:
        fault = found
    print(series.describe() + (f" FAULT: {fault}" if fault else ""), flush=True)
    return fault is None


def make_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grout", type=pathlib.Path, default=soak.ROOT / "build/release/bin/grout", help="the command")
    parser.add_argument("--ptx", type=pathlib.Path,
                        help="the program of one_ptx.c (default: soak_ptx beside the command)")
    parser.add_argument("--work", type=pathlib.Path, default=soak.ROOT / "build/soak", help="folder for files")
    parser.add_argument("--ratio", type=float, default=2.3, metavar="X", help="most of a doubling (default 2.3)")
    parser.add_argument("--least", type=float, default=0.1, metavar="S", help="seconds of the first size (default 0.1)")
    parser.add_argument("--seconds", type=float, default=2.0, metavar="S",
                        help="no size after one that takes so long (2)")
    parser.add_argument("--most", type=int, default=120, metavar="S", help="seconds that a size may take at most (120)")
    parser.add_argument("--commands", default="*", metavar="NAMES", help="these alone, with commas and *")
    parser.add_argument("--shapes", default="*", metavar="NAMES", help="these alone, with commas and *")
    parser.add_argument("--short", action="store_true", help="few pairs, two sizes, a bound that no load reaches")
    parser.add_argument("--sanitized", action="store_true",
                        help="sanitizers take memory of their own: do not look at it")
    return parser


def main():
    options = make_parser().parse_args()
    options.grout = options.grout.resolve()
    options.ptx = (options.ptx or options.grout.parent / "soak_ptx").resolve()
    options.work = (options.work / f"structure.{os.getpid()}").resolve()
    if options.short:
        options.ratio, options.least = SHORT_RATIO, 0.01
    start, rows, faults = time.monotonic(), 0, 0
    print("| command | shape | sizes | seconds | each doubling | MiB |\n|---|---|---|---|---|---|", flush=True)
    for shape in (*SHAPES, *ptx_shapes.PTX_SHAPES):
        texts = Texts(shape, options.work / shape.name)
        for name in get_commands(shape):
            is_wanted = matches(name, options.commands) and matches(shape.name, options.shapes)
            is_wanted &= not options.short or f"{name} {shape.name}" in (*SHORT, *SHORT_OF_PTX)
            if is_wanted and name not in shape.without:
                rows += 1
                faults += 0 if run_pair(options, name, texts) else 1
        shutil.rmtree(options.work, ignore_errors=True)
    end = "no fault" if faults == 0 else f"{faults} FAULTS"
    print(f"soak: structure: {rows} rows, {time.monotonic() - start:.0f} s: {end}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
