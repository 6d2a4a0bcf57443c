# SPDX-License-Identifier: Apache-2.0
"""Launches on arrays of a GPU, in the caller's process, context and stream."""
from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import struct
import sys
import threading
import typing

import numpy

from . import _arrays
from ._diagnostics import ArgumentError, Diags, GroutError
from ._library import ffi, lib
from ._limits import read_count, read_flag, read_text

if typing.TYPE_CHECKING:
    from ._kernel import Bound, Kernel, Param

WORKSPACE_SETS_MAX = 16  # GROUT_GPU_WORKSPACE_SETS_MAX
PREPARED_MAX = 64  # launches of one kernel whose checks are remembered

# ---- arrays ---------------------------------------------------------------------------------------------------------

CPU, CUDA, CUDA_MANAGED = 1, 2, 13  # kDLCPU, kDLCUDA, kDLCUDAManaged
_DLPACK_TYPES = {(0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64", (1, 8): "u8", (1, 16): "u16",
                 (1, 32): "u32", (1, 64): "u64", (2, 16): "f16", (2, 32): "f32", (2, 64): "f64", (4, 16): "bf16",
                 (6, 8): "bool", (10, 8): "f8e4m3", (12, 8): "f8e5m2", (14, 8): "f8e8m0"}


class _DLTensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


def _of_dlpack(value: typing.Any, stream: int) -> tuple[_arrays.View, int]:
    device, index = value.__dlpack_device__()
    if int(device) not in (CUDA, CUDA_MANAGED):
        raise ArgumentError("it does not lie on a GPU: kernel.run takes arrays of the CPU")
    capsule = value.__dlpack__(stream=stream or 1)  # what made it comes first; 1 is the legacy default stream
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    tensor = _DLTensor.from_address(get(capsule, b"dltensor"))
    size = tensor.bits // 8 * tensor.lanes
    shape = tuple(tensor.shape[i] for i in range(tensor.ndim))
    strides = tuple(tensor.strides[i] * size for i in range(tensor.ndim)) if tensor.strides else None
    name = _DLPACK_TYPES.get((tensor.code, tensor.bits), f"of the DLPack code {tensor.code} and {tensor.bits} bits")
    is_immutable = _arrays.is_of(value, "jax", "Array")
    view = _arrays.View((value, capsule), (tensor.data or 0) + tensor.byte_offset,
                        int(numpy.prod(shape, dtype=object)) * size, shape, strides, name, size, is_immutable)
    return view, index


def _of_interface(value: typing.Any) -> _arrays.View:
    facts = value.__cuda_array_interface__
    dtype, shape = numpy.dtype(facts["typestr"]), tuple(facts["shape"])
    address, is_read_only = facts["data"]
    return _arrays.View(value, address or 0, int(numpy.prod(shape, dtype=object)) * dtype.itemsize, shape,
                        facts.get("strides"), _arrays.FROM_NAME.get(dtype.name, str(dtype)), dtype.itemsize,
                        is_read_only)


def device_view(value: typing.Any, stream: int = 0) -> tuple[_arrays.View, int | None]:
    """An array of a GPU that will be used on a stream, and the number of its device if it says that."""
    if _arrays.is_of(value, "torch", "Tensor"):
        if not value.is_cuda:
            raise ArgumentError(f"it lies on the device '{value.device}': take .cuda(), or kernel.run for the CPU")
        return _arrays.of_torch(value), value.device.index
    if hasattr(value, "__dlpack_device__") and not isinstance(value, numpy.ndarray):
        return _of_dlpack(value, stream)
    if hasattr(value, "__cuda_array_interface__"):
        return _of_interface(value), None
    raise ArgumentError(f"a {type(value).__name__} is not an array of a GPU")


# ---- the library of NVRTC, the cache --------------------------------------------------------------------------------


def _find_nvrtc_folders() -> list[bytes]:
    """Where pip puts NVRTC: nvidia/cuda_nvrtc/lib, nvidia/cu13/lib."""
    found = []
    for entry in sys.path:
        for name in ("cuda_nvrtc", "cu13", "cu12"):
            folder = pathlib.Path(entry or ".") / "nvidia" / name / "lib"
            if folder.is_dir():
                found.append(os.fsencode(folder))
    for variable in ("CUDA_HOME", "CUDA_PATH"):
        if os.environ.get(variable):
            found.append(os.fsencode(pathlib.Path(os.environ[variable]) / "lib64"))
    return found


def _find_cache() -> bytes | None:
    """As the command: $GROUT_CACHE, $XDG_CACHE_HOME/grout, ~/.cache/grout; what is no absolute path is ignored."""
    names = {"grout_cache": "GROUT_CACHE", "xdg_cache_home": "XDG_CACHE_HOME", "home": "HOME"}
    texts = {field: ffi.new("char[]", os.fsencode(os.environ.get(name, ""))) for field, name in names.items()}
    variables = ffi.new("grout_cache_variables *", texts)
    folder = ffi.new("grout_text *")
    ignored = ffi.new("grout_text *")
    try:
        is_found = lib.grout_cache_find(variables, folder, ignored)
        return ffi.buffer(folder.data, folder.size)[:] if is_found else None
    finally:
        lib.grout_text_free(folder)
        lib.grout_text_free(ignored)


class LaunchOptions(typing.NamedTuple):
    """Those of kernel.launch that a kernel is compiled and loaded with."""

    fills_outputs: bool
    dependent: bool
    debug_checks: bool
    workspace_sets: int
    extern_source: str
    nvrtc: str | None


DEFAULT_OPTIONS = LaunchOptions(False, False, True, 1, "", None)


def make_launch_options(fills_outputs: object, dependent: object, debug_checks: object, workspace_sets: object,
                        extern_source: str, nvrtc: str | None) -> LaunchOptions:
    """Options of the caller's."""
    read_text("extern_source", extern_source)
    return LaunchOptions(read_flag("fills_outputs", fills_outputs), read_flag("dependent", dependent),
                         read_flag("debug_checks", debug_checks),
                         read_count("workspace_sets", workspace_sets, 1, WORKSPACE_SETS_MAX), extern_source, nvrtc)


def make_nvrtc(library: str | None) -> tuple[typing.Any, list[typing.Any]]:
    """Where NVRTC and the cache are, and what owns the texts of that."""
    folders = [ffi.new("char[]", folder) for folder in _find_nvrtc_folders()]
    folder_array = ffi.new("const char *[]", folders or [ffi.NULL])
    cache = _find_cache()
    cache_text = ffi.new("char[]", cache or b"")
    made = ffi.new("grout_nvrtc_options *", {"search_dirs": folder_array, "search_dir_count": len(folders)})
    made.cache_dir = cache_text if cache else ffi.NULL
    keep = [folders, folder_array, cache_text]
    if library:
        keep.append(ffi.new("char[]", os.fsencode(library)))
        made.library = keep[-1]
    return made, keep


def _make_loaded(bound: Bound, options: LaunchOptions, new: typing.Callable[..., typing.Any],
                 free: typing.Callable[..., typing.Any]) -> typing.Any:
    """A kernel or a program of it."""
    nvrtc, keep = make_nvrtc(options.nvrtc)
    extern_source = ffi.new("char[]", read_text("extern_source", options.extern_source))
    made = ffi.new("grout_gpu_kernel_options *", {
        "no_debug_checks": not options.debug_checks, "is_dependent": options.dependent,
        "fills_outputs": options.fills_outputs, "extern_source": extern_source,
        "workspace_set_count": options.workspace_sets, "nvrtc": nvrtc[0]})
    diags = Diags(bound.pointer)
    loaded = new(bound.pointer, bound.kernel, made, diags.list)
    del keep
    if loaded == ffi.NULL:
        diags.fail(GroutError)
    return ffi.gc(loaded, free)


def _make_kernel(bound: Bound, options: LaunchOptions) -> typing.Any:
    """The kernel in the context that is current."""
    return _make_loaded(bound, options, lib.grout_gpu_kernel_new, lib.grout_gpu_kernel_free)


def make_program(bound: Bound, options: LaunchOptions) -> typing.Any:
    """The kernel, compiled, for every context."""
    return _make_loaded(bound, options, lib.grout_gpu_program_new, lib.grout_gpu_program_free)


# ---- launches -------------------------------------------------------------------------------------------------------


_VOID = ffi.typeof("void *")


class _Torch(typing.NamedTuple):
    """What a launch asks torch for, by the short ways where this torch has them."""

    tensor: type
    find_stream: typing.Callable[[int], int]  # torch's current one, of a device
    find_device: typing.Callable[[], int]  # torch's current one, in a thread that has used it


def _find_torch() -> _Torch | None:
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "Tensor"):
        return None
    return _Torch(torch.Tensor,
                  getattr(torch._C, "_cuda_getCurrentRawStream",
                          lambda device: torch.cuda.current_stream(device).cuda_stream),
                  getattr(torch._C, "_cuda_getDevice", torch.cuda.current_device))


def _stream_pointer(stream: typing.Any) -> int:
    """A CUstream of an int, of torch, of CuPy, or of what has __cuda_stream__."""
    if isinstance(stream, int):
        return read_count("stream", stream)
    for name in ("cuda_stream", "ptr"):
        if hasattr(stream, name):
            return int(getattr(stream, name))
    if hasattr(stream, "__cuda_stream__"):
        return int(stream.__cuda_stream__()[1])
    raise TypeError(f"stream: a {type(stream).__name__} is not a stream of CUDA")


def _kind_of_tensor(tensor: typing.Any) -> tuple[typing.Any, ...]:
    """What a tensor of torch must share with another, so that the same launch takes it."""
    return (tensor.device, tensor.dtype, tensor.shape, tensor.stride(), tensor.requires_grad, tensor.is_neg())


def _is_plain(tensor: typing.Any) -> bool:
    """Whether its device, type and shape say all of its kind."""
    try:
        return tensor.is_contiguous() and not tensor.requires_grad and not tensor.is_neg()
    except (NotImplementedError, RuntimeError):  # of a sparse one
        return False


class _Words:
    """grout_arguments of one OS thread: addresses and sizes, in turn."""

    def __init__(self, count: int) -> None:
        self._bytes = bytearray(16 * max(count, 1))
        self._pack = struct.Struct(f"={2 * count}Q").pack_into
        self._buffer = ffi.from_buffer(self._bytes)
        self.pointer = ffi.cast("grout_argument *", self._buffer)

    def fill(self, words: list[int]) -> None:
        self._pack(self._bytes, 0, *words)


class Launcher:
    """The launches of one kernel. What was checked and compiled for arrays of the same kind is remembered, so that a
    launch looks at the kind of each array and passes addresses on."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._lock = threading.Lock()
        self._prepared: dict[tuple[object, ...], tuple[typing.Any, ...]] = {}
        self._again: dict[tuple[object, ...], tuple[typing.Any, ...]] = {}  # of those, what launch_again looks for
        self._param_count = len(kernel.params)
        self._own = threading.local()

    def launch_again(self, tensors: typing.Sequence[typing.Any], stream: typing.Any) -> bool:
        """The short way, for plain tensors of torch alone, in kinds that have been launched with the default options,
        on the device that is current. False: nothing was done."""
        own = self._own.__dict__
        if "torch" not in own or len(tensors) != self._param_count or not tensors:
            return False
        torch = own["torch"]
        kinds: list[typing.Any] = []
        words: list[int] = []
        for tensor in tensors:
            if type(tensor) is not torch.tensor or not _is_plain(tensor):
                return False
            kinds += (tensor.get_device(), tensor.dtype, tensor.shape)
            words += (tensor.data_ptr(), 0)
        handle, sizes = self._again.get(tuple(kinds), (None, ()))
        device = kinds[0]
        if handle is None or device not in own["used"] or device != torch.find_device():
            return False
        words[1::2] = sizes
        own["arguments"].fill(words)
        self._put(handle, own["arguments"].pointer, len(sizes),
                  torch.find_stream(device) if stream is None else _stream_pointer(stream))
        return True

    def _remember(self, values: typing.Sequence[typing.Any], prepared: tuple[typing.Any, tuple[int, ...]]) -> None:
        """So that launch_again finds them."""
        kinds: list[object] = []
        for value in values:
            if not _is_plain(value):
                return
            kinds += (value.get_device(), value.dtype, value.shape)
        with self._lock:
            if any(prepared is kept for kept in self._prepared.values()):
                self._again[tuple(kinds)] = prepared

    def launch(self, arguments: typing.Mapping[str, typing.Any], defines: typing.Mapping[str, tuple[typing.Any, str]],
               stream: object, options: LaunchOptions) -> None:
        torch = _find_torch()
        tensor_type: typing.Any = torch.tensor if torch is not None else ()
        for param in self._kernel.params:
            if arguments.get(param.name) is None:
                raise ArgumentError(f"@{self._kernel.name}, {param}: a launch needs all of them")
        tensor = next((value for value in arguments.values() if isinstance(value, tensor_type)), None)
        device = tensor.device.index if tensor is not None and tensor.is_cuda else None
        with self._use_device(torch, device):
            pointer = (_stream_pointer(stream) if stream is not None else
                       torch.find_stream(device) if torch is not None and device is not None else 0)
            kinds: list[object] = [options, tuple(defines.items())]
            addresses: list[typing.Any] = []
            keep: list[object] = []
            for param in self._kernel.params:
                value = arguments[param.name]
                if param.direction == "scalar":
                    scalar = self._make_scalar(param, value)
                    keep.append(scalar)
                    addresses.append(ffi.cast("uintptr_t", scalar))
                elif isinstance(value, tensor_type):
                    kinds.append(_kind_of_tensor(value))
                    addresses.append(value.data_ptr())
                else:
                    view, its_device = self._view(param, value, pointer)
                    kinds.append((view.dtype, view.shape, view.strides, its_device, view.is_read_only))
                    addresses.append(view.address)
                    keep.append(view)
            key = tuple(kinds)
            prepared = self._prepared.get(key) or self._prepare(key, arguments, defines, options, pointer)
            handle, sizes = prepared
            array = ffi.new("grout_argument[]", max(len(sizes), 1))
            for argument, address, size in zip(array, addresses, sizes):
                argument.data, argument.size = ffi.cast("void *", address), size
            self._put(handle, array, len(sizes), pointer)
            del keep
            values = [arguments[param.name] for param in self._kernel.params]
            if options == DEFAULT_OPTIONS and not defines and all(type(value) is tensor_type for value in values):
                self._remember(values, prepared)

    def _put(self, handle: typing.Any, arguments: typing.Any, count: int, stream: int) -> None:
        diags = self._get_diags()
        if not lib.grout_gpu_kernel_launch(handle, arguments, count, ffi.cast(_VOID, stream), diags.list):
            del self._own.diags
            diags.fail(ArgumentError if diags.has(lib.GROUT_DIAG_BAD_ARGUMENT) else GroutError)

    def _get_diags(self) -> Diags:
        if not hasattr(self._own, "diags"):
            self._own.diags = Diags()
        return self._own.diags

    def _view(self, param: Param, value: typing.Any, stream: int) -> tuple[_arrays.View, int | None]:
        try:
            return device_view(value, stream)
        except ArgumentError as error:
            raise ArgumentError(f"@{self._kernel.name}, {param}: {error}") from None

    def _make_scalar(self, param: Param, value: typing.Any) -> typing.Any:
        try:
            data = _arrays.scalar_bytes(value, param.dtype)
        except ArgumentError as error:
            raise ArgumentError(f"@{self._kernel.name}, {param}: {error}") from None
        buffer = ffi.new("uint64_t[2]")
        ffi.memmove(buffer, data, len(data))
        return buffer

    def _prepare(self, kinds: tuple[object, ...], arguments: typing.Mapping[str, typing.Any],
                 defines: typing.Mapping[str, tuple[typing.Any, str]], options: LaunchOptions,
                 stream: int) -> tuple[typing.Any, tuple[int, ...]]:
        """Checks arrays of these kinds, and compiles and loads the kernel for them."""
        kernel, defines, views = self._kernel, dict(defines), {}
        devices: set[int] = set()
        for param in kernel.params:
            if param.direction != "scalar":
                views[param.name], device = self._view(param, arguments[param.name], stream)
                devices |= {device} if device is not None else set()
        if len(devices) > 1:
            raise ArgumentError(f"@{kernel.name}: its arrays lie on several GPUs: {sorted(devices)}")
        kernel.find_sizes(views, defines)
        bound = kernel.bind(defines, None)
        for index, param in enumerate(kernel.params):
            if param.direction != "scalar":
                kernel.check_view(bound, index, views[param.name], param.direction in ("out", "inout"))
        sizes = tuple(kernel.get_bytes(bound, index) for index in range(len(kernel.params)))
        with self._lock:
            if kinds not in self._prepared:
                while len(self._prepared) >= PREPARED_MAX:
                    self._prepared.pop(next(iter(self._prepared)))
                    self._again.clear()
                self._prepared[kinds] = (_make_kernel(bound, options), sizes)
            return self._prepared[kinds]

    def _use_device(self, torch: _Torch | None, device: int | None) -> contextlib.AbstractContextManager[object]:
        """Makes the context of torch's device current in this OS thread; of others that is the caller's to do."""
        if device is None:
            return contextlib.nullcontext()
        cuda = sys.modules["torch"].cuda
        used = self._own.__dict__.setdefault("used", set())
        if device not in used:
            with cuda.device(device):
                cuda.current_stream(device).query()  # what makes a context current where none was
            used.add(device)
            self._own.torch = torch
            self._own.arguments = _Words(self._param_count)
        return contextlib.nullcontext() if cuda.current_device() == device else cuda.device(device)
