"""The part of docs/pallas_compat.md on JAX' tests for GPUs, case by case.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import re

import gpu_verdicts
import page

BEGIN, END = "<!-- GPU tests: written by tests/pallas_compat/gpu.py -->", "<!-- end of GPU tests -->"


def _count(judged):
    counts = collections.Counter(verdict.kind for verdict in judged.values())
    return counts, sum(counts[kind] for kind in gpu_verdicts.REACHES_A_KERNEL)


def _describe(judged):
    counts, reached = _count(judged)
    kinds = ", ".join(f"{counts[kind]} {kind}" for kind in gpu_verdicts.KINDS if counts[kind])
    return f"{len(judged)} cases: {kinds}. Of the {reached} that reach a kernel {counts['wrong']} are wrong and " \
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


def summarize(version, gpu, judged):
    """A few lines for a terminal."""
    lines = [f"{kind}: {test} {_list_numbers(numbers)}: {', '.join(codes)}: {why[:400]}"
             for (test, kind, why, codes), numbers in _group(judged, (*gpu_verdicts.BAD, "accepted", "misfit")).items()]
    return "\n".join([*lines, f"JAX {version}, {gpu}: {_describe(judged)}"])


def _make_rows(runs):
    """One line for cases of a test that came out alike, with the runs that they came out so in."""
    rows = collections.OrderedDict()
    for version, gpu, judged in runs:
        for (test, kind, why, codes), numbers in _group(judged, [kind for kind in gpu_verdicts.KINDS if kind != "skipped"]).items():
            why = re.sub(r"/\S*/(?=[^/\s]+\.py)", "", why)
            rows.setdefault((test, kind, why, codes), collections.OrderedDict())[f"{version} {gpu}"] = numbers
    for (test, kind, why, codes), found in sorted(rows.items(), key=lambda item: (item[0][0], list(gpu_verdicts.KINDS).index(item[0][1]))):
        where = "; ".join(f"{run}: {len(numbers)}" for run, numbers in found.items())
        said = "; ".join(filter(None, (", ".join(f"`{code}`" for code in codes), why)))
        yield f"| `{test}` | {kind} | {where} | {page.escape(said)} |"


def write(runs, commit):
    """Puts the table between the marks of the page. runs: (version of JAX, GPU, verdicts)."""
    kinds = [f"- *{kind}*: {what}" for kind, what in gpu_verdicts.KINDS.items()]
    lines = [BEGIN, "", f"`mosaic_gpu_test.py` of JAX at commit `{commit[:12]}`.", "",
             *[f"- JAX {version}, {gpu}: {_describe(judged)}." for version, gpu, judged in runs], "", *kinds, "",
             "| test | came out | cases | why |", "|---|---|---|---|", *_make_rows(runs), "", END]
    page.replace_part(BEGIN, END, lines)
