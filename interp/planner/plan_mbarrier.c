/*
 * plan_mbarrier.c - what the instructions of mbarriers need beside their operands, and the
 * rendezvous after their initialisation.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "planner.h"

static bool has_mode(const grout_op *op, grout_sync_mode mode) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    return sync != NULL && sync->mode == mode;
}

static bool makes_barrier(const grout_op *op) {
    return has_mode(op, GROUT_SYNC_MODE_MAKES);
}

/* Whether it looks at something that others change, and changes nothing. */
static bool is_look(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info(op->opcode);
    return has_mode(op, GROUT_SYNC_MODE_TESTS) ||
           (grout_op_get_sync((grout_opcode)op->opcode) == NULL && info->rule == GROUT_RULE_LOAD);
}

static bool is_last_init(const grout_planner *planner, const grout_op *op) {
    const grout_module *module = planner->module;
    if (!makes_barrier(op) || op->parent != planner->kernel->body) {
        return false;
    }
    for (grout_op_id id = op->next; id != 0; id = grout_module_get_op(module, id)->next) {
        if (makes_barrier(grout_module_get_op(module, id))) {
            return false;
        }
    }
    return true;
}

static void note_wait(grout_planner *planner, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync != NULL && (sync->covers & 1u << GROUT_MILESTONE_ASYNC_COPY) != 0) {
        const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
        int64_t allowed = grout_module_get_expr_value(planner->module, operand->id).integer;
        uint32_t *max = &planner->plan->async_copy_waits_max;
        *max = allowed > *max && allowed < UINT16_MAX ? (uint32_t)allowed : *max;
    }
}

/* A store of one element in a while may leave it as it was, again and again. */
static void note_small_store(grout_planner *planner, uint32_t index, const grout_op *op) {
    grout_inst *inst = grout_planner__get_inst(planner, index);
    if (grout_op_get_info(op->opcode)->rule == GROUT_RULE_STORE && inst->slot_count > 0 &&
        !grout_plan__slot(planner->plan, inst, 0)->is_array &&
        grout_planner__is_in_while(planner, op)) {
        inst->is_in_while = true;
        grout_planner__keep_deciding(planner, index, inst->op, planner->op_begin[inst->op]);
    }
}

void grout_planner__lower_mbarrier(grout_planner *planner, uint32_t index, const grout_op *op) {
    grout_op_id id = grout_planner__get_inst(planner, index)->op;
    note_wait(planner, op);
    grout_planner__get_inst(planner, index)->is_look = is_look(op);
    grout_planner__get_inst(planner, index)->is_in_while =
        op->result_count > 0 && !grout_planner__get_inst(planner, index)->result.is_array &&
        grout_planner__is_in_while(planner, op);
    if (grout_planner__get_inst(planner, index)->is_in_while) {
        grout_planner__keep_deciding(planner, index, id, planner->op_begin[id]);
        grout_planner__get_inst(planner, index)->tells_more =
            grout_planner__tells_more(planner, id);
    }
    note_small_store(planner, index, op);
    if (is_last_init(planner, op)) {
        uint32_t meet = grout_planner__add_inst(planner, grout_exec_rendezvous, id);
        grout_planner__get_inst(planner, meet)->is_point = true;
        grout_planner__get_inst(planner, meet)->is_silent = true;
        grout_planner__get_inst(planner, meet)->is_for_all = grout_planner__is_for_all(planner, op);
    }
}
