# SPDX-License-Identifier: Apache-2.0
"""References in other dimensions, parts of parts, boxes around tiles, barriers of several dimensions."""
import random

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same, check, count, kernel, load

SMEM, Barrier, F16, F32 = plgpu.SMEM, plgpu.Barrier, jnp.float16, jnp.float32
TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
ROWS = (plgpu.TilingTransform((8, 1, 64)), plgpu.SwizzleTransform(128))
WIDE = (plgpu.TilingTransform((8, 32)), plgpu.SwizzleTransform(128))


class Array:
    """A numpy array with the views of a reference."""

    def __init__(self, array):
        self.array = array

    @property
    def at(self):
        """What is indexed."""
        return self

    def __getitem__(self, indices):
        indices = indices if isinstance(indices, tuple) else (indices,)
        return Array(self.array[tuple(slice(item.start, item.start + item.size) if isinstance(item, pl.Slice) else item
                                      for item in indices)])

    def reshape(self, *dims):
        """Other dimensions."""
        return Array(self.array.reshape(*dims))

    def transpose(self, *permutation):
        """In another order."""
        return Array(self.array.transpose(*permutation))


def through(shape, view, out, transforms=(), **options):
    """What a view of an array in shared memory has, loaded, and what numpy has."""
    x = (count(*shape) % 2048).astype("float16")

    def body(x_ref, out_ref, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        plgpu.barrier_wait(barrier)
        out_ref[...] = view(room)[...]

    f = kernel(body, S(out, F16), scratch_types=[SMEM(shape, F16, transforms=transforms), Barrier()])
    assert_same(check(f, x, **options).result, view(Array(x)).array)


ds = pl.ds
VIEWS = [
    ((2, 64, 2, 64), ROWS, (64, 128), lambda r: r.at[1].reshape(64, 128)),
    ((128, 2, 64), ROWS, (128, 128), lambda r: r.reshape(128, 128)),
    ((64, 128), TILES, (64, 2, 64), lambda r: r.reshape(64, 2, 64)),
    ((64, 128), TILES, (2, 4, 8, 128), lambda r: r.reshape(2, 4, 8, 128)),
    ((64, 64), (plgpu.SwizzleTransform(128),), (4096,), lambda r: r.reshape(4096)),
    ((4, 64, 64), TILES, (128, 64), lambda r: r.at[ds(1, 2)].reshape(128, 64)),
    ((4, 2, 64, 64), TILES, (4, 64, 64), lambda r: r.at[ds(1, 2)].reshape(4, 64, 64)),
    ((4, 2, 64, 64), TILES, (2, 16, 64), lambda r: r.at[ds(1, 2)].reshape(4, 64, 64).at[ds(1, 2), ds(8, 16)]),
    ((4, 2, 64, 64), TILES, (2, 1, 16, 64), lambda r: r.at[2, :, ds(8, 16)].reshape(2, 1, 16, 64)),
    ((4, 2, 64, 64), TILES, (2, 2, 64, 64), lambda r: r.at[:, 1].reshape(2, 2, 64, 64)),
    ((4, 2, 64, 64), TILES, (4, 64, 1, 64), lambda r: r.at[:, 1].reshape(4, 64, 1, 64)),
    ((2, 64, 64), TILES, (4, 16, 64), lambda r: r.reshape(128, 64).at[64:128].reshape(4, 16, 64)),
    ((64, 128), TILES, (1, 8, 128), lambda r: r.at[8:16].reshape(1, 8, 128)),
    ((64, 128), TILES, (8, 8, 64), lambda r: r.at[:, 64:128].reshape(8, 8, 64)),
    ((4, 8, 32), (), (2, 4, 2, 16), lambda r: r.transpose((1, 0, 2)).at[2:4].reshape(2, 4, 2, 16)),
    ((4, 8, 32), (), (8, 32), lambda r: r.at[ds(1, 1)].reshape(8, 32)),
    ((4, 8, 32), (), (2, 32), lambda r: r.at[ds(1, 2), ds(2, 1)].reshape(2, 32)),
    ((4, 8, 32), (), (256,), lambda r: r.at[1:3].at[1:2].reshape(256)),
    ((64,), (), (3, 8), lambda r: r.at[24:48].reshape(3, 8)),
    ((64,), (), (2, 8), lambda r: r.at[20:36].reshape(2, 8)),  # by its values
    ((4, 2, 64, 64), TILES, (256, 64), lambda r: r.at[:, 1].reshape(256, 64)),  # the same
    ((2, 8, 8), (), (4,), lambda r: r.reshape(128).at[16:32].reshape(4, 4).at[1]),
    ((1, 64), (), (16,), lambda r: r.at[0].reshape(8, 8).at[2:4].reshape(16)),
    ((2, 64, 64), TILES, (64, 8), lambda r: r.at[1].transpose((1, 0)).at[:, 8:16]),
    ((2, 64, 128), TILES, (8, 64), lambda r: r.transpose((1, 0, 2)).at[8:16].at[:, 1].at[:, 64:128]),
    ((2, 64, 128), TILES, (8, 128), lambda r: r.at[:, 8:24].at[1].at[8:16]),
    ((2, 64, 128), TILES, (8, 128), lambda r: r.transpose((1, 0, 2)).reshape(8, 8, 2, 128).at[1, :, 0]),
]


@pytest.mark.parametrize("number", range(len(VIEWS)))
def test_views_of_shared_memory(number):
    shape, transforms, out, view = VIEWS[number]
    through(shape, view, out, transforms)


def draw_dims(rng, size):
    """Dimensions of this many elements."""
    dims = []
    while size > 1 and len(dims) < 4:
        dims.append(rng.choice([number for number in (1, 2, 3, 4, 6, 8, 16, 64) if size % number == 0]))
        size //= dims[-1]
    return (*dims, size)


def draw_step(rng, shape):
    """A view of a reference of this shape."""
    way = rng.choice(("index", "index", "transpose", "reshape", "reshape"))
    if way == "transpose":
        order = rng.sample(range(len(shape)), len(shape))
        return lambda ref: ref.transpose(order) if isinstance(ref, Array) else ref.transpose(tuple(order))
    if way == "reshape":
        dims = draw_dims(rng, int(numpy.prod(shape)))
        return lambda ref: ref.reshape(*dims)
    items = []
    for size in shape:
        count_of = rng.choice((1, size, max(size // 2, 1), rng.randint(1, size)))
        start = rng.randint(0, size - count_of)
        items.append(rng.choice((ds(start, count_of), ds(start, count_of), slice(0, size), start)))
    if all(isinstance(item, int) for item in items):
        items[0] = ds(items[0], 1)
    return lambda ref: ref.at[tuple(items)]


@pytest.mark.parametrize("first", range(0, 90, 10))
def test_drawn_views(first):
    """Views of views: what numpy has, of arrays in both memories, or said to be more than there is."""
    refused = 0
    for seed in range(first, first + 10):
        rng = random.Random(seed)
        shape = rng.choice(((4, 6, 16), (2, 8, 64), (96,), (3, 4, 2, 8), (2, 16, 64)))
        x = count(*shape)
        steps, seen = [], Array(x)
        for _ in range(rng.randint(1, 4)):
            steps.append(draw_step(rng, seen.array.shape))
            seen = steps[-1](seen)

        def body(x_ref, out, out_too, room, steps=steps):
            room[...] = x_ref[...]
            near, far = room, x_ref
            for step in steps:
                near, far = step(near), step(far)
            out[...] = near[...]
            out_too[...] = far[...]

        out = S(seen.array.shape, F32)
        f = kernel(body, (out, out), scratch_types=[SMEM(
            shape, F32, transforms=WIDE if shape[-1] == 64 and rng.random() < 0.5 else ())])
        try:
            report = check(f, x)
        except grout.pallas.UnsupportedError:
            refused += 1
            continue
        for got in report.result:
            assert_same(got, seen.array, f"seed {seed}")
    assert refused < 8


def test_a_part_whose_place_is_known_when_it_runs():
    def body(x, out, room, barrier):
        i = lax.axis_index("i")
        plgpu.copy_gmem_to_smem(x, room, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(room.at[ds(i, 2)].reshape(128, 64), out.at[i])
        plgpu.wait_smem_to_gmem(0)

    x = (count(4, 64, 64) % 2048).astype("float16")
    f = kernel(body, S((3, 128, 64), F16), grid=(3,), grid_names=("i",),
               scratch_types=[SMEM((4, 64, 64), F16, transforms=TILES), Barrier()])
    assert_same(check(f, x).result, numpy.stack([x[i:i + 2].reshape(128, 64) for i in range(3)]))


def test_a_matrix_of_rows_side_by_side_is_multiplied():
    """What JAX' test_wgmma_reshaped_rhs_unit_tiling does, and the gated unit of tokamax."""
    def body(a, b, out, lhs, rhs, barrier):
        plgpu.copy_gmem_to_smem(a, lhs, barrier)
        plgpu.copy_gmem_to_smem(b, rhs, barrier)
        plgpu.barrier_wait(barrier)

        def scope(acc):
            plgpu.wgmma(acc, lhs, rhs.reshape(128, 128))
            return acc[...]
        out[...] = pl.run_scoped(scope, plgpu.ACC((64, 128), F32))

    rng = numpy.random.default_rng(0)
    a, b = rng.integers(-3, 4, (64, 128)).astype("float16"), rng.integers(-3, 4, (128, 2, 64)).astype("float16")
    f = kernel(body, S((64, 128), F32), scratch_types=[
        SMEM((64, 128), F16, transforms=TILES), SMEM((128, 2, 64), F16, transforms=ROWS), Barrier(num_arrivals=2)])
    assert_same(check(f, a, b).result, a.astype("float32") @ b.reshape(128, 128).astype("float32"))


@pytest.mark.parametrize("commits, codes", ((True, []), (False, ["missing-commit-smem"])))
def test_a_store_through_other_dimensions(commits, codes):
    def body(x, out, room):
        room.reshape(64, 128)[...] = x[...] * 2
        if commits:
            plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)

    x = (count(64, 128) % 1024).astype("float16")
    f = kernel(body, S((64, 2, 64), F16), scratch_types=[SMEM((64, 2, 64), F16, transforms=ROWS)])
    report = check(f, x, verdict="clean" if commits else "error")
    assert [finding.code for finding in report.findings] == codes
    if commits:
        assert_same(report.result, (x * 2).reshape(64, 2, 64))


def test_tiles_that_would_move():
    def body(out, room):
        out[...] = room.reshape(128, 128)[...]

    f = kernel(body, S((128, 128), F16), scratch_types=[
        SMEM((128, 4, 32), F16, transforms=(plgpu.TilingTransform((2, 16)), plgpu.SwizzleTransform(32)))])
    with pytest.raises(grout.pallas.UnsupportedError, match="tile"):
        grout.pallas.check(f)()


def test_arrays_in_gmem_in_other_dimensions():
    def body(x, out):
        out.at[1].reshape(2, 16, 4)[...] = x.reshape(2, 16, 4)[...] + 1
        out.at[0].reshape(4, 32)[...] = x.reshape(4, 32)[...]

    x = count(128)
    assert_same(check(kernel(body, S((2, 128), F32)), x).result, numpy.stack([x, x + 1]))


OTHERS = [
    ((128,), (16,), lambda r, i: r.reshape(8, 16).at[i]),
    ((128,), (8,), lambda r, i: r.reshape(8, 16).at[i, ds(4, 8)]),
    ((128,), (4, 4, 4), lambda r, i: r.reshape(8, 4, 4).at[ds(i, 4)]),
    ((8, 16), (16,), lambda r, i: r.reshape(128).at[ds(32, 16)]),
    ((8, 16), (8,), lambda r, i: r.reshape(128).at[ds(36, 8)]),
    ((8, 16), (1, 8), lambda r, i: r.reshape(16, 8).at[ds(3, 1)]),
    ((8, 16), (8,), lambda r, i: r.reshape(16, 8).at[i]),
    ((8, 16), (4, 8), lambda r, i: r.reshape(16, 8).at[ds(2, 4)]),
    ((4, 8, 16), (4, 16), lambda r, i: r.reshape(32, 16).at[ds(10, 4)]),
    ((4, 8, 16), (32,), lambda r, i: r.reshape(4, 128).at[2, ds(16, 32)]),
    ((4, 8, 16), (2, 32), lambda r, i: r.reshape(4, 128).at[ds(i, 2), ds(16, 32)]),
    ((4, 8, 16), (), lambda r, i: r.at[i].reshape(128).at[3]),
    ((4, 8, 16), (), lambda r, i: r.reshape(512).at[i]),
    ((4, 8, 16), (4, 4, 16), lambda r, i: r.reshape(4, 2, 4, 16).at[:, i]),
]


@pytest.mark.parametrize("number", range(len(OTHERS)))
def test_parts_of_arrays_in_gmem_in_other_dimensions(number):
    """A box of the array, whose values are reshaped."""
    shape, out_shape, view = OTHERS[number]

    def read(x, place, out):
        out[...] = view(x, place[0])[...]

    def write(x, place, out):
        out[...] = jnp.zeros(shape, F32)
        view(out, place[0])[...] = x[...] + 1

    x, place = count(*shape), numpy.ones(1, "int32")
    part = view(Array(x), 1).array
    assert_same(check(kernel(read, S(out_shape, F32)), x, place).result, part)
    wanted = numpy.zeros_like(x)
    wanted.reshape(-1)[part.astype(int)] = part + 1
    assert_same(check(kernel(write, S(shape, F32)), numpy.asarray(part), place).result, wanted)


@pytest.mark.parametrize("view", (lambda r, i: r.reshape(32, 16).at[ds(6, 4)],
                                  lambda r, i: r.reshape(512).at[ds(i, 16)],
                                  lambda r, i: r.reshape(4, 2, 4, 16).at[1:3, :, 2]))
def test_what_is_no_box_of_an_array(view):
    def body(x, place, out):
        out[...] = jnp.zeros(64, F32) + view(x, place[0])[...].sum()

    with pytest.raises(grout.pallas.UnsupportedError, match="not a box"):
        grout.pallas.check(kernel(body, S((64,), F32)))(count(4, 8, 16), numpy.ones(1, "int32"))


def test_a_copy_of_an_array_in_gmem_in_other_dimensions():
    def body(x, out, room, barrier):
        plgpu.copy_gmem_to_smem(x.reshape(4, 32), room, barrier)
        plgpu.barrier_wait(barrier)
        out[...] = room[...]

    f = kernel(body, S((4, 32), F32), scratch_types=[SMEM((4, 32), F32), Barrier()])
    with pytest.raises(grout.pallas.UnsupportedError, match="loads and stores"):
        grout.pallas.check(f)(count(128))


# ---- boxes ----------------------------------------------------------------------------------------------------------

BOXES = [((2, 64, 1, 1, 1, 1, 128), (plgpu.TilingTransform((2, 1, 1, 1, 1, 1, 32)),)),
         ((3, 64, 64), WIDE),
         ((2, 1, 64, 64), WIDE),
         ((4, 8, 128), (plgpu.TilingTransform((2, 1, 32)),)),
         ((64, 2, 32), (plgpu.TilingTransform((8, 1, 32)), plgpu.SwizzleTransform(128)))]


@pytest.mark.parametrize("number", range(len(BOXES)))
def test_whole_arrays_of_tiles(number):
    """What lies around the tiles is a dimension of the box, as in JAX' lowering."""
    shape, transforms = BOXES[number]

    def body(x, out, room, barrier):
        plgpu.copy_gmem_to_smem(x, room, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)

    x = count(*shape)
    assert_same(check(kernel(body, S(shape, F32), scratch_types=[SMEM(shape, F32, transforms=transforms), Barrier()]),
                      x).result, x)


def test_a_part_of_many_dimensions():
    shape = (2, 3, 2, 2, 8, 64)

    def body(x, out, room, barrier):
        i = lax.axis_index("i")
        plgpu.copy_gmem_to_smem(x.at[i, pl.ds(2 - i, 1), 1], room, barrier)
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(room, out.at[i])
        plgpu.wait_smem_to_gmem(0)

    x = count(*shape)
    f = kernel(body, S((2, 1, 2, 8, 64), F32), grid=(2,), grid_names=("i",),
               scratch_types=[SMEM((1, 2, 8, 64), F32, transforms=WIDE), Barrier()])
    assert_same(check(f, x).result, numpy.stack([x[i, 2 - i:3 - i, 1] for i in range(2)]))


@pytest.mark.parametrize("function", (grout.pallas.check, grout.pallas.run, grout.pallas.import_kernels))
def test_what_no_box_has_is_refused_before_anything_runs(function):
    shape = (2, 2, 2, 2, 2, 64)

    def body(x, out, room, barrier):
        plgpu.copy_gmem_to_smem(x, room, barrier)
        plgpu.barrier_wait(barrier)
        out[...] = room[...]

    f = kernel(body, S(shape, F32), scratch_types=[SMEM(shape, F32), Barrier()])
    with pytest.raises(grout.pallas.UnsupportedError) as caught:
        function(f)(count(*shape))
    assert "tma-box" in str(caught.value) and "test_pallas_views.py" in str(caught.value)


# ---- run_state ------------------------------------------------------------------------------------------------------

def test_run_state_uses_an_accumulator_of_outside():
    """What JAX' test_run_state_discharge_regression_test does; and the value of the one inside."""
    def body(a, b, out, inner_out, barrier):
        def outer(room, acc):
            plgpu.copy_gmem_to_smem(b, room, barrier)
            plgpu.barrier_wait(barrier)

            def inner(own):
                plgpu.wgmma(acc, load(a, layout=plgpu.Layout.WGMMA, optimized=False), room)
                plgpu.wgmma(own, load(a, layout=plgpu.Layout.WGMMA, optimized=False), room)
            start = plgpu.layout_cast(jnp.full((64, 192), 2, F32), plgpu.Layout.WGMMA)
            inner_out[...] = pl.run_state(inner)(plgpu.ACC.init(start))
            out[...] = acc[...]
        pl.run_scoped(outer, SMEM(b.shape, F16, transforms=TILES), plgpu.ACC((64, 192), F32))

    rng = numpy.random.default_rng(1)
    a, b = rng.integers(-3, 4, (64, 128)).astype("float16"), rng.integers(-3, 4, (128, 192)).astype("float16")
    f = kernel(body, (S((64, 192), F32), S((64, 192), F32)), scratch_types=[Barrier()])
    wanted = a.astype("float32") @ b.astype("float32")
    out, inner_out = check(f, a, b).result
    assert_same(out, wanted)
    assert_same(inner_out, wanted + 2)


# ---- unions and barriers --------------------------------------------------------------------------------------------

def test_a_union_of_nibbles():
    """Each array of a group begins at a multiple of 1024 bytes, after the bytes of those before it."""
    def body(x, out, union):
        [_, whole], [_, nibbles] = union
        whole[...] = x[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(nibbles, out)
        plgpu.wait_smem_to_gmem(0)

    x = numpy.arange(128, dtype="int8")
    f = kernel(body, S((256,), jnp.uint4), scratch_types=[plgpu.RefUnion(
        [SMEM((128,), jnp.int8), SMEM((128,), jnp.int8)], [SMEM((2048,), jnp.uint4), SMEM((256,), jnp.uint4)])])
    assert_same(numpy.asarray(check(f, x).result).astype("int8"), numpy.stack([x & 15, x >> 4], axis=-1).reshape(256))


def make_barriers(*shape):
    """Barriers of several dimensions; before JAX 0.12 they have one."""
    try:
        made = Barrier(num_barriers=shape)
        made.get_ref_aval()
    except TypeError:
        pytest.skip("JAX 0.12")
    return made


@pytest.mark.parametrize("row, verdict", ((2, "clean"), (1, "error")))
def test_a_column_of_barriers(row, verdict):
    """The wait is for the barrier that the copy arrives on, or for one that nobody arrives on."""
    def body(x, out, room, barriers):
        column = barriers.at[:, 1].at[ds(1, 2)]
        plgpu.copy_gmem_to_smem(x, room, column.at[1])
        plgpu.barrier_wait(barriers.at[row, 1])
        out[...] = room[...]

    x = count(32)
    f = kernel(body, S((32,), F32), scratch_types=[SMEM((32,), F32), make_barriers(3, 2)])
    report = check(f, x, verdict=verdict)
    if verdict == "clean":
        assert_same(report.result, x)
    else:
        assert [finding.code for finding in report.findings] == ["deadlock"]
