/*
 * emit_lone.c - the end of a thread that one lane can run alone: a producer's loop.
 * SPDX-License-Identifier: Apache-2.0
 *
 * One lane issues a thread's copies. If the other lanes waited on barriers beside it, all would
 * have to meet before each copy, so that none of them misses a phase. Where nothing is left to do
 * for them up to the kernel's end, only waits, copies, scalars and control, they are sent home, and
 * the one lane waits and issues without ever meeting anybody.
 */
#include "emit.h"

static bool is_alone_in_block(const grout_emitter *e, grout_block_id id);

static bool has_only_scalars(const grout_emitter *e, const grout_op *op) {
    for (uint32_t k = 0; k < op->result_count; k++) {
        if (grout_emit__layout(e, op->first_result + k)->kind != GROUT_LAYOUT_NONE) {
            return false;
        }
    }
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(e->module, op, k);
        if (operand->kind == GROUT_OPERAND_VALUE &&
            grout_emit__layout(e, operand->id)->kind != GROUT_LAYOUT_NONE) {
            return false;
        }
    }
    return true;
}

/* A load or store of one element of memory. */
static bool is_scalar_access(const grout_emitter *e, const grout_op *op) {
    grout_view view;
    return grout_module_get_view(e->module, grout_module_get_operand(e->module, op, 0), &view) &&
           view.view_rank == 0 && !grout_emit__is_accumulator(e, &view);
}

/* Whether one lane can run an op for all. */
static bool is_for_one(const grout_emitter *e, const grout_op *op) {
    bool is_fine = has_only_scalars(e, op);
    switch (op->opcode) {
    case GROUT_OP_LOAD:
    case GROUT_OP_STORE:
        return is_fine && is_scalar_access(e, op);
    case GROUT_OP_BARRIER_ARRIVE:
    case GROUT_OP_BARRIER_WAIT:
    case GROUT_OP_COPY_GMEM_TO_SMEM:
    case GROUT_OP_COPY_SMEM_TO_GMEM:
    case GROUT_OP_COMMIT_GROUP:
    case GROUT_OP_COND:
    case GROUT_OP_YIELD:
    case GROUT_OP_MBARRIER_EXPECT:
    case GROUT_OP_MBARRIER_ARRIVE:
    case GROUT_OP_MBARRIER_WAIT:
    case GROUT_OP_MBARRIER_TEST:
    case GROUT_OP_BARRIER_TEST:
    case GROUT_OP_SEMAPHORE_SIGNAL:
    case GROUT_OP_SEMAPHORE_WAIT:
    case GROUT_OP_SEMAPHORE_READ:
        return true;
    case GROUT_OP_WAIT_SMEM_TO_GMEM: /* other lanes' groups may count, too */
        return !e->forks.has_warp_stores;
    case GROUT_OP_FOR:
    case GROUT_OP_WHILE:
    case GROUT_OP_IF:
        for (uint32_t k = 0; k < op->block_count; k++) {
            is_fine = is_fine && is_alone_in_block(e, op->first_block + k);
        }
        return is_fine;
    default:
        return is_fine &&
               grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_PURE;
    }
}

static bool is_alone_in_block(const grout_emitter *e, grout_block_id id) {
    for (grout_op_id at = grout_module_get_block(e->module, id)->first; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (!is_for_one(e, op) || grout_op_needs_auto_fence(e->module, at)) {
            return false;
        }
        at = op->next;
    }
    return true;
}

static bool is_pure(const grout_op *op) {
    return op->opcode == GROUT_OP_YIELD ||
           grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_PURE;
}

/* What a lane does better alone: else the others would have to be met. */
static bool find_gain(void *payload, grout_op_id id, const grout_op *op) {
    (void)payload;
    (void)id;
    return op->opcode != GROUT_OP_COPY_GMEM_TO_SMEM && op->opcode != GROUT_OP_COPY_SMEM_TO_GMEM &&
           op->opcode != GROUT_OP_BARRIER_WAIT && op->opcode != GROUT_OP_MBARRIER_WAIT &&
           op->opcode != GROUT_OP_WAIT_SMEM_TO_GMEM;
}

static bool has_gain(const grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    bool has = !find_gain(NULL, id, op);
    for (uint32_t k = 0; k < op->block_count; k++) {
        has = has || !grout_gpu__walk(e->module, op->first_block + k, find_gain, NULL);
    }
    return has;
}

/* Whether a partition ends its thread: the first one's goes on, others may have another one. */
static bool is_last_partition(const grout_emitter *e, const grout_op *op, grout_block_id id) {
    for (grout_op_id at = op->next; at != 0; at = grout_module_get_op(e->module, at)->next) {
        if (grout_module_get_op(e->module, at)->opcode == GROUT_OP_WARP_SPECIALIZE) {
            return false;
        }
    }
    return id != op->first_block;
}

/* Whether the thread ends where a block ends. */
static bool is_at_end(const grout_emitter *e, grout_block_id id) {
    grout_op_id around = grout_module_get_block(e->module, id)->parent;
    while (around != 0) {
        const grout_op *op = grout_module_get_op(e->module, around);
        if (op->opcode == GROUT_OP_WARP_SPECIALIZE) {
            return is_last_partition(e, op, id);
        }
        const grout_op *next = op->next == 0 ? NULL : grout_module_get_op(e->module, op->next);
        if (op->opcode != GROUT_OP_IF || (next != NULL && next->opcode != GROUT_OP_YIELD)) {
            return false;
        }
        id = op->parent;
        around = grout_module_get_block(e->module, id)->parent;
    }
    return true;
}

grout_op_id grout_emit__find_lone_part(const grout_emitter *e, grout_block_id id) {
    grout_op_id statement = grout_module_get_block(e->module, id)->first;
    grout_op_id first = 0;
    bool gains = false;
    if (!is_at_end(e, id)) {
        return 0;
    }
    for (grout_op_id at = statement; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (!is_for_one(e, op) || grout_op_needs_auto_fence(e->module, at)) {
            first = 0;
            gains = false;
        } else {
            first = first == 0 && !is_pure(op) ? statement : first;
            gains = gains || has_gain(e, at);
        }
        if (!grout_emit__is_nested(e, op)) {
            statement = op->next;
        }
        at = op->next;
    }
    return gains ? first : 0;
}
