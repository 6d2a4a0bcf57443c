# SPDX-License-Identifier: Apache-2.0
"""What Pallas kernels do with several threads, warps, CTAs and clusters: barriers, semaphores, pipelines."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, count, kernel, load

SMEM, Barrier, F32 = plgpu.SMEM, plgpu.Barrier, jnp.float32
TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


THREADS = {"num_threads": 2, "thread_name": "wg"}


def test_barriers_of_several_dimensions():
    def body(x_ref, out, rooms, barriers):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            for i in range(2):
                for j in range(3):
                    rooms[i, j] = x_ref[i, j]
                    plgpu.barrier_arrive(barriers.at[i, j])

        @pl.when(wg == 1)
        def _():
            @pl.loop(0, 2)
            def _(i):
                @pl.loop(0, 3)
                def _(j):
                    plgpu.barrier_wait(barriers.at[i].at[j])
                    out[i, j] = rooms[i, j]

    x = count(2, 3, 64)
    f = kernel(body, S(x.shape, F32), scratch_types=[SMEM((2, 3, 64), F32), Barrier(num_barriers=(2, 3))], **THREADS)
    assert_same(check(f, x).result, x)


def test_arrivals_and_an_array_of_one_barrier():
    def body(x_ref, out, room, barrier):
        wg = lax.axis_index("wg")
        room[wg] = x_ref[wg]
        plgpu.barrier_arrive(barrier)
        plgpu.barrier_wait(barrier)
        out[wg] = room[(wg + 1) % 3]
        plgpu.barrier_arrive(barrier)
        plgpu.barrier_wait(barrier)

    x = count(3, 64)
    f = kernel(body, S(x.shape, F32), scratch_types=[SMEM((3, 64), F32), Barrier(num_arrivals=3)], num_threads=3,
               thread_name="wg")
    assert_same(check(f, x).result, numpy.roll(x, -1, 0))


def test_a_test_of_a_barrier():
    def body(x_ref, out, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)

        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            turns = lax.while_loop(lambda turns: jnp.logical_not(plgpu.barrier_test(barrier)), lambda turns: turns + 1,
                                   0)

            @pl.when(turns >= 0)
            def _():
                plgpu.copy_smem_to_gmem(room, out, predicate=lax.axis_index("warp") == 0)
                plgpu.wait_smem_to_gmem(0)

    assert_same(check(kernel(body, S((64,), F32), scratch_types=[SMEM((64,), F32), Barrier()]), count(64)).result,
                count(64))


def test_warps():
    def body(x_ref, out, rooms, barriers):
        @pl.core_map(plgpu.WarpMesh(axis_name="warp"))
        def _():
            warp = lax.axis_index("warp")

            @pl.when(warp < 3)
            def _():
                plgpu.copy_gmem_to_smem(x_ref.at[warp], rooms.at[warp], barriers.at[warp])

        for number in range(3):
            plgpu.barrier_wait(barriers.at[number])
            out[number] = rooms[number]

    x = count(3, 64)
    f = kernel(body, S((3, 64), F32), scratch_types=[SMEM((3, 64), F32), Barrier(num_barriers=3)])
    assert_same(check(f, x).result, x)


def test_registers_and_small_things(capfd):
    def body(x_ref, out):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            plgpu.set_max_registers(40, action="decrease")
            pl.debug_print("zero {} of {{}} \"{}\"", wg, 7)

        @pl.when(wg == 1)
        def _():
            plgpu.set_max_registers(232, action="decrease")
            pl.delay(100)
            start = pl.multiple_of(wg * 32, 32)
            out[pl.ds(start, 32)] = x_ref[pl.ds(start, 32)]
            out[pl.ds(0, 32)] = x_ref[pl.ds(0, 32)]
            plgpu.print_layout("x has {}", x_ref[pl.ds(0, 32)])

    f = kernel(body, S((64,), F32), **THREADS)
    report = check(f, count(64))
    assert_same(report.result, count(64))
    assert any("print_layout" in note for note in report.notes)
    assert "zero 0 of () \"7\"" in capfd.readouterr().out


def test_prints_of_arrays(capfd):
    def body(x_ref, out):
        pl.debug_print("rows", x_ref[...])
        pl.debug_print("done")
        out[...] = x_ref[...]

    check(kernel(body, S((4,), jnp.int32)), count(4, dtype="int32"))
    text = capfd.readouterr().out
    assert "rows" in text and "3" in text and "done" in text


def test_debug_checks():
    def body(x_ref, out):
        pl.debug_check(x_ref[0] > 5, "the {first} is\n \"small\"")
        out[...] = x_ref[...]

    f = kernel(body, S((64,), F32))
    assert check(f, count(64)).verdict == "clean"  # JAX leaves them out unless they are asked for
    with pl.enable_debug_checks():
        report = check(f, count(64), verdict="error")
        assert [finding.code for finding in report.findings] == ["debug-check-failed"]
        assert "the (first) is" in str(report)
        check(f, count(64) + 9)


# ---- clusters -------------------------------------------------------------------------------------------------------

PAIR = {"cluster": (2,), "cluster_names": ("c",)}


def test_collective_copies():
    def body(x_ref, out, room, barrier, both):
        own = lax.axis_index("c")
        plgpu.copy_gmem_to_smem(x_ref.at[lax.axis_index("i")], room, barrier, collective_axes="c")
        plgpu.barrier_wait(barrier)
        out[lax.axis_index("i"), own] = room[...] + own
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)

    x = count(3, 2, 64)
    f = kernel(body, S((3, 2, 2, 64), F32), grid=(3,), grid_names=("i",), scratch_types=[
        SMEM((2, 64), F32), Barrier(), plgpu.ClusterBarrier(collective_axes=("c",))], **PAIR)
    assert_same(check(f, x).result, numpy.stack([x, x + 1], 1))


def test_collective_copies_along_one_axis_of_two():
    def body(x_ref, out, room, barrier, both):
        a, b = lax.axis_index("a"), lax.axis_index("b")
        plgpu.copy_gmem_to_smem(x_ref.at[a], room, barrier, collective_axes="b")
        plgpu.barrier_wait(barrier)
        out[a, b] = room[...]
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)

    x = count(2, 2, 64)
    f = kernel(body, S((2, 2, 2, 64), F32), cluster=(2, 2), cluster_names=("a", "b"), scratch_types=[
        SMEM((2, 64), F32), Barrier(), plgpu.ClusterBarrier(collective_axes=(("a", "b"),))])
    assert_same(check(f, x).result, numpy.stack([x, x], 1))


def test_memory_of_another_cta():
    if not hasattr(plgpu, "cluster_ref"):
        pytest.skip("this JAX has no cluster_ref")

    def body(x_ref, out, room, both):
        own = lax.axis_index("c")
        room[...] = x_ref[own]
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        out[own] = plgpu.cluster_ref(room, {"c": 1 - own})[...]
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)

    x = count(2, 64)
    f = kernel(body, S((2, 64), F32), scratch_types=[SMEM((64,), F32), plgpu.ClusterBarrier(collective_axes=("c",))],
               **PAIR)
    assert_same(check(f, x).result, x[::-1])


def test_async_stores():
    """JAX' own test_cluster_ref_write: nothing but the sender's arrival and its bytes complete the phase."""
    def body(x_ref, out, room, full):
        own = lax.axis_index("c")
        value = load(x_ref.at[own], layout=plgpu.Layout.WGMMA, optimized=False)
        plgpu.async_store_smem(value, room, full, cluster_idx=1 - own, cluster_dim="c")
        plgpu.barrier_wait(full)
        out[own] = load(room, layout=plgpu.Layout.WGMMA)

    x = count(2, 64, 32)
    f = kernel(body, S(x.shape, F32), scratch_types=[SMEM((64, 32), F32, transforms=(plgpu.TilingTransform(
        (8, 32)), plgpu.SwizzleTransform(128))), Barrier()], **PAIR)
    assert_same(check(f, x).result, x[::-1])


@pytest.mark.parametrize("atomic", ["add", "max", "xor"])
def test_async_stores_that_combine(atomic):
    """As JAX' own test_cluster_ref_write_atomic."""
    def body(x_ref, init_ref, out, room, both, filled, full):
        own = lax.axis_index("c")
        plgpu.copy_gmem_to_smem(init_ref.at[own], room, filled)
        plgpu.barrier_wait(filled)
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        plgpu.async_store_smem(x_ref[own], room, full, cluster_idx=1 - own, cluster_dim="c", atomic=atomic)
        plgpu.barrier_wait(full)
        out[own] = room[...]

    x = count(2, 128, dtype="int32")
    first = numpy.full((2, 128), 10, "int32")
    f = kernel(body, S(x.shape, jnp.int32), scratch_types=[SMEM((128,), jnp.int32), plgpu.ClusterBarrier(
        collective_axes=("c",)), Barrier(), Barrier()], **PAIR)
    combine = {"add": numpy.add, "max": numpy.maximum, "xor": numpy.bitwise_xor}[atomic]
    assert_same(check(f, x, first).result, combine(x[::-1], first))


def test_async_stores_in_rounds():
    """Along one of two axes, from two threads, into barriers of an array; the reply is such a store, too."""
    def body(x_ref, out, rooms, reply, full, free):
        a, b, wg = lax.axis_index("a"), lax.axis_index("b"), lax.axis_index("wg")
        half = pl.ds(wg * 64, 64)

        @pl.loop(0, 3)
        def _(i):
            plgpu.async_store_smem(x_ref[a, b, i, half], rooms.at[half], full.at[0, 1], cluster_idx=(b + 1) % 2,
                                   cluster_dim="b")
            plgpu.barrier_wait(full.at[0, 1])
            out[a, b, i, half] = rooms[half]
            plgpu.async_store_smem(jnp.full((32,), i, jnp.int32), reply.at[wg], free, cluster_idx=(b + 1) % 2,
                                   cluster_dim="b")
            plgpu.barrier_wait(free)

    x = count(2, 2, 3, 128)
    f = kernel(body, S(x.shape, F32), cluster=(2, 2), cluster_names=("a", "b"), scratch_types=[
        SMEM((128,), F32), SMEM((2, 32), jnp.int32), Barrier(num_arrivals=2, num_barriers=(1, 2)),
        Barrier(num_arrivals=2)], **THREADS)
    assert_same(check(f, x).result, x[:, ::-1])


def test_async_stores_of_scalars_and_along_other_axes_are_refused():
    def body(x_ref, out, room, full):
        value = x_ref[0] if scalar else x_ref[...]
        plgpu.async_store_smem(value, room.at[0] if scalar else room, full, cluster_idx=1, cluster_dim="d")
        plgpu.barrier_wait(full)
        out[...] = room[...]

    for scalar, why in (True, "a scalar"), (False, "cluster_dim='d' is not an axis of the cluster"):  # noqa: B007  (body reads it)
        f = kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32), Barrier()], **PAIR)
        with pytest.raises(grout.pallas.UnsupportedError, match=why) as caught:
            grout.pallas.check(f)(count(128))
        assert caught.value.primitive == "async_store_smem"


def test_cluster_barriers_in_groups():
    def body(out, by_axis, grouped):
        a, b = lax.axis_index("a"), lax.axis_index("b")
        out[a, b] = a * 2 + b
        plgpu.barrier_arrive(by_axis)
        plgpu.barrier_wait(by_axis)
        plgpu.barrier_arrive(grouped.at[1])
        plgpu.barrier_wait(grouped.at[1])

    f = kernel(body, S((2, 2), jnp.int32), cluster=(2, 2), cluster_names=("a", "b"), scratch_types=[
        plgpu.ClusterBarrier(collective_axes=("a", "b")),
        plgpu.ClusterBarrier(collective_axes=(("a", "b"),), num_barriers=2)])
    assert_same(check(f).result, count(2, 2, dtype="int32"))


# ---- semaphores -----------------------------------------------------------------------------------------------------

def test_semaphores_of_the_launch():
    def body(x_ref, out, total):
        first, done = pl.get_global(plgpu.SemaphoreType.REGULAR), pl.get_global(plgpu.SemaphoreType.REGULAR)
        here = lax.axis_index("i")

        @pl.when(here == 0)
        def _():
            out[0] = x_ref[0] + 1
            pl.semaphore_signal(first, 2)

        @pl.when(here > 0)
        def _():
            pl.semaphore_wait(first, 1)
            out[here] = out[0] + here
            pl.semaphore_signal(done)

        @pl.when(here == 0)
        def _():
            pl.semaphore_wait(done, 2)
            total[0] = pl.semaphore_read(first)

    x = count(3, 64)
    f = kernel(body, (S((3, 64), F32), S((1,), jnp.int32)), grid=(3,), grid_names=("i",))
    report = check(f, x)
    assert_same(report.result[0], numpy.stack([x[0] + 1 + i for i in range(3)]).astype("float32"))


def test_signals_together_are_refused():
    def body(out):
        one = pl.get_global(plgpu.SemaphoreType.REGULAR)
        plgpu.semaphore_signal_parallel(plgpu.SemaphoreSignal(one, device_id=0, inc=1))
        out[0] = 1
    with pytest.raises(grout.pallas.UnsupportedError, match="one device"):
        grout.pallas.check(kernel(body, S((1,), jnp.int32)))()


def test_dependent_launches():
    def body(x_ref, out):
        plgpu.griddepcontrol_launch_dependents()
        plgpu.griddepcontrol_wait()
        out[...] = x_ref[...]
    assert_same(check(kernel(body, S((64,), F32)), count(64)).result, count(64))


def test_semaphores_of_several_dimensions_kept_at_their_value():
    def body(out, marks):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            out[0] = 3
            pl.semaphore_signal(marks.at[1, 2])

        @pl.when(wg == 1)
        def _():
            pl.semaphore_wait(marks.at[1].at[2], decrement=False)
            out[1] = out[0] + pl.semaphore_read(marks.at[1, 2])
            pl.semaphore_wait(marks.at[1, 2])

    f = kernel(body, S((2,), jnp.int32), scratch_types=[plgpu.SemaphoreType.REGULAR((2, 3))], **THREADS)
    assert check(f).result.tolist() == [3, 4]


# ---- pipelines ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("steps, delay", ((1, 0), (2, 0), (3, 1)))
def test_emit_pipeline(steps, delay):
    def body(x_ref, out):
        def step(indices, x, y):
            y[...] = x[...] + indices[0].astype(F32)
            if delay:
                plgpu.commit_smem()

        spec = plgpu.BlockSpec((64,), lambda i: (i,), delay_release=delay)
        plgpu.emit_pipeline(step, grid=(6,), in_specs=[spec], out_specs=[plgpu.BlockSpec((64,), lambda i: (i,))],
                            max_concurrent_steps=steps)(x_ref, out)

    x = count(6 * 64)
    report = grout.pallas.check(kernel(body, S(x.shape, F32)))(x)
    assert_same(report.result, x + numpy.repeat(numpy.arange(6, dtype="float32"), 64))


def test_a_pipeline_with_a_carry():
    def body(x_ref, out, total):
        def step(indices, x, y, carry):
            y[...] = x[...] * 2
            return carry + x[0]

        last = plgpu.emit_pipeline(step, grid=(2, 3), in_specs=[plgpu.BlockSpec((1, 64), lambda i, j: (i, j))],
                                   out_specs=[plgpu.BlockSpec((1, 64), lambda i, j: (i, j))], max_concurrent_steps=2,
                                   init_carry=jnp.zeros(64, F32))(x_ref, out)
        total[...] = last

    x = count(2, 192)
    report = grout.pallas.check(kernel(body, (S(x.shape, F32), S((64,), F32))))(x)
    assert_same(report.result[0], x * 2)
    assert_same(report.result[1], x.reshape(6, 64).sum(0))


@pytest.mark.parametrize("manual", (False, True))
def test_a_warp_specialised_pipeline(manual):
    def body(x_ref, y_ref, out, room):
        wg = lax.axis_index("wg")

        def step(indices, x, y, *consumed):
            room[wg] = x[...] + y[...]
            plgpu.commit_smem()
            for barrier in consumed:
                plgpu.barrier_arrive(barrier)
            part = pl.ds(pl.multiple_of(indices[0] * 64, 64), 64)
            plgpu.copy_smem_to_gmem(room.at[wg], out.at[wg, part])
            plgpu.wait_smem_to_gmem(0)

        plgpu.emit_pipeline_warp_specialized(
            step, grid=(4,), in_specs=[plgpu.BlockSpec((64,), lambda i: (i,)), plgpu.BlockSpec((64,), lambda i: (i,))],
            max_concurrent_steps=2, num_compute_wgs=2, memory_registers=40, wg_axis="wg",
            manual_consumed_barriers=manual)(x_ref, y_ref)

    x, y = count(256), count(256)[::-1].copy()
    f = kernel(body, S((2, 256), F32), scratch_types=[SMEM((2, 64), F32)], num_threads=3, thread_name="wg")
    report = grout.pallas.check(f)(x, y)
    assert report.verdict in ("clean", "warning"), str(report)
    assert_same(report.result, numpy.stack([x + y, x + y]))


def test_a_warp_specialised_pipeline_with_a_carry():
    def body(x_ref, out):
        wg = lax.axis_index("wg")

        def compute(pipeline):
            out[wg] = pipeline(jnp.zeros(64, F32))

        def step(indices, x, carry):
            value = carry + x[...] * (indices[0] + 1).astype(F32)
            plgpu.commit_smem()
            return value

        plgpu.emit_pipeline_warp_specialized(
            step, grid=(4,), in_specs=[plgpu.BlockSpec((64,), lambda i: (i,))], max_concurrent_steps=2,
            num_compute_wgs=2, memory_registers=40, wg_axis="wg", compute_context=compute)(x_ref)

    x = count(256)
    f = kernel(body, S((2, 64), F32), num_threads=3, thread_name="wg")
    report = grout.pallas.check(f)(x)
    wanted = (x.reshape(4, 64) * numpy.arange(1, 5, dtype="float32")[:, None]).sum(0)
    assert_same(report.result, numpy.stack([wanted, wanted]))
    assert report.verdict in ("clean", "warning"), str(report)


@pytest.mark.skipif(not jax.__version__.startswith("0.10"), reason="this JAX has no pallas_call for Mosaic GPU")
def test_pallas_call():
    def body(x, y, out):
        out[...] = x[...] * 2 + y[...] + pl.program_id(0).astype(F32)

    def matmul(a, b, out, acc):
        @pl.when(pl.program_id(2) == 0)
        def _():
            acc[...] = jnp.zeros_like(acc)
        plgpu.wgmma(acc, a, b)

        @pl.when(pl.program_id(2) == pl.num_programs(2) - 1)
        def _():
            out[...] = acc[...].astype(jnp.float16)

    x, y = count(4, 128), count(4, 128)[::-1].copy()
    spec = pl.BlockSpec((1, 128), lambda i: (i, 0))
    f = pl.pallas_call(body, grid=(4,), in_specs=[spec, spec], out_specs=spec, out_shape=S((4, 128), F32),
                       compiler_params=plgpu.CompilerParams())
    assert_same(check(f, x, y).result, x * 2 + y + numpy.arange(4, dtype="float32")[:, None])
    a, b = (numpy.random.default_rng(n).integers(-3, 4, (128, 128)).astype("float16") for n in range(2))
    f = pl.pallas_call(
        matmul, grid=(2, 2, 2), out_shape=S((128, 128), jnp.float16),
        in_specs=[plgpu.BlockSpec((64, 64), lambda i, j, k: (i, k), transforms=TILES),
                  plgpu.BlockSpec((64, 64), lambda i, j, k: (k, j), transforms=TILES)],
        out_specs=plgpu.BlockSpec((64, 64), lambda i, j, k: (i, j), transforms=TILES),
        scratch_shapes=[plgpu.ACC((64, 64), F32)],
        compiler_params=plgpu.CompilerParams(dimension_semantics=["parallel", "parallel", "sequential"],
                                             max_concurrent_steps=2))
    report = grout.pallas.check(f)(a, b)
    assert_same(report.result, (a.astype("f4") @ b.astype("f4")).astype("float16"))


def test_lanes_without_barriers_are_not_called_clean():
    def body(x_ref, out, room):
        room[...] = x_ref[...]
        out[...] = room[...]
    f = kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)],
               compiler_params=plgpu.CompilerParams(unsafe_no_auto_barriers=True))
    report = check(f, count(128), verdict="incomplete")
    assert "incomplete: unsafe_no_auto_barriers=True" in str(report) and report.gaps


@pytest.mark.skipif(not jax.__version__.startswith("0.10"), reason="JAX 0.10 has a pallas_call for Mosaic GPU")
def test_pallas_call_that_writes_its_input():
    """The loop around the body has no effects for JAX, and gives nothing: it is kept all the same."""
    def body(a_ref, b_ref):
        del b_ref
        a_ref[...] = jnp.ones_like(a_ref)

    spec, a = plgpu.BlockSpec(memory_space=plgpu.GMEM), numpy.zeros((64, 64), "float32")
    f = pl.pallas_call(body, in_specs=[spec], out_specs=spec, input_output_aliases={0: 0},
                       out_shape=S((64, 64), jnp.float32), compiler_params=plgpu.CompilerParams())
    assert_same(check(f, a).result, numpy.ones((64, 64), "float32"))
