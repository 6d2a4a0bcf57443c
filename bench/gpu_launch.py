#!/usr/bin/env python3
# gpu_launch.py - host time of a launch from Python, next to torch's own and to cuLaunchKernel.
# SPDX-License-Identifier: Apache-2.0
"""usage: bench/gpu_launch.py [KERNEL_FOLDER]      with grout, torch and a Hopper GPU in this Python

Microseconds that the caller's thread is busy: medians of 1000 calls. cuLaunchKernel is called through ctypes, with its
arguments made before, on an empty kernel of three pointers: what ctypes takes is in it. Exit code 77 without a GPU.
"""
import ctypes
import pathlib
import statistics
import sys
import time

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)

COUNT = 1000
PTX = b""".version 8.0
.target sm_90
.address_size 64
.visible .entry nothing(.param .u64 a, .param .u64 b, .param .u64 c) { ret; }
"""


def median_us(work):
    times = []
    for i in range(COUNT):
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
        if i % 50 == 49:
            torch.cuda.synchronize()  # the queue of the stream never fills
    return statistics.median(times) / 1000


def make_driver_launch(tensors):
    driver = ctypes.CDLL("libcuda.so.1")
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    for result in (driver.cuModuleLoadData(ctypes.byref(module), PTX),
                   driver.cuModuleGetFunction(ctypes.byref(function), module, b"nothing")):
        if result != 0:
            raise RuntimeError(f"the driver's error {result}")
    addresses = [ctypes.c_uint64(tensor.data_ptr()) for tensor in tensors]
    params = (ctypes.c_void_p * 3)(*(ctypes.addressof(address) for address in addresses))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    ones = [ctypes.c_uint(1)] * 6
    nothing = ctypes.c_uint(0)

    def launch(_keep=addresses):
        driver.cuLaunchKernel(function, *ones, nothing, stream, params, None)

    return launch


def main():
    if not torch.cuda.is_available() or torch.cuda.get_device_capability() != (9, 0):
        print("skipped: no Hopper GPU")
        sys.exit(77)
    import grout
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parents[1] / "kernels")
    matmul = grout.load(folder / "matmul_hopper_ws.grout")
    a, b = (torch.randint(-3, 4, (1024, 1024), device="cuda").bfloat16() for _ in range(2))
    c = torch.empty_like(a)
    matmul.launch(a, b, c)
    if not torch.equal(c, a @ b):
        sys.exit("gpu_launch: kernel.launch gives another product than torch.matmul")
    stream = torch.cuda.current_stream()
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}, us of the host for a launch:")
    for name, work in (("cuLaunchKernel through ctypes", make_driver_launch((a, b, c))),
                       ("kernel.launch(a, b, c)", lambda: matmul.launch(a, b, c)),
                       ("kernel.launch(a, b, c, stream=..)", lambda: matmul.launch(a, b, c, stream=stream)),
                       ("torch.matmul(a, b, out=c)", lambda: torch.matmul(a, b, out=c)),
                       ("torch.add(a, b, out=c)", lambda: torch.add(a, b, out=c))):
        work()
        torch.cuda.synchronize()
        print(f"  {name:34} {median_us(work):6.2f}")


if __name__ == "__main__":
    main()
