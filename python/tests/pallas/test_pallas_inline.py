# SPDX-License-Identifier: Apache-2.0
"""plgpu.inline_mgpu: code for lanes, read by what it does."""
import functools

import ml_dtypes
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.mosaic import gpu as mgpu
from jax.experimental.pallas import mosaic_gpu as plgpu
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import arith, gpu, llvm, memref, nvvm, vector
from jaxlib.mlir.dialects import math as math_dialect

import grout.pallas
from pallas_tools import S, assert_same, check, count, kernel, load

SMEM, Barrier, F32 = plgpu.SMEM, plgpu.Barrier, jnp.float32
Layout = plgpu.Layout
THREADS = {"num_threads": 2, "thread_name": "wg"}
RNG = numpy.random.default_rng(3)


def run_ptx(text, *operands, result=None, constraints=None):
    """Inline PTX: one result, or none."""
    kind = result if result is not None else ir.Type.parse("!llvm.void")
    constraints = constraints or ",".join((["=r"] if result is not None else []) + ["r"] * len(operands))
    return llvm.inline_asm(kind, list(operands), text, constraints, has_side_effects=result is None)


def effect(text):
    """A function that runs an instruction."""
    return plgpu.inline_mgpu()(lambda ctx: run_ptx(text) and None)


def elementwise(function, shape, dtype, layout, result=None, result_dtype=None):
    """Registers through a function, one by one: function(register) -> register."""
    result_dtype = dtype if result_dtype is None else result_dtype

    @plgpu.inline_mgpu(arg_types=(layout,), return_type=plgpu.ShapeDtypeStruct(shape, result_dtype, result or layout))
    def code(ctx, array):
        del ctx
        registers = numpy.empty_like(array.registers)
        for place, register in numpy.ndenumerate(array.registers):
            registers[place] = function(register)
        return mgpu.FragmentedArray(_registers=registers, _layout=(result or layout).to_mgpu(),
                                    _is_signed=mgpu.utils.is_signed(jnp.dtype(result_dtype)))
    return code


def call(code, x, layout, dtype=None, **options):
    """What code makes of an array in registers."""
    def body(x_ref, out):
        out[...] = code(plgpu.layout_cast(x_ref[...], layout))
    return check(kernel(body, S(x.shape, dtype or x.dtype)), x, **options).result


# ---- barriers, fences, waits ----------------------------------------------------------------------------------------

def bar(operation, number):
    """The number of the barrier in the code, or an operand."""
    if isinstance(number, int):
        return plgpu.inline_mgpu()(lambda ctx: run_ptx(f"bar.{operation} {number}, 256;") and None)
    return lambda: plgpu.inline_mgpu(arg_types=(Layout.WG_SPLAT,))(
        lambda ctx, given: run_ptx(f"bar.{operation} $0, 256;", given.registers.item()) and None)(number)


@pytest.mark.parametrize("is_forgotten", [False, True])
def test_named_barriers(is_forgotten):
    def body(x_ref, out, smem):
        thread = lax.axis_index("wg")

        @pl.when(thread == 0)
        def _():
            smem[...] = x_ref[...] + 1
            if not is_forgotten:
                bar("arrive", 8)()

        @pl.when(thread == 1)
        def _():
            if not is_forgotten:
                bar("sync", 7 + thread)()
            out[...] = smem[...]

    x = numpy.arange(128, dtype=numpy.float32)
    function = kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)], **THREADS)
    report = grout.pallas.check(function)(x)
    assert {one.code
            for one in report.findings if one.follows_from is None} == ({"smem-race"} if is_forgotten else set())
    if not is_forgotten:
        assert_same(report.result, x + 1)


@pytest.mark.parametrize("number", [0, 1, 2])
def test_named_barriers_of_jax_itself_are_not_free(number):
    def body(out):
        plgpu.inline_mgpu()(lambda ctx: run_ptx(f"bar.sync {number}, 192;") and None)()
        out[...] = jnp.zeros((128,), F32)

    function = kernel(body, S((128,), F32), **THREADS)
    with pytest.raises(grout.pallas.UnsupportedError, match=f"named barrier {number}"):
        grout.pallas.dump(function)()


def test_the_barrier_of_a_cta_and_those_of_its_warpgroups():
    def body(x_ref, out, smem):
        wg = lax.axis_index("wg")
        smem[wg] = x_ref[wg]
        plgpu.inline_mgpu()(lambda ctx: mgpu.utils.warpgroup_barrier())()
        plgpu.inline_mgpu()(lambda ctx: gpu.barrier() and None)()
        out[wg] = smem[1 - wg]

    x = count(2, 128)
    function = kernel(body, S((2, 128), F32), scratch_types=[SMEM((2, 128), F32)], **THREADS)
    assert_same(check(function, x).result, x[::-1])
    text = grout.pallas.dump(function)(x)
    assert text.count("block_barrier") == 1 and "named_barrier" not in text


@pytest.mark.skipif(not hasattr(plgpu, "warp_map"), reason="this JAX has no warp_map")
def test_one_warp_waits_for_the_others_at_the_barrier_of_its_warpgroup():
    """It is no barrier of one thread then, so it is not left out."""
    def body(out):
        @plgpu.warp_map
        def _(warp):
            del warp
            plgpu.inline_mgpu()(lambda ctx: run_ptx("bar.sync 1, 128;") and None)()
        out[...] = jnp.zeros((128,), F32)

    with pytest.raises(grout.pallas.UnsupportedError, match="named barrier 1"):
        grout.pallas.dump(kernel(body, S((128,), F32)))()


def _fence_by_nvvm(ctx):
    del ctx
    nvvm.fence_proxy(nvvm.ProxyKind.async_shared, space=nvvm.SharedSpace.shared_cta)


FENCES = {"nvvm": plgpu.inline_mgpu()(_fence_by_nvvm), "ptx": effect("fence.proxy.async.shared::cta;"),
          "all": effect("fence.proxy.async;"), "commit_shared": plgpu.inline_mgpu()(lambda ctx: mgpu.commit_shared()),
          "missing": lambda: None, "global": effect("fence.proxy.async.global;")}


@pytest.mark.parametrize("name", FENCES)
def test_fences(name):
    def body(x_ref, out, smem):
        smem[...] = x_ref[...] + 1
        FENCES[name]()
        plgpu.copy_smem_to_gmem(smem, out)
        plgpu.wait_smem_to_gmem(0)

    x = numpy.arange(128, dtype=numpy.float32)
    report = grout.pallas.check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]))(x)
    assert [one.code for one in report.findings] == (["missing-commit-smem"] if name in ("missing", "global") else [])


@pytest.mark.parametrize("waits", [True, False])
def test_waits_of_groups(waits):
    def body(x_ref, out, smem):
        smem[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem, out)
        if waits:
            effect("cp.async.bulk.wait_group.read 0;")()
        smem[...] = x_ref[...] + 1

    function = kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)])
    report = grout.pallas.check(function)(numpy.arange(128, dtype=numpy.float32))
    assert ("smem-source-reuse" in {one.code for one in report.findings}) == (not waits), str(report)


def _make_tmem(load_wait, store_wait, fence):
    def body(x_ref, out, acc):
        plgpu.async_store_tmem(acc, plgpu.layout_cast(x_ref[...], Layout.TCGEN05))
        store_wait()
        fence()
        got = plgpu.async_load_tmem(acc)
        load_wait()
        plgpu.async_store_tmem(acc, got + 1)
        store_wait()
        out[...] = plgpu.async_load_tmem(acc)
        load_wait()
    return kernel(body, S((128, 64), F32), scratch_types=[plgpu.TMEM((128, 64), F32)])


TMEM_WAITS = {"nvvm": (plgpu.inline_mgpu()(lambda ctx: nvvm.tcgen05_wait(nvvm.Tcgen05WaitKind.LOAD) and None),
                       plgpu.inline_mgpu()(lambda ctx: nvvm.tcgen05_wait(nvvm.Tcgen05WaitKind.STORE) and None)),
              "ptx": (effect("tcgen05.wait::ld.sync.aligned;"), effect("tcgen05.wait::st.sync.aligned;"))}


@pytest.mark.parametrize("left_out, codes", [(None, []), ("load", ["tmem-load-not-awaited"]),
                                             ("store", ["tmem-store-not-committed"])])
@pytest.mark.parametrize("name", TMEM_WAITS)
def test_waits_of_tensor_memory(name, left_out, codes):
    """What one warpgroup stores the other one loads, and what it has loaded the first one stores anew."""
    def body(x_ref, out, acc, stored, loaded):
        wg, (wait_load, wait_store) = lax.axis_index("wg"), TMEM_WAITS[name]

        @pl.when(wg == 0)
        def _():
            plgpu.async_store_tmem(acc, plgpu.layout_cast(x_ref[...], Layout.TCGEN05))
            if left_out != "store":
                wait_store()
            plgpu.barrier_arrive(stored)
            plgpu.barrier_wait(loaded)
            plgpu.async_store_tmem(acc, plgpu.layout_cast(x_ref[...] + 1, Layout.TCGEN05))
            wait_store()

        @pl.when(wg == 1)
        def _():
            plgpu.barrier_wait(stored)
            out[...] = plgpu.async_load_tmem(acc)
            if left_out != "load":
                wait_load()
            plgpu.barrier_arrive(loaded)

    x = count(128, 64)
    barriers = [Barrier(orders_tensor_core=True)] * 2
    function = kernel(body, S((128, 64), F32), scratch_types=[plgpu.TMEM((128, 64), F32), *barriers], **THREADS)
    report = check(function, x, verdict="error" if codes else "clean")
    assert [one.code for one in report.findings] == codes
    if not codes:
        assert_same(report.result, x)


@pytest.mark.parametrize("waits", [[True, True], [False, True], [True, False]])
@pytest.mark.parametrize("name", TMEM_WAITS)
def test_own_loads_and_stores_of_tensor_memory_need_no_waits(name, waits):
    x = count(128, 64)
    function = _make_tmem(*(wait if is_there else lambda: None for wait, is_there in zip(TMEM_WAITS[name], waits)),
                          fence=lambda: None)
    assert_same(check(function, x).result, x + 1)


@pytest.mark.parametrize("fence", ["tcgen05.fence::before_thread_sync;", "tcgen05.fence::after_thread_sync;"])
def test_fences_of_the_tensor_core_by_hand_leave_a_gap(fence):
    x = count(128, 64)
    report = check(_make_tmem(*TMEM_WAITS["ptx"], effect(fence)), x, verdict="incomplete")
    assert_same(report.result, x + 1)
    assert any("tcgen05.fence" in gap for gap in report.gaps)


@pytest.mark.parametrize("has_fences", [True, False])
def test_barriers_order_the_tensor_core_where_fences_stand_by_hand(has_fences):
    """The order is then not looked at, and the verdict says so; without them the missing order is found."""
    def body(x_ref, out, acc, ready):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            plgpu.async_store_tmem(acc, plgpu.layout_cast(x_ref[...], Layout.TCGEN05))
            plgpu.commit_tmem()
            if has_fences:
                effect("tcgen05.fence::before_thread_sync;")()
            plgpu.barrier_arrive(ready)

        @pl.when(wg == 1)
        def _():
            plgpu.barrier_wait(ready)
            if has_fences:
                effect("tcgen05.fence::after_thread_sync;")()
            out[...] = plgpu.async_load_tmem(acc)
            plgpu.wait_load_tmem()

    x = count(128, 64)
    function = kernel(body, S((128, 64), F32), scratch_types=[plgpu.TMEM((128, 64), F32), Barrier()], **THREADS)
    report = check(function, x, verdict="incomplete" if has_fences else "error")
    assert {one.code for one in report.findings} == (set() if has_fences else {"tensor-core-order"})


# ---- cp.async -------------------------------------------------------------------------------------------------------

HAS_CP_ASYNC = hasattr(plgpu, "wait_gmem_to_smem")
needs_cp_async = pytest.mark.skipif(not HAS_CP_ASYNC, reason="this JAX has no copies without a barrier")


def _copy(source, target, **options):
    plgpu.copy_gmem_to_smem(source, target, **{"oob_mode": plgpu.OOBFillMode.PROMISE_IN_BOUNDS, **options})


@needs_cp_async
@pytest.mark.parametrize("left", [0, 1, None])
def test_copies_without_a_barrier(left):
    """Each copy is a group of its own. left: how many the wait leaves in flight; None: there is no wait."""
    def body(x_ref, out, smem):
        for number in range(2):
            _copy(x_ref.at[number], smem.at[number])
        if left is not None:
            plgpu.wait_gmem_to_smem(left)
        out[0] = smem[0]
        if left == 1:
            plgpu.wait_gmem_to_smem(0)
        out[1] = smem[1]

    x = count(2, 256)
    report = grout.pallas.check(kernel(body, S((2, 256), F32), scratch_types=[SMEM((2, 256), F32)]), gpu="a100")(x)
    codes = {one.code for one in report.findings if one.follows_from is None}
    assert codes == ({"async-not-awaited"} if left is None else set()), str(report)
    if left is not None:
        assert_same(report.result, x)


@needs_cp_async
def test_a_wait_that_leaves_too_many_copies():
    """As at the end of a ring, where the last turns start no copy."""
    def body(x_ref, out, smem):
        for number in range(2):
            _copy(x_ref.at[number], smem.at[number])
        for number in range(2):
            plgpu.wait_gmem_to_smem(1)
            out[number] = smem[number]

    x = count(2, 256)
    report = grout.pallas.check(kernel(body, S((2, 256), F32), scratch_types=[SMEM((2, 256), F32)]), gpu="a100")(x)
    assert [one.code for one in report.findings if one.follows_from is None] == ["async-not-awaited"]


@needs_cp_async
@pytest.mark.parametrize("is_published", [True, False])
def test_other_threads_need_a_barrier_behind_the_wait(is_published):
    def body(x_ref, out, smem, ready):
        wg = lax.axis_index("wg")

        @pl.when(wg == 0)
        def _():
            _copy(x_ref, smem)
            if is_published:
                plgpu.wait_gmem_to_smem(0)
            plgpu.barrier_arrive(ready)
            plgpu.wait_gmem_to_smem(0)

        @pl.when(wg == 1)
        def _():
            plgpu.barrier_wait(ready)
            out[...] = smem[...]

    x = count(256)
    report = grout.pallas.check(kernel(body, S((256,), F32), scratch_types=[SMEM((256,), F32), Barrier()], **THREADS),
                                gpu="a100")(x)
    assert bool(report.findings) == (not is_published), str(report)


@needs_cp_async
@pytest.mark.parametrize("transforms", [(), (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))])
def test_copies_of_tiles_without_a_barrier(transforms):
    def body(x_ref, out, smem):
        _copy(x_ref.at[pl.ds(64, 64), pl.ds(64, 64)], smem)
        plgpu.wait_gmem_to_smem(0)
        out[...] = smem[...]

    x = count(128, 128, dtype="float16")
    function = kernel(body, S((64, 64), jnp.float16),
                      scratch_types=[SMEM((64, 64), jnp.float16, transforms=transforms)])
    assert_same(check(function, x, gpu="a100").result, x[64:, 64:])


@needs_cp_async
@pytest.mark.parametrize("options, words", [({"oob_mode": None}, "PROMISE_IN_BOUNDS"),
                                            ({"collective_axes": "x"}, "collective_axes")])
def test_what_copies_without_a_barrier_do_not_have(options, words):
    def body(x_ref, out, smem):
        _copy(x_ref, smem, **options)
        out[...] = smem[...]

    function = kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)], cluster=(1,), cluster_names=("x",))
    with pytest.raises(grout.pallas.UnsupportedError, match=words):
        grout.pallas.dump(function)(count(128))


@needs_cp_async
def test_a_copy_without_a_barrier_stays_inside():
    def body(x_ref, out, smem):
        @pl.loop(1, 2)
        def _(step):
            _copy(x_ref.at[pl.ds(64 * step, 128)], smem)
            plgpu.wait_gmem_to_smem(0)
        out[...] = smem[...]

    report = grout.pallas.check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]), gpu="a100")(count(128))
    assert "out-of-bounds" in {one.code for one in report.findings}


# ---- arithmetic -----------------------------------------------------------------------------------------------------

VALUES = {"int32": RNG.integers(-2 ** 31, 2 ** 31, (64, 64), dtype=numpy.int64).astype(numpy.int32),
          "float32": (RNG.integers(1, 2000, (64, 64)) / 512 * RNG.choice([-1, 1], (64, 64))).astype(numpy.float32)}


def of_lanes(make):
    """A register of several elements, lane by lane."""
    def function(register):
        kind = ir.VectorType(register.type)
        result = register
        for place in range(kind.shape[0]):
            one = vector.extract(register, dynamic_position=[], static_position=ir.DenseI64ArrayAttr.get([place]))
            result = vector.insert(make(one), result, dynamic_position=[],
                                   static_position=ir.DenseI64ArrayAttr.get([place]))
        return result
    return function


def ptx_on_whole(text, *more):
    return of_lanes(lambda one: run_ptx(text, one, *[mgpu.c(number, one.type) for number in more], result=one.type))


def _swap_bytes(x):
    return x.view(numpy.uint32).byteswap().view(numpy.int32)


WHOLE = {
    "shr.u32 $0, $1, 5;": lambda x: (x.view(numpy.uint32) >> 5).view(numpy.int32),
    "shr.s32 $0, $1, 5;": lambda x: x >> 5,
    "shl.b32 $0, $1, 3;": lambda x: x << 3,
    "and.b32 $0, $1, 0x0ff0;": lambda x: x & 0xff0,
    "or.b32 $0, $1, 0x0ff0;": lambda x: x | 0xff0,
    "xor.b32 $0, $1, 0x80000001;": lambda x: x ^ numpy.int32(-2 ** 31 + 1),
    "not.b32 $0, $1;": lambda x: ~x,
    "add.s32 $0, $1, 77;": lambda x: x + numpy.int32(77),
    "mul.lo.s32 $0, $1, 77;": lambda x: x * numpy.int32(77),
    "min.s32 $0, $1, 77;": lambda x: numpy.minimum(x, 77).astype(numpy.int32),
    "max.u32 $0, $1, 77;": lambda x: numpy.maximum(x.view(numpy.uint32), 77).view(numpy.int32),
    "neg.s32 $0, $1;": lambda x: -x,
    "popc.b32 $0, $1;": lambda x: numpy.array([bin(int(one) & 0xffffffff).count("1") for one in x.flat],
                                             numpy.int32).reshape(x.shape),
    "prmt.b32 $0, $1, 0, 0x0123;": _swap_bytes,
    "prmt.b32 $0, $1, 0, 0xbbbb;": lambda x: numpy.where(x < 0, -1, 0).astype(numpy.int32),
    "lop3.b32 $0, $1, 0x0f0f0f0f, 0x33333333, 0x6a;": lambda x: (x & 0x0f0f0f0f) ^ 0x33333333,
    "lop3.b32 $0, $1, 0x0f0f0f0f, 0x33333333, 0xea;": lambda x: (x & 0x0f0f0f0f) | 0x33333333,
    "bfe.u32 $0, $1, 8, 6;": lambda x: (x >> 8) & 63,
    "bfe.s32 $0, $1, 8, 6;": lambda x: (x << 18) >> 26,
    "{ .reg .b32 t; shl.b32 t, $1, 16; shr.s32 $0, t, 16; }": lambda x: x.astype(numpy.int16).astype(numpy.int32),
    "{ .reg .pred p; setp.lt.s32 p, $1, 100; selp.b32 $0, $1, 100, p; }":
        lambda x: numpy.minimum(x, 100).astype(numpy.int32),
    "{ .reg .pred p; setp.gt.s32 p, $1, 0; mov.b32 $0, 5; @p mov.b32 $0, $1; }":
        lambda x: numpy.where(x > 0, x, 5).astype(numpy.int32),
    "{ .reg .b16 a, b; mov.b32 {a, b}, $1; mov.b32 $0, {b, a}; }":
        lambda x: ((x.view(numpy.uint32) << 16) | (x.view(numpy.uint32) >> 16)).view(numpy.int32),
    "{ .reg .b32 t; and.b32 t, $1, 255; mad.lo.s32 $0, t, 3, 1; }": lambda x: (x & 255) * 3 + 1,
}


@pytest.mark.parametrize("text", WHOLE)
def test_ptx_on_integers(text):
    x = VALUES["int32"]
    code = elementwise(ptx_on_whole(text), x.shape, jnp.int32, Layout.WGMMA)
    assert_same(call(code, x, Layout.WGMMA), WHOLE[text](x).astype(numpy.int32), text)


@pytest.mark.parametrize("table", [0x80, 0xfe, 0x96, 0xe8, 0xca, 0x1b, 0x6c, 0x40])
def test_every_kind_of_table(table):
    """lop3 of three registers."""
    a, b, c = (RNG.integers(-2 ** 31, 2 ** 31, (64, 64), dtype=numpy.int64).astype(numpy.int32) for _ in range(3))
    wanted = numpy.zeros_like(a)
    for row in range(8):
        if table >> row & 1:
            wanted |= (a if row & 4 else ~a) & (b if row & 2 else ~b) & (c if row & 1 else ~c)

    @plgpu.inline_mgpu(arg_types=(Layout.WGMMA,) * 3,
                       return_type=plgpu.ShapeDtypeStruct((64, 64), jnp.int32, Layout.WGMMA))
    def code(ctx, *arrays):
        del ctx
        registers = numpy.empty_like(arrays[0].registers)
        for place in numpy.ndindex(registers.shape):
            result = arrays[0].registers[place]
            for number in range(2):
                ones = [vector.extract(array.registers[place], dynamic_position=[],
                                       static_position=ir.DenseI64ArrayAttr.get([number])) for array in arrays]
                made = run_ptx(f"lop3.b32 $0, $1, $2, $3, {table:#x};", *ones, result=ones[0].type)
                result = vector.insert(made, result, dynamic_position=[],
                                       static_position=ir.DenseI64ArrayAttr.get([number]))
            registers[place] = result
        return mgpu.FragmentedArray(_registers=registers, _layout=Layout.WGMMA.to_mgpu(), _is_signed=True)

    def body(a_ref, b_ref, c_ref, out):
        out[...] = code(*(plgpu.layout_cast(ref[...], Layout.WGMMA) for ref in (a_ref, b_ref, c_ref)))

    assert_same(check(kernel(body, S((64, 64), jnp.int32)), a, b, c).result, wanted)


FLOATS = {
    "ex2.approx.ftz.f32 $0, $1;": (numpy.exp2, 1e-6),
    "rcp.approx.f32 $0, $1;": (lambda x: 1 / x, 1e-6),
    "fma.rn.f32 $0, $1, 0f40000000, 0f3F800000;": (lambda x: x * 2 + 1, 1e-6),
    "mul.f32 $0, $1, 0f40400000;": (lambda x: x * numpy.float32(3), 0),
    "abs.f32 $0, $1;": (numpy.abs, 0),
    "neg.f32 $0, $1;": (numpy.negative, 0),
    "tanh.approx.f32 $0, $1;": (numpy.tanh, 1e-3),
    "{ .reg .b32 t; cvt.rzi.s32.f32 t, $1; cvt.rn.f32.s32 $0, t; }": (numpy.trunc, 0),
    "{ .reg .b16 t; cvt.rn.f16.f32 t, $1; cvt.f32.f16 $0, t; }":
        (lambda x: x.astype(numpy.float16).astype(numpy.float32), 0),
    "{ .reg .b32 t; cvt.rn.bf16x2.f32 t, $1, 0f00000000; and.b32 $0, t, 0xffff0000; }":
        (lambda x: x.astype(ml_dtypes.bfloat16).astype(numpy.float32), 0),
}


@pytest.mark.parametrize("text", FLOATS)
def test_ptx_on_floats(text):
    x = VALUES["float32"]
    function = of_lanes(lambda one: run_ptx(text, one, result=one.type, constraints="=f,f"))
    code = elementwise(function, x.shape, F32, Layout.WGMMA)
    wanted, tolerance = FLOATS[text]
    got = numpy.asarray(call(code, x, Layout.WGMMA))
    numpy.testing.assert_allclose(got, wanted(x).astype(numpy.float32), rtol=tolerance)


def split_nibbles(register, is_odd):
    """Four bytes with two nibbles each: the lower ones, or the higher ones, as numbers from 0 to 15 with the sign
    turned."""
    i32 = ir.IntegerType.get_signless(32)
    word = mgpu.utils.bitcast(register, i32)
    text = """{
        .reg .b32 moved, mask;
        mov.b32 mask, 0x0F0F0F0F;
        shr.u32 moved, $1, SHIFT;
        lop3.b32 $0, moved, 0x08080808, mask, 0x6c;
    }""".replace("SHIFT", "4" if is_odd else "0")
    return mgpu.utils.bitcast(run_ptx(text, word, result=i32), register.type)


@pytest.mark.parametrize("is_odd", [False, True])
def test_nibbles_of_bytes(is_odd):
    layout = Layout.WG_STRIDED((64, 64), vec_size=4)
    x = RNG.integers(-128, 128, (64, 64)).astype(numpy.int8)
    code = elementwise(functools.partial(split_nibbles, is_odd=is_odd), x.shape, jnp.int8, layout)

    def body(x_ref, out):
        out[...] = code(load(x_ref, layout=layout, optimized=False))

    wanted = (x.view(numpy.uint8) >> (4 if is_odd else 0) & 15 ^ 8).astype(numpy.int8)
    assert_same(check(kernel(body, S(x.shape, jnp.int8)), x).result, wanted)


def test_packed_nibbles_become_bytes():
    """As quantised weights do: eight i4 in a register become eight i8, by shifts, prmt and lop3."""
    to = Layout.WG_STRIDED((64, 128), vec_size=8)

    @plgpu.inline_mgpu(arg_types=(to,), return_type=plgpu.ShapeDtypeStruct((64, 128), jnp.int8, to))
    def widen(ctx, array):
        del ctx
        i32 = ir.IntegerType.get_signless(32)
        registers = numpy.empty_like(array.registers)
        for place, register in numpy.ndenumerate(array.registers):
            word = mgpu.utils.bitcast(register, i32)
            halves = []
            for selector in ("0x5140", "0x7362"):
                made = run_ptx("{ .reg .b32 odd; shr.u32 odd, $1, 4; prmt.b32 $0, $1, odd, " + selector +
                               "; and.b32 $0, $0, 0x0F0F0F0F; }", word, result=i32)
                halves.append(mgpu.utils.bitcast(made, ir.VectorType.get((4,), ir.IntegerType.get_signless(8))))
            registers[place] = mgpu.utils.vector_concat(halves)
        return mgpu.FragmentedArray(_registers=registers, _layout=to.to_mgpu(), _is_signed=True)

    def body(x_ref, out):
        out[...] = widen(x_ref[...].astype(jnp.int4))

    x = RNG.integers(-8, 8, (64, 128)).astype(numpy.int8)
    assert_same(check(kernel(body, S(x.shape, jnp.int8)), x).result, x & 15)


def test_bits_become_bools():
    """Each byte has eight."""
    out_layout, layout = Layout.WG_STRIDED((128, 256), vec_size=8), Layout.WG_STRIDED((128, 32), vec_size=1)

    @plgpu.inline_mgpu(arg_types=(layout,), return_type=plgpu.ShapeDtypeStruct((128, 256), jnp.bool_, out_layout))
    def unpack(ctx, array):
        del ctx
        i8 = ir.IntegerType.get_signless(8)
        kind = ir.VectorType.get((8,), i8)
        registers = numpy.empty(array.registers.shape, object)
        masks = arith.constant(kind, ir.DenseIntElementsAttr.get(numpy.array([1 << k for k in range(8)], numpy.uint8),
                                                                type=kind))
        zero = vector.broadcast(kind, arith.constant(i8, 0))
        for place, register in numpy.ndenumerate(array.registers):
            one = vector.extract(register, dynamic_position=[], static_position=ir.DenseI64ArrayAttr.get([0]))
            registers[place] = arith.cmpi(arith.CmpIPredicate.ne, arith.andi(vector.broadcast(kind, one), masks), zero)
        return mgpu.FragmentedArray(_registers=registers, _layout=out_layout.to_mgpu(), _is_signed=False)

    def body(x_ref, out):
        out[...] = unpack(load(x_ref, layout=layout, optimized=False)).astype(jnp.int8)

    x = RNG.integers(0, 256, (128, 32)).astype(numpy.uint8)
    wanted = numpy.unpackbits(x, axis=-1, bitorder="little").astype(numpy.int8)
    assert_same(check(kernel(body, S((128, 256), jnp.int8)), x.view(numpy.int8)).result, wanted)


MLIR = {
    "arith": (lambda x: arith.subf(arith.mulf(x, x), x), lambda x: x * x - x, F32),
    "math": (lambda x: math_dialect.absf(x), numpy.abs, F32),
    "compare": (lambda x: arith.select(arith.cmpf(arith.CmpFPredicate.OGT, x, arith.negf(x)), x, arith.negf(x)),
                numpy.abs, F32),
    "bits": (lambda x: arith.bitcast(x.type, arith.xori(arith.bitcast(
        ir.VectorType.get(x.type.shape, ir.IntegerType.get_signless(32)), x), vector.broadcast(
            ir.VectorType.get(x.type.shape, ir.IntegerType.get_signless(32)),
            arith.constant(ir.IntegerType.get_signless(32), -2 ** 31)))), numpy.negative, F32),
    "half": (lambda x: arith.extf(x.type, arith.truncf(ir.VectorType.get(x.type.shape, ir.F16Type.get()), x)),
             lambda x: x.astype(numpy.float16).astype(numpy.float32), F32),
    "maximum": (lambda x: arith.maximumf(x, arith.negf(x)), numpy.abs, F32),
    "whole": (lambda x: arith.sitofp(x.type, arith.fptosi(
        ir.VectorType.get(x.type.shape, ir.IntegerType.get_signless(32)), x)), lambda x: numpy.trunc(x) + 0, F32),
}


@pytest.mark.parametrize("name", MLIR)
@pytest.mark.parametrize("layout", ["WGMMA", "TCGEN05", "WG_STRIDED"])
def test_operations_of_mlir(name, layout):
    layout = Layout.WG_STRIDED((128, 64), vec_size=2) if layout == "WG_STRIDED" else getattr(Layout, layout)
    function, wanted, dtype = MLIR[name]
    x = numpy.tile(VALUES["float32"], (2, 1))
    code = elementwise(function, x.shape, dtype, layout)
    assert_same(call(code, x, layout), wanted(x))


def test_what_comes_of_layouts():
    """Rows that are spread over columns, and the sum of a row by shuffles between lanes."""
    layout = Layout.WGMMA

    @plgpu.inline_mgpu(arg_types=(layout,), return_type=plgpu.ShapeDtypeStruct((64,), F32, layout.reduce(1)))
    def sum_rows(ctx, array):
        del ctx
        return array.reduce("add", 1)

    @plgpu.inline_mgpu(arg_types=(layout,), return_type=plgpu.ShapeDtypeStruct((64,), F32, layout.reduce(1)))
    def find_largest(ctx, array):
        del ctx
        return array.reduce("max", 1)

    @plgpu.inline_mgpu(arg_types=(layout, layout.reduce(1), layout.reduce(0)),
                       return_type=plgpu.ShapeDtypeStruct((64, 64), F32, layout))
    def scale(ctx, array, rows, columns):
        del ctx
        spread = [one.broadcast_in_dim((64, 64), (dim,), layout.to_mgpu()) for dim, one in ((0, rows), (1, columns))]
        return array * spread[0] + spread[1]

    def body(x_ref, y_ref, out, sums, largest):
        x = plgpu.layout_cast(x_ref[...], layout)
        sums[...] = sum_rows(x)
        largest[...] = find_largest(x)
        out[...] = scale(x, plgpu.layout_cast(y_ref[0], layout.reduce(1)),
                         plgpu.layout_cast(y_ref[1], layout.reduce(0)))

    x, y = RNG.integers(-9, 9, (64, 64)).astype(numpy.float32), RNG.integers(-9, 9, (2, 64)).astype(numpy.float32)
    function = kernel(body, (S((64, 64), F32), S((64,), F32), S((64,), F32)))
    out, sums, largest = check(function, x, y).result
    assert_same(out, x * y[0][:, None] + y[1])
    assert_same(sums, x.sum(1))
    assert_same(largest, x.max(1))
    text = grout.pallas.dump(function)(x, y)
    assert "reduce_sum" in text and "reduce_max" in text


def test_a_vote_of_a_warp_leaves_a_gap():
    layout = Layout.WGMMA.reduce(1)

    @plgpu.inline_mgpu(arg_types=(layout,), return_type=plgpu.ShapeDtypeStruct((), jnp.bool_, Layout.WG_SPLAT))
    def is_any(ctx, array):
        del ctx
        value = functools.reduce(arith.ori, array.registers.flat)
        value = vector.extract(value, dynamic_position=[], static_position=ir.DenseI64ArrayAttr.get([0]))
        mask = arith.constant(ir.IntegerType.get_signless(32), 0xFFFFFFFF)
        return mgpu.FragmentedArray.splat(nvvm.vote_sync(mask, value, "any"), (), is_signed=False)

    def body(x_ref, out):
        found = is_any(plgpu.layout_cast(x_ref[...], layout) > 5)
        out[...] = jnp.where(found, jnp.full((128,), 1, F32), jnp.full((128,), 0, F32))

    if not hasattr(getattr(nvvm, "VoteSyncKind", None), "any"):
        pytest.skip("nvvm of this JAX spells a vote otherwise")
    function = kernel(body, S((128,), F32))
    for x, wanted in ((numpy.zeros(64, numpy.float32), 0), (numpy.arange(64, dtype=numpy.float32), 1)):
        report = check(function, x, verdict="incomplete")
        assert (numpy.asarray(report.result) == wanted).all()
        assert any("vote" in gap for gap in report.gaps)


# ---- references and places ------------------------------------------------------------------------------------------

def test_scales_of_rows_that_are_loaded_one_by_one():
    layout = Layout.TCGEN05

    def body(x_ref, s_ref, out, s_smem, barrier):
        plgpu.copy_gmem_to_smem(s_ref, s_smem, barrier)
        plgpu.barrier_wait(barrier)
        x = plgpu.layout_cast(x_ref[...], layout)

        @plgpu.inline_mgpu(arg_types=(plgpu.RefType(), layout),
                           return_type=plgpu.ShapeDtypeStruct((128, 64), F32, layout))
        def scale(ctx, smem, array):
            del ctx
            return array.foreach(lambda value, place: arith.mulf(memref.load(smem, (place[0],)), value),
                                 create_array=True)

        out[...] = scale(s_smem, x)

    x, s = RNG.normal(size=(128, 64)).astype(numpy.float32), RNG.normal(size=128).astype(numpy.float32)
    function = kernel(body, S((128, 64), F32), scratch_types=[SMEM((128,), F32), Barrier()])
    assert_same(check(function, x, s).result, x * s[:, None])


@pytest.mark.parametrize("is_fenced", [True, False])
def test_what_code_loads_counts(is_fenced):
    """A load of the code is seen by the checker as any other."""
    def body(x_ref, out, smem, barrier):
        plgpu.copy_gmem_to_smem(x_ref, smem, barrier)
        if is_fenced:
            plgpu.barrier_wait(barrier)

        @plgpu.inline_mgpu(arg_types=(plgpu.RefType(),), return_type=plgpu.ShapeDtypeStruct((), F32, Layout.WG_SPLAT))
        def first(ctx, ref):
            del ctx
            value = memref.load(ref, [arith.constant(ir.IndexType.get(), 3)])
            return mgpu.FragmentedArray.splat(value, (), is_signed=None)

        out[...] = jnp.full((128,), first(smem), F32)
        if not is_fenced:
            plgpu.barrier_wait(barrier)

    report = grout.pallas.check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32), Barrier()]))(count(128))
    assert bool(report.findings) == (not is_fenced)
    if is_fenced:
        assert (numpy.asarray(report.result) == 3).all()


def test_stores_of_scalars_and_of_lanes():
    def body(out, scalar):
        @plgpu.inline_mgpu(arg_types=(plgpu.RefType(), plgpu.RefType(), Layout.WG_SPLAT))
        def write(ctx, ref, one, value):
            del ctx
            lane = arith.remui(gpu.thread_id(gpu.Dimension.x), arith.constant(ir.IndexType.get(), 128))
            for row in range(2):
                i32 = ir.IntegerType.get_signless(32)
                number = arith.addi(arith.index_cast(i32, lane), arith.constant(i32, 1000 * row))
                memref.store(number, ref, [arith.constant(ir.IndexType.get(), row), lane])
            memref.store(value.registers.item(), one, [])
        write(out, scalar, jnp.int32(42))

    got, scalar = check(kernel(body, (S((2, 128), jnp.int32), S((), jnp.int32)))).result
    assert_same(got, (numpy.arange(128) + 1000 * numpy.arange(2)[:, None]).astype(numpy.int32))
    assert int(scalar) == 42


@pytest.mark.parametrize("waits", [True, False])
def test_loads_and_stores_of_some_lanes(waits):
    """Each lane looks whether its row is one of those that are meant; the others touch nothing."""
    def body(x_ref, first_ref, out, smem, barrier):
        plgpu.copy_gmem_to_smem(x_ref, smem, barrier)
        if waits:
            plgpu.barrier_wait(barrier)

        @plgpu.inline_mgpu(arg_types=(plgpu.RefType(), plgpu.RefType(), Layout.WG_SPLAT, Layout.WG_SPLAT))
        def write(ctx, target, ref, first, column):
            del ctx
            kind = ir.IndexType.get()
            lane = arith.remui(gpu.thread_id(gpu.Dimension.x), arith.constant(kind, 128))
            start = arith.index_cast(kind, first.registers.item())
            end = arith.addi(start, arith.constant(kind, 50))
            meant = arith.andi(arith.cmpi(arith.CmpIPredicate.sge, lane, start),
                               arith.cmpi(arith.CmpIPredicate.slt, lane, end))
            with mgpu.utils.when(meant):
                value = memref.load(ref, [lane])
                row = arith.addi(arith.constant(kind, 8), lane)
                memref.store(value, target, [row, arith.index_cast(kind, column.registers.item())])

        out[...] = jnp.zeros((136, 4), F32)
        write(out, smem, first_ref[0], jnp.int32(2))
        if not waits:
            plgpu.barrier_wait(barrier)

    x = count(128) + 1
    function = kernel(body, S((136, 4), F32), scratch_types=[SMEM((128,), F32), Barrier()])
    report = grout.pallas.check(function)(x, numpy.array([20, 0], numpy.int32))
    assert bool(report.findings) == (not waits), str(report)
    if waits:
        wanted = numpy.zeros((136, 4), numpy.float32)
        wanted[28:78, 2] = x[20:70]
        assert_same(report.result, wanted)


@pytest.mark.parametrize("is_committed", [True, False])
def test_whole_references(is_committed):
    """As JAX' page has it: load_tiled, store_tiled, a copy and its wait."""
    transforms = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))

    def body(x_ref, out, smem, barrier):
        plgpu.copy_gmem_to_smem(x_ref, smem, barrier)
        plgpu.barrier_wait(barrier)

        @plgpu.inline_mgpu(arg_types=(plgpu.RefType(transforms),),
                           return_type=plgpu.ShapeDtypeStruct((64, 64), jnp.float16, Layout.WGMMA))
        def twice(ctx, ref):
            del ctx
            x = mgpu.FragmentedArray.load_tiled(ref, swizzle=128)
            return x + x

        @plgpu.inline_mgpu(arg_types=(Layout.WGMMA, plgpu.RefType(transforms), plgpu.RefType()))
        def store(ctx, array, ref, target):
            array.store_tiled(ref, swizzle=128)
            if is_committed:
                mgpu.commit_shared()
            ctx.async_copy(src_ref=ref, dst_ref=target, swizzle=128, gmem_transform=(mgpu.TileTransform((8, 64)),))
            ctx.await_async_copy(0)

        store(twice(smem), smem, out)

    x = RNG.integers(-9, 9, (64, 64)).astype(numpy.float16)
    function = kernel(body, S((64, 64), jnp.float16),
                      scratch_types=[SMEM((64, 64), jnp.float16, transforms=transforms), Barrier()])
    report = grout.pallas.check(function)(x)
    assert [one.code for one in report.findings] == ([] if is_committed else ["missing-commit-smem"]), str(report)
    if is_committed:
        assert_same(report.result, x + x)


def test_places_in_the_grid():
    @plgpu.inline_mgpu(return_type=plgpu.ShapeDtypeStruct((), jnp.int32, Layout.WG_SPLAT))
    def find_place(ctx):
        del ctx
        grid = [gpu.grid_dim(dim) for dim in (gpu.Dimension.x, gpu.Dimension.y)]
        block = [gpu.block_id(dim) for dim in (gpu.Dimension.x, gpu.Dimension.y, gpu.Dimension.z)]
        place = arith.addi(block[0], arith.muli(grid[0], arith.addi(block[1], arith.muli(grid[1], block[2]))))
        return mgpu.FragmentedArray.splat(arith.index_cast(ir.IntegerType.get_signless(32), place), (), is_signed=True)

    def body(out):
        a, b, c = (lax.axis_index(name) for name in "abc")
        out[a, b, c] = jnp.full((128,), find_place(), jnp.int32)

    got = check(kernel(body, S((2, 3, 4, 128), jnp.int32), grid=(2, 3, 4), grid_names=("a", "b", "c"))).result
    assert_same(numpy.asarray(got)[..., 0], numpy.arange(24, dtype=numpy.int32).reshape(2, 3, 4))


def test_code_in_another_module_does_the_same():
    """Not the name counts, but what a function writes."""
    def fence(ctx):
        return _fence_by_nvvm(ctx)

    fence.__module__, fence.__qualname__ = "somewhere.else", "fence_of_another_name"

    def body(x_ref, out, smem):
        smem[...] = x_ref[...]
        plgpu.inline_mgpu()(fence)()
        plgpu.copy_smem_to_gmem(smem, out)
        plgpu.wait_smem_to_gmem(0)

    x = count(128)
    assert_same(check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]), x).result, x)


# ---- refusals -------------------------------------------------------------------------------------------------------

def _reverse(register):
    """A pair of elements the other way round."""
    return vector.shuffle(register, register, [1, 0])


REFUSED = {
    "st.shared.u32": (lambda: effect("st.shared.u32 [0], 0;")(), "st.shared.u32"),
    "membar": (lambda: effect("membar.gl;")(), "membar.gl"),
    "context": (lambda: plgpu.inline_mgpu()(lambda ctx: ctx.cluster_size and None)(), "cluster_size"),
    "exception": (lambda: plgpu.inline_mgpu()(lambda ctx: 1 / 0)(), "ZeroDivisionError"),
    "printf": (lambda: plgpu.inline_mgpu()(lambda ctx: gpu.printf("%d", [arith.constant(ir.IntegerType.get_signless(32),
                                                                                        1)])
                                           and None)(), "gpu.printf"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_understood_is_named(name):
    code, words = REFUSED[name]

    def body(out):
        code()
        out[...] = jnp.zeros((128,), F32)

    with pytest.raises(grout.pallas.UnsupportedError, match=words) as caught:
        grout.pallas.dump(kernel(body, S((128,), F32)))()
    assert "test_pallas_inline.py" in str(caught.value)


REFUSED_VALUES = {
    "places": (_reverse, "no slice, transpose, reshape"),
    "instruction": (ptx_on_whole("brev.b32 $0, $1;"), "brev.b32"),
    "selector": (ptx_on_whole("prmt.b32 $0, $1, 0, $1;"), "prmt.b32"),
    "operation": (lambda x: getattr(math_dialect, "atanh", _reverse)(x), "register_inline"),
    "lanes": (of_lanes(lambda one: mgpu.utils.shfl_bfly(one, 5)), "no slice, transpose, reshape"),
}


@pytest.mark.parametrize("name", REFUSED_VALUES)
def test_values_that_are_no_operation_on_arrays_are_refused(name):
    function, words = REFUSED_VALUES[name]
    code = elementwise(function, (64, 64), jnp.int32 if name != "operation" else F32, Layout.WGMMA)

    def body(x_ref, out):
        out[...] = code(plgpu.layout_cast(x_ref[...], Layout.WGMMA))

    dtype = jnp.int32 if name != "operation" else F32
    with pytest.raises(grout.pallas.UnsupportedError, match=words):
        grout.pallas.dump(kernel(body, S((64, 64), dtype)))(S((64, 64), dtype))


def _negate(ctx, x):
    """What is written is not what is registered."""
    del ctx
    return x


def test_what_is_registered_wins():
    layout = Layout.WG_STRIDED((128,), 1)
    negate = plgpu.inline_mgpu(arg_types=(layout,), return_type=plgpu.ShapeDtypeStruct((128,), F32, layout))(_negate)

    def body(x_ref, out):
        out[...] = negate(x_ref[...])

    f = kernel(body, S((128,), F32))
    assert_same(check(f, count(128)).result, count(128))
    grout.pallas.register_inline(f"{__name__}._negate", lambda builder, x: builder.op("neg", x))
    jax.clear_caches()
    assert_same(check(f, count(128)).result, -count(128))
