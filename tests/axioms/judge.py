"""Holds the checker against the axioms: each litmus program, and kernels that are drawn.

usage: judge.py --grout PATH --export PATH litmus
       judge.py --grout PATH --export PATH drawn FIRST COUNT
       judge.py --export PATH explain FILE...

What the axioms say of a program: which pairs of accesses race in some execution, and which executions never end. Where
a pair is in order only by a ruling of docs/memory_model.md, the ruling is named. A litmus program whose verdict differs
has to be in EXPECTED, with the reason. For a drawn kernel the verdicts have to be the same, and each pair that the
checker reports has to be a race by the axioms.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.dirname(HERE))
import draw
import families
import order
import stale
from actor_ops import Past
from limit import SECONDS
from machine import Machine
from program import NotExpressed, Program

RACES = {"gmem-race", "smem-race", "same-value-race", "cluster-smem-reuse", "smem-source-reuse", "mma-operand-reuse",
         "accumulator-in-flight", "async-not-awaited", "gmem-write-not-visible", "insufficient-scope",
         "missing-commit-smem", "missing-commit-smem-war", "missing-commit-gmem",
         "tmem-race", "tmem-load-not-awaited", "tmem-store-not-committed", "tensor-core-order", "tensor-pipe-order"}
OTHERS = {"cluster-exit", "pair-leader", "async-at-exit", "init-not-visible", "barrier-uninitialised", "deadlock",
          "barrier-too-many-arrivals"}
# What grout asks for beyond the order of accesses: that one of its own rules is kept.
OWN_RULES = {"barrier-overrun", "barrier-unobserved-phase", "barrier-partial-at-end", "semaphore-not-restored",
             "semaphore-ambiguous", "barrier-tx-mismatch", "cancel-after-failure", "collective-divergence",
             "uninitialised-read", "output-not-written", "unused-result", "barrier-wrong-parity"}


def judge(exported):
    """(findings that no ruling excuses, all findings, pairs that only observation orders) of one exported program."""
    if "launches" in exported:
        findings, observed = judge_list(exported["launches"])
    else:
        machine = Machine(Program(exported))
        findings, observed = machine.run(), machine.observed
    return {f for f, rulings in findings.items() if None in rulings}, findings, observed


def move_to_past(access, number):
    """An access of an earlier grid: no CTA and no thread of a later one is the same."""
    return access._replace(cta=-1 - access.cta, thread=("launch", number) + access.thread)


def judge_list(launches):
    """The same for a launch list. A grid begins with what the one before knew when it began, and what that has
    released, if it depends on it, and else with all; a griddepcontrol_wait shows what the grid before has done, and
    what that had waited for, and comes after all that that knew in the end."""
    findings, observed, arrays, accesses = {}, set(), {}, []
    events = known = awaited = 0
    released = heard = order.NOTHING
    for number, launch in enumerate(launches):
        if not launch["dependent"]:
            known, released = (1 << 3 * events) - 1, order.NOTHING
        params = launch["kernel"]["params"]
        same = {p["object"]: arrays.setdefault(p["name"], p["object"]) for p in params if p["object"]}
        machine = Machine(Program(launch["kernel"], same), Past(accesses, events, known, awaited, released, heard))
        for finding, rulings in machine.run().items():
            findings.setdefault(finding, set()).update(rulings)
        observed |= machine.observed
        before, events, released = events, len(machine.index), machine.released or order.NOTHING
        awaited = machine.over | (1 << 3 * events) - (1 << 3 * before)
        heard = machine.learnt._replace(here=0)
        accesses += [move_to_past(a, number) for a in machine.done if a.place[0] == "gmem"]
    return findings, observed


def export(command, paths):
    done = subprocess.run([command, *paths], capture_output=True, text=True, timeout=SECONDS, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(grout, path, *options):
    """What the checker says, as it prints it for machines."""
    done = subprocess.run([grout, "check", "--format", "json", "-q", "--max-findings", "1000", *options, path],
                          capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        sys.exit("%s: exit code %d: %s%s" % (path, done.returncode, done.stdout[-300:], done.stderr[-300:]))


def show(findings):
    return ", ".join(sorted(
        "%s %d %d%s" % (f.kind, f.line, f.related, "" if None in r else " (%s)" % "/".join(sorted(r)))
        for f, r in findings.items())) or "nothing"


def show_counts(counts):
    return ", ".join("%d %s" % (count, how) for how, count in sorted(counts.items()))


# ---- litmus programs -----------------------------------------------------------------------------

# A rule of grout's own that has no sentence in the PTX ISA: the program does nothing that the axioms forbid.
ONLY_GROUT = {
    "phase-remote-overrun": "a semaphore_read acquires nothing, although no execution can complete the phase too early",
    "cluster-two-rounds": "an arrival takes the place of another one, which nobody can tell from the accesses",
    "co-two-slots-overrun": "bytes of the second round may count in the first phase, which no access here depends on",
    "phase-skipped-mbarrier": "a phase that nobody waits for breaks a rule of mbarrier.arrive, and orders nothing here",
    "pr-two-rounds-too-early": "the bytes of one CTA count in one phase or the next, which no access here depends on",
    "co-boxes-differ": "a collective copy is one copy: its boxes are equal by a rule of grout's, whatever is accessed",
    "mc-uneven-phases": "the bytes count in one phase or the next of the peer, which no access here depends on",
    "ga-two-values": "the lanes of one scatter are one access of the judge, which asks nothing of their order",
    "tr-scatter-conflict": "the rows of one copy are one access of the judge, which asks nothing of their order",
    "sem-two-signallers-one-unit": "whose unit comes first is chance, which no access here depends on",
}
TOO_LARGE = {"co-refill-met-along-both", "co-refill-met-along-each", "co-refill-met-along-one"}


def judge_litmus(exported):
    """(how it went, what to print or None) of one litmus program."""
    name = os.path.basename(exported["file"])[:-len(".grout")]
    with open(exported["file"]) as file:
        is_ordered = re.search(r"// ruling: ([a-z-]+)", file.read()).group(1) == "ordered"
    if name in TOO_LARGE:
        return "not expressed", None
    try:
        firm, findings, _ = judge(exported)
    except NotExpressed as why:
        return "wrong", "%s: not expressed: %s" % (name, why)
    should_differ = name in ONLY_GROUT
    if (bool(firm) == is_ordered) != should_differ:
        return "wrong", "%s: %s, but the axioms find %s" % (
            name, "ordered" if is_ordered else "not ordered", show(findings))
    if should_differ:
        return "a difference that is known", None
    if findings and not firm:
        return "clean by a ruling" if any(r for rulings in findings.values() for r in rulings if r) else "clean", None
    return "as the axioms say", None


def run_litmus(arguments):
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="grout-axioms-") as folder, \
            concurrent.futures.ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        paths = sorted(families.write_programs(folder))
        for how, text in pool.map(judge_litmus, export(arguments.export, paths), chunksize=8):
            counts[how] += 1
            if text:
                print(text)
    print("axioms: %d litmus programs: %s" % (len(paths), show_counts(counts)))
    return counts["wrong"] > 0 or len(paths) < 400


# ---- drawn programs ------------------------------------------------------------------------------

def find_pairs(report):
    """The pairs of lines that the checker reports as unordered, and the codes of everything it reports."""
    pairs, codes = {}, set()
    for finding in report["findings"]:
        codes.add(finding["code"])
        if finding["code"] in RACES and finding["related"]:
            pairs[frozenset((finding["primary"]["line"], finding["related"]["line"]))] = finding["code"]
    return pairs, codes


def find_options(path):
    """What has to be said of a drawn kernel: the hardware, and that flags begin with zero."""
    with open(path) as file:
        arch = re.search(r"^// run: --arch (\w+)", file.read(), re.M)
    zeros = ["--input", "flag=zeros"] if "flags" in os.path.basename(path) else []
    return zeros + (["--arch", arch.group(1)] if arch else [])


def ask(grout, exported):
    """The checker's report; where one schedule is not enough, of all schedules."""
    path = exported["file"]
    options = find_options(path)
    report = check(grout, path, *options)
    if report["verdict"] == "clean" and not holds(report):
        return check(grout, path, "--explore", "--budget", "20", *options)
    return report


def holds(report):
    return all(kernel["holds_for_every_schedule"] for kernel in report["coverage"]["kernels"])


def compare(exported, report):
    """(how it went, what differs or None) of one drawn kernel."""
    try:
        firm, findings, observed = judge(exported)
    except NotExpressed as why:
        return "not expressed", "not expressed: %s" % why
    pairs, codes = find_pairs(report)
    strange = codes - RACES - OTHERS - OWN_RULES
    if strange:
        return "wrong", "a kernel that should not have been drawn: %s" % strange
    hard = {f for f in firm if f.kind != "leftover"}
    if hard and not codes - {"output-not-written", "unused-result", "barrier-wrong-parity", "cancel-after-failure"}:
        if not holds(report):  # 20 seconds are few for tens of thousands of schedules on a busy machine
            return "not explored to the end", None
        return "wrong", "grout is silent; the axioms find %s" % show({f: findings[f] for f in hard})
    asks_more = bool(pairs) and not codes & OTHERS and set(pairs) <= observed
    if not hard and codes & (RACES | OTHERS) and not asks_more:
        return "wrong", "the axioms find %s, grout %s" % (show(findings), ", ".join(sorted(codes)))
    races = {frozenset((f.line, f.related)) for f in firm} | observed
    if any(f.kind in ("deadlock", "overrun") for f in firm):
        races = set(pairs)  # which phase a wait means is open then, and so is what it puts in order
    alone = {code + " %s" % sorted(pair) for pair, code in pairs.items() if pair not in races}
    if alone:
        return "wrong", "grout alone finds %s; the axioms %s" % (", ".join(sorted(alone)), show(findings))
    if hard:
        return "with findings", None
    if asks_more:
        return "atomics in order by observation only", None
    return "clean by a ruling" if any(r for rulings in findings.values() for r in rulings if r) else "clean", None


def judge_drawn(job):
    arguments, seeds = job
    counts, wrong = collections.Counter(), []
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for seed in seeds:
            kind = arguments.kind or draw.KINDS[seed % len(draw.KINDS)]
            paths[seed] = os.path.join(folder, "%s-%d.grout" % (kind, seed))
            with open(paths[seed], "w") as file:
                file.write(draw.draw(kind, seed))
        for exported in export(arguments.export, list(paths.values())):
            name = os.path.basename(exported["file"])
            if "error" in exported:
                counts["not legal"] += 1
                wrong.append("%s: not legal: %s" % (name, exported["error"]))
                continue
            how, text = compare(exported, ask(arguments.grout, exported))
            counts[how] += 1
            if text:
                with open(exported["file"]) as file:
                    wrong.append("%s: %s\n%s" % (name, text, file.read()))
    return counts, wrong


def run_drawn(arguments):
    first, count = int(arguments.rest[0]), int(arguments.rest[1])
    jobs = [(arguments, range(at, min(at + 50, first + count))) for at in range(first, first + count, 50)]
    counts = collections.Counter()
    with concurrent.futures.ProcessPoolExecutor(max_workers=os.cpu_count()) as pool:
        for some, wrong in pool.map(judge_drawn, jobs):
            counts.update(some)
            for text in wrong:
                print(text)
    print("axioms: %d drawn kernels: %s" % (count, show_counts(counts)))
    hollow = (counts["not expressed"] * 50 > count or counts["not explored to the end"] * 500 > count
              or (counts["clean"] + counts["clean by a ruling"]) * 20 <= count
              or counts["with findings"] * 20 <= count)
    return counts["wrong"] + counts["not legal"] > 0 or hollow


def explain(arguments):
    for exported in export(arguments.export, arguments.rest):
        try:
            print("%s: %s" % (exported["file"], show(judge(exported)[1])))
        except NotExpressed as why:
            print("%s: not expressed: %s" % (exported["file"], why))
    return False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", type=os.path.abspath)
    parser.add_argument("--export", type=os.path.abspath, required=True)
    parser.add_argument("--kind", choices=draw.KINDS + tuple(draw.OTHERS), help="all drawn kernels are of this kind")
    parser.add_argument("what", choices=("litmus", "drawn", "explain"))
    parser.add_argument("rest", nargs="*")
    arguments = parser.parse_args()
    way = {"litmus": run_litmus, "drawn": run_drawn, "explain": explain}[arguments.what]
    programs = [path for path in (arguments.export, arguments.grout) if path]
    try:
        is_wrong = way(arguments)
    except Exception:
        print(stale.explain(*programs), end="", file=sys.stderr)
        raise
    print(stale.explain(*programs) if is_wrong else "", end="")
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())
