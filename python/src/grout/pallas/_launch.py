# SPDX-License-Identifier: Apache-2.0
"""Launch control: clusters of the grid that have not begun, as plgpu.dynamic_scheduling_loop asks for them."""
from __future__ import annotations

import typing

from ._rules import rule
from ._values import index
from ._views import apply, at_object, split_leaves

if typing.TYPE_CHECKING:
    from ._importer import Importer


@rule("try_cluster_cancel")
def import_request(importer: Importer, equation: typing.Any, answer: typing.Any, barrier: typing.Any,
                   *leaves: typing.Any) -> None:
    """Thread 0 asks, in each CTA of a cluster for all of them; the others arrive, as JAX lowers it."""
    params = equation.params
    (at_answer, at_barrier), _ = split_leaves(leaves, params["result_transforms_tree"],
                                              params["barrier_transforms_tree"])
    axes: dict[str, typing.Any] = {}
    if any(size > 1 for _, size in importer.source.cluster):
        axes["collective_axes"] = tuple(importer.get_axis_name(name) for name, _ in importer.source.cluster)
    own, threads = importer.source.threads or ("", 1)
    importer.copied_to.add(barrier.number)
    answer, barrier = apply(importer, answer, at_answer).ref, at_object(importer, barrier, at_barrier)
    if threads == 1:
        importer.builder.op("try_cluster_cancel", answer, barrier, **axes)
        return
    is_first = importer.arith("eq", importer.axis(own), index(0))
    with importer.builder.if_(importer.operand(is_first)) as branch:
        importer.builder.op("try_cluster_cancel", answer, barrier, **axes)
    with branch.else_():
        importer.builder.op("barrier_arrive", barrier)


@rule("query_cluster_cancel")
def import_query(importer: Importer, equation: typing.Any, answer: typing.Any, *leaves: typing.Any) -> typing.Any:
    """The places of a cluster on some axes of the grid, and whether there was one."""
    params = equation.params
    (at_answer,), _ = split_leaves(leaves, params["transforms_tree"])
    number = importer.op("query_cluster_cancel", "i32", (), apply(importer, answer, at_answer).ref)
    inner, places = 1, {}
    for name, size in reversed(importer.source.grid):  # row-major: the last axis is the fastest
        places[name] = importer.arith("rem", importer.arith("div", number, index(inner)), index(int(size)))
        inner *= int(size)
    missing = [name for name in params["grid_names"] if name not in places]
    if missing:
        raise importer.unsupported(f"{missing[0]!r} is not an axis of the grid")
    return [*(places[name] for name in params["grid_names"]), importer.arith("ge", number, index(0))]
