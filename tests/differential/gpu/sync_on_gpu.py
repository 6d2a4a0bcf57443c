"""Every clean kernel of the repository that synchronises with more than a barrier and a bulk group, on
the GPU and on the CPU: clusters, multicast, semaphores, atomics, cp.async, named barriers, the explicit
style, warps. For a machine with an H100 or H200.

usage: sync_on_gpu.py GROUT [--jobs 12] [--log FILE] [--only TEXT] [--emit | --hangs]
       --emit compiles to cubin instead of running (needs NVRTC only), --hangs runs
       the kernels of HANGS instead, which the watchdog has to end with gpu-hang; kernels that this GPU cannot run
       are counted apart

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import glob
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
TESTS = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, TESTS)
import families
from limit import SECONDS

WORDS = re.compile(r"\bcluster\b|cluster\(|collective_axes|multicast|mbarrier|semaphore|atomic_|async_copy|"
                   r"async_store_smem|named_barrier|block_barrier|warp_map|warp_specialize|reduce\(|commit_gmem|"
                   r"barrier_test|scratch %\w+ : gmem|order\(|tensor_descriptor")
FOLDERS = ("kernels/*.grout", "tests/behaviour/**/*.grout", "tests/corpus/**/*.grout", "tests/litmus/**/*.grout",
           "tests/differential/*.grout", "tests/ops/*.grout")
# Options of a '// run:' line that are about the run on the CPU only.
CPU_ONLY = {"--explore": 0, "--schedule": 1, "--timing": 1, "--resident": 1, "--sms": 1, "--severity": 1,
            "--max-steps": 1, "--budget": 1, "--advice": 0, "--no-explore": 0}
# What no GPU of this machine can run: a kernel of another architecture, and what the CPU alone does.
BEYOND = re.compile(r"for compute capability [\d.]+, but|compiles kernel '\S+' for \w+, not for|"
                    r"--device cpu \[bad-option\]|has no option '--repeat'")

# Deadlocks whose waits the watchdog records, on mbarriers and semaphores; those of the hardware's own barriers
# (bar.sync, barrier.cluster) end by the time limit alone.
HANGS = ("kernels/bugs/missing_arrive.grout", "tests/behaviour/deadlock/no-arrival.grout",
         "tests/behaviour/deadlock/circle.grout", "tests/behaviour/deadlock/too-few-arrivals.grout",
         "tests/behaviour/deadlock/loop-that-ends-early.grout", "tests/behaviour/deadlock/no-turn-at-all.grout",
         "tests/behaviour/deadlock/semaphore-never-signalled.grout", "tests/behaviour/semaphores/never-signalled.grout",
         "tests/behaviour/deadlock/warps-in-a-circle.grout", "tests/behaviour/deadlock/arrives-on-even-turns.grout")


def get_settings(text):
    settings = []
    for line in re.findall(r"^// run: (.*)$", text, re.M) or [""]:
        words, kept = line.split(), []
        while words:
            word = words.pop(0)
            if word in CPU_ONLY:
                words = words[CPU_ONLY[word]:]
            else:
                kept.append(word)
        if kept not in settings:
            settings.append(kept)
    return settings


def find_hangs(only):
    for path in HANGS:
        kernel = re.search(r"^kernel (@\w+)", pathlib.Path(path).read_text(encoding="utf-8"), re.M).group(1)
        if only in path:
            yield path, kernel, []


def find_cases(only):
    for pattern in FOLDERS:
        for path in sorted(glob.glob(pattern, recursive=True)):
            text = pathlib.Path(path).read_text(encoding="utf-8")
            is_clean = "// expect: clean" in text or path.startswith(("tests/differential/", "tests/ops/"))
            if "// unordered:" in text:  # without a race, but what comes out depends on the schedule
                continue
            if not is_clean or not WORDS.search(re.sub(r"//.*", "", text)) or only not in path:
                continue
            own = []
            for line in text.split("\n"):
                same = re.match(r"// same: (.*)", line)
                kernel = re.match(r"kernel (@\w+)", line)
                own += same.group(1).split() if same else []
                if kernel:
                    for setting in get_settings(text):
                        is_there = " ".join(own) in " ".join(setting)
                        yield path, kernel.group(1), setting if is_there else setting + own
                    own = []


def run(grout, case, mode):
    path, kernel, options = case
    if mode == "hang":
        command = [grout, "run", path, "--kernel", kernel, "--device", "cuda"]
    elif mode == "emit":
        defines = [w for i, w in enumerate(options) if w == "-D" or (i and options[i - 1] == "-D")]
        command = [grout, "emit", path, "--kernel", kernel, "--to", "cubin", "-o", "/dev/null"] + defines
    else:
        command = [grout, "run", path, "--kernel", kernel, "--device", "cuda", "--compare", "cpu"] + options
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
        output = done.stdout + done.stderr
        if mode == "hang":
            return 0 if done.returncode == 1 and "[gpu-hang]" in output else 1, output
        return done.returncode, output
    except subprocess.TimeoutExpired:
        return 124, f"it did not end in {SECONDS} s"


def run_all(arguments):
    mode = "emit" if arguments.emit else "hang" if arguments.hangs else "run"
    cases = list((find_hangs if mode == "hang" else find_cases)(arguments.only))
    failed, beyond, start = 0, 0, time.time()
    with open(arguments.log, "w") as log, \
            concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        jobs = [(c, pool.submit(run, arguments.grout, c, mode)) for c in cases]
        for case, job in jobs:
            code, output = job.result()
            line = "%s %s %s" % (case[0], case[1], " ".join(case[2]))
            log.write("$ %s\n%s[exit %d]\n\n" % (line, output, code))
            if code == 2 and BEYOND.search(output):
                beyond += 1
            elif code != 0:
                failed += 1
                print("FAILED  %s (exit %d): %s" % (line, code, " ".join(output.split())[:300]))
    print("sync_on_gpu: %d cases, %d of them for other machines, %d failed, %.0f s" %
          (len(cases), beyond, failed, time.time() - start))
    return 1 if failed or len(cases) == beyond else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("grout")
    parser.add_argument("--jobs", type=int, default=12)
    parser.add_argument("--log", default="sync_on_gpu.log")
    parser.add_argument("--only", default="")
    parser.add_argument("--emit", action="store_true")
    parser.add_argument("--hangs", action="store_true")
    arguments = parser.parse_args()
    arguments.grout, arguments.log = os.path.abspath(arguments.grout), os.path.abspath(arguments.log)
    with tempfile.TemporaryDirectory(prefix="grout-sync-") as folder:
        os.chdir(families.lay_out(folder))
        return run_all(arguments)


if __name__ == "__main__":
    sys.exit(main())
