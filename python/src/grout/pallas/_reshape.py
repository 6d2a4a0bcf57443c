# SPDX-License-Identifier: Apache-2.0
"""Other dimensions of a part of an array: the whole array gets them, and the part is taken of that.

grout's reshape is of whole arrays, but for leading dimensions that are indexed. JAX' lowering reshapes parts, too, as
far as what it joins lies without gaps.
"""
from __future__ import annotations

import dataclasses
import math
import typing

from ..builder import ds
from ._values import Val, index

if typing.TYPE_CHECKING:
    from ._importer import Importer

RANK_MAX = 8  # dimensions of an array of grout


@dataclasses.dataclass(frozen=True)
class Part:
    """What a part of an array takes of a dimension: from the sum of starts on, this many; size None: one, which is no
    dimension any more. Without starts it is all of it."""

    starts: tuple[Val, ...] = ()
    size: int | None = None

    @property
    def is_all(self) -> bool:
        """Whether it is the whole dimension."""
        return not self.starts


@dataclasses.dataclass(frozen=True)
class Trail:
    """A whole array, its dimensions, what is taken of them, and those that are left in the order of the part."""

    ref: typing.Any
    dims: tuple[int, ...]
    parts: tuple[Part, ...]
    order: tuple[int, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the part."""
        sizes = (self.dims[dim] if self.parts[dim].is_all else self.parts[dim].size for dim in self.order)
        return tuple(size for size in sizes if size is not None)

    def is_plain(self) -> bool:
        """Whether only leading dimensions are indexed: the array's own reshape takes that."""
        first = len(self.dims) - len(self.order)
        return self.order == tuple(range(first, len(self.dims))) and all(self.parts[dim].is_all for dim in self.order)


def begin(ref: typing.Any, shape: typing.Any) -> Trail:
    """A whole array."""
    return Trail(ref, tuple(shape), (Part(),) * len(shape), tuple(range(len(shape))))


def take(trail: Trail, parts: typing.Sequence[Part]) -> Trail:
    """A part of it: for each dimension that is left."""
    made, order = list(trail.parts), []
    for dim, part in zip(trail.order, parts):
        if not part.is_all:
            made[dim] = Part((*made[dim].starts, *part.starts), part.size)
        if part.is_all or part.size is not None:
            order.append(dim)
    return dataclasses.replace(trail, parts=tuple(made), order=tuple(order))


def transpose(trail: Trail, permutation: typing.Any) -> Trail:
    """Its dimensions in another order."""
    return dataclasses.replace(trail, order=tuple(trail.order[dim] for dim in permutation))


def _match(importer: Importer, before: typing.Any, after: typing.Any) -> typing.Iterator[tuple[range, range]]:
    """Which dimensions become which, in groups of as many elements that are as small as they can be. A dimension of one
    element that goes or comes is a group."""
    i = j = 0
    while i < len(before) or j < len(after):
        first, second = i, j
        if i < len(before) and before[i] == 1 and (j == len(after) or after[j] != 1):
            i += 1
        elif j < len(after) and after[j] == 1 and (i == len(before) or before[i] != 1):
            j += 1
        elif i == len(before) or j == len(after):
            raise importer.unsupported(f"{list(before)} have not as many elements as {list(after)}")
        else:
            left, right, i, j = before[i], after[j], i + 1, j + 1
            while left != right and (i < len(before) if left < right else j < len(after)):
                if left < right:
                    left, i = left * before[i], i + 1
                else:
                    right, j = right * after[j], j + 1
        yield range(first, i), range(second, j)


def _sum(importer: Importer, starts: typing.Sequence[Val]) -> Val:
    total = index(0)
    for start in starts:
        total = importer.arith("add", total, start)
    return total


def _scale(importer: Importer, start: Val, by: int, over: int) -> Val:
    """start * by / over, where that is known to be a whole number."""
    divisor = math.gcd(by, over)
    by, over = by // divisor, over // divisor
    if over > 1:
        if not start.is_const or start.const % over:
            raise importer.unsupported("a reference in other dimensions that begins at a place that may be no multiple "
                                       f"of {over} rows: reshape it before it is sliced")
        start = index(start.const // over)
    return importer.arith("mul", start, index(by))


def _join(importer: Importer, trail: Trail, dims: typing.Sequence[int], sizes: typing.Sequence[int]) -> typing.Any:
    """Dimensions that lie one inside the other become those of other sizes: the array's dimensions, and the parts."""
    between = [dim for dim in range(dims[0], dims[-1] + 1) if dim not in dims]
    wide = [dim for dim in dims if trail.dims[dim] > 1]
    if list(dims) != sorted(dims) or any(trail.dims[dim] > 1 for dim in between) or \
            any(not trail.parts[dim].is_all for dim in wide[1:]):
        raise importer.unsupported("a reference in other dimensions that joins some that do not follow each other in "
                                   "memory: reshape it before it is sliced or transposed")
    made, parts = list(sizes), [Part()] * len(sizes)
    outer = next((number for number, size in enumerate(sizes) if size > 1), len(sizes) - 1)
    if wide and not trail.parts[wide[0]].is_all and sizes:
        inner_before = math.prod(trail.dims[dim] for dim in wide[1:])
        inner_after = math.prod(sizes[outer + 1:])
        whole = trail.dims[wide[0]] * inner_before
        if whole % inner_after:
            raise importer.unsupported(f"a reference in other dimensions of an array whose {whole} elements are not a "
                                       f"multiple of {inner_after}: reshape it before it is sliced")
        start = _scale(importer, _sum(importer, trail.parts[wide[0]].starts), inner_before, inner_after)
        made[outer], parts[outer] = whole // inner_after, Part((start,), sizes[outer])
    return (made + [trail.dims[dim] for dim in between], parts + [trail.parts[dim] for dim in between])


def _change(importer: Importer, trail: Trail, dims: typing.Sequence[int], sizes: typing.Sequence[int]) -> typing.Any:
    """A group of dimensions that become others, none of which may be there: the array's dimensions, and the parts."""
    if len(dims) == len(sizes) == 1:
        return [trail.dims[dims[0]]], [trail.parts[dims[0]]]
    if not sizes:
        return [trail.dims[dims[0]]], [Part(trail.parts[dims[0]].starts or (index(0),))]
    return _join(importer, trail, dims, sizes)


def reshape(importer: Importer, trail: Trail, shape: typing.Sequence[int]) -> Trail:
    """The part in other dimensions."""
    at = {dim: ([size], [part]) for dim, (size, part) in enumerate(zip(trail.dims, trail.parts))}
    places: list[tuple[int, int]] = []  # of each new dimension: where its group begins, and which of it
    units = 0  # dimensions of one element that stand before the next group
    for before, after in _match(importer, trail.shape, shape):
        dims = [trail.order[number] for number in before]
        if not dims:
            units += len(after)
            continue
        made, parts = _change(importer, trail, dims, [shape[number] for number in after])
        for dim in range(dims[0], dims[-1] + 1):
            at.pop(dim)
        at[dims[0]] = [1] * units + made, [Part()] * units + parts
        places += [(dims[0], number) for number in range(units + len(after))]
        units = 0
    last = len(trail.dims)
    at[last] = [1] * units, [Part()] * units
    places += [(last, number) for number in range(units)]
    made, parts, first = [], [], {}
    for dim in sorted(at):
        first[dim] = len(made)
        made += at[dim][0]
        parts += at[dim][1]
    if not 0 < len(made) <= RANK_MAX:
        raise importer.unsupported(f"a reference whose array would have {len(made)} dimensions: there are 1 to "
                                   f"{RANK_MAX}")
    return Trail(trail.ref.reshape(*made), tuple(made), tuple(parts),
                 tuple(first[group] + number for group, number in places))


def build(importer: Importer, trail: Trail) -> typing.Any:
    """The reference that the trail leads to."""
    items: list[object] = []
    kept: list[int] = []
    for dim, part in enumerate(trail.parts):
        if part.is_all:
            items.append(slice(None))
        else:
            start = importer.operand(_sum(importer, part.starts))
            items.append(start if part.size is None else ds(start, part.size))
        if part.is_all or part.size is not None:
            kept.append(dim)
    ref = trail.ref if all(part.is_all for part in trail.parts) else trail.ref.at[tuple(items)]
    permutation = tuple(kept.index(dim) for dim in trail.order)
    return ref if permutation == tuple(range(len(permutation))) else ref.transpose(*permutation)


# ---- parts of what has other dimensions than it lies in --------------------------------------------------------------

@dataclasses.dataclass
class _Run:
    """Elements that follow each other in row-major order: from the sum of starts, each times its stride, on."""

    terms: list[tuple[Val, int]]
    length: int

    def is_multiple(self, of: int) -> bool:
        """Whether it is known to begin at one."""
        return all((start.const * stride if start.is_const else stride) % of == 0 for start, stride in self.terms)

    def count(self, importer: Importer, unit: int) -> Val:
        """Where it begins, in units that it begins at a multiple of."""
        total = index(0)
        for start, stride in self.terms:
            step = index(start.const * stride // unit) if start.is_const else \
                importer.arith("mul", start, index(stride // unit))
            total = importer.arith("add", total, step)
        return total


def _refuse(importer: Importer) -> typing.Any:
    return importer.unsupported("a part of a reference in other dimensions than it lies in that is not a box there: "
                                "take the part first, or reshape what is loaded")


def _follow(importer: Importer, dims: typing.Sequence[int], parts: typing.Sequence[Part]) -> _Run:
    """What parts of dimensions take: places, then one slice, then whole dimensions."""
    run, is_open = _Run([], 1), True
    for dim, (size, part) in enumerate(zip(dims, parts)):
        stride = math.prod(dims[dim + 1:])
        taken = size if part.is_all else part.size or 1
        if not is_open and taken != size:
            raise _refuse(importer)
        run.terms += [(start, stride) for start in part.starts]
        run.length *= taken
        is_open = is_open and taken == 1
    return run


def _box(importer: Importer, run: _Run, dims: typing.Sequence[int]) -> list[Part]:
    """The same elements as a box of other dimensions."""
    for dim, size in enumerate(dims):
        unit = math.prod(dims[dim + 1:])
        count = run.length // unit
        if run.length % unit or count > size or not run.is_multiple(unit):
            continue
        start = run.count(importer, unit)
        outside: list[Part] = []
        for outer in reversed(dims[1:dim + 1]):  # of each dimension but the first the remainder
            is_first = not outside
            if is_first and not (start.const % outer + count <= outer if start.is_const else
                                 outer % count == 0 and run.is_multiple(unit * count)):
                break
            outside.insert(0, Part((importer.arith("rem", start, index(outer)),), count if is_first else None))
            start = importer.arith("div", start, index(outer))
        else:
            outside.insert(0, Part((start,), None if outside else count))
            return outside + [Part()] * (len(dims) - dim - 1)
    raise _refuse(importer)


def take_of_other(importer: Importer, ref: typing.Any, lies_as: typing.Any, shape: typing.Any,
                  parts: typing.Any) -> typing.Any:
    """A part of a reference that lies as an array of other dimensions: it, its dimensions, and those that are seen."""
    trail = begin(ref, lies_as)
    made = list(trail.parts)
    for before, after in _match(importer, lies_as, shape):
        inside = [parts[number] for number in after]
        if before and not all(part.is_all for part in inside):
            run = _follow(importer, [shape[number] for number in after], inside)
            made[before.start:before.stop] = _box(importer, run, [lies_as[number] for number in before])
    taken = take(trail, made)
    seen = tuple(size if part.is_all else part.size for size, part in zip(shape, parts)
                 if part.is_all or part.size is not None)
    return build(importer, taken), taken.shape, seen
