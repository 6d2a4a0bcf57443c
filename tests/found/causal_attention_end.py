# SPDX-License-Identifier: Apache-2.0
"""JAX' own causal attention: its first CTAs end with two loads by TMA on their way. A delay makes them late.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. The memory thread always loads two tiles of keys and
values; with block_kv 128 and 2 x 64 rows of queries the first CTA of each head needs one. A delay before the second
pair of loads, which any warp may suffer, lets them begin when the CTA is about to end.
"""
import sys

import jax
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
import numpy as np
from jax.experimental.pallas.ops.gpu import attention_mgpu
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import llvm


def spin(cycles):
    @plgpu.inline_mgpu()
    def _spin(_):
        llvm.inline_asm(
            ir.Type.parse("!llvm.void"),
            [],
            "{ .reg .u32 a, b; .reg .pred p; mov.u32 a, %clock; AGAIN: mov.u32 b, %clock; sub.u32 b, b, a;"
            f" setp.lt.u32 p, b, {cycles}; @p bra AGAIN; }}",
            "",
            has_side_effects=True,
        )

    _spin()


class Delayed:
    """plgpu, but for a delay before the fourth copy: queries, keys 0 and values 0 come first."""

    def __init__(self, cycles):
        self.cycles, self.copies = cycles, 0

    def __getattr__(self, name):
        return getattr(plgpu, name)

    def copy_gmem_to_smem(self, *arguments, **options):
        self.copies += 1
        if self.copies == 4 and self.cycles:
            spin(self.cycles)
        return plgpu.copy_gmem_to_smem(*arguments, **options)


def kernel_for(cycles):
    config = attention_mgpu.TuningConfig(block_q=64, block_kv=128, max_concurrent_steps=2, causal=True)

    def attention(q, k, v):
        attention_mgpu.plgpu = Delayed(cycles)
        try:
            return attention_mgpu._attention_forward(q, k, v, config)
        finally:
            attention_mgpu.plgpu = plgpu

    return attention


def main():
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}")
    keys = jax.random.split(jax.random.key(0), 3)
    q, k, v = (jax.random.normal(key, (8, 512, 32, 128), jnp.float16) for key in keys)
    expected, failed = None, False
    for cycles in (0, 2000, 4000, 5000, 6000, 7000, 8000, 10000):
        run = jax.jit(kernel_for(cycles))
        results = [np.asarray(run(q, k, v)) for _ in range(10)]
        if expected is None:
            expected = results[0]
        wrong = sum(int((r != expected).sum()) for r in results)
        print(f"delay of {cycles} cycles: {wrong} of {10 * expected.size} elements differ (expected: 0)", flush=True)
        failed |= wrong != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
