#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants a fault in each field of fields.def and of gpu_backend/plan/bits.def, in each kernel of kernels.txt that has
the field, and asks whether the PTX emulator notices: by a race, a fault, a hang, code that nobody takes, or another
result than the interpreter's. unnoticed.txt says of the others why. Needs NVRTC: 77 without it.

usage: planted.py --grout PATH [--only WORD] [--part K/N] [--every N] [--jobs N] [--results FILE]
       planted.py --grout PATH --device cuda --results FILE [--only WORD] [--seconds N]

PATH is that of grout-planted, which a build with tests has: cmake --build build/release --target grout_planted

With --device cuda the faults run on a GPU, each in a process of its own with the watchdog on. Faults that could write
outside of the arrays are left out there. --results writes a line for each fault: fault, kernel, verdict, what was said.
"""
import argparse
import concurrent.futures
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import typing

sys.dont_write_bytecode = True  # the folder is a source tree
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(os.path.dirname(HERE)))
import families

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
FIELD = re.compile(r'^GROUT_(?:TEXT_)?FIELD\((\w+),\s*(\w+),\s*(\w+),\s*'
                   r'(?:("(?:[^"\\]|\\.)*"),\s*"(?:[^"\\]|\\.)*",\s*)?"([^"]*)",\s*"([^"]*)"\)$', re.M)
BITS = re.compile(r'^GROUT_BITS\((\w+),\s*(\w+),\s*\d+,\s*(\d+),\s*"([^"]*)",\s*"([^"]*)"\)$', re.M)
ONE_WAY = ("BIT", "TRUTH", "NARROWER", "WEAKER", "LEFT_OUT")  # one unit more is one unit less, or there is no more
INSTRUCTION = re.compile(r"[\w.: ]+;?")  # words that PTX has as they stand in CUDA
SECONDS = 120
GPU_SECONDS = 20
ORDERS = [("lazy", 0), ("random", 1), ("eager", 2), ("random", 4), ("lazy", 3), ("lazy", 8)]
VARIANTS = 12  # NVRTC makes one code or another of some kernels, by where its memory lies
STEPS, LEAST_STEPS = 200, 5_000_000  # a kernel without a fault takes this many times fewer instructions
# On a GPU they could write outside of the arrays: where an array is, how much larger, how much farther its rows are
# apart, where a run goes and how much more it has, how many more CTAs there are; what lanes load and store. An element
# stride of 0 counts as 1 in a launch of ours.
NOT_ON_GPU = re.compile(r"MAP\.(START|TYPE|EXTENT|EXTENT_DIM|ADDRESS|SLOT|ACQUIRED|INTERLEAVE)-?|"
                        r"MAP\.(DIM|STRIDE)_\d|MAP\.EVERY_\d-|COPY\.(START|ROWS|ROW_GROUP|ROW_BAND)-?|COPY\.BYTES|LAUNCH\.GRID|"
                        r"(ACCESS\.\w+|ATOMIC\.ADDRESS|SEMAPHORE\.ADDRESS|PIECE\.(GMEM|BYTES|TOUCHED))-?")


class Field(typing.NamedTuple):
    name: str
    width: int
    unit: str
    section: str
    doc: str
    text: str  # "", or what a device header has where the field is


class Kernel(typing.NamedTuple):
    path: str
    name: str
    options: tuple

    def __str__(self):
        return f"{self.path}@{self.name}"


def read_fields(root):
    with open(os.path.join(root, "gpu_backend/plan/bits.def"), encoding="utf-8") as file:
        fields = [Field(f"{word}.{name}", int(width), "ONE", section, doc, "")
                  for word, name, width, section, doc in BITS.findall(file.read())]
    with open(os.path.join(root, "tests/differential/planted/fields.def"), encoding="utf-8") as file:
        return fields + [Field(f"{word}.{name}", 0, unit, section, doc, json.loads(text or '""'))
                         for word, name, unit, text, section, doc in FIELD.findall(file.read())]


def read_kernels(folder):
    """A line 'PATH@KERNEL options' each."""
    with open(os.path.join(folder, "kernels.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split("#")[0].split()
            if words:
                path, name = words[0].split("@")
                yield Kernel(path, name, tuple(words[1:]))


def list_unnoticed(folder):
    """A (reason, faults, kernels) of each block of unnoticed.txt, which says how it is written."""
    every, blocks, reason = [str(kernel) for kernel in read_kernels(folder)], [], ""
    with open(os.path.join(folder, "unnoticed.txt"), encoding="utf-8") as file:
        for line in file:
            words = line.split()
            if line.startswith("= "):
                reason = line[2:].strip()
            elif not line.startswith("  ") and words and words[0] != "#":
                blocks.append((reason, words, {}))
            elif words == ["all"]:
                blocks[-1][2].update(dict.fromkeys(every))
            elif words[:1] == ["as"]:
                blocks[-1][2].update(*(kernels for _, faults, kernels in blocks if words[1] in faults))
            elif words[:1] == ["but"]:
                for name in words[2:]:
                    del blocks[-1][2][words[1] + name]
            elif line.startswith("  "):
                blocks[-1][2].update({words[0] + name: None for name in words[1:]})
    return blocks


def read_reasons(folder):
    """{(fault, kernel): reason}"""
    return {(fault, kernel): reason for reason, faults, kernels in list_unnoticed(folder)
            for fault in faults for kernel in kernels}


def list_faults(fields):
    for field in fields:
        yield field.name
        if field.unit not in ONE_WAY and field.width != 1:
            yield field.name + "-"


class Runner:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = tempfile.mkdtemp(prefix="grout-planted-")
        self.limits = {}  # of a kernel: instructions after which it will not end any more

    def begin(self, fault):
        """The program and its fault, in front of a command."""
        return [self.arguments.grout, *(("--plant", fault) if fault else ())]

    def emit(self, kernel, fault, number):
        """The code and what its launch needs, as one text."""
        manifest = os.path.join(self.folder, f"{number}.json")
        command = self.begin(fault) + ["emit", kernel.path, "--kernel", "@" + kernel.name, "--manifest", manifest]
        command += [word for word in kernel.options if word.startswith("-D")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{kernel}, {fault}: {done.stderr}")
        with open(manifest, encoding="utf-8") as file:
            return done.stdout + file.read()

    def compile(self, kernel, fault):
        """The PTX, or what NVRTC says against it."""
        command = self.begin(fault) + ["emit", kernel.path, "--kernel", "@" + kernel.name, "--to", "ptx", "-q",
                                       "--no-cache"]
        command += [word for word in kernel.options if word.startswith("-D")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if "[nvrtc-missing]" in done.stderr:
            sys.exit(77)
        if fault is None and done.returncode != 0:
            sys.exit(f"{kernel}: {done.stderr}")
        return done.stdout if done.returncode == 0 else done.stderr

    def has_field(self, kernel, field, number, right, variants):
        """Whether a fault there changes what a launch gets. A device header has the functions of all kernels: of a text
        in it the PTX says whether the kernel has it."""
        if self.emit(kernel, field.name, number) == right:
            return False
        if not field.text:
            return True
        if INSTRUCTION.fullmatch(field.text):
            return any(field.text in ptx for ptx in variants)
        return self.compile(kernel, field.name) not in variants

    def run(self, kernel, fault, timing="lazy", seed=0):
        """(verdict, the first line that says why)"""
        is_gpu = self.arguments.device == "cuda"
        command = self.begin(fault) + ["run", kernel.path, "--kernel", "@" + kernel.name, *kernel.options, "--device",
                                       self.arguments.device, "--compare", "cpu", "--no-cache"]
        command += ["--timeout", str(GPU_SECONDS)] if is_gpu else ["--timing", timing, "--seed", str(seed), "--check"]
        command += ["--numerics", "exact"]
        command += ["--max-steps", str(self.limits[kernel])] if kernel in self.limits else []
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return "hang", f"no end after {SECONDS} s"
        output = done.stdout + done.stderr
        if "[nvrtc-missing]" in output:
            sys.exit(77)
        found = re.search(r"(\d+) instructions of warps", output)
        if fault is None and found:
            self.limits[kernel] = max(LEAST_STEPS, STEPS * int(found.group(1)))
        return classify(done.returncode, output)

    def judge(self, kernel, fault):
        """Other orders are tried where the first run shows nothing: with seed k + 1 warp k is slow."""
        tries = [("lazy", 0)] if self.arguments.device == "cuda" else ORDERS
        for timing, seed in tries:
            verdict = self.run(kernel, fault, timing, seed)
            if verdict[0] != "equal":
                break
        return verdict


def classify(code, output):
    reason = next((line for line in output.split("\n") if "error" in line), output.strip().split("\n")[0])
    codes = re.findall(r"\[([a-z-]+)\]", output)
    if code == 0 and "same-value-race" in codes:  # a warning: the run goes on
        return "race", next(line for line in output.split("\n") if "same-value-race" in line)
    if code == 0 and "compared with the CPU" in output:
        return "equal", ""
    if code < 0 or code > 128:
        return "crash", reason
    for verdict, names in (("race", ("ptx-race",)), ("hang", ("ptx-hang", "limit-reached", "gpu-hang", "gpu-timeout")),
                           ("refused", ("ptx-syntax", "ptx-unsupported", "nvrtc-failed", "bad-argument", "tma-box",
                                        "tma-inner-bytes", "tma-pitch", "tma-layout", "tma-bytes", "gpu-driver",
                                        "internal-error")),
                           ("fault", ("ptx-fault", "gpu-fault")), ("differs", ("compare-mismatch",))):
        if any(name in codes for name in names):
            return verdict, reason
    return "other", reason


def find_jobs(runner, kernels, fields, jobs):
    """Each (kernel, fault) that changes what is emitted; and which fields no kernel has."""
    unused = {field.name for field in fields}
    found = []
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for kernel in kernels:
            right = runner.emit(kernel, None, "right")
            if runner.arguments.device == "cuda" and '"arch": "sm_90a"' not in right:
                continue
            variants = set(pool.map(lambda _, kernel=kernel: runner.compile(kernel, None), range(VARIANTS)))
            found_here = pool.map(runner.has_field, itertools.repeat(kernel), fields, itertools.count(),
                                  itertools.repeat(right), itertools.repeat(variants))
            for field, is_there in zip(fields, found_here):
                if is_there:
                    unused.discard(field.name)
                    found += [(kernel, fault) for fault in list_faults([field])]
    return found, unused


def order(jobs):
    """Each fault in one kernel first, then in a second one: when the time is up, as many as may be have run."""
    seen, turns = {}, []
    for _kernel, fault in jobs:
        turns.append((seen.get(fault, 0), len(turns)))
        seen[fault] = seen.get(fault, 0) + 1
    return [jobs[place] for _, place in sorted(turns)]


def run_all(runner, jobs, arguments):
    """A (kernel, fault, verdict, reason) of each job that began in time."""
    end = time.monotonic() + arguments.seconds

    def judge(job):
        return runner.judge(*job) if time.monotonic() < end else None

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        return [(*job, *verdict) for job, verdict in zip(jobs, pool.map(judge, jobs)) if verdict is not None]


def check(results, reasons):
    """What is wrong with the verdicts: a fault that nobody notices and no reason covers, or a reason of one that is
    noticed."""
    wrong = []
    used = set()
    for kernel, fault, verdict, _ in results:
        key = fault, str(kernel)
        if verdict == "equal" and key not in reasons:
            wrong.append(f"{fault} {kernel}: nobody notices, and no line of unnoticed.txt says why")
        elif verdict == "equal":
            used.add(key)
        elif key in reasons:
            wrong.append(f"{fault} {kernel}: unnoticed.txt has it, but the verdict is '{verdict}'")
        if verdict in ("crash", "other"):
            wrong.append(f"{fault} {kernel}: '{verdict}' is not a verdict")
    return wrong, used


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--device", default="ptx", choices=["ptx", "cuda"])
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="0/1", help="of N parts of the kernels, the one of number K")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="faults of each N-th field alone")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--results")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no fault after this many")
    parser.add_argument("--but", help="leave out what this file of results has")
    parser.add_argument("--root", help="a folder with all kernels as files, in the place of the tree")
    parser.add_argument("--folder", default=HERE)
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    arguments.results = arguments.results and os.path.abspath(arguments.results)
    arguments.but = arguments.but and os.path.abspath(arguments.but)
    with tempfile.TemporaryDirectory(prefix="grout-planted-tree-") as folder:
        os.chdir(arguments.root or families.lay_out(os.path.join(folder, "tree")))
        return run_planted(arguments)


def run_planted(arguments):
    fields, kernels = read_fields("."), list(read_kernels(arguments.folder))
    reasons, runner = read_reasons(arguments.folder), Runner(arguments)
    fields = fields[::arguments.every]
    part, of = (int(number) for number in arguments.part.split("/"))
    kernels = [kernel for number, kernel in enumerate(kernels) if number % of == part]
    jobs, unused = find_jobs(runner, [k for k in kernels if arguments.only in str(k) or "." in arguments.only], fields,
                             arguments.jobs)
    is_gpu = arguments.device == "cuda"
    is_whole = arguments.only == "" and of == arguments.every == 1 and not is_gpu
    jobs = [job for job in jobs if arguments.only in str(job[0]) or arguments.only in job[1]]
    if arguments.but:
        with open(arguments.but, encoding="utf-8") as file:
            known = {tuple(line.split("\t")[:2]) for line in file}
        jobs = [job for job in jobs if (job[1], str(job[0])) not in known]
    jobs = order([job for job in jobs if not (is_gpu and NOT_ON_GPU.fullmatch(job[1]))])
    chosen = sorted({kernel for kernel, _ in jobs})
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for kernel, verdict in zip(chosen, pool.map(lambda kernel: runner.run(kernel, None), chosen)):
            if verdict[0] != "equal":
                sys.exit(f"{kernel} without a fault: {verdict}")
    results = run_all(runner, jobs, arguments)
    wrong, used = ([], set()) if is_gpu else check(results, reasons)
    if is_whole:
        wrong += [f"{name}: no kernel of kernels.txt has the field" for name in sorted(unused)]
        wrong += [f"{fault} {kernel}: a line of unnoticed.txt that covers nothing"
                  for fault, kernel in reasons if (fault, kernel) not in used]
    if arguments.results:
        with open(arguments.results, "w", encoding="utf-8") as file:
            for kernel, fault, verdict, reason in results:
                file.write(f"{fault}\t{kernel}\t{verdict}\t{reason}\n")
    print("\n".join(wrong))
    counts = {verdict: sum(1 for result in results if result[2] == verdict) for verdict in {r[2] for r in results}}
    print(f"{len(results)} of {len(jobs)} faults: " + ", ".join(f"{count} {verdict}"
                                                                for verdict, count in sorted(counts.items())))
    return 1 if wrong or not results else 0


if __name__ == "__main__":
    sys.exit(main())
