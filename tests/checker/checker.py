#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a checker of asynchronous kernels must do, where the expectations of a kernel cannot say it.

usage: checker.py --grout PATH reports|memory
"""
import argparse
import glob
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
from limit import SECONDS

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Findings about two accesses, whose edge is missing.
PAIRS = {"smem-race", "gmem-race", "same-value-race", "async-not-awaited", "missing-commit-smem",
         "missing-commit-smem-war", "missing-commit-gmem", "smem-source-reuse", "mma-operand-reuse",
         "cluster-smem-reuse"}


def run(grout, *arguments, folder=ROOT):
    return subprocess.run([grout, *arguments], capture_output=True, text=True, cwd=folder, check=False)


def check_pair(finding, said):
    assert len(finding["accesses"]) == 2, finding["accesses"]
    for access in finding["accesses"]:
        where = access["where"]
        assert access["op"] and access["place"]["line"] > 0, access
        assert access["box"].startswith("%"), access
        assert access["kind"] in ("read", "write", "read and write"), access
        assert access["engine"], access
        assert "CTA" in where or "thread" in where, access
        line = "\n%5d | " % access["place"]["line"]  # the line itself, by its number
        assert line in said, (line, said)
    assert finding["missing_edge"] and finding["repair"], finding


def check_reports(grout):
    """A report holds what a reader needs to act: for both accesses the line, the box, the engine, the thread and the
    iteration; the missing edge; and a repair. There is one finding for each cause, also as JSON, and the exit code
    says that there are findings."""
    # Explorations write the schedules that they find where they run.
    with tempfile.TemporaryDirectory(prefix="grout-reports-") as folder:
        check_reports_in(grout, families.lay_out(folder))


def check_reports_in(grout, folder):
    pairs, loops = 0, 0
    for path in sorted(glob.glob("kernels/bugs/*.grout", root_dir=folder) +
                       glob.glob("tests/corpus/**/*.bug.grout", root_dir=folder, recursive=True)):
        options = re.findall(r"^// run: (.*)$", pathlib.Path(f"{folder}/{path}").read_text(encoding="utf-8"), re.M)
        options = (options[0].split() if options else []) + ["--budget", str(SECONDS)]
        done = run(grout, "check", "--format", "json", *options, path, folder=folder)
        report = json.loads(done.stdout)
        if report["verdict"] in ("clean", "warning"):
            continue
        is_paired = any(finding["code"] in PAIRS for finding in report["findings"])
        said = run(grout, "check", "-v", *options, path, folder=folder).stdout if is_paired else ""
        assert done.returncode in (1, 2), (path, done.returncode)
        names = [finding["identity"] for finding in report["findings"]]
        assert len(names) == len(set(names)), (path, names)
        for finding in report["findings"]:
            if finding["code"] in PAIRS:
                check_pair(finding, said)
                pairs += 1
                loops += any(", %" in access["where"] for access in finding["accesses"])
    assert pairs >= 20 and loops >= 10, (pairs, loops)
    print(f"{pairs} pairs reported in full, {loops} with the iterations of their loops")


def check_memory(grout):
    """The checker keeps epochs and intervals, not a history: its memory does not grow with the iterations."""
    for kernel, name in (("matmul_hopper_ws", "K"), ("matmul_hopper_cluster", "K"), ("matmul_hopper", "K")):
        sizes = set()
        text = pathlib.Path(f"{ROOT}/kernels/{kernel}.grout").read_text(encoding="utf-8")
        value = int(re.search(r"\b%s = (\d+)" % name, text).group(1))
        for factor in (2, 8, 32):
            done = run(grout, "check", "--stats", "-D", f"{name}={value * factor}", f"kernels/{kernel}.grout")
            assert done.returncode == 0, done.stdout + done.stderr
            sizes.add(re.search(r"(\d+) KiB of shadow", done.stderr).group(1))
        print(f"{kernel}: {', '.join(sizes)} KiB of shadow at {name} = {value} times 2, 8, 32")
        assert len(sizes) == 1, kernel


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("what", choices=("reports", "memory"))
    arguments = parser.parse_args()
    {"reports": check_reports, "memory": check_memory}[arguments.what](os.path.abspath(arguments.grout))


if __name__ == "__main__":
    sys.exit(main())
