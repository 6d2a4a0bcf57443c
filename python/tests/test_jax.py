# SPDX-License-Identifier: Apache-2.0
"""kernel.jax_call: on the CPU, and where JAX has a Hopper GPU there."""
import concurrent.futures
import gc
import pathlib
import shutil
import subprocess

import numpy
import pytest

import grout

jax = pytest.importorskip("jax")
import jax.numpy as jnp

HERE = pathlib.Path(__file__).resolve().parent
on_cpu = pytest.mark.skipif(jax.default_backend() != "cpu", reason="a GPU is there: not for its context")

SCALE = """const N = 64
kernel @scale(%x: in gmem f32[N], %by: f32, %more: i8, %z: inout gmem f32[N], %y: out gmem f32[N])
{
  store %y, (mul (load %x), %by)
  store %z, (add (load %z), (cast %more : f32))
}
"""


@pytest.fixture(scope="module")
def scale():
    return grout.load(SCALE)


@pytest.fixture(scope="module")
def x():
    return jnp.arange(512, dtype=jnp.float32)


# ---- values ---------------------------------------------------------------------------------------------------------


def test_outside_and_inside_jit(add_one, x):
    assert (add_one.jax_call(x) == x + 1).all()
    assert (add_one.jax_call(x=x) == x + 1).all()
    assert (add_one.jax_call(numpy.asarray(x)) == x + 1).all()
    assert (jax.jit(lambda x: add_one.jax_call(x * 2) - 3)(x) == x * 2 - 2).all()


def test_many_calls_of_one_program(add_one, x):
    @jax.jit
    def chain(x):
        for _ in range(8):
            x = add_one.jax_call(x)
        return x

    for k in range(4):
        assert (chain(x + k) == x + k + 8).all()


def test_matmul(kernels):
    matmul = grout.load(kernels / "matmul_hopper_ws.grout")
    rng = numpy.random.default_rng(0)
    a, b = (jnp.asarray(rng.integers(-3, 4, (256, 256)), jnp.bfloat16) for _ in range(2))
    c = jax.jit(matmul.jax_call)(a, b)
    assert c.dtype == jnp.bfloat16
    assert (c == (a.astype(jnp.float32) @ b.astype(jnp.float32)).astype(jnp.bfloat16)).all()


def test_consts_and_sizes(add_one, x):
    assert (add_one.jax_call(x, B=64) == x + 1).all()
    assert (add_one.jax_call(x[:128], values={"B": 32}) == x[:128] + 1).all()
    with pytest.raises(grout.KernelError, match="inexact|divi"):
        add_one.jax_call(x, B=100)


def test_inout_and_scalars(scale):
    x, z = jnp.arange(64.0), jnp.ones(64)
    for call in (scale.jax_call, jax.jit(scale.jax_call, static_argnums=(1, 2))):
        result = call(x, 2.5, -3, z)
        assert result._fields == ("z", "y")
        assert (result.y == x * 2.5).all() and (result.z == -2).all() and (z == 1).all()
    again = jax.jit(lambda x, z: scale.jax_call(x, 0.5, 127, z), donate_argnums=1)(x, jnp.ones(64))
    assert (again.y == x / 2).all() and (again.z == 128).all()


def test_an_array_twice(scale):
    x = jnp.arange(64.0)
    result = jax.jit(lambda x: scale.jax_call(x, 2, 1, x))(x)
    assert (result.y == x * 2).all() and (result.z == x + 1).all()


def test_scalars_of_every_size():
    types = {"i8": -5, "u8": 250, "i16": -300, "u16": 60000, "i32": -70000, "u32": 3 << 30, "i64": -(1 << 40),
             "u64": 1 << 41, "f32": 1.5, "f64": -2.25, "bool": True, "f16": 0.5, "bf16": -8.0}
    params = ", ".join(f"%s{i}: {dtype}" for i, dtype in enumerate(types))
    stores = []
    for i, dtype in enumerate(types):
        value = f"(cast %s{i} : f32)" if dtype != "f32" else f"%s{i}"
        if dtype == "bool":
            stores.append(f"  %bool = if %s{i} {{ yield 1.0 }} else {{ yield 0.0 }}")
            value = "%bool"
        stores.append(f"  store %y[{i}], {value}")
    kernel = grout.load(f"kernel @scalars({params}, %y: out gmem f32[{len(types)}])\n{{\n" + "\n".join(stores) +
                        "\n}\n")
    y = kernel.jax_call(*types.values())
    assert y.tolist() == [float(value) for value in types.values()]


def test_elements_of_four_bits():
    kernel = grout.load("kernel @k(%x: in gmem i4[256], %y: out gmem i8[256])\n{\n"
                        "  store %y, (cast (load %x) : i8)\n}\n")
    bytes_ = jnp.full(128, 0x3A, jnp.uint8)
    assert kernel.jax_call(bytes_).tolist() == [-6, 3] * 128
    with pytest.raises(grout.ArgumentError, match="pass the bytes"):
        kernel.jax_call(jnp.zeros(256, jnp.int8))


def test_workspaces():
    kernel = grout.load("""kernel @order(%x: in gmem f32[128], %y: out gmem f32[128]) grid(i = 2)
{
  scratch %sum : gmem f32[128] init(1.5)
  scratch %done : semaphore[1] global
  if (eq (axis_index i), 0) {
    store %sum, (add (load %sum), (load %x))
    semaphore_signal %done[0], 1
  } else {
    semaphore_wait %done[0], 1
    store %y, (load %sum)
  }
}
""")
    x = jnp.arange(128.0)
    chain = jax.jit(lambda x: kernel.jax_call(kernel.jax_call(kernel.jax_call(kernel.jax_call(x)))))
    for _ in range(4):
        assert (chain(x) == x + 6).all()


def test_vmap(scale, add_one, x):
    rows = jnp.stack([x, x * 2, x * 3])
    assert (jax.jit(jax.vmap(add_one.jax_call, in_axes=1, out_axes=1))(rows.T) == rows.T + 1).all()
    mapped = jax.jit(jax.vmap(lambda x, z: scale.jax_call(x, 2, 1, z), in_axes=(0, None)))
    result = mapped(rows[:, :64], jnp.ones(64))
    assert (result.y == rows[:, :64] * 2).all() and (result.z == 2).all() and result.z.shape == (3, 64)


def test_shard_map(add_one, x):
    mesh, spec = jax.make_mesh((1,), ("d",)), jax.sharding.PartitionSpec("d")
    placed = jax.device_put(x, jax.sharding.NamedSharding(mesh, spec))
    mapped = jax.jit(jax.shard_map(add_one.jax_call, mesh=mesh, in_specs=spec, out_specs=spec))
    assert (mapped(placed) == x + 1).all()


def test_results_alone_live(add_one, x):
    function = jax.jit(grout.load(SCALE.replace("@scale", "@lost")).jax_call, static_argnums=(1, 2))
    before = function(jnp.ones(64), 2, 3, jnp.ones(64))
    gc.collect()
    after = function(jnp.ones(64), 2, 3, jnp.ones(64))
    assert (before.y == after.y).all() and (after.z == 4).all()


def test_threads(add_one, x):
    function = jax.jit(add_one.jax_call)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        for k, y in enumerate(pool.map(lambda k: function(x + k), range(16))):
            assert (y == x + k + 1).all()


# ---- targets --------------------------------------------------------------------------------------------------------


def target_of(function, *arrays):
    text = jax.jit(function).lower(*arrays).as_text()
    return [word.split("(")[0] for word in text.split("@") if word.startswith("grout.")]


def test_equal_kernels_are_one_target(scale):
    x = jnp.ones(64)
    names = {target_of(lambda x, kernel=kernel, by=by: kernel.jax_call(x, by, 1, x).y, x)[0]
             for kernel, by in ((scale, 1), (grout.load(SCALE), 1), (scale, 2))}
    assert len(names) == 1 and names.pop().startswith("grout.scale.")
    assert len({target_of(lambda x: scale.jax_call(x, 1, 1, x).y, jnp.ones(n))[0] for n in (32, 64)}) == 2


def test_a_call_by_hand_is_checked(add_one, x):
    add_one.jax_call(x)
    name, = target_of(add_one.jax_call, x)

    def call(shape, dtype, *arrays):
        return jax.ffi.ffi_call(name, jax.ShapeDtypeStruct(shape, dtype))(*arrays)

    assert (call((512,), jnp.float32, x) == x + 1).all()
    for shape, dtype, arrays, why in (((256,), jnp.float32, (x,), "other bytes for 'y' than its 2048"),
                                      ((512,), jnp.float16, (x,), "other bytes for 'y'"),
                                      ((512,), jnp.float32, (x[:4],), "other bytes for 'x'"),
                                      ((512,), jnp.float32, (x, x), "2 operands and 1 results")):
        with pytest.raises(Exception, match=why):
            call(shape, dtype, *arrays).block_until_ready()


def test_a_call_by_hand_needs_scalars_and_no_alias(scale):
    x = jnp.ones(64)
    scale.jax_call(x, 1, 1, x)
    name, = target_of(lambda x: scale.jax_call(x, 1, 1, x).y, x)
    types = [jax.ShapeDtypeStruct((64,), jnp.float32)] * 2
    with pytest.raises(Exception, match="no attribute 'scalars'"):
        jax.block_until_ready(jax.ffi.ffi_call(name, types)(x, x))
    for words in (numpy.array([1], numpy.int64), numpy.array([1, 1], numpy.int32)):
        with pytest.raises(Exception, match="no attribute 'scalars'"):
            jax.block_until_ready(jax.ffi.ffi_call(name, types)(x, x, scalars=words))
    words = numpy.array([numpy.float32(2).view("int32"), 3], numpy.int64)
    z, y = jax.ffi.ffi_call(name, types)(x, x, scalars=words)
    assert (y == 2).all() and (z == 4).all() and (x == 1).all()


def test_lowering_for_a_gpu_that_is_not_there(add_one, x):
    try:
        lowered = jax.jit(add_one.jax_call).trace(x).lower(lowering_platforms=("cuda",))
    except grout.GroutError as error:
        assert error.diagnostics[0].code == "nvrtc-missing"
        pytest.skip("no NVRTC")
    assert "custom_call @grout.add_one_smem." in lowered.as_text()


def test_what_jaxlib_declares():
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("no C compiler")
    command = [compiler, "-std=c11", "-fsyntax-only", "-I", HERE.parents[1] / "doors" / "xla", "-I",
               jax.ffi.include_dir(), HERE / "check_ffi_api.c"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- mistakes -------------------------------------------------------------------------------------------------------


def test_what_does_not_fit(add_one, scale, x):
    ones = jnp.ones(64)
    for call, why in ((lambda: add_one.jax_call(), "%x.*needs all of the inputs"),
                      (lambda: add_one.jax_call(x, y=x), "%y.*are not written"),
                      (lambda: add_one.jax_call(3.0), "%x.*a float is not an array of JAX"),
                      (lambda: add_one.jax_call(x.astype(jnp.int32)), "the elements are i32, not f32"),
                      (lambda: add_one.jax_call(x.reshape(2, 256)), "the shape is"),
                      (lambda: scale.jax_call(ones, 1, 1, jnp.ones(32)), "const N is 64 by"),
                      (lambda: scale.jax_call(ones, 1, 300, ones), "300 does not fit i8"),
                      (lambda: scale.jax_call(ones, "x", 1, ones), "a str is not of type f32")):
        with pytest.raises(grout.ArgumentError, match=why):
            call()
    with pytest.raises(TypeError, match="1 inputs, and 2 arrays"):
        add_one.jax_call(x, x)
    with pytest.raises(TypeError, match="%x is given twice"):
        add_one.jax_call(x, x=x)
    with pytest.raises(TypeError, match="no parameter, const or option 'C'"):
        add_one.jax_call(x, C=1)


def test_scalars_are_known_when_traced(scale):
    with pytest.raises(grout.ArgumentError, match="%by.*make it static"):
        jax.jit(scale.jax_call)(jnp.ones(64), 2.0, 1, jnp.ones(64))


def test_types_of_64_bits():
    kernel = grout.load("kernel @k(%x: in gmem f64[4], %y: out gmem f64[4]) {\n  store %y, (load %x)\n}\n")
    with pytest.raises(grout.ArgumentError, match="jax_enable_x64"):
        kernel.jax_call(numpy.ones(4))


def test_no_derivative(add_one, x):
    with pytest.raises(NotImplementedError, match="[Dd]ifferentiation rule for 'grout'"):
        jax.grad(lambda x: add_one.jax_call(x).sum())(x)


def test_sixty_four_parameters(x):
    def make(count):
        params = ", ".join(f"%x{i}: in gmem f32[4]" for i in range(count - 1))
        return grout.load(f"kernel @k({params}, %y: out gmem f32[4]) {{\n  store %y, (load %x{count - 2})\n}}\n")

    arrays = [jnp.full(4, float(i)) for i in range(64)]
    if jax.default_backend() == "cpu":
        assert (make(64).jax_call(*arrays[:63]) == 62).all()
    with pytest.raises(grout.GroutError, match="has 65 parameters"):
        make(65).jax_call(*arrays)


@on_cpu
def test_a_deadlock():
    kernel = grout.load("kernel @stuck(%x: in gmem f32[4], %y: out gmem f32[4])\n{\n  scratch %b : barrier[1]\n"
                        "  barrier_wait %b[0]\n  store %y, (load %x)\n}\n")
    with pytest.raises(Exception, match=r"no thread of '@stuck' can run on(.|\n)*\[deadlock\](.|\n)*kernel.check\(\)"):
        kernel.jax_call(jnp.ones(4)).block_until_ready()


@on_cpu
def test_a_debug_check():
    kernel = grout.load("kernel @k(%x: in gmem f32[4], %y: out gmem f32[4])\n{\n  %v = load %x\n"
                        "  debug_check (lt %v, 3.0), \"small\"\n  store %y, %v\n}\n")
    function = jax.jit(kernel.jax_call)
    assert (function(jnp.ones(4)) == 1).all()
    with pytest.raises(Exception, match="small(.|\n)*debug-check-failed"):
        function(jnp.full(4, 3.0)).block_until_ready()
    assert (function(jnp.ones(4)) == 1).all()
