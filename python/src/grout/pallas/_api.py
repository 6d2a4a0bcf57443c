# SPDX-License-Identifier: Apache-2.0
"""check, run, emit, dump: a function of JAX arrays that calls Pallas kernels, looked at through grout."""
from __future__ import annotations

import contextlib
import functools
import html
import typing

from .._kernel import Emitted
from .._library import visible
from .._report import Finding, Report
from . import _jax, _series
from ._device import pretend
from ._importer import Imported, Options
from ._session import Session, enter, find_cause, leave

ORDER = ("clean", "warning", "incomplete", "error")


@contextlib.contextmanager
def _session(session: Session, sms: int | None, gpu: str | None) -> typing.Iterator[Session]:
    with pretend(sms, gpu):
        before = enter(session)
        try:
            yield session
        finally:
            leave(before)


@contextlib.contextmanager
def interpret(check: bool = False, wgmma: str = "lowered", sms: int | None = None, gpu: str | None = None,
              on_report: typing.Callable[[Report], object] | None = None,
              **options: typing.Any) -> typing.Iterator[Session]:
    """with grout.pallas.interpret(): every Pallas kernel for Mosaic GPU that JAX runs in it runs on grout.

    check: under the race checker; then session.reports has a report for each call. wgmma: 'lowered' (plgpu.wgmma waits
    for nothing, as JAX lowers it) or 'documented' (it waits for the ones before). sms: how many SMs a kernel that asks
    sees; None: what the device says, or 132. gpu: 'a100', 'h100' or 'b200', which devices say they are in it, to
    all but JAX itself: for kernels and tests that ask. on_report: called with each report; what it raises is an error
    of the kernel's call. Other options are those of Kernel.check or Kernel.run, such as
    seed= or timeout=.

    With check, a kernel whose interpret= has detect_races=True and on_race='raise' (JAX 0.12) raises where its report
    has an error, as JAX' interpreter does.

    Functions that JAX compiles in it are not used outside of it.
    """
    session = Session(check, options, Options(wgmma), False, on_report)
    session.raises_races = True
    with _session(session, sms, gpu):
        yield session


class PallasReport:
    """What check found: a Report for each call of a kernel, and what the function returned.

    Its text and its HTML show all of them. verdict is the worst, findings are those of all.
    """

    def __init__(self, session: Session, result: typing.Any) -> None:
        self.calls = list(session.calls)
        self.result = result

    @property
    def reports(self) -> list[Report]:
        """One a call."""
        return [call.report for call in self.calls if call.report is not None]

    @property
    def findings(self) -> list[Finding]:
        """The findings of all calls."""
        return [finding for report in self.reports for finding in report.findings]

    @property
    def verdict(self) -> str:
        """The worst of the calls; 'clean' without any."""
        verdicts = [report.verdict for report in self.reports] + ["incomplete"] * bool(self.gaps)
        return max(verdicts, key=lambda verdict: ORDER.index(verdict) if verdict in ORDER else len(ORDER),
                   default="clean")

    @property
    def gaps(self) -> list[str]:
        """What the checker does not see of the kernels: with any of these the verdict is never 'clean'."""
        return list(dict.fromkeys(gap for call in self.calls for gap in call.imported.gaps))

    @property
    def notes(self) -> dict[str, int]:
        """What the importer has to say of the kernels."""
        return {note: count for call in self.calls for note, count in call.imported.notes.items()}

    def __str__(self) -> str:
        if not self.calls:
            return "no kernel for Mosaic GPU was called"
        notes = "".join(f"\n{line}" for line in self._list_notes())
        return "\n\n".join(map(str, self.reports)) + notes

    def _list_notes(self) -> list[str]:
        return [f"incomplete: {visible(gap)}" for gap in self.gaps] + [f"note: {visible(note)}" for note in self.notes]

    def __repr__(self) -> str:
        return f"<grout.pallas.PallasReport {self.verdict}: {len(self.calls)} calls, {len(self.findings)} findings>"

    def show(self) -> None:
        """To the terminal, in colours."""
        for report in self.reports:
            report.show()
        for line in self._list_notes():
            print(line)

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>incomplete: {html.escape(gap)}</p>" for gap in self.gaps)
        notes += "".join(f"<p>note: {html.escape(note)}</p>" for note in self.notes)
        return "".join(report._repr_html_() for report in self.reports) + notes


def _call(session: Session, sms: typing.Any, gpu: typing.Any, function: typing.Any, arguments: typing.Any,
          keywords: typing.Any) -> typing.Any:
    import jax
    with _session(session, sms, gpu):
        try:
            return jax.block_until_ready(function(*arguments, **keywords))
        except Exception as error:  # JAX wraps what a callback raises
            cause = find_cause(session, error)
            if cause is None:
                raise
            _jax.forget_effects()
            raise cause from None


def check(function: typing.Callable[..., typing.Any], *, wgmma: str = "lowered", sms: int | None = None,
          gpu: str | None = None, on_report: typing.Callable[[Report], object] | None = None,
          **options: typing.Any) -> typing.Callable[..., PallasReport]:
    """check(f)(x, y): calls f(x, y), with its Pallas kernels under the race checker; the report says what is wrong.

    The options are those of interpret.
    """
    @functools.wraps(function, updated=())
    def checked(*arguments: typing.Any, **keywords: typing.Any) -> PallasReport:
        session = Session(True, options, Options(wgmma), False, on_report)
        result = _call(session, sms, gpu, function, arguments, keywords)
        return PallasReport(session, result)
    return checked


def run(function: typing.Callable[..., typing.Any], *, wgmma: str = "lowered", sms: int | None = None,
        gpu: str | None = None, **options: typing.Any) -> typing.Callable[..., typing.Any]:
    """run(f)(x, y): what f(x, y) returns, with its Pallas kernels run on the CPU, without the checker."""
    @functools.wraps(function, updated=())
    def ran(*arguments: typing.Any, **keywords: typing.Any) -> typing.Any:
        return _call(Session(False, options, Options(wgmma), False), sms, gpu, function, arguments, keywords)
    return ran


def import_kernels(function: typing.Callable[..., typing.Any], *, wgmma: str = "lowered",
                   sms: int | None = None, gpu: str | None = None) -> typing.Callable[..., list[Imported]]:
    """import_kernels(f)(x, y): the Pallas kernels that f(x, y) would call; arguments may be ShapeDtypeStructs.

    Nothing is run. Each has .kernel, a grout.Kernel, .text and .notes.
    """
    @functools.wraps(function, updated=())
    def imported(*arguments: typing.Any, **keywords: typing.Any) -> list[Imported]:
        import jax
        session = Session(False, {}, Options(wgmma), True)
        with _session(session, sms, gpu):
            jax.jit(lambda *given: function(*given, **keywords)).lower(*arguments)
        return session.kernels
    return imported


def dump(function: typing.Callable[..., typing.Any], **options: typing.Any) -> typing.Callable[..., str]:
    """dump(f)(x, y): the kernels as .grout texts. The options are those of import_kernels."""
    @functools.wraps(function, updated=())
    def dumped(*arguments: typing.Any, **keywords: typing.Any) -> str:
        return "\n".join(kernel.text for kernel in import_kernels(function, **options)(*arguments, **keywords))
    return dumped


def emit(function: typing.Callable[..., typing.Any], *, wgmma: str = "lowered", sms: int | None = None,
         gpu: str | None = None, **options: typing.Any) -> typing.Callable[..., list[Emitted]]:
    """emit(f)(x, y): the kernels as CUDA, as Kernel.emit gives it: one a kernel. Options are those of Kernel.emit."""
    @functools.wraps(function, updated=())
    def emitted(*arguments: typing.Any, **keywords: typing.Any) -> list[Emitted]:
        kernels = import_kernels(function, wgmma=wgmma, sms=sms, gpu=gpu)(*arguments, **keywords)
        return [kernel.kernel.emit(**options) for kernel in kernels]
    return emitted


VERSION = _series.VERSION
