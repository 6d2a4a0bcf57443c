"""The operations of sync.def, each with the columns that a mutant goes by, and what ops.def says of the same.

SPDX-License-Identifier: Apache-2.0
"""
import collections
import os
import re

INCLUDE = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "include")
# What is taken whole at one place of a table: a string, a comment, or a character.
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|/\*.*?\*/|//[^\n]*|.', re.DOTALL)

# object .. tensor: as sync.def has them; covers: a set. meant: the mnemonic that it is mistaken for, or None.
# letters: of its operands; attributes: their words in the text format; results: their number.
Sync = collections.namedtuple(
    "Sync", "object reach mode arrival side scope covers tensor meant letters attributes results")


def read(name):
    with open(os.path.join(INCLUDE, name), encoding="utf-8") as file:
        return file.read()


def read_rows(text, macros):
    """The columns of each line of the macros, in the order of the file."""
    for match in re.finditer(r"^(%s)\(" % "|".join(macros), text, re.MULTILINE):
        columns, depth = [""], 1
        for token in TOKEN.findall(text, match.end()):
            depth += (token == "(") - (token == ")")
            if depth == 0:
                break
            if token == "," and depth == 1:
                columns.append("")
            elif not token.startswith(("/*", "//")):
                columns[-1] += token
        yield [column.strip() for column in columns]


def read_set(column):
    return set(re.findall(r"\w+", column)) - {"NONE"}


def load():
    """By mnemonic, in the order of sync.def."""
    ops, sync = read("grout/ops.def"), read("grout-internal/sync.def")
    words = {row[0]: row[1] for row in read_rows(ops, ["GROUT_ATTR"])}
    forms = {row[0]: (row[1].strip('"'), int(row[5])) for row in read_rows(ops, ["GROUT_FORM"]) if row[5].isdigit()}
    names, facts = {}, {}
    for name, text, form, _, _, _, attributes, *_ in read_rows(ops, ["GROUT_OP", "GROUT_ATOMIC"]):
        names[name] = text
        facts[name] = forms.get(form, ("", 0)) + ({words[attribute] for attribute in read_set(attributes)},)
    table = {}
    for row in read_rows(sync, ["GROUT_SYNC"]):
        name, what, reach, mode, side, scope, arrival, covers, _, _, tensor, _, meant, _ = row
        letters, results, attributes = facts[name]
        table[names[name]] = Sync(what, reach, mode, arrival, side, scope, read_set(covers), tensor, names.get(meant),
                                  letters, attributes, results)
    if len(table) < 50:
        raise RuntimeError("sync.def does not look as expected")
    return table
