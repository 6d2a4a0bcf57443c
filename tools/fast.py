#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a change needs before it is shown to anybody, in about a minute: the lints that take seconds, an incremental
build of the preset test, clang-tidy of what changed, and the tests that the change reaches. Prints what is left to CI.

usage: fast.py [--base COMMIT] [--seconds N] [--list]

The change is what differs from COMMIT, committed or not: by default from where this branch left main. tools/reach.py
says which tests it reaches: N seconds of those that it reaches at once, and N of those that follow from rooms (default
90), by what they took last time. --list prints the tests and runs nothing.
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # the folder is a source tree
import reach

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join("build", "release")
TIDY = os.path.join("build", "dev")
LINTS = ("sources", "ops", "state", "limits", "loops", "sentences", "english")
TIDY_MOST = 16  # files that include a changed header
LINES = 40  # of what a step printed, where it fails
CORES = len(os.sched_getaffinity(0))
SUBJECT_MOST = 72  # characters

Step = collections.namedtuple("Step", "name is_right seconds output")


def run(name, command, judge=lambda done: done.returncode == 0):
    start = time.monotonic()
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", check=False)
    return Step(name, judge(done), time.monotonic() - start, done.stdout)


def say(step):
    print(f"fast: {step.name}: {'ok' if step.is_right else 'FAILED'} ({step.seconds:.1f} s)", flush=True)
    if not step.is_right:
        print("\n".join(step.output.rstrip().split("\n")[-LINES:]), flush=True)
    return step.is_right


def git(*words):
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.split("\n")[:-1] if done.returncode == 0 else None


def find_base():
    """Where this branch left main; the last commit where nobody knows."""
    for name in ("main", "origin/main"):
        found = git("merge-base", name, "HEAD")
        if found:
            return found[0]
    return "HEAD"


def list_changed(base):
    found = git("diff", "--name-only", base)
    if found is None:
        sys.exit(f"fast: git knows no commit {base}")
    return sorted({*found, *git("ls-files", "-o", "--exclude-standard")})


def list_existing(changed, *endings):
    return [path for path in changed if path.endswith(endings) and os.path.exists(os.path.join(ROOT, path))]


def check_subjects(base):
    long = [line for line in git("log", "--format=%s", f"{base}..HEAD") or [] if len(line) > SUBJECT_MOST]
    return Step("subjects of the commits", not long, 0, "\n".join(long))


def find_ruff():
    """None where there is none and PyPI is out of reach."""
    done = subprocess.run([os.path.join(ROOT, "tools", "python_lints.sh")], capture_output=True, text=True, check=False)
    return os.path.join(done.stdout.strip(), "ruff") if done.returncode == 0 else None


def lint(changed):
    """A Step of each lint of the sources. They need no build."""
    texts = list_existing(changed, ".c", ".h")
    if texts:
        yield run("clang-format", ["clang-format", "--dry-run", "-Werror", *texts])
    scripts = list_existing(changed, ".sh")
    if scripts:
        yield run("shellcheck", ["shellcheck", *scripts])
    programs = list_existing(changed, ".py")
    ruff = find_ruff() if programs else None
    if ruff is not None:
        yield run("ruff", [ruff, "check", "--quiet", "--no-cache", *programs])
    for name in LINTS:
        yield run(f"lint_{name}", [sys.executable, f"tools/lint_{name}.py"])


def build(targets):
    """Only these; everything if there are none. A warning is a fault too."""
    words = ["--target", *targets] if targets else []
    return run("build", ["cmake", "--build", BUILD, "--parallel", str(CORES), *words],
               lambda done: done.returncode == 0 and "warning:" not in done.stdout)


def tidy(graph, changed):
    """clang-tidy of the changed sources, and of those that include a changed header by its name."""
    own = list_existing(changed, ".c")
    others = [path for path in reach.list_includers(graph, changed) if path not in own]
    if len(others) > TIDY_MOST:
        print(f"fast: clang-tidy leaves {len(others) - TIDY_MOST} of {len(others)} files with a changed header to CI")
    if not own + others:
        return None
    subprocess.run(["cmake", "--preset", "dev"], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                   check=False)
    return run("clang-tidy", [sys.executable, "tools/lint_tidy.py", TIDY, *own, *others[:TIDY_MOST]])


def test(names):
    if not names:
        return None
    return run(f"{len(names)} tests", ["ctest", "--test-dir", BUILD, "-j", str(CORES), "--output-on-failure", "-R",
                                       "^(" + "|".join(name.replace("+", r"\+") for name in names) + ")$"])


def test_python(changed):
    """The changed tests of the Python package, where 'make test' has left an environment with it."""
    files = [path for path in changed
             if re.fullmatch(r"python/tests/.*test_\w+\.py", path) and os.path.exists(os.path.join(ROOT, path))]
    if not files:
        return None
    found = sorted(glob.glob(os.path.join(ROOT, "build", "*", "python-newest", "venv", "bin", "python")))
    if not found:
        print(f"fast: left to CI, since only 'make test' makes an environment: {', '.join(files)}")
        return None
    return run("pytest", [found[0], "-m", "pytest", "-q", "-p", "no:cacheprovider", *files])


def has_tests():
    """Whether the tree is configured with its tests: 'make demo' configures it without."""
    try:
        with open(os.path.join(ROOT, BUILD, "CMakeCache.txt"), encoding="utf-8") as cache:
            return re.search(r"^GROUT_BUILD_TESTS:BOOL=(ON|TRUE)$", cache.read(), re.MULTILINE) is not None
    except OSError:
        return False


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--base")
    parser.add_argument("--seconds", type=float, default=90)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    start = time.monotonic()
    base = options.base or find_base()
    changed = list_changed(base)
    if not has_tests() and not say(run("configure", ["cmake", "--preset", "test"])):
        return 1
    graph = reach.Graph(ROOT, BUILD)
    chosen = reach.choose(graph, changed, options.seconds)
    for line in chosen.notes:
        print(f"fast: {line}")
    if options.list:
        print("\n".join(chosen.tests))
        return 0
    is_right = say(check_subjects(base))
    with concurrent.futures.ThreadPoolExecutor(1) as beside:
        lints = beside.submit(lambda: list(lint(changed)))
        made = build(chosen.targets)
        is_right &= say(made)
        checked = beside.submit(tidy, graph, changed)
        tested = test(chosen.tests) if made.is_right else None
        steps = [*lints.result(), tested, test_python(changed), checked.result()]
    if made.is_right and reach.has_code(changed):
        steps.append(run("lint_rooms", [sys.executable, "tools/lint_rooms.py", BUILD]))
    for step in filter(None, steps):
        is_right &= say(step)
    word = "passed" if is_right else "FAILED"
    print(f"fast: {word} in {time.monotonic() - start:.0f} s; {len(changed)} changed files")
    return 0 if is_right else 1


if __name__ == "__main__":
    sys.exit(main())
