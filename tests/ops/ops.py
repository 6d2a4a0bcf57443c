"""One file for an operation: golden of its check and of its CUDA, template of drawn kernels.

usage: ops.py --grout PATH [--update] [--draws 12] [--draws-alone] [--every N] [FILE...]

Every file of tests/ops by default, with --every each N-th.

--draws-alone is for a command with sanitizers, which take long to start: no goldens, and two starts for each draw.
tests/ops/README.md says how a file is written. SPDX-License-Identifier: Apache-2.0
"""
import argparse
import difflib
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folders are source trees
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import shown
from kernel_headers import list_inputs, list_outputs

HERE = os.path.dirname(os.path.abspath(__file__))
# Against a hang only; a slow machine takes what it takes.
LIMIT_SECONDS = 1800
MARKS = ("check", "cuda")
DRAW = re.compile(r"^// DRAW: (.+)$", re.MULTILINE)
LAUNCH = re.compile(r"// kernel @\w+(.*?), \d+ lanes a thread")
EXTERN = re.compile(r"^// EXTERN: (\S+)$", re.MULTILINE)
RANGE = re.compile(r"(\w+) = (\d+)\.\.(\d+)$")


class FileError(Exception):
    """The file itself is wrong."""


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def split(text):
    """The kernel's text, and what is expected by mark."""
    parts = re.split(r"^// ---- (\w+) ----\n", text, flags=re.MULTILINE)
    return parts[0], dict(zip(parts[1::2], parts[2::2]))


def say_clean(kernel, launch, inputs):
    """What 'grout check' says of a kernel that is right, with every path taken."""
    drawn = f"; inputs {', '.join(f'%{name}: ints' for name in inputs)}" if inputs else ""
    return (f"@{kernel}: clean\n  covered: {launch or 'one CTA of one thread'}{drawn}; fair schedule, lazy timing\n"
            "  holds for every schedule and timing of this launch with these inputs\n")


def comment(text):
    return "".join(f"// {line}\n" if line else "//\n" for line in text.splitlines())


def call(grout, *words, cwd):
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("GROUT_", "CUDA_", "COLUMNS"))}
    done = subprocess.run([grout, *words], cwd=cwd, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, errors="replace", timeout=LIMIT_SECONDS, check=False)
    return done.returncode, done.stdout, done.stderr


def must(result, what):
    code, stdout, stderr = result
    if code != 0:
        raise FileError(f"{what}: exit code {code}\n{stdout}{stderr}")
    return stdout


def get_twin_cuda(path, name):
    """The mark 'cuda' of the file that '// CUDA: as NAME' names, with this mnemonic; None without such a line."""
    source, _ = split(read(path))
    twin, changes = shown.find_twin(source)
    if twin is None:
        return None
    _, marks = split(read(os.path.join(HERE, twin + ".grout")))
    return shown.rename(marks.get("cuda", ""), twin, name, changes)


class Template:
    """A file laid out in a folder of its own."""

    def __init__(self, path, folder, grout):
        self.name = os.path.basename(path)[:-len(".grout")]
        self.source, self.expected = split(read(path))
        self.folder, self.grout, self.file = folder, grout, self.name + ".grout"
        with open(os.path.join(folder, self.file), "w", encoding="utf-8") as file:
            file.write(self.source)
        self.outputs = dict(list_outputs(self.source))
        self.inputs = dict(list_inputs(self.source))
        self.kernels = list(self.outputs)
        if self.kernels != [self.name, "expected"]:
            raise FileError(f"the kernels are @{self.name} and @expected, not {self.kernels}")
        if not self.outputs[self.name] or self.outputs[self.name] != self.outputs["expected"]:
            raise FileError("both kernels have the same outputs, at least one")
        self.ranges = self.read_ranges()
        self.library, self.cuda = self.make_externs()

    def make_externs(self):
        """Options that name the functions of the EXTERN line: for the CPU, and for a GPU."""
        line = EXTERN.search(self.source)
        if not line:
            return [], []
        source = os.path.join(HERE, line.group(1))
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", "externs.so", source], cwd=self.folder,
                       check=True, timeout=LIMIT_SECONDS)
        with open(os.path.join(self.folder, line.group(1)), "w", encoding="utf-8") as file:
            file.write(read(source))
        return ["--extern", "externs.so"], ["--extern", line.group(1)]

    def read_ranges(self):
        line = DRAW.search(self.source)
        entries = [RANGE.match(entry.strip()) for entry in line.group(1).split(",")] if line else []
        if not entries or None in entries:
            raise FileError("no line '// DRAW: CONST = LOW..HIGH, ...'")
        ranges = {entry.group(1): (int(entry.group(2)), int(entry.group(3))) for entry in entries}
        if all(low >= high for low, high in ranges.values()):
            raise FileError("every const of the DRAW line has one value only: nothing is drawn")
        return ranges

    def call(self, *words):
        return call(self.grout, *words, cwd=self.folder)

    def get_check(self):
        code, stdout, stderr = self.call("check", self.file, *self.library)
        return comment(f"exit code {code}\n{stdout}{stderr}")

    def get_cuda(self, kernel):
        result = self.call("emit", self.file, "--kernel", "@" + kernel, *self.cuda)
        text = must(result, "emit")
        return text[text.rindex("\n// kernel @") + 1:]

    def get_shown_cuda(self):
        text = self.get_cuda(self.name)
        if not shown.has_statement(text, self.name):
            raise FileError(f"no statement of its CUDA has '{self.name}'")
        return comment(shown.cut(text, shown.read_words(self.source, self.name)))

    def get_launch(self, kernel):
        """The launch in the words of 'grout check'. The CUDA has it too, from another place."""
        words = LAUNCH.match(self.get_cuda(kernel)).group(1)
        return words.replace(" = ", "=").strip()

    def get_clean_check(self):
        """What a file without the mark 'check' says: both kernels are clean, whatever the schedule and the timing."""
        said = [say_clean(kernel, self.get_launch(kernel), self.inputs[kernel]) for kernel in self.kernels]
        return comment("exit code 0\n" + "\n".join(said))

    def draw(self, number):
        """Consts, and how the check runs: decided by the file's name and the number alone."""
        bits = int.from_bytes(hashlib.sha256(f"{self.name} {number}".encode()).digest(), "little")
        options = []
        for const, (low, high) in self.ranges.items():
            bits, value = divmod(bits, high - low + 1)
            options += ["-D", f"{const}={low + value}"]
        timing = ("lazy", "eager", "random")[number % 3]
        schedule = ("fair", "random")[number // 3 % 2]
        return options, ["--timing", timing, "--schedule", schedule, "--seed", str(bits % 1000 + 1)]

    def run(self, kernel, words):
        """The bytes of every output, for inputs that are drawn too."""
        words = [*words, self.file, "--kernel", "@" + kernel, *self.library]
        paths = []
        for output in self.outputs[kernel]:
            paths.append(os.path.join(self.folder, f"{kernel}-{output}.npy"))
            words += ["--output", f"{output}={os.path.basename(paths[-1])}"]
        must(self.call(*words), " ".join(words))
        return [open(path, "rb").read() for path in paths]

    def check_results(self, words):
        if self.run(self.name, words) != self.run("expected", words):
            return f"grout {' '.join(words)} {self.file}: @{self.name} and @expected differ"
        return None

    def check_draw(self, number, is_brief):
        options, schedule = self.draw(number)
        if is_brief:
            return self.check_results(["check", "-q", "--werror", *options, *schedule])
        words = ["check", self.file, "--format", "json", "-q", *self.library, *options, *schedule]
        code, stdout, stderr = self.call(*words)
        if code not in (0, 1):
            return f"grout {' '.join(words)}: exit code {code}\n{stdout}{stderr}"
        findings = [finding["code"] for finding in json.loads(stdout)["findings"]]
        if findings:
            return f"grout {' '.join(words)}: {findings}, and the kernels are right"
        return self.check_results(["run", *options])


def show(path, mark, expected, actual):
    print(f"{path}: '{mark}' is not what it says:")
    sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True), actual.splitlines(True), "file", "actual"))


def write_marks(path, source, marks):
    text = source + "".join(f"// ---- {mark} ----\n{marks[mark]}" for mark in MARKS if mark in marks)
    if text != read(path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def check_marks(path, template, is_update):
    """Whether the marks say what happens. A mark is not written where both kernels are clean, or a twin has it."""
    unwritten = {"check": template.get_clean_check(), "cuda": get_twin_cuda(path, template.name)}
    actual = {"check": template.get_check(), "cuda": template.get_shown_cuda()}
    if unwritten["cuda"] not in (None, actual["cuda"]):
        raise FileError("it has other CUDA than the line '// CUDA: as' says: leave the line out")
    if is_update:
        write_marks(path, template.source, {mark: text for mark, text in actual.items() if text != unwritten[mark]})
        return True
    expected = {mark: template.expected.get(mark, unwritten[mark] or "") for mark in MARKS}
    wrong = [mark for mark in MARKS if expected[mark] != actual[mark]]
    for mark in wrong:
        show(path, mark, expected[mark], actual[mark])
    return not wrong


def check(path, arguments):
    """Whether the file says what happens; with --update it is made to."""
    with tempfile.TemporaryDirectory(prefix="grout-ops-") as folder:
        template = Template(path, folder, arguments.grout)
        ok = arguments.draws_alone or check_marks(path, template, arguments.update)
        for number in range(arguments.draws):
            problem = template.check_draw(number, arguments.draws_alone)
            if problem:
                print(f"{path}: {problem}")
                return False
    return ok


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True, type=os.path.abspath)
    parser.add_argument("--update", action="store_true", help="write what is said now into the files")
    parser.add_argument("--draws", type=int, default=12, help="kernels to draw from each file")
    parser.add_argument("--draws-alone", action="store_true")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    if arguments.update and arguments.draws_alone:
        parser.error("--update writes the goldens, which --draws-alone leaves out")
    failures = 0
    files = arguments.files or sorted(glob.glob(os.path.join(HERE, "*.grout")))[::arguments.every]
    for path in files:
        try:
            failures += not check(path, arguments)
        except FileError as error:
            print(f"{path}: {error}")
            failures += 1
    print(f"ops: {len(files)} files, {failures} wrong")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
