# SPDX-License-Identifier: Apache-2.0
"""Tensor memory with dimensions in front of rows and columns: slots, as rings of accumulators have them."""
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
RNG = numpy.random.default_rng(2)
TILES = 4
A = RNG.integers(-3, 4, (TILES, 128, 64)).astype("float16")
B = RNG.integers(-3, 4, (64, 64)).astype("float16")
WANTED = A.astype("float32") @ B.astype("float32")


@pytest.mark.parametrize("waits", (True, False))
def test_a_ring_of_accumulators(waits):
    """The slot is computed. The bug: the sums of two tiles before are still being loaded when it is summed anew."""
    def body(a, b, out, a_smem, b_smem, acc, full, done):
        plgpu.copy_gmem_to_smem(b, b_smem, full)
        plgpu.barrier_wait(full)

        @pl.loop(0, TILES)
        def _(tile):
            slot = lax.rem(tile, jnp.int32(2))
            plgpu.copy_gmem_to_smem(a.at[tile], a_smem, full)
            plgpu.barrier_wait(full)
            plgpu.tcgen05_mma(acc.at[slot], a_smem, b_smem, done, accumulate=False)
            plgpu.barrier_wait(done)
            out[tile] = plgpu.async_load_tmem(acc.at[slot])
            if waits:
                plgpu.wait_load_tmem()

    function = plgpu.kernel(body, out_type=S((TILES, 128, 64), "float32"), scratch_types=(
        plgpu.SMEM((128, 64), jnp.float16, transforms=TRANSFORMS),
        plgpu.SMEM((64, 64), jnp.float16, transforms=TRANSFORMS),
        plgpu.TMEM((2, 128, 64), jnp.float32), plgpu.Barrier(), plgpu.Barrier(orders_tensor_core=True)))
    report = check(function, A, B, verdict="clean" if waits else "error")
    assert "tmem f32[2, 128, 64]" in grout.pallas.dump(function)(A, B)
    if waits:
        assert_same(report.result, WANTED)
    else:
        assert "tmem-load-not-awaited" in {finding.code for finding in report.findings}


def store_and_load(scratch, shape, write):
    """A kernel that loads what write(ref, x) has stored, slot by slot."""
    def body(x, out, ref):
        write(ref, x)
        plgpu.commit_tmem()
        slots = shape[:-2]
        for flat in range(numpy.prod(slots, dtype=int)):
            place = tuple(map(int, numpy.unravel_index(flat, slots)))
            out[place] = plgpu.async_load_tmem(ref[0].at[place] if isinstance(ref, (list, tuple)) else ref.at[place])

    return plgpu.kernel(body, out_type=S(shape, "float16"), scratch_types=[scratch])


@pytest.mark.parametrize("whole", (True, False))
@pytest.mark.parametrize("shape", ((3, 128, 16), (2, 2, 128, 8), (2, 64, 32)))
def test_packed_slots(shape, whole):
    """Stored at once, which JAX lowers to one store a slot, or one by one."""
    def write(ref, x):
        if whole:
            plgpu.async_store_tmem(ref, load(x, layout=plgpu.Layout.TCGEN05, optimized=False))
            return
        for flat in range(numpy.prod(shape[:-2], dtype=int)):
            place = tuple(map(int, numpy.unravel_index(flat, shape[:-2])))
            plgpu.async_store_tmem(ref.at[place], x[place])

    x = RNG.integers(-9, 9, shape).astype("float16")
    function = store_and_load(plgpu.TMEM(shape, jnp.float16, packed=True), shape, write)
    assert_same(check(function, x).result, x)


def test_columns_of_a_slot():
    def body(x, out, ref):
        for slot in range(2):
            plgpu.async_store_tmem(ref.at[slot, :, pl.ds(32, 32)], x[slot])
        plgpu.commit_tmem()
        for slot in range(2):
            out[slot] = plgpu.async_load_tmem(ref.at[slot].at[:, pl.ds(32, 32)])

    x = RNG.integers(-9, 9, (2, 128, 32)).astype("float32")
    function = plgpu.kernel(body, out_type=x, scratch_types=[plgpu.TMEM((2, 128, 64), jnp.float32)])
    assert_same(check(function, x).result, x)
    assert "[0, :, ds(32, 32)]" in grout.pallas.dump(function)(x)


@pytest.mark.parametrize("waits", (True, False))
@pytest.mark.skipif(jax.__version__.startswith("0.10"), reason="this JAX has no union of arrays with slots")
def test_slots_of_a_union(waits):
    """Sums of two tiles, and over them the terms of both: members of one type and one number of columns differ in their
    slots alone. The bug: the next product goes over sums that are still being loaded."""
    def body(a, b, out, a_smem, b_smem, acc, full, done, union):
        sums, terms, flat = union
        del flat
        plgpu.copy_gmem_to_smem(b, b_smem, full)
        plgpu.barrier_wait(full)
        values = []
        for tile in range(2):
            plgpu.copy_gmem_to_smem(a.at[tile], a_smem, full)
            plgpu.barrier_wait(full)
            plgpu.tcgen05_mma(sums.at[tile], a_smem, b_smem, done, accumulate=False)
            plgpu.barrier_wait(done)
            values.append(plgpu.async_load_tmem(sums.at[tile]))
        if waits:
            plgpu.wait_load_tmem()
        for tile in range(2):
            plgpu.async_store_tmem(terms.at[tile], values[tile].astype(jnp.float16))
        plgpu.commit_tmem()
        plgpu.tcgen05_mma(sums.at[1], a_smem, b_smem, done, accumulate=False)
        plgpu.barrier_wait(done)
        for tile in range(2):
            plgpu.tcgen05_mma(acc, terms.at[tile], b_smem, done, accumulate=False)
            plgpu.barrier_wait(done)
            out[tile] = plgpu.async_load_tmem(acc)
            plgpu.wait_load_tmem()

    function = plgpu.kernel(body, out_type=S((2, 128, 64), "float32"), scratch_types=(
        plgpu.SMEM((128, 64), jnp.float16, transforms=TRANSFORMS),
        plgpu.SMEM((64, 64), jnp.float16, transforms=TRANSFORMS),
        plgpu.TMEM((128, 64), jnp.float32), plgpu.Barrier(), plgpu.Barrier(orders_tensor_core=True),
        plgpu.RefUnion(plgpu.TMEM((2, 128, 64), jnp.float32), plgpu.TMEM((2, 128, 64), jnp.float16, packed=True),
                       plgpu.TMEM((128, 128), jnp.float32))))
    report = check(function, A, B, verdict="clean" if waits else "error")
    text = grout.pallas.dump(function)(A, B)
    for member in ("f32[2, 128, 64] alias(", "f16[2, 128, 64] packed alias(", "f32[128, 128] alias("):
        assert member in text
    if waits:
        assert_same(report.result, WANTED[:2] @ B.astype("float32"))
    else:
        assert "tmem-load-not-awaited" in {finding.code for finding in report.findings}
