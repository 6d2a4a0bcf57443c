#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The races that the PTX emulator finds, held against the findings of the checker, for every kernel of the tree.
Needs
NVRTC: 77 without it.

usage: races.py --grout PATH [--interleavings 6] [--jobs 1] [--share N] [--only WORD,..] [--state FILE] [--list]

The checker looks at the kernel, the machine at the PTX that the kernel becomes, and neither knows the other. Two things
are mistakes of one of them, or of the emitter:

- the checker finds no fault of order under any of its schedules, and the machine a race;
- the checker finds a fault of ORDER, and the machine no race in any interleaving.

alone.txt says why, where nothing is wrong: mostly the PTX orders more than the kernel asks for. A fault or a hang that
ends a run comes before what the run would have shown: then each interleaving runs by itself.

--share N takes every N-th file, chosen by its name, and those of FEW.
"""
import argparse
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True  # the folder is a source tree
import comparing
import tree
from comparing import AGREES, DIFFERS, LEFT_OUT, Result

HERE = os.path.dirname(os.path.abspath(__file__))
# Findings that say that two accesses of memory are in no order, as errors.
ORDER = {"accumulator-in-flight", "async-not-awaited", "cluster-smem-reuse", "gmem-race", "gmem-write-not-visible",
         "init-not-visible", "insufficient-scope", "missing-commit-gmem", "missing-commit-smem",
         "missing-commit-smem-war", "mma-operand-reuse", "smem-race", "smem-source-reuse", "tensor-core-order",
         "tensormap-in-flight", "tmem-load-not-awaited", "tmem-race", "tmem-store-not-committed"}
# Faults that let threads go on which should wait, or end the run: the machine may find a race, too.
MAYBE = {"async-at-exit", "barrier-overrun", "barrier-partial-at-end", "barrier-skipped-phase",
         "barrier-too-many-arrivals", "barrier-tx-mismatch", "barrier-uninitialised", "barrier-unobserved-phase",
         "barrier-wrong-parity", "cluster-exit", "named-barrier-mismatch", "named-barrier-range", "out-of-bounds",
         "pair-leader", "scatter-conflict", "semaphore-ambiguous", "tensor-pipe-order", "uninitialised-read"}
# One rule each that was wrong once, of the search or of the emitter.
FEW = ("tests/behaviour/cluster_barriers/from-one-cta.grout",
       "tests/behaviour/collective_scopes/columns-of-a-peer.grout",
       "tests/behaviour/gmem/store-behind-a-reduction.grout", "tests/edges/ended-after-a-peer.grout",
       "tests/edges/multiplied-by-a-pair.grout",
       "tests/litmus/cp_async/cp-arrive-later-copy.grout", "tests/litmus/gathers/ga-equal-values.grout",
       "tests/litmus/gmem_between_ctas/gmem-cta-load-relaxed-write.grout",
       "tests/litmus/mbarrier_init/init-branch-remote-relayed.grout",
       "tests/litmus/mbarrier_init/init-branch-remote-told.grout",
       "tests/litmus/mbarrier_init/init-named-wait-relaxed.grout",
       "tests/litmus/message_passing_by_mbarrier/mp-no-vouching-in-gmem.grout",
       "tests/litmus/ordered_atomics/atomic-cas-fails.grout", "tests/litmus/tensor_maps/tm-again.grout",
       "tests/litmus/tensor_maps/tm-store-again.grout", "tests/litmus/tma_rows/tr-scatter-same-rows.grout")
# A wait that is missing between two copies, which may write the same: the checker asks for the wait all the same.
AWAITED = {"accumulator-in-flight", "async-not-awaited", "gmem-write-not-visible", "tmem-store-not-committed"}
NO_END = {"deadlock", "step-limit"}
RACE = "ptx-race"
SAME = "same-value-race"  # a warning of both
HANG = "ptx-hang"
LIMIT = "limit-reached"  # of steps: it waits and looks for ever
STOPPED = ("ptx-fault", HANG)
SECONDS = 60  # of the processor, for a run: some wait for what a mistake has kept away
MORE = (60, 600)  # interleavings, before a race that the machine does not find is a difference
SCHEDULES = 12  # of the checker, before a race that it does not know is a difference


OVERLAPS = re.compile(r"^[ \t]*launch @.*\bdependent\b", re.M)  # the machine runs launches one after the other


class Codes:
    """The findings in a kernel. A warning of ORDER is about what another rule than that of PTX may ask for."""

    def __init__(self, judged):
        self.all = set(tree.list_codes(judged.report, judged.kernel))
        self.order = set(tree.list_codes(judged.report, judged.kernel, "error")) & ORDER
        self.maybe = self.all & (ORDER | MAYBE)


class Reasons:
    """alone.txt: 'WHO: REASON' by the name of a kernel, and of classes (code, pattern)."""

    def __init__(self):
        self.of_names, self.of_classes, reason = {}, [], ""
        for line in tree.read(os.path.join(HERE, "alone.txt")).split("\n"):
            if line.startswith("= "):
                reason = line[2:].strip()
            elif line.startswith("class "):
                self.of_classes.append((*line.split(" ", 2)[1:], reason))
            elif line.strip() and not line.startswith("#"):
                self.of_names[line.strip()] = reason
                if not os.path.exists(re.sub("(?<=[.]grout)[@ ].*", "", line.strip())):
                    sys.exit(f"alone.txt names {line.strip()}, which is not there")

    def get(self, judged, codes):
        """Why only one side may find a race; "": both have to, or none."""
        if judged.name in self.of_names:
            return self.of_names[judged.name]
        text = tree.read(judged.case.path)
        if codes.order and not judged.kernel and OVERLAPS.search(text):
            return "checker: The machine runs launches one after the other, also those that overlap."
        return next((reason for code, pattern, reason in self.of_classes
                     if codes.order == (set() if code == "none" else {code}) and re.search(pattern, text)), "")


def run_machine(arguments, case, interleavings, seed=0):
    """(code, text): the code of what ended the runs, "" if they came to their end."""
    command = [arguments.grout, "run", case.path, *case.options, "--device", "ptx", "--check", "--numerics", "exact",
               "--seed", str(seed), "--interleavings", str(interleavings)]
    if interleavings == 1:
        command += ["--timing", ("random", "lazy", "eager")[seed % 3]]
    code, out, err = comparing.call(command, arguments.seconds)
    text = "\n".join(f"$ {' '.join(command)}\n{out}{err}".split("\n")[:comparing.LINES_SHOWN])
    if "[nvrtc-missing]" in out + err:
        raise comparing.NoNvrtc
    if code == -9:  # past its time
        return HANG, text
    found = "" if code == 0 else comparing.get_code(out + err)[0] or str(code)
    if code == 0 and f"[{SAME}]" in out + err:
        found = SAME
    return HANG if found == LIMIT else found, text


def search(arguments, case, wants_race):
    """The same of all interleavings. If a race is wanted: of more, and, where something else came first, of each
    alone."""
    found, text = run_machine(arguments, case, arguments.interleavings)
    for count in MORE if wants_race else ():
        if not found:
            found, text = run_machine(arguments, case, count)
    for seed in range(arguments.interleavings if wants_race and found in STOPPED else 0):
        again, its_text = run_machine(arguments, case, 1, seed)
        if again == RACE:
            return again, its_text
    return found, text


def check_elsewhere(arguments, case, kernel):
    """The faults of order that the checker finds under other schedules."""
    codes = set()
    # With few CTAs resident, one of them gets many clusters, as it may in the machine.
    few = ["--resident", "1"] if "try_cluster_cancel" in tree.read(case.path) else []
    for seed in range(1, SCHEDULES + 1):
        options = ["--schedule", "random", "--seed", str(seed), "--timing", ("lazy", "eager", "random")[seed % 3],
                   *(few if seed % 2 == 0 else [])]
        report, _ = tree.check(arguments, case.path, [*case.options, *options])
        if report is not None:
            codes |= set(tree.list_codes(report, kernel))
    return codes & (ORDER | MAYBE)


RELAXED = re.compile(r"(\bm?barrier_\w+[^\n]*?) order\(relaxed\)((?:[^\n]*scope\()?)")


def make_strong(found):
    """A relaxed operation with the scope that it names, or for the CTA."""
    return found[1] + (found[2] or " scope(cta)")


def judge_as_emitted(arguments, judged):
    """The kernel with each relaxed operation of an mbarrier as one for the CTA, as it is in the PTX of a kernel with
    engines; None:
    it has none."""
    text = tree.read(judged.case.path)
    strong = RELAXED.sub(make_strong, text)
    if strong == text:
        return None
    beside = judged.case.path[:-len(".grout")] + ".emitted.grout"
    with open(beside, "w", encoding="utf-8") as file:
        file.write(strong)
    report, _ = tree.check(arguments, beside, judged.case.options)
    os.remove(beside)
    return None if report is None or report["verdict"] == "invalid" else judged._replace(report=report)


def judge_race(arguments, judged, codes, text, reason):
    """The machine has found a race."""
    if codes.order:
        is_stale = judged.name in arguments.reasons.of_names
        return Result(DIFFERS, "a race for both, which alone.txt names", text) if is_stale \
            else Result(AGREES, "both find a race", "")
    if codes.maybe:
        return Result(AGREES, f"the machine finds a race where the checker says [{min(codes.maybe)}]", "")
    if reason:
        return Result(AGREES, f"for the {reason}", "")
    elsewhere = check_elsewhere(arguments, judged.case, judged.kernel)
    if elsewhere:
        return Result(AGREES, f"both find a race, the checker under another schedule [{min(elsewhere)}]", "")
    return Result(DIFFERS, "a race for the machine alone", text)


def judge_none(judged, codes, found, text, reason, is_named=False):
    """The machine has found none, or equal writes. is_named: the reason is of this kernel alone."""
    is_same = SAME in codes.all
    if not codes.order and not codes.maybe and found not in STOPPED and is_same != (found == SAME):
        return Result(AGREES, f"for the {reason}", "") if reason else \
            Result(DIFFERS, f"[{SAME}] for the {'checker' if is_same else 'machine'} alone", text)
    if not codes.order:
        return Result(DIFFERS, "no race, which alone.txt names", text) if is_named \
            else Result(AGREES, "neither finds a race", "")
    which = min(codes.order)
    if found == SAME and codes.order <= AWAITED:
        return Result(AGREES, f"[{which}] for the checker, equal writes for the machine", "")
    if found in STOPPED:
        return Result(AGREES, f"another fault ends each run: [{which}], [{found}]", "")
    return Result(AGREES, f"for the {reason}", "") if reason \
        else Result(DIFFERS, f"[{which}] for the checker alone", text)


def compare(arguments, judged):
    """What becomes of a kernel."""
    if judged.report is None:
        return Result(LEFT_OUT, judged.why, "")
    if judged.report["verdict"] == "invalid" or not tree.get_facts(judged.report, judged.kernel):
        return Result(LEFT_OUT, "not legal", "")
    codes = Codes(judged)
    if NO_END & codes.all and not codes.order:
        return Result(LEFT_OUT, f"its run does not end [{min(NO_END & codes.all)}]", "")
    reason = arguments.reasons.get(judged, codes)
    found, text = search(arguments, judged.case, codes.order and not reason)
    if found in comparing.NO_CODE or found == "ptx-unsupported":
        return Result(LEFT_OUT, f"no run [{found}]", text)
    if found == RACE:
        return judge_race(arguments, judged, codes, text, reason)
    if found and found not in (*STOPPED, SAME):
        return Result(DIFFERS, f"[{found}]", text)
    result = judge_none(judged, codes, found, text, reason, judged.name in arguments.reasons.of_names)
    emitted = judge_as_emitted(arguments, judged) if result.what == DIFFERS and codes.order else None
    if emitted and judge_none(emitted, Codes(emitted), found, text, "").what == AGREES:
        return Result(AGREES, "for the checker: Relaxed operations of mbarriers are for the CTA in the PTX; so the "
                              "checker agrees", "")
    return result


def main():
    parser = argparse.ArgumentParser()
    tree.add_options(parser, 6)
    parser.set_defaults(seconds=SECONDS)
    arguments = parser.parse_args()

    def work(path):
        text = tree.read(path)
        for run in tree.list_runs(text):
            for it in tree.judge_kernels(arguments, folder, path, text, run):
                yield it.name, tally.get(it.name) or compare(arguments, it)

    with tempfile.TemporaryDirectory(prefix="grout-ptx-") as folder:
        tree.enter(arguments, folder)
        arguments.reasons = Reasons()
        tally = comparing.Tally(arguments.state, arguments.list)
        return comparing.run_all(tree.find_files(arguments, FEW), work, tally, arguments.jobs, arguments.interleavings)


if __name__ == "__main__":
    sys.exit(main())
