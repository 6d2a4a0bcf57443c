"""Runs JAX' interpret-mode test files, which this repository does not hold, on JAX' own mode and on grout, and writes
what came of each case to docs/pallas_compat.md.

usage: run.py --tests FOLDER [--fetch] [--only PATTERN] [--mode jax|grout|lower] [--results FILE] [--page]
              [--update [--beside FILE]..]
       run.py --tests FOLDER [--fetch] [--only PATTERN] --gpu [h100|b200] [--results FILE]

lower: JAX lowers the kernels of the cases that grout refuses for a GPU, and runs nothing. A case whose kernel JAX' own
lowering refuses too is "better".

FOLDER has the test files, or gets them from GitHub at the commit below with --fetch. The Python that runs this needs
JAX, absl-py, pytest and grout. A file runs in a child; a case that takes too long is ended with its child, and
the rest goes on in another one. Exits with 1 if a case is wrong.

--gpu takes JAX' tests of the GPU instead, on grout alone, which says that the device is an H100, or a B200: what comes of them
is printed. There a case is wrong too where grout is right, as with a test that lacks a commit_smem: nothing judges them.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

import page
import verdicts

HERE = os.path.dirname(os.path.abspath(__file__))
COMMIT = "cec06d116c05f0d52adfceee3d3b730fdbcb0ce5"  # the newest of JAX that was tried
ADDRESS = "https://raw.githubusercontent.com/jax-ml/jax/{commit}/tests/pallas/{file}"
FILES = tuple(f"gpu_pallas_interpret_{name}test.py"
              for name in ("", "cluster_barrier_", "race_detection_", "tcgen05_race_detection_"))
GPU_FILES = ("mosaic_gpu_test.py",)
MODES = ("jax", "grout", "lower")
CASE_SECONDS = 120
FILE_SECONDS = 1800


def fetch(folder, files):
    """Brings the files into the folder."""
    os.makedirs(folder, exist_ok=True)
    for file in files:
        address = ADDRESS.format(commit=COMMIT, file=file)
        with urllib.request.urlopen(address, timeout=60) as answer, open(os.path.join(folder, file), "wb") as out:
            out.write(answer.read())


def read_results(path):
    """The lines that a child has written: one a case, and one when a case begins."""
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def run_file(folder, file, mode, args, only):
    """Results by case of one file in one of the modes."""
    with tempfile.TemporaryDirectory(prefix="grout-compat-") as scratch:
        path = os.path.join(scratch, "results")
        while True:
            before = len(read_results(path))
            env = {**os.environ, "JAX_PLATFORMS": "cpu", "COMPAT_RESULTS": path, "COMPAT_MODE": mode,
                   "COMPAT_SECONDS": str(CASE_SECONDS), "COMPAT_ONLY": only, "COMPAT_GPU": args.gpu or "",
                   "PYTHONPATH": os.pathsep.join([HERE, *filter(None, [os.environ.get("PYTHONPATH")])])}
            done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "plugin", "-p", "no:cacheprovider", file],
                                  cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                  timeout=FILE_SECONDS, check=False)
            results = read_results(path)
            begun = [line["case"] for line in results if "outcome" not in line]
            ended = {line["case"]: line for line in results if "outcome" in line}
            lost = [case for case in begun if case not in ended]
            if not lost:
                if done.returncode not in (0, 1, 5):
                    raise RuntimeError(f"{file}: pytest ended with {done.returncode}\n{done.stdout[-3000:]}")
                return ended
            with open(path, "a", encoding="utf-8") as out:
                for case in lost:
                    out.write(json.dumps({"case": case, "outcome": "failed", "seconds": CASE_SECONDS, "reports": [],
                                          "message": f"the process ended: {done.stdout[-1500:]}"}) + "\n")
            if len(results) == before:
                raise RuntimeError(f"{file}: no case begins\n{done.stdout[-3000:]}")


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
        ended = run_file(args.tests, file, mode, args, only) if mode != "lower" or refused else {}
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
    parser.add_argument("--gpu", nargs="?", const="h100", choices=("h100", "b200"), help="JAX' tests of the GPU instead")
    parser.add_argument("--page", action="store_true", help="run nothing: judge the results that are kept")
    parser.add_argument("--update", action="store_true", help="write docs/pallas_compat.md")
    parser.add_argument("--beside", action="append", default=[], help="results with another version of JAX, for the page")
    args = parser.parse_args()
    files = GPU_FILES if args.gpu else FILES
    if args.fetch:
        fetch(args.tests, files)
    kept = {}
    if args.results and os.path.exists(args.results):
        with open(args.results, encoding="utf-8") as file:
            kept = json.load(file)
    kept = {"version": importlib.metadata.version("jax"), **{mode: kept.get(mode, {}) for mode in MODES}}
    for mode in () if args.page else ["grout"] if args.gpu else args.mode or MODES:
        run_mode(args, mode, files, kept)
    judged = judge(kept)
    shown = {case: verdict for case, verdict in judged.items() if re.search(args.only, case.split("::", 1)[1])}
    print(page.summarize(shown))
    if args.update and not args.gpu:
        page.write(judged, COMMIT, kept["version"], [read_beside(path) for path in args.beside])
    return any(verdict.kind == "wrong" for verdict in shown.values())


if __name__ == "__main__":
    sys.exit(main())
