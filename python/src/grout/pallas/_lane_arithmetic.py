# SPDX-License-Identifier: Apache-2.0
"""Operations on registers of lanes: by their bits where that is all there is to know, else as operations on
elements."""
from __future__ import annotations

import typing

import numpy

from ._errors import UnsupportedError
from ._lanes import BITWISE, Node, Word, const, is_whole, not_bit, of, uniform, width_of

COMMUTES = ("add", "mul", "and", "or", "xor", "min", "max", "mins", "maxs", "minu", "maxu", "fmin", "fmax")


def _signed(lanes: numpy.ndarray[typing.Any, typing.Any], kind: str) -> numpy.ndarray[typing.Any, typing.Any]:
    shift = numpy.uint64(64 - width_of(kind))
    return (lanes << shift).view(numpy.int64) >> shift.astype(numpy.int64)


def _divide(a: typing.Any, b: typing.Any) -> typing.Any:
    quotient = numpy.abs(a) // numpy.abs(b)
    return numpy.where((a < 0) == (b < 0), quotient, -quotient)


_FOLD_ALIKE: dict[str, typing.Callable[..., typing.Any]] = {
    "add": numpy.add, "sub": numpy.subtract, "mul": numpy.multiply, "eq": numpy.equal, "ne": numpy.not_equal}
_FOLD_UNSIGNED: dict[str, typing.Callable[..., typing.Any]] = {
    "divu": numpy.floor_divide, "remu": numpy.remainder, "minu": numpy.minimum, "maxu": numpy.maximum,
    "ltu": numpy.less, "leu": numpy.less_equal, "gtu": numpy.greater, "geu": numpy.greater_equal}
_FOLD_SIGNED: dict[str, typing.Callable[..., typing.Any]] = {
    "divs": _divide, "rems": lambda a, b: a - b * _divide(a, b), "mins": numpy.minimum, "maxs": numpy.maximum,
    "lts": numpy.less, "les": numpy.less_equal, "gts": numpy.greater, "ges": numpy.greater_equal}
COMPARISONS = tuple(name + sign for name in ("lt", "le", "gt", "ge") for sign in "su") + ("eq", "ne")


def _fold(name: str, kind: str, a: Node, b: Node) -> Node | None:
    """The result of two constants."""
    if not (a.is_const and b.is_const and is_whole(a.kind)):
        return None
    if name.startswith(("div", "rem")) and not b.lanes.all():
        return None
    if name in _FOLD_ALIKE:
        result = _FOLD_ALIKE[name](a.lanes, b.lanes)
    elif name in _FOLD_UNSIGNED:
        result = _FOLD_UNSIGNED[name](a.lanes, b.lanes)
    elif name in _FOLD_SIGNED:
        result = _FOLD_SIGNED[name](_signed(a.lanes, a.kind), _signed(b.lanes, b.kind)).astype(numpy.int64)
        result = result.view(numpy.uint64) if result.dtype == numpy.int64 else result
    else:
        return None
    return const(numpy.asarray(result).astype(numpy.uint64), kind)


def binary(name: str, a: Word, b: Word, kind: str | None = None) -> Word:
    """An operation of two registers of one type."""
    if name in BITWISE and is_whole(a.kind):
        return Word(a.kind, bits=[BITWISE[name](x, y) for x, y in zip(a.bits, b.bits)])
    if name in ("shl", "shru", "shrs"):
        return shift(name, a, b)
    kind = kind or ("i1" if name in COMPARISONS else a.kind)
    left, right = a.node, b.node
    folded = _fold(name, kind, left, right)
    if folded is not None:
        return of(folded)
    return _with_number(name, a, b) or of(Node(name, kind, (left, right)))


def _with_number(name: str, a: Word, b: Word) -> Word | None:
    """What an integer and a number make, where that is simpler; else None."""
    if not is_whole(a.kind):
        return None
    for one, other in ((a, b), (b, a)):
        number = uniform(one.node)
        if number == 0 and name == "add" or number == 1 and name == "mul":
            return other
        if number == 0 and name == "mul":
            return one
    number = uniform(b.node)
    if number == 0 and name == "sub" or number == 1 and name in ("divu", "divs"):
        return a
    if name in ("divu", "remu") and number and number & (number - 1) == 0:
        cut = number.bit_length() - 1
        return move(a, cut) if name == "divu" else Word(a.kind, bits=a.bits[:cut] + (False,) * (len(a.bits) - cut))
    if name == "ne" and number == 0:
        set_bits = [bit for bit in a.bits if bit is not False]
        if len(set_bits) <= 1:
            return Word("i1", bits=set_bits or [False])
    return None


def move(a: Word, count: int, fill: typing.Any = False) -> Word:
    """Shifted down by count; up if that is negative."""
    bits, size = a.bits, len(a.bits)
    if count >= 0:
        kept = bits[min(count, size):]
        return Word(a.kind, bits=kept + (fill,) * (size - len(kept)))
    return Word(a.kind, bits=((False,) * min(-count, size) + bits)[:size])


def shift(name: str, a: Word, b: Word) -> Word:
    """Shifts: by a number, by the bits."""
    count = uniform(b.node)
    if count is None:
        if a.node.is_const and b.node.is_const and name != "shrs":
            moved = a.node.lanes << b.node.lanes if name == "shl" else a.node.lanes >> b.node.lanes
            return of(const(numpy.where(b.node.lanes < width_of(a.kind), moved, 0), a.kind))
        return of(Node(name, a.kind, (a.node, b.node)))
    if name == "shl":
        return move(a, -count)
    return move(a, count, a.bits[-1] if name == "shrs" else False)


def invert(a: Word) -> Word:
    """All bits the other way."""
    return Word(a.kind, bits=[not_bit(bit) for bit in a.bits])


def resize(a: Word, kind: str, is_signed: bool = False) -> Word:
    """An integer with more or less bits."""
    count, bits = width_of(kind), a.bits
    fill = bits[-1] if is_signed else False
    return Word(kind, bits=bits[:count] + (fill,) * (count - len(bits)))


def unary(name: str, a: Word, kind: str | None = None, attrs: typing.Any = ()) -> Word:
    """An operation of one register."""
    return of(Node(name, kind or a.kind, (a.node,), attrs))


def select(condition: Word, yes: Word, no: Word) -> Word:
    """yes where the condition is true."""
    known = uniform(condition.node)
    if known is not None:
        return yes if known else no
    return of(Node("select", yes.kind, (condition.node, yes.node, no.node)))


def join(words: typing.Sequence[Word]) -> tuple[typing.Any, ...]:
    """The bits of several registers one after the other."""
    return tuple(bit for word in words for bit in word.bits)


def split(bits: tuple[typing.Any, ...], kind: str) -> list[Word]:
    """Registers of a type that have these bits."""
    size = width_of(kind)
    if len(bits) % size:
        raise UnsupportedError(f"{len(bits)} bits are not a whole number of {kind}")
    return [Word(kind, bits=bits[start:start + size]) for start in range(0, len(bits), size)]
