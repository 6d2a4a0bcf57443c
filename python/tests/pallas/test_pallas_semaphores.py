# SPDX-License-Identifier: Apache-2.0
"""plgpu.alloc_semaphore, which JAX has since 0.12: semaphores from outside, which live from one kernel to the next."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout
import grout.pallas
from pallas_tools import S, check, count, kernel

pytestmark = pytest.mark.skipif(not hasattr(plgpu, "alloc_semaphore"), reason="JAX 0.12")


def give(units, place=0):
    """A kernel that adds units to one."""
    return kernel(lambda sem, out: (pl.semaphore_signal(sem.at[place], units), out.__setitem__(0, units)),
                  S((1,), jnp.int32))


def take(units, place=0, **options):
    """A kernel that waits for units of one, and says how many are left."""
    def body(sem, out):
        pl.semaphore_wait(sem.at[place], units, **options)
        out[0] = pl.semaphore_read(sem.at[place])

    return kernel(body, S((1,), jnp.int32))


def test_units_stay_from_kernel_to_kernel():
    @jax.jit
    def f():
        sem = plgpu.alloc_semaphore((3,))
        other = plgpu.alloc_semaphore((3,))
        give(5, 2)(sem)
        give(1)(other)
        first = take(2, 2)(sem)
        return first, take(3, 2, decrement=False)(sem), take(3, 2)(sem), take(1)(other)

    for _ in range(3):  # each time from zero
        report = check(f)
        assert [int(left[0]) for left in report.result] == [3, 3, 0, 0]
    assert len(report.reports) == 6


@pytest.mark.parametrize("units, is_kept", ((2, False), (3, True)))
def test_units_that_never_come(units, is_kept):
    @jax.jit
    def f():
        sem = plgpu.alloc_semaphore((1,))
        give(1)(sem)
        return take(units, decrement=not is_kept)(sem)

    report = check(f, verdict="error")
    assert [finding.code for finding in report.findings] == ["deadlock"]


def test_in_a_loop():
    """Every turn has a kernel of its own."""
    @jax.jit
    def f():
        sem = plgpu.alloc_semaphore((2,))
        return lax.fori_loop(0, 4, lambda i, total: total + give(3)(sem) + take(2)(sem), jnp.zeros(1, jnp.int32)), \
            take(4)(sem)

    total, left = check(f).result
    assert int(total[0]) == 4 * 3 + 1 + 2 + 3 + 4 and int(left[0]) == 0


def test_one_alone():
    @jax.jit
    def f():
        sem = plgpu.alloc_semaphore()

        def body(sem, out):
            plgpu.semaphore_signal(sem, 4, memory_scope="gpu")
            plgpu.semaphore_wait(sem, 3, memory_scope="gpu")
            out[0] = pl.semaphore_read(sem)

        return kernel(body, S((1,), jnp.int32))(sem)

    assert int(check(f).result[0]) == 1


def hand_over(waits):
    """The CTAs of a launch hand their part to the first one. waits: whether it waits for theirs."""
    def body(sem, x, parts, total):
        me = lax.axis_index("cta")
        parts[me] = x[me] * 2
        pl.when(me != 0)(lambda: pl.semaphore_signal(sem.at[0]))

        @pl.when(me == 0)
        def _():
            if waits:
                pl.semaphore_wait(sem.at[0], 3)
            for number in range(4):
                total[number] = parts[number]

    @jax.jit
    def f(x):
        sem = plgpu.alloc_semaphore((1,))
        return kernel(body, [S((4, 128), jnp.float32)] * 2, grid=(4,), grid_names=("cta",))(sem, x)[1]
    return f


def test_what_was_done_before_a_signal():
    x = count(4, 128)
    assert numpy.array_equal(check(hand_over(True), x).result, 2 * x)
    report = check(hand_over(False), x, verdict="error")
    assert "gmem-race" in {finding.code for finding in report.findings}


def test_a_text_of_it():
    x = S((4, 128), jnp.float32)
    text = grout.pallas.dump(hand_over(True))(x)
    assert "%sem: inout gmem i32[1]" in text and "atomic_cas" in text and "order(release)" in text
    grout.load(text)


def test_semaphores_of_another_session():
    with grout.pallas.interpret() as session:
        numbers = session.held.make((2,))
        assert numpy.array_equal(session.held.find(numbers), [0, 0])
    with pytest.raises(grout.GroutError, match="not made in this session"):
        with grout.pallas.interpret() as session:
            session.held.find(numpy.zeros(2, "int32"))


def test_warps_that_take_units():
    """Regions of warps are no kernels of their own, which JAX' checks see."""
    def body(sem, out):
        pl.semaphore_signal(sem.at[0], 2)

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            pl.when(lax.axis_index("warp") < 2)(lambda: pl.semaphore_wait(sem.at[0], 1))

        out[0] = pl.semaphore_read(sem.at[0])

    with jax.enable_checks(True):
        report = check(jax.jit(lambda: kernel(body, S((1,), jnp.int32))(plgpu.alloc_semaphore((1,)))))
    assert int(report.result[0]) == 0
