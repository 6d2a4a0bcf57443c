#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds English that a native reader has to read twice, in comments, messages and hand-written pages.

usage: lint_english.py [FILE...]     all sources and pages, by default

Looks at the comments of every C source that git knows or could add, at the strings of the product's C
sources (not of tests/) that have three words or more, at the comments and strings of every Python file,
and at the prose of README.md, CONTRIBUTING.md and docs/*.md, except the generated pages. Code, names such
as %ring and quoted words are left out.

A comment, string or line that needs such a word says so, with the name of the rule:
    /* The bytes behind the pointer. lint-english: behind */
    words = "behind the pointer"  # lint-english: behind
    <!-- lint-english: behind -->          in a page, at the end of the line or on the line before
"""
import argparse
import collections
import io
import itertools
import os
import re
import sys
import tokenize

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import ROOT, list_files, read

SOURCES = (".c", ".h", ".def", ".cuh", ".cpp", ".py")
GENERATED = {f"docs/{name}.md" for name in ("cli", "corpus", "diagnostics", "litmus", "mutation", "operations")}

# A sentence begins at the start of a text, or after the end of another one.
BEGIN = r"(?:\A|(?<=[.;:!?] )|(?<=\) ))"
ASKS = r"(?:Has|Have|Had|Is|Are|Was|Were|Does|Do|Did|Can|Could|May|Might|Must|Should|Would|Will|Which|What|Who|Whose)"
# name, what to look for, what to write instead
RULES = [(name, re.compile(pattern), remedy) for name, pattern, remedy in (
    ("of", BEGIN + r"Of ",
     "begin with the subject, not with 'Of ...': 'The newest of these ...'"),
    ("behind", r"\b[Bb]ehind\b",
     "'after' for time and order; 'behind' is for what hides something"),
    ("told", r"\b[Tt]old\b",
     "'is reported', 'is published', 'knows of', 'has heard of'"),
    ("who", r"(?:" + BEGIN +
     r"Who|(?:[;:(] ?|\b(?:by|from|to|for|of|than|so|then|but|since|because|that|only|with) )who)"
     r" (?:has|have|had|is|are|was|waits?|waited|knows?|comes?|asks?|uses?|does|may|issued|accesses|never)\b"
     r"(?![^.;]*\?)",
     "name the actor: 'a thread that waits', 'the warp that has ...'"),
    ("stands for", r"\b[Ss]t(?:ands?|anding|ood) for\b",
     "'means', 'names', 'is', 'counts for'"),
    ("at home", r"\bat home\b",
     "say where: 'in its own CTA', 'within a CTA'"),
    ("does without", r"\b(?:do|does|did) without\b",
     "'does not need', 'works without'"),
    ("left away", r"\b(?:[Ll]eft|[Ll]eaves?|[Ll]eaving) (?:it |them |\w+ )?away\b",
     "'omitted', 'omit it'"),
    ("whoever", r"\b[Ww]hom?ever\b",
     "name the actor: 'a thread that', 'the caller', 'from any ...'"),
    ("so many", r"\b[Ss]o many\b",
     "'this many', 'that many', 'as many'"),
    ("machine for PTX", r"\b[Mm]achines? for PTX\b|\bPTX machines?\b",
     "'the PTX emulator'"),
    ("mistake of", r"\b[Mm]istakes? of grout\b",
     "'a bug in grout'"),
    ("way over", r"\bthe way over\b",
     "'what to use instead', 'the replacement'"),
    ("face", r"\b(?:[Ee]xplicit|[Ii]mplicit|Pallas|[Oo]ther|[Bb]oth|[Tt]wo) faces?\b",
     "'style': the explicit style"),
    ("question", BEGIN + ASKS + r" [^.;:?\"]*\?",
     "a statement: 'Whether ...', 'Returns true if ...'"),
)]
# Good English that holds such a word.
USUAL = re.compile(r"\b(?:leav\w+|left|lag\w*|falls?|fell)\b[^.;,]{0,30}\bbehind\b|\btold apart\b|\bOf course\b|"
                   r"\b[Bb]ehind (?:a|the) (?:pointers?|interface|reports)\b|"
                   r"\b[Ee]very so many\b|\b[Ss]o many [^.;:]*\bthat (?:it|they|nobody|no)\b")
ALLOW = re.compile(r"lint-english:\s*([\w ,]+)")

BAD = {
    "of": ["Of these, the newest counts.", "It ends. Of a longer line only this much is shown.",
           "Of the two the wider."],
    "behind": ["The wait comes behind the arrive.", "Behind the last init all meet."],
    "told": ["What observers are told.", "The reader was never told."],
    "who": ["Who waits for that has waited for this.", "It is written by who issued it.",
            "In order: who knows it knows those."],
    "stands for": ["The k-th wait stands for phase k.", "They stand for each other."],
    "at home": ["They order as at home."],
    "does without": ["What the launch does without."],
    "left away": ["All if it is left away.", "help: leave it away"],
    "whoever": ["It is seen by whoever waits.", "Whoever asks first gets it."],
    "so many": ["Blocks until so many units have come.", "There are not so many."],
    "machine for PTX": ["It runs on the machine for PTX.", "The PTX machine knows it."],
    "mistake of": ["This is a mistake of grout: please report it."],
    "way over": ["It is refused with the way over."],
    "face": ["The two faces differ.", "A ring in the explicit face."],
    "question": ["Is it over?", "Done. Has the use its value from a read of a race?", "Would one more wait hang?"],
}
GOOD = ["The newest of these counts.", "It ends, of course.", "Of course it ends.", "The bytes behind a pointer.",
        "A fault leaves no state behind.", "The two cannot be told apart.", "'told' counts barriers.",
        "A thread that waits.", "The report says who waits for what.", "Those who wait go on.",
        "The thread, who has waited, goes on.", "A barrier stands there.", "It works without a GPU.",
        "Whether it is over.", "The parser asks 'did you mean x?'.", "What is known of it.",
        "Which of them is newer decides.", "All if omitted.", "Every so many lines.",
        "So many that it would not fit.", "%told and %behind are barriers.", "The face of a clock."]


def find(text):
    """(rule, offset, remedy) of each fault of a text."""
    return [(name, match.start(), remedy) for name, pattern, remedy in RULES for match in pattern.finditer(text)]


def test_rules():
    for name, sentences in BAD.items():
        for sentence in sentences:
            assert name in [fault[0] for fault in find(blank_quotes(sentence))], (name, sentence)
    for sentence in GOOD:
        assert not find(blank_quotes(sentence)), (sentence, find(blank_quotes(sentence)))
    assert set(BAD) == {name for name, _, _ in RULES}
    code = 'int x; /* Of these,\n * the first. */ char *s = "// told"; // it is\n// told\nint y;\n'
    assert [line for line, _, _ in faults_of("a.c", code)] == [1, 3], faults_of("a.c", code)
    page = "# Of one\n\nA `told` word\nbehind it.\n\n    told\n\n```\ntold\n```\n| a | told |\n"
    assert [line for line, _, _ in faults_of("a.md", page)] == [1, 4, 11], faults_of("a.md", page)
    assert not faults_of("a.c", "/* behind it. lint-english: behind */\n")
    code = 'say("a digit "\n    "behind its point %" PRIu32 " of %s");\nsay("behind it"); // "so many"\nsay("told");\n'
    assert [line for line, _, _ in faults_of("ir/a.c", code)] == [2], faults_of("ir/a.c", code)
    assert not faults_of("tests/a.c", code), faults_of("tests/a.c", code)
    code = '"""What it\nstands for.\n\nOf these two the first.\n"""\n# It comes\n# behind it.\nx = f"told {y} so"\n'
    assert [line for line, _, _ in faults_of("a.py", code)] == [2, 4, 7, 8], faults_of("a.py", code)
    assert not faults_of("a.py", "x = 'bytes behind it'  # lint-english: behind\nbehind(told)\n")


def blank_quotes(text):
    """Without what is quoted, and without usual phrases; the length stays, so that offsets do."""
    quoted = r"(?<!\w)[%@]\w+|\{[^{}\n]*\}|[\w.-]*/[\w./-]*|`[^`\n]*`|'[^'\n]{1,60}'(?!\w)|\"[^\"\n]*\""
    return USUAL.sub(blank, re.sub(quoted, blank, text))


def blank(match):
    return "x" * len(match.group())


def texts_of_source(text):
    """(comment as one paragraph, line of each of its characters) for every comment of a C source."""
    token = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*', re.S)
    for match in token.finditer(text):
        comment = match.group()
        if comment.startswith("/"):
            first = text.count("\n", 0, match.start()) + 1
            lines = [re.sub(r"^\s*(?:/\*+|//+|\*(?!/))?|\*/$", "", line).strip() for line in comment.split("\n")]
            yield from paragraphs_of(lines, first)


def texts_of_messages(text):
    """The same for the strings of a C source that have three words or more; those side by side are one."""
    literal = r'"(?:\\.|[^"\\\n])*"'
    token = re.compile(rf"/\*.*?\*/|//[^\n]*|'(?:\\.|[^'\\\n])*'|({literal}(?:\s*(?:[A-Z]\w*\s*)?{literal})*)", re.S)
    for match in token.finditer(text):
        paragraph, at = "", []
        for piece in re.finditer(literal, match.group(1) or ""):
            words = re.sub(r"\\[ntr]", " ", piece.group()[1:-1])
            paragraph += words
            at += [text.count("\n", 0, match.start(1) + piece.start()) + 1] * len(words)
        if paragraph.count(" ") >= 2:
            yield paragraph, at


def texts_of_python(text):
    """The same for the comments and strings of a Python file; lines of comments that follow each other are one."""
    block, first = [], 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        number = token.start[0]
        if token.type == tokenize.COMMENT:
            if block and first + len(block) != number:
                yield from paragraphs_of(block, first)
                block = []
            first = first if block else number
            block.append(token.string.lstrip("#!").strip())
        elif token.type == tokenize.STRING or tokenize.tok_name[token.type] == "FSTRING_MIDDLE":
            words = re.sub(r"^[a-zA-Z]*[\"']+|[\"']+$", "", token.string)
            yield from paragraphs_of([line.strip() for line in words.split("\n")], number)
    yield from paragraphs_of(block, first)


def texts_of_page(text):
    """The same for the paragraphs, items and cells of a page."""
    fenced, lines = False, []
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced, line = not fenced, ""
        is_code = fenced or line.startswith("    ")
        lines.append("" if is_code else line)
    block, first = [], 1
    for number, line in enumerate(lines + [""], 1):
        if line.startswith("|"):
            for cell in line.split("|"):
                yield from paragraphs_of([cell.strip()], number)
            line = ""
        if block and (not line.strip() or re.match(r"[-#] |\d+\.", line)):
            yield from paragraphs_of(block, first)
            block = []
        if line.strip():
            first = first if block else number
            block.append(re.sub(r"^(?:- |#+ |<!-- )", "", line.strip()))


def paragraphs_of(lines, first):
    paragraph, at = "", []
    for number, line in enumerate(lines + [""], first):
        if line:
            paragraph += line + " "
            at += [number] * (len(line) + 1)
        elif paragraph:
            yield paragraph, at
            paragraph, at = "", []


def faults_of(path, text):
    """(line, rule, remedy) of each fault of a file."""
    faults, allowed = [], collections.defaultdict(set)
    for number, line in enumerate(text.split("\n"), 1):
        for match in ALLOW.finditer(line):
            names = {name.strip() for name in match.group(1).split(",")}
            allowed[number] |= names
            allowed[number + 1] |= names if path.endswith(".md") else set()
    for paragraph, lines in texts_of(path, text):
        names = set().union(*(allowed[line] for line in set(lines)))
        faults += [(lines[offset], name, remedy) for name, offset, remedy in find(blank_quotes(paragraph))
                   if name not in names]
    return sorted(faults)


def texts_of(path, text):
    if path.endswith(".md"):
        return texts_of_page(text)
    if path.endswith(".py"):
        return texts_of_python(text)
    messages = () if path.startswith("tests/") else texts_of_messages(text)
    return itertools.chain(texts_of_source(text), messages)


def list_texts():
    pages = [name for name in list_files() if re.fullmatch(r"(?:README|CONTRIBUTING|docs/.+)\.md", name)]
    return sorted({*pages, *list_files(endings=SOURCES)} - GENERATED - {"tools/lint_english.py"})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    test_rules()
    files = [os.path.relpath(os.path.abspath(file), ROOT) for file in args.files] or list_texts()
    count = 0
    for path in files:
        for line, name, remedy in faults_of(path, read(path)):
            print(f"{path}:{line}: '{name}': {remedy}")
            count += 1
    print(f"lint_english: {len(files)} files, {count} faults")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
