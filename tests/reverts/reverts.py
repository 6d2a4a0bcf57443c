"""Puts mistakes back into grout, one at a time, and asks whether drawn kernels find them.

usage: reverts.py apply
       reverts.py find --work FOLDER [--compiler PATH] [--update] [NAME...]

patches/ and its folders, one a topic, have one patch for each mistake that grout once made and no longer makes. In the
head of each:

    mistake: what grout does wrong with it
    finder: a generator and its arguments, as in FINDERS below; there may be several

apply: each patch still applies, and the page docs/reverts.md lists each with its finders. Quick.
find: copies the tree to FOLDER and builds it there. No finder may find anything in it. Then, for each patch, builds
what is needed with it: each finder has to find at least one kernel. Without a name all; --update writes their rows into
the page.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import filecmp
import glob
import os
import re
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PATCHES = os.path.join(HERE, "patches")
PAGE = os.path.join(ROOT, "docs", "reverts.md")
TARGETS = ("grout_exe", "grout_expect", "check_random", "check_synchronised", "axioms_export", "ptx_litmus")
NOT_COPIED = (".git", "__pycache__")


class Failure(Exception):
    """What the caller has to read, as a sentence."""


# ---- generators ----------------------------------------------------------------------------------

PASSED = r"^(?P<good>\d+) passed, (?P<found>\d+) failed"


class Finder:
    """A program that draws kernels and says of how many the verdict is wrong."""

    def __init__(self, program, command, result):
        self.program, self.command, self.result = program, command, re.compile(result, re.MULTILINE)

    def run(self, folder, arguments):
        """(kernels drawn, kernels of which it says that the verdict is wrong)"""
        command = [word.format(build=os.path.join(folder, "build"), tests=os.path.join(folder, "tree", "tests"))
                   for word in self.command]
        done = subprocess.run(command + arguments, capture_output=True, text=True, errors="replace", check=False)
        counts = self.result.search(done.stdout)
        if not counts:
            raise Failure(f"no counts in what {self.program} prints:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        found = int(counts["found"] or 0)
        if (done.returncode != 0) != (found > 0):
            raise Failure(f"{self.program}: {found} found, and the exit code is {done.returncode}")
        drawn = int(counts["all"]) if "all" in counts.groupdict() else int(counts["good"]) + found
        return drawn, found


GROUT = ("--grout", "{build}/bin/grout")
FINDERS = {
    # right|mistakes KIND FIRST COUNT RUNS
    "synchronised": Finder("tests/random/check_synchronised.c", ("{build}/tests/random/check_synchronised",), PASSED),
    # KIND FIRST COUNT
    "random": Finder("tests/random/check_random.c", ("{build}/tests/random/check_random",), PASSED),
    # FIRST COUNT
    "lives": Finder("tests/random/check_lives.py", (sys.executable, "{tests}/random/check_lives.py", *GROUT), PASSED),
    # KIND FIRST COUNT
    "sharing": Finder("tests/random/check_sharing.py",
                      (sys.executable, "{tests}/random/check_sharing.py", *GROUT), PASSED),
    # KIND FIRST COUNT
    "crowds": Finder("tests/random/check_crowds.py",
                     (sys.executable, "{tests}/random/check_crowds.py", *GROUT), PASSED),
    # FIRST COUNT
    "clusters": Finder("tests/ptx_litmus/clusters.py",
                       (sys.executable, "{tests}/ptx_litmus/clusters.py", "--runner",
                        "{build}/tests/ptx_litmus/ptx_litmus"),
                       PASSED),
    # --first FIRST --count COUNT
    "certificates": Finder("tests/certificates/certificates.py",
                           (sys.executable, "{tests}/certificates/certificates.py", *GROUT),
                           r"^certificates: (?P<all>\d+) kernels, (?P<found>\d+) faults"),
    # --first FIRST --count COUNT
    "lists": Finder("tests/certificates/lists.py", (sys.executable, "{tests}/certificates/lists.py", *GROUT),
                    r"^lists: (?P<all>\d+) lists, (?P<found>\d+) faults"),
    # --first FIRST --count COUNT
    "releases": Finder("tests/certificates/releases.py", (sys.executable, "{tests}/certificates/releases.py", *GROUT),
                       r"^releases: (?P<all>\d+) lists, (?P<found>\d+) faults"),
    # --first FIRST --count COUNT
    "beside": Finder("tests/certificates/beside.py", (sys.executable, "{tests}/certificates/beside.py", *GROUT),
                     r"^beside: (?P<all>\d+) lists, (?P<found>\d+) faults"),
    # --first FIRST --count COUNT
    "parts": Finder("tests/certificates/parts.py", (sys.executable, "{tests}/certificates/parts.py", *GROUT),
                    r"^parts: (?P<all>\d+) kernels, (?P<found>\d+) faults"),
    # --kind KIND --first FIRST --count COUNT
    "choices": Finder("tests/certificates/choices.py", (sys.executable, "{tests}/certificates/choices.py", *GROUT),
                      r"^choices: (?P<all>\d+) kernels, (?P<found>\d+) faults"),
    # FIRST COUNT
    "advice": Finder("tests/advice/drawn.py", (sys.executable, "{tests}/advice/drawn.py", *GROUT), PASSED),
    # FIRST COUNT
    "equal_writes": Finder("tests/equal_writes/equal_writes.py",
                           (sys.executable, "{tests}/equal_writes/equal_writes.py", *GROUT),
                           r"^(?P<all>\d+) kernels: .*, (?P<found>\d+) kernels wrong"),
    # FIRST COUNT
    "index_overflow": Finder("tests/index_overflow/index_overflow.py",
                             (sys.executable, "{tests}/index_overflow/index_overflow.py", *GROUT),
                             r"^(?P<all>\d+) kernels: .*, (?P<found>\d+) kernels wrong"),
    # --interleavings N
    "facts": Finder("tests/edges/compare_facts.py", (sys.executable, "{tests}/edges/compare_facts.py", *GROUT),
                    r"^(?P<all>\d+) programs of .*, (?P<found>\d+) faults"),
    # --arch ARCH --count COUNT --interleavings N --check
    "drawn_ptx": Finder("tests/differential/ptx/drawn_ptx.py",
                        (sys.executable, "{tests}/differential/ptx/drawn_ptx.py", *GROUT, "--random",
                         "{build}/tests/random/check_random", "--synchronised",
                         "{build}/tests/random/check_synchronised"),
                        r"^(?P<good>\d+) agree in each of \d+ interleavings, \d+ left out, (?P<found>\d+) differ"),
    # --only WORD --first FIRST --count COUNT --interleavings N
    "drawn_races": Finder("tests/differential/ptx/drawn_races.py",
                          (sys.executable, "{tests}/differential/ptx/drawn_races.py", *GROUT, "--synchronised",
                           "{build}/tests/random/check_synchronised"),
                          r"^(?P<good>\d+) agree in each of \d+ interleavings, \d+ left out, (?P<found>\d+) differ"),
    # --first FIRST --count COUNT --interleavings N
    "explored": Finder("tests/differential/ptx/explored.py",
                       (sys.executable, "{tests}/differential/ptx/explored.py", *GROUT),
                       r"^(?P<good>\d+) agree in each of \d+ interleavings, \d+ left out, (?P<found>\d+) differ"),
    # FIRST COUNT
    "axioms": Finder("tests/axioms/judge.py",
                     (sys.executable, "{tests}/axioms/judge.py", *GROUT, "--export",
                      "{build}/tests/axioms/axioms_export", "drawn"),
                     r"^axioms: (?P<all>\d+) drawn kernels: (?:.*?(?P<found>\d+) wrong)?"),
}


# ---- patches -------------------------------------------------------------------------------------


def read(path):
    with open(path) as file:
        return file.read()


def list_hunks(part):
    """(lines before, lines after) of each hunk of one file."""
    hunks = []
    for hunk in re.split(r"^@@ .*\n", part.split("\n--- a/")[0] + "\n", flags=re.MULTILINE)[1:]:
        lines = hunk.rstrip("\n").split("\n")
        hunks.append(tuple("".join(line[1:] + "\n" for line in lines if line[:1] in kept) for kept in (" -", " +")))
    return hunks


class Patch:
    def __init__(self, path):
        self.path, self.name = path, os.path.basename(path)[:-len(".patch")]
        text = read(path)
        head = text.split("\n--- ", 1)[0] + "\n"
        mistakes = re.findall(r"^mistake: (.+)\n", head, re.MULTILINE)
        self.finders = [words.split() for words in re.findall(r"^finder: (.+)\n", head, re.MULTILINE)]
        self.files = {part.split("\n", 1)[0]: list_hunks(part) for part in text.split("\n+++ b/")[1:]}
        if len(mistakes) != 1 or not self.finders or not self.files or any(
                words[0] not in FINDERS for words in self.finders):
            raise Failure(f"{self.name}: its head is not 'mistake', 'finder'")
        self.mistake = mistakes[0]

    def make_texts(self, tree):
        """What each file is with the patch. The lines of a hunk may have moved, but have to be there, and once."""
        texts = {}
        for name, hunks in self.files.items():
            texts[name] = read(os.path.join(tree, name))
            for before, after in hunks:
                if texts[name].count("\n" + before) != 1:
                    raise Failure(f"{self.name} does not apply to {name}: renew it or, if grout cannot make the "
                                  "mistake any more, remove it")
                texts[name] = texts[name].replace("\n" + before, "\n" + after)
        return texts

    def apply(self, tree):
        for name, text in self.make_texts(tree).items():
            with open(os.path.join(tree, name), "w") as file:
                file.write(text)


def load_patches(names):
    paths = glob.glob(os.path.join(PATCHES, "**", "*.patch"), recursive=True)
    patches = [Patch(path) for path in sorted(paths, key=os.path.basename)]
    if len({patch.name for patch in patches}) < len(patches):
        raise Failure("two patches have one name")
    unknown = set(names) - {patch.name for patch in patches}
    if unknown or not patches:
        raise Failure(f"there is no patch {', '.join(sorted(unknown))}")
    return [patch for patch in patches if patch.name in names] if names else patches


# ---- the page ------------------------------------------------------------------------------------

HEAD = """# Mistakes put back

Mistakes that grout once made in its verdicts, and that the fixed tests of the time did not show. Each is a patch of a
few lines in `tests/reverts/patches/`. With the patch, grout is built and kernels are drawn: a generator has to find
the mistake without the kernel that showed it first. Found are kernels of which the generator says that the verdict,
an output or a clock is wrong; without the patch there is none. `check_synchronised` stops at the fifth. Written by
`make reverts`.

Other mistakes of that time are in no drawn kernel's verdict, and have fixed tests in `tests/cli/`: findings past
`--max-findings` that did not count, code that never ran and that the verdict did not name, limits of time, and files
that were written over.

Those of tensor memory that no drawn kernel shows have fixed tests in `tests/behaviour/`: a bool of which four
bytes were read, warnings about the order of MMAs that the tensor core keeps (slices of constant columns, f16 after
bf16), and columns that a scope of SMEM was taken to need.

| mistake | patch | generator | arguments | drawn | found |
|---|---|---|---|---|---|
"""
CELLS = re.compile(r"^\| (?P<mistake>.+?) \| `(?P<name>.+?)` \| \[.+?\]\(.+?\) \| `(?P<words>.+?)` \| (?P<drawn>\d+) "
                   r"\| (?P<found>\d+) \|$", re.MULTILINE)


def make_row(patch, words, drawn, found):
    program = FINDERS[words[0]].program
    return (f"| {patch.mistake} | `{patch.name}` | [{os.path.basename(program)}](../{program}) | "
            f"`{' '.join(words[1:])}` | {drawn} | {found} |")


def load_rows():
    """The rows of the page by patch."""
    rows = {}
    for cells in CELLS.finditer(read(PAGE) if os.path.exists(PAGE) else ""):
        rows.setdefault(cells["name"], []).append(cells[0])
    return rows


def write_page(rows):
    """rows: of some patches; those of the others stay."""
    rows = {**load_rows(), **rows}
    lines = [row for patch in load_patches([]) for row in rows.get(patch.name, [])]
    with open(PAGE, "w") as file:
        file.write(HEAD + "\n".join(lines) + "\n")


def check_page(patches):
    page = read(PAGE)
    rows = [(row["mistake"], row["name"], row["words"]) for row in CELLS.finditer(page) if int(row["found"]) > 0]
    wanted = [(patch.mistake, patch.name, " ".join(words[1:])) for patch in patches for words in patch.finders]
    if rows != wanted or not page.startswith(HEAD):
        raise Failure("docs/reverts.md is not of these patches: make reverts")


# ---- building ------------------------------------------------------------------------------------


def list_files(folder):
    for at, folders, names in os.walk(folder):
        folders[:] = [name for name in folders
                      if name not in NOT_COPIED and os.path.join(at, name) != os.path.join(folder, "build")]
        if "CMakeCache.txt" in names:
            folders[:], names = [], []  # a build
        for name in names:
            yield os.path.relpath(os.path.join(at, name), folder)


def copy_file(tree, name):
    """Only if it differs, so that only what depends on it is built again."""
    source, target = os.path.join(ROOT, name), os.path.join(tree, name)
    if not os.path.exists(target) or not filecmp.cmp(source, target, shallow=False):
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(source, target)


def copy_tree(tree):
    wanted = set(list_files(ROOT))
    for name in wanted:
        copy_file(tree, name)
    for name in set(list_files(tree)) - wanted if os.path.isdir(tree) else ():
        os.remove(os.path.join(tree, name))


class Workshop:
    """A copy of the tree, and its build."""

    def __init__(self, folder, compiler):
        self.folder, self.tree, self.build = folder, os.path.join(folder, "tree"), os.path.join(folder, "build")
        copy_tree(self.tree)
        options = ["-DCMAKE_BUILD_TYPE=Release", "-DGROUT_BUILD_TESTS=ON", "-DGROUT_BUILD_CLI=ON"]
        self.call(["cmake", "-S", self.tree, "-B", self.build, "-G", "Ninja", *options,
                   *([f"-DCMAKE_C_COMPILER={compiler}"] if compiler else [])])

    @staticmethod
    def call(command):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Failure(f"{' '.join(command)}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")

    def make(self):
        self.call(["cmake", "--build", self.build, "--parallel", str(os.cpu_count()), "--target", *TARGETS])

    def check_clean(self, patches):
        """A finder that finds something without a patch says nothing with one."""
        self.make()
        for words in sorted({tuple(words) for patch in patches for words in patch.finders}):
            _, found = FINDERS[words[0]].run(self.folder, list(words[1:]))
            if found:
                raise Failure(f"without a patch, {' '.join(words)} finds {found}")

    def find(self, patch):
        """The rows of the page; raises if a finder finds nothing."""
        try:
            patch.apply(self.tree)
            self.make()
            rows = []
            for words in patch.finders:
                drawn, found = FINDERS[words[0]].run(self.folder, words[1:])
                rows.append(make_row(patch, words, drawn, found))
                print(f"{patch.name}: {' '.join(words)}: {found} of {drawn}", flush=True)
        finally:
            for name in patch.files:
                copy_file(self.tree, name)
        if any(row.endswith("| 0 |") for row in rows):
            raise Failure(f"{patch.name}: not found")
        return rows


# ---- what is asked -------------------------------------------------------------------------------


def apply_all(patches):
    for patch in patches:
        patch.make_texts(ROOT)
    check_page(patches)
    print(f"reverts: {len(patches)} patches apply")


def find_all(arguments, patches):
    workshop = Workshop(os.path.abspath(arguments.work), arguments.compiler)
    workshop.check_clean(patches)
    rows, failures = {}, []
    for patch in patches:
        try:
            rows[patch.name] = workshop.find(patch)
        except Failure as failure:
            failures.append(str(failure))
            print(failure, flush=True)
    if arguments.update:
        write_page(rows)
    print(f"reverts: {len(patches) - len(failures)} found, {len(failures)} not found")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=("apply", "find"))
    parser.add_argument("names", nargs="*")
    parser.add_argument("--work")
    parser.add_argument("--compiler")
    parser.add_argument("--update", action="store_true")
    arguments = parser.parse_intermixed_args()
    if arguments.what == "find" and not arguments.work:
        parser.error("find needs --work")
    try:
        patches = load_patches(arguments.names)
        return apply_all(patches) if arguments.what == "apply" else find_all(arguments, patches)
    except Failure as failure:
        print(failure)
        return 1


if __name__ == "__main__":
    sys.exit(main())
