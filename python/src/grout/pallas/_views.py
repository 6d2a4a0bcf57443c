# SPDX-License-Identifier: Apache-2.0
"""References with the transforms that a jaxpr applies to them."""
from __future__ import annotations

import dataclasses
import math
import typing

import numpy

from ..builder import ds
from . import _jax, _packed, _reshape
from ._arithmetic import cast, numpy_dtype
from ._errors import UnsupportedError
from ._values import PACKED, Val, View, dtype_of, index

if typing.TYPE_CHECKING:
    from ._importer import Importer

gpu, indexing, state_types, core = _jax.gpu, _jax.indexing, _jax.state_types, _jax.core
EXPAND = gpu.ExpandLeadingBatchDimensionsTransform


def split_leaves(leaves: typing.Any, *trees: typing.Any) -> tuple[list[typing.Any], list[typing.Any]]:
    """The transforms of each tree, None for none, and the operands after them."""
    leaves, found = list(leaves), []
    for tree in trees:
        count = 0 if tree is None else tree.num_leaves
        found.append(() if tree is None else tree.unflatten(leaves[:count]))
        leaves = leaves[count:]
    return found, leaves


def to_val(importer: Importer, item: typing.Any) -> Val:
    """An index of a transform: a number or a value."""
    if isinstance(item, Val):
        return item
    if isinstance(item, (core.Var, core.Literal)):
        return importer.read(item)
    return importer.make_const(numpy.int32(item)) if numpy.ndim(item) == 0 else item


def apply(importer: Importer, view: View, transforms: typing.Any, takes_rows: bool = False,
          in_registers: bool = False) -> View:
    """The part of a reference that transforms lead to. takes_rows: an array may name its rows. in_registers: it is
    loaded or stored, so what is moved may have other dimensions than the reference (View.lies_as), and elements of 4
    bits may be parts of bytes, or lie in another order."""
    undo = list(view.undo)
    transforms = list(transforms or ())
    for number, transform in enumerate(transforms):
        if isinstance(transform, indexing.NDIndexer):
            undo = []
            view = take_part(importer, view, transform, takes_rows)
        elif isinstance(transform, gpu.ExtractAliasedRef):
            view = find_member(importer, view, transforms[number:])
            undo = list(view.undo)
        elif undo and type(transform) is type(undo[0]) and transform == undo[0]:
            undo.pop(0)
        else:
            view = _apply_other(importer, view, transform)
    if in_registers:
        return view
    if view.lies_as is not None:
        raise importer.unsupported(f"a reference in {view.kind} with dimensions that it does not lie in, which only "
                                   "loads and stores take: reshape it before it is sliced or transposed, or reshape "
                                   "what is loaded")
    return _packed.as_reference(importer, view)


def _apply_other(importer: Importer, view: View, transform: typing.Any) -> View:
    if view.word > 1:
        raise importer.unsupported(f"the transform {type(transform).__name__} of elements of less than 4 bits")
    if isinstance(transform, state_types.TransposeTransform):
        permutation = tuple(transform.permutation)
        if _packed.is_packed(view) and view.lies_as is None and (view.turn or permutation[-1] != len(permutation) - 1):
            return _packed.turn(importer, view, permutation)
        return _transpose(importer, view, permutation)
    if not _packed.is_whole(view):
        raise importer.unsupported(f"the transform {type(transform).__name__} of elements of 4 bits in another order "
                                   "than they lie in")
    if isinstance(transform, gpu.ClusterRefTransform):
        return _to_cluster(importer, view, transform)
    if isinstance(transform, state_types.ReshapeTransform):
        return _reshape_view(importer, view, tuple(transform.shape))
    if type(transform).__name__ in ("RefBitcaster", "BitcastTransform"):
        dtype = dtype_of(transform.dtype)
        has_other_size = numpy_dtype(dtype).itemsize != numpy_dtype(view.dtype).itemsize
        if has_other_size or (dtype in PACKED) != _packed.is_packed(view):
            raise importer.unsupported(f"a reference to {view.dtype} as {dtype}, whose elements have another size: JAX "
                                       "puts them together along the rows, and bytes lie along the columns")
        shape = tuple(getattr(transform, "shape", view.shape))
        return view.but(ref=view.ref.bitcast(dtype), shape=shape, dtype=dtype, trail=None)
    if isinstance(transform, gpu.PeerMemRef) or type(transform).__name__ == "MulticastRef":
        raise importer.unsupported("a reference to another device: grout models one device")
    if isinstance(transform, (gpu.UnswizzleRef, gpu.UntilingTransform)):
        raise importer.unsupported(f"the reference is taken with {transform}, and its object was not declared with it")
    raise importer.unsupported(f"the transform {type(transform).__name__} of a reference has no counterpart")


def _transpose(importer: Importer, view: View, permutation: typing.Any) -> View:
    if view.lies_as is not None:
        raise importer.unsupported("a reference in other dimensions that is transposed: transpose what is loaded from "
                                   "it")
    trail = _reshape.transpose(view.trail or _reshape.begin(view.ref, view.shape), permutation)
    shape = tuple(view.shape[dim] for dim in permutation)
    return view.but(ref=view.ref.transpose(*permutation), shape=shape, trail=trail)


def _reshape_view(importer: Importer, view: View, shape: typing.Any) -> View:
    """Other dimensions: of what lies in shared memory, or of the values that are loaded and stored."""
    if shape == view.shape:
        return view
    if view.lies_as is not None or view.kind == "gmem" and not view.padded and view.rows is None:
        return view.but(shape=shape, lies_as=view.lies_as or view.shape)
    if view.kind != "smem":
        raise importer.unsupported(f"a reference in {view.kind} in other dimensions: reshape what is loaded from it")
    if not shape:  # of one element, which is indexed
        return view.but(ref=view.ref.at[(0,) * len(view.shape)], shape=(), trail=None)
    if view.padded or view.trail is None or view.trail.is_plain():
        return view.but(ref=view.ref.reshape(*shape), shape=shape, padded=False, trail=None)
    try:
        trail = _reshape.reshape(importer, view.trail, shape)
    except UnsupportedError:
        return view.but(shape=shape, lies_as=view.lies_as or view.shape)
    return view.but(ref=_reshape.build(importer, trail), shape=shape, trail=trail)


def _to_cluster(importer: Importer, view: View, transform: typing.Any) -> View:
    given = dict(zip(transform.dims, (to_val(importer, item) for item in transform.idxs)))
    flat: dict[object, Val] = {}
    for name, place in given.items():
        if isinstance(name, (tuple, list)):
            raise importer.unsupported(f"the axes {name} as one: name them one by one")
        flat[name] = place
    places = find_places(importer, flat)
    trail = view.trail and dataclasses.replace(view.trail, ref=view.trail.ref.cluster(*places))
    return view.but(ref=view.ref.cluster(*places), trail=trail)


def find_places(importer: Importer, given: typing.Mapping[object, Val]) -> list[typing.Any]:
    """The CTA at the given places of cluster axes, and at the own place of the others."""
    return [importer.operand(given[name] if name in given else importer.axis(name))
            for name, _ in importer.source.cluster]


def find_slots(transforms: typing.Any) -> tuple[int, ...]:
    """The dimensions in front of the rows and columns of an array in tensor memory, which JAX has beside each other."""
    return tuple(transforms[0].batch_shape) if transforms and isinstance(transforms[0], EXPAND) else ()


def find_key(transforms: typing.Any) -> tuple[typing.Any, ...]:
    """What tells a member of a union from others: where it begins, its type and shape, how it lies. transforms: that
    which takes it out of the union, and what follows."""
    transform = transforms[0]
    layout = getattr(transform, "layout", None)
    key = (transform.offset, numpy.dtype(transform.dtype).name, tuple(transform.shape))
    return key if layout is None else (*key, layout, find_slots(transforms[1:]))


def find_member(importer: Importer, view: View, transforms: typing.Any) -> View:
    """A reference of a union."""
    transform = transforms[0]
    if view.members is None:
        raise importer.unsupported("an alias of a reference that is not a union")
    key = find_key(transforms)
    if key not in view.members:
        raise importer.unsupported(f"the union has no member at {transform.offset}")
    return view.members[key]


def _take_rows(importer: Importer, view: View, place: Val, dim: int, takes_rows: bool) -> Val:
    """Indices as a copy of rows takes them."""
    if not takes_rows or view.kind != "gmem" or dim != 0 or len(place.shape) != 1 or len(view.shape) != 2:
        raise importer.unsupported("an array as an index of a reference: copies by TMA take one of one dimension, for "
                                   "the rows of an array of two")
    if view.rows is not None:
        raise importer.unsupported("rows of rows that an array names: gather the indices first")
    rows = cast(importer, place, "i32")
    return importer.broadcast(rows, place.shape) if rows.is_const else rows


def _count_words(importer: Importer, view: View, indices: typing.Any) -> typing.Sequence[typing.Any]:
    """The indices of elements of grout: those of JAX, but where several of JAX' elements lie in one."""
    if view.word == 1:
        return indices
    last = indices[-1]
    bounds = (last.start, last.size) if isinstance(last, indexing.Slice) and last.stride == 1 else (1,)
    if any(not isinstance(bound, int) or bound % view.word for bound in bounds):
        raise importer.unsupported(f"elements of less than 4 bits are taken by whole words of {view.word}, at a place "
                                   "that is known before the kernel runs")
    return [*indices[:-1], dataclasses.replace(last, start=last.start // view.word, size=last.size // view.word)]


def take_part(importer: Importer, view: View, indexer: typing.Any, takes_rows: bool = False) -> View:
    """What an NDIndexer selects."""
    if view.kind in ("barrier", "semaphore"):
        return _select(importer, view, indexer.indices)
    if view.padded:
        return view
    if view.lies_as is not None:
        return _take_of_other(importer, view, indexer)
    if _packed.is_packed(view):
        return _packed.take_part(importer, view, indexer.indices, _take_indices, to_val)
    return _take_indices(importer, view, _count_words(importer, view, indexer.indices), takes_rows)


def _take_indices(importer: Importer, view: View, indices: typing.Any, takes_rows: bool = False) -> View:
    parts: list[object] = []
    taken: list[_reshape.Part] = []
    shape: list[int] = []
    is_all, rows = True, view.rows
    for dim, (item, size) in enumerate(zip(indices, view.shape)):
        if isinstance(item, indexing.Slice):
            if item.stride != 1:
                raise importer.unsupported(f"a slice with stride {item.stride}: references have no strides")
            start = to_val(importer, item.start)
            shape.append(item.size)
            if item.size == size and start.is_const and start.const == 0:
                parts.append(slice(None))
                taken.append(_reshape.Part())
                continue
            parts.append(ds(importer.operand(start), item.size))
            taken.append(_reshape.Part((start,), item.size))
        else:
            place = to_val(importer, item)
            if isinstance(place, Val) and place.shape:
                rows = _take_rows(importer, view, place, dim, takes_rows)
                parts.append(slice(None))
                shape.append(place.shape[0])
                continue
            if not isinstance(place, Val):
                raise importer.unsupported("an index of a reference that is not a value of the kernel")
            parts.append(importer.operand(place))
            taken.append(_reshape.Part((place,)))
        is_all = False
    if is_all:
        return view.but(shape=tuple(shape), rows=rows)
    trail = _reshape.take(view.trail or _reshape.begin(view.ref, view.shape), taken) if view.kind == "smem" else None
    return view.but(ref=view.ref.at[tuple(parts)], shape=tuple(shape), rows=rows, trail=trail)


def _take_of_other(importer: Importer, view: View, indexer: typing.Any) -> View:
    """A part of a reference that has other dimensions than it lies in."""
    parts = []
    for item, size in zip(indexer.indices, view.shape):
        if isinstance(item, indexing.Slice):
            if item.stride != 1:
                raise importer.unsupported(f"a slice with stride {item.stride}: references have no strides")
            start = to_val(importer, item.start)
            is_all = item.size == size and start.is_const and start.const == 0
            parts.append(_reshape.Part() if is_all else _reshape.Part((start,), item.size))
            continue
        place = to_val(importer, item)
        if not isinstance(place, Val) or place.shape:
            raise importer.unsupported("an array as an index of a reference in other dimensions than it lies in")
        parts.append(_reshape.Part((place,)))
    ref, lies_as, shape = _reshape.take_of_other(importer, view.ref, view.lies_as, view.shape, parts)
    return view.but(ref=ref, shape=shape, lies_as=lies_as, trail=None)


def _select(importer: Importer, view: View, indices: typing.Any) -> View:
    """Barriers and semaphores of several dimensions lie in one."""
    offset = view.offset or index(0)
    before = view.strides or tuple(math.prod(view.shape[dim + 1:]) for dim in range(len(view.shape)))
    shape: list[int] = []
    strides: list[int] = []
    for item, stride in zip(indices, before):
        if isinstance(item, indexing.Slice):
            if item.stride != 1:
                raise importer.unsupported(f"a slice of barriers with stride {item.stride}")
            shape.append(item.size)
            strides.append(stride)
            start = to_val(importer, item.start)
        else:
            start = to_val(importer, item)
        offset = importer.arith("add", offset, importer.arith("mul", start, index(stride)))
    return view.but(offset=offset, shape=tuple(shape), strides=tuple(strides))


def at_object(importer: Importer, view: View, transforms: typing.Any = (), places: typing.Any = ()) -> typing.Any:
    """The barrier or semaphore that is meant, as the builder takes it; places: that of another CTA."""
    view = apply(importer, view, transforms)
    if math.prod(view.shape) != 1:
        raise importer.unsupported(f"{math.prod(view.shape)} {view.kind}s where one is meant")
    ref = view.ref.cluster(*places) if places else view.ref
    return ref.at[importer.operand(view.offset or index(0))]
