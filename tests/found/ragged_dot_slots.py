# SPDX-License-Identifier: Apache-2.0
"""JAX' own ragged_dot, unchanged: it frees the slot of a wgmma that nothing has waited for.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. ragged_dot gives a tile back one step late and never waits
for its wgmma before the end. Operands are -1, 0 and 1, so every product is exact in float16.
"""
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu

GROUPS = (300, 0, 500, 224)
BLOCKS = ((64, 256, 16, 16), (64, 256, 32, 8), (64, 256, 64, 4), (64, 256, 64, 2), (128, 128, 16, 16),
          (128, 128, 32, 8), (128, 128, 64, 4))


def product_of(block_m, block_n, block_k, slots):
    def product(a, b, sizes):
        return ragged_dot_mgpu.ragged_dot(
            a, b, group_sizes=sizes, block_m=block_m, block_n=block_n, block_k=block_k,
            max_concurrent_steps=slots, grid_block_n=2)

    return product


def main():
    device = jax.devices()[0]
    print(f"jax {jax.__version__} on {device.device_kind}")
    rng, failed = np.random.default_rng(0), False
    m, n, k = sum(GROUPS), 4096, 4096
    a = rng.integers(-1, 2, (m, k)).astype(np.float16)
    b = rng.integers(-1, 2, (len(GROUPS), k, n)).astype(np.float16)
    rows = np.split(a.astype(np.float32), np.cumsum(GROUPS)[:-1])
    expected = np.concatenate([r @ b[i].astype(np.float32) for i, r in enumerate(rows)]).astype(np.float16)
    arguments = jnp.asarray(a), jnp.asarray(b), jnp.asarray(GROUPS, jnp.int32)
    for block_m, block_n, block_k, slots in BLOCKS:
        run = jax.jit(product_of(block_m, block_n, block_k, slots))
        wrong = sum(int((np.asarray(run(*arguments)) != expected).sum()) for _ in range(10))
        print(f"blocks {block_m} x {block_n} x {block_k}, {slots} slots: {wrong} of {10 * expected.size} elements wrong"
              " (expected: 0)", flush=True)
        failed |= wrong != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
