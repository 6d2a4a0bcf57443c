# SPDX-License-Identifier: Apache-2.0
"""Kernels in programs of JAX: a primitive that becomes a custom call, which XLA makes without Python."""
from __future__ import annotations

import ctypes
import functools
import hashlib
import threading
import typing

import jax
import jax.numpy
import numpy

try:
    import jax.extend.core
    import jax.ffi
    from jax.interpreters import batching, mlir
except ImportError as error:
    raise ImportError(f"kernel.jax_call is for JAX 0.10 and newer, and this is {jax.__version__}: {error}") from error

from . import _arrays
from ._diagnostics import ArgumentError, Diags, GroutError
from ._gpu import LaunchOptions, make_program
from ._kernel import Bound, Kernel, Param, pack_results
from ._library import VERSION, ffi, lib

# What JAX calls a platform when it lowers, and when a target of its FFI is registered.
PLATFORMS = {"cpu": "cpu", "cuda": "CUDA"}

# ---- targets --------------------------------------------------------------------------------------------------------

# XLA keeps what is registered, so it lives as long as the process: (name, platform) to what a handler needs.
_TARGETS: dict[tuple[str, str], tuple[object, ...]] = {}
_LOCK = threading.Lock()


class Call:
    """A kernel for arrays of one kind. Equal calls are one target of XLA, whose name says what the kernel is: a program
    of JAX that was kept on disk finds it again, or is refused."""

    def __init__(self, kernel: Kernel, bound: Bound, key: tuple[typing.Any, ...], options: LaunchOptions,
                 scalars: tuple[int, ...]) -> None:
        self.kernel, self.bound, self.options, self.scalars = kernel, bound, options, scalars
        digest = hashlib.blake2b(repr((VERSION, str(kernel.module), key)).encode(), digest_size=12).hexdigest()
        self.name = f"grout.{kernel.name}.{digest}"
        self._key = (self.name, scalars)
        written = [index for index, param in enumerate(kernel.params) if param.direction in ("out", "inout")]
        read = [index for index, param in enumerate(kernel.params) if param.direction in ("in", "inout")]
        self.result_names = [kernel.params[index].name for index in written]
        self.results = [_check_types(kernel.params[index], *kernel.get_result_type(bound, index)) for index in written]
        self.aliases = {read.index(index): written.index(index) for index in read if index in written}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Call) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    def __repr__(self) -> str:
        return f"@{self.kernel.name}"

    def register(self, platform: str) -> None:
        """Makes the target, once for a process."""
        with _LOCK:
            if (self.name, platform) not in _TARGETS:
                program = make_program(self.bound, self.options) if platform == "cuda" else ffi.NULL
                diags = Diags(self.bound.pointer)
                handler = lib.grout_xla_handler_new(self.bound.pointer, self.bound.kernel, ffi.NULL, program,
                                                    diags.list)
                if handler == ffi.NULL:
                    diags.fail(GroutError)
                address = int(ffi.cast("uintptr_t", lib.grout_xla_handler_get(handler)))
                jax.ffi.register_ffi_target(self.name, jax.ffi.pycapsule(address), platform=PLATFORMS[platform],
                                            api_version=1)
                _TARGETS[self.name, platform] = kept = (handler, program, self.bound)
                ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))  # XLA may call it while the interpreter ends


# ---- the primitive --------------------------------------------------------------------------------------------------

_primitive = jax.extend.core.Primitive("grout")
_primitive.multiple_results = True


@_primitive.def_abstract_eval  # type: ignore[untyped-decorator]  # of JAX
def _evaluate(*operands: typing.Any, call: Call) -> list[typing.Any]:
    varying = frozenset().union(*(getattr(operand, "vma", None) or () for operand in operands))
    more = {"vma": varying} if varying else {}
    return [jax.core.ShapedArray(shape, dtype, **more) for shape, dtype in call.results]


@functools.lru_cache(256)
def _jit(call: Call) -> typing.Callable[..., typing.Any]:
    return jax.jit(lambda *operands: _primitive.bind(*operands, call=call))


@_primitive.def_impl  # type: ignore[untyped-decorator]  # of JAX
def _run(*operands: typing.Any, call: Call) -> typing.Any:
    return _jit(call)(*operands)


def _lower(context: typing.Any, *operands: typing.Any, call: Call, platform: str) -> typing.Any:
    call.register(platform)
    attributes = {"scalars": numpy.array(call.scalars, numpy.int64)} if call.scalars else {}
    rule = jax.ffi.ffi_lowering(call.name, operand_output_aliases=call.aliases)
    return rule(context, *operands, **attributes)


for _platform in PLATFORMS:
    mlir.register_lowering(_primitive, functools.partial(_lower, platform=_platform), platform=_platform)


def _batch(operands: typing.Sequence[typing.Any], dims: typing.Sequence[int | None], *,
           call: Call) -> tuple[typing.Any, list[int]]:
    """One element after the other."""
    mapped = [dim is not None for dim in dims]
    batched = [jax.numpy.moveaxis(operand, dim, 0) for operand, dim in zip(operands, dims) if dim is not None]

    def run(elements: typing.Sequence[typing.Any]) -> typing.Any:
        left = iter(elements)
        return _primitive.bind(*(next(left) if is_mapped else operand for operand, is_mapped in zip(operands, mapped)),
                               call=call)

    results = jax.lax.map(run, batched)
    return results, [0] * len(results)


batching.primitive_batchers[_primitive] = _batch

# ---- a call ---------------------------------------------------------------------------------------------------------


def _check_types(param: Param, shape: tuple[int, ...],
                 dtype: numpy.dtype[typing.Any]) -> tuple[tuple[int, ...], numpy.dtype[typing.Any]]:
    if jax.dtypes.canonicalize_dtype(dtype) != dtype:
        raise ArgumentError(f"{param}: JAX has no {dtype} unless jax_enable_x64 is set")
    return shape, dtype


def _view(kernel: Kernel, param: Param, value: typing.Any) -> _arrays.View:
    """What a value is, as far as it is known while it is traced."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        raise ArgumentError(f"@{kernel.name}, {param}: a {type(value).__name__} is not an array of JAX")
    dtype = numpy.dtype(value.dtype)
    shape = tuple(value.shape)
    if not all(isinstance(size, int) for size in shape):
        raise ArgumentError(f"@{kernel.name}, {param}: the shape is {shape}; a kernel is for one size")
    try:
        _check_types(param, shape, dtype)
    except ArgumentError as error:
        raise ArgumentError(f"@{kernel.name}, {error}") from None
    return _arrays.View(value, 0, dtype.itemsize * int(numpy.prod(shape, dtype=object)), shape, None,
                        _arrays.FROM_NAME.get(dtype.name, dtype.name), dtype.itemsize, False)


def _read_scalar(kernel: Kernel, param: Param, value: typing.Any) -> int:
    if isinstance(value, jax.core.Tracer):
        raise ArgumentError(f"@{kernel.name}, {param}: a scalar has to be a number when the function is traced, and "
                            "this one is an array then: make it static (static_argnums, functools.partial)")
    try:
        return int.from_bytes(_arrays.scalar_bytes(value, param.dtype).ljust(8, b"\0"), "little", signed=True)
    except ArgumentError as error:
        raise ArgumentError(f"@{kernel.name}, {param}: {error}") from None


def call(kernel: Kernel, arguments: typing.Mapping[str, typing.Any],
         defines: typing.Mapping[str, tuple[typing.Any, str]], options: LaunchOptions) -> typing.Any:
    views: dict[str, _arrays.View] = {}
    scalars = []
    for param in kernel.params:
        value = arguments.get(param.name)
        if param.direction == "out":
            if value is not None:
                raise ArgumentError(f"@{kernel.name}, {param}: arrays of JAX are not written; it is a result of the "
                                    "call")
        elif value is None:
            raise ArgumentError(f"@{kernel.name}, {param}: a call needs all of the inputs")
        elif param.direction == "scalar":
            scalars.append(_read_scalar(kernel, param, value))
        else:
            views[param.name] = _view(kernel, param, value)
    defines = dict(defines)
    kernel.find_sizes(views, defines)
    bound = kernel.bind(defines, None)
    for index, param in enumerate(kernel.params):
        if param.name in views:
            kernel.check_view(bound, index, views[param.name], False)
    key = (kernel.name, sorted((name, value) for name, (value, _) in defines.items()), options)
    made = Call(kernel, bound, key, options, tuple(scalars))
    operands = [jax.numpy.asarray(arguments[name]) for name in views]
    return pack_results(dict(zip(made.result_names, _primitive.bind(*operands, call=made))))
