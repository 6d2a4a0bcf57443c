# SPDX-License-Identifier: Apache-2.0
"""The kernels of tests/found, which give wrong data on a GPU or are in doubt there: grout finds each on the CPU."""
import importlib
import pathlib
import sys

import numpy
import pytest

jax = pytest.importorskip("jax")
pytest.importorskip("absl")
TESTS = pathlib.Path(__file__).resolve().parents[3] / "tests"
sys.path[:0] = [str(TESTS / "found"), str(TESTS / "pallas_compat")]

import cases
import grout.pallas

F16, F32 = "float16", "float32"


def codes(function, *arrays):
    report = grout.pallas.check(function)(*arrays)
    return sorted({finding.code for finding in report.findings if finding.severity == "error"}), report.verdict


def plain_loads(module, is_right):
    kernel = module.kernel_for(1, 2, module.plgpu.Layout.WGMMA, commit=is_right)
    return codes(kernel, numpy.ones((module.TILES * module.ROWS, module.COLUMNS), F32))


def wgmmas(module, is_right):
    tiles, (m, n, k) = 2 * module.SLOTS, (module.M, module.N, module.K)
    kernel = module.kernel_for(1, tiles, 1, waits=is_right)
    return codes(kernel, numpy.ones((tiles, m, k), F16), numpy.ones((tiles, k, n), F16), numpy.full(1, 3, "int32"))


def loads_at_the_end(module, is_right):
    return codes(module.kernel_for(2, waits=is_right), numpy.ones((1, module.ROWS, module.COLUMNS), F32))


def meeting(module, is_right):
    ones = numpy.ones((module.M, module.K), F16), numpy.ones((module.K, module.N), F16)
    return codes(module.kernel_for(orders=is_right), *ones)


@pytest.mark.parametrize("name, try_kernel, code", [
    ("plain_loads_then_refill", plain_loads, "missing-commit-smem-war"),
    ("plain_loads_one_thread", plain_loads, "missing-commit-smem-war"),
    ("wgmma_then_refill", wgmmas, "mma-operand-reuse"),
    ("exit_with_loads", loads_at_the_end, "async-at-exit"),
    ("collective_lhs_in_tmem", meeting, "tensor-core-order")])
def test_found(name, try_kernel, code):
    module = importlib.import_module(name)
    found, verdict = try_kernel(module, False)
    assert code in found and verdict == "error"
    assert try_kernel(module, True) == ([], "clean")


def repair(text):
    """The barrier on which epilogues give sums back counts in the leader, and the leader alone waits for it."""
    name = "%store_done_barrier"
    wait = next(line for line in text.splitlines() if f"barrier_wait {name}" in line)
    repaired = text.replace(f"{name} : barrier[2] orders_tensor_core",
                            f"{name} : barrier[2] cluster(x) orders_tensor_core leader_tracked")
    return repaired.replace(wait, f"if (eq (axis_index x), 0) {{\n{wait}\n}}")


@pytest.mark.parametrize("is_right", (False, True))
def test_sums_of_the_other_cta(is_right):
    """One schedule of JAX' ragged dot by pairs of CTAs, whose leader overwrites sums that the other has not loaded."""
    case = cases.load(("jax",))["blackwell_ragged_dot_pairs"].make()
    text = grout.pallas.dump(case.function, sms=case.sms)(*case.inputs)
    kernel = grout.load(repair(text) if is_right else text)
    values = dict(zip([param.name for param in kernel.params], case.inputs))
    assert kernel.check(values=values).verdict == ("clean" if is_right else "error")
    result = kernel.run(values=values, schedule="pct:1", seed=7, timing="eager")
    assert (result == case.reference()[0]).all() == is_right


def pipeline(is_specialised, has_outputs, commits):
    """A pipeline of JAX whose body loads plainly: it adds 1 to tiles, or adds them up."""
    import jax.experimental.pallas.mosaic_gpu as plgpu
    from jax.experimental import pallas as pl  # noqa: F401  (mosaic_gpu asks for it)
    tile = plgpu.BlockSpec((1, 128), lambda i: (i, 0))

    def step(_, given, *rest):
        if has_outputs:
            rest[0][...] = given[...] + 1
        value = None if has_outputs else rest[0] + given[0]
        if commits:
            plgpu.commit_smem()
        return value

    def body(x, out):
        zero, outputs = jax.numpy.zeros((128,), F32), (out,) if has_outputs else ()
        options = {"grid": (6,), "in_specs": [tile], "out_specs": [tile] * len(outputs), "max_concurrent_steps": 2}
        if is_specialised:
            options.update(num_compute_wgs=1, memory_registers=40, wg_axis="wg")
            if not has_outputs:
                options["compute_context"] = lambda run: out.__setitem__(..., run(zero))
            plgpu.emit_pipeline_warp_specialized(step, **options)(x, *outputs)
        elif has_outputs:
            plgpu.emit_pipeline(step, **options)(x, out)
        else:
            out[...] = plgpu.emit_pipeline(step, **options, init_carry=zero)(x)

    threads = {"num_threads": 2, "thread_name": "wg"} if is_specialised else {}
    shape = (6, 128) if has_outputs else (128,)
    return plgpu.kernel(body, out_type=jax.ShapeDtypeStruct(shape, F32), **threads)


@pytest.mark.parametrize("is_specialised, has_outputs, is_safe", [
    (False, True, True), (False, False, False), (True, True, False), (True, False, False)])
def test_where_pipelines_commit(is_specialised, has_outputs, is_safe):
    """As docs/missing_commit_smem_war.md says: of these, JAX commits in time in one alone."""
    x = numpy.ones((6, 128), F32)
    found, _ = codes(pipeline(is_specialised, has_outputs, False), x)
    assert found == ([] if is_safe else ["missing-commit-smem-war"])
    assert codes(pipeline(is_specialised, has_outputs, True), x) == ([], "clean")
