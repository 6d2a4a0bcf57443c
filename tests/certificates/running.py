"""Runs a file of several kernels and takes the report apart, kernel by kernel.

SPDX-License-Identifier: Apache-2.0
"""
import hashlib
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

EXIT_CODES = {"clean": 0, "error": 1, "invalid": 2, "incomplete": 3}
# Findings of the text and of what was written, not of an order.
IGNORED = {"unused-result", "output-not-written"}
# Findings of values: where accesses are out of order, what they bring is a matter of timing, and so are their findings.
OF_VALUES = {"sparse-metadata"}
LIMITS = ["--max-findings", "1000", "--max-steps", "30000"]


class Crash(Exception):
    """The command did what it never may."""


class Outcome:
    """What one run said of one kernel."""

    def __init__(self, how, first_line, facts, findings, digest):
        self.how = how
        self.status, self.because = facts["status"], facts.get("because", "")
        self.holds = facts["holds_for_every_schedule"]
        self.schedules = facts["schedules_explored"]
        self.is_of_several = self.schedules > 1 or facts["random_schedules"] > 0
        self.has_failed = any(f["severity"] == "error" and f["code"] not in IGNORED | {"step-limit"} for f in findings)
        ignored = IGNORED if self.holds else IGNORED | OF_VALUES
        findings = [f for f in findings if f["code"] not in ignored]
        self.identities = {f["identity"] for f in findings}
        self.codes = {f["code"] for f in findings}
        self.has_error = any(f["severity"] == "error" and f["code"] != "step-limit" for f in findings)
        self.places = {(f["code"], f["primary"]["line"] - first_line) for f in findings}
        # What an identity is made of, the same in another file.
        self.pairs = {(f["code"], *((place["line"] - first_line, place["column"]) if place else None
                                    for place in (f["primary"], f["related"]))) for f in findings}
        self.digest = digest
        self.is_complete = self.status not in ("step-limit", "timeout", "interrupted", "failed")
        self.is_clean = self.is_complete and not findings

    def say(self):
        what = " ".join(sorted(self.codes)) or "nothing"
        holds = ", for every schedule" if self.holds else f", {self.because}" if self.because else ""
        return f"{self.how}: {self.status}, {what}{holds}"


def make_file(kernels):
    """The text, and for each kernel's name the lines before it."""
    text, lines = "", {}
    for kernel in kernels:
        lines[kernel.name] = text.count("\n")
        text += kernel.make_text() + "\n"
    return text, lines


def call(grout, path, options):
    command = [grout, "check", path, "--format", "json", "-q", *LIMITS, *options]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS,
                              check=False)
    except subprocess.TimeoutExpired as late:
        raise Crash(f"no end within {SECONDS} s: {' '.join(command)}") from late
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {"verdict": None}
    trouble = re.search(r"runtime error|Sanitizer|[Aa]ssert|internal error", done.stderr)
    if trouble or done.returncode != EXIT_CODES.get(report["verdict"]):
        raise Crash(f"exit code {done.returncode}, verdict {report['verdict']}: {' '.join(command)}\n"
                    f"{done.stderr[-2000:]}")
    return report


def list_rejected(grout, kernels, folder):
    """The kernels that are no valid ones, each with the code that says why."""
    path = os.path.join(folder, "drawn.grout")
    rejected = {}
    while True:
        rest = [k for k in kernels if k.name not in rejected]
        text, lines = make_file(rest)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        options = [o for k in rest for o in k.options]
        report = call(grout, path, ["--max-steps", "1"] + options) if rest else {"verdict": "clean"}
        if report["verdict"] != "invalid":
            return rejected
        before = len(rejected)
        for finding in report["findings"]:
            if finding["severity"] == "error" and finding["primary"]:
                at = finding["primary"]["line"]
                name = [k.name for k in rest if lines[k.name] < at][-1]
                rejected.setdefault(name, finding["code"])
        if len(rejected) == before:
            raise Crash(f"an invalid file, and no place that says why: {report['findings']}")


def run(grout, kernels, folder, options):
    """For each kernel's name what this run said of it."""
    path = os.path.join(folder, "drawn.grout")
    text, lines = make_file(kernels)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    files = {name: os.path.join(folder, name + ".npy") for kernel in kernels for name in kernel.outputs}
    more = [o for kernel in kernels for o in kernel.options]
    if "--explore" not in options:
        more += [o for name, file in files.items() for o in ("--output", f"{name}={file}")]
    report = call(grout, path, options + more)
    facts = {entry["kernel"]: entry for entry in report["coverage"]["kernels"]}
    if set(facts) != {kernel.name for kernel in kernels}:
        raise Crash(f"the report leaves out kernels: {' '.join(options)}")
    outcomes = {}
    for kernel in kernels:
        findings = [f for f in report["findings"] if f["kernel"] == kernel.name]
        digest = hashlib.sha256()
        for name in kernel.outputs:
            if os.path.exists(files[name]):
                with open(files[name], "rb") as file:
                    digest.update(file.read())
                os.remove(files[name])
        outcomes[kernel.name] = Outcome(" ".join(options), lines[kernel.name], facts[kernel.name], findings,
                                        digest.hexdigest())
    return outcomes
