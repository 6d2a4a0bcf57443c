/*
 * plan_control.c - loops, branches and scopes: what jumps, and what moves values as it does.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "planner.h"

static void define_results(grout_planner *planner, const grout_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        grout_planner__define(planner, op->first_result + i);
    }
}

static grout_op_id find_yield(const grout_planner *planner, grout_block_id block) {
    return grout_block_find_yield(planner->module, block) == NULL
               ? 0
               : grout_module_get_block(planner->module, block)->last;
}

static bool is_carry(const grout_slot *slot, const grout_slot *targets, uint32_t count,
                     uint32_t own) {
    for (uint32_t i = 0; i < count; i++) {
        if (i != own && !slot->is_constant && slot->flag == targets[i].flag) {
            return true;
        }
    }
    return false;
}

/*
 * The yield at a block's end: all its values move at once. A value that is the target of another
 * move goes to a slot of its own first.
 */
uint32_t grout_planner__lower_yield(grout_planner *planner, grout_block_id block,
                                    const grout_slot *targets, uint32_t count) {
    const grout_module *module = planner->module;
    grout_op_id yield = find_yield(planner, block);
    uint32_t index = grout_planner__add_inst(planner, grout_exec_yield, yield);
    if (planner->failed) {
        return 0;
    }
    grout_planner__get_inst(planner, index)->is_silent = true;
    const grout_op *op = yield != 0 ? grout_module_get_op(module, yield) : NULL;
    count = op == NULL ? 0 : op->operand_count < count ? op->operand_count : count;
    grout_slot *sources = grout_heap__take(planner->plan->heap, count * sizeof *sources);
    if (sources == NULL) {
        planner->failed = true;
        return index;
    }
    for (uint32_t i = 0; i < count; i++) {
        sources[i] = grout_planner__get_operand(planner, grout_module_get_operand(module, op, i));
        if (is_carry(&sources[i], targets, count, i)) {
            const grout_operand *operand = grout_module_get_operand(module, op, i);
            grout_type type = grout_module_get_operand_type(module, operand);
            grout_slot detour = grout_planner__add_slot(planner, &type);
            grout_planner__add_move(planner, index, sources[i], detour);
            sources[i] = detour;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (sources[i].is_constant || sources[i].flag != targets[i].flag) {
            grout_planner__add_move(planner, index, sources[i], targets[i]);
        }
    }
    grout_heap__give(planner->plan->heap, sources, count * sizeof *sources);
    if (yield != 0) {
        grout_planner__expire(planner, planner->op_begin[yield]);
    }
    return index;
}

static void enter_loop(grout_planner *planner) {
    planner->loop_depth++;
    if (planner->loop_depth > planner->plan->loop_depth_max) {
        planner->plan->loop_depth_max = planner->loop_depth;
    }
}

void grout_planner__lower_for(grout_planner *planner, grout_op_id id) {
    const grout_module *module = planner->module;
    const grout_op *op = grout_module_get_op(module, id);
    const grout_block *body = grout_module_get_block(module, op->first_block);
    uint32_t begin = grout_planner__add_inst(planner, grout_exec_for, id);
    if (planner->failed) {
        return;
    }
    grout_planner__add_operands(planner, begin, op);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        grout_planner__define(planner, body->first_arg + i);
    }
    const grout_slot *carries = planner->value_slots + body->first_arg + 1;
    for (uint32_t i = 0; i + 1 < body->arg_count && i + 3 < op->operand_count; i++) {
        const grout_operand *init = grout_module_get_operand(module, op, i + 3);
        grout_planner__add_move(planner, begin, grout_planner__get_operand(planner, init),
                                carries[i]);
        planner->value_slots[op->first_result + i] = carries[i];
    }
    if (planner->failed) {
        return;
    }
    grout_planner__get_inst(planner, begin)->result = planner->value_slots[body->first_arg];
    grout_planner__trace(planner, begin, id);
    grout_planner__expire(planner, planner->op_begin[id]);
    enter_loop(planner);
    grout_planner__lower_block(planner, op->first_block);
    grout_planner__lower_yield(planner, op->first_block, carries, body->arg_count - 1);
    uint32_t next = grout_planner__add_inst(planner, grout_exec_next, id);
    planner->loop_depth--;
    if (!planner->failed) {
        grout_planner__get_inst(planner, next)->target = begin + 1;
        grout_planner__get_inst(planner, next)->result =
            grout_planner__get_inst(planner, begin)->result;
        grout_planner__get_inst(planner, begin)->target = next + 1;
    }
}

/* The first body, cond, the second body, and back. What the second one yields moves on the way. */
void grout_planner__lower_while(grout_planner *planner, grout_op_id id) {
    const grout_module *module = planner->module;
    const grout_op *op = grout_module_get_op(module, id);
    const grout_block *head = grout_module_get_block(module, op->first_block);
    uint32_t begin = grout_planner__add_inst(planner, grout_exec_while, id);
    for (uint32_t i = 0; i < head->arg_count && !planner->failed; i++) {
        const grout_operand *init = grout_module_get_operand(module, op, i);
        grout_planner__define(planner, head->first_arg + i);
        grout_planner__add_move(planner, begin, grout_planner__get_operand(planner, init),
                                planner->value_slots[head->first_arg + i]);
        planner->value_slots[op->first_result + i] = planner->value_slots[head->first_arg + i];
    }
    if (planner->failed) {
        return;
    }
    grout_planner__expire(planner, planner->op_begin[id]);
    enter_loop(planner);
    grout_planner__lower_block(planner, op->first_block);
    uint32_t cond = grout_plan__get_next(&planner->plan->insts) - 1;
    grout_planner__lower_block(planner, op->first_block + 1);
    uint32_t again = grout_planner__lower_yield(
        planner, op->first_block + 1, planner->value_slots + head->first_arg, head->arg_count);
    planner->loop_depth--;
    if (!planner->failed) {
        grout_planner__get_inst(planner, cond)->target = again + 1;
        grout_planner__get_inst(planner, again)->target = begin + 1;
        grout_planner__get_inst(planner, again)->exec = grout_exec_again;
        grout_planner__get_inst(planner, again)->op = id;
        grout_planner__get_inst(planner, again)->is_in_while = true;
        grout_planner__keep_deciding(planner, again, id, planner->op_end[id] - 1);
    }
}

void grout_planner__lower_if(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    uint32_t branch = grout_planner__add_inst(planner, grout_exec_if, id);
    if (planner->failed) {
        return;
    }
    grout_planner__add_operands(planner, branch, op);
    define_results(planner, op);
    grout_planner__expire(planner, planner->op_begin[id]);
    grout_planner__lower_block(planner, op->first_block);
    uint32_t leave = grout_planner__lower_yield(
        planner, op->first_block, planner->value_slots + op->first_result, op->result_count);
    uint32_t end = leave + 1;
    if (op->block_count > 1) {
        grout_planner__lower_block(planner, op->first_block + 1);
        end =
            grout_planner__lower_yield(planner, op->first_block + 1,
                                       planner->value_slots + op->first_result, op->result_count) +
            1;
    }
    if (!planner->failed) {
        grout_planner__get_inst(planner, branch)->target = leave + 1;
        grout_planner__get_inst(planner, leave)->target = end;
    }
}

static uint32_t add_scope(grout_planner *planner, grout_op_id id) {
    grout_plan *plan = planner->plan;
    const grout_op *op = grout_module_get_op(planner->module, id);
    const grout_block *body = grout_module_get_block(planner->module, op->first_block);
    uint32_t index = grout_pool__take(&plan->scopes, plan->heap);
    if (index == 0) {
        planner->failed = true;
        return 0;
    }
    grout_scope_plan *scope = grout_pool__at(&plan->scopes, index);
    scope->op = id;
    scope->is_collective =
        grout_module_find_attr(planner->module, op, GROUT_ATTR_COLLECTIVE) != NULL;
    scope->first_object = grout_plan__get_next(&plan->objects);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        grout_object_id object =
            grout_module_get_value(planner->module, body->first_arg + i)->object;
        if (grout_object_get_root(planner->module, object) != object) {
            continue; /* an alias: its bytes begin and end with the array */
        }
        uint32_t entry = grout_pool__take(&plan->objects, plan->heap);
        if (entry == 0) {
            planner->failed = true;
            return 0;
        }
        *(grout_object_id *)grout_pool__at(&plan->objects, entry) = object;
        scope->object_count++;
        if (grout_module_get_object(planner->module, object)->kind == GROUT_OBJECT_BARRIER) {
            uint32_t count =
                (uint32_t)grout_type_get_count(grout_object_get_type(planner->module, object));
            scope->first_element =
                scope->element_count == 0 ? planner->object_elements[object] : scope->first_element;
            scope->element_count += count;
        }
    }
    return index;
}

void grout_planner__lower_scoped(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    uint32_t scope = add_scope(planner, id);
    uint32_t begin = grout_planner__add_inst(planner, grout_exec_scoped, id);
    if (planner->failed) {
        return;
    }
    grout_planner__get_inst(planner, begin)->scope = scope;
    grout_planner__get_inst(planner, begin)->is_point = true;
    define_results(planner, op);
    grout_planner__lower_block(planner, op->first_block);
    grout_planner__lower_yield(planner, op->first_block, planner->value_slots + op->first_result,
                               op->result_count);
    uint32_t leave = grout_planner__add_inst(planner, grout_exec_leave, id);
    if (!planner->failed) {
        grout_scope_plan *plan = grout_pool__at(&planner->plan->scopes, scope);
        plan->begin = begin;
        plan->leave = leave;
        grout_planner__get_inst(planner, leave)->scope = scope;
        grout_planner__get_inst(planner, leave)->is_silent = true;
    }
}
