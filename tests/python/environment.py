# SPDX-License-Identifier: Apache-2.0
"""A new virtual environment for a test, what goes into it from PyPI, and the wheel of this checkout."""
import contextlib
import fcntl
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))
from limit import SECONDS

SKIPPED = 77
# Release of JAX, oldest first: the oldest Python that it runs on.
TESTED = runpy.run_path(str(ROOT / "python" / "src" / "grout" / "_tested.py"))["JAX"]
# What the tests of jax_call and grout.pallas need beside it.
WITH_JAX = ["absl-py"]
# What pip says when it reaches no index, or one that has nothing.
OUT_OF_REACH = re.compile(r"NewConnectionError|ConnectTimeout|ReadTimeout|ProxyError|SSLError|ConnectionError|"
                          r"Temporary failure in name resolution|Network is unreachable|\(from versions: none\)")
# What it says where there is no wheel for this machine or this Python.
NO_WHEEL = re.compile(r"Could not find a version that satisfies the requirement \S+|Requires-Python \S+|"
                      r"not a supported wheel on this platform|Failed to build \S+")


class Failed(Exception):
    pass


class Unavailable(Exception):
    """Not a fault of what is tested: the test is skipped."""


def run(command, **keywords):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=SECONDS, check=False, **keywords)
    if done.returncode != 0:
        raise Failed(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


def find_python(minimum):
    """This Python if it is new enough, else another one."""
    if sys.version_info[:2] >= tuple(map(int, minimum.split("."))):
        return pathlib.Path(sys.executable)
    done = subprocess.run([ROOT / "tools" / "newer_python.sh", minimum], capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    if done.returncode == SKIPPED:
        raise Unavailable(done.stderr.strip().splitlines()[-1])
    if done.returncode != 0:
        raise Failed(f"tools/newer_python.sh {minimum}: exit {done.returncode}\n{done.stderr}")
    return pathlib.Path(done.stdout.strip())


class Environment:
    """A new virtual environment of this Python in this folder."""

    def __init__(self, python, folder):
        # The pip that is there serves the new environment too: to install another one takes longer than all that it
        # does.
        pip = run([python, "-c", ("import importlib.util as util; found = util.find_spec('pip'); "
                   "print(found.origin if found else '')")]).strip()
        shutil.rmtree(folder, ignore_errors=True)
        try:
            run([python, "-m", "venv", *(["--without-pip"] if pip else []), folder])
        except Failed as failed:
            raise Unavailable(f"Python makes no virtual environment: {str(failed).splitlines()[-1]}") from failed
        self.python = folder / "bin" / "python"
        if pip:
            library, = folder.glob("lib/python3*/site-packages")
            os.symlink(pathlib.Path(pip).parent, library / "pip")

    def pip(self, *words, **keywords):
        return run([self.python, "-m", "pip", "--disable-pip-version-check", "--no-input", "-q", *words], **keywords)

    def install(self, *requirements):
        try:
            self.pip("install", "--prefer-binary", "--retries", "1", "--timeout", "15", "--no-compile",
                     "-c", HERE / "constraints.txt", *requirements)
        except Failed as failed:
            if OUT_OF_REACH.search(str(failed)):
                raise Unavailable(f"PyPI is out of reach: {OUT_OF_REACH.search(str(failed)).group(0)}") from failed
            if NO_WHEEL.search(str(failed)):
                raise Unavailable(NO_WHEEL.search(str(failed)).group(0)) from failed
            raise


@contextlib.contextmanager
def lock(path):
    """For one process at a time."""
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def build_wheel(environment, build, work):
    """From a copy of the sources, beside which a build leaves a folder; the tests stay in the copy."""
    source = work / "source" / "python"
    shutil.rmtree(source.parent, ignore_errors=True)
    for old in work.glob("*.whl"):
        old.unlink()
    shutil.copytree(ROOT / "python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__",
                                                                           "_native", "_build.py", "_declarations.py"))
    for name in ("include", "CMakePresets.json", "LICENSE", "kernels", "docs", "tests", "doors", "tools"):
        os.symlink(ROOT / name, source.parent / name)
    with lock(build / "wheel.lock"):
        environment.pip("wheel", "--no-deps", "--no-build-isolation", "-w", work, source,
                        env={**os.environ, "GROUT_WHEEL_BUILD": str(build)})
    wheel, = work.glob("*.whl")
    shutil.rmtree(source / "src")
    return wheel, source / "tests"


def make_variables(work):
    """What the tests run with. What is imported is compiled once, for all their processes, beside no source."""
    variables = {**os.environ, "PYTHONPYCACHEPREFIX": str(work / "bytecode")}
    for name in ("GROUT_LIBRARY", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"):
        variables.pop(name, None)
    mypy = ROOT / "build" / "python-lints" / "bin" / "mypy"  # where tools/python_lints.sh has put it
    if mypy.exists():
        variables.setdefault("GROUT_MYPY", str(mypy))
    return variables
