#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether each word that emitted code gives to the hardware has a field, or a reason why none: instructions.txt has a
line for each instruction of the asm statements of the device headers and of kernels, for each function of CUDA that
they call, and for each key of a manifest. What is emitted is all kernels of kernels.txt and of FOLDERS. It needs a C
preprocessor.

usage: instructions.py --grout PATH [--cc COMPILER]
"""
import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
import tempfile
import typing

import planted

sys.path.insert(0, os.path.join(planted.ROOT, "tests"))
import families

FIELD = re.compile(r"[A-Z]+\.[A-Z0-9_]+")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
CALL = re.compile(r"\b((?:__|atomic[A-Z])\w*)\s*\(")
FOLDERS = ("kernels", "tests/differential", "tests/behaviour/tcgen05", "tests/ops")
KERNEL = re.compile(r"^kernel @(\w+)", re.M)
ATTRIBUTES = ("__align__", "__launch_bounds__")
WORD = re.compile(r'^PTX_WORD\(\w+,\s*"([^"]+)",\s*(\w+)\)', re.M)
# Words of these classes (ptx_words.def) say what an operand is: bytes or arrivals, a parity or a state, rows or
# coordinates. A word that brings an operand, such as a mask, changes their number.
OPERAND_CLASSES = ("EXPECT", "MODE", "PARITY", "SPARSE")
DECLARATION = re.compile(r"^\.reg\b")


class Use(typing.NamedTuple):
    """An instruction, a function of CUDA or a key of a manifest, with the texts of its operands."""
    name: str
    operands: tuple


class Line(typing.NamedTuple):
    name: str  # may have '*'
    operands: typing.Optional[tuple]  # None: any
    words: str
    number: int


def read_lines(folder):
    """'NAME operand, operand : words': each a list of fields or a reason. A line that begins with a blank goes on with
    the one before. '..' for operands: they are registers of values, as many as there are."""
    texts = []
    with open(os.path.join(folder, "instructions.txt"), encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            if line[0] == " " and line.strip():
                texts[-1] = (texts[-1][0] + " " + line.strip(), texts[-1][1])
            elif line.strip() and line[0] != "#":
                texts.append((line.strip(), number))
    for text, number in texts:
        name, _, rest = text.partition(" ")
        operands, _, words = (" " + rest).partition(" : ")
        operands = operands.strip()
        yield Line(name, None if operands == ".." else tuple(split(operands)), words.strip(), number)


def split(text):
    """At commas outside of brackets."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(text + ","):
        depth += (letter in "[{(<") - (letter in "]})>")
        if letter == "," and depth <= 0:
            parts.append(text[start:place].strip())
            start = place + 1
    return [part for part in parts if part]


def find_end(text, start):
    """The place of the ')' of the '(' at start; strings may have either."""
    depth, place = 0, start
    while place < len(text):
        if text[place] == '"':
            place = STRING.match(text, place).end()
            continue
        depth += (text[place] == "(") - (text[place] == ")")
        if depth == 0:
            return place
        place += 1
    raise ValueError(text[start:start + 80])


def list_instructions(text):
    """The instructions of a PTX text of an asm statement: without braces around it, declarations, labels and guards."""
    text = text.replace("\\n", " ").strip()
    if text.startswith("{"):
        text = text[1:text.rindex("}")]
    for statement in text.split(";"):
        statement = re.sub(r"^\w+:\s+", "", statement.strip())
        statement = re.sub(r"^@!?\w+\s+", "", statement)
        if statement and not DECLARATION.match(statement):
            name, _, operands = statement.partition(" ")
            yield Use(name, tuple(split(operands)))


def list_asm(text):
    for match in re.finditer(r"\basm\b(?:\s+volatile)?\s*\(", text):
        place, string = match.end(), ""
        while True:
            found = re.compile(r'\s*"((?:[^"\\]|\\.)*)"').match(text, place)
            if found is None:
                break
            string += found.group(1)
            place = found.end()
        if "grout_result" not in string:  # that is the text of an inline_ptx
            yield from list_instructions(string)


def list_calls(text):
    plain = STRING.sub('""', re.sub(r"\basm\b", " asm", text))
    for match in CALL.finditer(plain):
        if match.group(1) not in ATTRIBUTES:
            inside = plain[match.end():find_end(plain, match.end() - 1)]
            yield Use(match.group(1) + "()", tuple(split(inside)))


def list_keys(value, path=""):
    """'tensor_maps.box' and so on: the keys of objects, also those in lists."""
    if isinstance(value, list):
        for item in value:
            yield from list_keys(item, path)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield Use(f"{path}{key}", ())
            yield from list_keys(item, f"{path}{key}.")


class Source:
    def __init__(self, arguments):
        self.arguments = arguments
        self.headers = set()
        self.uses = {}  # use: where it stands first
        self.count = self.left_out = 0  # kernels; without CUDA

    def add(self, uses, place):
        for use in uses:
            self.uses.setdefault(use, place)

    def add_text(self, text, place):
        self.add(list_asm(text), place)
        self.add(list_calls(text), place)

    def expand(self, text):
        done = subprocess.run([self.arguments.cc, "-E", "-P", "-x", "c++", "-"], input=text, capture_output=True,
                              text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"the preprocessor: {done.stderr}")
        return done.stdout

    def add_kernel(self, path, kernel, options, needed):
        """A kernel, and the device headers, with the watchdog and without, unless they were there."""
        with tempfile.NamedTemporaryFile(suffix=".json") as manifest:
            done = subprocess.run([self.arguments.grout, "emit", path, "--kernel", "@" + kernel, "--manifest",
                                   manifest.name, *options],
                                  capture_output=True, text=True, check=False)
            if done.returncode != 0 and needed:
                sys.exit(f"{path}: {done.stderr}")
            if done.returncode != 0:
                self.left_out += 1
                return
            self.count += 1
            with open(manifest.name, encoding="utf-8") as file:
                self.add(list_keys(json.load(file)), path)
        end = done.stdout.rindex("\n#endif\n") + len("\n#endif\n")
        header, kernels = done.stdout[:end], done.stdout[end:]
        header = header[header.index("#define GROUT_WATCHDOG"):]
        if header not in self.headers:
            self.headers.add(header)
            for number in "01":
                text = re.sub(r"#define GROUT_WATCHDOG \d", f"#define GROUT_WATCHDOG {number}", header)
                self.add_text(self.expand(text), "the device headers")
        self.add_text(re.sub(r"//.*", "", kernels), path)


def read_operand_words():
    with open(os.path.join("ptx", "text", "ptx_words.def"), encoding="utf-8") as file:
        return {word for word, name in WORD.findall(file.read()) if name in OPERAND_CLASSES}


def list_mixed(covered, words):
    """Lines that cover instructions with other operands, though as many. covered: {line: names}."""
    for line, names in covered.items():
        kinds = {}
        for name in sorted(names):
            kinds.setdefault(frozenset(words.intersection(name.split("."))), name)
        if len(kinds) > 1:
            yield (f"instructions.txt:{line.number}: '{line.name}' covers instructions whose operands differ: "
                   f"{', '.join(sorted(kinds.values()))}: give each a line, the one with more words first")


def compare(uses, lines, fields, words):
    wrong, used, named, covered = [], set(), set(), {}
    for use, place in uses.items():
        found = [line for line in lines if fnmatch.fnmatchcase(use.name, line.name) and
                 (line.operands is None or len(line.operands) == len(use.operands))]
        if not found:
            wrong.append(f"{place}: no line of instructions.txt has '{use.name}' of {len(use.operands)} operands: "
                         f"{', '.join(use.operands)}")
        used.update(found[:1])
        for line in found[:1]:
            covered.setdefault(line, set()).add(use.name)
    wrong += list_mixed(covered, words)
    for line in lines:
        texts = [text for text in (*(line.operands or ()), line.words) if text]
        named.update(name for text in texts for name in FIELD.findall(text))
        if line not in used:
            wrong.append(f"instructions.txt:{line.number}: '{line.name}' covers nothing")
        if not texts:
            wrong.append(f"instructions.txt:{line.number}: '{line.name}' has neither a field nor a reason")
    wrong += [f"instructions.txt: there is no field {name}" for name in sorted(named - fields)]
    wrong += [f"fields.def: no line of instructions.txt has {name}" for name in sorted(fields - named)]
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--cc", default="cc")
    parser.add_argument("--list", action="store_true", help="print what is emitted, and compare nothing")
    arguments = parser.parse_args()
    arguments.grout = os.path.abspath(arguments.grout)
    with tempfile.TemporaryDirectory(prefix="grout-instructions-") as folder:
        os.chdir(families.lay_out(folder))
        return compare_all(arguments)


def compare_all(arguments):
    source = Source(arguments)
    for kernel in planted.read_kernels(planted.HERE):
        options = [word for word in kernel.options if word.startswith("-D")]
        source.add_kernel(kernel.path, kernel.name, options, True)
    for folder in FOLDERS:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".grout"):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    kernels = KERNEL.findall(file.read())
                for kernel in kernels:
                    source.add_kernel(path, kernel, [], False)
    if arguments.list:
        print("\n".join(sorted(f"{use.name} {', '.join(use.operands)}" for use in source.uses)))
        return 0
    wrong = compare(source.uses, list(read_lines(planted.HERE)), {field.name for field in planted.read_fields(".")},
                    read_operand_words())
    print("\n".join(wrong))
    print(f"{source.count} kernels ({source.left_out} have no CUDA), {len(source.uses)} instructions, calls and keys, "
          f"{len(wrong)} mistakes")
    return 1 if wrong or not source.uses else 0


if __name__ == "__main__":
    sys.exit(main())
