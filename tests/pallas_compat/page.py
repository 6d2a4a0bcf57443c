"""The part of docs/pallas_compat.md that is written here: JAX' interpret-mode tests, case by case.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "pallas_compat.md")
BEGIN, END = "<!-- interpret tests: written by tests/pallas_compat/run.py -->", "<!-- end of interpret tests -->"
KINDS = ("same", "better", "refused", "wrong", "skipped")


def _count(judged):
    return collections.Counter(verdict.kind for verdict in judged)


def _describe_counts(judged):
    counts = _count(judged)
    return ", ".join(f"{counts[kind]} {kind}" for kind in KINDS if counts[kind])


def _seconds(judged, mode):
    return sum(getattr(verdict, mode)["seconds"] for verdict in judged)


def _part(judged, is_blackwell):
    return [verdict for verdict in judged.values() if verdict.is_blackwell == is_blackwell]


def _rate(judged):
    """What part of the cases that do not skip themselves is the same or better, in %, and of how many."""
    counts = _count(judged)
    asked = sum(counts[kind] for kind in KINDS if kind != "skipped")
    return 100 * (counts["same"] + counts["better"]) / max(asked, 1), asked


def summarize(judged):
    """A few lines for a terminal."""
    groups = collections.OrderedDict()
    for case, verdict in judged.items():
        if verdict.kind == "wrong" or (verdict.kind == "refused" and not verdict.is_blackwell):
            _, test, number = _sort_key(case)
            groups.setdefault((test, verdict.kind, verdict.why), []).append(number)
    lines = [f"{kind}: {test} {list_ranges([number for number in sorted(numbers) if number >= 0])}: {why}"
             for (test, kind, why), numbers in groups.items()]
    lines.append(f"all: {_describe_counts(judged.values())}")
    for what, is_blackwell in (("without", False), ("with", True)):
        here = _part(judged, is_blackwell)
        rate, asked = _rate(here)
        lines.append(f"{what} TMEM: {_describe_counts(here)}; {rate:.1f} % of {asked} same or better")
        lines.append(f"  seconds of these: {_seconds(here, 'jax'):.0f} on JAX' mode, {_seconds(here, 'grout'):.0f} on "
                     "grout")
    return "\n".join(lines)


def _group(judged):
    """Cases of one test that came out alike: {(file, test): [(numbers, verdict), ..]}."""
    groups = collections.OrderedDict()
    for case, verdict in sorted(judged.items(), key=lambda item: _sort_key(item[0])):
        file, test, number = _sort_key(case)
        rows = groups.setdefault((file, test), collections.OrderedDict())
        rows.setdefault((verdict.kind, verdict.why, verdict.codes if verdict.kind != "same" else ()), []).append(
            (number, verdict))
    return groups


def _sort_key(case):
    file, _, test = case.split("::")
    found = re.fullmatch(r"(.*?)(\d*)", test)
    return file, found.group(1), int(found.group(2) or -1)


def list_ranges(numbers):
    """Numbers in a few words: '0-3, 7'."""
    parts, first = [], None
    for index, number in enumerate(numbers):
        first = number if first is None else first
        if index + 1 == len(numbers) or numbers[index + 1] != number + 1:
            parts.append(f"{first}-{number}" if number > first else f"{number}")
            first = None
    return ", ".join(parts)


def escape(text):
    """For a cell of a table: files without their folders."""
    return re.sub(r"/\S*/(?=[^/\s]+\.py)", "", text).replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def make_rows(judged):
    """The lines of the tables."""
    file_before = None
    for (file, test), rows in _group(judged).items():
        if file != file_before:
            if file_before is not None:
                yield ""
            inside = {case: verdict for case, verdict in judged.items() if case.startswith(file)}
            yield f"### {file}"
            yield ""
            yield f"{len(inside)} cases: {_describe_counts(inside.values())}."
            yield ""
            yield "| test | cases | grout | why, and what else it finds |"
            yield "|---|---|---|---|"
            file_before = file
        for (kind, why, _), cases in rows.items():
            numbers = [number for number, _ in cases if number >= 0]
            all_cases = sum(len(other) for other in rows.values())
            which = f"{list_ranges(numbers)}" if numbers and len(cases) < all_cases else ""
            name = f"`{test}`" + (f" {which}" if which else "")
            codes = sorted({code for _, verdict in cases for code in verdict.codes})
            said = escape(why) or (", ".join(f"`{code}`" for code in codes))
            yield f"| {name} | {len(cases)} | {kind} | {said} |"


def _say_rate(what, judged):
    rate, asked = _rate(judged)
    counts = _count(judged)
    skipped = f", of which {counts['skipped']} skip themselves" if counts["skipped"] else ""
    return f"{len(judged)} are {what} tensor memory{skipped}: **{rate:.1f} %** of {asked} are the same or better, " \
        f"{counts['wrong']} wrong."


def compare(judged, version, other):
    """A sentence on what came of the cases with another version of JAX."""
    differing = [f"`{case.split('::')[-1]}` ({verdict.kind})" for case, verdict in sorted(other.items())
                 if case in judged and judged[case].kind != verdict.kind]
    with_memory = len(_part(other, True))
    ran = f"With JAX {version} {len(other)} of the cases ran, {with_memory} of them with tensor memory: "
    return ran + (f"these came out otherwise: {', '.join(differing)}." if differing else "each came out the same.")


def write(judged, commit, version, others):
    """Puts the tables between the marks of the page. others: (version of JAX, verdicts)."""
    lines = [BEGIN, "",
             (f"JAX at commit `{commit[:12]}` has {len(judged)} cases. With JAX {version}: "
             f"{_describe_counts(judged.values())}."), _say_rate("without", _part(judged, False)),
             _say_rate("with", _part(judged, True)), *(compare(judged, *other) for other in others), "",
             *make_rows(judged), "", END]
    replace_part(BEGIN, END, lines)


def replace_part(begin, end, lines):
    """Puts lines, with their marks, in the place of what is between the marks of the page."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    head, tail = text.split(begin)[0], text.split(end)[1]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(head + "\n".join(lines) + tail)
