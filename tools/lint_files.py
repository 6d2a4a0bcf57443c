"""What the lints have in common: which files there are, how they are read, and C text without its comments.

SPDX-License-Identifier: Apache-2.0
"""
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
C_FILES = (".c", ".h")
# A comment of C, or a literal, in which what looks like one is none.
COMMENT_OR_LITERAL = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def list_files(folders=(), endings="", root=ROOT):
    """Paths from the root, sorted: what git tracks or could add, and is there; in the folders, with one of the endings.
    All files of a root that is not this tree."""
    if root == ROOT:
        command = ["git", "-C", root, "ls-files", "-co", "--exclude-standard", "-z", "--", *folders]
        names = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    else:
        names = [os.path.relpath(os.path.join(folder, name), root) for folder, _, files in os.walk(root)
                 for name in files]
    return sorted(name for name in set(names) - {""} if name.endswith(endings) and
                  os.path.exists(os.path.join(root, name)))


def read(path, root=ROOT):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def drop_comments(text, literal=None):
    """The text with its lines, and no comments; literal: what each literal becomes, if it does not stay."""
    def replace(match):
        if match[0].startswith("/"):
            return "\n" * match[0].count("\n")
        return match[0] if literal is None else literal
    return COMMENT_OR_LITERAL.sub(replace, text)


def read_rows(path, columns, root=ROOT):
    """The rows of a table with tabs, each as (line, cells), and what is wrong with others. '#' begins a comment."""
    rows, faults = [], []
    for number, line in enumerate(read(path, root).split("\n"), 1):
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        if len(cells) == columns and all(cells):
            rows.append((number, cells))
        else:
            faults.append(f"{path}:{number}: {len(cells)} columns, not {columns}")
    return rows, faults
