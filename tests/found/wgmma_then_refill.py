# SPDX-License-Identifier: Apache-2.0
"""plgpu.wgmma, then at once a load by TMA into the slot of the wgmma before it: what the reference page of JAX allows.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. The page promises that no wgmma but the last one is still
running when plgpu.wgmma returns. The lowering emits no wait. One thread multiplies whole numbers through 16 slots;
two others keep the tensor cores busy, so that its wgmma run late. The products are exact: one operand that was
read from a later tile shows. With wgmma_wait(1) the same kernel is right.
"""
import sys

import jax
import jax.numpy as jnp
from jax import lax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import numpy as np

M, STEPS = 64, 128


def kernel_for(ctas, n, k, slots, busy_threads, waits):
  def body(a, b, out, busy_out, a_smem, b_smem, busy_a, busy_b, loaded):
    cta, thread = lax.axis_index("cta"), lax.axis_index("wg")

    def fetch(step, slot):
      plgpu.copy_gmem_to_smem(a.at[step], a_smem.at[slot], loaded.at[slot])
      plgpu.copy_gmem_to_smem(b.at[step], b_smem.at[slot], loaded.at[slot])

    @pl.when(thread == 0)
    def _multiply():
      for slot in range(slots):
        fetch(slot, slot)

      def product(acc):
        @pl.loop(0, STEPS)
        def _step(i):
          slot = lax.rem(i, slots)
          plgpu.barrier_wait(loaded.at[slot])
          plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
          if waits:
            plgpu.wgmma_wait(1)
          ahead = i + slots - 1

          @pl.when(jnp.logical_and(i >= 1, ahead < STEPS))
          def _refill():
            fetch(ahead, lax.rem(ahead, slots))

        return acc[...]

      out[cta] = pl.run_scoped(product, plgpu.ACC((M, n)))

    @pl.when(thread != 0)
    def _keep_busy():
      def busy(acc):
        @pl.loop(0, STEPS)
        def _again(i):
          plgpu.wgmma(acc, busy_a, busy_b)
          plgpu.wgmma_wait(1)

        return acc[...]

      busy_out[cta, thread - 1] = pl.run_scoped(busy, plgpu.ACC((M, n)))

  def operand(shape, swizzle):
    transforms = (plgpu.TilingTransform((8, swizzle // 2)), plgpu.SwizzleTransform(swizzle))
    return plgpu.SMEM(shape, jnp.float16, transforms=transforms)

  swizzle = min(128, 2 * k)
  return plgpu.kernel(
      body,
      out_type=[
          jax.ShapeDtypeStruct((ctas, M, n), jnp.float32),
          jax.ShapeDtypeStruct((ctas, max(busy_threads, 1), M, n), jnp.float32),
      ],
      grid=(ctas,),
      grid_names=("cta",),
      num_threads=1 + busy_threads,
      thread_name="wg",
      scratch_types=[
          operand((slots, M, k), swizzle),
          operand((slots, k, n), swizzle),
          operand((M, 64), 128),
          operand((64, n), 128),
          plgpu.Barrier(num_arrivals=2, num_barriers=slots),
      ],
  )


def main():
  device = jax.devices()[0]
  print(f"jax {jax.__version__} on {device.device_kind}, {device.core_count} SMs")
  rng, failed = np.random.default_rng(0), False
  for n, k, slots, busy in ((256, 16, 16, 0), (256, 16, 16, 1), (256, 16, 16, 2), (256, 32, 8, 1), (128, 16, 16, 1)):
    a = rng.integers(-4, 5, (STEPS, M, k)).astype(np.float16)
    b = rng.integers(-4, 5, (STEPS, k, n)).astype(np.float16)
    expected = np.einsum("smk,skn->mn", a.astype(np.float32), b.astype(np.float32))
    for ctas in (2, device.core_count):
      for waits in (False, True):
        run = jax.jit(kernel_for(ctas, n, k, slots, busy, waits))
        wrong = sum(int((np.asarray(run(a, b)[0]) != expected).any(axis=(1, 2)).sum()) for _ in range(20))
        print(f"n {n}, k {k}, {slots} slots, {busy} busy threads, {ctas} CTAs, "
              f"{'wgmma_wait(1)' if waits else 'no wait'}: {wrong} of {20 * ctas} products wrong (expected: 0)", flush=True)
        failed |= wrong != 0 and not waits
  return int(failed)


if __name__ == "__main__":
  sys.exit(main())
