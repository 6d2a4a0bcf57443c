# SPDX-License-Identifier: Apache-2.0
"""What ends a call: exceptions of the caller's functions, Ctrl-C, a time, runs in one another. No function of the
caller is called after that, and the first exception comes out with its place."""
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy
import pytest

import grout

pytestmark = pytest.mark.library

# 16 CTAs that call f for 64 elements each.
MAP = """kernel @k(%x: in gmem f32[64] init(ones), %y: out gmem f32[16, 64]) grid(c = 16)
{
  %c = axis_index c
  store %y[%c, ds(0, 64)], (extern_elementwise "f", (load %x) : f32)
}
"""
PRINTS = """const R = 1000000000
kernel @k(%y: out gmem i32[2])
{
  for %i in 0..R {
    debug_print "line"
  }
  store %y, (broadcast 1 : i32[2])
}
"""
ERRORS = [ZeroDivisionError, KeyboardInterrupt, SystemExit, GeneratorExit, StopIteration, RecursionError, MemoryError]


@pytest.fixture(scope="module")
def mapped():
    return grout.load(MAP)


@pytest.mark.parametrize("call", ["run", "check"])
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("error", ERRORS)
def test_no_call_after_an_exception(mapped, call, threads, error):
    calls, is_raised, late = [0], threading.Event(), []

    def f(x):
        calls[0] += 1
        if is_raised.is_set():
            late.append(x)
        if calls[0] == 7:
            is_raised.set()
            raise error("the seventh")
        return x

    # Nobody else has a turn between the event and the end of f: the library hears of the exception there.
    interval = sys.getswitchinterval()
    sys.setswitchinterval(60)
    try:
        with pytest.raises(error, match="the seventh") as caught:
            getattr(mapped, call)(externs={"f": f}, threads=threads)
    finally:
        sys.setswitchinterval(interval)
    assert "raise error(" in "".join(traceback.format_tb(caught.value.__traceback__))
    assert len(late) <= threads - 1  # those that were on their way into it


@pytest.mark.parametrize("threads", [1, 4])
def test_the_first_exception_comes_out(mapped, threads):
    lock, numbers = threading.Lock(), []

    def f(x):
        with lock:
            numbers.append(len(numbers))
            number = numbers[-1]
        raise ValueError(f"call {number}")

    with pytest.raises(ValueError) as caught:
        mapped.run(externs={"f": f}, threads=threads)
    assert str(caught.value) == "call 0" or threads > 1
    assert len(numbers) <= threads


@pytest.mark.parametrize("threads", [1, 4])
def test_ctrl_c_in_a_function(mapped, threads):
    """Python keeps its signals for the first thread: so that it is which calls f, some time."""
    calls = []

    def f(x):
        calls.append(x)
        if len(calls) == 7:
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return x

    with pytest.raises(KeyboardInterrupt):
        mapped.run(externs={"f": f}, threads=threads)
    assert len(calls) < 16 * 64
    assert (mapped.run(numpy.ones(64, "float32"), externs={"f": lambda x: x}, threads=threads) == 1).all()


@pytest.mark.parametrize("threads", [1, 2])
def test_a_time_over_in_a_function(mapped, threads):
    calls = []

    def f(x):
        calls.append(x)
        time.sleep(0.02)
        return x

    start = time.monotonic()
    with pytest.raises(grout.RunError, match="the time was over"):
        mapped.run(externs={"f": f}, threads=threads, timeout=0.2)
    assert time.monotonic() - start < 10 and len(calls) < 200
    assert mapped.check(externs={"f": f}, threads=threads, timeout=0.2).verdict == "incomplete"


def test_a_result_that_is_no_number(mapped):
    for result in ("text", None, [1.0], 1j, numpy.zeros(2), 10 ** 400):
        calls = []

        def f(x, result=result, calls=calls):
            calls.append(x)
            return result

        with pytest.raises((TypeError, ValueError, AttributeError, OverflowError)):
            mapped.run(externs={"f": f})
        assert len(calls) == 1


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["print", "progress"])
@pytest.mark.parametrize("error", ERRORS)
def test_no_call_of_another_function_after_an_exception(name, threads, error):
    calls = []

    def f(_):
        calls.append(1)
        if len(calls) == 2:
            raise error("the second")

    with pytest.raises(error, match="the second") as caught:
        grout.load(PRINTS).run(**{"print": None, name: f}, threads=threads)
    assert len(calls) == 2 and "raise error(" in "".join(traceback.format_tb(caught.value.__traceback__))


# ---- runs in one another

NESTED = """
import sys, threading
import numpy, grout
kernel = grout.load({text!r})
depth = deepest = calls = 0

def f(x):
    global depth, deepest, calls
    calls += 1
    depth += 1
    deepest = max(deepest, depth)
    {call}
    depth -= 1
    return x

{before}
try:
    f(1.0)
except RecursionError as error:
    print("RecursionError", deepest, calls, threading.active_count())
"""
ONE = ("kernel @k(%x: in gmem f32[4] init(ones), %y: out gmem f32[4])\n{\n"
       "  store %y, (extern_elementwise \"f\", (load %x) : f32)\n}\n")


def run_nested(call, before="", text=ONE):
    code = NESTED.format(text=text, call=call, before=before)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))})
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    words = done.stdout.split()
    assert words[0] == "RecursionError", done.stdout
    return int(words[1]), int(words[2])


@pytest.mark.parametrize("call", ["run", "check"])
def test_runs_in_one_another(call):
    """They end at the depth where Python's own calls do, each function called once a level."""
    deepest, calls = run_nested(f"kernel.{call}(externs={{'f': f}})")
    assert 20 <= deepest <= 1000 and calls == deepest


def test_runs_in_one_another_without_pythons_limit():
    deepest, calls = run_nested("kernel.run(externs={'f': f})", "sys.setrecursionlimit(10 ** 6)")
    assert deepest == 201 and calls == deepest


def test_runs_in_one_another_in_threads():
    """Python counts each thread's calls for itself: here the runs are counted."""
    text = MAP.replace("16", "4").replace("64", "4")
    deepest, calls = run_nested("kernel.run(externs={'f': f}, threads=3)", text=text)
    assert 20 <= deepest <= 1000 and calls <= 1000  # of three threads, each of which has one further on


def test_runs_in_one_another_on_a_small_stack():
    before = """
threading.stack_size(256 << 10)
sys.setrecursionlimit(10 ** 6)
inner = f
def f(x, inner=inner):
    raised = []
    def work():
        try:
            inner(x)
        except RecursionError as error:
            raised.append(error)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    raise raised[0]
"""
    deepest, _ = run_nested("kernel.run(externs={'f': inner})", before)
    assert deepest <= 20


def test_progress_that_runs_again():
    slow = grout.load(PRINTS)

    def progress(_):
        slow.run(print=None, progress=progress)

    with pytest.raises(RecursionError):
        slow.run(print=None, progress=progress)


# ---- before a run

LINES = "const R = 4\nkernel @k(%y: out gmem i32[64])\n{\n" + "  store %y[3], 1\n" * 300000 + "}\n"


@pytest.mark.parametrize("what", ["parse", "check", "emit"])
def test_ctrl_c_before_a_run(what):
    """While a text is read, its sizes are bound, its rules are checked, CUDA is written."""
    module = None if what == "parse" else grout.load_module(LINES)
    times = []
    for _ in range(3):
        timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            start = time.monotonic()
            try:
                grout.load_module(LINES) if what == "parse" else getattr(module["k"], what)(R=len(times) + 1)
                time.sleep(5)
            finally:
                times.append(time.monotonic() - start)
    assert min(times) < 1
