# SPDX-License-Identifier: Apache-2.0
"""JAX' kernels for Blackwell, and those for several devices, which grout refuses."""
import numpy as np

from . import Prepared, case
from .jax_matmul import small_whole
from .jax_ragged import dot_of_groups


@case("blackwell_matmul", "blackwell_matmul_mgpu", "128 x 128 x 64 tiles")
@case("blackwell_matmul_pairs", "blackwell_matmul_mgpu", "by pairs of CTAs, 128 x 64 x 64 tiles", is_pair=True)
def make_blackwell(is_pair=False):
    """a @ b."""
    from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu as module
    config = module.TuningConfig(tile_m=128, tile_n=64 if is_pair else 128, tile_k=64, max_concurrent_steps=2,
                                 collective=is_pair)
    rng = np.random.default_rng(2)
    a, b = small_whole(rng, (512, 128), np.float16), small_whole(rng, (128, 256), np.float16)
    return Prepared(lambda a, b: module.matmul_kernel(a, b, config), (a, b),
                    lambda: [(a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)])


@case("blackwell_ragged_dot_pairs", "blackwell_ragged_dot_mgpu", "by pairs of CTAs, groups 100, 0, 200, 212")
def make_blackwell_ragged():
    """Rows by group. Without pairs JAX does not trace it: its kernel asks for an axis of the cluster that is not
    there."""
    from jax.experimental.pallas.ops.gpu import blackwell_matmul_mgpu
    from jax.experimental.pallas.ops.gpu import blackwell_ragged_dot_mgpu as module
    config = module.TuningConfig(tile_m=128, tile_n=64, tile_k=64, max_concurrent_steps=2, collective=True,
                                 grid_tile_width=1, grid_minor_dim=blackwell_matmul_mgpu.MatmulDimension.N)
    rng, groups = np.random.default_rng(4), (100, 0, 200, 212)
    a, b = small_whole(rng, (512, 128), np.float16), small_whole(rng, (4, 128, 256), np.float16)
    return Prepared(lambda a, b, sizes: module.ragged_dot_kernel(a, b, sizes, config),
                    (a, b, np.array(groups, np.int32)), lambda: [dot_of_groups(a, b, groups).astype(np.float16)])


def _on_devices(function, spec, out_spec, *inputs):
    import jax
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    mapped = jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=out_spec, check_vma=False)
    return Prepared(mapped, inputs, lambda: [None])


@case("collective_matmul", "collective_matmul_mgpu", "all_gather of the left side, on one device",
      refused="has no elements")
def make_collective():
    """Needs other devices."""
    import jax
    from jax.experimental.pallas.ops.gpu import collective_matmul_mgpu as module
    from jax.experimental.pallas.ops.gpu import hopper_matmul_mgpu as matmul
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
