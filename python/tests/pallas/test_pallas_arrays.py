# SPDX-License-Identifier: Apache-2.0
"""Primitives on the shapes of arrays, casts and reductions: each gives what JAX gives outside of a kernel."""
import itertools

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from grout.pallas._values import splat_of
from pallas_tools import S, assert_same, kernel


def compare(operations, *arrays, verdict="clean"):
    """Each operation in one kernel, beside JAX' own."""
    def outside(*given):
        return [operation(*given) for operation in operations]

    types = jax.eval_shape(outside, *arrays)

    def body(*references):
        given = [reference[...] for reference in references[:len(arrays)]]
        for operation, out in zip(operations, references[len(arrays):]):
            out[...] = operation(*given)

    report = grout.pallas.check(kernel(body, types))(*arrays)
    assert report.verdict == verdict, str(report)
    for number, (got, wanted) in enumerate(zip(report.result, jax.jit(outside)(*arrays))):
        assert_same(got, wanted, str(number))
    return report


def _numbers(*shape, dtype="int32", seed=0):
    return numpy.random.default_rng(seed).integers(0 if dtype[0] == "u" else -9, 10, shape).astype(dtype)


def test_broadcast_in_dim():
    a, b = _numbers(8, 4), _numbers(8, 1)
    one = numpy.array([7], "int32")
    operations = [lambda a, b, c, dims=dims, shape=shape: lax.broadcast_in_dim(a, shape, dims)
                  for shape, dims in (((8, 4), (0, 1)), ((2, 8, 4), (1, 2)), ((8, 4, 3), (0, 1)), ((8, 3, 4), (0, 2)),
                                      ((2, 8, 3, 4), (1, 3)), ((8, 3, 2, 4), (0, 3)))]
    operations += [lambda a, b, c: lax.broadcast_in_dim(b, (8, 4), (0, 1)),  # a dimension of size 1 is spread
                   lambda a, b, c: lax.broadcast_in_dim(b, (3, 8, 4), (1, 2)),
                   lambda a, b, c: lax.broadcast_in_dim(c, (64,), (0,)),
                   lambda a, b, c: a + b,
                   lambda a, b, c: jnp.full((4, 8), 5, jnp.int32),
                   lambda a, b, c: lax.broadcast_in_dim(jnp.int32(3), (4, 2), ())]
    compare(operations, a, b, one)


def test_shapes():
    a = _numbers(4, 1, 32)
    compare([lambda a: a.reshape(128), lambda a: a.reshape(32, 4), lambda a: a.reshape(2, 2, 4, 8),
             lambda a: a.squeeze(1), lambda a: jnp.expand_dims(a, (0, 3)),
             lambda a: a[:1, :, :1].reshape(()) + jnp.zeros(
                 (64,), jnp.int32), lambda a: a.squeeze(1).T, lambda a: lax.transpose(a, (2, 0, 1)),
             lambda a: lax.transpose(a, (0, 1, 2)), lambda a: sum(x * i for i, x in enumerate(a)),
             lambda a: sum(list(a.reshape(32, 4).T))], a)


def test_slices_and_concatenations():
    a, b = _numbers(8, 32), _numbers(8, 16, seed=1)
    compare([lambda a, b: a[2:4, 8:24], lambda a, b: a[:, :16] + b, lambda a, b: a[0], lambda a, b: a[3, 5] + b,
             lambda a, b: lax.concatenate([a, b], 1), lambda a, b: lax.concatenate([a[:, 16:], b, b], 0),
             lambda a, b: lax.concatenate([a], 0),
             lambda a, b: lax.concatenate([a, jnp.full((8, 2), 4, jnp.int32)], 1),
             *[lambda a, b, part=part: lax.split(a, (8, 16, 8), 1)[part] for part in range(3)],
             lambda a, b: lax.split(b, (6, 2), 0)[1],
             lambda a, b: jnp.unstack(b, axis=0)[5], lambda a, b: jnp.unstack(a, axis=1)[3]], a, b)


@pytest.mark.parametrize("dtype", ("int32", "uint8", "float32", "bfloat16"))
def test_iota(dtype):
    compare([lambda x, dim=dim: lax.broadcasted_iota(jnp.dtype(dtype), (8, 4, 2), dim) for dim in range(3)] +
            [lambda x: lax.iota(jnp.dtype(dtype), 64)], numpy.zeros(1, dtype))


@pytest.mark.parametrize("dtype", ("int32", "uint32", "float32", "float16"))
def test_reductions(dtype):
    a = _numbers(8, 4, 16, dtype=dtype)
    whole = numpy.where(a > 0, a, 1)[:1, :1, :8].reshape(8) % 3 + 1
    compare([lambda a, b, axes=axes, name=name: getattr(jnp, name)(a, axis=axes)
             for name, axes in itertools.product(("sum", "max", "min"),
                                                 ((0,), (1,), (2,), (0, 2), (1, 2), (0, 1, 2)))] +
            [lambda a, b: jnp.prod(b), lambda a, b: jnp.sum(a, axis=1, keepdims=True)], a, whole.astype(dtype))


def test_reductions_of_bits():
    a, truth = _numbers(8, 16), _numbers(8, 16) > 0
    compare([lambda a, b: jnp.any(b, 1), lambda a, b: jnp.all(b, 0), lambda a, b: jnp.any(b),
             lambda a, b: jnp.bitwise_xor.reduce(a, 1), lambda a, b: jnp.bitwise_and.reduce(a, 0),
             lambda a, b: jnp.bitwise_or.reduce(a, 0)], a, truth)


def test_scans_of_arrays():
    a = _numbers(4, 8) % 3
    compare([lambda a, scan=scan, dim=dim, back=back: scan(a, dim, back)
             for scan in (lax.cumsum, lax.cummax, lax.cummin, lax.cumprod) for dim in (0, 1) for back in (False, True)],
            a)


CASTS = ("float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int32", "uint32", "int16", "uint16", "int8",
         "uint8", "bool")


@pytest.mark.parametrize("dtype", CASTS)
def test_casts(dtype):
    values = [0, 1, 2, 3, 7, 0.5, 1.5, 2.5, 3.25, 100, 13.75] + ([-1, -2, -0.5, -7, -100] if dtype[0] in "if" else [])
    a = numpy.array((values * 4)[:32]).astype(jnp.dtype(dtype))
    into = [other for other in CASTS if not (other[0] == "u" and dtype[0] in "if")]
    compare([lambda a, other=other: a.astype(other) for other in into], a)


def test_bits_as_another_type():
    a = _numbers(64, dtype="float32")
    compare([lambda a: lax.bitcast_convert_type(a, jnp.int32), lambda a: lax.bitcast_convert_type(a, jnp.uint32),
             lambda a: lax.bitcast_convert_type(a.astype(jnp.float16), jnp.int16),
             lambda a: lax.bitcast_convert_type(lax.bitcast_convert_type(a, jnp.int32) ^ 1, jnp.float32)], a)


def test_dot_general():
    a, b = _numbers(8, 16), _numbers(16, 4)
    big, bigger = _numbers(32, 32, dtype="float32"), _numbers(32, 16, dtype="float32")
    compare([lambda a, b, c, d: a @ b, lambda a, b, c, d: c @ d,
             lambda a, b, c, d: lax.dot_general(a, a, (((1,), (1,)), ((), ()))),
             lambda a, b, c, d: lax.dot_general(b, a, (((0,), (1,)), ((), ())))], a, b, big, bigger)


def test_layouts_change_no_value():
    a = _numbers(64, 64, dtype="float32")

    def inside(x, out, row):
        value = plgpu.layout_cast(x[...], plgpu.Layout.WGMMA)
        out[...] = plgpu.layout_cast(value, plgpu.Layout.WG_STRIDED((64, 64), 2))
        row[...] = jnp.sum(value, 1)

    report = grout.pallas.check(kernel(inside, (S((64, 64), jnp.float32), S((64,), jnp.float32))))(a)
    assert report.verdict == "clean", str(report)
    assert_same(report.result[0], a)
    assert_same(report.result[1], a.sum(1))


def test_select_of_many_and_copies():
    a = _numbers(32)
    compare([lambda a: lax.optimization_barrier(a) + 1, lambda a: lax.stop_gradient(a),
             lambda a: jnp.where(a > 0, 1.5, 2).astype(jnp.float32),
             lambda a: jax.nn.relu(a), lambda a: jnp.copy(a),
             lambda a: lax.select_n(jnp.clip(a, 0, 2), a, a * 2, a * 3)], a)


def test_what_inlines():
    a = _numbers(32, dtype="float32")

    @jax.custom_jvp
    def own(x):
        return x * 2
    own.defjvp(lambda primals, tangents: (own(*primals), tangents[0] * 3))

    @jax.custom_vjp
    def other(x):
        return x + 2
    other.defvjp(lambda x: (other(x), None), lambda _, g: (g,))

    @jax.custom_batching.custom_vmap
    def batched(x):
        return x - 1

    batched.def_vmap(lambda size, batched, x: (x - 1, True))
    compare([lambda a: own(a), lambda a: other(a), lambda a: batched(a), lambda a: jax.jit(lambda x: x * x)(a),
             lambda a: jax.checkpoint(lambda x: x + x)(a)], a)


def test_stack():
    a, b = _numbers(8, 4), _numbers(8, 4, seed=1)
    report = compare([lambda a, b, dim=dim: jnp.stack([a, b, a + b], axis=dim) for dim in (0, 1, 2, -1)] +
                     [lambda a, b: jnp.stack([a]), lambda a, b: jnp.stack([a.sum(), b.max()]),
                      lambda a, b: jnp.stack([jnp.full((8, 4), 3), b]), lambda a, b: jnp.vstack([a, b])], a, b)
    assert len(report.result) == 8


def test_constants_that_are_no_numbers():
    """A NaN is written with its type beside elements of another one; an array of zeros of both signs is no constant."""
    def where(value):
        return lambda a, b, c: [jnp.where(x > 0, x, value) for x in (a, b, c)]

    arrays = [(_numbers(8, 16) / 2).astype(dtype) for dtype in ("float32", "bfloat16", "float16")]
    compare([lambda *given, value=value, number=number: where(value)(*given)[number]
             for value in (jnp.nan, jnp.inf, -jnp.inf, -0.0) for number in range(3)], *arrays)
    compare([lambda *given, number=number: jnp.var(given[number]) for number in range(3)], *arrays)
    for elements, wanted in (([0.0, -0.0], None), ([-0.0, -0.0], -0.0), ([3, 3], 3), ([True, False], None), ([], None)):
        assert repr(splat_of(numpy.array(elements))) == repr(wanted)


def test_a_promise_of_an_array():
    """It is not looked at, which a note says."""
    a = _numbers(64) * 8
    f = kernel(lambda x, out: out.__setitem__(..., pl.multiple_of(x[...], 8) + 1), S((64,), jnp.int32))
    report = grout.pallas.check(f)(a)
    assert_same(report.result, a + 1)
    assert any("multiple_of of an array" in note for note in report.notes)
