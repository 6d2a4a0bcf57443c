"""Kernels with the advice that each gets: the comments '// advice: CODE' at its lines, and no other.

usage: files.py --grout PATH

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from limit import SECONDS

WANTED = re.compile(r"// advice: ([\w-]+)")


def find_wanted(path):
    with open(path, encoding="utf-8") as file:
        return {(number, code) for number, line in enumerate(file, 1) for code in WANTED.findall(line)}


def find_advice(grout, path):
    """(line, code) of each, or a text that says what is wrong."""
    done = subprocess.run([grout, "check", "--advice", "--format", "json", "-q", path], capture_output=True, text=True,
                          timeout=SECONDS, check=False)
    report = json.loads(done.stdout)
    if report["verdict"] != "clean":
        return f"the verdict is {report['verdict']}: {done.stderr}"
    return {(place["line"], finding["code"]) for finding in report["findings"] if finding["severity"] == "advice"
            for place in [finding["primary"]] + [note["place"] for note in finding["notes"] if note["place"]]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    arguments = parser.parse_args()
    paths = sorted(glob.glob(os.path.join(HERE, "kernels", "*.grout")))
    failed = 0
    for path in paths:
        wanted, found = find_wanted(path), find_advice(arguments.grout, path)
        if found != wanted:
            failed += 1
            print(f"{os.path.basename(path)}: advised is {found}, wanted is {wanted}")
    print(f"{len(paths) - failed} passed, {failed} failed")
    return failed > 0 or not paths


if __name__ == "__main__":
    sys.exit(main())
