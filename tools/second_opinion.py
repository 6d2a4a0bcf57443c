"""Asks another checker about the PTX that grout emits, and compares the verdicts.

usage: second_opinion.py --grout PATH [--work build/second-opinion] [--jobs 2] [--seconds 60] [-v] [PATH...]

The other checker is SentryWard, which reads PTX and knows nothing of grout. It comes from PyPI into
a virtual environment below --work, once. PATH are .grout files or folders; by default kernels/,
tests/corpus and tests/litmus. Each kernel is emitted as PTX with its manifest, which becomes
SentryWard's input, and checked by both. The table counts how the verdicts meet; every kernel where
one finds something and the other does not is listed, with the reason if it is a known one. A second
table counts what grout's own search for races of the same PTX says ('grout run --device ptx --check'),
which like SentryWard knows nothing of the kernel.

Exit code: 0 if every difference has a reason, 1 if one has none, 2 if SentryWard cannot be had.

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests"))
import families

PACKAGE = "sentryward==0.1.1"
FOLDERS = ("kernels", "tests/corpus", "tests/litmus")
KERNEL = re.compile(r"^kernel @(\w+)", re.M)
# What SentryWard says of a kernel that it has read.
FINDINGS = ("not_wellsynced", "potential_race", "invalid_lifecycle")

# Why grout alone reports such a kernel. The first two: "fences and the full PTX memory model are not
# modeled" (SentryWard's README, 0.1.1). The others were seen in kernels that differ in nothing else.
ONLY_GROUT = {
    "missing-commit-smem": "fences are not modelled",
    "missing-commit-smem-war": "fences are not modelled",
    "missing-commit-gmem": "fences are not modelled",
    "insufficient-scope": "relaxed is taken for acquire and release",
    "async-at-exit": "copies in flight at the end are not looked at",
    "cluster-exit": "that a peer ends is not looked at",
    "barrier-partial-at-end": "the end of a barrier is not looked at",
    "barrier-unobserved-phase": "the end of a barrier is not looked at",
    "barrier-uninitialised": "a second init of a live mbarrier is not looked at",
    "collective-divergence": "a rule of collective copies, not of PTX",
}
# Other kernels where one alone reports something, each judged by the PTX ISA (docs/compared.md).
AHEAD = "only SentryWard", "arrival ahead of a peer's wait"
PAST = "only grout", "a completion is taken to release its issuer's past"
JUDGED = {
    "tests/corpus/buffer_reuse/rb_46_leader_ahead_of_receiver.fix.grout": AHEAD,
    "tests/litmus/cluster_message_passing/cluster-two-rounds-one-axis.grout": AHEAD,
    "tests/litmus/collective_copies/co-issuer-past.grout": PAST,
    "tests/litmus/message_passing_by_mbarrier/mp-bytes-release-nothing.grout": PAST,
    "tests/litmus/message_passing_by_mbarrier/mp-no-vouching-in-gmem.grout": PAST,
    "tests/litmus/multicast/mc-issuer-past.grout": PAST,
    "tests/litmus/st_async/st-past.grout": PAST,
}


class Unavailable(Exception):
    """SentryWard cannot be had."""


def prepare(work):
    """The command of the virtual environment's SentryWard, installed if it is not there yet."""
    folder = os.path.join(work, "venv")
    command = os.path.join(folder, "bin", "sentryward")
    python = os.path.join(folder, "bin", "python")
    name, version = PACKAGE.split("==")
    probe = f"import importlib.metadata as m, sys; sys.exit(m.version('{name}') != '{version}')"
    if os.path.exists(command) and subprocess.run([python, "-c", probe], check=False,
                                                  stderr=subprocess.DEVNULL).returncode == 0:
        return command
    venv.create(folder, with_pip=True, clear=True)
    done = subprocess.run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check",
                           "--retries", "1", "--timeout", "15", PACKAGE],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0 or not os.path.exists(command):
        last = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
        raise Unavailable(f"'pip install {PACKAGE}' failed: {last}\n"
                          "  help: this needs PyPI, or a mirror that pip is set up for; run it again "
                          f"when that can be reached (it installs into {folder})")
    return command


def find_kernels(paths):
    """(file, kernel) of every kernel of these paths of the tree."""
    for path in families.find_kernels(paths, "."):
        with open(path, encoding="utf-8") as file:
            for name in KERNEL.findall(file.read()):
                yield path, name


def run(words, seconds):
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, check=False)


ELEMENT = {"bool": "u8", "i8": "u8", "u8": "u8", "i16": "u16", "u16": "u16", "i32": "s32", "u32": "u32",
           "i64": "s64", "u64": "u64", "f16": "f16", "bf16": "bf16", "f32": "f32"}


def describe_map(manifest, index, parameter):
    """A tensor map of the manifest in SentryWard's words."""
    told = manifest["tensor_maps"][index]
    swizzle = told["swizzle_bytes"]
    return {"parameter": parameter, "object": told["array"],
            "element_type": ELEMENT.get(told["dtype"], "u8"), "rank": told["rank"],
            "global_shape": told["dims"], "global_strides_bytes": told["strides_bytes"],
            "box_shape": told["box"], "element_strides": told["element_strides"],
            "swizzle": f"{swizzle}B" if swizzle else "none", "interleave": "none", "oob_fill": "zero"}


def describe_launch(manifest):
    """SentryWard's input: the launch of a manifest."""
    parameters = [(f"{manifest['symbol']}_param_{k}", told)
                  for k, told in enumerate(manifest["parameters"])]
    return {
        "schema": "spverify.kernel-input/v1",
        "launch": {"grid_dim": manifest["grid"], "block_dim": manifest["block"],
                   "cluster_dim": manifest["cluster"],
                   "dynamic_shared_bytes": manifest["dynamic_smem_bytes"]},
        "declarations": [{"parameter": name, "type": "pointer", "space": "global",
                          "object": told.get("array") or f"workspace {told['workspace']}"}
                         for name, told in parameters if told["kind"] in ("array", "workspace")],
        "tma_descriptors": [describe_map(manifest, told["map"], name)
                            for name, told in parameters if told["kind"] == "tensor_map"],
    }


class Opinion:
    """What both say of one kernel."""

    def __init__(self, path, kernel):
        self.path, self.kernel = path, kernel
        self.grout, self.codes = None, []       # verdict; codes of the findings
        self.other, self.reasons = None, []     # SentryWard's result; codes of its diagnostics
        self.ptx = "not run"                    # the PTX emulator: clean, race, another fault, not run

    @property
    def meeting(self):
        if self.other not in FINDINGS + ("race_free",):
            return "not read"
        found, other = bool(self.codes), self.other in FINDINGS
        if found == other:
            return "both report" if found else "both clean"
        return "only grout" if found else "only SentryWard"

    @property
    def known(self):
        """Why it is no surprise that they differ, or None."""
        meeting, reason = JUDGED.get(self.path, (None, None))
        if meeting == self.meeting:
            return reason
        reasons = {ONLY_GROUT.get(code) for code in self.codes}
        return None if self.meeting != "only grout" or None in reasons else ", ".join(sorted(reasons))


def ask_grout(options, opinion):
    done = run([options.grout, "check", "--format", "json", "--kernel", "@" + opinion.kernel,
                opinion.path], options.seconds * 4)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        opinion.grout = "refused"
        return
    opinion.grout = report["verdict"]
    opinion.codes = sorted({f["code"] for f in report["findings"] if f["severity"] in ("error", "warning")})


def ask_other(options, sentryward, opinion):
    name = hashlib.sha256(f"{opinion.path}@{opinion.kernel}".encode()).hexdigest()[:16]
    base = os.path.join(options.work, "kernels", name)
    emitted = run([options.grout, "emit", "--to", "ptx", "-q", "--kernel", "@" + opinion.kernel,
                   "-o", base + ".ptx", "--manifest", base + ".manifest", opinion.path],
                  options.seconds * 4)
    if emitted.returncode != 0:
        opinion.other = "not emitted"
        opinion.reasons = re.findall(r"\[([a-z-]+)\]$", emitted.stderr, re.M)[:1]
        return
    with open(base + ".manifest", encoding="utf-8") as file:
        launch = describe_launch(json.load(file))
    with open(base + ".json", "w", encoding="utf-8") as file:
        json.dump(launch, file, indent=1)
    done = run([sentryward, base + ".ptx", "--input", base + ".json", "--timeout", str(options.seconds)],
               options.seconds * 4)
    with open(base + ".answer", "w", encoding="utf-8") as file:
        file.write(done.stdout)
    try:
        answer = json.loads(done.stdout)
    except ValueError:
        opinion.other = "no answer"
        return
    opinion.other = answer["result"]
    opinion.reasons = [told["code"] for told in answer["diagnostics"]]


def ask_machine(options, opinion):
    done = run([options.grout, "run", "--device", "ptx", "--check", "--interleavings", "3", "--kernel",
                "@" + opinion.kernel, opinion.path], options.seconds * 4)
    said = re.findall(r"\[([a-z-]+)\]$", done.stdout + done.stderr, re.M)
    opinion.ptx = ("clean" if done.returncode == 0 else "race" if "ptx-race" in said
                   else "another fault" if {"ptx-fault", "ptx-hang"} & set(said) else "not run")


def ask_both(options, sentryward, path, kernel):
    opinion = Opinion(path, kernel)
    try:
        ask_other(options, sentryward, opinion)
        ask_grout(options, opinion)
        if opinion.other != "not emitted":
            ask_machine(options, opinion)
    except subprocess.TimeoutExpired:
        opinion.other = opinion.other or "timeout"
    return opinion


MEETINGS = ("both clean", "both report", "only grout", "only SentryWard", "not read")


def print_table(opinions):
    counts = collections.defaultdict(collections.Counter)
    for o in opinions:
        folder = next((f for f in FOLDERS if o.path.startswith(f + "/")), "others")
        for row in (folder, "all"):
            counts[row][o.meeting] += 1
            counts[row]["kernels"] += 1
    print("| folder | kernels | " + " | ".join(MEETINGS) + " |\n|---|" + "---|" * (len(MEETINGS) + 1))
    for row in (*FOLDERS, "others", "all"):
        if row in counts:
            print(f"| {row} | {counts[row]['kernels']} | "
                  + " | ".join(str(counts[row][m]) for m in MEETINGS) + " |")
    unread = collections.Counter((o.other, *o.reasons[:1]) for o in opinions if o.meeting == "not read")
    if unread:
        print("\nNot read, by SentryWard's reason:")
        for reason, count in unread.most_common():
            print(f"{count:6}  {': '.join(reason)}")


def print_machine(opinions):
    """What the search for races of the PTX says, beside SentryWard, and beside grout's checker."""
    answers = ("clean", "race", "another fault", "not run")
    rows = collections.defaultdict(collections.Counter)
    for o in opinions:
        if o.other != "not emitted":
            other = "nothing" if o.other == "race_free" else "something" if o.other in FINDINGS else "not read"
            rows["SentryWard: " + other][o.ptx] += 1
            rows["grout check: " + ("something" if o.codes else "nothing")][o.ptx] += 1
    print("\n| the same PTX | " + " | ".join(answers) + " |\n|---|" + "---|" * len(answers))
    for row in sorted(rows):
        print(f"| {row} | " + " | ".join(str(rows[row][answer]) for answer in answers) + " |")


def print_differences(opinions, is_verbose):
    """Those without a known reason, and how many there are with one. Returns how many have none."""
    known, surprises = collections.Counter(), 0
    print("\nDifferences:")
    for o in opinions:
        if not o.meeting.startswith("only"):
            continue
        if o.known:
            known[o.meeting, o.known] += 1
            if not is_verbose:
                continue
        surprises += o.known is None
        print(f"  {o.meeting}: {o.path} @{o.kernel}: grout {o.grout} {','.join(o.codes)}; "
              f"SentryWard {o.other} {','.join(o.reasons)}; its PTX {o.ptx}" + (f"  [{o.known}]" if o.known else ""))
    for (meeting, reason), count in known.most_common():
        print(f"{count:6}  {meeting}: {reason}")
    return surprises


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    parser.add_argument("--work", default=os.path.join(ROOT, "build", "second-opinion"))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=60, help="of SentryWard, for a kernel")
    parser.add_argument("-v", action="store_true", help="also list the differences that have a reason")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args()
    options.grout, options.work = os.path.abspath(options.grout), os.path.abspath(options.work)
    os.makedirs(os.path.join(options.work, "kernels"), exist_ok=True)
    try:
        sentryward = prepare(options.work)
    except Unavailable as error:
        print(f"second-opinion: {error}", file=sys.stderr)
        return 2
    paths = [os.path.relpath(path, ROOT) for path in options.paths] or FOLDERS
    with tempfile.TemporaryDirectory(prefix="grout-opinion-") as tree, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        os.chdir(families.lay_out(tree))
        kernels = list(find_kernels(paths))
        opinions = list(pool.map(lambda k: ask_both(options, sentryward, *k), kernels))
    print_table(opinions)
    print_machine(opinions)
    surprises = print_differences(opinions, options.v)
    print(f"\n{len(opinions)} kernels, {surprises} differences without a known reason")
    return 1 if surprises else 0


if __name__ == "__main__":
    sys.exit(main())
