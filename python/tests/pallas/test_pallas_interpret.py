# SPDX-License-Identifier: Apache-2.0
"""What JAX' interpreter takes beyond its lowering for GPUs, on grout."""
import functools

import numpy
import pytest

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
pl = pytest.importorskip("jax.experimental.pallas")
plgpu = pytest.importorskip("jax.experimental.pallas.mosaic_gpu")

import grout.pallas

I32 = jnp.int32


def kernel(shape, dtype=I32, **settings):
    return functools.partial(plgpu.kernel, out_type=jax.ShapeDtypeStruct(shape, dtype), **settings)


def codes(report):
    return sorted({finding.code for finding in report.findings})


def test_a_written_input_stays_what_it_is():
    @kernel((4,))
    def body(given, out):
        given[...] = given[...] + 1
        out[...] = given[...]
    given = jnp.arange(4, dtype=I32)
    report = grout.pallas.check(body)(given)
    assert report.verdict == "clean" and report.result.tolist() == [1, 2, 3, 4] and given.tolist() == [0, 1, 2, 3]


def test_arrays_in_gmem_are_one_for_each_cta():
    def make(waits):
        @kernel((2, 2), cluster=(2,), cluster_names=("c",), num_threads=2, thread_name="t",
                scratch_types={"own": plgpu.GMEM((2,), I32), "met": plgpu.Barrier(num_arrivals=2)})
        def body(out, own, met):
            c, t = jax.lax.axis_index("c"), jax.lax.axis_index("t")
            own[t] = 10 * c + t
            plgpu.barrier_arrive(met)
            if waits:
                plgpu.barrier_wait(met)
            out[c, t] = own[1 - t]
        return grout.pallas.check(body)()
    assert make(True).verdict == "clean" and make(True).result.tolist() == [[1, 0], [11, 10]]
    assert "gmem-race" in codes(make(False))


@pytest.mark.parametrize("axes, said", [
    (("c",), "is an axis of CTAs, and what a kernel allocates belongs to one CTA"),
    (("u",), "the kernel has no axis 'u'"),
    ((), "what threads share is allocated by all of them: collective_axes='t'")])
def test_what_is_allocated_belongs_to_the_threads_of_a_cta(axes, said):
    @kernel((), cluster=(2,), cluster_names=("c",), num_threads=2, thread_name="t")
    def body(out):
        pl.run_scoped(lambda barrier: plgpu.barrier_arrive(barrier), plgpu.Barrier(num_arrivals=2),
                      collective_axes=axes)
    with pytest.raises(grout.pallas.UnsupportedError, match=said):
        grout.pallas.check(body)()


@pytest.mark.parametrize("shape", [(4, 4, 4), (16, 40, 24)])
@pytest.mark.parametrize("dtype", [jnp.int32, jnp.float32])
def test_products_of_matrices(shape, dtype):
    m, k, n = shape

    @kernel((m, n), dtype)
    def body(a, b, out):
        out[...] = a[...] @ b[...]
    a = (jnp.arange(m * k) % 7 - 3).astype(dtype).reshape(m, k)
    b = (jnp.arange(k * n) % 5 - 2).astype(dtype).reshape(k, n)
    report = grout.pallas.check(body)(a, b)
    assert numpy.array_equal(report.result, numpy.asarray(a) @ numpy.asarray(b))
    assert any("dot_general" in note for note in report.notes)


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.bfloat16, jnp.bool_])
@pytest.mark.parametrize("start", [2, 5])
def test_parts_at_computed_places(dtype, start):
    @kernel((2, 3), dtype)
    def body(given, at, out):
        out[...] = jax.lax.dynamic_slice(given[...], (at[0], 1), (2, 3))
    given = (jnp.arange(24) % 5 - 2).astype(dtype).reshape(6, 4)
    got = grout.pallas.run(body)(given, jnp.array([start], I32))
    assert numpy.array_equal(got, jax.lax.dynamic_slice(given, (start, 1), (2, 3)))


def test_dimensions_of_size_1_are_stretched():
    @kernel((4, 3, 8))
    def body(rows, whole, out):
        out[...] = rows[...] + whole[...]
    rows, whole = jnp.arange(24, dtype=I32).reshape(1, 3, 8), jnp.arange(96, dtype=I32).reshape(4, 3, 8)
    for given in (rows, rows[:, :1], whole[:, :1], whole[:, :, :1]):
        assert numpy.array_equal(grout.pallas.run(body)(given, whole), given + whole)


def test_what_the_body_of_run_state_returns_comes_first():
    @kernel((64, 64), jnp.float32)
    def body(given, out):
        def scope(acc):
            return jax.lax.fori_loop(0, 4, lambda _, total: total + acc[...], acc[...])
        out[...] = pl.run_state(scope)(plgpu.ACC.init(given[...]))
    assert (grout.pallas.run(body)(jnp.ones((64, 64), jnp.float32)) == 5).all()


def test_elements_one_by_one():
    @kernel(())
    def body(given, out):
        out[...] = sum(given[...])
    assert grout.pallas.run(body)(jnp.arange(7, dtype=I32)) == 21


def test_what_is_done_to_own_objects_alone_is_done():
    @kernel((1,), num_threads=2, thread_name="t", scratch_types=[plgpu.SMEM((8,), I32)])
    def body(out, shared):
        shared[...] = shared[...] + jax.lax.axis_index("t")
    assert "smem-race" in codes(grout.pallas.check(body)())


def test_copies_of_four_bytes():
    @kernel((), scratch_types=[plgpu.SMEM((), I32), plgpu.Barrier()])
    def body(given, out, shared, full):
        shared[...] = 100
        plgpu.copy_gmem_to_smem(given, shared, full)
        plgpu.barrier_wait(full)
        out[...] = shared[...]
    with pytest.raises(grout.KernelError, match="tma-inner-bytes"):
        grout.pallas.check(body)(I32(5))
    assert codes(grout.pallas.check(body, arch="any")(I32(5))) == ["missing-commit-smem"]


def test_a_report_is_handed_over_and_what_that_raises_ends_the_call():
    @kernel((1,))
    def body(out):
        out[...] = jnp.ones_like(out)

    class Stop(Exception):
        pass

    def stop(report):
        assert report.is_clean
        raise Stop("it stops here")
    with pytest.raises(Exception, match="it stops here"):
        with grout.pallas.interpret(check=True, on_report=stop) as session:
            jax.block_until_ready(body())
    assert isinstance(session.error, Stop)


def test_floats_are_left_out_where_jax_is_asked_to():
    params = pytest.importorskip("jax._src.pallas.mosaic_gpu.interpret.params")

    @kernel((4,), jnp.float32, interpret=params.InterpretGPUParams(skip_floating_point_ops=True))
    def body(given, out):
        out[...] = given[...] * 2.0
    assert numpy.isinf(grout.pallas.run(body)(jnp.ones(4, jnp.float32))).all()


def test_a_pallas_call_of_whole_arrays():
    params = pytest.importorskip("jax._src.pallas.mosaic_gpu.interpret.params")
    if jax.__version__ < "0.11":
        pytest.skip("JAX 0.10 has a pallas_call for GPUs, which is read in another way")

    def body(given, out, tile, plain):
        tile[...] = given[...] * 2
        plain[...] = jnp.ones_like(plain)
        out[...] = tile[...] + plain[...]
    tiled = plgpu.SMEM((16, 64), jnp.bfloat16, transforms=(plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128)))
    whole = plgpu.BlockSpec((16, 64), memory_space=plgpu.SMEM)
    given = jnp.arange(1024, dtype=jnp.bfloat16).reshape(16, 64) % 9
    call = functools.partial(pl.pallas_call, body, out_shape=given,
                             scratch_shapes=[tiled, plgpu.SMEM((16, 64), given.dtype)],
                             interpret=params.InterpretGPUParams())
    for specs in ({}, {"in_specs": [whole], "out_specs": whole}):
        report = grout.pallas.check(call(**specs))(given)
        assert report.verdict == "clean" and numpy.array_equal(report.result, given * 2 + 1)
    with pytest.raises(grout.pallas.UnsupportedError, match="lowers no pallas_call for Mosaic GPU"):
        grout.pallas.check(call(grid=(2,)))(given)
