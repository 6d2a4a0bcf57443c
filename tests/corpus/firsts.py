"""The first finding of each bug of the corpus leads to its cause: its rule, and words of its help.

usage: firsts.py --grout PATH [--show]

firsts.tsv has a line for each NAME.bug.grout: its path, the code of the first error that 'grout check' reports, and
words of that finding's help, in their order, with '..' between what need not follow each other. --show prints the
helps.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "firsts.tsv")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def read_table():
    """Path -> code, words"""
    rows = {}
    for line in read(TABLE).splitlines():
        if line and not line.startswith("#"):
            path, code, words = line.split("\t")
            assert path not in rows, f"firsts.tsv: {path} stands there twice"
            rows[path] = code, words
    return rows


def get_first(grout, path):
    """Code and helps of the first error."""
    options = re.search(r"^// run: (.*)$", read(path), re.M)
    words = shlex.split(options.group(1)) if options else []
    done = subprocess.run([grout, "check", *words, "--format", "json", "-q", path],
                          capture_output=True, text=True, timeout=SECONDS, check=False)
    findings = json.loads(done.stdout)["findings"]
    first = next((found for found in findings if found["severity"] == "error"), findings[0])
    return first["code"], [note["message"] for note in first["notes"] if note["severity"] == "help"]


def has_words(text, words):
    return re.search(".*".join(re.escape(part) for part in words.split("..")), text) is not None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--show", action="store_true")
    args = parser.parse_args()
    programs = [program for program in families.list_programs("corpus") if program.name.endswith(".bug.grout")]
    rows, bugs, faults = read_table(), sorted(program.name for program in programs), []
    faults += [f"{path}: no line in firsts.tsv" for path in bugs if path not in rows]
    faults += [f"firsts.tsv: there is no {path}" for path in rows if path not in bugs]
    with tempfile.TemporaryDirectory(prefix="grout-firsts-") as folder, \
            concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = sorted(families.write(programs, folder))
        firsts = dict(zip(bugs, pool.map(lambda path: get_first(args.grout, path), paths)))
    for path in bugs:
        code, helps = firsts[path]
        if args.show:
            print(f"{path}\t{code}\t{' | '.join(helps)}")
        wanted, words = rows.get(path, (code, ""))
        if code != wanted:
            faults.append(f"{path}: the first error is {code}, not {wanted}")
        elif words and not any(has_words(text, words) for text in helps):
            faults.append(f"{path}: '{words}' is not in the help: {helps}")
    print("\n".join(faults + [f"{len(bugs)} bugs, {len(faults)} faults"]))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
