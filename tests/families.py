"""Families of programs: a kernel, and programs that change lines of it. tests/litmus, tests/behaviour,
tests/corpus and kernels/bugs have them.

A file FOLDER/NAME.family is several programs FOLDER/PROGRAM.grout:

    // family: TOPIC
    // source: PTX ISA 9.1, "mbarrier.arrive"
    // run: --arch sm_100a                             if that is so for all, as is '// holds: SCHEDULES'
    kernel @k(..) threads(wg = 2)
    {
      ..
        store %m, (broadcast 1.0 : f32[64])            <store>
        barrier_arrive %b[0]                           <arrive>
      ..
    }

    PROGRAM: what is tried
      ordered, why
    PROGRAM: what is tried
      gmem-race at <store> with <load>, why | source, if it is another one
      without <arrive>
      before <store>: barrier_arrive %b[0]

A program is the kernel without its labels, with what its paragraph says:

    without <a>, <b>..<c>    these lines are left out
    <a>: LINE                LINE in the place of this line; '...' in it is the line itself
    <a>..<b>: LINE           LINE in the place of all lines from <a> to <b>
    before <a>: LINE         LINE is one more
    after <a>: LINE
    run: OPTIONS             of this program alone
    holds: SCHEDULES         what is expected of the certificate
    source: SOURCE           where the line of the ruling has no place for it

More lines of the same are indented deeper. The finding is expected 'at' the lines of the kernel that the ruling names
(an error, or 'warned at' a warning) and has a note at those 'with' which it is; a line that the paragraph writes says
so itself. A source that begins with a quotation mark is of PTX ISA 9.1.

usage: families.py STAGE FOLDER      writes all programs of a stage into the folder, whose other files go

A family of tests/behaviour begins with '// family' and has no source. What its programs are about may have more
lines, indented by four, and the ruling is 'clean' or the code of the finding and its places.

A family of tests/corpus is such a one, and has a line '// corpus: ENTRY LINK' and the programs NAME.bug and NAME.fix.

A family of kernels/bugs is such a one, too. Its kernel is a file of its own, without the comments that it begins with,
and the labels follow; '@2' is the second line that reads so:

    // family
    // of: kernels/FILE.grout
    <store>: store %m, %sum
    <last wait>: barrier_wait %done @2

SPDX-License-Identifier: Apache-2.0
"""
import collections
import itertools
import os
import re
import shutil
import sys
import textwrap

import kernel_lists

TESTS = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(TESTS)
FOLDERS = {"behaviour": "tests/behaviour", "corpus": "tests/corpus", "litmus": "tests/litmus", "bugs": "kernels/bugs"}
STAGES = tuple(FOLDERS)
PTX = "PTX ISA 9.1, "
LABELLED = re.compile(r"(.*?)\s*<([a-z0-9 -]+)>$")
LABEL = re.compile(r"<([a-z0-9 -]+)>: (.+?)(?: @(\d+))?$")
TITLE = re.compile(r"([a-z0-9_-]+(?:\.bug|\.fix)?): (.+)$")
PLACES = r"<[^>]+>(?:\.\.<[^>]+>)?(?:, <[^>]+>(?:\.\.<[^>]+>)?)*"
RULING = re.compile(rf"([a-z-]+)(?: (warned )?at ({PLACES}))?(?: with ({PLACES}))?(?:, (.+?))?(?: \| (.+))?$")
RANGE = re.compile(r"<([^>]+)>(?:\.\.<([^>]+)>)?")
ENTRY = re.compile(r"(before |after |)(<[^>]+>(?:\.\.<[^>]+>)?): (.+)$")

# name: FOLDER/PROGRAM.grout; file: what it is written in, both relative to the stage.
Program = collections.namedtuple("Program", "name text file")


class FamilyError(Exception):
    """A family says what cannot be."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


class Family:
    """The head and the kernel of a family, and the paragraphs of its programs."""

    def __init__(self, text, file):
        self.file = file
        self.topic, self.source, self.options, self.is_of_litmus, self.is_of_file = None, None, [], True, False
        self.entry, self.holds = None, []  # of the corpus; of all programs
        self.lines, self.labels, self.used = [], {}, set()
        self.paragraphs = []
        for line in text.splitlines():
            self.read_line(line)
        if (self.topic is None and self.is_of_litmus) or not self.paragraphs:
            raise FamilyError(f"{file}: no '// family: TOPIC', or no program")

    def read_line(self, line):
        title = TITLE.match(line)
        if title:
            self.paragraphs.append((title.group(1), title.group(2), []))
        elif self.paragraphs:
            if line.strip():
                self.paragraphs[-1][2].append(line)
        elif line.startswith("// ") and not self.lines:
            self.read_head(line)
        elif self.is_of_file:
            self.read_label(line)
        else:
            self.read_kernel(line)

    def read_head(self, line):
        key, _, value = line[3:].partition(": ")
        if key == "family" and not value:
            self.is_of_litmus = False
        elif key == "family":
            self.topic = value
        elif key == "source":
            self.source = value
        elif key == "corpus":
            self.entry = value
        elif key == "run":
            self.options.append(value)
        elif key == "holds":
            self.holds.append(value)
        elif key == "of":
            self.is_of_file = True
            lines = read(os.path.join(ROOT, value)).splitlines()
            self.lines = list(itertools.dropwhile(lambda line: line.startswith("//"), lines))
        else:
            raise FamilyError(f"{self.file}: '{line}' is none of family, source, corpus, run, holds and of")

    def read_label(self, line):
        """A label of the family, for a line of the kernel that is a file."""
        match = LABEL.match(line)
        if line and not match:
            raise FamilyError(f"{self.file}: '{line}' is no label")
        if match:
            label, text, which = match.groups()
            found = [number for number, other in enumerate(self.lines) if other.strip() == text]
            if not (which or len(found) == 1) or not 0 < int(which or 1) <= len(found):
                raise FamilyError(f"{self.file}: {len(found)} lines read '{text}'")
            self.add_label(label, found[int(which or 1) - 1])

    def add_label(self, label, number):
        if label in self.labels:
            raise FamilyError(f"{self.file}: <{label}> is two lines")
        self.labels[label] = number

    def read_kernel(self, line):
        labelled = LABELLED.match(line)
        if labelled:
            line, label = labelled.groups()
            self.add_label(label, len(self.lines))
        self.lines.append(line.strip())

    def find(self, label):
        if label not in self.labels:
            raise FamilyError(f"{self.file}: there is no <{label}>")
        self.used.add(label)
        return self.labels[label]

    def find_range(self, text):
        first, last = RANGE.match(text).groups()
        numbers = range(self.find(first), self.find(last or first) + 1)
        if not numbers:
            raise FamilyError(f"{self.file}: {text} begins after it ends")
        return numbers

    def make_programs(self):
        folder = os.path.dirname(self.file)
        programs = [Program(os.path.join(folder, name + ".grout"), Paragraph(self, name, *said).write(), self.file)
                    for name, *said in self.paragraphs]
        twice = sorted({name for name, _, _ in self.paragraphs if [p[0] for p in self.paragraphs].count(name) > 1})
        if twice:
            raise FamilyError(f"{self.file}: {twice} are two programs")
        unused = sorted(set(self.labels) - self.used)
        if unused:
            raise FamilyError(f"{self.file}: no program names {unused}")
        return programs


def join_entries(lines):
    """Each entry with its lines: those that are indented deeper belong to the one before."""
    entries = []
    for line in lines:
        if line.startswith("   "):
            entries[-1].append(line.strip())
        else:
            entries.append([line.strip()])
    return entries


class Paragraph:
    """One program of a family."""

    def __init__(self, family, name, what, lines):
        self.family, self.name, self.what = family, name, what
        self.source, self.options = family.source, list(family.options)
        self.texts = {}   # line of the kernel: the lines in its place
        self.before, self.after = {}, {}
        self.marks = {}   # line of the kernel: what is expected there
        self.holds = list(family.holds)
        entries = join_entries(self.read_more(lines))
        if not entries:
            self.fail("no ruling")
        self.read_ruling(entries[0][0])
        for entry in entries[1:]:
            self.read_entry(entry)

    def fail(self, message):
        raise FamilyError(f"{self.family.file}: {self.name}: {message}")

    def read_more(self, lines):
        """The lines after those that say more of what is tried."""
        count = 0
        while count < len(lines) and lines[count].startswith("    "):
            self.what += " " + lines[count].strip()
            count += 1
        return lines[count:]

    def read_ruling(self, line):
        match = RULING.match(line)
        if not match:
            self.fail(f"'{line}' is no ruling")
        self.ruling, warned, at, peers, self.why, source = match.groups()
        self.set_source(source)
        for places, kind in ((at, "warning" if warned else "error"), (peers, "note")):
            for label, _ in RANGE.findall(places or ""):
                self.marks[self.family.find(label)] = f"  // expect-{kind}: {self.ruling}"

    def set_source(self, source):
        if source:
            self.source = PTX + source if source.startswith('"') else source

    def read_entry(self, entry):
        key, _, value = entry[0].partition(": ")
        if key == "source":
            self.set_source(value)
        elif key == "run":
            self.options.append(value)
        elif key == "holds":
            self.holds.append(value)
        elif entry[0].startswith("without "):
            if not re.fullmatch(PLACES, entry[0][len("without "):]) or len(entry) > 1:
                self.fail(f"'{' '.join(entry)}' names no line, or more than lines")
            for match in RANGE.finditer(entry[0]):
                self.put(self.family.find_range(match.group(0)), [])
        else:
            self.read_change(entry)

    def read_change(self, entry):
        match = ENTRY.match(entry[0])
        if not match:
            self.fail(f"'{entry[0]}' is no change")
        where, places, first = match.groups()
        numbers = self.family.find_range(places)
        lines = [first, *entry[1:]]
        if where:
            beside = self.before if where == "before " else self.after
            if numbers[0] in beside or len(numbers) > 1:
                self.fail(f"{where}{places} is said twice, or of a range")
            beside[numbers[0]] = lines
        else:
            old = self.family.lines[numbers[0]]
            lines = [line.replace("...", old.strip()) for line in lines]
            self.put(numbers, [old[:len(old) - len(old.lstrip())] + lines[0], *lines[1:]])

    def put(self, numbers, lines):
        for number in numbers:
            if number in self.texts:
                self.fail(f"'{self.family.lines[number]}' is changed twice")
            self.texts[number] = lines if number == numbers[0] else []

    def list_lines(self):
        for number, line in enumerate(self.family.lines):
            if number in self.marks and number in self.texts:
                self.fail(f"'{line}' is changed, and the ruling names it")
            yield from self.before.get(number, [])
            yield from self.texts.get(number, [line + self.marks.get(number, "")])
            yield from self.after.get(number, [])

    def write(self):
        if self.family.is_of_litmus:
            head = [f"// litmus: {self.family.topic}: {self.what}",
                    f"// ruling: {self.ruling}" + (f", {self.why}" if self.why else ""), f"// source: {self.source}"]
        else:
            head = [f"// corpus: {self.family.entry}"] if self.family.entry else []
            head += textwrap.wrap(self.what, 120, initial_indent="// ", subsequent_indent="// ",
                                  break_long_words=False, break_on_hyphens=False)
        head += [f"// run: {options}" for options in self.options]
        head += ["// expect: clean"] if self.ruling in ("ordered", "clean") else []
        head += [f"// expect-holds: {schedules}" for schedules in self.holds]
        return "".join(line + "\n" for line in head + indent(self.list_lines())).rstrip("\n") + "\n"


def indent(lines):
    """The lines as 'grout fmt' indents them: by their braces. Those of a file have their spaces."""
    out, depth, is_header = [], 0, False
    for line in lines:
        code = line.partition("//")[0].strip()
        depth -= code.startswith("}")
        is_header = is_header and code != "{"
        out.append(line if line.startswith(" ") else ("    " if is_header else "  " * depth) + line if line else "")
        depth += code.endswith("{")
        is_header = (line.startswith("kernel ") or is_header) and not code.endswith("{")
    return out


def list_files(place, ending):
    return sorted(os.path.relpath(os.path.join(folder, name), place) for folder, _, names in os.walk(place)
                  for name in names if name.endswith(ending))


def list_programs(stage="litmus"):
    """All programs of a stage, those with a file of their own and those of families, by the name of the program."""
    place = os.path.join(ROOT, FOLDERS[stage])
    programs = [Program(name, read(os.path.join(place, name)), name) for name in list_files(place, ".grout")]
    for file in list_files(place, ".family"):
        programs += Family(read(os.path.join(place, file)), file).make_programs()
    names = collections.Counter(program.name for program in programs)
    twice = [name for name, count in names.items() if count > 1]
    if twice:
        raise FamilyError(f"{twice} are two programs")
    return sorted(programs, key=lambda program: (os.path.basename(program.name), program.name))


def get_name(path):
    """The path from the folder of the tests, or from the root if it is not in there."""
    return os.path.relpath(path, TESTS if os.path.abspath(path).startswith(TESTS + os.sep) else ROOT)


def read_kernel(path):
    """The text of a kernel: of a file, or of the program of a family, by the path of a file of its own."""
    folder, wanted = os.path.split(path)
    for name in sorted(os.listdir(folder)) if not os.path.exists(path) else ():
        if name.endswith(".family"):
            file = os.path.join(folder, name)
            for program in Family(read(file), get_name(file)).make_programs():
                if os.path.basename(program.name) == wanted:
                    return program.text
    return read(path)


def write(programs, folder):
    """Each program as a file of its own. The paths."""
    for program in programs:
        path = os.path.join(folder, program.name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(program.text)
        yield path


def write_programs(folder, stage="litmus"):
    """All programs of a stage as files, in folders as there. The paths."""
    return list(write(list_programs(stage), folder))


def find_kernels(paths, folder):
    """The .grout files of these files and folders; programs of families are written into the folder, by get_name."""
    for path in paths:
        if os.path.isfile(path):
            yield path
        for place, folders, names in os.walk(path):
            folders[:] = sorted(set(folders) - {".git", "build"})
            for name in sorted(names):
                file = os.path.join(place, name)
                if name.endswith(".grout"):
                    yield file
                elif name.endswith(".family"):
                    yield from write(Family(read(file), get_name(file)).make_programs(), folder)


def sort_kernels(paths, folder):
    """The same by name, each beside those of its folder."""
    names = {path: os.path.relpath(path, folder) if path.startswith(folder + os.sep) else get_name(path)
             for path in find_kernels(paths, folder)}
    return sorted(names, key=names.__getitem__)


def link_others(place, left_out, into):
    """Links to all in a folder but this."""
    os.makedirs(into, exist_ok=True)
    for name in sorted(set(os.listdir(place)) - set(left_out)):
        os.symlink(os.path.join(place, name), os.path.join(into, name))


def lay_out(folder):
    """Makes the folder like the root of the repository, by links, but programs of families, and kernels of lists, are
    files. The folder."""
    link_others(ROOT, ("tests", "kernels", "build", ".git"), folder)
    link_others(os.path.join(ROOT, "kernels"), ("bugs",), os.path.join(folder, "kernels"))
    link_others(TESTS, (*STAGES, "differential"), os.path.join(folder, "tests"))
    differential = os.path.join(folder, "tests", "differential")
    link_others(os.path.join(TESTS, "differential"), (), differential)
    for _ in kernel_lists.write_kernels(differential):
        pass
    for stage in STAGES:
        write_programs(os.path.join(folder, FOLDERS[stage]), stage)
    return folder


def main():
    stage, folder = sys.argv[1:]
    shutil.rmtree(folder, ignore_errors=True)
    write_programs(folder, stage)


if __name__ == "__main__":
    main()
