"""Loops over the size of a launch end: they ask whether to go on, or tools/loops.tsv says what bounds them.

usage: lint_loops.py [--list] [FOLDER]

A kernel decides how many CTAs, clusters, threads, warps and lanes its launch has, and 2^31 of them are legal. Found is
a loop whose condition compares with such a size (a name of SIZE, or an iterator of ITERATORS), and that neither asks
(ASKS) in its head or body, nor stands under a constant too ('i < ctas && i < SHOWN_MAX'), nor has a row in
tools/loops.tsv. Found is a row that no loop needs.

loops.tsv: where, size, most, why. where: '*', or FILE:FUNCTION. size: as the loop writes it, or its end
('shape.cta_count' is 'plan->shape.cta_count', too). most: the most turns, or what a turn is.

--list: prints the loops that were looked at. FOLDER: a tree instead of this one, with a loops.tsv of its own.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys
from collections import namedtuple

sys.dont_write_bytecode = True  # the folder is a source tree
import lint_files
from lint_files import ROOT

FOLDERS = ("base", "call", "check", "cli", "doors", "explore", "files", "gpu_backend", "include", "interp", "ir",
           "lowering", "observe", "ptx", "race_checker", "repair", "report", "verify")
TABLE = "tools/loops.tsv"

ONE = r"(?:cta|cluster|thread|warp|lane|actor|runner|block|slot|local_actor)"
SIZE = re.compile(rf"(?:\w*_)?{ONE}s|(?:\w*_)?{ONE}_(?:count|size)|"
                  r"(?:\w*_)?(?:grid|grid_size|resident|resident_most|launch_size)")
# Names that a word of SIZE ends, and that are something else.
OTHER = re.compile(r"blocks|\w*block_count|is_\w+|has_\w+")
ITERATORS = re.compile(r"grout_machine__next_cta")
ASKS = re.compile(r"\b\w*(?:goes_on|__ask|session__is_over|make_progress)\s*\(")
COMPARISON = re.compile(r"(?<![<>\-])(?:<=|>=|!=|<|>)(?![<>])")
NAME = re.compile(r"[A-Za-z_]\w*")
CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*|\d+[uU]?")
HEAD = re.compile(r"\b(for|while)\s*\(")
FUNCTION = re.compile(r"^[A-Za-z][^;{}=]*?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)

Loop = namedtuple("Loop", "file line function size")


def find_end(text, at, pair):
    """The place after the bracket that closes the one at text[at]."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == pair[0]) - (text[i] == pair[1])
        if depth == 0:
            return i + 1
    return len(text)


def find_begin(text, at):
    """Where the block begins that the brace at text[at] closes."""
    depth = 0
    for i in range(at, -1, -1):
        depth += (text[i] == "}") - (text[i] == "{")
        if depth == 0:
            return i
    return 0


def get_body(text, end, start):
    """What a loop repeats: text[start:end] is its head."""
    rest = text[end:].lstrip()
    before = text[:start].rstrip()
    if rest.startswith(";") and before.endswith("}"):  # do { .. } while (..);
        return before[find_begin(before, len(before) - 1):]
    at = end + len(text[end:]) - len(rest)
    if rest.startswith("{"):
        return text[at:find_end(text, at, "{}")]
    return text[at:text.find(";", at)]


def list_sides(condition):
    """What a condition compares, both sides of each comparison."""
    for term in re.split(r"&&|\|\||\?", condition):
        match = COMPARISON.search(term.replace("->", "  "))
        if match:
            yield term[:match.start()].strip(" ()"), term[match.end():].strip()


def get_size(side):
    """The name of a size in an expression, or None: its last member or the function that is called."""
    names = [name for name in NAME.findall(re.sub(r"\[[^]]*\]", "", side)) if not CONSTANT.fullmatch(name)]
    found = [name for name in names if SIZE.fullmatch(name) and not OTHER.fullmatch(name)]
    return found[-1] if found else None


def find_size(kind, head):
    """The size that bounds a loop, as its head writes it; None: none, or a constant does."""
    parts = head.split(";") if kind == "for" else ["", head]
    condition = parts[1] if len(parts) > 1 else head
    sides = list(list_sides(condition))
    if any(CONSTANT.fullmatch(right) for _, right in sides if right not in ("0", "NULL", "0u")):
        return None
    for left, right in sides:
        if get_size(right) is not None and not CONSTANT.fullmatch(right):
            return " ".join(right.split())
        if kind == "while" and right in ("0", "0u") and get_size(left) is not None:
            return " ".join(left.split())
    match = ITERATORS.search(head)
    return match[0] if match else None


def list_loops(root, path):
    text = lint_files.drop_comments(lint_files.read(path, root), literal='""')
    functions = [(match.start(), match[1]) for match in FUNCTION.finditer(text)]
    for match in HEAD.finditer(text):
        end = find_end(text, match.end() - 1, "()")
        head = text[match.end():end - 1]
        size = find_size(match[1], head)
        if size is not None and not ASKS.search(head + get_body(text, end, match.start())):
            function = [name for at, name in functions if at <= match.start()]
            yield Loop(path, text.count("\n", 0, match.start()) + 1, function[-1] if function else "", size)


def is_of(loop, where, size):
    is_there = where in ("*", f"{loop.file}:{loop.function}")
    return is_there and re.search(rf"(?<!\w){re.escape(size)}$", loop.size) is not None


def main():
    words = sys.argv[1:]
    root = next((os.path.abspath(word) for word in words if not word.startswith("-")), ROOT)
    if [word for word in words if word.startswith("-") and word != "--list"]:
        sys.exit(__doc__)
    paths = lint_files.list_files(FOLDERS, lint_files.C_FILES, root)
    loops = [loop for path in paths for loop in list_loops(root, path)]
    rows, faults = lint_files.read_rows(TABLE, 4, root)
    used = set()
    for loop in loops:
        mine = [number for number, (where, size, _, _) in rows if is_of(loop, where, size)]
        used.update(mine)
        if "--list" in words:
            print(f"{loop.file}:{loop.line}: {loop.function}: {loop.size}: {'' if mine else 'no row'}")
        elif not mine:
            faults.append(f"{loop.file}:{loop.line}: {loop.function} loops to '{loop.size}' and never asks whether to "
                          f"go on; ask (base/goes_on.h), or say in {TABLE} what bounds it")
    faults += [f"{TABLE}:{number}: no loop is that of '{where}', '{size}'" for number, (where, size, _, _) in rows
               if number not in used]
    print("\n".join(faults + [f"lint_loops: {len(loops)} loops, {len(rows)} rows, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
