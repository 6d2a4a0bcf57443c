# SPDX-License-Identifier: Apache-2.0
"""The tensor core, and code that Mosaic GPU takes as it stands."""
from __future__ import annotations

import typing

from ._arithmetic import cast
from ._rules import rule
from ._values import View, dtype_of
from ._views import apply, split_leaves

if typing.TYPE_CHECKING:
    from ._importer import Importer
    from ._values import Val


def _operand(importer: Importer, operand: typing.Any, transforms: typing.Any) -> typing.Any:
    """An operand of a wgmma: shared memory, or an array in registers."""
    if isinstance(operand, View):
        return apply(importer, operand, transforms).ref
    return importer.operand(operand)


@rule("wgmma_ref")
def import_wgmma(importer: Importer, equation: typing.Any, acc: typing.Any, a: typing.Any, b: typing.Any,
                 *leaves: typing.Any) -> None:
    """acc += a b."""
    params = equation.params
    (at_acc, at_a, at_b), _ = split_leaves(leaves, params["acc_transforms_tree"], params["a_transforms_tree"],
                                           params["b_transforms_tree"])
    name = "wgmma_async" if importer.is_wgmma_async else "wgmma"
    importer.builder.op(name, apply(importer, acc, at_acc).ref, _operand(importer, a, at_a),
                        _operand(importer, b, at_b))


@rule("wgmma_wait")
def import_wgmma_wait(importer: Importer, equation: typing.Any, *count: typing.Any) -> None:
    """Waits for groups."""
    importer.builder.op("wgmma_wait", importer.get_count(equation, count, "the number of groups"))


@rule("wgmma_accumulator_deref")
def import_acc_load(importer: Importer, equation: typing.Any, acc: typing.Any, *leaves: typing.Any) -> Val:
    """The elements of an accumulator."""
    del leaves
    wait = equation.params.get("wait_n", 0)
    attributes = {} if wait is None else {"wait": int(wait)}
    return importer.op("acc_load", acc.dtype, acc.shape, acc.ref, **attributes)


@rule("wgmma_accumulator_store")
def import_acc_store(importer: Importer, equation: typing.Any, acc: typing.Any, value: typing.Any) -> None:
    """Sets an accumulator."""
    del equation
    if not value.shape:
        value = importer.broadcast(value, acc.shape)
    importer.builder.op("acc_store", acc.ref, importer.operand(value))


WIDENED = {"i4": "i8", "u4": "u8"}


@rule("mma")
def import_mma(importer: Importer, equation: typing.Any, acc: typing.Any, a: typing.Any, b: typing.Any) -> Val:
    """Matrix multiplication in registers. Elements of 4 bits are multiplied as those of 8, to the same sums."""
    a, b = (cast(importer, value, WIDENED.get(value.dtype, value.dtype)) for value in (a, b))
    return importer.op("mma", dtype_of(equation.outvars[0].aval.dtype), acc.shape, importer.operand(acc),
                       importer.operand(a), importer.operand(b))
