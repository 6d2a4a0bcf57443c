"""The corpus: real bugs of asynchronous kernels as pairs of small ones, and controls that must stay
silent. Checks every file under several schedules and timings, and writes the table docs/corpus.md.

usage: corpus.py --grout PATH [--seeds N] [--update | --table]

Programs, in folders by the kind of bug: NAME.bug.grout with its fixed twin NAME.fix.grout beside it, most of them in
NAME.family (../families.py); NAME.control.grout. The head of each says what it is from:

    // corpus: RB-08 https://github.com/...
    // In our own words: what goes wrong.

Entries that the IR cannot express yet stand in waiting.txt: a line 'ID  LINK  reason' each.
--update writes docs/corpus.md; without it the page has to be as it would be written.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs", "corpus.md")
EXACT_SEEDS = 2  # of a bug: schedules that have to show the same findings to the letter
TIMINGS = ("lazy", "eager", "random")
HEAD = re.compile(r"^// corpus: ([A-Z]+-\d+[a-z]?) (\S+)$", re.M)
EXPECT = re.compile(r"// expect-(error|warning): ([a-z0-9, -]+?)\s*(?://|$)", re.M)


INTRODUCTION = """# Corpus

Real bugs of asynchronous kernels, each reproduced as a pattern in a small kernel beside its fix, and correct
kernels that other tools flag. `make corpus` checks all of them under several schedules and timings and writes this
page: every bug has the finding named here at that line, every fix and control is clean. `NAME.family` holds both
kernels of a bug, and `tests/families.py corpus FOLDER` writes each as a file.
"""


def read(path):
    with open(path) as file:
        return file.read()


def get_words(text):
    """The sentences of the head, after the corpus line."""
    words = []
    for line in text.split("\n")[1:]:
        if not line.startswith("// ") or line.startswith(("// expect", "// run:")):
            break
        words.append(line[3:])
    return " ".join(words)


def get_findings(text):
    codes = []
    for number, line in enumerate(text.split("\n"), 1):
        for match in EXPECT.finditer(line):
            codes += [(code.strip(), number) for code in match.group(2).split(",")]
    return codes


def check(grout, path, seeds):
    """Under all timings, and under many schedules: random ones, or those that --explore finds to differ."""
    text = read(path)
    exact = min(seeds, EXACT_SEEDS) if ".bug." in path else seeds
    command = [os.path.join(os.path.dirname(grout), "grout-expect"), "--all-timings", "--timeout", str(SECONDS),
               "--budget", str(SECONDS)]
    command += [path] if "--explore" in text else ["--seeds", str(exact), path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    missed = ""
    if ".bug." in path and "--explore" not in text:
        options = re.findall(r"^// run: (.*)$", text, re.M)
        for seed in range(exact + 1, seeds + 1):
            missed += find_missed(grout, path, options[0].split() if options else [], seed)
    return done.returncode == 0 and not missed, done.stdout + done.stderr + missed


def find_missed(grout, path, options, seed):
    """What a schedule does not show of a bug. It may show more: what comes after a race is not the same
    under every schedule, and nobody promises that it is."""
    options = options + ["--schedule", "random", "--seed", str(seed), "--timing", TIMINGS[seed % len(TIMINGS)]]
    done = subprocess.run([grout, "check", "--format", "json", "-q", *options, path], capture_output=True, text=True,
                          check=False)
    found = {(f["code"], f["primary"]["line"]) for f in json.loads(done.stdout)["findings"]}
    missing = set(get_findings(read(path))) - found
    return "not found with %s: %s\n" % (" ".join(options), sorted(missing)) if missing else ""


def load(programs):
    entries = {}
    for program in programs:
        match = re.match(r"(.+)\.(bug|fix|control)\.grout$", program.name)
        head = HEAD.match(program.text)
        if not match or not head:
            sys.exit("%s: it is no bug, fix or control, or its first line is no '// corpus: ID LINK'" % program.name)
        entry = entries.setdefault(match.group(1), {"id": head.group(1), "link": head.group(2)})
        entry[match.group(2)] = program
        entry.setdefault("words", get_words(program.text))
        if match.group(2) == "bug":
            entry["words"], entry["findings"] = get_words(program.text), get_findings(program.text)
            if not entry["findings"]:
                sys.exit("%s: a bug without an expected finding" % program.name)
        elif "// expect: clean" not in program.text:
            sys.exit("%s: it has to be clean" % program.name)
    for name, entry in entries.items():
        if "control" not in entry and not ("bug" in entry and "fix" in entry):
            sys.exit("%s: a bug needs its fixed twin, and the other way round" % name)
    return entries


def load_waiting():
    rows = []
    for line in read(os.path.join(HERE, "waiting.txt")).split("\n"):
        if line.strip() and not line.startswith("#"):
            rows.append(line.split(None, 2))
    return rows


def get_number(entry):
    """RB-94 comes before RB-100, and RB-80a before RB-80b."""
    return int(re.search(r"\d+", entry["id"]).group()), entry["id"]


def make_page(entries, waiting):
    bugs = sorted((e for e in entries.values() if "bug" in e),
                  key=lambda e: (get_number(e), os.path.basename(e["bug"].name)))
    controls = sorted((e for e in entries.values() if "control" in e),
                      key=lambda e: (get_number(e), os.path.basename(e["control"].name)))
    lines = [*INTRODUCTION.splitlines(), "",
             "| entry | what goes wrong | finding | bug | fix |", "|---|---|---|---|---|"]
    for e in bugs:
        lines.append("| [%s](%s) | %s | %s | [bug](../tests/corpus/%s) | [fix](../tests/corpus/%s) |" % (
            e["id"], e["link"], e["words"],
            ", ".join("`%s` at line %d" % finding for finding in e["findings"]),
            e["bug"].file, e["fix"].file))
    lines += ["", "## Controls", "", "Correct; silence is the answer.", "", "| entry | what is right | kernel |",
              "|---|---|---|"]
    for e in controls:
        lines.append("| [%s](%s) | %s | [control](../tests/corpus/%s) |" % (
            e["id"], e["link"], e["words"], e["control"].file))
    lines += ["", "## Not expressible yet", "", "| entry | why |", "|---|---|"]
    for row in waiting:
        lines.append("| [%s](%s) | %s |" % (row[0], row[1], row[2]))
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--table", action="store_true", help="print the verdicts")
    arguments = parser.parse_args()
    programs = families.list_programs("corpus")
    entries, waiting = load(programs), load_waiting()
    failed = 0
    with tempfile.TemporaryDirectory(prefix="grout-corpus-") as folder, \
            concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        jobs = {os.path.relpath(path, folder): pool.submit(check, arguments.grout, path, arguments.seeds)
                for path in sorted(families.write(programs, folder))}
        for name, job in jobs.items():
            is_good, output = job.result()
            failed += not is_good
            if arguments.table or not is_good:
                print("%s: %s" % (name, "as expected" if is_good else "NOT as expected"))
            if not is_good:
                print(output)
    page = make_page(entries, waiting)
    if arguments.update and failed == 0:
        with open(PAGE, "w") as file:
            file.write(page)
    elif not os.path.exists(PAGE) or read(PAGE) != page:
        print("docs/corpus.md is not what 'make corpus' writes")
        failed += 1
    count = sum("bug" in e for e in entries.values())
    print("corpus: %d bugs with their fixes, %d controls, %d entries wait; %d files not as expected" % (
        count, len(entries) - count, len(waiting), failed))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
