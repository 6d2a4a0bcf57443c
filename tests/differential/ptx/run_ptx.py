#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every kernel of the tree on the machine that knows PTX alone, held against the interpreter, bit for bit where the
numbers are determined. Needs NVRTC: 77 without it.

usage: run_ptx.py --grout PATH [--interleavings 20] [--jobs 1] [--share N] [--only WORD] [--state FILE] [--list]

'grout check' says first, for every .grout file of FOLDERS, which kernels are legal and right; a file runs once for each
'// run:' comment with other sizes or inputs, and with the options of its '// same:' comments. Each right kernel is
compiled once and runs in this many interleavings: seeds, with asynchronous operations at random, as late and as early
as the ISA allows. What is left out has a reason, and --list gives it for each.

--share N takes every N-th file, chosen by its name, and those of FEW.
"""
import argparse
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
import tree
from comparing import LEFT_OUT, Result

# One thing each that is easily got wrong.
FEW = ("kernels/softmax.grout", "kernels/add_tma.grout", "tests/differential/wgmma_registers.grout",
       "tests/behaviour/mma/undefined-row-of-a-fixed.grout", "tests/behaviour/wgmma/undefined-column-of-b.grout",
       "tests/behaviour/wgmma/undefined-row-in-registers.grout",
       "tests/behaviour/wgmma/undefined-then-stored-over.grout", "tests/behaviour/tcgen05_scaled/rows-beyond-n.grout",
       "tests/golden/cuda/bad-host-init.grout", "kernels/matmul_blackwell_collective.grout",
       "kernels/matmul_blackwell_narrow.grout", "tests/references/tcgen05_sparse_f32.grout")
# What these store has no value, and the machine has to say so.
FAULTS = ("tests/behaviour/mma/undefined-row-of-a.grout", "tests/behaviour/mma/undefined-sums.grout",
          "tests/behaviour/wgmma/undefined-columns.grout", "tests/behaviour/wgmma/undefined-row-of-a-stored.grout",
          "tests/behaviour/wgmma/undefined-then-used.grout")
# They look at bits that are others on a GPU (docs/gpu.md, what differs), and store where these say.
OF_THE_CPU = {"tests/behaviour/values/float-sum-order.grout": "it asks for the CPU's order of a float sum",
              "tests/behaviour/values/functions.grout": "it asks for the CPU's bits of functions"}
UNDEFINED = {"tensor-pipe-order"}  # warnings of kernels whose results nothing promises


def judge(report, kernel):
    """Why a kernel is not to be compared, or None. kernel: "" for a launch list."""
    errors = tree.list_codes(report, kernel, "error")
    facts = tree.get_facts(report, kernel)
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


def find_cases(arguments, folder, path, text, run):
    """The name and the Case of each kernel, and why it is left out, or None."""
    for it in tree.judge_kernels(arguments, folder, path, text, run):
        reason = it.why if it.report is None else judge(it.report, it.kernel)
        if re.search("^// unordered:", text, re.M):
            reason = reason or "its comment says that what it does depends on the order"
        yield it.name, it.case, reason or OF_THE_CPU.get(path)


def check_fault(arguments, path):
    """Whether the machine refuses what the checker refuses."""
    command = [arguments.grout, "run", path, "--device", "ptx"]
    code, out, err = comparing.call(command, arguments.seconds)
    if "[nvrtc-missing]" in err:
        raise comparing.NoNvrtc
    if code != 0 and "[ptx-fault]" in out + err:
        return Result(comparing.AGREES, "both find a value that nothing has set", "")
    return Result(comparing.DIFFERS, "no fault", f"$ {' '.join(command)}\n{out}{err}")


def main():
    parser = argparse.ArgumentParser()
    tree.add_options(parser, 20)
    arguments = parser.parse_args()

    def work(path):
        if path in FAULTS:
            yield path, check_fault(arguments, path)
            return
        text = tree.read(path)
        for run in tree.list_runs(text):
            for name, case, reason in find_cases(arguments, folder, path, text, run):
                if reason:
                    yield name, Result(LEFT_OUT, reason, "")
                else:
                    yield name, tally.get(name) or comparing.compare(
                        arguments.grout, case, arguments.interleavings, arguments.seconds)

    with tempfile.TemporaryDirectory(prefix="grout-ptx-") as folder:
        tree.enter(arguments, folder)
        tally = comparing.Tally(arguments.state, arguments.list)
        return comparing.run_all(tree.find_files(arguments, FEW + FAULTS), work, tally, arguments.jobs,
                                 arguments.interleavings)


if __name__ == "__main__":
    sys.exit(main())
