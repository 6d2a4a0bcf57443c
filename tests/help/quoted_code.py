"""Tries what the help of each finding quotes: it has to compile at the place that the help is about.

usage: quoted_code.py --grout PATH [--most N] [-v] KERNEL-OR-FOLDER...

Every kernel is checked, with the options of its '// run:' or '// RUN: grout check' line. What stands in single
quotes in a help or repair is code (docs/diagnostics.md), and one of these:

- A word or piece of the kernel itself, or a name that the program knows: '--option', 'grout COMMAND'.
- An operation with its operands. It is put on a line of its own before or after the line that the help names, or
  anywhere if it names none, and the kernel is still valid.
- A part of a line. It is put, or takes the place of other words, in the line of the finding, of an object there or of
  the kernel's header, and the kernel is still valid.

If the kernel was not valid, the diagnostic has to be gone and nothing else may be wrong with the text. '..' and words
in capitals are for the user to fill in: names, axes and numbers of the kernel are tried. N kernels are tried for each
code and form of a quote.
"""
import argparse
import collections
import concurrent.futures
import itertools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import families
from limit import SECONDS

QUOTE = re.compile(r"(?<![\w'])'([^'\n]+)'(?!\w)")
ASKED = re.compile(r"\b(?:insert|add|execute|write|declare(?: it)?|make it|and then|with|by|mean)$")
MEANT = re.compile(r"did you mean $")
LINE = re.compile(r"\bline (\d+)")
PLACE = re.compile(r"\b(before|after|at) (?:the \w+ at )?line (\d+)")
OPEN = re.compile(r"\.\.|\b[A-Z]+\b")
TOKEN = re.compile(r"//.*|[%@]?\w+|[^\s\w]")
SPARE = "%a_new_barrier"
LINE_OF_RUN = re.compile(r"^// (?:RUN: grout check|run:) (.*)$", re.MULTILINE)
TRIES_MAX = 6000   # for one quote
FILLED_MAX = 800   # of the ways to fill a line in, this many are tried at each place
FILLED_MAX_OF_PART = 60
REPLACED_MAX = 8   # words of a line that a part takes the place of


def read_text(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="surrogateescape", newline="") as file:
        return file.read()


class Program:
    """What 'grout check' says, and the words that the program knows."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.operations = {line.split()[0] for line in self.run("ops").stdout.splitlines() if line.strip()}
        pages = read_text("docs/cli.md")
        self.options = set(re.findall(r"--[a-z][\w-]*", pages))
        self.commands = set(re.findall(r"^## grout ([a-z]+)|\bgrout ([a-z]+)", pages, re.MULTILINE))
        self.commands = {word for pair in self.commands for word in pair}
        text = read_text("docs/diagnostics.md").split("\n## ")
        self.codes_of_text = set(re.findall(r"^### ([a-z-]+)$", text[1], re.MULTILINE))

    def run(self, *words, **options):
        return subprocess.run([self.path, *words], capture_output=True, text=True, errors="replace", timeout=SECONDS,
                              check=False, **options)

    def check(self, text, name, options):
        """Verdict and findings; None: no report."""
        with tempfile.TemporaryDirectory(prefix="grout-help-") as folder:
            path = os.path.join(folder, name)
            with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(text)
            done = self.run("check", *options, "--format", "json", "-q", path, cwd=folder)
        try:
            report = json.loads(done.stdout)
        except json.JSONDecodeError:
            return None
        return report["verdict"], report["findings"]


class Kernel:
    """A file, its options, and what is found in it."""

    def __init__(self, program, path):
        text = read_text(path).split("// ---- output ----")[0]
        run = LINE_OF_RUN.search(text)
        self.program, self.path, self.lines = program, path, text.split("\n")
        self.options = [word for word in shlex.split(run.group(1)) if word != "%s"] if run else []
        report = self.check(self.lines, "--max-steps", "300000", "--max-findings", "1000")
        self.verdict, self.findings = report or ("", [])
        self.known = collections.Counter((found["code"], found["message"]) for found in self.findings)
        self.code = "\n".join(re.sub(r"//.*", "", line) for line in self.lines)

    def check(self, lines, *options):
        return self.program.check("\n".join(lines), os.path.basename(self.path), [*self.options, *options])

    def takes(self, lines, finding, is_meant):
        """Whether the changed lines are a valid kernel; if none was before, whether they lack the finding, and
        nothing else is wrong with the text (but for what the word that was meant may need)."""
        report = self.check(lines, "--max-steps", "1", "--no-explore")
        if report is None:
            return False
        if self.verdict != "invalid":
            return report[0] != "invalid"
        found = collections.Counter((found["code"], found["message"]) for found in report[1])
        key = (finding["code"], finding["message"])
        return found[key] < self.known[key] and (is_meant or not any(
            new[0] in self.program.codes_of_text for new in found - self.known))

    def fillings(self, quote):
        """The quote with each '..' and word in capitals replaced by what the kernel has."""
        code = self.code
        consts = set(re.findall(r"\bconst (\w+)", code))
        axes = list(dict.fromkeys(re.findall(r"(\w+) = \w+[,)]", code)))
        values = [SPARE, *dict.fromkeys(re.findall(r"%[A-Za-z]\w*", code))]
        operands = ["1", *[value + index for index in ("[0]", "", "[0, 0]") for value in values], "", "0"]
        for pattern in (r"\b\d+\.\d+\b", r": ((?:smem|gmem|acc) \w+\[[^]]*\])", r"\(load [^()]*\)"):
            operands += dict.fromkeys(re.findall(pattern, code))
        sizes = ["1", "0", "64", "", *sorted(consts)]

        def choose(match):
            before, after = quote[match.start() - 1:match.start()], quote[match.end():match.end() + 1]
            if match.group() in consts:
                return [match.group()]
            if before == "(" and after == ")":
                return [*axes, "0", "1"]
            return sizes if before == "[" or after == "]" else [*operands, "true", *axes]

        choices = [choose(match) for match in OPEN.finditer(quote)]
        pieces = OPEN.split(quote)
        return [pieces[0] + "".join(map("".join, zip(choice, pieces[1:])))
                for choice in itertools.islice(itertools.product(*choices), FILLED_MAX)]

    def places(self, finding):
        places = [finding["primary"], finding["related"], *[note["place"] for note in finding["notes"]]]
        return [place for place in places if place is not None]

    def near(self, finding, help_text):
        """The lines where a part of a line may belong: the finding's, those that the help names, those of the objects
        there, and the header's."""
        numbers = [place["line"] - 1 for place in self.places(finding)]
        numbers += [int(number) - 1 for number in LINE.findall(help_text)]
        names = set(re.findall(r"%\w+", "\n".join(self.lines[number] for number in numbers)))
        for i, line in enumerate(self.lines):
            is_header = re.match(r"\s*(kernel|grid|cluster|threads|attr)\b", line) or line.strip() == "{"
            if is_header or any(re.search(re.escape(name) + r"\s*[:=]", line) for name in names):
                numbers.append(i)
        return list(dict.fromkeys(numbers))


def put_line(lines, number, position, text):
    """With a line of text before or after the line of that number, from 0."""
    line = lines[number]
    indent = line[:len(line) - len(line.lstrip())]
    at = number + (position == "after")
    return lines[:at] + [indent + text] + lines[at:]


def find_places(kernel, help_text, end):
    """(position, number) for a line of its own: what the help names after the quote, or anywhere."""
    named = PLACE.search(help_text, end) or PLACE.search(help_text)
    if named:
        yield "after" if named.group(1) == "after" else "before", int(named.group(2)) - 1
        return
    for number in range(len(kernel.lines)):
        yield "after", number


def add_spare(lines, number, help_text):
    """With the barrier that the help speaks of, in the kernel that line number is in."""
    begins = [i for i in range(number) if lines[i].startswith("{") or re.match(r"kernel.*\{", lines[i])]
    if "a barrier that orders_tensor_core" not in help_text or not begins:
        return lines
    return put_line(lines, begins[-1], "after", f"scratch {SPARE} : barrier orders_tensor_core")


def vary_lines(kernel, quote, help_text, end):
    """The kernel with the quote on a line of its own, where the help says, or in turn after each."""
    for position, number in find_places(kernel, help_text, end):
        for text in kernel.fillings(quote):
            yield add_spare(put_line(kernel.lines, number, position, text), number, help_text)


def find_ranges(kernel, finding, help_text):
    """(line, first byte, end) of what a part may take the place of, the likeliest first."""
    primary = finding["primary"] or {"line": 0, "column": 0}
    ranges = []
    for number in kernel.near(finding, help_text):
        line = kernel.lines[number]
        spans = [match.span() for match in TOKEN.finditer(line)] + [(len(line), len(line))]
        for first, last in itertools.combinations_with_replacement(range(len(spans)), 2):
            if last - first <= REPLACED_MAX or last == len(spans) - 1:
                start = spans[first][0]
                is_at = (number + 1, start + 1) == (primary["line"], primary["column"])
                is_end = start == len(line)
                end = start if first == last else spans[last - 1][1]
                ranges.append((0 if is_at else 1 if is_end else 2, last - first, number, start, end))
    return [key[2:] for key in sorted(ranges)]


def vary_parts(kernel, finding, quote, help_text):
    """The kernel with the quote in one of the lines that a part may belong to: put between, or in place of words."""
    for number, start, end in find_ranges(kernel, finding, help_text):
        line = kernel.lines[number]
        for text in kernel.fillings(quote)[:FILLED_MAX_OF_PART]:
            changed = f"{line[:start]} {text} {line[end:].lstrip()}"
            if changed.split() != line.split():
                yield kernel.lines[:number] + [changed] + kernel.lines[number + 1:]


def is_known(kernel, finding, help_text, match):
    """Whether it is a piece of the lines that the help is about, or a name of the program."""
    quote = match.group(1)
    if quote.startswith("--"):
        return quote.split()[0] in kernel.program.options
    if quote.startswith("grout "):
        return quote.split()[1] in kernel.program.commands
    if ASKED.search(help_text[:match.start()].rstrip()):
        return False
    numbers = [int(number) for number in LINE.findall(help_text)]
    numbers += [place["line"] for place in kernel.places(finding)]
    code = "\n".join(kernel.code.split("\n")[number - 1] for number in numbers)
    piece = r"\s*".join(re.escape(token) for token in TOKEN.findall(quote))
    return re.search(r"(?<![\w%])" + piece + r"(?!\w)", code) is not None


def is_taken(kernel, finding, help_text, match):
    quote = match.group(1)
    if is_known(kernel, finding, help_text, match):
        return True
    is_line = quote.split()[0] in kernel.program.operations
    is_meant = MEANT.search(help_text[:match.start()]) is not None
    is_part = kernel.verdict == "invalid" or not is_line
    changed = itertools.chain(vary_lines(kernel, quote, help_text, match.end()) if is_line else (),
                              vary_parts(kernel, finding, quote, help_text) if is_part else ())
    return any(kernel.takes(lines, finding, is_meant) for lines in itertools.islice(changed, TRIES_MAX))


def get_helps(finding):
    helps = [note["message"] for note in finding["notes"] if note["severity"] == "help"]
    return list(dict.fromkeys(helps + ([finding["repair"]] if finding["repair"] else [])))


def get_form(quote):
    """Quotes that differ in names and numbers alone have one form."""
    return re.sub(r"\d+", "9", re.sub(r"%\w+(\[[^]]*\])?", "%x", quote))


def gather(kernels, most):
    """(kernel, finding, help, quote) of what is to be tried, and the number of quotes in all."""
    chosen, seen, count = [], collections.Counter(), 0
    for kernel in kernels:
        for finding in kernel.findings:
            for help_text in get_helps(finding):
                for match in QUOTE.finditer(help_text):
                    count += 1
                    key = (finding["code"], get_form(match.group(1)), get_form(help_text[:match.start()])[-20:])
                    seen[key] += 1
                    if seen[key] <= most:
                        chosen.append((kernel, finding, help_text, match))
    return chosen, count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--most", type=int, default=1, metavar="N")
    parser.add_argument("-v", "--verbose", action="store_true")
    parser.add_argument("paths", nargs="+")
    args = parser.parse_args()
    program = Program(args.grout)
    with tempfile.TemporaryDirectory(prefix="grout-help-") as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        paths = families.find_kernels(args.paths, folder)
        kernels = list(pool.map(lambda path: Kernel(program, path), paths))
        chosen, count = gather(kernels, args.most)
        results = list(pool.map(lambda item: is_taken(*item), chosen))
    for (kernel, finding, help_text, match), taken in zip(chosen, results):
        if args.verbose or not taken:
            place = finding["primary"] or {"line": 0}
            print(f"{kernel.path}:{place['line']}: {finding['code']}: '{match.group(1)}' "
                  f"{'compiles' if taken else 'does not compile'}: {help_text}")
    failures = results.count(False)
    print(f"{count} quotes in the help of {len(kernels)} kernels, {len(chosen)} tried, {failures} that do not compile")
    return failures > 0 or not chosen


if __name__ == "__main__":
    sys.exit(main())
