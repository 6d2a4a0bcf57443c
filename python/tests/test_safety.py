# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C, exceptions of the caller's functions, threads, repeated use."""
import concurrent.futures
import gc
import os
import resource
import signal
import threading
import time

import numpy
import pytest

import grout

pytestmark = pytest.mark.library

LONG = 1 << 30


@pytest.mark.parametrize("call", ["check", "run"])
def test_ctrl_c_ends_a_run(slow, call):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        getattr(slow, call)(R=LONG)
    assert time.monotonic() - start < 5
    assert slow.check(R=10).is_clean


def test_ctrl_c_ends_a_run_of_several_threads(slow):
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        slow.run(R=LONG, threads=2)


class Stop(Exception):
    pass


@pytest.mark.parametrize("threads", [1, 2])
def test_an_exception_in_progress_ends_the_run(slow, threads):
    calls = []

    def progress(state):
        calls.append(state)
        if len(calls) == 3:
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        slow.check(R=LONG, progress=progress, threads=threads)
    assert len(calls) == 3
    assert calls[0].ctas_total == 1 and calls[1].steps > calls[0].steps and calls[2].seconds >= calls[0].seconds


def test_progress_sees_the_end(add_one):
    seen = []
    add_one.run(numpy.zeros(256, "float32"), progress=seen.append)
    assert (seen[-1].ctas_done, seen[-1].ctas_total) == (2, 2)


def test_the_progress_line(slow, monkeypatch, capsys):
    slow.check(R=1000, progress=grout.show_progress)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    slow.check(R=LONG, timeout=0.1, progress=grout.show_progress)
    slow.check(R=1000, progress=grout.show_progress)
    shown = capsys.readouterr().err
    assert "[..............................] 0 of 1 CTAs" in shown and shown.endswith("\r\033[K")


def test_an_exception_in_print_ends_the_run():
    kernel = grout.load("const R = 1000000000\nkernel @k(%y: out gmem i32[2])\n{\n  for %i in 0..R {\n"
                        "    if (eq %i, 5) {\n      debug_print \"five\"\n    }\n  }\n  store %y, (broadcast 1 : "
                        "i32[2])\n}\n")

    def fail(line):
        raise Stop(line)

    with pytest.raises(Stop, match="five"):
        kernel.run(print=fail)


def test_several_threads_use_one_kernel(add_one, kernels):
    wrong = grout.load(kernels / "bugs" / "add_tma_no_commit.grout")

    def work(index):
        x = numpy.full(256 * (1 + index % 3), index, "float32")
        assert (add_one.run(x) == index + 1).all()
        assert add_one.check(x).is_clean
        return str(wrong.check())

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        reports = set(pool.map(work, range(24)))
    assert len(reports) == 1


def test_calls_let_other_threads_run(slow):
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.005):
            ticks.append(time.monotonic())

    ticker = threading.Thread(target=tick)
    ticker.start()
    slow.check(R=LONG, timeout=0.3)
    stop.set()
    ticker.join()
    assert len(ticks) > 10


def test_repeated_use_keeps_no_memory(add_one):
    x = numpy.zeros(256, "float32")

    def use(times):
        for _ in range(times):
            add_one.check(x)
            add_one.run(x)
            with pytest.raises(grout.KernelError):
                grout.parse("kernel @k() {")

    use(50)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    use(300)
    gc.collect()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 8 << 10  # KiB


def test_reports_outlive_what_made_them(kernels):
    report = grout.load(kernels / "bugs" / "add_tma_no_commit.grout").check()
    text = str(report)
    gc.collect()
    assert str(report) == text and report.findings[0].place.file


def test_bound_modules_are_kept_and_dropped(add_one):
    module = add_one.module
    for i in range(1, 40):
        add_one.check(N=128 * i)
    assert len(module._bound) <= grout._kernel.BOUND_MAX
    assert add_one.check(N=128).is_clean
