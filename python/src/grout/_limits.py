# SPDX-License-Identifier: Apache-2.0
"""Numbers and texts that a caller gives: the one place that says what they may be."""
from __future__ import annotations

import math
import numbers
import operator
import os
import re
import typing

import numpy

COUNT_MAX, COUNT32_MAX = (1 << 64) - 1, (1 << 32) - 1
SURROGATES = re.compile("[\ud800-\udfff]")  # of file names of any bytes, and of broken texts
SHOWN = 60  # characters of a value in a message


def _show(value: object) -> str:
    """A value in a message; some have no repr, as integers of very many digits."""
    try:
        text = repr(value)
    except Exception:
        return f"<a {type(value).__name__}>"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}.."


def _refuse(error: type[Exception], name: str, value: object, allowed: str) -> typing.NoReturn:
    raise error(f"{name}={_show(value)}: it is {allowed}")


def _is_bool(value: object) -> bool:
    return isinstance(value, (bool, numpy.bool_))


def read_count(name: str, value: object, least: int = 0, most: int = COUNT_MAX, more: str = "") -> int:
    """A whole number within bounds: an int, or one of NumPy. What is of another type is a TypeError, and what is out of
    bounds a ValueError; both name the argument and say what is allowed. more: what else is."""
    allowed = f"a whole number from {least} to {most}{more}"
    try:
        number = None if _is_bool(value) else operator.index(typing.cast(typing.SupportsIndex, value))
    except TypeError:
        number = None
    if number is None:
        _refuse(TypeError, name, value, allowed)
    if not least <= number <= most:
        _refuse(ValueError, name, value, allowed)
    return number


def read_optional_count(name: str, value: object, least: int = 0, most: int = COUNT_MAX) -> int | None:
    """The same, or None."""
    return None if value is None else read_count(name, value, least, most, ", or None")


def read_seconds(name: str, value: object) -> float | None:
    """A time: a finite number above 0, or None for no limit."""
    allowed = "a number of seconds above 0, or None for no limit"
    if value is None:
        return None
    if _is_bool(value) or not isinstance(value, numbers.Real):
        _refuse(TypeError, name, value, allowed)
    try:
        seconds = float(value)
    except (OverflowError, ValueError):
        seconds = math.inf
    if not 0 < seconds < math.inf:
        _refuse(ValueError, name, value, allowed)
    return seconds


def read_flag(name: str, value: object) -> bool:
    """True or False: a number or a text is none."""
    if not _is_bool(value):
        _refuse(TypeError, name, value, "True or False")
    return bool(value)


def read_text(name: str, value: object) -> bytes:
    """A str for C, which ends it at a NUL: so it may have none."""
    if not isinstance(value, str):
        _refuse(TypeError, name, value, "a str")
    if "\0" in value:
        _refuse(ValueError, name, value, "a str without NUL characters")
    return SURROGATES.sub("\ufffd", value).encode()


def encode_text(text: object) -> bytes:
    """A text as a parser takes it, which says where it has what is no UTF-8."""
    if not isinstance(text, str):
        _refuse(TypeError, "text", text, "a str")
    try:
        return text.encode("utf-8", "surrogateescape")  # bytes of a file, as they were
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def get_host_memory() -> int:
    """Bytes of memory that this machine has; 0 if it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return 0
