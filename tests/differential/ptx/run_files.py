#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels of files, and of drawn ones, on the machine that knows PTX alone, held against the interpreter. Needs NVRTC:
77 without it.

usage: run_files.py --grout PATH [--kernel @NAME | --same] [--largest] [--seed N] [--timing random|lazy|eager] [--jobs
N]
                    FILE... [-D NAME=VALUE]...

Every output array has the same bits as the interpreter's, where the numbers are determined; elsewhere the bound of
docs/gpu.md, 'Compare rule', holds. --same takes of each file the kernel that is called like it. --largest gives each
const of the file's line '// DRAW: NAME = LOW..HIGH, ..' (tests/ops/README.md) its highest value.

Comments before a kernel: '// same: OPTION...' has options of 'grout run'; '// fails: TEXT': the machine stops and says
TEXT; '// like: @NAME': what comes out is what the interpreter makes of that kernel, for what a GPU does otherwise than
the interpreter, and the checker reports.
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
from limit import SECONDS

NAME = r"(@\w+)"
WRITTEN = re.compile(r"%(\w+): (out|inout) gmem ")
MISSING = 77


class Kernel:
    """A kernel of a file: what its comments say of it."""

    def __init__(self, path, name, comments, header):
        self.path, self.name, self.header = path, name, header
        self.same = [word for kind, text in comments if kind == "same" for word in text.split()]
        self.fails, self.like = (next((text for kind, text in comments if kind == which), None)
                                 for which in ("fails", "like"))


def find_kernels(path):
    kernels, comments = [], []
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for match in re.finditer(r"^// (same|fails|like): (.*)$|^kernel " + NAME + r"[^{]*", text, re.M):
        if match.group(3) is None:
            comments.append((match.group(1), match.group(2)))
        else:
            kernels.append(Kernel(path, match.group(3), comments, match.group(0)))
            comments = []
    return kernels


def read_line(path, what):
    """The line of a file that begins with '// WHAT: ', without that; None: there is none."""
    with open(path, encoding="utf-8") as file:
        line = re.search(rf"^// {what}: (.*)$", file.read(), re.M)
    return line.group(1) if line else None


def find_largest(path):
    """-D for each const that may be drawn, with its highest value."""
    pairs = re.findall(r"(\w+) = \d+\.\.(\d+)", read_line(path, "DRAW") or "")
    return [word for name, value in pairs for word in ("-D", f"{name}={value}")]


def make_externs(path, work):
    """Options that name the functions of a file's line '// EXTERN: C-FILE': for the CPU, and for the machine."""
    name = read_line(path, "EXTERN")
    if name is None:
        return [], []
    source = os.path.join(os.path.dirname(path), name.strip())
    library = os.path.join(work, os.path.basename(path) + ".so")
    subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, source], check=True)
    return ["--extern", library], ["--extern", source]


class Trial:
    """One run of a kernel on the machine."""

    def __init__(self, options, kernel, work):
        self.options, self.kernel = options, kernel
        self.work = tempfile.mkdtemp(dir=work)
        self.defines = [word for value in options.values for word in ("-D", value)]
        self.defines += find_largest(kernel.path) if options.largest else []
        self.cpu, self.ptx = make_externs(kernel.path, self.work)

    def call(self, name, *more):
        command = [self.options.grout, "run", self.kernel.path, "--kernel", name, *self.defines, *self.kernel.same,
                   "--numerics", "exact", *more]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
        return done.returncode, done.stdout + done.stderr

    def run_ptx(self, *more):
        code, text = self.call(self.kernel.name, "--device", "ptx", "--seed", str(self.options.seed), "--timing",
                               self.options.timing, *more)
        if "[nvrtc-missing]" in text:
            raise FileNotFoundError(text)
        return code, text

    def compare_like(self):
        """None, or what is wrong: the arrays of both kernels, byte for byte."""
        names = [name for name, _ in WRITTEN.findall(self.kernel.header)]
        found, wanted = ({name: os.path.join(self.work, f"{name}.{side}.npy") for name in names} for side in "ab")
        for paths, run in ((found, self.run_ptx), (wanted, lambda *more: self.call(self.kernel.like, *more))):
            code, text = run(*(word for name in names for word in ("--output", f"{name}={paths[name]}")))
            if code != 0:
                return text
        for name in names:
            with open(found[name], "rb") as a, open(wanted[name], "rb") as b:
                if a.read() != b.read():
                    return f"%{name} is not what {self.kernel.like} makes of it"
        return None

    def run(self):
        """None, or what is wrong."""
        if self.kernel.like is not None:
            return self.compare_like()
        if self.kernel.fails is not None:
            code, text = self.run_ptx()
            return None if code != 0 and self.kernel.fails in text \
                else f"it does not say '{self.kernel.fails}':\n{text}"
        externs = [*self.cpu, *self.ptx]
        code, text = self.run_ptx("--compare", "cpu", *externs)
        return None if code == 0 and "compared with the CPU" in text else text


def choose(options, kernels, path):
    if options.same:
        return [kernel for kernel in kernels if kernel.name == "@" + os.path.basename(path)[:-len(".grout")]]
    return [kernel for kernel in kernels if options.kernel in (None, kernel.name)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--grout", required=True)
    parser.add_argument("--kernel")
    parser.add_argument("--same", action="store_true")
    parser.add_argument("--largest", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timing", default="random")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("-D", action="append", default=[], dest="values")
    options = parser.parse_args()
    options.grout = os.path.abspath(options.grout)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="grout-ptx-") as work, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        trials = [Trial(options, kernel, work) for path in options.files
                  for kernel in choose(options, find_kernels(path), path)]
        jobs = [(trial, pool.submit(trial.run)) for trial in trials]
        for trial, job in jobs:
            try:
                wrong = job.result()
            except subprocess.TimeoutExpired:
                wrong = f"no end within {SECONDS} s"
            except FileNotFoundError as error:
                print(error)
                return MISSING
            if wrong is not None:
                failures += 1
                print(f"FAILED  {trial.kernel.path} {trial.kernel.name}: {wrong}", flush=True)
    print(f"{len(trials)} runs, {failures} wrong")
    return 1 if failures or not trials else 0


if __name__ == "__main__":
    sys.exit(main())
