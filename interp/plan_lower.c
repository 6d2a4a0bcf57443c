/*
 * plan_lower.c - from ops to instructions: one case for each form, nothing for each op but its
 * function.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"
#include "planner.h"

#include <string.h>

static grout_exec *const exec_table[GROUT_OP_COUNT] = {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION, DOC) [GROUT_OP_##NAME] = grout_exec_alu,
#define GROUT_MATH(NAME, text, EXPRESSION, ULP, DOC)          [GROUT_OP_##NAME] = grout_exec_math,
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION, DOC)      [GROUT_OP_##NAME] = grout_exec_reduce,
#define GROUT_OP(NAME, text, FORM, TYPES, ATTRS, EFFECTS, DOC) \
    [GROUT_OP_##NAME] = grout_exec_##text,
#include "grout/ops.def"
};

static grout_inst *get_inst(grout_planner *planner, uint32_t index) {
    return grout_pool__at(&planner->plan->insts, index);
}

static uint32_t get_next_index(const grout_pool *pool) {
    return pool->count == 0 ? 1 : pool->count;
}

/* A new instruction; 0 without memory (then entry 0 takes what is written to it). */
static uint32_t add_inst(grout_planner *planner, grout_exec *exec, grout_op_id op) {
    uint32_t index = grout_pool__take(&planner->plan->insts, planner->plan->heap);
    if (index == 0) {
        planner->failed = true;
        return 0;
    }
    grout_inst *inst = get_inst(planner, index);
    inst->exec = exec;
    inst->op = op;
    inst->loop_depth = (uint8_t)planner->loop_depth;
    inst->first_slot = get_next_index(&planner->plan->slots);
    inst->first_box = get_next_index(&planner->plan->boxes);
    inst->first_access = get_next_index(&planner->plan->accesses);
    inst->first_move = get_next_index(&planner->plan->moves);
    return index;
}

static void add_slot(grout_planner *planner, uint32_t inst, grout_slot slot) {
    uint32_t index = grout_pool__take(&planner->plan->slots, planner->plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    *(grout_slot *)grout_pool__at(&planner->plan->slots, index) = slot;
    get_inst(planner, inst)->slot_count++;
}

static void add_move(grout_planner *planner, uint32_t inst, grout_slot from, grout_slot to) {
    uint32_t index = grout_pool__take(&planner->plan->moves, planner->plan->heap);
    if (index == 0) {
        planner->failed = true;
        return;
    }
    *(grout_move *)grout_pool__at(&planner->plan->moves, index) = (grout_move){from, to};
    get_inst(planner, inst)->move_count++;
}

/* Operands: values and constants as slots, references as boxes; both in operand order. */
static void add_operands(grout_planner *planner, uint32_t inst, const grout_op *op) {
    for (uint32_t i = 0; i < op->operand_count; i++) {
        const grout_operand *operand = grout_module_get_operand(planner->module, op, i);
        grout_view view;
        if (operand->kind == GROUT_OPERAND_STRING || operand->kind == GROUT_OPERAND_AXIS ||
            operand->kind == GROUT_OPERAND_NONE) {
            continue;
        }
        if (grout_module_get_view(planner->module, operand, &view)) {
            if (grout_planner__add_box(planner, operand, i) != 0) {
                get_inst(planner, inst)->box_count++;
            }
        } else {
            add_slot(planner, inst, grout_planner__get_operand(planner, operand));
        }
    }
}

/* READ and WRITE lines of the op's effect row, each for the box of its operand. */
static void add_accesses(grout_planner *planner, uint32_t inst_index, const grout_op *op) {
    uint32_t count = 0;
    grout_effect_row row = grout_op_get_info(op->opcode)->effect_row;
    const grout_effect *effects = grout_effect_row_get_effects(row, &count);
    for (uint32_t i = 0; i < count; i++) {
        grout_inst *inst = get_inst(planner, inst_index);
        if (effects[i].access != GROUT_ACCESS_READ && effects[i].access != GROUT_ACCESS_WRITE) {
            continue;
        }
        for (uint32_t k = 0; k < inst->box_count; k++) {
            const grout_box_plan *box = grout_plan__box(planner->plan, inst, k);
            uint32_t index;
            if (box->operand == effects[i].operand &&
                (index = grout_pool__take(&planner->plan->accesses, planner->plan->heap)) != 0) {
                grout_access_plan *access = grout_pool__at(&planner->plan->accesses, index);
                access->box = k;
                access->operand = effects[i].operand;
                access->milestone = effects[i].milestone;
                access->is_write = effects[i].access == GROUT_ACCESS_WRITE;
                access->is_async = effects[i].proxy == GROUT_PROXY_ASYNC;
                inst->access_count++;
            }
        }
    }
}

static bool is_scheduling_point(const grout_op *op) {
    switch (grout_effect_row_get_class(grout_op_get_info(op->opcode)->effect_row)) {
    case GROUT_EFFECT_ACCESS:
    case GROUT_EFFECT_ASYNC:
    case GROUT_EFFECT_SYNC:
    case GROUT_EFFECT_BLOCKING:
        return true;
    case GROUT_EFFECT_PURE:
    case GROUT_EFFECT_CONTROL:
        break;
    }
    return false;
}

static void add_axis(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    uint32_t axis = operand->id - 1;
    const grout_kernel *kernel = planner->kernel;
    inst->number = grout_kernel_get_axis_size(planner->module, planner->plan->kernel, axis);
    inst->divisor = 1;
    inst->flag = kernel->axes[axis].kind == GROUT_AXIS_THREADS;
    for (uint32_t i = axis + 1; i < kernel->axis_count; i++) {
        if (kernel->axes[i].kind == kernel->axes[axis].kind) {
            inst->divisor *= grout_kernel_get_axis_size(planner->module, planner->plan->kernel, i);
        }
    }
}

static void add_iota(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_type *type = grout_module_get_type(planner->module, op->first_result);
    int64_t dim = grout_op_get_attr_integer(planner->module, op, GROUT_ATTR_DIM, 0);
    inst->number = type->dims[dim];
    inst->divisor = 1;
    for (int64_t i = dim + 1; i < type->rank; i++) {
        inst->divisor *= type->dims[i];
    }
}

/* The strides of a broadcast's source in the result, as moves: see exec_elementwise.c. */
static void add_broadcast(grout_planner *planner, uint32_t index, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    grout_type from = grout_module_get_operand_type(planner->module, operand);
    const grout_type *to = grout_module_get_type(planner->module, op->first_result);
    uint32_t stride = 1;
    for (uint32_t i = to->rank; i-- > 0;) {
        uint32_t missing = to->rank - from.rank;
        bool is_there = i >= missing && from.kind == GROUT_TYPE_ARRAY;
        int64_t extent = is_there ? from.dims[i - missing] : 1;
        grout_slot dimension = {.count = (uint32_t)to->dims[i]};
        dimension.data = extent == 1 ? 0 : stride;
        stride *= (uint32_t)extent;
        add_move(planner, index, dimension, dimension);
    }
}

static void add_string(grout_planner *planner, grout_inst *inst, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(planner->module, op, 0);
    inst->text = grout_module_get_string(planner->module, operand->id);
}

static void raise(int64_t *size, int64_t value) {
    *size = *size < value ? value : *size;
}

static void note_sizes(grout_plan *plan, const grout_inst *inst) {
    for (uint32_t i = 0; i < inst->access_count; i++) {
        const grout_access_plan *access =
            (const grout_access_plan *)grout_pool__at(&plan->accesses, inst->first_access + i);
        const grout_box_plan *box = grout_plan__box(plan, inst, access->box);
        if (access->is_async) {
            raise(&plan->copy_bytes_max, box->bytes);
            raise(&plan->linear_bytes_max, box->bytes);
            raise(&plan->mask_count_max, box->bytes);
        } else if (access->is_write && box->space == GROUT_SPACE_SMEM) {
            raise(&plan->store_bytes_max, box->bytes);
        }
    }
}

/* What a plain op's form needs beside operands and result. */
static void lower_form(grout_planner *planner, uint32_t index, const grout_op *op) {
    const grout_module *module = planner->module;
    grout_inst *inst = get_inst(planner, index);
    switch ((grout_form)grout_op_get_info(op->opcode)->form) {
    case GROUT_FORM_UNARY:
    case GROUT_FORM_BINARY:
    case GROUT_FORM_COMPARE:
    case GROUT_FORM_TERNARY:
        inst->loop =
            grout_elementwise__find(op->opcode, grout_plan__slot(planner->plan, inst, 0)->dtype);
        planner->failed |= inst->loop == NULL;
        break;
    case GROUT_FORM_BROADCAST:
        add_broadcast(planner, index, op);
        break;
    case GROUT_FORM_IOTA:
        add_iota(planner, inst, op);
        break;
    case GROUT_FORM_AXIS:
        add_axis(planner, inst, op);
        break;
    case GROUT_FORM_BARRIER:
        inst->number = grout_op_get_attr_integer(module, op, GROUT_ATTR_ARRIVE_COUNT, 1);
        break;
    case GROUT_FORM_COPY_IN:
    case GROUT_FORM_COPY_OUT:
        inst->flag = grout_module_find_attr(module, op, GROUT_ATTR_NO_COMMIT_GROUP) != NULL;
        grout_planner__add_transfers(planner, index);
        break;
    case GROUT_FORM_WAIT:
        inst->flag = grout_module_find_attr(module, op, GROUT_ATTR_READ_ONLY) != NULL;
        break;
    case GROUT_FORM_PRINT:
        add_string(planner, inst, op);
        break;
    case GROUT_FORM_MATH: /* to come */
    case GROUT_FORM_LAYOUT:
    case GROUT_FORM_REDUCE:
    case GROUT_FORM_WGMMA:
    case GROUT_FORM_WHILE:
    case GROUT_FORM_COND:
    case GROUT_FORM_NONE:
    case GROUT_FORM_SELECT:
    case GROUT_FORM_CONVERT:
    case GROUT_FORM_LOAD:
    case GROUT_FORM_STORE:
    case GROUT_FORM_FENCE:
    case GROUT_FORM_SCRATCH:
    case GROUT_FORM_FOR:
    case GROUT_FORM_IF:
    case GROUT_FORM_SCOPED:
    case GROUT_FORM_YIELD:
    case GROUT_FORM_COUNT:
        break;
    }
}

static void lower_plain(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    uint32_t index = add_inst(planner, exec_table[op->opcode], id);
    if (planner->failed) {
        return;
    }
    get_inst(planner, index)->opcode = op->opcode;
    get_inst(planner, index)->is_point = is_scheduling_point(op);
    add_operands(planner, index, op);
    for (uint32_t i = 0; i < op->result_count; i++) {
        grout_planner__define(planner, op->first_result + i);
        get_inst(planner, index)->result = planner->value_slots[op->first_result];
    }
    if (planner->failed) {
        return;
    }
    add_accesses(planner, index, op);
    lower_form(planner, index, op);
    note_sizes(planner->plan, get_inst(planner, index));
}

static void define_results(grout_planner *planner, const grout_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        grout_planner__define(planner, op->first_result + i);
    }
}

static grout_op_id find_yield(const grout_planner *planner, grout_block_id block) {
    grout_op_id last = grout_module_get_block(planner->module, block)->last;
    return last != 0 && grout_module_get_op(planner->module, last)->opcode == GROUT_OP_YIELD ? last
                                                                                             : 0;
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
 * The yield at a block's end: all its values move at once. A value that is itself a target of
 * another move goes by way of a slot of its own, first of all.
 */
static uint32_t lower_yield(grout_planner *planner, grout_block_id block, const grout_slot *targets,
                            uint32_t count) {
    const grout_module *module = planner->module;
    grout_op_id yield = find_yield(planner, block);
    uint32_t index = add_inst(planner, grout_exec_yield, yield);
    if (planner->failed) {
        return 0;
    }
    get_inst(planner, index)->is_silent = true;
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
            add_move(planner, index, sources[i], detour);
            sources[i] = detour;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (sources[i].is_constant || sources[i].flag != targets[i].flag) {
            add_move(planner, index, sources[i], targets[i]);
        }
    }
    grout_heap__give(planner->plan->heap, sources, count * sizeof *sources);
    if (yield != 0) {
        grout_planner__expire(planner, planner->op_begin[yield]);
    }
    return index;
}

static void lower_for(grout_planner *planner, grout_op_id id) {
    const grout_module *module = planner->module;
    const grout_op *op = grout_module_get_op(module, id);
    const grout_block *body = grout_module_get_block(module, op->first_block);
    uint32_t begin = add_inst(planner, exec_table[GROUT_OP_FOR], id);
    if (planner->failed) {
        return;
    }
    add_operands(planner, begin, op);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        grout_planner__define(planner, body->first_arg + i);
    }
    const grout_slot *carries = planner->value_slots + body->first_arg + 1;
    for (uint32_t i = 0; i + 1 < body->arg_count && i + 3 < op->operand_count; i++) {
        const grout_operand *init = grout_module_get_operand(module, op, i + 3);
        add_move(planner, begin, grout_planner__get_operand(planner, init), carries[i]);
        planner->value_slots[op->first_result + i] = carries[i];
    }
    if (planner->failed) {
        return;
    }
    get_inst(planner, begin)->result = planner->value_slots[body->first_arg];
    grout_planner__expire(planner, planner->op_begin[id]);
    planner->loop_depth++;
    if (planner->loop_depth > planner->plan->loop_depth_max) {
        planner->plan->loop_depth_max = planner->loop_depth;
    }
    grout_planner__lower_block(planner, op->first_block);
    lower_yield(planner, op->first_block, carries, body->arg_count - 1);
    uint32_t next = add_inst(planner, grout_exec_next, id);
    planner->loop_depth--;
    if (!planner->failed) {
        get_inst(planner, next)->target = begin + 1;
        get_inst(planner, next)->result = get_inst(planner, begin)->result;
        get_inst(planner, begin)->target = next + 1;
    }
}

static void lower_if(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    uint32_t branch = add_inst(planner, exec_table[GROUT_OP_IF], id);
    if (planner->failed) {
        return;
    }
    add_operands(planner, branch, op);
    define_results(planner, op);
    grout_planner__expire(planner, planner->op_begin[id]);
    grout_planner__lower_block(planner, op->first_block);
    uint32_t leave = lower_yield(planner, op->first_block, planner->value_slots + op->first_result,
                                 op->result_count);
    uint32_t end = leave + 1;
    if (op->block_count > 1) {
        grout_planner__lower_block(planner, op->first_block + 1);
        end = lower_yield(planner, op->first_block + 1, planner->value_slots + op->first_result,
                          op->result_count) +
              1;
    }
    if (!planner->failed) {
        get_inst(planner, branch)->target = leave + 1;
        get_inst(planner, leave)->target = end;
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
    scope->first_object = get_next_index(&plan->objects);
    for (uint32_t i = 0; i < body->arg_count; i++) {
        grout_object_id object =
            grout_module_get_value(planner->module, body->first_arg + i)->object;
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

static void lower_scoped(grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    uint32_t scope = add_scope(planner, id);
    uint32_t begin = add_inst(planner, exec_table[GROUT_OP_SCOPED], id);
    if (planner->failed) {
        return;
    }
    get_inst(planner, begin)->scope = scope;
    get_inst(planner, begin)->is_point = true;
    define_results(planner, op);
    grout_planner__lower_block(planner, op->first_block);
    lower_yield(planner, op->first_block, planner->value_slots + op->first_result,
                op->result_count);
    uint32_t leave = add_inst(planner, grout_exec_leave, id);
    if (!planner->failed) {
        get_inst(planner, leave)->scope = scope;
        get_inst(planner, leave)->is_silent = true;
    }
}

static void lower_op(grout_planner *planner, grout_op_id id) {
    switch ((grout_form)grout_op_get_info(grout_module_get_op(planner->module, id)->opcode)->form) {
    case GROUT_FORM_FOR:
        lower_for(planner, id);
        break;
    case GROUT_FORM_IF:
        lower_if(planner, id);
        break;
    case GROUT_FORM_SCOPED:
        lower_scoped(planner, id);
        break;
    case GROUT_FORM_SCRATCH: /* lives as long as the CTA: nothing to do at its place */
    case GROUT_FORM_YIELD:   /* lowered by the op around it */
    case GROUT_FORM_COND:
    case GROUT_FORM_WHILE: /* to come */
    case GROUT_FORM_NONE:
    case GROUT_FORM_COUNT:
        break;
    case GROUT_FORM_UNARY:
    case GROUT_FORM_BINARY:
    case GROUT_FORM_COMPARE:
    case GROUT_FORM_TERNARY:
    case GROUT_FORM_SELECT:
    case GROUT_FORM_CONVERT:
    case GROUT_FORM_BROADCAST:
    case GROUT_FORM_IOTA:
    case GROUT_FORM_AXIS:
    case GROUT_FORM_LOAD:
    case GROUT_FORM_STORE:
    case GROUT_FORM_BARRIER:
    case GROUT_FORM_FENCE:
    case GROUT_FORM_COPY_IN:
    case GROUT_FORM_COPY_OUT:
    case GROUT_FORM_WAIT:
    case GROUT_FORM_MATH:
    case GROUT_FORM_LAYOUT:
    case GROUT_FORM_REDUCE:
    case GROUT_FORM_WGMMA:
    case GROUT_FORM_PRINT:
        lower_plain(planner, id);
        break;
    }
}

void grout_planner__lower_block(grout_planner *planner, grout_block_id block) {
    const grout_module *module = planner->module;
    grout_op_id id = grout_module_get_block(module, block)->first;
    for (; id != 0 && !planner->failed; id = grout_module_get_op(module, id)->next) {
        lower_op(planner, id);
        if (grout_module_get_op(module, id)->opcode != GROUT_OP_YIELD) {
            grout_planner__expire(planner, planner->op_begin[id]);
            grout_planner__expire(planner, planner->op_end[id]);
        }
    }
}
