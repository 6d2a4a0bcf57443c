"""Holds the examples of the documentation to what the command does.

usage: check_examples.py --grout PATH [--update] [FILE...]     docs/*.md and README.md by default

A fenced block tagged 'grout' is a whole file, and 'grout check --expect' accepts it; without expectation comments it
has to be clean. A block tagged 'console' shows commands, '$ grout ...', each followed by all that it prints; a line
'...' matches any lines. The commands of a page run one after the other in one folder, which has kernels/ in it. What
needs a library that is not here is left out. --update writes what the commands print, but where lines are left out.
Other blocks are not looked at.
"""
import argparse
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from limit import SECONDS

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROMPT = "$ grout "
LEFT_OUT = "...\n"


def blocks_of(path, lines):
    """(tag, index of the first line, index of the closing fence) of every fenced block."""
    blocks, begin = [], None
    for index, line in enumerate(lines):
        if line.startswith("```"):
            if begin is None:
                begin = index
            else:
                blocks.append((lines[begin][3:].strip(), begin + 1, index))
                begin = None
    if begin is not None:
        sys.exit(f"{path}:{begin + 1}: the block has no end")
    return blocks


def check_file(grout, text):
    """What is wrong with a whole file; '' if nothing."""
    if "// expect" not in text:
        text += "// expect: clean\n"
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "example.grout"), "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run([grout, "check", "--expect", "example.grout"], cwd=folder, capture_output=True,
                              text=True, timeout=SECONDS, check=False)
    return "" if done.returncode == 0 else f"exit code {done.returncode}\n{done.stdout}{done.stderr}"


def is_as_shown(shown, printed):
    pattern = "".join("(?:.*\n)*" if line == LEFT_OUT else re.escape(line) for line in shown)
    return re.fullmatch(pattern, printed) is not None


def print_command(grout, command, folder):
    """What a command prints, or None if a library that it needs is not here."""
    environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(folder, "cache"))
    done = subprocess.run([grout, *shlex.split(command)], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=SECONDS, env=environment, check=False)
    return None if "[nvrtc-missing]" in done.stdout else done.stdout


def check_console(grout, folder, lines):
    """The block with what its commands print, and what is wrong with it; '' if nothing."""
    found, wrong, at = [], "", 0
    if not lines or not lines[0].startswith(PROMPT):
        return lines, f"the block does not begin with '{PROMPT}'\n"
    while at < len(lines):
        end = at + 1
        while end < len(lines) and not lines[end].startswith(PROMPT):
            end += 1
        shown = lines[at + 1:end]
        printed = print_command(grout, lines[at][len(PROMPT):], folder)
        found.append(lines[at])
        if printed is None or is_as_shown(shown, printed):
            found += shown
        else:
            wrong += lines[at] + printed
            found += shown if LEFT_OUT in shown else printed.splitlines(keepends=True)
        at = end
    return found, wrong


def check_page(grout, path, is_update):
    """Numbers of examples and of wrong ones of a page."""
    with open(path, encoding="utf-8") as file:
        lines = file.readlines()
    page, copied, count, failed = [], 0, 0, 0
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(os.path.join(TOP, "kernels"), os.path.join(folder, "kernels"))
        for tag, first, end in blocks_of(path, lines):
            if tag == "grout":
                found, wrong = lines[first:end], check_file(grout, "".join(lines[first:end]))
            elif tag == "console":
                found, wrong = check_console(grout, folder, lines[first:end])
            else:
                continue
            page += lines[copied:first] + found
            copied = end
            count += 1
            if wrong:
                failed += 1
                print(f"{os.path.relpath(path)}:{first}: {wrong}", end="")
    if is_update and page:
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(page + lines[copied:])
    return count, failed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    grout = os.path.abspath(options.grout)
    files = options.files or sorted(glob.glob(os.path.join(TOP, "docs", "*.md"))) + [os.path.join(TOP, "README.md")]
    count = failed = 0
    for path in files:
        of_page = check_page(grout, path, options.update)
        count, failed = count + of_page[0], failed + of_page[1]
    print(f"{count} examples, {failed} wrong")
    if count == 0:
        sys.exit("no examples: are they still tagged 'grout'?")
    sys.exit(1 if failed else 0)


main()
