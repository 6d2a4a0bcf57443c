#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Python package as a user gets it: a new virtual environment, the wheel built and installed, its tests.

usage: run_python.py --build BUILD --work FOLDER

BUILD is a build tree with the target grout_bundle. What the package needs comes from PyPI, in the versions of
constraints.txt. Exits 77 where PyPI is out of reach, or where Python makes no virtual environments. Tests that need
JAX are skipped where PyPI has none of that version for this Python; the reason is printed.
"""
import argparse
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from limit import SECONDS  # noqa: E402

SKIPPED = 77
# The pip that is there serves the new environment too: to install another one takes longer than all that it does.
PIP = importlib.util.find_spec("pip")
# What pip says when it reaches no index, or one that has nothing.
OUT_OF_REACH = re.compile(r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ConnectionError|"
                          r"Temporary failure in name resolution|Network is unreachable|\(from versions: none\)")
# What the tests of jax_call and grout.pallas need, and what pip says where there is no wheel of it for this machine.
JAX = ["jax", "absl-py"]
NO_WHEEL = re.compile(r"Could not find a version that satisfies the requirement \S+|Requires-Python \S+|"
                      r"not a supported wheel on this platform|Failed to build \S+")
# What XLA makes is to come soon, not to be fast. The second flag is one of the version in constraints.txt.
XLA = "--xla_backend_optimization_level=0 --xla_cpu_use_fusion_emitters=false"


class Failed(Exception):
    pass


def run(command, **keywords):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS, check=False, **keywords)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def skip(why):
    print(f"skipped: {why}")
    return SKIPPED


def install_package(install, wheel):
    """With JAX where that can be had."""
    try:
        run([*install, f"{wheel}[test]", *JAX])
    except Failed as failed:
        why = OUT_OF_REACH.search(str(failed)) or NO_WHEEL.search(str(failed))
        if not why:
            raise
        print(f"skipped the tests that need JAX: {why.group(0)}")
        run([*install, f"{wheel}[test]"])


def test(build, work):
    shutil.rmtree(work, ignore_errors=True)
    try:
        run([sys.executable, "-m", "venv", *(["--without-pip"] if PIP else []), work / "venv"])
    except Failed as failed:
        return skip(f"Python makes no virtual environment: {str(failed).splitlines()[-1]}")
    python = work / "venv" / "bin" / "python"
    if PIP:
        library, = (work / "venv").glob("lib/python3*/site-packages")
        os.symlink(pathlib.Path(PIP.origin).parent, library / "pip")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q"]
    install = [*pip, "install", "--prefer-binary", "--retries", "1", "--timeout", "15", "--no-compile",
               "-c", HERE / "constraints.txt"]
    try:
        run([*install, "setuptools", "cffi"])
    except Failed as failed:
        if OUT_OF_REACH.search(str(failed)):
            return skip(f"PyPI is out of reach: {OUT_OF_REACH.search(str(failed)).group(0)}")
        raise
    # What is imported is compiled once, for all processes of the tests, and nothing is written beside the sources.
    environment = {**os.environ, "GROUT_WHEEL_BUILD": str(build), "PYTHONPYCACHEPREFIX": str(work / "bytecode"),
                   "XLA_FLAGS": XLA}
    for name in ("GROUT_LIBRARY", "PYTHONDONTWRITEBYTECODE"):
        environment.pop(name, None)
    # The build leaves a folder beside the sources: a copy keeps them clean.
    source = work / "source" / "python"
    shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__",
                                                                           "_native", "_build.py", "_declarations.py"))
    for name in ("include", "CMakePresets.json", "LICENSE", "kernels", "docs", "tests", "xla"):
        os.symlink(ROOT / name, source.parent / name)
    run([*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", work, source], env=environment)
    wheel, = work.glob("*.whl")
    print(f"{wheel.name}: {wheel.stat().st_size >> 10} KiB")
    start = time.monotonic()
    install_package(install, wheel)
    print(f"installed in {time.monotonic() - start:.1f} s")
    shutil.rmtree(source / "src")
    start = time.monotonic()
    print(run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", source / "tests"], env=environment).strip())
    print(f"tests: {time.monotonic() - start:.1f} s")
    return 0


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    try:
        return test(arguments.build.resolve(), arguments.work.resolve())
    except Failed as failed:
        print(failed)
        return 1


if __name__ == "__main__":
    sys.exit(main())
