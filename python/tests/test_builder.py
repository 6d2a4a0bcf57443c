# SPDX-License-Identifier: Apache-2.0
"""Kernels built in Python: their text, their verdict, their values."""
import re
import typing

import numpy as np
import pytest

import grout
from grout._library import lib, text_of
from grout.builder import Builder, Operations, acc, barrier, ds, gmem, mbarrier, semaphore, smem, tmem


def read_kernel(path, name):
    """The lines of a kernel of a file, without comments and empty lines."""
    text = path.read_text(encoding="utf-8")
    body = re.search(rf"^kernel @{name}\(.*?^}}$", text, re.MULTILINE | re.DOTALL).group(0)
    return [line for line in body.split("\n") if line.strip() and not line.strip().startswith("//")]


def list_lines(module):
    """The lines of its kernel."""
    text = str(module)
    return text[text.index("kernel @"):].rstrip().split("\n")


def build_add():
    b = Builder("add_one_smem")
    N, B = b.const("N", 256), b.const("B", 128)
    with b.kernel("add_one_smem", grid={"x": N / B}):
        x = b.array("x", "in", "f32", N)
        y = b.array("y", "out", "f32", N)
        xs = b.scratch("xs", smem("f32", B))
        ys = b.scratch("ys", smem("f32", B))
        full = b.scratch("full", barrier(1))
        here = ds(b.mul(b.axis_index("x"), B, name="first"), B)
        b.copy_gmem_to_smem(x.at[here], xs, full.at[0])
        full[0].wait()
        ys[...] = xs[...] + 1.0
        b.commit_smem()
        b.copy_smem_to_gmem(ys, y.at[here])
        b.wait_smem_to_gmem(0)
    return b.finish()


def build_pipeline():
    """Two slots of mbarriers, whose parities the kernel computes."""
    b = Builder("pipeline")
    STEPS, B = b.const("STEPS", 6), 64
    with b.kernel("pipeline"):
        x = b.array("x", "in", "f32", STEPS * B)
        y = b.array("y", "out", "f32", B)
        xs = b.scratch("xs", smem("f32", 2, B))
        full = b.scratch("full", mbarrier(2))
        total = b.scratch("total", smem("f32", B))
        with b.for_(2, name="i") as i:
            full[i].init(1)
        b.fence_async_shared()

        def load(step, slot):
            full[slot].expect(B * 4)
            b.copy_gmem_to_smem(x.at[ds(step * B, B)], xs.at[slot], full[slot])

        total[...] = b.broadcast(0.0, dtype="f32", shape=(B,))
        load(0, 0)
        with b.for_(STEPS, name="i") as i:
            following = i + 1
            with b.if_(following < STEPS):
                b.fence_async_shared()
                load(following, following % 2)
            full[i % 2].wait((i / 2) % 2)
            total[...] = total[...] + xs[i % 2, :]
        y[...] = total[...]
    return b.finish()


def build_matmul():
    b = Builder("matmul_hopper_async")
    M, N, K, TK, STAGES, FLIGHT = (b.const(name, value) for name, value in
                                   (("M", 64), ("N", 64), ("K", 640), ("TK", 32), ("STAGES", 8), ("FLIGHT", 7)))
    DISTANCE = b.const("DISTANCE", FLIGHT)
    b.require(DISTANCE < STAGES, "the loads need a slot to run ahead")
    with b.kernel("matmul_hopper_async", threads=1):
        a = b.array("a", "in", "bf16", M, K)
        w = b.array("b", "in", "bf16", K, N)
        c = b.array("c", "out", "f32", M, N)
        a_tiles = b.scratch("as", smem("bf16", STAGES, M, TK, tile=(M, 32), swizzle=64))
        w_tiles = b.scratch("bs", smem("bf16", STAGES, TK, N, tile=(TK, 64), swizzle=128))
        full = b.scratch("full", barrier(STAGES, arrivals=2))
        sums = b.scratch("acc", acc("f32", M, N))

        def load(step, slot):
            b.copy_gmem_to_smem(a.at[:, ds(step * TK, TK)], a_tiles.at[slot], full[slot])
            b.copy_gmem_to_smem(w.at[ds(step * TK, TK)], w_tiles.at[slot], full[slot])

        with b.for_(STAGES - DISTANCE, name="k") as k:
            load(k, k)
        with b.for_(K / TK, name="k") as k:
            slot = b.rem(k, STAGES, name="slot")
            full[slot].wait()
            b.wgmma_async(sums, a_tiles.at[slot], w_tiles.at[slot])
            b.wgmma_wait(FLIGHT)
            following = b.add(k, STAGES - DISTANCE, name="next")
            with b.if_(following < K / TK):
                load(following, b.rem(following, STAGES, name="fill"))
        c[...] = sums[...]
    return b.finish()


def test_a_kernel_is_that_of_its_file(kernels):
    assert list_lines(build_add()) == read_kernel(kernels / "add_one.grout", "add_one_smem")


def test_a_pipeline_of_mbarriers():
    kernel = build_pipeline()["pipeline"]
    x = np.arange(384, dtype=np.float32)
    kernel.check(x=x).expect_clean()
    assert np.array_equal(kernel.run(x=x), x.reshape(6, 64).sum(axis=0))
    assert "mbarrier" in kernel.emit().source


def test_a_matmul_of_wgmma(kernels):
    kernel = build_matmul()["matmul_hopper_async"]
    lines = re.sub(r"\(mul (%\w+), TK\)", r"\1 * TK", "\n".join(list_lines(kernel.module))).split("\n")
    assert lines == read_kernel(kernels / "matmul_hopper_async.grout", "matmul_hopper_async")
    kernel.check(values={"K": 320}).expect_clean()
    assert "wgmma" in kernel.emit().source


def test_the_text_reads_back():
    for built in (build_add(), build_pipeline(), build_matmul()):
        assert str(grout.parse(str(built))) == str(built)


# ---- every operation ------------------------------------------------------------------------------------------------

def list_operations():
    return {text_of(lib.grout_op_get_info(opcode).text): lib.grout_op_get_info(opcode)
            for opcode in range(1, lib.GROUT_OP_COUNT)}


def test_parts_of_a_reference_by_constants(b):
    x = b.array("x", "inout", "f32", b.Z * 4)
    x[:b.Z] = x[b.Z:b.Z * 2]
    x[b.Z:8] = x[ds(8, 8 - b.Z)]
    assert finish(b)[2:-1] == ["store %x[ds(0, Z)], (load %x[ds(Z, Z * 2 - Z)])",
                               "store %x[ds(Z, 8 - Z)], (load %x[ds(8, 8 - Z)])"]


def test_every_operation_has_a_method():
    own = {"scratch", "for", "while", "if", "scoped", "warp_map", "warp_specialize"}
    ends = {"yield", "cond"}  # Region.yield_, While.do
    for text, info in list_operations().items():
        name = next(name for name in (text, text + "_", "do") if text in ends or hasattr(Builder, name))
        assert text in own | ends or text_of(info.doc)[1:] in getattr(Operations, name).__doc__
    assert "%r = fma a, b, c" in vars(Operations)["fma"].__doc__


@pytest.fixture
def b():
    builder: typing.Any = Builder("parts")
    builder.Z = builder.const("Z", 4)
    builder.region = builder.kernel("parts", grid={"x": 2}, cluster={"c": 2}, threads=2)
    builder.region.__enter__()
    return builder


def finish(builder):
    builder.region.__exit__(None, None, None)
    return [line.strip() for line in list_lines(builder.finish())]


def test_attributes(b):
    x = b.array("x", "in", "f32", 64, 64)
    y = b.array("y", "inout", "f32", 64, 64)
    xs = b.scratch("xs", smem("f32", 64, 64))
    full = b.scratch("full", barrier(1))
    b.copy_gmem_to_smem(x, xs, full[0], collective_axes="c", oob=None)
    b.copy_smem_to_gmem(xs, y, reduce="add")
    b.wait_smem_to_gmem(0, read_only=True)
    v = b.exp(xs[...], approx=True)
    y[...] = b.transpose(b.cumsum(v, dim=0, reverse=True), perm=(1, 0))
    b.atomic_add(y.at[0, 0], b.typed(1, "f32"), scope="gpu")
    lines = finish(b)
    assert "copy_gmem_to_smem %x, %xs, %full[0] collective_axes(c)" in lines
    assert "copy_smem_to_gmem %xs, %y reduce(add)" in lines
    assert "wait_smem_to_gmem 0 read_only" in lines
    assert "store %y, (transpose (cumsum (exp (load %xs) approx) dim(0) reverse) perm(1, 0))" in lines
    assert "atomic_add %y[0, 0], f32:0x3f800000 scope(gpu)" in lines


def test_attributes_of_ranges(b):
    x = b.array("x", "in", "f16", 2, 9, 9, 16)
    xs = b.scratch("xs", smem("f16", 20, 16))
    full = b.scratch("full", barrier(1))
    b.copy_gmem_to_smem_im2col(x.at[0, 1, 1, ds(0, 16)], xs, full[0], 1, 2, pixels=[(-1, -1, 2), (-1, -1)])
    line = "copy_gmem_to_smem_im2col %x[0, 1, 1, ds(0, 16)], %xs, %full[0], 1, 2 pixels(-1..-1 step 2, -1..-1)"
    assert line in finish(b)


def test_operators(b):
    n = b.scalar("n", "i32")
    y = b.array("y", "out", "i32", 16)
    y[0] = 2 * n - 1
    y[1] = (1 - n) / 3
    y[2] = -n % 5
    y[3] = abs(n) << 2
    y[4] = n >> 1
    y[5] = ((n & 7) | 8) ^ n
    y[6] = ~n
    y[8] = np.int32(3) + n
    chosen = (n < 3) & (n >= 1) | (n != 2)
    y[7] = b.select(chosen, n, b.Z * 2 + 1 - b.expr("max", 1, 2))
    lines = finish(b)
    assert lines[2:-1] == [
        "store %y[0], (sub (mul 2, %n), 1)", "store %y[1], (div (sub 1, %n), 3)", "store %y[2], (rem (neg %n), 5)",
        "store %y[3], (shl (abs %n), 2)", "store %y[4], (shr %n, 1)",
        "store %y[5], (xor (or (and %n, 7), 8), %n)", "store %y[6], (not %n)",
        "store %y[8], (add 3, %n)",
        "store %y[7], (select (or (and (lt %n, 3), (ge %n, 1)), (ne %n, 2)), %n, Z * 2 + 1 - max(1, 2))"]


def test_references(b):
    x = b.array("x", "in", "f32", 8, 64)
    xs = b.scratch("xs", smem("f32", 8, 64))
    full = b.scratch("full", mbarrier(2))
    i = b.axis_index("x", name="i")
    assert (x.shape, x.dtype, full.shape, full.dtype) == ((8, 64), "f32", (2,), None)
    assert (x.at[i].shape, x.at[2:4, ds(i, 16)].shape, x.at[..., ].shape) == ((64,), (2, 16), (8, 64))
    assert xs.transpose().shape == (64, 8) and xs.bitcast("i8").shape == (8, 256) and xs.bitcast("i8").dtype == "i8"
    assert xs.reshape(16, 32).shape == (16, 32)
    v = x[i, 0:32]
    assert (v.dtype, v.shape, v[4:8].shape, (v > 0).dtype, b.reduce_max(v, dim=0).shape) == (
        "f32", (32,), (4,), "bool", ())
    xs.at[0, 0:32].store(v)
    with b.warp_specialize():
        full[0].init(1)
        full[0].cluster(1).arrive()
    lines = finish(b)
    assert "store %xs[0, ds(0, 32)], %0" in lines and "mbarrier_arrive %full[0].cluster(1)" in lines


def test_regions(b):
    n = b.scalar("n", "i32")
    y = b.array("y", "out", "i32", 8)
    b.scratch("s", semaphore(2))
    loop = b.for_(0, n, 2, carry={"sum": 0}, name="i")
    with loop as (i, total):
        loop.yield_(total + i)
    branch = b.if_(loop.results[0] > 10)
    with branch:
        branch.yield_(loop.results[0])
    with branch.else_() as other:
        other.yield_(0)
    again = b.while_({"t": branch.results[0]})
    with again as t:
        again.do(t > 5)
        again.yield_(t - 5)
    with b.warpgroup(0):
        y[1] = 1
    with b.scoped({"zs": smem("i32", 8), "ws": smem("i32", 8)}, collective=True) as (zs, ws):
        zs[0] = again.results[0]
        ws[0] = zs[0]
        y[0] = ws[0]
    with b.warp_map("w") as w:
        b.debug_print("{}", w)
    assert finish(b)[3:] == [
        "%0 = for %i in 0..%n step 2 carry(%sum = 0) {", "yield (add %sum, %i)", "}",
        "%1 = if (gt %0, 10) {", "yield %0", "} else {", "yield 0", "}",
        "%2 = while carry(%t = %1) {", "cond (gt %t, 5)", "} do {", "yield (sub %t, 5)", "}",
        "if (eq (axis_index wg), 0) {", "store %y[1], 1", "}",
        "scoped(%zs : smem i32[8], %ws : smem i32[8]) collective {", "store %zs[0], %2",
        "store %ws[0], (load %zs[0])", "store %y[0], (load %ws[0])", "}",
        "warp_map(%w) {", "debug_print \"{}\", %w", "}", "}"]


def test_partitions():
    b = Builder("partitions")
    with b.kernel("partitions", threads=2, cluster_exit="sync", partition_warps=(4, 1), arch="sm_90a"):
        y = b.array("y", "out", "i32", 2)
        with b.warp_specialize() as part:
            y[0] = 1
            part.partition()
            y[1] = 2
    kernel = b.finish()["partitions"]
    assert 'attr arch = "sm_90a" cluster_exit = sync partition_warps = [4, 1]' in str(kernel.module)
    assert list(kernel.run()) == [1, 2]


def test_tensor_memory():
    b = Builder("through")
    with b.kernel("through", arch="sm_100a"):
        x, y = b.array("x", "in", "f32", 128, 32), b.array("y", "out", "f32", 128, 32)
        t = b.scratch("t", tmem("f32", 128, 32))
        b.async_store_tmem(t, b.load(x))
        b.commit_tmem()
        b.store(y, b.async_load_tmem(t))
    kernel = b.finish()["through"]
    kernel.check().expect_clean()
    kernel.check(arch="sm_100a").expect_clean()
    with pytest.raises(grout.KernelError, match="unsupported-arch"):
        kernel.check(arch="sm_90a")


@pytest.mark.parametrize("arch", ["sm_80", "sm_120a", 90])
def test_other_hardware(arch):
    b = Builder("other")
    with pytest.raises(ValueError, match="sm_100a"):
        with b.kernel("other", arch=arch):
            pass


def test_what_scratch_and_parameters_hold():
    b = Builder("held")
    with b.kernel("held"):
        x = b.array("x", "in", "i32", 4)
        y = b.array("y", "out", "i32", 4)
        g = b.scratch("g", gmem("i32", 4))
        b.init(x, "arange")
        b.init(g, "list", 1, 2, 3, 4)
        y[...] = x[...] + g[...]
    b.launch("held", "x", "y")
    assert list(b.finish()["held"].run()) == [1, 3, 5, 7]
