# SPDX-License-Identifier: Apache-2.0
"""One launch on the CPU: options, arguments, and the loop that runs it in slices.

A launch of one OS thread runs in slices of some milliseconds. Python looks at its signals between them, so that
Ctrl-C ends a run, and so do exceptions of the caller's functions, which are called between slices too. With several
OS threads the library calls back instead.
"""
from __future__ import annotations

import dataclasses
import sys
import time
import typing

from ._diagnostics import ArgumentError, Diags, RunError
from ._externs import make_externs
from ._library import ffi, lib, text_of
from ._limits import read_count, read_flag, read_seconds
from ._watch import Watch, is_nested, nested

SLICE_SECONDS = 0.03
FIRST_STEPS = 4096
STEPS_ARE_OVER = "the limit of steps was reached (max_steps)"
STEPS_MAX = 1 << 31  # GROUT_STEPS_MAX
MOST_STEPS_ARE_OVER = f"a run has at most {STEPS_MAX} operations"


@dataclasses.dataclass(frozen=True)
class Progress:
    """How far a run is. ctas_total: of the launch."""

    ctas_done: int
    ctas_total: int
    steps: int
    seconds: float


def show_progress(progress: Progress) -> None:
    """A line on stderr, if that is a terminal: progress=grout.show_progress."""
    if sys.stderr.isatty():
        is_over = progress.ctas_done == progress.ctas_total
        done = 30 * progress.ctas_done // max(progress.ctas_total, 1)
        line = (f"[{'#' * done}{'.' * (30 - done)}] {progress.ctas_done} of {progress.ctas_total} CTAs, "
                f"{progress.steps} steps, {progress.seconds:.1f} s")
        print("\r\033[K" + ("" if is_over else line), end="", file=sys.stderr, flush=True)


@dataclasses.dataclass(frozen=True)
class Stats:
    """What a run has done, and what it took."""

    steps: int
    async_ops: int
    events: int
    ctas_done: int
    peak_bytes: int
    seconds: float


@dataclasses.dataclass
class Options:
    """Options of a run by the names of the command's."""

    schedule: str = "fair"
    timing: str = "lazy"
    numerics: str = "fast"
    seed: int = 0
    sms: int = 0
    resident: int = 0
    threads: int = 1
    max_steps: int = 0
    max_memory: int = 0
    timeout: typing.Optional[float] = None
    non_finite: bool = False
    full_arrays: bool = False
    progress: typing.Optional[typing.Callable[[Progress], object]] = None
    print: typing.Optional[typing.Callable[[str], object]] = None
    externs: typing.Optional[typing.Mapping[str, typing.Callable]] = None

    def __post_init__(self) -> None:
        """What the numbers are; the rest is for the library to know."""
        for option, least, bits in (("seed", 0, 64), ("sms", 0, 32), ("resident", 0, 32), ("threads", 1, 32),
                                    ("max_steps", 0, 64), ("max_memory", 0, 64)):
            setattr(self, option, read_count(option, getattr(self, option), least, (1 << bits) - 1))
        self.timeout = read_seconds("timeout", self.timeout)
        self.non_finite = read_flag("non_finite", self.non_finite)
        self.full_arrays = read_flag("full_arrays", self.full_arrays)

    def find(self, option: str, find, kind: str) -> int:
        out = ffi.new(f"{kind} *")
        text = getattr(self, option)
        if not isinstance(text, str) or "\0" in text or not find(text.encode("utf-8", "replace"), out):
            raise ValueError(f"{option}={text!r}: there is none of this name")
        return out[0]

    def check_words(self) -> None:
        """Raises what is wrong with those that are words."""
        self.fill(ffi.new("grout_launch *"))

    def fill(self, launch) -> None:
        schedule, colon, depth = str(self.schedule).partition(":")
        if schedule == "pct":
            if not (depth.isascii() and depth.isdigit()) or len(depth) > 9 or int(depth) < 1:
                raise ValueError(f"schedule={self.schedule!r}: it is 'pct:DEPTH'")
            launch.schedule, launch.pct_depth = lib.GROUT_SCHEDULE_PCT, int(depth)
        elif colon or schedule == "replay":
            raise ValueError(f"schedule={self.schedule!r}: there is none of this name")
        else:
            launch.schedule = self.find("schedule", lib.grout_schedule_find, "grout_schedule")
        launch.timing = self.find("timing", lib.grout_timing_find, "grout_timing")
        launch.numerics = self.find("numerics", lib.grout_numerics_find, "grout_numerics")
        launch.seed, launch.sm_count, launch.resident = self.seed, self.sms, self.resident
        launch.workers, launch.max_steps = 1 if is_nested() else self.threads, self.max_steps
        launch.track_non_finite, launch.print_whole_arrays = self.non_finite, self.full_arrays

    @property
    def has_seed(self) -> bool:
        return self.schedule != "fair" or self.timing == "random"


def read_run_options(options: typing.Mapping[str, object]) -> None:
    """Those of a run among them: raises what is wrong with them before anything is done."""
    Options(**{field.name: options[field.name] for field in dataclasses.fields(Options)  # type: ignore[arg-type]
               if field.name in options})


class Run:
    """A machine with what it borrows. To be used in a 'with'."""

    def __init__(self, bound, options: Options, arguments, observers=(),
                 argument_bytes: int = 0):
        self._watch = Watch(options.timeout)
        self.diags = Diags(bound.pointer)
        self.options = options
        self.cut: typing.Optional[str] = None
        self.status = lib.GROUT_RUN_FAILED
        self._keep = [bound, arguments, observers]
        self._lines: typing.List[str] = []
        self._total = lib.grout_kernel_get_grid_size(bound.pointer, bound.kernel)
        self._machine = ffi.NULL
        self._seconds = 0.0
        launch = ffi.new("grout_launch *")
        options.fill(launch)
        launch.module = bound.pointer
        launch.kernel = bound.kernel
        launch.arguments = arguments
        launch.argument_count = len(arguments)
        if options.max_memory:
            launch.max_memory = max(options.max_memory - argument_bytes, 1)
        for index, observer in enumerate(observers):
            launch.observers[index] = observer
        launch.observer_count = len(observers)
        self._add_callbacks(launch)
        self._launch = launch

    def _add_callbacks(self, launch) -> None:
        if self.options.print is not None:
            keep = self._lines.append
            on_print = ffi.callback("void(void *, const char *)", lambda _, line: keep(text_of(line)),
                                    onerror=self._watch.take_error)
            launch.print = on_print
            self._keep.append(on_print)
        if self.options.externs:
            functions, calls, count = make_externs(launch.module, self.options.externs, self._watch)
            launch.externs, launch.extern_count = functions, count
            self._keep += [functions, *calls]
        if launch.workers > 1:
            self._add_progress(launch)

    def _add_progress(self, launch) -> None:
        if launch.progress == ffi.NULL:
            on_progress = self._watch.make_progress(lambda progress: self._tell(progress.ctas_done, progress.steps))
            launch.progress = on_progress
            self._keep.append(on_progress)

    def __enter__(self) -> "Run":
        self._machine = lib.grout_machine_new(self._launch, self.diags.list)
        if self._machine == ffi.NULL:
            self.diags.fail(ArgumentError if self.diags.has(lib.GROUT_DIAG_BAD_ARGUMENT) else RunError)
        return self

    def __exit__(self, *_) -> None:
        lib.grout_machine_free(self._machine)
        self._machine = ffi.NULL

    def _tell(self, ctas_done: int, steps: int) -> None:
        """Calls the caller's functions; their exceptions go on."""
        lines, self._lines[:] = list(self._lines), []
        for line in lines:
            if self.options.print is not None:
                self.options.print(line)
        if self.options.progress is not None:
            self.options.progress(Progress(ctas_done, self._total, steps, self._watch.seconds))

    def run(self) -> None:
        """To the end, or to what cuts it. Raises what the caller's functions raise, and KeyboardInterrupt."""
        start = time.monotonic()
        try:
            with nested(self._watch):
                if self._launch.workers > 1:
                    self.status = lib.grout_machine_run(self._machine, 0, self.diags.list)
                else:
                    self._run_slices()
        finally:
            self._seconds = time.monotonic() - start
        self._watch.raise_error(self.status == lib.GROUT_RUN_INTERRUPTED)
        self.cut = self._watch.cut
        stats = lib.grout_machine_get_stats(self._machine)
        self._tell(stats.ctas_done, stats.steps)
        if self.status == lib.GROUT_RUN_FAILED:
            self.diags.fail(RunError)
        if self.status == lib.GROUT_RUN_STEP_LIMIT:
            self.cut = MOST_STEPS_ARE_OVER if stats.steps >= STEPS_MAX else STEPS_ARE_OVER

    def _run_slices(self) -> None:
        steps = FIRST_STEPS
        while self._watch.look():
            start = time.monotonic()
            self.status = lib.grout_machine_run(self._machine, steps, self.diags.list)
            if self.status != lib.GROUT_RUN_PAUSED or self._watch.has_ended:
                return
            spent = time.monotonic() - start
            steps = max(64, min(1 << 30, int(steps * min(4.0, SLICE_SECONDS / max(spent, 1e-6)))))
            stats = lib.grout_machine_get_stats(self._machine)
            self._tell(stats.ctas_done, stats.steps)

    @property
    def stats(self) -> Stats:
        stats = lib.grout_machine_get_stats(self._machine)
        return Stats(stats.steps, stats.async_ops, stats.events, stats.ctas_done, stats.peak_bytes, self._seconds)

    @property
    def raw_stats(self):
        return lib.grout_machine_get_stats(self._machine)
