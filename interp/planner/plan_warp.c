/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * plan_warp.c - warp_map and warp_specialize: the code of each body, and the values from outside
 * that it uses. Its actor gets copies of these.
 *
 *     warp_map          fork, body, end of a child, [after it: the thread goes on here]
 *     warp_specialize   fork, first body, yield, partition, body, end of a child, ..., join
 *
 * A partition's leading instruction names the one of the next.
 */
#include "exec.h"
#include "planner.h"

/* Captures a value that exists before the fork; a value defined inside has no slot yet. */
static void capture_value(grout_planner *planner, uint32_t fork, grout_value_id value) {
    const grout_slot *slot = &planner->value_slots[value];
    if (slot->dtype == GROUT_DTYPE_NONE || slot->is_constant) {
        return;
    }
    const grout_inst *inst = grout_planner__get_inst(planner, fork);
    for (uint32_t i = 0; i < inst->move_count; i++) {
        const grout_move *move = grout_pool__at(&planner->plan->moves, inst->first_move + i);
        if (move->from.flag == slot->flag) {
            return;
        }
    }
    grout_planner__add_move(planner, fork, *slot, *slot);
}

static void capture_operand(grout_planner *planner, uint32_t fork, const grout_operand *operand) {
    grout_view view;
    if (!grout_module_get_view(planner->module, operand, &view)) {
        if (operand->kind == GROUT_OPERAND_VALUE) {
            capture_value(planner, fork, operand->id);
        }
        return;
    }
    for (uint32_t dim = 0; dim < view.rank; dim++) {
        for (uint32_t i = 0; i < view.start_term_count[dim]; i++) {
            capture_value(planner, fork, view.start_terms[dim][i]);
        }
    }
    for (uint32_t i = 0; i < view.cluster_index_count; i++) {
        if (view.cluster_index[i].kind == GROUT_OPERAND_VALUE) {
            capture_value(planner, fork, view.cluster_index[i].id);
        }
    }
}

static void capture_block(grout_planner *planner, uint32_t fork, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && grout_planner__goes_on(planner); id = grout_module_get_op(module, id)->next) {
        const grout_op *op = grout_module_get_op(module, id);
        for (uint32_t i = 0; i < op->operand_count; i++) {
            capture_operand(planner, fork, grout_module_get_operand(module, op, i));
        }
        for (uint32_t i = 0; i < op->block_count; i++) {
            capture_block(planner, fork, op->first_block + i);
        }
    }
}

static uint32_t add_silent(grout_planner *planner, grout_exec *exec, grout_op_id id) {
    uint32_t index = grout_planner__add_inst(planner, exec, id);
    if (!planner->failed) {
        grout_planner__get_inst(planner, index)->is_silent = true;
        grout_planner__get_inst(planner, index)->is_point = true;
    }
    return index;
}

void grout_planner__lower_warp_map(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    const grout_block *body = grout_module_get_block(planner->module, op->first_block);
    uint32_t fork = grout_planner__add_inst(planner, grout_exec_warp_map, id);
    if (planner->failed) {
        return;
    }
    capture_block(planner, fork, op->first_block);
    grout_planner__get_inst(planner, fork)->is_point = true;
    if (body->arg_count > 0) {
        grout_planner__define(planner, body->first_arg);
        grout_planner__get_inst(planner, fork)->result = planner->value_slots[body->first_arg];
    }
    grout_planner__lower_block(planner, op->first_block);
    uint32_t end = add_silent(planner, grout_exec_end_child, id);
    if (!planner->failed) {
        grout_planner__get_inst(planner, fork)->target = end + 1;
    }
}

/* A partition that another actor runs; the instruction that names it is at *link. */
static void lower_partition(grout_planner *planner, grout_op_id id, grout_block_id block,
                            uint32_t *link) {
    uint32_t lead = add_silent(planner, grout_exec_partition, id);
    grout_planner__lower_block(planner, block);
    add_silent(planner, grout_exec_end_child, id);
    if (!planner->failed) {
        grout_planner__get_inst(planner, *link)->target = lead;
        *link = lead;
    }
}

void grout_planner__lower_warp_specialize(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    uint32_t fork = grout_planner__add_inst(planner, grout_exec_warp_specialize, id);
    if (planner->failed) {
        return;
    }
    for (uint32_t i = 1; i < op->block_count; i++) {
        capture_block(planner, fork, op->first_block + i);
    }
    grout_planner__get_inst(planner, fork)->is_point = true;
    for (uint32_t i = 0; i < op->result_count; i++) {
        grout_planner__define(planner, op->first_result + i);
    }
    grout_planner__lower_block(planner, op->first_block);
    uint32_t leave = grout_planner__lower_yield(
        planner, op->first_block, planner->value_slots + op->first_result, op->result_count);
    uint32_t link = fork;
    for (uint32_t i = 1; i < op->block_count; i++) {
        lower_partition(planner, id, op->first_block + i, &link);
    }
    uint32_t join = add_silent(planner, grout_exec_join, id);
    if (!planner->failed) {
        grout_planner__get_inst(planner, leave)->target = join;
        grout_planner__get_inst(planner, join)->u.partitions = op->block_count;
        grout_planner__get_inst(planner, fork)->u.partitions = op->block_count;
    }
}
