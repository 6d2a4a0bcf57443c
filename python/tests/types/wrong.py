# SPDX-License-Identifier: Apache-2.0
"""Mistakes that mypy is to find in a program that uses the package, each at its line. It is read, and not run."""
import grout
from grout.builder import Builder

grout.load(1)  # error
kernel = grout.load("k.grout")
kernel.check(seed="1")  # error
kernel.check().verdict + 1  # error
kernel.fix(budget="5")  # error
kernel.explore(seed="1")  # error
kernel.sweep(["N"])  # error
kernel.minimise(max_findings=1.5)  # error
print(kernel.check().findings[0].place.line)  # error
kernel.emit(lineinfo=3).kernel.name  # error
b = Builder(b"name")  # error
b.const("N", 1).shape  # error
b.array("x", "in", "f32", 4).transpose("x")  # error
