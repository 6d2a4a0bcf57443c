"""Mistakes that people make, written by hand into kernels that were written from the documentation alone: is each
found, does its first finding lead there, and does 'grout fix' put back what an expert would?

usage: written.py --grout PATH [NAME..] [--fix] [--every N] [--only ID,..] [--jobs N] [--report DIR] [--update]

tests/mutation/written/ has for each kernel NAME two files. NAME.grout is the right kernel, which is clean and agrees
with the plain one of its 'check @kernel against @reference' line. NAME.tsv has its mistakes. An empty line and one that
begins with '#' say nothing. A line 'sizes: OPTIONS' names further sizes, such as 'sizes: -D K=512 -D STAGES=2', at
which every repair that is not the original text has to be clean too. All other lines have these columns, separated
by tabs:

id        a name without spaces, such as s01 or v17
kind      'sync' or 'value'
edit      what makes the mistake, see below
wanted    'found' (an error: exit code 1, or an invalid kernel), 'warned' (no error, but a warning), or 'equivalent'
          (clean and right, for every size: the note has the proof)
partners  lines that a first finding may lead to besides the changed ones: the other half of the mistake. '-' if none
repairs   what an expert would accept from 'grout fix' besides the original text: edits of the original, as above,
          alternatives separated by ' || '. '-' if none
note      what is wrong, in a sentence; of an equivalent one, why it is none

An edit is one step or several, separated by ' ;; ':

TEXT => NEW           the line TEXT becomes NEW, or is dropped if NEW is empty
+after TEXT => NEW    NEW becomes a line of its own after the line TEXT
+before TEXT => NEW   the same before it

TEXT is a whole line without its indentation. 'TEXT @2' is the second line that reads so, and 'TEXT @*' is each; without
either TEXT is there once. A moved line is a drop and an insertion. All steps name lines of the original.

Recorded for each mistake: the verdict, the first finding (code and line), whether that leads to the cause, and with
--fix what the repair is. A first finding leads there if one of its places is a changed line, a neighbour of a dropped
one, or a partner, or if its repair is made there. A wrong value has no such place ('compare-mismatch' names the
operation that wrote it), so 'values' stands there, and what counts is the line that 'grout fix' changes. A repair is
'original', 'accepted' (by the column), 'other' (clean, also at the further sizes), 'wrong' (clean, but not at a further
size), or 'none'. The table results.tsv has what is expected; --update writes it. Whatever differs from it fails, also
what has become better. --report DIR gets a file with the report, the repair and its difference for each mistake.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import difflib
import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import typing

FOLDER = pathlib.Path(__file__).resolve().parent / "written"
RESULTS = FOLDER / "results.tsv"
WANTED = ("found", "warned", "equivalent")
FENCES = ["commit_smem", "fence_async_shared"]  # by name: the two names of one operation
STEP = re.compile(r"(\+after |\+before |)(.*?)(?: @(\d+|\*))? =>(?: (.*))?$")



class Mutant(typing.NamedTuple):
    """A line of a table."""

    id: str
    kind: str
    edit: str
    wanted: str
    partners: str
    repairs: str
    note: str


class Result(typing.NamedTuple):
    """What a mistake brings: a line of results.tsv."""

    verdict: str
    code: str
    line: str
    leads: str
    repair: str


class Look(typing.NamedTuple):
    """What 'grout check' says of a file."""

    verdict: str
    exit: int
    findings: list


def die(text):
    sys.exit("written.py: %s" % text)


# ------------------------------------------------------------------------------------------------ edits


def find_lines(lines, text, which):
    """The indices of the lines that read like this."""
    found = [i for i, line in enumerate(lines) if line.strip() == text]
    if not found:
        raise ValueError("no line reads '%s'" % text)
    if which == "*":
        return found
    if which is None and len(found) > 1:
        raise ValueError("%d lines read '%s': say which by @N" % (len(found), text))
    number = int(which or 1)
    if number > len(found):
        raise ValueError("'%s' stands there %d times" % (text, len(found)))
    return [found[number - 1]]


def apply_edit(text, edit):
    """The text with an edit, and the lines (from 1, of the result) that it touches."""
    lines = text.split("\n")
    replaced, before, after = {}, collections.defaultdict(list), collections.defaultdict(list)
    for step in edit.split(" ;; "):
        match = STEP.match(step.strip())
        if not match:
            raise ValueError("not a step of an edit: '%s'" % step)
        where, old, which, new = match.groups()
        for i in find_lines(lines, old.strip(), which):
            indented = lines[i][: len(lines[i]) - len(lines[i].lstrip())] + (new or "").strip()
            if where == "+after ":
                after[i].append(indented)
            elif where == "+before ":
                before[i].append(indented)
            elif i in replaced:
                raise ValueError("two steps change '%s'" % old)
            else:
                replaced[i] = indented if new and new.strip() else None
    result, touched = [], set()
    for i, line in enumerate(lines):
        for new in before[i]:
            result.append(new)
            touched.add(len(result))
        if i not in replaced:
            result.append(line)
        elif replaced[i] is not None:
            result.append(replaced[i])
            touched.add(len(result))
        else:
            touched |= {len(result), len(result) + 1}
        for new in after[i]:
            result.append(new)
            touched.add(len(result))
    return "\n".join(result), touched


def write_edit(old, new):
    """The edit that makes one list of lines of the other, to be pasted into a column."""
    steps, count = [], collections.Counter(line.strip() for line in old)
    seen, names = collections.Counter(), []
    for line in old:
        seen[line.strip()] += 1
        names.append(line.strip() + (" @%d" % seen[line.strip()] if count[line.strip()] > 1 else ""))
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        for at in range(i, j):
            steps.append("%s => %s" % (names[at], new[k + at - i].strip() if at - i < m - k else ""))
        for at in range(k + j - i, m):
            steps.append("+after %s => %s" % (names[j - 1], new[at].strip()))
    return " ;; ".join(step.strip() for step in steps)


def read_mutants(name):
    """The mistakes of a kernel, and the further sizes."""
    mutants, sizes = [], []
    path = FOLDER / (name + ".tsv")
    for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
        if line.startswith("sizes:"):
            sizes.append(shlex.split(line[len("sizes:"):]))
        elif line.strip() and not line.startswith("#"):
            columns = line.split("\t")
            if len(columns) != len(Mutant._fields):
                die("%s:%d: %d columns, not %d" % (path, number, len(columns), len(Mutant._fields)))
            mutant = Mutant(*[column.strip() for column in columns])
            if mutant.kind not in ("sync", "value") or mutant.wanted not in WANTED or not mutant.note:
                die("%s:%d: not a kind, a verdict and a note" % (path, number))
            mutants.append(mutant)
    ids = collections.Counter(mutant.id for mutant in mutants)
    if max(ids.values()) > 1:
        die("%s: '%s' is there twice" % (path, ids.most_common(1)[0][0]))
    return mutants, sizes


# ------------------------------------------------------------------------------------------------ runs of grout


class Grout:
    """The command, with a folder for the files that it is given."""

    def __init__(self, path):
        self.path = path

    def call(self, arguments, accept=(0, 1, 2, 3)):
        done = subprocess.run([self.path] + arguments, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              check=False, timeout=900)
        if done.returncode not in accept:
            raise RuntimeError("grout %s: exit %d: %s" % (" ".join(arguments), done.returncode, done.stderr[-2000:]))
        return done

    def check(self, path, options=()):
        done = self.call(["check", "--format", "json", "--no-proposals", str(path)] + list(options))
        report = json.loads(done.stdout)
        findings = [finding for finding in report["findings"] if finding["code"] != "unused-result"]
        errors = [finding for finding in findings if finding["severity"] == "error"]
        if done.returncode in (1, 2) and errors:
            return Look("found", done.returncode, errors)
        if done.returncode == 0 and report["verdict"] == "clean":
            return Look("warned" if findings else "clean", 0, findings)
        return Look(report["verdict"], done.returncode, findings)

    def get_canonical(self, text, folder):
        """The lines of a kernel as 'grout fmt' writes them, without comments and empty lines, one name for a fence."""
        path = pathlib.Path(folder) / "canonical.grout"
        path.write_text(text, encoding="utf-8")
        written = self.call(["fmt", str(path)], (0,)).stdout
        for name in FENCES[1:]:
            written = written.replace(name, FENCES[0])
        lines = [line.split("//")[0].rstrip() for line in written.split("\n")]
        return [line for line in lines if line]


def get_places(finding):
    """The lines that a finding names: its places, those in its sentences, and where its repair is made."""
    places = [finding["primary"], finding["related"], (finding["edit"] or {}).get("place")]
    places += [note["place"] for note in finding["notes"]]
    lines = {place["line"] for place in places if place}
    for text in [finding["message"], finding["missing_edge"], finding["repair"]] + [
            note["message"] for note in finding["notes"]]:
        for match in re.finditer(r"lines? (\d+)(?: and (\d+))?", text):
            lines |= {int(number) for number in match.groups() if number}
    return lines


def get_first(findings):
    """The finding that a report shows first: one that follows from none, an error if there is one."""
    causes = [finding for finding in findings if "follows_from" not in finding] or findings
    return causes[0] if causes else None


# ------------------------------------------------------------------------------------------------ the judgement


class Kernel:
    """A right kernel and its mistakes."""

    def __init__(self, grout, name):
        self.grout, self.name = grout, name
        self.text = (FOLDER / (name + ".grout")).read_text(encoding="utf-8")
        self.mutants, self.sizes = read_mutants(name)
        with tempfile.TemporaryDirectory() as folder:
            self.canonical = grout.get_canonical(self.text, folder)
            path = pathlib.Path(folder) / (name + ".grout")
            path.write_text(self.text, encoding="utf-8")
            for options in [[], ["--explore"]] + self.sizes:
                look = grout.check(path, options)
                if look.verdict != "clean":
                    die("%s itself is not clean with '%s': %s" % (name, " ".join(options), look.verdict))

    def leads(self, mutant, text, touched, look):
        """Whether the first finding leads to the mistake."""
        first = get_first(look.findings)
        if not first:
            return "-"
        if first["code"] == "compare-mismatch":
            return "values"
        lines = text.split("\n")
        wanted = set(touched)
        for partner in mutant.partners.split(" ;; ") if mutant.partners != "-" else []:
            match = re.match(r"(.*?)(?: @(\d+|\*))?$", partner)
            wanted |= {i + 1 for i in find_lines(lines, match.group(1), match.group(2))}
        return "yes" if wanted & get_places(first) else "no"

    def judge_repair(self, mutant, path, folder, log):
        """What 'grout fix' makes of the file."""
        before = path.read_text(encoding="utf-8")
        done = self.grout.call(["fix", "--yes", str(path)])
        log.append("== fix: exit %d\n%s%s" % (done.returncode, done.stdout, done.stderr))
        after = path.read_text(encoding="utf-8")
        if after == before:
            return "none"
        repaired = self.grout.get_canonical(after, folder)
        if repaired == self.canonical:
            return "original"
        log.append("== the repaired text against the original\n" + "\n".join(
            difflib.unified_diff(self.canonical, repaired, "original", "repaired", lineterm="", n=1)))
        log.append("== as an edit\n" + write_edit(self.canonical, repaired))
        for edit in mutant.repairs.split(" || ") if mutant.repairs != "-" else []:
            if self.grout.get_canonical(apply_edit(self.text, edit)[0], folder) == repaired:
                return "accepted"
        for options in [[], ["--explore"]] + self.sizes:
            look = self.grout.check(path, options)
            if look.verdict != "clean":
                log.append("== not clean with '%s': %s" % (" ".join(options), look.verdict))
                return "wrong" if options else "none"
        return "other"

    def judge(self, mutant, with_fix):
        """The result, and what a person wants to read of it."""
        text, touched = apply_edit(self.text, mutant.edit)
        log = ["%s %s (%s): %s\n== %s" % (self.name, mutant.id, mutant.kind, mutant.note, mutant.edit)]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / (self.name + ".grout")
            path.write_text(text, encoding="utf-8")
            look = self.grout.check(path)
            if look.verdict == "clean":
                look = self.grout.check(path, ["--explore"])
            log.append("== check\n" + self.grout.call(["check", "--no-proposals", str(path)]).stdout)
            first = get_first(look.findings)
            result = Result(look.verdict, first["code"] if first else "-",
                            str(first["primary"]["line"]) if first and first["primary"] else "-",
                            self.leads(mutant, text, touched, look), "-")
            if with_fix and look.verdict != "clean":
                result = result._replace(repair=self.judge_repair(mutant, path, folder, log))
        log.insert(1, "%s" % (result,))
        return result, "\n".join(log).replace(folder + "/", "") + "\n"


def read_results():
    """What is expected of each mistake."""
    rows = {}
    if RESULTS.exists():
        for line in RESULTS.read_text(encoding="utf-8").splitlines():
            if line and not line.startswith("#"):
                columns = line.split("\t")
                rows[columns[0], columns[1]] = Result(*columns[2:])
    return rows


def write_results(rows):
    head = ["# What each mistake brings: written by 'written.py --fix --update'.",
            "# " + "\t".join(("kernel", "id") + Result._fields)]
    RESULTS.write_text("\n".join(head + ["\t".join(key + row) for key, row in sorted(rows.items())]) + "\n",
                       encoding="utf-8")


def is_as_wanted(mutant, result):
    return result.verdict == {"equivalent": "clean"}.get(mutant.wanted, mutant.wanted)


def print_totals(judged, with_fix):
    """A line for each kernel and kind."""
    for name in sorted({kernel.name for kernel, _, _ in judged}) + ["all"]:
        for kind in ("sync", "value"):
            rows = [(mutant, result) for kernel, mutant, result in judged
                    if name in (kernel.name, "all") and mutant.kind == kind]
            count = collections.Counter(mutant.wanted if is_as_wanted(mutant, result) else "missed or false"
                                        for mutant, result in rows)
            line = "%-24s %-5s %3d mistakes: %s" % (name, kind, len(rows), ", ".join(
                "%d %s" % (count[key], key) for key in (*WANTED, "missed or false") if count[key]))
            leads = collections.Counter(result.leads for _, result in rows if result.verdict in ("found", "warned"))
            line += "; leads: %s" % ", ".join("%d %s" % (leads[key], key) for key in sorted(leads))
            if with_fix:
                repairs = collections.Counter(result.repair for _, result in rows if result.repair != "-")
                line += "; repairs: %s" % ", ".join("%d %s" % (repairs[key], key) for key in sorted(repairs))
            print(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--fix", action="store_true", help="also judge what 'grout fix' makes of each")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th mistake of a kernel")
    parser.add_argument("--only", default="", metavar="ID,..", help="only these mistakes")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--report", type=pathlib.Path, metavar="DIR", help="a file for each mistake goes there")
    parser.add_argument("--update", action="store_true", help="write results.tsv")
    parser.add_argument("names", nargs="*")
    arguments = parser.parse_args()
    grout = Grout(str(pathlib.Path(arguments.grout).resolve()))
    names = arguments.names or sorted(path.stem for path in FOLDER.glob("*.tsv") if path != RESULTS)
    expected, judged, failures = read_results(), [], 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=arguments.jobs) as pool:
        jobs = []
        for kernel in [Kernel(grout, name) for name in names]:
            chosen = [mutant for mutant in kernel.mutants if mutant.id in arguments.only.split(",")]
            jobs += [(kernel, mutant, pool.submit(kernel.judge, mutant, arguments.fix))
                     for mutant in (chosen if arguments.only else kernel.mutants[:: arguments.every])]
        for kernel, mutant, job in jobs:
            try:
                result, log = job.result()
            except ValueError as error:
                die("%s %s: %s" % (kernel.name, mutant.id, error))
            judged.append((kernel, mutant, result))
            key = (kernel.name, mutant.id)
            old = expected.get(key)
            if not arguments.fix:
                result = result._replace(repair=old.repair if old else "-")
            marks = ["not as wanted"] if not is_as_wanted(mutant, result) else []
            if old != result and not arguments.update:
                marks.append("results.tsv has %s" % ("nothing" if old is None else " ".join(old)))
                failures += 1
            expected[key] = result
            print("%-24s %-5s %-5s %s%s" % (*key, mutant.kind, " ".join(result),
                                            "  <- " + "; ".join(marks) if marks else ""), flush=True)
            if arguments.report:
                arguments.report.mkdir(parents=True, exist_ok=True)
                (arguments.report / ("%s.%s.txt" % key)).write_text(log, encoding="utf-8")
    print_totals(judged, arguments.fix)
    if arguments.update:
        known = {(name, mutant.id) for name in {path.stem for path in FOLDER.glob("*.tsv") if path != RESULTS}
                 for mutant in read_mutants(name)[0]}
        write_results({key: row for key, row in expected.items() if key in known})
        return 0
    if failures:
        print("%d differ from results.tsv; if they are right: --fix --update" % failures)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
