# SPDX-License-Identifier: Apache-2.0
"""JAX' matmuls of groups of rows: ragged_dot_mgpu.py and transposed_ragged_dot_mgpu.py."""
import numpy as np

from . import Prepared, case
from .jax_matmul import small_whole

RAGGED, TRANSPOSED = "ragged_dot_mgpu", "transposed_ragged_dot_mgpu"
GROUPS = (60, 0, 100, 96)


def dot_of_groups(a, b, sizes, is_transposed=False):
    """Each group of rows of a times its own matrix."""
    out, start = np.zeros((a.shape[0], b.shape[1 if is_transposed else 2]), np.float32), 0
    for group, size in enumerate(sizes):
        matrix = b[group].astype(np.float32)
        out[start:start + size] = a[start:start + size].astype(np.float32) @ (matrix.T if is_transposed else matrix)
        start += size
    return out


def dots_of_groups(a, b, sizes):
    """For each group of rows, those of a times those of b."""
    out, start = np.zeros((len(sizes), a.shape[1], b.shape[1]), np.float32), 0
    for group, size in enumerate(sizes):
        rows = slice(start, start + size)
        out[group] = a[rows].astype(np.float32).T @ b[rows].astype(np.float32)
        start += size
    return out


@case("ragged_dot", RAGGED, "64 x 128 x 64 blocks, groups 60, 0, 100, 96")
@case("ragged_dot_transposed_rhs", RAGGED, "the same, rhs transposed", is_transposed=True)
@case("ragged_dot_4_steps", RAGGED, "128 x 64 x 64 blocks, 4 steps, one strip", block_m=128, block_n=64, steps=4,
      strips=1, k=512)
def make_ragged(is_transposed=False, scale=1, k=256, n=256, block_m=64, block_n=128, steps=2, strips=2):
    """lhs rows by group."""
    from jax.experimental.pallas.ops.gpu import ragged_dot_mgpu as module
    rng = np.random.default_rng(4)
    groups = [scale * size for size in GROUPS]
    a = small_whole(rng, (sum(groups), k), np.float16)
    b = small_whole(rng, (len(GROUPS), n, k) if is_transposed else (len(GROUPS), k, n), np.float16)
    sizes = np.array(groups, np.int32)

    def function(a, b, sizes):
        return module.ragged_dot(a, b, group_sizes=sizes, block_m=block_m, block_n=block_n, block_k=64,
                                 max_concurrent_steps=steps, grid_block_n=strips, transpose_rhs=is_transposed)

    return Prepared(function, (a, b, sizes), lambda: [dot_of_groups(a, b, groups, is_transposed).astype(np.float16)])


@case("transposed_ragged_dot", TRANSPOSED, "64 x 64 x 64 blocks, groups 60, 0, 100, 96")
@case("transposed_ragged_dot_4_steps", TRANSPOSED, "64 x 128 x 64 blocks, 4 steps, two strips", n=256, block_n=128,
      steps=4, strips=2)
def make_transposed(scale=1, m=128, n=128, block_n=64, steps=2, strips=1):
    """A product for each group."""
    from jax.experimental.pallas.ops.gpu import transposed_ragged_dot_mgpu as module
    rng = np.random.default_rng(4)
    groups = [scale * size for size in GROUPS]
    a, b = (small_whole(rng, (sum(groups), size), np.float16) for size in (m, n))
    sizes = np.array(groups, np.int32)

    def function(a, b, sizes):
        return module.transposed_ragged_dot(a, b, group_sizes=sizes, block_m=64, block_n=block_n, block_k=64,
                                            max_concurrent_steps=steps, grid_block_n=strips)

    return Prepared(function, (a, b, sizes), lambda: [dots_of_groups(a, b, groups).astype(np.float16)])
