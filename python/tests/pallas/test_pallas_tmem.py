# SPDX-License-Identifier: Apache-2.0
"""Blackwell: tensor memory and tcgen05."""
import inspect

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, load

TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
RNG = numpy.random.default_rng(1)
A, B = (RNG.integers(-3, 4, (128, 128)).astype("float16") for _ in range(2))
WANTED = A.astype("float32") @ B.astype("float32")


def operand():
    return plgpu.SMEM((128, 128), jnp.float16, transforms=TRANSFORMS)


def load_both(a, b, a_smem, b_smem, full):
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
        load_both(a, b, a_smem, b_smem, full)
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
        load_both(a, b, a_smem, b_smem, full)
        plgpu.async_store_tmem(a_tmem, load(a_smem, layout=plgpu.Layout.TCGEN05))
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
        load_both(a, b, a_smem, b_smem, full)
        plgpu.async_copy_smem_to_tmem(a_smem, a_tmem)
        plgpu.tcgen05_mma(acc, a_tmem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    assert_same(check(make(body, plgpu.TMEM((128, 128), jnp.float16, packed=True)), A, B).result, WANTED)


@pytest.mark.parametrize("waits", (True, False))
def test_union(waits):
    """Terms over sums. The bug: the next product goes over sums that are still being loaded, where no terms are."""
    def body(a, b, out, a_smem, b_smem, acc, full, done, union):
        sums, terms = union
        load_both(a, b, a_smem, b_smem, full)
        plgpu.tcgen05_mma(sums, a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        value = plgpu.async_load_tmem(sums)
        if waits:
            plgpu.wait_load_tmem()
        plgpu.async_store_tmem(terms, value.astype(jnp.float16))
        plgpu.commit_tmem()
        plgpu.tcgen05_mma(acc, terms, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        plgpu.tcgen05_mma(sums, a_smem, b_smem, done, accumulate=False)
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
        load_both(a, b, a_smem, b_smem, full)
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
    half = plgpu.SMEM((128, 64), jnp.float16,
                      transforms=TRANSFORMS), plgpu.SMEM((128, 128), jnp.float16, transforms=TRANSFORMS)
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


def swizzled(*shape, dtype):
    bits = jnp.finfo(dtype).bits
    return plgpu.SMEM(shape, dtype, transforms=(plgpu.TilingTransform((8, 1024 // bits)), plgpu.SwizzleTransform(128)))


def lay_out_scales(scales):
    """What async_copy_scales_to_tmem takes: blocks of 128 rows by 4."""
    rows, columns = scales.shape
    return scales.reshape(rows // 128, 4, 32, columns // 4, 4).transpose(0, 3, 2, 1, 4).reshape(
        rows // 128, columns // 4, 32, 16)


@pytest.mark.parametrize("element, scale, block, is_awaited", (
    (jnp.float8_e4m3fn, jnp.float8_e8m0fnu, 32, True), (jnp.float8_e4m3fn, jnp.float8_e8m0fnu, 32, False),
    (jnp.float4_e2m1fn, jnp.float8_e8m0fnu, 32, True), (jnp.float4_e2m1fn, jnp.float8_e4m3fn, 16, True)))
def test_scales(element, scale, block, is_awaited):
    """Block scales, which the tensor core brings itself: the MMA needs no wait for them."""
    def body(a, b, a_scale, b_scale, out, a_smem, b_smem, as_smem, bs_smem, acc, as_tmem, bs_tmem, full, done):
        for source, smem in ((a, a_smem), (b, b_smem), (a_scale, as_smem), (b_scale, bs_smem)):
            plgpu.copy_gmem_to_smem(source, smem, full)
        if is_awaited:
            plgpu.barrier_wait(full)
        plgpu.async_copy_scales_to_tmem(as_smem, as_tmem)
        plgpu.async_copy_scales_to_tmem(bs_smem, bs_tmem)
        plgpu.tcgen05_mma(acc, a_smem, plgpu.transpose_ref(b_smem, (1, 0)), done, a_scale=as_tmem, b_scale=bs_tmem,
                          accumulate=False)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    k = 256
    rows = [RNG.integers(-3, 4, (128, k)).astype(element) for _ in range(2)]
    scales = [(2.0 ** RNG.integers(-2, 3, (128, k // block))).astype(scale) for _ in range(2)]
    function = plgpu.kernel(body, out_type=S((128, 128), "float32"), scratch_types=(
        *[swizzled(128, k, dtype=element)] * 2, *[plgpu.SMEM((1, k // block // 4, 32, 16), scale)] * 2,
        plgpu.TMEM((128, 128), jnp.float32),
        *[plgpu.TMEM((128, k // block), scale, layout=plgpu.TMEMLayout.SCALES_LAYOUT)] * 2,
        plgpu.Barrier(num_arrivals=4), plgpu.Barrier(orders_tensor_core=True)))
    inputs = (*rows, *map(lay_out_scales, scales))
    report = check(function, *inputs, verdict="clean" if is_awaited else "error")
    if not is_awaited:
        assert "async-not-awaited" in {finding.code for finding in report.findings}, str(report)
        return
    whole = [row.astype("float32") * numpy.repeat(of.astype("float32"), block, axis=1) for row, of in zip(rows, scales)]
    assert_same(report.result, whole[0] @ whole[1].T)


def draw_codes(rows, groups):
    """Which two of four each group keeps."""
    pairs = numpy.array([(one, other) for other in range(4) for one in range(other)])
    return pairs[RNG.integers(0, 6, (rows, groups))]


def spread(kept, codes):
    """The whole rows that those kept are of."""
    whole = numpy.zeros((*codes.shape[:2], 4), numpy.float32)
    numpy.put_along_axis(whole, codes, kept.reshape(codes.shape).astype(numpy.float32), axis=-1)
    return whole.reshape(len(kept), -1)


@pytest.mark.parametrize("element", (jnp.float16, jnp.float8_e4m3fn))
def test_metadata(element):
    """An a of which half is kept; JAX' metadata have 2 bits, and lie eight in a word."""
    k = 256

    def body(a, b, meta, out, a_smem, b_smem, meta_smem, acc, meta_tmem, full, done):
        for source, smem in ((a, a_smem), (b, b_smem), (meta, meta_smem)):
            plgpu.copy_gmem_to_smem(source, smem, full)
        plgpu.barrier_wait(full)
        plgpu.async_copy_sparse_metadata_to_tmem(meta_smem, meta_tmem)
        plgpu.tcgen05_mma(acc, a_smem, plgpu.transpose_ref(b_smem, (1, 0)), done, a_sparse_metadata=meta_tmem,
                          accumulate=False)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)

    a, b = (RNG.integers(-3, 4, shape).astype(element) for shape in ((128, k // 2), (128, k)))
    codes = draw_codes(128, k // 4)
    meta = plgpu.format_tcgen05_sparse_metadata(jnp.asarray(codes).astype(jnp.uint2), element)
    function = plgpu.kernel(body, out_type=S((128, 128), "float32"), scratch_types=(
        swizzled(128, k // 2, dtype=element), swizzled(128, k, dtype=element), plgpu.SMEM(meta.shape, jnp.uint2),
        plgpu.TMEM((128, 128), jnp.float32),
        plgpu.TMEM((128, k // 2), jnp.uint2, layout=plgpu.TMEMLayout.SPARSE_METADATA_LAYOUT),
        plgpu.Barrier(num_arrivals=3), plgpu.Barrier(orders_tensor_core=True)))
    assert_same(check(function, a, b, meta).result, spread(a, codes) @ b.astype("float32").T)


def test_metadata_are_taken_by_words():
    def body(meta, out, smem, full):
        plgpu.copy_gmem_to_smem(meta.at[:, pl.ds(4, 64)], smem, full)
        plgpu.barrier_wait(full)
        out[...] = 0

    function = plgpu.kernel(body, out_type=S((), "int32"),
                            scratch_types=(plgpu.SMEM((128, 64), jnp.uint2), plgpu.Barrier()))
    with pytest.raises(grout.pallas.UnsupportedError, match="by whole words of 8"):
        grout.pallas.dump(function)(S((128, 128), jnp.uint2))


def hand_over(orders):
    """A copy's arrival tells of what was stored to tensor memory before it."""
    def body(x, y, out, room, held, full):
        @pl.when(lax.axis_index("wg") == 0)
        def _():
            plgpu.async_store_tmem(held, x[...])
            plgpu.commit_tmem()
            plgpu.copy_gmem_to_smem(y, room, full)

        @pl.when(lax.axis_index("wg") == 1)
        def _():
            plgpu.barrier_wait(full)
            value = plgpu.async_load_tmem(held)
            plgpu.wait_load_tmem()
            out[...] = value + room[...]

    return plgpu.kernel(body, out_type=S((128, 64), "float32"), num_threads=2, thread_name="wg", scratch_types=[
        plgpu.SMEM((128, 64), jnp.float32), plgpu.TMEM((128, 64), jnp.float32),
        plgpu.Barrier(orders_tensor_core=orders)])


def test_a_copy_on_a_barrier_that_orders_the_tensor_core():
    """Since JAX 0.12 it arrives once. Before, all lanes arrive on a barrier that counts threads."""
    x, y = A.astype("float32")[:, :64], B.astype("float32")[:, :64]
    report = check(hand_over(False), x, y, verdict="error")
    assert {finding.code for finding in report.findings} == {"tensor-core-order"}
    if tuple(map(int, jax.__version__.split(".")[:2])) >= (0, 12):
        assert_same(check(hand_over(True), x, y).result, x + y)
    else:
        with pytest.raises(grout.pallas.UnsupportedError, match="all 128 lanes arrive"):
            grout.pallas.check(hand_over(True))(x, y)
def lay_out_split_scales(scales):
    """What async_copy_scales_to_tmem takes for b with 64 rows in each CTA: the halves of N one after the other, four
    scales of a row beside each other, and room for 128 rows of each half."""
    n, count = scales.shape
    parts = scales.reshape(2, n // 64, 32, count // 4, 4).transpose(3, 0, 2, 1, 4).reshape(1, count // 4, 64, n // 16)
    return numpy.pad(parts.view("uint8"), [(0, 0)] * 3 + [(0, 16 - n // 16)]).view(scales.dtype)


@pytest.mark.parametrize("n, is_led", ((64, True), (192, True), (256, True), (192, False)))
def test_scales_of_a_pair_with_64_rows(n, is_led):
    """The scales of b are those of both CTAs' columns in each. The bug: each CTA gets them on a barrier of its own, and
    the leader copies the other one's too (as JAX' test_collective_scaled_matmul has it)."""
    m, k, element = 64, 256, jnp.float8_e5m2

    def body(a, b, a_scale, b_scale, out, a_smem, b_smem, as_smem, bs_smem, acc, as_tmem, bs_tmem, full, own, done):
        for source, smem in ((a, a_smem), (b, b_smem), (a_scale, as_smem)):
            plgpu.copy_gmem_to_smem(source, smem, full, collective_axes="x",
                                    leader_tracked=plgpu.CopyPartition.PARTITIONED(0))
        plgpu.copy_gmem_to_smem(b_scale, bs_smem, full if is_led else own, collective_axes="x",
                                leader_tracked=plgpu.CopyPartition.REPLICATED if is_led else None)
        place = lax.axis_index("x")

        @pl.when(place == 0)
        def _():
            plgpu.barrier_wait(full)
        if not is_led:
            plgpu.barrier_wait(own)
        plgpu.async_copy_scales_to_tmem(as_smem, as_tmem, collective_axis="x")
        plgpu.async_copy_scales_to_tmem(bs_smem, bs_tmem, collective_axis="x")
        plgpu.tcgen05_mma(acc, a_smem, b_smem.transpose((1, 0)), done, a_scale=as_tmem, b_scale=bs_tmem,
                          accumulate=False, collective_axis="x")
        plgpu.barrier_wait(done)
        out[pl.ds(place * m, m), :] = plgpu.async_load_tmem(acc)

    a, b = (RNG.integers(-3, 4, (rows, k)).astype(element) for rows in (2 * m, n))
    scales = [(2.0 ** RNG.integers(-2, 3, (rows, k // 32))).astype(jnp.float8_e8m0fnu) for rows in (2 * m, n)]
    of_a = scales[0].reshape(2, m, k // 32).view("uint8")
    padded = numpy.pad(of_a, ((0, 0), (0, 128 - m), (0, 0))).view(scales[0].dtype)
    inputs = (a, b, lay_out_scales(padded.reshape(256, k // 32)), lay_out_split_scales(scales[1]))
    scale, layouts = jnp.float8_e8m0fnu, plgpu.TMEMLayout
    function = plgpu.kernel(body, out_type=S((2 * m, n), "float32"), cluster=(2,), cluster_names=("x",), scratch_types=(
        swizzled(m, k, dtype=element), swizzled(n // 2, k, dtype=element), plgpu.SMEM((1, k // 128, 32, 16), scale),
        plgpu.SMEM((1, k // 128, 64, 16), scale), plgpu.TMEM((m, n), jnp.float32, collective=True),
        plgpu.TMEM((128, k // 32), scale, layout=layouts.SCALES_LAYOUT, collective=True),
        plgpu.TMEM((256, k // 32), scale, layout=layouts.SCALES_M64_COLLECTIVE_LAYOUT, collective=True),
        plgpu.Barrier(num_arrivals=4 if is_led else 3), plgpu.Barrier(), plgpu.Barrier(orders_tensor_core=True)))
    report = check(function, *inputs, verdict="clean" if is_led else "error")
    if not is_led:
        assert "async-not-awaited" in {finding.code for finding in report.findings}, str(report)
        return
    whole = [row.astype("float32") * numpy.repeat(of.astype("float32"), 32, axis=1) for row, of in zip((a, b), scales)]
    assert_same(report.result, whole[0] @ whole[1].T)
    assert "split_scales collective" in grout.pallas.dump(function)(*inputs)


REDUCES = "reduce" in inspect.signature(plgpu.async_load_tmem).parameters


@pytest.mark.skipif(not REDUCES, reason="this JAX has no reduce=")
@pytest.mark.parametrize("waits", (True, False))
@pytest.mark.parametrize("dtype, reduce", [(dtype, reduce) for dtype in ("float32", "int32") for reduce in
                                           ("min", "max", "absmin", "absmax")] + [("uint32", "min"), ("uint32", "max")])
def test_loads_that_reduce(dtype, reduce, waits):
    """The rows, and what they come to. A thread's own store over the columns needs no wait for the load."""
    def body(x, y, reduced, tmem):
        plgpu.async_store_tmem(tmem, x[...])
        plgpu.commit_tmem()
        rows, best = plgpu.async_load_tmem(tmem, reduce=reduce)
        if waits:
            plgpu.wait_load_tmem()
        plgpu.async_store_tmem(tmem, rows)
        plgpu.commit_tmem()
        y[...] = plgpu.async_load_tmem(tmem)
        reduced[...] = best

    x = RNG.integers(0 if dtype == "uint32" else -1000, 1000, (128, 64)).astype(dtype)
    function = plgpu.kernel(body, out_type=(S(x.shape, dtype), S((128,), dtype)),
                            scratch_types=[plgpu.TMEM(x.shape, dtype)])
    report = check(function, x, verdict="clean")
    assert_same(report.result[0], x)
    rows = numpy.abs(x) if "abs" in reduce else x
    assert_same(report.result[1], (rows.min if "min" in reduce else rows.max)(axis=1))
