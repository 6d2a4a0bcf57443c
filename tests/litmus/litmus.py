"""Litmus programs: one ordering rule each, with its ruling and the section that decides it. Checks
every file under several schedules and timings, and writes the table docs/litmus.md.

usage: litmus.py --grout PATH [--seeds N] [--update]

The head of each file:

    // litmus: GROUP: what is tried
    // ruling: ordered | CODE, why
    // source: PTX ISA 9.1, ...

A program whose ruling is 'ordered' expects to be clean, any other expects the code.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs", "litmus.md")
HEAD = re.compile(r"// litmus: (.+?): (.+)\n// ruling: (ordered|[a-z-]+)(?:, (.+))?\n// source: (.+)\n")


def read(path):
    with open(path) as file:
        return file.read()


def check(grout, path, seeds):
    command = [grout, "check", "--expect", "--all-timings", "--seeds", str(seeds), "--timeout", str(SECONDS), path]
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode == 0, done.stdout + done.stderr


def load():
    rows = []
    for name in sorted(os.listdir(HERE)):
        if not name.endswith(".grout"):
            continue
        text = read(os.path.join(HERE, name))
        head = HEAD.match(text)
        if not head:
            sys.exit("%s: its head is not 'litmus', 'ruling', 'source'" % name)
        group, what, ruling, why, source = head.groups()
        is_clean = "// expect: clean" in text
        if is_clean != (ruling == "ordered") or (not is_clean and ruling not in re.findall(
                r"// expect-(?:error|warning): .*", text)[0]):
            sys.exit("%s: the ruling and the expectation differ" % name)
        rows.append((group, what, ruling, why or "", source, name))
    return rows


def make_page(rows):
    lines = ["# Litmus programs", "",
             "Small programs, each for one rule of what orders what: an outcome that the rule forbids to rely on is a finding, one that",
             "it allows is silent. The source column names the section that decides. Written from the heads of `tests/litmus/`; a test",
             "runs every program under several schedules and timings.", ""]
    for group in sorted({r[0] for r in rows}):
        lines += ["## " + group, "", "| program | ruling | why | source |", "|---|---|---|---|"]
        for _, what, ruling, why, source, name in (r for r in rows if r[0] == group):
            lines.append("| [%s](../tests/litmus/%s) | %s | %s | %s |" % (
                what, name, ruling if ruling == "ordered" else "`%s`" % ruling, why, source))
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_args()
    rows = load()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = [(r[5], pool.submit(check, arguments.grout, os.path.join(HERE, r[5]), arguments.seeds)) for r in rows]
        for name, job in jobs:
            is_good, output = job.result()
            failed += not is_good
            if not is_good:
                print("%s: NOT as ruled\n%s" % (name, output))
    page = make_page(rows)
    if arguments.update and failed == 0:
        with open(PAGE, "w") as file:
            file.write(page)
    elif not os.path.exists(PAGE) or read(PAGE) != page:
        print("docs/litmus.md is not what litmus.py --update writes")
        failed += 1
    print("litmus: %d programs, %d not as ruled" % (len(rows), failed))
    return 1 if failed or len(rows) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
