# SPDX-License-Identifier: Apache-2.0
"""Kernels built by Python: every operation a method, operators on values, refs sliced like arrays.

    from grout.builder import Builder, ds, smem

    b = Builder("add_one")
    N, B = b.const("N", 256), b.const("B", 128)
    with b.kernel("add_one", grid={"x": N / B}):
        x = b.array("x", "in", "f32", N)
        y = b.array("y", "out", "f32", N)
        here = ds(b.axis_index("x") * B, B)
        y[here] = x[here] + 1.0
    kernel = b.finish()["add_one"]

A mistake raises at the line that makes it, and a report shows the line of Python that built an operation, with
those that called it.
"""
from ._builder import Builder
from ._operations import Operations
from ._regions import Branch, Loop, Region, Specialized, While
from ._values import Barrier, Ds, Expr, Object, Ref, Value, acc, barrier, ds, gmem, mbarrier, semaphore, smem, tmem

__all__ = ["Barrier", "Branch", "Builder", "Ds", "Expr", "Loop", "Object", "Operations", "Ref", "Region",
           "Specialized", "Value", "While", "acc", "barrier", "ds", "gmem", "mbarrier", "semaphore", "smem", "tmem"]
