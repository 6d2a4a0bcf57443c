"""Runs JAX' tests of Pallas for Mosaic GPU, which this repository does not hold and which are skipped without a GPU, on
grout, where the device says that it is one; and writes what came of each case to docs/pallas_compat.md.

usage: gpu.py --tests FOLDER [--fetch] --gpu h100|b200 [--jobs N] [--only PATTERN] [--part K/N] --results FILE [--again
KIND..]
       gpu.py --judge FILE.. [--update]

FOLDER has the test file, or gets it from GitHub with --fetch. The Python that runs this needs JAX, absl-py, pytest and
grout. FILE keeps the results: cases that are in it already are not run again but with --again, whose kinds are those of
gpu_verdicts.py. The second form judges such files, one for each version of JAX and GPU. Exits with 1 if a case is
wrong, refused, or has a finding that nobody has judged.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib.metadata
import json
import os
import re
import sys

import children
import gpu_page
import gpu_verdicts

FILE = "mosaic_gpu_test.py"


def read(path):
    """The results that are kept."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write(path, kept):
    """Puts them there, at once."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(kept, file)
    os.replace(path + ".new", path)


def _make_pattern(cases):
    return f"^(?:{'|'.join(map(re.escape, cases))})$"


def _run(args, kept):
    judged = gpu_verdicts.judge(kept["grout"], kept["lower"])
    again = [case for case, verdict in judged.items() if verdict.kind in args.again and re.search(args.only, case)]
    only = _make_pattern(again) if args.again else args.only
    known = set(kept["grout"]) - set(again)
    kept["grout"].update(children.run_file(args.tests, FILE, "grout", only, args.gpu, args.jobs, args.part, known))
    write(args.results, kept)
    refused = [case for case in gpu_verdicts.list_refused(kept["grout"]) if case not in kept["lower"]]
    if refused:
        kept["lower"].update(children.run_file(args.tests, FILE, "lower", _make_pattern(refused), args.gpu, args.jobs))
    write(args.results, kept)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--tests", help="the folder of JAX' tests")
    parser.add_argument("--fetch", action="store_true")
    parser.add_argument("--gpu", choices=("h100", "b200"))
    parser.add_argument("--jobs", type=int, default=1, help="this many children at once")
    parser.add_argument("--only", default="", help="a regular expression on the names of cases")
    parser.add_argument("--part", default="0/1", help="K/N: of the cases each N-th, from the K-th")
    parser.add_argument("--results", help="a .json file to keep results in")
    parser.add_argument("--again", nargs="+", default=[], choices=gpu_verdicts.KINDS, help="run cases that came out so")
    parser.add_argument("--commit", default=children.COMMIT, help="of JAX, which the file in --tests is from")
    parser.add_argument("--judge", nargs="+", default=[], metavar="FILE", help="run nothing: judge results")
    parser.add_argument("--update", action="store_true", help="write docs/pallas_compat.md")
    args = parser.parse_args()
    if not args.judge:
        if not (args.tests and args.gpu and args.results):
            parser.error("--tests, --gpu and --results, or --judge")
        if args.fetch:
            children.fetch(args.tests, (FILE,))
        kept = read(args.results) if os.path.exists(args.results) else \
            {"version": importlib.metadata.version("jax"), "gpu": args.gpu, "commit": args.commit, "grout": {},
             "lower": {}}
        _run(args, kept)
    judged = []
    for path in args.judge or [args.results]:
        kept = read(path)
        judged.append(gpu_page.Run(kept["version"], kept["gpu"], kept.get("commit", children.COMMIT),
                                   gpu_verdicts.judge(kept["grout"], kept["lower"])))
    print("\n".join(map(gpu_page.summarize, judged)))
    if args.update:
        gpu_page.write(judged)
    return any(verdict.kind in gpu_verdicts.BAD for run in judged for verdict in run.judged.values())


if __name__ == "__main__":
    sys.exit(main())
