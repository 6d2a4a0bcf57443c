"""Edges that the CUDA backend narrows to the CTA (lowering/edges.h) carry nothing between CTAs.

- The kernels of this folder say in comments '// narrow: NAME..' and '// wide: NAME..' what is proved of which barrier,
  and '// loss: NAME OP CAUSE' which 'gpu-loss' the backend reports: the operation in a loop, and what makes its barrier
  wide. It reports no other.
- A kernel that checks clean still does when each operation on a narrow barrier is written with scope(cta): kernels/,
  tests/behaviour/, tests/litmus/, tests/corpus/, this folder, and kernels that are drawn. The checker knows nothing of
  the proof, so an edge that carried something would be 'insufficient-scope'.

usage: edges.py --grout PATH --list-narrow PATH --synchronised PATH [--drawn N]

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)
import families
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
FOLDERS = ("kernels", "tests/edges")
LEAST = 55  # kernels that have something to narrow: fewer, and this test has become empty
SUITES = (("clusters", 600), ("rings", 200), ("grids", 100))


def call(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def draw(tool, count, folder):
    """Each drawn kernel as a file of its own."""
    for suite, most in SUITES:
        text = call(tool, "print", suite, "1", str(min(most, count))).stdout
        for number, part in enumerate(text.split("kernel @drawn(")[1:], 1):
            with open(os.path.join(folder, f"{suite}-{number}.grout"), "w", encoding="utf-8") as file:
                file.write("kernel @drawn(" + part)
    return sorted(glob.glob(os.path.join(folder, "*.grout")))


def list_narrow(tool, paths):
    """For each file the lines to narrow, and the names of its barriers by what is proved of them."""
    lines, names = collections.defaultdict(set), collections.defaultdict(dict)
    done = call(tool, *paths)
    if done.returncode != 0:
        sys.exit(f"list_narrow: exit code {done.returncode}: {done.stderr[-2000:]}")
    for line in done.stdout.splitlines():
        path, kind, *rest = line.split("\t")
        if kind == "op":
            lines[path].add(int(rest[0]))
        else:
            names[path][rest[1]] = kind
    return lines, names


def check_names(path, names):
    """What the comments of a file say and list_narrow does not."""
    for kind, words in re.findall(r"^// (narrow|wide): (.*)$", read(path), re.M):
        for word in words.split():
            if names.get(word) != kind:
                yield f"{path}: %{word} is {names.get(word, 'no barrier of a cluster')}, expected {kind}"


def check_losses(grout, path):
    """What the comments of a file and the backend's reports of costly edges do not have in common."""
    with tempfile.NamedTemporaryFile(suffix=".cu") as out:
        said = call(grout, "emit", "--to", "cuda", "-o", out.name, path).stderr
    found = []
    for report in re.split(r"\n(?=\S+: warning: )", said):
        op = re.search(r"warning: '(\w+)' (?:releases|acquires) for the cluster in a loop", report)
        cause = re.search(r"another CTA may have to learn of this '(\w+)' through '%(\w+)'", report)
        if op is not None:
            found.append(f"{cause[2]} {op[1]} {cause[1]}" if cause is not None else f"? {op[1]} ?")
    expected = re.findall(r"^// loss: (.*)$", read(path), re.M)
    if sorted(found) != sorted(expected):
        yield f"{path}: gpu-loss of {sorted(found)}, expected {sorted(expected)}"


def narrow(text, lines):
    """The text with scope(cta) at the end of these lines."""
    rows = text.split("\n")
    for line in lines:
        row, slash, comment = rows[line - 1].partition(" //")
        rows[line - 1] = row + " scope(cta)" + slash + comment
    return "\n".join(rows)


def check_file(grout, path, lines):
    """None: the file is not clean anyway; else what is wrong when it says scope(cta), or ''."""
    if call(grout, "check", "-q", path).returncode != 0:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".grout", encoding="utf-8") as file:
        file.write(narrow(read(path), lines))
        file.flush()
        done = call(grout, "check", "-q", file.name)
    return "" if done.returncode == 0 \
        else f"{path}: exit code {done.returncode}\n{done.stdout[-3000:]}{done.stderr[-1000:]}"


def main():
    parser = argparse.ArgumentParser()
    for name in ("grout", "list-narrow", "synchronised"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--drawn", type=int, default=600)
    arguments = parser.parse_args()
    paths = [path for folder in FOLDERS for path in sorted(glob.glob(os.path.join(ROOT, folder, "*.grout")))]
    with tempfile.TemporaryDirectory(prefix="grout-edges-") as folder:
        paths += draw(arguments.synchronised, arguments.drawn, folder)
        for stage in families.STAGES:
            paths += families.write_programs(os.path.join(folder, stage), stage)
        lines, names = list_narrow(arguments.list_narrow, paths)
        wrong = [fault for path in paths for fault in check_names(path, names[path])]
        wrong += [fault for path in sorted(glob.glob(os.path.join(HERE, "*.grout")))
                  for fault in check_losses(arguments.grout, path)]
        todo = sorted(lines)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            results = list(pool.map(lambda path: check_file(arguments.grout, path, lines[path]), todo))
        wrong += [result for result in results if result]
    print("\n".join(wrong))
    clean = sum(result is not None for result in results)
    print(f"{len(paths)} files, {len(todo)} with something to narrow, {clean} of them clean, {len(wrong)} faults")
    return 1 if wrong or clean < LEAST else 0


if __name__ == "__main__":
    sys.exit(main())
