# SPDX-License-Identifier: Apache-2.0
"""Kernels: loaded, bound to sizes, checked, run and emitted."""
from __future__ import annotations

import collections
import dataclasses
import difflib
import operator
import os
import re
import threading
import typing

import numpy

from . import _arrays
from ._allow import Allowance, read_allowances
from ._check import Check, Found, Given
from ._diagnostics import ArgumentError, Diagnostic, Diags, EmitError, GroutError, KernelError, RunError, make_place
from ._gpu import Launcher, make_launch_options
from ._launch import CUTS, Options, Progress
from ._library import ffi, lib, take_text, text_of, visible
from ._limits import encode_text, get_host_memory, read_count, read_flag, read_seconds, read_text
from ._report import Fix, Report, make_report, to_html
from ._search import search, sizes_search
from ._severity import read_levels

BOUND_MAX = 16  # bound modules that a module keeps
REPEAT_MAX = 64  # launches of check(repeat=)
SEEDS_MAX = 1024  # runs of check(seeds=)
FILE_MAX = 64 << 20  # GROUT_FILE_MAX
LAUNCH = re.compile(r"^launch @(\w+)\(", re.MULTILINE)
DIRECTIONS = {"GROUT_DIRECTION_IN": "in", "GROUT_DIRECTION_OUT": "out", "GROUT_DIRECTION_INOUT": "inout",
              "GROUT_DIRECTION_SCALAR": "scalar"}


@dataclasses.dataclass(frozen=True)
class Param:
    """A parameter of a kernel. dims: as written, 'N' or '64'; of a scalar ()."""

    name: str
    direction: str  # "in", "out", "inout" or "scalar"
    dtype: str
    dims: tuple[str, ...]

    def __str__(self) -> str:
        if self.direction == "scalar":
            return f"%{self.name}: {self.dtype}"
        return f"%{self.name}: {self.direction} {self.dtype}[{', '.join(self.dims)}]"


@dataclasses.dataclass(frozen=True)
class Emitted:
    """A kernel as CUDA. str() is the source."""

    kernel: str
    source: str  # CUDA C++ for sm_90a, self-contained, for NVRTC or nvcc
    manifest: dict[str, object]  # what a launch needs: schema grout-launch/1 (docs/gpu.md)

    def __str__(self) -> str:
        return self.source


@dataclasses.dataclass(frozen=True)
class Bound:
    """A kernel whose consts have values: verified. Only read, so that several OS threads may share it."""

    pointer: typing.Any
    kernel: int
    name: str
    warnings: tuple[Diagnostic, ...]


class Module:
    """A text with its kernels: module["k"]."""

    allowances: tuple[Allowance, ...]

    def __init__(self, text: str, name: str) -> None:
        data = encode_text(text)
        diags = Diags()
        file = read_text("name", name)
        name = file.decode()  # of a file it may be any bytes
        lib.grout_diags_add_source(diags.list, file, data, len(data))
        symbolic = lib.grout_parse(file, data, len(data), diags.list)
        if symbolic == ffi.NULL:
            diags.fail(KernelError)
        self._adopt(symbolic, name, data)
        self.allowances = read_allowances(text, name)

    @classmethod
    def _of_pointer(cls, symbolic: typing.Any, name: str) -> Module:
        """A module that was built: it takes the pointer over."""
        module = cls.__new__(cls)
        module._adopt(symbolic, name)
        return module

    def _adopt(self, symbolic: typing.Any, name: str, source: bytes | None = None) -> None:
        self.name = name
        self.is_file = False  # whether the text is that of a file of this name
        self._source = source
        self.python_sources: dict[str, bytes] = {}  # of one that was built: files of the places, and their texts
        self.allowances = ()
        self.unsaid: frozenset[str] = frozenset()  # codes of warnings that say nothing of this module
        self._symbolic = ffi.gc(symbolic, lib.grout_module_free)
        self._lock = threading.Lock()
        self._bound: dict[tuple[object, ...], tuple[typing.Any, tuple[Diagnostic, ...]]] = collections.OrderedDict()
        self.consts: dict[str, str] = {}
        for index in range(1, lib.grout_module_get_const_count(self._symbolic)):
            const = lib.grout_module_get_const(self._symbolic, index)
            self.consts[self._string(const.name)] = self._expr(const.expr)
        self.kernels: dict[str, Kernel] = {}
        for index in range(1, lib.grout_module_get_kernel_count(self._symbolic)):
            kernel = Kernel(self, index)
            self.kernels[kernel.name] = kernel

    @property
    def source(self) -> bytes:
        """The text that the module is of; of one that was built, as it is printed."""
        if self._source is None:
            self._source = str(self).encode("utf-8", "surrogateescape")
        return self._source

    def _string(self, string_id: int) -> str:
        return text_of(lib.grout_module_get_string(self._symbolic, string_id))

    def _expr(self, expr: int) -> str:
        return take_text(lambda text: lib.grout_expr_print(self._symbolic, expr, text))

    def __getitem__(self, name: str) -> Kernel:
        kernel = self.kernels.get(name.lstrip("@"))
        if kernel is None:
            raise KeyError(f"'{self.name}' has no kernel '{name}'{_suggest(name, self.kernels)}")
        return kernel

    @property
    def launches(self) -> LaunchList | None:
        """The launch list of the text; None: it has none."""
        names = LAUNCH.findall(str(self))  # in canonical form each launch has a line
        return LaunchList(self, [self.kernels[name] for name in names]) if names else None

    def __iter__(self) -> typing.Iterator[Kernel]:
        return iter(self.kernels.values())

    def __len__(self) -> int:
        return len(self.kernels)

    def __str__(self) -> str:
        return take_text(lambda text: lib.grout_module_print(self._symbolic, text))

    def __repr__(self) -> str:
        return f"<grout.Module {self.name!r}: {', '.join('@' + name for name in self.kernels)}>"

    def _repr_html_(self) -> str:
        return to_html(str(self) if self._source is None else visible(self._source.decode("utf-8", "replace")))

    def __reduce__(self) -> tuple[typing.Any, ...]:
        """As a text: of one that was built, as it is printed, and places are lines of that."""
        return _load_pickled, (self.source, self.name, self.is_file, self.unsaid)

    def _bind(self, defines: dict[str, tuple[typing.Any, str]],
              arch: str | None) -> tuple[typing.Any, tuple[Diagnostic, ...]]:
        """The module with these values of consts, by name with their origins, and the verifier's warnings."""
        arch_out = ffi.new("grout_arch *", lib.GROUT_ARCH_OWN)
        if arch is not None and (not isinstance(arch, str) or "\0" in arch or
                                 not lib.grout_arch_find(arch.encode("utf-8", "replace"), arch_out)):
            raise ValueError(f"arch={arch!r}: it is 'sm_90a', 'sm_100a', 'sm_103a', 'sm_110a' or 'any'")
        key = (arch, tuple(sorted((name, type(value), value) for name, (value, _) in defines.items())))
        with self._lock:
            if key not in self._bound:
                self._bound[key] = self._bind_anew(defines, arch_out[0])
                while len(self._bound) > BOUND_MAX:
                    self._bound.pop(next(iter(self._bound)))
            return self._bound[key]

    def _bind_anew(self, defines: dict[str, tuple[typing.Any, str]],
                   arch: int) -> tuple[typing.Any, tuple[Diagnostic, ...]]:
        diags = Diags(self._symbolic)
        keep = []
        array = ffi.new("grout_define[]", max(len(defines), 1))
        for define, (name, (value, origin)) in zip(array, defines.items()):
            keep += [ffi.new("char[]", name.encode()), ffi.new("char[]", origin.encode())]
            define.name, define.origin = keep[-2:]
            define.is_float = isinstance(value, float)
            define.number = float(value)
            if not define.is_float:
                define.integer = value
        bound = lib.grout_module_bind(self._symbolic, array, len(defines), diags.list)
        if bound == ffi.NULL:
            diags.fail(KernelError)
        bound = ffi.gc(bound, lib.grout_module_free)
        if not lib.grout_verify(bound, arch, diags.list):
            diags.fail(KernelError)
        return bound, tuple(said for said in diags.take() if said.code not in self.unsaid)


class Kernel:
    """A kernel: check it, run it, emit it.

    Arrays come in the order of the parameters or by their names, consts by their names. Consts that are dimensions of
    given arrays need no value. A parameter or const that is called like an option is given in values={..}.
    """

    is_list = False  # whether it is the launch list of a file

    def __init__(self, module: Module, index: int) -> None:
        self.module = module
        self._index = index
        symbolic = module._symbolic
        self._facts = lib.grout_module_get_kernel(symbolic, index)
        self.name: str = module._string(self._facts.name)
        self._places = [(index, number) for number in range(self._facts.param_count)]
        self.params: tuple[Param, ...] = tuple(self._make_param(i) for i in range(len(self._places)))
        self._launcher = Launcher(self)

    def _get_param(self, pointer: typing.Any, index: int) -> typing.Any:
        """A parameter in the module, or in one that was bound."""
        kernel, number = self._places[index]
        return lib.grout_module_get_param(pointer, lib.grout_module_get_kernel(pointer, kernel), number)

    def _fill_default(self, bound: Bound, index: int, address: int) -> None:
        kernel, number = self._places[index]
        lib.grout_param_fill_default(bound.pointer, lib.grout_module_get_kernel(bound.pointer, kernel), number,
                                     ffi.cast("void *", address))

    def _make_param(self, index: int) -> Param:
        symbolic = self.module._symbolic
        param = self._get_param(symbolic, index)
        name = self.module._string(lib.grout_module_get_value(symbolic, param.value).name)
        direction = DIRECTIONS[ffi.typeof("grout_direction").elements[param.direction]]
        if param.object == 0:
            return Param(name, direction, _arrays.dtype_text(param.dtype), ())
        written = lib.grout_module_get_object(symbolic, param.object).type
        dims = tuple(self.module._expr(written.dims[i]) for i in range(written.rank))
        return Param(name, direction, _arrays.dtype_text(written.dtype), dims)

    @property
    def consts(self) -> dict[str, str]:
        """The consts of the file, with what they are unless they are given a value."""
        return self.module.consts

    def __repr__(self) -> str:
        return f"<grout.Kernel @{self.name}({', '.join(map(str, self.params))})>"

    def _repr_html_(self) -> str:
        lines = [*map(str, self.params), *(f"const {name} = {value}" for name, value in self.consts.items())]
        return to_html("\n    ".join([f"\033[1m@{self.name}\033[0m of {visible(self.module.name)}", *lines]))

    def __reduce__(self) -> tuple[typing.Any, ...]:
        return operator.getitem, (self.module, self.name)

    @property
    def page(self) -> tuple[str, bytes]:
        """Name and text of the file that reports show: of a kernel that was built, the one in which it was."""
        place = make_place(lib.grout_module_get_place(self.module._symbolic, self._facts.loc))
        text = self.module.python_sources.get(place.file) if place is not None else None
        return (self.module.name, self.module.source) if text is None or place is None else (place.file, text)

    # ---- what a call gives ------------------------------------------------------------------------------------------

    def _sort(self, arrays: typing.Sequence[object], keywords: typing.Mapping[str, object],
              values: typing.Mapping[str, object] | None) -> tuple[
            dict[str, typing.Any], dict[str, tuple[typing.Any, str]]]:
        """Arguments by parameter, and values by const."""
        arguments: dict[str, object] = {}
        defines: dict[str, tuple[object, str]] = {}
        names = [param.name for param in self.params]
        if len(arrays) > len(names):
            raise TypeError(f"@{self.name} has {len(names)} parameters, and {len(arrays)} arrays are given")
        arguments.update(zip(names, arrays))
        for name, value in [*keywords.items(), *(values or {}).items()]:
            if name in arguments or name in defines:
                raise TypeError(f"@{self.name}: %{name} is given twice" if name in arguments else
                                f"@{self.name}: const {name} is given twice")
            if name in names:
                arguments[name] = value
            elif name in self.module.consts:
                defines[name] = (_make_const(name, value), "given")
            else:
                raise TypeError(f"@{self.name} has no parameter, const or option '{name}'"
                                f"{_suggest(name, [*names, *self.module.consts])}")
        return {name: value for name, value in arguments.items() if value is not None}, defines

    def _view(self, name: str, value: typing.Any) -> _arrays.View:
        try:
            return _arrays.view_of(value)
        except ArgumentError as error:
            raise ArgumentError(f"@{self.name}, %{name}: {error}") from error.__cause__

    def find_sizes(self, views: dict[str, _arrays.View], defines: dict[str, tuple[typing.Any, str]]) -> None:
        """Sizes of arrays are the values of the consts that are their dimensions; a given value wins."""
        source: dict[str, str] = {}
        for index, param in enumerate(self.params):
            view = views.get(param.name)
            facts = self._get_param(self.module._symbolic, index)
            if view is None or len(view.shape) != len(param.dims):
                continue
            info = lib.grout_dtype_get_info(_arrays.dtype_number(param.dtype))
            is_packed = lib.grout_module_get_object(self.module._symbolic, facts.object).is_packed
            for dim, size in enumerate(view.shape):
                if dim == len(view.shape) - 1 and view.dtype in ("u8", "i8"):
                    size = size * 8 // info.bits if is_packed else size * info.packed  # bytes of several elements
                const = lib.grout_param_get_dim_const(self.module._symbolic, facts, dim)
                if const == 0:
                    continue
                name = self.module._string(lib.grout_module_get_const(self.module._symbolic, const).name)
                here = f"dimension {dim} of %{param.name}"
                if name not in defines:
                    defines[name] = (size, here)
                    source[name] = here
                elif name in source and defines[name][0] != size:
                    raise ArgumentError(f"@{self.name}: const {name} is {defines[name][0]} by {source[name]} and "
                                        f"{size} by {here}")

    def _bind(self, arguments: dict[str, typing.Any], defines: dict[str, tuple[typing.Any, str]],
              arch: str | None) -> tuple[Bound, dict[str, _arrays.View]]:
        views = {param.name: self._view(param.name, arguments[param.name]) for param in self.params
                 if param.name in arguments and param.direction != "scalar"}
        self.find_sizes(views, defines)
        return self.bind(defines, arch), views

    def check_view(self, bound: Bound, index: int, view: _arrays.View, is_written: bool) -> None:
        param = self.params[index]
        type_ = self._get_type(bound, index)
        info = lib.grout_dtype_get_info(type_.dtype)
        shape = tuple(type_.dims[i] for i in range(type_.rank))
        wanted = f"{param.dtype}[{', '.join(map(str, shape))}]"
        name = f"@{self.name}, {param}"

        def refuse(why: str) -> typing.NoReturn:
            raise ArgumentError(f"{name}: {why}")

        given = f"{view.dtype}[{', '.join(map(str, view.shape))}]"
        if type_.is_expanded or info.packed > 1:
            packed = (*shape[:-1], shape[-1] * info.bits // 8)
            if view.dtype not in ("u8", "i8") or view.shape != packed:
                refuse(f"{given} is given; {wanted} has {_explain_packing(info)}: pass the bytes, uint8 of shape "
                       f"{packed}")
        else:
            is_raw = info.class_ == lib.GROUT_CLASS_FLOAT and info.bits <= 16 and view.dtype == f"u{8 * info.bytes}"
            if view.dtype != param.dtype and not is_raw:
                refuse(f"the elements are {view.dtype}, not {param.dtype}: take "
                       f".astype({_arrays.NAMES[param.dtype][0]!r}), or what your arrays call it")
            if view.shape != shape:
                refuse(f"the shape is {view.shape}, not {shape}{_explain_shape(param, shape, view.shape)}")
        if not _arrays.is_contiguous(view):
            refuse(f"the strides are {view.strides} bytes; the kernel takes row-major arrays without gaps: take "
                   "numpy.ascontiguousarray(..) or .contiguous()")
        if view.address % max(view.itemsize, 1) != 0:
            refuse(f"the elements begin at an address that is not a multiple of {view.itemsize}: take .copy()")
        if is_written and view.is_read_only:
            refuse(f"the kernel writes it, and this {type(view.owner).__name__} is read-only (arrays of JAX are; a "
                   "tensor that requires grad is): omit it to get a new array, or pass a copy")

    def _check_memory(self, bound: Bound, views: dict[str, _arrays.View], options: Options,
                      copies_outputs: bool) -> None:
        """Before any array is made: max_memory is for all of them, and the memory of this machine for those that are
        not given."""
        sizes = [self.get_bytes(bound, index) for index in range(len(self.params))]
        made = sum(size for param, size in zip(self.params, sizes)
                   if param.name not in views or (copies_outputs and param.direction != "in"))
        needed, most, what = ((sum(sizes), options.max_memory, "max_memory") if options.max_memory else
                              (made, get_host_memory(), "the memory of this machine"))
        if 0 < most < needed:
            raise MemoryError(f"@{self.name}: its arrays take {needed} bytes, and {what} is {most}")

    def _check_overlaps(self, views: dict[str, _arrays.View]) -> None:
        """An 'out' array is filled before the kernel begins: what else lies there would be lost."""
        for written in self.params:
            for other in self.params:
                a, b = views.get(written.name), views.get(other.name)
                if written.direction == "out" and written is not other and a is not None and b is not None and \
                        a.address < b.address + b.nbytes and b.address < a.address + a.nbytes:
                    raise ArgumentError(f"@{self.name}, {written}: it has bytes in common with %{other.name}, which "
                                        "would be lost: pass a copy")

    def _get_type(self, bound: Bound, index: int) -> typing.Any:
        param = self._get_param(bound.pointer, index)
        return lib.grout_module_get_type(bound.pointer, param.value)[0]

    def get_bytes(self, bound: Bound, index: int) -> int:
        return lib.grout_type_get_bytes(ffi.new("grout_type *", self._get_type(bound, index)))

    def _make_scalar(self, param: Param, value: typing.Any) -> typing.Any:
        """The bytes of a scalar, as a buffer in C."""
        try:
            data = _arrays.scalar_bytes(value, param.dtype)
        except ArgumentError as error:
            raise ArgumentError(f"@{self.name}, {param}: {error}") from None
        buffer = ffi.new("uint64_t[2]")
        ffi.memmove(buffer, data, len(data))
        return buffer

    def _make_argument(self, bound: Bound, index: int, arguments: dict[str, typing.Any], views: dict[str, _arrays.View],
                       keep: list[object]) -> tuple[int, int]:
        """Address and size of an argument's bytes. keep gets the owner."""
        param = self.params[index]
        size = self.get_bytes(bound, index)
        view = views.get(param.name)
        if view is not None:
            self.check_view(bound, index, view, param.direction in ("out", "inout"))
            keep.append(view)
            return view.address, size
        if param.direction == "scalar" and param.name in arguments:
            keep.append(self._make_scalar(param, arguments[param.name]))
            return int(ffi.cast("uintptr_t", keep[-1])), size
        buffer = numpy.empty(-(-size // 8), numpy.uint64)  # aligned for every element
        keep.append(buffer)
        if param.direction != "out":
            self._fill_default(bound, index, buffer.ctypes.data)
        return buffer.ctypes.data, size

    def _make_arguments(self, bound: Bound, arguments: dict[str, typing.Any],
                        views: dict[str, _arrays.View]) -> tuple[typing.Any, list[object]]:
        """The arguments in C, and what they borrow."""
        array = ffi.new("grout_argument[]", max(len(self.params), 1))
        keep: list[object] = [array]
        for index in range(len(self.params)):
            address, size = self._make_argument(bound, index, arguments, views, keep)
            array[index].data = ffi.cast("void *", address)
            array[index].size = size
        return array[0:len(self.params)], keep

    # ---- check ------------------------------------------------------------------------------------------------------

    def check(self, *arrays: object, values: typing.Mapping[str, object] | None = None, arch: str | None = None,
              schedule: str = "fair", timing: str = "lazy", numerics: str = "fast", seed: int = 0, sms: int = 0,
              resident: int = 0, threads: int = 1, max_steps: int = 0, max_memory: int = 0,
              timeout: float | None = None, non_finite: bool = False, full_arrays: bool = False,
              strict_fences: bool = False, max_findings: int = 20, writes: bool = False, repeat: int = 1,
              seeds: int = 0, explore: bool = True, severity: typing.Mapping[str, str] | None = None,
              progress: typing.Callable[[Progress], object] | None = None,
              print: typing.Callable[[str], object] | None = print,
              externs: typing.Mapping[str, typing.Callable[..., typing.Any]] | None = None,
              **keywords: object) -> Report:
        """Runs the kernel under the race checker: the report says what is wrong with it.

        Inputs that are not given are what their init(..) says, or small whole numbers. No array is written: outputs
        go elsewhere, unless writes=True says that the arrays given for them are written as run() does. The other
        options are those of 'grout check'. progress is called some times in a second; what it
        raises ends the check, as Ctrl-C does. print gets the lines of debug_print; None: nobody. externs: the
        functions that the kernel calls by name, for single elements. severity={'CODE': 'warning'} makes a warning of
        an error, or an error of a warning; with a lowered error the verdict is 'warning', never 'clean'.
        repeat=N launches the kernel N times in a row on the same arrays: counters and workspaces are as the launch
        before left them. The report is that of the first launch with the worst verdict.
        seeds=N makes N runs, with the seed and those after it, in one report: report.sizes has what each came to.
        Without schedule and timing both are random then.
        Where tests of barriers, atomics or launch control decide what happens, some other schedules are tried too,
        within a number of operations; not with explore=False, nor with repeat.
        """
        repeat = read_count("repeat", repeat, 1, REPEAT_MAX)
        options = Options(schedule, timing, numerics, seed, sms, resident, threads, max_steps, max_memory, timeout,
                          non_finite, full_arrays, progress, print, externs)
        check = self._prepare(options, arrays, keywords, values, arch=arch, strict_fences=strict_fences,
                              max_findings=max_findings, severity=severity, writes=writes)
        if repeat > 1:
            check.set("repeat", repeat)
        if read_count("seeds", seeds, 0, SEEDS_MAX) > 0:
            check.set("seeds", seeds)
        if not read_flag("explore", explore):
            check.set("no-explore")
        check.set("no-proposals")
        return make_report(self.name, check.bound.warnings, check.run(), max_findings, check.conditions, self.is_list)

    @search
    def explore(self, *arrays: object, budget: float | None = None, **keywords: object) -> Report:
        """As check, and if one run does not speak for every schedule, runs those that may end otherwise, for at most
        budget seconds (10). report.files has the schedules that fail."""
        return self._search("explore", arrays, keywords, budget)

    @search
    def minimise(self, *arrays: object, budget: float | None = None, **keywords: object) -> Report:
        """As check, with the smallest sizes and the shortest schedule that still show the first finding, looked for for
        at most budget seconds (10). report.command shows it again, report.remarks says what was made smaller."""
        return self._search("minimise", arrays, keywords, budget)

    @search
    def advice(self, *arrays: object, budget: float | None = None, **keywords: object) -> Report:
        """As check, and report.advice says which commits, waits, barriers and orders beyond the CTA this launch does
        not need: each was left out in a run of its own, for at most budget seconds (10). There is advice for launches
        without errors and warnings alone."""
        return self._search("advice", arrays, keywords, budget)

    @sizes_search
    def sweep(self, sizes: typing.Mapping[str, typing.Iterable[object]], *arrays: object, budget: float | None = None,
              **keywords: object) -> Report:
        """Checks with each of these values of consts, {"K": [64, 128]}, every combination of them, in one report:
        report.sizes has what each came to. budget: seconds for all."""
        if not isinstance(sizes, typing.Mapping) or not sizes:
            raise ValueError(f"sizes={sizes!r}: it is a dict of consts, such as {{'K': [64, 128]}}")
        consts = {name: self._make_axis(name, numbers) for name, numbers in sizes.items()}
        words = [f"{name}={','.join(map(repr, numbers))}" for name, numbers in consts.items()]
        first = {name: numbers[0] for name, numbers in consts.items()}
        return self._search(None, arrays, keywords, budget, {"sweep": words}, first)

    def _make_axis(self, name: str, numbers: typing.Iterable[object]) -> list[object]:
        """The values that a const is to take."""
        if name not in self.module.consts:
            raise TypeError(f"@{self.name} has no const '{name}'{_suggest(name, self.module.consts)}")
        made: list[object] = [_make_const(name, number) for number in numbers]
        if not made:
            raise ValueError(f"const {name}: no value is given")
        return made

    @search
    def fix(self, *arrays: object, budget: float | None = None, **keywords: object) -> Fix:
        """Looks for changes of the text that repair what check finds, for at most budget seconds (60): edits that
        findings offer, else insertions, moves and other words, each judged by the checker. Nothing is written: fix.diff
        shows the changes, fix.text is the text with them, fix.write() writes the file."""
        check, max_findings = self._prepare_search(arrays, keywords, budget, {}, is_repair=True)
        found = check.run(repairs=True)
        return Fix(self.module.name if self.module.is_file else "", self.module.source, found,
                   make_report(self.name, check.bound.warnings, found, max_findings, check.conditions, self.is_list))

    def _search(self, flag: str | None, arrays: typing.Sequence[object], keywords: typing.Mapping[str, typing.Any],
                budget: float | None, words: typing.Mapping[str, typing.Sequence[str]] | None = None,
                first: typing.Mapping[str, object] | None = None) -> Report:
        check, max_findings = self._prepare_search(arrays, keywords, budget, first or {})
        if flag is not None:
            check.set(flag)
        check.set("no-proposals")
        for option, values in (words or {}).items():
            for value in values:
                check.set(option, value)
        return make_report(self.name, check.bound.warnings, check.run(), max_findings, check.conditions, self.is_list)

    def _prepare_search(self, arrays: typing.Sequence[object], keywords: typing.Mapping[str, typing.Any],
                        budget: float | None, first: typing.Mapping[str, object],
                        is_repair: bool = False) -> tuple[Check, int]:
        """A check with the options of check among the keywords. first: values of consts with which arrays are looked
        at."""
        keywords = dict(keywords)
        names = [field.name for field in dataclasses.fields(Options)]
        options = Options(**{"print": print, **{name: keywords.pop(name) for name in names if name in keywords}})
        own = {name: keywords.pop(name)
               for name in ("arch", "strict_fences", "max_findings", "severity") if name in keywords}
        values = keywords.pop("values", None)
        check = self._prepare(options, arrays, keywords, values, first=first, is_repair=is_repair, **own)
        budget = read_seconds("budget", budget)
        if budget is not None:
            check.set("budget", format(budget, ".17g"))
        return check, own.get("max_findings", 20)

    def _prepare(self, options: Options, arrays: typing.Sequence[object], keywords: typing.Mapping[str, typing.Any],
                 values: typing.Mapping[str, object] | None, arch: str | None = None, strict_fences: bool = False,
                 max_findings: int = 20, severity: typing.Mapping[str, str] | None = None, writes: bool = False,
                 first: typing.Mapping[str, object] | None = None, is_repair: bool = False) -> Check:
        """A check with what all of them take."""
        max_findings = read_count("max_findings", max_findings, 1)
        strict_fences, writes = read_flag("strict_fences", strict_fences), read_flag("writes", writes)
        levels = read_levels(severity)
        options.check_words()
        arguments, defines = self._sort(arrays, keywords, values)
        given_consts = dict(defines)
        for name, value in (first or {}).items():
            if name in defines:
                raise TypeError(f"@{self.name}: const {name} is given twice")
            defines[name] = (_make_const(name, value), "given")
        bound, views = self._bind(arguments, defines, arch)
        self._check_memory(bound, views, options, not writes)
        if writes:
            self._check_overlaps(views)
        check = Check(self, bound, options, levels, is_repair)
        self._set_values(check, arch, given_consts)
        for index, param in enumerate(self.params):
            self._give(check, bound, index, arguments, views.get(param.name), writes)
        if strict_fences:
            check.set("strict-fences")
        check.set("max-findings", max_findings)
        return check

    @staticmethod
    def _set_values(check: Check, arch: str | None, consts: typing.Mapping[str, tuple[typing.Any, str]]) -> None:
        if arch is not None:
            check.set("arch", arch)
        for name, (value, _) in consts.items():
            check.set("D", f"{name}={value!r}")

    def _give(self, check: Check, bound: Bound, index: int, arguments: dict[str, typing.Any], view: _arrays.View | None,
              writes: bool) -> None:
        """What the caller has given for a parameter."""
        param = self.params[index]
        if view is not None:
            type_ = self._get_type(bound, index)
            self.check_view(bound, index, view, param.direction in ("out", "inout") and writes)
            is_input, is_result = param.direction != "out", param.direction != "in" and writes
            check.give(Given(param.name, tuple(type_.dims[i] for i in range(type_.rank)),
                             view.address if is_input else 0, self.get_bytes(bound, index),
                             view.address if is_result else 0), view)
        elif param.direction == "scalar" and param.name in arguments:
            scalar = self._make_scalar(param, arguments[param.name])
            check.give(Given(param.name, (), int(ffi.cast("uintptr_t", scalar)), self.get_bytes(bound, index)), scalar)

    # ---- run --------------------------------------------------------------------------------------------------------

    def run(self, *arrays: object, values: typing.Mapping[str, object] | None = None, arch: str | None = None,
            schedule: str = "fair", timing: str = "lazy", numerics: str = "fast", seed: int = 0, sms: int = 0,
            resident: int = 0, threads: int = 1, max_steps: int = 0, max_memory: int = 0, timeout: float | None = None,
            non_finite: bool = False, full_arrays: bool = False,
            progress: typing.Callable[[Progress], object] | None = None,
            print: typing.Callable[[str], object] | None = print,
            externs: typing.Mapping[str, typing.Callable[..., typing.Any]] | None = None, device: str = "cpu",
            extern_source: str = "", nvrtc: str | None = None, find_races: bool = False,
            **keywords: object) -> typing.Any:
        """Runs the kernel on the CPU, without the checker, and returns the arrays that it writes.

        One array, or a named tuple of several. Arrays that are given are used where they lie: 'out' and 'inout' ones
        are written. An 'out' array that is not given is made by NumPy. Inputs that are not given are what their
        init(..) says; without one they are an ArgumentError.

        device="ptx" runs the PTX that NVRTC makes of the kernel's CUDA, on the machine of grout.ptx instead of the
        interpreter; of the options it takes seed, timing, max_steps, max_memory, timeout (NVRTC is not ended in its
        work), progress, extern_source, nvrtc and find_races, which makes two
        accesses without an order a RunError (kernel.check looks for races of the kernel itself); two writes that leave
        the same values are a RuntimeWarning.
        """
        options = Options(schedule, timing, numerics, seed, sms, resident, threads, max_steps, max_memory, timeout,
                          non_finite, full_arrays, progress, print, externs)
        find_races = read_flag("find_races", find_races)
        options.check_words()
        arguments, defines = self._sort(arrays, keywords, values)
        self._ask_for_inputs(arguments)
        given_consts = dict(defines)
        bound, views = self._bind(arguments, defines, arch)
        self._check_memory(bound, views, options, False)
        self._check_overlaps(views)
        results = self._make_results(bound, arguments, views)
        if device != "cpu":
            array, keep = self._make_arguments(bound, arguments, views)
            self._run_on(device, bound, array, options, extern_source, nvrtc, find_races)
            del keep
            return pack_results(results)
        if find_races:
            raise ValueError("find_races goes with device='ptx': kernel.check looks for races of the kernel itself")
        check = Check(self, bound, options, {})
        self._set_values(check, arch, given_consts)
        for index, param in enumerate(self.params):
            self._give(check, bound, index, arguments, views.get(param.name), True)
        self._judge(check.run_unchecked())
        return pack_results(results)

    def _run_on(self, device: str, bound: Bound, arguments: typing.Any, options: Options, extern_source: str,
                nvrtc: str | None, find_races: bool) -> None:
        """Runs the kernel's PTX."""
        if device != "ptx":
            raise ValueError(f"device={device!r}: it is 'cpu' or 'ptx'; kernel.launch is for a GPU")
        from ._ptx_device import Clock, Device, compile_ptx
        clock = Clock(options.timeout)
        default = Options()
        for field in dataclasses.fields(options):
            if field.name not in ("seed", "timing", "max_steps", "max_memory", "timeout", "progress", "print") and \
                    getattr(options, field.name) != getattr(default, field.name):
                raise ValueError(f"device='ptx' has no option '{field.name}'")
        emitted = self._emit_bound(bound.pointer, extern_source=extern_source)
        facts = lib.grout_module_get_kernel(bound.pointer, self._index)
        module = compile_ptx(emitted, bound.pointer, facts.arch if facts.has_arch else lib.GROUT_ARCH_SM_90A, nvrtc,
                             clock, options.max_memory)
        places = {param.name: (int(ffi.cast("uintptr_t", argument.data)), argument.size)
                  for param, argument in zip(self.params, arguments)}
        made = Device(emitted.manifest, places, options.max_memory)
        made.run(module, options, find_races, clock)
        made.read_back()

    def _ask_for_inputs(self, arguments: typing.Mapping[str, object]) -> None:
        """What a kernel computes from made-up inputs is nobody's result. check() makes them up."""
        for index, param in enumerate(self.params):
            facts = self._get_param(self.module._symbolic, index)
            if param.direction != "out" and param.name not in arguments and facts.init == 0:
                what = "value" if param.direction == "scalar" else "array"
                raise ArgumentError(f"@{self.name}, {param}: no {what} is given, and it has no init(..): check() "
                                    "makes inputs up, run() does not")

    def _make_results(self, bound: Bound, arguments: dict[str, typing.Any],
                      views: dict[str, _arrays.View]) -> dict[str, object]:
        """The arrays that the kernel writes, those that are not given made."""
        results: dict[str, object] = {}
        for index, param in enumerate(self.params):
            if param.direction not in ("out", "inout"):
                continue
            if param.name not in arguments:
                made = numpy.empty(*self.get_result_type(bound, index))
                if param.direction == "inout":
                    self._fill_default(bound, index, made.ctypes.data)
                arguments[param.name] = made
                views[param.name] = _arrays.view_of(made)
            results[param.name] = arguments[param.name]
        return results

    def get_result_type(self, bound: Bound, index: int) -> tuple[tuple[int, ...], numpy.dtype[typing.Any]]:
        """Shape and type of the array that is made for a parameter."""
        param, type_ = self.params[index], self._get_type(bound, index)
        shape = tuple(type_.dims[i] for i in range(type_.rank))
        packed = lib.grout_dtype_get_info(type_.dtype).packed
        if packed > 1:  # nothing writes one that is expanded
            return (*shape[:-1], shape[-1] // packed), numpy.dtype("uint8")
        try:
            return shape, _arrays.numpy_dtype(param.dtype)
        except ArgumentError as error:
            raise ArgumentError(f"@{self.name}, {param}: {error}") from None

    def _judge(self, found: Found) -> None:
        """Raises what ended a run before its end."""
        launches = [launch["status"] for launch in found.facts["coverage"]["kernels"]] or ["failed"]
        status = next((status for status in launches if status != "done"), "done")
        if status == "deadlock":
            raise RunError(f"@{self.name}: no thread can run on, and nothing is in flight: a deadlock. kernel.check() "
                           "says who waits for what")
        if status in CUTS:
            raise RunError(f"@{self.name}: {CUTS[status]}; the outputs are not complete")
        if status != "done":
            raise RunError(f"@{self.name}: the run did not reach its end")

    # ---- CUDA -------------------------------------------------------------------------------------------------------

    def emit(self, *arrays: object, values: typing.Mapping[str, object] | None = None, watchdog: bool = False,
             lineinfo: bool = False, debug_checks: bool = True, extern_source: str = "", **keywords: object) -> Emitted:
        """The kernel as CUDA for sm_90a, and its manifest. Arrays give sizes alone."""
        arguments, defines = self._sort(arrays, keywords, values)
        shapes = {name: value for name, value in arguments.items() if hasattr(value, "shape")}
        sizes = {param.name: _shape_view(shapes[param.name]) for param in self.params if param.name in shapes}
        self.find_sizes(sizes, defines)
        pointer, _ = self.module._bind(defines, None)
        return self._emit_bound(pointer, watchdog, lineinfo, debug_checks, extern_source)

    def _emit_bound(self, pointer: typing.Any, watchdog: bool = False, lineinfo: bool = False,
                    debug_checks: bool = True, extern_source: str = "") -> Emitted:
        import json
        diags = Diags(pointer)
        externs = ffi.new("char[]", read_text("extern_source", extern_source))
        options = ffi.new("grout_emit_options *", {"watchdog": read_flag("watchdog", watchdog),
                                                   "line_directives": read_flag("lineinfo", lineinfo),
                                                   "no_debug_checks": not read_flag("debug_checks", debug_checks),
                                                   "extern_source": externs})

        def emit(add: typing.Any) -> str:
            is_good = []
            text = take_text(lambda text: is_good.append(add(text)))
            if not is_good[0]:
                diags.fail(EmitError)
            return text

        source = emit(lambda text: lib.grout_emit_cuda(pointer, self._index, options, text, diags.list))
        manifest = emit(lambda text: lib.grout_emit_manifest(pointer, self._index, text, diags.list))
        return Emitted(self.name, source, json.loads(manifest))

    def launch(self, *tensors: object, stream: object = None, values: typing.Mapping[str, object] | None = None,
               fills_outputs: bool = False, dependent: bool = False, debug_checks: bool = True, workspace_sets: int = 1,
               extern_source: str = "", nvrtc: str | None = None, **keywords: object) -> None:
        """Puts the kernel on a stream of a GPU, for arrays that lie there, and returns at once.

        Arrays are those of torch, of DLPack or with __cuda_array_interface__, all of them given; scalars are numbers.
        stream: a CUstream as an int, or a stream of torch or CuPy; None is torch's current stream if arrays are
        torch's, else the default stream. The context that is current is used; of torch's arrays it is that of their
        device. The first launch of arrays of one kind compiles the kernel. There is no watchdog: a kernel that hangs
        hangs its stream, and kernel.check() says why.
        """
        has_options = (fills_outputs or dependent or not debug_checks or workspace_sets != 1 or extern_source or
                       nvrtc or keywords or values is not None)
        if has_options or not self._launcher.launch_again(tensors, stream):
            options = make_launch_options(fills_outputs, dependent, debug_checks, workspace_sets, extern_source, nvrtc)
            arguments, defines = self._sort(tensors, keywords, values)
            self._launcher.launch(arguments, defines, stream, options)

    def jax_call(self, *arrays: object, values: typing.Mapping[str, object] | None = None,
                 fills_outputs: bool = False, debug_checks: bool = True, workspace_sets: int = 1,
                 extern_source: str = "", nvrtc: str | None = None, **keywords: object) -> typing.Any:
        """The kernel in a program of JAX: inside jax.jit and outside, on a GPU and on the CPU. No Python runs there.

        Arrays are those of the 'in' and 'inout' parameters, in order or by name, all of them given; the result is as
        that of run. Scalars are numbers that are known when the function is traced. On a GPU the kernel is compiled
        then, and XLA puts it on its own stream; options are those of launch. On the CPU it is what run is. jax.vmap
        calls it once for each element, and there is no derivative.
        """
        from ._jax import call
        options = make_launch_options(fills_outputs, False, debug_checks, workspace_sets, extern_source, nvrtc)
        inputs = [param.name for param in self.params if param.direction != "out"]
        if len(arrays) > len(inputs):
            raise TypeError(f"@{self.name} has {len(inputs)} inputs, and {len(arrays)} arrays are given")
        for name in inputs[:len(arrays)]:
            if name in keywords:
                raise TypeError(f"@{self.name}: %{name} is given twice")
        arguments, defines = self._sort((), {**dict(zip(inputs, arrays)), **keywords}, values)
        return call(self, arguments, defines, options)

    def bind(self, defines: dict[str, tuple[typing.Any, str]], arch: str | None) -> Bound:
        """The kernel with these values of consts, by name with their origins."""
        pointer, warnings = self.module._bind(defines, arch)
        return Bound(pointer, self._index, self.name, warnings)


class LaunchList(Kernel):
    """The launch list of a file: its launches run in their order, each on what those before it have left.

    It takes the arrays and scalars of all of them, by the names of the list, and does what a kernel does, but for CUDA:
    emit and launch one kernel after the other.
    """

    is_list = True

    def __init__(self, module: Module, kernels: typing.Sequence[Kernel]) -> None:
        self.module = module
        self.kernels = tuple(kernels)  # that of each launch
        self._index, self._facts = kernels[0]._index, kernels[0]._facts
        self.name = ", @".join(dict.fromkeys(kernel.name for kernel in kernels))
        places: dict[str, tuple[int, int]] = {}
        directions: dict[str, str] = {}
        for kernel in kernels:
            for place, param in zip(kernel._places, kernel.params):
                first = directions.setdefault(param.name, param.direction)
                places.setdefault(param.name, place)
                if first == "in" and param.direction != "in":
                    directions[param.name] = "inout"
        self._places = list(places.values())
        self.params = tuple(dataclasses.replace(self._make_param(index), direction=direction)
                            for index, direction in enumerate(directions.values()))

    def __repr__(self) -> str:
        return f"<grout.LaunchList {', '.join('@' + kernel.name for kernel in self.kernels)}>"

    def __reduce__(self) -> tuple[typing.Any, ...]:
        return operator.attrgetter("launches"), (self.module,)

    def _refuse(self, *_: object, **__: object) -> typing.NoReturn:
        raise TypeError("a launch list has no CUDA of its own: take its kernels one after the other, module['NAME']")

    emit = launch = jax_call = _refuse


def pack_results(results: dict[str, object]) -> typing.Any:
    """One array, or a named tuple of several."""
    if len(results) < 2:
        return next(iter(results.values()), None)
    return collections.namedtuple("Results", results, rename=True)(**results) if all(
        map(str.isidentifier, results)) else tuple(results.values())


def _shape_view(value: typing.Any) -> _arrays.View:
    return _arrays.View(value, 0, 0, tuple(value.shape), None, "", 1, False)


def _explain_packing(info: typing.Any) -> str:
    return f"{info.packed} elements in a byte" if info.packed > 1 else f"16 elements in {2 * info.bits} bytes"


def _explain_shape(param: Param, shape: typing.Sequence[int], given: typing.Sequence[int]) -> str:
    if len(shape) != len(given):
        return f": it has {len(shape)} dimension{'' if len(shape) == 1 else 's'}"
    found = [f"dimension {i}, {param.dims[i]}, is {shape[i]}" for i in range(len(shape)) if shape[i] != given[i]]
    return ": " + "; ".join(found)


def _make_const(name: str, value: typing.Any) -> int | float:
    if isinstance(value, bool) or not (hasattr(value, "__index__") or isinstance(value, (float, numpy.floating))):
        raise TypeError(f"const {name}: a {type(value).__name__} is not a number")
    if not hasattr(value, "__index__"):
        return float(value)
    number = value.__index__()
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError(f"const {name}: {number} leaves 64 bits")
    return number


def _suggest(name: str, names: typing.Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean '{near[0]}'?" if near else ""


def parse(text: str, name: str = "<text>") -> Module:
    """The module that a text is. name: of the file, in messages."""
    return Module(text, name)


def _load_pickled(source: bytes, name: str, is_file: bool, unsaid: frozenset[str]) -> Module:
    module = parse(source.decode("utf-8", "surrogateescape"), name)
    module.is_file, module.unsaid = is_file, unsaid
    return module


def _is_text(source: str) -> bool:
    """Whether it is the text of a kernel, and no file's name."""
    return "\n" in source or ("{" in source and not os.path.exists(source))


def load_module(source: str | os.PathLike[str]) -> Module:
    """A module from a file, or from a text: a str that has several lines, or braces and is no file's name."""
    if isinstance(source, str) and _is_text(source):
        return parse(source)
    if isinstance(source, (bytes, bytearray)):
        raise TypeError("bytes are neither a file's name nor a text: take .decode()")
    path = os.fspath(source)
    if path == "":
        raise ValueError("the name of the file is empty: give a file, or the text of a kernel")
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        text = file.read(FILE_MAX + 1)
    if len(text) > FILE_MAX:
        raise KernelError(f"{os.fsdecode(path)}: it has more than {FILE_MAX >> 20} MiB, which no kernel has")
    module = parse(text, os.fsdecode(path))
    module.is_file = True
    return module


def load(source: str | os.PathLike[str], kernel: str | None = None) -> Kernel:
    """A kernel from a file, or from a text (load_module). kernel: its name, where there are several."""
    module = load_module(source)
    if kernel is not None:
        return module[kernel]
    if len(module) != 1:
        names = ", ".join(f"'{name}'" for name in module.kernels) or "none"
        raise GroutError(f"'{visible(module.name)}' has {len(module)} kernels: {names}"
                         f"{'; say which: load(.., kernel=NAME)' if len(module) else ''}")
    return next(iter(module))
