#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as a user gets it: a new virtual environment, the wheel built and installed, its tests.

usage: run_python.py --build BUILD --work FOLDER --jax oldest|newest

BUILD is a build tree with the target grout_bundle. JAX is the oldest or the newest that grout is tested with
(python/src/grout/_tested.py); what else the package needs comes from PyPI in the versions of constraints.txt. The
newest JAX may want a newer Python than this one: tools/newer_python.sh finds it. With the newest a test with many cases
has each fifth of them. With the oldest each 24th test of a file runs, and none that has the mark 'library', unless
there is no Python for the newest. every_series.py runs all with each release.
Exits 77 where PyPI is out of reach, where Python makes no virtual environments, and where there is no Python or no
wheel for the newest JAX. With the oldest, tests that need JAX are skipped where PyPI has none for this Python. The
reason is printed.
"""
import argparse
import pathlib
import sys
import time

from environment import (
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

# What XLA makes is to come soon, not to be fast. A release without one of these flags ends at it.
XLA = {"oldest": "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false",
       "newest": "--xla_backend_optimization_level=0"}


def install_package(environment, wheel, release, is_needed):
    """With JAX where that can be had."""
    try:
        environment.install(f"{wheel}[test]", f"jax=={release}", *WITH_JAX)
    except Unavailable as why:
        if is_needed:
            raise
        print(f"skipped the tests that need JAX: {why}")
        environment.install(f"{wheel}[test]")


def choose_tests(which):
    """Words for pytest."""
    if which == "newest":
        return ["--few", "5"]
    try:
        find_python(TESTED[list(TESTED)[-1]])
    except Unavailable:
        return []
    return ["-m", "not library", "--each", "24"]


def test(build, work, which):
    release = list(TESTED)[0 if which == "oldest" else -1]
    python = find_python(TESTED[release]) if which == "newest" else sys.executable
    work.mkdir(parents=True, exist_ok=True)
    start = time.monotonic()
    environment = Environment(python, work / "venv")
    environment.install("setuptools", "cffi")
    wheel, tests = build_wheel(environment, build, work)
    print(f"{wheel.name}: {wheel.stat().st_size >> 10} KiB")
    install_package(environment, wheel, release, which == "newest")
    print(f"{python}, JAX {release}: built and installed in {time.monotonic() - start:.1f} s")
    start = time.monotonic()
    words = choose_tests(which)
    print(run([environment.python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", *words, tests],
              env={**make_variables(work), "XLA_FLAGS": XLA[which]}).strip())
    print(f"tests: {time.monotonic() - start:.1f} s")
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--jax", choices=sorted(XLA), required=True)
    arguments = parser.parse_args()
    try:
        return test(arguments.build.resolve(), arguments.work.resolve(), arguments.jax)
    except Unavailable as why:
        print(f"skipped: {why}")
        return SKIPPED
    except Failed as failed:
        print(failed)
        return 1


if __name__ == "__main__":
    sys.exit(main())
