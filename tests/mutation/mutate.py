"""Mutation self-test: every synchronising operation of a clean kernel is dropped, moved by one, or
weakened, one at a time. Each mutant has to be a finding, or to be proved redundant: clean and well
synchronised (so for every schedule) with the outputs of the original.

Which operations synchronise, and which weaker forms they have, is said by sync.def and ops.def
(sync_table.py): a new line there has mutants without a change here.

usage: mutate.py --grout PATH [--few N] [--totals FILE] [--markdown FILE] [--list] KERNEL.grout...

--few: of the mutants of a kernel that do the same to the same operation the first N alone. --totals writes a page with
a row for each kernel, and the mutants that survive; --markdown one with a row for each mutant.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import families
import sync_table
from kernel_headers import list_outputs
from limit import SECONDS

TABLE = sync_table.load()
# By mnemonic, the weaker operations that are written in its place by mistake: they do the same, or their part of a
# meeting.
MISTAKEN = {op: [other for other, row in TABLE.items()
                 if row.meant == op and TABLE[op].mode in (row.mode, "MEETS")] for op in TABLE}
# What starts an engine computes something, and what forks has blocks: they are not dropped or moved. Where one waits
# for its engine, the same without that wait is weaker.
WORKING = ("STARTS", "FORKS")
CHANGED = [op for op, row in TABLE.items() if row.mode not in WORKING or MISTAKEN[op]]
SYNC = re.compile(r"^\s*(?:%%\w+ = )?(%s|atomic_\w+)\b(.*)$" % "|".join(sorted(CHANGED, key=len, reverse=True)))
WRITTEN_ORDER = re.compile(r"\border\((release|acquire|acq_rel)\)")
# Attributes without which an operation reaches fewer, and with which it does less.
REACHING, LESSENING = ("cluster", "collective_axis", "multicast"), ("read_only", "no_decrement")
ATTRIBUTE = re.compile(r" (%s)\(" % "|".join(sorted(set().union(*(row.attributes for row in TABLE.values())))))
NUMBER = re.compile(r"\d+\b")


def split_comment(line):
    at = line.find("//")
    return (line, "") if at < 0 else (line[:at].rstrip(), line[at:])


def is_statement(line):
    code = split_comment(line)[0].strip()
    return code != "" and not code.endswith("{") and not code.startswith("}") and \
        not code.startswith("yield") and not code.startswith("scratch")


def indent_of(line):
    return len(line) - len(line.lstrip())


def neighbour(lines, i, step):
    """The next statement in the same block, comments and blank lines passed over; None: none."""
    k = i + step
    while 0 <= k < len(lines) and split_comment(lines[k])[0].strip() == "":
        k += step
    if 0 <= k < len(lines) and is_statement(lines[k]) and indent_of(lines[k]) == indent_of(lines[i]):
        return k
    return None


def bump(text, name, by):
    """name(N) with another N; None if there is none, or it would become less than 1."""
    match = re.search(name + r"\((\d+)\)", text)
    if match is None or int(match.group(1)) + by < 1:
        return None
    return text[:match.start()] + "%s(%d)" % (name, int(match.group(1)) + by) + text[match.end():]


def replace_operand(code, op, index, make):
    """The operand becomes what make says of it; None if that is None, or there is no such operand."""
    start = code.index(op) + len(op)
    end = min((match.start() for match in re.finditer(r" [a-z_]+\(| [a-z_]+$", code) if match.start() >= start),
              default=len(code))
    operands, depth = [start], 0
    for i in range(start, end):
        depth += (code[i] in "([") - (code[i] in ")]")
        if code[i] == "," and depth == 0:
            operands.append(i + 1)
    if index >= len(operands):
        return None
    low = operands[index] + 1  # after the space
    high = operands[index + 1] - 1 if index + 1 < len(operands) else end
    made = make(code[low:high])
    return None if made is None else code[:low] + made + code[high:]


def add_to(by):
    """What an operand that is a number becomes; None of another, and less than 1 with less."""
    return lambda text: str(int(text) + by) if NUMBER.fullmatch(text) and (by > 0 or int(text) + by > 0) else None


def turn_parity(text):
    return str(1 - int(text)) if text in ("0", "1") else "(xor (%s), 1)" % text


def change_numbers(row, op, code):
    """(what, code): other numbers of groups, arrivals and units, and the other parity."""
    if row.covers and "k" in row.letters:
        yield "one group more in flight", replace_operand(code, op, 0, add_to(1))
    if "wait" in row.attributes and "wait(" in code:
        yield "one group more in flight", re.sub(r"\bwait\((\d+)\)", lambda m: "wait(%d)" % (int(m[1]) + 1), code)
    if "count" in row.attributes:
        yield "one arrival more", code + " count(2)" if "count(" not in code else bump(code, "count", 1)
    for by in (-1, 1) if row.mode == "MAKES" else ():
        yield "arrivals %+d" % by, replace_operand(code, op, 1, add_to(by))
    for by in (-1, 1) if row.object == "SEMAPHORE" and row.letters == "ei" else ():
        yield "units %+d" % by, replace_operand(code, op, 1, add_to(by))
    if "p" in row.letters:
        yield "other parity", replace_operand(code, op, row.letters.index("p"), turn_parity)


def change_attributes(row, code, is_in_clusters):
    """(what, code): an order and a scope that are meant, where none is written; what reaches fewer, what does less."""
    has_order = "order" in row.attributes and row.side != "NONE"
    if has_order and "order(" not in code:
        yield "order(relaxed)", code + " order(relaxed)"
    # Without clusters those who share an object of the CTA are its threads.
    is_wider = row.scope == "SYS" or (row.scope == "SHARERS" and is_in_clusters)
    if "scope" in row.attributes and is_wider and "scope(" not in code and "order(relaxed)" not in code:
        yield "scope(cta)", code + " scope(cta)"
    for word in REACHING:
        if word in row.attributes:
            yield "no " + word, re.sub(r" %s(\([^()]*\)|\b(?!\())" % word, "", code)
    for word in LESSENING:
        if word in row.attributes and word not in code:
            yield word, code + " " + word


def weaken(op, code, is_in_clusters=True):
    """(what, code) for each weaker or different form of one statement."""
    out = [("order(relaxed)", WRITTEN_ORDER.sub("order(relaxed)", code))]
    row = TABLE.get(op)
    if row is not None:  # no atomic
        for other in MISTAKEN[op]:
            if set(ATTRIBUTE.findall(code)) <= TABLE[other].attributes:
                out.append((other, re.sub(r"\b%s\b" % op, other, code, count=1)))
        out.extend(change_numbers(row, op, code))
        out.extend(change_attributes(row, code, is_in_clusters))
    return [(what, text) for what, text in out if text is not None and text != code]


def objects(lines):
    """Mutants of declarations: other numbers of arrivals; of a barrier that orders the tensor core, one that does
    not."""
    for i, line in enumerate(lines):
        code, _comment = split_comment(line)
        if re.search(r"^\s*scratch %\w+\s*: barrier", code):
            has = "arrivals(" in code
            for by in (-1, 1):
                text = bump(code, "arrivals", by) if has else (
                    code + " arrivals(2)" if by > 0 else None)
                if text is not None:
                    yield i, "arrivals %+d" % by, {i: text}
            if " orders_tensor_core" in code:
                yield i, "no orders_tensor_core", {i: code.replace(" orders_tensor_core", "")}


def can_go(op, code):
    """Whether a statement can be dropped or moved: it has no result, no blocks and computes nothing."""
    row = TABLE.get(op)
    return row is not None and row.mode not in WORKING and not code.lstrip().startswith("%") and is_statement(code)


def mutants(lines):
    """(line from 0, what, the lines that change) of each mutant."""
    is_in_clusters = any("cluster(" in split_comment(line)[0] for line in lines)
    for i, line in enumerate(lines):
        code, _comment = split_comment(line)
        match = SYNC.match(code)
        if match is None:
            continue
        op = match.group(1)
        if can_go(op, code):
            yield i, "drop %s" % op, {i: ""}
            for step, name in ((1, "down"), (-1, "up")):
                k = neighbour(lines, i, step)
                if k is not None:
                    yield i, "move %s %s" % (op, name), {i: lines[k], k: lines[i]}
        for what, text in weaken(op, code, is_in_clusters):
            yield i, "%s: %s" % (op, what), {i: text}
    yield from objects(lines)


def run_kernel(grout, path, folder, kernel, outputs, options):
    command = [grout, "check", path, "--kernel", kernel, "--format", "json", "-q", "--timeout", str(SECONDS)]
    for name in outputs:
        file = os.path.join(folder, name + ".npy")
        command += ["--output", "%s=%s" % (name, file)]
        if os.path.exists(file):
            os.remove(file)
    # An exploration writes the schedules that it finds where it runs.
    done = subprocess.run(command + options, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode not in (0, 1, 2, 3):
        raise RuntimeError("%s: exit %d: %s" % (path, done.returncode, done.stderr[-2000:]))
    digest = hashlib.sha256()
    for name in outputs:
        file = os.path.join(folder, name + ".npy")
        digest.update(pathlib.Path(file).read_bytes() if os.path.exists(file) else b"none")
    return json.loads(done.stdout), digest.digest()


def get_settings(text):
    """The options of each '// run:' line, without --explore; one without options if there is none."""
    lines = re.findall(r"^// run: (.*)$", text, re.M)
    return [[w for w in line.split() if w != "--explore"] for line in lines] or [[]]


def run(grout, path, folder, options):
    """(verdict, codes, certified, digest of the outputs) of all kernels of a file, at all its sizes, up to the first
    that has findings."""
    text = pathlib.Path(path).read_text(encoding="utf-8")
    verdicts, codes, certified, digest = set(), set(), True, hashlib.sha256()
    for name, outputs in list_outputs(text):
        for setting in get_settings(text):
            report, bytes_ = run_kernel(grout, path, folder, "@" + name, outputs, setting + options)
            verdicts.add(report["verdict"])
            codes |= {f["code"] for f in report["findings"]}
            certified &= all(k.get("holds_for_every_schedule")
                             for k in report["coverage"]["kernels"])
            digest.update(bytes_)
            if codes or report["verdict"] in ("invalid", "error"):
                return report["verdict"], sorted(codes), False, ""
    worst = next(v for v in ("invalid", "error", "incomplete", "clean") if v in verdicts)
    return worst, sorted(codes), certified, digest.hexdigest()


# by name: no other operation hands out CTAs, so that no verdict is about every schedule
LAUNCH_CONTROL = "try_cluster_cancel"
# A kernel that launch control hands work to has no certificate: its mutants are tried under these.
OTHERS = [["--schedule", schedule, "--seed", str(seed), "--timing", timing] for seed, (schedule, timing) in enumerate((
    ("random", "lazy"), ("random", "random"), ("pct:3", "lazy"), ("random", "eager"), ("random", "lazy"),
    ("pct:2", "random")))]


def is_as_good(grout, path, folder, expected):
    """Whether it is clean under other schedules and timings too, with the outputs of the original."""
    for options in OTHERS:
        verdict, codes, _, digest = run(grout, path, folder, options)
        if verdict != "clean" or codes:
            return "caught", codes
        if digest != expected:
            return "survived", ["other outputs"]
    return "tried", []


def judge(grout, original, text, expected):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, os.path.basename(original))
        with open(path, "w") as out:
            out.write(text)
        verdict, codes, certified, digest = run(grout, path, folder, [])
        if verdict in ("error", "invalid"):
            return "caught", codes
        if codes:
            return "caught", codes  # by a warning
        if verdict == "clean" and digest == expected and LAUNCH_CONTROL in text:
            return is_as_good(grout, path, folder, expected)
        if verdict == "clean" and not certified:
            verdict, codes, certified, digest = run(grout, path, folder, ["--explore", "--budget", str(SECONDS)])
            if verdict == "error" or codes:
                return "caught", codes
        if verdict == "clean" and certified and digest == expected:
            return "redundant", []
        return "survived", ["%s, %s" % (verdict, "other outputs" if digest != expected else
                                        "not certified")]


def measure(function, *arguments):
    """What it returns, and after that its seconds."""
    start = time.monotonic()
    return *function(*arguments), time.monotonic() - start


def strip_expectations(text):
    return re.sub(r"// expect[-a-z]*:.*", "", text)


def name_kind(lines, line, what):
    """(operation, what) of a mutant; the operation of a declaration is 'scratch'."""
    match = SYNC.match(split_comment(lines[line])[0])
    return match.group(1) if match else "scratch", what


def choose(lines, few):
    """All mutants, or of each kind the first few."""
    seen = collections.Counter()
    for line, what, changes in mutants(lines):
        kind = name_kind(lines, line, what)
        seen[kind] += 1
        if few is None or seen[kind] <= few:
            yield line, what, changes


def work(grout, path, pool, few):
    text = strip_expectations(families.read_kernel(path))
    lines = text.split("\n")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "w") as out:
            out.write(text)
        verdict, codes, _certified, expected = run(grout, copy, folder, [])
    if verdict != "clean" or codes:
        raise RuntimeError("%s is not clean: %s" % (path, codes))
    jobs = []
    for line, what, changes in choose(lines, few):
        changed = [changes.get(i, old) for i, old in enumerate(lines)]
        jobs.append((line + 1, what,
                     pool.submit(measure, judge, grout, path, "\n".join(changed), expected)))
    return [(line, what) + job.result() for line, what, job in jobs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--few", type=int)
    parser.add_argument("--totals")
    parser.add_argument("--markdown")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("kernels", nargs="+")
    arguments = parser.parse_args()
    survived = 0
    rows = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for path in arguments.kernels:
            results = work(os.path.abspath(arguments.grout), path, pool, arguments.few)
            count = {k: sum(r[2] == k for r in results)
                     for k in ("caught", "redundant", "tried", "survived")}
            survived += count["survived"]
            rows.append((path, results, count))
            tried = ", %d as good under %d schedules" % (count["tried"], len(OTHERS)) if count["tried"] else ""
            print("%s: %d mutants, %d caught, %d proved redundant%s, %d survived; %.0f s" %
                  (path, len(results), count["caught"], count["redundant"], tried, count["survived"],
                   sum(r[4] for r in results)), flush=True)
            for line, what, verdict, codes, _ in results:
                if verdict == "survived" or arguments.list:
                    print("  %s:%d: %s: %s %s" % (path, line, what, verdict, ", ".join(codes)))
    if arguments.totals:
        write_totals(arguments.totals, rows)
    if arguments.markdown:
        write_markdown(arguments.markdown, rows)
    print("%d mutants, %d survived" % (sum(len(r[1]) for r in rows), survived))
    return 1 if survived else 0


TOTALS = """# Mutation self-test

Every synchronising operation of every clean kernel, dropped, moved by one or weakened, one at a time. `sync.def`
says which operations these are, and which weaker forms they have. Each mutant is a finding, or is proved redundant:
clean for every schedule, with the same outputs. Where launch control hands out the work no verdict is about every
schedule: a redundant one is clean under a few there, with the same outputs. Written by `make mutation`, with a
row for each mutant in `build/mutation.md`; the tests try a share of these each time (`mutation/kernels`).

| kernel | mutants | caught | proved redundant | survived |
|---|---|---|---|---|
"""


def write_totals(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write(TOTALS)
        for kernel, results, count in rows:
            redundant = count["redundant"] + count["tried"]
            out.write(f"| {os.path.basename(kernel)} | {len(results)} | {count['caught']} | {redundant} | "
                      f"{count['survived']} |\n")
        write_mutants(out, [(kernel, [r for r in results if r[2] == "survived"]) for kernel, results, _ in rows])


def write_markdown(path, rows):
    with open(path, "w", encoding="utf-8") as out:
        out.write("# Mutants\n")
        write_mutants(out, [(kernel, results) for kernel, results, _ in rows])


def write_mutants(out, kernels):
    for kernel, results in kernels:
        if results:
            out.write(f"\n## {os.path.basename(kernel)}\n\n| line | mutant | verdict |\n|---|---|---|\n")
        for line, what, verdict, codes, _ in results:
            words = ", ".join(f"`{c}`" for c in codes) if verdict == "caught" else verdict
            out.write(f"| {line} | {what} | {words} |\n")


if __name__ == "__main__":
    sys.exit(main())
