# SPDX-License-Identifier: Apache-2.0
"""Comments '// allow: CODE[, CODE] reason' of a kernel file, which silence findings of a line.

A comment after code is about its own line, one alone on its line about the next line with code. In Python, for kernels
that are built there or imported from JAX, it is '# allow: CODE reason'.
"""
from __future__ import annotations

import dataclasses
import io
import re
import tokenize
import typing

from ._diagnostics import GroutError
from ._library import lib, visible
from ._severity import is_finding

COMMENT = re.compile(r'(?:[^"/]|"(?:[^"\\]|\\.)*"|/(?!/))*')
RULE = re.compile(r"allow:\s*([\w-]+(?:,\s*[\w-]+)*)\s+(\S.*)")


@dataclasses.dataclass(frozen=True)
class Allowance:
    """One rule."""

    code: str
    line: int
    reason: str
    file: str


def _check_code(where: str, code: str) -> None:
    number = lib.grout_diag_find(code.encode())
    if number == lib.GROUT_DIAG_NONE:
        raise GroutError(f"{where}: error: there is no code '{code}' [bad-suppression]")
    if not is_finding(number):
        raise GroutError(f"{where}: error: '{code}' is not a finding of a run: it cannot be silenced [bad-suppression]")


def _read_rule(where: str, comment: str) -> list[tuple[str, str]]:
    """Codes with the reason."""
    rule = RULE.fullmatch(comment)
    if rule is None:
        raise GroutError(f"{where}: error: write '// allow: CODE why this is right here' [bad-suppression]")
    codes = [code.strip() for code in rule.group(1).split(",")]
    for code in codes:
        _check_code(where, code)
    return [(code, rule.group(2)) for code in codes]


def read_allowances(text: str, name: str) -> tuple[Allowance, ...]:
    """The rules of a text. Raises a GroutError if one is none."""
    found: list[Allowance] = []
    waiting: list[tuple[str, str]] = []
    where = ""
    for number, line in enumerate(text.split("\n"), 1):
        code_part = COMMENT.match(line)
        end = code_part.end() if code_part else 0
        rules = []
        for comment in line[end:].split("//")[1:]:
            if comment.strip().startswith("allow:"):
                where = f"{visible(name)}:{number}:1"
                rules += _read_rule(where, comment.strip())
        waiting += rules
        if line[:end].strip():
            found += [Allowance(code, number, reason, name) for code, reason in waiting]
            waiting = []
    if waiting:
        raise GroutError(f"{where}: error: no code follows this allow comment [bad-suppression]")
    return tuple(found)


def _list_comments(text: str) -> typing.Iterator[tuple[int, str, bool]]:
    """Line and comment, for each of a Python file, and whether it comes after code."""
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.start[0], token.string.lstrip("#").strip(), bool(token.line[:token.start[1]].strip())
    except (tokenize.TokenError, SyntaxError):  # no Python after all
        return


def read_python_allowances(text: str, name: str) -> tuple[Allowance, ...]:
    """The rules of a Python file. 'allow:' is a word of others too: what does not begin with a code is none of ours."""
    if "allow:" not in text:
        return ()
    lines = text.split("\n")
    found: list[Allowance] = []
    for number, comment, is_behind_code in _list_comments(text):
        rule = RULE.fullmatch(comment)
        if rule is None:
            continue
        line = number
        while not is_behind_code and line < len(lines) and (not lines[line].strip() or
                                                            lines[line].lstrip().startswith("#")):
            line += 1
        codes = [code.strip() for code in rule.group(1).split(",")]
        known = [code for code in codes if lib.grout_diag_find(code.encode()) != lib.GROUT_DIAG_NONE]
        for code in known:
            _check_code(f"{visible(name)}:{number}:1", code)
        found += [Allowance(code, number if is_behind_code else line + 1, rule.group(2), name) for code in known]
    return tuple(found)
