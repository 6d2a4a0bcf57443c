#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ir/core/op_docs.def lacks, and what it has too much, is a compile error that names it; and one file reads it.

usage: prose.py --cc COMPILER
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CORE = os.path.join(ROOT, "ir", "core")
# A line that goes away, or comes; what the compiler has to say.
CHANGES = (("GROUT_OP_DOC(ADD,", None, "doc_of_op_ADD"), ("GROUT_ATTR_DOC(DIM,", None, "doc_of_attr_DIM"),
           ("GROUT_CHOICE_DOC(ORDER, RELAXED,", None, "doc_of_choice_ORDER_RELAXED"),
           ("GROUT_UPDATE_DOC(MIN,", None, "doc_of_update_MIN"),
           (None, 'GROUT_OP_DOC(NEVER, "what no operation does")\n', "GROUT_OP_NEVER"))


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def change(text, gone, more):
    """Without the entry that begins so, and with another one."""
    if gone is not None:
        entry = re.compile("^" + re.escape(gone) + r"(?:[^\n]*\n(?!GROUT_|\n|//))*[^\n]*\n", re.MULTILINE)
        text, count = entry.subn("", text)
        if count != 1:
            sys.exit(f"op_docs.def has {count} entries {gone}")
    return text.replace("// clang-format on", (more or "") + "// clang-format on")


def compile_with(compiler, text):
    with tempfile.TemporaryDirectory(prefix="grout-prose-") as folder:
        shutil.copy(os.path.join(CORE, "tables.c"), folder)
        with open(os.path.join(folder, "op_docs.def"), "w", encoding="utf-8") as file:
            file.write(text)
        words = [compiler, "-std=c11", "-fsyntax-only", "-I", os.path.join(ROOT, "include"), "-I", CORE,
                 "-I", os.path.join(ROOT, "base"), os.path.join(folder, "tables.c")]
        return subprocess.run(words, capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--cc", required=True)
    compiler = parser.parse_args().cc
    text = read(os.path.join(CORE, "op_docs.def"))
    faults = []
    done = compile_with(compiler, text)
    if done.returncode != 0:
        faults.append(f"as it is: {done.stderr}")
    for gone, more, name in CHANGES:
        done = compile_with(compiler, change(text, gone, more))
        if done.returncode == 0 or name not in done.stderr:
            faults.append(f"without {gone}, with {more}: exit code {done.returncode}, no '{name}' in: {done.stderr}")
    sources = [path for ending in ("c", "h")
               for path in glob.glob(os.path.join(ROOT, "*", "**", "*." + ending), recursive=True)]
    readers = [os.path.relpath(path, ROOT) for path in sources
               if not path.startswith(os.path.join(ROOT, "build")) and '"op_docs.def"' in read(path)]
    if readers != ["ir/core/tables.c"]:
        faults.append(f"it is read by {', '.join(readers)}")
    print("\n".join([*faults, f"prose: {len(CHANGES)} changes, {len(faults)} faults"]))
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
