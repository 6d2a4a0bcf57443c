"""Holds the examples of the documentation: every fenced block tagged 'grout' is a whole file that 'grout check --expect' accepts.

usage: check_examples.py --grout PATH [FILE...]     docs/*.md and README.md by default

A block without expectation comments has to be clean. Blocks with another tag, or none, are not looked at.
"""
import argparse
import glob
import os
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def examples_of(path):
    """(line of the fence, text) of every block tagged 'grout'."""
    examples, text, begin, is_ours = [], [], 0, False
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if not line.startswith("```"):
                text.append(line)
            elif begin == 0:
                begin, is_ours, text = number, line[3:].strip() == "grout", []
            else:
                if is_ours:
                    examples.append((begin, "".join(text)))
                begin = 0
    if begin != 0:
        sys.exit(f"{path}:{begin}: the block has no end")
    return examples


def check(grout, text):
    """What is wrong with an example; '' if nothing."""
    if "expect" not in text:
        text += "// expect: clean\n"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "example.grout"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([grout, "check", "--expect", "example.grout"], cwd=folder, capture_output=True,
                              text=True, timeout=60)
    return "" if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    grout = os.path.abspath(options.grout)
    files = options.files or sorted(glob.glob(os.path.join(TOP, "docs", "*.md"))) + [os.path.join(TOP, "README.md")]
    count = failed = 0
    for path in files:
        for line, text in examples_of(path):
            count += 1
            wrong = check(grout, text)
            if wrong:
                failed += 1
                print(f"{os.path.relpath(path)}:{line}: {wrong}", end="")
    print(f"{count} examples, {failed} wrong")
    if count == 0:
        sys.exit("no examples: are they still tagged 'grout'?")
    sys.exit(1 if failed else 0)


main()
