# SPDX-License-Identifier: Apache-2.0
"""Parts of arrays in registers at computed places."""
from __future__ import annotations

import math
import typing

from ._arithmetic import binary, cast, cast_bits, numpy_dtype, select
from ._array_rules import reshape, slice_box
from ._rules import rule
from ._values import Val, const, index, is_bool, is_float

if typing.TYPE_CHECKING:
    from ._importer import Importer

ELEMENTS_MAX = 1 << 20  # of an array in registers


def _clamp(importer: Importer, start: Val, last: int) -> Val:
    """JAX moves a part that hangs over an end inside."""
    return binary(importer, "min", binary(importer, "max", cast(importer, start, "i32"), index(0), "i32"), index(last),
                  "i32")


def _iota(importer: Importer, shape: typing.Any, dim: int) -> Val:
    return importer.op("iota", "i32", shape, dtype="i32", shape=shape, dim=dim)


def _take(importer: Importer, a: Val, dim: int, start: Val, size: int) -> Val:
    """The bits of the elements from start on: of each pair of a place and an element those that belong together."""
    wide = (*a.shape[:dim], size, *a.shape[dim:])
    if math.prod(wide) > ELEMENTS_MAX:
        raise importer.unsupported(f"{size} of {a.shape[dim]} elements at a computed place take masks of "
                                   f"{math.prod(wide)} elements: load the part from memory")
    spread = importer.broadcast(reshape(importer, a, (*a.shape[:dim], 1, *a.shape[dim:])), wide, 0)
    place = binary(importer, "add", _iota(importer, wide, dim), start, "i32")
    belongs = binary(importer, "eq", place, _iota(importer, wide, dim + 1), "bool")
    picked = select(importer, belongs, spread, const(0, a.dtype))
    return importer.op("reduce_or", a.dtype, (*a.shape[:dim], size, *a.shape[dim + 1:]), picked.built, dim=dim + 1)


@rule("dynamic_slice")
def import_dynamic_slice(importer: Importer, equation: typing.Any, a: typing.Any, *starts: typing.Any) -> typing.Any:
    """A box at a computed place."""
    sizes = tuple(equation.params["slice_sizes"])
    importer.note("dynamic_slice of registers is read as a choice by masks; JAX' lowering for GPUs takes none")
    unsigned = f"u{8 * numpy_dtype(a.dtype).itemsize}" if is_float(a.dtype) else a.dtype
    part = cast_bits(importer, a, unsigned) if not is_bool(a.dtype) else a
    for dim, (start, size) in enumerate(zip(starts, sizes)):
        if size == part.shape[dim]:
            continue
        place = _clamp(importer, start, part.shape[dim] - size)
        if place.is_const:
            lows = [int(place.const) if d == dim else 0 for d in range(len(part.shape))]
            highs = [int(place.const) + size if d == dim else full for d, full in enumerate(part.shape)]
            part = slice_box(importer, part, lows, highs)
        else:
            part = _take(importer, part, dim, place, size)
    return cast_bits(importer, part, a.dtype) if not is_bool(a.dtype) else part
