# SPDX-License-Identifier: Apache-2.0
"""tokamax' ragged dots and its gated linear unit for sm_80, sm_90 and sm_100: tokamax 0.0.17 from PyPI, which needs JAX
0.11 or newer."""
import importlib

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

    return Prepared(jax.jit(function), (a, b, np.array(GROUPS, np.int32)),
                    lambda: [dot_of_groups(a, b, GROUPS).astype(jnp.bfloat16)], gpu="h100")


@case("tokamax_ragged_contracting", "tokamax ragged_dot", "sm90, groups of the contraction, bf16")
def make_contracting():
    """A product for each group; the left side comes through registers, masked."""
    from tokamax._src.ops.ragged_dot import pallas_mosaic_gpu_kernel_sm90 as module
    rng = np.random.default_rng(4)
    a, b = (small_whole(rng, (ROWS, size), jnp.bfloat16) for size in (128, COLUMNS))

    def function(a, b, sizes):
        return module.ragged_contracting_dim_dot_kernel(a, b, sizes, jnp.dtype(jnp.bfloat16), _config())

    return Prepared(jax.jit(function), (a, b, np.array(GROUPS, np.int32)),
                    lambda: [dots_of_groups(a, b, GROUPS).astype(jnp.bfloat16)], gpu="h100")


RAGGED, GATED = "tokamax ragged_dot", "tokamax gated_linear_unit"
PATH = "tokamax._src.ops.ragged_dot.pallas_mosaic_gpu_kernel_sm"
GPUS = {"8": "a100", "9": "h100", "1": "b200"}
ON_100 = {"block_m": 128}
BITS_8 = {"block_m": 64, "block_k": 128}


@case("tokamax_ragged_80", RAGGED, "sm80, bf16", refused="has no attribute 'store'", module_name="80",
      function_name="ragged_dot_kernel")
@case("tokamax_ragged_100", RAGGED, "sm100, bf16", module_name="100", config=ON_100,
      function_name="ragged_dot_gpu_non_quant_blackwell_kernel")
@case("tokamax_ragged_100_pairs", RAGGED, "sm100, bf16, pairs of CTAs", module_name="100",
      config={"block_m": 64, "collective": True}, function_name="ragged_dot_gpu_non_quant_blackwell_kernel")
def make_plain(module_name, function_name, config=None):
    """Rows by group."""
    module = importlib.import_module(PATH + module_name)
    rng = np.random.default_rng(4)
    a = small_whole(rng, (ROWS, DEPTH), jnp.bfloat16)
    b = small_whole(rng, (len(GROUPS), DEPTH, COLUMNS), jnp.bfloat16)

    def function(a, b, sizes):
        return getattr(module, function_name)(a, b, sizes, jnp.dtype(jnp.bfloat16), _config(**config or {}))

    return Prepared(jax.jit(function), (a, b, np.array(GROUPS, np.int32)),
                    lambda: [dot_of_groups(a, b, GROUPS).astype(jnp.bfloat16)], gpu=GPUS[module_name[0]])


@case("tokamax_ragged_quantised", RAGGED, "sm90, i8 weights", module_name="90_quant",
      function_name="ragged_dot_quantized_kernel", config={"block_n": 64}, weights=np.int8)
@case("tokamax_ragged_100_i4", RAGGED, "sm100, i4 weights, scaled before they are multiplied", module_name="100_quant",
      function_name="ragged_dot_gpu_quant_blackwell_kernel", config=ON_100)
@case("tokamax_ragged_100_i4_pairs", RAGGED, "sm100, i4 weights, pairs of CTAs", module_name="100_quant",
      function_name="ragged_dot_gpu_quant_blackwell_kernel", config={**ON_100, "collective": True})
@case("tokamax_ragged_100_i4_post", RAGGED, "sm100, i4 weights, scaled afterwards", module_name="100_quant_post_scale",
      function_name="ragged_dot_gpu_quant_post_scale_blackwell_kernel", config={**ON_100, "post_scale": True})
@case("tokamax_ragged_100_i8", RAGGED, "sm100, i8 by i4 weights", module_name="100_i8_quant",
      function_name="ragged_dot_gpu_i8_quant_blackwell_kernel", config=BITS_8, left=np.int8)
@case("tokamax_ragged_100_f8", RAGGED, "sm100, f8 by i4 weights", module_name="100_fp8_quant",
      function_name="ragged_dot_gpu_fp8_quant_blackwell_kernel", config=BITS_8, left=jnp.float8_e4m3fn)
@case("tokamax_ragged_100_f8_permuted", RAGGED, "sm100, f8 by i4 weights in another order", module_name="100_fp8_quant",
      function_name="ragged_dot_gpu_fp8_quant_blackwell_kernel", config=BITS_8, left=jnp.float8_e4m3fn,
      is_permuted=True)
@case("tokamax_ragged_100_f8_pairs", RAGGED, "sm100, f8 by i4 weights, pairs of CTAs", module_name="100_fp8_quant",
      function_name="ragged_dot_gpu_fp8_quant_blackwell_kernel", config={**BITS_8, "collective": True},
      left=jnp.float8_e4m3fn)
@case("tokamax_ragged_100_f8_to_f8", RAGGED, "sm100, f8 by i4 weights, results of 8 bits with scales",
      module_name="100_fp8_quant", function_name="ragged_dot_gpu_fp8_quant_blackwell_kernel", left=jnp.float8_e4m3fn,
      tolerance=160.0,
      config={**BITS_8, "epilogue_quant_qtype": jnp.float8_e4m3fn, "epilogue_quant_subchannel_size": 128})
def make_quantised(module_name, function_name, config=None, weights=jnp.int4, left=None, is_permuted=False,
                   tolerance=0.0):
    """Weights of 4 or 8 bits with a scale for each column and 128 rows; the other side as it is, or of 8 bits too."""
    import qwix
    module = importlib.import_module(PATH + module_name)
    rng = np.random.default_rng(4)
    b = rng.integers(-4, 5, (len(GROUPS), DEPTH, COLUMNS)).astype(weights)
    scales = [_draw_scales(rng, (len(GROUPS), DEPTH // 128, COLUMNS), left)]
    if left is None:
        a = small_whole(rng, (ROWS, DEPTH), jnp.bfloat16)
    else:
        a = rng.integers(-4, 5, (ROWS, DEPTH)).astype(left)
        scales.append(_draw_scales(rng, (ROWS, DEPTH // 128), left))
    extra = {"int4_to_fp8_offline_permute": True} if is_permuted else {}

    def function(a, b, groups, scale, *scale_of_left):
        if is_permuted:
            from tokamax._src import mosaic_gpu
            b = mosaic_gpu.apply_int4_to_fp8_offline_permute(b, axis=1)
        left_side = qwix.QArray(a, *scale_of_left) if scale_of_left else a
        result = getattr(module, function_name)(left_side, qwix.QArray(b, scale), groups, jnp.dtype(jnp.bfloat16),
                                                _config(**config or {}), **extra)
        return qwix.dequantize(result) if isinstance(result, qwix.QArray) else result

    def reference():
        matrix = b.astype(np.float32) * np.repeat(scales[0].astype(np.float32), 128, axis=1)
        rows = a.astype(np.float32)
        if left is not None:
            rows = rows * np.repeat(scales[1].astype(np.float32), 128, axis=1)
        return [dot_of_groups(rows, matrix, GROUPS).astype(jnp.bfloat16)]

    return Prepared(jax.jit(function), (a, b, np.array(GROUPS, np.int32), *scales), reference, tolerance,
                    gpu=GPUS[module_name[0]])


def _draw_scales(rng, shape, left):
    """Powers of two, so that products are exact."""
    return (2.0 ** rng.integers(-2, 3, shape)).astype(jnp.bfloat16 if left is None else np.float32)


@case("tokamax_gated_80", GATED, "sm80, bf16", arch=80)
@case("tokamax_gated_90", GATED, "sm90, bf16, warpgroups along N", arch=90)
@case("tokamax_gated_90_rows", GATED, "sm90, bf16, warpgroups along M", arch=90, wg_dimension=0)
@case("tokamax_gated_90_cluster", GATED, "sm90, bf16, clusters along M", arch=90, cluster_size_m=2)
@case("tokamax_gated_100", GATED, "sm100, bf16", arch=100, tile_m=128)
@case("tokamax_gated_100_pairs", GATED, "sm100, bf16, pairs of CTAs", refused="Expected source shape", arch=100,
      tile_m=128, tile_n=128, cluster_size_m=2)
def make_gated(arch, **given):
    """One product through relu times another. In pairs it does not trace: JAX asks for another box of the part that a
    CTA of a pair brings."""
    from tokamax._src.ops.gated_linear_unit import pallas_mosaic_gpu_common as common
    module = importlib.import_module(f"tokamax._src.ops.gated_linear_unit.pallas_mosaic_gpu_kernel_sm{arch}")
    rng = np.random.default_rng(4)
    x = small_whole(rng, (256, 256), jnp.bfloat16)
    weights = small_whole(rng, (256, 2, 256), jnp.bfloat16)
    config = common.Config(**{"tile_m": 64, "tile_n": 64, "tile_k": 64, "num_stages": 2, **given})

    def reference():
        gate, other = (x.astype(np.float32) @ weights[:, part].astype(np.float32) for part in (0, 1))
        if arch == 100:  # which rounds both products first
            gate, other = (array.astype(jnp.bfloat16).astype(np.float32) for array in (gate, other))
        return [(np.maximum(gate, 0) * other).astype(jnp.bfloat16)]

    return Prepared(jax.jit(lambda x, w: module.gated_linear_unit(x, w, activation=jax.nn.relu, config=config)),
                    (x, weights), reference, gpu=GPUS[str(arch)[0]])
