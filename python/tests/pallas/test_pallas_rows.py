# SPDX-License-Identifier: Apache-2.0
"""Copies of rows that an array of indices names: gathers and scatters by TMA on Blackwell."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, count, load

pytestmark = pytest.mark.skipif(not hasattr(plgpu.Layout, "TMA_INDICES"), reason="JAX without rows by TMA")
X = count(24, 128)
INDICES = numpy.array([3, 0, 23, 3, 17, 8, 9, 10, 1, 30, 2, 24, 5, 6, 7, 4], dtype="int32")
KEPT = numpy.where((INDICES < 24)[:, None], X[numpy.minimum(INDICES, 23)], numpy.float32(0))
TRANSFORMS = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))


def gather(body, dtype="int32", **options):
    function = plgpu.kernel(body, out_type=S((16, 64), "float32"), scratch_types=(
        plgpu.SMEM((16, 64), jnp.float32, transforms=TRANSFORMS), plgpu.Barrier()), **options)
    return check(function, X, INDICES.astype(dtype)), grout.pallas.dump(function)(X, INDICES.astype(dtype))


@pytest.mark.parametrize("dtype", ("int32", "uint32", "uint8"))
def test_rows_are_gathered(dtype):
    def body(x_ref, indices, out, smem, barrier):
        rows = load(indices, layout=plgpu.Layout.TMA_INDICES)
        plgpu.copy_gmem_to_smem(x_ref.at[rows, pl.ds(64, 64)], smem, barrier)
        plgpu.barrier_wait(barrier)
        out[...] = smem[...]

    report, text = gather(body, dtype)
    assert_same(report.result, KEPT[:, 64:])
    assert "tma_gather" in text and 'arch = "sm_100a"' in text


def test_rows_are_scattered():
    def body(x_ref, indices, out, smem, barrier):
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(0, 8), pl.ds(0, 64)], smem, barrier)
        plgpu.barrier_wait(barrier)
        rows = load(indices, layout=plgpu.Layout.TMA_INDICES_4)
        plgpu.copy_smem_to_gmem(smem, out.at[rows, pl.ds(0, 64)])
        plgpu.wait_smem_to_gmem(0)

    function = plgpu.kernel(body, out_type=S((8, 64), "float32"), scratch_types=(
        plgpu.SMEM((8, 64), jnp.float32, transforms=TRANSFORMS), plgpu.Barrier()))
    order = numpy.array([7, 3, 1, 0, 2, 4, 6, 5], dtype="int32")
    report = check(function, X, order)
    wanted = numpy.empty((8, 64), "float32")
    wanted[order] = X[:8, :64]
    assert_same(report.result, wanted)
    assert "tma_scatter" in grout.pallas.dump(function)(X, order)


def test_rows_that_are_not_awaited():
    def body(x_ref, indices, out, smem, barrier):
        rows = load(indices, layout=plgpu.Layout.TMA_INDICES)
        plgpu.copy_gmem_to_smem(x_ref.at[rows, pl.ds(0, 64)], smem, barrier)
        out[...] = smem[...]
        plgpu.barrier_wait(barrier)

    function = plgpu.kernel(body, out_type=S((16, 64), "float32"), scratch_types=(
        plgpu.SMEM((16, 64), jnp.float32, transforms=TRANSFORMS), plgpu.Barrier()))
    report = check(function, X, INDICES, verdict="error")
    assert "async-not-awaited" in str(report)


def test_rows_of_what_is_no_copy():
    def body(x_ref, indices, out):
        rows = load(indices, layout=plgpu.Layout.TMA_INDICES)
        out[...] = x_ref[rows]

    function = plgpu.kernel(body, out_type=S((16, 128), "float32"))
    with pytest.raises(grout.pallas.UnsupportedError, match="copies by TMA take one of one dimension"):
        grout.pallas.check(function)(X, INDICES)
