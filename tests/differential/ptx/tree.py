"""The kernels of the tree, each with its sizes and inputs, and what the checker says of it.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import glob
import json
import os
import re
import sys
import zlib

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import families

FOLDERS = ("tests", "docs", "bench", "python", "kernels")  # what takes longest comes last
VALUES = {"-D", "--arch", "--input", "--extern"}  # options that change what there is to compute

# A kernel, or a launch list (kernel: ""), of a file. report: what the checker says of it; None: why there is none.
Judged = collections.namedtuple("Judged", "name case kernel report why")


def get_same(text, kernel):
    """The options of the '// same:' comments of a kernel; those above the first kernel are that one's."""
    own = ""
    for line in text.split("\n"):
        same, found = re.match(r"// same: (.*)", line), re.match(r"kernel @(\w+)", line)
        own += same.group(1) + " " if same else ""
        if found and kernel == found.group(1):
            return own.split()
        own = "" if found else own
    return []


def keep(words, which):
    """The options of which, each with its value."""
    return [word for i, word in enumerate(words) if word in which or (i > 0 and words[i - 1] in which)]


def list_runs(text):
    """The options of the '// run:' comments that differ in what there is to compute."""
    runs = [keep(line.split(), VALUES) for line in re.findall(r"^// run: (.*)$", text, re.M)]
    return [run for i, run in enumerate(runs) if run not in runs[:i]] or [[]]


def check(arguments, path, options):
    """The report on a file, or None with the reason why there is none."""
    command = [arguments.grout, "check", path, "-q", "--format", "json", "--max-findings", "1000", *options]
    code, out, err = comparing.call(command, arguments.seconds)
    try:
        return json.loads(out), ""
    except ValueError:
        return None, f"no report: exit code {code} {err.strip()[:200]}"


def list_choices(text):
    """(name, options) of what the command runs of a file: each kernel, or its launch list."""
    kernels = re.findall(r"^[ \t]*kernel @(\w+)", text, re.M)
    if re.search(r"^[ \t]*launch @", text, re.M):
        return [("", [])]
    return [("@" + kernel, ["--kernel", "@" + kernel, *get_same(text, kernel)]) for kernel in kernels]


def set_arch(folder, path, text, run):
    """The path and the options of the same kernels for the architecture of --arch: only their text can choose code."""
    if "--arch" not in run:
        return path, run
    at = run.index("--arch")
    copy = os.path.join(folder, f"{run[at + 1]}+{path.replace('/', '+')}")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(comparing.set_arch(text, run[at + 1]))
    return copy, run[:at] + run[at + 2:]


def judge_kernels(arguments, folder, path, text, run):
    """A Judged of each kernel of a file."""
    name, asked = path, run
    path, run = set_arch(folder, path, text, run)
    whole, why = check(arguments, path, run)
    choices = list_choices(text)
    if not choices:
        yield Judged(name, None, "", None, "not legal: no kernel")
    for kernel, choice in choices:
        options = choice + run
        report = whole
        if len(choice) > 2 or whole is None or whole["verdict"] == "invalid":
            report, why = check(arguments, path, options)
        yield Judged(" ".join([name + kernel, *asked]), comparing.Case(path, options), kernel[1:], report, why)


def get_facts(report, kernel):
    """What the report says of a kernel, or of all if it is ""."""
    return [entry for entry in report["coverage"]["kernels"] if kernel in (entry["kernel"], "")]


def list_codes(report, kernel, severity=None):
    """The codes of the findings in a kernel, of one severity if that is said."""
    return sorted({f["code"] for f in report["findings"]
                   if severity in (f["severity"], None) and (not kernel or f["kernel"] in (kernel, "", None))})


def enter(arguments, folder):
    """Makes a folder in this one the current one: the tree, with the litmus programs of families as files."""
    arguments.grout = os.path.abspath(arguments.grout)
    arguments.state = arguments.state and os.path.abspath(os.path.join(ROOT, arguments.state))
    os.chdir(families.lay_out(os.path.join(folder, "tree")))


def find_files(arguments, always=()):
    """The files of FOLDERS that --share and --only choose, and those of always."""
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.grout"), recursive=True)):
            is_chosen = path in always or zlib.crc32(path.encode()) % arguments.share == 0
            if any(word in path for word in arguments.only.split(",")) and is_chosen:
                yield path


def read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def add_options(parser, interleavings):
    comparing.add_options(parser, interleavings)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--only", default="", help="a word of the path, or several, with commas")
