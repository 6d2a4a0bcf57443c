# SPDX-License-Identifier: Apache-2.0
"""A product of two CTAs whose left matrix both store in tensor memory; they meet at a cluster barrier that does not
order the tensor core, as in test_simple_collective_matmul of JAX.

Needs JAX 0.10.2 or later with CUDA and a Blackwell GPU; nothing of grout. Each CTA stores, commits, and meets the
other; then the leader multiplies with the rows of both. With orders_tensor_core=True the barrier has the two fences of
tcgen05.
"""
import sys

import jax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
import numpy as np
from jax import lax

M, N, K = 256, 64, 64
INDEX = () if jax.__version_info__ >= (0, 11) else ((),)  # plgpu.load asked for one


def kernel_for(orders):
    def body(a, b, out, a_smem, b_smem, sums, a_tmem, loaded, done, met):
        rows = pl.ds(lax.axis_index("x") * (M // 2), M // 2)
        plgpu.copy_gmem_to_smem(a.at[rows, :], a_smem, loaded)
        plgpu.barrier_wait(loaded)
        plgpu.copy_gmem_to_smem(b.at[:, pl.ds(lax.axis_index("x") * (N // 2), N // 2)], b_smem, loaded)
        plgpu.barrier_wait(loaded)
        native = plgpu.Layout.TCGEN05_TMEM_NATIVE(2)
        plgpu.async_store_tmem(a_tmem, plgpu.load(a_smem, *INDEX, layout=native, optimized=False))
        plgpu.commit_tmem()
        plgpu.barrier_arrive(met)
        plgpu.barrier_wait(met)
        plgpu.tcgen05_mma(sums, a_tmem, b_smem, done, accumulate=False, collective_axis="x")
        plgpu.barrier_wait(done)
        out[rows, :] = plgpu.async_load_tmem(sums, layout=plgpu.Layout.TCGEN05)

    def operand(shape, swizzle):
        transforms = (plgpu.TilingTransform((8, swizzle // 2)), plgpu.SwizzleTransform(swizzle))
        return plgpu.SMEM(shape, jnp.float16, transforms=transforms)

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((M, N), jnp.float32),
        cluster=(2,),
        cluster_names=("x",),
        scratch_types=[
            operand((M // 2, K), 128),
            operand((K, N // 2), 64),
            plgpu.TMEM((M // 2, N), jnp.float32, collective=True),
            plgpu.TMEM((M // 2, K), jnp.float16, collective=True, packed=True),
            plgpu.Barrier(),
            plgpu.Barrier(orders_tensor_core=True),
            plgpu.ClusterBarrier(collective_axes=("x",), orders_tensor_core=orders),
        ],
    )


def main():
    device = jax.devices()[0]
    print(f"jax {jax.__version__} on {device.device_kind}, {device.core_count} SMs")
    rng, failed = np.random.default_rng(0), False
    a = rng.integers(-4, 5, (M, K)).astype(np.float16)
    b = rng.integers(-4, 5, (K, N)).astype(np.float16)
    expected = a.astype(np.float32) @ b.astype(np.float32)
    for orders in (False, True):
        run = jax.jit(kernel_for(orders))
        wrong = sum(int((np.asarray(run(a, b)) != expected).any()) for _ in range(1000))
        print(f"orders_tensor_core={orders}: {wrong} of 1000 products wrong", flush=True)
        failed |= wrong != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
