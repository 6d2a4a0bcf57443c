"""Passes read the columns of the op tables, not the names of operations.

usage: lint_ops.py [FILE...]     every C file of the libraries and the command, and Python of the package, the
                                 tools and tests/mutation, by default

A test of one operation by its name is a fact that the next operation will lack: it belongs into a
column of ops.def, effects.def or sync.def (docs/adding_an_operation.md). Found are comparisons and
case labels with GROUT_OP_X, table entries [GROUT_OP_X], the same with a form that has one operation
only, comparisons of mnemonics as text, and strings of C and Python that are a mnemonic, or a statement
that begins with one: an operation's name stands in ops.def alone. Where the code is the meaning of that
one operation, a comment says so, with the reason, on the line, above it, or above its function:

    /* by name: a zero that is and'ed decides alone, and no column says what absorbs */

Strings of mnemonics that are also words (load, select), and sentences about operations, are not looked at.
"""
import ast
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import C_FILES, drop_comments, list_files, read

FOLDERS = ("ir", "lowering", "verify", "observe", "interp", "race_checker", "explore", "gpu_backend", "ptx", "call",
           "report", "check", "repair", "doors", "cli", "bench")
PYTHON_FOLDERS = ("python/src/grout", "tools", "tests/mutation")
# Where strings may be mnemonics, with the reason.
ALLOWED = {
    "bench/": "the kernels of benchmarks are text",
    "python/src/grout/pallas/": "each call of Pallas becomes the operations that are written there",
    "tools/gluon_study/": "each call of Gluon becomes the operations that are written there",
    "tools/soak/": "the kernels that are mutated are text",
}
# Tests by name in the whole tree, with a reason each; 471 before the tables had the columns.
TESTS_MAX = 150

REASON = re.compile(r"by name: \w")
OP_TEST = re.compile(r"(?:[!=]=\s*|\bcase\s+|\[)GROUT_OP_(?!NONE\b|COUNT\b|##)([A-Z0-9_]+)")
OP_TEST_REVERSED = re.compile(r"\bGROUT_OP_(?!NONE\b|COUNT\b|##)([A-Z0-9_]+)\s*[!=]=")
FORM_TEST = re.compile(r"(?:[!=]=\s*|\bcase\s+|\[)GROUT_FORM_(?!NONE\b|COUNT\b|##)([A-Z0-9_]+)")
TEXT_TEST = re.compile(r'\bstr(?:n?cmp|str)\([^;]*"([a-z_0-9]+)"')
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
STATEMENT = re.compile(r"\s*([a-z0-9_]+)((?: [^ ]+)*)\s*$")
# What the issue counts: a little more than what needs a reason (GROUT_OP_NONE, generated labels).
COUNTED = re.compile(r"opcode [!=]= GROUT_OP_|case GROUT_OP_")
ENTRY = re.compile(r"^GROUT_(OP|ALU|MATH|REDUCE|ATOMIC)\(\s*([A-Z0-9_]+),\s*([a-z0-9_]+),\s*([A-Z_0-9]*)", re.MULTILINE)


SYNC = re.compile(r"^GROUT_SYNC\((\w+),", re.MULTILINE)
ATTRIBUTE = re.compile(r"^GROUT_ATTR\(\w+,\s*(\w+),", re.MULTILINE)


def read_names():
    """Mnemonics that are no words of English: with '_', or of sync.def; and the attributes."""
    table = read("include/grout/ops.def")
    synchronising = set(SYNC.findall(read("include/grout-internal/sync.def")))
    names = {text for _, name, text, _ in ENTRY.findall(table) if "_" in text or name in synchronising}
    return names, set(ATTRIBUTE.findall(table))


def name_of_statement(string, names, attributes):
    """The mnemonic that a string is, or that the statement begins with which it is; or None."""
    match = STATEMENT.match(string.split("\\n")[0].split("\n")[0])
    if match is None or match[1] not in names:
        return None
    words = [word.rstrip(",") for word in match[2].split()]
    is_statement = all(word in attributes or not word[:1].isalpha() or "(" in word for word in words)
    return match[1] if is_statement else None


def is_allowed(path):
    return any(path.startswith(place) for place in ALLOWED)


def faults_of_strings(path, names, attributes):
    text = read(path)
    if path.endswith(".py"):
        strings = [(node.lineno, node.value) for node in ast.walk(ast.parse(text))
                   if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    else:
        strings = [(number, string) for number, line in enumerate(drop_comments(text).split("\n"), 1)
                   for string in LITERAL.findall(line)]
    lines = text.split("\n")
    for number, string in strings:
        name = name_of_statement(string, names, attributes)
        if name is not None and not has_reason(lines, number - 1):
            yield number, name


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
        is_head = at < number and line[:1] not in ("", " ", "\t", "}", "]", "#", "/", "*", "{")
        if is_head:
            at -= 1
            while at >= 0 and lines[at].lstrip().startswith(("/*", "*", "//", "# ")):
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
    files = sys.argv[1:] or list_files(FOLDERS, C_FILES) + list_files(PYTHON_FOLDERS, ".py")
    mnemonics, lone_forms = read_table()
    names, attributes = read_names()
    count = tests = 0
    for path in files:
        if path.endswith(C_FILES):
            tests += sum(len(COUNTED.findall(line)) > 0 for line in read(path).split("\n"))
            for line, name in faults_of_file(path, mnemonics, lone_forms):
                print(f"{path}:{line}: a test for '{name}' by its name: read a column of the tables, or say "
                      "'by name: WHY'")
                count += 1
        for line, name in () if is_allowed(path) else faults_of_strings(path, names, attributes):
            print(f"{path}:{line}: '{name}' as a string: take it from ops.def or a column, or say 'by name: WHY'")
            count += 1
    if tests > TESTS_MAX:
        print(f"lint_ops: {tests} tests by name in all: {TESTS_MAX} at most")
        count += 1
    print(f"lint_ops: {len(files)} files, {tests} tests by name, {count} faults")
    return count > 0


if __name__ == "__main__":
    sys.exit(main())
