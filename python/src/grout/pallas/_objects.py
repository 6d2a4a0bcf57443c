# SPDX-License-Identifier: Apache-2.0
"""What a kernel allocates: arrays in shared memory, unions of them, accumulators, barriers, semaphores."""
from __future__ import annotations

import dataclasses
import math
import typing

import numpy

from .. import builder as grout_builder
from ..builder import Object
from . import _jax, _series
from ._names import short_name
from ._rules import rule
from ._values import Cell, View, after_region, count_bytes, dims_of_scalar, dtype_of, lay_out
from ._views import find_key, find_slots

if typing.TYPE_CHECKING:
    from ._importer import Importer

gpu, core = _jax.gpu, _jax.core


@dataclasses.dataclass
class Declared:
    """An object that is to be made, and the view of it. members: of a union, by the key of views.find_member."""

    name: str
    object: Object
    view: View
    members: dict[typing.Any, Declared] = dataclasses.field(default_factory=dict)
    is_per_cta: bool = False  # its first dimension counts CTAs


def _group(importer: Importer, axes: typing.Any) -> tuple[str, ...]:
    axes = axes if isinstance(axes, (tuple, list)) else (axes,)
    return tuple(importer.get_axis_name(axis) for axis in axes)


def _describe_barrier(importer: Importer, name: str, inner: typing.Any) -> Declared:
    kind = inner.dtype
    count = math.prod(inner.shape)
    arrivals = kind.num_arrivals if kind.num_arrivals != 1 else None
    groups: tuple[tuple[str, ...], ...] = ()
    if isinstance(kind, gpu.ClusterBarrierType):
        groups = tuple(_group(importer, axes) for axes in kind.collective_axes)
    number = importer.count_barrier()
    orders = importer.is_blackwell and (kind.orders_tensor_core or
                                        importer.fences_tensor_core and number not in importer.copied_to)
    made = grout_builder.barrier(count, arrivals, groups, orders_tensor_core=orders,
                                 leader_tracked=getattr(kind, "leader_tracked", False))
    return Declared(name, made, View("barrier", None, tuple(inner.shape), number=number))


def _logical(importer: Importer, shape: typing.Any, undo: typing.Any) -> typing.Any:
    """Shape, tile and swizzle of an array whose physical shape and transforms back are these."""
    tile: tuple[int, ...] = ()
    swizzle = None
    shape = tuple(shape)
    for transform in undo:
        if isinstance(transform, gpu.UntilingTransform):
            if tile:
                raise importer.unsupported("a tiling of a tiling has no counterpart")
            tile = tuple(transform.tiling)
            count = len(tile)
            outer = shape[-2 * count:-count]
            shape = shape[:-2 * count] + tuple(a * b for a, b in zip(outer, tile))
        elif isinstance(transform, gpu.UnswizzleRef):
            swizzle = transform.swizzle if transform.swizzle > 16 else None
        else:
            raise importer.unsupported(f"an object with {type(transform).__name__} has no counterpart")
    return shape, tile, swizzle


def _is_for_tma(tile: typing.Any, swizzle: typing.Any, dtype: typing.Any) -> bool:
    """Whether the rows of tiles are as wide as the swizzle.

    JAX brings all such tiles by one box of more dimensions. grout makes a box for each, so it is to choose how tall
    they are; elements, and the bytes of a row, are the same.
    """
    return swizzle is not None and len(tile) == 2 and count_bytes(dtype, tile[1]) == swizzle


def logical_shape(importer: Importer, shape: typing.Any, undo: typing.Any) -> tuple[int, ...]:
    """What an array is to its users whose physical shape and transforms back are these."""
    return tuple(map(int, _logical(importer, shape, undo)[0]))


def _describe_array(importer: Importer, name: str, inner: typing.Any, undo: typing.Any, alias: typing.Any = None,
                    start: typing.Any = None) -> Declared:
    dtype, physical, word = lay_out(inner.dtype, inner.shape)
    if word > 1 and (undo or start is not None):
        raise importer.unsupported(f"%{name} has elements of less than 4 bits in tiles or in a union")
    shape, tile, swizzle = _logical(importer, physical, undo)
    dims = shape or dims_of_scalar(dtype)
    is_flat = bool(tile) and all(size == 1 for size in tile[:-1])  # rows, whose swizzle goes by parts of a row
    chosen: typing.Any = tile
    is_seen = start is not None  # how a member of a union lies is seen through others, so there JAX' word counts
    if is_flat or not is_seen and (not undo and len(shape) >= 2 or _is_for_tma(tile, swizzle, inner.dtype)):
        chosen, swizzle = "infer", None if is_flat else swizzle  # JAX finds a layout that suits the uses; so does grout
    made = grout_builder.smem(dtype, *dims, tile=chosen, swizzle=swizzle, alias=alias, alias_start=start)
    return Declared(name, made, View("smem", None, shape, dtype, tuple(undo), padded=not shape, word=word))


def _describe_tmem(importer: Importer, name: str, aval: typing.Any, undo: typing.Any) -> Declared:
    """An array in tensor memory."""
    if isinstance(aval, gpu.AbstractRefUnion):
        return _describe_tmem_union(importer, name, aval)
    return _describe_columns(importer, name, aval.inner_aval, aval.layout, bool(aval.collective), undo)


def _describe_columns(importer: Importer, name: str, inner: typing.Any, layout: typing.Any, collective: bool,
                      undo: typing.Any, start: typing.Any = None) -> Declared:
    """undo: what gives it the slots that JAX has beside each other in its columns. start: of a member of a union, the
    column where it begins."""
    slots = find_slots(undo)
    rows, columns = inner.shape
    inner = inner.update(shape=(*slots, rows, columns // math.prod(slots)))
    kind = find_tmem_kind(layout, *inner.shape[-2:])
    if kind is None:
        raise importer.unsupported(f"%{name} has a layout in tensor memory that has no counterpart: {layout}")
    if start is not None and not any(kind.values()) and numpy.dtype(inner.dtype).itemsize < 4:
        raise importer.unsupported(f"%{name}, of a RefUnion, has one element in a column of 32 bits, and what lies "
                                   "beside it has no meaning to another array: write packed=True, or keep it out of "
                                   "the union")
    dtype, shape, word = lay_out(inner.dtype, inner.shape)
    flags: dict[str, typing.Any] = dict(kind)
    made = grout_builder.tmem(dtype, *shape, collective=collective, alias_start=start, **flags)
    return Declared(name, made, View("tmem", None, shape, dtype, tuple(undo), word=word))


def _describe_tmem_union(importer: Importer, name: str, aval: typing.Any) -> Declared:
    """An array that has the columns of all, and its members, each with the layout that JAX gives it."""
    import jax
    size = tuple(aval.inner_aval.shape)
    collective = bool(aval.collective)
    made = grout_builder.tmem("u32", *size, collective=collective)
    union = Declared(name, made, View("union", None, size, "u32", members={}))
    leaves = jax.tree_util.tree_leaves(gpu.flatten_ref_union(aval), is_leaf=lambda leaf: hasattr(leaf, "ref"))
    for number, leaf in enumerate(leaves):
        taken = leaf.transforms[0]
        if getattr(taken, "layout", None) is None:
            raise importer.unsupported(f"%{name} is a RefUnion in tensor memory of a JAX that does not say how its "
                                       "members lie: allocate its arrays in one scope after the other")
        key = find_key(leaf.transforms)
        if key not in union.members:
            inner = jax.core.ShapedArray(taken.shape, taken.dtype)
            own = importer.names.take(f"{name}_{number}")
            union.members[key] = _describe_columns(importer, own, inner, taken.layout, collective,
                                                   leaf.transforms[1:], start=taken.offset)
    return union


def find_tmem_kind(layout: typing.Any, rows: int, columns: int) -> dict[str, bool] | None:
    """What an array with a layout of Mosaic GPU is declared as; None: there is nothing of that kind."""
    tcgen05 = _jax.tcgen05
    if layout == tcgen05.scales_layout():
        return {"scales": True}
    if layout == tcgen05.b_scales_m64_collective_layout():
        return {"split_scales": True}
    if layout == tcgen05.sparse_meta_layout():
        return {"metadata": True}
    if rows != 128 and columns % 16:
        return None  # JAX makes no layout of 64 rows for it, so it is one of scales
    for packing in (1, 2, 4, 8):
        plain = [tcgen05.tmem_default_layout(packing)] if rows == 128 else \
            [make(columns, packing) for make in (tcgen05.tmem_half_lane_layout,
                                                        tcgen05.tmem_m64_collective_layout)]
        if layout in plain:
            return {"packed": packing > 1}
    return None


def _describe_gmem(importer: Importer, name: str, inner: typing.Any) -> Declared:
    """JAX' interpreter gives each CTA an array of its own; grout has one for the launch."""
    if importer.depth:
        raise importer.unsupported(f"%{name} is allocated in GMEM in an inner block: allocate it for the whole kernel")
    importer.note("arrays that a kernel allocates in GMEM are one for each CTA; JAX' lowering for GPUs takes none")
    dtype, shape = dtype_of(inner.dtype), tuple(inner.shape)
    ctas = math.prod(size for _, size in (*importer.source.grid, *importer.source.cluster))
    made = grout_builder.gmem(dtype, *((ctas,) if ctas > 1 else ()), *(shape or dims_of_scalar(dtype)))
    return Declared(name, made, View("gmem", None, shape, dtype, padded=not shape), is_per_cta=ctas > 1)


def _describe_union(importer: Importer, name: str, aval: typing.Any) -> Declared:
    inner = aval.inner_aval
    size = count_bytes(inner.dtype, math.prod(inner.shape))
    made = grout_builder.smem("u8", size)
    union = Declared(name, made, View("union", None, (size,), "u8", members={}))
    for number, (key, physical, undo) in enumerate(_list_members(aval)):
        if key not in union.members:
            own = importer.names.take(f"{name}_{number}")
            union.members[key] = _describe_array(importer, own, physical, undo, start=key[0])
    return union


def _list_members(aval: typing.Any) -> typing.Iterator[typing.Any]:
    """For each reference of a union its key, its physical shape and the transforms back."""
    import jax
    offset_of_group = 0
    for group in aval.refs:
        offset = offset_of_group
        leaves = jax.tree_util.tree_leaves(group, is_leaf=lambda leaf: hasattr(leaf, "ref") or
                                           hasattr(leaf, "inner_aval"))
        for leaf in leaves:
            ref = leaf.ref if hasattr(leaf, "ref") else leaf
            undo = tuple(getattr(leaf, "transforms", ()))
            inner = ref.inner_aval
            offset = -(-offset // gpu.SMEM_ALIGNMENT) * gpu.SMEM_ALIGNMENT
            yield (offset, numpy.dtype(inner.dtype).name, tuple(inner.shape)), inner, undo
            offset += count_bytes(inner.dtype, math.prod(inner.shape))


def describe(importer: Importer, aval: typing.Any, undo: typing.Any, name: str) -> Declared:
    """The object for a reference that a scope allocates."""
    inner = aval.inner_aval
    name = importer.names.take(name)
    if isinstance(inner.dtype, (gpu.BarrierType, gpu.ClusterBarrierType)):
        return _describe_barrier(importer, name, inner)
    if isinstance(aval, gpu.WGMMAAbstractAccumulatorRef):
        dtype = dtype_of(inner.dtype)
        return Declared(name, grout_builder.acc(dtype, *inner.shape), View("acc", None, tuple(inner.shape), dtype))
    if _series.is_semaphore(inner.dtype):
        made = grout_builder.semaphore(math.prod(inner.shape))
        return Declared(name, made, View("semaphore", None, tuple(inner.shape)))
    space = str(aval.memory_space).lower()
    if "tmem" in space or isinstance(aval, gpu.AbstractTMEMRef):
        return _describe_tmem(importer, name, aval, undo)
    if "gmem" in space:
        return _describe_gmem(importer, name, inner)
    if "smem" not in space:
        raise importer.unsupported(f"%{name} is allocated in {aval.memory_space}: a kernel allocates in SMEM and GMEM")
    if isinstance(aval, gpu.AbstractRefUnion):
        return _describe_union(importer, name, aval)
    return _describe_array(importer, name, inner, undo)


def _bind(declared: Declared, ref: typing.Any) -> View:
    return declared.view.but(ref=ref)


def make_scratch(importer: Importer, declared: typing.Sequence[Declared]) -> list[View]:
    """Objects that live as long as the kernel."""
    views = []
    for item in declared:
        ref = importer.builder.scratch(item.name, item.object)
        view = _bind(item, ref)
        if item.is_per_cta:
            axes = [axis for axis, _ in (*importer.source.grid, *importer.source.cluster)]
            view = view.but(ref=ref.at[importer.operand(importer.axis(axes))])
        if item.members:
            members = {key: dataclasses.replace(member, object=dataclasses.replace(member.object, alias=ref))
                       for key, member in item.members.items()}
            made = make_scratch(importer, list(members.values()))
            view = view.but(members=dict(zip(members, made)))
        views.append(view)
    return views


def in_scope(importer: Importer, declared: typing.Sequence[Declared], collective: bool,
             body: typing.Any) -> list[typing.Any]:
    """body(views) in a scope with objects of its own: its results."""
    builder = importer.builder
    region = builder.scoped({item.name: item.object for item in declared}, collective)
    importer.depth += 1
    with region as refs:
        refs = refs if isinstance(refs, tuple) else (refs,)
        views = [_bind(item, ref) for item, ref in zip(declared, refs)]
        results = _with_members(importer, declared, views, body)
        region.yield_(*[importer.operand(result) for result in results])
    importer.depth -= 1
    return after_region(results, region.results)


def _with_members(importer: Importer, declared: typing.Any, views: typing.Any, body: typing.Any) -> list[typing.Any]:
    """The members of unions are objects of an inner scope, on the bytes of the union."""
    members = [(number, key, dataclasses.replace(member, object=dataclasses.replace(member.object,
                                                                                    alias=views[number].ref)))
               for number, item in enumerate(declared) for key, member in item.members.items()]
    if not members:
        return body(views)

    def inner(made: typing.Any) -> typing.Any:
        bound = list(views)
        for (number, key, _), view in zip(members, made):
            bound[number] = bound[number].but(members={**bound[number].members, key: view})
        return body(bound)

    return in_scope(importer, [member for _, _, member in members], False, inner)


def _check_collective(importer: Importer, axes: typing.Any, avals: typing.Any) -> None:
    """Objects belong to a CTA: they are shared by its threads, all of them."""
    threads = importer.source.threads
    axes = tuple(axis for axis in axes if axis is not None)  # JAX' loop over a kernel of one thread says (None,)
    for axis in axes:
        if axis not in importer.axes:
            raise importer.unsupported(f"collective_axes={tuple(axes)}: the kernel has no axis {axis!r}, but "
                                       f"{', '.join(map(repr, importer.axes)) or 'none'}")
        if threads is None or axis != threads[0]:
            raise importer.unsupported(f"collective_axes={tuple(axes)}: {axis!r} is an axis of CTAs, and what a kernel "
                                       "allocates belongs to one CTA")
    shared = any(not isinstance(aval, gpu.WGMMAAbstractAccumulatorRef) for aval in avals)
    if threads is not None and threads[1] > 1 and not axes and shared:
        raise importer.unsupported(f"what threads share is allocated by all of them: collective_axes={threads[0]!r}")


@rule("run_scoped")
def import_run_scoped(importer: Importer, equation: typing.Any, *consts: typing.Any) -> typing.Any:
    """Objects for the time of a body."""
    params = equation.params
    jaxpr = params["jaxpr"]
    variables, names = _series.list_allocated(jaxpr, len(consts))
    undo = params.get("ref_transforms") or [()] * len(variables)
    collective = params["collective_axes"]
    collective = collective if isinstance(collective, (tuple, list)) else (collective,)
    _check_collective(importer, collective, [variable.aval for variable in variables])
    declared = [describe(importer, variable.aval, tuple(back), short_name(name))
                for variable, back, name in zip(variables, undo, names)]

    def body(views: typing.Any) -> typing.Any:
        return importer.walk(jaxpr, [*consts, *views])

    is_shared = bool(collective) and importer.source.threads is not None
    if importer.depth == 0 and importer.is_last_scope(equation):
        return list(body(make_scratch(importer, declared)))
    if not declared:
        if is_shared:
            importer.builder.op("block_barrier")
        return list(body([]))
    return in_scope(importer, declared, is_shared, body)


@rule("run_state")
def import_run_state(importer: Importer, equation: typing.Any, *arguments: typing.Any) -> typing.Any:
    """Accumulators with first values; other values are cells, and references come from outside."""
    from ._memory import load, store
    jaxpr = _jax.open_jaxpr(equation.params["jaxpr"])[0]
    accumulators = [(number, describe(importer, variable.aval, (), "acc"))
                    for number, (variable, argument) in enumerate(zip(jaxpr.invars, arguments))
                    if isinstance(variable.aval, gpu.WGMMAAbstractAccumulatorRef) and not isinstance(argument, View)]
    made = {number for number, _ in accumulators}
    bound: list[typing.Any] = [None if number in made else argument if isinstance(argument, View) else Cell(argument, 0)
             for number, argument in enumerate(arguments)]
    kept = [number for number, argument in enumerate(arguments) if not isinstance(argument, View)]

    def body(views: typing.Any) -> typing.Any:
        for (number, _), view in zip(accumulators, views):
            bound[number] = view
            if arguments[number] is not None:
                store(importer, view, arguments[number])
        for cell in bound:
            if isinstance(cell, Cell):
                cell.depth = importer.depth
        returned = importer.walk(jaxpr, bound, equation.params.get("consts", ()))
        left = [bound[number] for number in kept]
        # What a body returns comes before what its references hold in the end, and JAX' lowering takes the first ones.
        return [*returned, *[cell.value if isinstance(cell, Cell) else load(importer, cell, cell.dtype)
                             for cell in left[:max(len(left) - len(returned), 0)]]][:len(left)]

    values = iter(in_scope(importer, [item for _, item in accumulators], False, body) if accumulators else body([]))
    return [next(values) if number in kept else argument for number, argument in enumerate(arguments)]


def declare_global(importer: Importer, aval: typing.Any) -> View:
    """pl.get_global: a semaphore that all CTAs of the launch share."""
    inner = aval.inner_aval
    if not _series.is_semaphore(inner.dtype):
        raise importer.unsupported("get_global of what is not a semaphore")
    made = grout_builder.semaphore(math.prod(inner.shape), is_global=True)
    ref = importer.builder.scratch(importer.names.take("global"), made)
    return View("semaphore", ref, tuple(inner.shape))
