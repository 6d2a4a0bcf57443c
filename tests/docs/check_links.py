#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that what the pages point to is there.

usage: check_links.py [--update] [PAGE...]     README.md, CONTRIBUTING.md and docs/**/*.md by default

- The file of each link [text](file) exists, and has the heading of a link [text](file#heading).
- Each path of the tree between backticks exists, as `interp/clocks/order.c`; a pattern such as
  `ir/text/parse*.c` fits at least one file.
- A link whose text is a name between backticks, [`name`](file.c), names something that this source file
  defines; a header or table has to mention it.
- In docs/ways/, where the pages follow the functions, every name grout_... between backticks is such a
  link.

--update mends links and paths of files that have moved: to the one file that defines the name, else to
the one file of the same name in the same top folder, else in the tree.
"""
import argparse
import glob
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINK = re.compile(r"\[([^\]\n]*(?:\n[^\]\n]*)?)\]\(([^)\s]+)\)")
TICKED = re.compile(r"`([^`\n]+)`")
NAME = re.compile(r"`(\w+)`")
SOURCES = (".c", ".h", ".def", ".cuh", ".py", ".cpp")
# Top folders whose paths are looked for between backticks.
TOPS = "base|bench|binding|cli|cmake|deps|docs|editors|explore|gpu_backend|include|interp|ir|kernels|lowering|" \
    "observe|python|race_checker|tests|tools"
PATH = re.compile(rf"(?:{TOPS})/[\w./*-]*[\w*](?:\.\w+)|(?:{TOPS})/(?:[\w-]+/)*")


def list_tree():
    names = [name for name in os.listdir(ROOT) if name.endswith(".md")]
    for top in TOPS.split("|"):
        for folder, folders, files in os.walk(os.path.join(ROOT, top)):
            folders[:] = [name for name in folders if name != "__pycache__"]
            names += [os.path.relpath(os.path.join(folder, name), ROOT) for name in files]
    return sorted(names)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def strip_comments(text):
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)


def defines(path, name):
    """Whether a C file defines the name at its left margin; whether a header or table mentions it."""
    text = strip_comments(read(path))
    if path.endswith((".h", ".def", ".cuh")):
        return re.search(rf"\b{name}\b", text) is not None
    head = rf"^(?:#define {name}\b|def {name}\(|(?![ \t}}#])[^\n;=]*\b{name}(?:\(|\b *(?:\{{|=|\[|;)))"
    for match in re.finditer(head, text, re.M):
        rest = text[match.end():]
        ending = re.search(r"[;{]", rest)  # a prototype ends before it has a body
        if not match.group().endswith("(") or path.endswith(".py") or (ending and ending.group() == "{"):
            return True
    return False


def headings_of(path):
    slugs = re.findall(r"^#+ (.*)$", read(path), re.M)
    return {re.sub(r"[^\w -]", "", slug.lower()).replace(" ", "-") for slug in slugs}


def prose_of(text):
    """The page with its code blocks blanked; the length stays."""
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = re.sub(r"^```.*?^```", blank, text, flags=re.S | re.M)
    return re.sub(r"(?<=\n\n)(?:    [^\n]*\n)+", blank, text)


class Page:
    def __init__(self, path, tree):
        self.path, self.tree, self.text = path, tree, read(path)
        self.faults, self.edits = [], []

    def fault(self, at, message, span=None, target=None):
        """target: what to write at the span instead, if that is known."""
        self.faults.append((self.text.count("\n", 0, at) + 1, message))
        if target is not None:
            self.edits.append((*span, target))

    def find_file(self, path, name=None):
        """The one file that defines the name, else the one file called so; None if there is none."""
        base = os.path.basename(path)
        top = path.split("/")[0]
        files = [file for file in self.tree if file.endswith(SOURCES) and file.split("/")[0] == top]
        found = [file for file in files if name and file.endswith((".c", ".cuh")) and defines(file, name)]
        same = [file for file in self.tree if os.path.basename(file) == base]
        for candidates in (found, [file for file in same if file.split("/")[0] == top], same):
            if len(candidates) == 1:
                return candidates[0]
        return None

    def check_link(self, match):
        target, _, heading = match.group(2).partition("#")
        if re.match(r"\w+:", target):
            return
        folder = os.path.dirname(self.path)
        path = os.path.normpath(os.path.join(folder, target)) if target else self.path
        name = NAME.fullmatch(match.group(1))
        name = name.group(1) if name and path.endswith(SOURCES) else None
        if not os.path.exists(os.path.join(ROOT, path)):
            message = f"there is no {path}"
        elif name and not defines(path, name):
            message = f"{path} does not define {name}"
        elif heading and heading not in headings_of(path):
            message = f"{path} has no heading #{heading}"
            self.fault(match.start(), message)
            return
        else:
            return
        moved = self.find_file(path, name)
        new = os.path.relpath(moved, folder or ".") if moved else None
        self.fault(match.start(), message, match.span(2), new)

    def check_path(self, at, ticked):
        for match in PATH.finditer(ticked):
            path = match.group()
            if match.start() > 0 and re.match(r"[\w./-]", ticked[match.start() - 1]):
                continue
            if not glob.glob(os.path.join(ROOT, path)):
                moved = None if "*" in path else self.find_file(path)
                begin = at + match.start()
                self.fault(at, f"there is no {path}", (begin, begin + len(path)), moved)

    def check(self):
        prose = prose_of(self.text)
        links = list(LINK.finditer(prose))
        for match in links:
            self.check_link(match)
        for match in TICKED.finditer(prose):
            self.check_path(match.start(1), match.group(1))
            is_linked = any(link.start(1) <= match.start() < link.end(1) for link in links)
            if "docs/ways/" in self.path and re.fullmatch(r"grout_\w+", match.group(1)) and not is_linked:
                self.fault(match.start(), f"{match.group()} is not a link to the file that defines it")

    def mend(self):
        for begin, end, new in sorted(self.edits, reverse=True):
            self.text = self.text[:begin] + new + self.text[end:]
        with open(os.path.join(ROOT, self.path), "w", encoding="utf-8") as file:
            file.write(self.text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("pages", nargs="*")
    args = parser.parse_args()
    tree = list_tree()
    pages = [os.path.relpath(os.path.abspath(page), ROOT) for page in args.pages]
    pages = pages or [name for name in tree if re.fullmatch(r"(?:README|CONTRIBUTING|docs/.+)\.md", name)]
    count = 0
    for path in pages:
        page = Page(path, tree)
        page.check()
        if args.update and page.edits:
            page.mend()
            page = Page(path, tree)
            page.check()
        for line, message in sorted(page.faults):
            print(f"{path}:{line}: {message}")
        count += len(page.faults)
    print(f"{len(pages)} pages, {count} faults")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
