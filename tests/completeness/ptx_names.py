#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user who knows an instruction of PTX finds the operation: ir/core/op_names.def.

usage: ptx_names.py --grout PATH

- Each operation that is not pure has the name of an instruction, but for those that run bodies or make objects.
- Each instruction in the CUDA that grout writes is found by 'grout ops', but for the glue in GLUE.
- Names that people have tried are answered with the operation that is meant; so is what 'grout ops WORD' finds.
"""
import argparse
import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True  # the folder is a source tree
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests"))
from limit import SECONDS

# Run bodies, make objects, or write what only the tools read.
WITHOUT = {"scratch", "for", "while", "cond", "if", "scoped", "warp_map", "warp_specialize", "yield", "print_layout"}
# What the code around an instruction needs, and no operation is.
GLUE = {"prmt", "rcp", "x2", "createpolicy", "applypriority", "discard", "mapa", "cvta", "bfe", "lop3", "set",
        "isspacep"}
# How a string goes on that begins with an instruction in another string.
REST = {"d", "mxf4", "mxf4nvf4", "mxf8f6f4"}
INSTRUCTION = re.compile(r"(?:^|[{;] ?|\\t|@!?%?\w+ )([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_:]*)+)[ .%]")
MEANT = {
    "mbarrier_try_wait": ["mbarrier_wait", "barrier_wait"],
    "mbarrier.try_wait.parity.shared::cta.b64": ["mbarrier_wait", "barrier_wait"],
    "mbarrier_arrive_expect_tx": ["mbarrier_expect"],
    "__syncthreads": ["block_barrier"],
    "elect_one": ["no operation:"],
    "elect.sync": ["no operation:"],
    "__shfl_xor_sync": ["no operation:"],
    "ballot": ["no operation:"],
    "cp_async_bulk": ["copy_gmem_to_smem", "copy_smem_to_gmem"],
    "cp_async_bulk_tensor_2d_shared_cluster_global": ["copy_gmem_to_smem", "copy_smem_to_gmem"],
    "cp_async_wait_group": ["async_copy_wait"],
    "cp.async.bulk.wait_group.read": ["wait_smem_to_gmem"],
    "wgmma_mma_async": ["wgmma", "wgmma_async"],
    "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16": ["wgmma", "wgmma_async"],
    "tl.dot": ["wgmma"],
    "tl.where": ["select"],
    "ttgl.warpgroup_mma": ["wgmma_async"],
    "warpgroup_arrive": ["no operation:"],
    "tcgen05.mma": ["tcgen05_mma"],
    "tcgen05.mma.cta_group::1.kind::f16": ["tcgen05_mma"],
    "tcgen05_ld": ["async_load_tmem"],
    "tcgen05.wait::ld.sync.aligned": ["wait_load_tmem"],
    "tcgen05_alloc": ["no operation:"],
    "fence_proxy_async": ["commit_smem"],
    "cluster_sync": ["cluster_barrier"],
    "cuda::ptx::mbarrier_init": ["mbarrier_init"],
    "setmaxnreg.inc.sync.aligned.u32": ["set_max_registers"],
    "st.async.weak.shared::cluster": ["async_store_smem"],
    "add.rn.f32": ["add"],
    "atomicAdd": ["atomic_fetch_add"],
    # words of the names, then of the sentences
    "tma": ["tma_gather", "tma_scatter"],
    "cluster": ["cluster_arrive", "cluster_wait", "cluster_barrier", "try_cluster_cancel", "query_cluster_cancel"],
    "swizzle": None,
    "nothing_like_it": None,
}


def run(grout, *words):
    return subprocess.run([grout, "ops", *words], capture_output=True, text=True, timeout=SECONDS, check=False)


def list_found(grout, word):
    """The first words of the answer's lines, without those of wrapped sentences; None: nothing is found."""
    done = run(grout, word)
    if done.returncode != 0:
        return None
    lines = [line for line in done.stdout.splitlines() if line.strip() and not line.startswith(" ")]
    return [line.split(": ")[0] + ":" if line.startswith("no operation: ") else line.split()[0] for line in lines]


def find_instructions():
    """Mnemonics with their modifiers, in the strings of the device code and its emitters: (instruction, file)."""
    found = {}
    for folder in ("gpu_backend/device", "gpu_backend/emit"):
        for name in sorted(os.listdir(os.path.join(ROOT, folder))):
            if not name.endswith((".cuh", ".c", ".h")):
                continue
            with open(os.path.join(ROOT, folder, name), encoding="utf-8") as file:
                text = re.sub(r"#include.*|//.*", "", file.read())
            for string in re.findall(r'"((?:[^"\\\n]|\\.)*)"', text):
                for word in INSTRUCTION.findall(string):
                    found.setdefault(word, f"{folder}/{name}")
    return found


def faults(grout):
    names = [line.split()[0] for line in run(grout).stdout.splitlines() if re.match(r"\w", line)]
    if len(names) < 150:
        yield f"'grout ops' lists {len(names)} operations only"
    for name in names:
        about = run(grout, name).stdout
        is_pure = re.search(r"^  effect: pure", about, re.MULTILINE)
        has_ptx = re.search(r"^  PTX: ", about, re.MULTILINE)
        if not is_pure and not has_ptx and name not in WITHOUT:
            yield f"{name} has no name in PTX: add a GROUT_OP_PTX to ir/core/op_names.def"
        if has_ptx and name in WITHOUT:
            yield f"{name} has a name in PTX: remove it from WITHOUT"
    instructions = find_instructions()
    if len(instructions) < 80:
        yield f"{len(instructions)} instructions in the CUDA, which are fewer than there were"
    for word, path in sorted(instructions.items()):
        if word.split(".")[0] not in GLUE | REST and list_found(grout, word) is None:
            yield f"{path}: 'grout ops {word}' finds nothing: add it to ir/core/op_names.def"
    for word, meant in MEANT.items():
        found = list_found(grout, word)
        if found != meant:
            yield f"'grout ops {word}' finds {found}, not {meant}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--grout", required=True)
    found = list(faults(parser.parse_args().grout))
    for fault in found:
        print(fault)
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
