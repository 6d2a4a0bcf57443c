#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What 'make fast' would run after some changes: the tests that follow from them, and not all.

usage: check_reach.py --build BUILD
"""
import argparse
import os
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import reach

MOST = 150  # tests of one change
# A changed file; tests that it reaches; tests that it does not; a target that they need.
CHANGES = (
    ("interp/sync/mbarrier.c", {"unit/mbarrier", "golden/check"}, {"unit/parser", "certificates/drawn"}, "grout_exe"),
    ("include/grout/ops.def", {"unit/tables", "golden/parse", "completeness/ops"}, {"unit/spin"}, None),
    ("ir/core/op_docs.def", {"unit/tables", "cli/pages", "completeness/prose"}, {"unit/spin"}, "grout_exe"),
    ("tests/unit/ir/core/check_tables.c", {"unit/tables"}, {"unit/parser", "golden/check"},
     "tests/unit/ir/check_tables"),
    ("tests/certificates/kernel.py", {"certificates/drawn"}, {"unit/tables"}, "grout_exe"),
    ("tests/behaviour/barriers/twice.grout", {"behaviour/all"}, {"unit/tables", "golden/check"}, "grout_exe"),
    ("tests/golden/layout/new.grout", {"golden/layout"}, {"golden/check"}, "grout_exe"),
    ("docs/cli.md", {"cli/pages", "docs/links"}, {"unit/tables"}, "grout_exe"),
)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", required=True)
    graph = reach.Graph(ROOT, os.path.relpath(parser.parse_args().build, ROOT))
    faults = 0
    for path, reached, others, target in CHANGES:
        chosen = reach.choose(graph, [path], float("inf"))
        wrong = [f"{name} is not run" for name in sorted(reached - set(chosen.tests))]
        wrong += [f"{name} is run" for name in sorted(others & set(chosen.tests))]
        wrong += [f"{len(chosen.tests)} tests are run"] if len(chosen.tests) > MOST else []
        wrong += [f"{target} is not built"] if target not in (*chosen.targets, None) else []
        wrong += ["not everything is built"] if target is None and chosen.targets else []
        for words in wrong:
            faults += 1
            print(f"{path}: {words}")
    print(f"reach: {len(CHANGES)} changes, {faults} faults")
    return faults > 0


if __name__ == "__main__":
    sys.exit(main())
