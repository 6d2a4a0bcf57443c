"""Which tests a change reaches, by the graph of a build and by what the tests name.

SPDX-License-Identifier: Apache-2.0

A test is reached at once if its program has an object that the change compiles anew, if its script lies beside what
changed, or if its command names it or a folder of it. A file of the library reaches the unit tests of its room, and
QUICK.
"""
import collections
import json
import os
import re
import subprocess

# What every change of the library is tried with: goldens, verdicts of all behaviour files, the command from outside.
QUICK = re.compile(r"(golden|terminal|readme|exports|limits)/.*|behaviour/all|reverts/apply|completeness/.*|"
                   r"docs/(links|gluon)|cli/(exit_codes|usage|help|pages|expect|fmt|json|formats|stdin|outputs|"
                   r"fix_(writes|words|commits)|verdict_(all_findings_count|causes_first|proposals|used_once))")
# What compares pages with what the command says.
PAGES = re.compile(r"docs/(links|examples|gluon)|cli/(pages|help)|readme/.*|limits/listed")
LEFT_OUT = {"slow", "gpu", "nvrtc", "python"}  # labels of what CI is asked for
NOT_LIBRARY = ("tests", "bench", "tools", "docs", "kernels", "python", "editors", "cmake", "deps", ".ci")
TOO_BROAD = {"", ".", "tests", "tools", "build"}
READERS_FEW = 8  # objects that may read a header, and only the programs of its tests are built
UNKNOWN = 2.0  # seconds of a test that has not run yet

Test = collections.namedtuple("Test", "name words folder labels seconds")
Chosen = collections.namedtuple("Chosen", "tests targets notes")


def is_code(path):
    return path.endswith((".c", ".h", ".def", ".cuh", ".cpp"))


def is_library(path):
    return path.split("/")[0] not in NOT_LIBRARY and is_code(path)


def has_code(changed):
    return any(map(is_library, changed))


class Graph:
    """The objects, programs and tests of a build folder, which is configured."""

    def __init__(self, root, build):
        self.root, self.build = root, os.path.join(root, build)
        self.sources, self.programs = self._read_ninja()
        self.read_by = self._read_deps()
        self.tests = self._read_tests()

    def _name(self, path):
        """From the root of the repository, or None for what is not in it."""
        path = os.path.relpath(os.path.join(self.build, path), self.root)
        return None if path.startswith(("..", "build/")) else path

    def _read_ninja(self):
        """The source of each object, and the objects of each program."""
        sources, programs = {}, {}
        with open(os.path.join(self.build, "build.ninja"), encoding="utf-8") as file:
            for line in file:
                found = re.match(r"build ([^:|]+?)(?: \|[^:]*)?: (C(?:XX)?_\w+) ([^|]*)", line)
                if found and "_COMPILER__" in found[2]:
                    sources[found[1]] = self._name(found[3].split()[0])
                elif found and "_LINKER__" in found[2] and "STATIC_LIBRARY" not in found[2]:
                    programs[found[1]] = [word for word in found[3].split() if word.endswith(".o")]
        return sources, programs

    def _read_deps(self):
        """The objects that read a file: those that were compiled say it, and each its source."""
        read_by = collections.defaultdict(set)
        for item, source in self.sources.items():
            read_by[source].add(item)
        done = subprocess.run(["ninja", "-C", self.build, "-t", "deps"], capture_output=True, text=True, check=False)
        item = None
        for line in done.stdout.split("\n"):
            if line[:1].strip():
                item = line.split(":")[0]
            elif line.strip() and item in self.sources:
                read_by[self._name(line.strip())].add(item)
        return read_by

    def _read_costs(self):
        costs = {}
        path = os.path.join(self.build, "Testing", "Temporary", "CTestCostData.txt")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                for line in file:
                    words = line.split()
                    if len(words) == 3 and words[1] != "0":
                        costs[words[0]] = float(words[2])
        return costs

    def _read_tests(self):
        costs = self._read_costs()
        done = subprocess.run(["ctest", "--test-dir", self.build, "--show-only=json-v1"], capture_output=True,
                              text=True, check=True)
        tests = []
        for entry in json.loads(done.stdout)["tests"]:
            properties = {item["name"]: item["value"] for item in entry["properties"]}
            name, folder = entry["name"], properties.get("WORKING_DIRECTORY", self.build)
            tests.append(Test(name, entry.get("command", []), folder, set(properties.get("LABELS", [])),
                              costs.get(name, UNKNOWN)))
        return tests

    def list_places(self, test):
        """Files and folders of the repository that a test names; of a script its folder, where its modules are."""
        for word in test.words:
            path = self._name(os.path.join(test.folder, word.split("=")[-1]))
            if path is not None and os.path.exists(os.path.join(self.root, path)):
                yield path
                if path.endswith(".py") and os.path.dirname(path) not in TOO_BROAD:
                    yield os.path.dirname(path)

    def list_programs(self, test):
        """Those of the build that its command has."""
        for word in test.words:
            path = os.path.relpath(os.path.join(test.folder, word), self.build)
            if path in self.programs:
                yield path

    def list_programs_with(self, path):
        """Programs that have an object of their own which reads this file."""
        readers = self.read_by.get(path, ())
        return {program for program, items in self.programs.items() if any(item in readers for item in items)}


def list_includers(graph, changed):
    """The sources that include a changed header by its name, those of its folder first."""
    found = set()
    for header in (path for path in changed if path.endswith((".h", ".def"))):
        word = re.compile(r'#include [<"](?:[\w./-]*/)?' + re.escape(os.path.basename(header)) + '[>"]')
        for source in {graph.sources[item] for item in graph.read_by.get(header, ())} - {None}:
            with open(os.path.join(graph.root, source), encoding="utf-8") as file:
                if source.endswith(".c") and word.search(file.read()):
                    found.add((os.path.dirname(source) != os.path.dirname(header), source))
    return [source for _, source in sorted(found)]


def is_at(path, place):
    return place not in TOO_BROAD and (path == place or path.startswith(place + "/"))


def is_page(path):
    return path.startswith("docs/") or path.endswith(".md")


def list_own(graph, changed):
    """Tests that are reached at once."""
    are_pages = any(map(is_page, changed))
    texts = [path for path in changed if not is_library(path)]
    programs = set().union(*(graph.list_programs_with(path) for path in texts if is_code(path)), set())
    for test in graph.tests:
        places = set(graph.list_places(test))
        golden = os.path.join("tests", "golden", test.name.split("/")[-1]) if test.name.startswith("golden/") else None
        if (programs.intersection(graph.list_programs(test)) or (are_pages and PAGES.fullmatch(test.name)) or
                any(is_at(path, place) for path in texts for place in {*places, golden} - {None})):
            yield test


def get_room(path):
    """The tables and headers of include/ are those of ir/core."""
    return "ir/core" if path.startswith("include/") else os.path.dirname(path)


def list_of_rooms(graph, changed):
    """The unit tests whose folder is named after the room of a changed file, or after the room around it."""
    rooms = {get_room(path) for path in changed if is_library(path)}
    for test in graph.tests:
        for program in graph.list_programs(test):
            folders = {os.path.dirname(graph.sources.get(item) or "") for item in graph.programs[program]}
            rooms_of_test = {folder[len("tests/unit/"):] for folder in folders if folder.startswith("tests/unit/")}
            if rooms_of_test.intersection(rooms) or rooms_of_test.intersection(room.split("/")[0] for room in rooms):
                yield test


def take(tests, seconds):
    """The cheapest, within this many seconds; and the names of the others."""
    taken, left, spent = [], [], 0.0
    for test in sorted(tests, key=lambda test: test.seconds):
        spent += test.seconds
        (taken if spent <= seconds else left).append(test.name)
    return taken, left


def choose(graph, changed, seconds):
    """The tests to run, the targets that they need (none: all), and what is left to CI, in words."""
    can_run = [test for test in graph.tests if not test.labels & LEFT_OUT]
    own = list(list_own(graph, changed))
    notes = []
    asked = sorted(test.name for test in own if test.labels & LEFT_OUT and not test.labels & {"slow", "gpu"})
    near = list(list_of_rooms(graph, changed))
    near += [test for test in can_run if QUICK.fullmatch(test.name)] if has_code(changed) else []
    names = {test.name for test in can_run}
    groups = [{test.name: test for test in group if test.name in names} for group in (own, near)]
    tests = []
    for group, words in zip(groups, ("that it reaches at once", "of its rooms and of the quick ones")):
        taken, left = take([test for name, test in group.items() if name not in tests], seconds)
        tests += taken
        if left:
            notes.append(f"left to CI, of the tests {words}: {', '.join(sorted(left))}")
    if asked:
        notes.append(f"left to CI, for what they need: {', '.join(asked)}")
    return Chosen(sorted(tests), list_targets(graph, changed, tests), notes)


def is_for_many(graph, path):
    """Whether a mistake in it may show in an object of any program."""
    if path.endswith("CMakeLists.txt"):
        return True
    return is_code(path) and not path.endswith(".c") and len(graph.read_by.get(path, ())) > READERS_FEW


def list_targets(graph, changed, names):
    """Everything where something was changed that many objects read."""
    if not has_code(changed) and not names:
        return ["grout_exe"]
    if any(is_for_many(graph, path) for path in changed):
        return []
    programs = {program for test in graph.tests if test.name in set(names) for program in graph.list_programs(test)}
    changed_programs = set().union(*(graph.list_programs_with(path) for path in changed
                                     if path.endswith(".c") and not is_library(path)), set())
    return sorted({"grout_exe", "grout_expect", *programs, *changed_programs})
