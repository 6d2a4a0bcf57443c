# SPDX-License-Identifier: Apache-2.0
"""What the tests of grout.pallas share."""
import inspect

import jax
import numpy
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas

S = jax.ShapeDtypeStruct


def kernel(body, out_type, **options):
    """plgpu.kernel."""
    return plgpu.kernel(body, out_type=out_type, **options)


def count(*shape, dtype="float32"):
    """0, 1, 2 .. in this shape."""
    return numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)


def load(ref, **options):
    """plgpu.load of a whole reference: before JAX 0.12 it takes indices, too."""
    takes_indices = "idx" in inspect.signature(plgpu.load).parameters
    return plgpu.load(ref, *[()] * takes_indices, **options)


def check(function, *arrays, verdict="clean", **options):
    """The report of a check, which has this verdict."""
    report = grout.pallas.check(function, **options)(*arrays)
    assert report.verdict == verdict, str(report)
    return report


def assert_same(got, wanted, what="", **tolerance):
    """Bit for bit but for the bits of a NaN, or within rtol= and atol=."""
    got, wanted = numpy.asarray(got), numpy.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape, f"{what}: {got.dtype}{got.shape}"
    if tolerance:
        numpy.testing.assert_allclose(got.astype("f8"), wanted.astype("f8"), err_msg=what, **tolerance)
        return
    is_float = got.dtype.kind in "fV"
    if is_float:
        both_nan = numpy.isnan(got.astype("f8")) & numpy.isnan(wanted.astype("f8"))
        bits = f"u{got.dtype.itemsize}"
        differ = (got.view(bits) != wanted.view(bits)) & ~both_nan
    else:
        differ = got != wanted
    assert not differ.any(), f"{what}: at {numpy.argwhere(differ)[0]}: {got[differ][0]} and not {wanted[differ][0]}"
