# SPDX-License-Identifier: Apache-2.0
"""The table of primitives: what JAX lowers is in it, what is in it is tried, what is refused says why.

It runs after the other tests of grout.pallas, whose kernels it counts.
"""
import pathlib

import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax._src.pallas.mosaic_gpu import lowering
from jax.experimental import pallas as pl
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
import pallas_twins
from grout.pallas._rules import REFUSED, RULES
from grout.pallas._series import name_of
from pallas_tools import S, kernel

HERE = pathlib.Path(__file__)
X = numpy.ones(64, "float32")

OF_0_12 = dict.fromkeys(("barrier_arrive_and_wait", "store", "mosaic_gpu_reduce_max", "mosaic_gpu_reduce_min",
                         "mosaic_gpu_reduce_prod", "mosaic_gpu_reduce_sum"), "0.12")
LATER = {"closed_call": "older", "checkpoint": "", "remat": "", "pjit": "older", "core_call": "older", "log2": "",
         "mma": "", "commit_smem_to_gmem_group": "older", "one_minus_square": "", "relayout": "", "eval_jaxpr": "",
         "core_map": "0.10", "jaxpr_call": "0.10", "pvary": "of shard_map", "reshard": "of shard_map",
         "expand_dims": "a reshape or a broadcast", "num_programs": "a number when it is traced",
         "axis_size": "a number when it is traced"}
# Names of rules that no kernel of this JAX reaches, and why.
ELSEWHERE = {
    "0.10": {"closed_call": "0.11", "checkpoint": "0.11", "remat": "0.11", "pjit": "older", "core_call": "older",
             "commit_smem_to_gmem_group": "older", "load": "", "log2": "0.11", "one_minus_square": "0.11",
             "relayout": "0.11", "eval_jaxpr": "0.11", "mma": "0.11", "wait_gmem_to_smem": "0.11", "mpmd_map": "0.11",
             "pvary": "of shard_map", "reshard": "of shard_map",
             "num_programs": "a number when it is traced", "axis_size": "a number when it is traced",
             "expand_dims": "a reshape or a broadcast", **OF_0_12},
    "0.11": {**LATER, **OF_0_12},
    "0.12": LATER,
}


def refuse(why, primitive, body, out=None, **options):
    """A kernel with this body is refused in this way, at a line of this file."""
    f = kernel(body, out or S((64,), jnp.float32), **options)
    with pytest.raises(grout.pallas.UnsupportedError, match=why) as caught:
        grout.pallas.check(f)(X)
    error = caught.value
    assert error.primitive == primitive
    assert error.frames and error.frames[0][0] == str(HERE), str(error)
    assert f"{HERE}:{error.frames[0][1]}:" in str(error) and "| " in str(error)


def test_every_primitive_that_jax_lowers_is_known():
    lowered = {name_of(primitive) for table in lowering.mosaic_lowering_rules.values() for primitive in table}
    assert lowered and not lowered - set(RULES) - set(REFUSED), sorted(lowered - set(RULES) - set(REFUSED))
    assert not set(RULES) & set(REFUSED)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_primitives(name, monkeypatch):
    """By name alone: a kernel that is traced with a primitive of this name."""
    primitive = jax.extend.core.Primitive(name)
    primitive.def_abstract_eval(lambda x: x)

    def body(x_ref, out):
        out[...] = primitive.bind(x_ref[...])

    refuse(REFUSED[name].partition("(")[0][:40], name, body)


def test_a_primitive_that_nobody_knows():
    primitive = jax.extend.core.Primitive("brand_new")
    primitive.def_abstract_eval(lambda x: x)
    refuse("no counterpart", "brand_new", lambda x_ref, out: out.__setitem__(..., primitive.bind(x_ref[...])))
    refuse("no counterpart", "argmax",
           lambda x_ref, out: out.__setitem__(0, jnp.argmax(x_ref[...]).astype(jnp.float32)))
    refuse("no counterpart", "sort", lambda x_ref, out: out.__setitem__(..., lax.sort(x_ref[...])))


def test_parameters_that_are_refused():
    refuse("strides=", "slice", lambda x_ref, out: out.__setitem__(pl.ds(0, 32), x_ref[...][::2]))
    refuse("differ in size", "bitcast_convert_type", lambda x_ref, out: out.__setitem__(
        ..., lax.bitcast_convert_type(x_ref[...], jnp.int16)[:, 0].astype(jnp.float32)))
    refuse("accuracy=", "exp",
           lambda x_ref, out: out.__setitem__(..., lax.exp(x_ref[...], accuracy=lax.AccuracyMode.HIGHEST)))
    refuse("array as an index|no counterpart", "get", lambda x_ref, out: out.__setitem__(..., x_ref[jnp.arange(64)]))
    refuse("stride 2", "get", lambda x_ref, out: out.__setitem__(pl.ds(0, 32), x_ref[pl.ds(0, 32, 2)]))
    refuse("reverse", "scan", lambda x_ref, out: out.__setitem__(..., lax.scan(
        lambda c, _: (c + 1, None), x_ref[...], length=3, reverse=True)[0]))
    refuse("another device|no axis|one device", "semaphore_signal", lambda x_ref, out: (
        out.__setitem__(..., x_ref[...]), pl.semaphore_signal(pl.get_global(plgpu.SemaphoreType.REGULAR), device_id=1)))
    refuse("not a box", "get", lambda x_ref, out: out.__setitem__(pl.ds(0, 2), x_ref.reshape(8, 8)[1:3, 2]))


def test_objects_that_are_refused():
    def body(x_ref, out, *rest):
        out[...] = x_ref[...]

    refuse("one element in a column", "run_scoped", body, scratch_types=[plgpu.RefUnion(
        plgpu.TMEM((128, 128), jnp.float32), plgpu.TMEM((128, 64), jnp.float16, packed=False))])

    def inner(x_ref, out):
        pl.run_scoped(lambda room: out.__setitem__(..., x_ref[...]), plgpu.SMEM((64,), jnp.float32))
    refuse("allocated by all of them", "run_scoped", inner, num_threads=2, thread_name="wg")


def test_every_rule_is_tried(request):
    if request.config.getoption("--each") > 1:
        pytest.skip("a share of the tests ran")
    others = {path.name for path in HERE.parent.glob("test_pallas_*.py")}
    if pallas_twins.files != others:
        pytest.skip(f"{', '.join(sorted(others - pallas_twins.files))} did not run")
    known = next((names for series, names in ELSEWHERE.items() if jax.__version__.startswith(series)), {})
    missing = set(RULES) - pallas_twins.reached - set(known)
    assert not missing, ", ".join(sorted(missing))
