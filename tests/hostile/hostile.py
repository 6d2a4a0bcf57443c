#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that try to read the machine, to outlast their budget, or to say what grout says: what becomes of each.

usage: hostile.py --grout PATH | --python PATH

expected.tsv has a line for each run: the file; the command and its options, to which the file is added, or 'python' for
a script; the exit codes that are right; the seconds of a processor that it may take; what has to appear in what it
prints, and what must not, as regular expressions; and why. A file that is not here is one of MADE. '^C' after a
command: it gets SIGINT when it has used a second of a processor.

--grout: the lines of the command. --python: those of scripts, with an interpreter that can import grout.
"""
import argparse
import collections
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from limit import SECONDS

NO_NVRTC = "nvrtc-missing"
MADE = {"fix_budget_ignored_20000_lines.grout":
        lambda: 'require 1 == 1, "a"\n' * 20000 + "kernel @k(%x: in gmem f32[64], %y: out gmem f32[64])\n{\n}\n",
        "large_operations.grout":
        lambda: "kernel @k(%x: in gmem f32[1048576], %y: out gmem f32[1048576])\n{\n  %a = load %x\n  for %i in "
        "0..1000000 {\n"
                "    store %y, (exp (sin (tanh (pow %a, %a))))\n  }\n}\n",
        "large_products.grout":
        lambda: "kernel @k(%x: in gmem f32[1024, 1024], %y: inout gmem f32[1024, 1024])\n{\n  %a = load %x\n"
                "  for %i in 0..1000000 {\n    store %y, (mma %a, %a, %a)\n  }\n}\n",
        "kernels_12500.grout":
        lambda: "".join(f"kernel @k{i}(%y: inout gmem i32[64])\n{{\n  store %y[0], 1\n}}\n" for i in range(12500)),
        "pairs_of_3200_atomics.grout":
        lambda: "const G = 32, T = 100\nkernel @k(%n: inout gmem i32[1], %y: inout gmem i32[G]) grid(g = G)\n{\n  for "
        "%i in 0..T {\n"
                "    %old = atomic_exchange %n[0], (axis_index g) order(acq_rel)\n    if (lt %old, (axis_index g)) {\n"
                "      store %y[(axis_index g)], %old\n    }\n  }\n}\n",
        "deadlock_of_20000_ctas.grout":
        lambda: "const G = 20000\nkernel @k(%y: inout gmem i32[1]) grid(g = G)\n{\n  scratch %u : semaphore[1] global\n"
                "  scratch %v : semaphore[1] global\n  if (lt (load %y[0]), 5) {\n    semaphore_wait %u[0], 1\n"
                "    semaphore_signal %v[0], 1\n  } else {\n    semaphore_wait %v[0], 1\n    semaphore_signal %u[0], "
                "1\n  }\n}\n"}
Row = collections.namedtuple("Row", "file command codes seconds must must_not why")


def load_rows():
    with open(os.path.join(HERE, "expected.tsv"), encoding="utf-8") as file:
        rows = [Row(*line.rstrip("\n").split("\t")) for line in file if not line.startswith("#")]
    unused = {name for name in os.listdir(HERE) if name.endswith((".grout", ".py"))} - {row.file for row in rows}
    assert unused == {os.path.basename(__file__), "ends.py", "large.py"}, f"without a line in expected.tsv: {unused}"
    return rows


def find_file(name, folder):
    """Where the file is; one of MADE is written into the folder."""
    if name not in MADE:
        return os.path.join(HERE, name)
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as file:
        file.write(MADE[name]())
    return path


def interrupt_later(process):
    """SIGINT when the process has begun to work: Python has started by then."""
    ticks, begin = os.sysconf("SC_CLK_TCK"), time.monotonic()
    while process.poll() is None and time.monotonic() - begin < SECONDS:
        with open(f"/proc/{process.pid}/stat", encoding="ascii", errors="replace") as file:
            words = file.read().rsplit(")", 1)[1].split()
        if int(words[11]) >= ticks:
            process.send_signal(signal.SIGINT)
            return
        time.sleep(0.05)


def run(command, interrupts):
    """(exit code, seconds of a processor, what it printed)"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryFile() as out:
        with subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as process:
            if interrupts:
                interrupt_later(process)
            code = process.wait(SECONDS)
        out.seek(0)
        text = out.read().decode("utf-8", "replace")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return code, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, text


def list_faults(row, code, seconds, text):
    if str(code) not in row.codes.split("|"):
        yield f"exit code {code}, not {row.codes}"
    if seconds > float(row.seconds):
        yield f"{seconds:.1f} s of a processor, not {row.seconds}"
    if not re.search(row.must, text, re.MULTILINE):
        yield f"without '{row.must}'"
    if re.search(row.must_not, text, re.MULTILINE):
        yield f"with '{row.must_not}'"


def check(row, program, folder):
    """The word for it: passed, skipped, or what is wrong."""
    words = row.command.split()
    interrupts = words[-1] == "^C"
    words = words[:-1] if interrupts else words
    command = [program, *([] if words[0] == "python" else words), find_file(row.file, folder)]
    code, seconds, text = run(command, interrupts)
    if NO_NVRTC in text:
        return "skipped: no NVRTC"
    faults = list(list_faults(row, code, seconds, text))
    return f"FAILED: {'; '.join(faults)}\n{text[:3000]}" if faults else f"passed in {seconds:.1f} s"


def main():
    parser = argparse.ArgumentParser()
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--grout")
    which.add_argument("--python")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for row in load_rows():
            if row.command.startswith("python") == bool(arguments.python):
                word = check(row, os.path.abspath(arguments.grout or arguments.python), folder)
                failed += word.startswith("FAILED")
                print(f"{row.file} {row.command}: {word}", flush=True)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
