# SPDX-License-Identifier: Apache-2.0
"""JAX' kernels that grout refuses: those for Blackwell, and those for several devices."""
import numpy as np

from . import Prepared, case


@case("blackwell_matmul", "blackwell_matmul_mgpu", "128 x 128 x 64 tiles", refused="tensor memory")
def make_blackwell():
    """Needs tensor memory."""
    from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu as module
    config = module.TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4, collective=False)
    a = np.zeros((1024, 1024), np.float16)
    return Prepared(lambda a, b: module.matmul_kernel(a, b, config), (a, a), lambda: [a])


def _on_devices(function, spec, out_spec, *inputs):
    import jax
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    mapped = jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=out_spec, check_vma=False)
    return Prepared(mapped, inputs, lambda: [None])


@case("collective_matmul", "collective_matmul_mgpu", "all_gather of the left side, on one device", refused="has no elements")
def make_collective():
    """Needs other devices."""
    import jax
    from jax.experimental.pallas.ops.gpu import collective_matmul_mgpu as module, hopper_matmul_mgpu as matmul
    config = matmul.TuningConfig(tile_m=128, tile_n=128, tile_k=64, max_concurrent_steps=4)
    part = jax.sharding.PartitionSpec
    return _on_devices(lambda a, b: module.all_gather_lhs_matmul(a, b, "x", config=config),
                       (part("x", None), part(None, "x")), part(None, "x"),
                       np.zeros((1024, 1024), np.float16), np.zeros((1024, 1024), np.float16))


@case("all_gather", "all_gather_mgpu", "f32", refused="device")
def make_all_gather():
    """Needs other devices."""
    import jax
    from jax.experimental.pallas.ops.gpu import all_gather_mgpu as module
    part = jax.sharding.PartitionSpec
    return _on_devices(lambda a: module.all_gather(a, axis_name="x"), part("x", None), part(None, None),
                       np.zeros((4096, 1024), np.float32))


@case("reduce_scatter", "reduce_scatter_mgpu", "f32", refused="device")
def make_reduce_scatter():
    """Needs other devices."""
    import jax
    from jax.experimental.pallas.ops.gpu import reduce_scatter_mgpu as module
    part = jax.sharding.PartitionSpec
    return _on_devices(lambda a: module.reduce_scatter(a, axis_name="x"), part(None, None), part("x", None),
                       np.zeros((4096, 1024), np.float32))
