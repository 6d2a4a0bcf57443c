#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/planted_faults.md from what planted.py has found: on the PTX emulator, and on a GPU.

usage: page.py PTX.tsv GPU.tsv DEVICE DATE [TABLES] > docs/planted_faults.md

TABLES, build/planted_faults.md, gets a row for each field, and for each fault that one side alone notices.
"""
import collections
import sys

import planted

HEAD = """# Planted faults

This page says whether a wrong number in the emitted code is noticed. Each field of the words that the code gives to
the hardware is made one unit too large or too small, in every kernel that has it. The kernel then runs on the PTX
emulator ([ptx.md](ptx.md)), which has its own reading of the ISA and looks for races, and on a GPU. The page has the
totals, and the faults that nobody notices. It is written by [`page.py`](../tests/differential/planted/page.py), which
writes a row for each field and fault to `build/planted_faults.md`.

**The fields.** [`bits.def`](../gpu_backend/plan/bits.def) lists the fields of the words of bits, and
[`fields.def`](../tests/differential/planted/fields.def) all others: counts, masks, scopes, distances, addresses,
shapes, and what a launch needs beside the code, of Hopper and of Blackwell. Emission marks what it writes as such a
field ([`fields.h`](../gpu_backend/plan/fields.h)); a mark adds nothing to grout. Words of the device headers are fields
as well: the list has the text that stands there, and the one that takes its place.

**The faults.** `grout-planted` is the command `grout` with the backend compiled with other marks
([`plant.h`](../tests/differential/planted/plant.h)). `grout-planted --plant FIELD run ..` and `emit ..` make the field
one unit more everywhere, `--plant FIELD-` one unit less. A scope becomes the next narrower one, and an order relaxed.
Fences, meetings of lanes and ends of groups have no number, so the fault is to omit them. A build with tests has the
program:

    cmake --preset test && cmake --build build/release --target grout_planted
    python3 tests/differential/planted/planted.py --grout build/release/bin/grout-planted --only add_tma

**The verdicts.** [`planted.py`](../tests/differential/planted/planted.py) plants each field in each kernel of
[`kernels.txt`](../tests/differential/planted/kernels.txt) that has it. A fault is noticed in one of five ways:

| verdict | what has happened |
|---|---|
| refused | the emulator, NVRTC, or the check of a tensor map does not take it |
| race | two accesses race; on the emulator alone |
| fault, hang | the run ends with a fault, or does not end |
| differs | an array differs from the interpreter's |

What nobody notices is `equal`, and has a line in [`unnoticed.txt`](../tests/differential/planted/unnoticed.txt) that
says why it cannot matter there. The test fails if a fault is unnoticed without such a line, if a line covers nothing,
and if no kernel has a field. `planted/part` is a kernel of them for each change; `planted/all` is slow.

**No field is forgotten.** [`instructions.txt`](../tests/differential/planted/instructions.txt) has a line for each
instruction of the asm statements of headers and kernels, for each function of CUDA that they call and for each key of
a manifest. The line names the fields of each operand, or says why it has none. `planted/instructions` emits all
kernels of `tests/ops`, `tests/differential` and `kernels`. It fails if an instruction has no line, if a line covers
nothing, and if a field has no instruction. What remains are registers of values, and what a kernel computes.
"""

GPU_WORDS = """The emulator notices two kinds of fault that the GPU run did not.

- Most are races: a scope that is too narrow, a fence, barrier or group that is not there, an mbarrier whose init is not
  awaited, a wait for too few. The emulator reports them whichever access came first; on the GPU they happened to do no
  harm.
- The others are what the ISA forbids, and the GPU does anyway: a mask that omits a lane, a wgmma without a fence
  before, `bar.sync 16`, two arrivals at the barrier of the cluster without a wait between, a run that is longer than
  its array.

Faults that could read or write outside of the arrays are omitted on the GPU: `MAP.START`, `MAP.TYPE`, `MAP.EXTENT`,
`COPY.START`, and of `MAP.DIM_n`, `MAP.STRIDE_n`, `COPY.BYTES` and `LAUNCH.GRID` one unit more. So is `MAP.EVERY_n-`,
since an element stride of 0 counts as 1 in a launch of grout's."""

TOTALS_WORDS = """Both directions of a field count, and each kernel. The GPU is that of the next section: on it nobody
looks for races, and it runs kernels of sm_90a alone."""

VERDICTS = ("refused", "race", "fault", "hang", "differs", "equal")


def read(path):
    results = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            fault, kernel, verdict, reason = line.rstrip("\n").split("\t")
            results[fault, kernel] = verdict, reason
    return results


def count(results, field):
    """How often each verdict was, of both directions of a field."""
    return collections.Counter(verdict for (fault, _), (verdict, _) in results.items() if fault.rstrip("-") == field)


def list_counts(counts):
    """'3 fault, 1 hang'"""
    return ", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items()))


def group_fields(fields):
    """The fields of each word, by what stands before the point of their names."""
    groups = collections.defaultdict(list)
    for field in fields:
        groups[field.name.partition(".")[0]].append(field.name)
    return groups


def make_totals(groups, ptx, gpu):
    """ptx, gpu: field -> how often each verdict was."""
    lines = ["", "## Totals", "", *TOTALS_WORDS.split("\n"), "",
             f"| fields of | fields | emulator: faults | {' | '.join(VERDICTS)} | GPU: faults | noticed | equal |",
             "|---" * (6 + len(VERDICTS)) + "|"]
    everything = [name for names in groups.values() for name in names]
    for group, members in [*groups.items(), ("all", everything)]:
        of_ptx, of_gpu = (sum((of_field[name] for name in members), collections.Counter()) for of_field in (ptx, gpu))
        cells = [len(members), of_ptx.total(), *(of_ptx[verdict] for verdict in VERDICTS),
                 of_gpu.total(), of_gpu.total() - of_gpu["equal"], of_gpu["equal"]]
        name = group if group == "all" else f"`{group}`"
        lines.append(f"| {name} | {' | '.join(map(str, cells))} |")
    return lines


def make_agreement(ptx, gpu, device, date):
    both = [key for key in gpu if key in ptx]
    groups = group_verdicts(ptx, gpu)
    what = f"{len(both)} faults of {len({f for f, _ in both})} kinds in {len({k for _, k in both})} kernels of sm_90a"
    lines = ["", "## On a GPU", "", f"{date}, {device}: {what} ran on both.", "",
             "| | GPU notices | GPU does not |", "|---|---|---|"]
    for name, is_noticed in (("emulator notices", True), ("emulator does not", False)):
        lines.append(f"| {name} | {len(groups[is_noticed, True])} | {len(groups[is_noticed, False])} |")
    return [*lines, "", *GPU_WORDS.split("\n")]


def group_verdicts(ptx, gpu):
    """(whether the emulator notices, whether the GPU does) -> the faults that ran on both."""
    groups = collections.defaultdict(list)
    for key in gpu:
        if key in ptx:
            groups[ptx[key][0] != "equal", gpu[key][0] != "equal"].append(key)
    return groups


def make_alone(title, keys, results):
    """One line for each fault that one side alone notices: in how many kernels, and how."""
    lines = ["", title, "", "| fault | in this many kernels | as |", "|---|---|---|"]
    for fault in sorted({fault for fault, _ in keys}):
        counts = collections.Counter(results[key][0] for key in keys if key[0] == fault)
        lines.append(f"| `{fault}` | {counts.total()} | {list_counts(counts)} |")
    return lines


def make_reasons():
    groups = collections.defaultdict(list)
    for (fault, _), reason in planted.read_reasons(planted.HERE).items():
        groups[reason].append(fault)
    lines = ["", "## Unnoticed", "", "unnoticed.txt names the kernels.", "",
             "| faults | in this many kernels | why |", "|---|---|---|"]
    for reason, faults in groups.items():
        names = ", ".join(f"`{fault}`" for fault in sorted(set(faults)))
        lines.append(f"| {names} | {len(faults)} | {reason} |")
    return lines


def describe(result):
    verdict, reason = result
    text = reason.split("error: ")[-1].replace("|", "\\|")
    return f"{verdict}: {text[:110]}" if text else verdict


def make_tables(fields, ptx, gpu):
    """A row for each field, and for each fault that one side alone notices."""
    lines = ["# Planted faults", "", "## The fields", "", "Both directions count; 'equal' is unnoticed.", "",
             "| field | section | what it is | emulator | GPU |", "|---|---|---|---|---|"]
    for field in fields:
        on_ptx, on_gpu = (list_counts(count(results, field.name)) for results in (ptx, gpu))
        lines.append(f"| `{field.name}` | {field.section} | {field.doc} | {on_ptx} | {on_gpu} |")
    groups = group_verdicts(ptx, gpu)
    for title, key in (("Noticed by the GPU alone", (False, True)), ("Noticed by the emulator alone", (True, False))):
        lines += ["", f"## {title}", "", "| fault | kernel | emulator | GPU |", "|---|---|---|---|"]
        for fault, kernel in sorted(groups[key]):
            lines.append(f"| `{fault}` | `{kernel}` | {describe(ptx[fault, kernel])} | {describe(gpu[fault, kernel])} |")
    return lines


def make_page(fields, ptx, gpu, device, date):
    on_ptx, on_gpu = ({field.name: count(results, field.name) for field in fields} for results in (ptx, gpu))
    lines = make_totals(group_fields(fields), on_ptx, on_gpu) + make_agreement(ptx, gpu, device, date)
    groups = group_verdicts(ptx, gpu)
    if groups[False, True]:
        lines += make_alone("The GPU notices, the emulator does not:", groups[False, True], gpu)
    if groups[True, False]:
        lines += make_alone("The emulator notices, the GPU does not:", groups[True, False], ptx)
    return HEAD + "\n".join(lines + make_reasons()) + "\n"


def main():
    ptx, gpu = read(sys.argv[1]), read(sys.argv[2])
    gpu = {key: verdict for key, verdict in gpu.items() if not planted.NOT_ON_GPU.fullmatch(key[0])}
    fields = planted.read_fields(planted.ROOT)
    print(make_page(fields, ptx, gpu, sys.argv[3], sys.argv[4]), end="")
    if len(sys.argv) > 5:
        with open(sys.argv[5], "w", encoding="utf-8") as file:
            file.write("\n".join(make_tables(fields, ptx, gpu)) + "\n")


if __name__ == "__main__":
    main()
