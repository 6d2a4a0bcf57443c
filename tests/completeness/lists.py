"""Lists of operations by name that stand outside of the tables: each names all that it is about, and no other.

usage: lists.py [--update]     --update writes the part of tests/fuzz/grout.dict that comes from the tables

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import ast
import os
import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [os.path.join(ROOT, "tests"), os.path.join(ROOT, "tests", "mutation")]

import kernel_lists
import sync_table

DICTIONARY = os.path.join(ROOT, "tests", "fuzz", "grout.dict")
DICTIONARY_END = '"grout"\n'  # the first word that is in no table
SUMS = {"reduce_sum": "rounded in another order", "reduce_prod": "rounded in another order"}
BOUNDED = "of a finite number it is one"
# (list, operation): why it is not there. A line that is no longer needed fails the test.
EXCEPTIONS = {
    ("exact", "fma"): "a section of its own has it",
    **{("approx", name): "no instruction is faster: approx changes nothing, and arithmetic.cpp compiles it"
       for name in ("atan2", "expm1", "log1p", "pow")},
    **{("non-finite", name): BOUNDED
       for name in ("tanh", "logistic", "cbrt", "erf", "atan2", "floor", "ceil", "round", "round_away", "copysign")},
    ("jax", "round_away"): "_round has the rounding as a parameter",
    ("jax", "round"): "_round has the rounding as a parameter",
    ("jax", "copysign"): "JAX has no primitive of it: jnp.copysign is made of others",
    ("jax", "fma"): "JAX has no primitive of it",
    ("lift", "expm1"): "MLIR has math.expm1, which Mosaic GPU does not write",
    ("lift", "logistic"): "MLIR has none: Mosaic GPU writes it with exp2",
    ("lift", "round_away"): "Mosaic GPU writes roundeven alone",
    ("lift", "copysign"): "Mosaic GPU does not write it",
    ("mlir", "expm1"): "Mosaic GPU does not write math.expm1",
    ("mlir", "logistic"): "MLIR has none: Mosaic GPU writes it with exp2",
    ("mlir", "round_away"): "Mosaic GPU does not write math.round",
    ("mlir", "copysign"): "Mosaic GPU does not write math.copysign",
    ("mlir", "fma"): "_mlir.py has a case of its own for math.fma",
}


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def cut(text, start, end):
    """What stands between the two."""
    return text[text.index(start) + len(start):].partition(end)[0]


class Tables:
    """The operations of ops.def by kind, and all words of the text format that a table has."""

    def __init__(self):
        text = read("include", "grout", "ops.def")
        self.math = [row[1] for row in sync_table.read_rows(text, ["GROUT_MATH"])]
        self.floats = [row[1] for row in sync_table.read_rows(text, ["GROUT_ALU"]) if row[3] == "FLOAT"]
        kinds = ["GROUT_OP", "GROUT_ALU", "GROUT_MATH", "GROUT_REDUCE", "GROUT_SCAN", "GROUT_ATOMIC"]
        self.ops = [row[1] for row in sync_table.read_rows(text, kinds)]
        attributes = [row[1] for row in sync_table.read_rows(text, ["GROUT_ATTR"])]
        choices = [row[2].strip('"') for row in sync_table.read_rows(text, ["GROUT_CHOICE"])]
        text = read("include", "grout", "spaces.def") + read("include", "grout", "types.def")
        others = [row[1].strip('"') for row in sync_table.read_rows(text, ["GROUT_SPACE", "GROUT_DTYPE"])]
        self.words = sorted({*self.ops, *attributes, *choices, *others})
        if len(self.math) < 10 or len(self.floats) < 5 or len(self.ops) < 150:
            sys.exit("ops.def does not look as expected")


def get_values(path, *names):
    """The strings of the dictionaries, lists and calls that a Python file gives these names."""
    found = set()
    for node in ast.walk(ast.parse(read(*path))):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(isinstance(target, ast.Name) and target.id in names for target in targets):
            found.update(part.value for part in ast.walk(node.value)
                         if isinstance(part, ast.Constant) and isinstance(part.value, str))
    return found


# ---- the lists: what each has, of what it has to have ---------------------------------------------

def list_functions(tables):
    """docs/language.md, Functions: those that are exact, and those that are not."""
    part = cut(read("docs", "language.md"), "- **Functions.**", "\n- **")
    exact, _, rest = part.partition("are exact")
    names = set(re.findall(r"`(\w+)`", cut(rest, "everywhere.", "are not:")))
    yield "functions", "docs/language.md, Functions, those that are not exact", set(tables.math), names
    names = set(re.findall(r"`(\w+)`", exact)) & set(tables.floats)
    yield "exact", "docs/language.md, Functions, those that are exact", set(tables.floats), names


def list_inexact(tables):
    """tests/differential/gpu/random_on_gpu.py: kernels that are not compared bit for bit."""
    text = read("tests", "differential", "gpu", "random_on_gpu.py")
    pattern = re.compile("".join(re.findall(r'r?"([^"\n]*)"', cut(text, "INEXACT = re.compile(", ")\n"))))
    yield ("inexact", "INEXACT of tests/differential/gpu/random_on_gpu.py", {*tables.math, *SUMS},
           {name for name in tables.ops if pattern.search(f"= {name} ")})


def list_math(tables):
    """tests/differential/math.each: each function of a library, in f32 and with approx."""
    text = kernel_lists.read(os.path.join(ROOT, "tests", "differential", "math.each"))
    for name, pattern in (("math", r"\((\w+) \(load"), ("approx", r"\((\w+) \(load[^\n]* approx\)")):
        yield (name, "tests/differential/math.each" + (", with approx" if name == "approx" else ""),
               set(tables.math), set(re.findall(pattern, text)) & set(tables.math))


def list_non_finite(tables):
    """tests/random/check_non_finite.py: what makes NaN or infinity."""
    names = get_values(("tests", "random", "check_non_finite.py"), "ELEMENTWISE", "OTHERS")
    wanted = {*tables.math, *tables.floats}
    yield "non-finite", "ELEMENTWISE of tests/random/check_non_finite.py", wanted, names & wanted


def list_pallas(tables):
    """What Python makes of JAX and of MLIR."""
    folder = ("python", "src", "grout", "pallas")
    wanted = {*tables.math, *tables.floats}
    for name, file, *names in (("jax", "_arithmetic.py", "UNARY", "BINARY"), ("lift", "_lift.py", "_OPERATIONS"),
                               ("mlir", "_mlir.py", "_UNARY", "_BINARY")):
        where = f"{' and '.join(names)} of {'/'.join(folder)}/{file}"
        yield name, where, wanted, get_values((*folder, file), *names) & wanted


def list_dictionary(tables):
    """tests/fuzz/grout.dict: the words of the tables."""
    head = cut(read("tests", "fuzz", "grout.dict"), "\n", DICTIONARY_END)
    where = "tests/fuzz/grout.dict (completeness/lists.py --update writes it)"
    yield "dictionary", where, set(tables.words), set(re.findall(r'"(\w+)"', head))


LISTS = (list_functions, list_inexact, list_math, list_non_finite, list_pallas, list_dictionary)


def compare(tables):
    lines, unused, count = [], set(EXCEPTIONS), 0
    for make in LISTS:
        for name, where, wanted, names in make(tables):
            count += 1
            for op in sorted(wanted - names):
                if (name, op) not in EXCEPTIONS:
                    lines.append(f"{where}: '{op}' is missing")
                unused.discard((name, op))
            lines += [f"{where}: the tables have no such '{op}'" for op in sorted(names - wanted)]
    lines += [f"EXCEPTIONS: ('{name}', '{op}') is not needed: remove it" for name, op in sorted(unused)]
    return lines, count


def update(tables):
    text = read("tests", "fuzz", "grout.dict")
    head, _, _ = text.partition("\n")
    rest = text[text.index(DICTIONARY_END):]
    with open(DICTIONARY, "w", encoding="utf-8") as file:
        file.write(head + "\n" + "".join(f'"{word}"\n' for word in tables.words) + rest)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    tables = Tables()
    if parser.parse_args().update:
        update(tables)
    lines, count = compare(tables)
    print("\n".join(lines + [""]), end="")
    print(f"{count} lists, {len(lines)} mistakes, {len(EXCEPTIONS)} exceptions")
    return 1 if lines or count < 9 else 0


if __name__ == "__main__":
    sys.exit(main())
