# SPDX-License-Identifier: Apache-2.0
"""What cannot be imported."""
from __future__ import annotations

import linecache
import typing


class UnsupportedError(NotImplementedError):
    """A kernel has something that has no counterpart: primitive and parameter say what, frames where."""

    def __init__(self, message: str, primitive: str = "", frames: typing.Any = ()) -> None:
        super().__init__(message)
        self.message, self.primitive, self.frames = message, primitive, tuple(frames)

    def __str__(self) -> str:
        subject = f"{self.primitive}: {self.message}" if self.primitive else self.message
        if not self.frames:
            return subject
        file, line, column, length = self.frames[0]
        text = linecache.getline(file, line).rstrip("\n").expandtabs(1)
        lines = [f"{file}:{line}:{column}: {subject}"]
        if text:
            head = f"{line:5d} | "
            lines += [head + text, " " * (len(head) - 2) + "| " + " " * (column - 1) + "^" + "~" * (length - 1)]
        lines += [f"  called at {outer[0]}:{outer[1]}" for outer in self.frames[1:4]]
        return "\n".join(lines)
