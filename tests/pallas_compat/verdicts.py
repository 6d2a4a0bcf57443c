"""What came of a case on grout, beside JAX' own mode.

SPDX-License-Identifier: Apache-2.0
"""
import dataclasses
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))

# Findings that JAX' mode has as races_found: two accesses that nothing orders, or not for both proxies.
RACES = frozenset((
    "missing-commit-smem", "missing-commit-smem-war", "missing-commit-gmem", "async-not-awaited", "smem-race",
    "gmem-race", "smem-source-reuse", "mma-operand-reuse", "accumulator-in-flight", "cluster-smem-reuse",
    "insufficient-scope", "gmem-write-not-visible", "tensor-core-order", "tensor-pipe-order", "tmem-load-not-awaited",
    "tmem-race", "tmem-store-not-committed", "same-value-race"))
# Findings that JAX' mode raises an error for, or never ends with.
MISUSE = frozenset(("barrier-overrun", "barrier-unobserved-phase", "barrier-skipped-phase", "async-at-exit", "deadlock",
                    "debug-check-failed", "out-of-bounds"))

BLACKWELL = r"tcgen05|Blackwell|tmem|::test_matmul\d*$"  # cases with tensor memory, by their names
ROUNDING = "the test compares with JAX' sums to the last bit; those of an MMA begin with the accumulator: {:.1e} of " \
    "them off"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """kind: same, better, refused, wrong, skipped. why: of all but the first, and what grout adds to the same."""

    kind: str
    why: str
    codes: tuple  # of grout's findings
    is_blackwell: bool
    jax: dict
    grout: dict


def read_table(name):
    """Lines of three or two columns, parted by ' | '; '#' begins a comment."""
    rows = []
    with open(os.path.join(HERE, name), encoding="utf-8") as file:
        for line in file:
            if line.strip() and not line.startswith("#"):
                rows.append([column.strip() for column in line.rstrip("\n").split(" | ")])
    return rows


WORDS = read_table("words.txt")  # JAX' words, grout's
REASONS = read_table("reasons.txt")  # case, what grout says, why it is better


def says_the_same(pattern, text):
    """Whether grout's words in the text say what JAX' pattern does."""
    return any(jax in pattern and re.search(grout, text) for jax, grout in WORDS)


def _find_reason(case, message):
    for pattern, said, why in REASONS:
        if re.search(pattern, case) and re.search(said, message, re.DOTALL):
            return why
    return ""


def get_refusal(message):
    """The primitive and the reason, if grout refused to import the kernel, or a rule that it breaks; ''."""
    found = re.search(r"(?:UnsupportedError|KernelError): (?:grout does not take what came of [^\n]*\n)?([^\n]+)",
                      message)
    if found is None:
        return ""
    return re.sub(r"^\S+?:\d+:\d+: (error: )?", "", found.group(1))


def judge_refusal(refusal, lowering):
    """A kernel that grout refuses: JAX' own lowering may do the same. Its words have no more than one sentence here."""
    if not lowering:
        return "refused", refusal
    return "better", f"{refusal}; JAX lowers it for no GPU either: {re.split(r'[.](?: |$)', lowering, maxsplit=1)[0]}"


def _judge(case, jax, grout, lowered):
    message = grout["message"]
    codes = tuple(sorted({code for report in grout["reports"] for code in report["codes"]}))
    is_blackwell = bool(re.search(BLACKWELL, case) or re.search(r"tensor memory|tcgen05|TMEM|Blackwell", message))

    def make(kind, why=""):
        return Verdict(kind, why, codes, is_blackwell, jax, grout)

    reason = _find_reason(case, message)
    if grout["outcome"] == jax["outcome"] == "failed" and not grout["reports"] and message == jax["message"]:
        return make("same", "fails on JAX' interpreter too, before it is run: " + message.split("\n", maxsplit=1)[0])
    if grout["outcome"] == "skipped":
        races = [code for code in codes if code in RACES]
        if grout["reports"] and reason:
            return make("better", reason)
        return make("skipped", f"after the run; grout: {', '.join(races) or 'no race'}" if grout["reports"] else "")
    if grout["outcome"] == "passed":
        return make("same", reason or grout.get("rounding") and ROUNDING.format(grout["rounding"]) or "")
    if reason:
        return make("better", reason)
    refusal = get_refusal(message)
    if refusal:
        return make(*judge_refusal(refusal, lowered.get("lowering")))
    return make("wrong", message.split("\n", maxsplit=1)[0][:300])


def list_refused(grout, file):
    """The cases of a file whose kernels grout refused, without the file's name, and nothing yet says why that is
    better."""
    return [case.split("::", 1)[1] for case, line in grout.items()
            if case.startswith(f"{file}::") and line["outcome"] == "failed" and get_refusal(line["message"])
            and not _find_reason(case, line["message"])]


def judge(jax, grout, lowered):
    """Verdicts by case. lowered: what JAX' lowering says of the cases it was asked about."""
    return {case: _judge(case, jax.get(case, {"outcome": "not run", "seconds": 0, "message": ""}), line,
                         lowered.get(case, {}))
            for case, line in grout.items()}
