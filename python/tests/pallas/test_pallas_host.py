# SPDX-License-Identifier: Apache-2.0
"""Arrays whose elements lie closer in grout than in JAX."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from grout.pallas import _host
from pallas_tools import S, assert_same, check, kernel

CODES = numpy.random.default_rng(3).integers(0, 16, (6, 32)).astype(numpy.uint8)


def make(name):
    """All the 16 values of a type of 4 bits, drawn."""
    values = numpy.arange(16, dtype=numpy.uint8)
    if name == "int4":
        values = numpy.where(values > 7, values.astype(int) - 16, values)
        return values.astype(jnp.int4)[CODES]
    return values.view(getattr(jnp, name))[CODES]


@pytest.mark.parametrize("name", ("float4_e2m1fn", "int4", "uint4"))
def test_nibbles(name):
    array = make(name)
    packed = _host.pack(array)
    assert packed.dtype == numpy.uint8 and packed.shape == (6, 16)
    assert (packed & 15 == CODES[:, ::2]).all() and (packed >> 4 == CODES[:, 1::2]).all()
    again = _host.unpack(packed, array.shape, array.dtype)
    assert again.dtype == array.dtype and (again.astype("float32") == array.astype("float32")).all()
    assert _host.make_output(array.shape, array.dtype).shape == packed.shape


def test_codes_of_two_bits():
    codes = CODES & 3
    packed = _host.pack(codes.astype(jnp.uint2))
    assert packed.dtype == numpy.uint16 and packed.shape == (6, 4)
    for place in range(8):
        assert (packed >> 2 * place & 3 == codes[:, place::8]).all()


@pytest.mark.parametrize("name", ("float4_e2m1fn", "int4"))
def test_a_copy_of_nibbles(name):
    def body(x, out, smem, full):
        plgpu.copy_gmem_to_smem(x, smem, full)
        plgpu.barrier_wait(full)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, out)
        plgpu.wait_smem_to_gmem(0)

    x = make(name)
    function = plgpu.kernel(body, out_type=S(x.shape, x.dtype),
                            scratch_types=(plgpu.SMEM(x.shape, x.dtype), plgpu.Barrier()))
    result = numpy.asarray(check(function, x).result)
    assert result.dtype == x.dtype
    assert_same(result.astype("float32"), x.astype("float32"))


def test_subnormal_numbers_are_kept():
    """XLA's threads take subnormal numbers for 0; grout, which they call, does not. A half in 4 bits goes by way of
    one."""
    def body(x_ref, y_ref, out, less):
        y = y_ref[...]
        out[0] = x_ref[...].astype(jnp.float32)
        out[1] = y * numpy.float32(0.5)
        out[2] = y + y
        out[3] = numpy.float32(3e-38) * numpy.float32(0.25) - y
        less[...] = (y > 0).astype(jnp.int32)

    half = numpy.float32(0.5)
    x = numpy.tile(numpy.array([0, .5, 1, 1.5, 2, 3, 4, 6], "float32"), 8).astype(jnp.float4_e2m1fn)
    y = numpy.full(64, 2e-40, "float32")
    got, less = grout.pallas.run(kernel(body, (S((4, 64), jnp.float32), S((64,), jnp.int32))))(x, y)
    assert_same(got, numpy.stack([x.astype("float32"), y * half, y + y,
                                  numpy.float32(3e-38) * numpy.float32(0.25) - y]))
    assert numpy.asarray(less).all()
