/*
 * verify_uniform.c - which values differ between the threads of a CTA, or the warps of a warp_map.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A value differs if it is made from the index of a threads axis, or of a warp. A pass over the
 * kernel spreads that along operands and yields; passes repeat until nothing changes, since a loop
 * carries values back to its start. Values that memory holds count as equal.
 */
#include "verifying.h"

#include "invariant.h"

#define PASSES_MAX 64

typedef struct spreading {
    const grout_verifying *verifying;
    const grout_module *module;
    const grout_kernel *kernel;
    bool changed;
} spreading;

static void mark(spreading *spread, grout_value_id value, uint32_t differs) {
    uint8_t *marks = spread->verifying->differs;
    if ((differs & ~(uint32_t)marks[value]) != 0) {
        marks[value] = (uint8_t)(marks[value] | differs);
        spread->changed = true;
    }
}

uint32_t grout_verify__get_differing(const grout_verifying *verifying,
                                     const grout_operand *operand) {
    const grout_module *module = verifying->module;
    if (operand->kind == GROUT_OPERAND_VALUE) {
        return verifying->differs[operand->id] | verifying->all_differ;
    }
    if (operand->kind != GROUT_OPERAND_REF) {
        return 0;
    }
    const grout_ref *ref = grout_module_get_ref(module, operand->id);
    uint32_t differs = 0;
    for (uint32_t s = 0; s < ref->step_count; s++) {
        const grout_ref_step *step = grout_module_get_ref_step(module, ref, s);
        for (uint32_t k = 0; k < step->count; k++) {
            const grout_operand *start = &grout_module_get_index(module, step, k)->start;
            if (start->kind == GROUT_OPERAND_VALUE) {
                differs |= verifying->differs[start->id] | verifying->all_differ;
            }
        }
    }
    return differs;
}

static uint32_t join_operands(const grout_verifying *verifying, const grout_op *op,
                              uint32_t count) {
    uint32_t differs = 0;
    for (uint32_t k = 0; k < count && k < op->operand_count; k++) {
        differs |= grout_verify__get_differing(verifying,
                                               grout_module_get_operand(verifying->module, op, k));
    }
    return differs;
}

/* How the condition of a while differs; it is at the end of the first body. */
static uint32_t get_condition(const grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    grout_op_id last = grout_module_get_block(module, op->first_block)->last;
    return last == 0 ? 0 : join_operands(verifying, grout_module_get_op(module, last), 1);
}

uint32_t grout_verify__get_control(const grout_verifying *verifying, const grout_op *op) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    return region->kind == GROUT_REGION_LOOP && region->blocks == 2
               ? get_condition(verifying, op)
               : join_operands(verifying, op, region->lead_operands);
}

const grout_op *grout_verify__find_divergence(const grout_verifying *verifying, const grout_op *op,
                                              uint32_t differs) {
    const grout_module *module = verifying->module;
    grout_op_id id = grout_module_get_block(module, op->parent)->parent;
    while (id != 0) {
        const grout_op *around = grout_module_get_op(module, id);
        if ((grout_verify__get_control(verifying, around) & differs) != 0) {
            return around;
        }
        id = grout_module_get_block(module, around->parent)->parent;
    }
    return NULL;
}

/* The first carry of a loop, after the index that a for has. */
static grout_value_id get_first_carry(const spreading *spread, const grout_op *op) {
    return grout_module_get_block(spread->module, op->first_block)->first_arg +
           grout_op_get_region((grout_opcode)op->opcode)->lead_args;
}

/* A yield gives its values to the results of the op around, and to a loop's carries. */
static void spread_yield(spreading *spread, const grout_op *yield) {
    const grout_module *module = spread->module;
    const grout_block *block = grout_module_get_block(module, yield->parent);
    if (block->parent == 0) {
        return;
    }
    const grout_op *around = grout_module_get_op(module, block->parent);
    uint32_t control = grout_verify__get_control(spread->verifying, around);
    bool is_loop = grout_op_get_region_kind(around) == GROUT_REGION_LOOP;
    for (uint32_t k = 0; k < yield->operand_count && k < around->result_count; k++) {
        uint32_t differs =
            control | grout_verify__get_differing(spread->verifying,
                                                  grout_module_get_operand(module, yield, k));
        mark(spread, around->first_result + k, differs);
        if (is_loop) {
            mark(spread, get_first_carry(spread, around) + k, differs);
        }
    }
}

static void spread_loop(spreading *spread, const grout_op *op) {
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    uint32_t first = region->lead_operands;
    grout_value_id carry = get_first_carry(spread, op);
    for (uint32_t k = 1; k <= region->lead_args; k++) { /* the index */
        mark(spread, carry - k, grout_verify__get_control(spread->verifying, op));
    }
    for (uint32_t k = first; k < op->operand_count; k++) {
        uint32_t differs = grout_verify__get_differing(
            spread->verifying, grout_module_get_operand(spread->module, op, k));
        mark(spread, carry + k - first, differs);
        mark(spread, op->first_result + k - first, differs);
    }
}

static uint32_t get_axis(const spreading *spread, const grout_op *op) {
    uint32_t axis = grout_module_get_operand(spread->module, op, 0)->id - 1;
    GROUT_ASSERT(axis < spread->kernel->axis_count);
    bool differs = spread->kernel->axes[axis].kind == GROUT_AXIS_THREADS &&
                   grout_kernel_get_axis_size(spread->module, spread->verifying->kernel, axis) > 1;
    return differs ? GROUT_DIFFERS_BY_THREAD : 0;
}

static void spread_op(spreading *spread, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    grout_region_kind kind = grout_op_get_region_kind(op);
    if (grout_op_get_letter((grout_opcode)op->opcode, 0) == 'x') {
        mark(spread, op->first_result, get_axis(spread, op));
    } else if (kind == GROUT_REGION_WARPS) {
        const grout_block *body = grout_module_get_block(spread->module, op->first_block);
        if (body->arg_count > 0) {
            mark(spread, body->first_arg, GROUT_DIFFERS_BY_WARP);
        }
    } else if (info->rule == GROUT_RULE_YIELD) {
        spread_yield(spread, op);
    } else if (kind == GROUT_REGION_LOOP) {
        spread_loop(spread, op);
    } else if (info->shape == GROUT_SHAPE_PLAIN && op->result_count == 1) {
        mark(spread, op->first_result, join_operands(spread->verifying, op, op->operand_count));
    }
}

void grout_verify__spread(grout_verifying *verifying) {
    spreading spread = {.verifying = verifying, .module = verifying->module};
    spread.kernel = grout_module_get_kernel(spread.module, verifying->kernel);
    if (verifying->is_spread) {
        return;
    }
    verifying->is_spread = true;
    for (uint32_t pass = 0; pass < PASSES_MAX; pass++) {
        spread.changed = false;
        grout_op_id id = grout_kernel__get_first_op(spread.module, verifying->kernel);
        for (; id != 0 && grout_verify__goes_on(verifying);
             id = grout_kernel__get_next_op(spread.module, id)) {
            spread_op(&spread, grout_module_get_op(spread.module, id));
        }
        if (!spread.changed) {
            return;
        }
    }
    /* Carries that turn in a circle longer than that: all of them may differ. */
    verifying->all_differ = GROUT_DIFFERS_BY_THREAD | GROUT_DIFFERS_BY_WARP;
}
