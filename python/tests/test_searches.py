# SPDX-License-Identifier: Apache-2.0
"""sweep, explore, minimise, advice and fix, and the forms of their reports: what the command does, from Python."""
import inspect
import json

import numpy
import pytest

import grout
from grout.builder import Builder, smem

WRONG = """const N = 128
kernel @k(%x: in gmem f32[N], %y: out gmem f32[N])
{
  scratch %s : smem f32[N]
  store %s, (load %x)
  copy_smem_to_gmem %s, %y
  wait_smem_to_gmem 0
}
"""
IDLE = """kernel @k(%y: out gmem i32[2]) threads(wg = 2)
{
  block_barrier
  store %y[(axis_index wg)], 1
}
"""
BY_CHANCE = "counter-reset-by-first"


@pytest.fixture
def wrong():
    return grout.load(WRONG)


@pytest.fixture
def by_chance(kernels):
    return grout.load(kernels.parent / "tests" / "behaviour" / "exploration" / f"{BY_CHANCE}.grout")


def test_forms(wrong):
    report = wrong.check()
    facts = json.loads(report.json())
    assert facts["schema"] == "grout-report/1" and facts["findings"][0]["code"] == "missing-commit-smem"
    assert "text" not in facts["findings"][0]  # what is for Python alone stands in no form
    log = json.loads(report.sarif())
    assert log["version"] == "2.1.0" and log["runs"][0]["results"][0]["ruleId"] == "missing-commit-smem"
    page = report.html()
    assert page.startswith("<!DOCTYPE html>") and "missing-commit-smem" in page and "copy_smem_to_gmem %s, %y" in page


def test_a_kernel_of_no_file_has_no_command(wrong):
    report = wrong.check()
    assert report.command == "" and "grout check" not in report.json() and "grout check" not in str(report)


def test_a_kernel_of_a_file_has_one(kernels):
    path = kernels / "bugs" / "add_tma_no_commit.grout"
    assert grout.load(path).check().command.startswith(f"grout check {path}")


def test_sweep(wrong):
    report = wrong.sweep({"N": [32, 64]})
    assert [size.binding for size in report.sizes] == [{"N": 32}, {"N": 64}]
    assert [size.verdict for size in report.sizes] == ["error", "error"] and report.verdict == "error"
    assert [finding.code for finding in report.findings] == ["missing-commit-smem"]
    assert "N=64" in report.html() and json.loads(report.sarif())["runs"]
    assert "@k" in str(report)
    assert report.coverage.startswith("2 of 2 sizes")


def test_a_size_that_is_not_legal_is_said():
    kernel = grout.load("const N = 4\nrequire N < 8, \"small\"\n" + WRONG.split("\n", 1)[1])
    report = kernel.sweep({"N": [4, 64]})
    assert [size.verdict for size in report.sizes] == ["error", "invalid"] and not report.is_clean


def test_sweep_takes_an_iterator_once(wrong):
    assert len(wrong.sweep({"N": iter((32, 64))}).sizes) == 2


@pytest.mark.parametrize("sizes, error", [({}, ValueError), (None, ValueError), ({"M": [1]}, TypeError),
                                          ({"N": []}, ValueError), ({"N": ["x"]}, TypeError), ({"N": 3}, TypeError)])
def test_sweep_says_what_is_wrong(wrong, sizes, error):
    with pytest.raises(error):
        wrong.sweep(sizes)


def test_sweep_of_a_const_that_is_given(wrong):
    with pytest.raises(TypeError, match="given twice"):
        wrong.sweep({"N": [32]}, N=64)


def test_minimise(wrong):
    report = wrong.minimise()
    assert report.verdict == "error" and "minimised missing-commit-smem" in report.remarks
    assert "N=4 (given)" in report.coverage


def test_minimise_what_is_clean():
    report = grout.load(IDLE).minimise()
    assert report.is_clean and report.remarks == ""


def test_explore(by_chance):
    report = by_chance.explore(budget=5.0)
    assert report.verdict == "error" and "deadlock" in {finding.code for finding in report.findings}
    assert report.files and all(name.endswith(".schedule") for name in report.files)


def test_advice():
    report = grout.load(IDLE).advice()
    assert report.is_clean and [advice.code for advice in report.advice] == ["redundant-barrier"]
    assert report.advice[0].place.line == 3 and "without this block_barrier" in report.advice[0].message
    assert report.findings == ()


def test_fix(wrong):
    fix = wrong.fix()
    assert fix.is_clean and fix.is_changed and fix.report.is_clean
    assert "+  commit_smem\n" in fix.diff and "  commit_smem\n" in fix.text and "1 change" in fix.outcome
    assert fix.steps and "insert 'commit_smem'" in fix.steps[0] and fix.diff.strip() in str(fix)
    assert grout.load(fix.text).check().is_clean
    assert '<span style="color:#2e7d32">+  commit_smem</span>\n' in fix._repr_html_()
    with pytest.raises(ValueError, match="of no file"):
        fix.write()


def test_fix_writes_its_file(tmp_path):
    path = tmp_path / "k.grout"
    path.write_text(WRONG, encoding="utf-8")
    fix = grout.load(path).fix()
    assert path.read_text(encoding="utf-8") == WRONG  # nothing yet
    fix.write(tmp_path / "other.grout")
    fix.write()
    assert path.read_text(encoding="utf-8") == fix.text == (tmp_path / "other.grout").read_text(encoding="utf-8")
    with pytest.raises(grout.GroutError, match="has changed"):
        fix.write()


def test_fix_of_what_is_right():
    fix = grout.load(IDLE).fix()
    assert not fix.is_changed and fix.is_clean and fix.text == IDLE and "clean" in str(fix)


def test_fix_that_finds_nothing(wrong):
    fix = wrong.fix(budget=1e-6)
    assert not fix.is_changed and not fix.is_clean and "no change helps" in fix.outcome and not fix.report.is_clean


AGAINST = """const N = 128, B = 32
kernel @k(%x: in gmem f32[N], %y: out gmem f32[N]) threads(wg = 1)
{
  for %i in 0..N / B - 1 {
    store %y[ds(B * %i, B)], (mul (load %x[ds(B * %i, B)]), 2.0)
  }
}
kernel @reference(%x: in gmem f32[N], %y: out gmem f32[N])
{
  store %y, (add (load %x), (load %x))
}
check @k against @reference
"""


def test_values_against_a_reference():
    kernel = grout.load(AGAINST, kernel="k")
    x = numpy.arange(128, dtype=numpy.float32)
    report = kernel.check(x)
    found = [finding for finding in report.findings if finding.code == "compare-mismatch"]
    assert len(found) == 1 and not report.is_clean, report
    fix = kernel.fix(x)
    assert "- 1" not in fix.text and fix.report.is_clean, fix
    assert grout.load(fix.text, kernel="k").check(x).is_clean
    assert kernel.minimise().findings[0].code == "compare-mismatch"


def test_more_sizes_than_can_be(wrong):
    with pytest.raises(grout.GroutError, match="more than 1024 sizes"):
        wrong.sweep({"N": range(32, 32 * 200000, 32)}, budget=1)


def build_wrong():
    b = Builder("built")
    with b.kernel("wrong"):
        x, y = b.array("x", "in", "f32", 64), b.array("y", "out", "f32", 64)
        s = b.scratch("s", smem("f32", 64))
        s[...] = x[...] + 1.0
        b.copy_smem_to_gmem(s, y)
        b.wait_smem_to_gmem(0)
    return b.finish()["wrong"]


def test_a_kernel_that_was_built():
    """The page shows the lines of Python; a repair is of the kernel as it is printed."""
    kernel = build_wrong()
    report = kernel.check()
    assert [finding.place.file for finding in report.findings] == [__file__]
    assert "b.copy_smem_to_gmem(s, y)" in report.html() and report.command == ""
    fix = kernel.fix()
    assert fix.is_clean and "+  commit_smem\n" in fix.diff and fix.text.startswith("kernel @wrong")
    assert kernel.minimise().verdict == "error"


def test_seeds(by_chance):
    """Each run that chance decides is one of the report."""
    report = by_chance.check(seeds=20, seed=5, explore=False)
    assert [size.seed for size in report.sizes] == list(range(5, 25))
    assert {size.verdict for size in report.sizes} == {"clean", "error"}
    assert report.verdict == "error" and "20 of 20 seeds" in report.coverage
    assert by_chance.check(schedule="random", seed=5, timing="random").verdict == report.sizes[0].verdict
    with pytest.raises(ValueError, match="seeds=1025"):
        by_chance.check(seeds=1025)
    with pytest.raises(grout.GroutError, match="goes by a seed"):
        by_chance.check(seeds=2, timing="eager")


@pytest.mark.parametrize("name", ["explore", "minimise", "advice", "fix", "sweep"])
def test_a_search_shows_the_options_of_check(name):
    """For completion in editors and notebooks."""
    def get_options(method):
        return {key: value.default for key, value in inspect.signature(method).parameters.items()
                if value.kind is value.KEYWORD_ONLY}
    of_check = get_options(grout.Kernel.check)
    shown = get_options(getattr(grout.Kernel, name))
    assert shown.pop("budget") is None
    for option in ("repeat", "seeds", "explore", "writes"):
        of_check.pop(option)
    assert shown == of_check
    assert "budget" in getattr(grout.Kernel, name).__doc__


def test_options_are_those_of_check(wrong):
    x = numpy.ones(16, "float32")
    for search in (wrong.explore, wrong.minimise, wrong.advice):
        report = search(x, seed=3, timing="eager", timeout=30.0, max_findings=5,
                        severity={"missing-commit-smem": "warning"})
        assert "missing-commit-smem=warning" in report.coverage
    with pytest.raises(TypeError, match="no parameter, const or option"):
        wrong.explore(schedul="fair")
    with pytest.raises((TypeError, ValueError)):
        wrong.minimise(budget=-1)


def test_callbacks_end_a_search(by_chance):
    def stop(_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        by_chance.explore(progress=stop, budget=5.0)
