"""Tests of verdicts from outside: what decides the verdict and the exit code, what ends a run, what a run reached.

usage: run_verdicts.py --grout PATH [TEST...]     every test by default
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
RACE = """  scratch %s : smem i32[1]
  store %s[0], (axis_index wg)
"""
grout = None


def run(*words, cwd=None, stdin=""):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "CUDA_", "XDG_", "NO_COLOR"))}
    return subprocess.run([grout, *words], input=stdin, capture_output=True, text=True, errors="replace",
                          env=environment, cwd=cwd, timeout=SECONDS, check=False)


def expect(done, code, out="", err=""):
    text = f"exit code {done.returncode}\nstdout: {done.stdout}\nstderr: {done.stderr}"
    assert done.returncode == code, f"expected {code}: {text}"
    assert out in done.stdout and err in done.stderr, f"expected {out!r}, {err!r}: {text}"
    return done


def write(path, text):
    with open(path, "w", encoding="latin-1") as file:
        file.write(text)
    return path


# ---- the tests: functions of a folder that is empty at first -----------------------------------------

def test_all_findings_count(folder):
    """Verdict and exit code come from all findings, listed or not; errors are listed first."""
    outputs = ", ".join(f"%z{i}: out gmem i32[4]" for i in range(30))
    kernel = write(f"{folder}/k.grout", f"kernel @k({outputs}) threads(wg = 2) {{\n{RACE}}}\n")
    for options in ([], ["--max-findings", "1"]):
        done = expect(run("check", kernel, *options), 1, "[smem-race]")
        assert done.stdout.index("[smem-race]") < (done.stdout + "[output-not-written]").index("[output-not-written]"), done.stdout
        expect(done, 1, "@k: error, 1 error, 30 warnings, ")
        report = json.loads(run("check", kernel, *options, "--format", "json").stdout)
        assert report["verdict"] == "error" and report["findings"][0]["code"] == "smem-race", report["verdict"]
        not_listed = report["coverage"]["kernels"][0]["findings_not_listed"]
        assert len(report["findings"]) + not_listed == 31, (len(report["findings"]), not_listed)
    # A finding that is not listed decides too: here the second error of two.
    two = write(f"{folder}/two.grout", f"kernel @k() threads(wg = 2) {{\n{RACE}  store %s[0], 2\n}}\n")
    expect(run("check", two, "--max-findings", "1"), 1, "past --max-findings")
    # What is silenced takes no place in the list, and --severity decides which are errors.
    off = ["--severity", "output-not-written=off", "--max-findings", "1"]
    expect(run("check", kernel, *off), 1, "@k: error, 1 error, 30 silenced\n")
    other = ["--severity", "smem-race=warning", "--severity", "output-not-written=error", "--max-findings", "1"]
    done = expect(run("check", kernel, *other), 1, "@k: error, 30 errors, 1 warning, 30 past --max-findings")
    assert "[smem-race]" not in done.stdout, done.stdout
    expect(run("check", kernel, "--severity", "smem-race=off", "--max-findings", "1"), 0, "@k: clean, 30 warnings")
    expect(run("check", kernel, "--severity", "smem-race=off", "--max-findings", "1", "--werror"), 1)


def test_warnings_leave_room(folder):
    """More warnings than a list of diagnostics holds: an error that comes after them is shown and decides."""
    unused = "".join(f"  %u{i} = axis_index wg\n" for i in range(30))
    text = f"kernel @k(%y: out gmem i32[2]) threads(wg = 2) {{\n{unused}  store %y[(axis_index wg)], 1\n}}\n"
    kernel = write(f"{folder}/k.grout", text)
    header = "{'descr': '<i4', 'fortran_order': False, 'shape': (2,), }\n"
    write(f"{folder}/y.npy", "\x93NUMPY\x01\x00" + chr(len(header)) + "\x00" + header + 8 * "\x00")
    done = expect(run("check", kernel, "--expect-output", f"y={folder}/y.npy"), 1, "[compare-mismatch]")
    assert "11 more not shown" in done.stdout, done.stdout


def main():
    global grout
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("tests", nargs="*")
    args = parser.parse_args()
    grout = args.grout
    tests = {name[5:]: function for name, function in globals().items() if name.startswith("test_")}
    failures = 0
    for name in args.tests or tests:
        with tempfile.TemporaryDirectory(prefix="grout-verdicts-") as folder:
            try:
                tests[name](folder)
            except AssertionError as error:
                failures += 1
                print(f"{name}: FAILED: {error}")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
