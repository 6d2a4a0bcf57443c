#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Launches kernels on PyTorch's CUDA tensors, in its context and on its streams, and compares with torch.

usage: launch_from_torch.py LIBRARY SOURCE_FOLDER     LIBRARY: grout as a shared library

Prints the host's time for a launch, the median of 1000. Exit code 77 without PyTorch or a GPU.
"""
import ctypes
import os
import statistics
import sys
import time

try:
    import torch
except ImportError:
    print("skipped: no PyTorch")
    sys.exit(77)


class Argument(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("size", ctypes.c_size_t)]


class Define(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("is_float", ctypes.c_bool), ("integer", ctypes.c_int64),
                ("number", ctypes.c_double), ("origin", ctypes.c_char_p)]


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_char_p), ("rest", ctypes.c_size_t * 8)]


def open_library(path):
    library = ctypes.CDLL(path)
    pointer = ctypes.c_void_p
    for name, result, arguments in (
            ("grout_diags_new", pointer, []),
            ("grout_diags_render", None, [pointer, pointer, pointer]),
            ("grout_parse", pointer, [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t, pointer]),
            ("grout_module_bind", pointer, [pointer, pointer, ctypes.c_size_t, pointer]),
            ("grout_module_find_kernel", ctypes.c_uint32, [pointer, ctypes.c_char_p]),
            ("grout_module_free", None, [pointer]),
            ("grout_verify", ctypes.c_bool, [pointer, ctypes.c_int, pointer]),
            ("grout_gpu_kernel_new", pointer, [pointer, ctypes.c_uint32, pointer, pointer]),
            ("grout_gpu_kernel_free", None, [pointer]),
            ("grout_gpu_kernel_launch", ctypes.c_bool, [pointer, pointer, ctypes.c_size_t, pointer, pointer])):
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


class Kernel:
    """A kernel of a file, bound to sizes, in the current context."""

    def __init__(self, library, path, name, **sizes):
        self.library = library
        self.diags = library.grout_diags_new()
        with open(path, "rb") as file:
            text = file.read()
        symbolic = self.must(library.grout_parse(path.encode(), text, len(text), self.diags))
        defines = (Define * max(len(sizes), 1))(
            *(Define(key.encode(), False, value, 0.0, None) for key, value in sizes.items()))
        bound = self.must(library.grout_module_bind(symbolic, defines, len(sizes), self.diags))
        self.must(library.grout_verify(bound, 0, self.diags))
        kernel = library.grout_module_find_kernel(bound, name.encode())
        self.handle = self.must(library.grout_gpu_kernel_new(bound, kernel, None, self.diags))
        library.grout_module_free(bound)
        library.grout_module_free(symbolic)

    def must(self, result):
        if not result:
            text, options = Text(), (ctypes.c_size_t * 8)()
            self.library.grout_diags_render(self.diags, ctypes.byref(options), ctypes.byref(text))
            raise RuntimeError(text.data.decode())
        return result

    @staticmethod
    def pack(*tensors):
        return (Argument * len(tensors))(*(Argument(t.data_ptr(), t.numel() * t.element_size()) for t in tensors))

    def launch(self, arguments, stream):
        self.must(self.library.grout_gpu_kernel_launch(
            self.handle, arguments, len(arguments), stream, self.diags))

    def free(self):
        self.library.grout_gpu_kernel_free(self.handle)


def median_us(work, count=1000):
    times = []
    for i in range(count):
        start = time.perf_counter_ns()
        work()
        times.append(time.perf_counter_ns() - start)
        if i % 50 == 49:
            torch.cuda.synchronize()
    return statistics.median(times) / 1000


def make_matmul(library, source, name, m, n, k):
    kernel = Kernel(library, os.path.join(source, "kernels", name + ".grout"), name, M=m, N=n, K=k)
    return kernel, f"{name} {m} x {n} x {k}"


def compare_matmul(library, source, name, m, n, k):
    kernel, title = make_matmul(library, source, name, m, n, k)
    streams = [torch.cuda.current_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
    for stream in streams:
        with torch.cuda.stream(stream):
            a = torch.randn(m, k, device="cuda").bfloat16()
            b = torch.randn(k, n, device="cuda").bfloat16()
            c = torch.full((m, n), float("nan"), device="cuda", dtype=torch.bfloat16)
            kernel.launch(kernel.pack(a, b, c), stream.cuda_stream)
            doubled = c * 2  # what comes after it on the stream sees it
            expected = torch.matmul(a, b)
        stream.synchronize()
        worst = (c.float() - expected.float()).abs().max().item()
        assert worst <= 2**-6 * expected.float().abs().max().item(), f"{title}: {worst}"
        assert torch.equal(doubled, c * 2), title
    print(f"{title}: as torch.matmul on {len(streams)} streams, worst difference {worst:.3g}")
    return kernel


def compare_graph(library, source):
    kernel, title = make_matmul(library, source, "matmul_hopper_ws", 256, 256, 256)
    a = torch.randn(256, 256, device="cuda").bfloat16()
    b = torch.randn(256, 256, device="cuda").bfloat16()
    c = torch.zeros(256, 256, device="cuda", dtype=torch.bfloat16)
    arguments = kernel.pack(a, b, c)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        kernel.launch(arguments, torch.cuda.current_stream().cuda_stream)
    for _ in range(2):
        c.zero_()
        a.normal_()
        graph.replay()
        torch.cuda.synchronize()
        expected = torch.matmul(a, b)
        worst = (c.float() - expected.float()).abs().max().item()
        assert worst <= 2**-6 * expected.float().abs().max().item(), worst
    print(f"{title}: as torch.matmul in a captured graph, replayed")
    kernel.free()
    waiting = Kernel(library, os.path.join(source, "kernels", "split_k.grout"), "ordered", M=64, N=64, K=256)
    a, b = a[:64].contiguous(), b[:, :64].contiguous()
    sums = torch.zeros(64, 64, device="cuda")
    arguments = waiting.pack(a, b, sums)
    waiting.launch(arguments, torch.cuda.current_stream().cuda_stream)
    torch.cuda.synchronize()
    assert (sums - torch.matmul(a.float(), b.float())).abs().max().item() <= 2**-7 * sums.abs().max().item()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            c.zero_()
            waiting.launch(arguments, torch.cuda.current_stream().cuda_stream)
        sys.exit("a kernel with semaphores was captured")
    except RuntimeError as error:
        print("refused:", str(error).splitlines()[0])
    torch.cuda.synchronize()
    waiting.free()


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    if not torch.cuda.is_available():
        print("skipped: PyTorch sees no GPU")
        sys.exit(77)
    library = open_library(sys.argv[1])
    torch.zeros(1, device="cuda")  # makes the context
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    kernel = compare_matmul(library, sys.argv[2], "matmul_hopper_ws", 1000, 520, 776)
    kernel.free()
    kernel = compare_matmul(library, sys.argv[2], "matmul_hopper_ws", 256, 256, 256)
    tensors = [torch.randn(256, 256, device="cuda").bfloat16() for _ in range(3)]
    arguments = kernel.pack(*tensors)
    stream = torch.cuda.current_stream().cuda_stream
    packed = median_us(lambda: kernel.launch(arguments, stream))
    whole = median_us(lambda: kernel.launch(kernel.pack(*tensors), torch.cuda.current_stream().cuda_stream))
    torch_us = median_us(lambda: torch.matmul(tensors[0], tensors[1], out=tensors[2]))
    print(f"host time of a launch: {packed:.2f} us; with packing and the stream in Python {whole:.2f} us; "
          f"torch.matmul(out=) {torch_us:.2f} us")
    try:
        kernel.launch(kernel.pack(tensors[0].cpu(), *tensors[1:]), stream)
        sys.exit("a CPU tensor was not refused")
    except RuntimeError as error:
        print("refused:", str(error).splitlines()[0])
    kernel.free()
    compare_graph(library, sys.argv[2])
    torch.cuda.synchronize()
    print("done")


main()
