# SPDX-License-Identifier: Apache-2.0
"""What JAX has since 0.12: plgpu.store, barrier_arrive_and_wait, reductions with accumulator_ilp, predicates."""
import re

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, count, kernel

needs_0_12 = pytest.mark.skipif(not hasattr(plgpu, "store"), reason="JAX 0.12")


@needs_0_12
@pytest.mark.parametrize("optimized", (True, False))
def test_store(optimized):
    def body(x, out, room):
        plgpu.store(room, x[...] * 2, optimized=optimized)
        out[...] = room[...]

    f = kernel(body, S((2, 64), jnp.float32), scratch_types=[plgpu.SMEM((2, 64), jnp.float32)])
    x = count(2, 64)
    assert_same(check(f, x).result, x * 2)


@needs_0_12
def test_store_of_a_part():
    def body(x, out):
        plgpu.store(out.at[0], x[1], optimized=False)
        plgpu.store(out.at[1], x[0], optimized=False)

    x = count(2, 64)
    assert_same(check(kernel(body, S((2, 64), jnp.float32)), x).result, x[::-1])


@needs_0_12
@pytest.mark.parametrize("arrivals, verdict", ((2, "clean"), (1, "error")))
def test_arrive_and_wait(arrivals, verdict):
    """Two warpgroups meet. With one arrival expected a barrier is too early: the values are not there yet."""
    def body(x, out, room, barrier):
        own = lax.axis_index("wg")
        room[own] = x[own]
        plgpu.barrier_arrive_and_wait(barrier)
        out[own] = room[1 - own]

    f = kernel(body, S((2, 128), jnp.float32), num_threads=2, thread_name="wg",
               scratch_types=[plgpu.SMEM((2, 128), jnp.float32), plgpu.Barrier(num_arrivals=arrivals)])
    x = count(2, 128)
    report = check(f, x, verdict=verdict)
    if verdict == "clean":
        assert_same(report.result, x[::-1])
    else:
        assert {finding.code for finding in report.findings} & {"smem-race", "barrier-overrun"}


@needs_0_12
@pytest.mark.parametrize("name", ("sum", "max", "min", "prod"))
@pytest.mark.parametrize("dtype", ("float32", "bfloat16", "float16", "int32", "uint32"))
def test_reductions(name, dtype):
    shapes = {axis: numpy.zeros((2, 64, 16)).sum(axis).shape for axis in (1, 2, -1, (0, 2), (1, 2), (0, 1, 2), None)}

    def body(x, *outs):
        for axis, out in zip(shapes, outs):
            out[...] = getattr(plgpu, name)(x[...], axis=axis, accumulator_ilp=2)

    signs = numpy.random.default_rng(3).integers(0, 2, (2, 64, 16)) * (2 if name == "sum" and dtype != "uint32" else 1)
    x = (1 - signs if name == "sum"
         else 1 + signs * (numpy.arange(16) == 3) * (numpy.arange(64)[:, None] < 6)).astype(dtype)
    report = check(kernel(body, [S(shape, x.dtype) for shape in shapes.values()]), x)
    for axis, got in zip(shapes, report.result):
        wanted = getattr(numpy, name)(x.astype("f8"), axis=axis)
        assert_same(got, numpy.asarray(wanted).astype(x.dtype), f"axis={axis}")


@pytest.mark.skipif("predicate" not in plgpu.barrier_arrive.__code__.co_varnames, reason="JAX 0.11")
@pytest.mark.parametrize("arrives, verdict", ((0, "clean"), (5, "error")))
def test_arrival_with_a_predicate(arrives, verdict):
    """The arrival that one of two threads does not make is waited for without end, where the other does not make it."""
    def body(x, out, barrier):
        own = lax.axis_index("wg")
        plgpu.barrier_arrive(barrier, predicate=(own == 0) & (x[0] == arrives))
        plgpu.barrier_wait(barrier)
        out[own] = own

    f = kernel(body, S((2,), jnp.int32), num_threads=2, thread_name="wg", scratch_types=[plgpu.Barrier()])
    report = check(f, numpy.zeros(1, "int32"), verdict=verdict)
    if verdict == "error":
        assert [finding.code for finding in report.findings] == ["deadlock"]


def test_a_pallas_call_with_a_grid():
    """It is read where JAX lowers it for Mosaic GPU. Elsewhere the refusal says so, and names what this JAX has."""
    def body(x, out):
        out[...] = x[...] + 1

    spec = plgpu.BlockSpec((128,), lambda i: (i,))
    f = pl.pallas_call(body, out_shape=S((256,), jnp.float32), grid=(2,), in_specs=[spec], out_specs=spec,
                       compiler_params=plgpu.CompilerParams())
    x = count(256)
    try:
        jax.jit(f).trace(x).lower(lowering_platforms=("cuda",))
    except Exception:
        with pytest.raises(grout.pallas.UnsupportedError, match="lowers no pallas_call for Mosaic GPU") as caught:
            grout.pallas.check(f)(x)
        named = re.findall(r"plgpu\.(\w+)", caught.value.message)
        assert named and all(hasattr(plgpu, name) for name in named)
    else:
        assert_same(check(f, x).result, x + 1)
