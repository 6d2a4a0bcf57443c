"""Litmus programs: one ordering rule each, with its ruling and the section that decides it. They lie in
folders by topic. Checks every program under several schedules and timings, and writes
docs/litmus.md, what there is of each topic.

usage: litmus.py --grout PATH [--seeds N] [--update] [--table FILE]
       litmus.py --print PROGRAM...
       litmus.py --write FOLDER

--table writes a page with a row for each program. --print shows programs as files of their own, --write writes them
all: most are written as families, one kernel and what each program changes in it (families.py).

The head of each program:

    // litmus: GROUP: what is tried
    // ruling: ordered | CODE, why
    // source: PTX ISA 9.1, ...
    // run: --arch sm_100a          if it is not for Hopper; or 'attr arch' says so

A program whose ruling is 'ordered' expects to be clean, any other expects the code.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import families
import stale
from limit import SECONDS

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PAGE = os.path.join(ROOT, "docs", "litmus.md")
ARCH = re.compile(r"^// run: --arch (\w+)$", re.M)
HEAD = re.compile(r"// litmus: (.+?): (.+)\n// ruling: (ordered|[a-z-]+)(?:, (.+))?\n// source: (.+)\n")


def read(path):
    with open(path) as file:
        return file.read()


def find_expect(grout):
    return os.path.join(os.path.dirname(grout), "grout-expect")


def check(grout, arch, names, seeds, folder):
    """Whether all are as ruled, and what is said of them."""
    command = [find_expect(grout), "-q", "--all-timings", "--seeds", str(seeds),
               "--timeout", str(SECONDS)]
    command += ["--arch", arch] if arch else []
    done = subprocess.run(command + names, capture_output=True, text=True, cwd=folder, check=False)
    return done.returncode == 0, done.stdout + done.stderr


def find_failures(grout, arch, names, seeds, folder):
    """One process for all; only if that fails, one for each. The names of those that fail, and what is said."""
    is_good, output = check(grout, arch, names, seeds, folder)
    if is_good:
        return []
    alone = [(name, *check(grout, arch, [name], seeds, folder)) for name in names]
    return [(name, said) for name, is_good, said in alone if not is_good] or [("all together", output)]


def make_rows(programs):
    rows = []
    for name, text, file in programs:
        head = HEAD.match(text)
        if not head:
            sys.exit("%s: its head is not 'litmus', 'ruling', 'source'" % name)
        group, what, ruling, why, source = head.groups()
        is_clean = "// expect: clean" in text
        if is_clean != (ruling == "ordered") or (not is_clean and ruling not in " ".join(re.findall(
                r"// expect-(?:error|warning): .*", text))):
            sys.exit("%s: the ruling and the expectation differ" % name)
        rows.append((group, what, ruling, why or "", source, file))
    return rows


def group_by_arch(programs):
    """The names of the programs for each hardware: one process checks for one."""
    groups = {}
    for program in programs:
        arch = ARCH.search(program.text)
        groups.setdefault(arch.group(1) if arch else "", []).append(program.name)
    return groups


def find_all_failures(grout, programs, seeds):
    with tempfile.TemporaryDirectory(prefix="grout-litmus-") as folder, \
            concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        list(families.write(programs, folder))
        jobs = [pool.submit(find_failures, grout, arch, its[k::os.cpu_count()], seeds, folder)
                for arch, its in group_by_arch(programs).items() for k in range(min(os.cpu_count(), len(its)))]
        return [failure for job in jobs for failure in job.result()]


def make_page(rows):
    lines = ["# Litmus programs", "",
             "Small programs, each for one rule of what orders what: an outcome that the rule forbids to rely on is a",
             ("finding, one that it allows is silent. The head of each says the ruling, why, and the section that "
              "decides."),
             ("A test runs every program under several schedules and timings; `make litmus` writes a page with a row "
              "for"),
             "each, `build/litmus.md`. A file `NAME.family` has one kernel, and what each of several programs changes",
             "in it; `tests/litmus/litmus.py --print PROGRAM` shows a program as a file of its own.", "",
             "| topic | programs | ordered | findings | in |", "|---|---|---|---|---|"]
    for group in sorted({r[0] for r in rows}):
        its = [r for r in rows if r[0] == group]
        ordered = sum(r[2] == "ordered" for r in its)
        folders = sorted({os.path.dirname(r[5]) for r in its})
        places = ", ".join(f"[{folder}](../tests/litmus/{folder})" for folder in folders)
        lines.append(f"| {group} | {len(its)} | {ordered} | {len(its) - ordered} | {places} |")
    ordered = sum(r[2] == "ordered" for r in rows)
    lines += [f"| all | {len(rows)} | {ordered} | {len(rows) - ordered} | |", ""]
    return "\n".join(lines)


def make_table(rows):
    lines = ["# Litmus programs", ""]
    for group in sorted({r[0] for r in rows}):
        lines += ["## " + group, "", "| program | ruling | why | source |", "|---|---|---|---|"]
        for _, what, ruling, why, source, file in (r for r in rows if r[0] == group):
            said = ruling if ruling == "ordered" else f"`{ruling}`"
            lines.append(f"| [{what}](../tests/litmus/{file}) | {said} | {why} | {source} |")
        lines.append("")
    return "\n".join(lines)


def show(programs, names):
    """Prints the programs of these names; whether one is not there."""
    texts = {os.path.basename(program.name)[:-len(".grout")]: program.text for program in programs}
    for name in names:
        print(texts.get(name, f"there is no program {name}"))
    return not set(names) <= set(texts)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout")
    parser.add_argument("--print", nargs="+", metavar="PROGRAM")
    parser.add_argument("--write", metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--table")
    arguments = parser.parse_args()
    try:
        programs = families.list_programs()
    except families.FamilyError as error:
        return f"litmus: {error}"
    if arguments.print:
        return show(programs, arguments.print)
    if arguments.write:
        print(len(families.write_programs(arguments.write)), "programs")
        return 0
    if not arguments.grout:
        parser.error("--grout says which command checks them")
    rows = make_rows(programs)
    grout = os.path.abspath(arguments.grout)
    failures = find_all_failures(grout, programs, arguments.seeds)
    for name, output in failures:
        print("%s: NOT as ruled: litmus.py --print shows it\n%s" % (name, output))
    failed = len(failures)
    if arguments.table:
        with open(arguments.table, "w", encoding="utf-8") as file:
            file.write(make_table(rows))
    if failed:
        print(stale.explain(find_expect(grout)), end="")
    page = make_page(rows)
    if arguments.update and failed == 0:
        with open(PAGE, "w") as file:
            file.write(page)
    elif not os.path.exists(PAGE) or read(PAGE) != page:
        print("docs/litmus.md is not what litmus.py --update writes")
        failed += 1
    print("litmus: %d programs, %d not as ruled" % (len(rows), failed))
    return 1 if failed or len(rows) < 80 else 0


if __name__ == "__main__":
    sys.exit(main())
