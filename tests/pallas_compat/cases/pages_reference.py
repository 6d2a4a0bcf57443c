# SPDX-License-Identifier: Apache-2.0
"""What JAX' page pallas/gpu/reference shows, as whole kernels written anew."""
import functools
import inspect

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

from . import Prepared, case
from .jax_matmul import small_whole

PAGE = "JAX' page pallas/gpu/reference"
TRANSFORMS = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))


def _array(*shape):
    return jax.ShapeDtypeStruct(shape, np.float32)


def _count(*shape):
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape)


@case("page_pallas_call", PAGE, "pl.pallas_call: blocks in SMEM by themselves", refused="lowers no pallas_call")
def make_pallas_call():
    """The pipeline is made by JAX."""
    spec = pl.BlockSpec(block_shape=(128,), index_map=lambda i: (i,))

    def body(x_smem, y_smem):
        y_smem[...] = x_smem[...] + 1

    x = _count(256)
    return Prepared(pl.pallas_call(body, grid=(2,), in_specs=[spec], out_specs=spec, out_shape=_array(256),
                                   compiler_params=plgpu.CompilerParams()), (x,), lambda: [x + 1])


@case("page_core_map", PAGE, "pl.core_map in pl.run_state")
def make_core_map():
    """References to arrays in memory outside of the kernel."""
    def function(x, y):
        @pl.run_state
        def run(refs):
            x_ref, y_ref = refs

            @pl.core_map(plgpu.Mesh(grid=(2,), grid_names=("x",)))
            def body():
                part = pl.ds(lax.axis_index("x") * 128, 128)
                y_ref[part] = x_ref[part] + 1

        return run((x, y))[1]

    x = _count(256)
    return Prepared(function, (x, np.zeros_like(x)), lambda: [x + 1])


@case("page_kernel", PAGE, "plgpu.kernel on arrays in global memory")
def make_kernel():
    """Loads and stores without SMEM."""
    def body(x_gmem, y_gmem):
        part = pl.ds(lax.axis_index("x") * 128, 128)
        y_gmem[part] = x_gmem[part] + 1

    x = _count(256)
    return Prepared(plgpu.kernel(body, out_type=_array(256), grid=(2,), grid_names=("x",)), (x,), lambda: [x + 1])


@case("page_threads", PAGE, "two threads, one value handed over")
def make_threads():
    """Plain stores before the arrival, plain loads after the wait."""
    def body(x_gmem, y_gmem, smem, barrier):
        thread = lax.axis_index("thread")

        @pl.when(thread == 0)
        def _():
            smem[...] = x_gmem[...] + 1
            plgpu.barrier_arrive(barrier)

        @pl.when(thread == 1)
        def _():
            plgpu.barrier_wait(barrier)
            y_gmem[...] = smem[...] + 1

    x = _count(128)
    return Prepared(plgpu.kernel(body, out_type=_array(128), num_threads=2, thread_name="thread", scratch_types={
        "smem": plgpu.SMEM((128,), np.float32), "barrier": plgpu.Barrier()}), (x,), lambda: [x + 2])


@case("page_cluster", PAGE, "a collective load to both CTAs of a cluster")
def make_cluster():
    """TMA multicast."""
    def body(x_gmem, y_gmem, smem, barrier):
        plgpu.copy_gmem_to_smem(x_gmem, smem, barrier, collective_axes="cluster")
        plgpu.barrier_wait(barrier)
        plgpu.copy_smem_to_gmem(smem, y_gmem.at[lax.axis_index("cluster")])
        plgpu.wait_smem_to_gmem(0)

    x = _count(128)
    return Prepared(plgpu.kernel(body, out_type=_array(2, 128), cluster=(2,), cluster_names=("cluster",),
                                 scratch_types={
        "smem": plgpu.SMEM((128,), np.float32), "barrier": plgpu.Barrier()}), (x,), lambda: [np.stack([x, x])])


@case("page_semaphore", PAGE, "pl.get_global: one CTA signals, the other waits")
def make_semaphore():
    """A semaphore of the launch."""
    def body(out_gmem):
        semaphore = pl.get_global(plgpu.SemaphoreType.REGULAR)
        block = lax.axis_index("x")

        @pl.when(block == 0)
        def _():
            pl.semaphore_signal(semaphore)

        @pl.when(block == 1)
        def _():
            pl.semaphore_wait(semaphore)
            out_gmem[...] = jnp.ones_like(out_gmem)

    return Prepared(plgpu.kernel(body, out_type=_array(128), grid=(2,), grid_names=("x",)), (),
                    lambda: [np.ones(128, np.float32)])


def _matmul_ring(refill_slot, m=64, n=128, steps=6):
    """A matmul of one tile whose slots are loaded again by the thread that multiplies."""
    slots = 3

    def body(a_gmem, b_gmem, out_gmem, a_smem, b_smem, a_loaded, b_loaded):
        def fetch(step, slot):
            part = pl.ds(step * 64, 64)
            plgpu.copy_gmem_to_smem(a_gmem.at[:, part], a_smem.at[slot], a_loaded.at[slot])
            plgpu.copy_gmem_to_smem(b_gmem.at[part, :], b_smem.at[slot], b_loaded.at[slot])

        def compute(acc):
            def turn(i, _):
                slot = lax.rem(i, slots)
                plgpu.barrier_wait(a_loaded.at[slot])
                plgpu.barrier_wait(b_loaded.at[slot])
                plgpu.wgmma(acc, a_smem.at[slot], b_smem.at[slot])
                if refill_slot == "waited":
                    plgpu.wgmma_wait(1)
                following = i + slots - 1
                free = slot if refill_slot == "own" else lax.rem(following, slots)
                pl.when(jnp.logical_and(following >= slots, following < steps))(lambda: fetch(following, free))

            for slot in range(slots):
                fetch(slot, slot)
            lax.fori_loop(0, steps, turn, None)
            return acc[...]

        out_gmem[...] = pl.run_scoped(compute, plgpu.ACC((m, n), np.float32))

    rng = np.random.default_rng(7)
    a, b = small_whole(rng, (m, 64 * steps), np.float16), small_whole(rng, (64 * steps, n), np.float16)
    kernel = plgpu.kernel(body, out_type=_array(m, n), scratch_types={
        "a_smem": plgpu.SMEM((slots, m, 64), np.float16, transforms=TRANSFORMS),
        "b_smem": plgpu.SMEM((slots, 64, n), np.float16, transforms=TRANSFORMS),
        "a_loaded": plgpu.Barrier(num_barriers=slots), "b_loaded": plgpu.Barrier(num_barriers=slots)})
    return Prepared(kernel, (a, b), lambda: [a.astype(np.float32) @ b.astype(np.float32)])


@case("page_wgmma_ring", PAGE, "the loop under 'Pipelining' as printed: it loads into the slot that is being read",
      refill_slot="own")
@case("page_wgmma_ring_slot", PAGE, "the same, into the slot that the page computes and does not use",
      refill_slot="next")
@case("page_wgmma_ring_wait", PAGE, "the same, with plgpu.wgmma_wait(1) after wgmma", refill_slot="waited")
def make_wgmma_ring(refill_slot):
    """The page relies on wgmma to wait for the ones before."""
    return _matmul_ring(refill_slot)


@case("page_wgmma_transposed", PAGE, "wgmma on a transposed reference, accumulator from run_scoped and from run_state")
def make_transposed(m=64, n=128, k=64):
    """[k, m] by transpose_ref."""
    takes_indices = "idx" in inspect.signature(plgpu.load).parameters  # before JAX 0.12

    def body(a_gmem, b_gmem, c_gmem, out_gmem, a_smem, b_smem, barrier):
        plgpu.copy_gmem_to_smem(a_gmem, a_smem, barrier)
        plgpu.copy_gmem_to_smem(b_gmem, b_smem, barrier)
        plgpu.barrier_wait(barrier)
        a_turned = plgpu.transpose_ref(a_smem, (1, 0))

        def compute(acc):
            plgpu.wgmma(acc, a_turned, b_smem)
            return acc[...]

        once = pl.run_scoped(compute, plgpu.ACC((m, n), np.float32))
        start = plgpu.load(c_gmem, *[()] * takes_indices, layout=plgpu.Layout.WGMMA, optimized=False)
        again = pl.run_state(lambda acc: plgpu.wgmma(acc, a_turned, b_smem))(plgpu.ACC.init(start))
        out_gmem[0] = once
        out_gmem[1] = again

    rng = np.random.default_rng(8)
    a, b = small_whole(rng, (k, m), np.float16), small_whole(rng, (k, n), np.float16)
    c = small_whole(rng, (m, n), np.float32)

    def reference():
        product = a.astype(np.float32).T @ b.astype(np.float32)
        return [np.stack([product, product + c])]

    return Prepared(plgpu.kernel(body, out_type=_array(2, m, n), scratch_types={
        "a_smem": plgpu.SMEM((k, m), np.float16, transforms=TRANSFORMS),
        "b_smem": plgpu.SMEM((k, n), np.float16, transforms=TRANSFORMS),
        "barrier": plgpu.Barrier(num_arrivals=2)}), (a, b, c), reference)


@case("page_queue", PAGE, "a queue between two threads, values computed", is_copied=False)
@case("page_queue_copied", PAGE, "the same, values loaded by TMA: no commit_smem between loads and the next copy",
      is_copied=True)
@case("page_queue_published", PAGE, "the same with commit_smem before the arrival", is_copied=True, is_published=True)
def make_queue(is_copied, is_published=False, slots=2, steps=6):
    """Barriers both ways."""
    def body(x_gmem, y_gmem, queue, produced, consumed):
        thread = lax.axis_index("thread")

        def produce(i, _):
            slot = lax.rem(i, slots)
            pl.when(i >= slots)(lambda: plgpu.barrier_wait(consumed.at[slot]))
            if is_copied:
                plgpu.copy_gmem_to_smem(x_gmem.at[i], queue.at[slot], produced.at[slot])
            else:
                queue[slot] = x_gmem[i] * 2
                plgpu.barrier_arrive(produced.at[slot])

        def consume(i, _):
            slot = lax.rem(i, slots)
            plgpu.barrier_wait(produced.at[slot])
            y_gmem[i] = queue[slot] + 1
            if is_published:
                plgpu.commit_smem()
            plgpu.barrier_arrive(consumed.at[slot])

        pl.when(thread == 0)(lambda: lax.fori_loop(0, steps, produce, None))
        pl.when(thread == 1)(lambda: lax.fori_loop(0, steps, consume, None))

    x = _count(steps, 128)
    barrier = functools.partial(plgpu.Barrier, num_barriers=slots)
    return Prepared(plgpu.kernel(body, out_type=_array(steps, 128), num_threads=2, thread_name="thread", scratch_types={
        "queue": plgpu.SMEM((slots, 128), np.float32), "produced": barrier(), "consumed": barrier()}), (x,),
        lambda: [x + 1 if is_copied else x * 2 + 1])


@case("page_cluster_barrier", PAGE, "SMEM of a collective load used again after a ClusterBarrier", is_published=False)
@case("page_cluster_barrier_published", PAGE, "the same with commit_smem before the arrival", is_published=True)
def make_cluster_barrier(is_published):
    """Both CTAs have read before both are written."""
    def body(x_gmem, z_gmem, y_gmem, smem, local, both):
        own = lax.axis_index("cluster")
        plgpu.copy_gmem_to_smem(x_gmem, smem, local, collective_axes="cluster")
        plgpu.barrier_wait(local)
        y_gmem[own, 0] = smem[...]
        if is_published:
            plgpu.commit_smem()
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        plgpu.copy_gmem_to_smem(z_gmem, smem, local, collective_axes="cluster")
        plgpu.barrier_wait(local)
        y_gmem[own, 1] = smem[...]

    x = _count(128)
    return Prepared(plgpu.kernel(body, out_type=_array(2, 2, 128), cluster=(2,), cluster_names=("cluster",),
                                 scratch_types={
        "smem": plgpu.SMEM((128,), np.float32), "local": plgpu.Barrier(),
        "both": plgpu.ClusterBarrier(collective_axes=("cluster",))}), (x, -x), lambda: [np.stack([[x, -x]] * 2)])


@case("page_arrivals", PAGE, "one barrier for a collective load and one of each CTA's own")
def make_arrivals():
    """num_arrivals=2."""
    def body(x_gmem, z_gmem, y_gmem, first, second, barrier):
        own = lax.axis_index("cluster")
        plgpu.copy_gmem_to_smem(x_gmem, first, barrier, collective_axes="cluster")
        plgpu.copy_gmem_to_smem(z_gmem.at[own], second, barrier)
        plgpu.barrier_wait(barrier)
        y_gmem[own] = first[...] + second[...]

    x, z = _count(128), _count(2, 128)
    return Prepared(plgpu.kernel(body, out_type=_array(2, 128), cluster=(2,), cluster_names=("cluster",),
                                 scratch_types={
        "first": plgpu.SMEM((128,), np.float32), "second": plgpu.SMEM((128,), np.float32),
        "barrier": plgpu.Barrier(num_arrivals=2)}), (x, z), lambda: [x + z])


@case("page_groups", PAGE, "copies out in groups: one of its own, two in one")
def make_groups():
    """wait_read_only, then all."""
    def body(x_gmem, y_gmem, smem):
        for number in range(3):
            smem[number] = x_gmem[...] + number
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(smem.at[0], y_gmem.at[0])
        plgpu.wait_smem_to_gmem(0, wait_read_only=True)
        plgpu.copy_smem_to_gmem(smem.at[1], y_gmem.at[1], commit_group=False)
        plgpu.copy_smem_to_gmem(smem.at[2], y_gmem.at[2])
        plgpu.wait_smem_to_gmem(1)
        plgpu.wait_smem_to_gmem(0)

    x = _count(128)
    return Prepared(plgpu.kernel(body, out_type=_array(3, 128),
                                 scratch_types={"smem": plgpu.SMEM((3, 128), np.float32)}),
                    (x,), lambda: [np.stack([x, x + 1, x + 2])])
