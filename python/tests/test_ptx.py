# SPDX-License-Identifier: Apache-2.0
"""PTX on the CPU: texts from anywhere, and what NVRTC makes of kernels."""
import pathlib

import numpy
import pytest

import grout

BEGINNING = """.version 8.0
.target sm_90a
.address_size 64
"""
ADD = BEGINNING + """.visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n, .param .f32 by)
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .f32 %f<3>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; ld.param.u32 %r0, [n]; ld.param.f32 %f1, [by];
  mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 128, %r1;
  setp.ge.u32 %p, %r1, %r0; @%p ret;
  mul.wide.u32 %rd2, %r1, 4; add.u64 %rd0, %rd0, %rd2; add.u64 %rd1, %rd1, %rd2;
  ld.global.f32 %f0, [%rd0]; add.f32 %f0, %f0, %f1; st.global.f32 [%rd1], %f0;
  ret;
}
"""
# A box of 8 by 16 floats from the map, at column 4 and row 2, to out as it lies in shared memory.
BOX = BEGINNING + """.visible .entry box(.param .align 64 .b8 map[128], .param .u64 out)
{
  .reg .pred %p<2>; .reg .b32 %r<4>; .reg .f32 %f0; .reg .b64 %rd<4>;
  .shared .align 128 .b8 s[512]; .shared .align 8 .b64 full;
  mov.u32 %r0, %tid.x; setp.ne.u32 %p0, %r0, 0; mov.u32 %r1, s; mov.u32 %r2, full; @%p0 bra WAIT;
  mbarrier.init.shared::cta.b64 [%r2], 1; fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 512;
  mov.b64 %rd0, map; cvta.param.u64 %rd0, %rd0;
  cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd0, {4, 2}], [%r2];
WAIT:
  bar.sync 0;
AGAIN:
  mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0; @!%p1 bra AGAIN;
  ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r0, 4; add.u64 %rd1, %rd1, %rd2;
  mad.lo.u32 %r1, %r0, 4, %r1; ld.shared.f32 %f0, [%r1]; st.global.f32 [%rd1], %f0;
  ret;
}
"""


# 64 numbers turned round in shared memory, with or without a barrier between.
TURN = BEGINNING + """.visible .entry turn(.param .u64 x)
{
  .reg .b32 %r<4>; .reg .b64 %rd<3>; .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd0, [x]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd0, %rd0, %rd1;
  ld.global.b32 %r1, [%rd0]; mov.u32 %r2, tile; mad.lo.u32 %r3, %r0, 4, %r2; st.shared.b32 [%r3], %r1;
  BARRIER
  sub.u32 %r0, 63, %r0; mad.lo.u32 %r3, %r0, 4, %r2; ld.shared.b32 %r1, [%r3];
  st.global.b32 [%rd0], %r1;
  ret;
}
"""


@pytest.fixture(scope="module")
def add():
    return grout.ptx.parse(ADD, "add.ptx")


def test_arrays_and_numbers(add):
    x, y = numpy.arange(200, dtype="float32"), numpy.zeros(200, "float32")
    stats = add["add"].run(x, y, 200, 0.5, grid=2, block=128, seed=3)
    assert (y == x + 0.5).all() and stats.warp_instructions > 100
    assert stats.lane_instructions > stats.warp_instructions and stats.async_operations == 0
    add.run(x, y, numpy.uint32(100), numpy.float32(2.0), grid=(1,), block=(128, 1, 1))
    assert (y[:100] == x[:100] + 2).all() and (y[100:] == x[100:] + 0.5).all()
    add.run(x, x, 200, 1.0, grid=2, block=128)  # one array for both
    assert (x == numpy.arange(200) + 1).all()


def test_text_and_entries(add):
    assert list(add.entries) == ["add"] and len(add) == 1 and add["add"].layout == [(0, 8), (8, 8), (16, 4), (20, 4)]
    assert str(grout.ptx.parse(str(add))) == str(add) and "ld.param" in str(add)
    with pytest.raises(KeyError, match="no entry 'k'; it has add"):
        add["k"]


def test_a_file(tmp_path):
    path = tmp_path / "add.ptx"
    path.write_text(ADD)
    assert repr(grout.ptx.load(path)["add"]) == "<grout.ptx.Entry add: parameters of 8, 8, 4, 4 bytes>"


@pytest.mark.parametrize("swizzle", [0, 32])
def test_tensor_maps(swizzle):
    x = numpy.arange(32 * 32, dtype="float32").reshape(32, 32)
    out = numpy.zeros((16, 8), "float32")
    tensor_map = grout.ptx.TensorMap(x, box=(16, 8), swizzle=swizzle)
    grout.ptx.parse(BOX).run(tensor_map, out, block=128, timing="lazy")
    expected = x[2:18, 4:12].copy()
    if swizzle:  # of each 8 rows of 32 bytes the last four have their halves exchanged
        for row in (*range(4, 8), *range(12, 16)):
            expected[row] = numpy.roll(expected[row], 4)
    assert (out == expected).all()


def test_what_no_gpu_could_run(add):
    x = numpy.zeros(200, "float32")
    with pytest.raises(grout.RunError, match=r"add.ptx:11:3: error: no memory of the space 'global'(.|\n)*ptx-fault"):
        add.run(x, x, 400, 0.5, grid=4, block=128)
    with pytest.raises(grout.RunError, match="limit-reached"):
        grout.ptx.parse(BEGINNING + ".visible .entry k() { L: bra L; }").run(max_steps=1000)


def test_races():
    x = numpy.arange(64, dtype="int32")
    grout.ptx.parse(TURN.replace("BARRIER", "bar.sync 0;"), "turn.ptx")["turn"].run(x, block=64, find_races=True)
    assert (x == numpy.arange(64)[::-1]).all()
    wrong = grout.ptx.parse(TURN.replace("BARRIER", ""), "turn.ptx")["turn"]
    for seed in range(4):
        with pytest.raises(grout.RunError) as error:
            wrong.run(x, block=64, seed=seed, find_races=True)
        assert error.value.diagnostics[0].code == "ptx-race"
        assert "races with" in str(error.value) and "shared memory" in str(error.value)


def test_texts_that_are_refused():
    with pytest.raises(grout.KernelError, match="ptx-syntax"):
        grout.ptx.parse("foo")
    with pytest.raises(grout.GroutError, match="2 entries: a, b"):
        grout.ptx.parse(BEGINNING + ".entry a() { ret; } .entry b() { ret; }").run()


def test_arguments_that_do_not_fit(add):
    x = numpy.zeros(200, "float32")
    with pytest.raises(grout.ArgumentError, match="4 parameters, and 2 arguments"):
        add.run(x, x)
    with pytest.raises(grout.ArgumentError, match="parameter 2: 1099511627776 does not fit 4 bytes"):
        add.run(x, x, 1 << 40, 0.5)
    with pytest.raises(grout.ArgumentError, match="parameter 3: it has 8 bytes, and the parameter 4"):
        add.run(x, x, 200, numpy.float64(0.5))
    with pytest.raises(grout.ArgumentError, match="in common"):
        add.run(x, x[1:], 100, 0.5)
    with pytest.raises(grout.ArgumentError, match="without gaps"):
        add.run(x[::2], x, 100, 0.5)
    with pytest.raises(grout.ArgumentError, match="1024 threads"):
        add.run(x, x, 200, 0.5, block=2048)
    with pytest.raises(ValueError, match="timing='never'"):
        add.run(x, x, 200, 0.5, timing="never")
    with pytest.raises(ValueError, match="grid=0"):
        add.run(x, x, 200, 0.5, grid=0)
    with pytest.raises(grout.ArgumentError, match="box"):
        grout.ptx.parse(BOX).run(grout.ptx.TensorMap(x, box=(1, 2)), x)


def run_ptx(kernel, *arrays, **options):
    try:
        return kernel.run(*arrays, device="ptx", **options)
    except grout.EmitError as error:
        if any(said.code == "nvrtc-missing" for said in error.diagnostics):
            pytest.skip("no NVRTC")
        raise


def test_a_kernel_as_ptx(add_one):
    x = numpy.arange(512, dtype="float32")
    assert (run_ptx(add_one, x, seed=3, timing="random") == x + 1).all()
    y = numpy.zeros_like(x)
    assert run_ptx(add_one, x, y) is y and (y == x + 1).all()


def test_tensor_maps_of_a_kernel(kernels):
    kernel = grout.load(kernels / "matmul_hopper_ws.grout")
    numbers = numpy.random.default_rng(1).integers(-3, 4, (2, 256, 64)).astype("float32")
    a, b = ((matrix.view("uint32") >> 16).astype("uint16") for matrix in numbers)  # bf16, by its bits
    found, expected = numpy.zeros((256, 256), "uint16"), numpy.zeros((256, 256), "uint16")
    run_ptx(kernel, a=a, b=b.T.copy(), c=found)
    kernel.run(a=a, b=b.T.copy(), c=expected)
    assert (found == expected).all() and found.any()


def test_races_of_a_kernel(kernels):
    wrong, a = grout.load(kernels / "bugs" / "add_tma_no_commit.grout"), numpy.ones((256, 256), "float32")
    with pytest.raises(grout.RunError) as error:
        run_ptx(wrong, a, a, find_races=True)
    assert error.value.diagnostics[0].code == "ptx-race" and "fence.proxy.async" in str(error.value)
    run_ptx(grout.load(kernels / "add_tma.grout"), a, a, find_races=True)


def test_options_that_the_machine_has_not(add_one):
    x = numpy.zeros(512, "float32")
    with pytest.raises(ValueError, match="device='ptx'"):
        add_one.run(x, find_races=True)
    with pytest.raises(ValueError, match="no option 'threads'"):
        add_one.run(x, device="ptx", threads=2)
    with pytest.raises(ValueError, match="'cpu' or 'ptx'"):
        add_one.run(x, device="cuda")


# ---- programs of an attack on the search, with the verdict that they must have, in 12 interleavings

RACE, SAME = "ptx-race", "same-value-race"
ATTACK = {"48_nc_load_bug": (RACE, "ld.global.nc reads by a cache"), "48_nc_load_ok": None,
          "56_relay_cluster_scope_ok": None, "56_relay_cta_scope_bug": (RACE, "no barrier, fence or wait orders them"),
          "56_relay_cta_scope_acq_only_bug": (RACE, "no barrier, fence or wait orders them"),
          "57_peer_not_begun_bug": (RACE, "nothing tells that this CTA has begun"), "57_peer_not_begun_ok": None,
          "same_value_write_write": (SAME, "write the same values to shared memory")}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("name", ATTACK)
def test_attack(name, seed):
    path = pathlib.Path(__file__).resolve().parents[2] / "tests" / "ptx_attack" / f"{name}.ptx"
    shape = {"grid": 2, "cluster": 2, "block": 32} if name[0] == "5" else {"grid": 2, "block": 1} if name[0] == "4" \
        else {"block": 128}
    arrays = [numpy.zeros(128, "int32") for _ in grout.ptx.load(path)["k"].layout]
    options = {"seed": seed, "timing": ("random", "lazy", "eager")[seed % 3], "find_races": True}
    if ATTACK[name] is None:
        assert grout.ptx.load(path).run(*arrays, **shape, **options).warnings == ()
        return
    code, text = ATTACK[name]
    if code == SAME:
        found = grout.ptx.load(path).run(*arrays, **shape, **options).warnings
    else:
        with pytest.raises(grout.RunError) as error:
            grout.ptx.load(path).run(*arrays, **shape, **options)
        found = error.value.diagnostics
    assert [one.code for one in found] == [code] and text in found[0].message


# All lanes write the first element of y, each with its element of x.
WRITES = BEGINNING + """.visible .entry k(.param .u64 x, .param .u64 y)
{
  .reg .b32 %r<2>; .reg .b64 %rd<4>;
  ld.param.u64 %rd0, [x]; ld.param.u64 %rd1, [y]; mov.u32 %r0, %tid.x; mul.wide.u32 %rd2, %r0, 4;
  add.u64 %rd2, %rd0, %rd2; ld.global.b32 %r1, [%rd2]; st.global.b32 [%rd1], %r1;
  ret;
}
"""


def test_equal_by_chance():
    """What is the same with these inputs alone is a race: the run is made again with others."""
    kernel, first = grout.ptx.parse(WRITES), grout.ptx.parse(WRITES.replace("[%rd2];", "[%rd0];"))
    for x in (numpy.zeros(64, "float32"), numpy.zeros(64, "float64"), numpy.eye(1, 256, 200, "int32")[0]):
        with pytest.raises(grout.RunError, match="with other inputs they leave other values"):
            kernel.run(x, numpy.zeros(1, "int32"), block=64, find_races=True)
        found = first.run(x, numpy.zeros(1, "int32"), block=64, find_races=True).warnings
        assert [one.code for one in found] == [SAME]
    zeros = numpy.zeros(64, "int32")  # in any order, they stay the same
    assert [one.code
            for one in kernel.run(zeros, numpy.zeros(1, "int32"), block=64, find_races=True).warnings] == [SAME]
