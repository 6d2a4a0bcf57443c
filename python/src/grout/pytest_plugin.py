# SPDX-License-Identifier: Apache-2.0
"""pytest --grout: the Pallas kernels of a test suite run on grout's interpreter, under its race checker.

A test with a finding that is an error fails, with the report. Nothing of JAX is imported without --grout.
"""
from __future__ import annotations

import contextlib
import typing

import pytest

if typing.TYPE_CHECKING:
    from .pallas import Session

GPUS = ("a100", "h100", "b200")
_DEVICE: pytest.StashKey[typing.Any] = pytest.StashKey()
_COUNTS: pytest.StashKey[typing.Any] = pytest.StashKey()
_LEVELS: pytest.StashKey[typing.Any] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("grout", "Pallas kernels on grout")
    group.addoption("--grout", action="store_true", help="run Pallas kernels for Mosaic GPU on the CPU and check them")
    for gpu in GPUS:  # whole words, so that what follows --grout stays the name of a test
        group.addoption(f"--grout={gpu}", action="store_const", const=gpu, dest="grout_gpu",
                        help=f"the same on a device that says it is one {gpu.upper()}, for tests that ask")
    group.addoption("--grout-run", action="store_true", help="run them on the CPU, without the checker")
    group.addoption("--grout-warnings", action="store_true", help="fail tests whose kernels have warnings, too")
    group.addoption("--grout-severity", action="append", default=[], metavar="CODE=LEVEL",
                    help="make a finding an error or a warning, such as missing-commit-smem-war=warning; repeatable")
    group.addoption("--grout-wgmma", choices=("lowered", "documented"), default="lowered",
                    help="plgpu.wgmma waits for nothing, as JAX lowers it, or for those before, as it is documented")
    group.addoption("--grout-sms", type=int, default=None, metavar="N",
                    help="the number of SMs for kernels that ask the device (132)")
    group.addoption("--grout-timeout", type=float, default=None, metavar="SECONDS", help="of one call of a kernel")


def _is_on(config: pytest.Config) -> bool:
    return _checks(config) or config.getoption("--grout-run")


def _checks(config: pytest.Config) -> bool:
    return config.getoption("--grout") or config.getoption("grout_gpu") is not None


def pytest_configure(config: pytest.Config) -> None:
    """Counts for the last line, and the severities. A device that says it is a GPU is there from here on, for tests
    that are skipped without."""
    config.stash[_COUNTS] = {"kernels": 0, "calls": 0, "errors": 0, "incomplete": 0, "lowered": 0}
    config.stash[_LEVELS] = _read_levels(config)
    _check_numbers(config)
    if config.getoption("grout_gpu") is not None:
        from grout.pallas import _device
        device = _device.pretend(config.getoption("--grout-sms"), config.getoption("grout_gpu"))
        device.__enter__()
        config.stash[_DEVICE] = device


def pytest_unconfigure(config: pytest.Config) -> None:
    """The device is what it was."""
    device = config.stash.get(_DEVICE, None)
    if device is not None:
        device.__exit__(None, None, None)


def _read_levels(config: pytest.Config) -> dict[str, str]:
    words = config.getoption("--grout-severity")
    if not words:
        return {}
    if not _checks(config):
        raise pytest.UsageError("--grout-severity goes with --grout: without the checker there are no findings")
    from grout._severity import parse_levels
    try:
        return parse_levels(words, "--grout-severity")
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def _check_numbers(config: pytest.Config) -> None:
    from grout._limits import COUNT32_MAX, read_optional_count, read_seconds
    try:
        read_seconds("--grout-timeout", config.getoption("--grout-timeout"))
        read_optional_count("--grout-sms", config.getoption("--grout-sms"), 1, COUNT32_MAX)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from None


def _interpret(config: pytest.Config) -> contextlib.AbstractContextManager[Session]:
    from grout import pallas
    options: dict[str, typing.Any] = {}
    if config.getoption("--grout-timeout") is not None:
        options["timeout"] = config.getoption("--grout-timeout")
    if config.stash[_LEVELS]:
        options["severity"] = config.stash[_LEVELS]
    return pallas.interpret(check=_checks(config), wgmma=config.getoption("--grout-wgmma"),
                            sms=config.getoption("--grout-sms"), gpu=config.getoption("grout_gpu"), **options)


def _is_bad(report: typing.Any, config: pytest.Config) -> bool:
    bad = ("error", "incomplete", "warning") if config.getoption("--grout-warnings") else ("error", "incomplete")
    return report.verdict in bad or config.getoption("--grout-warnings") and bool(report.findings)


def _count(config: pytest.Config, session: typing.Any) -> None:
    counts = config.stash[_COUNTS]
    counts["kernels"] += len(session.kernels)
    counts["calls"] += len(session.calls)
    for verdict, name in (("error", "errors"), ("incomplete", "incomplete"), ("warning", "lowered")):
        counts[name] += sum(report.verdict == verdict for report in session.reports)
    counts["incomplete"] += sum(call.report is not None and call.report.verdict != "error" and bool(call.imported.gaps)
                                for call in session.calls)


def _run(item: pytest.Item) -> typing.Generator[None, typing.Any, None]:
    """One phase of a test, with an option of ours in a session."""
    if not _is_on(item.config):
        yield
        return
    with _interpret(item.config) as session:
        outcome = yield
    _count(item.config, session)
    bad = [report for report in session.reports if _is_bad(report, item.config)]
    gaps = [f"incomplete: {gap}" for call in session.calls if call.report is not None for gap in call.imported.gaps]
    notes = gaps + [f"note: {note}" for kernel in session.kernels for note in kernel.notes]
    if bad or gaps:
        text = "\n\n".join(map(str, bad)) + "".join(f"\n{note}" for note in dict.fromkeys(notes))
        item.add_report_section("call", "grout", text)
    if session.error is not None and outcome.excinfo is not None:
        session.error.__suppress_context__ = True
        outcome.force_exception(session.error)
    elif (bad or gaps) and outcome.excinfo is None:
        codes = sorted({finding.code for report in bad for finding in report.findings} or {"incomplete"})
        outcome.force_exception(pytest.fail.Exception(f"grout: {', '.join(codes)}; see 'grout' below", pytrace=False))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> typing.Generator[None, typing.Any, None]:
    """Fixtures call kernels, too."""
    yield from _run(item)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> typing.Generator[None, typing.Any, None]:
    """The test."""
    yield from _run(item)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """How much was looked at."""
    if not _is_on(config):
        return
    counts = config.stash[_COUNTS]
    text = f"grout: {counts['kernels']} kernels read, {counts['calls']} calls"
    if _checks(config):
        text += f" checked, {counts['errors']} with errors, {counts['incomplete']} incomplete"
    if config.stash[_LEVELS]:
        text += f", {counts['lowered']} with a warning in place of an error (--grout-severity)"
    terminalreporter.write_line(text)
