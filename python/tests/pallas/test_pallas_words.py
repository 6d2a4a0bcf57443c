# SPDX-License-Identifier: Apache-2.0
"""Findings of a Pallas kernel speak Pallas: what a help says to write can be typed, and mends the kernel."""
import ast
import collections
import importlib
import linecache
import pathlib
import re
import typing

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
import test_pallas_mistakes
from pallas_tools import S, kernel

SMEM, Barrier, F32, BF16 = plgpu.SMEM, plgpu.Barrier, jnp.float32, jnp.bfloat16
HALVES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
THREADS = {"num_threads": 2, "thread_name": "wg"}
PAIR = {"cluster": (2,), "cluster_names": ("x",)}
X = numpy.arange(1024, dtype="float32")
# What is written in the text format alone.
TEXT = re.compile(r"%\w|\battr "
                  r"|\bacc_load\b|\bwait\(\d|\barrivals\(|\border\(|\bscope\(|\boob\(|\blanes\b|read_only\b(?!=)|"
                  r"'(commit_smem|commit_group|commit_gmem|commit_tmem|wait_load_tmem|wgmma_wait \d|barrier_wait|"
                  r"barrier_arrive|wait_smem_to_gmem|tcgen05_commit_arrive|orders_tensor_core|cluster_barrier|"
                  r"semaphore_wait|semaphore_signal|atomic_\w+)\b|\bcluster_barrier\b|\bblock_barrier\b|\bmbarrier|"
                  r"\bcommit_gmem\b|\bset_max_registers n\b|\bcluster_exit\b|\baxis_index with\b")


def list_findings(report):
    """All that a report may show, those that follow from others too."""
    return [finding for one in report.reports for finding in one.findings]


def assert_speaks_pallas(report):
    for finding in list_findings(report):
        words = [finding.message, finding.repair, *(note.message for note in finding.notes)]
        for text in words:
            assert not TEXT.search(text), f"{TEXT.search(text).group()!r} is of the text format: {text}\n{report}"


def check(function, *arrays):
    report = grout.pallas.check(function)(*arrays)
    assert_speaks_pallas(report)
    return report


def find(report, code):
    found = [finding for finding in list_findings(report) if finding.code == code]
    assert found, str(report)
    return found[0]


def line_with(mark):
    """The number of the line of this file that ends in the comment."""
    lines = pathlib.Path(__file__).read_text(encoding="utf-8").splitlines()
    found = [number for number, line in enumerate(lines, 1) if line.endswith("# " + mark)]
    assert len(found) == 1, mark
    return found[0]


# ---- pipelines: only the body can be written in
# -----------------------------------------------------------------------

def sum_by_pipeline(is_right):
    def step(_, xs, acc):
        acc = acc + xs[...]  # SUM
        if is_right:
            plgpu.commit_smem()
        return acc

    def body(x, o):
        pipeline = plgpu.emit_pipeline(
            step, grid=(8,), in_specs=[plgpu.BlockSpec((128,), lambda k: (k,))], max_concurrent_steps=2,
            init_carry=jnp.zeros((128,), F32))
        o[...] = pipeline(x)  # SUM PIPELINE
    return kernel(body, S((128,), F32)), (X,)


def wgmma_by_pipeline(is_right):
    def body(a, b, o):
        def scope(acc):
            def step(_, a_smem, b_smem):
                plgpu.wgmma(acc, a_smem, b_smem)  # WGMMA
                if is_right:
                    plgpu.wgmma_wait(0)
            pipeline = plgpu.emit_pipeline(
                step, grid=(4,), max_concurrent_steps=2, in_specs=[
                    plgpu.BlockSpec((64, 64), lambda k: (0, k), transforms=HALVES),
                    plgpu.BlockSpec((64, 64), lambda k: (k, 0), transforms=HALVES)])
            pipeline(a, b)  # WGMMA PIPELINE
            return acc[...]
        o[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))
    return kernel(body, S((64, 64), F32)), (numpy.ones((64, 256), "float16"), numpy.ones((256, 64), "float16"))


@pytest.mark.parametrize("make, code, op, line, call", [
    (sum_by_pipeline, "missing-commit-smem-war", "plgpu.commit_smem()", "SUM", "SUM PIPELINE"),
    (wgmma_by_pipeline, "mma-operand-reuse", "plgpu.wgmma_wait(0)", "WGMMA", "WGMMA PIPELINE")])
def test_what_a_pipeline_lacks_is_written_in_its_body(make, code, op, line, call):
    function, arrays = make(False)
    repair = find(check(function, *arrays), code).repair
    assert repair == (f"insert '{op}' as the last line of the body that line {line_with(call)} calls, after line "
                      f"{line_with(line)}")
    function, arrays = make(True)
    assert check(function, *arrays).verdict == "clean"


def specialised(is_right):
    """A pipeline with a thread of its own for the copies: who reads is let go on inside of JAX' code."""
    def body(x, o):
        def step(_, xs, acc):
            acc = acc + xs[...]  # SPECIALISED
            if is_right:
                plgpu.commit_smem()
            return acc

        def compute(pipeline):
            o[lax.axis_index("wg")] = pipeline(jnp.zeros((128,), F32))
        pipeline = plgpu.emit_pipeline_warp_specialized(
            step, grid=(8,), in_specs=[plgpu.BlockSpec((128,), lambda k: (k,))], max_concurrent_steps=2,
            num_compute_wgs=1, memory_registers=40, wg_axis="wg", compute_context=compute)
        pipeline(x)  # SPECIALISED PIPELINE
    return kernel(body, S((1, 128), F32), num_threads=2, thread_name="wg"), (X,)


def test_who_reads_in_a_pipeline_with_a_thread_for_copies_commits_in_its_body():
    function, arrays = specialised(False)
    repair = find(check(function, *arrays), "missing-commit-smem-war").repair
    assert repair == (f"insert 'plgpu.commit_smem()' as the last line of the body that line "
                      f"{line_with('SPECIALISED PIPELINE')} calls, after line {line_with('SPECIALISED')}, by thread "
                      "wg=0")
    function, arrays = specialised(True)
    assert check(function, *arrays).verdict == "clean"


def blocks_of_pallas_call(is_right):
    def step(x, o, room):
        @pl.when(pl.program_id(0) == 0)
        def _():
            room[...] = jnp.zeros((128,), F32)
        room[...] += x[...]  # BLOCK
        o[...] = room[...]
        if is_right:
            plgpu.commit_smem()
    function = pl.pallas_call(
        step, out_shape=S((128,), F32), grid=(8,), in_specs=[plgpu.BlockSpec((128,), lambda i: (i,))],
        out_specs=plgpu.BlockSpec((128,), lambda i: (0,)), scratch_shapes=[SMEM((128,), F32)],
        compiler_params=plgpu.CompilerParams(dimension_semantics=["sequential"], max_concurrent_steps=2))
    return function, (X,)


def test_what_a_pallas_call_lacks_is_written_in_its_body():
    function, arrays = blocks_of_pallas_call(True)
    try:
        twin = check(function, *arrays)
    except grout.pallas.UnsupportedError as error:
        pytest.skip(error.message)
    assert twin.verdict == "clean"
    function, arrays = blocks_of_pallas_call(False)
    repair = find(check(function, *arrays), "missing-commit-smem-war").repair
    assert repair.startswith("insert 'plgpu.commit_smem()' as the last line of the body that line ")
    assert repair.endswith(f" calls, after line {line_with('BLOCK')}")


# ---- helps that say what the note does not deny
# -----------------------------------------------------------------------

def load_under_mma(is_right):
    def body(a, b, o, a_smem, b_smem, o_smem, acc, full, mma):
        plgpu.copy_gmem_to_smem(a, a_smem, full)
        plgpu.copy_gmem_to_smem(b, b_smem, full)
        plgpu.barrier_wait(full)
        plgpu.tcgen05_mma(acc, a_smem, b_smem, mma, accumulate=False)
        if is_right:
            plgpu.barrier_wait(mma)
        o_smem[...] = plgpu.async_load_tmem(acc).astype(BF16)  # UNSEEN
        plgpu.wait_load_tmem()
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(o_smem, o)
        plgpu.wait_smem_to_gmem(0)
    tiles = [SMEM(shape, BF16, transforms=HALVES) for shape in ((128, 64), (64, 128), (128, 128))]
    scratch = [*tiles, plgpu.TMEM((128, 128), F32), Barrier(num_arrivals=2), Barrier(orders_tensor_core=True)]
    return kernel(body, S((128, 128), BF16), scratch_types=scratch), (jnp.ones((128, 64), BF16),
                                                                      jnp.ones((64, 128), BF16))


def test_a_commit_that_is_there_is_not_written_again():
    function, arrays = load_under_mma(False)
    report = check(function, *arrays)
    finding = find(report, "accumulator-in-flight")
    assert finding.repair == f"insert 'plgpu.barrier_wait(mma)' before line {line_with('UNSEEN')}"
    assert "comes after it, and no wait for that lies between the two" in finding.missing_edge
    assert find(report, "barrier-unobserved-phase").repair.endswith("add 'plgpu.barrier_wait(mma)' for phase 0")
    function, arrays = load_under_mma(True)
    assert check(function, *arrays).verdict == "clean"


def double_buffered(left):
    """How many groups each wait leaves."""
    def body(y, ys):
        def step(t, _):
            plgpu.wait_smem_to_gmem(left, wait_read_only=True)  # LEFT
            ys[lax.rem(t, 2)] = jnp.full((256,), 1.0) * t
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(ys.at[lax.rem(t, 2)], y.at[pl.ds(t * 256, 256)])
            return 0
        lax.fori_loop(0, 6, step, 0)
        plgpu.wait_smem_to_gmem(0)
    return kernel(body, S((1536,), F32), scratch_types=[SMEM((2, 256), F32)])


@pytest.mark.parametrize("left", (2, 3))
def test_a_wait_that_leaves_too_many_groups_is_lowered(left):
    finding = find(check(double_buffered(left)), "smem-source-reuse")
    assert finding.repair == f"lower the {left} of the wait_smem_to_gmem at line {line_with('LEFT')} to 1"
    assert f"plgpu.wait_smem_to_gmem({left}) leaves" in finding.missing_edge
    assert finding.missing_edge.startswith("group off by one") == (left == 2)
    assert check(double_buffered(1)).verdict == "clean"


# ---- what the text format has and Pallas has not
# ----------------------------------------------------------------------

def exit_of_peer(is_right):
    def body(x, y, s, bar, both, end):
        i = lax.axis_index("x")
        plgpu.copy_gmem_to_smem(x.at[i], s, bar)
        plgpu.barrier_wait(bar)
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        y[i] = plgpu.cluster_ref(s, {"x": 1 - i})[...]
        if is_right:
            plgpu.barrier_arrive(end)
            plgpu.barrier_wait(end)
    over = plgpu.ClusterBarrier(collective_axes=("x",))
    return kernel(body, S((2, 128), F32), scratch_types=[SMEM((128,), F32), Barrier(), over, over], **PAIR)


def test_a_cluster_meets_by_a_barrier_before_it_ends():
    x = jnp.ones((2, 128), F32)
    repair = find(check(exit_of_peer(False), x), "cluster-exit").repair
    assert repair == ("end the kernel with plgpu.barrier_arrive(b) and then plgpu.barrier_wait(b) by every thread, "
                      "where b "
                      'is a plgpu.ClusterBarrier(collective_axes=("x",))')
    assert check(exit_of_peer(True), x).verdict == "clean"


def two_axes(is_right):
    """Two threads a CTA, and a cluster of two axes."""
    def body(x, y, s, both, end):
        i, j, wg = lax.axis_index("x"), lax.axis_index("y"), lax.axis_index("wg")
        s[wg] = x[i, j, wg]
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        y[i, j, wg] = plgpu.cluster_ref(s, {"x": 1 - i, "y": 1 - j})[wg]
        if is_right:
            plgpu.barrier_arrive(end)
            plgpu.barrier_wait(end)
    over = plgpu.ClusterBarrier(collective_axes=(("x", "y"),), num_arrivals=2)
    return kernel(body, S((2, 2, 2, 64), F32), scratch_types=[SMEM((2, 64), F32), over, over], cluster=(2, 2),
                  cluster_names=("x", "y"), **THREADS)


def test_the_barrier_is_of_all_axes_and_threads():
    x = jnp.ones((2, 2, 2, 64), F32)
    repair = find(check(two_axes(False), x), "cluster-exit").repair
    assert repair.endswith('plgpu.ClusterBarrier(collective_axes=(("x", "y"),), num_arrivals=2)')
    assert check(two_axes(True), x).verdict == "clean"


def own_arrivals(is_right):
    def body(x, o, first, second, full):
        plgpu.copy_gmem_to_smem(x.at[pl.ds(0, 128)], first, full)
        plgpu.copy_gmem_to_smem(x.at[pl.ds(128, 128)], second, full)
        plgpu.barrier_wait(full)
        o[...] = first[...] + second[...]
    return kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)] * 2 +
                  [Barrier(num_arrivals=2 if is_right else 1)])


def test_arrivals_are_declared_as_pallas_does():
    repair = find(check(own_arrivals(False), X), "barrier-overrun").repair
    assert repair.endswith("declare num_arrivals of more than 1 for full")
    assert check(own_arrivals(True), X).verdict == "clean"


def stores_then_loads(is_right):
    """Pallas has no fence between stores of threads to GMEM and TMA."""
    def body(x, o, room, stage, bar):
        if is_right:
            room[...] = x[...]
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(room, o)
            plgpu.wait_smem_to_gmem(0)
        else:
            o[...] = x[...]
        plgpu.copy_gmem_to_smem(o, stage, bar)
        plgpu.barrier_wait(bar)
    return kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)] * 2 + [Barrier()])


def test_no_fence_is_asked_for_that_pallas_has_not():
    x = jnp.ones((128,), F32)
    repair = find(check(stores_then_loads(False), x), "missing-commit-gmem").repair
    assert "no fence for GMEM has run" in find(check(stores_then_loads(False), x), "missing-commit-gmem").missing_edge
    assert repair.startswith("let both go by TMA, or both by loads and stores of threads")
    assert check(stores_then_loads(True), x).verdict == "clean"


def barriers_of_an_array(is_right):
    def body(x, o, rooms, full):
        for slot in range(2):
            plgpu.copy_gmem_to_smem(x.at[pl.ds(slot * 128, 128)], rooms.at[slot], full.at[slot])
        plgpu.barrier_wait(full.at[0])
        if is_right:
            plgpu.barrier_wait(full.at[1])
        o[...] = rooms[0] + rooms[1]  # SLOTS
        if not is_right:
            plgpu.barrier_wait(full.at[1])
    return kernel(body, S((128,), F32), scratch_types=[SMEM((2, 128), F32), Barrier(num_barriers=2)])


def test_a_barrier_of_several_is_named_by_at():
    repair = find(check(barriers_of_an_array(False), X), "async-not-awaited").repair
    assert "full.at[1]" in repair, repair
    assert check(barriers_of_an_array(True), X).verdict == "clean"


def no_wait_at_all(x):
    def body(x, o, rooms, full):
        plgpu.copy_gmem_to_smem(x, rooms.at[1], full.at[1])
        o[...] = rooms[1]  # NO WAIT
    return kernel(body, S((128,), F32), scratch_types=[SMEM((2, 128), F32), Barrier(num_barriers=2)])(x)


def test_the_wait_is_written_as_pallas_takes_it():
    repair = find(check(no_wait_at_all, X[:128]), "async-not-awaited").repair
    assert repair == f"insert 'plgpu.barrier_wait(full.at[1])' before line {line_with('NO WAIT')}"


# ---- what is left out of right kernels
# ---------------------------------------------------------------------------------

def ring(x):
    """A thread that loads into slots, and one that reads them."""
    def body(x_ref, out, rooms, full, empty):
        @pl.when(lax.axis_index("wg") == 0)
        def _():
            @pl.loop(0, 4)
            def _(step):
                slot = lax.rem(step, 2)

                @pl.when(step >= 2)
                def _():
                    plgpu.barrier_wait(empty.at[slot])
                plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(step * 128, 128)], rooms.at[slot], full.at[slot])

        @pl.when(lax.axis_index("wg") == 1)
        def _():
            @pl.loop(0, 4)
            def _(step):
                slot = lax.rem(step, 2)
                plgpu.barrier_wait(full.at[slot])
                out[pl.ds(step * 128, 128)] = rooms[slot]
                plgpu.commit_smem()

                @pl.when(step < 2)
                def _():
                    plgpu.barrier_arrive(empty.at[slot])
    return kernel(body, S((512,), F32), scratch_types=[SMEM((2, 128), F32), Barrier(num_barriers=2),
                                                       Barrier(num_barriers=2)], **THREADS)(x)


def product(a, b):
    """wgmmas on two slots, and the product by TMA."""
    def body(a_ref, b_ref, out, a_smem, b_smem, room, full):
        def scope(acc):
            def load(step, slot):
                part = pl.ds(step * 64, 64)
                plgpu.copy_gmem_to_smem(a_ref.at[:, part], a_smem.at[slot], full.at[slot])
                plgpu.copy_gmem_to_smem(b_ref.at[part, :], b_smem.at[slot], full.at[slot])
            load(0, 0)
            for step in range(4):
                plgpu.barrier_wait(full.at[step % 2])
                plgpu.wgmma(acc, a_smem.at[step % 2], b_smem.at[step % 2])
                plgpu.wgmma_wait(0)
                if step < 3:
                    load(step + 1, (step + 1) % 2)
            return acc[...]
        room[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)
    tiles = SMEM((2, 64, 64), jnp.float16, transforms=HALVES)
    return kernel(body, S((64, 64), F32), scratch_types=[
        tiles, tiles, SMEM((64, 64), F32), Barrier(num_arrivals=2, num_barriers=2)])(a, b)


def products_in_tensor_memory(a, b):
    """Two MMAs, a barrier for each, and a store to tensor memory between."""
    def body(a_ref, b_ref, out, a_smem, b_smem, acc, full, done):
        plgpu.copy_gmem_to_smem(a_ref, a_smem, full)
        plgpu.copy_gmem_to_smem(b_ref, b_smem, full)
        plgpu.barrier_wait(full)
        plgpu.async_store_tmem(acc, jnp.zeros((128, 128), F32))
        plgpu.commit_tmem()
        for _ in range(2):
            plgpu.tcgen05_mma(acc, a_smem, b_smem, accumulate=True)
            plgpu.tcgen05_commit_arrive(done)
            plgpu.barrier_wait(done)
            out[...] = plgpu.async_load_tmem(acc)
            plgpu.wait_load_tmem()
    tiles = [SMEM(shape, BF16, transforms=HALVES) for shape in ((128, 64), (64, 128))]
    return kernel(body, S((128, 128), F32), scratch_types=[
        *tiles, plgpu.TMEM((128, 128), F32), Barrier(num_arrivals=2), Barrier(orders_tensor_core=True)])(a, b)


def semaphores(x):
    """A CTA that tells the next one."""
    def body(x_ref, out):
        own = lax.axis_index("i")
        told = pl.get_global(plgpu.SemaphoreType.REGULAR)

        @pl.when(own == 0)
        def _():
            out[0] = x_ref[...] + 1
            plgpu.semaphore_signal(told)

        @pl.when(own == 1)
        def _():
            plgpu.semaphore_wait(told)
            out[1] = out[0] + 1
    return kernel(body, S((2, 128), F32), grid=(2,), grid_names=("i",))(x)


def closed_groups(x):
    """Stores in groups that the kernel closes itself."""
    def body(x_ref, out, room):
        for step in range(4):
            plgpu.wait_smem_to_gmem(1, wait_read_only=True)
            room[step % 2] = x_ref[pl.ds(step * 64, 64)]
            plgpu.commit_smem()
            plgpu.copy_smem_to_gmem(room.at[step % 2], out.at[pl.ds(step * 64, 64)], commit_group=False)
            plgpu.commit_smem_to_gmem_group()
        plgpu.wait_smem_to_gmem(0)
    return kernel(body, S((256,), F32), scratch_types=[SMEM((2, 64), F32)])(x)


def right(make):
    function, arrays = make(True)
    return function, arrays


WHOLE = {
    "ring": (ring, (X[:512],)),
    "product": (product, (numpy.ones((64, 256), "float16"), numpy.ones((256, 64), "float16"))),
    "tensor memory": (products_in_tensor_memory, (jnp.ones((128, 64), BF16), jnp.ones((64, 128), BF16))),
    "closed groups": (closed_groups, (X[:256],)), "semaphores": (semaphores, (X[:128],)),
    **{make.__name__: right(make) for make in (sum_by_pipeline, wgmma_by_pipeline, specialised, load_under_mma)},
    "exit of peer": (exit_of_peer(True), (jnp.ones((2, 128), F32),)),
    "two axes": (two_axes(True), (jnp.ones((2, 2, 2, 64), F32),)),
    "arrivals": (own_arrivals(True), (X,)), "barriers": (barriers_of_an_array(True), (X,)),
    **{make.__name__: right(make) for make in test_pallas_mistakes.MISTAKES}}
WITHOUT_ORDER = ("plain_out_of_bounds", "unwritten_output", "unwritten_memory", "two_writers", "division", "promise")
SAYS = ("commit_smem", "wgmma_wait", "barrier_wait", "barrier_arrive", "wait_smem_to_gmem", "commit_smem_to_gmem_group",
        "commit_tmem", "wait_load_tmem", "tcgen05_commit_arrive", "semaphore_wait", "semaphore_signal")


def check_counting(monkeypatch, function, arrays):
    """The report of a kernel, and how often it calls each of SAYS."""
    calls = collections.Counter()

    def count(name, said):
        def counted(*arguments, **options):
            calls[name] += 1
            return said(*arguments, **options)
        return counted
    with monkeypatch.context() as patch:
        for name in SAYS:
            patch.setattr(plgpu, name, count(name, getattr(plgpu, name)))
        jax.clear_caches()
        return grout.pallas.check(function)(*arrays), calls


def check_without(monkeypatch, name, number, function, arrays):
    """The report of a kernel whose call of this number of plgpu.NAME does nothing."""
    said = getattr(plgpu, name)
    calls = []

    def leave_out(*arguments, **options):
        calls.append(name)
        return None if len(calls) == number else said(*arguments, **options)
    with monkeypatch.context() as patch:
        patch.setattr(plgpu, name, leave_out)
        jax.clear_caches()
        report = grout.pallas.check(function, max_steps=200000)(*arrays)
    assert len(calls) >= number
    return report


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_left_out_is_asked_for_in_pallas(name, monkeypatch):
    function, arrays = WHOLE[name]
    report, calls = check_counting(monkeypatch, function, arrays)
    assert report.verdict == "clean"
    found = 0
    for says, count in calls.items():
        for number in range(1, count + 1):
            report = check_without(monkeypatch, says, number, function, arrays)
            assert_speaks_pallas(report)
            found += len(list_findings(report))
    jax.clear_caches()
    assert (found > 0) == (name not in WITHOUT_ORDER)


# ---- all -------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("make", test_pallas_mistakes.MISTAKES, ids=lambda make: make.__name__)
def test_mistakes_speak_pallas(make):
    function, arrays = make(False)
    report = grout.pallas.check(function)(*arrays)
    assert list_findings(report)
    assert_speaks_pallas(report)


def test_the_list_of_the_text_format_is_known_to_match():
    for text in ("insert 'commit_smem' before the copy at line 10", "wait for phase 0 of %mma[0]",
                 "declare more than arrivals(1)", "write 'attr cluster_exit = sync'", "(wgmma_wait 0) %x",
                 "'wait_smem_to_gmem 0 read_only'", "end it with cluster_barrier"):
        assert TEXT.search(text), text
    assert not TEXT.search("insert 'plgpu.wait_smem_to_gmem(0, wait_read_only=True)' before line 3")


# ---- names that are there
# -----------------------------------------------------------------------------------------------

MODULES = {"plgpu": plgpu, "pl": pl, "jnp": jnp, "jax.lax": lax}
NAME = re.compile(r"(?<![\w.])(plgpu|pl|jnp|jax\.lax)((?:\.\w+)+)")


NEWER = ("alloc_semaphore",)  # said of kernels that have called it


def read_hints(file):
    """What of a file a reader may see: of Python its texts, but no comments and docstrings."""
    text = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        return text
    nodes: list[typing.Any] = list(ast.walk(ast.parse(text)))
    said_here = {id(node.body[0].value) for node in nodes if isinstance(getattr(node, "body", None), list) and
                 node.body and isinstance(node.body[0], ast.Expr)}
    return "\n".join(node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str) and
                     id(node) not in said_here)


def list_hints():
    """Where words for a reader stand: the package's own, and the table of the library where its sources are at hand."""
    folder = pathlib.Path(grout.pallas.__file__).parent
    files = sorted(folder.glob("*.py"))
    tables = (above / "race_checker" / "explain" / "spellings.def"
              for above in pathlib.Path(__file__).resolve().parents)
    return [*files, *[table for table in tables if table.exists()][:1]]


def test_hints_name_nothing_that_jax_lacks():
    count, files = 0, list_hints()
    for file in files:
        for module, path in NAME.findall(read_hints(file)):
            at = MODULES[module]
            for name in path.split(".")[1:]:
                if name in NEWER and not hasattr(at, name):
                    break
                if isinstance(at, (type(plgpu), type)):
                    assert hasattr(at, name), f"{file.name}: this JAX has no {module}{path}"
                    at = getattr(at, name)
            count += 1
    has_table = any(file.suffix == ".def" for file in files)
    assert count > (10 if has_table else 5)  # tests that do not lie below a checkout see the package's own alone


def test_the_places_of_pallas_kernels_exist():
    assert importlib.util.find_spec("jax._src.pallas.mosaic_gpu.pipeline") is not None
    assert linecache.getline(__file__, line_with("SUM")).strip().startswith("acc = acc")
