# SPDX-License-Identifier: Apache-2.0
"""plgpu.im2col_ref: the windows of a convolution as the rows of a matrix, which a copy by TMA reads in im2col mode."""
from __future__ import annotations

import dataclasses
import typing

from ..builder import ds
from . import _jax, _series
from ._values import Val, View, index
from ._views import to_val

if typing.TYPE_CHECKING:
    from ._importer import Importer

indexing = _jax.indexing


@dataclasses.dataclass(frozen=True)
class Span:
    """A slice of a dimension of the windows: JAX has [windows, *places in a window, channels]."""

    start: Val
    size: int


class Pixels(typing.NamedTuple):
    """What copy_gmem_to_smem_im2col takes. source: the base pixel of the first window, with its channels."""

    source: object
    offsets: list[object]
    ranges: list[tuple[int, int]]


def is_of_windows(transforms: typing.Any) -> bool:
    """Whether a reference is taken through plgpu.im2col_ref."""
    return bool(transforms) and _series.Im2ColTransform and isinstance(transforms[0], _series.Im2ColTransform)


def _narrow(importer: Importer, span: Span, item: typing.Any) -> Span | Val:
    """A part of a slice, or one place in it."""
    if not isinstance(item, indexing.Slice):
        place = to_val(importer, item)
        if not isinstance(place, Val) or place.shape:
            raise importer.unsupported("an array as an index of windows: TMA reads them one after the other")
        return importer.arith("add", span.start, place)
    if item.stride != 1:
        raise importer.unsupported(f"windows or channels with stride {item.stride}: TMA reads them one after the other")
    return Span(importer.arith("add", span.start, to_val(importer, item.start)), item.size)


def _select(importer: Importer, shape: typing.Any, indexers: typing.Any) -> list[typing.Any]:
    """What all indexers together take of each dimension."""
    chosen: list[typing.Any] = [Span(index(0), size) for size in shape]
    for indexer in indexers:
        left = [dim for dim, part in enumerate(chosen) if isinstance(part, Span)]
        for dim, item in zip(left, indexer.indices):
            chosen[dim] = _narrow(importer, chosen[dim], item)
    return chosen


def _find_base(importer: Importer, first: Val, counts: typing.Any, lows: typing.Any) -> list[Val]:
    """The image and the base pixel of a window by its number: those of an image are counted row by row."""
    places: list[Val] = []
    for count, low in zip(reversed(counts), reversed(lows)):
        place = importer.arith("rem", first, index(count))
        places.append(importer.arith("add", place, index(low)))
        first = importer.arith("div", first, index(count))
    return [first, *reversed(places)]


def find_pixels(importer: Importer, view: View, transforms: typing.Any) -> Pixels:
    """The part of a reference that windows lead to."""
    windows, *indexers = transforms
    counts = windows.spatial_out_shape(view.shape)
    total = view.shape[0]
    for count in counts:
        total *= count
    rows, *offsets, channels = _select(importer, (total, *windows.window_shape, view.shape[-1]), indexers)
    if not isinstance(rows, Span) or not isinstance(channels, Span) or any(isinstance(part, Span) for part in offsets):
        raise importer.unsupported("windows are taken as view.at[rows, *place in the window, channels], with slices of "
                                   "rows and channels and a number for each dimension of the window")
    ranges = [(int(low), int(high)) for low, high in windows.window_start_bounds]
    base = _find_base(importer, rows.start, counts, [low for low, _ in ranges])
    place = (*map(importer.operand, base), ds(importer.operand(channels.start), channels.size))
    source = view.ref.at[place]
    return Pixels(source, [importer.operand(offset) for offset in offsets], ranges)
