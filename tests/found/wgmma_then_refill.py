# SPDX-License-Identifier: Apache-2.0
"""plgpu.wgmma without a wait, and the slot of the wgmma before it is free: what the reference page of JAX allows.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. The page promises that no wgmma but the last one is still
running when plgpu.wgmma returns. The lowering emits no wait. Two compute threads share a pipeline of many slots and
give each tile back one step late (delay_release=1). Their operands are whole numbers and the products exact: one
operand that was read from a later tile shows. With wgmma_wait(1) the same kernel is right.
"""
import sys

import jax
import jax.numpy as jnp
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import numpy as np

M, THREADS, STEPS = 64, 2, 256


def kernel_for(ctas, n, k, slots, waits):
  swizzle = min(128, 2 * k)

  def body(a, b, out):
    cta, thread = jax.lax.axis_index("cta"), jax.lax.axis_index("wg")

    def multiply(_, a_tile, b_tile, acc):
      plgpu.wgmma(acc, a_tile.at[pl.ds(thread * M, M)], b_tile)
      if waits:
        plgpu.wgmma_wait(1)
      return acc

    def context(pipeline):
      def product(acc):
        pipeline(acc)
        return acc[...]

      out[cta, thread] = pl.run_scoped(product, plgpu.ACC((M, n)))

    def operand(shape, index):
      transforms = (plgpu.TilingTransform((8, swizzle // 2)), plgpu.SwizzleTransform(swizzle))
      return plgpu.BlockSpec(shape, index, transforms=transforms, delay_release=1)

    plgpu.emit_pipeline_warp_specialized(
        multiply,
        grid=(STEPS,),
        in_specs=[operand((THREADS * M, k), lambda i: (0, i)), operand((k, n), lambda i: (i, 0))],
        compute_context=context,
        memory_registers=40,
        wg_axis="wg",
        num_compute_wgs=THREADS,
        max_concurrent_steps=slots,
    )(a, b)

  return plgpu.kernel(
      body,
      out_type=jax.ShapeDtypeStruct((ctas, THREADS, M, n), jnp.float32),
      grid=(ctas,),
      grid_names=("cta",),
      num_threads=THREADS + 1,
      thread_name="wg",
  )


def main():
  sms = jax.devices()[0].core_count
  print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}, {sms} SMs")
  rng, failed = np.random.default_rng(0), False
  for n, k, slots in ((256, 16, 16), (256, 16, 8), (256, 32, 8), (256, 64, 4), (128, 16, 16), (128, 64, 6)):
    a = rng.integers(-4, 5, (THREADS * M, STEPS * k)).astype(np.float16)
    b = rng.integers(-4, 5, (STEPS * k, n)).astype(np.float16)
    expected = (a.astype(np.float32) @ b.astype(np.float32)).reshape(THREADS, M, n)
    for waits in (False, True):
      run = jax.jit(kernel_for(sms, n, k, slots, waits))
      wrong = sum(int((np.asarray(run(a, b)) != expected).any(axis=(1, 2, 3)).sum()) for _ in range(10))
      print(f"n {n}, k {k}, {slots} slots, {'wgmma_wait(1)' if waits else 'no wait'}: "
            f"{wrong} of {10 * sms} products wrong (expected: 0)", flush=True)
      failed |= wrong != 0 and not waits
  return int(failed)


if __name__ == "__main__":
  sys.exit(main())
