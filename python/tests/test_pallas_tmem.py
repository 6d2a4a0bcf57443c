# SPDX-License-Identifier: Apache-2.0
"""Blackwell: tensor memory and tcgen05."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.experimental import pallas as pl  # noqa: E402
from jax.experimental.pallas import mosaic_gpu as plgpu  # noqa: E402

import grout.pallas  # noqa: E402
from pallas_tools import S, assert_same, check  # noqa: E402

TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
RNG = numpy.random.default_rng(1)
A, B = (RNG.integers(-3, 4, (128, 128)).astype("float16") for _ in range(2))
WANTED = A.astype("float32") @ B.astype("float32")


def operand():
    return plgpu.SMEM((128, 128), jnp.float16, transforms=TRANSFORMS)


def load(a, b, a_smem, b_smem, full):
    plgpu.copy_gmem_to_smem(a, a_smem, full)
    plgpu.copy_gmem_to_smem(b, b_smem, full)
    plgpu.barrier_wait(full)


def make(body, *more):
    return plgpu.kernel(body, out_type=S((128, 128), "float32"), scratch_types=(
        operand(), operand(), plgpu.TMEM((128, 128), jnp.float32), plgpu.Barrier(num_arrivals=2),
        plgpu.Barrier(orders_tensor_core=True), *more))


@pytest.mark.parametrize("waits", (True, False))
def test_product(waits):
    def body(a, b, out, a_smem, b_smem, acc, full, done):
        load(a, b, a_smem, b_smem, full)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False)
        if waits:
            plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()

    function = make(body)
    report = check(function, A, B, verdict="clean" if waits else "error")
    if not waits:
        assert "accumulator-in-flight" in {finding.code for finding in report.findings}
        return
    assert_same(report.result, WANTED)
    text = grout.pallas.dump(function)(A, B)
    assert 'arch = "sm_100a"' in text and "orders_tensor_core" in text


@pytest.mark.parametrize("commits", (True, False))
def test_a_in_tensor_memory(commits):
    def body(a, b, out, a_smem, b_smem, acc, full, done, a_tmem):
        load(a, b, a_smem, b_smem, full)
        plgpu.async_store_tmem(a_tmem, plgpu.load(a_smem, (), layout=plgpu.Layout.TCGEN05))
        plgpu.async_store_tmem(acc, jnp.zeros((128, 128), jnp.float32))
        if commits:
            plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, a_tmem, b_smem)
        plgpu.tcgen05_commit_arrive(done)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    report = check(make(body, plgpu.TMEM((128, 128), jnp.float16, packed=True)), A, B,
                   verdict="clean" if commits else "error")
    if commits:
        assert_same(report.result, WANTED)
    else:
        assert "tmem-store-not-committed" in {finding.code for finding in report.findings}


def test_copy_to_tensor_memory():
    def body(a, b, out, a_smem, b_smem, acc, full, done, a_tmem):
        load(a, b, a_smem, b_smem, full)
        plgpu.async_copy_smem_to_tmem(a_smem, a_tmem)
        plgpu.tcgen05_mma(acc, a_tmem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    assert_same(check(make(body, plgpu.TMEM((128, 128), jnp.float16, packed=True)), A, B).result, WANTED)


@pytest.mark.parametrize("waits", (True, False))
def test_union(waits):
    def body(a, b, out, a_smem, b_smem, acc, full, done, union):
        sums, terms = union
        load(a, b, a_smem, b_smem, full)
        plgpu.tcgen05_mma(sums, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        value = plgpu.async_load_tmem(sums)
        if waits:
            plgpu.wait_load_tmem()
        plgpu.async_store_tmem(terms, value.astype(jnp.float16))
        plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, terms, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    function = make(body, plgpu.RefUnion(plgpu.TMEM((128, 128), jnp.float32),
                                         plgpu.TMEM((128, 128), jnp.float16, packed=True)))
    report = check(function, A, B, verdict="clean" if waits else "error")
    if waits:
        assert_same(report.result, WANTED @ B.astype("float32"))
        assert "alias(" in grout.pallas.dump(function)(A, B)
    else:
        assert "tmem-load-not-awaited" in {finding.code for finding in report.findings}


def test_union_of_members_beside_each_other():
    def body(a, b, out, a_smem, b_smem, acc, full, done, union):
        sums, (first, second) = union
        load(a, b, a_smem, b_smem, full)
        plgpu.tcgen05_mma(sums, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        value = plgpu.async_load_tmem(sums)
        plgpu.wait_load_tmem()
        plgpu.async_store_tmem(second, value.astype(jnp.float16))
        plgpu.async_store_tmem(first, (value * 0).astype(jnp.float16))
        plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, second, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    half = plgpu.TMEM((128, 128), jnp.float16, packed=True)
    function = make(body, plgpu.RefUnion(plgpu.TMEM((128, 128), jnp.float32), [half, half]))
    assert_same(check(function, A, B).result, WANTED @ B.astype("float32"))


def test_pair_of_ctas():
    def body(a, b, out, a_smem, b_smem, acc, full, done):
        place = lax.axis_index("x")
        for source, smem, dim in ((a, a_smem, 0), (b, b_smem, 1)):
            plgpu.copy_gmem_to_smem(source, smem, full, collective_axes="x",
                                    leader_tracked=plgpu.CopyPartition.PARTITIONED(dim))

        @pl.when(place == 0)
        def _():
            plgpu.barrier_wait(full)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, done, accumulate=False, collective_axis="x")
        plgpu.barrier_wait(done)
        out[pl.ds(place * 128, 128), :] = plgpu.async_load_tmem(acc)

    rows = RNG.integers(-3, 4, (256, 128)).astype("float16")
    half = plgpu.SMEM((128, 64), jnp.float16, transforms=TRANSFORMS), plgpu.SMEM((128, 128), jnp.float16, transforms=TRANSFORMS)
    function = plgpu.kernel(body, out_type=S((256, 128), "float32"), cluster=(2,), cluster_names=("x",), scratch_types=(
        half[1], half[0], plgpu.TMEM((128, 128), jnp.float32, collective=True), plgpu.Barrier(num_arrivals=2),
        plgpu.Barrier(orders_tensor_core=True)))
    assert_same(check(function, rows, B).result, rows.astype("float32") @ B.astype("float32"))
    assert "cluster_exit = sync" in grout.pallas.dump(function)(rows, B)


def test_warps_that_work_on_barriers_alone_are_not_left_out():
    def body(a, b, out, a_smem, b_smem, acc, full, done):
        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            @pl.when(lax.axis_index("warp") == 0)
            def _():
                plgpu.barrier_wait(done)

    report = grout.pallas.check(make(body))(A, B)
    assert "deadlock" in {finding.code for finding in report.findings}, str(report)
