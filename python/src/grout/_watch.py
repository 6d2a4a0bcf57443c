# SPDX-License-Identifier: Apache-2.0
"""What ends a call of the library from outside: Ctrl-C, a timeout, what the caller's functions raise.

The library calls back some hundred times in a second, or oftener. Python looks at its signals then, so that Ctrl-C
becomes a KeyboardInterrupt in the callback. What a callback raises is kept, the library is asked to end, and the first
exception goes on from where the library was called.
"""
from __future__ import annotations

import ctypes
import threading
import time
import types
import typing

from ._library import ffi, lib

TIME_IS_OVER = "the time was over (timeout)"
# Runs in one another, of functions that kernels call and that run kernels. Python's own limit comes before, at 1,000
# calls in one another; a program that has raised it is bounded by the C stack, of which each run takes some kilobytes.
NESTED_MAX = 200
NESTED_BYTES = 16 << 10
NESTED_MIN = 4

_nested = threading.local()


class Watch:
    """The callbacks of one call: has_ended tells each of them that no more is to be done."""

    def __init__(self, timeout: float | None = None) -> None:
        self.timeout = timeout
        self.start = time.monotonic()
        self.cut: str | None = None  # what ended the call, if no exception did
        self.has_failed = False
        self.depth = 0  # of its run in others: see nested
        self._error: BaseException | None = None

    @property
    def has_ended(self) -> bool:
        return self.has_failed or self.cut is not None

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.start

    def take_error(self, _: object, error: BaseException, trace: types.TracebackType | None) -> None:
        """For onerror= of cffi: the first one is kept, with its traceback."""
        if not self.has_failed:
            self._error = error.with_traceback(trace)
            self.has_failed = True

    def look(self) -> bool:
        """Looks at the time. False: the call is to end."""
        if self.timeout is not None and self.cut is None and self.seconds >= self.timeout:
            self.cut = TIME_IS_OVER
        return not self.has_ended

    def make_progress(self, tell: typing.Callable[[typing.Any], object]) -> typing.Any:
        """A progress callback in C; tell hears of each call."""
        def ask(_: object, progress: typing.Any) -> bool:
            if not self.has_ended:
                tell(progress)
            return self.look()

        return ffi.callback("_Bool(void *, const grout_progress *)", ask, error=False, onerror=self.take_error)

    def make_why_end(self) -> typing.Any:
        """The callback of a list of diagnostics, in C."""
        def ask(_: object) -> int:
            return (lib.GROUT_DIAG_NONE if self.look() else
                    lib.GROUT_DIAG_INTERRUPTED if self.cut is None else lib.GROUT_DIAG_TIME_LIMIT)

        return ffi.callback("grout_diag_code(void *)", ask, error=lib.GROUT_DIAG_INTERRUPTED, onerror=self.take_error)

    def raise_error(self, was_interrupted: bool = False) -> None:
        """What a callback raised goes on. was_interrupted: the library says that a callback has ended the call; if none
        did on purpose, Ctrl-C came where Python could not keep it."""
        error, self._error = self._error, None
        if error is not None:
            raise error
        if was_interrupted and not self.has_ended:
            raise KeyboardInterrupt


def _measure_stack() -> int:
    """Bytes that the stack of this OS thread may have."""
    libc = ctypes.CDLL(None)
    attributes, address, size = (ctypes.c_uint64 * 32)(), ctypes.c_void_p(), ctypes.c_size_t()
    libc.pthread_self.restype = ctypes.c_void_p
    if libc.pthread_getattr_np(ctypes.c_void_p(libc.pthread_self()), attributes) != 0:
        return 0
    libc.pthread_attr_getstack(attributes, ctypes.byref(address), ctypes.byref(size))
    libc.pthread_attr_destroy(attributes)
    return size.value


def _find_nested_max() -> int:
    """As many as the stack of this OS thread has room for."""
    if not hasattr(_nested, "most"):
        _nested.most = max(NESTED_MIN, min(NESTED_MAX, _measure_stack() // NESTED_BYTES))
    return _nested.most


def enter_callback(watch: Watch) -> None:
    """Before a function of the caller is called, in an OS thread of the library perhaps: its runs are in that run."""
    _nested.depth = watch.depth


def is_nested() -> bool:
    """Whether a function that a kernel calls is what runs here. It has one OS thread: the kernel has several already,
    and if each of them were to have several, and so on, there would be no end of them."""
    return getattr(_nested, "depth", 0) > 0


class nested:
    """with nested(watch): its run. Those in one another end as a RecursionError, whatever Python's limit is."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def __enter__(self) -> None:
        depth = getattr(_nested, "depth", 0)
        if depth >= NESTED_MIN and depth >= _find_nested_max():
            raise RecursionError(f"grout: {depth} runs in one another: a function that a kernel calls runs kernels "
                                 "again, and so on; the stack has room for no more")
        _nested.depth = self._watch.depth = depth + 1

    def __exit__(self, *_: object) -> None:
        _nested.depth -= 1
