"""Kernels that are the same but for a type or another word: tests/differential has them in files NAME.each.

    each T: f32 i32 bool
      kernel @copy_<T>(%x: in gmem <T>[N], %y: out gmem <T>[N])
      {
        store %y, (load %x)
      }

means three kernels; what is indented deeper than its 'each' is written once for each word, with the word in the
place of <T>. 'each T, S: f16 f32 | bf16 f32' has several words a turn; one with blanks, or none, has double quotes.
An 'each' in a kernel is the same for lines, and <#> is the number of the turn: 0, 1, .., or, with
'each T from 4: ..', 4, 5, ..

usage: kernel_lists.py FOLDER      writes each as a file of kernels, NAME.grout, into the folder

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import shlex
import sys

TESTS = os.path.dirname(os.path.abspath(__file__))
ENDING = ".each"
EACH = re.compile(r"( *)each ([A-Z]\w*(?:, [A-Z]\w*)*)(?: from (\d+))?: (.+)$")
PLACE = re.compile(r"<([A-Z]\w*|#)>")


class ListError(Exception):
    """A list says what cannot be."""


def get_indent(line):
    return len(line) - len(line.lstrip(" "))


def take_block(lines, indent):
    """How many lines are indented deeper; empty ones at the end are not among them."""
    count = 0
    for number, line in enumerate(lines):
        if line.strip():
            if get_indent(line) <= indent:
                break
            count = number + 1
    return count


def read_turns(names, words):
    """The words of each turn, by their names."""
    turns = [shlex.split(turn) for turn in words.split(" | ")]
    turns = turns if len(names) > 1 else [[word] for word in turns[0]]
    for turn in turns:
        if len(turn) != len(names):
            raise ListError(f"'{' '.join(turn)}' are not words for {', '.join(names)}")
    return [dict(zip(names, turn)) for turn in turns]


def fill(line, words):
    return PLACE.sub(lambda place: words.get(place.group(1), place.group(0)), line)


def expand_lines(lines):
    out, at = [], 0
    while at < len(lines):
        head = EACH.match(lines[at])
        at += 1
        if not head:
            out.append(lines[at - 1])
            continue
        indent = len(head.group(1))
        count = take_block(lines[at:], indent)
        if count == 0:
            raise ListError(f"'{lines[at - 1].strip()}' has no lines")
        dedent = get_indent(lines[at]) - indent
        block = expand_lines([line[dedent:] for line in lines[at:at + count]])
        at += count
        for number, words in enumerate(read_turns(head.group(2).split(", "), head.group(4)), int(head.group(3) or 0)):
            out += [""] if number and indent == 0 else []
            out += [fill(line, {**words, "#": str(number)}) for line in block]
    return out


def expand(text):
    lines = expand_lines(text.splitlines())
    left = [line for line in lines if PLACE.search(line)]
    if left:
        raise ListError(f"'{left[0].strip()}' is in no 'each' of that name")
    return "".join(line + "\n" for line in lines)


def read(path):
    """The text of a file, of kernels as they are or of lists."""
    with open(path, encoding="utf-8") as file:
        return expand(file.read()) if path.endswith(ENDING) else file.read()


def write_kernels(folder):
    """The lists as files NAME.grout in the folder. The paths."""
    place = os.path.join(TESTS, "differential")
    os.makedirs(folder, exist_ok=True)
    for name in sorted(os.listdir(place)):
        if name.endswith(ENDING):
            path = os.path.join(folder, name[:-len(ENDING)] + ".grout")
            with open(path, "w", encoding="utf-8") as file:
                file.write(read(os.path.join(place, name)))
            yield path


def find_source(path):
    """What a file of kernels, relative to the root of the repository, is written in."""
    source = os.path.splitext(path)[0] + ENDING
    return source if os.path.exists(os.path.join(os.path.dirname(TESTS), source)) else path


def main():
    for _ in write_kernels(sys.argv[1]):
        pass


if __name__ == "__main__":
    main()
