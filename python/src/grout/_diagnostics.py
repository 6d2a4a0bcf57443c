# SPDX-License-Identifier: Apache-2.0
"""Diagnostics, places, and the exceptions that carry them."""
from __future__ import annotations

import dataclasses
import typing

from ._library import enumerator, ffi, lib, take_text, text_of, visible
from ._watch import Watch

if typing.TYPE_CHECKING:
    from ._report import Report


@dataclasses.dataclass(frozen=True)
class Place:
    """A place in a text: line and column from 1, in bytes, and how many bytes."""

    file: str
    line: int
    column: int
    length: int

    def __str__(self) -> str:
        name = visible(self.file)
        return f"{name}:{self.line}:{self.column}" if self.column else f"{name}:{self.line}"


@dataclasses.dataclass(frozen=True)
class Note:
    """One more sentence of a diagnostic: severity 'note', or 'advice' for a remedy."""

    severity: str
    message: str
    place: Place | None


@dataclasses.dataclass(frozen=True)
class Diagnostic:
    """Something that is wrong. str() shows it with its source line, as the command does."""

    code: str
    severity: str
    message: str
    place: Place | None
    notes: tuple[Note, ...]
    text: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self.text

    @property
    def help(self) -> str:
        """The remedies, joined; '' if there are none."""
        return " ".join(note.message for note in self.notes if note.severity == "advice")


class GroutError(Exception):
    """What grout raises. diagnostics: what it said, in its order. The message steers no terminal, whatever is in it."""

    def __init__(self, message: str, diagnostics: typing.Sequence[Diagnostic] = ()) -> None:
        super().__init__(visible(message, lines=True))
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)


class KernelError(GroutError):
    """A text that is no legal kernel: it does not parse, bind or pass the verifier."""


class ArgumentError(GroutError, ValueError):
    """An array or a value that does not fit: shape, element type, strides, a read-only output."""


class RunError(GroutError):
    """A run that went wrong: a deadlock, a failed debug_check, a limit, no memory."""


class CheckError(GroutError):
    """Report.expect_clean() of a report that is not clean. report: the report."""

    def __init__(self, message: str, diagnostics: typing.Sequence[Diagnostic], report: Report) -> None:
        super().__init__(message, diagnostics)
        self.report = report


class EmitError(GroutError):
    """A kernel that the CUDA backend does not express."""


def make_place(place: typing.Any) -> Place | None:
    if place.file == ffi.NULL:
        return None
    return Place(text_of(place.file), place.line, place.column, place.length)


def severity_text(severity: int) -> str:
    return enumerator("grout_severity", severity, "GROUT_SEVERITY_")


def render(diag: typing.Any, diags: typing.Any, color: bool = False) -> str:
    options = ffi.new("grout_render_options *", {"color": color})
    return take_text(lambda text: lib.grout_diag_render(diag, diags, options, text))


def make_notes(diag: typing.Any) -> tuple[Note, ...]:
    return tuple(Note(severity_text(note.severity), text_of(note.message), make_place(note.place))
                 for note in (diag.notes[i] for i in range(diag.note_count)))


def make_diagnostic(diag: typing.Any, diags: typing.Any) -> Diagnostic:
    return Diagnostic(code=text_of(lib.grout_diag_get(diag.code).text), severity=severity_text(diag.severity),
                      message=text_of(diag.message), place=make_place(diag.place), notes=make_notes(diag),
                      text=render(diag, diags).rstrip("\n"))


class Diags:
    """A list of diagnostics of the library, for one call into it or several. Ctrl-C ends each of them, and so does what
    the watch bounds."""

    def __init__(self, sources_of: typing.Any = None, watch: Watch | None = None) -> None:
        self.list = ffi.gc(lib.grout_diags_new(), lib.grout_diags_free)
        if self.list == ffi.NULL:
            raise MemoryError("grout: no memory for diagnostics")
        self.watch = watch or Watch()
        self._why_end = self.watch.make_why_end()  # C has it
        lib.grout_diags_set_why_end(self.list, self._why_end, ffi.NULL)
        if sources_of is not None:
            lib.grout_module_add_sources(sources_of, self.list)

    def take(self) -> list[Diagnostic]:
        return [make_diagnostic(lib.grout_diags_get(self.list, i), self.list)
                for i in range(lib.grout_diags_count(self.list))]

    def has(self, code: int) -> bool:
        """Whether something of this code was said."""
        return any(lib.grout_diags_get(self.list, i).code == code for i in range(lib.grout_diags_count(self.list)))

    def fail(self, error: type[GroutError]) -> typing.NoReturn:
        """Raises what ended the call, or what was said; memory that ran out is a MemoryError."""
        self.watch.raise_error(self.has(lib.GROUT_DIAG_INTERRUPTED))
        found = self.take()
        errors = [diagnostic for diagnostic in found if diagnostic.severity == "error"] or found
        if any(diagnostic.code == "out-of-memory" for diagnostic in errors):
            raise MemoryError("\n".join(map(str, errors)))
        raise error("\n\n".join(map(str, errors)) or "it failed, and nothing says why", found)
