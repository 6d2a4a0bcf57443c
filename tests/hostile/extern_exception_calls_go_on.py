# SPDX-License-Identifier: Apache-2.0
"""A function of Python raises for the first of 4,096 elements: it is not called for the others."""
import numpy as np

import grout

KERNEL = """kernel @k(%x: in gmem f32[4096], %y: out gmem f32[4096])
{
  %r = extern_elementwise "fail", (load %x) : f32
  store %y, %r
}
"""
calls = []


def fail(value):
    calls.append(value)
    raise ValueError("the first element")


try:
    grout.load(KERNEL).run(np.ones(4096, np.float32), externs={"fail": fail})
except ValueError:
    print("calls", len(calls))
