"""Runs JAX' interpret-mode test files, which this repository does not hold, on JAX' own mode and on grout, and writes
what came of each case to docs/pallas_compat.md.

usage: run.py --tests FOLDER [--fetch] [--only PATTERN] [--mode jax|grout|lower] [--results FILE] [--page]
              [--update [--beside FILE]..]

lower: JAX lowers the kernels of the cases that grout refuses for a GPU, and runs nothing. A case whose kernel JAX' own
lowering refuses too is "better".

FOLDER has the test files, or gets them from GitHub at the commit below with --fetch. The Python that runs this needs
JAX, absl-py, pytest and grout. Exits with 1 if a case is wrong. gpu.py runs JAX' tests of the GPU.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib.metadata
import json
import os
import re
import sys

import children
import page
import verdicts

FILES = tuple(f"gpu_pallas_interpret_{name}test.py"
              for name in ("", "cluster_barrier_", "race_detection_", "tcgen05_race_detection_"))
MODES = ("jax", "grout", "lower")


def run_mode(args, mode, files, kept):
    """Puts what comes of a mode to what is kept, which is written file by file."""
    if not args.only:
        kept[mode] = {}
    for file in files:
        if not os.path.exists(os.path.join(args.tests, file)):
            continue
        only = args.only
        if mode == "lower":
            refused = [case for case in verdicts.list_refused(kept["grout"], file) if re.search(only, case)]
            only = f"^(?:{'|'.join(map(re.escape, refused))})$"
        ended = children.run_file(args.tests, file, mode, only) if mode != "lower" or refused else {}
        kept[mode].update({f"{file}::{case}": line for case, line in ended.items()})
        print(f"{mode}: {file}: {len(ended)} cases", file=sys.stderr, flush=True)
        if args.results:
            with open(args.results, "w", encoding="utf-8") as out:
                json.dump(kept, out)


def judge(kept):
    return verdicts.judge(kept["jax"], kept["grout"], kept["lower"])


def read_beside(path):
    """The version of JAX that made a file of results, and the verdicts."""
    with open(path, encoding="utf-8") as file:
        kept = json.load(file)
    return kept["version"], judge(kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--tests", required=True)
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--only", default="", help="a regular expression on the names of cases")
    parser.add_argument("--mode", choices=MODES, action="append", help="run one of them again, not all")
    parser.add_argument("--results", help="a .json file to keep results in, and to take those from that are not run")
    parser.add_argument("--page", action="store_true", help="run nothing: judge the results that are kept")
    parser.add_argument("--update", action="store_true", help="write docs/pallas_compat.md")
    parser.add_argument("--beside", action="append", default=[],
                        help="results with another version of JAX, for the page")
    args = parser.parse_args()
    if args.fetch:
        children.fetch(args.tests, FILES)
    kept = {}
    if args.results and os.path.exists(args.results):
        with open(args.results, encoding="utf-8") as file:
            kept = json.load(file)
    kept = {"version": importlib.metadata.version("jax"), **{mode: kept.get(mode, {}) for mode in MODES}}
    for mode in () if args.page else args.mode or MODES:
        run_mode(args, mode, FILES, kept)
    judged = judge(kept)
    shown = {case: verdict for case, verdict in judged.items() if re.search(args.only, case.split("::", 1)[1])}
    print(page.summarize(shown))
    if args.update:
        page.write(judged, children.COMMIT, kept["version"], [read_beside(path) for path in args.beside])
    return any(verdict.kind == "wrong" for verdict in shown.values())


if __name__ == "__main__":
    sys.exit(main())
