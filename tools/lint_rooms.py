#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the walls between the folders: who calls whom, by the objects of a build.

usage: lint_rooms.py BUILD_FOLDER [--graph]     a build without sanitizers, as the preset release

The folders and what each may use are the grout_room lines of the CMakeLists.txt. The compiler sees
that no header of another folder is included; this looks at what the objects use of each other:

- a folder uses nothing of a folder that its line does not name, directly or through one that it names;
- within a folder no cycle has more than CYCLE_MAX files;
- no folder of the repository has more than FILES_MAX files of its own, whatever their kind, those of a
  CATALOGUE apart;
- the root of the repository has the files of ROOT_FILES and no other: what a trial leaves there is easily committed;
- the table of folders in docs/architecture.md has every folder, and for those with rooms the folders that their lines
name;
- a folder whose line names HEADERS was compiled with no other public header, and with none of the IR.

--graph prints the folders, what they use, and their cycles.
"""
import argparse
import collections
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
from lint_files import ROOT, list_files, read

CYCLE_MAX = 8
PAGE = "docs/architecture.md"
FILES_MAX = 45
ROOT_FILES = {".clang-format", ".clang-tidy", ".editorconfig", ".gitattributes", ".gitignore", "CHANGELOG.md",
              "CMakeLists.txt", "CMakePresets.json", "CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", "mypy.ini",
              "ruff.toml"}
# Folders whose files of this kind are not counted, because each is found by its name alone, and what it is
# named after: as many of them as there are such things say nothing about topics in the folder.
CATALOGUES = {
    "kernels": ".grout",    # a kernel: what it computes, and on which hardware; docs and benches name it by its path
    "tests/ops": ".grout",  # a mnemonic: the recipe of an operation, completeness and ops.py look there
}
# What the compiler may have read of include/ for a folder that names HEADERS.
WITHOUT_IR = {"alloc.h", "ids.h", "num.h", "num_c.h", "spaces.h", "spaces.def", "facts.h", "facts.def", "events.h",
              "clocks.h", "diag.h", "diag.def", "diagnose.h", "ptx.h", "ptx_counts.h"}
# The folders whose CMakeLists.txt name rooms.
TOPS = ("base", "files", "ir", "lowering", "verify", "observe", "interp", "race_checker", "explore", "gpu_backend",
        "ptx", "call", "report", "check", "repair", "doors", "cli")

ROOM = re.compile(r"grout_room\(\s*([\w/]+)([^)]*)\)")
MODULE = re.compile(r"grout_module\(\s*(\w+)\s+ROOMS\s+([^)]*)\)")
KEYWORDS = ("DEPENDS", "HEADERS", "LIBRARIES", "DEFINITIONS", "SOURCES", "WITHOUT", "STANDALONE")
SYMBOL = re.compile(r"^(.*?):(?:[0-9a-f]+| +) (\w) (\S+)$")


def read_rooms():
    """folder -> the folders that its line names, folder -> the HEADERS that it names; a module's name
    means all of its rooms. A room of a program (STANDALONE) may also use the whole library."""
    rooms, modules, headers = {}, {}, {}
    for folder in TOPS:
        text = re.sub(r"#[^\n]*", "", read(f"{folder}/CMakeLists.txt"))
        for name, rest in ROOM.findall(text):
            words, section, named = rest.split(), None, collections.defaultdict(list)
            for word in words:
                section = word if word in KEYWORDS else section
                if word != section:
                    named[section].append(word)
            library = [top for top in TOPS if top != folder] if "STANDALONE" in words else []
            rooms[name] = named["DEPENDS"] + library
            if named["HEADERS"]:
                headers[name] = set(named["HEADERS"])
        for name, names in MODULE.findall(text):
            modules[name] = [f"{name}/{room}" for room in names.split()]
    return rooms, modules, headers


def close(rooms, modules):
    """folder -> all folders that it may use."""
    def expand(names):
        return {room for name in names for room in modules.get(name, [name])}
    allowed = {}
    for room in rooms:
        todo, seen = list(expand(rooms[room])), set()
        while todo:
            name = todo.pop()
            if name not in seen:
                seen.add(name)
                todo += expand(rooms.get(name, []))
        allowed[room] = seen
    return allowed


def list_objects(build, rooms):
    """Paths of objects -> (folder, file)."""
    targets = {"grout_" + room.replace("/", "_"): room for room in rooms}
    objects = {}
    for folder, _, files in os.walk(build):
        match = re.search(r"CMakeFiles/(grout_\w+)\.dir", folder)
        # In a folder '__' are sources of other folders that a program compiles once more for itself.
        if match and match.group(1) in targets and "__" not in folder.split(os.sep):
            for name in files:
                if name.endswith(".o"):
                    objects[os.path.join(folder, name)] = (targets[match.group(1)], name[:-2])
    return objects


def read_uses(objects):
    """file -> file -> the names that it uses of it; a file is (folder, name)."""
    listing = subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout
    defined, used = {}, collections.defaultdict(set)
    for line in listing.splitlines():
        match = SYMBOL.match(line)
        if match:
            path, kind, name = match.groups()
            if kind in "TDRBVW":
                defined[name] = objects[path]
            elif kind == "U":
                used[objects[path]].add(name)
    uses = {file: collections.defaultdict(set) for file in objects.values()}
    for file, names in used.items():
        for name in names:
            if name in defined and defined[name] != file:
                uses[file][defined[name]].add(name)
    return uses


def find_cycles(nodes, uses):
    """Strongly connected sets of more than one file (Tarjan), largest first."""
    order, low, stack, cycles = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in uses[node]:
            if other in nodes and other not in order:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], order[other])
        if low[node] == order[node]:
            cycle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(cycle) > 1:
                cycles.append(sorted(name for _, name in cycle))

    for node in sorted(nodes):
        if node not in order:
            visit(node)
    return sorted(cycles, key=len, reverse=True)


def faults_of_uses(uses, allowed):
    for (room, name), others in sorted(uses.items()):
        for (other, other_name), names in sorted(others.items()):
            if other != room and other not in allowed[room]:
                yield f"{room}/{name} uses {', '.join(sorted(names))} of {other}/{other_name}: {room} may not use " \
                    f"{other}"


def faults_of_cycles(rooms, uses):
    for room in rooms:
        for cycle in find_cycles({file for file in uses if file[0] == room}, uses):
            if len(cycle) > CYCLE_MAX:
                yield f"{room}: a cycle of {len(cycle)} files, {CYCLE_MAX} at most: {' '.join(cycle)}"


def faults_of_sizes():
    """Looks at what git tracks or could add, and is there."""
    counts = collections.Counter(os.path.dirname(name) for name in list_files()
                                 if os.path.splitext(name)[1] != CATALOGUES.get(os.path.dirname(name)))
    for folder, count in sorted(counts.items()):
        if count > FILES_MAX:
            yield f"{folder or '.'}: {count} files, {FILES_MAX} at most: give a topic a folder of its own"


def list_named(rooms):
    """folder -> the other folders that the lines of its rooms name."""
    named = {folder: set() for folder in TOPS}
    for room, others in rooms.items():
        top = room.split("/")[0]
        named[top] |= {other.split("/")[0] for other in others} - {top}
    return named


def faults_of_page(rooms):
    """The table of folders against the lines of the rooms and the folders of the repository."""
    rows = re.findall(r"^\| ((?:`[\w/-]+/` ?)+) \| .* \| (.*?) ?\|$", read(PAGE), re.MULTILINE)
    listed = {folder.rstrip("/"): uses for folders, uses in rows for folder in re.findall(r"`([\w/-]+)`", folders)}
    command = ["git", "-C", ROOT, "ls-tree", "-d", "--name-only", "HEAD"]
    folders = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    for folder in sorted(folder for folder in folders if not folder.startswith(".") and
                         os.path.isdir(os.path.join(ROOT, folder))):
        if not any(name.split("/")[0] == folder for name in listed):
            yield f"{PAGE}: the table of folders lacks '{folder}/'"
    for folder, others in list_named(rooms).items():
        said = set(re.findall(r"`([\w/-]+)`", listed.get(folder, "").split(";")[0])) & set(TOPS)
        if said != others and folder != "cli":  # a program has the whole library
            yield f"{PAGE}: {folder}/ names {', '.join(sorted(others)) or 'none'}, and the table says " \
                f"{', '.join(sorted(said)) or 'none'}"


def faults_of_headers(build, objects, headers):
    """By what ninja knows of the objects: the files that the compiler read for each."""
    for path, (room, name) in sorted(objects.items()):
        if room not in headers:
            continue
        listing = subprocess.run(["ninja", "-C", build, "-t", "deps", os.path.relpath(path, build)],
                                 capture_output=True, text=True, check=True).stdout
        read = set(re.findall(r"/grout(?:-internal)?/([\w.]+)$", listing, re.MULTILINE))
        if "deps not found" in listing:
            yield f"{room}/{name}: ninja does not know what it includes"
        for header in sorted(read - (headers[room] & WITHOUT_IR)):
            why = "is of the IR" if header in headers[room] else f"is not among the HEADERS of {room}"
            yield f"{room}/{name} includes grout/{header}, which {why}"


def faults_of_root():
    files = {path for path in list_files() if "/" not in path}
    for name in sorted(files - ROOT_FILES):
        yield f"{name}: no file belongs in the root that ROOT_FILES of tools/lint_rooms.py does not name"
    for name in sorted(ROOT_FILES - files):
        yield f"{name}: ROOT_FILES of tools/lint_rooms.py names a file that is not there"


def print_graph(rooms, uses):
    for room in rooms:
        files = {file for file in uses if file[0] == room}
        counts = collections.Counter(other for file in files for other, _ in uses[file] if other != room)
        used = ", ".join(f"{other} {count}" for other, count in sorted(counts.items()))
        print(f"{room} ({len(files)} files) -> {used or 'nothing'}")
        for cycle in find_cycles(files, uses):
            print(f"    cycle: {' '.join(cycle)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--graph", action="store_true", help="print the graph")
    args = parser.parse_args()
    sys.setrecursionlimit(10000)
    rooms, modules, headers = read_rooms()
    objects = list_objects(args.build, rooms)
    if not objects:
        sys.exit(f"lint_rooms: no objects in {args.build}")
    uses = read_uses(objects)
    if args.graph:
        print_graph(rooms, uses)
    faults = [*faults_of_uses(uses, close(rooms, modules)), *faults_of_cycles(rooms, uses), *faults_of_sizes(),
              *faults_of_root(), *faults_of_headers(args.build, objects, headers), *faults_of_page(rooms)]
    for fault in faults:
        print(fault)
    print(f"lint_rooms: {len(rooms)} folders, {len(objects)} files, {len(faults)} faults")
    return len(faults) > 0


if __name__ == "__main__":
    sys.exit(main())
