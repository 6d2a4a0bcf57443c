# SPDX-License-Identifier: Apache-2.0
"""A CTA ends while its loads by TMA are still on their way: whose SMEM do they write?

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. Half of the CTAs issue one large load and end at once.
The other half, which the GPU starts on the same SMs, fill their SMEM with one number and read it until long after
the loads must have landed. No kernel whose loads are waited for can see another number there.
"""
import sys

import jax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
import numpy as np
from jax import lax

ROWS, COLUMNS, PART = 192, 256, 16  # 192 KiB of float32, so that one CTA fills an SM
MINE, FOREIGN = 7.0, 1000.0


def kernel_for(ctas, waits):
    first = ctas // 2

    def body(source, out, smem, loaded):
        cta = lax.axis_index("cta")

        @pl.when(cta < first)
        def _load_and_end():
            plgpu.copy_gmem_to_smem(source.at[cta], smem, loaded)
            if waits:
                plgpu.barrier_wait(loaded)

        @pl.when(cta >= first)
        def _watch():
            layout = plgpu.Layout.WG_STRIDED((PART, COLUMNS), 1)
            mine = plgpu.layout_cast(jnp.full((PART, COLUMNS), MINE, jnp.float32), layout)
            for part in range(ROWS // PART):
                smem[pl.ds(part * PART, PART)] = mine

            def look(i, worst):
                seen = smem[pl.ds(lax.rem(i, ROWS // PART) * PART, PART)]
                return jnp.maximum(worst, plgpu.layout_cast(seen, layout))

            worst = lax.fori_loop(0, 400 * (ROWS // PART), look, mine)
            out[cta - first] = worst

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((first, PART, COLUMNS), jnp.float32),
        grid=(ctas,),
        grid_names=("cta",),
        scratch_types=[plgpu.SMEM((ROWS, COLUMNS), jnp.float32), plgpu.Barrier()],
    )


def main():
    sms = jax.devices()[0].core_count
    source = jnp.full((sms, ROWS, COLUMNS), FOREIGN, jnp.float32)
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}, {sms} SMs")
    failed = False
    for waits in (True, False):
        run = jax.jit(kernel_for(2 * sms, waits))
        seen = [np.asarray(run(source)) for _ in range(20)]
        changed = sum(int((s != MINE).any(axis=(1, 2)).sum()) for s in seen)
        print(f"loads {'waited for' if waits else 'in flight at the end'}: "
              f"{changed} of {20 * sms} later CTAs saw their SMEM change (expected: 0)")
        failed |= changed != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
