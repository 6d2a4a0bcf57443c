# SPDX-License-Identifier: Apache-2.0
"""JAX' matmuls for Hopper: jax/experimental/pallas/ops/gpu/hopper_matmul_mgpu.py and the one of mixed types."""
import jax.numpy as jnp
import numpy as np

from . import Prepared, case

PLAIN, MIXED = "hopper_matmul_mgpu", "hopper_mixed_type_matmul_mgpu"


def small_whole(rng, shape, dtype):
    """Numbers whose products and sums of some thousand are exact in f32."""
    return rng.integers(-3, 4, shape).astype(dtype)


def _configure(module, given):
    enums = {name: module.MatmulDimension[value] for name, value in given.items() if isinstance(value, str)}
    settings = {"tile_m": 64, "tile_n": 128, "tile_k": 64, "max_concurrent_steps": 2, **given, **enums}
    return module.TuningConfig(**settings)


# The configuration that the file's own main() begins with, and what TuningConfig leaves at its defaults.
@case("hopper_matmul", PLAIN, "128 x 128 x 64 tiles, 4 steps, the defaults", m=256, n=512, k=512, tile_m=128,
      max_concurrent_steps=4)
@case("hopper_matmul_c", PLAIN, "with C", c=True)
@case("hopper_matmul_wg_m", PLAIN, "warpgroups along M", wg_dimension="M")
@case("hopper_matmul_cluster_m", PLAIN, "cluster along M", cluster_dimension="M")
@case("hopper_matmul_cluster_n", PLAIN, "cluster along N", cluster_dimension="N")
@case("hopper_matmul_whole_epilogue", PLAIN, "epilogue in one tile", epi_tile_m=None, epi_tile_n=None)
@case("hopper_matmul_snake", PLAIN, "grid along M, snakes of 2 tiles, 3 CTAs", grid_minor_dim="M", grid_tile_width=2,
      m=512, sms=3)
@case("hopper_matmul_bf16", PLAIN, "bf16", dtype="bfloat16")
@case("hopper_matmul_1024", PLAIN, "1024^3, 132 SMs", m=1024, n=1024, k=1024, sms=132, tile_m=128,
      max_concurrent_steps=4)
def make_matmul(m=256, n=512, k=256, sms=4, c=False, dtype="float16", **config):
    """a @ b, or a @ b + c in f32."""
    from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as module
    settings = _configure(module, config)
    rng = np.random.default_rng(2)
    a, b = small_whole(rng, (m, k), jnp.dtype(dtype)), small_whole(rng, (k, n), jnp.dtype(dtype))
    rest = (rng.integers(-9, 10, (m, n)).astype(np.float32),) if c else ()

    def function(a, b, c=None):
        return module.matmul(a, b, c, settings)

    def reference():
        product = a.astype(np.float32) @ b.astype(np.float32)
        return [product + rest[0] if c else product.astype(a.dtype)]

    return Prepared(function, (a, b, *rest), reference, sms=sms)


@case("hopper_mixed_type_matmul", MIXED, "i8 x bf16, 128 x 128 x 64 tiles, 4 steps, the defaults", m=256, n=512, k=512,
      tile_m=128, max_concurrent_steps=4)
@case("hopper_mixed_type_matmul_f16", MIXED, "i8 x f16, f16 out", dtype="float16", out="float16")
@case("hopper_mixed_type_matmul_wg_m", MIXED, "warpgroups along M", wg_dimension="M")
@case("hopper_mixed_type_matmul_cluster", MIXED, "cluster along M", cluster_dimension="M")
def make_mixed(m=256, n=512, k=256, sms=4, dtype="bfloat16", out="float32", **config):
    """a.astype(b.dtype) @ b."""
    from jax.experimental.pallas.ops.gpu import hopper_mixed_type_matmul_mgpu as module
    settings = _configure(module, config)
    rng = np.random.default_rng(3)
    a, b = small_whole(rng, (m, k), np.int8), small_whole(rng, (k, n), jnp.dtype(dtype))

    def function(a, b):
        return module.mixed_matmul_kernel(a, b, out_dtype=jnp.dtype(out), config=settings)

    return Prepared(function, (a, b), lambda: [(a.astype(np.float32) @ b.astype(np.float32)).astype(jnp.dtype(out))],
                    sms=sms)
