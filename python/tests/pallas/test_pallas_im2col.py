# SPDX-License-Identifier: Apache-2.0
"""plgpu.im2col_ref, which JAX has since 0.12: windows of a convolution that a copy by TMA brings as rows."""
import itertools

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, kernel

pytestmark = pytest.mark.skipif(not hasattr(plgpu, "im2col_ref"), reason="JAX 0.12")
TILED = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def fill(*shape):
    return numpy.random.default_rng(5).integers(-9, 9, shape).astype(jnp.bfloat16)


def list_windows(x, window, padding):
    """All windows as JAX' page has them, [windows, *window, channels]."""
    padded = numpy.pad(x, ((0, 0), *padding, (0, 0)))
    counts = [size - length + 1 for size, length in zip(padded.shape[1:-1], window)]
    starts = itertools.product(range(x.shape[0]), *map(range, counts))
    boxes = [(n, *(slice(a, a + length) for a, length in zip(place, window))) for n, *place in starts]
    return numpy.stack([padded[box] for box in boxes])


def copy_windows(take, rows, channels, transforms=TILED, waits=True, **options):
    """A kernel that copies what take(x) is."""
    def body(x, out, room, barrier):
        plgpu.copy_gmem_to_smem(take(x), room, barrier)
        if waits:
            plgpu.barrier_wait(barrier)
        out[...] = room[...]

    return kernel(body, S((rows, channels), jnp.bfloat16), **options, scratch_types=[
        plgpu.SMEM((rows, channels), jnp.bfloat16, transforms=transforms), plgpu.Barrier()])


@pytest.mark.parametrize("size, window, padding, place", (
    ((2, 40, 64), (3,), ((1, 1),), (2,)),
    ((2, 40, 64), (1,), ((0, 0),), (0,)),
    ((3, 8, 10, 64), (3, 3), ((1, 1), (1, 1)), (0, 2)),
    ((2, 9, 12, 64), (2, 4), ((0, 0), (3, 0)), (1, 3)),
    ((2, 4, 6, 5, 64), (3, 2, 3), ((1, 1), (0, 1), (2, 0)), (2, 0, 1)),
))
@pytest.mark.parametrize("transforms", (TILED, ()))
def test_windows(size, window, padding, place, transforms):
    first, rows = 7, 48

    def take(x):
        view = plgpu.im2col_ref(x, window_shape=window, padding=padding)
        part = (pl.ds(first, rows), *place, pl.ds(0, 64))
        return view.at[part]

    x = fill(*size)
    part = (slice(first, first + rows), *map(int, place))
    wanted = list_windows(x, window, padding)[part]
    assert_same(check(copy_windows(take, rows, 64, transforms), x).result, wanted)


def test_rows_and_channels_past_the_end():
    """They arrive as zeros."""
    def take(x):
        start = lax.axis_index("last") + 60  # of 64 windows, so that JAX sees no end
        view = plgpu.im2col_ref(x, window_shape=(1, 1))
        return view.at[pl.ds(start, 16), 0, 0, pl.ds(lax.axis_index("last") + 32, 64)]

    x = fill(1, 8, 8, 64)
    wanted = numpy.zeros((16, 64), jnp.bfloat16)
    wanted[:4, :32] = x.reshape(64, 64)[60:, 32:]
    assert_same(check(copy_windows(take, 16, 64, grid=(1,), grid_names=("last",)), x).result, wanted)


def convolve(x, w, padding, waits=True):
    """An implicit GEMM: each CTA has 64 windows, and the places of the filter one after the other."""
    size = w.shape[:2]
    total = x.shape[0] * numpy.prod([a + sum(b) - c + 1 for a, b, c in zip(x.shape[1:3], padding, size)])

    def body(x, w, out, a, b, c, full, acc):
        view = plgpu.im2col_ref(x, window_shape=size, padding=padding)
        rows = pl.ds(lax.axis_index("m") * 64, 64)

        def step(place, _):
            r, s = place // size[1], place % size[1]
            plgpu.copy_gmem_to_smem(view.at[rows, r, s, :], a, full)
            plgpu.copy_gmem_to_smem(w.at[r, s], b, full)
            if waits:
                plgpu.barrier_wait(full)
            plgpu.wgmma(acc, a, b)
            plgpu.wgmma_wait(0)

        lax.fori_loop(0, size[0] * size[1], step, None)
        c[...] = acc[...].astype(jnp.bfloat16)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(c, out.at[rows])
        plgpu.wait_smem_to_gmem(0)

    tile = plgpu.SMEM((64, 64), jnp.bfloat16, transforms=TILED)
    return kernel(body, S((int(total), 64), jnp.bfloat16), grid=(-(-int(total) // 64),), grid_names=("m",),
                  scratch_types=[
        tile, tile, tile, plgpu.Barrier(num_arrivals=2), plgpu.ACC((64, 64))])(x, w)


def test_convolution():
    x, w, padding = fill(2, 8, 9, 64), fill(3, 3, 64, 64), ((1, 1), (1, 1))
    got = check(lambda x, w: convolve(x, w, padding), x, w).result
    wanted = lax.conv_general_dilated(x.astype("float32"), w.astype("float32"), (1, 1), padding,
                                      dimension_numbers=("NHWC", "HWIO", "NHWC"))
    assert_same(got, numpy.asarray(wanted.reshape(-1, 64)).astype(jnp.bfloat16))


def test_windows_that_nobody_waits_for():
    report = check(copy_windows(lambda x: plgpu.im2col_ref(x, window_shape=(2,)).at[pl.ds(0, 16), 1, :], 16, 64,
                                waits=False),
                   fill(1, 32, 64), verdict="error")
    assert "async-not-awaited" in {finding.code for finding in report.findings}
    report = check(lambda x, w: convolve(x, w, ((0, 0), (0, 0)), waits=False), fill(1, 9, 9, 64), fill(2, 2, 64, 64),
                   verdict="error")
    assert "async-not-awaited" in {finding.code for finding in report.findings}


def test_windows_taken_in_parts():
    """Several steps of indices, one after the other."""
    x = fill(1, 6, 12, 128)
    f = copy_windows(lambda x: plgpu.im2col_ref(x, window_shape=(2, 3)).at[pl.ds(8, 40)].at[pl.ds(4, 16),
                                                                                            1].at[:, 2, 64:],
                     16, 64)
    assert_same(check(f, x).result, list_windows(x, (2, 3), ((0, 0), (0, 0)))[12:28, 1, 2, 64:])


def test_windows_that_are_refused():
    x = fill(1, 64, 64)
    with pytest.raises(grout.pallas.UnsupportedError, match="slices of rows"):
        grout.pallas.check(copy_windows(lambda x: plgpu.im2col_ref(x, window_shape=(16,)).at[pl.ds(0, 16), :, 3], 16,
                                        16, ()))(x)

    def body(x, out, room, barrier):
        view = plgpu.im2col_ref(x, window_shape=(1,))
        plgpu.copy_gmem_to_smem(view.at[pl.ds(0, 16), 0, :], room, barrier, collective_axes="c")
        plgpu.barrier_wait(barrier)
        out[...] = room[...]

    with pytest.raises(grout.pallas.UnsupportedError, match="not shared by the CTAs"):
        grout.pallas.check(kernel(body, S((16, 64), jnp.bfloat16), cluster=(2,), cluster_names=("c",), scratch_types=[
            plgpu.SMEM((16, 64), jnp.bfloat16), plgpu.Barrier()]))(x)
