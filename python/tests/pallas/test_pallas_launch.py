# SPDX-License-Identifier: Apache-2.0
"""Launch control: the loop over a grid whose CTAs take each other's work."""
import numpy
import pytest

jax = pytest.importorskip("jax")
import jax.numpy as jnp
from jax import lax
from jax.experimental.pallas import mosaic_gpu as plgpu

import grout.pallas
from pallas_tools import S, assert_same

pytestmark = pytest.mark.skipif(not hasattr(plgpu, "dynamic_scheduling_loop"), reason="JAX without the loop")
X = numpy.arange(4 * 3 * 128, dtype="float32").reshape(4, 3, 128)


def run(body, **options):
    function = plgpu.kernel(body, out_type=S(X.shape, X.dtype), grid=(4, 3), grid_names=("m", "n"), **options)
    return grout.pallas.check(function)(X)


def test_one_thread():
    def body(x_ref, out):
        @plgpu.dynamic_scheduling_loop(("m", "n"))
        def _(info):
            m, n = info.index
            out[m, n] = x_ref[m, n] + (3 * m + n).astype(jnp.float32)

    report = run(body)
    assert report.verdict == "clean", str(report)
    assert "hands out depends on the schedule" in str(report)
    assert_same(report.result, X + numpy.arange(12, dtype="float32").reshape(4, 3, 1), "")


def test_two_threads_and_a_carry():
    def body(x_ref, out):
        half = lax.axis_index("wg") * 64

        def loop(info, carry):
            m, n = info.index
            out[m, n, pl_ds(half, 64)] = x_ref[m, n, pl_ds(half, 64)] * 2.0
            return carry + info.local_index
        plgpu.dynamic_scheduling_loop(("m", "n"), thread_axis="wg", init_carry=jnp.int32(0))(loop)

    report = run(body, num_threads=2, thread_name="wg")
    assert report.verdict == "clean", str(report)
    assert_same(report.result, X * 2, "")


def pl_ds(start, size):
    return jax.experimental.pallas.ds(start, size)


@pytest.mark.parametrize("threads", (1, 2))
def test_a_cluster(threads):
    """Both CTAs of a cluster get each answer, and make half of a tile."""
    def body(x_ref, out):
        share = 64 // threads
        first = lax.axis_index("c") * 64 + (lax.axis_index("wg") * share if threads > 1 else 0)

        @plgpu.dynamic_scheduling_loop(("m", "n"), cluster_axes=("c",), thread_axis="wg" if threads > 1 else None)
        def _(info):
            m, n = info.index
            out[m, n, pl_ds(first, share)] = x_ref[m, n, pl_ds(first, share)] * 3.0

    options = {"num_threads": threads, "thread_name": "wg"} if threads > 1 else {}
    report = run(body, cluster=(2,), cluster_names=("c",), **options)
    assert report.verdict == "clean", str(report)
    assert_same(report.result, X * 3, "")
