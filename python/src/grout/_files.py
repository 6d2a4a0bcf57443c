# SPDX-License-Identifier: Apache-2.0
"""Files, written as the command writes them: whole or not at all (docs/reliability.md)."""
import os
import typing

from ._diagnostics import Diags
from ._library import ffi, lib


def write(path: "typing.Union[str, os.PathLike[str]]", text: str) -> None:
    """Replaces a file, or makes it. OSError: the file is as it was before."""
    if b"\0" in os.fsencode(path):
        raise ValueError(f"{path!r} is not a path: it has a NUL in it")
    data = text.encode("utf-8", "surrogateescape")
    diags = Diags()
    if not lib.grout_write_file(os.fsencode(path), ffi.from_buffer(data), len(data), diags.list):
        raise OSError("; ".join(diagnostic.message for diagnostic in diags.take()))
