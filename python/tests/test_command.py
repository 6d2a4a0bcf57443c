# SPDX-License-Identifier: Apache-2.0
"""The command that comes with the package: 'python -m grout' and the script 'grout'."""
from __future__ import annotations

import json
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import grout

BROKEN = """kernel @add_one(%x: in gmem f32[128], %y: out gmem f32[128])
{
  scratch %xs : smem f32[128]
  scratch %full : barrier[1]
  copy_gmem_to_smem %x, %xs, %full[0]
  barrier_wait %full[0]
  store %xs, (add (load %xs), 1.0)
  copy_smem_to_gmem %xs, %y
  wait_smem_to_gmem 0
}
"""
LONG = "kernel @k(%y: inout gmem i32[1]) { for %i in 0..2000000000 { store %y[0], %i } }\n"
SCRIPT = pathlib.Path(sys.executable).parent / "grout"
COMMANDS = [pytest.param([sys.executable, "-m", "grout"], id="module"),
            pytest.param([str(SCRIPT)], id="script", marks=pytest.mark.skipif(
                not SCRIPT.exists(), reason="the package was not installed with its script"))]


@pytest.fixture
def broken(tmp_path):
    (tmp_path / "add_one.grout").write_text(BROKEN)
    return tmp_path


def run(command, folder, *words):
    return subprocess.run([*command, *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_checks_repairs_and_runs(command, broken):
    checked = run(command, broken, "check", "add_one.grout")
    assert checked.returncode == 1
    said = "add_one.grout:8:3: error: TMA may read stale bytes of %xs [missing-commit-smem]\n"
    assert checked.stdout.startswith(said)
    repaired = run(command, broken, "fix", "--yes", "add_one.grout")
    assert repaired.returncode == 0, repaired.stderr
    assert "commit_smem\n" in (broken / "add_one.grout").read_text()
    assert run(command, broken, "check", "add_one.grout").returncode == 0
    done = run(command, broken, "run", "add_one.grout", "--output", "y=y.npy")
    assert (done.returncode, (broken / "y.npy").exists()) == (0, True), done.stderr
    assert "__global__" in run(command, broken, "emit", "add_one.grout").stdout


def test_says_what_the_package_says(broken, monkeypatch):
    monkeypatch.chdir(broken)
    said = run([sys.executable, "-m", "grout"], broken, "check", "add_one.grout", "--format", "json")
    report = grout.load("add_one.grout").check()
    assert json.loads(said.stdout)["findings"] == json.loads(report.json())["findings"]


def test_has_exit_codes_and_streams_of_a_command(broken):
    module = [sys.executable, "-m", "grout"]
    version = run(module, broken, "--version")
    assert (version.returncode, version.stdout, version.stderr) == (0, f"grout {grout.__version__}\n", "")
    unknown = run(module, broken, "chek")
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "check" in unknown.stderr
    missing = run(module, broken, "check", "none.grout")
    assert missing.returncode == 2
    assert "none.grout" in missing.stderr


def test_ends_by_a_signal_with_a_report(broken):
    (broken / "long.grout").write_text(LONG)
    with subprocess.Popen([sys.executable, "-m", "grout", "check", "long.grout"], cwd=broken, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as process:
        status = pathlib.Path(f"/proc/{process.pid}/status")
        end = time.monotonic() + 300
        while time.monotonic() < end:  # until the command catches it
            [caught] = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt")]
            if int(caught, 16) >> (signal.SIGTERM - 1) & 1:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "incomplete" in said
