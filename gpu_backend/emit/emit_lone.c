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

static bool is_scalar(const grout_emitter *e, const grout_op *op, uint32_t operand) {
    grout_view view;
    return grout_module_get_view(e->module, grout_module_get_operand(e->module, op, operand),
                                 &view) &&
           view.view_rank == 0 && !grout_emit__is_accumulator(e, &view);
}

/* Whether the lanes have no share in an op's accesses: it loads and stores single elements, or an
 * engine makes the access. Atomics are left to all lanes. */
static bool has_scalar_accesses(const grout_emitter *e, const grout_op *op) {
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    bool has = true;
    for (uint32_t k = 0; k < count && has; k++) {
        has = effects[k].proxy == GROUT_PROXY_ASYNC ||
              (effects[k].access != GROUT_ACCESS_ATOMIC && is_scalar(e, op, effects[k].operand));
    }
    return has;
}

/* Whether one lane can run an op of sync.def for all. */
static bool is_sync_for_one(const grout_emitter *e, const grout_sync_info *sync) {
    if (sync->object == GROUT_SYNC_OBJECT_BULK && sync->mode == GROUT_SYNC_MODE_WAITS &&
        e->forks.has_warp_stores) { /* other lanes' groups count, too */
        return false;
    }
    return sync->lanes == GROUT_SYNC_LANES_ONE || sync->lanes == GROUT_SYNC_LANES_ANY ||
           sync->lanes == GROUT_SYNC_LANES_VOTE;
}

/* Whether one lane can run an op for all. */
static bool is_for_one(const grout_emitter *e, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    const grout_op_info *info = grout_op_get_info(opcode);
    const grout_sync_info *sync = grout_op_get_sync(opcode);
    const grout_region_kind kind = (grout_region_kind)grout_op_get_region(opcode)->kind;
    if (sync != NULL) {
        return is_sync_for_one(e, sync) && has_only_scalars(e, op);
    }
    if (info->shape == GROUT_SHAPE_END || info->rule == GROUT_RULE_DESCRIPTOR) {
        return true;
    }
    bool is_fine = has_only_scalars(e, op);
    if (kind == GROUT_REGION_LOOP || kind == GROUT_REGION_BRANCH) {
        for (uint32_t k = 0; k < op->block_count; k++) {
            is_fine = is_fine && is_alone_in_block(e, op->first_block + k);
        }
        return is_fine;
    }
    const grout_effect_class class_ =
        grout_effect_row_get_class((grout_effect_row)info->effect_row);
    const bool is_hint = info->effect_row == GROUT_EFFECT_ROW_HINT;
    return is_fine && (class_ == GROUT_EFFECT_PURE || is_hint ||
                       (class_ == GROUT_EFFECT_ACCESS && has_scalar_accesses(e, op)));
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

static bool is_end(const grout_op *op) {
    return grout_op_get_info((grout_opcode)op->opcode)->shape == GROUT_SHAPE_END;
}

/* Whether a lane runs an op better alone, because beside others it would have to meet them: copies
 * that TMA makes, waits for bulk groups, waits on barriers. */
static bool is_gain(const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync == NULL) {
        return false;
    }
    const bool is_tma = grout_op_find_letter((grout_opcode)op->opcode, 'G') != UINT32_MAX;
    const bool is_awaited =
        sync->object == GROUT_SYNC_OBJECT_BULK || sync->object == GROUT_SYNC_OBJECT_BARRIER ||
        sync->object == GROUT_SYNC_OBJECT_MBARRIER || sync->object == GROUT_SYNC_OBJECT_ANY_BARRIER;
    return (is_tma && sync->mode == GROUT_SYNC_MODE_STARTS) ||
           (is_awaited && sync->mode == GROUT_SYNC_MODE_WAITS);
}

static bool is_no_gain(void *payload, grout_op_id id, const grout_op *op) {
    (void)payload;
    (void)id;
    return !is_gain(op);
}

static bool has_gain(const grout_emitter *e, grout_op_id id) {
    const grout_op *op = grout_module_get_op(e->module, id);
    bool has = is_gain(op);
    for (uint32_t k = 0; k < op->block_count; k++) {
        has = has || !grout_gpu__walk(e->module, op->first_block + k, is_no_gain, NULL);
    }
    return has;
}

static grout_region_kind get_kind(const grout_op *op) {
    return (grout_region_kind)grout_op_get_region((grout_opcode)op->opcode)->kind;
}

/* Whether a partition ends its thread: the first one's goes on, others may have another one. */
static bool is_last_partition(const grout_emitter *e, const grout_op *op, grout_block_id id) {
    for (grout_op_id at = op->next; at != 0; at = grout_module_get_op(e->module, at)->next) {
        if (get_kind(grout_module_get_op(e->module, at)) == GROUT_REGION_PARTITIONS) {
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
        if (get_kind(op) == GROUT_REGION_PARTITIONS) {
            return is_last_partition(e, op, id);
        }
        const grout_op *next = op->next == 0 ? NULL : grout_module_get_op(e->module, op->next);
        if (get_kind(op) != GROUT_REGION_BRANCH || (next != NULL && !is_end(next))) {
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
    bool gains = false, is_for_all = false; /* the statement has a part that all lanes run */
    if (!is_at_end(e, id)) {
        return 0;
    }
    for (grout_op_id at = statement; at != 0;) {
        const grout_op *op = grout_module_get_op(e->module, at);
        if (!is_for_one(e, op) || grout_op_needs_auto_fence(e->module, at)) {
            first = 0;
            gains = false;
            is_for_all = true;
        } else if (!is_for_all) {
            const bool does_nothing = is_end(op) || grout_gpu__is_pure(op);
            first = first == 0 && !does_nothing ? statement : first;
            gains = gains || has_gain(e, at);
        }
        if (!grout_emit__is_nested(e, op)) {
            statement = op->next;
            is_for_all = false;
        }
        at = op->next;
    }
    return gains ? first : 0;
}
