/*
 * plan_atomic.c - which arrays have atomics that order something, by whatever name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "planner.h"

static bool is_ordered(const grout_planner *planner, const grout_op *op) {
    grout_choice order = grout_op_get_choice(planner->module, op, GROUT_ATTR_ORDER);
    return grout_op_get_info(op->opcode)->rule == GROUT_RULE_FETCH && order != GROUT_CHOICE_NONE &&
           order != GROUT_CHOICE_ORDER_RELAXED;
}

/* The array whose bytes the op touches. */
static bool get_object(const grout_planner *planner, const grout_op *op, grout_object_id *object) {
    grout_view view;
    if (op->operand_count == 0 ||
        !grout_module_get_view(planner->module, grout_module_get_operand(planner->module, op, 0),
                               &view)) {
        return false;
    }
    *object = grout_object_get_root(planner->module, view.object);
    return true;
}

static void scan_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        grout_object_id object;
        if (is_ordered(planner, op) && get_object(planner, op, &object)) {
            planner->object_is_ordered[object] = true;
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            scan_block(planner, op->first_block + i);
        }
    }
}

void grout_planner__scan_atomics(grout_planner *planner) {
    scan_block(planner, planner->body);
}

void grout_planner__lower_atomic(grout_planner *planner, uint32_t index, const grout_op *op) {
    grout_object_id object;
    const bool is_access = grout_op_find_letter((grout_opcode)op->opcode, 'r') != UINT32_MAX &&
                           grout_op_get_info(op->opcode)->rule != GROUT_RULE_LOAD;
    if (is_access && get_object(planner, op, &object)) {
        grout_planner__get_inst(planner, index)->is_ordered = planner->object_is_ordered[object];
    }
}
