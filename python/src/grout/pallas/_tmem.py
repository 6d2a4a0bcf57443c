# SPDX-License-Identifier: Apache-2.0
"""Blackwell: tensor memory, and the tensor core that works on it."""
from __future__ import annotations

import contextlib
import itertools
import typing

from ._arithmetic import unary
from ._array_rules import take_slot
from ._memory import when
from ._rules import rule
from ._values import Val, View, index
from ._views import apply, at_object, split_leaves

if typing.TYPE_CHECKING:
    from ._importer import Importer


def _of_pair(importer: Importer, axis: typing.Any) -> typing.Any:
    """The attribute for both CTAs of a pair; the second one does not issue what is for both, as JAX lowers it."""
    if axis is None:
        return {}, contextlib.nullcontext()
    axis = axis[0] if isinstance(axis, (tuple, list)) and len(axis) == 1 else axis
    leads = importer.arith("eq", importer.axis(axis), index(0))
    return {"collective_axis": importer.get_axis_name(axis)}, importer.builder.if_(importer.operand(leads))


def _take_of_mma(params: typing.Any, operands: typing.Any) -> tuple[dict[str, typing.Any], list[typing.Any]]:
    """The operands of an MMA by name, and the leaves of their transforms."""
    names = ["acc", "a", "b", "accumulate", *(["barrier"] if params["arrive"] else []),
             *(["a_scale", "b_scale"] if params["scaled"] else []),
             *(["a_sparse_metadata"] if params.get("sparse") else [])]
    return dict(zip(names, operands)), list(operands[len(names):])


@rule("tcgen05_mma")
def import_mma(importer: Importer, equation: typing.Any, *operands: typing.Any) -> typing.Any:
    """acc (+)= a b, and the commit for its barrier."""
    params = equation.params
    given, leaves = _take_of_mma(params, operands)
    names = ("acc", "a", "b", "barrier", "a_scale", "b_scale", "a_sparse_metadata")
    transforms, _ = split_leaves(leaves, *[params.get(f"{name}_transforms_tree") for name in names])
    at = dict(zip(names, transforms))
    tables = [apply(importer, given[name], at[name]).ref for name in ("a_sparse_metadata", "a_scale", "b_scale")
              if name in given]
    name = "tcgen05_mma" + "_sp" * bool(params.get("sparse")) + "_scaled" * bool(params["scaled"])
    attributes, region = _of_pair(importer, params["collective_axis"])
    acc, a, b = (apply(importer, given[name], at[name]).ref for name in ("acc", "a", "b"))
    accumulate = importer.operand(given["accumulate"])
    barrier = at_object(importer, given["barrier"], at["barrier"]) if "barrier" in given else None
    with region:
        importer.builder.op(name, acc, a, b, *tables, accumulate, **attributes)
        if barrier is not None:
            importer.builder.op("tcgen05_commit_arrive", barrier, **attributes)
    return []


@rule("tcgen05_commit_arrive")
def import_commit_arrive(importer: Importer, equation: typing.Any, barrier: typing.Any,
                         *leaves: typing.Any) -> typing.Any:
    """An arrival when all before is done."""
    (transforms,), rest = split_leaves(leaves, equation.params["barrier_transforms_tree"])
    barrier = at_object(importer, barrier, transforms)
    with when(importer, rest[0] if equation.params.get("has_user_predicate") else None):
        attributes, region = _of_pair(importer, equation.params["collective_axis"])
        with region:
            importer.builder.op("tcgen05_commit_arrive", barrier, **attributes)
    return []


@rule("async_copy_smem_to_tmem", "async_copy_scales_to_tmem", "async_copy_sparse_metadata_to_tmem")
def import_copy(importer: Importer, equation: typing.Any, source: typing.Any, target: typing.Any,
                *leaves: typing.Any) -> typing.Any:
    """By the tensor core."""
    params = equation.params
    (at_source, at_target), _ = split_leaves(leaves, params["smem_tree"], params["tmem_tree"])
    source, target = apply(importer, source, at_source), apply(importer, target, at_target).ref
    name = equation.primitive.name
    is_table = name == "async_copy_sparse_metadata_to_tmem" and len(source.shape) == 4 and source.shape[0] == 1
    ref = source.ref.at[0] if is_table \
        else source.ref  # JAX counts blocks of 128 rows of metadata, of which there is one
    attributes, region = _of_pair(importer, params["collective_axis"])
    with region:
        importer.builder.op(name, ref, target, **attributes)
    return []


@rule("async_load")
def import_load(importer: Importer, equation: typing.Any, source: typing.Any, *leaves: typing.Any) -> typing.Any:
    """async_load_tmem. reduce=: what the loaded rows come to, which the hardware finds on the way."""
    (transforms,), _ = split_leaves(leaves, equation.params["tree"])
    view = apply(importer, source, transforms)
    value = importer.op("async_load_tmem", view.dtype, view.shape, view.ref)
    reduce = equation.params.get("reduce")
    if reduce is None:
        return value
    rows = unary(importer, "abs", value) if reduce.startswith("abs") and not view.dtype.startswith("u") else value
    dim = len(view.shape) - 1
    return [value, importer.op(f"reduce_{reduce[-3:]}", view.dtype, view.shape[:dim], rows.built, dim=dim)]


@rule("async_store_tmem")
def import_store(importer: Importer, equation: typing.Any, target: typing.Any, value: typing.Any,
                 *leaves: typing.Any) -> typing.Any:
    """Registers to tensor memory."""
    (transforms,), _ = split_leaves(leaves, equation.params["tree"])
    view: View = apply(importer, target, transforms)
    if not isinstance(value, Val) or value.shape != view.shape:
        value = importer.broadcast(value, view.shape)
    for slot in itertools.product(*map(range, view.shape[:-2])):  # JAX' lowering stores one after the other, too
        importer.builder.op("async_store_tmem", view.ref.at[slot] if slot else view.ref,
                            importer.operand(take_slot(importer, value, slot)))
    return []


@rule("wait_load_tmem")
def import_wait_load(importer: Importer, equation: typing.Any) -> typing.Any:
    """Loads are over."""
    del equation
    importer.builder.op("wait_load_tmem")
    return []


@rule("commit_tmem")
def import_commit(importer: Importer, equation: typing.Any) -> typing.Any:
    """Stores are over."""
    del equation
    importer.builder.op("commit_tmem")
    return []
