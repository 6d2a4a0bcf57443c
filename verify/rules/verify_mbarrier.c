/* verify_mbarrier.c - the explicit style: counts, bytes, parities, and who initialises.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <inttypes.h>

static void check_init_count(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 1);
    int64_t count;
    if (!grout_verify__find_constant(verifying, operand, &count) ||
        (count >= 1 && count <= GROUT_MBARRIER_MAX)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BARRIER_ARRIVALS, operand->loc,
                            "%" PRId64 " arrivals a phase: an mbarrier counts 1 to %d", count,
                            GROUT_MBARRIER_MAX);
}

static void check_expected_bytes(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 1);
    int64_t bytes;
    if (!grout_verify__find_constant(verifying, operand, &bytes) ||
        (bytes >= 0 && bytes <= GROUT_MBARRIER_MAX)) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "%" PRId64 " bytes are expected: a barrier phase counts 0 to %d", bytes,
                            GROUT_MBARRIER_MAX);
    if (bytes > 0) {
        grout_diags_help(verifying->diags, "copy in parts, each with a phase of its own");
    }
}

static void check_parity(grout_verifying *verifying, const grout_op *op) {
    uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'p');
    if (index == UINT32_MAX) {
        return;
    }
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, index);
    int64_t parity;
    if (!grout_verify__find_constant(verifying, operand, &parity) || parity == 0 || parity == 1) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, operand->loc,
                            "parity %" PRId64 ": the hardware keeps one bit, 0 or 1", parity);
    grout_diags_help(verifying->diags, "phase k has parity k %% 2: (and K, 1)");
}

/* ---- double initialisation ------------------------------------------------------------------- */

static void report_init(grout_verifying *verifying, const grout_op *op, const char *who,
                        uint32_t count, const char *help) {
    grout_verifying__report(verifying, GROUT_DIAG_COLLECTIVE_SCOPE, op->loc,
                            "each of the %" PRIu32
                            " %s initialises this mbarrier: the second time it is live already",
                            count, who);
    grout_diags_help(verifying->diags, "%s", help);
}

/*
 * What is certain only: every thread of the CTA, or every warp of a warp_map, comes to this op, and
 * the index is the same for all of them. Inside of an if or loop it is a matter of the run.
 */
static void check_init(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_block *block = grout_module_get_block(module, op->parent);
    const grout_operand *operand = grout_module_get_operand(module, op, 0);
    uint32_t threads = grout_kernel_get_thread_count(module, verifying->kernel);
    bool is_entry = block->parent == 0;
    bool is_warp =
        !is_entry &&
        grout_op_get_region_kind(grout_module_get_op(module, block->parent)) == GROUT_REGION_WARPS;
    if (!is_warp && (!is_entry || threads < 2 || verifying->specialize != NULL)) {
        return;
    }
    grout_verify__spread(verifying);
    uint32_t differs = grout_verify__get_differing(verifying, operand);
    if (is_warp && (differs & GROUT_DIFFERS_BY_WARP) == 0) {
        report_init(verifying, op, "warps", GROUT_WARPS,
                    "initialise it before the warp_map, or in one warp: if (eq %w, 0) { .. }");
    } else if (is_entry && (differs & GROUT_DIFFERS_BY_THREAD) == 0) {
        report_init(verifying, op, "threads", threads,
                    "let one thread do it, if (eq (axis_index NAME), 0) { .. }, and the others "
                    "wait at a block_barrier; with warp_specialize thread 0 alone runs this");
    }
}

void grout_verify__mbarrier(grout_verifying *verifying, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync == NULL || sync->object != GROUT_SYNC_OBJECT_MBARRIER) {
        return;
    }
    switch ((grout_sync_mode)sync->mode) {
    case GROUT_SYNC_MODE_MAKES:
        check_init_count(verifying, op);
        check_init(verifying, op);
        break;
    case GROUT_SYNC_MODE_POSTS:
        if (grout_op_find_letter((grout_opcode)op->opcode, 'i') == 1) {
            check_expected_bytes(verifying, op);
        }
        break;
    case GROUT_SYNC_MODE_WAITS:
    case GROUT_SYNC_MODE_TESTS:
        check_parity(verifying, op);
        break;
    case GROUT_SYNC_MODE_MEETS:
    case GROUT_SYNC_MODE_STARTS:
    case GROUT_SYNC_MODE_CLOSES:
    case GROUT_SYNC_MODE_FENCES:
    case GROUT_SYNC_MODE_ENDS:
    case GROUT_SYNC_MODE_FORKS:
        break;
    }
}
