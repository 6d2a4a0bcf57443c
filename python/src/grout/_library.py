# SPDX-License-Identifier: Apache-2.0
"""The library, opened once, and whether it is the one that the declarations were made for."""
from __future__ import annotations

import itertools
import os
import pathlib
import typing

from . import _build
from ._declarations import ffi

NATIVE = pathlib.Path(__file__).parent / "_native"
__all__ = ["NATIVE", "PATH", "VERSION", "enumerator", "ffi", "lib", "list_structs", "take_text", "text_of", "visible"]
# Another build of the library, for those who work on grout itself: one with sanitizers, say.
PATH = os.environ.get("GROUT_LIBRARY") or str(NATIVE / "libgrout.so")


def list_structs(library: typing.Any) -> typing.Iterator[tuple[str, int]]:
    """The public structs of the library, with their bytes."""
    size = ffi.new("size_t *")
    for index in itertools.count():
        name = library.grout_abi_get_struct(index, size)
        if name == ffi.NULL:
            return
        yield ffi.string(name).decode(), size[0]


def _find_difference(library: typing.Any) -> str | None:
    """What the library has otherwise than the declarations; None: nothing."""
    if library.grout_abi_get_version() != _build.ABI_VERSION:
        return f"its ABI version is {library.grout_abi_get_version()}, not {_build.ABI_VERSION}"
    if library.grout_abi_get_tables() != _build.TABLES:
        return "its tables of operations differ"
    types = set(ffi.list_types()[0])
    for name, size in list_structs(library):
        if name in types and ffi.sizeof(name) != size:
            return f"its {name} has {size} bytes, not {ffi.sizeof(name)}"
    return None


def _open() -> typing.Any:
    try:
        library = ffi.dlopen(PATH)
    except OSError as error:
        raise ImportError(f"grout: cannot open its library: {error}") from error
    try:
        difference = _find_difference(library)
    except (AttributeError, ffi.error):
        difference = "it is older"
    if difference:
        raise ImportError(f"grout: '{PATH}' is not the library that this package was built for: {difference}")
    return library


lib = _open()
VERSION = ffi.string(lib.grout_get_version()).decode()


def text_of(pointer: typing.Any) -> str:
    """A C string as str; NULL as ''. What is no UTF-8 becomes U+FFFD."""
    return ffi.string(pointer).decode("utf-8", "replace") if pointer != ffi.NULL else ""


def take_text(add: typing.Callable[[typing.Any], object]) -> str:
    """What add(text) appends to a grout_text, as str."""
    text = ffi.new("grout_text *")
    try:
        add(text)
        if text.failed:
            raise MemoryError("grout: no memory for a text")
        return ffi.buffer(text.data, text.size)[:].decode("utf-8", "replace") if text.data != ffi.NULL else ""
    finally:
        lib.grout_text_free(text)


def visible(text: str, lines: bool = False) -> str:
    """A text of unknown origin as it may stand before a user, on one line or (lines) with its own ones: what would
    steer a terminal, or the log of a workflow, is an escape."""
    raw = text.encode("utf-8", "surrogateescape")
    keep = lib.GROUT_KEEP_TABS | lib.GROUT_KEEP_LINES if lines else lib.GROUT_KEEP_NOTHING
    return take_text(lambda out: lib.grout_text_add_visible(out, raw, len(raw), keep))


def enumerator(kind: str, value: int, prefix: str) -> str:
    """'clean' for 0 of grout_verdict with the prefix GROUT_VERDICT_."""
    names = ffi.typeof(kind).elements
    return names[value][len(prefix):].lower() if value in names else str(value)
