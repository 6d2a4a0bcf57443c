"""What of a kernel's CUDA the mark 'cuda' of its file holds: the statements that use the operation of the file.

The emitted text has each statement of the kernel as a comment, and below it its CUDA. Shown are the statements with
one of the words of the file: its mnemonic, and those of its line '// CUDA: WORD, ...'. A word is a mnemonic or
another part of a statement: 'scratch', 'store %s'. The prologue is shown without what every kernel has.
'whole' shows all, and '// CUDA: as TWIN' says that it is that of another file with one word changed, the operation.

SPDX-License-Identifier: Apache-2.0
"""
import re

LINE = re.compile(r"^// CUDA: (.+)$", re.MULTILINE)
WHOLE = "whole"
# The comments that the emitter writes below a statement are none of its own.
REMARK = re.compile(r"for the CTA alone: |SMEM bank conflicts: ")
# What every kernel begins with: of a signature only the launch bound of several threads is shown.
USUAL = re.compile(r" *const grout_u32 (warp|thread|lane|smem) = (grout_\w+\(\)|0|warp / 4);$")
BOUND = re.compile(r"__launch_bounds__\((?!128\))")
LEFT_OUT = "..."


def read_words(source, name):
    """The words of a file; the first is its mnemonic."""
    line = LINE.search(source)
    return [name] + ([word.strip() for word in re.split(r",(?![^\[]*\])", line.group(1))] if line else [])


def find_twin(source):
    """The operation whose file has the text, where the line says 'as'."""
    line = LINE.search(source)
    return line.group(1)[3:] if line and line.group(1).startswith("as ") else None


def rename(text, twin, name):
    """The text of the twin with the other operation: of atomic_fetch_max it changes grout_atomic_max_gmem too."""
    return re.sub(rf"_{twin.rpartition('_')[2]}(?=_|\b)", "_" + name.rpartition("_")[2], text)


def has_word(statement, words):
    return any(re.search(rf"(?<![%@\w.]){re.escape(word)}(?!\w)", statement) for word in words)


def has_statement(text, word):
    return any(has_word(read_statement(line) or "", [word]) for line in text.splitlines())


def get_indent(line):
    return len(line) - len(line.lstrip(" "))


def read_statement(line):
    """The statement whose comment the line is, or None."""
    text = line.strip()
    return text[3:] if text.startswith("// ") and not REMARK.match(text[3:]) else None


def mark_lines(lines, words):
    """(line, whether it is shown) for each line after the parameters."""
    indent, is_shown = 0, None
    for line in lines:
        statement = read_statement(line)
        if statement is not None:
            indent, is_shown = get_indent(line), has_word(statement, words)
        elif line.strip() and get_indent(line) < indent:
            is_shown = False  # the end of a block is nobody's
        yield line, not USUAL.match(line) if is_shown is None else is_shown


def cut(text, words):
    """The text of a kernel without what is not shown."""
    if WHOLE in words:
        return text
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.endswith("{")) + 1
    kept = [line for line in lines[:start] if BOUND.search(line)]
    for line, is_shown in mark_lines(lines[start:], words):
        if is_shown:
            kept.append(line)
        elif kept and kept[-1] != LEFT_OUT:
            kept.append(LEFT_OUT)
    return "".join(line + "\n" for line in (kept[:-1] if kept[-1:] == [LEFT_OUT] else kept))
