"""A kernel on the PTX emulator beside the interpreter: one case, what becomes of it, and a tally of many.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading

MISSING = 77  # exit code without NVRTC
LINES_SHOWN = 16  # of what a command prints
CPU_ORDERS = 12  # runs on the CPU that have to show that a result is a matter of the order

AGREES, LEFT_OUT, DIFFERS = "agrees", "left out", "DIFFERS"
Result = collections.namedtuple("Result", "what why text")


class NoNvrtc(Exception):
    """There is nothing to compile with."""


class Case:
    """One kernel, or one launch list, with the options that choose it and its arguments. may_depend: nothing promises
    that its results are the same under every schedule; a verdict that holds for all does not."""

    def __init__(self, path, options, may_depend=True):
        self.path, self.options, self.may_depend = path, options, may_depend


def call(command, seconds):
    """Exit code, stdout and stderr. seconds: of the processor, whatever else it has to do; -9 past them."""
    limited = ["sh", "-c", f'ulimit -t {int(seconds)}; exec "$@"', "sh", *command]
    done = subprocess.run(limited, capture_output=True, text=True, errors="replace", check=False)
    return done.returncode, done.stdout, done.stderr


def get_code(text):
    """The first code of a diagnostic, and its message."""
    found = re.search(r"error: (.*) \[([a-z0-9-]+)\]", text)
    return (found.group(2), found.group(1)) if found else ("", text.strip()[:200])


def set_arch(text, arch):
    """Kernels with 'attr arch' for those that have none: which code is written is theirs to say."""
    def add(found):
        head = found.group(1)
        if re.search(r"\barch =", head):
            return found.group(0)
        word = "" if re.search(r"\battr\b", head) else "attr "
        return f'{head}{word}arch = "{arch}" {{'

    return re.sub(r"(^[ \t]*kernel @\w+\((?:[^()]|\([^()]*\))*\)[^{]*)\{", add, text, flags=re.M)


def depends_on_order(grout, case, seconds):
    """Whether runs on the CPU under different orders leave different arrays, or one of them has mistakes."""
    with open(case.path, encoding="utf-8") as file:
        names = sorted(set(re.findall(r"%(\w+)\s*:\s*(?:out|inout)\b", file.read())))
    digests = set()
    with tempfile.TemporaryDirectory(prefix="grout-ptx-") as folder:
        for i in range(CPU_ORDERS):
            command = [grout, "check", case.path, *case.options, "--schedule", "random" if i else "fair", "--seed",
                       str(i), "--timing", ("lazy", "eager", "random")[i % 3], "--numerics", "exact", "-q"]
            for name in names:
                command += ["--output", f"{name}={os.path.join(folder, name)}.npy"]
            code, _, _ = call(command, seconds)
            if code != 0:
                return code == 1
            digest = hashlib.sha256()
            for name in names:
                with open(os.path.join(folder, name + ".npy"), "rb") as file:
                    digest.update(file.read())
            digests.add(digest.hexdigest())
    return len(digests) > 1


NO_CODE = {"gpu-unsupported", "layout-conflict"}  # what the emitter says of a kernel without CUDA


def compare(grout, case, interleavings, seconds, checks=False):
    """What becomes of a case. checks: races of its PTX are differences, too."""
    command = [grout, "run", case.path, *case.options, "--device", "ptx", "--compare", "cpu", "--numerics", "exact",
               "--interleavings", str(interleavings), *(["--check"] if checks else [])]
    code, out, err = call(command, seconds)
    text = f"$ {' '.join(command)}\n{out}{err}"
    text = "\n".join(text.split("\n")[:LINES_SHOWN])
    if "[nvrtc-missing]" in out + err:
        raise NoNvrtc
    counted = re.findall(r"compared with the CPU: (\d+) arrays? equal, (.*)", out)
    if code == 0 and counted:
        if sum(int(count) for count, _ in counted) == 0:
            return Result(LEFT_OUT, "it leaves no array, and ends without a fault", "")
        loose = [how for _, how in counted if how != "bit for bit"]
        return Result(AGREES, loose[0] if loose else "bit for bit", "")
    name, message = get_code(out + err)
    if name in NO_CODE:
        return Result(LEFT_OUT, f"no CUDA [{name}]", message)
    if case.may_depend and depends_on_order(grout, case, seconds):
        return Result(LEFT_OUT, "what it does depends on the order, on the CPU too", "")
    return Result(DIFFERS, f"[{name or code}]", text)


class Tally:
    """The results, in a file too if one is named: a later run goes on where this one has ended, and tries again what
    differed."""

    def __init__(self, path=None, shows=False):
        self.path, self.shows, self.lock = path, shows, threading.Lock()
        self.results, self.known = {}, {}
        if path and os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    name, what, why, text = json.loads(line)
                    if what != DIFFERS:
                        self.known[name] = Result(what, why, text)

    def get(self, name):
        """The result of an earlier run, or None."""
        return self.known.get(name)

    def add(self, name, result):
        with self.lock:
            if self.path and name not in self.known:
                with open(self.path, "a", encoding="utf-8") as file:
                    file.write(json.dumps([name, *result]) + "\n")
            self.results[name] = result
            if result.what == DIFFERS or (self.shows and result.what == LEFT_OUT):
                print(f"{result.what}: {name}: {result.why} {result.text}".rstrip(), flush=True)

    def finish(self, interleavings):
        """Prints the counts; the exit code."""
        kinds = collections.Counter((result.what, result.why) for result in self.results.values())
        for (what, why), count in sorted(kinds.items()):
            print(f"{count:6} {what}: {why}")
        whats = collections.Counter(result.what for result in self.results.values())
        print(f"{whats[AGREES]} agree in each of {interleavings} interleavings, {whats[LEFT_OUT]} left out, "
              f"{whats[DIFFERS]} differ")
        return 1 if whats[DIFFERS] or not whats[AGREES] else 0


def run_all(groups, work, tally, jobs, interleavings):
    """work(group) gives (name, Result) pairs, in jobs threads. The exit code."""
    def run_group(group):
        for name, result in work(group):
            tally.add(name, result)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        futures = [pool.submit(run_group, group) for group in groups]
        try:
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except NoNvrtc:
            for future in futures:
                future.cancel()
            print("skipped: no NVRTC")
            return MISSING
    return tally.finish(interleavings)


def add_options(parser, interleavings):
    parser.add_argument("--grout", required=True)
    parser.add_argument("--interleavings", type=int, default=interleavings)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=300, help="of the processor, for one kernel")
    parser.add_argument("--state", help="a file of the results; a later run goes on from there")
    parser.add_argument("--list", action="store_true", help="also what is left out, each with its reason")


sys.dont_write_bytecode = True  # the folder is a source tree
