/*
 * flight.c - what a turn of a loop has in flight at an operation.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "flight.h"

#include "statement.h"

#include <string.h>

enum { BODY_LOOKED = 128 };

static void start(grout_flight *it, grout_op_id op, bool waits_for_others) {
    it->count = waits_for_others ? 0 : it->count;
    it->wait = waits_for_others ? 0 : it->wait;
    it->is_known = it->is_known && it->count < GROUT_FLIGHT_MAX;
    if (it->is_known) {
        it->ops[it->count++] = op;
    }
    it->all++;
}

static void wait_for(grout_flight *it, grout_op_id op, int64_t allowed) {
    const uint32_t left = allowed < (int64_t)it->count ? (uint32_t)allowed : it->count;
    memmove(it->ops, it->ops + (it->count - left), left * sizeof it->ops[0]);
    it->count = left;
    it->wait = op;
    it->allowed = allowed;
}

static void pass(const grout_module *module, grout_flight *it, grout_op_id id) {
    const grout_op *op = grout_module_get_op(module, id);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const grout_expr_id n = sync != NULL && sync->mode == GROUT_SYNC_MODE_WAITS
                                ? grout_op__find_allowed(module, op)
                                : 0;
    const int64_t allowed = n != 0 ? grout_module_get_expr_value(module, n).integer : 0;
    it->leaves_any |= allowed > 0;
    if (sync == NULL) {
        return;
    }
    if (sync->object == GROUT_SYNC_OBJECT_WGMMA && sync->mode == GROUT_SYNC_MODE_STARTS) {
        const grout_effect_row row =
            (grout_effect_row)grout_op_get_info((grout_opcode)op->opcode)->effect_row;
        start(it, id, grout_effect_row_get_class(row) == GROUT_EFFECT_BLOCKING);
    } else if (sync->object == GROUT_SYNC_OBJECT_WGMMA && n != 0) {
        wait_for(it, id, allowed);
    }
    it->has_tensor_core |=
        sync->object == GROUT_SYNC_OBJECT_TCGEN05 && sync->mode == GROUT_SYNC_MODE_STARTS;
}

/* The statement of the block that is the op, or is around it; 0: none. */
static grout_op_id find_in_block(const grout_module *module, grout_op_id op, grout_block_id block) {
    while (op != 0 && grout_module_get_op(module, op)->parent != block) {
        op = grout_op__get_parent(module, op);
    }
    return op;
}

grout_flight grout_flight__find(const grout_module *module, grout_op_id op) {
    const grout_op_id loop = grout_op__get_loop(module, op);
    grout_flight it = {.count = 0};
    if (loop == 0 || !grout_op__is_counted_loop(grout_module_get_op(module, loop))) {
        return it;
    }
    const grout_block_id body = grout_module_get_op(module, loop)->first_block;
    const grout_op_id end = find_in_block(module, op, body);
    grout_op_id at = grout_module_get_block(module, body)->first;
    it.is_known = end != 0;
    it.is_of_each = end == op;
    for (uint32_t looked = 0; at != 0 && at != end; at = grout_module_get_op(module, at)->next) {
        it.is_known = it.is_known && looked++ < BODY_LOOKED;
        if (!it.is_known) {
            return it;
        }
        pass(module, &it, at);
    }
    return it;
}
