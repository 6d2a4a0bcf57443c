# SPDX-License-Identifier: Apache-2.0
"""Pipelines as JAX' page pallas/gpu/pipelining shows them, written anew."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from . import Prepared, case
from .jax_matmul import small_whole

PAGE = "JAX' page pallas/gpu/pipelining"
TILE, STEP = 128, 64
TRANSFORMS = (plgpu.TilingTransform((8, STEP)), plgpu.SwizzleTransform(128))


def _spec(shape, index, **options):
    return plgpu.BlockSpec(shape, index, transforms=TRANSFORMS, **options)


def _prepare(function, m, n, k):
    rng = np.random.default_rng(1)
    a, b = small_whole(rng, (m, k), np.float16), small_whole(rng, (k, n), np.float16)
    return Prepared(function, (a, b), lambda: [(a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)])


@case("page_pipeline", PAGE, "matmul by emit_pipeline, release delayed by one")
def make_pipeline(m=256, n=256, k=256):
    """One warpgroup loads and multiplies."""
    def body(a_gmem, b_gmem, out_gmem, out_smem, acc):
        row, column = pl.program_id(0), pl.program_id(1)

        def step(_, a_smem, b_smem):
            plgpu.wgmma(acc, a_smem, b_smem)
            plgpu.wgmma_wait(1)

        plgpu.emit_pipeline(step, in_specs=[_spec((TILE, STEP), lambda i: (row, i), delay_release=1),
                                            _spec((STEP, TILE), lambda i: (i, column), delay_release=1)],
                            grid=(k // STEP,), max_concurrent_steps=2)(a_gmem, b_gmem)
        out_smem[...] = acc[...].astype(np.float16)
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(out_smem, out_gmem.at[pl.ds(row * TILE, TILE), pl.ds(column * TILE, TILE)])
        plgpu.wait_smem_to_gmem(0)

    return _prepare(plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((m, n), np.float16),
        scratch_types={"out_smem": plgpu.SMEM((TILE, TILE), np.float16), "acc": plgpu.ACC((TILE, TILE), np.float32)},
        grid=(m // TILE, n // TILE), grid_names=("m", "n")), m, n, k)


@case("page_warp_specialized", PAGE, "matmul by emit_pipeline_warp_specialized, the accumulator carried, "
      "every thread stores the whole tile")
@case("page_warp_specialized_own_store", PAGE, "the same, each warpgroup publishes and stores its half", is_own=True)
def make_warp_specialized(m=256, n=512, k=256, is_own=False):
    """Two warpgroups multiply, one loads."""
    def body(a_gmem, b_gmem, out_gmem, out_smem):
        row, column, group = pl.program_id(0), pl.program_id(1), lax.axis_index("wg")
        half = pl.ds(group * TILE, TILE)

        def compute(pipeline):
            acc = plgpu.layout_cast(jnp.full((TILE, TILE), 0, np.float32), plgpu.Layout.WGMMA)
            acc = pipeline(acc)
            out_smem[:, half] = acc[...].astype(np.float16)
            if is_own:
                plgpu.commit_smem()
                columns = pl.ds(column * 2 * TILE + group * TILE, TILE)
                plgpu.copy_smem_to_gmem(out_smem.at[:, half], out_gmem.at[pl.ds(row * TILE, TILE), columns])
                plgpu.wait_smem_to_gmem(0)

        def step(_, a_smem, b_smem, acc):
            return pl.run_state(lambda ref: plgpu.wgmma(ref, a_smem, b_smem.at[:, half]))(plgpu.ACC.init(acc))

        plgpu.emit_pipeline_warp_specialized(
            step, in_specs=[_spec((TILE, STEP), lambda i: (row, i)), _spec((STEP, 2 * TILE), lambda i: (i, column))],
            grid=(k // STEP,), compute_context=compute, max_concurrent_steps=2, num_compute_wgs=2, memory_registers=40,
            memory_thread_idx=2, wg_axis="wg")(a_gmem, b_gmem)
        if not is_own:
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(out_smem, out_gmem.at[pl.ds(row * TILE, TILE),
                                                          pl.ds(column * 2 * TILE, 2 * TILE)])
            plgpu.wait_smem_to_gmem(0)

    return _prepare(plgpu.kernel(
        body, out_type=jax.ShapeDtypeStruct((m, n), np.float16),
        scratch_types={"out_smem": plgpu.SMEM((TILE, 2 * TILE), np.float16)}, grid=(m // TILE, n // (2 * TILE)),
        grid_names=("m", "n"), num_threads=3, thread_name="wg"), m, n, k)
