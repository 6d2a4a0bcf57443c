# SPDX-License-Identifier: Apache-2.0
"""Products of matrices outside the tensor core."""
from __future__ import annotations

import typing

from ._arithmetic import binary, cast
from ._array_rules import reshape, slice_box
from ._rules import rule
from ._values import Val, dtype_of, is_float

if typing.TYPE_CHECKING:
    from ._importer import Importer

CUBE_MAX = 1 << 12  # products that are made at once; more of them are added row by row


def _orient(importer: Importer, a: Val, contracted: int, wanted: int) -> Val:
    """With the contracted dimension where it is wanted."""
    if contracted == wanted:
        return a
    return importer.op("transpose", a.dtype, a.shape[::-1], a.built, perm=(1, 0))


def _multiply_at_once(importer: Importer, a: Val, b: Val) -> Val:
    shape = (*a.shape, b.shape[1])
    products = binary(importer, "mul", importer.broadcast(a, shape, 0), importer.broadcast(b, shape, 1), a.dtype)
    return importer.op("reduce_sum", a.dtype, (a.shape[0], b.shape[1]), products.built, dim=1)


def _multiply_by_rows(importer: Importer, a: Val, b: Val) -> Val:
    shape = (a.shape[0], b.shape[1])
    total = None
    for k in range(a.shape[1]):
        column = reshape(importer, slice_box(importer, a, (0, k), (a.shape[0], k + 1)), a.shape[:1])
        row = reshape(importer, slice_box(importer, b, (k, 0), (k + 1, b.shape[1])), b.shape[1:])
        left, right = importer.broadcast(column, shape, 0), importer.broadcast(row, shape, 1)
        if total is None:
            total = binary(importer, "mul", left, right, a.dtype)
        elif is_float(a.dtype):
            total = importer.op("fma", a.dtype, shape, left.built, right.built, total.built)
        else:
            total = binary(importer, "add", total, binary(importer, "mul", left, right, a.dtype), a.dtype)
    assert total is not None  # one dimension at least is multiplied
    return total


@rule("dot_general")
def import_dot_general(importer: Importer, equation: typing.Any, a: typing.Any, b: typing.Any) -> typing.Any:
    """The product of two matrices, by multiplications and additions in the result's type."""
    (of_a, of_b), (batch, _) = equation.params["dimension_numbers"]
    if batch or len(of_a) != 1 or len(a.shape) != 2 or len(b.shape) != 2 or a.is_const or b.is_const:
        raise importer.unsupported("of two matrices alone, without batches")
    importer.note("dot_general is read as multiplications and additions; JAX' lowering for GPUs takes none: use wgmma")
    dtype = dtype_of(equation.outvars[0].aval.dtype)
    left = cast(importer, _orient(importer, a, of_a[0], 1), dtype)
    right = cast(importer, _orient(importer, b, of_b[0], 0), dtype)
    is_small = left.shape[0] * left.shape[1] * right.shape[1] <= CUBE_MAX
    return (_multiply_at_once if is_small else _multiply_by_rows)(importer, left, right)
