# SPDX-License-Identifier: Apache-2.0
"""Plain loads of a tile, the arrive that frees its slot, the next load by TMA into it: no proxy fence between.

Needs JAX 0.11 with CUDA and a Hopper GPU; nothing of grout. emit_pipeline_warp_specialized writes no commit_smem
before its arrive on the consumed barrier. The body below adds up tiles of whole numbers: exact, so that each element
that was read from a later tile shows. It adds a tile at once, or a step later, as one does to hide the latency of the
loads. With commit_smem at its end it is right.
"""
import sys

import jax
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
import numpy as np

ROWS, COLUMNS, TILES, THREADS = 128, 64, 64, 2
INDEX = () if jax.__version_info__ >= (0, 11) else ((),)  # plgpu.load asked for one


def kernel_for(ctas, slots, layout, commit, ahead=True):
    def body(source, out):
        cta, thread = jax.lax.axis_index("cta"), jax.lax.axis_index("wg")
        zero = plgpu.layout_cast(jnp.zeros((ROWS, COLUMNS), jnp.float32), layout)

        def add(_, tile, carry):
            total, before = carry
            total = total + before
            before = plgpu.load(tile, *INDEX, layout=layout, optimized=False)
            if not ahead:
                total, before = total + before, zero
            if commit:
                plgpu.commit_smem()
            return total, before

        def context(pipeline):
            total, last = pipeline((zero, zero))
            out[cta, thread] = total + last

        plgpu.emit_pipeline_warp_specialized(
            add,
            grid=(TILES,),
            in_specs=[plgpu.BlockSpec((ROWS, COLUMNS), lambda i: (i, 0))],
            compute_context=context,
            memory_registers=40,
            wg_axis="wg",
            num_compute_wgs=THREADS,
            max_concurrent_steps=slots,
        )(source)

    return plgpu.kernel(
        body,
        out_type=jax.ShapeDtypeStruct((ctas, THREADS, ROWS, COLUMNS), jnp.float32),
        grid=(ctas,),
        grid_names=("cta",),
        num_threads=THREADS + 1,
        thread_name="wg",
        compiler_params=plgpu.CompilerParams(lowering_semantics=plgpu.LoweringSemantics.Lane),
    )


def main():
    sms = jax.devices()[0].core_count
    print(f"jax {jax.__version__} on {jax.devices()[0].device_kind}, {sms} SMs")
    tiles = np.random.default_rng(0).integers(0, 1000, (TILES, ROWS, COLUMNS)).astype(np.float32)
    expected = np.broadcast_to(tiles.sum(axis=0), (sms, THREADS, ROWS, COLUMNS))
    source = jnp.asarray(tiles.reshape(TILES * ROWS, COLUMNS))
    failed = False
    for name in ("WGMMA", "TCGEN05_TMEM_NATIVE"):
        layout = getattr(plgpu.Layout, name)
        for slots in (2, 4):
            for ahead, commit in ((True, False), (False, False), (True, True)):
                run = jax.jit(kernel_for(sms, slots, layout, commit, ahead))
                wrong = sum(int((np.asarray(run(source)) != expected).sum()) for _ in range(10))
                print(f"layout {name}, {slots} slots, values used {'a step later' if ahead else 'at once'},"
                      f" {'commit_smem' if commit else 'no commit'}: {wrong} of {10 * expected.size} sums wrong"
                      " (expected: 0)", flush=True)
                failed |= wrong != 0 and not commit
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
