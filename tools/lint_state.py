#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the structs that are state (base/state.h): the tests know each of them, and each struct
that a snapshot of the checker reaches is one, or stands below with a reason."""

import re
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import C_FILES, drop_comments, list_files, read

# Each folder, and the test whose table names the structs of it.
TESTS = {
    "interp": "check_state_fields.c",
    "race_checker": "check_checker_fields.c",
}
# What a snapshot of the checker copies, and what lies in the blocks of a shadow.
ROOTS = ["grout_run_state", "grout_memory", "grout_node"]
# Structs that a snapshot of the checker reaches and that need no fact of their own.
MEMORY = {
    "grout_slab": "blocks by handle: where a shadow lies",
    "grout_slab_large": "one of them that is larger than a chunk",
    "grout_node": "how a cell is cut into regions, which count",
    "grout_arrays": "the memory of arrays, copied and hashed as bytes",
    "grout_cta_facts": "pointers alone: slot.c asserts that each stands in its table",
    "grout_cta_notes": "pointers alone: slot.c asserts that each stands in its table",
}

STRUCT = re.compile(r"^typedef struct (\w+) \{\n(.*?)^\} (\w+);", re.S | re.M)
END = re.compile(r"\bGROUT_(STATE|NOTE)_END\b")
ROW = re.compile(r"\b(FACT|NOTE)\((\w+)\)")
MACRO = {"STATE": "FACT", "NOTE": "NOTE"}


def read_structs(folder):
    """Name to body, of all files of a folder."""
    structs = {}
    for path in list_files((folder,), C_FILES):
        for match in STRUCT.finditer(drop_comments(read(path))):
            structs.setdefault(match.group(3), []).append(match.group(2))
    return structs


def find_ends(structs):
    """The structs that end as state or as a note, each with its row in a test's table."""
    rows = set()
    for name, bodies in structs.items():
        for body in bodies:
            rows |= {(MACRO[kind], name) for kind in END.findall(body)}
    return rows


def compare_table(folder, test):
    """The structs of a folder against the table of its test."""
    paths = list_files(("tests",), "/" + test)
    if len(paths) != 1:
        return [f"tests: {len(paths)} files '{test}', not one"]
    # The table is the macro STATE_STRUCTS: lines that go on, and the one after them.
    table = re.search(r"#define STATE_STRUCTS\(.*?\)((?:.*\\\n)+.*\n)", read(paths[0]))
    if table is None:
        return [f"{paths[0]}: no table STATE_STRUCTS"]
    rows = set(ROW.findall(table.group(1)))
    ends = find_ends(read_structs(folder))
    return [f"{test}: its table has no {kind}({name})" for kind, name in sorted(ends - rows)] + [
        f"{test}: no struct of {folder}/ is {kind}({name})" for kind, name in sorted(rows - ends)
    ]


def check_reached():
    """Each struct that a snapshot of the checker reaches, by value or by pointer, is state."""
    structs = read_structs("race_checker")
    names, faults, todo = set(structs), [], list(ROOTS)
    reached = set()
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        body = "\n".join(structs.get(name, []))
        if not body:
            faults.append(f"race_checker: no struct '{name}'")
        elif not END.search(body) and name not in MEMORY:
            faults.append(
                f"race_checker: '{name}' is copied by a snapshot and does not end with "
                "GROUT_STATE_END or GROUT_NOTE_END"
            )
        todo += sorted(names & set(re.findall(r"\b\w+\b", body)))
    return faults + [
        f"tools/lint_state.py: MEMORY has '{name}', which no snapshot reaches"
        for name in sorted(set(MEMORY) - reached)
    ]


def main():
    faults = check_reached()
    for folder, test in TESTS.items():
        faults += compare_table(folder, test)
    for fault in faults:
        print(fault)
    print(f"lint_state: {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
