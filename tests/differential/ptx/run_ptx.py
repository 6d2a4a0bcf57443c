#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kernel of the tree on the machine that knows PTX alone, held against the interpreter, bit for bit where the
numbers are determined. Needs NVRTC: 77 without it.

usage: run_ptx.py --grout PATH [--interleavings 20] [--jobs 1] [--share N] [--only WORD] [--state FILE] [--list]

Of every .grout file of FOLDERS 'grout check' says first which kernels are legal and right; a file runs once for each
'// run:' comment with other sizes or inputs, and with the options of its '// same:' comments. Each right kernel is
compiled once and runs in so many interleavings: seeds, with asynchronous operations at random, as late and as early as
the ISA allows. What is left out has a reason, and --list gives it for each.

--share N takes every N-th file, chosen by its name, and those of FEW.
"""
import argparse
import glob
import json
import os
import re
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
from comparing import LEFT_OUT, Case, Result

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
FOLDERS = ("tests", "docs", "bench", "python", "kernels")  # what takes longest comes last
# One thing each that is easily got wrong.
FEW = ("kernels/softmax.grout", "kernels/add_tma.grout", "tests/differential/wgmma_registers.grout",
       "tests/behaviour/mma/undefined-row-of-a-fixed.grout", "tests/behaviour/wgmma/undefined-column-of-b.grout",
       "tests/behaviour/wgmma/undefined-row-in-registers.grout", "tests/behaviour/wgmma/undefined-then-stored-over.grout",
       "tests/behaviour/tcgen05_scaled/rows-beyond-n.grout", "tests/golden/cuda/bad-host-init.grout",
       "kernels/matmul_blackwell_collective.grout", "kernels/matmul_blackwell_narrow.grout",
       "tests/references/tcgen05_sparse_f32.grout")
# What these store has no value, and the machine has to say so.
FAULTS = ("tests/behaviour/mma/undefined-row-of-a.grout", "tests/behaviour/mma/undefined-sums.grout",
          "tests/behaviour/wgmma/undefined-columns.grout", "tests/behaviour/wgmma/undefined-row-of-a-stored.grout",
          "tests/behaviour/wgmma/undefined-then-used.grout")
# They look at bits that are others on a GPU (docs/gpu.md, what differs), and store where these say.
OF_THE_CPU = {"tests/behaviour/values/float-sum-order.grout": "it asks for the CPU's order of a float sum",
              "tests/behaviour/values/functions.grout": "it asks for the CPU's bits of functions"}
VALUES = {"-D", "--arch", "--input", "--extern"}  # options that change what there is to compute
UNDEFINED = {"tensor-pipe-order"}  # warnings of kernels whose results nothing promises


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


def get_facts(report, kernel):
    """What the report says of a kernel, or of all if it is ""."""
    return [entry for entry in report["coverage"]["kernels"] if kernel in (entry["kernel"], "")]


def judge(report, kernel):
    """Why a kernel is not to be compared, or None. kernel: "" for a launch list."""
    errors = sorted({f["code"] for f in report["findings"]
                     if f["severity"] == "error" and (not kernel or f["kernel"] in (kernel, "", None))})
    facts = get_facts(report, kernel)
    if errors and (not facts or report["verdict"] == "invalid"):
        return f"not legal [{errors[0]}]"
    if errors:
        return f"it has mistakes [{errors[0]}]"
    if not facts:
        return f"it is {report['verdict']}"
    undefined = sorted({f["code"] for f in report["findings"]} & UNDEFINED)
    if undefined:
        return f"no order of its operations is promised [{undefined[0]}]"
    unfinished = [entry["status"] for entry in facts if entry["status"] != "done"]
    return "its run does not end: " + unfinished[0] if unfinished else None


def list_choices(text):
    """(name, options) of what the command runs of a file: each kernel, or its launch list."""
    kernels = re.findall(r"^[ \t]*kernel @(\w+)", text, re.M)
    if re.search(r"^[ \t]*launch @", text, re.M):
        return [("", [])]
    return [("@" + kernel, ["--kernel", "@" + kernel, *get_same(text, kernel)]) for kernel in kernels]


def set_arch(arguments, folder, path, text, run):
    """The path and the options of the same kernels for the architecture of --arch: only their text can choose code."""
    if "--arch" not in run:
        return path, run
    at = run.index("--arch")
    copy = os.path.join(folder, f"{run[at + 1]}+{path.replace('/', '+')}")
    with open(copy, "w", encoding="utf-8") as file:
        file.write(comparing.set_arch(text, run[at + 1]))
    return copy, run[:at] + run[at + 2:]


def find_cases(arguments, folder, path, text, run):
    """The name and the Case of each kernel, and why it is left out, or None."""
    name, asked = path, run
    path, run = set_arch(arguments, folder, path, text, run)
    whole, why = check(arguments, path, run)
    choices = list_choices(text)
    if not choices:
        yield name, None, "not legal: no kernel"
    for kernel, choice in choices:
        options = choice + run
        report = whole
        if len(choice) > 2 or whole is None or whole["verdict"] == "invalid":
            report, why = check(arguments, path, options)
        reason = why if report is None else judge(report, kernel[1:])
        if re.search("^// unordered:", text, re.M):
            reason = reason or "its comment says that what it does depends on the order"
        yield " ".join([name + kernel, *asked]), Case(path, options), reason or OF_THE_CPU.get(name)


def check_fault(arguments, path):
    """Whether the machine refuses what the checker refuses."""
    command = [arguments.grout, "run", path, "--device", "ptx"]
    code, out, err = comparing.call(command, arguments.seconds)
    if "[nvrtc-missing]" in err:
        raise comparing.NoNvrtc
    if code != 0 and "[ptx-fault]" in out + err:
        return Result(comparing.AGREES, "both find a value that nothing has set", "")
    return Result(comparing.DIFFERS, "no fault", f"$ {' '.join(command)}\n{out}{err}")


def find_files(arguments):
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(folder, "**", "*.grout"), recursive=True)):
            is_chosen = path in FEW or path in FAULTS or zlib.crc32(path.encode()) % arguments.share == 0
            if arguments.only in path and is_chosen:
                yield path


def main():
    parser = argparse.ArgumentParser()
    comparing.add_options(parser, 20)
    parser.add_argument("--share", type=int, default=1)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    os.chdir(ROOT)
    tally = comparing.Tally(arguments.state, arguments.list)

    def work(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        if path in FAULTS:
            yield path, check_fault(arguments, path)
            return
        for run in list_runs(text):
            for name, case, reason in find_cases(arguments, folder, path, text, run):
                if reason:
                    yield name, Result(LEFT_OUT, reason, "")
                else:
                    yield name, tally.get(name) or comparing.compare(
                        arguments.grout, case, arguments.interleavings, arguments.seconds)

    with tempfile.TemporaryDirectory(prefix="grout-ptx-") as folder:
        return comparing.run_all(find_files(arguments), work, tally, arguments.jobs, arguments.interleavings)


if __name__ == "__main__":
    sys.exit(main())
