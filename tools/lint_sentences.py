#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each sentence of race_checker/words/sentences.def is said, and gets the words it asks for.

usage: lint_sentences.py

A sentence is said by grout_sentence__add(OUT, SENTENCE, WORDS) or grout_wording__say(WORDING, ..),
where WORDS is NULL, a literal &(grout_words){..}, or the address of a grout_words of the same
function. What a finding says to write is an entry of spellings.def, said by grout_wording__spell(WORDING, SPELLING,
WORDS) or grout_spelling__add(OUT, SURFACE, SPELLING, WORDS), for which the same holds. Refused are

- a placeholder that the table does not list, or that no sentence uses,
- a sentence or phrase that nothing says, or that is not in the table,
- a placeholder that the call leaves unfilled, and a word that no sentence of its calls asks for,
- words of a report that stand in the C code and not in the table.
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import ROOT, read

FOLDER = "race_checker/words"
FOLDERS = (FOLDER, "race_checker/explain", "race_checker/leads", "race_checker/deadlock")
TABLE = FOLDER + "/sentences.def"
SPELLINGS = FOLDER + "/spellings.def"

ENTRY = re.compile(r'^GROUT_(SENTENCE|PHRASE)\((\w+),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\)', re.MULTILINE)
SPELLING = re.compile(r'^GROUT_SPELLING(?:_OP)?\((\w+),\s*(?:\w+,\s*)?("(?:[^"\\]|\\.)*"),\s*'
                      r'((?:"(?:[^"\\]|\\.)*"\s*)+)\)',
                      re.MULTILINE)
WORD = re.compile(r'^GROUT_(?:WORD|NUMBER)\((\w+), "', re.MULTILINE)
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"')
PLACEHOLDER = re.compile(r"\{([^{}]*)\}")
CALL = re.compile(r"\bgrout_(?:sentence__add|wording__say|wording__spell|spelling__add)\(")
ID = re.compile(r"GROUT_(?:SENTENCE|SPELLING)_(\w+)")
NESTED = re.compile(r"&\(grout_words\)\{[^{}]*\}")
# Where words of C code are read by no user.
UNREAD = re.compile(r"/\*.*?\*/|^#include.*?$|\b_Static_assert\(.*?\);", re.DOTALL | re.MULTILINE)
# Have grout_wording__say and its like themselves, which hand both on.
SAY = ("race_checker/explain/wording.c", FOLDER + "/spelling.c")
FIELD = re.compile(r"\.(\w+) =(?!=)")
# Two words of English next to each other: a sentence, or a piece of one.
PROSE = re.compile(r"[a-z]{2,}[,:;]? [a-z]{2,}")


def read_table():
    """Placeholders that are known; ID -> those of its sentence; IDs of phrases; ID -> those of its spelling."""
    text = read(TABLE)
    sentences, phrases = {}, {}
    for kind, name, body in ENTRY.findall(text):
        words = "".join(LITERAL.findall(body))
        (sentences if kind == "SENTENCE" else phrases)[name] = set(PLACEHOLDER.findall(words))
    spellings = {}
    for name, first, second in SPELLING.findall(read(SPELLINGS)):
        spellings[name] = set(PLACEHOLDER.findall(first + second))
    return set(WORD.findall(text)), sentences, phrases, spellings


def split_call(text, start):
    """The arguments of the call whose opening bracket is at start."""
    depth, arguments, at = 0, [], start + 1
    for i in range(start, len(text)):
        if text[i] in "({[":
            depth += 1
        elif text[i] in ")}]":
            depth -= 1
        if depth == 0 or (depth == 1 and text[i] == ","):
            arguments.append(text[at:i].strip())
            at = i + 1
        if depth == 0:
            break
    return arguments


def find_words(text, start, argument):
    """Where the words of a call are made, and their names; None: not to be seen."""
    if argument == "NULL":
        return start, set()
    if argument.startswith("&(grout_words){"):
        return start, set(FIELD.findall(NESTED.sub("", argument[1:])))
    made = text.rfind(f"grout_words {argument.lstrip('&')} = {{", text.rfind("\n}\n", 0, start), start)
    if not argument.startswith("&") or made < 0:
        return None
    body = split_call(text, text.index("{", made))
    return made, set(FIELD.findall(NESTED.sub("", ",".join(body))))


def faults_of_calls(path, text, sentences, said):
    asked, given = {}, {}
    for call in CALL.finditer(text):
        at = call.start()
        line = text.count("\n", 0, at) + 1
        arguments = split_call(text, call.end() - 1)
        names = ID.findall(arguments[-2]) if len(arguments) > 2 else []
        if path in SAY and arguments[-2].endswith(("sentence", "spelling")):
            continue
        if arguments[-2] == "spelling":  # a choice among some that have no words
            names = ID.findall(text[max(text.rfind("\n}\n", 0, at), 0):at])
        words = find_words(text, at, arguments[-1]) if names else None
        if words is None:
            yield line, "the sentence and its words have to stand in the call, or beside it"
            continue
        made, fields = words
        said.update(names)
        given[made] = fields
        for name in names:
            needs = sentences.get(name, set())
            asked.setdefault(made, set()).update(needs)
            for word in sorted(needs - fields):
                yield line, f"{{{word}}} of {name} is not filled: add .{word} = .. to the words"
    for made, fields in given.items():
        for word in sorted(fields - asked.get(made, set())):
            yield text.count("\n", 0, made) + 1, f".{word} is in no sentence that these words are for: remove it"


def faults_of_text(text):
    text = UNREAD.sub(lambda match: "\n" * match.group().count("\n"), text)
    for match in LITERAL.finditer(text):
        if PROSE.search(match.group(1)):
            yield text.count("\n", 0, match.start()) + 1, f"\"{match.group(1)}\" belongs into {TABLE}"


def faults_of_table(known, sentences, phrases, said, used):
    placed = set().union(*sentences.values())
    for name in sorted(known - placed):
        yield f"the placeholder {{{name}}} is in no sentence: remove it"
    for name in sorted(set(sentences) - said):
        yield f"nothing says {name}: remove it"
    for name in sorted(set(phrases) - used):
        yield f"no sentence takes the phrase {name}: remove it"
    for name, words in sorted({**sentences, **phrases}.items()):
        for word in sorted(words - known):
            yield f"{{{word}}} of {name} is not a placeholder: add a GROUT_WORD or GROUT_NUMBER"
        if name in phrases and words:
            yield f"{name} has placeholders: make it a GROUT_SENTENCE"


def main():
    known, sentences, phrases, spellings = read_table()
    said, used, faults = set(), set(), []
    if len(sentences) < 100 or len(known) < 20 or len(spellings) < 20:
        sys.exit(f"lint_sentences: {TABLE} does not look as expected")
    paths = [f"{folder}/{name}" for folder in FOLDERS for name in sorted(os.listdir(os.path.join(ROOT, folder)))]
    for path in paths:
        if not path.endswith(".c") or path == f"{FOLDER}/sentences.c":
            continue
        text = read(path)
        used.update(re.findall(r"GROUT_PHRASE_(\w+)", text))
        faults += [f"{path}:{line}: {what}"
                   for line, what in faults_of_calls(path, text, {**sentences, **spellings}, said)]
        faults += [f"{path}:{line}: {what}" for line, what in faults_of_text(text)]
    faults += [f"{TABLE}: {what}" for what in faults_of_table(known, sentences, phrases, said, used)]
    faults += [f"{SPELLINGS}: nothing says {name}: remove it" for name in sorted(set(spellings) - said)]
    faults += [f"{SPELLINGS}: {{{word}}} of {name} is not a placeholder" for name, words in sorted(spellings.items())
               for word in sorted(words - known)]
    faults += [f"{SPELLINGS}: {name} is a sentence's, too: give it another name"
               for name in sorted(set(spellings) & set(sentences))]
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


main()
