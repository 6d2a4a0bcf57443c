# SPDX-License-Identifier: Apache-2.0
"""Elementwise primitives."""
from __future__ import annotations

import typing

import numpy

from .. import _arrays
from ._rules import rule
from ._values import Val, const, dtype_of, is_bool, is_float, is_int

if typing.TYPE_CHECKING:
    from ._importer import Importer

BINARY = {"add": "add", "sub": "sub", "mul": "mul", "div": "div", "rem": "rem", "max": "max", "min": "min",
          "and": "and", "or": "or", "xor": "xor", "shift_left": "shl",
          "atan2": "atan2", "pow": "pow", "nextafter": ""}
COMPARE = ("eq", "ne", "lt", "le", "gt", "ge")
UNARY = {"neg": "neg", "sign": "sign", "abs": "abs", "not": "not", "floor": "floor", "ceil": "ceil", "sqrt": "sqrt",
         "exp": "exp", "exp2": "exp2", "log": "log", "log2": "log2", "log1p": "log1p", "expm1": "expm1", "sin": "sin",
         "cos": "cos", "tanh": "tanh", "rsqrt": "rsqrt", "cbrt": "cbrt", "logistic": "logistic", "erf": "erf",
         "is_finite": "is_finite", "clz": "clz", "population_count": "popcount"}
WIDER = {"i4": "i8", "u4": "u8"}  # what elements that memory holds and nothing computes with are computed in
APPROXIMATE = ("exp", "exp2", "log", "log2", "sin", "cos", "tanh", "rsqrt", "logistic")
del BINARY["nextafter"]


def _divide(a: typing.Any, b: typing.Any) -> typing.Any:
    quotient = abs(int(a)) // abs(int(b))
    return quotient if (a < 0) == (b < 0) else -quotient


FOLD: dict[str, typing.Callable[..., typing.Any]] = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b, "max": max, "min": min,
    "div": _divide, "rem": lambda a, b: a - b * _divide(a, b), "and": lambda a, b: a & b, "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b, "eq": lambda a, b: a == b, "ne": lambda a, b: a != b, "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b}


def _wrap(value: typing.Any, dtype: str) -> typing.Any:
    """An integer as an element of this type."""
    if is_bool(dtype):
        return bool(value)
    bits = int(dtype[1:])
    value = int(value) & ((1 << bits) - 1)
    return value - (1 << bits) if dtype[0] == "i" and value >> (bits - 1) else value


def _fold(name: str, a: Val, b: Val, dtype: str) -> Val | None:
    """The result, where it is known now: of two constants, or of a neutral one."""
    if a.is_const and b.is_const and name in FOLD and not is_float(a.dtype):
        if name in ("div", "rem") and not b.const:
            return None
        return const(_wrap(FOLD[name](a.const, b.const), dtype), dtype)
    if not is_int(a.dtype) or a.shape or b.shape:
        return None
    for one, other in ((a, b), (b, a)):
        if one.is_const and name == "add" and one.const == 0 or one.is_const and name == "mul" and one.const == 1:
            return other
        if one.is_const and name == "mul" and one.const == 0:
            return const(0, dtype)
    if b.is_const and (name == "sub" and b.const == 0 or name == "div" and b.const == 1):
        return a
    return const(0, dtype) if b.is_const and name == "rem" and b.const == 1 else None


def spread(importer: Importer, a: Val, shape: typing.Any) -> Val:
    """An array with its dimensions of size 1 as long as those of the shape."""
    if not a.shape or a.shape == tuple(shape):
        return a
    return importer.broadcast(a, shape, 0)


def binary(importer: Importer, name: str, a: Val, b: Val, dtype: str) -> Val:
    """An operation of two operands; dtype: that of the result."""
    folded = _fold(name, a, b, dtype)
    if folded is not None:
        return folded
    if a.dtype in WIDER:  # JAX' lowering has bitwise operations on elements of 4 bits alone, its interpreter all
        wide = WIDER[a.dtype]
        result = binary(importer, name, cast(importer, a, wide), cast(importer, b, wide),
                        wide if dtype == a.dtype else dtype)
        return cast(importer, result, dtype)
    shape = numpy.broadcast_shapes(a.shape, b.shape)
    a, b = spread(importer, a, shape), spread(importer, b, shape)
    left = importer.operand(a, b)
    if a.is_const and b.is_const:
        left = importer.builder.typed(a.const, a.dtype)
    right = importer.operand(b, a)
    if is_bool(a.dtype) and name in ("eq", "ne"):
        differs = importer.op("xor", "bool", shape, left, right)
        return differs if name == "ne" else importer.op("not", "bool", shape, differs.built)
    return importer.op(BINARY.get(name, name), dtype, shape, left, right)


def _dtype(equation: typing.Any, a: Val) -> str:
    return a.dtype if equation is None else dtype_of(equation.outvars[0].aval.dtype)


def _add_binary(name: str) -> None:
    @rule(name)
    def import_binary(importer: Importer, equation: typing.Any, a: typing.Any, b: typing.Any) -> Val:
        return binary(importer, name, a, b, "bool" if name in COMPARE else _dtype(equation, a))
    import_binary.__doc__ = name


for _name in (*BINARY, *COMPARE):
    _add_binary(_name)


def _add_shift_right(name: str, sign: str) -> None:
    @rule(name)
    def import_shift_right(importer: Importer, equation: typing.Any, a: typing.Any, b: typing.Any) -> Val:
        """'shr' goes by the type: of unsigned elements it is logical."""
        del equation
        dtype = sign + a.dtype[1:]
        moved = binary(importer, "shr", cast_bits(importer, a, dtype), cast_bits(importer, b, dtype), dtype)
        return cast_bits(importer, moved, a.dtype)
    import_shift_right.__doc__ = name


_add_shift_right("shift_right_logical", "u")
_add_shift_right("shift_right_arithmetic", "i")


def cast_bits(importer: Importer, a: Val, dtype: str) -> Val:
    """The bits of a as another type of the same size."""
    if a.dtype == dtype:
        return a
    if a.is_const and is_int(a.dtype) and is_int(dtype):
        return const(_wrap(a.const, dtype), dtype)
    return importer.op("bitcast", dtype, a.shape, importer.builder.typed(a.const, a.dtype) if a.is_const else a.built,
                       dtype=dtype)


def unary(importer: Importer, name: str, a: Val) -> Val:
    """An operation of one operand, of the same type."""
    if a.dtype in WIDER:
        return cast(importer, unary(importer, name, cast(importer, a, WIDER[a.dtype])), a.dtype)
    attributes = {"approx": True} if importer.source.approx_math and name in APPROXIMATE else {}
    operand = importer.builder.typed(a.const, a.dtype) if a.is_const else a.built
    dtype = "bool" if name == "is_finite" else a.dtype
    return importer.op(UNARY[name], dtype, a.shape, operand, **attributes)


def _fold_unary(name: str, a: Val) -> Val | None:
    if not a.is_const or is_float(a.dtype):
        return None
    folds: dict[str, typing.Callable[[typing.Any], typing.Any]] = {
        "neg": lambda x: -x, "sign": lambda x: (x > 0) - (x < 0), "abs": abs,
        "not": lambda x: not x if is_bool(a.dtype) else ~x}
    return const(_wrap(folds[name](a.const), a.dtype), a.dtype) if name in folds else None


def _add_unary(name: str) -> None:
    @rule(name)
    def import_unary(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
        if equation.params.get("accuracy") is not None:
            raise importer.unsupported("accuracy= has no counterpart; Pallas takes None alone")
        return _fold_unary(name, a) or unary(importer, name, a)
    import_unary.__doc__ = name


for _name in UNARY:
    _add_unary(_name)


@rule("round")
def import_round(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """To the nearest integer."""
    to_even = equation.params["rounding_method"].name == "TO_NEAREST_EVEN"
    return importer.op("round" if to_even else "round_away", a.dtype, a.shape,
                       importer.builder.typed(a.const, a.dtype) if a.is_const else a.built)


@rule("square")
def import_square(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """a times a."""
    del equation
    return binary(importer, "mul", a, a, a.dtype)


@rule("one_minus_square")
def import_one_minus_square(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """(1 + a) (1 - a)."""
    del equation
    one = const(1, a.dtype)
    return binary(importer, "mul", binary(importer, "add", one, a, a.dtype), binary(importer, "sub", one, a, a.dtype),
                  a.dtype)


@rule("integer_pow")
def import_integer_pow(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """By repeated squaring, as JAX lowers it."""
    power = equation.params["y"]
    result, base, left = None, a, abs(power)
    while left:
        if left & 1:
            result = base if result is None else binary(importer, "mul", result, base, a.dtype)
        left >>= 1
        base = binary(importer, "mul", base, base, a.dtype) if left else base
    one = const(1, a.dtype)
    if result is None:
        return importer.broadcast(one, a.shape) if a.shape else one
    return binary(importer, "div", one, result, a.dtype) if power < 0 else result


@rule("clamp")
def import_clamp(importer: Importer, equation: typing.Any, low: typing.Any, a: typing.Any, high: typing.Any) -> Val:
    """Not below low, not above high."""
    del equation
    return binary(importer, "min", binary(importer, "max", a, low, a.dtype), high, a.dtype)


def select(importer: Importer, condition: Val, yes: Val, no: Val) -> Val:
    """yes where the condition holds."""
    if condition.is_const:
        return yes if condition.const else no
    shape = yes.shape or no.shape or condition.shape
    first = importer.builder.typed(yes.const, yes.dtype) if yes.is_const and no.is_const else importer.operand(yes, no)
    return importer.op("select", yes.dtype, shape, condition.built, first, importer.operand(no, yes))


@rule("select_n")
def import_select_n(importer: Importer, equation: typing.Any, which: typing.Any, *cases: typing.Any) -> typing.Any:
    """The case of that number; of a bool the case of false comes first."""
    del equation
    if is_bool(which.dtype) and len(cases) == 2:
        return select(importer, which, cases[1], cases[0])
    result = cases[-1]
    for number in reversed(range(len(cases) - 1)):
        here = binary(importer, "le", which, const(number, which.dtype), "bool")
        result = select(importer, here, cases[number], result)
    return result


def cast(importer: Importer, a: Val, dtype: str) -> Val:
    """In another element type."""
    if a.dtype == dtype:
        return a
    if a.is_const:
        value = numpy.array(a.const, numpy_dtype(a.dtype)).astype(numpy_dtype(dtype))
        return const(value.item(), dtype)
    return Val(dtype, a.shape, importer.builder.op("cast", a.built, dtype=dtype),
               truth=a if is_bool(a.dtype) and not a.shape else None)


def numpy_dtype(dtype: str) -> typing.Any:
    """What NumPy has for an element type."""
    import ml_dtypes
    name = _arrays.NAMES[dtype][0]
    return numpy.dtype(getattr(ml_dtypes, name, None) or name)


@rule("convert_element_type")
def import_convert(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """A cast."""
    return cast(importer, a, dtype_of(equation.params["new_dtype"]))


@rule("optimization_barrier")
def import_optimization_barrier(importer: Importer, equation: typing.Any, *values: typing.Any) -> typing.Any:
    """The values: the interpreter moves nothing."""
    del importer, equation
    return list(values)


@rule("multiple_of")
def import_multiple_of(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """A promise, which the interpreter checks."""
    values = equation.params["values"]
    number = int(values[-1] if isinstance(values, (tuple, list)) else values)
    if a.is_const or number <= 1:
        return a
    if a.shape:
        importer.note("multiple_of of an array is not looked at: it is a promise, and changes no value")
        return a
    return importer.op("multiple_of", a.dtype, a.shape, a.built, number)


@rule("copy", "stop_gradient", "pvary", "reshard")
def import_same(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """The value itself."""
    del importer, equation
    return a
