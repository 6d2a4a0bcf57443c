# SPDX-License-Identifier: Apache-2.0
"""Two plgpu.wgmma, then at once a load by TMA into the slot of the first: what the reference page of JAX allows.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. The page promises that no wgmma but the last one is still
running when plgpu.wgmma returns. The lowering emits no wait. One thread multiplies whole numbers through 16 slots,
two tiles a turn; others keep the tensor cores busy, so that its wgmma run late. The products are exact: one operand
that was read from a later tile shows. With wgmma_wait(1) after the second wgmma the same kernel is right.
"""
import sys

import jax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
import numpy as np
from jax import lax

M, N, K, SLOTS = 64, 256, 16, 16


def kernel_for(ctas, tiles, busy_threads, waits):
    def body(a, b, turns, out, busy_out, a_smem, b_smem, busy_a, busy_b, loaded, filled):
        cta, thread = lax.axis_index("cta"), lax.axis_index("wg")

        def fetch(tile):
            slot = lax.rem(tile, SLOTS)
            plgpu.copy_gmem_to_smem(b.at[tile], b_smem.at[slot], loaded.at[slot])
            plgpu.copy_gmem_to_smem(a.at[tile], a_smem.at[slot], loaded.at[slot])

        @pl.when(thread == 0)
        def _multiply():
            @pl.loop(0, SLOTS)
            def _fill(tile):
                fetch(tile)

            def product(acc):
                @pl.loop(0, tiles // 2)
                def _turn(t):
                    first, second = lax.rem(2 * t, SLOTS), lax.rem(2 * t + 1, SLOTS)
                    plgpu.barrier_wait(loaded.at[first])
                    plgpu.barrier_wait(loaded.at[second])
                    plgpu.wgmma(acc, a_smem.at[first], b_smem.at[first])
                    plgpu.wgmma(acc, a_smem.at[second], b_smem.at[second])
                    if waits:
                        plgpu.wgmma_wait(1)

                    # All but the second wgmma are over, says the page: its slot has to wait for the next turn.
                    @pl.when(2 * t + SLOTS < tiles)
                    def _refill_first():
                        fetch(2 * t + SLOTS)

                    @pl.when(jnp.logical_and(t > 0, 2 * t - 1 + SLOTS < tiles))
                    def _refill_second_of_the_turn_before():
                        fetch(2 * t - 1 + SLOTS)

                return acc[...]

            out[cta] = pl.run_scoped(product, plgpu.ACC((M, N)))

        @pl.when(thread != 0)
        def _keep_busy():
            @pl.when(thread == 1)
            def _fill():
                busy_a[...] = jnp.zeros_like(busy_a)
                busy_b[...] = jnp.zeros_like(busy_b)
                plgpu.commit_smem()
                plgpu.barrier_arrive(filled)

            plgpu.barrier_wait(filled)

            def busy(acc):
                # A count that the compiler does not know: unrolled, the loop takes a minute to compile.
                @pl.loop(0, turns[0])
                def _again(_):
                    plgpu.wgmma(acc, busy_a, busy_b)
                    plgpu.wgmma_wait(1)

                return acc[...]

            busy_out[cta, thread - 1] = pl.run_scoped(busy, plgpu.ACC((M, N)))

    def operand(shape, swizzle):
        transforms = (plgpu.TilingTransform((8, swizzle // 2)), plgpu.SwizzleTransform(swizzle))
        return plgpu.SMEM(shape, jnp.float16, transforms=transforms)

    return plgpu.kernel(
        body,
        out_type=[
            jax.ShapeDtypeStruct((ctas, M, N), jnp.float32),
            jax.ShapeDtypeStruct((ctas, max(busy_threads, 1), M, N), jnp.float32),
        ],
        grid=(ctas,),
        grid_names=("cta",),
        num_threads=1 + busy_threads,
        thread_name="wg",
        scratch_types=[
            operand((SLOTS, M, K), 2 * K),
            operand((SLOTS, K, N), 2 * K),
            operand((M, 64), 128),
            operand((64, N), 128),
            plgpu.Barrier(num_arrivals=2, num_barriers=SLOTS),
            plgpu.Barrier(),
        ],
    )


def main():
    device = jax.devices()[0]
    print(f"jax {jax.__version__} on {device.device_kind}, {device.core_count} SMs")
    rng, failed = np.random.default_rng(0), False
    ctas, tiles = 8, 256
    turns = np.full(1, tiles, np.int32)
    a = rng.integers(-4, 5, (tiles, M, K)).astype(np.float16)
    b = rng.integers(-4, 5, (tiles, K, N)).astype(np.float16)
    expected = np.einsum("smk,skn->mn", a.astype(np.float32), b.astype(np.float32))
    for busy in (2, 1, 0):
        for waits in (False, True):
            run = jax.jit(kernel_for(ctas, tiles, busy, waits))
            wrong = sum(int((np.asarray(run(a, b, turns)[0]) != expected).any(axis=(1, 2)).sum()) for _ in range(100))
            print(f"{busy} busy threads, {'wgmma_wait(1)' if waits else 'no wait'}: "
                  f"{wrong} of {100 * ctas} products wrong (expected: 0)", flush=True)
            failed |= wrong != 0 and not waits
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
