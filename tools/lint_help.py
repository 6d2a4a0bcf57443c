#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a help quotes is code as the file would have it: docs/diagnostics.md says so to the user.

usage: lint_help.py

Looks at the strings that *_help(..) gets in the C sources, and at the helps of sentences.def, spellings.def,
remedies.def, later.def and ops.def. In single quotes are refused

- the name alone of an operation that takes operands: 'wgmma_wait ..' is code, and wgmma_wait without quotes a name,
- '...': what the user fills in is '..', or a word in capitals.

tests/help/quoted_code.py tries what the helps of all kernels of the tree quote.
"""
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import drop_comments, list_files, read

QUOTE = re.compile(r"(?<![\w'])'([^'\n]+)'(?!\w)")
CALL = re.compile(r"\b\w+_help(?:_\w+)?\(")
STRINGS = re.compile(r'(?:"(?:[^"\\\n]|\\.)*"(?:\s*PRI\w+)?\s*)+')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
ENTRY = re.compile(r"^GROUT_(?:OP|ALU|MATH|REDUCE|ATOMIC)\(\s*[A-Z0-9_]+,\s*([a-z0-9_]+),\s*([A-Z_0-9]*)", re.MULTILINE)
HELP = re.compile(r'^GROUT_(?:SENTENCE\(\w+_HELP|SPELLING\(\w+|HARDWARE\(\w+|REMEDY\w*\(|LATER\().*?\)$',
                  re.MULTILINE | re.DOTALL)
TABLES = ("race_checker/words/sentences.def", "race_checker/words/spellings.def", "ir/core/remedies.def",
          "ir/text/later.def", "include/grout/ops.def")


def read_incomplete():
    """The operations that are no statement by their name alone."""
    forms = dict(ENTRY.findall(read("include/grout/ops.def")))
    names = {name for name, form in forms.items() if form != "FENCE"}
    if not 100 < len(names) < len(forms) - 5:
        sys.exit("lint_help: ops.def does not look as expected")
    return names


def end_of_call(text, start):
    depth = 0
    for match in re.compile(r'"(?:[^"\\\n]|\\.)*"|[()]').finditer(text, start):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if depth == 0:
            return match.end()
    return start


def helps_of_source(text):
    """(line, words) of each run of strings in a call of *_help."""
    text = drop_comments(text)
    for call in CALL.finditer(text):
        for strings in STRINGS.finditer(text, call.end(), end_of_call(text, call.end() - 1)):
            yield text.count("\n", 0, strings.start()) + 1, "".join(LITERAL.findall(strings.group()))


def helps_of_table(text):
    for entry in HELP.finditer(text):
        for strings in STRINGS.finditer(entry.group()):
            yield text.count("\n", 0, entry.start()) + 1, "".join(LITERAL.findall(strings.group()))


def faults_of(words, incomplete):
    for quote in QUOTE.findall(words.replace("\\\"", '"')):
        if quote in incomplete:
            yield f"'{quote}' is not complete: write its operands, as '..', or name it without quotes"
        if "..." in quote:
            yield f"'{quote}': what is to be filled in is '..'"


def test_rules(incomplete):
    code = 'x_help(d, "a\'b \'wgmma_wait\' "\n "of \'for ...\'"); /* help("\'load\'") */ say("\'load\'");\n'
    found = [(line, list(faults_of(words, incomplete))) for line, words in helps_of_source(code)]
    assert [line for line, _ in found] == [1] and len(found[0][1]) == 2, found
    assert not list(faults_of("insert 'commit_smem' and 'wgmma_wait 0'", incomplete))
    table = 'GROUT_SENTENCE(A_HELP,\n    "add \'load\'")\nGROUT_SENTENCE(A_HEAD,\n    "this \'load\'")\n'
    assert [line for line, _ in helps_of_table(table)] == [1], list(helps_of_table(table))


def main():
    incomplete = read_incomplete()
    test_rules(incomplete)
    faults, count = [], 0
    for path in [*list_files(endings=".c"), *TABLES]:
        if path.startswith("tests/"):
            continue
        for line, words in (helps_of_table if path in TABLES else helps_of_source)(read(path)):
            count += 1
            faults += [f"{path}:{line}: {fault}" for fault in faults_of(words, incomplete)]
    for fault in faults:
        print(fault)
    if count < 600:
        sys.exit(f"lint_help: {count} helps, which are fewer than there were")
    sys.exit(1 if faults else 0)


main()
