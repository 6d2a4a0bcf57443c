# SPDX-License-Identifier: Apache-2.0
"""Reports: the verdict, the findings, their texts."""
import io

import numpy
import pytest

import grout


def test_a_clean_report(add_one):
    report = add_one.check()
    assert report.is_clean and report.verdict == "clean" and report.findings == () and report.kernel == "add_one_smem"
    assert report.holds_for_every_schedule
    assert str(report) == ("@add_one_smem: clean\n"
                           "  covered: grid(x=2); inputs %x: ints; fair schedule, lazy timing\n"
                           "  holds for every schedule and timing of this launch with these inputs")
    assert report.expect_clean() is report
    assert report.stats.steps > 0 and report.stats.ctas_done == 2 and report.accesses > 0


def test_arrays_and_consts_are_covered(add_one):
    report = add_one.check(x=numpy.zeros(512, "float32"), B=64, schedule="random", seed=3)
    assert report.coverage == ("grid(x=8); B=64 (given), N=512 (dimension 0 of %x); inputs %x: given; random schedule, "
                               "lazy timing, seed 3")


def test_a_launch_list_is_not_covered():
    kernel = grout.load("launch @k(%y)\n\nkernel @k(%y: out gmem f32[4])\n{\n"
                        "  store %y, (broadcast 1.0 : f32[4])\n}\n")
    assert "; alone, not in the file's launch list" in str(kernel.check())


def test_a_finding_has_all_its_parts(kernels):
    report = grout.load(kernels / "bugs" / "add_tma_no_commit.grout").check()
    assert report.verdict == "error" and len(report.errors) == 3 and not report.is_clean
    finding = {finding.code: finding for finding in report.findings}["missing-commit-smem"]
    assert finding.severity == "error" and finding.message == "TMA may read stale bytes of %cs"
    assert (finding.place.line, finding.place.column, finding.related.line) == (34, 5, 33)
    assert finding.place.file.endswith("add_tma_no_commit.grout")
    assert finding.repair == "insert 'commit_smem' before the copy at line 34"
    assert (finding.edit.position, finding.edit.text, finding.edit.place.line) == ("before", "commit_smem", 34)
    assert [access.kind for access in finding.accesses] == ["read", "write"]
    assert finding.accesses[0].engine == "TMA, async proxy" and "CTA (x=0)" in finding.accesses[0].where
    assert finding.count == 32 and len(finding.identity) == 16 and finding.follows_from is None
    assert "commit_smem" in finding.missing_edge and finding.meaning
    assert finding.short == "missing-commit-smem at lines 34 and 33"
    text = str(report)
    assert "[missing-commit-smem]" in text and "   34 |     copy_smem_to_gmem" in text
    assert "  seen 32 times" in text and "@add_tma_no_commit: error, 3 errors" in text


def test_what_follows_stands_with_its_cause(kernels):
    report = grout.load(kernels / "bugs" / "matmul_hopper_read_early.grout").check()
    for finding in report.findings:
        assert all(follower.follows_from is finding for follower in finding.followers)
    heads = [finding for finding in report.findings if finding.follows_from is None]
    assert heads and str(report).count(": error: ") == len([h for h in heads if h.severity == "error"])


def test_a_report_of_an_error_is_raised_where_clean_is_expected(kernels):
    report = grout.load(kernels / "bugs" / "missing_arrive.grout").check()
    with pytest.raises(grout.CheckError) as caught:
        report.expect_clean()
    assert caught.value.report is report and str(caught.value) == str(report) and "[deadlock]" in str(report)


def test_at_most_so_many_findings_are_listed(kernels):
    kernel = grout.load(kernels / "bugs" / "add_tma_no_commit.grout")
    report = kernel.check(max_findings=1)
    assert len(report.findings) == 3
    assert str(report).count(": error: ") == 1 and "@add_tma_no_commit: error, 3 errors, 2 past" in str(report)


def test_html_and_colours(kernels, monkeypatch):
    report = grout.load(kernels / "bugs" / "matmul_hopper_no_commit.grout").check()
    page = report._repr_html_()
    assert page.startswith("<pre") and "\033" not in page and page.count("<span") == page.count("</span>") > 3
    assert "%scale, ..." not in page and "<script" not in page
    assert report.findings[0]._repr_html_().startswith("<pre")
    plain = io.StringIO()
    report.show(plain)
    assert plain.getvalue() == str(report) + "\n"
    terminal = io.StringIO()
    terminal.isatty = lambda: True
    monkeypatch.delenv("NO_COLOR", raising=False)
    report.show(terminal)
    assert "\033[1;31m" in terminal.getvalue()
    monkeypatch.setenv("NO_COLOR", "1")
    quiet = io.StringIO()
    quiet.isatty = lambda: True
    report.show(quiet)
    assert "\033" not in quiet.getvalue()


def test_html_is_escaped():
    kernel = grout.load("kernel @k(%x: out gmem f32[4])\n{\n  debug_check false, \"<b>&\"\n  store %x, (broadcast 1.0 "
                        ": f32[4])\n}\n")
    report = kernel.check()
    assert "<b>" not in report._repr_html_() and "&lt;b&gt;&amp;" in report._repr_html_()


def test_a_limit_makes_it_incomplete(slow):
    report = slow.check(max_steps=100)
    assert report.verdict == "incomplete" and not report.is_clean and not report.holds_for_every_schedule
    assert "the run is incomplete: the limit of steps was reached (max_steps)" in report.promise
    report = slow.check(R=1 << 30, timeout=0.05)
    assert report.verdict == "incomplete" and "the time was over (timeout)" in str(report)


def test_a_check_writes_no_array_of_the_caller():
    kernel = grout.load("kernel @k(%x: inout gmem f32[4])\n{\n  store %x, (add (load %x), 1.0)\n}\n")
    x = numpy.zeros(4, "float32")
    x.flags.writeable = False
    assert kernel.check(x).is_clean
    assert not x.any()


def test_non_finite_values(add_one):
    report = add_one.check(non_finite=True)
    assert "no operation made NaN or infinity out of numbers" in str(report)


@pytest.mark.parametrize("option", [{"schedule": "fiar"}, {"schedule": "pct"}, {"schedule": "pct:0"}, {"seed": -1},
                                    {"timing": "late"}, {"arch": "sm_80"}, {"numerics": None},
                                    {"schedule": "replay"}, {"sms": 1 << 32}])
def test_other_options_are_refused(add_one, option):
    with pytest.raises(ValueError, match=next(iter(option))):
        add_one.check(**option)


def test_unknown_names_are_refused(add_one):
    with pytest.raises(TypeError, match="no parameter, const or option 'schedul'"):
        add_one.check(schedul="fair")
    with pytest.raises(TypeError, match="given twice"):
        add_one.check(numpy.zeros(256, "float32"), x=numpy.zeros(256, "float32"))
    with pytest.raises(TypeError, match="has 2 parameters, and 3"):
        add_one.check(None, None, None)
    with pytest.raises(TypeError, match="const N: a str is not a number"):
        add_one.check(N="256")
    with pytest.raises(OverflowError):
        add_one.check(N=1 << 63)


def test_names_like_options_go_into_values():
    kernel = grout.load("const seed = 4\nkernel @k(%timing: in gmem f32[seed], %y: out gmem f32[seed])\n{\n"
                        "  store %y, (load %timing)\n}\n")
    report = kernel.check(values={"timing": numpy.zeros(8, "float32")}, timing="eager")
    assert "seed=8 (dimension 0 of %timing)" in report.coverage and "eager timing" in report.coverage
    assert kernel.check(values={"seed": 16}).is_clean


def test_warnings_of_the_verifier_are_shown():
    report = grout.load("kernel @k(%x: in gmem f32[4])\n{\n  %v = load %x\n}\n").check()
    assert [warning.code for warning in report.warnings] == ["unused-result"] and "[unused-result]" in str(report)


WRONG = """kernel @k(%x: in gmem f32[128], %y: out gmem f32[128])
{{
  scratch %xs : smem f32[128]
  store %xs, (load %x)
  {above}
  copy_smem_to_gmem %xs, %y  {after}
  wait_smem_to_gmem 0
}}
"""


@pytest.mark.parametrize("above, after", [("", "// note // allow: missing-commit-smem it is a test"),
                                           ("// allow: missing-commit-smem, smem-race it is a test", "")])
def test_comments_silence_findings(above, after):
    report = grout.load(WRONG.format(above=above, after=after)).check()
    assert report.is_clean and report.findings == () and "@k: clean, 1 silenced" in str(report)
    assert [finding.silenced for finding in report.silenced] == ["it is a test"]


def test_comments_of_other_lines_and_codes_silence_nothing():
    text = WRONG.format(above="debug_print \"// allow: missing-commit-smem x\"", after="// allow: smem-race x")
    assert grout.load(text).check(print=None).verdict == "error"


@pytest.mark.parametrize("comment, why", [("// allow: no-such-code x", "there is no code"),
                                          ("// allow: smem-race", "write '// allow: CODE"),
                                          ("// allow: syntax x", "not a finding of a run"),
                                          ("// allow: step-limit x", "not a finding of a run")])
def test_broken_comments_are_refused(comment, why):
    with pytest.raises(grout.GroutError, match=why):
        grout.load(WRONG.format(above=comment, after=""))
    with pytest.raises(grout.GroutError, match="no code follows"):
        grout.load(WRONG.format(above="", after="") + "// allow: smem-race x")


def test_a_lowered_error_is_said():
    kernel = grout.load(WRONG.format(above="", after=""))
    report = kernel.check(severity={"missing-commit-smem": "warning"})
    assert report.verdict == "warning" and not report.is_clean and report.errors == ()
    assert [(finding.code, finding.severity, finding.is_lowered) for finding in report.findings] == [
        ("missing-commit-smem", "warning", True)]
    text = str(report)
    assert ": warning: TMA may read stale bytes" in text and "@k: warning, 1 warning" in text
    assert "; severity missing-commit-smem=warning" in text
    with pytest.raises(grout.CheckError, match="missing-commit-smem"):
        report.expect_clean()
    # Other codes keep theirs, and what is silenced has none.
    assert kernel.check(severity={"smem-race": "warning"}).verdict == "error"
    silenced = grout.load(WRONG.format(above="", after="// allow: missing-commit-smem it is a test"))
    assert silenced.check(severity={"missing-commit-smem": "warning"}).verdict == "clean"


def test_a_raised_warning_is_an_error():
    kernel = grout.load("kernel @k(%y: out gmem f32[4])\n{\n}\n")
    report = kernel.check()
    assert (report.verdict, [finding.code for finding in report.findings]) == ("clean", ["output-not-written"])
    report = kernel.check(severity={"output-not-written": "error"})
    assert report.verdict == "error" and report.errors[0].code == "output-not-written" and ": error: " in str(report)


def test_what_follows_from_a_lowered_error_stands_alone(kernels):
    kernel = grout.load(kernels / "bugs" / "matmul_hopper_read_early.grout")
    codes = {finding.code for finding in kernel.check().findings}
    lowered = kernel.check(severity=dict.fromkeys(codes, "warning"))
    assert lowered.verdict == "warning" and {finding.severity for finding in lowered.findings} == {"warning"}
    for finding in kernel.check(severity={kernel.check().errors[0].code: "warning"}).errors:
        assert finding.follows_from is None or finding.follows_from.severity == "error"


@pytest.mark.parametrize("severity, why", [
    ({"missing-commit-smen": "warning"}, "there is no code 'missing-commit-smen': did you mean 'missing-commit-smem'"),
    ({"missing-commit-smem": "off"}, "can be 'error' or 'warning', not 'off'; a comment '# allow: missing-commit-smem"),
    ({"missing-commit-smem": None}, "not 'None'"), ({"syntax": "warning"}, "not a finding of a run"),
    ({"step-limit": "warning"}, "not a finding of a run"), ("missing-commit-smem=warning", "it is a dict")])
def test_severities_that_are_none(severity, why):
    with pytest.raises(ValueError, match=why):
        grout.load(WRONG.format(above="", after="")).check(severity=severity)


# ---- racing writes of equal values ----------------------------------------------------------------------------------

SAME = """kernel @k(%x: in gmem f32[2, 32], %y: out gmem f32[32]) grid(c = 2)
{{
  store %y, (load %x[{row}])
}}
"""


@pytest.mark.parametrize("given", [None, numpy.zeros((2, 32), numpy.float32)], ids=["invented", "given"])
def test_racing_writes_of_equal_values(given):
    arrays = [] if given is None else [given]
    report = grout.load(SAME.format(row="0")).check(*arrays)
    assert [(one.code, one.severity) for one in report.findings] == [("same-value-race", "warning")], str(report)
    assert report.verdict == "clean" and report.holds_for_every_schedule
    assert report.promise.endswith("with racing writes of equal values")
    other = grout.load(SAME.format(row="(axis_index c)")).check(*arrays)
    assert other.verdict == "error" and other.findings[0].code == "gmem-race"
    assert ("different ones with others" in str(other)) == (given is not None)  # rows of zeros are equal
    assert given is None or not given.any()


def test_what_stops_a_check_stops_its_judge():
    def stop(_):
        calls.append(1)
        if len(calls) > 1:
            raise KeyError("stopped")
    calls = []
    with pytest.raises(KeyError, match="stopped"):
        grout.load(SAME.format(row="0")).check(progress=stop, threads=2)


def test_strict_fences_ask_for_one_behind_a_load_of_gmem():
    kernel = grout.load("""kernel @k(%m: inout gmem f32[64], %y: out gmem f32[64])
{
  scratch %s : smem f32[64]
  store %s, (broadcast 7.0 : f32[64])
  commit_smem
  %v = load %m
  copy_smem_to_gmem %s, %m
  store %y, %v
  wait_smem_to_gmem 0
}
""")
    assert kernel.check().is_clean
    strict = kernel.check(strict_fences=True)
    assert [(finding.code, finding.severity, finding.place.line) for finding in strict.findings] == [
        ("missing-commit-gmem", "warning", 7)]


def test_repeat():
    """A counter that nobody resets shows in the second launch, and elements without a value stay so."""
    text = """
kernel @k(%n: inout gmem i32[1] init(zeros), %y: inout gmem i32[1]) grid(g = 2)
{
  %t = atomic_fetch_add %n[0], 1
  debug_check (lt %t, 2), "ticket {}", %t
}
"""
    kernel = grout.load(text)
    assert kernel.check().is_clean and kernel.check(repeat=1).is_clean
    report = kernel.check(repeat=3)
    assert report.verdict == "error" and "launch 2 of 3" in report.coverage
    reset = grout.load(text.replace("  debug_check",
                                    "  if (eq %t, 1) {\n    %o = atomic_exchange %n[0], 0\n  }\n  debug_check"))
    assert reset.check(repeat=3).is_clean
    with pytest.raises(ValueError, match="repeat=0"):
        kernel.check(repeat=0)


def test_a_second_look_finds_what_the_run_alone_does_not(kernels):
    """The answer of a test while a copy is in flight; with explore=False it is the run's alone."""
    folder = kernels.parent / "tests" / "behaviour" / "exploration" / "in_flight"
    kernel = grout.load(folder / "test-of-bytes-in-flight.grout")
    report, alone = kernel.check(), kernel.check(explore=False)
    assert [finding.code for finding in report.findings] == ["out-of-bounds"]
    assert report.promise.startswith("fails under 1 of the 2 schedules")
    assert not alone.findings and not alone.holds_for_every_schedule
    fixed = grout.load(folder / "test-of-bytes-in-flight-fixed.grout")
    assert fixed.check().holds_for_every_schedule and not fixed.check(explore=False).holds_for_every_schedule


@pytest.mark.parametrize("name", ["counter-reset-by-first", "counter-reset-by-first-fixed"])
def test_a_limit_in_another_schedule_makes_it_incomplete(kernels, name):
    """The run itself ends in time: nothing is known of the schedules that take more turns."""
    kernel = grout.load(kernels.parent / "tests" / "behaviour" / "exploration" / f"{name}.grout")
    report = kernel.check(max_steps=kernel.check(explore=False).stats.steps + 1)
    assert report.verdict == "incomplete" and not report.holds_for_every_schedule
    assert [finding.code for finding in report.findings] == ["step-limit"]
    assert "the limit of steps was reached (max_steps)" in report.promise
    with pytest.raises(grout.CheckError):
        report.expect_clean()
