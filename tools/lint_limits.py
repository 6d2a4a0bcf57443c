"""What is bounded is listed: tools/limits.tsv, of which docs/limits.md is written.

usage: lint_limits.py [--update] [--list]

Found is a constant that looks like a bound (NAME) in the folders that judge kernels, and is neither in tools/limits.tsv
nor, with a reason, in tools/no_limits.tsv: a #define, an enumerator or a static const whose name says so, an array of a
struct or of a function of 32 or more items by number, and a member of 16 bits. Found is a row of these files whose
constant is gone, whose number is another one, whose test is gone or does not name it, a name of a message 'limit NAME:
..' that has no row, and a page that is not of the table.

limits.tsv: name, where, bound, what happens, test. where: FILE:CONSTANT, several with a space. what happens: a word of
KINDS first. test: FILE:WORD, and WORD stands in FILE.
no_limits.tsv: FILE:CONSTANT, why it is no bound.

--update: writes docs/limits.md. --list: prints what looks like a bound.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import C_FILES, ROOT, drop_comments, list_files, read, read_rows

FOLDERS = ("base", "explore", "include/grout", "include/grout-internal", "interp", "observe", "ptx", "race_checker")
PAGE, TABLE, OTHERS = "docs/limits.md", "tools/limits.tsv", "tools/no_limits.tsv"

# What happens at a limit, and what the page says of it.
KINDS = {
    "grows": "more is kept; only memory ends it (`out-of-memory`, incomplete)",
    "incomplete": "the run ends, the verdict is `incomplete`, the exit code 3, and the message names the limit",
    "error": "the kernel is wrong: a GPU has the same bound, or grout's language does",
    "refused": "nothing runs; the message says what is bounded (exit code 2)",
    "legal": "what is in flight takes effect earlier, as it may on a GPU at any time; no finding depends on it",
    "schedules": "fewer schedules are tried; the verdict says which hold",
    "words": "the verdict stays; the report says less",
}

WORDS = (r"(?:BUCKETS|CALLS|CAPACITY|DEPTH|ENTRIES|GROUPS|HOPS|KEPT|LIMIT|LOOKED|MARKS|MAX|MOST|NOTES|RECENT|"
         r"RESIDENT|SLOTS|SNAPSHOTS|STEPS|WIDEST)")
NAME = rf"[A-Z][A-Z0-9_]*?_?{WORDS}(?:_[A-Z0-9_]+)?|{WORDS}(?:_[A-Z0-9_]+)?"
CONSTANT = re.compile(rf"^[ \t]*#define[ \t]+({NAME})[ \t]+\(?([^/\n]+)|(?<![A-Za-z0-9_.>])({NAME})[ \t]*=(?!=)[ "
                      r"\t]*([^,};/\n]+)", re.MULTILINE)
ARRAY = re.compile(r"^[ \t]+(?!return|case)[a-z_][\w ]*[ *](\w+)\[(\d+)\][;, ]", re.MULTILINE)
NARROW = re.compile(r"^[ \t]+u?int16_t (\w+(?:, \w+)*);", re.MULTILINE)
LARGE = 32
MESSAGE = re.compile(r'"limit ([a-z0-9-]+):')


def list_looks(path):
    """Constants of a file that look like bounds: name, and the text of the value."""
    text = drop_comments(read(path))
    looks = {}
    for match in CONSTANT.finditer(text):
        name, value = (match[1], match[2]) if match[1] else (match[3], match[4])
        if re.search(r"[0-9]|_MAX|sizeof", value):
            looks.setdefault(name, value.strip())
    for match in ARRAY.finditer(text):
        if int(match[2]) >= LARGE:
            looks.setdefault(f"{match[1]}[{match[2]}]", match[2])
    for match in NARROW.finditer(text):
        for name in match[1].split(", "):
            looks.setdefault(name, "16 bits")
    return looks


def check_tests(place, cell):
    for test in cell.split(" "):
        path, _, word = test.partition(":")
        if not word or not os.path.exists(os.path.join(ROOT, path)) or word not in read(path):
            yield f"{place}: there is no test '{test}'"


def make_page(rows):
    lines = ["# Limits", "",
             ("What grout bounds in the language, the checker, the interpreter, the search of schedules and the "
              "PTX emulator,"),
             ("and what happens where a kernel needs more. No limit is silent: something grows, or a "
              "message names it. Each has"),
             ("a test that reaches it. Written by `tools/lint_limits.py --update` from `tools/limits.tsv`; the lint "
             "finds"), "constants that look like a bound and are not in the table.", "",
             "| at the limit | |", "|---|---|"]
    lines += [f"| {kind} | {text} |" for kind, text in KINDS.items()]
    for kind in KINDS:
        of_kind = [cells for _, cells in rows if cells[3].split(" ")[0].rstrip(":,") == kind]
        lines += ["", f"## {kind[0].upper()}{kind[1:]}", "", "| limit | bound | what happens | where | test |",
                  "|---|---|---|---|---|"]
        for name, where, bound, happens, test in of_kind:
            places = sorted({place.partition(":")[0] for place in where.split(" ")})
            tests = sorted({one.partition(":")[0] for one in test.split(" ")})
            rest = happens[len(kind):].lstrip(":, ") or "more is kept"
            lines.append(f"| {name} | {bound} | {rest} | {', '.join(link(place) for place in places)} | "
                         f"{', '.join(link(one) for one in tests)} |")
    return "\n".join(lines) + "\n"


def link(path):
    return f"[{os.path.basename(path)}](../{path})"


def main():
    options = sys.argv[1:]
    if set(options) - {"--update", "--list"}:
        sys.exit(__doc__)
    paths = list_files(FOLDERS, C_FILES)
    looks = {f"{path}:{name}": value for path in paths for name, value in list_looks(path).items()}
    if "--list" in options:
        print("\n".join(f"{place}\t{value}" for place, value in looks.items()))
        return 0
    rows, faults = read_rows(TABLE, 5)
    others, more = read_rows(OTHERS, 2)
    faults += more
    known = {}
    for number, (name, where, _, happens, test) in rows:
        place = f"{TABLE}:{number}: {name}"
        for constant in where.split(" "):
            known[constant] = place
        if happens.split(" ")[0].rstrip(":,") not in KINDS:
            faults.append(f"{place}: '{happens}' begins with none of {', '.join(KINDS)}")
        faults += check_tests(place, test)
    for number, (constant, _) in others:
        if constant in known:
            faults.append(f"{OTHERS}:{number}: {constant} is a limit: {known[constant]}")
        known[constant] = f"{OTHERS}:{number}"
    faults += [f"{place}: looks like a bound ({value}), and is neither in {TABLE} nor in {OTHERS}"
               for place, value in looks.items() if place not in known]
    for constant, place in known.items():
        path, _, name = constant.partition(":")
        is_there = os.path.exists(os.path.join(ROOT, path)) and \
            re.search(rf"(?<!\w){re.escape(name)}(?!\w)", read(path))
        if constant not in looks and not is_there:
            faults.append(f"{place}: {constant} is not there")
    names = {cells[0] for _, cells in rows}
    faults += [f"{path}: 'limit {name}' has no row in {TABLE}" for path in paths
               for name in sorted(set(MESSAGE.findall(read(path))) - names)]
    if len(names) != len(rows):
        faults.append(f"{TABLE}: a name stands twice")
    page = make_page(rows)
    if "--update" in options:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as file:
            file.write(page)
    elif not os.path.exists(os.path.join(ROOT, PAGE)) or read(PAGE) != page:
        faults.append(f"{PAGE} is not of {TABLE}: tools/lint_limits.py --update")
    print("\n".join(faults + [f"lint_limits: {len(looks)} constants, {len(rows)} limits, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
