# SPDX-License-Identifier: Apache-2.0
"""Elements of 4 bits: references that take parts of bytes, unions, arithmetic, bits."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, kernel

RNG = numpy.random.default_rng(3)
TYPES = (jnp.int4, jnp.uint4)


def draw(*shape, dtype):
    low = -8 if dtype == jnp.int4 else 0
    return jnp.asarray(RNG.integers(low, low + 16, shape)).astype(dtype)


def run(body, x, shape, dtype="int32", **options):
    """The result of a kernel that the checker finds clean, and what JAX makes of the same without a kernel."""
    return check(kernel(body, S(shape, dtype), **options), *(x if isinstance(x, tuple) else (x,))).result


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("take", (
    lambda x: x[0, 1], lambda x: x[3, 0], lambda x: x[:, 5], lambda x: x[2, 3:5], lambda x: x[:, 1:4],
    lambda x: x[1, 2:6], lambda x: x[:, 3:], lambda x: x[4]), ids=range(8))
def test_parts_of_bytes(dtype, take):
    x = draw(8, 16, dtype=dtype)

    def body(x_ref, out):
        out[...] = take(x_ref).astype(jnp.int32)

    wanted = take(numpy.asarray(x).astype("int32"))
    assert_same(run(body, x, wanted.shape), wanted)


@pytest.mark.parametrize("dtype", TYPES)
def test_a_computed_element(dtype):
    x = draw(4, 16, dtype=dtype)

    def body(x_ref, out):
        @pl.loop(0, 16)
        def _(place):
            out[:, place] = x_ref[:, place].astype(jnp.int32)

    assert_same(run(body, x, (4, 16)), numpy.asarray(x).astype("int32"))


@pytest.mark.parametrize("start", (6, 7))
def test_a_computed_slice_begins_with_a_byte(start):
    """JAX' lowering divides the start by 2. The bug: it is odd."""
    x = draw(4, 16, dtype=jnp.int4)

    def body(x_ref, start_ref, out):
        out[...] = x_ref[:, pl.ds(start_ref[...], 4)].astype(jnp.int32)

    report = check(kernel(body, S((4, 4), "int32")), x, jnp.int32(start), verdict="error" if start % 2 else "clean")
    if start % 2:
        assert "not-a-multiple" in {finding.code for finding in report.findings}, str(report)
    else:
        assert_same(report.result, numpy.asarray(x).astype("int32")[:, start:start + 4])


@pytest.mark.parametrize("dtype", TYPES)
def test_transposed_references(dtype):
    """Loads, stores, and parts of them: rows of what is seen are columns of what lies there."""
    x = draw(8, 16, dtype=dtype)

    def body(x_ref, out, part, row, back, smem):
        smem[...] = x_ref[...]
        turned = smem.transpose((1, 0))
        out[...] = turned[...].astype(jnp.int32)
        part[...] = turned[3:5, 2:8].astype(jnp.int32)
        row[...] = turned[7].astype(jnp.int32)
        back.transpose((1, 0))[...] = turned[...]

    whole = numpy.asarray(x).astype("int32").T
    results = check(kernel(body, (S((16, 8), "int32"), S((2, 6), "int32"), S((8,), "int32"), S((8, 16), dtype)),
                           scratch_types=[plgpu.SMEM((8, 16), dtype)]), x).result
    for got, wanted in zip(results, (whole, whole[3:5, 2:8], whole[7], numpy.asarray(x))):
        assert_same(numpy.asarray(got).astype("int32"), wanted.astype("int32"))


@pytest.mark.parametrize("dtype", TYPES)
def test_scalars(dtype):
    def body(x_ref, out, same):
        out[...] = x_ref[...].astype(jnp.int32)
        same[...] = x_ref[...]

    for number in (3, 7 if dtype == jnp.uint4 else -5):
        out, same = check(kernel(body, (S((), "int32"), S((), dtype))), jnp.asarray(number, dtype)).result
        assert int(out) == number and int(same) == number and same.dtype == dtype


def test_a_store_to_half_a_byte_is_refused():
    def body(x_ref, out):
        out[:, 3] = x_ref[:, 3]

    with pytest.raises(grout.pallas.UnsupportedError, match="a store to a part of a byte"):
        grout.pallas.dump(kernel(body, S((4, 16), jnp.int4)))(S((4, 16), jnp.int4))


def test_copies_take_whole_bytes():
    def body(x_ref, out, smem, full):
        plgpu.copy_gmem_to_smem(x_ref.at[:, pl.ds(1, 32)], smem, full)
        plgpu.barrier_wait(full)
        out[...] = smem[...].astype(jnp.int32)

    scratch = [plgpu.SMEM((64, 32), jnp.int4), plgpu.Barrier()]
    with pytest.raises(grout.pallas.UnsupportedError, match="this takes whole bytes"):
        grout.pallas.dump(kernel(body, S((64, 32), "int32"), scratch_types=scratch))(S((64, 64), jnp.int4))


def test_copies_take_bytes_as_they_lie():
    def body(x_ref, out, smem, full):
        plgpu.copy_gmem_to_smem(x_ref, smem.transpose((1, 0)), full)
        plgpu.barrier_wait(full)
        out[...] = smem[...].astype(jnp.int32)

    scratch = [plgpu.SMEM((64, 64), jnp.int4), plgpu.Barrier()]
    with pytest.raises(grout.pallas.UnsupportedError, match="has to stay the last"):
        grout.pallas.dump(kernel(body, S((64, 64), "int32"), scratch_types=scratch))(S((64, 64), jnp.int4))


@pytest.mark.parametrize("commits", (True, False))
def test_union_with_bytes(commits):
    """Elements of 4 bits take half a byte of a union. The bug: TMA may read the bytes of before."""
    def body(x_ref, out, union):
        [_, bytes_ref], [_, nibbles] = union
        bytes_ref[...] = x_ref[...]
        if commits:
            plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(nibbles, out)
        plgpu.wait_smem_to_gmem(0)

    union = plgpu.RefUnion([plgpu.SMEM((128,), jnp.int8)] * 2,
                           [plgpu.SMEM((2048,), jnp.uint4), plgpu.SMEM((256,), jnp.uint4)])
    x = jnp.arange(128, dtype=jnp.int8)
    report = check(kernel(body, S((256,), jnp.uint4), scratch_types=[union]), x,
                   verdict="clean" if commits else "error")
    if commits:
        wanted = numpy.stack([numpy.arange(128) & 15, numpy.arange(128) >> 4], axis=-1).reshape(256)
        assert_same(numpy.asarray(report.result).astype("int32"), wanted.astype("int32"))
    else:
        assert "missing-commit-smem" in {finding.code for finding in report.findings}


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("function", (
    lambda x, y: x & y, lambda x, y: x | y, lambda x, y: x ^ y, lambda x, y: ~x, lambda x, y: x + y, lambda x, y: x - y,
    lambda x, y: x * y, lambda x, y: jnp.maximum(x, y), lambda x, y: jnp.minimum(x, 3), lambda x, y: x << 1,
    lambda x, y: x >> 1, lambda x, y: jnp.where(x < y, x, y), lambda x, y: lax.bitcast_convert_type(x, jnp.uint4),
    lambda x, y: -x), ids=range(14))
def test_arithmetic(dtype, function):
    """JAX' lowering has the bitwise ones alone; its interpreter all, and they wrap."""
    x, y = draw(8, 16, dtype=dtype), draw(8, 16, dtype=dtype)

    def body(x_ref, y_ref, out):
        out[...] = function(x_ref[...], y_ref[...])

    wanted = function(x, y)
    got = run(body, (x, y), wanted.shape, wanted.dtype)
    assert_same(numpy.asarray(got).astype("int32"), numpy.asarray(wanted).astype("int32"))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("wide", ("int8", "uint8", "int16", "int32", "float16", "bfloat16", "float32", "float8_e4m3fn"))
def test_casts(dtype, wide):
    x = draw(8, 16, dtype=dtype)
    wide = jnp.dtype(wide)

    def body(x_ref, up, down):
        up[...] = x_ref[...].astype(wide)
        down[...] = x_ref[...].astype(wide).astype(dtype)

    up, down = check(kernel(body, (S(x.shape, wide), S(x.shape, dtype))), x).result
    assert_same(up, numpy.asarray(x.astype(wide)))
    assert_same(numpy.asarray(down).astype("int32"), numpy.asarray(x).astype("int32"))


@pytest.mark.parametrize("few, many", (
    (jnp.int4, jnp.int8), (jnp.uint4, jnp.int8), (jnp.int4, jnp.uint8), (jnp.int4, jnp.int16), (jnp.int8, jnp.int32),
    (jnp.uint16, jnp.uint32)))
def test_bits_of_another_size(few, many):
    """In registers, where the number of dimensions changes with the size."""
    wide = jnp.asarray(RNG.integers(-2 ** 30, 2 ** 30, (4, 8)).astype("int32")).astype(many)
    parts = lax.bitcast_convert_type(wide, few)

    def body(wide_ref, parts_ref, out, back):
        out[...] = lax.bitcast_convert_type(wide_ref[...], few)
        back[...] = lax.bitcast_convert_type(parts_ref[...], many)

    out, back = check(kernel(body, (parts, wide)), wide, parts).result
    assert_same(numpy.asarray(out).astype("int64"), numpy.asarray(parts).astype("int64"))
    assert_same(back, numpy.asarray(wide))


def test_references_of_another_size_are_refused():
    def body(x_ref, out):
        out[...] = x_ref.bitcast(jnp.int8)[...]

    with pytest.raises(grout.pallas.UnsupportedError, match="another size"):
        grout.pallas.dump(kernel(body, S((4, 16), jnp.int8)))(S((8, 16), jnp.int4))


@pytest.mark.parametrize("dtype", ("float4_e2m1fn", "float8_e4m3fn", "float16", "float32"))
def test_subnormal_numbers(dtype):
    """The thread that JAX calls back in flushes them to zero; a kernel does not."""
    dtype = jnp.dtype(dtype)
    small = float(jnp.finfo(dtype).smallest_subnormal)
    x = numpy.asarray([small, -small, 1, 2 * small] * 4).reshape(2, 8).astype(dtype)

    def body(x_ref, out, same):
        out[...] = x_ref[...].astype(jnp.float32)
        same[...] = x_ref[...]

    out, same = check(kernel(body, (S(x.shape, "float32"), S(x.shape, dtype))), x).result
    assert_same(numpy.asarray(out), x.astype("float32"))
    assert_same(numpy.asarray(same).astype("float32"), x.astype("float32"))
