#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the Python tests with every JAX that PyPI has, and says whether PyPI has one that is newer than those tested.

usage: every_series.py --build BUILD --work FOLDER [--every-release] [--newer] [WORD..]

From the oldest series of python/src/grout/_tested.py on, the newest release of each series and the tested ones; with
--every-release all of them. Each gets a new virtual environment of a Python that it runs on. WORDs are for pytest
(files below python/tests, -k ..), by default all tests run. BUILD is a build tree with the target grout_bundle, as
build/release. --newer runs nothing: it says what PyPI has. Exits 1 if tests fail, or with --newer if there is a newer
release of JAX.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import time

from environment import (
    SECONDS,
    SKIPPED,
    TESTED,
    WITH_JAX,
    Environment,
    Failed,
    Unavailable,
    build_wheel,
    find_python,
    make_variables,
    run,
)

NEWEST = list(TESTED)[-1]
COUNTS = re.compile(r"^\d+ (?:passed|failed|skipped|error).*$", re.MULTILINE)


def read_numbers(release):
    return tuple(map(int, release.split(".")))


def list_releases(python):
    """The series of JAX on PyPI, for this Python, oldest first, from the oldest tested series on."""
    try:
        said = run([python, "-m", "pip", "--disable-pip-version-check", "index", "versions", "jax"])
    except Failed as failed:
        raise Unavailable(f"PyPI does not say what it has: {str(failed).splitlines()[-1]}") from failed
    releases = re.search(r"^Available versions: (.+)$", said, re.MULTILINE).group(1).split(", ")
    numbered = [release for release in releases if re.fullmatch(r"[\d.]+", release)]
    first = read_numbers(next(iter(TESTED)))[:2]
    return sorted((release for release in numbered if read_numbers(release)[:2] >= first), key=read_numbers)


def choose(releases):
    """The newest of each series, and what is tested."""
    newest = {read_numbers(release)[:2]: release for release in releases}
    return [release for release in releases if release in newest.values() or release in TESTED]


def say_newer(releases):
    newer = [release for release in releases if read_numbers(release) > read_numbers(NEWEST)]
    if newer:
        print(f"PyPI has JAX {', '.join(newer)}, newer than {NEWEST}, the newest in python/src/grout/_tested.py")
    else:
        print(f"PyPI has no JAX that is newer than {NEWEST}")
    return newer


def find_minimum(release):
    """The oldest Python for a release: as for the last tested one that is not newer."""
    older = [python for tested, python in TESTED.items() if read_numbers(tested)[:2] <= read_numbers(release)[:2]]
    return older[-1]


def try_release(release, wheel, tests, work, words):
    """A row of the table, and whether the tests passed."""
    start = time.monotonic()
    python = find_python(find_minimum(release))
    version = run([python, "-c", "import platform; print(platform.python_version())"]).strip()
    mark = "" if release in TESTED else " (not in the list)"
    try:
        environment = Environment(python, work / release)
        environment.install(f"{wheel}[test]", f"jax=={release}", *WITH_JAX)
    except Unavailable as why:
        return f"| {release}{mark} | {version} | not installed: {why} | |", False
    log = work / f"{release}.log"
    with open(log, "w", encoding="utf-8") as file:
        done = subprocess.run([environment.python, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *words],
                              cwd=tests,
                              env={**make_variables(work), "XLA_FLAGS": "--xla_backend_optimization_level=0"},
                              stdout=file, stderr=subprocess.STDOUT, timeout=SECONDS, check=False)
    counts = COUNTS.findall(log.read_text(encoding="utf-8", errors="replace"))
    said = counts[-1].partition(" in ")[0] if counts else f"pytest ended with {done.returncode}"
    said += f"; see {log}" if done.returncode else ""
    return f"| {release}{mark} | {version} | {said} | {time.monotonic() - start:.0f} s |", done.returncode == 0


def test(arguments):
    work = arguments.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    # The newest Python of those that are needed sees all releases.
    builder = Environment(find_python(TESTED[NEWEST]), work / "builder")
    releases = list_releases(builder.python)
    if arguments.newer:
        return 1 if say_newer(releases) else 0
    builder.install("setuptools", "cffi")
    wheel, tests = build_wheel(builder, arguments.build.resolve(), work)
    print("| JAX | Python | tests | time |\n|---|---|---|---|", flush=True)
    passed = True
    for release in releases if arguments.every_release else choose(releases):
        row, is_good = try_release(release, wheel, tests, work, arguments.words)
        print(row, flush=True)
        passed = passed and is_good
    print()
    say_newer(releases)
    return 0 if passed else 1


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--every-release", action="store_true")
    parser.add_argument("--newer", action="store_true")
    arguments, words = parser.parse_known_args()
    arguments.words = words
    if not arguments.newer and not arguments.build:
        parser.error("--build is missing")
    try:
        return test(arguments)
    except Unavailable as why:
        print(f"skipped: {why}")
        return SKIPPED
    except Failed as failed:
        print(failed)
        return 1


if __name__ == "__main__":
    sys.exit(main())
