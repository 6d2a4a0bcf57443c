"""How many mistakes 'grout fix' repairs: each synchronising operation of a clean kernel is dropped, moved by
one or weakened (see mutate.py), and 'grout fix --yes' has to make the kernel clean again.

usage: fix.py --grout PATH [--all | --most N] [--share PERCENT] [--list] KERNEL.grout...

Counted are the mutants that are not clean. One is *repaired* if afterwards the checker finds nothing at any of the
kernel's sizes (its '// run:' lines), and every output has the bytes that the original kernel gives. Printed are
the repaired of all, for each kind of mutant, and those that are not. Without --all only --most mutants of each
kernel are tried, evenly spread. Exits with 1 if fewer than --share percent are repaired.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate
from first_finding import sample

CLEAN = "clean"


def get_kind(what):
    word = what.split()[0]
    return "dropped" if word == "drop" else "moved" if word == "move" else "changed"


def look(grout, path, folder):
    """'clean', or what is wrong with a file at its sizes; and the digest of its outputs."""
    verdict, codes, _, digest = mutate.run(grout, path, folder, [])
    return (CLEAN if verdict == "clean" and not codes else ", ".join([verdict] + codes)), digest


def fix(grout, path, folder, settings):
    """Repairs the file at each of its sizes, until a round changes nothing. Returns what fix said."""
    said = ""
    for _ in range(2):
        before = pathlib.Path(path).read_text(encoding="utf-8")
        for setting in settings:
            done = subprocess.run([grout, "fix", "--yes", "--budget", "60", path] + setting,
                                  capture_output=True, text=True, cwd=folder, stdin=subprocess.DEVNULL, check=False)
            if done.returncode not in (0, 1, 2, 3):
                raise RuntimeError("%s: exit %d: %s" % (path, done.returncode, done.stderr[-2000:]))
            said += done.stdout + done.stderr
        if pathlib.Path(path).read_text(encoding="utf-8") == before:
            break
    return said


def judge(grout, original, text, expected):
    """None: the mutant is clean as it is. Else whether it was repaired, what is left, what fix said, seconds."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(original))
        with open(path, "w") as out:
            out.write(text)
        first, digest = look(grout, path, folder)
        if first == CLEAN:
            return None
        start = time.monotonic()
        said = fix(grout, path, folder, mutate.get_settings(text))
        seconds = time.monotonic() - start
        last, digest = look(grout, path, folder)
        if last == CLEAN and digest != expected:
            last = "other outputs"
        return last == CLEAN, "%s -> %s" % (first, last), said, seconds


def work(grout, path, most, pool):
    """(line, what, future) for each mutant of a kernel."""
    text = mutate.strip_expectations(pathlib.Path(path).read_text(encoding="utf-8"))
    lines = text.split("\n")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "w") as out:
            out.write(text)
        verdict, expected = look(grout, copy, folder)
    if verdict != CLEAN:
        raise RuntimeError("%s is not clean: %s" % (path, verdict))
    for line, what, changes in sample(list(mutate.mutants(lines)), most):
        changed = "\n".join(changes.get(i, old) for i, old in enumerate(lines))
        yield line + 1, what, pool.submit(judge, grout, path, changed, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--most", type=int, default=4)
    parser.add_argument("--share", type=float, default=0)
    parser.add_argument("--list", action="store_true", help="what fix said of each that is not repaired")
    parser.add_argument("kernels", nargs="+")
    arguments = parser.parse_args()
    tried, repaired, slowest = collections.Counter(), collections.Counter(), (0.0, "")
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        rows = [(path, list(work(os.path.abspath(arguments.grout), path,
                                 sys.maxsize if arguments.all else arguments.most, pool)))
                                 for path in arguments.kernels]
        for path, mutants in rows:
            for line, what, job in mutants:
                result = job.result()
                if result is None:
                    continue
                kind = get_kind(what)
                name = "%s:%d: %s" % (path, line, what)
                tried[kind] += 1
                repaired[kind] += result[0]
                slowest = max(slowest, (result[3], name))
                if not result[0]:
                    print("%s: %s" % (name, result[1]), flush=True)
                    if arguments.list:
                        print(result[2])
    for kind in sorted(tried):
        print("%s: %d of %d repaired" % (kind, repaired[kind], tried[kind]))
    if not tried:
        print("no mutant was tried")
        return 1
    share = 100 * sum(repaired.values()) / sum(tried.values())
    print("%d mutants, %.1f %% repaired; the slowest took %.1f s (%s)" % (sum(tried.values()), share, *slowest))
    return 1 if share < arguments.share else 0


if __name__ == "__main__":
    sys.exit(main())
