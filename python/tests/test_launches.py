# SPDX-License-Identifier: Apache-2.0
"""Launch lists: each launch on what those before it have left."""
import pickle

import numpy
import pytest

import grout

TEXT = """
const N = 512, B = 128

kernel @square(%x: in gmem f32[N], %y: out gmem f32[N]) grid(i = N / B)
{
  %at = mul (axis_index i), B
  griddepcontrol_launch_dependents
  %v = load %x[ds(%at, B)]
  store %y[ds(%at, B)], (mul %v, %v)
}

kernel @weigh(%y: in gmem f32[N], %by: f32, %z: inout gmem f32[N]) grid(i = N / B)
{
  %at = mul (axis_index i), B
  griddepcontrol_wait
  store %z[ds(%at, B)], (fma (load %y[ds(%at, B)]), %by, (load %z[ds(%at, B)]))
}

launch @square(%x, %y)
launch @weigh(%y, %by, %z) dependent
"""


@pytest.fixture
def launches():
    return grout.load_module(TEXT).launches


def test_a_list_takes_what_its_launches_take(launches):
    assert [str(param) for param in launches.params] == \
        ["%x: in f32[N]", "%y: out f32[N]", "%by: f32", "%z: inout f32[N]"]
    assert [kernel.name for kernel in launches.kernels] == ["square", "weigh"]
    assert repr(launches) == "<grout.LaunchList @square, @weigh>"
    assert grout.load_module("kernel @k(%y: out gmem f32[1])\n{\n  store %y[0], 1.0\n}\n").launches is None


def test_run(launches):
    x, z = numpy.arange(256, dtype=numpy.float32), numpy.ones(256, numpy.float32)
    found = launches.run(x=x, by=2.0, z=z)
    assert found._fields == ("y", "z") and found.z is z
    assert (found.y == x * x).all() and (z == 2 * x * x + 1).all()


def test_run_asks_for_inputs(launches):
    with pytest.raises(grout.ArgumentError, match="%by: f32: no value is given"):
        launches.run(x=numpy.ones(256, numpy.float32), z=numpy.ones(256, numpy.float32))


def test_sizes_are_of_all_arrays(launches):
    with pytest.raises(grout.ArgumentError, match="const N is 256 by dimension 0 of %x and 128 by dimension 0 of %z"):
        launches.run(x=numpy.ones(256, numpy.float32), by=1.0, z=numpy.ones(128, numpy.float32))


def test_check(launches):
    report = launches.check(N=256)
    assert report.is_clean and report.holds_for_every_schedule
    assert report.coverage.split("\n")[1].startswith("grid(i=2); N=256 (given); launch 2 of 2, dependent")
    assert [line for line in str(report).splitlines() if line.startswith("@")] == ["@square: clean", "@weigh: clean"]
    assert launches.kernels[1].check().coverage.endswith("alone, not in the file's launch list")


def test_a_race_between_launches_and_its_repair():
    wrong = grout.load_module(TEXT.replace("  griddepcontrol_wait\n", "")).launches
    report = wrong.check()
    assert report.verdict == "error" and [finding.code for finding in report.findings] == ["gmem-race"]
    fix = wrong.fix()
    assert fix.is_clean and "+  griddepcontrol_wait" in fix.diff


def test_a_written_input_is_one(launches):
    """An array that comes in and is written later goes out."""
    text = TEXT.replace("%x: in gmem f32[N], %y: out", "%z: in gmem f32[N], %y: out").replace("load %x", "load %z") \
        .replace("launch @square(%x", "launch @square(%z")
    found = grout.load_module(text).launches
    assert [str(param) for param in found.params] == ["%z: inout f32[N]", "%y: out f32[N]", "%by: f32"]
    z = numpy.full(512, 3, numpy.float32)
    assert (found.run(z=z, by=1.0).z == 12).all()


def test_what_a_list_has_not(launches):
    for name in ("emit", "launch", "jax_call"):
        with pytest.raises(TypeError, match="no CUDA of its own"):
            getattr(launches, name)()


def test_pickled(launches):
    assert pickle.loads(pickle.dumps(launches)).check(N=128).is_clean
