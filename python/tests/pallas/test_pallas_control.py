# SPDX-License-Identifier: Apache-2.0
"""Control flow of Pallas kernels: branches, loops, calls, axes, what JAX does around a kernel."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, kernel

X = numpy.arange(64, dtype="int32")


def apply(step, *arrays, check=True):
    """step(scalars..) -> scalars, in a kernel for each row of the arrays, and what it gives outside."""
    types = jax.eval_shape(step, *[array[0] for array in arrays])
    leaves, _tree = jax.tree_util.tree_flatten(types)
    rows = len(arrays[0])

    def body(*references):
        for row in range(rows):
            results = jax.tree_util.tree_leaves(step(*[ref[row] for ref in references[:len(arrays)]]))
            for out, result in zip(references[len(arrays):], results):
                out[row] = result

    out_type = [S((rows, *leaf.shape), leaf.dtype) for leaf in leaves]
    function = kernel(body, out_type)
    report = grout.pallas.check(function)(*arrays)
    assert report.verdict == "clean", str(report)
    outside = jax.jit(step)
    wanted = [jax.tree_util.tree_leaves(outside(*row)) for row in zip(*arrays)]
    for number, got in enumerate(report.result):
        assert_same(got, numpy.stack([numpy.asarray(row[number]) for row in wanted]), str(number))
    return report


def test_cond():
    numbers = numpy.array([-3, 0, 4], "int32")
    apply(lambda x: (lax.cond(x > 0, lambda: x + 1, lambda: x - 1),
                     lax.cond(x > 0, lambda y: (y * 2, y.astype(jnp.float32)), lambda y: (y, jnp.float32(0.5)), x),
                     lax.cond(x, lambda: 1, lambda: 2),
                     lax.cond((x > 0) & (x < 9), lambda: jnp.full((32,), 3, jnp.int32),
                              lambda: jnp.arange(32, dtype=jnp.int32))), numbers)


def test_a_branch_whose_bool_is_a_number_elsewhere():
    def step(x):
        truth = (x > 0).astype(jnp.int32)
        return lax.cond(truth, lambda: x, lambda: -x) + truth, lax.switch(truth, [lambda: 5, lambda: 7, lambda: 9])
    apply(step, numpy.array([-3, 0, 4], "int32"))


def test_switch_clamps():
    numbers = numpy.array([-7, -1, 0, 1, 2, 3, 4, 100, -2**31, 2**31 - 1], "int32")
    apply(lambda x: (lax.switch(x, [lambda y=y: y * y for y in (1, 3, 5, 7)]),
                     lax.switch(x, [lambda: x, lambda: x * 2]), lax.switch(x, [lambda: x])), numbers)


def test_nested_branches():
    apply(lambda x: lax.cond(x > 0, lambda: lax.cond(x > 5, lambda: lax.switch(x - 6, [lambda: 1, lambda: 2,
                                                                                       lambda: x]),
                                                     lambda: -x), lambda: x * x),
          numpy.array([-1, 0, 3, 6, 7, 8], "int32"))


def test_fori_loops():
    def step(n):
        half = n // 2
        return (lax.fori_loop(0, n, lambda i, c: c + i, 0),
                lax.fori_loop(0, 5, lambda i, c: (c[0] + i, c[1] * 2.0), (n, jnp.float32(1))),
                lax.fori_loop(half, n, lambda i, c: c + jnp.arange(32, dtype=jnp.int32) * i, jnp.zeros(32, jnp.int32)),
                lax.fori_loop(n, half, lambda i, c: c + 100, 7),
                lax.fori_loop(0, 0, lambda i, c: c + 100, n),
                lax.fori_loop(0, 4, lambda i, c: c + i * n, 0, unroll=2),
                lax.fori_loop(0, 4, lambda i, c: c * i + n, 1, unroll=True),
                lax.fori_loop(0, 3, lambda i, c: lax.fori_loop(0, n, lambda j, d: d + i * j, c), 0),
                lax.fori_loop(-3, n, lambda i, c: c - i, 0),
                lax.fori_loop(0, n, lambda i, c: (c[1], c[0]), (n, half)))
    apply(step, numpy.array([0, 1, 2, 7], "int32"))


def test_scans():
    def step(x):
        return (lax.scan(lambda c, _: (c + 1, None), x, length=5)[0],
                lax.scan(lambda c, _: ((c[0] + 1, c[1] + c[0]), None), (jnp.int32(2), x), length=4)[0],
                lax.scan(lambda c, _: (c * 2, None), x.astype(jnp.float32), length=3, unroll=3)[0],
                lax.scan(lambda c, _: (c + 1, None), x, length=0)[0],
                lax.scan(lambda c, _: ((c[0] + 1, c[1] + 1), None), (jnp.int32(0), jnp.int32(5)), length=3)[0])
    apply(step, numpy.array([0, 3], "int32"))


def test_whiles():
    def collatz(x):
        return lax.while_loop(lambda c: c[0] != 1, lambda c: (jnp.where(c[0] % 2 == 0, c[0] // 2, 3 * c[0] + 1),
                                                              c[1] + 1), (x, 0))

    def halve(x):
        return lax.while_loop(lambda c: c[0] > 0.5, lambda c: (c[0] / 2, c[1] + jnp.ones(32, jnp.float32)),
                              (x.astype(jnp.float32), jnp.zeros(32, jnp.float32)))

    def bound_moves(x):  # the bound is a carry that changes
        return lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1] - 1), (0, x))

    def bound_stays(x):
        return lax.while_loop(lambda c: c[0] < c[1], lambda c: (c[0] + 1, c[1], c[2] * 2), (0, x, 1))

    def counts_and_more(x):
        return lax.while_loop(lambda c: c[0] < x, lambda c: (c[0] + 1, c[0]), (2, 0))

    def counts_by_two(x):
        return lax.while_loop(lambda c: c < x, lambda c: c + 2, 1)

    def never(x):
        return lax.while_loop(lambda c: c < -5, lambda c: c + 1, x)

    apply(lambda x: (collatz(x), halve(x), bound_moves(x), bound_stays(x), counts_and_more(x), counts_by_two(x),
                     never(x)),
          numpy.array([1, 2, 7], "int32"))


def test_loops_of_pallas():
    def body(x_ref, out, sums):
        @pl.loop(0, 8)
        def _(i):
            out[pl.ds(i * 8, 8)] = x_ref[pl.ds(i * 8, 8)] * i

        @pl.loop(2, 11, step=3, init_carry=jnp.int32(0))
        def total(i, carry):
            return carry + i
        sums[0] = total

        @pl.when(total > 3)
        def _():
            sums[1] = total * 2

    report = grout.pallas.check(kernel(body, (S((64,), jnp.int32), S((2,), jnp.int32))))(X)
    assert report.verdict == "clean", str(report)
    assert_same(report.result[0], X * (X // 8))
    assert report.result[1].tolist() == [15, 30]


def test_a_reference_in_a_closure():
    def body(x_ref, out):
        def turn(i, total):
            row = x_ref.at[pl.ds(i * 16, 16)]
            out[pl.ds(i * 16, 16)] = row[...] + total
            return total + row[0]
        lax.fori_loop(0, 4, turn, jnp.int32(0))

    report = grout.pallas.check(kernel(body, S((64,), jnp.int32)))(X)
    assert report.verdict == "clean", str(report)
    firsts = numpy.cumsum([0, 0, 16, 32])
    assert_same(report.result, X + numpy.repeat(firsts, 16).astype("int32"))


def test_axes():
    def body(out):
        i, j, k, t = (lax.axis_index(name) for name in ("i", "j", "cluster", "wg"))
        number = lax.axis_index(("i", "j"))
        out[i, j, k, t, 0] = i * 1000 + j * 100 + k * 10 + t
        out[i, j, k, t, 1] = number
        out[i, j, k, t, 2] = pl.program_id(0) + 10 * pl.program_id(1) + 100 * pl.program_id(2) + 1000 * pl.program_id(3)
        out[i, j, k, t, 3] = pl.num_programs(1) + 10 * lax.axis_size("i")

    f = kernel(body, S((2, 3, 2, 2, 4), jnp.int32), grid=(2, 3), grid_names=("i", "j"), cluster=(2,),
               cluster_names=("cluster",), num_threads=2, thread_name="wg")
    report = grout.pallas.check(f)()
    assert report.verdict == "clean", str(report)
    i, j, k, t = numpy.indices((2, 3, 2, 2))
    wanted = numpy.stack([i * 1000 + j * 100 + k * 10 + t, i * 3 + j, i + 10 * j + 100 * k + 1000 * t, 23 + i * 0], -1)
    assert_same(report.result, wanted.astype("int32"))


def test_nd_loop_and_planar_snake():
    def body(out, order):
        @plgpu.nd_loop((5, 3), collective_axes="cta")
        def _(loop_info):
            m, n = loop_info.index
            out[m, n] = lax.axis_index("cta") * 100 + loop_info.local_index

        @pl.when(lax.axis_index("cta") == 0)
        def _():
            @pl.loop(0, 15)
            def _(number):
                m, n = plgpu.planar_snake(number, (5, 3), 0, 2)
                order[number] = m * 10 + n

    f = kernel(body, (S((5, 3), jnp.int32), S((15,), jnp.int32)), grid=(2,), grid_names=("cta",))
    report = grout.pallas.check(f)()
    assert report.verdict == "clean", str(report)
    places = numpy.arange(15).reshape(5, 3)
    assert_same(report.result[0], (places % 2 * 100 + places // 2).astype("int32"))
    assert sorted(report.result[1].tolist()) == sorted(m * 10 + n for m in range(5) for n in range(3))
    assert report.result[1].tolist() == [int(m) * 10 + int(n) for m, n in
                                         (plgpu.planar_snake(jnp.int32(i), (5, 3), 0, 2) for i in range(15))]


# ---- around a kernel ------------------------------------------------------------------------------------------------

def add_one(x):
    def body(x_ref, out):
        out[...] = x_ref[...] + 1
    return kernel(body, S(x.shape, x.dtype))(x)


def times(x, y):
    def body(x_ref, y_ref, out):
        out[...] = x_ref[...] * y_ref[...]
    return kernel(body, S(x.shape, x.dtype))(x, y)


F = numpy.arange(32, dtype="float32")

AROUND = {
    "jit": (lambda x: jax.jit(add_one)(x), F + 1),
    "several": (lambda x: times(add_one(x), add_one(add_one(x))), (F + 1) * (F + 2)),
    "a loop": (lambda x: lax.fori_loop(0, 3, lambda i, c: add_one(c), x), F + 3),
    "a scan": (lambda x: lax.scan(lambda c, y: (add_one(c), times(c, y)), x, jnp.ones((3, 32)))[1][2], F + 2),
    "a branch": (lambda x: lax.cond(x[1] > 0, lambda: add_one(x), lambda: x), F + 1),
    "vmap": (lambda x: jax.vmap(add_one)(x.reshape(4, 8)).reshape(32), F + 1),
    "a jitted vmap": (lambda x: jax.jit(jax.vmap(add_one))(x.reshape(2, 16)).reshape(32), F + 1),
}


@pytest.mark.parametrize("name", AROUND)
def test_around_a_kernel(name):
    function, wanted = AROUND[name]
    report = grout.pallas.check(function)(F)
    assert report.verdict == "clean", str(report)
    assert_same(report.result, wanted)
    assert report.calls


def test_gradients_by_custom_vjp():
    @jax.custom_vjp
    def double(x):
        return times(x, jnp.full_like(x, 2))

    double.defvjp(lambda x: (double(x), x), lambda x, g: (times(g, jnp.full_like(x, 2)),))
    report = grout.pallas.check(jax.grad(lambda x: double(x).sum()))(F)
    assert report.verdict == "clean" and len(report.calls) == 2
    assert_same(report.result, numpy.full(32, 2, "float32"))
