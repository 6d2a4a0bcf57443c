"""Applies every edit that a report offers, one at a time: each must repair its finding.

usage: apply_edits.py --grout PATH [--options=OPTIONS] [--every N] [-v] KERNEL-OR-FOLDER...

For each finding of 'grout check --format json' with an edit: the edited text must still be a valid
kernel, must not have that finding (code, primary and related place) any more, and must not deadlock
unless it did before. Kernels that are not valid, or have '// run:' options, run without them; all run with
OPTIONS.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
from limit import SECONDS

STUCK = ("deadlock", "collective-divergence")
STEPS_MAX = "1000000"  # kernels that never end are among them


def check(grout, path, timing, options):
    command = [os.path.abspath(grout), "check", "--format", "json", "-q", "--max-findings", "1000", "--timing", timing,
               "--max-steps", STEPS_MAX, *options, os.path.abspath(path)]
    with tempfile.TemporaryDirectory(prefix="grout-schedule-") as folder:  # where it leaves schedules that fail
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False,
                              cwd=folder)
    return json.loads(done.stdout)


def apply(lines, edit):
    """The edited lines, the number of the first line that has moved (None: none has), and by how many."""
    index = edit["place"]["line"] - 1
    line = lines[index]
    if edit["position"] == "replace":
        raw = line.encode("utf-8")
        start = edit["place"]["column"] - 1
        end = start + edit["place"]["length"]
        new = (raw[:start] + edit["text"].encode("utf-8") + raw[end:]).decode("utf-8")
        return lines[:index] + [new] + lines[index + 1:], None, 0
    indent = line[:len(line) - len(line.lstrip())]
    if edit["position"] == "after":
        index += 1
    elif line.strip() == "}":
        indent += "  "
    new = [indent + text + "\n" for text in edit["text"].split("\n")]
    return lines[:index] + new + lines[index:], index + 1, len(new)


def identify(finding, first=None, count=0):
    """Code and places, as they are after count lines have come in at line first."""
    key = [finding["code"]]
    for side in ("primary", "related"):
        place = finding[side]
        if place is not None:
            line = place["line"]
            key.append((line + count if first is not None and line >= first else line, place["column"]))
    return tuple(key)


def try_edit(grout, path, finding, timing, options):
    """What is wrong with the edit of a finding, or None."""
    with open(path, encoding="utf-8", newline="") as file:
        lines = file.readlines()
    edited, first, count = apply(lines, finding["edit"])
    with tempfile.TemporaryDirectory(prefix="grout-edit-") as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "w", encoding="utf-8", newline="") as file:
            file.writelines(edited)
        report = check(grout, copy, timing, options)
    codes = [found["code"] for found in report["findings"]]
    if report["verdict"] == "invalid":
        return f"the edited kernel is not valid: {codes}"
    if identify(finding, first, count) in [identify(found) for found in report["findings"]]:
        return "the finding is still there"
    if any(code in STUCK for code in codes):
        return "the edited kernel hangs"
    return None


def check_kernel(grout, path, options, verbose):
    """The edits that were tried, and the failures."""
    tried = failures = 0
    for timing in ("lazy", "eager"):
        findings = check(grout, path, timing, options)["findings"]
        is_stuck = any(finding["code"] in STUCK for finding in findings)
        for finding in findings:
            if finding["edit"] is None:
                continue
            tried += 1
            fault = try_edit(grout, path, finding, timing, options)
            if fault == "the edited kernel hangs" and is_stuck:
                fault = None
            failures += fault is not None
            if fault is not None or verbose:
                place = finding["primary"]
                print(f"{path}:{place['line']}: {finding['code']}: {finding['repair']}: {fault or 'ok'}")
    return tried, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--options", default="", help="of grout check, separated by spaces")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="each N-th of the files alone")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    tried = failures = 0
    with tempfile.TemporaryDirectory(prefix="grout-edits-") as folder:
        paths = [kernel for path in args.paths for kernel in families.sort_kernels([path], folder)]
        for path in paths[::args.every]:
            counts = check_kernel(args.grout, path, args.options.split(), args.verbose)
            tried += counts[0]
            failures += counts[1]
    print(f"{tried} edits, {failures} that do not repair")
    return failures > 0 or tried == 0


if __name__ == "__main__":
    sys.exit(main())
