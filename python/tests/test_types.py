# SPDX-License-Identifier: Apache-2.0
"""py.typed is true: mypy --strict reads programs that use the installed package."""
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

import pytest

import grout

PROGRAMS = pathlib.Path(__file__).resolve().parent / "types"


def find_mypy():
    """$GROUT_MYPY, or the one of this Python."""
    if sys.version_info < (3, 10):
        pytest.skip("mypy reads no Python before 3.10")
    if os.environ.get("GROUT_MYPY"):
        return [os.environ["GROUT_MYPY"]]
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("there is no mypy: pip install mypy, or GROUT_MYPY=PATH")
    return [sys.executable, "-m", "mypy"]


def test_programs_of_users_have_types(tmp_path):
    command = [*find_mypy(), "--strict", "--python-executable", sys.executable, "--config-file", os.devnull,
               "--cache-dir", str(tmp_path), *map(str, sorted(PROGRAMS.glob("*.py")))]
    # As a user's: not beside the sources of the package.
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stdout + done.stderr
    found = {(pathlib.Path(file).name, int(line))
             for file, line in re.findall(r"^(.+?):(\d+): error: ", done.stdout, re.MULTILINE)}
    wanted = {(program.name, number) for program in PROGRAMS.glob("*.py")
              for number, line in enumerate(program.read_text(encoding="utf-8").splitlines(), 1)
              if line.endswith("# error")}
    assert len(wanted) > 5 and found == wanted, done.stdout
    assert (pathlib.Path(grout.__file__).parent / "py.typed").exists()
