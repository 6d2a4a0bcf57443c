# SPDX-License-Identifier: Apache-2.0
"""A check or a repair of a kernel, by check.h of the library: what 'grout check' and 'grout fix' do."""
from __future__ import annotations

import dataclasses
import itertools
import json
import typing

from ._diagnostics import Diags, RunError
from ._externs import make_externs
from ._launch import Options, Progress
from ._library import ffi, lib, take_text, text_of
from ._severity import Levels, describe_levels
from ._watch import Watch, is_nested, nested

if typing.TYPE_CHECKING:
    from ._kernel import Bound, Kernel

INTERRUPTED = 130


@dataclasses.dataclass(frozen=True)
class Given:
    """The contents of a parameter: where they lie, and where results of as many bytes go (0: nowhere)."""

    name: str
    shape: tuple[int, ...]
    address: int
    size: int
    results: int = 0


class Found:
    """A grout_report."""

    def __init__(self, pointer: typing.Any) -> None:
        self._pointer = ffi.gc(pointer, lib.grout_report_free)
        self.facts: dict[str, typing.Any] = json.loads(self.print(lib.GROUT_REPORT_FACTS))

    def print(self, form: int) -> str:
        """The report in one of its forms."""
        def add(text: typing.Any) -> None:
            if not lib.grout_report_print(self._pointer, form, text):
                raise MemoryError("grout: no memory for a report")

        return take_text(add)

    @property
    def exit_code(self) -> int:
        return lib.grout_report_get_exit_code(self._pointer)

    @property
    def remarks(self) -> str:
        return text_of(lib.grout_report_get_remarks(self._pointer))

    @property
    def files(self) -> dict[str, bytes]:
        """What the options asked for: schedules by their names."""
        found: dict[str, bytes] = {}
        data, size = ffi.new("const char **"), ffi.new("size_t *")
        for index in itertools.count():
            name = lib.grout_report_get_file(self._pointer, index, data, size)
            if name == ffi.NULL:
                break
            found[text_of(name)] = ffi.buffer(data[0], size[0])[:]
        return found

    @property
    def repaired(self) -> str:
        size = ffi.new("size_t *")
        text = lib.grout_report_get_repaired(self._pointer, size)
        return ffi.buffer(text, size[0])[:].decode("utf-8", "surrogateescape") if text != ffi.NULL else ""

    @property
    def diff(self) -> str:
        return text_of(lib.grout_report_get_diff(self._pointer))

    @property
    def steps(self) -> str:
        return text_of(lib.grout_report_get_steps(self._pointer))

    @property
    def outcome(self) -> str:
        return text_of(lib.grout_report_get_outcome(self._pointer))


class Check:
    """A grout_check of one kernel, with what it borrows."""

    def __init__(self, kernel: Kernel, bound: Bound, options: Options, levels: Levels, is_repair: bool = False) -> None:
        module = kernel.module
        self.bound, self._options = bound, options
        self._watch = Watch()
        self._diags = Diags(watch=self._watch)
        self._keep: list[object] = [bound]
        name, text = (module.name, module.source) if is_repair else kernel.page
        self._check = ffi.gc(lib.grout_check_new(name.encode("utf-8", "surrogateescape"), text, len(text)),
                             lib.grout_check_free)
        if self._check == ffi.NULL:
            raise MemoryError("grout: no memory for a check")
        if not module.is_file:  # a repair is of the text, and gets it back without commands that name a file
            lib.grout_check_use_module(self._check, module._symbolic)
            for rule in module.allowances:
                self._need(lib.grout_check_allow(self._check, lib.grout_diag_find(rule.code.encode()),
                                                 rule.file.encode("utf-8", "surrogateescape"), rule.line,
                                                 rule.reason.encode("utf-8", "surrogateescape")))
        self.conditions: list[str] = []  # of the report, beside what the library says
        if not kernel.is_list and lib.grout_module_get_launch_count(bound.pointer) > 1:
            self.conditions.append("alone, not in the file's launch list")
        if levels:
            self.conditions.append(f"severity {describe_levels(levels)}")
        if not kernel.is_list:
            self.set("kernel", f"@{kernel.name}")
        self._set_options(levels)
        self._add_callbacks()

    @staticmethod
    def _need(is_good: bool) -> None:
        if not is_good:
            raise MemoryError("grout: no memory for a check")

    def set(self, option: str, value: object | None = None) -> None:
        """An option by its name; None: it is a flag."""
        word = ffi.NULL if value is None else ffi.new("char[]", str(value).encode("utf-8", "surrogateescape"))
        if not lib.grout_check_set(self._check, option.encode(), word, self._diags.list):
            self._diags.fail(RunError)

    def _set_options(self, levels: Levels) -> None:
        options, default = self._options, Options()
        options.check_words()
        for name in ("schedule", "timing", "numerics", "seed", "sms", "resident", "max_steps", "max_memory", "timeout"):
            if getattr(options, name) != getattr(default, name):
                value = getattr(options, name)
                self.set(name.replace("_", "-"), format(value, ".17g") if isinstance(value, float) else value)
        if options.threads > 1 and not is_nested():
            self.set("threads", options.threads)
        for name in ("non_finite", "full_arrays"):
            if getattr(options, name):
                self.set(name.replace("_", "-"))
        for code, level in levels.items():
            self.set("severity", f"{code}={level}")

    def _add_callbacks(self) -> None:
        options, watch = self._options, self._watch

        def tell(progress: typing.Any) -> None:
            if options.progress is not None and progress.ctas_total > 0:
                options.progress(Progress(progress.ctas_done, progress.ctas_total, progress.steps, watch.seconds))

        def say(_: typing.Any, line: typing.Any) -> None:
            if options.print is not None and not watch.has_ended:
                options.print(text_of(line))

        on_progress = watch.make_progress(tell)
        on_print = ffi.callback("void(void *, const char *)", say, onerror=watch.take_error)
        lib.grout_check_set_callbacks(self._check, on_progress, on_print, ffi.NULL)
        self._keep += [on_progress, on_print]
        if options.externs:
            functions, calls, count = make_externs(self.bound.pointer, options.externs, watch)
            for index in range(count):
                self._need(lib.grout_check_give_function(self._check, ffi.addressof(functions, index)))
            self._keep += [functions, *calls]

    def give(self, given: Given, keep: object) -> None:
        array = ffi.new("grout_array *", {"rank": len(given.shape), "dims": given.shape,
                                          "data": ffi.cast("void *", given.address)})
        name = given.name.encode()
        self._need(lib.grout_check_give_array(self._check, name, array, given.size, ffi.cast("void *", given.results)))
        self._keep.append(keep)

    def run(self, repairs: bool = False) -> Found:
        """To its end, or to what cuts it. Raises what the caller's functions raise, and KeyboardInterrupt."""
        call = lib.grout_check_repair if repairs else lib.grout_check_run
        with nested(self._watch):
            pointer = call(self._check, self._diags.list)
        found = None if pointer == ffi.NULL else Found(pointer)
        self._watch.raise_error(found is not None and found.exit_code == INTERRUPTED)
        if found is None or (found.facts["verdict"] == "invalid" and "sweep" not in found.facts):
            self._diags.fail(RunError)
        self._tell_end(found)
        return found

    def run_unchecked(self) -> Found:
        """The same without the checker. Raises what the run says is wrong, too."""
        with nested(self._watch):
            pointer = lib.grout_check_run_unchecked(self._check, self._diags.list)
        found = None if pointer == ffi.NULL else Found(pointer)
        self._watch.raise_error(found is not None and found.exit_code == INTERRUPTED)
        is_deadlock = self._diags.has(lib.GROUT_DIAG_DEADLOCK)
        if found is None or (lib.grout_diags_has_errors(self._diags.list) and not is_deadlock):
            self._diags.fail(RunError)
        self._tell_end(found)
        return found

    def _tell_end(self, found: Found) -> None:
        """The last that progress hears: all CTAs."""
        kernels = found.facts["coverage"]["kernels"]
        if self._options.progress is not None and kernels and "stats" in kernels[-1]:
            stats = kernels[-1]["stats"]
            total = lib.grout_kernel_get_grid_size(self.bound.pointer, self.bound.kernel)
            self._options.progress(Progress(stats["ctas_done"], total, stats["steps"], self._watch.seconds))
