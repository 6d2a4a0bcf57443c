# SPDX-License-Identifier: Apache-2.0
"""tokamax' ragged dots and its gated linear unit for sm_90: tokamax 0.0.12 from PyPI, on JAX 0.10.2."""
import jax
import jax.numpy as jnp
import numpy as np

from . import Prepared, case
from .jax_matmul import small_whole
from .jax_ragged import GROUPS, dot_of_groups, dots_of_groups

# GROUPS of rows, the contraction and the columns.
ROWS, DEPTH, COLUMNS = sum(GROUPS), 256, 256


def _config(**given):
    from tokamax._src.ops.ragged_dot import pallas_mosaic_gpu_common as common
    return common.Config(**{"block_m": 64, "block_n": 128, "block_k": 64, "num_stages": 2, "split_k": 1,
                            "persistent": True, **given})


@case("tokamax_ragged_dot", "tokamax ragged_dot", "sm90, bf16, persistent")
@case("tokamax_ragged_dot_grid", "tokamax ragged_dot", "sm90, bf16, one block a CTA", persistent=False)
def make_ragged(persistent=True):
    """Rows by group."""
    from tokamax._src.ops.ragged_dot import pallas_mosaic_gpu_kernel_sm90 as module
    rng = np.random.default_rng(4)
    a = small_whole(rng, (ROWS, DEPTH), jnp.bfloat16)
    b = small_whole(rng, (len(GROUPS), DEPTH, COLUMNS), jnp.bfloat16)

    def function(a, b, sizes):
        return module.ragged_dot_kernel(a, b, sizes, jnp.dtype(jnp.bfloat16), _config(persistent=persistent))

    return Prepared(jax.jit(function), (a, b, np.array(GROUPS, np.int32)), lambda: [dot_of_groups(a, b, GROUPS).astype(jnp.bfloat16)])


@case("tokamax_ragged_contracting", "tokamax ragged_dot", "sm90, groups of the contraction, bf16")
def make_contracting():
    """A product for each group; the left side comes through registers, masked."""
    from tokamax._src.ops.ragged_dot import pallas_mosaic_gpu_kernel_sm90 as module
    rng = np.random.default_rng(4)
    a, b = (small_whole(rng, (ROWS, size), jnp.bfloat16) for size in (128, COLUMNS))

    def function(a, b, sizes):
        return module.ragged_contracting_dim_dot_kernel(a, b, sizes, jnp.dtype(jnp.bfloat16), _config())

    return Prepared(jax.jit(function), (a, b, np.array(GROUPS, np.int32)), lambda: [dots_of_groups(a, b, GROUPS).astype(jnp.bfloat16)])


@case("tokamax_ragged_quantised", "tokamax ragged_dot", "sm90, i8 weights, one warpgroup",
      module_name="quant", function_name="ragged_dot_quantized_kernel", sizes=(64, 64), refused="unswizzle_ref")
@case("tokamax_ragged_quantised_ws", "tokamax ragged_dot", "sm90, i8 weights, warp specialised",
      module_name="quant_ws", function_name="ragged_dot_quantized_ws_kernel", sizes=(64, 64), refused="unswizzle_ref")
@case("tokamax_ragged_quantised_store", "tokamax ragged_dot", "sm90, i8 weights, a warpgroup that stores",
      module_name="quant_ws_async_store", function_name="ragged_dot_quantized_ws_async_store_kernel", sizes=(64, 64), refused="untile_ref")
def make_quantised(module_name, function_name, sizes):
    """Weights of 8 bits with a scale for each column and 128 rows."""
    import importlib

    import qwix
    module = importlib.import_module(f"tokamax._src.ops.ragged_dot.pallas_mosaic_gpu_kernel_sm90_{module_name}")
    rng = np.random.default_rng(4)
    a = small_whole(rng, (ROWS, DEPTH), jnp.bfloat16)
    b = small_whole(rng, (len(GROUPS), DEPTH, COLUMNS), np.int8)
    scale = (2.0 ** rng.integers(-2, 3, (len(GROUPS), DEPTH // 128, COLUMNS))).astype(jnp.bfloat16)
    block_m, block_n = sizes

    def function(a, b, scale, groups):
        return getattr(module, function_name)(a, qwix.QArray(b, scale), groups, jnp.dtype(jnp.bfloat16),
                                              _config(block_m=block_m, block_n=block_n))

    def reference():
        weights = b.astype(np.float32) * np.repeat(scale.astype(np.float32), 128, axis=1)
        return [dot_of_groups(a, weights, GROUPS).astype(jnp.bfloat16)]

    return Prepared(jax.jit(function), (a, b, scale, np.array(GROUPS, np.int32)), reference)


@case("tokamax_gated_linear_unit", "tokamax gated_linear_unit", "sm90, bf16", refused="TransposeTransform")
def make_gated():
    """Does not trace: this tokamax asks for a plgpu.TransposeTransform, which this JAX has no more."""
    from tokamax._src.ops.gated_linear_unit import pallas_mosaic_gpu_common as common
    from tokamax._src.ops.gated_linear_unit import pallas_mosaic_gpu_kernel_sm90 as module
    rng = np.random.default_rng(4)
    x = small_whole(rng, (256, 256), jnp.bfloat16)
    weights = small_whole(rng, (256, 2, 256), jnp.bfloat16)
    config = common.Config(tile_m=64, tile_n=64, tile_k=64, num_stages=2)
    return Prepared(lambda x, w: module.gated_linear_unit_sm90(x, w, activation=jax.nn.relu, config=config), (x, weights),
                    lambda: [None])
