"""What came of a case of JAX' tests for GPUs, which run here on grout alone: nothing else runs them on a CPU.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import re

import verdicts

# In this order on the page.
KINDS = {
    "same": "passes, and the checker finds no error",
    "rounding": "values differ from XLA's by rounding, which gpu_rounding.txt has judged",
    "found": "the checker finds an error, which gpu_judged.txt has read and judged; values may differ for it",
    "better": "refused, and JAX' own lowering refuses it too",
    "accepted": "the test wants an error of JAX' lowering, and grout takes the kernel or says it in other words",
    "lowering": "looks at what JAX' lowering writes, at profiles or at the GPU itself: there is nothing for grout to "
    "run", "refused": "grout does not take the kernel",
    "unjudged": "an error of the checker that nobody has judged",
    "wrong": "values differ, and the checker finds nothing",
    "misfit": "test and installed JAX do not fit",
    "skipped": "the test skips itself",
}
REACHES_A_KERNEL = ("same", "rounding", "found", "better", "accepted", "refused", "unjudged", "wrong")
BAD = ("refused", "unjudged", "wrong")

JUDGED = verdicts.read_table("gpu_judged.txt")  # code, case, place, why
LOWERING = verdicts.read_table("gpu_lowering.txt")  # case, why
ROUNDING = verdicts.read_table("gpu_rounding.txt")  # case, the largest part of the elements, why
MISFITS = r"got an unexpected keyword argument|has no attribute|missing \d+ required|positional argument|" \
    r"cannot import name|No module named|not defined|attribute is not available|captures non-scalar array constants|" \
    r"is not supported in jaxlib|unexpected keyword"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """kind: of KINDS. why: of all but those that are the same. codes: of the checker's findings."""

    kind: str
    why: str
    codes: tuple


def _find_errors(line):
    return [finding for finding in line.get("findings", ()) if finding[1] == "error"]


def _judge_findings(case, errors):
    """Why the findings are true ones; '' where one of them is not judged."""
    whys = []
    for code, _, place, message in errors:
        why = next((row[3] for row in JUDGED if row[0] == code and re.search(row[1], case) and
                    re.search(row[2], f"{place} {message}")), "")
        if not why:
            return ""
        whys.append(why)
    return "; ".join(dict.fromkeys(whys))


def _judge_rounding(case, message):
    """Why values may differ; '' if more elements do than were judged."""
    found = re.search(r"Mismatched elements: \d+ / \d+ \(([0-9.e-]+)%\)", message)
    return next((why for pattern, most, why in ROUNDING if found and re.search(pattern, case) and
                 float(found.group(1)) <= float(most)), "")


def _judge(case, line, lowered):
    message, errors = line["message"], _find_errors(line)
    codes = tuple(sorted({finding[0] for finding in errors}))

    def make(kind, why=""):
        return Verdict(kind, why, codes)

    first = message.split("\n", maxsplit=1)[0][:300]
    if line["outcome"] == "skipped" and not line["reports"]:
        return make("skipped", first)
    reason = next((why for pattern, why in LOWERING if re.search(pattern, case)), "")
    if line["outcome"] != "passed" and reason:
        return make("lowering", reason)
    if errors:
        why = _judge_findings(case, errors)
        return make("found", why) if why \
            else make("unjudged", "; ".join(f"{code} at {place}: {text}" for code, _, place, text
                                            in errors[:2]))
    if line["outcome"] in ("passed", "skipped"):
        return make("same")
    refusal = verdicts.get_refusal(message)
    if re.search(r"not raised|does not match", message) and not re.search(r"^grout.*UnsupportedError", message):
        return make("accepted", first)
    if refusal:
        if lowered.get("lowering"):
            return make("better", verdicts.judge_refusal(refusal, lowered["lowering"])[1])
        return make("refused", refusal)
    rounding = _judge_rounding(case, message)
    if rounding:
        return make("rounding", rounding)
    if not line.get("kernels") and re.search(MISFITS, message):
        return make("misfit", first)
    return make("wrong", first)


def list_refused(lines):
    """Cases that grout refused, for which JAX' lowering is to be asked."""
    return [case for case, line in lines.items() if line["outcome"] == "failed" and
            verdicts.get_refusal(line["message"])]


def judge(lines, lowered):
    """Verdicts by case. lowered: what JAX' lowering says of those that it was asked about."""
    return {case: _judge(case, line, lowered.get(case, {})) for case, line in lines.items()}
