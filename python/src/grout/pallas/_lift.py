# SPDX-License-Identifier: Apache-2.0
"""From what lanes hold to arrays: one operation on arrays for what all lanes do to their elements."""
from __future__ import annotations

import dataclasses
import math
import typing

import numpy

from ._arithmetic import binary, cast, cast_bits, numpy_dtype, select, unary
from ._array_rules import reshape, slice_box
from ._errors import UnsupportedError
from ._lane_arithmetic import COMMUTES
from ._lanes import LANES, Node, is_whole, resize_places, width_of
from ._values import Val, const, is_bool, is_int

if typing.TYPE_CHECKING:
    from ._importer import Importer

REDUCTIONS = {"add": "reduce_sum", "max": "reduce_max", "min": "reduce_min", "maxs": "reduce_max", "mins": "reduce_min",
              "maxu": "reduce_max", "minu": "reduce_min", "or": "reduce_or", "and": "reduce_and", "xor": "reduce_xor",
              "mul": "reduce_prod"}
RANK_MAX = 8  # of an array of grout
CHOICES_MAX = 64


@dataclasses.dataclass
class Source:
    """Where elements come from: an array in registers, or what was loaded of a reference.

    value: a part of an array of this shape, from start on, or all of it. is_splat: all elements are the same.
    """

    value: Val
    shape: tuple[int, ...]
    start: tuple[int, ...] = ()
    is_splat: bool = False

    def find(self, places: numpy.ndarray[typing.Any, typing.Any]) -> numpy.ndarray[typing.Any, typing.Any]:
        """Places in the array as places in the value; -1 stays."""
        if not self.start or self.shape == self.value.shape:
            return places
        result, cared = places.copy(), places >= 0
        result[cared] = resize_places(places[cared].astype(numpy.int64), self.shape, self.start, self.value.shape)
        return result


def _refuse(why: str) -> UnsupportedError:
    return UnsupportedError(f"the code of an inline_mgpu {why}: say what it does with grout.pallas.register_inline")


class Lifter:
    """Builds arrays. sources: by number of Node.attrs."""

    def __init__(self, importer: Importer, sources: typing.Sequence[Source]) -> None:
        self.importer, self.sources = importer, sources

    def lift(self, columns: typing.Sequence[Node], targets: numpy.ndarray[typing.Any, typing.Any],
             shape: typing.Any) -> Val:
        """The array of this shape whose element targets[s][l] is what lane l has in columns[s]."""
        if len(numpy.unique(targets)) != math.prod(shape):
            raise _refuse(f"makes an array of {list(shape)} of which no lane holds some elements")
        return _Array(self, targets, tuple(shape)).make(list(columns))

    def lift_scalar(self, node: Node) -> Val:
        """What all lanes have."""
        return self.lift([node], numpy.zeros((1, LANES), numpy.int64), ())


class _Array:
    """One array that is made: of which elements, and in which dimensions."""

    def __init__(self, lifter: Lifter, targets: numpy.ndarray[typing.Any, typing.Any], shape: tuple[int, ...]) -> None:
        self.lifter, self.importer = lifter, lifter.importer
        self.targets, self.shape = targets, shape
        self.size = math.prod(shape)
        self._known: dict[tuple[object, ...], Val] = {}

    def make(self, columns: list[Node | None]) -> Val:
        """columns: by row of targets; None: what is there does not matter."""
        key = tuple(map(id, columns))
        if key not in self._known:
            self._known[key] = self._make(columns)
        return self._known[key]

    def _make(self, columns: typing.Any) -> Val:
        kinds: dict[tuple[object, ...], list[int]] = {}
        for number, node in enumerate(columns):
            if node is not None:
                kinds.setdefault(_signature(node), []).append(number)
        if len(kinds) > 1:
            return self._choose(columns, list(kinds.values()))
        first = next(node for node in columns if node is not None)
        if first.op == "opaque":
            raise _refuse(f"uses {first.attrs[0]}")
        if first.op == "const":
            return self._table(self._map(columns), first.kind)
        if first.op == "source":
            return self._take(self.lifter.sources[first.attrs[0]], self._map(columns))
        found = self._reduce(columns, first) if first.op in REDUCTIONS else None
        if found is not None:
            return found
        parts = [[None if node is None else node.args[place] for node in columns] for place in range(len(first.args))]
        return self._operate(first, [self.make(part) for part in parts])

    def _choose(self, columns: typing.Any, groups: typing.Any) -> Val:
        """Columns that are made in several ways: each in its own, and a choice by the place."""
        if len(groups) > CHOICES_MAX:
            raise _refuse(f"makes elements in {len(groups)} ways")
        numbers = [0] * len(columns)
        for number, group in enumerate(groups):
            for place in group:
                numbers[place] = number
        lanes = [None if node is None else numpy.full(LANES, number, numpy.uint64)
                 for node, number in zip(columns, numbers)]
        which = self._table(self._spread(lanes), "i32")
        result: Val | None = None
        for number, group in reversed(list(enumerate(groups))):
            chosen = set(group)
            made = self.make([node if place in chosen else None for place, node in enumerate(columns)])
            if result is None:
                result = made
                continue
            here = binary(self.importer, "eq", which, const(number, which.dtype), "bool")
            result = select(self.importer, here, self._whole(_as(self.importer, made, result.dtype)),
                            self._whole(result))
        assert result is not None
        return result

    def _whole(self, value: Val) -> Val:
        return self.importer.broadcast(value, self.shape) if self.shape and not value.shape else value

    # ---- maps -------------------------------------------------------------------------------------------------------

    def _map(self, columns: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
        """By element of the array what the lanes that hold it say; -1: nothing that matters."""
        return self._spread([None if node is None else node.lanes for node in columns])

    def _spread(self, rows: typing.Any) -> numpy.ndarray[typing.Any, typing.Any]:
        result = numpy.zeros(self.size, object)
        result[:] = -1
        for target, row in zip(self.targets, rows):
            if row is not None:
                result[target] = row.astype(object)
        for target, row in zip(self.targets, rows):
            if row is not None and (result[target] != row.astype(object)).any():
                raise _refuse("gives lanes that hold the same element different ones")
        return result

    def _take(self, source: Source, places: numpy.ndarray[typing.Any, typing.Any]) -> Val:
        """The elements of a source at these places, counted row by row."""
        value = source.value
        if not value.shape or source.is_splat:
            return _first(self.importer, value) if value.shape and value.shape != self.shape else value
        places = source.find(places)
        taken = _take_box(self.importer, value, places, self.shape)
        if taken is None:
            taken = _take_bits(self.importer, value, places, self.shape)
        if taken is None:
            raise _refuse(f"takes elements of an array of {list(value.shape)} to places that no slice, transpose, "
                          "reshape and broadcast leads to")
        return taken

    def _table(self, bits: numpy.ndarray[typing.Any, typing.Any], kind: str) -> Val:
        """Constants, each in its place."""
        cared = bits >= 0
        values = set(bits[cared].tolist())
        if len(values) == 1:
            return _constant(values.pop(), kind)
        if not self.shape:
            raise _refuse("makes a scalar that differs from lane to lane")
        return _table_by_place(self.importer, bits, cared, kind, self.shape)

    # ---- operations -------------------------------------------------------------------------------------------------

    def _operate(self, node: Node, parts: list[Val]) -> Val:
        function = _OPERATIONS.get(node.op)
        if function is None:
            raise _refuse(f"does '{node.op}', which has no counterpart")
        return function(self.importer, node, *parts)

    def _reduce(self, columns: typing.Any, first: Node) -> Val | None:
        """A reduction, where each element is made of all elements along some dimensions of one source."""
        terms = [None if node is None else _list_terms(node, first.op) for node in columns]
        present = [part for part in terms if part is not None]
        count = len(present[0])
        if count < 2 or any(len(part) != count for part in present):
            return None
        leaves = [[leaf for leaf in map(_only_leaf, part) if leaf is not None] for part in present]
        if any(len(part) != count for part in leaves) or any(leaf.attrs != leaves[0][0].attrs
                                                             for part in leaves for leaf in part):
            return None
        source = self.lifter.sources[leaves[0][0].attrs[0]]
        if source.is_splat or not source.value.shape:
            return None
        flat = _distinct(source.find(numpy.stack([numpy.sort(numpy.stack([leaf.lanes for leaf in part]), axis=0)
                                                  for part in leaves])), first.op)
        if flat is None or flat.shape[1] < 2:
            return None
        places = numpy.stack(numpy.unravel_index(flat, source.value.shape))  # [dim, slot, term, lane]
        count = flat.shape[1]
        reduced = [dim for dim in range(len(places)) if (places[dim] != places[dim][:, :1]).any()]
        if math.prod(source.value.shape[dim] for dim in reduced) != count:
            return None
        made = self._over_source(present, leaves, source)
        if made is None:
            return None
        kept = [dim for dim in range(len(places)) if dim not in reduced]
        if first.op[-1] in "su" and first.op[:-1] in ("max", "min"):
            made = _with_sign(self.importer, made, first.op[-1])
        for dim in reversed(reduced):
            made = self.importer.op(REDUCTIONS[first.op], made.dtype, made.shape[:dim] + made.shape[dim + 1:],
                                    made.built, **({"dim": dim} if len(made.shape) > 1 else {}))
        index = numpy.zeros(places.shape[1:2] + places.shape[3:], numpy.int64)
        for dim in kept:
            index = index * source.value.shape[dim] + places[dim][:, 0]
        rows = iter(index)
        return self._take(Source(made, made.shape),
                          self._spread([None if part is None else next(rows) for part in terms]))

    def _over_source(self, terms: typing.Any, leaves: typing.Any, source: Source) -> Val | None:
        """What is reduced, as an array like its source."""
        flat_terms = [term for part in terms for term in part]
        flat_leaves = [leaf for part in leaves for leaf in part]
        targets = source.find(numpy.stack([leaf.lanes for leaf in flat_leaves]))
        if len(numpy.unique(targets)) != math.prod(source.value.shape):
            return None
        try:
            return self.lifter.lift(flat_terms, targets, source.value.shape)
        except UnsupportedError:  # one element is there in several forms
            return None


def _distinct(flat: numpy.ndarray[typing.Any, typing.Any], op: str) -> numpy.ndarray[typing.Any, typing.Any] | None:
    """Sorted places of terms [slot, term, lane], each once: what is there twice counts twice in a sum, but not in a
    maximum."""
    again = numpy.diff(flat, axis=1, prepend=-1) == 0
    if not again.any():
        return flat
    left = (~again).sum(axis=1)
    if op in ("add", "mul", "xor") or (left != left[0, 0]).any():
        return None
    order = numpy.argsort(again, axis=1, kind="stable")
    return numpy.take_along_axis(flat, order, axis=1)[:, :left[0, 0]]


def _signature(node: Node) -> tuple[typing.Any, ...]:
    return node.op, node.kind, node.attrs, len(node.args)


def _list_terms(node: Node, op: str) -> list[Node]:
    """The operands of an operation that is done again and again."""
    assert op in COMMUTES or op in REDUCTIONS
    if node.op != op:
        return [node]
    return [term for part in node.args for term in _list_terms(part, op)]


def _only_leaf(node: Node) -> Node | None:
    """The one source element that a node depends on."""
    if node.op == "source":
        return node
    parts = [part for part in node.args if not part.is_const]
    found = [leaf for leaf in map(_only_leaf, parts) if leaf is not None]
    if not found or len(found) < len(parts):
        return None
    same = all(leaf.attrs == found[0].attrs and (leaf.lanes == found[0].lanes).all() for leaf in found)
    return found[0] if same else None


# ---- elements of sources --------------------------------------------------------------------------------------------

def _first(importer: Importer, value: Val) -> Val:
    """One of elements that are all the same."""
    return reshape(importer, slice_box(importer, value, [0] * len(value.shape), [1] * len(value.shape)), ())


def _take_box(importer: Importer, value: Val, places: numpy.ndarray[typing.Any, typing.Any],
              shape: typing.Any) -> Val | None:
    """A box of the source whose dimensions are dimensions of the array: sliced, put in order, repeated."""
    cared = numpy.flatnonzero(places >= 0)
    from_dims = numpy.unravel_index(places[cared].astype(numpy.int64), value.shape)
    to_dims = numpy.unravel_index(cared, shape) if shape else ()
    starts: list[int] = []
    limits: list[int] = []
    taken: list[int | None] = []
    for size, place in zip(value.shape, from_dims):
        if (place == place[0]).all():
            starts.append(int(place[0]))
            limits.append(int(place[0]) + 1)
            taken.append(None)
            continue
        found = next((dim for dim, own in enumerate(to_dims) if dim not in taken and
                      (place - own == place[0] - own[0]).all()), None)
        if found is None:
            return None
        start = int(place[0] - to_dims[found][0])
        if start < 0 or start + shape[found] > size:
            return None
        starts.append(start)
        limits.append(start + shape[found])
        taken.append(found)
    value = slice_box(importer, value, starts, limits)
    kept = [dim for dim in taken if dim is not None]
    value = reshape(importer, value, [shape[dim] for dim in kept])
    order = sorted(range(len(kept)), key=lambda number: kept[number])
    return _spread_dims(importer, _permute(importer, value, order), sorted(kept), shape)


def _permute(importer: Importer, value: Val, order: typing.Any) -> Val:
    if list(order) == list(range(len(order))):
        return value
    return importer.op("transpose", value.dtype, tuple(value.shape[dim] for dim in order), value.built,
                       perm=tuple(order))


def _spread_dims(importer: Importer, value: Val, dims: typing.Sequence[int], shape: typing.Any) -> Val:
    """Repeated along the dimensions of a shape that are not among dims."""
    if len(dims) == len(shape):
        return value
    if not dims:
        return value
    spread = [1] * (dims[-1] - dims[0] + 1)
    for own, dim in enumerate(dims):
        spread[dim - dims[0]] = value.shape[own]
    return importer.broadcast(reshape(importer, value, spread), shape, dims[0])


def _take_bits(importer: Importer, value: Val, places: numpy.ndarray[typing.Any, typing.Any],
               shape: typing.Any) -> Val | None:
    """Where each bit of a place in the array is a bit of the place in the source, or none: by reshapes."""
    size, total = len(places), math.prod(value.shape)
    if size & (size - 1) or total & (total - 1) or (places < 0).any():
        return None
    places = places.astype(numpy.int64)
    weights = [int(places[1 << bit] - places[0]) for bit in range(size.bit_length() - 1)]
    numbers = numpy.arange(size)
    wanted = places[0] + sum((weight * (numbers >> bit & 1) for bit, weight in enumerate(weights)), 0)
    is_bit = all(weight >= 0 and weight & (weight - 1) == 0 for weight in weights)
    used = [weight for weight in weights if weight]
    if not is_bit or len(set(used)) != len(used) or (places != wanted).any() or \
            any(places[0] & weight for weight in used):
        return None
    return _by_runs(importer, value, int(places[0]), weights, shape)


def _by_runs(importer: Importer, value: Val, first: int, weights: typing.Sequence[int],
             shape: typing.Any) -> Val | None:
    """weights: by bit of a place in the array, the lowest first, that of the bit in the source, or 0."""
    total = math.prod(value.shape).bit_length() - 1
    runs: list[tuple[int, int]] = []  # of the array, the lowest first: a bit of the source or -1, and how many
    for weight in weights:
        bit = weight.bit_length() - 1
        if runs and (runs[-1][0] < 0 and bit < 0 or runs[-1][0] >= 0 and bit == runs[-1][0] + runs[-1][1]):
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((bit, 1))
    pieces = sorted(run for run in runs if run[0] >= 0)
    parts: list[tuple[int, int, bool]] = []  # of the source, the lowest first, with those that are not taken
    here = 0
    for bit, count in [*pieces, (total, 0)]:
        if bit > here:
            parts.append((here, bit - here, False))
        if count:
            parts.append((bit, count, True))
        here = bit + count
    if max(len(parts), len(runs)) > RANK_MAX:
        return None
    parts.reverse()
    value = reshape(importer, value, [1 << count for _, count, _ in parts])
    starts = [0 if taken else first >> bit & (1 << count) - 1 for bit, count, taken in parts]
    value = slice_box(importer, value, starts, [start + (1 << count if taken else 1)
                                                for start, (_, count, taken) in zip(starts, parts)])
    kept = [bit for bit, _, taken in parts if taken]
    value = reshape(importer, value, [1 << count for _, count, taken in parts if taken])
    order = [kept.index(bit) for bit, _ in reversed(runs) if bit >= 0]
    value = _permute(importer, value, order)
    inner = [1 << count for _, count in reversed(runs)]
    dims = [number for number, (bit, _) in enumerate(reversed(runs)) if bit >= 0]
    if not dims:
        return value
    return reshape(importer, _spread_dims(importer, value, dims, tuple(inner)), shape)


# ---- constants ------------------------------------------------------------------------------------------------------

def _constant(bits: int, kind: str) -> Val:
    if kind == "i1":
        return const(bool(bits), "bool")
    if is_whole(kind):
        return const(bits, f"u{width_of(kind)}")
    size = max(width_of(kind) // 8, 1)
    raw = numpy.array([bits], f"u{size}").view(numpy_dtype(kind)) if width_of(kind) >= 8 else None
    if raw is None:
        raise _refuse(f"has a constant of {kind}")
    return const(float(raw[0]), kind)


def _table_by_place(importer: Importer, bits: numpy.ndarray[typing.Any, typing.Any],
                    cared: numpy.ndarray[typing.Any, typing.Any], kind: str, shape: typing.Any) -> Val:
    """Constants along one dimension, or along several where they grow evenly."""
    whole = kind if is_whole(kind) and width_of(kind) >= 32 else "i32"
    where = numpy.flatnonzero(cared)
    dims = numpy.unravel_index(where, shape)
    values = bits[where]
    for dim, place in enumerate(dims):
        by_place: dict[int, int] = {}
        if all(by_place.setdefault(int(own), value) == value for own, value in zip(place, values)):
            made = _table_of_dim(importer, by_place, dim, shape, whole)
            if made is not None:
                return _from_whole(importer, made, kind, whole)
    return _from_whole(importer, _linear(importer, values, dims, shape, whole), kind, whole)


def _from_whole(importer: Importer, made: Val, kind: str, whole: str) -> Val:
    if kind == whole:
        return made
    if kind == "i1":
        return binary(importer, "ne", made, const(0, made.dtype), "bool")
    narrow = cast(importer, made, f"u{width_of(kind)}")
    return narrow if is_whole(kind) else cast_bits(importer, narrow, kind)


def _iota(importer: Importer, dim: int, shape: typing.Any, whole: str) -> Val:
    dtype = f"u{width_of(whole)}"
    return importer.op("iota", dtype, shape, dtype=dtype, shape=shape, dim=dim)


def _table_of_dim(importer: Importer, by_place: dict[int, int], dim: int, shape: typing.Any, whole: str) -> Val | None:
    size = shape[dim]
    period = next((step for step in range(1, size + 1) if size % step == 0 and _has_period(by_place, step)), size)
    if period > CHOICES_MAX:
        return None
    values = {place % period: value for place, value in by_place.items()}
    number = _iota(importer, dim, shape, whole)
    dtype = number.dtype
    if period < size:
        number = binary(importer, "rem", number, const(period, dtype), dtype)
    if all(value == 1 << place for place, value in values.items()):
        return binary(importer, "shift_left", importer.broadcast(const(1, dtype), shape), number, dtype)
    result: Val | None = None
    for value in sorted(set(values.values()), reverse=True):
        here = [place for place, own in values.items() if own == value]
        if result is None:
            result = importer.broadcast(const(value, dtype), shape)
            continue
        is_here: Val | None = None
        for place in here:
            one = binary(importer, "eq", number, const(place, dtype), "bool")
            is_here = one if is_here is None else binary(importer, "or", is_here, one, "bool")
        assert is_here is not None
        result = select(importer, is_here, importer.broadcast(const(value, dtype), shape), result)
    return result


def _has_period(by_place: dict[int, int], step: int) -> bool:
    found: dict[int, int] = {}
    return all(found.setdefault(place % step, value) == value for place, value in by_place.items())


def _linear(importer: Importer, values: typing.Any, dims: typing.Any, shape: typing.Any, whole: str) -> Val:
    """a + b i + c j, as far as the constants are that."""
    rows = numpy.stack([numpy.ones(len(values)), *[own.astype(float) for own in dims]], axis=1)
    found = numpy.rint(numpy.linalg.lstsq(rows, values.astype(float), rcond=None)[0]).astype(object)
    if any(int(value) != int(found[0]) + sum(int(step) * int(own[k]) for step, own in zip(found[1:], dims))
           for k, value in enumerate(values)):
        raise _refuse("has constants that differ from place to place")
    dtype = f"u{width_of(whole)}"
    result = const(int(found[0]) % (1 << width_of(whole)), dtype)
    for dim, step in enumerate(found[1:]):
        if int(step):
            part = binary(importer, "mul", _iota(importer, dim, shape, whole),
                          const(int(step) % (1 << width_of(whole)), dtype), dtype)
            result = binary(importer, "add", part, result, dtype)
    return result


# ---- operations of nodes --------------------------------------------------------------------------------------------

def _as(importer: Importer, value: Val, dtype: str) -> Val:
    """An integer with the sign of another."""
    if value.dtype == dtype or not (is_int(value.dtype) and is_int(dtype)):
        return value
    return cast_bits(importer, value, dtype)


def _with_sign(importer: Importer, value: Val, sign: str) -> Val:
    if not is_int(value.dtype):
        return value
    return _as(importer, value, ("i" if sign == "s" else "u") + value.dtype[1:])


def _made(importer: Importer, value: Val) -> Val:
    """No constant, which operations of one operand do not take."""
    return Val(value.dtype, (), importer.builder.typed(value.const, value.dtype)) if value.is_const else value


def _pair(name: str, sign: str = "", is_test: bool = False) -> typing.Any:
    def operate(importer: Importer, node: typing.Any, a: typing.Any, b: typing.Any) -> Val:
        if sign:
            a, b = _with_sign(importer, a, sign), _with_sign(importer, b, sign)
        elif is_int(a.dtype) and is_int(b.dtype):
            dtype = b.dtype if a.is_const else a.dtype
            a, b = _as(importer, a, dtype), _as(importer, b, dtype)
        del node
        if a.is_const and b.is_const:
            a = _made(importer, a)
        return binary(importer, name, a, b, "bool" if is_test else a.dtype)
    return operate


def _choice(importer: Importer, node: typing.Any, condition: typing.Any, yes: typing.Any, no: typing.Any) -> Val:
    del node
    no = _as(importer, no, yes.dtype)
    if condition.shape:
        shape = condition.shape
        yes = importer.broadcast(yes, shape) if not yes.shape else yes
        no = importer.broadcast(no, shape) if not no.shape else no
    return select(importer, condition, yes, no)


def _to_float(sign: str) -> typing.Any:
    return lambda importer, node, a: cast(importer, _with_sign(importer, _made(importer, a), sign), node.kind)


def _to_whole(sign: str) -> typing.Any:
    return lambda importer, node, a: cast(importer, _made(importer, a), sign + node.kind[1:])


def _widen(sign: str) -> typing.Any:
    def operate(importer: Importer, node: typing.Any, a: typing.Any) -> typing.Any:
        if is_bool(a.dtype):
            wide = cast(importer, a, f"u{width_of(node.kind)}")
            return binary(importer, "sub", const(0, wide.dtype), wide, wide.dtype) if sign == "s" else wide
        return cast(importer, _with_sign(importer, _made(importer, a), sign), ("i" if sign == "s" else "u") +
                    str(width_of(node.kind)))
    return operate


def _bits(importer: Importer, node: typing.Any, a: typing.Any) -> Val:
    if a.is_const:
        a = _made(importer, a)
    return cast_bits(importer, a, f"u{width_of(node.kind)}" if is_whole(node.kind) else node.kind)


def _one(name: str) -> typing.Any:
    def operate(importer: Importer, node: typing.Any, a: typing.Any) -> Val:
        a = _made(importer, a)
        if node.attrs == ("approx",) and not importer.source.approx_math and \
                name in ("exp2", "log2", "sin", "cos", "tanh",
                         "rsqrt"):
            return importer.op(name, a.dtype, a.shape, a.built, approx=True)
        return unary(importer, name, a)
    return operate


def _fma(importer: Importer, node: typing.Any, a: typing.Any, b: typing.Any, c: typing.Any) -> Val:
    del node
    shape = numpy.broadcast_shapes(a.shape, b.shape, c.shape)
    built = [importer.broadcast(value, shape) if shape and not value.shape else _made(importer, value)
             for value in (a, b, c)]
    return importer.op("fma", a.dtype, shape, *[value.built for value in built])


def _saturate(importer: Importer, node: typing.Any, a: typing.Any) -> Val:
    """To a float of 8 bits: what is larger than all of them becomes the largest."""
    most = float({"f8e4m3": 448, "f8e5m2": 57344}[node.kind])
    low = binary(importer, "max", _made(importer, a), const(-most, a.dtype), a.dtype)
    return cast(importer, binary(importer, "min", low, const(most, a.dtype), a.dtype), node.kind)


def _round(importer: Importer, node: typing.Any, a: typing.Any) -> Val:
    del node
    a = _made(importer, a)
    return importer.op("round", a.dtype, a.shape, a.built)


_OPERATIONS: dict[str, typing.Callable[..., typing.Any]] = {
    **{name: _pair(name) for name in ("add", "sub", "mul", "div", "and", "or", "xor", "max", "min", "atan2", "pow")},
    **{f"{name}{sign}": _pair(name, sign) for name in ("div", "rem", "max", "min") for sign in "su"},
    **{f"{name}{sign}": _pair(name, sign, True) for name in ("lt", "le", "gt", "ge") for sign in "su"},
    **{name: _pair(name, "", True) for name in ("eq", "ne", "lt", "le", "gt", "ge")},
    "shl": _pair("shift_left"), "shru": _pair("shr", "u"), "shrs": _pair("shr", "s"),
    "select": _choice, "itof": _to_float("s"), "utof": _to_float("u"), "ftoi": _to_whole("i"), "ftou": _to_whole("u"),
    "ftof": lambda importer, node, a: cast(importer, _made(importer, a), node.kind),
    "sext": _widen("s"), "zext": _widen("u"),
    "trunc": lambda importer, node, a: cast(importer, _with_sign(importer, _made(importer, a), "u"),
                                            f"u{width_of(node.kind)}"),
    "bitcast": _bits, "fma": _fma, "saturate": _saturate, "round": _round, "not": _one("not"),
    "neg": _one("neg"), "abs": _one("abs"), "floor": _one("floor"), "ceil": _one("ceil"), "sqrt": _one("sqrt"),
    "exp": _one("exp"), "exp2": _one("exp2"), "log": _one("log"), "log2": _one("log2"), "log1p": _one("log1p"),
    "sin": _one("sin"), "cos": _one("cos"), "tanh": _one("tanh"), "rsqrt": _one("rsqrt"), "cbrt": _one("cbrt"),
    "erf": _one("erf"), "popcount": _one("population_count"), "clz": _one("clz"), "is_finite": _one("is_finite"),
}
