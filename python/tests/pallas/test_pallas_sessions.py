# SPDX-License-Identifier: Apache-2.0
"""Sessions of grout.pallas: what JAX keeps of them, several at once, what goes wrong in them."""
import os
import signal
import subprocess
import sys
import threading
import time

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout
import grout.pallas
from grout.pallas import _jax
from pallas_tools import S, assert_same, kernel

X = numpy.arange(64, dtype="float32")


def _add(number):
    def body(x_ref, out):
        out[...] = x_ref[...] + number
    return kernel(body, S((64,), jnp.float32))


def _runs_outside(function):
    try:
        jax.block_until_ready(function(X))
    except Exception:  # JAX has no GPU here
        return False
    return True


@pytest.mark.parametrize("make, imports", ((lambda f: f, 2), (jax.jit, 1), (lambda f: lambda x: jax.jit(f)(x) + 0, 1)),
                         ids=("eager", "jit", "inner jit"))
def test_what_was_compiled_in_a_session_stays_there(make, imports):
    function = make(_add(1))
    assert not _runs_outside(function)
    for _ in range(2):
        with grout.pallas.interpret() as session:
            assert_same(function(X), X + 1)
            assert_same(function(X), X + 1)
            assert len(session.calls) == 2 and len(session.kernels) == imports
        assert not _runs_outside(function)
    with grout.pallas.interpret(check=True) as session:
        assert_same(function(X), X + 1)
    assert [report.verdict for report in session.reports] == ["clean"]


def test_jax_itself_works_in_a_session():
    f = jax.jit(lambda x: jnp.sin(x) * 2)
    before = f(X)
    with grout.pallas.interpret() as session:
        assert_same(f(X), before)
    assert not session.calls


def test_nested_sessions():
    function = jax.jit(_add(1))
    with grout.pallas.interpret() as outer:
        function(X)
        with grout.pallas.interpret(check=True) as inner:
            function(X)
            function(X)
        report = grout.pallas.check(function)(X)
        function(X)
    assert (len(outer.calls), len(inner.calls), len(report.calls)) == (2, 2, 1)
    assert len(inner.reports) == 2 and not outer.reports


def test_a_session_ends_with_an_exception():
    function = _add(1)
    with pytest.raises(ZeroDivisionError):
        with grout.pallas.interpret():
            raise ZeroDivisionError
    assert not _runs_outside(function)


def test_what_a_callback_raises_comes_out():
    def refuse(report):
        raise LookupError(f"on {report.verdict}")

    with grout.pallas.interpret(check=True, on_report=refuse) as session:
        with pytest.raises(Exception) as caught:
            jax.block_until_ready(_add(1)(X))
        assert "on clean" in str(caught.value)
    assert isinstance(session.error, LookupError)
    with pytest.raises(LookupError, match="on clean"):
        grout.pallas.check(_add(1), on_report=refuse)(X)


def test_wrong_options():
    with pytest.raises(TypeError, match="nonsense"):
        grout.pallas.check(_add(1), nonsense=3)(X)
    with pytest.raises(TypeError, match="nonsense"):
        grout.pallas.run(_add(1), nonsense=3)(X)
    with pytest.raises(ValueError, match="'lowered' or 'documented'"):
        grout.pallas.check(_add(1), wgmma="fast")(X)


def test_errors_of_the_function_itself_come_out():
    def wrong(x):
        _add(1)(x)
        raise KeyError("mine")
    with pytest.raises(KeyError, match="mine"):
        grout.pallas.check(wrong)(X)
    with pytest.raises(TypeError):
        grout.pallas.run(_add(1))(X, X, X)


def _slow():
    def body(x_ref, out):
        out[...] = lax.fori_loop(0, 10**8, lambda i, c: c + 1.0, x_ref[...])
    return kernel(body, S((64,), jnp.float32))


def test_timeouts():
    report = grout.pallas.check(_slow(), timeout=0.2)(X)
    assert report.verdict == "incomplete", str(report)
    with pytest.raises(grout.GroutError):
        grout.pallas.run(_slow(), timeout=0.2)(X)


def test_interrupts(tmp_path):
    program = tmp_path / "slow.py"
    program.write_text("""
import sys, jax, jax.numpy as jnp
from jax import lax
from jax.experimental.pallas import mosaic_gpu as plgpu
import grout.pallas
# Else the call may run beside the main thread, which gets signals.
jax.config.update("jax_cpu_enable_async_dispatch", False)
def body(x_ref, out):
    out[...] = lax.fori_loop(0, 10**9, lambda i, c: c + 1.0, x_ref[...])
f = plgpu.kernel(body, out_type=jax.ShapeDtypeStruct((64,), jnp.float32))
x = jnp.zeros(64)
print("go", flush=True)
try:
    grout.pallas.check(f)(x)
except KeyboardInterrupt:
    print("interrupted", flush=True)
print(grout.pallas.run(lambda x: plgpu.kernel(lambda a, b: b.__setitem__(..., a[...] + 1),
                                              out_type=jax.ShapeDtypeStruct((64,), jnp.float32))(x))(x)[0])
""")
    child = subprocess.Popen([sys.executable, program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                             env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    try:
        assert child.stdout.readline() == "go\n"
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        text, _ = child.communicate(timeout=20)
    finally:
        child.kill()
    assert text.splitlines()[-2:] == ["interrupted", "1.0"], text


def test_two_threads():
    results, together = {}, threading.Barrier(2, timeout=30)

    def work(number):
        function = _add(number)
        together.wait()
        for turn in range(3):
            with grout.pallas.interpret(check=number == 2, sms=number * 10) as session:
                together.wait()
                sms = jax.devices()[0].core_count
                got = numpy.asarray(function(X))
            results[number, turn] = got, len(session.calls), len(session.reports), sms

    threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(results) == 6
    for (number, _), (got, calls, reports, sms) in results.items():
        assert_same(got, X + number)
        assert (calls, reports, sms) == (1, int(number == 2), number * 10)
    assert not hasattr(jax.devices()[0], "core_count")


def test_the_device_that_is_not_there():
    def function(x):
        count = jax.devices()[0].core_count
        return kernel(lambda out: out.__setitem__(lax.axis_index("i"), lax.axis_index("i")), S((count,), jnp.int32),
                      grid=(count,), grid_names=("i",))()

    assert grout.pallas.check(function)(X).result.shape == (132,)
    assert grout.pallas.check(function, sms=7)(X).result.shape == (7,)
    assert not hasattr(jax.devices()[0], "core_count")


def test_aliases():
    def body(x_ref, y_ref, out):
        del x_ref
        y_ref[...] = y_ref[...] * 2
        out[...] = y_ref[...]

    def function(x, y):
        ref = jax.new_ref(y)
        got = kernel(lambda x_ref, ref, out: body(x_ref, ref, out), S((64,), jnp.float32))(x, ref)
        return got, ref[...], y

    got, changed, kept = grout.pallas.check(function)(X, X + 1).result
    assert_same(got, (X + 1) * 2)
    assert_same(changed, (X + 1) * 2)
    assert_same(kept, X + 1)


def test_kernels_of_others_are_left_to_jax():
    def body(x_ref, out):
        out[...] = x_ref[...] * 3
    report = grout.pallas.check(pl.pallas_call(body, out_shape=S((64,), jnp.float32), interpret=True))(X)
    assert not report.calls
    assert_same(report.result, X * 3)


def test_several_outputs_and_trees():
    def body(tree, out):
        out["a"][...] = tree[0][...] + tree[1]["b"][...]
        out["c"][0] = tree[0][3]

    f = kernel(body, {"a": S((64,), jnp.float32), "c": S((1,), jnp.float32)})
    result = grout.pallas.check(f)((X, {"b": X})).result
    assert_same(result["a"], X * 2)
    assert result["c"].tolist() == [3]


def test_imports_from_shapes_alone():
    imported, = grout.pallas.import_kernels(_add(2))(S((64,), jnp.float32))
    assert imported.inputs == ("x_ref",) and imported.outputs == ("out",)
    assert_same(imported.kernel.run(X), X + 2)
    emitted, = grout.pallas.emit(_add(2))(S((64,), jnp.float32))
    assert "__global__" in emitted.source
    text = grout.pallas.dump(lambda x: _add(1)(_add(2)(x)))(S((64,), jnp.float32))
    assert text.count("kernel @") == 2


def test_kernels_that_cannot_be():
    with pytest.raises(grout.pallas.UnsupportedError, match="no elements"):
        grout.pallas.run(kernel(lambda x_ref, out: None, S((64,), jnp.float32)))(numpy.zeros((0,), "float32"))


def _make_racing(interpret, waits):
    def body(x, out, room, barrier):
        plgpu.copy_gmem_to_smem(x, room, barrier)
        if waits:
            plgpu.barrier_wait(barrier)
        out[...] = room[...]

    return plgpu.kernel(body, out_type=S((128,), jnp.float32), interpret=interpret, scratch_types=[
        plgpu.SMEM((128,), jnp.float32), plgpu.Barrier()])


def test_races_that_are_raised():
    """on_race='raise' of JAX' interpreter, since 0.12: an exception of the call in a session that checks."""
    params = pytest.importorskip("jax._src.pallas.mosaic_gpu.interpret.params").InterpretGPUParams
    if "on_race" not in params.__dataclass_fields__:
        pytest.skip("JAX 0.12")
    x = jnp.arange(128, dtype=jnp.float32)
    raising = params(detect_races=True, on_race="raise")
    for interpret, waits in ((params(detect_races=True, on_race="warn"), False), (params(), False), (raising, True)):
        with grout.pallas.interpret(check=True) as session:
            jax.block_until_ready(_make_racing(interpret, waits)(x))
        assert [report.verdict for report in session.reports] == ["clean" if waits else "error"]
    with grout.pallas.interpret(check=True) as session:
        with pytest.raises(Exception, match="async-not-awaited"):
            jax.block_until_ready(_make_racing(raising, False)(x))
    assert isinstance(session.error, RuntimeError) and len(session.reports) == 1
    _jax.forget_effects()
    assert grout.pallas.check(_make_racing(raising, False))(x).verdict == "error"  # which has a report to give
    with grout.pallas.interpret() as session:
        jax.block_until_ready(_make_racing(raising, False)(x))
    assert any("detect_races" in note for note in session.kernels[0].notes)


@pytest.mark.parametrize("option, value",
                         (("seed", -1), ("timeout", float("nan")), ("timeout", "1"), ("sms", 0), ("sms", True),
                          ("sms", 1 << 32), ("threads", 0), ("max_memory", 1.5), ("non_finite", 1)))
def test_a_number_that_there_cannot_be_is_said_before_anything_runs(option, value):
    with pytest.raises((ValueError, TypeError), match=f"^{option}="):
        with grout.pallas.interpret(check=True, **{option: value}):
            raise AssertionError
    for call in (grout.pallas.check, grout.pallas.run):
        with pytest.raises((ValueError, TypeError), match=f"^{option}="):
            call(_add(1), **{option: value})(X)
