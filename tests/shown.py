"""What of a kernel's CUDA the mark 'cuda' of its file holds: the statements that use the operation of the file.

The emitted text has each statement of the kernel as a comment, and below it its CUDA. Shown are the statements with
one of the words of the file: its mnemonic, and those of its line '// CUDA: WORD, ...'. A word is a mnemonic or
another part of a statement: 'scratch', 'store %s'. The prologue is shown without what every kernel has, blocks and
loops without what nearly all have (see fold), and a statement without the plain loads and stores around its operation.
'whole' shows all, and '// CUDA: as TWIN' says that it is that of another file with one word changed, the operation;
'// CUDA: as TWIN, NEW for OLD, ..' changes others.

Goldens whose command is 'grout emit FILE' hold all kernels of the file, without the device header: see show_file.

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
BOUNDARY = r"\b"
UNROLL = "#pragma unroll"
ROLLED = " // rolled"


def read_words(source, name):
    """The words of a file; the first is its mnemonic."""
    line = LINE.search(source)
    return [name] + ([word.strip() for word in re.split(r",(?![^\[]*\])", line.group(1))] if line else [])


def find_twin(source):
    """The operation whose file has the text, where the line says 'as', and the words 'NEW for OLD' of this one."""
    line = LINE.search(source)
    twin, *changes = line.group(1)[3:].split(", ") if line and line.group(1).startswith("as ") else [None]
    return twin, [change.split(" for ") for change in changes]


def rename(text, twin, name, changes):
    """The text of the twin with the other operation, and its words: of atomic_fetch_max it changes
    grout_atomic_max_gmem too."""
    before = "_" if "_" in twin else ""
    text = re.sub(rf"{before or BOUNDARY}{twin.rpartition('_')[2]}(?=_|\b)", before + name.rpartition("_")[2], text)
    for new, old in changes:
        text = re.sub(rf"(?<![a-zA-Z]){re.escape(old)}(?!\w)", lambda _, new=new: new, text)
    return text


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


def fold(lines):
    """The lines of a kernel's block without two kinds that say nothing new: a brace that ends a block, because the
    indentation says so too, and '#pragma unroll' above a loop. A loop without it has a remark. All stay if unfold would
    not bring back those that went."""
    kept = []
    for before, line in zip([""] + lines, lines):
        is_rolled = line.strip().startswith("for (") and not before.strip().startswith("#pragma")
        if line.strip() not in ("}", UNROLL):
            kept.append(line + ROLLED if is_rolled else line)
    return kept if unfold(kept) == lines else lines


def unfold(lines):
    """What fold had."""
    out, blocks = [], [0]  # blocks: the indents of the lines that begin those that have not ended
    for line in [*lines, "//"]:
        text, indent = line.strip(), get_indent(line)
        while text and blocks and (indent < blocks[-1] or (indent == blocks[-1] and not text.startswith("}"))):
            out.append(" " * blocks.pop() + "}")
        if text.startswith("}"):
            blocks = blocks[:-1]
        if text.startswith("for (") and not text.endswith(ROLLED) and not out[-1].strip().startswith("#pragma"):
            out.append(" " * indent + UNROLL)
        out.append(line.removesuffix(ROLLED))
        if out[-1].endswith("{") and not text.startswith("//"):
            blocks.append(indent)
    return out[:-1]


def show_file(text, header):
    """What is emitted for a file, without the header; the blocks of the kernels as fold has them."""
    if not text.startswith(header):
        raise ValueError("the text does not begin with the device header")
    shown = []
    for part in re.split(r"(?m)^(?=// kernel @)", text[len(header):]):
        lines = part.splitlines()
        start = next((number for number, line in enumerate(lines) if line.endswith("{")), len(lines) - 1) + 1
        stop = lines.index("}", start) + 1 if part.startswith("// kernel @") else start
        shown += lines[:start] + fold(lines[start:stop]) + lines[stop:]
    return "".join(line + "\n" for line in shown)


def find_accesses(lines, words):
    """The numbers of the lines with which a statement loads an operand from global memory, or stores the result of its
    operation there. They are shown if a word is 'load' or 'loads', 'store' or 'stores'."""
    found, statement, indent = set(), "", 0
    named = {word.split()[0] for word in words}
    for number, line in enumerate(lines):
        if read_statement(line) is not None:
            statement, indent = read_statement(line), get_indent(line)
        elif line.endswith("{") and get_indent(line) == indent:
            stop = next((n for n in range(number + 1, len(lines)) if get_indent(lines[n]) <= indent), len(lines))
            block = lines[number:stop]
            is_load = ("(load " in statement and not named & {"load", "loads"}
                       and any("grout_load_gmem<" in x for x in block))
            is_store = (statement.startswith("store ") and not named & {"store", "stores"}
                        and any("grout_store_gmem(" in x for x in block))
            if is_load or is_store:
                found.update(range(number, stop))
            if is_store and lines[number - 1].endswith("// all lanes are done with the bytes"):
                found.add(number - 1)
    return found


def cut(text, words):
    """The text of a kernel without what is not shown."""
    lines = text.splitlines()
    start = next(number for number, line in enumerate(lines) if line.endswith("{")) + 1
    block = fold(lines[start:])
    if WHOLE in words:
        return "".join(line + "\n" for line in lines[:start] + block)
    kept = [line for line in lines[:start] if BOUND.search(line)]
    accesses = find_accesses(block, words)
    for number, (line, is_shown) in enumerate(mark_lines(block, words)):
        if is_shown and number not in accesses:
            kept.append(line)
        elif kept and kept[-1] != LEFT_OUT:
            kept.append(LEFT_OUT)
    return "".join(line + "\n" for line in (kept[:-1] if kept[-1:] == [LEFT_OUT] else kept))
