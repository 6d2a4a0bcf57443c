"""Traces kernels of Triton's Gluon to TTGIR, with the place in the Python of every operation. Needs the PyPI package
triton, but neither a GPU nor PyTorch.

usage: trace.py [--arch 90] FILE CALL       docs/gluon.md says how to install triton

FILE is a Python file with Gluon kernels and the functions that launch them. It is imported with stand-ins for PyTorch
and pytest; then CALL, a Python expression such as 'add(tensor(512, 512), tensor(512, 512), tensor(512, 512))', is
evaluated among its names. No launch happens: each is taken as far as TTGIR, and its text is printed.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import importlib
import os
import sys
import types
import typing
import unittest.mock

# The name of the kernel, its grid, the values of its parameters by name, and the text of the TTGIR.
Launch = collections.namedtuple("Launch", "kernel grid values text")


class Dtype:
    """An element type of the stand-in for PyTorch; its text is what Triton looks at."""

    def __init__(self, name, size):
        self.name, self.itemsize = name, size
        self.is_floating_point = "float" in name

    def __repr__(self):
        return "torch." + self.name


DTYPES = {name: Dtype(name, size) for name, size in (
    ("float16", 2), ("bfloat16", 2), ("float32", 4), ("float64", 8), ("float8_e4m3fn", 1), ("float8_e5m2", 1),
    ("int8", 1), ("uint8", 1), ("int16", 2), ("int32", 4), ("int64", 8))}


class Tensor:
    """A dense array that has a shape and an address, and no elements."""

    def __init__(self, *shape, dtype="float32"):
        self.shape, self.dtype = shape, DTYPES[dtype]
        self.device, self.ndim = "cuda", len(shape)

    def data_ptr(self):
        return 1 << 20

    def element_size(self):
        return self.dtype.itemsize

    def numel(self):
        count = 1
        for extent in self.shape:
            count *= extent
        return count

    def stride(self, dim=None):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides) if dim is None else strides[dim]


class Driver:
    """What Triton asks of a GPU before it compiles."""

    def __init__(self, arch):
        from triton.backends.compiler import GPUTarget
        self.target = GPUTarget("cuda", arch, 32)

    def get_current_target(self):
        return self.target

    def get_current_device(self):
        return 0

    def get_current_stream(self, device):
        return 0


def stand_in(arch):
    """Puts the stand-ins where 'import torch' and 'import pytest' find them."""
    torch: typing.Any = types.ModuleType("torch")
    torch.__dict__.update(DTYPES)
    torch.Tensor = Tensor
    torch.empty = lambda *shape, dtype=DTYPES["float32"], **of: Tensor(*shape, dtype=dtype.name)
    torch.cuda = unittest.mock.MagicMock()
    torch.cuda.is_available.return_value = False
    torch.cuda.get_device_capability.return_value = divmod(arch, 10)
    torch.cuda.get_device_properties.return_value.multi_processor_count = 132
    pytest = unittest.mock.MagicMock()
    pytest.mark.parametrize.return_value = pytest.mark.skipif.return_value = lambda function: function
    sys.modules.update(torch=torch, pytest=pytest)


def ttgir(kernel, target, args, options):
    """The text of the TTGIR module of one launch."""
    from triton._C.libtriton import ir
    from triton.compiler import make_backend
    from triton.experimental.gluon import GluonASTSource
    from triton.runtime.jit import create_function_from_signature
    backend = make_backend(target)
    bind = create_function_from_signature(kernel.signature, kernel.params, backend)
    options.setdefault("sanitize_overflow", False)
    bound, specialization, options_left = bind(*args, **options)
    opts, signature, constants, attrs = kernel._pack_args(backend, options, bound, specialization, options_left)
    source = GluonASTSource(kernel, signature, constants, attrs)
    context = ir.context()
    ir.load_dialects(context)
    backend.load_dialects(context)
    module = source.make_ir(target, opts, backend.get_codegen_implementation(opts), backend.get_module_map(), context)
    text = str(backend.gluon_to_ttgir(module, {}, opts, target.arch))
    del module  # before its context: the other way round ends in a crash
    return text


def trace(path, call, arch=90):
    """The launches that CALL makes, in order."""
    stand_in(arch)
    from triton.experimental.gluon._runtime import GluonJITFunction
    from triton.runtime import driver
    driver.set_active(Driver(arch))
    launches = []

    def run(self, *args, grid, warmup, **options):
        text = ttgir(self, driver.active.get_current_target(), args, options)
        if callable(grid):
            grid = grid(options)
        values = {**dict(zip(self.arg_names, args)), **options}
        launches.append(Launch(kernel=self.__name__, grid=tuple(grid), values=values, text=text))
        return unittest.mock.MagicMock()

    GluonJITFunction.run = run
    folder, name = os.path.split(os.path.abspath(path))
    sys.path.insert(0, folder)
    names = vars(importlib.import_module(os.path.splitext(name)[0]))
    eval(call, dict(names, tensor=Tensor))
    return launches


def main():
    parser = argparse.ArgumentParser(description="TTGIR of the Gluon kernels that a call launches")
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument("file")
    parser.add_argument("call")
    args = parser.parse_args()
    for launch in trace(args.file, args.call, args.arch):
        print(f"// kernel {launch.kernel}, grid {launch.grid}")
        print(launch.text)


if __name__ == "__main__":
    main()
