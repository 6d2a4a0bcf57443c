# SPDX-License-Identifier: Apache-2.0
"""PTX on the CPU: a text as any compiler writes it, run by a machine that knows PTX by its ISA alone.

    module = grout.ptx.load("kernel.ptx")
    module["add"].run(x, y, 256, grid=2, block=128)
"""
from __future__ import annotations

import dataclasses
import itertools
import os
import typing

import numpy

from . import _arrays
from ._diagnostics import ArgumentError, Diagnostic, Diags, GroutError, KernelError, RunError
from ._launch import Progress
from ._library import ffi, lib, take_text, text_of, visible
from ._limits import (
    COUNT32_MAX,
    COUNT_MAX,
    encode_text,
    get_host_memory,
    read_count,
    read_flag,
    read_seconds,
    read_text,
)
from ._watch import Watch, nested

__all__ = ["Entry", "Module", "Stats", "TensorMap", "load", "parse"]

MAP_BYTES = 128
TEXT_MAX = (1 << 31) - 1  # bytes of a text
TELL_SECONDS = 0.03  # between two calls of progress=
TIMINGS = {"random": "RANDOM", "lazy": "LATE", "eager": "EARLY"}
FLOATS = {2: "<f2", 4: "<f4", 8: "<f8"}
# What the machine may put into an array for a second run, by the array's type (grout_ptx_elements).
ELEMENTS = {"bool": "I8", "i8": "I8", "u8": "I8", "i16": "I16", "u16": "I16", "i32": "I32", "u32": "I32", "i64": "I64",
            "u64": "I64", "f8e4m3": "E4M3", "f8e5m2": "E5M2", "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64"}
# The CUDA driver's numbers (CUtensorMapDataType); what has 8 bits or less goes as bytes.
MAP_TYPES = {"u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9}
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
PROMOTIONS = {0: 0, 64: 1, 128: 2, 256: 3}

Size = typing.Union[int, typing.Sequence[int]]


@dataclasses.dataclass(frozen=True)
class Stats:
    """What a run has done. warnings: of find_races, two writes that leave the same values. peak_bytes: the most memory
    that the machine took, beside the arrays."""

    warp_instructions: int
    lane_instructions: int
    async_operations: int
    warnings: tuple[Diagnostic, ...] = ()
    peak_bytes: int = 0


@dataclasses.dataclass(frozen=True, eq=False)
class TensorMap:
    """A tensor map of an array, as cuTensorMapEncodeTiled makes one: dimensions as NumPy counts them, the last the
    fastest. box: of the copies; swizzle: 0, 32, 64 or 128 bytes; fill: "zeros" or "nan", outside the array."""

    array: object
    box: tuple[int, ...]
    swizzle: int = 0
    fill: str = "zeros"
    element_strides: tuple[int, ...] | None = None

    def encode(self, address: int) -> bytes:
        view = _arrays.view_of(self.array)
        rank = len(view.shape)
        strides = self.element_strides or (1,) * rank
        if not 1 <= rank <= 5 or len(self.box) != rank or len(strides) != rank:
            raise ArgumentError(f"a tensor map has 1 to 5 dimensions, and a box and element strides of as many; here "
                                f"they are {rank}, {len(self.box)} and {len(strides)}")
        if not isinstance(self.swizzle, int) or self.swizzle not in SWIZZLES or self.fill not in ("zeros", "nan"):
            raise ArgumentError("swizzle is 0, 32, 64 or 128, and fill is 'zeros' or 'nan'")
        box = [read_count("box", size, 1, COUNT32_MAX) for size in self.box]
        strides = tuple(read_count("element_strides", stride, 1, COUNT32_MAX) for stride in strides)
        if not _arrays.is_contiguous(view):
            raise ArgumentError("the array of a tensor map is row-major without gaps: take numpy.ascontiguousarray(..)")
        bytes_before = [view.itemsize * int(numpy.prod(view.shape[dim + 1:], dtype=numpy.int64)) for dim in range(rank)]
        return encode_map({"address": address, "type": MAP_TYPES.get(view.dtype, 0), "rank": rank,
                           "swizzle": SWIZZLES[self.swizzle], "fill": self.fill == "nan", "dims": view.shape[::-1],
                           "strides_bytes": bytes_before[-2::-1], "box": box[::-1],
                           "element_strides": list(strides[::-1])})


def encode_map(fields: dict[str, object]) -> bytes:
    """The bytes of a tensor map, from the fields of a grout_ptx_tensor."""
    tensor = ffi.new("grout_ptx_tensor *", {name: tuple(value) if isinstance(value, list) else value
                                            for name, value in fields.items()})
    out = ffi.new("uint8_t[]", MAP_BYTES)
    diags = Diags()
    if not lib.grout_ptx_encode_tensor(tensor, out, diags.list):
        diags.fail(ArgumentError)
    return bytes(ffi.buffer(out))


class Memory:
    """The global memory of the machine: copies of arrays, within max_memory. 0: within what this machine has."""

    def __init__(self, max_memory: int = 0) -> None:
        self._max, self._used = max_memory or get_host_memory(), 0
        self._memory = ffi.gc(lib.grout_ptx_memory_new(), lib.grout_ptx_memory_free)
        if self._memory == ffi.NULL:
            raise MemoryError("grout: no memory for arrays")

    @property
    def pointer(self) -> typing.Any:
        return self._memory

    def add(self, address: int, size: int, dtype: str = "") -> int:
        """Where a copy of bytes of this process lies. dtype: of an input that may be another one in a second run."""
        self._used += lib.grout_ptx_memory_get_cost(size)
        if 0 < self._max < self._used:
            raise MemoryError(f"grout: the arrays take {self._used} bytes on the PTX emulator, two for each of "
                              f"theirs, and max_memory is {self._max}")
        found = lib.grout_ptx_memory_add(self._memory, ffi.cast("void *", address), size)
        if found == 0:
            raise MemoryError(f"grout: no memory for an array of {size} bytes")
        elements = getattr(lib, f"GROUT_PTX_ELEMENTS_{ELEMENTS.get(dtype, 'FIXED')}")
        lib.grout_ptx_memory_set_elements(self._memory, found, elements)
        return found

    @property
    def left(self) -> int:
        """What the arrays leave of max_memory to the machine; 0: there is no limit."""
        return max(self._max - self._used, 1) if self._max > 0 else 0

    def read(self, found: int, address: int, size: int) -> int:
        """Copies bytes back; returns how many of them have no value."""
        undefined = ffi.new("size_t *")
        if not lib.grout_ptx_memory_read(self._memory, found, ffi.cast("void *", address), size, undefined):
            raise RunError("an array of the machine is gone")
        return undefined[0]


class _Arguments:
    """Arguments of one launch as the machine takes them; an array that is given twice is one."""

    def __init__(self, max_memory: int) -> None:
        self.memory = Memory(max_memory)
        self._places: dict[tuple[int, int], int] = {}
        self._written: list[tuple[str, _arrays.View, int]] = []

    def add_array(self, name: str, value: typing.Any) -> int:
        view = _arrays.view_of(value)
        if not _arrays.is_contiguous(view):
            raise ArgumentError(f"the strides are {view.strides} bytes; the machine takes arrays without gaps: take "
                                "numpy.ascontiguousarray(..)")
        key = (view.address, view.nbytes)
        if key not in self._places:
            for address, size in self._places:
                if address < view.address + view.nbytes and view.address < address + size:
                    raise ArgumentError("it has bytes in common with another argument: the machine copies arrays one "
                                        "by one; pass the whole array and an offset")
            self._places[key] = self.memory.add(view.address, view.nbytes, view.dtype)
            if not view.is_read_only:
                self._written.append((name, view, self._places[key]))
        return self._places[key]

    def make_bytes(self, name: str, value: typing.Any, size: int) -> bytes:
        """One parameter of this many bytes."""
        if isinstance(value, TensorMap):
            data = value.encode(self.add_array(name, value.array))
        elif isinstance(value, (bytes, bytearray)):
            data = bytes(value)
        elif isinstance(value, numpy.generic):  # float64 is a float, too
            data = value.tobytes()
        elif isinstance(value, int):
            data = _int_bytes(value, size)
        elif isinstance(value, float) and size in FLOATS:
            data = numpy.array(value, FLOATS[size]).tobytes()
        else:
            data = self.add_array(name, value).to_bytes(8, "little")
        if len(data) != size:
            raise ArgumentError(f"it has {len(data)} bytes, and the parameter {size}")
        return data

    def copy_back(self) -> None:
        for name, view, place in self._written:
            undefined = self.memory.read(place, view.address, view.nbytes)
            if undefined > 0:
                raise RunError(f"{undefined} bytes of {name} were written with values that nothing has set")


def _int_bytes(value: int, size: int) -> bytes:
    if not -(1 << 8 * size - 1) <= value < 1 << 8 * size:
        raise ArgumentError(f"{value} does not fit {size} bytes")
    return (int(value) & (1 << 8 * size) - 1).to_bytes(size, "little")


def _make_sizes(name: str, value: Size) -> tuple[int, int, int]:
    more = ", or up to three"
    if not isinstance(value, (tuple, list)):
        return read_count(name, value, 1, COUNT32_MAX, more), 1, 1
    if not 1 <= len(value) <= 3:
        raise ValueError(f"{name}: it is a whole number{more}, not {len(value)}")
    sizes = [read_count(name, size, 1, COUNT32_MAX, more) for size in value]
    return (*sizes, 1, 1)[:3]  # type: ignore[return-value]


@dataclasses.dataclass(frozen=True)
class Launch:
    """What a launch is beside its arguments."""

    grid: Size = 1
    block: Size = 1
    cluster: Size | None = None
    shared_bytes: int = 0
    seed: int = 0
    timing: str = "random"
    max_steps: int = 0
    find_races: bool = False
    timeout: float | None = None
    progress: typing.Callable[[Progress], object] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.timing, str) or self.timing not in TIMINGS:
            raise ValueError(f"timing={self.timing!r}: it is 'random', 'lazy' or 'eager'")
        object.__setattr__(self, "grid", _make_sizes("grid", self.grid))
        object.__setattr__(self, "block", _make_sizes("block", self.block))
        object.__setattr__(self, "cluster", None if self.cluster is None else _make_sizes("cluster", self.cluster))
        for name, most in (("shared_bytes", COUNT32_MAX), ("seed", COUNT_MAX), ("max_steps", COUNT_MAX)):
            object.__setattr__(self, name, read_count(name, getattr(self, name), 0, most))
        object.__setattr__(self, "find_races", read_flag("find_races", self.find_races))
        object.__setattr__(self, "timeout", read_seconds("timeout", self.timeout))

    def run(self, module: Module, entry: str | None, memory: Memory, parameters: bytes) -> Stats:
        data = ffi.new("uint8_t[]", parameters or b"\0")
        name = ffi.new("char[]", read_text("entry", entry)) if entry is not None else ffi.NULL
        watch = Watch(self.timeout)
        diags = Diags(watch=watch)
        on_progress = watch.make_progress(self._make_tell(watch)) if self.progress is not None else ffi.NULL
        launch = ffi.new("grout_ptx_launch *", {
            "module": module.pointer, "entry": name, "memory": memory.pointer, "grid": self.grid, "block": self.block,
            "dynamic_shared_bytes": self.shared_bytes, "parameters": data, "parameter_bytes": len(parameters),
            "seed": self.seed, "max_steps": self.max_steps, "finds_races": self.find_races, "max_memory": memory.left,
            "progress": on_progress, "timing": getattr(lib, f"GROUT_PTX_TIMING_{TIMINGS[self.timing]}")})
        if self.cluster is not None:
            launch.cluster = self.cluster
        result = ffi.new("grout_ptx_result *")
        with nested(watch):
            is_done = lib.grout_ptx_launch_run(launch, result, diags.list)
        watch.raise_error(diags.has(lib.GROUT_DIAG_INTERRUPTED))
        if watch.cut is not None:
            raise RunError(f"{entry or module.name}: {watch.cut}; the run did not reach its end")
        if not is_done:
            diags.fail(ArgumentError if diags.has(lib.GROUT_DIAG_BAD_ARGUMENT) else RunError)
        return Stats(result.warp_instructions, result.lane_instructions, result.async_operations, tuple(diags.take()),
                     result.peak_bytes)

    def _make_tell(self, watch: Watch) -> typing.Callable[[typing.Any], None]:
        """Tells the caller's progress some times in a second."""
        last = [0.0]

        def tell(progress: typing.Any) -> None:
            now = watch.seconds
            if self.progress is not None and now - last[0] >= TELL_SECONDS:
                last[0] = now
                self.progress(Progress(progress.ctas_done, progress.ctas_total, progress.steps, now))

        return tell


class Entry:
    """A kernel of a module."""

    def __init__(self, module: Module, name: str) -> None:
        self.module, self.name = module, name
        self.layout: list[tuple[int, int]] = []  # of each parameter its offset and size, in bytes
        offset, size = ffi.new("size_t *"), ffi.new("size_t *")
        entry = name.encode()
        while lib.grout_ptx_module_get_parameter(module.pointer, entry, len(self.layout), offset, size):
            self.layout.append((offset[0], size[0]))

    def __repr__(self) -> str:
        return f"<grout.ptx.Entry {self.name}: parameters of {', '.join(str(size) for _, size in self.layout)} bytes>"

    def run(self, *arguments: object, grid: Size = 1, block: Size = 1, cluster: Size | None = None,
            shared_bytes: int = 0, seed: int = 0, timing: str = "random", max_steps: int = 0, max_memory: int = 0,
            timeout: float | None = None, find_races: bool = False,
            progress: typing.Callable[[Progress], object] | None = None) -> Stats:
        """Runs the kernel to its end. Arrays that can be written are, where they lie.

        An argument is an array (its address goes into the parameter), a TensorMap, a number (of NumPy: with its own
        type; of Python: as wide as the parameter), or bytes. shared_bytes: dynamic shared memory. seed: of the order
        of the warps. timing: when what is asynchronous happens: "random", "lazy" or "eager". max_steps: instructions
        of warps, 0 for 4 * 10^9. max_memory: bytes that the machine may take, its copies of the arrays, of two bytes
        for each of theirs, and the search for races included; 0: as many as this machine has. Beyond is a MemoryError.
        timeout: in seconds; beyond is a RunError. progress is called some times in a second; what it raises ends the
        run, as Ctrl-C does. A run that no GPU could do, or that hangs, is a RunError with the instruction's place.
        find_races: so is a run in which two accesses of the same bytes have no order (code ptx-race), whatever the
        order was in which they happened. Two writes that leave the same values, in this run and in one with other
        inputs, are a warning of what is returned (same-value-race).
        """
        if len(arguments) != len(self.layout):
            raise ArgumentError(f"{self.name} has {len(self.layout)} parameters, and {len(arguments)} arguments are "
                                "given")
        launch = Launch(grid, block, cluster, shared_bytes, seed, timing, max_steps, find_races, timeout, progress)
        made = _Arguments(read_count("max_memory", max_memory))
        data = bytearray(sum(self.layout[-1]) if self.layout else 0)
        for index, (argument, (offset, size)) in enumerate(zip(arguments, self.layout)):
            name = f"parameter {index}"
            try:
                data[offset:offset + size] = made.make_bytes(name, argument, size)
            except ArgumentError as error:
                raise ArgumentError(f"{self.name}, {name}: {error}") from error.__cause__
        stats = launch.run(self.module, self.name, made.memory, bytes(data))
        made.copy_back()
        return stats


def _list_entries(module: typing.Any) -> typing.Iterator[str]:
    for index in itertools.count():
        name = lib.grout_ptx_module_get_entry_name(module, index)
        if name == ffi.NULL:
            return
        yield text_of(name)


class Module:
    """A text of PTX: module["k"] is an entry. str() is the text with numbers for names."""

    def __init__(self, text: str | bytes, name: str, timeout: float | None = None,
                 max_memory: int = 0) -> None:
        data = bytes(text) if isinstance(text, (bytes, bytearray, memoryview)) else encode_text(text)
        watch = Watch(read_seconds("timeout", timeout))
        diags = Diags(watch=watch)
        bounds = ffi.new("grout_ptx_bounds *",
                         {"max_memory": read_count("max_memory", max_memory) or get_host_memory()})
        module = lib.grout_ptx_parse_within(read_text("name", name), data, len(data), bounds, diags.list)
        watch.raise_error(diags.has(lib.GROUT_DIAG_INTERRUPTED))
        if watch.cut is not None:
            raise RunError(f"{name}: {watch.cut}; the text was not read to its end")
        if module == ffi.NULL:
            diags.fail(KernelError)
        self.name = name
        self.pointer = ffi.gc(module, lib.grout_ptx_module_free)
        self.entries: dict[str, Entry] = {entry: Entry(self, entry) for entry in _list_entries(module)}

    def __getitem__(self, name: str) -> Entry:
        if name not in self.entries:
            raise KeyError(f"'{self.name}' has no entry '{name}'; it has {', '.join(self.entries) or 'none'}")
        return self.entries[name]

    def __iter__(self) -> typing.Iterator[Entry]:
        return iter(self.entries.values())

    def __len__(self) -> int:
        return len(self.entries)

    def __str__(self) -> str:
        return take_text(lambda text: lib.grout_ptx_module_print(self.pointer, text))

    def __repr__(self) -> str:
        return f"<grout.ptx.Module {self.name!r}: {', '.join(self.entries)}>"

    def run(self, *arguments: object, **options: typing.Any) -> Stats:
        """Runs the only entry, with the options of Entry.run."""
        if len(self.entries) != 1:
            raise GroutError(f"'{visible(self.name)}' has {len(self.entries)} entries: "
                             f"{', '.join(self.entries) or 'none'}; take module[NAME].run(..)")
        return next(iter(self)).run(*arguments, **options)


def parse(text: str | bytes, name: str = "<ptx>", *, timeout: float | None = None,
          max_memory: int = 0) -> Module:
    """The module that a text is. name: of the file, in messages. timeout: in seconds; beyond is a RunError.
    max_memory: bytes that the module may take, 0: as many as this machine has; beyond is a MemoryError. Ctrl-C ends
    it."""
    return Module(text, name, timeout, max_memory)


def load(source: str | os.PathLike[str], *, timeout: float | None = None,
         max_memory: int = 0) -> Module:
    """A module from a file, or from a text: a str of several lines. The others are those of parse."""
    if isinstance(source, str) and "\n" in source:
        return parse(source, timeout=timeout, max_memory=max_memory)
    path = os.fspath(source)
    with open(path, "rb") as file:
        data = file.read(TEXT_MAX + 1)
    return parse(data, os.fsdecode(path), timeout=timeout, max_memory=max_memory)
