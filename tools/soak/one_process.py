#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Thousands of calls in one process: its memory, its open files and its threads stay as they are after the first.

usage: one_process.py [--program FILE] [--seconds N] [--calls N] [--python PYTHON]

First the command, as one_process.c calls it: check, run, fix, emit, fmt, with outputs, threads, other schedules. Then,
with --python, the Python package in a process of that Python, which has it: python_calls.py. A round is the same list
of calls each time, in another order. The least of the last three rounds is compared with that of three at the
beginning.
"""
import argparse
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests"))
import families

WARM_ROUNDS = 3
# glibc keeps up to 40 MiB of stacks of threads that have ended, and the free end of each arena that a thread had, which
# malloc_trim gives back of the main one alone: not here.
TUNABLES = {"GLIBC_TUNABLES": "glibc.pthread.stack_cache_size=0:glibc.malloc.arena_max=1"}
# What malloc cannot give back, since orders differ.
SLACK_KIB = 512
KERNELS = ("add_tma", "softmax", "matmul_hopper_ws", "layer_norm", "transpose", "attention_hopper", "histogram")


def draw_calls(rng, folder):
    """Words of calls; files are relative to the folder, where programs of families are written to."""
    kernels = [path for name in KERNELS for path in (ROOT / "kernels").glob(f"{name}.grout")]
    bugs = rng.sample(sorted((ROOT / "kernels/bugs").glob("*.grout")), 6)
    others = list(families.write(rng.sample(families.list_programs("behaviour"), 40), folder))
    broken = rng.sample(sorted((ROOT / "tests/golden").rglob("*.grout")), 20)
    limits = ["--timeout", "5", "--max-steps", "300000"]
    calls = [["help"], ["ops", "--markdown"], ["explain", "--markdown"], ["cache"], ["nothing"]]
    for path in kernels:
        calls += [["check", path, *limits, "--html", "page.html"], ["run", path, *limits, "--threads", "2"],
                  ["emit", path, "-o", "k.cu", "--manifest", "k.json"], ["fmt", path]]
    for path in bugs:
        calls += [["check", path, *limits, "--format", "sarif"], ["fix", path, *limits, "--diff", "--budget", "0.2"],
                  ["check", path, *limits, "--explore", "--threads", "3", "--budget", "0.2", "--save-schedule", "s"]]
    for path in others:
        calls += [["check", "--expect", path],
                  ["check", path, *limits, "--format", "json", "--advice", "--budget", "0.1"]]
    calls += [["check", path, *limits] for path in broken]
    calls += [["run", "array.grout", "--input", "a=a.npy", "--output", "c=c.npy"] for _ in range(5)]
    return [[str(word) for word in call] for call in calls]


ARRAY = """const N = 64
kernel @k(%a: in gmem f32[N, 64], %c: out gmem f32[N, 64]) grid(x = N) threads(wg = 1)
{
  %i = axis_index x
  store %c[%i, :], (add (load %a[%i, :]), 1.0)
}
"""


def measure(pid):
    """Memory of its own in KiB, open files, threads."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="utf-8") as file:
        facts = dict(line.split(":", 1) for line in list(file)[1:])
    return int(facts["Anonymous"].split()[0]), len(os.listdir(f"/proc/{pid}/fd")), len(os.listdir(f"/proc/{pid}/task"))


def judge(name, rounds, calls):
    """Says what was seen; 1 if something grew."""
    # The least of some rounds: what a thread has not given back yet is gone in another one.
    warm, last = (tuple(map(min, zip(*part))) for part in (rounds[1:1 + WARM_ROUNDS], rounds[-WARM_ROUNDS:]))
    faults = [what for what, grew in (("memory", last[0] > warm[0] + SLACK_KIB), ("open files", last[1] > warm[1]),
                                      ("threads", last[2] > warm[2])) if grew]
    end = f"FAULT: {', '.join(faults)} grew" if faults else "no fault"
    print(f"soak: one_process: {name}: {calls} calls, {len(rounds)} rounds: {end} (memory {warm[0]} KiB, at the end "
          f"{last[0]} KiB; open files {warm[1]}, {last[1]}; threads {warm[2]}, {last[2]})")
    return 1 if faults else 0


def run_command(options, folder):
    rng = random.Random(options.seed)
    calls = draw_calls(rng, folder)
    calls = rng.sample(calls, min(options.calls, len(calls)))
    (folder / "array.grout").write_text(ARRAY, encoding="utf-8")
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (64, 64), }".ljust(117) + "\n"
    (folder / "a.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() +
                                   bytes(16384))
    answers, theirs = os.pipe()
    process = subprocess.Popen(["sh", "-c", f'exec "$0" 3>&{theirs}', options.program], cwd=folder, text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               pass_fds=[theirs],
                               env={**os.environ, **TUNABLES, "HOME": str(folder), "GROUT_NVRTC": "/nowhere.so"})
    os.close(theirs)
    rounds, done, end = [], 0, time.monotonic() + options.seconds
    with os.fdopen(answers) as codes:
        while time.monotonic() < end or len(rounds) < 2 * WARM_ROUNDS:
            for words in [*rng.sample(calls, len(calls)), []]:
                process.stdin.write("\t".join(words) + "\n")
                process.stdin.flush()
                code = codes.readline()
                if code not in ("0\n", "1\n", "2\n", "3\n"):
                    process.wait()
                    print(f"soak: one_process: FAULT: {code.strip() or process.returncode} after {done} calls: "
                          f"grout {' '.join(words)}")
                    return 1
                done += len(words) > 0
            rounds.append(measure(process.pid))
            if options.verbose:
                print(f"soak: one_process: {rounds[-1]}", flush=True)
    process.stdin.close()
    if process.wait() != 0:
        print(f"soak: one_process: FAULT: the process ended with {process.returncode}")
        return 1
    return judge("command", rounds, done)


def run_package(options, folder):
    """The package measures itself at the end of each round."""
    program = str(pathlib.Path(__file__).with_name("python_calls.py"))
    done = subprocess.run([options.python, program, str(options.seconds), str(options.seed)], cwd=folder, text=True,
                          stdout=subprocess.PIPE, check=False, env={**os.environ, **TUNABLES})
    rounds = [tuple(map(int, line.split()[1:4])) for line in done.stdout.splitlines() if line.startswith("round ")]
    calls = sum(int(line.split()[4]) for line in done.stdout.splitlines() if line.startswith("round "))
    if done.returncode != 0:
        print(f"soak: one_process: FAULT: the process of Python ended with {done.returncode}")
        return 1
    return judge("package", rounds, calls)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/soak_one_process")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calls", type=int, default=1000, metavar="N", help="this many of the calls of a round")
    parser.add_argument("-v", "--verbose", action="store_true", help="say what is measured")
    parser.add_argument("--python", help="a Python that has the package grout")
    options = parser.parse_args()
    options.program = options.program.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="grout-soak-"))
    try:
        code = run_command(options, folder)
        return max(code, run_package(options, folder)) if options.python else code
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
