#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Ends each command in each phase: by --timeout or --budget, by SIGINT and by SIGTERM.

usage: ends.py --grout PATH [--short] [--every N] [--factor X] [ROW...]      ROW: a part of its name; all without one

A row is a call whose input, made by large.py, keeps it in one phase. It has to end with the code and the words of
docs/cli.md, "What ends a call", to say the phase, to use at most SECONDS more of a processor, and to leave what was in
its folder and nothing else. Clocks of a busy machine mean little: a signal is sent when the process has used some time
of a processor, and an end that comes before the phase, or after it, is tried again later, or sooner.

--short: one end of each row, in turn. --every: each N-th of the rows alone. --factor: a build with sanitizers may take
X times as long.
"""
import argparse
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.dirname(HERE)]
import large
from limit import SECONDS as PATIENCE

SECONDS = 1.0
TRIES = 9
TICKS = os.sysconf("SC_CLK_TCK")
READ, PARSED = "'{}' was read", "the text was read"
BOUND, CHECKED = "sizes and types were worked out", "the rules were checked"
RUN, WRITTEN = None, "'{}' was written"
PHASES = [READ, PARSED, BOUND, CHECKED, RUN, WRITTEN]
CODES = {"timeout": 3, "budget": 3, "INT": 130, "TERM": 143}

# The words after 'grout'; {f}: the file of the maker, {p}: a pipe that nobody writes, {q}: one that nobody reads, {n}:
# a .npy file of a gigabyte. The phase is what the message says; RUN: it says that the run ended. after: seconds of a
# processor to begin with; 0: it waits, and uses none. ends: all, or those that are named. Files out.* are there before,
# and stay.
Row = collections.namedtuple("Row", "words maker phase after ends", defaults=(0.1, ("timeout", "INT", "TERM")))
SIGNALS = ("INT", "TERM")
NAMES = {"f": "k.grout", "p": "pipe", "n": "in.npy", "q": "out_pipe.npy"}
ENDED = r"ended the run|the time was over|interrupted while|\bincomplete\b"
ROWS = (
    *(Row(f"{command} {{p}}", "pipe", READ, 0) for command in ("check", "run", "fix", "emit", "fmt", "check --expect")),
    Row("check -q {f} --input x={n}", "arrays", READ),
    Row("check {f} --suppress {p}", "loop", READ, 0),
    Row("check {f} --baseline {p}", "loop", READ, 0),
    Row("check {f} --replay {p}", "loop", READ, 0),
    *(Row(f"{command} {{f}}", "lines", PARSED) for command in ("check", "run", "emit -o out.cu", "fmt -i")),
    Row("fix {f}", "lines", READ),
    Row("check {f}", "consts", BOUND, 0.4),
    Row("emit {f} -o out.cu", "consts", BOUND, 0.4),
    Row("run {f} --output y=out.npy", "operations", BOUND, 0.3),
    Row("emit {f} --to host -o out.cc", "accesses", CHECKED, 0.2),
    *(Row(f"{command} {{f}}", "looks", RUN, 0.3) for command in ("check", "run --output y=out.npy")),
    Row("check {f}", "kernels", RUN, 0.6),
    Row("check --format json {f}", "kernels", RUN, 0.6),
    *(Row(f"{command} {{f}}", "loop", RUN) for command in (
        "check", "run", "check --format json", "check --format sarif", "check --threads 2", "check --html out.html",
        "fix --diff", "check --expect", "check --sweep A=1,2", "check --schedule random", "run --output y=out.npy",
        "check --minimise", "check --repeat 2", "check --timing random --seed 1", "check --expect --timing eager",
        "check --non-finite")),
    Row("run --device ptx {f}", "loop", RUN, 0.6),
    Row("run --device ptx --check {f}", "loop", RUN, 0.6),
    Row("check {f}", "ctas", RUN),
    Row("run {f} --threads 2", "ctas", RUN),
    Row("check --arch any {f}", "large_operations", RUN),
    Row("check {f}", "launches", RUN),
    Row("check {f} --format json", "launches", RUN),
    Row("run {f}", "launches", RUN),
    Row("check --explore {f} --timeout 1000 --budget 1000", "spins", RUN, 0.5, SIGNALS),
    Row("check --explore --minimise {f} --budget 1000", "spins", RUN, 0.5, SIGNALS),
    Row("check --explore --minimise --format json {f} --budget 1000", "spins", RUN, 0.5, SIGNALS),
    Row("check --advice {f} --budget 1000", "spins", RUN, 0.5, SIGNALS),
    Row("check --explore {f}", "spins", RUN, 0.5, ("budget",)),
    Row("check --minimise {f} --budget 1000", "races", RUN, 0.5),
    Row("fix --yes {f} --budget 1000", "races", RUN, 0.5),
    Row("run {f} --output y={q}", "written", WRITTEN, 0),
)


def get_cpu(process):
    """Seconds of a processor so far, and whether it waits; None: it is over."""
    try:
        with open(f"/proc/{process.pid}/stat", encoding="utf-8", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return None if fields[0] == "Z" else ((int(fields[11]) + int(fields[12])) / TICKS, fields[0] == "S")


def is_ready(process):
    """Whether it notes SIGINT: an earlier one would end it at once."""
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as file:
        caught = re.search(r"^SigCgt:\s*(\w+)", file.read(), re.MULTILINE)
    return caught is not None and int(caught[1], 16) >> signal.SIGINT - 1 & 1


def send(process, number, after):
    """The signal, and the time of a processor until then."""
    begin, quiet = time.monotonic(), 0
    while (cpu := get_cpu(process)) is not None and time.monotonic() - begin < PATIENCE:
        quiet = quiet + 1 if cpu[1] and is_ready(process) else 0
        if (quiet >= 5 if after == 0 else cpu[0] >= after and is_ready(process)):
            process.send_signal(number)
            return cpu[0]
        time.sleep(0.01)
    return 0.0


class Call:
    """A row, and one way to end it."""

    def __init__(self, grout, row, end, factor):
        self.grout, self.row, self.end, self.factor = grout, row, end, factor

    def make_files(self, folder):
        """The words, and what is in the folder."""
        for name in ("pipe", "out_pipe.npy"):
            os.mkfifo(os.path.join(folder, name))
        if "{n}" in self.row.words:
            large.write_npy(os.path.join(folder, "in.npy"), 268435456)
        if self.row.maker != "pipe":
            with open(os.path.join(folder, "k.grout"), "w", encoding="utf-8") as file:
                file.write(getattr(large, self.row.maker)())
        for name in re.findall(r"\bout\.\w+", self.row.words):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write("old\n")
        return self.row.words.format(**NAMES).split()

    def run(self, after):
        """(exit code, seconds of a processor after the end, words on stdout, on stderr), and what is wrong in the
        folder."""
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            words = self.make_files(folder)
            before = look_at(folder)
            is_signal = self.end in SIGNALS
            if not is_signal:
                words += [f"--{self.end}", f"{after:g}"]
            process = subprocess.Popen([self.grout, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err)
            sent = send(process, getattr(signal, f"SIG{self.end}"), after) if is_signal else after
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            texts = []
            for file in (out, err):
                file.seek(0)
                texts.append(file.read().decode("utf-8", "replace"))
            torn = "" if look_at(folder) == before else f"the folder is another one: {sorted(look_at(folder))}"
        return process.returncode, usage.ru_utime + usage.ru_stime - sent, *texts, torn

    def is_end(self, code, text):
        """A finding that was known by then counts more than the time."""
        has_finding = self.end not in SIGNALS and code == 1 and re.search(ENDED, text)
        return code == CODES[self.end] or bool(has_finding)

    def has_come(self, text):
        """Whether the words say the phase; of a run, that it ended, and no other phase."""
        if self.row.phase is RUN:
            return re.search(ENDED, text) is not None and find_phase(text) == PHASES.index(RUN)
        files = [NAMES[letter] for letter in re.findall(r"\{([pnq])\}", self.row.words)] or [NAMES["f"]]
        return f" while {self.row.phase.format(*files)} [" in text

    def judge(self):
        """What is wrong, or None."""
        after, early, late, said = self.row.after, 0.0, 0.0, ""
        if self.end not in SIGNALS:
            after = after or 0.1  # a clock needs a time
        for _ in range(TRIES):
            code, seconds, out, err, torn = self.run(after)
            text = out + err
            said = f"after {after:g} s exit code {code}, {text[-700:]}"
            if "nvrtc-missing" in text:
                return None
            is_end = self.is_end(code, text)
            if not is_end and code not in (0, 1):
                break
            if is_end:
                if torn or seconds > SECONDS * self.factor:
                    return torn or f"it went on for {seconds:.2f} s of a processor\n{said}"
                if "--format" in self.row.words:
                    json.loads(out)
                if self.has_come(text):
                    return None
            is_late = not is_end or PHASES.index(self.row.phase) < find_phase(text)
            early, late = (early, after) if is_late else (after, late)
            after = (early + late) / 2 if late > 0 else 2 * after
        return said


def find_phase(text):
    """Which of PHASES the words say."""
    said = [i for i, phase in enumerate(PHASES) if phase is not None and phase.replace("'{}'", "") in text]
    return said[0] if said else PHASES.index(RUN)


def look_at(folder):
    """Names, sizes and times of the files. A page is a report, and is written; it is whole."""
    found = {}
    for entry in os.scandir(folder):
        if entry.name.endswith(".html"):
            with open(entry.path, encoding="utf-8") as file:
                found[entry.name] = file.read().rstrip().endswith(("old", "</html>"))
            continue
        found[entry.name] = (entry.stat().st_size, entry.stat().st_mtime_ns, entry.stat().st_ino)
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--factor", type=float, default=1.0)
    parser.add_argument("rows", nargs="*", metavar="ROW")
    options = parser.parse_args()
    grout, failed, count = os.path.abspath(options.grout), 0, 0
    for number, row in enumerate(ROWS):
        name = f"{row.words} of {row.maker}"
        if number % options.every != 0 or (options.rows and not any(word in name for word in options.rows)):
            continue
        for end in [row.ends[number % len(row.ends)]] if options.short else row.ends:
            fault = Call(grout, row, end, options.factor).judge()
            failed, count = failed + (fault is not None), count + 1
            print(f"{name}, {end}: {'passed' if fault is None else f'FAILED: {fault}'}", flush=True)
    print(f"ends: {count} calls, {failed} wrong")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
