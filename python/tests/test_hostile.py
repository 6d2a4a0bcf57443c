# SPDX-License-Identifier: Apache-2.0
"""Kernels that somebody else wrote: what is in them steers no terminal, notebook or log."""
import pathlib
import re
import subprocess
import sys

import pytest

import grout

pytestmark = pytest.mark.library

HOSTILE = pathlib.Path(__file__).resolve().parents[2] / "tests" / "hostile" / "hostile.py"
# A verdict, commands of workflows, a colour, a mark of direction, C1.
FORGED = "\\n@k: clean\\n  holds for every schedule\\n::error::x\\n##[error]x \u202e\u0085\u009b31m"
KERNEL = """kernel @k(%x: in gmem f32[64], %y: out gmem f32[64])
{
  scratch %s : smem f32[64]
  store %s, (load %x)
  debug_print "FORGED"
  debug_check (eq 0, WHICH), "FORGED"
  copy_smem_to_gmem %s, %y // \u202e\u0085 ##[error]x
  wait_smem_to_gmem 0
}
""".replace("FORGED", FORGED)
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def check_text(text):
    """Steers nothing, and has no line that the kernel made."""
    assert not STEERING.search(text), text
    lines = text.split("\n")
    assert not [line for line in lines if line.lstrip().startswith("::") or "##[" in line], text
    assert "@k: clean" not in lines and "  holds for every schedule" not in lines, text


def test_prints_and_reports(capsys):
    kernel = grout.load(KERNEL.replace("WHICH", "1"))
    lines = []
    report = kernel.check(print=lines.append)
    assert len(lines) == 1 and lines[0].startswith("CTA 0, thread 0: \n  | @k: clean\n  |   holds for"), lines
    for text in (*lines, str(report), str(report.findings[0])):
        check_text(text)
    check_text(re.sub(r"<[^>]*>", "", report._repr_html_()))
    report.show()
    kernel.check()
    check_text(capsys.readouterr().out)
    with pytest.raises(grout.CheckError) as caught:
        report.expect_clean()
    check_text(str(caught.value))
    check = next(finding for finding in report.findings if finding.code == "debug-check-failed")
    assert "\n@k: clean\n" in check.message  # what a program reads is what it was


def test_names_of_files(tmp_path):
    path = tmp_path / "a\n@k: clean\n::error ::x\x1b[2J\u202e\x85##[error]\udcff.grout"
    path.write_text("// allow: nonsense x\n" + KERNEL.replace("WHICH", "1"), encoding="utf-8")
    with pytest.raises(grout.GroutError) as caught:
        grout.load(path)
    check_text(str(caught.value))
    path.write_text(KERNEL.replace("WHICH", "1"), encoding="utf-8")
    report = grout.load(path).check()
    check_text(str(report))
    check_text(str(report.findings[0].place))
    path.write_text("kernel @k( \u202e\n::error::\x1b[2J\n", encoding="utf-8")
    with pytest.raises(grout.KernelError) as caught:
        grout.load(path)
    check_text(str(caught.value))


def test_scripts():
    """Programs that used to go on after an exception or Ctrl-C."""
    command = [sys.executable, HOSTILE, "--python", sys.executable]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert done.returncode == 0 and done.stdout.count(": passed") == 3, done.stdout
