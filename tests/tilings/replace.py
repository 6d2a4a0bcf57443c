"""Kernels whose tiles and swizzles are inferred instead of written: they have to do the same.

usage: replace.py --grout PATH [--least N] [--device ptx] KERNEL-OR-FOLDER...

Each 'tile(..)' and 'swizzle(..)' of an smem array becomes 'tile(infer)', all of a file at once. What the file
expects must still be found in it. With --device ptx its PTX must compute the same on the CPU, which needs NVRTC: 77
without it. Then each array alone: where the CUDA text does not change, the layout is the one that was written. At least
N arrays must have it.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

MISSING = 77  # exit code without NVRTC
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WORDS = re.compile(r"tile\((?!infer)[^()]*(?:\([^()]*\)[^()]*)*\)(?: swizzle\([^()]*\))?|(?<=\] )swizzle\([^()]*\)")


def find_files(paths):
    found = [path for path in paths if os.path.isfile(path)]
    for path in paths:
        found += [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names
                  if name.endswith(".grout")]
    return sorted(set(found))


def replace(line):
    """The line with inferred tiles, or the line itself."""
    return WORDS.sub("tile(infer)", line) if re.search(r": smem ", line.partition("//")[0]) else line


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, errors="replace", check=False)


def emit(grout, text):
    """The CUDA without comments, which hold the kernel's text; None: there is none."""
    done = run([grout, "emit", "-"], text)
    lines = (line for line in done.stdout.splitlines() if not line.lstrip().startswith("//"))
    return "\n".join(lines) if done.returncode == 0 else None


class NoNvrtc(Exception):
    """There is nothing to compile with."""


def check_whole(grout, device, path, folder, text):
    """What is wrong with the file when all tiles are inferred, or None."""
    name = os.path.join(folder, os.path.relpath(path, ROOT))
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    done = run([grout, "check", "--expect", "-q", name])
    if done.returncode != 0:
        return f"exit code {done.returncode}\n{done.stdout}{done.stderr}"
    if device == "ptx" and "expect: clean" in text:
        script = os.path.join(ROOT, "tests", "differential", "ptx", "run_files.py")
        done = run([sys.executable, script, "--grout", grout, name])
        if done.returncode == MISSING:
            raise NoNvrtc
        if done.returncode != 0:
            return done.stdout + done.stderr
    return None


def count_same(grout, lines):
    """How many arrays have, inferred alone, the layout that is written; how many others there are; what fails."""
    written = emit(grout, "".join(lines))
    same = other = 0
    failures = []
    for number, line in enumerate(lines):
        if replace(line) == line:
            continue
        inferred = emit(grout, "".join([*lines[:number], replace(line), *lines[number + 1:]]))
        if inferred is None:
            failures.append(f"line {number + 1}: no CUDA with tile(infer)\n")
        elif inferred == written:
            same += 1
        else:
            other += 1
    return same, other, failures


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--least", type=int, default=1)
    parser.add_argument("--device", choices=["ptx"])
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    same = other = bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for path in find_files(args.paths):
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
            if all(replace(line) == line for line in lines):
                continue
            if any('attr arch = "sm_1' in line for line in lines):
                continue  # there is no CUDA of Blackwell yet, which would tell the layout
            wrong = check_whole(args.grout, args.device, os.path.abspath(path), folder, "".join(map(replace, lines)))
            found, others, failures = count_same(args.grout, lines)
            same, other = same + found, other + others
            failures += [wrong] if wrong is not None else []
            bad += len(failures)
            for failure in failures:
                print(f"---- {path}: {failure}", end="")
    print(f"{same} arrays have the layout that is written, {other} another one; {bad} failures")
    if same < args.least:
        print(f"at least {args.least} must have the layout that is written")
    return 1 if bad > 0 or same < args.least else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except NoNvrtc:
        sys.exit(MISSING)
