"""The part of docs/pallas_compat.md on JAX' tests for GPUs, case by case.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import dataclasses
import re

import gpu_verdicts
import page

BEGIN, END = "<!-- GPU tests: written by tests/pallas_compat/gpu.py -->", "<!-- end of GPU tests -->"


@dataclasses.dataclass(frozen=True)
class Run:
    """Verdicts by case with one version of JAX and one GPU. commit: of JAX, which the tests are from."""

    version: str
    gpu: str
    commit: str
    judged: dict


def _count(judged):
    counts = collections.Counter(verdict.kind for verdict in judged.values())
    return counts, sum(counts[kind] for kind in gpu_verdicts.REACHES_A_KERNEL)


def _describe(judged):
    counts, reached = _count(judged)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in gpu_verdicts.KINDS if counts[kind])
    return f"{len(judged)} cases: {kinds}. A kernel is reached by {reached}; {counts['wrong']} are wrong and " \
        f"{100 * counts['refused'] / max(reached, 1):.1f} % refused"


def _split(case):
    found = re.fullmatch(r"(?:\S*::)?(.*?)(\d*)", case)
    return found.group(1), int(found.group(2) or -1)


def _group(judged, kinds):
    """Numbers of cases by test, kind and reason."""
    groups = collections.OrderedDict()
    for case, verdict in sorted(judged.items(), key=lambda item: _split(item[0])):
        if verdict.kind in kinds:
            test, number = _split(case)
            groups.setdefault((test, verdict.kind, verdict.why, verdict.codes), []).append(number)
    return groups


def _list_numbers(numbers):
    return page.list_ranges(sorted({number for number in numbers if number >= 0}))


def summarize(run):
    """A few lines for a terminal."""
    lines = [f"{kind}: {test} {_list_numbers(numbers)}: {', '.join(codes)}: {why[:400]}"
             for (test, kind, why, codes), numbers in _group(run.judged,
                                                             (*gpu_verdicts.BAD, "accepted", "misfit")).items()]
    return "\n".join([*lines, f"JAX {run.version}, {run.gpu}: {_describe(run.judged)}"])


def _make_rows(runs):
    """One line for the cases of a test that came out alike, with how many there are in each run."""
    kinds = [kind for kind in gpu_verdicts.KINDS if kind != "skipped"]
    rows = {}
    for run in runs:
        for (test, kind, why, codes), numbers in _group(run.judged, kinds).items():
            key = test, kinds.index(kind), page.escape("; ".join(filter(None, (", ".join(f"`{code}`" for code in codes),
                                                                               why))))
            rows.setdefault(key, {})[f"{run.version} {run.gpu}"] = numbers
    for (test, kind, said), found in sorted(rows.items()):
        counts = [str(len(found.get(f"{run.version} {run.gpu}", ())) or "") for run in runs]
        yield f"| `{test}` | {kinds[kind]} | {' | '.join(counts)} | {said} |"


def write(runs):
    """Puts the table between the marks of the page."""
    names = [f"{run.version} {run.gpu}" for run in runs]
    lines = [BEGIN, "",
             *[f"- JAX {run.version}, {run.gpu}, tests of JAX at `{run.commit[:12]}`: {_describe(run.judged)}."
               for run in runs], "",
             *[f"- *{kind}*: {what}" for kind, what in gpu_verdicts.KINDS.items()], "",
             f"| test | came out | {' | '.join(names)} | why |", "|---" * (len(runs) + 3) + "|", *_make_rows(runs), "",
             END]
    page.replace_part(BEGIN, END, lines)
