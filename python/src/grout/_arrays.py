# SPDX-License-Identifier: Apache-2.0
"""Arrays of NumPy, ml_dtypes, JAX and torch on the CPU as the library sees them: bytes, borrowed."""
from __future__ import annotations

import dataclasses
import sys
import typing

import numpy

from ._diagnostics import ArgumentError
from ._library import ffi, lib, text_of

# What element types are called elsewhere: NumPy, ml_dtypes, torch. The first is the one that outputs are made of.
NAMES = {
    "bool": ("bool", "bool_"),
    "i4": ("int4",), "u4": ("uint4",),
    "i8": ("int8",), "u8": ("uint8",), "i16": ("int16",), "u16": ("uint16",),
    "i32": ("int32",), "u32": ("uint32",), "i64": ("int64",), "u64": ("uint64",),
    "f4e2m1": ("float4_e2m1fn",), "f6e2m3": ("float6_e2m3fn",), "f6e3m2": ("float6_e3m2fn",),
    "f8e4m3": ("float8_e4m3fn",), "f8e5m2": ("float8_e5m2",), "f8e8m0": ("float8_e8m0fnu",),
    "f16": ("float16", "half"), "bf16": ("bfloat16",), "f32": ("float32", "float"), "f64": ("float64", "double"),
}
FROM_NAME = {name: dtype for dtype, names in NAMES.items() for name in names}


@dataclasses.dataclass
class View:
    """An array of the caller's. owner keeps the bytes alive."""

    owner: object
    address: int
    nbytes: int
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None  # in bytes; None: row-major
    dtype: str  # of grout, or as the array calls it
    itemsize: int
    is_read_only: bool


def is_contiguous(view: View) -> bool:
    if view.strides is None or 0 in view.shape:
        return True
    expected = view.itemsize
    for size, stride in zip(reversed(view.shape), reversed(view.strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


def _of_numpy(array: numpy.ndarray[typing.Any, typing.Any], is_read_only: bool = False) -> View:
    if not array.dtype.isnative:
        raise ArgumentError(f"its elements are {array.dtype.str}, of the other byte order")
    if array.dtype.hasobject:  # addresses of this process, which a kernel would write over
        raise ArgumentError(f"its elements are Python objects ({array.dtype})")
    return View(array, array.ctypes.data, array.nbytes, array.shape, array.strides,
                FROM_NAME.get(array.dtype.name, str(array.dtype)), array.dtype.itemsize,
                is_read_only or not array.flags.writeable)


def of_torch(tensor: typing.Any) -> View:
    """A view of a tensor of any device."""
    if str(tensor.layout) != "torch.strided":
        raise ArgumentError(f"its layout is {tensor.layout}: take .to_dense()")
    if tensor.is_conj() or tensor.is_neg():
        raise ArgumentError("it is a lazy view: take .resolve_conj().resolve_neg()")
    name = str(tensor.dtype).rpartition(".")[2]
    size = tensor.element_size()
    return View(tensor, tensor.data_ptr(), tensor.numel() * size, tuple(tensor.shape),
                tuple(stride * size for stride in tensor.stride()), FROM_NAME.get(name, name), size,
                tensor.requires_grad)


def _of_jax(array: typing.Any) -> View:
    platforms = {device.platform for device in array.devices()}
    if platforms != {"cpu"}:
        raise ArgumentError(f"it lies on {', '.join(sorted(platforms))}: take jax.device_get(..)")
    return _of_numpy(numpy.asarray(array), is_read_only=True)


def is_of(value: object, module: str, name: str) -> bool:
    """Whether it is one, without importing the package."""
    found = sys.modules.get(module)
    return found is not None and isinstance(value, getattr(found, name, ()))


def view_of(value: typing.Any) -> View:
    """Raises an ArgumentError whose message goes after the parameter's name."""
    if isinstance(value, numpy.ndarray):
        return _of_numpy(value)
    if is_of(value, "torch", "Tensor"):
        if value.device.type != "cpu":
            raise ArgumentError(f"it lies on the device '{value.device}': take .cpu(), or kernel.launch for a GPU")
        return of_torch(value)
    if is_of(value, "jax", "Array"):
        return _of_jax(value)
    if isinstance(value, numpy.generic):
        return _of_numpy(numpy.asarray(value), is_read_only=True)
    if hasattr(value, "__array_interface__"):
        return _of_numpy(numpy.asarray(value))
    if hasattr(value, "__dlpack__"):
        try:
            return _of_numpy(numpy.from_dlpack(value))
        except (BufferError, RuntimeError, TypeError) as error:
            raise ArgumentError(f"its DLPack is none that NumPy takes: {error}") from error
    raise ArgumentError(f"a {type(value).__name__} is not an array: take numpy.asarray(.., dtype)")


def numpy_dtype(dtype: str) -> numpy.dtype[typing.Any]:
    """The type that outputs of this element type are made of."""
    name = NAMES[dtype][0]
    try:
        return numpy.dtype(name)
    except TypeError:
        pass
    try:
        import ml_dtypes
        return numpy.dtype(getattr(ml_dtypes, name))
    except (ImportError, AttributeError):
        raise ArgumentError(f"NumPy has no {name}: 'pip install ml_dtypes', or pass an array for it (raw bytes as "
                            "uint8 or uint16 will do)") from None


def dtype_number(dtype: str) -> int:
    return lib.grout_dtype_find(dtype.encode(), len(dtype))


def dtype_text(dtype: int) -> str:
    return text_of(lib.grout_dtype_get_info(dtype).text)


def scalar_bytes(value: typing.Any, dtype: str) -> bytes:
    """A Python number as one element."""
    info = lib.grout_dtype_get_info(dtype_number(dtype))
    if hasattr(value, "shape"):
        view = view_of(value)
        if view.dtype == dtype and all(size == 1 for size in view.shape):
            return bytes(ffi.buffer(ffi.cast("char *", view.address), view.nbytes))
        if view.nbytes == view.itemsize:
            value = value.item()
    is_float = info.class_ == lib.GROUT_CLASS_FLOAT
    if isinstance(value, bool) and dtype == "bool":
        return bytes([value])
    if isinstance(value, int) and not is_float:
        return _integer_bytes(value, info, dtype)
    if isinstance(value, (int, float)) and is_float:
        out = ffi.new("char[16]")
        lib.grout_element_from_double(dtype_number(dtype), float(value), out)
        return ffi.buffer(out, info.bytes)[:]
    raise ArgumentError(f"a {type(value).__name__} is not of type {dtype}")


def _integer_bytes(value: int, info: typing.Any, dtype: str) -> bytes:
    is_signed = info.class_ == lib.GROUT_CLASS_SINT
    low, high = (-(1 << (info.bits - 1)), (1 << (info.bits - 1)) - 1) if is_signed else (0, (1 << info.bits) - 1)
    if dtype == "bool":
        low, high = 0, 1
    if not low <= value <= high:
        raise ArgumentError(f"{value} does not fit {dtype}, which goes from {low} to {high}")
    return (value & ((1 << info.bits) - 1)).to_bytes(info.bytes, "little")
