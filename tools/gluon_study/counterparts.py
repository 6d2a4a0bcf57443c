"""What an importer would make of each operation of TTGIR, for kernels of sm_90. Run as a program it checks that what it
names is there in grout.

ONE      the operation or statement of grout that says the same
FOLDED   it becomes part of another: a literal, a reference, a shape
REWRITE  the operations named can say it, but only a rewrite of several operations together gets there
MISSING  grout has nothing for it

SPDX-License-Identifier: Apache-2.0
"""
import os
import re

ONE, FOLDED, REWRITE, MISSING = "one", "folded", "rewrite", "missing"

BINARY = {
    "addi": "add", "addf": "add", "subi": "sub", "subf": "sub", "muli": "mul", "mulf": "mul", "divsi": "div",
    "divf": "div", "remsi": "rem", "andi": "and", "ori": "or", "xori": "xor", "minsi": "min", "maxsi": "max",
    "minimumf": "min", "maximumf": "max", "shli": "shl", "shrsi": "shr"}
CASTS = ("truncf", "extf", "sitofp", "fptosi", "trunci", "extsi", "extui")

# Name in TTGIR: what becomes of it, and the words of grout in it.
COUNTERPARTS = {
    # The frame of a kernel, and its scalars.
    "tt.func": (ONE, "kernel"), "tt.return": (FOLDED, ""), "module": (FOLDED, ""),
    "tt.get_program_id": (ONE, "axis_index"), "tt.get_num_programs": (FOLDED, ""),
    "arith.constant": (FOLDED, ""), "arith.cmpi": (ONE, "lt"), "arith.cmpf": (ONE, "lt"),
    "arith.select": (ONE, "select"), "scf.for": (ONE, "for"), "scf.if": (ONE, "if"), "scf.while": (ONE, "while"),
    "scf.yield": (ONE, "yield"), "scf.condition": (ONE, "cond"),
    # Shared memory.
    "ttg.local_alloc": (ONE, "scratch"), "ttg.local_load": (ONE, "load"), "ttg.local_store": (ONE, "store"),
    "ttg.memdesc_index": (FOLDED, ""), "ttg.memdesc_trans": (FOLDED, ""), "ttg.memdesc_subslice": (FOLDED, ""),
    "ttg.memdesc_reinterpret": (REWRITE, "bitcast"), "ttg.memdesc_reshape": (FOLDED, ""),
    "ttg.local_dealloc": (FOLDED, ""),
    # mbarriers, TMA and fences.
    "ttng.init_barrier": (ONE, "mbarrier_init"), "ttng.inval_barrier": (ONE, "mbarrier_invalidate"),
    "ttng.barrier_expect": (ONE, "mbarrier_expect"), "ttng.arrive_barrier": (ONE, "mbarrier_arrive"),
    "ttng.wait_barrier": (ONE, "mbarrier_wait"),
    "ttng.async_tma_copy_global_to_local": (ONE, "copy_gmem_to_smem"),
    "ttng.async_tma_copy_local_to_global": (ONE, "copy_smem_to_gmem"),
    "ttng.async_tma_reduce": (ONE, "copy_smem_to_gmem"), "ttng.async_tma_store_wait": (ONE, "wait_smem_to_gmem"),
    "ttng.fence_async_shared": (ONE, "fence_async_shared"),
    "ttng.async_tma_gather": (ONE, "tma_gather"), "ttng.async_tma_scatter": (ONE, "tma_scatter"),
    # cp.async.
    "ttg.async_copy_global_to_local": (REWRITE, "async_gather"),
    "ttg.async_commit_group": (ONE, "async_copy_commit_group"), "ttg.async_wait": (ONE, "async_copy_wait"),
    "ttng.async_copy_mbarrier_arrive": (ONE, "async_copy_arrive"),
    # Tensor cores. An accumulator is a value there and an object here.
    "ttng.warp_group_dot": (REWRITE, "wgmma_async"), "ttng.warp_group_dot_wait": (REWRITE, "wgmma_wait"),
    "tt.dot": (ONE, "mma"),
    # Partitions.
    "ttg.warp_specialize": (ONE, "warp_specialize"), "ttg.warp_return": (FOLDED, ""),
    "ttg.warp_yield": (FOLDED, ""),
    # Clusters.
    "ttng.cluster_arrive": (ONE, "cluster_arrive"), "ttng.cluster_wait": (ONE, "cluster_wait"),
    "ttng.cluster_barrier": (ONE, "cluster_barrier"), "ttg.barrier": (ONE, "block_barrier"),
    # Arrays in registers.
    "tt.make_range": (ONE, "iota"), "tt.splat": (ONE, "broadcast"), "tt.broadcast": (ONE, "broadcast"),
    "tt.expand_dims": (FOLDED, ""), "tt.reduce": (ONE, "reduce_sum"), "ttg.convert_layout": (ONE, "layout_cast"),
    "tt.reshape": (ONE, "reshape"), "tt.trans": (ONE, "transpose"),
    # With a NaN these give the other operand, 'min' and 'max' of grout the NaN.
    "arith.minnumf": (REWRITE, "min"), "arith.maxnumf": (REWRITE, "max"),
    # Pointers. Grout indexes arrays: a tensor of pointers is a parameter and an array of indices.
    "tt.addptr": (REWRITE, "add"), "tt.load": (REWRITE, "gather"), "tt.store": (REWRITE, "scatter"),
}
COUNTERPARTS.update({"arith." + name: (ONE, word) for name, word in BINARY.items()})
COUNTERPARTS.update({"arith." + name: (ONE, "cast") for name in CASTS})

STATEMENTS = {"kernel", "scratch", "for", "if", "while", "yield", "cond", "axis_index", "warp_specialize"}
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def counterpart(name):
    """What becomes of an operation, with its words; of tcgen05 and what is unknown: missing."""
    return COUNTERPARTS.get(name, (MISSING, ""))


def check():
    """Ends the program if a word above is no operation of grout any more."""
    with open(os.path.join(ROOT, "docs", "operations.md"), encoding="utf-8") as file:
        known = set(re.findall(r"^### (\w+)$", file.read(), re.M)) | STATEMENTS
    gone = sorted({word for _, word in COUNTERPARTS.values() if word} - known)
    if gone:
        raise SystemExit("counterparts.py names what grout has no operation for: " + ", ".join(gone))


if __name__ == "__main__":
    check()
