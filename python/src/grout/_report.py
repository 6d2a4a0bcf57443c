# SPDX-License-Identifier: Apache-2.0
"""What a check has found. The words are the library's."""
from __future__ import annotations

import dataclasses
import html
import os
import re
import sys
import typing

from ._check import Found
from ._diagnostics import CheckError, Diagnostic, GroutError, Note, Place
from ._files import write
from ._launch import Stats
from ._library import lib, text_of

_Facts = dict[str, typing.Any]  # an object of a report in JSON


@dataclasses.dataclass(frozen=True)
class Access:
    """One side of a finding."""

    place: Place | None
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
    place: Place | None
    related: Place | None
    notes: tuple[Note, ...]
    accesses: tuple[Access, ...]
    missing_edge: str
    repair: str
    edit: Edit | None
    count: int
    identity: str
    meaning: str  # one sentence about the code
    short: str  # "smem-race at lines 26 and 37"
    silenced: str  # the reason of the comment 'allow:' that silences it; ""
    follows_from: Finding | None
    followers: list[Finding] = dataclasses.field(repr=False)
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
        return to_html(self._show(self._colored))


def _make_place(facts: typing.Any) -> Place | None:
    return None if facts is None else Place(facts["file"], facts["line"], facts["column"], facts["length"])


def _make_accesses(facts: typing.Any) -> tuple[Access, ...]:
    return tuple(Access(_make_place(access["place"]), access["op"], access["where"], access["engine"], access["box"],
                        access["kind"]) for access in facts["accesses"])


def _make_edit(edit: typing.Any) -> Edit | None:
    if edit is None:
        return None
    place = _make_place(edit["place"])
    assert place is not None  # an edit has one
    return Edit(place, edit["position"], edit["text"])


def _make_notes(facts: typing.Any) -> tuple[Note, ...]:
    return tuple(Note("advice" if note["severity"] == "help" else note["severity"], note["message"],
                      _make_place(note["place"])) for note in facts["notes"])


def _make_finding(facts: typing.Any, made: dict[str, Finding]) -> Finding:
    code = facts.get("code") or facts["silenced_code"]
    cause = made.get(facts.get("follows_from", ""))
    finding = Finding(
        code=code, severity=facts.get("severity", "error"), is_lowered=facts["is_lowered"], message=facts["message"],
        place=_make_place(facts["primary"]), related=_make_place(facts["related"]), notes=_make_notes(facts),
        accesses=_make_accesses(facts), missing_edge=facts["missing_edge"], repair=facts["repair"],
        edit=_make_edit(facts["edit"]), count=facts["count"], identity=facts["identity"],
        meaning=text_of(lib.grout_diag_get(lib.grout_diag_find(code.encode())).doc), short=facts["short"],
        silenced=facts.get("reason", ""), follows_from=cause, followers=[], text=facts["text"],
        _colored=facts["colored"])
    made[finding.identity] = finding
    if cause is not None:
        cause.followers.append(finding)
    return finding


@dataclasses.dataclass(frozen=True)
class Size:
    """One size of a sweep, or one seed of several."""

    binding: typing.Mapping[str, object]  # const -> value
    verdict: str
    holds_for_every_schedule: bool
    not_run: str  # why; "" if it was run
    seed: int | None = None  # of check(seeds=)


@dataclasses.dataclass(frozen=True, eq=False)
class Report:
    """The answer of a check. print() shows it; in a notebook it shows itself; show() writes it in colours."""

    kernel: str
    verdict: str  # "clean", "warning" (an error is there that severity= lowered), "error" or "incomplete"
    findings: tuple[Finding, ...]  # errors first
    silenced: tuple[Finding, ...]  # by comments '// allow: CODE reason' of the kernel
    warnings: tuple[Diagnostic, ...]  # of the verifier
    coverage: str  # what was looked at: launch, sizes, inputs, schedule
    promise: str  # for which schedules the verdict holds
    holds_for_every_schedule: bool
    stats: Stats
    accesses: int
    async_ops: int
    barrier_phases: int
    _head: tuple[str, str] = dataclasses.field(repr=False)
    _words: tuple[str, ...] = dataclasses.field(repr=False)
    _max_findings: int = dataclasses.field(repr=False)
    _found: Found = dataclasses.field(repr=False)

    def json(self) -> str:
        """The report as JSON, schema grout-report/1 (docs/report_schema.md), as 'grout check --format json' writes
        it."""
        return self._found.print(lib.GROUT_REPORT_JSON)

    def sarif(self) -> str:
        """The report as a SARIF 2.1.0 log, for GitHub's code scanning and others."""
        return self._found.print(lib.GROUT_REPORT_SARIF)

    def html(self) -> str:
        """The report as one web page, which needs nothing else: the source with the findings at their lines."""
        return self._found.print(lib.GROUT_REPORT_HTML)

    @property
    def command(self) -> str:
        """The command that shows the same again; "" for a kernel that is in no file."""
        return next((launch["see_it_again"] for launch in self._launches if launch.get("see_it_again")), "")

    @property
    def remarks(self) -> str:
        """What the search had to say beside the report, in lines: what minimise made smaller, what cut advice short."""
        return _in_python(self._found.remarks)

    @property
    def advice(self) -> tuple[Diagnostic, ...]:
        """Synchronisation that the launch does not need, if the report is of Kernel.advice."""
        return tuple(_make_diagnostic(one) for one in self._found.facts["findings"] if one.get("severity") == "advice")

    @property
    def sizes(self) -> tuple[Size, ...]:
        """What each size of Kernel.sweep, or each seed of Kernel.check(seeds=), came to."""
        return tuple(Size(one["binding"], one["verdict"], one["holds_for_every_schedule"], one["not_run"],
                          one.get("seed"))
                     for one in self._found.facts.get("sweep", ()))

    @property
    def _launches(self) -> list[_Facts]:
        return [*self._found.facts["coverage"]["kernels"],
                *(launch for size in self._found.facts.get("sweep", ()) for launch in size["kernels"])]

    @property
    def files(self) -> dict[str, bytes]:
        """Schedules that show what was found, by the names of their files: for 'grout check --replay'."""
        return self._found.files

    @property
    def is_clean(self) -> bool:
        """Whether the verdict is 'clean': no error, and nothing was left out."""
        return self.verdict == "clean"

    @property
    def errors(self) -> tuple[Finding, ...]:
        """The findings that are errors."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    def expect_clean(self) -> Report:
        """Raises a CheckError, whose message is the report, unless it is clean. Returns the report."""
        if not self.is_clean:
            raise CheckError(str(self), self.warnings, self)
        return self

    def _text(self, color: bool) -> str:
        shown = [finding for finding in self.findings if finding.follows_from is None][:self._max_findings]
        parts = [str(diagnostic) for diagnostic in self.warnings]
        parts += [finding._show(finding._colored if color else finding.text) for finding in shown]
        return "\n\n".join([*parts, "\n".join([self._head[color], *self._words[1:]]).rstrip("\n")])

    def __str__(self) -> str:
        return self._text(False)

    def show(self, file: typing.TextIO | None = None) -> None:
        """Writes the report to a stream (stdout), in colours if it is a terminal and NO_COLOR is not set."""
        file = sys.stdout if file is None else file
        is_terminal = hasattr(file, "isatty") and file.isatty() and not os.environ.get("NO_COLOR")
        print(self._text(is_terminal), file=file)

    def _repr_pretty_(self, printer: typing.Any, cycle: bool) -> None:
        printer.text("Report(...)" if cycle else str(self))

    def _repr_html_(self) -> str:
        return to_html(self._text(True))


def _make_diagnostic(facts: typing.Any) -> Diagnostic:
    return Diagnostic(facts["code"], facts["severity"], facts["message"], _make_place(facts["primary"]),
                      _make_notes(facts), facts["text"])


def _is_finding(facts: typing.Any) -> bool:
    """Whether it is what a run has found, and no diagnostic."""
    return "short" in facts


def _find_head(head: str, colored: str) -> str:
    """The same line with its colours."""
    return next((line for line in colored.split("\n") if _ESCAPE.sub("", line) == head), head)


def _find_launch(launches: typing.Sequence[_Facts], verdict: str) -> _Facts:
    """The launch that a report speaks of: the first that has the verdict, by its own words, else the last."""
    def has(launch: _Facts) -> bool:
        return launch.get("words", "").split("\n")[0].partition(": ")[2].startswith(verdict)

    return next(filter(has, launches), launches[-1] if launches else {})


COVERED = "  covered: "
_OPTION = re.compile(r"\(--([\w-]+)\)")


def _in_python(words: str) -> str:
    """Words that name an option of the command: "(--max-steps)"."""
    return _OPTION.sub(lambda match: f"({match.group(1).replace('-', '_')})", words)


def make_report(kernel: str, warnings: tuple[Diagnostic, ...], found: Found, max_findings: int = 20,
                conditions: typing.Sequence[str] = (), is_list: bool = False) -> Report:
    """The report of a check. warnings: of the verifier. conditions: what else was covered. is_list: each launch has its
    lines."""
    facts = found.facts
    made: dict[str, Finding] = {}
    findings = [_make_finding(one, made) for one in facts["findings"] if _is_finding(one)]
    launches = facts["coverage"]["kernels"]
    launch = _find_launch(launches, facts["verdict"])
    shown = launches if is_list and launches else [launch]
    words = [line + "".join(f"; {condition}" for condition in conditions if line.startswith(COVERED))
             for one in shown for line in _in_python(one.get("words", "")).split("\n")]
    colored = found.print(lib.GROUT_REPORT_COLOR)
    return Report(
        kernel=kernel, verdict=facts["verdict"],
        findings=tuple(sorted(findings, key=lambda finding: finding.severity != "error")),
        silenced=tuple(_make_finding(one, made) for one in facts["silenced"] if _is_finding(one)), warnings=warnings,
        coverage="\n".join(line[len(COVERED):] for line in words if line.startswith(COVERED)),
        promise=_in_python(launch.get("promise", "")),
        holds_for_every_schedule=all(one.get("holds_for_every_schedule", False) for one in launches),
        stats=Stats(**launch["stats"]) if "stats" in launch else Stats(0, 0, 0, 0, 0, 0.0),
        accesses=launch.get("accesses", 0), async_ops=launch.get("async_ops", 0),
        barrier_phases=launch.get("barrier_phases", 0), _found=found, _words=tuple(words),
        _head=(words[0], _find_head(words[0], colored)), _max_findings=max_findings)


class Fix:
    """What a search for repairs came to. str() shows the changes and the outcome."""

    def __init__(self, path: str, source: bytes, found: Found, report: Report) -> None:
        self._path, self._source = path, source
        self.text: str = found.repaired or source.decode("utf-8", "surrogateescape")
        self.diff: str = found.diff  # unified; "" if nothing was changed
        self.steps: tuple[str, ...] = tuple(line.strip() for line in found.steps.splitlines()[1:])
        self.outcome: str = found.outcome.strip()  # "k.grout: 2 changes, the result is clean"
        self.report = report  # of the check of the result

    @property
    def is_changed(self) -> bool:
        return bool(self.diff)

    @property
    def is_clean(self) -> bool:
        """Whether the result is clean."""
        return self.report.is_clean

    def write(self, path: str | os.PathLike[str] | None = None) -> None:
        """Writes the text to a file, whole or not at all; None: to the one that the kernel was loaded from, if that
        still has the text that was repaired."""
        if path is None and not self._path:
            raise ValueError("the kernel is of no file: say where to write, fix.write(path)")
        target = os.fspath(self._path if path is None else path)
        if path is None:
            with open(target, encoding="utf-8", errors="surrogateescape") as file:
                if file.read() != self._source.decode("utf-8", "surrogateescape"):
                    raise GroutError(f"'{target}' has changed since it was loaded: nothing is written")
        write(target, self.text)

    def __str__(self) -> str:
        return self._text(self.diff)

    def _text(self, diff: str) -> str:
        return "\n".join(filter(None, [*self.steps, diff.rstrip("\n"), self.outcome])) or str(self.report)

    def _repr_pretty_(self, printer: typing.Any, cycle: bool) -> None:
        printer.text("Fix(...)" if cycle else str(self))

    def _repr_html_(self) -> str:
        colors = {"+": "32", "-": "31", "@": "36"}
        return to_html(self._text("\n".join(f"\033[{colors[line[0]]}m{line}\033[0m" if line[:1] in colors else line
                                            for line in self.diff.split("\n"))))

    def __repr__(self) -> str:
        return f"<grout.Fix {'changed' if self.is_changed else 'unchanged'}, {self.report.verdict}>"


# ---- notebooks ------------------------------------------------------------------------------------------------------

_ESCAPE = re.compile(r"\033\[([0-9;]*)m")
_COLORS = {"30": "#555", "31": "#c62828", "32": "#2e7d32", "33": "#b26a00", "34": "#1565c0", "35": "#8e24aa",
           "36": "#00838f", "37": "#777", "90": "#777"}


def to_html(text: str) -> str:
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
