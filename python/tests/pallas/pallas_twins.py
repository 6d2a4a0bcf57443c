# SPDX-License-Identifier: Apache-2.0
"""Every kernel that a test of grout.pallas runs is run twice: as it is imported, and as its text comes back.

Verdict, findings and results have to be the same. Which rules were used is noted, for the test of completeness.
"""
import dataclasses
import functools
import sys

import numpy

import grout
from grout.pallas import _rules
from grout.pallas._session import Session

reached = set()  # names of rules
files = set()  # whose tests run, or are skipped for a reason of their own
texts = {}  # of kernels, loaded


class Noting(dict):
    """The table of rules; who takes one out of it is noted."""

    def get(self, name, default=None):
        if name in self:
            reached.add(name)
        return super().get(name, default)


def _codes(report):
    return report and (report.verdict, {(finding.code, finding.severity) for finding in report.findings})


def _load(imported):
    if imported.text not in texts:
        texts[imported.text] = grout.load(imported.text, kernel=imported.name)
    return texts[imported.text]


@functools.cache
def install_once():
    """From here on."""
    table = _rules.RULES
    noting = Noting(table)
    for module in list(sys.modules.values()):
        if getattr(module, "__name__", "").startswith("grout.pallas") and getattr(module, "RULES", None) is table:
            vars(module)["RULES"] = noting
    original = Session._call

    def call_twice(self, imported, arrays, avals):
        arrays, units = list(arrays), {number: arrays[number].copy() for number in imported.semaphores}
        results = original(self, imported, arrays, avals)
        report = self.calls[-1].report
        other = Session(self._check, self._run_options, self._options, False)
        twin = dataclasses.replace(imported, module=_load(imported).module)
        again = original(other, twin, [units.get(number, array) for number, array in enumerate(arrays)], avals)
        for number, array in units.items():
            assert numpy.array_equal(array, arrays[number]), imported.text
        if report is not None and report.silenced:
            return results  # the text has no comments
        before, after = _codes(report), _codes(other.calls[-1].report)
        assert before == after, f"{before} {after}\n{imported.text}"
        if report is None or report.verdict == "clean":
            for one, two in zip(results, again):
                assert numpy.array_equal(one.view("u1") if one.ndim else one, two.view("u1") if two.ndim else two), \
                    imported.text
        return results

    Session._call = call_twice
