"""The kernels of this folder in Pallas, under JAX's GPU interpreter, for docs/compared.md.

usage: jax_probes.py [NAME...]

Needs jax[cpu]==0.10.2 and absl-py; not a test. Prints what the race detector says of each. A kernel
that does not end within 30 s is ended. Each kernel runs twice: with one simulated TMA thread, the
default, and with four.

SPDX-License-Identifier: Apache-2.0
"""
import multiprocessing
import sys

import jax
import jax.experimental.pallas as pl
import jax.experimental.pallas.mosaic_gpu as plgpu
import jax.numpy as jnp
from jax._src.pallas.mosaic_gpu.interpret import gpu_callbacks
from jax._src.pallas.mosaic_gpu.interpret.params import InterpretGPUParams

SECONDS = 30
N = 64
SMEM, BARRIER = plgpu.SMEM((N, N), jnp.float32), plgpu.Barrier()


def early_read(x, y, s, t, bar):
    plgpu.copy_gmem_to_smem(x, s, bar)
    t[...] = s[...]
    plgpu.barrier_wait(bar)
    y[...] = t[...]


def two_warpgroups(x, y, s):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
        s[...] = x[...]

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
        y[...] = s[...]


def store_without_commit(x, y, s):
    s[...] = x[...]
    plgpu.copy_smem_to_gmem(s, y)
    plgpu.wait_smem_to_gmem(0)


def source_reuse(x, y, s):
    s[...] = x[...]
    plgpu.commit_smem()
    plgpu.copy_smem_to_gmem(s, y)
    s[...] = x[...]
    plgpu.wait_smem_to_gmem(0)


def refill_without_commit(x, y, s, t, bar):
    plgpu.copy_gmem_to_smem(x, s, bar)
    plgpu.barrier_wait(bar)
    t[...] = s[...]
    plgpu.copy_gmem_to_smem(x, s, bar)
    plgpu.barrier_wait(bar)
    y[...] = t[...]


def wrong_slot(x, y, s, t, bar):
    for k in range(3):
        plgpu.copy_gmem_to_smem(x, s.at[k], bar.at[k])
    for k in range(3):
        plgpu.barrier_wait(bar.at[(k + 1) % 3])
        t[...] = s[k]
    y[...] = t[...]


def wgmma_refill(x, y, s):
    s[...] = x[...].astype(jnp.float16)
    plgpu.commit_smem()

    def multiply(acc):
        plgpu.wgmma(acc, s, s)
        s[...] = x[...].astype(jnp.float16)
        plgpu.wgmma_wait(0)
        return acc[...]

    y[...] = pl.run_scoped(multiply, plgpu.ACC((N, N), jnp.float32))


def two_ctas(x, y):
    y[...] = x[...]


def never_arrives(x, y, bar):
    plgpu.barrier_wait(bar)
    y[...] = x[...]


# name: (kernel, its scratches, what else plgpu.kernel is given)
PROBES = {
    "early_read": (early_read, [SMEM, SMEM, BARRIER], {}),
    "two_warpgroups": (two_warpgroups, [SMEM], {"num_threads": 2, "thread_name": "wg"}),
    "store_without_commit": (store_without_commit, [SMEM], {}),
    "source_reuse": (source_reuse, [SMEM], {}),
    "refill_without_commit": (refill_without_commit, [SMEM, SMEM, BARRIER], {}),
    "wrong_slot": (wrong_slot, [plgpu.SMEM((3, N, N), jnp.float32), SMEM, plgpu.Barrier(num_barriers=3)], {}),
    "wgmma_refill": (wgmma_refill, [plgpu.SMEM((N, N), jnp.float16)], {}),
    "two_ctas": (two_ctas, [], {"grid": (2,), "grid_names": ("g",)}),
    "never_arrives": (never_arrives, [BARRIER], {}),
}


def probe(name, tma_threads, answers):
    kernel, scratches, more = PROBES[name]
    mode = InterpretGPUParams(detect_races=True, num_tma_threads_per_device=tma_threads)
    run = plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct((N, N), jnp.float32), scratch_types=scratches,
                       interpret=mode, **more)
    jax.block_until_ready(run(jnp.ones((N, N), jnp.float32)))
    answers.put("race" if gpu_callbacks.get_races().races_found else "no race")


def ask(name, tma_threads):
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=probe, args=(name, tma_threads, answers))
    process.start()
    process.join(SECONDS)
    if process.is_alive():
        process.terminate()
        process.join()
        return f"does not end within {SECONDS} s"
    return answers.get() if process.exitcode == 0 else "exception"


def main():
    print(f"jax {jax.__version__}")
    for name in sys.argv[1:] or PROBES:
        print(f"{name:24} {ask(name, 1):12} with 4 TMA threads: {ask(name, 4)}", flush=True)


if __name__ == "__main__":
    main()
