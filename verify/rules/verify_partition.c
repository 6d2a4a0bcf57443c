/* verify_partition.c - warp_specialize: where it stands, its bodies, and what they take from
 * outside.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <inttypes.h>

static void check_place(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_op_id id = grout_module_get_block(module, op->parent)->parent;
    if (id == 0) {
        return;
    }
    const grout_op *around = grout_module_get_op(module, id);
    grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION, op->loc,
                            "warp_specialize stands at the top of a kernel, and this is inside "
                            "'%s'",
                            grout_verify__get_text(around));
    grout_diags_note(verifying->diags, grout_module_get_place(module, around->loc), "this one");
    grout_diags_help(verifying->diags, "put the '%s' inside of the bodies",
                     grout_verify__get_text(around));
}

static void check_bodies(grout_verifying *verifying, const grout_op *op) {
    uint32_t threads = grout_kernel_get_thread_count(verifying->module, verifying->kernel);
    if (op->block_count <= threads) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, op->loc,
                            "%" PRIu32 " bodies for the %" PRIu32
                            " thread%s of the CTA: each needs one of its own",
                            op->block_count, threads, threads == 1 ? "" : "s");
    grout_diags_help(verifying->diags, "give the kernel threads(NAME = %" PRIu32 ")",
                     op->block_count);
}

/* ---- partition_warps ------------------------------------------------------------------------- */

static void check_size(grout_verifying *verifying, const grout_kernel *kernel, uint32_t thread) {
    const uint32_t warps = kernel->partition_warps[thread];
    const bool is_size = warps == 1 || warps == 2 || warps == GROUT_WARPS;
    if (is_size && (thread > 0 || warps == GROUT_WARPS)) {
        return;
    }
    if (is_size) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, kernel->partition_loc,
                                "thread 0 with %" PRIu32
                                " warp%s: it runs what stands outside of the partitions, with 4",
                                warps, warps == 1 ? "" : "s");
        grout_diags_help(verifying->diags, "put what needs fewer warps into a partition, and a 4 "
                                           "in front of its number");
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, kernel->partition_loc,
                            "thread %" PRIu32 " with %" PRIu32
                            " warps: a partition has 1, 2 or 4 of them",
                            thread, warps);
    grout_diags_help(verifying->diags, "4 are a warpgroup, which has wgmma and accumulators; 1 "
                                       "issues copies and waits; for more take more threads");
}

void grout_verify__partition_warps(grout_verifying *verifying) {
    const grout_kernel *kernel = grout_module_get_kernel(verifying->module, verifying->kernel);
    const uint32_t threads = grout_kernel_get_thread_count(verifying->module, verifying->kernel);
    if (kernel->partition_count == 0) {
        return;
    }
    if (kernel->partition_count != threads) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, kernel->partition_loc,
                                "partition_warps lists %d thread%s, and the CTA has %" PRIu32,
                                kernel->partition_count, kernel->partition_count == 1 ? "" : "s",
                                threads);
        grout_diags_help(verifying->diags, "list the warps of each thread, thread 0 first: "
                                           "partition_warps = [4, 1] for threads(NAME = 2)");
        return;
    }
    for (uint32_t k = 0; k < threads; k++) {
        check_size(verifying, kernel, k);
    }
    if (verifying->specialize == NULL) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_LAUNCH, kernel->partition_loc,
                                "partition_warps in a kernel without a warp_specialize: each of "
                                "its threads runs the whole kernel, with 4 warps");
        grout_diags_help(verifying->diags, "write the threads as bodies of a warp_specialize");
    }
}

/* ---- captured arrays ------------------------------------------------------------------------- */

/* The block that a value is made in. */
static grout_block_id get_block(const grout_module *module, const grout_value *value) {
    if (value->block != 0) {
        return value->block;
    }
    return value->op == 0 ? 0 : grout_module_get_op(module, value->op)->parent;
}

/* Whether a block lies inside another one, or is it. */
static bool is_inside(const grout_module *module, grout_block_id block, grout_block_id outer) {
    while (block != outer) {
        grout_op_id parent = grout_module_get_block(module, block)->parent;
        if (parent == 0) {
            return false;
        }
        block = grout_module_get_op(module, parent)->parent;
    }
    return true;
}

/* The partition around an op, or 0; the first body is none. */
static grout_block_id find_partition(const grout_module *module, const grout_op *op) {
    grout_block_id block = 0;
    const grout_op *around = grout_op_find_around(module, op, GROUT_REGION_PARTITIONS, &block);
    return around == NULL || block == around->first_block ? 0 : block;
}

/* The lanes of thread 0 hold an array made outside: only the first body runs on them. */
static void check_captures(grout_verifying *verifying, const grout_op *op,
                           grout_block_id partition) {
    const grout_module *module = verifying->module;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        if (operand->kind != GROUT_OPERAND_VALUE) {
            continue;
        }
        const grout_type *type = grout_module_get_type(module, operand->id);
        const grout_value *value = grout_module_get_value(module, operand->id);
        grout_block_id block = get_block(module, value);
        if (type->kind != GROUT_TYPE_ARRAY || block == 0 || is_inside(module, block, partition)) {
            continue;
        }
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REGION, operand->loc,
                                "a partition takes the array %s, %s, from outside: the lanes of "
                                "thread 0 hold it, and another thread runs this",
                                grout_value__get_text(module, operand->id, "of this value").chars,
                                grout_type__get_text(type).chars);
        grout_diags_note(verifying->diags, grout_module_get_place(module, value->loc), "made here");
        grout_diags_help(verifying->diags, "store it to SMEM before, and load it here");
    }
}

void grout_verify__partitions(grout_verifying *verifying, const grout_op *op) {
    if (grout_op_get_region_kind(op) == GROUT_REGION_PARTITIONS) {
        check_place(verifying, op);
        check_bodies(verifying, op);
    }
    grout_block_id partition = find_partition(verifying->module, op);
    if (partition != 0) {
        check_captures(verifying, op, partition);
    }
}
