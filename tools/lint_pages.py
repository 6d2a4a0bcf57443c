#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds lines of more than 120 columns in the prose of hand-written pages, and wraps them.

usage: lint_pages.py [--wrap] [FILE...]     README.md, CONTRIBUTING.md and docs/, by default

Tables, code, headings and the generated pages may be wider. --wrap writes a paragraph or an item that has such a line
anew, in lines as long as may be; a span of code and a short link stay in one line. The words stay the same.
"""
import argparse
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import ROOT, list_files, read

WIDTH = 120
LINK_MAX = 90  # a longer link may be broken in its words
GENERATED = {f"docs/{name}.md" for name in ("cli", "corpus", "coverage", "diagnostics", "limits", "litmus", "mutation",
                                            "operations", "pallas_compat", "planted_faults", "reverts")}
FENCE = re.compile(r"\s*(?:```|~~~)")
ITEM = re.compile(r"\s*(?:[-*+] |\d+[.)] )")
NO_PROSE = re.compile(r"\s*(?:[|#<]|\[[^\]]+\]:)")
ATOM = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)|\[(?:`[^`]*`|[^\]`])*\]\([^)]*\)|\]\([^)]*\)")
# What would begin an item, a heading, a table, a quote or a rule at the start of a line.
MARK = re.compile(r"[-+*]$|#|\d+[.)]$|\||>|```|~~~|<!--|=+$|-+$")


def split_words(text):
    """The words of a text; what ATOM finds is part of one word."""
    words, word, at = [], "", 0
    while at < len(text):
        atom = ATOM.match(text, at)
        if atom and (not atom.group().startswith("[") or len(atom.group()) <= LINK_MAX):
            word += atom.group()
            at = atom.end()
            continue
        if text[at] != " ":
            word += text[at]
        elif word:
            words.append(word)
            word = ""
        at += 1
    return words + [word] if word else words


def fill(words, first, rest, width):
    """Lines of the words: first before the first of them, rest before the others."""
    lines, line = [], [words[0]]
    for word in words[1:]:
        start = rest if lines else first
        if len(start) + len(" ".join([*line, word])) <= width:
            line.append(word)
            continue
        kept = [line.pop()] if MARK.match(word) and len(line) > 1 else []
        lines.append(start + " ".join(line))
        line = [*kept, word]
    return [*lines, (rest if lines else first) + " ".join(line)]


def take_block(lines, at):
    """The end of the paragraph or item that begins at a line."""
    end = at + 1
    while end < len(lines) and lines[end].strip() and not ITEM.match(lines[end]) and not FENCE.match(lines[end]) \
            and not NO_PROSE.match(lines[end]) and not lines[end].startswith(">"):
        end += 1
    return end


def begins_prose(line):
    is_indented = line.startswith("    ") and not ITEM.match(line)
    return bool(line.strip()) and not NO_PROSE.match(line) and not is_indented


def wrap_block(block, width):
    if max(map(len, block)) <= width or any("<!--" in line or line.endswith(("  ", "\\")) for line in block):
        return block
    item = ITEM.match(block[0])
    first = item.group() if item else re.match(r"\s*", block[0]).group()
    text = " ".join([block[0][len(first):].strip(), *(line.strip() for line in block[1:])])
    return fill(split_words(text), first, " " * len(first), width)


def wrap(lines, width=WIDTH):
    """The lines of a page, wrapped where its prose is too wide."""
    out, at, is_code = [], 0, False
    while at < len(lines):
        line, end = lines[at], at + 1
        if FENCE.match(line):
            is_code = not is_code
        elif line.startswith(">") and not is_code:
            while end < len(lines) and lines[end].startswith(">"):
                end += 1
            quoted = wrap([re.sub(r"^> ?", "", line) for line in lines[at:end]], width - 2)
            out += [f"> {line}".rstrip() for line in quoted]
            at = end
            continue
        elif not is_code and begins_prose(line):
            end = take_block(lines, at)
            out += wrap_block(lines[at:end], width)
            at = end
            continue
        out += lines[at:end]
        at = end
    return out


def test_wrap():
    wide = "word " * 30 + "`a span of code that stays` [a link](a.md) - 1. end"
    assert max(map(len, wrap([wide]))) <= WIDTH and " ".join(wrap([wide])) == wide, wrap([wide])
    assert wrap(["- " + wide])[1].startswith("  word"), wrap(["- " + wide])
    assert wrap(["> " + wide])[1].startswith("> word"), wrap(["> " + wide])
    for line in ("| " + wide, "# " + wide, "    " + wide, "short"):
        assert wrap([line]) == [line], line
    assert wrap(["```", wide, "```"]) == ["```", wide, "```"]
    assert wrap(["word " * 23 + "1234 - end"])[1] == "1234 - end", "a dash would begin an item"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wrap", action="store_true")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    test_wrap()
    files = [os.path.relpath(os.path.abspath(file), ROOT) for file in args.files] or sorted(
        {name for name in list_files() if re.fullmatch(r"(?:README|CONTRIBUTING|docs/.+)\.md", name)} - GENERATED)
    count = 0
    for path in files:
        text = read(path)
        wrapped = "\n".join(wrap(text.split("\n")))
        if text != wrapped and args.wrap:
            with open(os.path.join(ROOT, path), "w", encoding="utf-8") as file:
                file.write(wrapped)
        elif text != wrapped:
            print(f"{path}: prose of more than {WIDTH} columns: tools/lint_pages.py --wrap {path}")
            count += 1
    print(f"lint_pages: {len(files)} pages, {count} faults")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
