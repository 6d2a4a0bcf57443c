# SPDX-License-Identifier: Apache-2.0
"""The option severity={"CODE": "warning"}: other severities for the findings of a code.

A finding may be an error or a warning, and never nothing: what is lowered is still reported, and a verdict with a
lowered error is 'warning', not 'clean'.
"""
from __future__ import annotations

import difflib
import typing

from ._library import lib, text_of
from ._limits import read_text

LEVELS = ("error", "warning")
Levels = dict[str, str]


def is_finding(code: int) -> bool:
    """Whether the code is of what a run finds; limits are no fault of a kernel."""
    return lib.grout_diag_get(code).stage == lib.GROUT_STAGE_RUN and code != lib.GROUT_DIAG_STEP_LIMIT


def _list_findings() -> list[str]:
    return [text_of(lib.grout_diag_get(code).text) for code in range(1, lib.GROUT_DIAG_COUNT) if is_finding(code)]


def read_levels(severity: typing.Mapping[str, str] | None, option: str = "severity") -> Levels:
    """The levels by code. Raises a ValueError with what is wrong with the option."""
    if severity is None:
        return {}
    if not isinstance(severity, typing.Mapping):
        raise ValueError(f"{option}={severity!r}: it is a dict, such as {{'missing-commit-smem-war': 'warning'}}")
    for code, level in severity.items():
        number = lib.grout_diag_find(read_text(option, code))
        if number == lib.GROUT_DIAG_NONE:
            near = difflib.get_close_matches(str(code), _list_findings(), 1)
            raise ValueError(f"{option}: there is no code '{code}'" + (f": did you mean '{near[0]}'?" if near else ""))
        if not is_finding(number):
            raise ValueError(f"{option}: '{code}' is not a finding of a run: its severity stays as it is")
        if level not in LEVELS:
            raise ValueError(f"{option}: '{code}' can be 'error' or 'warning', not '{level}'; a comment "
                             f"'# allow: {code} reason' silences a finding at its line")
    return dict(severity)


def parse_levels(words: typing.Sequence[str], option: str) -> Levels:
    """The levels of an option of a command, CODE=LEVEL each. Raises a ValueError."""
    levels: Levels = {}
    for word in words:
        code, equals, level = word.partition("=")
        if not equals:
            raise ValueError(f"{option}: write CODE=warning or CODE=error, not '{word}'")
        levels[code] = level
    return read_levels(levels, option)


def describe_levels(levels: Levels) -> str:
    """As options of the command: "missing-commit-smem-war=warning"."""
    return ", ".join(f"{code}={level}" for code, level in sorted(levels.items()))
