# SPDX-License-Identifier: Apache-2.0
"""Mistakes in Pallas kernels: each is found at its own Python line, and its twin without the mistake is clean."""
import linecache

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, kernel

SMEM, Barrier, F32 = plgpu.SMEM, plgpu.Barrier, jnp.float32
HALVES = (plgpu.TilingTransform((8, 64)), plgpu.SwizzleTransform(128))
X = numpy.arange(128, dtype="float32")
THREADS = {"num_threads": 2, "thread_name": "wg"}
PAIR = {"cluster": (2,), "cluster_names": ("c",)}


def store_by_tma(is_right):
    """Missing commit_smem."""
    def body(x_ref, out, room):
        room[...] = x_ref[...] + 1
        if is_right:
            plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out)  # FOUND
        plgpu.wait_smem_to_gmem(0)
    return kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]), (X,)


def load_without_wait(is_right):
    """A load that is not waited for."""
    def body(x_ref, out, room, barrier):
        plgpu.copy_gmem_to_smem(x_ref, room, barrier)
        if is_right:
            plgpu.barrier_wait(barrier)
        out[...] = room[...]  # FOUND
        if not is_right:
            plgpu.barrier_wait(barrier)
    return kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32), Barrier()]), (X,)


def store_without_wait(is_right):
    """The CTA ends before a store has read its memory."""
    def body(x_ref, out, room):
        room[...] = x_ref[...]
        plgpu.commit_smem()
        plgpu.copy_smem_to_gmem(room, out)  # FOUND
        if is_right:
            plgpu.wait_smem_to_gmem(0)
    return kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]), (X,)


def overrun(is_right):
    """A slot is filled again before it has been read."""
    def body(x_ref, out, room, full, empty):
        @pl.when(lax.axis_index("wg") == 0)
        def _():
            for step in range(2):
                if step and is_right:
                    plgpu.barrier_wait(empty)
                plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(step * 64, 64)], room, full)  # FOUND

        @pl.when(lax.axis_index("wg") == 1)
        def _():
            for step in range(2):
                plgpu.barrier_wait(full)
                out[pl.ds(step * 64, 64)] = room[...]
                plgpu.commit_smem()
                if step == 0:
                    plgpu.barrier_arrive(empty)
    return kernel(body, S((128,), F32), scratch_types=[SMEM((64,), F32), Barrier(), Barrier()], **THREADS), (X,)


def deadlock(is_right):
    """An arrival too few."""
    def body(x_ref, out, barrier):
        @pl.when(lax.axis_index("wg") < (2 if is_right else 1))
        def _():
            plgpu.barrier_arrive(barrier)
        plgpu.barrier_wait(barrier)  # FOUND
        part = pl.ds(lax.axis_index("wg") * 64, 64)
        out[part] = x_ref[part]
    return kernel(body, S((128,), F32), scratch_types=[Barrier(num_arrivals=2)], **THREADS), (X,)


def out_of_bounds(is_right):
    """A promise that is broken."""
    def body(x_ref, out, room, barrier):
        start = 64 + lax.axis_index("i") * (0 if is_right else 32)
        plgpu.copy_gmem_to_smem(x_ref.at[pl.ds(start, 64)], room, barrier,  # FOUND
                                oob_mode=plgpu.OOBFillMode.PROMISE_IN_BOUNDS)
        plgpu.barrier_wait(barrier)
        out[lax.axis_index("i")] = room[...]
    return kernel(body, S((2, 64), F32), grid=(2,), grid_names=("i",),
                  scratch_types=[SMEM((64,), F32), Barrier()]), (X,)


def plain_out_of_bounds(is_right):
    """A plain store past the end."""
    def body(x_ref, out):
        part = pl.ds(lax.axis_index("i") * (64 if is_right else 65), 64)
        out[part] = x_ref[part]  # FOUND
    return kernel(body, S((128,), F32), grid=(2,), grid_names=("i",)), (X,)


def unwritten_output(is_right):
    """Half of the output is nobody's."""
    def body(x_ref, out):  # FOUND
        size = 128 if is_right else 64
        out[pl.ds(0, size)] = x_ref[pl.ds(0, size)]
    return kernel(body, S((128,), F32)), (X,)


def unwritten_memory(is_right):
    """Shared memory is read that nobody wrote."""
    def body(x_ref, out, room):
        if is_right:
            room[...] = x_ref[...]
        out[...] = room[...] + x_ref[...]  # FOUND
    return kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]), (X,)


def refill_under_wgmma(is_right):
    """A tile is loaded again while the tensor core may still read it."""
    def body(a_ref, b_ref, out, a, b, barrier):
        def load():
            plgpu.copy_gmem_to_smem(a_ref, a, barrier)  # FOUND
            plgpu.copy_gmem_to_smem(b_ref, b, barrier)
            plgpu.barrier_wait(barrier)

        def scope(acc):
            load()
            plgpu.wgmma(acc, a, b)
            if is_right:
                plgpu.wgmma_wait(0)
            load()
            plgpu.wgmma(acc, a, b)
            return acc[...]
        out[...] = pl.run_scoped(scope, plgpu.ACC((64, 64), F32))

    a = numpy.ones((64, 64), "float16")
    return kernel(body, S((64, 64), F32), scratch_types=[SMEM((64, 64), jnp.float16, transforms=HALVES)] * 2 +
                  [Barrier(num_arrivals=2)]), (a, a)


def early_exit(is_right):
    """A CTA of a cluster ends while another one reads its memory."""
    def body(x_ref, out, room, both):
        own = lax.axis_index("c")
        room[...] = x_ref[pl.ds(own * 64, 64)]
        plgpu.barrier_arrive(both)
        plgpu.barrier_wait(both)
        out[own] = plgpu.cluster_ref(room, {"c": 1 - own})[...]  # FOUND
        if is_right:
            plgpu.barrier_arrive(both)
            plgpu.barrier_wait(both)
    return kernel(body, S((2, 64), F32), scratch_types=[SMEM((64,), F32), plgpu.ClusterBarrier(
        collective_axes=("c",))], **PAIR), (X,)


def unawaited_bytes(is_right):
    """What a peer sends is read before its barrier says that it has come."""
    def body(x_ref, out, room, full):
        own = lax.axis_index("c")
        plgpu.async_store_smem(x_ref[pl.ds(own * 64, 64)], room, full, cluster_idx=1 - own, cluster_dim="c")
        if is_right:
            plgpu.barrier_wait(full)
        out[own] = room[...]  # FOUND
        if not is_right:
            plgpu.barrier_wait(full)
    return kernel(body, S((2, 64), F32), scratch_types=[SMEM((64,), F32), Barrier()], **PAIR), (X,)


def bytes_too_early(is_right):
    """A peer sends the next row before it knows that the last one has been read."""
    def body(x_ref, out, room, full, both):
        own = lax.axis_index("c")

        @pl.loop(0, 2)
        def _(i):
            plgpu.async_store_smem(x_ref[pl.ds(i * 64, 64)], room, full, cluster_idx=1 - own, cluster_dim="c")  # FOUND
            plgpu.barrier_wait(full)
            out[own, i] = room[...]
            if is_right:
                plgpu.barrier_arrive(both)
                plgpu.barrier_wait(both)
    return kernel(body, S((2, 2, 64), F32), scratch_types=[SMEM((64,), F32), Barrier(), plgpu.ClusterBarrier(
        collective_axes=("c",))], **PAIR), (X,)


def arrival_at_the_end(is_right):
    """A CTA ends without waiting for the arrival that comes with a peer's bytes."""
    def body(x_ref, out, room, full):
        own = lax.axis_index("c")
        plgpu.async_store_smem(x_ref[pl.ds(own * 64, 64)], room, full, cluster_idx=1 - own, cluster_dim="c")  # FOUND
        if is_right:
            plgpu.barrier_wait(full)
        out[own] = x_ref[pl.ds(own * 64, 64)]
    return kernel(body, S((2, 64), F32), scratch_types=[SMEM((64,), F32), Barrier()], **PAIR), (X,)


def two_writers(is_right):
    """Two CTAs write the same bytes."""
    def body(x_ref, out):
        here = lax.axis_index("i") * (1 if is_right else 0)
        out[here] = x_ref[...] + lax.axis_index("i")  # FOUND
    # the other row is written by nobody then
    return kernel(body, S((2 if is_right else 1, 128), F32), grid=(2,), grid_names=("i",)), (X,)


def threads_race(is_right):
    """A thread reads what another one writes."""
    def body(x_ref, out, room, barrier):
        wg = lax.axis_index("wg")
        room[wg] = x_ref[pl.ds(wg * 64, 64)]  # FOUND
        if is_right:
            plgpu.barrier_arrive(barrier)
            plgpu.barrier_wait(barrier)
        out[wg] = room[1 - wg]  # FOUND
    return kernel(body, S((2, 64), F32), scratch_types=[SMEM((2, 64), F32), Barrier(num_arrivals=2)], **THREADS), (X,)


def division(is_right):
    """By zero."""
    def body(x_ref, out):
        number = x_ref[0].astype(jnp.int32)
        out[...] = x_ref[...] + lax.div(jnp.int32(7), number + (1 if is_right else 0))  # FOUND
    return kernel(body, S((128,), F32)), (X,)


def promise(is_right):
    """multiple_of of what is none."""
    def body(x_ref, out):
        start = pl.multiple_of(x_ref[64 if is_right else 3].astype(jnp.int32), 64)  # FOUND
        out[...] = x_ref[pl.ds(start, 64)]
    return kernel(body, S((64,), F32)), (X,)


MISTAKES = {store_by_tma: "missing-commit-smem", load_without_wait: "async-not-awaited",
            store_without_wait: "async-at-exit", overrun: "barrier-overrun", deadlock: "deadlock",
            out_of_bounds: "out-of-bounds", plain_out_of_bounds: "out-of-bounds",
            unwritten_output: "output-not-written", unwritten_memory: "uninitialised-read",
            refill_under_wgmma: "mma-operand-reuse", early_exit: "cluster-exit",
            unawaited_bytes: "async-not-awaited", bytes_too_early: "barrier-overrun",
            arrival_at_the_end: "cluster-exit", two_writers: "gmem-race", threads_race: "smem-race",
            division: "division-by-zero", promise: "not-a-multiple"}


@pytest.mark.parametrize("make", MISTAKES, ids=lambda make: make.__name__)
def test_mistakes(make):
    function, arrays = make(True)
    twin = grout.pallas.check(function)(*arrays)
    assert twin.verdict == "clean" and not twin.findings, str(twin)
    function, arrays = make(False)
    report = grout.pallas.check(function)(*arrays)  # CALL
    finding = report.findings[0]
    assert finding.code == MISTAKES[make], str(report)
    is_warning = make is unwritten_output
    assert finding.severity == ("warning" if is_warning else "error")
    assert report.verdict == ("clean" if is_warning else "error")
    assert finding.place.file == __file__
    assert "# FOUND" in linecache.getline(__file__, finding.place.line), str(report)
    if is_warning:
        return  # it is at the kernel as a whole
    callers = [linecache.getline(note.place.file, note.place.line) for note in finding.notes
               if note.message.startswith("called from here")]
    assert any("# CALL" in line for line in callers), str(report)


def test_the_chain_of_callers():
    def store(room, out):
        plgpu.copy_smem_to_gmem(room, out)  # FOUND

    def outer(room, out):
        store(room, out)  # STORE
        plgpu.wait_smem_to_gmem(0)

    def body(x_ref, out, room):
        room[...] = x_ref[...]
        @pl.loop(0, 2)  # LOOP
        def _(i):
            outer(room, out.at[i])  # OUTER

    report = grout.pallas.check(kernel(body, S((2, 128), F32), scratch_types=[SMEM((128,), F32)]))(X)
    finding = report.findings[0]
    assert finding.code == "missing-commit-smem"
    lines = [linecache.getline(finding.place.file, finding.place.line)]
    for note in finding.notes:
        if not note.message.startswith("called from here"):
            if len(lines) > 1:
                break
            continue
        lines.append(linecache.getline(note.place.file, note.place.line))
    words = [line.partition("# ")[2].strip() for line in lines]
    assert words[:4] == ["FOUND", "STORE", "OUTER", "LOOP"], str(report)


def test_an_allowance():
    def body(x_ref, out, room):
        room[...] = x_ref[...] + 1
        plgpu.copy_smem_to_gmem(room, out)  # allow: missing-commit-smem this is a test
        plgpu.wait_smem_to_gmem(0)

    report = grout.pallas.check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]))(X)
    assert report.verdict == "clean" and not report.findings, str(report)
    silenced = report.reports[0].silenced
    assert [finding.code for finding in silenced] == ["missing-commit-smem"]
    assert silenced[0].silenced == "this is a test"


def test_an_allowance_in_front_of_its_line():
    def body(x_ref, out, room):
        room[...] = x_ref[...] + 1
        # allow: missing-commit-smem this is a test, too

        # (what follows is meant)
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)

    report = grout.pallas.check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]))(X)
    assert report.verdict == "clean", str(report)


def test_an_allowance_of_another_code_silences_nothing():
    def body(x_ref, out, room):
        room[...] = x_ref[...] + 1
        plgpu.copy_smem_to_gmem(room, out)  # allow: smem-race this is another one
        plgpu.wait_smem_to_gmem(0)

    report = grout.pallas.check(kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)]))(X)
    assert report.verdict == "error", str(report)


def test_how_reports_look(capsys):
    function, arrays = store_by_tma(False)
    report = grout.pallas.check(function)(*arrays)
    text = str(report)
    assert "error:" in text and "[missing-commit-smem]" in text and "plgpu.copy_smem_to_gmem(room, out)" in text
    assert "test_pallas_mistakes.py" in text and "insert 'plgpu.commit_smem()'" in text
    assert repr(report) == "<grout.pallas.PallasReport error: 1 calls, 1 findings>"
    report.show()
    assert "missing-commit-smem" in capsys.readouterr().out
    page = report._repr_html_()
    assert "missing-commit-smem" in page and "<" in page and "copy_smem_to_gmem(room, out)" in page
    quiet = grout.pallas.check(lambda x: x + 1)(X)
    assert str(quiet) == "no kernel for Mosaic GPU was called" and quiet.verdict == "clean" and not quiet.calls


def test_a_wrong_kernel_still_gives_its_values():
    function, arrays = store_by_tma(False)
    report = grout.pallas.check(function)(*arrays)
    assert report.result.shape == (128,)


def test_the_worst_call_counts():
    right, arrays = store_by_tma(True)
    wrong, _ = store_by_tma(False)
    report = grout.pallas.check(lambda x: right(wrong(right(x))))(*arrays)
    assert [one.verdict for one in report.reports] == ["clean", "error", "clean"] and report.verdict == "error"
    assert str(report).count("@body") >= 3


def test_a_severity():
    def body(x_ref, out, room):
        room[...] = x_ref[...] + 1
        plgpu.copy_smem_to_gmem(room, out)
        plgpu.wait_smem_to_gmem(0)

    function = kernel(body, S((128,), F32), scratch_types=[SMEM((128,), F32)])
    report = grout.pallas.check(function, severity={"missing-commit-smem": "warning"})(X)
    assert report.verdict == "warning" and [finding.severity for finding in report.findings] == ["warning"], str(report)
    with pytest.raises(ValueError, match="there is no code 'missing-commit'"):
        grout.pallas.check(function, severity={"missing-commit": "warning"})(X)
