#!/usr/bin/env python3
# gpu_launch_jax.py - host time of a kernel in a program of JAX, next to an empty FFI handler.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_launch_jax.py [KERNEL_FOLDER]      with grout, JAX, a C compiler and a Hopper GPU

Microseconds that the caller's thread is busy with a call of a jitted function, medians of 1000: with kernel.jax_call,
with a handler of XLA's FFI that does nothing, compiled here against jaxlib's header, on the same buffers, and with what
XLA makes itself. Each is called 1000 times by itself, in five rounds: the median of their medians is shown, and that of
the differences. XLA may run handlers in threads of its own; so the last table has calls of a small kernel one after the
other until the GPU is done: microseconds of a call, of 50 times 200. Exit code 77 without a GPU.
"""
import ctypes
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

try:
    import jax
    import jax.numpy as jnp
except ImportError:
    print("skipped: no JAX")
    sys.exit(77)

COUNT = 1000
EMPTY = r"""
#include "xla/ffi/api/c_api.h"
XLA_FFI_Error *nothing(XLA_FFI_CallFrame *frame) {
    if (frame->extension_start != NULL && frame->extension_start->type == XLA_FFI_Extension_Metadata) {
        XLA_FFI_Metadata *metadata = ((XLA_FFI_Metadata_Extension *)frame->extension_start)->metadata;
        metadata->api_version.struct_size = sizeof metadata->api_version;
        metadata->api_version.major_version = XLA_FFI_API_MAJOR;
        metadata->api_version.minor_version = XLA_FFI_API_MINOR;
        metadata->traits = XLA_FFI_HANDLER_TRAITS_COMMAND_BUFFER_COMPATIBLE;
        metadata->state_type_id.type_id = 0;
    }
    return NULL;
}
"""


def make_empty(folder):
    source, library = pathlib.Path(folder, "nothing.c"), pathlib.Path(folder, "nothing.so")
    source.write_text(EMPTY)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", jax.ffi.include_dir(), source, "-o", library], check=True)
    jax.ffi.register_ffi_target("nothing", jax.ffi.pycapsule(ctypes.CDLL(str(library)).nothing), platform="CUDA")

    def call(like, *arrays):
        return jax.ffi.ffi_call("nothing", jax.ShapeDtypeStruct(like.shape, like.dtype))(*arrays)

    return call


def time_calls(function, arrays):
    """The median of single calls, in us."""
    times = []
    for i in range(COUNT):
        start = time.perf_counter_ns()
        kept = function(*arrays)
        times.append((time.perf_counter_ns() - start) / 1000)
        if i % 50 == 49:
            jax.block_until_ready(kept)  # the queue of the stream never fills
    return statistics.median(times)


def time_streams(function, arrays, count=200):
    """Calls one after the other, in us of a call."""
    start = time.perf_counter_ns()
    for _ in range(count):
        kept = function(*arrays)
    jax.block_until_ready(kept)
    return (time.perf_counter_ns() - start) / 1000 / count


def show(title, functions, arrays, measure, rounds):
    """Prints medians; the first function is ours, the second one the empty handler."""
    print(title)
    for function in functions.values():
        jax.block_until_ready(function(*arrays))
    found = [[measure(function, arrays) for function in functions.values()] for _ in range(rounds)]
    for name, times in zip(functions, zip(*found)):
        print(f"  {name:34} {statistics.median(times):6.2f}")
    more = statistics.median(ours - empty for ours, empty, *_ in found)
    print(f"  {'more than the empty handler':34} {more:6.2f}")
    return more


def main():
    devices = [device for device in jax.devices() if device.platform == "gpu"]
    if not devices or getattr(devices[0], "compute_capability", "") != "9.0":
        print("skipped: no Hopper GPU")
        sys.exit(77)
    import grout
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "kernels")
    matmul = grout.load(folder / "matmul_hopper_ws.grout")
    add_one = grout.load(folder / "add_one.grout", kernel="add_one_smem")
    keys = jax.random.split(jax.random.key(0), 2)
    a, b = (jax.random.randint(key, (1024, 1024), -3, 4).astype(jnp.bfloat16) for key in keys)
    x = jnp.arange(512, dtype=jnp.float32)
    product = jax.jit(matmul.jax_call)
    if not (product(a, b) == jax.jit(jnp.matmul)(a, b)).all() or not (jax.jit(add_one.jax_call)(x) == x + 1).all():
        sys.exit("gpu_launch_jax: kernel.jax_call gives other values than jax.numpy")
    print(f"{devices[0].device_kind}, JAX {jax.__version__}, us of the host:")
    with tempfile.TemporaryDirectory() as work:
        nothing = make_empty(work)
        functions = {"kernel.jax_call(a, b)": product, "an empty handler": jax.jit(lambda a, b: nothing(a, a, b)),
                     "jnp.matmul(a, b)": jax.jit(jnp.matmul)}
        more = show("a call, two inputs and a result", functions, (a, b), time_calls, 5)
        functions = {"kernel.jax_call(x)": jax.jit(add_one.jax_call),
                     "an empty handler": jax.jit(lambda x: nothing(x, x)), "x + 1": jax.jit(lambda x: x + 1)}
        show("a call, an input and a result", functions, (x,), time_calls, 5)
        show("calls one after the other, an input and a result", functions, (x,), time_streams, 50)
    sys.exit("gpu_launch_jax: more than 10 us" if more > 10 else 0)


if __name__ == "__main__":
    main()
