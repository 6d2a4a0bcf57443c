"""The kernels of this folder in Pallas, under JAX's GPU interpreter, for docs/compared.md.

usage: jax_probes.py [NAME...]

Needs jax[cpu]==0.10.2 and absl-py, those of Blackwell (mma_..) 0.11.2 on Python 3.12; not a test. Without names all
that the version can run. Prints what the race detector says of each. A kernel
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


# ---- Blackwell ----


def load_both(a, b, sa, sb, full):
    plgpu.copy_gmem_to_smem(a, sa, full)
    plgpu.copy_gmem_to_smem(b, sb, full)
    plgpu.barrier_wait(full)


def mma_two_accumulators(a, b, y, sa, sb, full, done, first, second):
    load_both(a, b, sa, sb, full)
    plgpu.tcgen05_mma(first, sa, sb, accumulate=False)
    plgpu.tcgen05_mma(second, sa, sb, done, accumulate=False)
    plgpu.barrier_wait(done)
    y[...] = plgpu.async_load_tmem(first)
    plgpu.wait_load_tmem()


def mma_handed_on(a, b, y, sa, sb, full, done, there, acc):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
        load_both(a, b, sa, sb, full)
        plgpu.tcgen05_mma(acc, sa, sb, done, accumulate=False)
        plgpu.barrier_wait(done)
        plgpu.barrier_arrive(there)

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
        plgpu.barrier_wait(there)
        y[...] = plgpu.async_load_tmem(acc)
        plgpu.wait_load_tmem()


def mma_publishes_store(a, b, y, sa, sb, s, full, done, acc):
    @pl.when(jax.lax.axis_index("wg") == 0)
    def _():
        load_both(a, b, sa, sb, full)
        s[...] = jnp.ones(s.shape, s.dtype)
        plgpu.tcgen05_mma(acc, sa, sb, done, accumulate=False)

    @pl.when(jax.lax.axis_index("wg") == 1)
    def _():
        plgpu.barrier_wait(done)
        y[...] = s[...]


def mma_refill(a, b, y, sa, sb, full, again, done, acc):
    load_both(a, b, sa, sb, full)
    plgpu.tcgen05_mma(acc, sa, sb, accumulate=False)
    plgpu.copy_gmem_to_smem(a, sa, again)
    plgpu.barrier_wait(again)
    plgpu.tcgen05_commit_arrive(done)
    plgpu.barrier_wait(done)
    y[...] = plgpu.async_load_tmem(acc)
    plgpu.wait_load_tmem()


def mma_thread_then_warp(a, b, y, sa, sb, full, first, second, acc):
    load_both(a, b, sa, sb, full)
    plgpu.tcgen05_mma(acc, sa, sb, first, accumulate=False)

    @plgpu.warp_map
    def _(warp):
        @pl.when(warp == 1)
        def _():
            plgpu.tcgen05_mma(acc, sa, sb, second)

    plgpu.barrier_wait(first)
    plgpu.barrier_wait(second)
    y[...] = plgpu.async_load_tmem(acc)
    plgpu.wait_load_tmem()


# name: (kernel, its scratches, what else plgpu.kernel is given)
TWO = {"num_threads": 2, "thread_name": "wg"}
TILES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
OPERANDS = [plgpu.SMEM((2 * N, N), jnp.float16, transforms=TILES), plgpu.SMEM((N, N), jnp.float16, transforms=TILES)]
FULL, DONE = plgpu.Barrier(num_arrivals=2), plgpu.Barrier(orders_tensor_core=True)
SUMS = plgpu.TMEM((2 * N, N), jnp.float32)
MMA_PROBES = {
    "mma_two_accumulators": (mma_two_accumulators, [*OPERANDS, FULL, DONE, SUMS, SUMS], {}),
    "mma_handed_on": (mma_handed_on, [*OPERANDS, FULL, DONE, BARRIER, SUMS], TWO),
    "mma_publishes_store": (mma_publishes_store, [*OPERANDS, plgpu.SMEM((2 * N, N), jnp.float32), FULL, DONE, SUMS],
                            TWO),
    "mma_refill": (mma_refill, [*OPERANDS, FULL, BARRIER, DONE, SUMS], {}),
    "mma_thread_then_warp": (mma_thread_then_warp, [*OPERANDS, FULL, DONE, DONE, SUMS], {}),
}
PROBES = {
    "early_read": (early_read, [SMEM, SMEM, BARRIER], {}),
    "two_warpgroups": (two_warpgroups, [SMEM], TWO),
    "store_without_commit": (store_without_commit, [SMEM], {}),
    "source_reuse": (source_reuse, [SMEM], {}),
    "refill_without_commit": (refill_without_commit, [SMEM, SMEM, BARRIER], {}),
    "wrong_slot": (wrong_slot, [plgpu.SMEM((3, N, N), jnp.float32), SMEM, plgpu.Barrier(num_barriers=3)], {}),
    "wgmma_refill": (wgmma_refill, [plgpu.SMEM((N, N), jnp.float16)], {}),
    "two_ctas": (two_ctas, [], {"grid": (2,), "grid_names": ("g",)}),
    "never_arrives": (never_arrives, [BARRIER], {}),
}


def probe(name, tma_threads, answers):
    kernel, scratches, more = {**PROBES, **MMA_PROBES}[name]
    shape = (2 * N, N) if name in MMA_PROBES else (N, N)
    inputs = [jnp.ones(shape, jnp.float16), jnp.ones((N, N), jnp.float16)] if name in MMA_PROBES else [jnp.ones(shape)]
    mode = InterpretGPUParams(detect_races=True, num_tma_threads_per_device=tma_threads)
    run = plgpu.kernel(kernel, out_type=jax.ShapeDtypeStruct(shape, jnp.float32), scratch_types=scratches,
                       interpret=mode, **more)
    jax.block_until_ready(run(*inputs))
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
    has_mma = jax.__version_info__ >= (0, 11)
    for name in sys.argv[1:] or [*PROBES, *(MMA_PROBES if has_mma else ())]:
        print(f"{name:24} {ask(name, 1):12} with 4 TMA threads: {ask(name, 4)}", flush=True)


if __name__ == "__main__":
    main()
