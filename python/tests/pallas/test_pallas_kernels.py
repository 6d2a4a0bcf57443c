# SPDX-License-Identifier: Apache-2.0
"""Some of the kernels of tests/pallas_compat: JAX' own, unchanged, with the values of NumPy and the verdicts that are
judged there. All of them: tests/pallas_compat/kernels.py."""
import pathlib
import re
import sys

import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("absl")
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "pallas_compat"))

import cases
import grout
import kernels as compat
from grout import pallas

FOUND = cases.load(("jax", "pages"))
SOME = ("hopper_matmul", "hopper_matmul_c", "hopper_matmul_cluster_m", "hopper_mixed_type_matmul", "ragged_dot",
        "attention_causal_wide", "attention_emitter_lse", "attention_backward",
        "blackwell_matmul", "page_pallas_call", "page_semaphore", "page_warp_specialized", "page_wgmma_ring")


@pytest.mark.parametrize("name", SOME)
def test_kernel(name):
    result = compat.run_case(FOUND[name], None)
    assert compat.find_faults(name, result, compat.read_judgements()) == []


def test_verdicts_differ_as_wgmma_is_read():
    result = compat.run_case(FOUND["page_wgmma_ring_slot"], None)["modes"]
    assert "mma-operand-reuse" in result["lowered"]["codes"] and not result["lowered"]["is_right"]
    assert not result["documented"]["codes"] and result["documented"]["is_right"]


def test_matmul_is_clean_and_its_text_too():
    prepared = FOUND["page_warp_specialized_own_store"].make()
    report = pallas.check(prepared.function, sms=prepared.sms)(*prepared.inputs)
    assert report.verdict == "clean" and not report.findings
    assert not any(one.warnings for one in report.reports)


def test_report_stands_in_the_kernel_that_jax_ships():
    prepared = FOUND["hopper_mixed_type_matmul"].make()
    report = pallas.check(prepared.function, sms=prepared.sms)(*prepared.inputs)
    finding = next(one for one in report.findings if one.code == "missing-commit-smem-war")
    assert finding.place.file.endswith("hopper_mixed_type_matmul_mgpu.py")


def test_error_of_a_kernel_is_raised_once():
    prepared = FOUND["attention_emitter"].make(block_q=128, block_kv=256, positions=512)
    for wgmma in ("documented", "lowered"):
        with pytest.raises(grout.KernelError, match="256 registers"):
            pallas.check(prepared.function, wgmma=wgmma)(*prepared.inputs)
        jax.effects_barrier()


def test_text_checks_the_same():
    prepared = FOUND["hopper_mixed_type_matmul"].make()
    imported, = pallas.import_kernels(prepared.function, sms=prepared.sms)(*prepared.inputs)
    values = dict(zip(imported.inputs, prepared.inputs))
    direct = imported.kernel.check(values=values)
    again = grout.load(imported.text).check(values=values)
    assert direct.verdict == again.verdict == "error"
    assert [(one.code, one.count) for one in direct.findings] == [(one.code, one.count) for one in again.findings]


def test_names_are_those_of_the_kernel_or_plain():
    prepared = FOUND["hopper_matmul_c"].make()
    with_c, = pallas.import_kernels(prepared.function, sms=4)(*prepared.inputs)
    without_c, = pallas.import_kernels(prepared.function, sms=4)(*prepared.inputs[:2])
    assert with_c.name == "kernel" and with_c.inputs == ("a_gmem", "b_gmem", "c_gmem")
    assert with_c.outputs == ("out_gmem",)
    assert without_c.inputs == ("in0", "in1") and without_c.outputs == ("out0",)


def list_names():
    tokamax = [line.split('"')[1] for path in sorted(pathlib.Path(cases.__file__).parent.glob("tokamax_*.py"))
               for line in path.read_text().splitlines() if line.startswith("@case(")]
    return {*FOUND, *cases.load(("tutorial",)), *tokamax}


def test_page_has_every_case():
    page = (ROOT / "docs" / "pallas_compat.md").read_text()
    assert {name for name in re.findall(r"^\| `(\w+)` \|", page, re.M) if name in list_names()} == list_names()


def test_judgements_are_of_cases_that_are_there():
    names = list_names()
    for pattern, code, reason in compat.read_judgements():
        assert any(compat.fnmatch.fnmatch(name, pattern) for name in names), pattern
        assert len(reason.split()) > 1, code
