# SPDX-License-Identifier: Apache-2.0
"""What Pallas kernels do with memory: loads, stores, TMA, atomics, unions, scopes, accumulators."""
import functools

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, count, kernel, load

SMEM, Barrier = plgpu.SMEM, plgpu.Barrier
TILES = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))
F32 = jnp.float32


def test_indices_of_loads_and_stores():
    x = count(4, 8, 16, dtype="int32")

    def body(x_ref, out, total, room):
        i = x_ref[0, 0, 2]  # 2, known when it runs
        out[...] = jnp.zeros((4, 8, 16), jnp.int32)
        out[i, pl.ds(i + 2, 4), 3:7] = x_ref[i, pl.ds(i, 4), pl.ds(i * 3, 4)]
        out[0, 1:3] = x_ref[1, 0:2] + 1
        out[3, 7, 15] = x_ref[3, 7, 14]
        row = x_ref.at[1].at[pl.ds(2, 3)]
        out.at[1, 2:5][...] = row.at[:, 0:16][...]
        out[2, 0] += 5
        room[...] = x_ref[3]
        total[...] = room.reshape(128)[pl.ds(64, 64)]

    wanted = numpy.zeros_like(x)
    wanted[2, 4:8, 3:7] = x[2, 2:6, 6:10]
    wanted[0, 1:3] = x[1, 0:2] + 1
    wanted[3, 7, 15] = x[3, 7, 14]
    wanted[1, 2:5] = x[1, 2:5]
    wanted[2, 0] += 5
    report = check(kernel(body, (S(x.shape, jnp.int32), S((64,), jnp.int32)), scratch_types=[
        SMEM((8, 16), jnp.int32)]), x)
    assert_same(report.result[0], wanted)
    assert_same(report.result[1], x[3].reshape(128)[64:])


def test_scalar_references():
    def body(x_ref, out, cell):
        cell[...] = x_ref[...] * 2
        out[...] = cell[...] + 1

    report = check(kernel(body, S((), jnp.int32), scratch_types=[SMEM((), jnp.int32)]), numpy.int32(20))
    assert report.result.shape == () and report.result == 41


def test_swap_gives_what_was_there():
    def body(x_ref, out, room):
        room[...] = x_ref[...]
        out[0] = jax.ref.swap(room, slice(None), jnp.zeros(64, F32))
        out[1] = room[...]

    x = count(64)
    assert_same(check(kernel(body, S((2, 64), F32), scratch_types=[SMEM((64,), F32)]), x).result,
                numpy.stack([x, 0 * x]))


def tma(body, out, x, scratch, **options):
    """A kernel that loads x, and what it gives."""
    return check(kernel(body, out, scratch_types=scratch, **options), x).result


def test_tma_of_slices():
    def body(x_ref, out, room, barrier):
        column = lax.axis_index("i") * 32
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(64, 64), pl.ds(column, 32)], room, barrier)
        plgpu.barrier_wait(barrier)
        room[...] += 1
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room.at[pl.ds(0, 32)], out.at[pl.ds(32, 32), pl.ds(column, 32)])
        plgpu.copy_smem_to_gmem(room.at[pl.ds(32, 32)], out.at[pl.ds(0, 32), pl.ds(column, 32)])
        plgpu.wait_smem_to_gmem(0)

    x = count(128, 64)
    got = tma(body, S((64, 64), F32), x, [SMEM((64, 32), F32), Barrier()], grid=(2,), grid_names=("i",))
    assert_same(got, numpy.concatenate([x[96:], x[64:96]]) + 1)


@pytest.mark.parametrize("transforms", ((), TILES, (plgpu.TilingTransform((8, 32)),),
                                        (plgpu.TilingTransform((8, 16)), plgpu.SwizzleTransform(64)),
                                        (plgpu.TilingTransform((8, 8)), plgpu.SwizzleTransform(32))), ids=str)
def test_tiles_and_swizzles(transforms):
    def body(x_ref, out, back, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        plgpu.barrier_wait(barrier)
        out[...] = room[...]
        room[...] = room[...] * 2
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, back)
        plgpu.wait_smem_to_gmem(0)

    x = count(64, 64)
    out, back = tma(body, (S((64, 64), F32),) * 2, x, [SMEM((64, 64), F32, transforms=transforms), Barrier()])
    assert_same(out, x)
    assert_same(back, x * 2)


def test_tma_of_a_transposed_reference():
    def body(x_ref, out, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        plgpu.barrier_wait(barrier)
        out[...] = room.at[...].T[...]

    x = count(32, 64)
    assert_same(tma(body, S((64, 32), F32), x, [SMEM((32, 64), F32), Barrier()]), x.T)


def test_arrays_in_slots():
    def body(x_ref, out, rooms, barriers):
        for slot in range(3):
            plgpu.copy_gmem_to_smem(x_ref.at[slot], rooms.at[slot], barriers.at[slot])

        @pl.loop(0, 3)
        def _(slot):
            plgpu.barrier_wait(barriers.at[slot])
            out[slot] = rooms[slot] + slot

    x = count(3, 16, 32)
    got = tma(body, S((3, 16, 32), F32), x, [SMEM((3, 16, 32), F32, transforms=TILES), Barrier(num_barriers=3)])
    assert_same(got, x + numpy.arange(3, dtype="float32")[:, None, None])


@pytest.mark.parametrize("mode", ("ZEROS", "UNDEFINED", "PROMISE_IN_BOUNDS"))
def test_out_of_bounds_modes(mode):
    start = 96 if mode == "ZEROS" else 64

    def body(x_ref, out, room, barrier):
        start = 64 + (lax.axis_index("i") + 1) * 32 * (mode == "ZEROS")
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(start, 64)], room, barrier, oob_mode=plgpu.OOBFillMode[mode])
        plgpu.barrier_wait(barrier)
        out[...] = room[...]

    x = count(128)
    assert_same(tma(body, S((64,), F32), x, [SMEM((64,), F32), Barrier()], grid=(1,), grid_names=("i",)),
                numpy.concatenate([x[start:], numpy.zeros(start - 64, "float32")]))


def test_a_predicate_of_a_store():
    def body(x_ref, out, room, barrier):
        here = lax.axis_index("i")
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(room, out.at[here], predicate=here >= 0)
        plgpu.copy_smem_to_gmem(room, out.at[1 - here], predicate=here > 5)
        plgpu.wait_smem_to_gmem(0)

    x = count(64)
    assert_same(tma(body, S((2, 64), F32), x, [SMEM((64,), F32), Barrier()], grid=(2,), grid_names=("i",)),
                numpy.stack([x, x]))


@pytest.mark.parametrize("reduction, dtype", (("add", "int32"), ("max", "int32"), ("min", "int32"), ("add", "float32")))
def test_reductions_of_stores(reduction, dtype):
    def body(x_ref, out_ref, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref.at[lax.axis_index("i")], room, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(room, out_ref, reduction_op={"max": "smax", "min": "smin"}.get(reduction, reduction))
        plgpu.wait_smem_to_gmem(0)

    def function(x, start):
        ref = jax.new_ref(start)
        kernel(lambda x_ref, o, *rest: body(x_ref, o, *rest), (), grid=(3,), grid_names=("i",), scratch_types=[
            SMEM((64,), dtype), Barrier()])(x, ref)
        return ref[...]

    x = numpy.random.default_rng(0).integers(-9, 9, (3, 64)).astype(dtype)
    start = numpy.full(64, 2, dtype)
    fold = {"add": numpy.add, "max": numpy.maximum, "min": numpy.minimum}[reduction]
    assert_same(check(function, x, start).result, functools.reduce(fold, [*x, start]))


def test_groups_of_stores_and_a_prefetch():
    def body(x_ref, out, room, barrier):
        plgpu.async_prefetch(x_ref.at[pl.ds(0, 2)])
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(room.at[0], out.at[0], commit_group=False)
        plgpu.copy_smem_to_gmem(room.at[1], out.at[1], commit_group=False)
        plgpu.commit_smem_to_gmem_group()
        plgpu.copy_smem_to_gmem(room.at[2], out.at[2])
        plgpu.wait_smem_to_gmem(1, wait_read_only=True)
        plgpu.wait_smem_to_gmem(0)

    x = count(3, 64)
    assert_same(tma(body, S((3, 64), F32), x, [SMEM((3, 64), F32), Barrier()]), x)
    f = kernel(body, S((3, 64), F32), scratch_types=[SMEM((3, 64), F32), Barrier()])
    assert "async_prefetch" in grout.pallas.dump(f)(x)


def test_additions_to_references():
    def body(x_ref, out, room):
        room[...] = x_ref[...]
        jax.ref.addupdate(room, slice(None), x_ref[...] * 2)
        jax.ref.addupdate(room, pl.ds(0, 8), jnp.ones(8, F32))
        out[...] = room[...]
        jax.ref.addupdate(out, 5, jnp.float32(100))

    wanted = count(64) * 3
    wanted[:8] += 1
    wanted[5] += 100
    assert_same(check(kernel(body, S((64,), F32), scratch_types=[SMEM((64,), F32)]), count(64)).result, wanted)


def test_loads_with_layouts():
    def body(x_ref, out, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        plgpu.barrier_wait(barrier)
        out[0] = load(room, layout=plgpu.Layout.WGMMA)
        out[1] = load(x_ref, layout=plgpu.Layout.WGMMA, optimized=False)

    x = count(64, 32)
    assert_same(tma(body, S((2, 64, 32), F32), x, [SMEM((64, 32), F32, transforms=TILES), Barrier()]),
                numpy.stack([x, x]))


@pytest.mark.parametrize("name", ("add", "max", "min", "and", "or", "xor"))
def test_atomics(name):
    atomic = getattr(plgpu, f"atomic_{name}", None)
    if atomic is None:
        pytest.skip("this JAX has none")

    def body(x_ref, ref, room):
        room[...] = x_ref[0]
        atomic(ref, x_ref[lax.axis_index("i")])
        atomic(room.at[pl.ds(0, 8)], x_ref[1, pl.ds(0, 8)])
        atomic(ref.at[pl.ds(0, 32)], room[pl.ds(0, 32)])

    def function(x, start):
        ref = jax.new_ref(start)
        kernel(body, (), grid=(3,), grid_names=("i",), scratch_types=[SMEM((64,), jnp.int32)])(x, ref)
        return ref[...]

    x = numpy.random.default_rng(1).integers(0, 99, (3, 64)).astype("int32")
    fold = {"add": numpy.add, "max": numpy.maximum, "min": numpy.minimum, "and": numpy.bitwise_and,
            "or": numpy.bitwise_or, "xor": numpy.bitwise_xor}[name]
    room = x[0].copy()
    room[:8] = fold(room[:8], x[1, :8])
    wanted = functools.reduce(fold, [*x, numpy.full(64, 37, "int32")])
    for _ in range(3):
        wanted[:32] = fold(wanted[:32], room[:32])
    assert_same(check(function, x, numpy.full(64, 37, "int32")).result, wanted)


# ---- objects --------------------------------------------------------------------------------------------------------

def test_unions():
    union = plgpu.RefUnion([SMEM((64,), F32), SMEM((32,), jnp.int32)], SMEM((64, 32), jnp.float16, transforms=(
        plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(64))))

    def body(x_ref, out, both):
        (floats, ints), halves = both
        floats[...] = x_ref[...]
        ints[...] = jnp.arange(32, dtype=jnp.int32)
        out[0] = floats[...] + 1
        out[1, pl.ds(0, 32)] = ints[...].astype(F32)
        halves[...] = jnp.full((64, 32), 3, jnp.float16)
        out[1, pl.ds(32, 32)] = halves[5].astype(F32)

    x = count(64)
    report = check(kernel(body, S((2, 64), F32), scratch_types=[union]), x)
    assert_same(report.result, numpy.stack([x + 1, numpy.concatenate([x[:32], numpy.full(32, 3, "float32")])]))


@pytest.mark.parametrize("transforms", (TILES, ()))
def test_members_of_a_union_show_the_same_bytes(transforms):
    """Two heights: the lower one has the first rows of the other."""
    union = plgpu.RefUnion(SMEM((64, 64), F32, transforms=transforms), SMEM((16, 64), F32, transforms=transforms))

    def body(x_ref, out, both, full):
        tall, low = both
        plgpu.copy_gmem_to_smem(x_ref, tall, full)
        plgpu.barrier_wait(full)
        out[...] = low[...]

    x = count(64, 64)
    assert_same(check(kernel(body, S((16, 64), F32), scratch_types=[union, Barrier()]), x).result, x[:16])


def test_scopes():
    def body(x_ref, out):
        def one(room, barrier):
            plgpu.copy_gmem_to_smem(x_ref, room, barrier)
            plgpu.barrier_wait(barrier)

            def inner(other):
                other[...] = room[...] * 2
                return other[...] + 1
            results = pl.run_scoped(inner, SMEM((64,), F32)), room[3]
            plgpu.commit_smem()
            return results

        first, third = pl.run_scoped(one, SMEM((64,), F32), Barrier())
        out[0] = first
        out[1] = pl.run_scoped(lambda room, barrier: one(room, barrier)[0] + third, SMEM((64,), F32), barrier=Barrier())

        @pl.loop(0, 2)
        def _(i):
            def turn(room):
                room[...] = x_ref[...] + i
                out[2 + i] = room[...]
            pl.run_scoped(turn, SMEM((64,), F32))

    x = count(64)
    report = check(kernel(body, S((4, 64), F32)), x)
    assert_same(report.result, numpy.stack([x * 2 + 1, x * 2 + 4, x, x + 1]))


def test_collective_scopes():
    def body(x_ref, out):
        wg = lax.axis_index("wg")

        def both(room, barrier):
            room[wg] = x_ref[wg]
            plgpu.barrier_arrive(barrier)
            plgpu.barrier_wait(barrier)
            out[wg] = room[1 - wg]

        pl.run_scoped(both, SMEM((2, 64), F32), Barrier(num_arrivals=2), collective_axes="wg")

    x = count(2, 64)
    report = check(kernel(body, S((2, 64), F32), num_threads=2, thread_name="wg"), x)
    assert_same(report.result, x[::-1])


def test_run_state_of_plain_references():
    def body(x_ref, out):
        def turn(state):
            number, total = state
            number[...] = number[...] + 2
            total[...] = total[...] * number[...].astype(F32)

        number, total = pl.run_state(turn)((jnp.int32(3), x_ref[...]))
        out[...] = total + number

    x = count(64)
    assert_same(check(kernel(body, S((64,), F32)), x).result, x * 5 + 5)


def test_in_place():
    def function(x):
        ref = jax.new_ref(x)

        @pl.core_map(plgpu.Mesh(grid=(2,), grid_names=("i",)))
        def _():
            part = pl.ds(lax.axis_index("i") * 32, 32)
            ref[part] = ref[part] * 2

        return jax.freeze(ref)

    x = count(64)
    assert_same(check(jax.jit(function), x).result, x * 2)


def test_no_outputs():
    def function(x):
        kernel(lambda x_ref: None, ())(x)
        return x

    assert check(function, count(64)).calls
    with grout.pallas.interpret() as session:
        assert kernel(lambda x_ref: None, ())(jnp.zeros(8)) in ((), None, [])
    assert len(session.calls) == 1


# ---- the tensor core ------------------------------------------------------------------------------------------------

HALVES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def small(*shape, dtype="float16", seed=0):
    return numpy.random.default_rng(seed).integers(-3, 4, shape).astype(dtype)


@pytest.mark.parametrize("wgmma", ("lowered", "documented"))
def test_wgmma(wgmma):
    def body(a_ref, b_ref, start_ref, out, a, b, barrier):
        plgpu.copy_gmem_to_smem(a_ref, a, barrier)
        plgpu.copy_gmem_to_smem(b_ref, b, barrier)
        plgpu.barrier_wait(barrier)

        def scope(acc):
            plgpu.wgmma(acc, a, b)
            plgpu.wgmma_wait(1)
            plgpu.wgmma(acc, a, plgpu.transpose_ref(b, (1, 0)))
            plgpu.wgmma_wait(0)
            return acc[...], acc[:, 8:16]

        whole, part = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))
        out[0] = whole
        start = load(start_ref, layout=plgpu.Layout.WGMMA, optimized=False)

        def state(acc):
            plgpu.wgmma(acc, a[...], b)

        out[1] = pl.run_state(state)(plgpu.ACC.init(start))
        out[2] = whole
        out[2, :, 0:8] = part

    a, b, start = small(64, 64), small(64, 64, seed=1), small(64, 64, dtype="float32", seed=2)
    f = kernel(body, S((3, 64, 64), F32), scratch_types=[SMEM((64, 64), jnp.float16, transforms=HALVES)] * 2 +
               [Barrier(num_arrivals=2)])
    report = check(f, a, b, start, wgmma=wgmma)
    one, two = a.astype("f4") @ b.astype("f4"), a.astype("f4") @ b.astype("f4").T
    third = one + two
    third[:, :8] = third[:, 8:16]
    assert_same(report.result, numpy.stack([one + two, one + start, third]))
    assert any("wgmma" in note for note in report.notes)


@pytest.mark.parametrize("dtype, result", (("float16", "float16"), ("bfloat16", "float32")))
def test_accumulators_of_several_types(dtype, result):
    def body(a_ref, b_ref, out, a, b, barrier):
        plgpu.copy_gmem_to_smem(a_ref, a, barrier)
        plgpu.copy_gmem_to_smem(b_ref, b, barrier)
        plgpu.barrier_wait(barrier)

        def scope(acc):
            acc[...] = jnp.full((64, 32), 2, acc.dtype)
            plgpu.wgmma(acc, a, b)
            return acc[...]
        out[...] = pl.run_scoped(scope, plgpu.ACC((64, 32), out.dtype))

    a, b = small(64, 64).astype(jnp.dtype(dtype)), small(64, 32, seed=1).astype(jnp.dtype(dtype))
    f = kernel(body, S((64, 32), result), scratch_types=[
        SMEM((64, 64), dtype, transforms=HALVES),
        SMEM((64, 32), dtype, transforms=(plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(64))),
        Barrier(num_arrivals=2)])
    assert_same(check(f, a, b).result, (a.astype("f4") @ b.astype("f4") + 2).astype(result))


def test_members_of_unions_have_names_of_their_own():
    """The first union's third member would be called like the second union."""
    def body(x_ref, out, room, room_2):
        ((first, second, _),), ((third, _, _),) = room, room_2
        first[...] = x_ref[...]
        second[...] = x_ref[pl.ds(0, 64)]
        third[...] = first[...] + x_ref[...]
        out[...] = third[...]

    unions = [plgpu.RefUnion([plgpu.SMEM((128,), jnp.float32), plgpu.SMEM((64,), jnp.float32),
                              plgpu.SMEM((32,), jnp.float32)])
              for _ in range(2)]
    x = count(128)
    assert_same(check(kernel(body, S((128,), jnp.float32), scratch_types=unions), x).result, x * 2)


@pytest.mark.skipif(not hasattr(plgpu, "mma"), reason="this JAX has no plgpu.mma")
def test_mma_of_elements_of_4_bits():
    dtype, (m, n, k) = jnp.dtype(jnp.int4), (128, 8, 64)

    def body(a_ref, b_ref, out):
        layouts = plgpu.Layout
        acc = plgpu.layout_cast(jnp.zeros((m, n), jnp.int32), layouts.MMA_ACC(dtype))
        a = load(a_ref, layout=layouts.MMA_LHS(dtype), optimized=False)
        b = load(b_ref.T, layout=layouts.MMA_RHS(dtype), optimized=False)
        out[...] = plgpu.mma(acc, a, b)

    try:
        plgpu.Layout.MMA_ACC(dtype)
    except (TypeError, ValueError, KeyError, NotImplementedError, AttributeError) as error:
        pytest.skip(f"this JAX has no layout for it: {error}")
    rng = numpy.random.default_rng(9)
    a, b = (rng.integers(-8, 8, shape) for shape in ((m, k), (n, k)))
    assert_same(check(kernel(body, S((m, n), jnp.int32)), a.astype(dtype), b.astype(dtype)).result,
                (a @ b.T).astype("int32"))
