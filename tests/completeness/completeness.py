"""Completeness: what 'grout ops' lists is tested in three ways: every operation, attribute and choice, and
every attribute on each operation that takes it.

- A golden runs it: a file of tests/golden/ whose RUN line is 'grout check' or 'grout run', and whose
  kernel is a valid one. The golden's own test compares what comes out.
- A golden holds its CUDA text: its RUN line is 'grout emit'.
- A generator draws it, within the numbers that its own test runs. That test knows what the kernel
  computes or that it is free of races; random/values also fails if no result of a drawn operation
  is compared.

A file of tests/ops/ is all three: tests/ops/ops.py compares its check and its CUDA, and draws from it. It
is a golden of the CUDA for the operations whose statements it shows.

list_used reads the kernels with grout's own parser, so a name in a comment counts for nothing.

usage: completeness.py --grout PATH --list-used PATH --random PATH --synchronised PATH [--verbose]

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are source trees

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
sys.path.insert(0, TESTS)
sys.path.insert(0, os.path.join(TESTS, "certificates"))
sys.path.insert(0, os.path.join(TESTS, "ops"))

import certificates
import run_golden
import running  # type: ignore[import-not-found]  # of tests/certificates: for lint_types.py in another part
import shown
import stale

# The numbers that tests/random/CMakeLists.txt and tests/certificates run without the label slow.
RANDOM = (("table", 1, 300, 1), ("values", 1, 400, 1), ("copies", 1, 200, 1), ("wgmma", 1, 150, 1),
          ("mma", 1, 150, 1), ("groups", 1, 100, 1), ("updates", 1, 300, 1),
          ("tcgen05", 1, 80, 1), ("forms", 0, 424, 29))
SYNCHRONISED = (("rings", 1, 500), ("clusters", 1, 500), ("grids", 1, 500),
                ("tensors", 1, 300), ("rows", 1, 250), ("meetings", 1, 125), ("cancels", 1, 300),
                ("pairs", 1, 150))
CERTIFICATES = range(1, 1001)

RUN, CUDA, DRAWN = "run", "cuda", "drawn"
WHERE = {
    RUN: ("no golden runs it", "write tests/ops/ for it, or add it to a kernel in tests/golden/run/"),
    CUDA: ("no golden holds its CUDA text",
           "write tests/ops/ for it, or add it to a kernel in tests/golden/cuda/text/"),
    DRAWN: ("no generator draws it", "write tests/ops/ for it, or draw it in tests/random/ or tests/certificates/"),
}
# (way, kind, name): why not. One that is no longer needed fails the test.
EXCEPTIONS = {
}


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command[:4])}: exit code {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
                 + stale.explain(command[0]))
    return done.stdout


def list_wanted(grout):
    """Each (kind, name) of the op table, in its order."""
    wanted = [("op", line.split()[0]) for line in call(grout, "ops").splitlines()]
    page = call(grout, "ops", "--markdown")
    op = None
    for heading, text in re.findall(r"^### (\w+)$|^- attribute `([^`]+)`", page, re.M):
        op = heading or op
        if heading:
            continue
        name, _, argument = text.partition("(")
        entries = [("attribute", name), ("pair", f"{op} {name}")]
        if "|" in argument:
            entries += [("choice", f"{name}({choice.strip()})") for choice in argument.rstrip(")").split("|")]
        wanted += [entry for entry in entries if entry not in wanted]
    kinds = collections.Counter(kind for kind, _ in wanted)
    if len(wanted) != len(set(wanted)) or min(kinds[kind] for kind in ("op", "attribute", "choice", "pair")) < 2:
        sys.exit(f"'grout ops' is not understood: it lists {dict(kinds)}")
    return wanted


def list_used(tool, files):
    """Each (kind, name) that the files use, with the files."""
    used = collections.defaultdict(list)
    for line in call(tool, *files).splitlines() if files else ():
        path, kind, name, _ = line.split("\t")
        used[kind, name].append(path)
    return used


def find_goldens(commands):
    """The goldens of valid kernels whose RUN line has one of these commands."""
    found = []
    for folder, folders, names in os.walk(os.path.join(TESTS, "golden")):
        folders[:] = [name for name in folders if name != "data"]
        for name in sorted(names):
            path = os.path.join(folder, name)
            if name.endswith(".grout"):
                keys = run_golden.read_keys(run_golden.read_text(path).partition(run_golden.OUTPUT_MARK)[0], path)
                words = keys["RUN"].split()
                if words[1] in commands and "%s" in words and keys["EXIT"] in "01":
                    found.append(path)
    return found


def find_cuda():
    """The kernels whose CUDA text is a golden."""
    return find_goldens({"emit"})


def draw_files(arguments, folder):
    """A file for each kind of drawn kernels."""
    texts = {}
    for kind, first, count, stride in RANDOM:
        texts[kind] = call(arguments.random, kind, str(first), str(count), str(stride), "print")
    for kind, first, count in SYNCHRONISED:
        texts[kind] = call(arguments.synchronised, "print", kind, str(first), str(count))
    for kind, text in texts.items():
        parts = text.split("kernel @drawn(")
        texts[kind] = parts[0] + "".join(f"kernel @drawn{i}({part}" for i, part in enumerate(parts[1:]))
    # Only kernels of which the test knows what there is to find; the others need not be valid.
    # For lint_types.py the name is the folder, not the script in it.
    draw_kernel = certificates.draw_kernel  # type: ignore[attr-defined]
    drawn = [draw_kernel(number) for number in CERTIFICATES]
    texts["certificates"] = running.make_file([kernel for kernel in drawn if kernel.is_right])[0]
    for kind, text in texts.items():
        with open(os.path.join(folder, kind), "w", encoding="utf-8") as file:
            file.write(text)
    return [os.path.join(folder, kind) for kind in texts]


def cut_ops(folder):
    """The kernels of tests/ops/, each without @expected, which is no test of what it uses."""
    paths = []
    for path in sorted(glob.glob(os.path.join(TESTS, "ops", "*.grout"))):
        text = run_golden.read_text(path).partition("// ---- ")[0]
        paths.append(os.path.join(folder, "ops-" + os.path.basename(path)))
        with open(paths[-1], "w", encoding="utf-8") as file:
            file.write(text.partition("kernel @expected")[0])
    return paths


def list_shown(tool, cut):
    """What list_used says of the kernels of tests/ops/, of the operations whose CUDA their files show."""
    words = {path: shown.read_words(run_golden.read_text(path), os.path.basename(path)[len("ops-"):-len(".grout")])
             for path in cut}
    used = collections.defaultdict(list)
    for (kind, name), paths in list_used(tool, cut).items():
        op, _, argument = name.partition(" ")
        paths = [path for path in paths if op in words[path] or shown.WHOLE in words[path]]
        if paths and kind in ("op", "pair", "chosen"):
            for entry in ((kind, name), ("attribute" if kind == "pair" else "choice", argument)):
                used[entry] += paths
    return used


def describe(kind, name):
    if kind == "pair":
        op, attribute = name.split()
        return f"op '{op}' with attribute '{attribute}'"
    return f"{kind} '{name}'"


def list_holes(wanted, used):
    """One line for each hole, and for each exception that is none."""
    lines = []
    for kind, name in wanted:
        for way, (what, repair) in WHERE.items():
            if (kind, name) not in used[way] and (way, kind, name) not in EXCEPTIONS:
                lines.append(f"{describe(kind, name)}: {what}: {repair}")
    for way, kind, name in EXCEPTIONS:
        if (kind, name) not in wanted:
            lines.append(f"{describe(kind, name)}: there is none: remove it from EXCEPTIONS")
        elif (kind, name) in used[way]:
            file = os.path.basename(used[way][kind, name][0])
            lines.append(f"{describe(kind, name)}: {file} has it: remove ('{way}', ..) from EXCEPTIONS")
    return lines


def main():
    parser = argparse.ArgumentParser()
    for name in ("grout", "list-used", "random", "synchronised"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--verbose", action="store_true", help="also list where each one is")
    arguments = parser.parse_args()
    wanted = list_wanted(arguments.grout)
    with tempfile.TemporaryDirectory(prefix="grout-completeness-") as folder:
        ops = cut_ops(folder)
        files = {RUN: find_goldens({"check", "run"}) + ops, CUDA: find_cuda(),
                 DRAWN: draw_files(arguments, folder) + ops}
        used = {way: list_used(arguments.list_used, paths) for way, paths in files.items()}
        for entry, paths in list_shown(arguments.list_used, ops).items():
            used[CUDA][entry] += paths
    if arguments.verbose:
        for kind, name in wanted:
            for way, places in used.items():
                print(f"{describe(kind, name)}, {way}:",
                      " ".join(os.path.basename(path) for path in places[kind, name]))
    lines = list_holes(wanted, used)
    print("\n".join(lines + [""]), end="")
    kinds = collections.Counter(kind for kind, _ in wanted)
    print(", ".join(f"{count} {kind}s" for kind, count in kinds.items()) + f": {len(lines)} holes, "
          f"{len(EXCEPTIONS)} exceptions; " + ", ".join(f"{way}: {len(paths)} files" for way, paths in files.items()))
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
