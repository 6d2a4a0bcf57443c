"""Runs golden kernels: what the RUN line prints must be the text after the file's output marker.

usage: run_golden.py --grout PATH [--update] [--every N] KERNEL-OR-STAGE...     (in tests/golden; relative to it)

A stage is a folder: all kernels in it and in its folders, but not those under data/. Every kernel runs,
and each that fails is named with the difference. With --every each N-th runs.

A golden file holds command, kernel and expected output together:

    // RUN: grout check -q %s       the command; %s is the kernel's path, relative to tests/golden; without the line
                                    it is 'grout check %s'
    // EXIT: 1                      the exit code; without the line 2 for bad-NAME.grout, and 0 for others
    // OUTPUT: name.cu              optional: stdout is that sibling file, not what follows the marker;
                                    'name.diff of other.cu' has what differs from another sibling
    ...
    // ---- output ----
    // what the command prints to stdout, each line as a comment
    // ---- stderr ----
    // what it prints to stderr; without stderr output the marker is absent too

A diagnostic is written short: its line says from which column to which carets are, other marks have a line of their
own, and the excerpt of the kernel and the empty line at the end are not there. They are made again, and compared:

    // verify/x.grout:8:11-12: error: ...     is     // verify/x.grout:8:11: error: ...
    //   6:11-12: declared here                      //     6 |   the line of the kernel
    //   here: read                                  //       |           ^~ declared here
    //   help: ...                                   //   ...
                                                     //     8 |   the line of the kernel
                                                     //       |           ^~ read
                                                     //   help: ...
                                                     //

CUDA text ('grout emit %s') begins after the device header, and the blocks of kernels are as shown.py has them.

tests/terminal/ has reports as they are printed.

The command runs in an empty folder that holds the stage's folder (the kernel cut at the marker, links
to its siblings) and a link to the project's kernels/. Files it writes vanish with that folder.
"""
import argparse
import difflib
import functools
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import typing

sys.dont_write_bytecode = True  # the folder is a source tree
import shown
from limit import SECONDS

OUTPUT_MARK = "// ---- output ----\n"
STDERR_MARK = "// ---- stderr ----\n"
PLACE = re.compile(r"// (\S+?):(\d+):(\d+)(: .*)\n")
SHORT_PLACE = re.compile(r"// (\S+?):(\d+):(\d+)-(\d+)(: .*)\n")
NUMBERED = re.compile(r"// +(\d+) \| .*\n")
CARETS = re.compile(r"// +\| ( *)(\^~*)(.*)\n")
MARK = re.compile(r"//   (\d+):(\d+)-(\d+):(.*)\n")  # of a short one
HERE = "//   here:"
GAP = "//   ...\n"
EMIT = "grout emit %s"
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class GoldenError(Exception):
    """The golden file itself is wrong."""


def read_text(path):
    with open(path, encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


def write_text(path, text):
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)


def read_keys(source, path):
    """The RUN, EXIT and OUTPUT lines; one of each at most."""
    keys = {}
    for line in source.splitlines():
        for key in ("RUN", "EXIT", "OUTPUT"):
            start = f"// {key}: "
            if line.startswith(start):
                if key in keys:
                    raise GoldenError(f"more than one {key} line")
                keys[key] = line[len(start):].strip()
    is_bad = os.path.basename(path).startswith("bad-")
    keys = {"RUN": "grout check %s", "EXIT": "2" if is_bad else "0", **keys}
    if not keys["RUN"].startswith("grout "):
        raise GoldenError("the RUN line is not '// RUN: grout ...'")
    return keys


def comment(text):
    lines = text.split("\n")
    if lines.pop() != "":
        lines = text.split("\n") + ["---- no newline at the end ----"]
    return "".join(f"// {line}\n" if line else "//\n" for line in lines)


def draw_excerpt(source, marks):
    """The lines that are marked, in their order, each with its carets and what stands after them."""
    lines = source.split("\n")
    text, before = "", None
    for line, carets in sorted(marks):
        text += GAP if before is not None and line > before + 1 else ""
        text += f"// {line:5} | {lines[line - 1] if line <= len(lines) else ''}\n//       | {carets}\n"
        before = line
    return text


def lengthen_one(lines, path, source):
    """A diagnostic that is written short, whole."""
    row, first, last, message = SHORT_PLACE.fullmatch(lines[0]).groups()[1:]
    here = lines.pop(1)[len(HERE):-1] if lines[1:] and lines[1].startswith(HERE) else ""
    others = [MARK.fullmatch(line) for line in lines[1:]]
    places = [(row, first, last, here), *(mark.groups() for mark in others if mark)]
    marks = [(int(row), " " * (int(first) - 1) + "^" + "~" * (int(last) - int(first)) + words)
             for row, first, last, words in places]
    rest = [line for line, mark in zip(lines[1:], others) if not mark]
    return f"// {path}:{row}:{first}{message}\n" + draw_excerpt(source, marks) + "".join(rest) + "//\n"


def lengthen(output, path, source):
    """The output with the excerpts, and the empty lines, of diagnostics that are written short."""
    text, short = "", []
    for line in output.splitlines(True):
        if short and line.startswith("//   "):
            short.append(line)
            continue
        text += lengthen_one(short, path, source) if short else ""
        head = SHORT_PLACE.fullmatch(line)
        short = [line] if head and head[1] == path else []
        text += "" if short else line
    return text + (lengthen_one(short, path, source) if short else "")


def shorten_one(lines, path):
    """One diagnostic, short if its place is marked."""
    head = PLACE.fullmatch(lines[0])
    if not head or head[1] != path or lines[-1] != "//\n":
        return lines
    at, marks, here, last = 1, [], [], None
    while at + 1 < len(lines) and (NUMBERED.fullmatch(lines[at]) or lines[at] == GAP):
        carets = CARETS.fullmatch(lines[at + 1]) if lines[at] != GAP else None
        if carets:
            number = NUMBERED.fullmatch(lines[at])[1]
            if last is None and (number, len(carets[1]) + 1) == (head[2], int(head[3])):
                last = int(head[3]) + len(carets[2]) - 1
                here = [f"{HERE}{carets[3]}\n"] if carets[3] else []
            else:
                first = len(carets[1]) + 1
                marks.append(f"//   {number}:{first}-{first + len(carets[2]) - 1}:{carets[3]}\n")
        at += 2 if carets else 1
    if last is None:
        return lines
    return [f"// {path}:{head[2]}:{head[3]}-{last}{head[4]}\n", *here, *marks, *lines[at:-1]]


def shorten(output, path, source):
    """The output with each diagnostic short of which 'lengthen' makes the same again."""
    short = []
    for part in re.findall(r"(?ms).*?^//\n|.+", output):
        one = "".join(shorten_one(part.splitlines(True), path))
        short.append(one if lengthen(one, path, source) == part else part)
    return "".join(short)


def prepare_folder(folder, path, source):
    """Lays out the working folder and returns nothing; see the top of this file."""
    stage = os.path.dirname(path)
    os.makedirs(os.path.join(folder, stage))
    for name in os.listdir(stage or "."):
        if name != os.path.basename(path):
            os.symlink(os.path.abspath(os.path.join(stage, name)), os.path.join(folder, stage, name))
    write_text(os.path.join(folder, path), source)
    os.symlink(os.path.join(ROOT, "kernels"), os.path.join(folder, "kernels"))


def run(grout, path, source, keys):
    command = [path if word == "%s" else word.replace("%s", path) for word in shlex.split(keys["RUN"])]
    # A fixed environment: no colour, no cache and no CUDA of the machine's owner.
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("GROUT_", "CUDA_", "XDG_", "COLUMNS", "NO_COLOR"))}
    with tempfile.TemporaryDirectory(prefix="grout-golden-") as folder:
        prepare_folder(folder, path, source)
        environment["XDG_CACHE_HOME"] = os.path.join(folder, ".cache")
        done = subprocess.run([grout] + command[1:], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=SECONDS, check=False)
    decode = lambda data: data.decode("utf-8", errors="surrogateescape")
    return decode(done.stdout), decode(done.stderr), done.returncode


@functools.lru_cache
def get_device_header(grout):
    text, _, _ = run(grout, "cuda/empty.grout", "kernel @empty()\n{\n}\n", {"RUN": EMIT})
    return text[:text.index("// kernel @empty")]


def show_difference(name, expected, actual):
    lines = difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), name, "actual")
    for line in lines:
        sys.stdout.write(line if line.endswith("\n") else line + "\n\\ no newline at end\n")


def compare(path, text):
    """What differs from a file."""
    lines = difflib.unified_diff(read_text(path).splitlines(True), text.splitlines(True), path, "here", n=0)
    return "".join(lines)


def check(grout, path, update):
    """Returns whether the kernel behaves as its file says."""
    text = read_text(path)
    source, _, expected = text.partition(OUTPUT_MARK)
    keys = read_keys(source, path)
    stdout, stderr, status = run(grout, path, source, keys)
    if keys["RUN"] == EMIT and stdout:
        stdout = shown.show_file(stdout, get_device_header(grout))
    wanted = int(keys["EXIT"])
    if status != wanted:
        print(f"{path}: exit code {status}, expected {wanted}")
        if update:
            print("(the EXIT line is not updated)")
    ok = status == wanted

    actual = comment(stderr)
    if actual:
        actual = STDERR_MARK + actual
    if "OUTPUT" in keys:
        name, _, other = keys["OUTPUT"].partition(" of ")
        sibling = os.path.join(os.path.dirname(path), name)
        stdout = compare(os.path.join(os.path.dirname(path), other), stdout) if other else stdout
        old = read_text(sibling) if os.path.exists(sibling) else ""
        if update and old != stdout:
            write_text(sibling, stdout)
        elif old != stdout:
            show_difference(sibling, old, stdout)
            ok = False
    else:
        actual = comment(stdout) + actual
    if update:
        new = source + ("" if source.endswith("\n") else "\n") + OUTPUT_MARK
        new += shorten(actual, path, source)
        if new != text:
            write_text(path, new)
    elif lengthen(expected, path, source) != actual:
        show_difference(path, lengthen(expected, path, source), actual)
        ok = False
    return ok


def find_kernels(paths):
    for path in paths:
        if os.path.isfile(path):
            yield path
            continue
        kernels = sorted(os.path.join(folder, name) for folder, _, names in os.walk(os.path.normpath(path))
                         for name in names if name.endswith(".grout") and os.path.basename(folder) != "data")
        if not kernels:
            sys.exit(f"no kernels in {path}")
        yield from kernels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("--update", action="store_true", help="write the actual output into the files")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("kernels", nargs="+", metavar="kernel-or-stage")
    args = parser.parse_args()
    typing.cast(io.TextIOWrapper, sys.stdout).reconfigure(errors="backslashreplace")
    failures = 0
    for path in list(find_kernels(args.kernels))[::args.every]:
        try:
            failures += not check(args.grout, path, args.update)
        except (GoldenError, subprocess.TimeoutExpired) as error:
            print(f"{path}: {error}")
            failures += 1
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
