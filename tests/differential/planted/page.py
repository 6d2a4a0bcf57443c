#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/planted_faults.md from what planted.py has found: on the PTX emulator, and on a GPU.

usage: page.py PTX.tsv GPU.tsv DEVICE DATE > docs/planted_faults.md
"""
import collections
import sys

import planted

HEAD = """# Planted faults

[`bits.def`](../gpu_backend/plan/bits.def) lists the fields of the words of bits that a kernel gives to the hardware, and
[`fields.def`](../tests/differential/planted/fields.def) all others: counts, masks, scopes, distances, addresses, shapes, of Hopper and of Blackwell, and
what a launch needs beside the code. Emission marks what it writes as such a field ([`fields.h`](../gpu_backend/plan/fields.h)). A mark adds nothing to
grout. The program `grout-planted` has the backend compiled with other marks ([`plant.h`](../tests/differential/planted/plant.h)): it is the command
`grout`, and `grout-planted --plant FIELD run ..` and `emit ..` make the field one unit more everywhere, `--plant FIELD-` one unit less. A scope becomes
the next narrower one, an order relaxed, and a fence, a meeting of lanes or the end of a group, which have no number, is left out. Words of the device
headers are fields as well: the list has the text that stands there, and the one that takes its place. A build with tests has the program:

    cmake --preset cuda && cmake --build build/cuda --target grout_planted
    python3 tests/differential/planted/planted.py --grout build/cuda/bin/grout-planted --only add_tma

[`planted.py`](../tests/differential/planted/planted.py) plants each field in each kernel of
[`kernels.txt`](../tests/differential/planted/kernels.txt) that has it, and runs it on the PTX emulator ([ptx.md](ptx.md)), which has its own reading of the
ISA, and looks for races. A fault is noticed if the emulator (or NVRTC, or the check of a tensor map) refuses it, if two accesses race, if it faults or hangs, or if an array differs from the interpreter's.
What nobody notices has a line in [`unnoticed.txt`](../tests/differential/planted/unnoticed.txt) that says why it cannot matter there; the test fails if a
fault is unnoticed without such a line, if a line covers nothing, and if no kernel has a field. `planted/part` is a kernel of them for each
change, `planted/all` is slow.

[`instructions.txt`](../tests/differential/planted/instructions.txt) has a line for each instruction of the asm statements of headers and kernels, for each
function of CUDA that they call and for each key of a manifest, which names the fields of each of its operands, or says why it has none. `planted/instructions`
emits all kernels of `tests/ops`, `tests/differential` and `kernels`, and fails if an instruction has no line, if a line covers nothing, and if a field has no
instruction. What remains are registers of values, and what a kernel computes.

This page is written by [`page.py`](../tests/differential/planted/page.py).
"""

GPU_WORDS = """The emulator catches two kinds of fault that the GPU run did not. Most are races: a scope that is too narrow, a fence, barrier or group that is not there, an mbarrier whose
init is not awaited, a wait for too few. The emulator reports them whichever access came first; on the GPU they happened not to bite. The others are what the ISA forbids, and the GPU does anyway: a mask that leaves out a lane, a wgmma
without a fence before, `bar.sync 16`, two arrivals at the barrier of the cluster without a wait between, a run that is longer than its array.

Left out are faults that could read or write outside of the arrays: `MAP.START`, `MAP.TYPE`, `MAP.EXTENT`, `COPY.START`, and of `MAP.DIM_n`,
`MAP.STRIDE_n`, `COPY.BYTES` and `LAUNCH.GRID` one unit more; and `MAP.EVERY_n-`, since an element stride of 0 counts as 1 in a launch of grout's."""


def read(path):
    results = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fault, kernel, verdict, reason = line.rstrip("\n").split("\t")
            results[fault, kernel] = verdict, reason
    return results


def count(results, field):
    """'3 fault, 1 hang', of both directions."""
    counts = collections.Counter(verdict for (fault, _), (verdict, _) in results.items() if fault.rstrip("-") == field)
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))


def print_fields(ptx, gpu):
    print("\n## The fields\n\nBoth directions count; 'equal' is unnoticed.\n")
    print("| field | section | what it is | machine | GPU |\n|---|---|---|---|---|")
    for field in planted.read_fields(planted.ROOT):
        print(f"| `{field.name}` | {field.section} | {field.doc} | {count(ptx, field.name)} | {count(gpu, field.name)} "
              "|")


def print_reasons():
    groups = collections.defaultdict(list)
    for (fault, _), reason in planted.read_reasons(planted.HERE).items():
        groups[reason].append(fault)
    print("\n## Unnoticed\n\nThe kernels are in unnoticed.txt.\n\n| faults | in this many kernels | why |\n|---|---|---|")
    for reason, faults in groups.items():
        names = ", ".join(f"`{fault}`" for fault in sorted(set(faults)))
        print(f"| {names} | {len(faults)} | {reason} |")


def print_agreement(ptx, gpu, device, date):
    both = [key for key in gpu if key in ptx]
    groups = collections.defaultdict(list)
    for key in both:
        groups[ptx[key][0] != "equal", gpu[key][0] != "equal"].append(key)
    print(f"\n## On a GPU\n\n{date}, {device}: {len(both)} faults of {len({f for f, _ in both})} kinds in "
          f"{len({k for _, k in both})} kernels of sm_90a ran on both.\n")
    print("| | GPU notices | GPU does not |\n|---|---|---|")
    for name, is_noticed in (("machine notices", True), ("machine does not", False)):
        print(f"| {name} | {len(groups[is_noticed, True])} | {len(groups[is_noticed, False])} |")
    print("\n" + GPU_WORDS)
    for title, key in (("The GPU notices, the machine does not:", (False, True)),
                       ("The machine notices, the GPU does not (there):", (True, False))):
        if groups[key]:
            print(f"\n{title}\n\n| fault | kernel | machine | GPU |\n|---|---|---|---|")
            for fault, kernel in sorted(groups[key]):
                print(f"| `{fault}` | `{kernel}` | {describe(ptx[fault, kernel])} | {describe(gpu[fault, kernel])} |")


def describe(result):
    verdict, reason = result
    text = reason.split("error: ")[-1].replace("|", "\\|")
    return f"{verdict}: {text[:110]}" if text else verdict


def main():
    ptx, gpu = read(sys.argv[1]), read(sys.argv[2])
    gpu = {key: verdict for key, verdict in gpu.items() if not planted.NOT_ON_GPU.fullmatch(key[0])}
    print(HEAD, end="")
    print_agreement(ptx, gpu, sys.argv[3], sys.argv[4])
    print_fields(ptx, gpu)
    print_reasons()


if __name__ == "__main__":
    main()
