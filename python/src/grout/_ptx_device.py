# SPDX-License-Identifier: Apache-2.0
"""kernel.run(.., device="ptx"): what NVRTC makes of a kernel's CUDA, on the machine that knows PTX alone."""
from __future__ import annotations

import time
import typing
import warnings

import numpy

from . import ptx
from ._diagnostics import Diags, EmitError, RunError
from ._gpu import make_nvrtc
from ._launch import Options
from ._library import ffi, lib
from ._watch import TIME_IS_OVER

if typing.TYPE_CHECKING:
    from ._kernel import Emitted


class Clock:
    """What is left of a time, for one step after the other."""

    def __init__(self, timeout: float | None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def get_left(self, what: str) -> float | None:
        """Raises a RunError if there is none; what: has to be done."""
        left = None if self._end is None else self._end - time.monotonic()
        if left is not None and left <= 0:
            raise RunError(f"{what}: {TIME_IS_OVER}; it did not begin")
        return left


def compile_ptx(emitted: Emitted, pointer: typing.Any, arch: int, nvrtc: str | None, clock: Clock,
                max_memory: int) -> ptx.Module:
    """The PTX of an emitted kernel. What NVRTC does takes the time that it takes."""
    options, keep = make_nvrtc(nvrtc)
    options.is_in_process = True
    options.arch = arch
    binary = ffi.new("grout_binary *")
    diags = Diags(pointer)
    try:
        if not lib.grout_compile_cuda(emitted.source.encode(), emitted.kernel.encode(), lib.GROUT_BINARY_PTX, options,
                                      binary, diags.list):
            diags.fail(EmitError)
        name = f"{emitted.kernel}.ptx"
        return ptx.parse(ffi.buffer(binary.data, binary.size)[:], name, timeout=clock.get_left(name),
                         max_memory=max_memory)
    finally:
        lib.grout_binary_free(binary)
        del keep


def _make_contents(array: typing.Mapping[str, typing.Any]) -> numpy.ndarray[typing.Any, typing.Any]:
    """What an array of the manifest holds first, without an argument."""
    if "contents" in array:
        return numpy.frombuffer(bytes.fromhex(array["contents"]), numpy.uint8).copy()
    size = array["bytes"]
    pattern = bytes.fromhex(array["fill"][2:])[::-1] if "fill" in array else b"\0"
    return numpy.frombuffer((pattern * (size // len(pattern) + 1))[:size], numpy.uint8).copy()


class Device:
    """One launch: the manifest's arrays in the memory of the machine, and its parameters."""

    def __init__(self, manifest: typing.Mapping[str, typing.Any], arguments: typing.Mapping[str, tuple[int, int]],
                 max_memory: int) -> None:
        self.manifest, self.arguments = manifest, arguments
        self.memory = ptx.Memory(max_memory)
        self.places = {array["name"]: self._add_array(array) for array in manifest["arrays"]}
        self.workspaces = [self._add(_make_contents(workspace)) for workspace in manifest["workspaces"]]

    def _add(self, contents: numpy.ndarray[typing.Any, typing.Any]) -> int:
        return self.memory.add(contents.ctypes.data, contents.nbytes)

    def _add_array(self, array: typing.Mapping[str, typing.Any]) -> int:
        if array["direction"] == "out":
            return self._add(_make_contents(array))
        return self.memory.add(*self.arguments[array["name"]], array["dtype"])

    def _find(self, item: typing.Mapping[str, typing.Any]) -> int:
        """The address of the array or workspace that a parameter or a map names."""
        if "workspace" in item:
            return self.workspaces[item["workspace"]]
        which = item["array"]
        return self.places[self.manifest["arrays"][which]["name"] if isinstance(which, int) else which]

    def _encode_map(self, found: typing.Mapping[str, typing.Any]) -> bytes:
        numbers = ("dims", "strides_bytes", "box", "element_strides", "lower_corner", "upper_corner")
        fields = {name: found[name] for name in numbers if name in found}
        counts = ("channels_per_pixel", "pixels_per_column")
        fields.update((name, found[name]) for name in counts if name in found)
        return ptx.encode_map({**fields, "address": self._find(found), "rank": found["rank"],
                               "type": ptx.MAP_TYPES.get(found["dtype"], 0),
                               "interleave": found.get("interleave_bytes", 0) // 16,
                               "promotion": ptx.PROMOTIONS[found.get("l2_promotion_bytes", 128)],
                               "swizzle": ptx.SWIZZLES[found.get("swizzle_bytes", 0)],
                               "fill": found.get("oob_fill") == "nan", "is_im2col": found.get("mode") == "im2col"})

    def make_parameter(self, parameter: typing.Mapping[str, typing.Any], size: int) -> bytes:
        """The bytes of one parameter. The watchdog's are zeros: there is none."""
        kind = parameter["kind"]
        if kind == "tensor_map":
            return self._encode_map(self.manifest["tensor_maps"][parameter["map"]])
        if kind == "scalar":
            address, count = self.arguments[parameter["name"]]
            return bytes(ffi.buffer(ffi.cast("char *", address), count)).ljust(size, b"\0")
        if kind == "watchdog":
            return bytes(size)
        return self._find(parameter).to_bytes(8, "little")

    def run(self, module: ptx.Module, options: Options, find_races: bool, clock: Clock) -> None:
        entry = next(iter(module))
        data = b""
        for parameter, (offset, size) in zip(self.manifest["parameters"], entry.layout):
            data = data.ljust(offset, b"\0") + self.make_parameter(parameter, size)
        launch = ptx.Launch(self.manifest["grid"], self.manifest["block"], self.manifest["cluster"],
                            self.manifest["dynamic_smem_bytes"], options.seed, options.timing, options.max_steps,
                            find_races, clock.get_left(f"@{entry.name}"), options.progress)
        for warning in launch.run(module, entry.name, self.memory, data).warnings:
            warnings.warn(str(warning), RuntimeWarning, stacklevel=4)  # of the caller of kernel.run

    def read_back(self) -> None:
        for array in self.manifest["arrays"]:
            if array["direction"] != "in":
                undefined = self.memory.read(self.places[array["name"]], *self.arguments[array["name"]])
                if undefined > 0:
                    raise RunError(f"{undefined} bytes of %{array['name']} were written with values that nothing has "
                                   "set")
