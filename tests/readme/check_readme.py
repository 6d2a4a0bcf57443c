"""Keeps README.md's first screen true: its kernel, its report, the repaired verdict and its CUDA.

usage: check_readme.py --grout PATH [--update]

The parts between '<!-- begin NAME -->' and '<!-- end -->' are what the command prints, indented by four. What
'grout doctor' says of a missing NVRTC stands in README.md too, 'grout fix' inserts the line that is shown, and the
commands name targets of the Makefile.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(os.path.dirname(os.path.dirname(HERE)), "README.md")
STORE = "  store %xs, (add (load %xs), 1.0)\n"
CUDA_LINES = 11


def run(grout, folder, *arguments):
    done = subprocess.run([grout, *arguments], cwd=folder, capture_output=True, text=True, timeout=SECONDS, check=False)
    return done.returncode, done.stdout


def repair(grout, path):
    """README.md shows the line that 'grout fix' inserts."""
    with open(path, encoding="utf-8") as file:
        wanted = file.read().replace(STORE, STORE + "  commit_smem\n")
    _, said = run(grout, os.path.dirname(path), "fix", "--yes", os.path.basename(path))
    with open(path, encoding="utf-8") as file:
        if file.read() != wanted:
            sys.exit(f"fix does not insert the commit_smem that README.md shows\n{said}")


def parts_of(grout):
    """What each part must say."""
    with open(os.path.join(HERE, "add_one.grout"), encoding="utf-8") as file:
        broken = file.read()
    parts = {"kernel": broken}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "add_one.grout")
        with open(path, "w", encoding="utf-8") as file:
            file.write(broken)
        for name, wanted in (("report", 1), ("clean", 0)):
            code, parts[name] = run(grout, folder, "check", "add_one.grout")
            if code != wanted:
                sys.exit(f"{name}: exit code {code}, not {wanted}\n{parts[name]}")
            if name == "report":
                repair(grout, path)
        code, cuda = run(grout, folder, "emit", "add_one.grout")
        if code != 0:
            sys.exit(f"emit: exit code {code}")
        parts["cuda"] = "\n".join(cuda.rstrip("\n").split("\n")[-CUDA_LINES:]) + "\n"
    return parts


def fill(readme, parts):
    for name, text in parts.items():
        block = "".join("    " + line if line.strip() else line for line in text.splitlines(keepends=True))
        pattern = re.compile(rf"(<!-- begin {name} -->\n\n).*?(\n<!-- end -->)", re.S)
        readme, count = pattern.subn(lambda match, block=block: match.group(1) + block + match.group(2), readme)
        if count != 1:
            sys.exit(f"README.md: {count} parts called {name}, not one")
    return readme


def check_nvrtc(grout, readme):
    """README.md says what 'grout doctor' says of a missing NVRTC."""
    code, said = run(grout, HERE, "doctor", "--nvrtc", "/there/is/none")
    found = re.search(r"^nvrtc: none .*\n  to get it: (.*)$", said, re.M)
    if code != 0 or not found:
        sys.exit(f"doctor says nothing of a missing NVRTC: exit code {code}\n{said}")
    if found.group(1) not in " ".join(readme.replace("`", "").split()):
        sys.exit(f"README.md does not say: {found.group(1)}")


def check_commands(readme):
    """The commands that tools/check_fresh.sh types: each names a target that there is."""
    [block] = re.findall(r"<!-- begin commands -->\n\n(.*?)\n<!-- end -->", readme, re.S)
    with open(os.path.join(os.path.dirname(README), "Makefile"), encoding="utf-8") as file:
        targets = set(re.findall(r"^([a-z][a-z-]*):", file.read(), re.M))
    named = re.findall(r"^    tools/bootstrap.sh ([a-z-]+)", block, re.M)
    if named != ["demo", "test"] or len(block.splitlines()) != len(named) or not set(named) <= targets:
        sys.exit(f"README.md: commands for {named}, not for demo and test; the Makefile has {sorted(targets)}")
    bare = [line for line in block.splitlines() if line and not line.startswith("    ")]
    if bare:
        sys.exit(f"README.md: a command that is not indented by four: {bare[0]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    with open(README, encoding="utf-8") as file:
        readme = file.read()
    check_nvrtc(os.path.abspath(options.grout), readme)
    check_commands(readme)
    wanted = fill(readme, parts_of(os.path.abspath(options.grout)))
    if options.update:
        with open(README, "w", encoding="utf-8") as file:
            file.write(wanted)
    elif wanted != readme:
        sys.exit("README.md is not what the command prints; run tests/readme/check_readme.py --grout ... --update")


main()
