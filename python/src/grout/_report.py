# SPDX-License-Identifier: Apache-2.0
"""What a check has found. The words are the library's."""
from __future__ import annotations

import dataclasses
import html
import os
import re
import sys
import typing

from ._diagnostics import (CheckError, Diagnostic, Note, Place, make_diagnostic, make_notes, make_place, render,
                           severity_text)
from ._launch import STEPS_ARE_OVER, Run, Stats
from ._library import ffi, lib, take_text, text_of
from ._severity import Levels

# Codes that say that a limit was reached: no fault of the kernel.
LIMITS = ("step-limit", "out-of-memory")


@dataclasses.dataclass(frozen=True)
class Access:
    """One side of a finding."""

    place: typing.Optional[Place]
    op: str
    where: str
    engine: str
    box: str
    kind: str  # "read", "write" or, of a wait or a limit, "none"


@dataclasses.dataclass(frozen=True)
class Edit:
    """A repair as a change of the text: put text on lines of its own before or after the line of place, or in the
    place of the bytes there (position 'replace')."""

    place: Place
    position: str
    text: str


@dataclasses.dataclass(frozen=True, eq=False)
class Finding:
    """Something wrong with a kernel. str() shows it with its source lines, as the command does."""

    code: str
    severity: str
    is_lowered: bool  # an error, but for severity=
    message: str
    place: typing.Optional[Place]
    related: typing.Optional[Place]
    notes: typing.Tuple[Note, ...]
    accesses: typing.Tuple[Access, ...]
    missing_edge: str
    repair: str
    edit: typing.Optional[Edit]
    count: int
    identity: str
    meaning: str  # one sentence about the code
    short: str  # "smem-race at lines 26 and 37"
    silenced: str  # the reason of the comment 'allow:' that silences it; ""
    follows_from: typing.Optional["Finding"]
    followers: typing.List["Finding"] = dataclasses.field(repr=False)
    text: str = dataclasses.field(repr=False)
    _colored: str = dataclasses.field(repr=False)

    def __str__(self) -> str:
        return self._show(self.text)

    def _show(self, text: str) -> str:
        if self.count > 1:
            text += f"\n  seen {self.count} times"
        if self.followers:
            text += "\n  what follows from it: " + "; ".join(finding.short for finding in self.followers)
        return text

    def _repr_html_(self) -> str:
        return _to_html(self._show(self._colored))


def _make_accesses(finding) -> typing.Tuple[Access, ...]:
    return tuple(
        Access(make_place(access.place), text_of(access.op), text_of(access.where), text_of(access.engine),
               text_of(access.box), "none" if not text_of(access.engine) else "write" if access.is_write else "read")
        for access in (finding.accesses[i] for i in range(finding.access_count)))


def _make_edit(edit) -> typing.Optional[Edit]:
    place = make_place(edit.place)
    if place is None:
        return None
    return Edit(place, "replace" if edit.is_replacement else "after" if edit.is_after else "before",
                text_of(edit.text))


def _key(finding) -> int:
    return int(ffi.cast("uintptr_t", finding))


def _make_diag(finding, levels: Levels):
    """The diagnostic of a finding with the severity that the call gives its code."""
    level = levels.get(text_of(lib.grout_diag_get(finding.code).text))
    if level is None:
        return finding.diag
    diag = ffi.new("grout_diag *", finding.diag[0])
    diag.severity = lib.GROUT_SEVERITY_ERROR if level == "error" else lib.GROUT_SEVERITY_WARNING
    return diag


def _make_finding(finding, diags, causes: typing.Dict[int, "Finding"], allowances, levels: Levels) -> Finding:
    info = lib.grout_diag_get(finding.code)
    diag = _make_diag(finding, levels)
    severity = severity_text(diag.severity)
    cause = causes.get(_key(finding.cause)) if finding.cause != ffi.NULL else None
    # What follows from an error stands with it; what follows from a warning, if it is no error itself.
    place = make_place(finding.primary)
    silenced = next((rule.reason for rule in allowances if place is not None and
                     (rule.code, rule.file, rule.line) == (text_of(info.text), place.file, place.line)), "")
    is_follower = cause is not None and not cause.silenced and not silenced and (
        cause.severity == "error" or severity != "error")
    made = Finding(
        code=text_of(info.text), severity=severity, is_lowered=severity == "warning" and
        finding.severity == lib.GROUT_SEVERITY_ERROR, message=text_of(finding.diag.message),
        place=place, related=make_place(finding.related), notes=make_notes(finding.diag),
        accesses=_make_accesses(finding), missing_edge=text_of(finding.missing_edge), repair=text_of(finding.repair),
        edit=_make_edit(finding.edit), count=finding.count, identity=f"{finding.identity:016x}",
        meaning=text_of(info.doc), short=take_text(lambda text: lib.grout_describe_finding(finding, text)),
        silenced=silenced, follows_from=cause if is_follower else None, followers=[],
        text=render(diag, diags).rstrip("\n"), _colored=render(diag, diags, color=True).rstrip("\n"))
    causes[_key(finding)] = made
    if made.follows_from is not None:
        made.follows_from.followers.append(made)
    return made


@dataclasses.dataclass(frozen=True, eq=False)
class Report:
    """The answer of a check. print() shows it; in a notebook it shows itself; show() writes it in colours."""

    kernel: str
    verdict: str  # "clean", "warning" (an error is there that severity= lowered), "error" or "incomplete"
    findings: typing.Tuple[Finding, ...]  # errors first
    silenced: typing.Tuple[Finding, ...]  # by comments '// allow: CODE reason' of the kernel
    warnings: typing.Tuple[Diagnostic, ...]  # of the verifier
    coverage: str  # what was looked at: launch, sizes, inputs, schedule
    promise: str  # for which schedules the verdict holds
    holds_for_every_schedule: bool
    stats: Stats
    accesses: int
    async_ops: int
    barrier_phases: int
    _head: typing.Tuple[str, str] = dataclasses.field(repr=False)
    _extra: str = dataclasses.field(repr=False)
    _max_findings: int = dataclasses.field(repr=False)

    @property
    def is_clean(self) -> bool:
        """Whether the verdict is 'clean': no error, and nothing was left out."""
        return self.verdict == "clean"

    @property
    def errors(self) -> typing.Tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def expect_clean(self) -> "Report":
        """Raises a CheckError, whose message is the report, unless it is clean. Returns the report."""
        if not self.is_clean:
            raise CheckError(str(self), self.warnings, self)
        return self

    def _text(self, color: bool) -> str:
        shown = [finding for finding in self.findings if finding.follows_from is None][:self._max_findings]
        parts = [str(diagnostic) for diagnostic in self.warnings]
        parts += [finding._show(finding._colored if color else finding.text) for finding in shown]
        lines = [self._head[color], f"  covered: {self.coverage}"]
        lines += [f"  {self._extra}"] if self._extra else []
        lines += [f"  {self.promise}"] if self.holds_for_every_schedule or not self.errors else []
        return "\n\n".join([*parts, "\n".join(lines)])

    def __str__(self) -> str:
        return self._text(False)

    def show(self, file=None) -> None:
        """Writes the report to a stream (stdout), in colours if it is a terminal and NO_COLOR is not set."""
        file = sys.stdout if file is None else file
        is_terminal = hasattr(file, "isatty") and file.isatty() and not os.environ.get("NO_COLOR")
        print(self._text(is_terminal), file=file)

    def _repr_pretty_(self, printer, cycle: bool) -> None:
        printer.text("Report(...)" if cycle else str(self))

    def _repr_html_(self) -> str:
        return _to_html(self._text(True))


def _list_findings(checker, exploration):
    """Those of a run, and then of the schedules that were explored, each once."""
    checkers = [checker]
    if exploration is not None:
        checkers += [exploration.witnesses[i].checker for i in range(1, exploration.witness_count)]
    found = {}
    for one in checkers:
        for index in range(lib.grout_checker_get_count(one)):
            finding = lib.grout_checker_get_finding(one, index)
            found.setdefault(finding.identity, finding)
    return list(found.values())


def make_report(bound, run: Run, checker, coverage: str, module, max_findings: int, levels: Levels,
                exploration=None) -> Report:
    summary = lib.grout_checker_get_summary(checker, run.cut is not None)
    causes: typing.Dict[int, Finding] = {}
    made = [_make_finding(finding, run.diags.list, causes, module.allowances, levels)
            for finding in _list_findings(checker, exploration)]
    findings = [finding for finding in made if not finding.silenced]
    heads = [finding for finding in findings if finding.follows_from is None]
    counts = {
        "errors": sum(finding.severity == "error" and finding.code not in LIMITS for finding in heads),
        "warnings": sum(finding.severity == "warning" for finding in heads),
        "silenced": len(made) - len(findings),
        "follow_on": summary.suppressed_count + len(findings) - len(heads),
        "unlisted": summary.dropped_count + max(0, len(heads) - max_findings),
    }
    cut_text = run.cut
    if cut_text is None and any(finding.code in LIMITS for finding in made):  # of a schedule that was explored
        cut_text = STEPS_ARE_OVER
    is_open = cut_text is not None or summary.verdict == lib.GROUT_VERDICT_INCOMPLETE
    is_lowered = any(finding.is_lowered for finding in findings)
    verdict = "error" if counts["errors"] else "incomplete" if is_open else "warning" if is_lowered else "clean"

    def make_head(color: bool) -> str:
        kernel, word = ffi.new("char[]", bound.name.encode()), ffi.new("char[]", verdict.encode())
        line = ffi.new("grout_verdict_line *", {"kernel": kernel, "word": word, "counts": counts, "color": color})
        return take_text(lambda text: lib.grout_describe_verdict(line, text))

    cut = ffi.NULL if cut_text is None else ffi.new("char[]", cut_text.encode())
    summary_pointer = ffi.new("grout_check_summary *", summary)
    holds = bool(summary.is_well_synchronised)
    if exploration is not None:
        holds = bool(lib.grout_exploration_holds(exploration))

    def describe(text) -> None:
        if exploration is None or verdict == "incomplete":
            lib.grout_describe_promise(summary_pointer, counts["errors"] > 0, cut, text)
        else:
            lib.grout_describe_exploration(exploration, summary_pointer, ffi.NULL, text)

    return Report(
        kernel=bound.name, verdict=verdict,
        findings=tuple(sorted(findings, key=lambda finding: finding.severity != "error")),
        silenced=tuple(finding for finding in made if finding.silenced), warnings=bound.warnings, coverage=coverage,
        promise=take_text(describe), holds_for_every_schedule=holds and cut_text is None, stats=run.stats,
        accesses=summary.accesses, async_ops=summary.async_ops, barrier_phases=summary.barrier_phases,
        _head=(make_head(False), make_head(True)), _extra=_describe_non_finite(run), _max_findings=max_findings)


def _describe_non_finite(run: Run) -> str:
    if not run.options.non_finite:
        return ""
    stats = ffi.new("grout_run_stats *", run.raw_stats)
    return take_text(lambda text: lib.grout_describe_non_finite(stats, text))


# ---- notebooks ------------------------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"\033\[([0-9;]*)m")
_COLORS = {"30": "#555", "31": "#c62828", "32": "#2e7d32", "33": "#b26a00", "34": "#1565c0", "35": "#8e24aa",
           "36": "#00838f", "37": "#777", "90": "#777"}


def _to_html(text: str) -> str:
    """The text as a terminal shows it, as HTML."""
    out, is_open, at = [], False, 0
    for match in _ESCAPE.finditer(text):
        out.append(html.escape(text[at:match.start()]))
        at = match.end()
        codes = match.group(1).split(";")
        styles = ["font-weight:bold"] if "1" in codes else []
        styles += [f"color:{_COLORS[code]}" for code in codes if code in _COLORS]
        out.append("</span>" if is_open else "")
        is_open = bool(styles)
        out.append(f'<span style="{";".join(styles)}">' if is_open else "")
    out.append(html.escape(text[at:]))
    out.append("</span>" if is_open else "")
    return f'<pre class="grout-report" style="line-height:1.3">{"".join(out)}</pre>'
