"""The pytest plug-in of the children of run.py: every case inside grout.pallas.interpret(), with grout's reports where
the test asks JAX' state for races, and a line of JSON for every case.

JAX' mode raises an error where a kernel misuses barriers or leaves a copy unfinished; grout reports it. Here a report
with such a finding raises too, unless it also has a race: then JAX would not have come so far.

COMPAT_MODE=lower runs nothing: it asks JAX to lower the first kernel of a case for a GPU, and the line has its answer.

SPDX-License-Identifier: Apache-2.0
"""
import faulthandler
import functools
import json
import os
import re
import time
import types
import unittest

import jax
import numpy
import pytest

import lowering
import verdicts
from grout.pallas import _device

MODE = os.environ["COMPAT_MODE"]
RESULTS = os.environ["COMPAT_RESULTS"]
ONLY = os.environ.get("COMPAT_ONLY", "")
SECONDS = float(os.environ["COMPAT_SECONDS"])
SHARD, SHARDS = map(int, os.environ.get("COMPAT_SHARD", "0/1").split("/"))  # which part of the cases
KNOWN = os.environ["COMPAT_KNOWN"]  # a file with a list of cases that are not run
GPU = os.environ.get("COMPAT_GPU", "")  # which GPU a test sees; '': none
jax.config.update("jax_cpu_enable_async_dispatch", False)  # a report is there when the call returns

# Sums of an MMA begin with its accumulator; JAX' interpreter adds the product to it. Some cases compare with the latter
# to the last bit.
ROUNDING = 1e-6

_reports = []  # of the case at hand
_roundings = []  # relative differences that are due to it


class GroutFinding(Exception):
    """A finding of a kind that JAX' mode raises for."""


def _write(line):
    with open(RESULTS, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def _note(report):
    """Takes a report of a kernel."""
    _reports.append(report)
    misused = [finding for finding in report.findings
               if finding.code in verdicts.MISUSE and finding.severity == "error"]
    if misused and not any(finding.code in verdicts.RACES for finding in report.findings):
        raise GroutFinding("\n".join(f"{finding.message} [{finding.code}]" for finding in misused))


def _get_races():
    found = bool(_reports) and any(finding.code in verdicts.RACES for finding in _reports[-1].findings)
    return types.SimpleNamespace(races_found=found)


class _Said:
    """What assertRaisesRegex gives: passes where grout's words say what JAX' do."""

    def __init__(self, case, error, pattern):
        self.case, self.error, self.pattern = case, error, pattern

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            said = [f"{finding.message} [{finding.code}]" for report in _reports for finding in report.findings]
            raise self.case.failureException(f"grout raises nothing where JAX says '{self.pattern}'; it says: {said}")
        if isinstance(error, self.error) and re.search(self.pattern, str(error)):
            return True
        if verdicts.says_the_same(self.pattern, str(error)):
            return True
        raise self.case.failureException(f"JAX says '{self.pattern}', grout says:\n{error}") from error


def _assert_raises_regex(case, error, pattern, *args, **kwargs):
    said = _Said(case, error, pattern)
    if not args:
        return said
    with said:
        args[0](*args[1:], **kwargs)
    return None


def _assert_allclose(compare, actual, desired, rtol=1e-7, **options):
    """numpy's, for float32 with ROUNDING; what needs that is noted."""
    if rtol >= ROUNDING or numpy.asarray(actual).dtype != numpy.float32:
        compare(actual, desired, rtol=rtol, **options)
        return
    try:
        compare(actual, desired, rtol=rtol, **options)
    except AssertionError:
        compare(actual, desired, rtol=ROUNDING, **options)
        one, other = (numpy.asarray(array, numpy.float64) for array in (actual, desired))
        _roundings.append(float((numpy.abs(one - other) / numpy.abs(other)).max()))


def pytest_collection_modifyitems(items):
    done = set()
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as file:
            done = {line["case"] for line in map(json.loads, file) if "outcome" in line}
    with open(KNOWN, encoding="utf-8") as file:
        known = set(json.load(file))
    wanted = [item for item in items if re.search(ONLY, _get_case(item)) and _get_case(item) not in known]
    items[:] = [item for item in wanted[SHARD::SHARDS] if _get_case(item) not in done]


def _place(finding):
    """Code, severity and place of a finding, and the first of its words."""
    place = f"{os.path.basename(finding.place.file)}:{finding.place.line}" if finding.place else ""
    return [finding.code, finding.severity, place, finding.message[:200]]


def _get_case(item):
    return "::".join(item.nodeid.split("::")[1:])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    if MODE == "jax":
        return (yield)
    if MODE == "lower":
        with _device.pretend(None, GPU or None):
            return (yield from lowering.run_call(item))
    if GPU:
        import grout.pallas
        with grout.pallas.interpret(check=True, gpu=GPU, on_report=_reports.append,
                                    timeout=SECONDS / 2) as item.grout_session:
            return (yield)
    from jax._src.pallas.mosaic_gpu.interpret import interpret_pallas_call

    import grout.pallas
    interpret_pallas_call.get_races = _get_races
    unittest.TestCase.assertRaisesRegex = _assert_raises_regex
    if not isinstance(numpy.testing.assert_allclose, functools.partial):
        numpy.testing.assert_allclose = functools.partial(_assert_allclose, numpy.testing.assert_allclose)
    with grout.pallas.interpret(check=True, arch="any", on_report=_note) as item.grout_session:
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item, nextitem):
    _reports.clear()
    _roundings.clear()
    case = _get_case(item)
    _write({"case": case})
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    item.compat = {"case": case, "outcome": "passed", "message": "", "begin": time.perf_counter()}
    result = yield
    faulthandler.cancel_dump_traceback_later()
    line = item.compat
    line["seconds"] = round(time.perf_counter() - line.pop("begin"), 3)
    line["reports"] = [{"verdict": report.verdict, "codes": sorted({finding.code for finding in report.findings}),
                        "coverage": report.coverage} for report in _reports]
    line["rounding"] = max(_roundings, default=0)
    session = getattr(item, "grout_session", None)
    line["kernels"] = 0 if session is None else len(session.kernels)
    line["findings"] = [_place(finding) for report in _reports for finding in report.findings]
    _write(line)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.outcome != "passed" and item.compat["outcome"] == "passed":
        item.compat["outcome"] = report.outcome
        item.compat["message"] = _describe(call.excinfo.value, getattr(item, "grout_session", None))
    return report


def _describe(error, session):
    """The error and those that it came from, as text: that of the kernel first, which JAX shows inside of its own."""
    texts, seen = [], set()
    errors = [session.error] if session is not None and session.error is not None else []
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        errors.append(error)
        error = error.__cause__ or error.__context__
    for error in errors:
        texts.append(f"{type(error).__module__}.{type(error).__name__}: {error}"[:2000])
    return "\n".join(texts)
