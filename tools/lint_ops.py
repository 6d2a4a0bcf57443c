"""Passes read the columns of the op tables, not the names of operations.

usage: lint_ops.py [FILE...]     every C file of the libraries and the command, by default

A test of one operation by its name is a fact that the next operation will lack: it belongs into a
column of ops.def, effects.def or sync.def (docs/adding_an_operation.md). Found are comparisons and
case labels with GROUT_OP_X, table entries [GROUT_OP_X], the same with a form that has one operation
only, and comparisons of mnemonics as text. Where the code is the meaning of that one operation, a
comment says so, with the reason, on the line, above it, or above its function:

    /* by name: a zero that is and'ed decides alone, and no column says what absorbs */
"""
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import C_FILES, list_files, read

FOLDERS = ("ir", "lowering", "verify", "observe", "interp", "race_checker", "explore", "gpu_backend", "ptx", "call", "report", "check", "repair", "doors", "cli", "bench")
# Tests by name in the whole tree, with a reason each; 471 before the tables had the columns.
TESTS_MAX = 150

REASON = re.compile(r"by name: \w")
OP_TEST = re.compile(r"(?:[!=]=\s*|\bcase\s+|\[)GROUT_OP_(?!NONE\b|COUNT\b|##)([A-Z0-9_]+)")
OP_TEST_REVERSED = re.compile(r"\bGROUT_OP_(?!NONE\b|COUNT\b|##)([A-Z0-9_]+)\s*[!=]=")
FORM_TEST = re.compile(r"(?:[!=]=\s*|\bcase\s+|\[)GROUT_FORM_(?!NONE\b|COUNT\b|##)([A-Z0-9_]+)")
TEXT_TEST = re.compile(r'\bstr(?:n?cmp|str)\([^;]*"([a-z_0-9]+)"')
# What the issue counts: a little more than what needs a reason (GROUT_OP_NONE, generated labels).
COUNTED = re.compile(r"opcode [!=]= GROUT_OP_|case GROUT_OP_")
ENTRY = re.compile(r"^GROUT_(OP|ALU|MATH|REDUCE|ATOMIC)\(\s*([A-Z0-9_]+),\s*([a-z0-9_]+),\s*([A-Z_0-9]*)", re.MULTILINE)


def read_table():
    """Mnemonics, and the forms that have one operation only."""
    mnemonics, forms = set(), {}
    for kind, _, text, form in ENTRY.findall(read("include/grout/ops.def")):
        form = {"MATH": "MATH", "REDUCE": "REDUCE"}.get(kind, form)
        mnemonics.add(text)
        forms[form] = forms.get(form, 0) + 1
    if len(mnemonics) < 50:
        sys.exit("lint_ops: ops.def does not look as expected")
    return mnemonics, {form for form, count in forms.items() if count == 1}


def has_reason(lines, number):
    """Whether a reason stands on the line, or between it and the comment above its function."""
    at = number
    while at >= 0:
        line = lines[at]
        if REASON.search(line):
            return True
        is_head = at < number and line[:1] not in ("", " ", "\t", "}", "#", "/", "*", "{")
        if is_head:
            at -= 1
            while at >= 0 and lines[at].lstrip().startswith(("/*", "*", "//")):
                if REASON.search(lines[at]):
                    return True
                at -= 1
            return False
        if line.startswith("}"):
            return False
        at -= 1
    return False


def faults_of_file(path, mnemonics, lone_forms):
    lines = read(path).split("\n")
    for number, line in enumerate(lines):
        names = OP_TEST.findall(line) + OP_TEST_REVERSED.findall(line)
        names += [name for name in FORM_TEST.findall(line) if name in lone_forms]
        names += [text for text in TEXT_TEST.findall(line) if text in mnemonics]
        if names and not has_reason(lines, number):
            yield number + 1, names[0]


def main():
    files = sys.argv[1:] or list_files(FOLDERS, C_FILES)
    mnemonics, lone_forms = read_table()
    count = tests = 0
    for path in files:
        tests += sum(len(COUNTED.findall(line)) > 0 for line in read(path).split("\n"))
        for line, name in faults_of_file(path, mnemonics, lone_forms):
            print(f"{path}:{line}: a test for '{name}' by its name: read a column of the tables, or say 'by name: WHY'")
            count += 1
    if tests > TESTS_MAX:
        print(f"lint_ops: {tests} tests by name in all: {TESTS_MAX} at most")
        count += 1
    print(f"lint_ops: {len(files)} files, {tests} tests by name, {count} faults")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
