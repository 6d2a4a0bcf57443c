"""The value adversary: what is wrong also computes wrong, what is right never does.

In lazy timing every unordered pair that involves an asynchronous operation changes the output: each
bug of the corpus and of kernels/bugs that has such a finding gives other outputs than its fix (or
than itself in eager timing), under the fair schedule or, where the two sides are different threads,
under one of a few random ones. The one exception is missing-commit-smem-war alone: the value that was
read is in registers before the overwriting copy is issued. And the outputs of a clean kernel are the
same under every timing and schedule.

usage: adversary.py --grout PATH [--seeds N] [--short] bugs|clean

--short: drawn schedules of a clean kernel with random timing alone.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import glob
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import families
from kernel_headers import list_outputs
from limit import SECONDS

ROOT = os.path.dirname(TESTS)
# Findings about a pair of accesses of which one is made by an engine.
ASYNC = {"missing-commit-smem", "missing-commit-gmem", "async-not-awaited",
         "smem-source-reuse", "mma-operand-reuse", "accumulator-in-flight", "gmem-write-not-visible",
         "cluster-smem-reuse"}
SEEDS = 12
# In these no schedule of the interpreter makes the outputs wrong. One whose outputs differ fails the test.
# - The first writes a constant: what the copies bring to tensor memory reaches no output.
# - In the second, the asker has waited for the reader before it asks: no answer comes before the slot has been read.
#   What is missing is that the answer tells the other CTA so.
RIGHT = {"rb_118a_scales_of_the_peer.bug.grout", "rb_120_answer_tells_nothing_more.bug.grout"}


def read(path):
    with open(path) as file:
        return file.read()


def get_settings(text):
    lines = re.findall(r"^// run: (.*)$", text, re.M)
    return [[w for w in line.split() if w != "--explore"] for line in lines] or [[]]


def get_kernels(text):
    return [("@" + name, outputs) for name, outputs in list_outputs(text)]


def run(grout, path, kernel, outputs, options):
    """(verdict, codes, digest of the outputs)."""
    with tempfile.TemporaryDirectory() as folder:
        command = [os.path.abspath(grout), "check", os.path.abspath(path), "--kernel", kernel, "--format", "json", "-q",
                   "--timeout", str(SECONDS)] + options
        for name in outputs:
            command += ["--output", "%s=%s" % (name, os.path.join(folder, name + ".npy"))]
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False)
        report = json.loads(done.stdout)
        digest = hashlib.sha256()
        for name in outputs:
            file = os.path.join(folder, name + ".npy")
            digest.update(pathlib.Path(file).read_bytes() if os.path.exists(file) else b"none")
        return report["verdict"], {f["code"] for f in report["findings"]}, digest.hexdigest()


def check_clean(grout, path, seeds, is_short):
    faults = []
    text = read(path)
    for kernel, outputs in get_kernels(text):
        for setting in get_settings(text):
            seen = {}
            for timing in ("lazy", "eager", "random"):
                for seed in range(1 if is_short and timing != "random" else seeds + 1):
                    policy = ["--schedule", "fair"] if seed == 0 else ["--schedule", "random", "--seed", str(seed)]
                    options = setting + ["--timing", timing] + policy
                    verdict, codes, digest = run(grout, path, kernel, outputs, options)
                    seen.setdefault(digest, " ".join(options))
                    if verdict != "clean":
                        faults.append("%s %s: %s %s with %s" % (path, kernel, verdict, sorted(codes),
                                                               " ".join(options)))
            if len(seen) > 1:
                faults.append("%s %s: outputs differ: %s" % (path, kernel, "; ".join(seen.values())))
    return faults


def check_bug(grout, path, fix):
    """fix: a file with the right outputs, kernel by kernel; None: the bug itself in eager timing."""
    faults, count = [], 0
    text = read(path)
    for kernel, outputs in get_kernels(text):
        for setting in get_settings(text):
            _verdict, codes, lazy = run(grout, path, kernel, outputs, setting + ["--timing", "lazy"])
            if not codes & ASYNC or "deadlock" in codes or not outputs:
                continue
            if fix is None:
                right = run(grout, path, kernel, outputs, setting + ["--timing", "eager"])[2]
            else:
                right = run(grout, fix, kernel, outputs, get_settings(read(fix))[0])[2]
            count += 1
            for seed in range(1, SEEDS + 1):
                for schedule in ("random", "pct:3"):
                    if lazy == right:
                        lazy = run(grout, path, kernel, outputs,
                                   setting + ["--schedule", schedule, "--seed", str(seed)])[2]
            if (lazy == right) != (os.path.basename(path) in RIGHT):
                faults.append("%s %s %s: %s, and the outputs are %s" % (
                    path, kernel, " ".join(setting), sorted(codes & ASYNC),
                    "right" if lazy == right else "wrong: remove it from RIGHT"))
    return faults, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("what", choices=("bugs", "clean"))
    arguments = parser.parse_args()
    grout = os.path.abspath(arguments.grout)
    faults, count = [], 0
    with tempfile.TemporaryDirectory(prefix="grout-adversary-") as folder, \
            concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        if arguments.what == "clean":
            paths = glob.glob(ROOT + "/kernels/*.grout") + families.write_programs(folder)
            paths += families.write_programs(folder, "corpus")
            paths = [p for p in sorted(paths) if "// expect: clean" in read(p)]
            for job in [pool.submit(check_clean, grout, p, arguments.seeds, arguments.short) for p in paths]:
                faults += job.result()
            count = len(paths)
        else:
            jobs = []
            for path in sorted(families.write_programs(folder, "corpus")):
                if path.endswith(".bug.grout"):
                    jobs.append(pool.submit(check_bug, grout, path, path.replace(".bug.", ".fix.")))
            for path in families.write_programs(folder, "bugs"):
                jobs.append(pool.submit(check_bug, grout, path, None))
            for job in jobs:
                more, kernels = job.result()
                faults += more
                count += kernels
    print("\n".join(faults))
    print("adversary: %d %s, %d not as they should be" % (
        count, "clean files" if arguments.what == "clean" else "wrong kernels", len(faults)))
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
