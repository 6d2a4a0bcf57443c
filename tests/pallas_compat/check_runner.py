"""What run.py and gpu.py make of results, without JAX: the kinds of verdicts, the page, the tables that are written by
hand.

usage: check_runner.py --grout PATH

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import re
import subprocess
import sys

import gpu_page
import gpu_verdicts
import page
import verdicts

FILE = "gpu_pallas_interpret_test.py::InterpretTest::"


def make(outcome, message="", codes=(), reports=1):
    return {"outcome": outcome, "message": message, "seconds": 1.0,
            "reports": [{"verdict": "", "codes": list(codes), "coverage": ""}] * reports}


def check_kinds():
    refusal = "grout.pallas._errors.UnsupportedError: /a/b.py:3:4: run_scoped: %x lies in tensor memory\n  3 | x"
    grout = {
        "test_a0": make("passed", codes=["smem-race"]), "test_a1": make("passed"),
        "test_b0": make("failed", refusal, reports=0),
        "test_interpret_kernel9": make("failed", "16 threads in a CTA [bad-launch]", reports=0),
        "test_c": make("failed", "builtins.AssertionError: 3 != 4"), "test_d": make("skipped", reports=0),
        "test_e": make("failed", "builtins.ValueError: of JAX", reports=0)}
    jax = {FILE + case: make("passed") for case in grout}
    jax[FILE + "test_e"] = make("failed", "builtins.ValueError: of JAX", reports=0)
    judged = verdicts.judge(jax, {FILE + case: line for case, line in grout.items()}, {})
    kinds = {case[len(FILE):]: verdict.kind for case, verdict in judged.items()}
    assert kinds == {"test_a0": "same", "test_a1": "same", "test_b0": "refused", "test_interpret_kernel9": "better",
                     "test_c": "wrong", "test_d": "skipped", "test_e": "same"}, kinds
    assert judged[FILE + "test_b0"].is_blackwell and not judged[FILE + "test_c"].is_blackwell
    assert judged[FILE + "test_b0"].why == "run_scoped: %x lies in tensor memory"
    text = page.summarize(judged)
    assert "80.0 % of 5 same or better" in text and "wrong: test_c" in text, text
    assert "with TMEM: 1 refused; 0.0 % of 1 same or better" in text, text
    other = {case: verdict for case, verdict in judged.items() if case != FILE + "test_c"}
    assert page.compare(judged, "0.1", other) == \
        "With JAX 0.1 6 of the cases ran, 1 of them with tensor memory: each came out the same."
    other[FILE + "test_a0"] = judged[FILE + "test_b0"]
    assert page.compare(judged, "0.1", other).endswith("these came out otherwise: `test_a0` (refused)."), other
    rows = list(page.make_rows(judged))
    assert "| `test_a` | 2 | same | `smem-race` |" in rows, rows
    assert "| `test_b` | 1 | refused | run_scoped: %x lies in tensor memory |" in rows, rows


def check_refusals():
    """A kernel that JAX lowers for no GPU either is no gap of grout."""
    refusal = "grout.pallas._errors.UnsupportedError: grout does not take what came of @k:\n" \
        "/a/b.py:3:4: error: an array in a warp_map [bad-region]\n  3 | x"
    cases = {FILE + case: make("failed", refusal, reports=0) for case in ("test_a", "test_b", "test_c")}
    lowered = {FILE + "test_a": {"lowering": "ValueError: Only scalars. Please file an issue."},
               FILE + "test_b": {"lowering": ""}}
    judged = verdicts.judge({}, cases, lowered)
    assert [judged[case].kind for case in cases] == ["better", "refused", "refused"], judged
    assert judged[FILE + "test_a"].why == \
        "an array in a warp_map [bad-region]; JAX lowers it for no GPU either: ValueError: Only scalars", judged
    wrong = verdicts.judge({}, {FILE + "test_a": make("failed", "AssertionError: 3 != 4")}, lowered)
    assert wrong[FILE + "test_a"].kind == "wrong", wrong
    rounded = verdicts.judge({}, {FILE + "test_a": {**make("passed"), "rounding": 4.5e-7}}, {})
    assert rounded[FILE + "test_a"].kind == "same" and "4.5e-07" in rounded[FILE + "test_a"].why, rounded


def make_gpu(outcome, message="", findings=(), kernels=1):
    return {"outcome": outcome, "message": message, "seconds": 1.0, "kernels": kernels, "findings": list(findings),
            "reports": [{}] * kernels}


def check_gpu_kinds():
    error = ["missing-commit-smem", "error", "mosaic_gpu_test.py:1", "TMA may read stale bytes of %x"]
    refusal = "grout.pallas._errors.UnsupportedError: /a/b.py:3:4: stack: there is no counterpart\n  3 | x"
    half = "builtins.AssertionError: \nMismatched elements: 50 / 100 (50%)"
    few = "builtins.AssertionError: \nMismatched elements: 1 / 10000 (0.01%)"
    wanted = {
        "A::test_right": ("same", make_gpu("passed")),
        "A::test_warned": ("same", make_gpu("passed", findings=[["x", "warning", "", ""]])),
        "A::test_get_swap_with_transforms0": ("found", make_gpu("passed", findings=[error])),
        "A::test_new": ("unjudged", make_gpu("passed", findings=[error])),
        "A::test_stack": ("refused", make_gpu("failed", refusal, kernels=0)),
        "A::test_stack_2": ("better", make_gpu("failed", refusal, kernels=0)),
        "A::test_raises": ("accepted", make_gpu("failed", "builtins.AssertionError: ValueError not raised")),
        "A::test_profiler": ("lowering", make_gpu("failed", "builtins.ValueError: no file")),
        "A::test_old": ("misfit", make_gpu("failed", "builtins.TypeError: f() got an unexpected keyword argument 'x'",
                                           kernels=0)),
        "A::test_wrong": ("wrong", make_gpu("failed", half)),
        "A::test_keyword": ("wrong",
                            make_gpu("failed", "builtins.TypeError: f() got an unexpected keyword argument 'x'")),
        "PipelineSm90ATest::test_realistic_matmul": ("rounding", make_gpu("failed", few)),
        "PipelineSm90AWGTest::test_realistic_matmul": ("wrong", make_gpu("failed", half)),
        "CoreMapWGTest::test_realistic_matmul_with_cluster": ("rounding", make_gpu("failed", few)),
        "A::test_skipped": ("skipped", make_gpu("skipped", kernels=0)),
    }
    lowered = {"A::test_stack": {"lowering": ""}, "A::test_stack_2": {"lowering": "NotImplementedError: stack. It is"}}
    judged = gpu_verdicts.judge({case: line for case, (_, line) in wanted.items()}, lowered)
    kinds = {case: verdict.kind for case, verdict in judged.items()}
    assert kinds == {case: kind for case, (kind, _) in wanted.items()}, kinds
    assert gpu_verdicts.list_refused({case: line
                                      for case, (_, line) in wanted.items()}) == ["A::test_stack", "A::test_stack_2"]
    text = gpu_page.summarize(gpu_page.Run("0.12.0", "h100", "abc", judged))
    assert "A kernel is reached by 12; 3 are wrong and 8.3 % refused" in text, text
    assert {kind for kind, _ in wanted.values()} == set(gpu_verdicts.KINDS)


def check_gpu_tables(grout):
    for code, *patterns, why in gpu_verdicts.JUDGED:
        done = subprocess.run([grout, "explain", code], stdout=subprocess.DEVNULL, check=False)
        assert done.returncode == 0 and why and len(patterns) == 2, code
        list(map(re.compile, patterns))
    assert all(len(row) == 2 for row in gpu_verdicts.LOWERING) and all(len(row) == 3 for row in gpu_verdicts.ROUNDING)
    with open(page.PAGE, encoding="utf-8") as file:
        text = file.read()
    assert text.count(gpu_page.BEGIN) == text.count(gpu_page.END) == 1, "the marks of the page"
    runs = re.findall(r"A kernel is reached by \d+; (\d+) are wrong and ([0-9.]+) % refused", text)
    assert runs, "no run is on the page"
    assert all(wrong == "0" and float(refused) <= 1 for wrong, refused in runs), runs


def check_tables(grout):
    codes = verdicts.RACES | verdicts.MISUSE
    for row in verdicts.WORDS:
        assert len(row) == 2, row
        codes |= set(re.findall(r"\\\[([a-z-]+)\\\]", row[1]))
        re.compile(row[1])
    for row in verdicts.REASONS:
        assert len(row) == 3, row
        codes |= set(re.findall(r"\\\[([a-z-]+)\\\]", row[1]))
        re.compile(row[0]), re.compile(row[1])
    for code in sorted(codes):
        done = subprocess.run([grout, "explain", code], stdout=subprocess.DEVNULL, check=False)
        assert done.returncode == 0, f"grout has no code {code}"
    with open(page.PAGE, encoding="utf-8") as file:
        text = file.read()
    assert text.count(page.BEGIN) == text.count(page.END) == 1, "the marks of the page"
    table = text.split(page.BEGIN)[1]
    rates = [float(rate)
             for rate in re.findall(r"\*\*([0-9.]+) %\*\* of [0-9]+ are the same or better, 0 wrong", table)]
    assert len(rates) == 2 and min(rates) >= 95, f"with and without tensor memory: {rates}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    args = parser.parse_args()
    check_kinds()
    check_refusals()
    check_tables(args.grout)
    check_gpu_kinds()
    check_gpu_tables(args.grout)


if __name__ == "__main__":
    sys.exit(main())
