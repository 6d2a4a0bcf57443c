"""Completeness of what synchronises: each operation of sync.def is held to the rules by somebody.

- Two litmus programs use it, one that is ordered and one with a finding, and the axioms know it.
- A file of tests/behaviour/ with a finding has to do with it: it uses it, or its repair (NAME-fixed.grout) does.
- A generator of right kernels draws it (tests/random/), and one of kernels whose verdict holds for every schedule
  (tests/certificates/).
- Each form of an arrival is in a kernel whose PTX runs on the CPU (tests/ops/, tests/differential/): on the barrier of
  the own CTA, on that of a peer, by from_cta, on one that counts lanes, on that of a pair.

usage: synchronising.py --list-used PATH --random PATH --synchronised PATH

SPDX-License-Identifier: Apache-2.0
"""
import argparse
import collections
import glob
import os
import re
import sys
import tempfile

import completeness

TESTS = completeness.TESTS
sys.path[:0] = [os.path.join(TESTS, folder) for folder in ("axioms", "mutation")]

import families
import machine  # type: ignore[import-not-found]  # of tests/axioms: for lint_types.py in another part
import sync_table

ORDERED, FOUND, AXIOMS, BEHAVIOUR, RIGHT, CERTIFIED = "ordered", "found", "axioms", "behaviour", "right", "certified"
WHERE = {
    ORDERED: ("no litmus program that is ordered uses it", "write one in the folder of its rule in tests/litmus/"),
    FOUND: ("no litmus program with a finding uses it", "write one in the folder of its rule in tests/litmus/"),
    AXIOMS: ("the axioms do not know it",
             "add it to STEPS of tests/axioms/machine.py, with a function do_.. in sync_ops.py, or to actor_ops.py"),
    BEHAVIOUR: ("no file of tests/behaviour/ with a finding uses it, nor does the repair of one",
                "write NAME.grout, which has a bug, and NAME-fixed.grout"),
    RIGHT: ("no generator of right kernels draws it", "draw it in tests/random/draw_*.c"),
    CERTIFIED: ("no generator of certified kernels draws it", "draw it in tests/certificates/"),
}
FORMS = {"own": "on the barrier of the own CTA", "peer": "on the barrier of a peer, .cluster(..)",
         "from_cta": "from_cta(..)", "lanes": "on a barrier that counts lanes, beside async_copy_arrive",
         "pair": "on the mbarrier of a pair, two_ctas"}
FORM_REPAIR = ("no kernel whose PTX runs has it: write one in tests/differential/arrival_forms.grout, or use it in "
               "tests/ops/")

GROUP = "a group of its thread's own, which no schedule decides: tests/random/ draws it"
PRODUCT = "a product of Hopper waits for nobody but its thread: tests/random/draw_wgmma.c draws it"
LAUNCH = "the kernels that are drawn are launched alone: tests/axioms/draw_releases.py draws launch lists"
POLL = "a loop that polls: tests/axioms/draw_sync.py draws it, and the certificates"
# {(way, operation): why not}. One that is no longer needed fails the test.
EXCEPTIONS = {
    (ORDERED, "set_max_registers"): "it orders nothing, and no access has to do with it",
    (FOUND, "set_max_registers"): "it orders nothing, and no access has to do with it",
    (RIGHT, "barrier_test"): POLL,
    (RIGHT, "mbarrier_test"): POLL,
    (RIGHT, "semaphore_read"): "a loop that polls: the certificates draw it",
    (RIGHT, "mbarrier_invalidate"): "random/lives draws lives of mbarriers, against a model of them",
    (RIGHT, "named_barrier_arrive"): "the certificates draw it, and tests/axioms/draw_sync.py",
    (RIGHT, "copy_gmem_to_smem_im2col"): "tests/ops/ draws its pixels, and waits as for copy_gmem_to_smem",
    (RIGHT, "griddepcontrol_wait"): LAUNCH,
    (RIGHT, "griddepcontrol_launch_dependents"): LAUNCH,
    (RIGHT, "tcgen05_mma_sp_scaled"): "tests/ops/ draws it",
    (RIGHT, "async_copy_smem_to_tmem"): "tests/axioms/draw_tensor.py draws it, and the certificates",
    (CERTIFIED, "fence_async_shared"): "it does what commit_smem does, which is drawn",
    (CERTIFIED, "tensormap_acquire"): "no schedule decides which descriptor a slot has",
    (CERTIFIED, "copy_gmem_to_smem_im2col"): "it posts as copy_gmem_to_smem does, which is drawn",
    (CERTIFIED, "commit_group"): GROUP,
    (CERTIFIED, "async_masked_copy"): GROUP,
    (CERTIFIED, "async_gather"): GROUP,
    (CERTIFIED, "griddepcontrol_wait"): LAUNCH,
    (CERTIFIED, "griddepcontrol_launch_dependents"): LAUNCH,
    (CERTIFIED, "wgmma"): PRODUCT,
    (CERTIFIED, "wgmma_async"): PRODUCT,
    (CERTIFIED, "wgmma_sp"): PRODUCT,
    (CERTIFIED, "wgmma_sp_async"): PRODUCT,
    (CERTIFIED, "wgmma_wait"): PRODUCT,
    (CERTIFIED, "acc_load"): PRODUCT,
    (CERTIFIED, "tcgen05_mma_sp_scaled"): "it is awaited as tcgen05_mma_sp, which is drawn",
    (CERTIFIED, "set_max_registers"): "random/sharing-of-registers holds it to a model of the pool",
    ("pair", "async_copy_arrive"): "cp.async arrives in its own CTA: the one that does not lead has none",
}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def list_counts(tool, paths):
    """{path: {(kind, name): how often}}"""
    counts = collections.defaultdict(dict)
    for line in completeness.call(tool, *paths).splitlines():
        path, kind, name, count = line.split("\t")
        counts[path][kind, name] = int(count)
    return counts


def find_litmus(tool):
    """The operations that ordered programs use, and those of programs with a finding."""
    used = {ORDERED: set(), FOUND: set()}
    with tempfile.TemporaryDirectory(prefix="grout-synchronising-") as folder:
        for path, counts in list_counts(tool, families.write_programs(folder)).items():
            used[ORDERED if "// expect: clean" in read(path) else FOUND].update(counts)
    return used


def find_behaviour(tool):
    """What has to do with a finding: it is in the file, or its repair has it more often or less often."""
    used = set()
    with tempfile.TemporaryDirectory(prefix="grout-synchronising-") as folder:
        paths = families.write_programs(folder, "behaviour")
        counts = list_counts(tool, paths)
        for path in paths:
            if re.search(r"// expect-(error|warning|note)", read(path)):
                fixed = counts.get(path[:-len(".grout")] + "-fixed.grout", counts[path])
                used.update(counts[path], (name for name in fixed if fixed[name] != counts[path].get(name)))
    return used


def find_axioms():
    """The operations that the axioms have a step or a function for, or name where actors do what is theirs alone."""
    known = {name for name in machine.STEPS if name in machine.MEETINGS or hasattr(machine.Machine, "do_" + name)}
    known.update(name[len("tensor_"):] for name in dir(machine.Machine) if name.startswith("tensor_"))
    for file in ("actor_ops.py", "program.py"):
        known.update(re.findall(r'"(\w+)"', read(os.path.join(TESTS, "axioms", file))))
    return {("op", name) for name in known}


def find_drawn(arguments):
    used = {RIGHT: set(), CERTIFIED: set()}
    with tempfile.TemporaryDirectory(prefix="grout-synchronising-") as folder:
        for path, counts in list_counts(arguments.list_used, completeness.draw_files(arguments, folder)).items():
            used[CERTIFIED if os.path.basename(path) == "certificates" else RIGHT].update(counts)
    return used


def list_forms(fact):
    """The forms of an operation, if it is an arrival."""
    if fact.mode != "POSTS" or fact.object not in ("BARRIER", "MBARRIER", "ANY_BARRIER"):
        return []
    return ["own"] + ["peer"] * (fact.reach == "PEER") + ["from_cta"] * ("from_cta" in fact.attributes) + \
        ["lanes"] * (fact.arrival == "NOW") + ["pair"] * (fact.object != "BARRIER")


def find_forms(tool):
    paths = sorted(glob.glob(os.path.join(TESTS, "ops", "*.grout"))
                   + glob.glob(os.path.join(TESTS, "differential", "*.grout")))
    return {name for counts in list_counts(tool, paths).values() for name in counts}


def list_holes(table, used):
    lines, holes = [], set()
    for op, fact in table.items():
        for way, (what, repair) in WHERE.items():
            if ("op", op) not in used[way]:
                holes.add((way, op))
                if (way, op) not in EXCEPTIONS:
                    lines.append(f"op '{op}': {what}: {repair}")
        for form in list_forms(fact):
            if ("pair" if form == "from_cta" else "form", f"{op} {form}") not in used["forms"]:
                holes.add((form, op))
                if (form, op) not in EXCEPTIONS:
                    lines.append(f"op '{op}' {FORMS[form]}: {FORM_REPAIR}")
    lines += [f"op '{op}': ('{way}', '{op}') is no hole: remove it from EXCEPTIONS"
              for way, op in EXCEPTIONS if (way, op) not in holes]
    return lines


def main():
    parser = argparse.ArgumentParser()
    for name in ("list-used", "random", "synchronised"):
        parser.add_argument("--" + name, required=True)
    arguments = parser.parse_args()
    table = sync_table.load()
    used = {**find_litmus(arguments.list_used), AXIOMS: find_axioms(), BEHAVIOUR: find_behaviour(arguments.list_used),
            **find_drawn(arguments), "forms": find_forms(arguments.list_used)}
    lines = list_holes(table, used)
    print("\n".join(lines + [""]), end="")
    print(f"{len(table)} operations of sync.def: {len(lines)} holes, {len(EXCEPTIONS)} exceptions")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
