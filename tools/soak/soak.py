# SPDX-License-Identifier: Apache-2.0
"""What the soak programs share: cases by number, a process under limits, faults that can be seen again.

A program draws case N from its name, the seed and N alone, runs it in a folder of its own, and says what is wrong.
The first fault ends it: the folder stays, with the files, the streams and again.sh, which runs the very command.

A fault is a signal, a report of a sanitizer, an exit code that docs/cli.md does not list, a message about a bug of
grout, more CPU time than the budget and SLACK, more memory than the limit, or a file that is torn or left.
"""
import argparse
import os
import pathlib
import random
import re
import resource
import select
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
import traceback
import typing

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUG = re.compile(rb"\[internal-error\]|AddressSanitizer|LeakSanitizer|ThreadSanitizer|runtime error:|Assertion .* "
                 rb"failed|"
                 rb"grout: bug")
EXIT_CODES = (0, 1, 2, 3)
SLACK = 1.0  # seconds of CPU time beyond the budget
# A process that waits for ever uses no CPU time, and is not ready for more: a busy machine is no fault.
IDLE_SECONDS = 60
MEGABYTE = 1 << 20
LOOKED_AT = 64 * MEGABYTE  # of a stream
MEMORY_SLACK = 192 * MEGABYTE  # the command, the texts and the report, beside what --max-memory bounds


class Fault(Exception):
    """What is wrong with a case."""


class Outcome:
    def __init__(self, status, usage, out, err, wall):
        self.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
        self.code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else None
        self.cpu = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss * 1024
        self.out, self.err, self.wall = out, err, wall

    def describe(self):
        end = f"exit code {self.code}" if self.signal is None else signal.Signals(self.signal).name
        return f"{end}, {self.cpu:.2f} s of CPU, {self.wall:.2f} s, {self.memory // MEGABYTE} MiB"


def look_at(pid):
    """What a process has used, and whether it wants more: twice the same is a process that waits. None: it is over."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
    except OSError:
        return None
    return time.monotonic() if fields[0] == "R" else (fields[11], fields[12])


class Command:
    """One call: words after the program, what stdin holds, and what it may take."""

    def __init__(self, words, stdin=None, seconds=2.0, memory=256 * MEGABYTE, exit_codes=EXIT_CODES, env=None):
        self.words, self.stdin, self.seconds, self.memory = [str(word) for word in words], stdin, seconds, memory
        self.exit_codes, self.env = exit_codes, env or {}


class Case:
    """A folder with files, and how calls in it are made and judged."""

    def __init__(self, options, name, number):
        self.options, self.number = options, number
        self.random = random.Random(f"{name}/{options.seed}/{number}")
        self.folder = options.work / f"{number}"
        self.streams = options.work / f"{number}.streams"
        for folder in (self.folder, self.streams):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        self.log = []

    def write(self, name, data):
        path = self.folder / name
        path.write_bytes(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
        return path

    def environment(self, command):
        kept = {key: os.environ[key] for key in ("PATH", "ASAN_OPTIONS", "UBSAN_OPTIONS") if key in os.environ}
        return {**kept, "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **command.env}

    def start(self, program, command):
        """The process, in the folder, with its limits. Streams go to files: nobody has to read."""
        self.log.append((program, command))
        stdin: typing.Any = subprocess.DEVNULL
        if command.stdin is not None:
            (self.streams / "stdin").write_bytes(command.stdin)
            stdin = open(self.streams / "stdin", "rb")  # noqa: SIM115  (closed once the process has it)
        with open(self.streams / "stdout", "wb") as out, open(self.streams / "stderr", "wb") as err:
            process: typing.Any = subprocess.Popen(
                [program, *command.words], cwd=self.folder, stdin=stdin, stdout=out, stderr=err,
                env=self.environment(command), start_new_session=True)
        if stdin is not subprocess.DEVNULL:
            stdin.close()
        process.started = time.monotonic()
        # The kernel ends what the budget did not, later than what is a fault.
        seconds = int((command.seconds + SLACK) * self.options.factor) + 3
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 1))
        if not self.options.sanitized:
            resource.prlimit(process.pid, resource.RLIMIT_AS, (8 << 30, 8 << 30))
        return process

    def finish(self, process):
        """Its end, and what it took."""
        descriptor = os.pidfd_open(process.pid)
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        before, is_over = None, False
        while not is_over:
            is_over = bool(poll.poll(IDLE_SECONDS * 1000))
            now = look_at(process.pid)
            if not is_over and now == before:
                break
            before = now
        os.close(descriptor)
        if not is_over:
            os.killpg(process.pid, signal.SIGKILL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = 0  # so that Popen does not wait again
        wall = time.monotonic() - process.started
        outcome = Outcome(status, usage, self.read("stdout"), self.read("stderr"), wall)
        if not is_over:
            raise Fault(f"still there after {wall:.0f} s: {outcome.describe()}")
        return outcome

    def read(self, name):
        """What a stream holds, as far as is looked at: the system counts what this process has as its children's."""
        with open(self.streams / name, "rb") as file:
            return file.read(LOOKED_AT)

    def judge(self, command, outcome):
        text = outcome.describe()
        if BUG.search(outcome.out) or BUG.search(outcome.err):
            raise Fault(f"it speaks of a bug: {text}")
        if outcome.cpu > (command.seconds + SLACK) * self.options.factor:
            raise Fault(f"beyond the budget of {command.seconds:g} s: {text}")
        if outcome.signal is not None or outcome.code not in command.exit_codes:
            raise Fault(f"it ended wrongly: {text}")
        if not self.options.sanitized and outcome.memory > command.memory + MEMORY_SLACK:
            raise Fault(f"beyond the memory of {command.memory // MEGABYTE} MiB: {text}")

    def run(self, command, program=None):
        outcome = self.finish(self.start(program or self.options.grout, command))
        self.judge(command, outcome)
        return outcome

    def expect_files(self, names):
        """No file is there but these."""
        found = sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*") if not path.is_dir())
        left = [name for name in found if name not in names]
        if left:
            raise Fault(f"left in the folder: {', '.join(left)}")

    def keep(self, fault):
        """Moves the case to where its files stay, and returns the folder."""
        kept = self.options.faults / f"{self.options.seed}-{self.number}"
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        shutil.move(self.folder, kept / "files")
        shutil.move(self.streams, kept / "streams")
        lines = ["#!/bin/sh", f"# {fault}", 'cd "$(dirname "$0")/files" || exit 1']
        for program, command in self.log:
            stdin = "../streams/stdin" if command.stdin is not None else "/dev/null"
            lines.append(f"{shlex.join([str(program), *command.words])} <{stdin}; echo \"exit code $?\"")
        (kept / "again.sh").write_text("\n".join(lines) + "\n", encoding="utf-8", errors="surrogateescape")
        (kept / "again.sh").chmod(0o755)
        return kept

    def drop(self):
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.rmtree(self.streams, ignore_errors=True)


class Count:
    """What the threads share: the next number, the faults, how often which end was seen."""

    def __init__(self, options):
        self.lock = threading.Lock()
        self.next, self.end, self.done = options.first, options.first + options.count, 0
        self.faults, self.faults_max = 0, options.faults_max
        self.seen = {}

    def take(self):
        with self.lock:
            if self.faults >= self.faults_max or self.next >= self.end:
                return None
            self.next += 1
            return self.next - 1

    def note(self, key):
        with self.lock:
            self.seen[key] = self.seen.get(key, 0) + 1


def _work(options, name, play, count):
    while (number := count.take()) is not None:
        case = Case(options, name, number)
        try:
            count.note(play(case))
        except Exception as fault:
            if not isinstance(fault, Fault):
                traceback.print_exc()  # of the program itself: it must not count as a case
            with count.lock:
                count.faults += 1
                is_shown = count.faults <= count.faults_max
            if is_shown:
                folder = case.keep(fault)
                print(f"soak: {name}: case {number}: FAULT: {fault}\n  again: {folder}/again.sh; python3 "
                      f"tools/soak/{name}.py --seed {options.seed} --first {number} --count 1", flush=True)
        finally:
            case.drop()
        with count.lock:
            count.done += 1
            if options.verbose and count.done % 1000 == 0:
                print(f"soak: {name}: {count.done} done", flush=True)


def make_parser(name, usage, count):
    parser = argparse.ArgumentParser(description=usage, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--grout", type=pathlib.Path, default=ROOT / "build/release/bin/grout", help="the command")
    parser.add_argument("--count", type=int, default=count, metavar="N", help=f"cases (default {count})")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="of all cases (default 1)")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="number of the first case (default 0)")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), metavar="N", help="cases at once")
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build/soak", help="folder for files and faults")
    parser.add_argument("--factor", type=float, default=1.0, metavar="X", help="a slow build may take X times as long")
    parser.add_argument("--sanitized", action="store_true",
                        help="sanitizers take memory of their own: do not look at it")
    parser.add_argument("--faults", dest="faults_max", type=int, default=1, metavar="N", help="end after this many (1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="say how far it is")
    parser.set_defaults(name=name)
    return parser


def run(options, play, seen_out=None):
    """Plays the cases; play(case) returns a word for the count. The exit code of the program."""
    name, start = options.name, time.monotonic()
    options.grout = options.grout.resolve()
    options.faults = (options.work / "faults" / name).resolve()
    options.work = (options.work / f"{name}.{os.getpid()}").resolve()
    count = Count(options)
    threads = [threading.Thread(target=_work, args=(options, name, play, count)) for _ in range(max(1, options.jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    shutil.rmtree(options.work, ignore_errors=True)
    if seen_out is not None:
        seen_out.update(count.seen)
    seen = ", ".join(f"{key}: {value}" for key, value in sorted(count.seen.items(), key=str))
    end = f"{count.faults} FAULTS" if count.faults > 0 else "no fault"
    print(f"soak: {name}: seed {options.seed}, {count.done} cases, {time.monotonic() - start:.0f} s: {end} ({seen})")
    sys.stdout.flush()
    return 1 if count.faults > 0 else 0
