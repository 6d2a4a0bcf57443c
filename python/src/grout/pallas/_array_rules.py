# SPDX-License-Identifier: Apache-2.0
"""Primitives on the shapes of arrays, and reductions."""
from __future__ import annotations

import typing

from ..builder import ds
from ._arithmetic import binary, cast, cast_bits
from ._rules import rule
from ._values import Val, const, dtype_of, is_bool

if typing.TYPE_CHECKING:
    from ._importer import Importer

# Layouts of registers by the name that JAX gives them: the word, and whether it goes by layout(..).
LAYOUTS = {"WGMMA": {"wgmma": True}, "WGMMA_8BIT": {"wgmma_8bit": True}, "WG_STRIDED": {"wg_strided": True},
           "WGMMA_TRANSPOSED": {"layout": "wgmma_transposed"}, "WGMMA_UPCAST_2X": {"layout": "wgmma_upcast_2x"},
           "WGMMA_UPCAST_4X": {"layout": "wgmma_upcast_4x"}}


@rule("broadcast_in_dim")
def import_broadcast(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """To a shape: the dimensions of the operand are some of the result's, in their order."""
    shape = tuple(equation.params["shape"])
    dims = tuple(equation.params["broadcast_dimensions"])
    if shape == a.shape:
        return a
    if not shape:
        return a
    if not dims:
        return importer.broadcast(a, shape)
    first = dims[0]
    if dims == tuple(range(first, first + len(dims))):
        return importer.broadcast(a, shape, first)
    spread = [1] * (dims[-1] - first + 1)  # dimensions of size 1 between them
    for own, dim in enumerate(dims):
        spread[dim - first] = a.shape[own]
    return importer.broadcast(reshape(importer, a, tuple(spread)), shape, first)


def reshape(importer: Importer, a: Val, shape: typing.Any) -> Val:
    """The same elements in other dimensions."""
    shape = tuple(shape)
    if shape == a.shape:
        return a
    if not shape:  # of an array of one element
        return importer.op("slice", a.dtype, (), _part(importer, a, [0] * len(a.shape)))
    if not a.shape:
        return importer.broadcast(a, shape)
    return importer.op("reshape", a.dtype, shape, a.built, dtype=a.dtype, shape=shape)


def _part(importer: Importer, a: Val, indices: typing.Any) -> typing.Any:
    """A box of an array in registers, as 'slice' takes it."""
    builder = importer.builder
    from ..builder._values import Ref, value_operand
    operand = builder._index(value_operand(a.built.id), tuple(indices))
    return Ref(builder, operand, a.built.id)


def slice_box(importer: Importer, a: Val, starts: typing.Any, limits: typing.Any) -> Val:
    """A box of an array."""
    shape = tuple(limit - start for start, limit in zip(starts, limits))
    if shape == a.shape:
        return a
    return importer.op("slice", a.dtype, shape, _part(importer, a, [ds(start, size) for start, size
                                                                     in zip(starts, shape)]))


def take_slot(importer: Importer, a: Val, slot: typing.Any) -> Val:
    """The matrix at these indices of the dimensions in front of its own."""
    starts, limits = [*slot, 0, 0], [*(place + 1 for place in slot), *a.shape[-2:]]
    return reshape(importer, slice_box(importer, a, starts, limits), a.shape[-2:]) if slot else a


@rule("reshape")
def import_reshape(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """The same elements in other dimensions."""
    if equation.params.get("dimensions") is not None:
        raise importer.unsupported("dimensions= has no counterpart")
    return reshape(importer, a, equation.params["new_sizes"])


def _split_bits(importer: Importer, a: Val, dtype: str, count: int) -> Val:
    """Each element as this many of fewer bits, the lowest first, along a new dimension."""
    bits = int(dtype[1:])
    whole = cast_bits(importer, a, f"u{a.dtype[1:]}")
    parts = [binary(importer, "shr", whole, const(bits * place, whole.dtype), whole.dtype) if place else whole
             for place in range(count)]
    parts = [reshape(importer, cast(importer, part, f"u{bits}"), (*a.shape, 1)) for part in parts]
    joined = importer.op("concatenate", f"u{bits}", (*a.shape, count), *[part.built for part in parts],
                         dim=len(a.shape))
    return cast_bits(importer, joined, dtype)


def _join_bits(importer: Importer, a: Val, dtype: str) -> Val:
    """The elements of the last dimension as one of more bits, the lowest first."""
    bits, front = int(a.dtype[1:]), a.shape[:-1]
    result: Val | None = None
    for place in range(a.shape[-1]):
        part = slice_box(importer, a, [0] * len(front) + [place], [*front, place + 1])
        part = cast(importer, cast_bits(importer, reshape(importer, part, front), f"u{bits}"), f"u{dtype[1:]}")
        part = binary(importer, "shift_left", part, const(bits * place, part.dtype), part.dtype) if place else part
        result = part if result is None else binary(importer, "or", result, part, part.dtype)
    assert result is not None  # nothing is bitcast to no elements
    return cast_bits(importer, result, dtype)


@rule("bitcast_convert_type")
def import_bitcast(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """The bits as another type: of fewer bits along a dimension more, of more along one less. JAX' interpreter takes
    that, and its lowering types of one size."""
    dtype, shape = dtype_of(equation.params["new_dtype"]), tuple(equation.outvars[0].aval.shape)
    if shape == tuple(a.shape):
        return cast_bits(importer, a, dtype)
    if not {a.dtype[0], dtype[0]} <= {"i", "u"} or a.is_const:
        raise importer.unsupported("the types differ in size, and are not both integers in registers")
    return _split_bits(importer, a, dtype, shape[-1]) if len(shape) > len(a.shape) else _join_bits(importer, a, dtype)


@rule("squeeze", "expand_dims")
def import_squeeze(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """Without dimensions of size 1."""
    return reshape(importer, a, equation.outvars[0].aval.shape)


@rule("slice")
def import_slice(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """A box."""
    strides = equation.params["strides"]
    if strides is not None and any(stride != 1 for stride in strides):
        raise importer.unsupported(f"strides={tuple(strides)}: a slice of registers has no strides")
    return slice_box(importer, a, equation.params["start_indices"], equation.params["limit_indices"])


@rule("concatenate")
def import_concatenate(importer: Importer, equation: typing.Any, *arrays: typing.Any) -> typing.Any:
    """One after the other."""
    if len(arrays) == 1:
        return arrays[0]
    return importer.op("concatenate", arrays[0].dtype, equation.outvars[0].aval.shape,
                       *[array.built for array in arrays], dim=equation.params["dimension"])


@rule("stack")
def import_stack(importer: Importer, equation: typing.Any, *arrays: typing.Any) -> typing.Any:
    """One after the other along a dimension of their own."""
    dim, shape = equation.params["axis"], equation.outvars[0].aval.shape
    one = (*shape[:dim], 1, *shape[dim + 1:])
    parts = [reshape(importer, array, one) for array in arrays]
    if len(parts) == 1:
        return parts[0]
    return importer.op("concatenate", parts[0].dtype, shape, *[part.built for part in parts], dim=dim)


@rule("split")
def import_split(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """The parts of an array along a dimension."""
    dim, parts, start = equation.params["axis"], [], 0
    for size in equation.params["sizes"]:
        starts = [start if d == dim else 0 for d in range(len(a.shape))]
        limits = [start + size if d == dim else full for d, full in enumerate(a.shape)]
        parts.append(slice_box(importer, a, starts, limits))
        start += size
    return parts


@rule("unstack")
def import_unstack(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """The parts at each index of a dimension, without that dimension."""
    dim = equation.params["axis"] if "axis" in equation.params else equation.params["dimension"]
    parts = []
    for place in range(a.shape[dim]):
        starts = [place if d == dim else 0 for d in range(len(a.shape))]
        limits = [place + 1 if d == dim else size for d, size in enumerate(a.shape)]
        parts.append(reshape(importer, slice_box(importer, a, starts, limits), a.shape[:dim] + a.shape[dim + 1:]))
    return parts


def transpose(importer: Importer, a: Val, permutation: typing.Any) -> Val:
    """Dimension permutation[d] of a as dimension d."""
    permutation = tuple(permutation)
    if permutation == tuple(range(len(permutation))):
        return a
    return importer.op("transpose", a.dtype, tuple(a.shape[dim] for dim in permutation), a.built, perm=permutation)


@rule("transpose")
def import_transpose(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
    """The dimensions in another order."""
    return transpose(importer, a, equation.params["permutation"])


@rule("iota")
def import_iota(importer: Importer, equation: typing.Any) -> Val:
    """Indices along a dimension."""
    dtype, shape = dtype_of(equation.params["dtype"]), tuple(equation.params["shape"])
    return importer.op("iota", dtype, shape, dtype=dtype, shape=shape, dim=equation.params["dimension"])


def _add_reduction(primitive: str, name: str) -> None:
    own = primitive in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod")

    @rule(primitive, *[f"mosaic_gpu_{primitive}"] * own)  # by 0.12: how many sums go on at once changes none
    def import_reduction(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
        axes = sorted(equation.params["axes"], reverse=True)
        dtype = dtype_of(equation.outvars[0].aval.dtype)
        if not a.shape or not axes:
            return a
        if len(axes) == len(a.shape):
            return cast(importer, importer.op(name, a.dtype, (), a.built), dtype)
        for axis in axes:
            shape = a.shape[:axis] + a.shape[axis + 1:]
            a = importer.op(name, a.dtype, shape, a.built, dim=axis)
        return cast(importer, a, dtype)
    import_reduction.__doc__ = primitive


for _primitive in ("reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_and", "reduce_or", "reduce_xor"):
    _add_reduction(_primitive, _primitive)


def _add_scan(primitive: str) -> None:
    @rule(primitive)
    def import_scan_of_array(importer: Importer, equation: typing.Any, a: typing.Any) -> Val:
        attributes = {"reverse": True} if equation.params.get("reverse") else {}
        return importer.op(primitive, a.dtype, a.shape, a.built, dim=equation.params["axis"], **attributes)
    import_scan_of_array.__doc__ = primitive


for _primitive in ("cumsum", "cumprod", "cummax", "cummin"):
    _add_scan(_primitive)


def describe_layout(importer: Importer, layout: typing.Any, dtype: str) -> typing.Any:
    """The attributes of a layout_cast; None: the layout has no name here and is left to grout."""
    text = str(layout).replace("Layout.", "")
    name = text.partition(":")[0].partition("(")[0].strip()
    if "Reduced" in text or ".reduce" in text:
        if "WGMMA" in text and "WGMMA_" not in text:
            return {"wgmma_row": True} if "axes=(1,)" in text or "(1,)" in text else {"wgmma_col": True}
        return None
    del importer, dtype
    return LAYOUTS.get(name)


@rule("layout_cast")
def import_layout_cast(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """Which lane holds which element: no change of values."""
    if not a.shape or a.is_const:
        return a
    attributes = describe_layout(importer, equation.params["new_layout"], a.dtype)
    if attributes is None or is_bool(a.dtype) and "layout" in attributes:
        importer.note(f"layout_cast to {equation.params['new_layout']} is left to grout: it changes no value")
        return a
    return importer.op("layout_cast", a.dtype, a.shape, a.built, **attributes)


@rule("relayout")
def import_relayout(importer: Importer, equation: typing.Any, a: typing.Any) -> typing.Any:
    """The same by a layout of JAX' own: no change of values."""
    del equation
    importer.note("a relayout is left to grout: it changes no value")
    return a
