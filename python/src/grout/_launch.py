# SPDX-License-Identifier: Apache-2.0
"""Options of a launch on the CPU, how far it is, and what it has done."""
from __future__ import annotations

import dataclasses
import functools
import sys
import typing

from ._library import ffi, lib
from ._limits import read_count, read_flag, read_seconds

# What ends a run before its end, by the status of a report.
CUTS = {"step-limit": "the limit of steps was reached (max_steps)", "timeout": "the time was over (timeout)"}


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
    timeout: float | None = None
    non_finite: bool = False
    full_arrays: bool = False
    progress: typing.Callable[[Progress], object] | None = None
    print: typing.Callable[[str], object] | None = None
    externs: typing.Mapping[str, typing.Callable[..., typing.Any]] | None = None

    def __post_init__(self) -> None:
        """What the numbers are; the rest is for the library to know."""
        for option, least, bits in (("seed", 0, 64), ("sms", 0, 32), ("resident", 0, 32), ("threads", 1, 32),
                                    ("max_steps", 0, 64), ("max_memory", 0, 64)):
            setattr(self, option, read_count(option, getattr(self, option), least, (1 << bits) - 1))
        self.timeout = read_seconds("timeout", self.timeout)
        self.non_finite = read_flag("non_finite", self.non_finite)
        self.full_arrays = read_flag("full_arrays", self.full_arrays)

    def check_words(self) -> None:
        """Raises what is wrong with those that are words."""
        schedule, colon, depth = str(self.schedule).partition(":")
        if schedule == "pct":
            if not (depth.isascii() and depth.isdigit()) or len(depth) > 9 or int(depth) < 1:
                raise ValueError(f"schedule={self.schedule!r}: it is 'pct:DEPTH'")
        elif colon:
            raise ValueError(f"schedule={self.schedule!r}: there is none of this name")
        else:
            self._find("schedule")
        self._find("timing")
        self._find("numerics")

    def _find(self, option: str) -> None:
        """Whether the library knows the word of an option."""
        text = getattr(self, option)
        if not isinstance(text, str) or "\0" in text or not _is_word(option, text):
            raise ValueError(f"{option}={text!r}: there is none of this name")

    @property
    def has_seed(self) -> bool:
        return self.schedule != "fair" or self.timing == "random"


@functools.lru_cache(64)
def _is_word(option: str, text: str) -> bool:
    options = ffi.gc(lib.grout_function_options_new(ffi.NULL), lib.grout_function_options_free)
    if options == ffi.NULL:
        raise MemoryError("grout: no memory for the options of a run")
    word = ffi.new("char[]", text.encode("utf-8", "replace"))
    return lib.grout_function_options_set(options, option.encode(), word, ffi.NULL)


def read_run_options(options: typing.Mapping[str, object]) -> None:
    """Those of a run among them: raises what is wrong with them before anything is done."""
    Options(**{field.name: options[field.name] for field in dataclasses.fields(Options)  # type: ignore[arg-type]
               if field.name in options})
