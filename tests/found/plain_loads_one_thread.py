# SPDX-License-Identifier: Apache-2.0
"""The same as plain_loads_then_refill.py, with emit_pipeline: one thread loads plainly and issues the refill itself.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. emit_pipeline writes a commit_smem only where it copies
outputs in its loop. A sum that is carried from step to step has none.
"""
import sys

import jax
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
import numpy as np

ROWS, COLUMNS, TILES = 128, 64, 64
INDEX = () if jax.__version_info__ >= (0, 11) else ((),)  # plgpu.load asked for one


def kernel_for(ctas, slots, layout, commit):
    def body(source, out):
        zero = plgpu.layout_cast(jnp.zeros((ROWS, COLUMNS), jnp.float32), layout)

        def add(_, tile, carry):
            total, before = carry
            total = total + before
            before = plgpu.load(tile, *INDEX, layout=layout, optimized=False)
            if commit:
                plgpu.commit_smem()
            return total, before

        total, last = plgpu.emit_pipeline(
            add,
            grid=(TILES,),
            in_specs=[plgpu.BlockSpec((ROWS, COLUMNS), lambda i: (i, 0))],
            max_concurrent_steps=slots,
            init_carry=(zero, zero),
        )(source)
        out[jax.lax.axis_index("cta")] = total + last

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((ctas, ROWS, COLUMNS), jnp.float32),
        grid=(ctas,),
        grid_names=("cta",),
        compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
    )


def main():
    sms = jax.devices()[0].core_count
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}, {sms} SMs")
    tiles = np.random.default_rng(0).integers(0, 1000, (TILES, ROWS, COLUMNS)).astype(np.float32)
    expected = np.broadcast_to(tiles.sum(axis=0), (sms, ROWS, COLUMNS))
    source = jnp.asarray(tiles.reshape(TILES * ROWS, COLUMNS))
    failed = False
    for name in ("WGMMA", "TCGEN05_TMEM_NATIVE"):
        for slots in (1, 2):
            for commit in (False, True):
                run = jax.jit(kernel_for(sms, slots, getattr(plgpu.Layout, name), commit))
                wrong = sum(int((np.asarray(run(source)) != expected).sum()) for _ in range(10))
                print(f"layout {name}, {slots} slots, {'commit_smem' if commit else 'no commit'}: "
                      f"{wrong} of {10 * expected.size} sums wrong (expected: 0)", flush=True)
                failed |= wrong != 0 and not commit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
