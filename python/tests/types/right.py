# SPDX-License-Identifier: Apache-2.0
"""A program as users write them: mypy --strict has nothing to say. It is read, and not run."""
from __future__ import annotations

import numpy as np
from typing_extensions import assert_type

import grout
from grout.builder import Barrier, Builder, Expr, Ref, Value, barrier, ds, smem


def build() -> grout.Kernel:
    b = Builder("add_one")
    n, size = b.const("N", 256), b.const("B", 128)
    assert_type(n / size, Expr)
    assert_type(2 * n - 1, Expr)
    with b.kernel("add_one", grid={"x": n / size}):
        x = b.array("x", "in", "f32", n)
        y = b.array("y", "out", "f32", n)
        assert_type(y, Ref)
        assert_type(b.scratch("xs", smem("f32", size)), Ref)
        assert_type(b.scratch("full", barrier(2))[0], Barrier)
        here = ds(b.axis_index("x") * size, size)
        assert_type(x[here], Value)
        assert_type(n * x[here], Value)
        assert_type(x[here] < 1.0, Value)
        y[here] = -x[here] + 1.0
    return b.finish()["add_one"]


def check(kernel: grout.Kernel) -> tuple[str, ...]:
    x = np.zeros(256, np.float32)
    report = kernel.check(x=x, seed=1, timeout=10.0, severity={"smem-race": "warning"}, B=64)
    assert_type(report.findings, tuple[grout.Finding, ...])
    places = [finding.place.line for finding in report.findings if finding.place is not None]
    assert_type(places, list[int])
    assert_type(kernel.fix().diff, str)
    assert_type(kernel.fix(x, timeout=10.0, budget=5.0, B=64).steps, tuple[str, ...])
    assert_type(kernel.explore(x, seed=1, schedule="random"), grout.Report)
    assert_type(kernel.sweep({"B": [32, 64]}, x, budget=1, severity={"smem-race": "warning"}).sizes[0].verdict, str)
    assert_type(kernel.emit(x).source, str)
    kernel.run(x, progress=grout.show_progress, print=None)
    try:
        return report.expect_clean().coverage, kernel.name
    except grout.CheckError as error:
        return tuple(diagnostic.help for diagnostic in error.diagnostics)


def run_ptx(path: str, x: np.typing.NDArray[np.float32]) -> int:
    module = grout.ptx.load(path)
    assert_type(module["add"], grout.ptx.Entry)
    return module["add"].run(x, 256, grid=2, block=(128, 1)).warp_instructions


print(check(build()), [param.dims for kernel in grout.load_module("k.grout") for param in kernel.params])
