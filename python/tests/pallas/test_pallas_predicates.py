# SPDX-License-Identifier: Apache-2.0
"""predicate= of copies, prefetches and commits: what is done where it is false differs from JAX to JAX."""
import inspect

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, count, kernel

ARRIVES = tuple(map(int, jax.__version__.split(".")[:2])) < (0, 12)  # also where a load's predicate is false


def takes(function):
    return pytest.mark.skipif("predicate" not in inspect.signature(function).parameters, reason="of a newer JAX")


def list_codes(report):
    return {finding.code for finding in report.findings}


# ---- loads ----------------------------------------------------------------------------------------------------------

def load_if(waits, predicate=None):
    """y is x where the first number of `which` is 1, else zeros. waits: "always", or "loaded", if there is a load."""
    def body(which, x, out, room, barrier):
        wanted = which[0] == 1 if predicate is None else predicate
        room[...] = jnp.zeros_like(room)
        plgpu.commit_smem()
        plgpu.copy_gmem_to_smem(x, room, barrier, predicate=wanted)
        if waits == "always":
            plgpu.barrier_wait(barrier)
        else:
            pl.when(wanted)(lambda: plgpu.barrier_wait(barrier))
        out[...] = room[...]

    return kernel(body, S((128,), jnp.float32), scratch_types=[plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()])


@takes(plgpu.copy_gmem_to_smem)
@pytest.mark.parametrize("predicate", (None, True))
@pytest.mark.parametrize("waits", ("always", "loaded"))
def test_a_load_that_is_made(waits, predicate):
    x = count(128)
    assert_same(check(load_if(waits, predicate), numpy.ones(1, "int32"), x).result, x)


@takes(plgpu.copy_gmem_to_smem)
@pytest.mark.parametrize("predicate", (None, False))
def test_a_load_that_is_not_made(predicate):
    """Before JAX 0.12 it arrives all the same, without bytes. Since then nobody arrives, and who waits waits for
    good."""
    x, which = count(128), numpy.zeros(1, "int32")
    right, wrong = ("always", "loaded") if ARRIVES else ("loaded", "always")
    assert_same(check(load_if(right, predicate), which, x).result, 0 * x)
    report = grout.pallas.check(load_if(wrong, predicate))(which, x)
    if ARRIVES:
        assert_same(report.result, 0 * x)
    else:
        assert report.verdict == "error" and list_codes(report) == {"deadlock"}


def load_in_pair(waits_all):
    """Each CTA of a pair gets half of the rows; the leader's barrier alone tells of them, where there is a load."""
    def body(which, x, out, room, full, both):
        wanted = which[0] == 1
        leads = lax.axis_index("cta") == 0
        room[...] = jnp.zeros_like(room)
        plgpu.commit_smem()
        plgpu.copy_gmem_to_smem(x, room, full, collective_axes="cta", predicate=wanted,
                                leader_tracked=plgpu.CopyPartition.PARTITIONED(0))
        is_told = leads if ARRIVES else leads & wanted
        pl.when(is_told | waits_all)(lambda: plgpu.barrier_wait(full))
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        out[pl.ds(lax.axis_index("cta") * 64, 64)] = room[...]

    return kernel(body, S((128, 64), jnp.float16), cluster=(2,), cluster_names=("cta",), scratch_types=[
        plgpu.SMEM((64, 64), jnp.float16), plgpu.Barrier(),
        plgpu.ClusterBarrier(collective_axes=("cta",), orders_tensor_core=True)])


@takes(plgpu.copy_gmem_to_smem)
@pytest.mark.parametrize("loads", (1, 0))
def test_a_load_that_the_leader_tracks(loads):
    x = count(128, 64, dtype="float16") % 63
    which = numpy.full(1, loads, "int32")
    assert_same(check(load_in_pair(False), which, x).result, loads * x)
    assert list_codes(check(load_in_pair(True), which, x, verdict="error")) == {"deadlock"}


# ---- stores ---------------------------------------------------------------------------------------------------------

def store_some(left, is_known=False):
    """Stores 7 and then, if the first number of `which` is 1, 8; and it fills the first slot anew when `left` are
    left."""
    def body(which, out, room):
        for number in range(2):
            room[number] = jnp.full((128,), 7 + number, jnp.int32)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room.at[0], out.at[0])
        plgpu.copy_smem_to_gmem(room.at[1], out.at[1], predicate=False if is_known else which[0] == 1)
        plgpu.wait_smem_to_gmem(left)
        room[0] = jnp.zeros((128,), jnp.int32)
        plgpu.wait_smem_to_gmem(0)
        pl.when(which[0] != 1)(lambda: out.at[1].__setitem__(..., room[1]))

    return kernel(body, S((2, 128), jnp.int32), scratch_types=[plgpu.SMEM((2, 128), jnp.int32)])


@pytest.mark.parametrize("stores, is_known", ((1, False), (0, False), (0, True)))
def test_a_store_closes_its_group(stores, is_known):
    """Also where its predicate is false: one of two groups may be left, and the first store is over."""
    which = numpy.full(1, stores, "int32")
    wanted = numpy.repeat(numpy.array([[7], [8]], "int32"), 128, axis=1)
    assert_same(check(store_some(1, is_known), which).result, wanted)
    report = check(store_some(2, is_known), which, verdict="error")
    assert list_codes(report) == {"smem-source-reuse"}


@pytest.mark.parametrize("stores", (1, 0))
def test_a_store_without_a_group_of_its_own(stores):
    def body(which, out, room, waits):
        room[...] = jnp.full((128,), 7, jnp.int32)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out, predicate=which[0] == 1, commit_group=False)
        plgpu.commit_smem_to_gmem_group()
        if waits:
            plgpu.wait_smem_to_gmem(0)
        room[...] = jnp.full((128,), 3, jnp.int32)
        plgpu.wait_smem_to_gmem(0)
        pl.when(which[0] != 1)(lambda: out.__setitem__(..., room[...]))

    def make(waits):
        return kernel(lambda *refs: body(*refs, waits=waits), S((128,), jnp.int32),
                      scratch_types=[plgpu.SMEM((128,), jnp.int32)])

    which = numpy.full(1, stores, "int32")
    assert_same(check(make(True), which).result, numpy.full(128, 7 if stores else 3, "int32"))
    report = check(make(False), which, verdict="error" if stores else "clean")
    assert list_codes(report) == ({"smem-source-reuse"} if stores else set())


# ---- prefetches -----------------------------------------------------------------------------------------------------

@takes(plgpu.async_prefetch)
@pytest.mark.parametrize("predicate", (None, True, False))
def test_a_prefetch(predicate):
    def body(which, x, out):
        plgpu.async_prefetch(x, predicate=which[0] == 1 if predicate is None else predicate)
        out[...] = x[...]

    x, f = count(128), kernel(body, S((128,), jnp.float32))
    assert_same(check(f, numpy.ones(1, "int32"), x).result, x)
    text = grout.pallas.dump(f)(numpy.ones(1, "int32"), x)
    assert ("if " in text) == (predicate is None), text
    assert ("async_prefetch" in text) == (predicate is not False), text


# ---- commits --------------------------------------------------------------------------------------------------------

def multiply(last):
    """A product in two steps along k; the barrier hears of the step with this number."""
    def body(a, b, out, a_smem, b_smem, acc, full, done):
        plgpu.copy_gmem_to_smem(a, a_smem, full)
        plgpu.copy_gmem_to_smem(b, b_smem, full)
        plgpu.barrier_wait(full)

        def step(k, _):
            part = pl.ds(k * 64, 64)
            plgpu.tcgen05_mma(acc, a_smem.at[:, part], b_smem.at[part], accumulate=k > 0)
            plgpu.tcgen05_commit_arrive(done, predicate=k == last)

        lax.fori_loop(0, 2, step, None)
        plgpu.barrier_wait(done)
        out[...] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()

    operand = plgpu.SMEM((128, 128), jnp.float16,
                         transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)))
    return kernel(body, S((128, 128), jnp.float32), scratch_types=[
        operand, operand, plgpu.TMEM((128, 128), jnp.float32), plgpu.Barrier(num_arrivals=2),
        plgpu.Barrier(orders_tensor_core=True)])


@takes(plgpu.tcgen05_commit_arrive)
def test_a_commit():
    random = numpy.random.default_rng(2)
    a, b = (random.integers(-3, 4, (128, 128)).astype("float16") for _ in range(2))
    assert_same(check(multiply(1), a, b).result, a.astype("float32") @ b.astype("float32"))
    assert "accumulator-in-flight" in list_codes(check(multiply(0), a, b, verdict="error"))
    assert list_codes(check(multiply(5), a, b, verdict="error")) & {"deadlock"}
