# SPDX-License-Identifier: Apache-2.0
"""Elementwise primitives of Pallas kernels: each gives what JAX gives outside of a kernel, on the edges of each
type."""
import itertools

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax

import grout.pallas
import pallas_random
from pallas_tools import assert_same, kernel

FLOATS = ("float32", "float16", "bfloat16")
INTS = ("int32", "uint32", "int16", "uint16", "int8", "uint8")


def _edges(dtype):
    dtype = jnp.dtype(dtype)
    if dtype.kind in "iu":
        info = jnp.iinfo(dtype)
        numbers = {info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 7, 100}
        numbers |= {-1, -2, -7} if dtype.kind == "i" else {info.max - 6}
        return numpy.array(sorted(numbers), dtype)
    info = jnp.finfo(dtype)
    return numpy.array([0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.25, -7, float(info.max), -float(info.max),
                        float(info.tiny), numpy.inf, -numpy.inf, numpy.nan], dtype)


def _pairs(dtype):
    """Two arrays with every pair of edges."""
    edges = _edges(dtype)
    pairs = list(itertools.product(range(len(edges)), repeat=2))
    pairs += pairs[:-len(pairs) % 128]
    first, second = zip(*pairs)
    return edges[list(first)], edges[list(second)]


def _divisor(x, y):
    """y but where a division by it has no value."""
    none = y == 0
    if x.dtype.kind == "i":
        none |= (x == jnp.iinfo(x.dtype).min) & (y == -1)
    return jnp.where(none, jnp.asarray(3, y.dtype), y)


def _flush(array):
    """Subnormal numbers as 0, as XLA computes on a CPU; test_subnormal_numbers_are_kept looks at grout's."""
    array = numpy.asarray(array)
    if array.dtype.kind not in "fV":
        return array
    with numpy.errstate(invalid="ignore"):
        is_subnormal = (array != 0) & (abs(array.astype("f8")) < float(jnp.finfo(array.dtype).tiny))
    return numpy.where(is_subnormal, numpy.copysign(numpy.zeros((), array.dtype), array), array)


def _compare(operations, arrays, tolerances=None):
    """Each operation in one kernel, beside JAX' own."""
    def outside(*given):
        return [operation(*given) for operation in operations.values()]

    types = jax.eval_shape(outside, *arrays)

    def body(*references):
        given = [reference[...] for reference in references[:len(arrays)]]
        for operation, out in zip(operations.values(), references[len(arrays):]):
            out[...] = operation(*given)

    report = grout.pallas.check(kernel(body, types))(*arrays)
    assert report.verdict == "clean", str(report)
    wrong = []
    for name, got, wanted in zip(operations, report.result, jax.jit(outside)(*arrays)):
        try:
            assert_same(_flush(got), _flush(wanted), name, **(tolerances or {}).get(name, {}))
        except AssertionError as error:
            wrong.append(str(error))
    assert not wrong, "\n".join(wrong)


COMPARISONS = {name: getattr(lax, name) for name in ("eq", "ne", "lt", "le", "gt", "ge")}


def first_of(name):
    """The operation of lax with this name, on the first of two operands."""
    operation = getattr(lax, name)
    return lambda x, y: operation(x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_exact_operations_on_floats(dtype):
    operations = {
        **{name: getattr(lax, name) for name in ("add", "sub", "mul", "div", "max", "min")}, **COMPARISONS,
        **{name: first_of(name) for name in ("neg", "abs", "floor", "ceil", "square", "is_finite")},
        "sign": lambda x, y: lax.sign(x),
        "sqrt": lambda x, y: lax.sqrt(x),
        "round_even": lambda x, y: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
        "round_away": lambda x, y: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
        "integer_pow 2": lambda x, y: lax.integer_pow(x, 2),
        "integer_pow -1": lambda x, y: lax.integer_pow(x, -1),
        "integer_pow 0": lambda x, y: lax.integer_pow(x, 0),
        "select_n": lambda x, y: jnp.where(x < y, x, y),
        "clamp": lambda x, y: lax.clamp(jnp.asarray(-1, x.dtype), x, jnp.asarray(2, x.dtype)),
    }
    _compare(operations, _pairs(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_on_floats(dtype):
    numbers = numpy.concatenate([numpy.linspace(0.05, 4, 112), [0, numpy.inf, numpy.nan, 1, 2, 3, 0.5, 0.25,
                                                                  10, 1e-3, 7, 9, 1e-2, 0.75, 6, 5]]).astype(dtype)
    names = ("exp", "exp2", "log", "log1p", "expm1", "sin", "cos", "tanh", "rsqrt", "cbrt", "logistic", "erf")
    operations = {name: first_of(name) for name in names}
    operations |= {"pow": lax.pow, "atan2": lax.atan2,
                   "integer_pow 3": lambda x, y: lax.integer_pow(x, 3),
                   "integer_pow 7": lambda x, y: lax.integer_pow(x, 7),
                   "integer_pow -3": lambda x, y: lax.integer_pow(x, -3)}
    close = {"rtol": 4 * float(jnp.finfo(dtype).eps), "atol": float(jnp.finfo(dtype).eps)}
    finite = numpy.where(numpy.isfinite(numbers.astype("f4")), numbers, 1).astype(dtype)
    _compare(operations, (numbers, finite[::-1].copy()), dict.fromkeys(operations, close))


@pytest.mark.parametrize("dtype", INTS)
def test_operations_on_integers(dtype):
    operations = {
        **{name: getattr(lax, name) for name in ("add", "sub", "mul", "max", "min")}, **COMPARISONS,
        "and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor,
        "not": lambda x, y: lax.bitwise_not(x), "neg": lambda x, y: lax.neg(x), "abs": lambda x, y: jnp.abs(x),
        "sign": lambda x, y: lax.sign(x), "clz": lambda x, y: lax.clz(x),
        "population_count": lambda x, y: lax.population_count(x),
        "integer_pow": lambda x, y: lax.integer_pow(x, 3),
        "square": lambda x, y: lax.square(x),
        "clamp": lambda x, y: lax.clamp(jnp.asarray(1, x.dtype), x, jnp.asarray(100, x.dtype)),
        "select_n": lambda x, y: jnp.where(x < y, x, y),
        "div": lambda x, y: lax.div(x, _divisor(x, y)),
        "rem": lambda x, y: lax.rem(x, _divisor(x, y)),
    }
    _compare(operations, _pairs(dtype))


@pytest.mark.parametrize("dtype", INTS)
def test_shifts(dtype):
    numbers = numpy.tile(_edges(dtype), 16)[:128]
    by = (numpy.arange(128) * 5 % (8 * jnp.dtype(dtype).itemsize)).astype(dtype)
    _compare({name: getattr(lax, name) for name in ("shift_left", "shift_right_logical", "shift_right_arithmetic")}
             | {"by a constant": lambda x, y: lax.shift_right_logical(x, jnp.asarray(3, x.dtype))}, (numbers, by))


def test_bools():
    rows = numpy.arange(128)
    _compare({"and": lax.bitwise_and, "or": lax.bitwise_or, "xor": lax.bitwise_xor, "eq": lax.eq, "ne": lax.ne,
              "not": lambda x, y: ~x, "where": lambda x, y: jnp.where(x, y, ~y),
              "cast": lambda x, y: x.astype(jnp.float32) + y.astype(jnp.int32)}, (rows % 2 == 0, rows % 4 < 2))


@pytest.mark.parametrize("first", [0, 8])
def test_random_kernels(first):
    """The first ones. 'python pallas_random.py FIRST COUNT' tries more."""
    for seed in range(first, first + 8):
        pallas_random.try_case(seed)
