"""The part of docs/pallas_compat.md that is written here: kernels that others ship.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "pallas_compat.md")
BEGIN, END = "<!-- kernels: written by tests/pallas_compat/kernels.py -->", "<!-- end of kernels -->"
MODES = ("lowered", "documented")


def _merge(saved):
    """{case: {version: result}}, in the order of the first that has it."""
    merged = {}
    for one in saved:
        for name, result in one["results"].items():
            merged.setdefault(name, {}).setdefault(one["jax"], result)
    return merged


def _say_mode(seen):
    return ", ".join(sorted(code for code, text in seen["codes"].items() if text.startswith("error"))) or \
        seen["verdict"]


def _say_verdicts(versions):
    """One text if the versions agree, else one a version."""
    texts = {version: _say_result(result) for version, result in versions.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{version}: {text}" for version, text in texts.items())


def _say_result(result):
    if "refused" in result:
        return f"not taken: {_shorten(result['refused'])}"
    lowered = _say_mode(result["modes"]["lowered"])
    documented = result["modes"].get("documented")
    if documented is None or _say_mode(documented) == lowered:
        return lowered
    return f"{lowered}; *documented*: {_say_mode(documented)}"


def _shorten(text):
    """Without the class of the exception and the place."""
    text = re.sub(r"^\w+: ", "", text)
    text = re.sub(r"^\S+\.py:\d+:\d+: ", "", text)
    return text.replace("|", "\\|")


def _say_values(versions):
    parts = []
    for mode in MODES:
        seen = [result["modes"][mode] for result in versions.values() if mode in result.get("modes", {})]
        if seen:
            worst = max(one["difference"] for one in seen)
            off = "exact" if worst == 0 else f"{worst:.1e}"
            parts.append(off if all(one["is_right"] for one in seen) else "wrong")
    return parts[0] if len(set(parts)) == 1 else "; *documented*: ".join(parts) if parts else ""


def _say_seconds(result):
    seconds = result["seconds"]
    return " / ".join(f"{seconds[key]:.2f}" for key in ("import", "check", "run")) if "check" in seconds else ""


def make_table(saved):
    """A table an origin."""
    lines, before = [], None
    for name, versions in _merge(saved).items():
        result = next(iter(versions.values()))
        if result["origin"] != before:
            before = result["origin"]
            lines += ["", f"### {before}", "",
                      "| case | configuration | JAX | verdict | values | import / check / run, s |",
                      "|---|---|---|---|---|---|"]
        lines.append(f"| `{name}` | {result['what']} | {', '.join(versions)} | {_say_verdicts(versions)} | "
                     f"{_say_values(versions)} | {_say_seconds(result)} |")
    return lines


def make_findings(saved, judgements, find_reason):
    """Each reason, and the cases that have it."""
    found = {}
    for name, versions in _merge(saved).items():
        for result in versions.values():
            for seen in result.get("modes", {}).values():
                for code, text in seen["codes"].items():
                    reason = find_reason(judgements, name, code)
                    if text.startswith("error") and reason:
                        place = text.partition(": ")[2]
                        found.setdefault((code, reason), {}).setdefault(name, place)
    lines = ["", "### Each finding", "", "| finding | at | in | why it is a true one |", "|---|---|---|---|"]
    order = [(code, reason) for _, code, reason in judgements]
    for (code, reason), names in sorted(found.items(), key=lambda item: order.index(item[0])):
        places = ", ".join(sorted({place for place in names.values() if place}))
        shown = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| `{code}` | {places} | {shown} | {reason} |")
    return lines


def update(saved, judgements, find_reason):
    """Writes the part of the page."""
    with open(PAGE, encoding="utf-8") as file:
        text = file.read()
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    if not after:
        raise SystemExit(f"{PAGE}: no {BEGIN} .. {END}")
    lines = make_table(saved) + make_findings(saved, judgements, find_reason)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write("\n".join([before + BEGIN, *lines, "", END + after]))
