# SPDX-License-Identifier: Apache-2.0
"""Elements of 4 bits, of which memory has two in a byte, along the last dimension. References take whole bytes, in the
order in which they lie; what JAX' references take beyond that is done to the value when it is loaded or stored."""
from __future__ import annotations

import dataclasses
import typing

from . import _jax
from ._arithmetic import binary, select
from ._array_rules import reshape, slice_box, transpose
from ._values import PACKED, Val, View, index

if typing.TYPE_CHECKING:
    from ._importer import Importer

indexing = _jax.indexing


@dataclasses.dataclass(frozen=True)
class Pick:
    """What of the last dimension is meant of that which is loaded: this many elements, or one if size is None."""

    start: Val
    size: int | None

    def take(self, importer: Importer, value: Val) -> Val:
        """The elements that are meant."""
        front = value.shape[:-1]
        if self.start.is_const:
            start, size = self.start.const, self.size or 1
            part = slice_box(importer, value, [0] * len(front) + [start], [*front, start + size])
            return reshape(importer, part, front) if self.size is None else part
        first, second = (Pick(index(place), None).take(importer, value) for place in range(2))
        return select(importer, binary(importer, "eq", self.start, index(1), "bool"), second, first)


def is_packed(view: View) -> bool:
    """Whether two elements lie in a byte."""
    return view.kind in ("gmem", "smem") and view.dtype in PACKED


def _align(importer: Importer, item: typing.Any, to_val: typing.Any) -> tuple[object, Pick | None]:
    """For an index of the last dimension: whole bytes, and what is meant of them."""
    if not isinstance(item, indexing.Slice):
        place = to_val(importer, item)
        pair = importer.arith("mul", importer.arith("div", place, index(2)), index(2))
        return indexing.Slice(pair, 2, 1), Pick(importer.arith("rem", place, index(2)), None)
    start = to_val(importer, item.start)
    if item.stride != 1:
        return item, None  # is refused like any other
    if start.is_const and (start.const % 2 or item.size % 2):
        first, last = start.const // 2 * 2, (start.const + item.size + 1) // 2 * 2
        return indexing.Slice(first, last - first, 1), Pick(index(start.const - first), item.size)
    if item.size % 2:
        raise importer.unsupported(f"{item.size} elements of 4 bits from a place that the kernel computes: a byte has "
                                   "two of them; take an even number, or all of the row")
    # JAX' lowering divides the place by 2; grout looks whether it may.
    return item if start.is_const else dataclasses.replace(
        item, start=importer.op("multiple_of", "i32", (), start.built, 2)), None


def take_part(importer: Importer, view: View, indices: typing.Any, take: typing.Any, to_val: typing.Any) -> View:
    """What indices select; take: the same of elements that have bytes of their own."""
    if view.pick is not None:
        raise importer.unsupported("a part of a part of elements of 4 bits that is not whole bytes: index once")
    order = view.turn or tuple(range(len(view.shape)))
    stored: list[object] = [None] * len(order)
    for own, dim in enumerate(order):
        stored[dim] = indices[own]
    meant: list[typing.Any] = list(stored)
    stored[-1], pick = _align(importer, stored[-1], to_val)
    part = take(importer, view.but(shape=view.stored or view.shape, turn=(), stored=None), stored)
    kept = [dim for dim in order if isinstance(meant[dim], indexing.Slice)]
    return part.but(shape=tuple(meant[dim].size for dim in kept), pick=pick, stored=part.shape,
                    turn=_plain(tuple(sorted(kept).index(dim) for dim in kept)))


def _plain(order: tuple[int, ...]) -> tuple[int, ...]:
    return () if order == tuple(range(len(order))) else order


def turn(importer: Importer, view: View, permutation: typing.Any) -> View:
    """With its dimensions in another order."""
    if view.pick is not None:
        raise importer.unsupported("elements of 4 bits that are not whole bytes, with their dimensions in another "
                                   "order: transpose what is loaded")
    order = view.turn or tuple(range(len(view.shape)))
    return view.but(shape=tuple(view.shape[dim] for dim in permutation), stored=view.stored or view.shape,
                    turn=_plain(tuple(order[dim] for dim in permutation)))


def is_whole(view: View) -> bool:
    """Whether the reference is all that is meant."""
    return view.pick is None and not view.turn


def as_reference(importer: Importer, view: View) -> View:
    """For what takes no value. An operand of a product may be seen in another order; of the rest the verifier says that
    it may not."""
    if view.pick is not None:
        raise importer.unsupported("a part of a byte, which has two elements of 4 bits: this takes whole bytes")
    return view.but(ref=view.ref.transpose(*view.turn), turn=(), stored=None) if view.turn else view


def after_load(importer: Importer, view: View, value: Val) -> Val:
    """What is meant of what was loaded."""
    value = view.pick.take(importer, value) if view.pick is not None else value
    return transpose(importer, value, view.turn) if view.turn else value


def before_store(importer: Importer, view: View, value: Val) -> Val:
    """What is stored for a value."""
    if view.pick is not None:
        raise importer.unsupported("a store to a part of a byte: it has two elements of 4 bits, and threads that store "
                                   "to both of them race; store whole bytes")
    return transpose(importer, value, [view.turn.index(dim) for dim in range(len(view.turn))]) if view.turn else value
