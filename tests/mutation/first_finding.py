"""How soon a report leads to the mistake: each synchronising operation of a clean kernel is dropped, moved
or weakened (see mutate.py), and the report's first finding is held against the operation that was changed.

A first finding *leads to* the mistake if its primary or related place, or the place of its repair, is the
changed operation, or an operation on the same barrier or buffer. An operation that names neither (a wait for
groups, a commit) has the buffers of the operations that it waits for or publishes.

usage: first_finding.py --grout PATH [--most 30] [--lead PERCENT] [--short PERCENT] [--list] KERNEL.grout...

Exits with 1 if fewer than --lead percent of the mutants have such a first finding, or fewer than --short
percent have at most two findings.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import mutate
from mutate import SECONDS

# What an operation that names no object is about: the operations whose buffers it waits for or publishes.
ACCESSES = r"store|copy_|tma_|wgmma|load|atomic_|mbarrier_init"
ABOUT = {"PROXY": ACCESSES, "GRIDS": ACCESSES, "CTA": r".", "CLUSTER": r".", "NAMED": r"."}


def find_about(op):
    """A pattern for such operations, by the column OBJECT of sync.def; one that matches nothing, of another
    operation."""
    row = mutate.TABLE.get(op)
    if row is None:
        return r"$."
    thing = "TCGEN05" if row.tensor == "SEALS" else row.object
    started = [name for name, other in mutate.TABLE.items() if other.mode == "STARTS" and other.object == thing]
    return ABOUT.get(thing) or "|".join(started) or r"$."


def get_objects(lines):
    """Names of the barriers and buffers that the file declares."""
    text = "\n".join(mutate.split_comment(line)[0] for line in lines)
    return set(re.findall(r"scratch (%\w+)", text)) | set(re.findall(r"(%\w+)\s*:\s*(?:in|out|inout)\s", text))


def find_names(lines, number, objects):
    if not 1 <= number <= len(lines):
        return set()
    return set(re.findall(r"%\w+", mutate.split_comment(lines[number - 1])[0])) & objects


def find_places(finding):
    """The lines that the finding points at: its two places and where its repair goes."""
    places = [finding["primary"], finding["related"]] + [a["place"] for a in finding["accesses"]]
    lines = {p["line"] for p in places if p}
    if finding["edit"]:
        lines.add(finding["edit"]["place"]["line"] if "place" in finding["edit"] else finding["edit"]["line"])
    return lines | {int(n) for n in re.findall(r"line (\d+)", finding["repair"] or "")}


def leads(finding, lines, at, op, objects):
    """Whether a finding points at what was changed at line 'at' (of the original)."""
    places = find_places(finding)
    near = {at, at + 1} | {mutate.neighbour(lines, at - 1, step) or 0 for step in (-1, 1)}
    near |= {(mutate.neighbour(lines, at - 1, -1) or at - 1) + 1}
    if at in places or (finding["edit"] and places & near):
        return True
    names = find_names(lines, at, objects)
    if names:
        return any(find_names(lines, number, objects) & names for number in places)
    about = find_about(op)
    return any(re.search(about, lines[number - 1]) for number in places if 1 <= number <= len(lines))


def judge(grout, path, lines, objects, mutant):
    at, _what, changes = mutant
    changed = [changes.get(i, old) for i, old in enumerate(lines)]
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "w") as out:
            out.write("\n".join(changed))
        settings = mutate.get_settings("\n".join(lines))
        for setting in settings:
            done = subprocess.run([grout, "check", copy, "--format", "json", "-q", "--timeout", str(SECONDS)] + setting,
                                  capture_output=True, text=True, cwd=folder, check=False)
            report = json.loads(done.stdout)
            findings = [f for f in report["findings"] if not f.get("follows_from")]
            if report["verdict"] == "invalid":
                return None
            if findings:
                match = mutate.SYNC.match(mutate.split_comment(lines[at])[0])
                op = match.group(1) if match else "scratch"
                return len(findings), leads(findings[0], lines, at + 1, op, objects), [f["code"] for f in findings]
    return None


def sample(items, most):
    """At most this many, evenly spread."""
    return items if len(items) <= most else [items[i * len(items) // most] for i in range(most)]


def measure(grout, path, most, pool):
    lines = mutate.strip_expectations(pathlib.Path(path).read_text(encoding="utf-8")).split("\n")
    objects = get_objects(lines)
    mutants = sample(list(mutate.mutants(lines)), most)
    jobs = [(m, pool.submit(judge, grout, path, lines, objects, m)) for m in mutants]
    rows = [(m, job.result()) for m, job in jobs]
    return [(m[0] + 1, m[1], r) for m, r in rows if r is not None]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--most", type=int, default=30)
    parser.add_argument("--lead", type=float, default=0)
    parser.add_argument("--short", type=float, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("kernels", nargs="+")
    arguments = parser.parse_args()
    total = lead = short = 0
    lengths = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for path in arguments.kernels:
            for line, what, (count, is_lead, codes) in measure(os.path.abspath(arguments.grout), path,
                                                               arguments.most, pool):
                total, lead, short = total + 1, lead + is_lead, short + (count <= 2)
                lengths[min(count, 9)] += 1
                if arguments.list and not (is_lead and count <= 2):
                    print("%s:%d: %s: %s%s" % (path, line, what, "" if is_lead else "ELSEWHERE ", ", ".join(codes)))
    print("%d mutants: the first finding leads to the mistake in %.1f %%, at most two findings in %.1f %%; "
          "by number of findings: %s" % (total, 100 * lead / total, 100 * short / total,
                                         ", ".join("%d: %d" % item for item in sorted(lengths.items()))))
    return 1 if 100 * lead / total < arguments.lead or 100 * short / total < arguments.short else 0


if __name__ == "__main__":
    sys.exit(main())
