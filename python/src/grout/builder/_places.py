# SPDX-License-Identifier: Apache-2.0
"""Where the caller's Python stands: frames outside of this package, as places of the library."""
from __future__ import annotations

import itertools
import linecache
import os
import sys
import types
import typing

from .._library import ffi, lib

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
FRAMES_MAX = 32  # of one place; the outer ones are omitted


class Frame(typing.NamedTuple):
    """A place in Python: columns from 1, in bytes; 0: not known."""

    file: str
    line: int
    column: int = 0
    length: int = 0
    is_within_call: bool = False  # made inside of what the line calls: nothing can be written beside it


def make_frame(frame: types.FrameType) -> Frame:
    """Where a frame of the interpreter stands."""
    code = frame.f_code
    if hasattr(code, "co_positions"):  # from Python 3.11 on
        line, end, column, end_column = next(itertools.islice(code.co_positions(), frame.f_lasti // 2, None),
                                             (None, None, None, None))
        if line is not None and column is not None:
            return Frame(code.co_filename, line, column + 1, end_column - column if end == line else 1)
    return Frame(code.co_filename, frame.f_lineno or 0, 0, 0)


def count_frames() -> int:
    """How deep the caller stands."""
    count = 0
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count


def encode_file(file: str) -> bytes:
    """The name of a file of Python, which may be any text."""
    return file.replace("\0", "\\0").encode("utf-8", "backslashreplace")


class Places:
    """The places of one builder. Frames around those that made the builder or began its kernels say nothing, and are
    omitted."""

    def __init__(self, builder: typing.Any) -> None:
        self._builder = builder
        self._known: dict[tuple[object, ...], int] = {}
        self.sources: dict[str, bytes] = {}  # by file
        self.given: tuple[Frame, ...] = ()  # in the place of those of the stack
        self._last: tuple[Frame, ...] | None = None
        self._base = sys.maxsize  # frames that are less deep are not shown
        self.reach_here()

    def reach_here(self) -> None:
        """Frames from the caller's on inwards are shown."""
        depth = count_frames()
        frame: types.FrameType | None = sys._getframe(0)
        while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
            depth, frame = depth - 1, frame.f_back
        self._base = min(self._base, depth)

    def _list_frames(self) -> tuple[Frame, ...]:
        """The innermost first."""
        if self.given:
            return self.given
        depth = count_frames()
        found: list[Frame] = []
        frame: types.FrameType | None = sys._getframe(0)
        while frame is not None and len(found) < FRAMES_MAX and (depth >= self._base or not found):
            if not frame.f_code.co_filename.startswith(PACKAGE):
                found.append(make_frame(frame))
            frame, depth = frame.f_back, depth - 1
        return tuple(found)

    def _add_source(self, file: str) -> None:
        if file not in self.sources:
            text = "".join(linecache.getlines(file)).encode("utf-8", "surrogatepass")
            self.sources[file] = text
            if text:
                lib.grout_builder_add_source(self._builder, encode_file(file), text, len(text))

    def _add(self, frame: Frame, parent: int) -> int:
        loc = ffi.new("grout_loc *", {"line": frame.line, "column": frame.column, "length": frame.length,
                                      "kind": lib.GROUT_LOC_PYTHON, "parent": parent,
                                      "is_within_call": frame.is_within_call})
        self._add_source(frame.file)
        return lib.grout_builder_at(self._builder, loc[0], encode_file(frame.file))

    def set(self) -> None:
        """What is built from here on is built by the line of Python that calls."""
        frames = self._list_frames()
        if frames == self._last:
            return
        parent = 0
        for frame in reversed(frames[1:]):
            key = (parent, frame)
            if key not in self._known:
                self._known[key] = self._add(frame, parent)
            parent = self._known[key]
        if frames:
            self._add(frames[0], parent)
        self._last = frames
