"""Mutation self-test: every synchronising operation of a clean kernel is dropped, moved by one, or
weakened, one at a time. Each mutant has to be a finding, or to be proved redundant: clean and well
synchronised (so for every schedule) with the outputs of the original.

usage: mutate.py --grout PATH [--markdown FILE] [--list] KERNEL.grout...

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from kernel_headers import list_outputs
from limit import SECONDS

SYNC = re.compile(
    r"^\s*(?:%\w+ = )?(commit_smem|commit_gmem|fence_async_shared|barrier_arrive|barrier_wait|barrier_test|"
    r"mbarrier_init|mbarrier_expect|mbarrier_arrive_drop|mbarrier_arrive|mbarrier_wait|mbarrier_invalidate|commit_group|"
    r"wait_smem_to_gmem|wgmma_wait|wgmma_sp|wgmma|semaphore_signal|semaphore_wait|block_barrier|"
    r"named_barrier_sync|named_barrier_arrive|cluster_arrive|cluster_wait|cluster_barrier|"
    r"async_copy_commit_group|async_copy_wait|async_copy_arrive|griddepcontrol_wait|tensormap_acquire|try_cluster_cancel|"
    r"tcgen05_commit_arrive|wait_load_tmem|commit_tmem|atomic_\w+)\b(.*)$")
WRITTEN_ORDER = re.compile(r"\border\((release|acquire|acq_rel)\)")
NUMBER = re.compile(r"^\s*(\d+)\b")


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


def weaken(op, code):
    """(what, code) for each weaker or different form of one statement."""
    out = []
    rest = code.split(op, 1)[1]
    if op in ("wait_smem_to_gmem", "wgmma_wait", "async_copy_wait"):
        match = NUMBER.match(rest)
        if match:
            n = int(match.group(1))
            out.append(("one group more in flight",
                        code.replace("%s %d" % (op, n), "%s %d" % (op, n + 1), 1)))
    if op == "wait_smem_to_gmem":
        if "read_only" in code:
            pass  # the full wait is stronger
        else:
            out.append(("read_only", code + " read_only"))
    if op in ("wgmma", "wgmma_sp"):
        out.append((op + "_async", code.replace(op + " ", op + "_async ", 1)))
    if op in ("mbarrier_arrive", "mbarrier_arrive_drop"):
        other = "mbarrier_arrive" if op == "mbarrier_arrive_drop" else "mbarrier_arrive_drop"
        out.append((other, code.replace(op, other, 1)))
    if op in ("barrier_arrive", "mbarrier_arrive", "mbarrier_arrive_drop"):
        out.append(("one arrival more", code + " count(2)" if "count(" not in code else
                    bump(code, "count", 1)))
    if op in ("barrier_arrive", "mbarrier_arrive", "mbarrier_arrive_drop", "mbarrier_expect",
              "semaphore_signal", "barrier_wait", "mbarrier_wait", "semaphore_wait", "cluster_arrive",
              "cluster_barrier") and "order(" not in code:
        out.append(("order(relaxed)", code + " order(relaxed)"))
    if op.startswith("atomic_"):
        out.append(("order(relaxed)", WRITTEN_ORDER.sub("order(relaxed)", code)))
    if op in ("semaphore_signal", "semaphore_wait"):
        match = re.search(r", (\d+)", code)
        if match:
            n = int(match.group(1))
            for value in (n - 1, n + 1):
                if value > 0:
                    out.append(("%d units" % value,
                                code[:match.start(1)] + str(value) + code[match.end(1):]))
    if op == "mbarrier_wait":
        match = re.search(r", (.+?)( order.*| scope.*)?$", code)
        if match:
            out.append(("other parity", code[:match.start(1)] + "(xor (%s), 1)" % match.group(1) +
                        code[match.end(1):] if match.group(1).strip() not in ("0", "1") else
                        code[:match.start(1)] + str(1 - int(match.group(1))) + code[match.end(1):]))
    return [(what, text) for what, text in out if text is not None and text != code]


def objects(lines):
    """Mutants of declarations: other numbers of arrivals; of a barrier that orders the tensor core, one that does not."""
    for i, line in enumerate(lines):
        code, comment = split_comment(line)
        if re.search(r"^\s*scratch %\w+\s*: barrier", code):
            has = "arrivals(" in code
            for by in (-1, 1):
                text = bump(code, "arrivals", by) if has else (
                    code + " arrivals(2)" if by > 0 else None)
                if text is not None:
                    yield i, "arrivals %+d" % by, {i: text}
            if " orders_tensor_core" in code:
                yield i, "no orders_tensor_core", {i: code.replace(" orders_tensor_core", "")}


def mutants(lines):
    for i, line in enumerate(lines):
        code, comment = split_comment(line)
        match = SYNC.match(code)
        if match is None:
            continue
        op = match.group(1)
        # A wgmma computes: only what it waits for is synchronisation. Of an atomic it is its order.
        if op not in ("wgmma", "wgmma_sp") and not op.startswith("atomic_") and not code.lstrip().startswith("%"):
            yield i, "drop %s" % op, {i: ""}
            for step, name in ((1, "down"), (-1, "up")):
                k = neighbour(lines, i, step)
                if k is not None:
                    yield i, "move %s %s" % (op, name), {i: lines[k], k: lines[i]}
        for what, text in weaken(op, code):
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
    done = subprocess.run(command + options, capture_output=True, text=True, cwd=folder)
    if done.returncode not in (0, 1, 2, 3):
        raise RuntimeError("%s: exit %d: %s" % (path, done.returncode, done.stderr[-2000:]))
    digest = hashlib.sha256()
    for name in outputs:
        file = os.path.join(folder, name + ".npy")
        digest.update(open(file, "rb").read() if os.path.exists(file) else b"none")
    return json.loads(done.stdout), digest.digest()


def get_settings(text):
    """The options of each '// run:' line, without --explore; one without options if there is none."""
    lines = re.findall(r"^// run: (.*)$", text, re.M)
    return [[w for w in line.split() if w != "--explore"] for line in lines] or [[]]


def run(grout, path, folder, options):
    """(verdict, codes, certified, digest of the outputs) of all kernels of a file, at all its sizes, up to the first
    that has findings."""
    text = open(path).read()
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
        if verdict == "clean" and digest == expected and "try_cluster_cancel" in text:
            return is_as_good(grout, path, folder, expected)
        if verdict == "clean" and not certified:
            verdict, codes, certified, digest = run(grout, path, folder, ["--explore", "--budget", str(SECONDS)])
            if verdict == "error" or codes:
                return "caught", codes
        if verdict == "clean" and certified and digest == expected:
            return "redundant", []
        return "survived", ["%s, %s" % (verdict, "other outputs" if digest != expected else
                                        "not certified")]


def strip_expectations(text):
    return re.sub(r"// expect[-a-z]*:.*", "", text)


def work(grout, path, pool):
    text = strip_expectations(open(path).read())
    lines = text.split("\n")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with open(copy, "w") as out:
            out.write(text)
        verdict, codes, certified, expected = run(grout, copy, folder, [])
    if verdict != "clean" or codes:
        raise RuntimeError("%s is not clean: %s" % (path, codes))
    jobs = []
    for line, what, changes in mutants(lines):
        changed = [changes.get(i, old) for i, old in enumerate(lines)]
        jobs.append((line + 1, what,
                     pool.submit(judge, grout, path, "\n".join(changed), expected)))
    return [(line, what) + job.result() for line, what, job in jobs]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--markdown")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("kernels", nargs="+")
    arguments = parser.parse_args()
    survived = 0
    rows = []
    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for path in arguments.kernels:
            results = work(os.path.abspath(arguments.grout), path, pool)
            count = {k: sum(r[2] == k for r in results)
                     for k in ("caught", "redundant", "tried", "survived")}
            survived += count["survived"]
            rows.append((path, results, count))
            tried = ", %d as good under %d schedules" % (count["tried"], len(OTHERS)) if count["tried"] else ""
            print("%s: %d mutants, %d caught, %d proved redundant%s, %d survived" %
                  (path, len(results), count["caught"], count["redundant"], tried, count["survived"]))
            for line, what, verdict, codes in results:
                if verdict == "survived" or arguments.list:
                    print("  %s:%d: %s: %s %s" % (path, line, what, verdict, ", ".join(codes)))
    if arguments.markdown:
        write_markdown(arguments.markdown, rows)
    print("%d mutants, %d survived" % (sum(len(r[1]) for r in rows), survived))
    return 1 if survived else 0


def write_markdown(path, rows):
    with open(path, "w") as out:
        out.write("# Mutation self-test\n\nEvery synchronising operation of every clean kernel, dropped, moved by one "
                  "or weakened, one at a time. Each mutant is a finding, or is proved\nredundant: clean for every "
                  "schedule, with the same outputs. Where launch control hands out the work no verdict is about\n"
                  "every schedule: there `tried` means clean under a few, with the same outputs. Written by `make mutation`; a "
                  "test holds it to the kernels.\n\n"
                  "| kernel | mutants | caught | proved redundant | survived |\n|---|---|---|---|---|\n")
        for kernel, results, count in rows:
            out.write("| %s | %d | %d | %d | %d |\n" % (os.path.basename(kernel), len(results),
                                                         count["caught"], count["redundant"] + count["tried"],
                                                         count["survived"]))
        for kernel, results, count in rows:
            out.write("\n## %s\n\n| line | mutant | verdict |\n|---|---|---|\n" % os.path.basename(kernel))
            for line, what, verdict, codes in results:
                words = ", ".join("`%s`" % c for c in codes) if verdict == "caught" else verdict
                out.write("| %d | %s | %s |\n" % (line, what, words))


if __name__ == "__main__":
    sys.exit(main())
