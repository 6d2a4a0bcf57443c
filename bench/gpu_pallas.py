#!/usr/bin/env python3
# gpu_pallas.py - kernels of JAX on a GPU, next to the CUDA that grout makes of them.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_pallas.py [CASE...]      with grout, JAX and torch, all for a Hopper GPU, in this Python

Runs each case of tests/pallas_compat/cases that has a size here as JAX does, and a second time with every Pallas kernel
in it as grout has it: imported, printed as .grout text, read again, emitted as CUDA and launched on the same inputs.
Prints the largest difference of the results, and the medians of the device times. Exit code 77 without a GPU.
"""
import os
import pathlib
import statistics
import sys

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
try:
    import jax
    import numpy
    import torch
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

sys.path.insert(0, os.environ.get("GROUT_CASES",
                                  str(pathlib.Path(__file__).resolve().parents[1] / "tests/pallas_compat")))
COUNT = 30
TILES = {"tile_m": 128, "tile_n": 128, "tile_k": 64, "max_concurrent_steps": 4}
CUBE = {"m": 4096, "n": 4096, "k": 4096, "sms": None, **TILES, "grid_tile_width": 8}
HEADS = {"positions": 4096, "heads": 16, "kv_heads": 4, "elements": 128, "block_kv": 128}
# By case: the sizes.
SIZES = {
    "hopper_matmul": CUBE,
    "hopper_matmul_c": {**CUBE, "max_concurrent_steps": 3},
    "hopper_matmul_cluster_m": CUBE,
    "hopper_matmul_cluster_n": CUBE,
    "hopper_mixed_type_matmul": CUBE,
    "ragged_dot": {"scale": 32, "k": 2048, "n": 4096, "block_m": 128, "steps": 4},
    "transposed_ragged_dot": {"scale": 32, "m": 1024, "n": 1024, "block_n": 128, "steps": 4},
    "attention": HEADS,
    "attention_causal": HEADS,
    "attention_lse": HEADS,
    "attention_emitter": HEADS,
    "attention_backward": {"positions": 2048, "heads": 8, "kv_heads": 4},
    "page_pipeline": {"m": 4096, "n": 4096, "k": 4096},
}


def _list(times):
    return ", ".join(f"{name} {time:.1f}" for name, time in times.items())


def make_session(wgmma):
    """A session of grout.pallas whose kernels are launched on the GPU."""
    import grout
    from grout.pallas import Session
    from grout.pallas._importer import Options

    class OnGpu(Session):
        """Launches what it is to run; times: microseconds of the device by kernel."""

        def __init__(self):
            super().__init__(False, {}, Options(wgmma), False)
            self.times = {}

        def _call(self, imported, arrays, avals):
            kernel = grout.load(imported.text, imported.name)
            tensors = {name: to_torch(array) for name, array in zip(imported.inputs, arrays)}
            for name, aval in zip(imported.outputs, avals):
                if name not in tensors:
                    tensors[name] = to_torch(numpy.zeros(aval.shape or (1,), aval.dtype))
            kernel.launch(values=tensors)
            results = [to_numpy(tensors[name], aval) for name, aval in zip(imported.outputs, avals)]
            for time in time_on_device(lambda: kernel.launch(values=tensors)).values():
                self.times[imported.name + "_" * (imported.name in self.times)] = time
            return results

    return OnGpu()


def to_torch(array):
    array = numpy.array(array).reshape(numpy.shape(array) or (1,))
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.view(numpy.uint16)).cuda().view(torch.bfloat16)
    return torch.from_numpy(array).cuda()


def to_numpy(tensor, aval):
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.uint16).cpu().numpy().view(aval.dtype).reshape(aval.shape)
    return tensor.cpu().numpy().reshape(aval.shape)


def time_on_device(call):
    """Microseconds of each kernel that a call runs, by CUPTI: the kernel alone, for JAX' and ours alike."""
    from jax._src.lib import mosaic_gpu
    call()
    torch.cuda.synchronize()
    mosaic_gpu._mosaic_gpu_ext._cupti_init()
    try:
        for _ in range(COUNT):
            call()
        torch.cuda.synchronize()
    finally:
        runs = mosaic_gpu._mosaic_gpu_ext._cupti_get_timings(True)
    if not runs or len(runs) % COUNT:
        raise RuntimeError(f"CUPTI has seen {len(runs or ())} kernels of {COUNT} calls")
    kernels = len(runs) // COUNT
    return {f"{runs[first][0][:48]}{'_' * first}": statistics.median(1000 * time for _, time in runs[first::kernels])
            for first in range(kernels)}


def largest_difference(left, right):
    left, right = (numpy.asarray(array).astype(numpy.float64) for array in (left, right))
    return float(numpy.nan_to_num(numpy.abs(left - right), nan=numpy.inf).max())


def compare(case, wgmma):
    prepared = case.make(**SIZES[case.name])
    gpu, cpu = jax.devices("gpu")[0], jax.devices("cpu")[0]
    function = jax.jit(prepared.function)
    inputs = [jax.device_put(array, gpu) for array in prepared.inputs]
    theirs = jax.tree.leaves(jax.block_until_ready(function(*inputs)))
    times = time_on_device(lambda: jax.block_until_ready(function(*inputs)))
    from grout.pallas import _api
    session = make_session(wgmma)
    # The JAX around the kernels runs on the CPU; what the kernels do, on the GPU.
    with _api._session(session, gpu.core_count, None), jax.default_device(cpu):
        local = [jax.device_put(array, cpu) for array in prepared.inputs]
        ours = jax.tree.leaves(jax.block_until_ready(jax.jit(prepared.function)(*local)))
    if not ours:
        raise RuntimeError("no results")
    difference = max(map(largest_difference, theirs, ours))
    print(f"{case.name} wgmma={wgmma}: largest difference {difference:.3g} (allowed {2 * prepared.tolerance})")
    print(f"  grout: {_list(session.times)}")
    print(f"  JAX: {_list(times)}", flush=True)


def main():
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        print("skipped: no Hopper GPU")
        sys.exit(77)
    import cases
    found = cases.load(("jax", "pages"))
    print(f"{torch.cuda.get_device_name()}, JAX {jax.__version__}; device times in us, medians of {COUNT}", flush=True)
    for name in sys.argv[1:] or SIZES:
        for wgmma in ("lowered", "documented") if "ragged" in name else ("lowered",):
            try:
                compare(found[name], wgmma)
            except Exception as error:
                print(f"{name}: {type(error).__name__}: {str(error)[:600]}", flush=True)


if __name__ == "__main__":
    main()
