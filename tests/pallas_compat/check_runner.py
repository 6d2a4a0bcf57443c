"""What run.py makes of results, without JAX: the kinds of verdicts, the page, the tables that are written by hand.

usage: check_runner.py --grout PATH

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import re
import subprocess
import sys

import page
import verdicts

FILE = "gpu_pallas_interpret_test.py::InterpretTest::"


def make(outcome, message="", codes=(), reports=1):
    return {"outcome": outcome, "message": message, "seconds": 1.0,
            "reports": [{"verdict": "", "codes": list(codes), "coverage": ""}] * reports}


def check_kinds():
    refusal = "grout.pallas._errors.UnsupportedError: /a/b.py:3:4: run_scoped: %x lies in tensor memory\n  3 | x"
    grout = {
        "test_a0": make("passed", codes=["smem-race"]), "test_a1": make("passed"), "test_b0": make("failed", refusal, reports=0),
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
    lowered = {FILE + "test_a": {"lowering": "ValueError: Only scalars. Please file an issue."}, FILE + "test_b": {"lowering": ""}}
    judged = verdicts.judge({}, cases, lowered)
    assert [judged[case].kind for case in cases] == ["better", "refused", "refused"], judged
    assert judged[FILE + "test_a"].why == \
        "an array in a warp_map [bad-region]; JAX lowers it for no GPU either: ValueError: Only scalars", judged
    wrong = verdicts.judge({}, {FILE + "test_a": make("failed", "AssertionError: 3 != 4")}, lowered)
    assert wrong[FILE + "test_a"].kind == "wrong", wrong
    rounded = verdicts.judge({}, {FILE + "test_a": {**make("passed"), "rounding": 4.5e-7}}, {})
    assert rounded[FILE + "test_a"].kind == "same" and "4.5e-07" in rounded[FILE + "test_a"].why, rounded


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
    rates = [float(rate) for rate in re.findall(r"\*\*([0-9.]+) %\*\* of [0-9]+ are the same or better, 0 wrong", table)]
    assert len(rates) == 2 and min(rates) >= 95, f"with and without tensor memory: {rates}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    args = parser.parse_args()
    check_kinds()
    check_refusals()
    check_tables(args.grout)


if __name__ == "__main__":
    sys.exit(main())
