/* SPDX-License-Identifier: Apache-2.0
 * plan_spin.c - what an actor that goes round in a while goes by: the values on which what it does
 * next depends (sync/spin.c).
 *
 * A value decides if it reaches a condition, a bound, an address or an operation with an effect
 * inside the loop. A count of the turns that is only handed on from turn to turn, or used after the
 * loop, decides nothing: with it alone changed, the actor goes round all the same.
 */
#include "planner.h"

#include <string.h>

typedef struct marker {
    const grout_planner *planner;
    bool has_changed;
} marker;

static void mark(marker *m, grout_value_id value) {
    if (!m->planner->decides[value]) {
        m->planner->decides[value] = true;
        m->has_changed = true;
    }
}

static void mark_operand(marker *m, const grout_operand *operand) {
    grout_view view;
    if (grout_module_get_view(m->planner->module, operand, &view)) {
        for (uint32_t dim = 0; dim < view.rank; dim++) {
            for (uint32_t i = 0; i < view.start_term_count[dim]; i++) {
                mark(m, view.start_terms[dim][i]);
            }
        }
        for (uint32_t i = 0; i < view.cluster_index_count; i++) {
            if (view.cluster_index[i].kind == GROUT_OPERAND_VALUE) {
                mark(m, view.cluster_index[i].id);
            }
        }
    } else if (operand->kind == GROUT_OPERAND_VALUE) {
        mark(m, operand->id);
    }
}

static void mark_operands(marker *m, const grout_op *op, uint32_t first, uint32_t end) {
    for (uint32_t i = first; i < end && i < op->operand_count; i++) {
        mark_operand(m, grout_module_get_operand(m->planner->module, op, i));
    }
}

static bool decides_any(const marker *m, const grout_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        if (m->planner->decides[op->first_result + i]) {
            return true;
        }
    }
    return false;
}

/* What a region hands on: from its start values and its yields to its carries and results. */
static void mark_handed_on(marker *m, const grout_op *op) {
    const grout_module *module = m->planner->module;
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    const grout_block *first = grout_module_get_block(module, op->first_block);
    bool is_loop = region->kind == GROUT_REGION_LOOP;
    for (uint32_t i = 0; i < op->result_count; i++) {
        grout_value_id result = op->first_result + i;
        grout_value_id carry = is_loop ? first->first_arg + region->lead_args + i : result;
        if (!m->planner->decides[result] && !m->planner->decides[carry]) {
            continue;
        }
        mark(m, result);
        mark(m, carry);
        if (is_loop) {
            mark_operands(m, op, region->lead_operands + i, region->lead_operands + i + 1);
        }
        for (uint32_t b = 0; b < op->block_count; b++) {
            const grout_op *yield = grout_block_find_yield(module, op->first_block + b);
            if (yield != NULL) {
                mark_operands(m, yield, i, i + 1);
            }
        }
    }
}

static void mark_op(marker *m, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    if (op->block_count > 0) {
        mark_operands(m, op, 0, grout_op_get_region((grout_opcode)op->opcode)->lead_operands);
        mark_handed_on(m, op);
    } else if (info->rule == GROUT_RULE_YIELD || info->effect_row == GROUT_EFFECT_ROW_HINT) {
        return; /* mark_handed_on; and how long a delay is changes nothing */
    } else if (grout_effect_row_get_class((grout_effect_row)info->effect_row) !=
                   GROUT_EFFECT_PURE ||
               decides_any(m, op)) {
        mark_operands(m, op, 0, op->operand_count);
    }
}

/* The outermost while around an op, itself included; 0: there is none. */
static grout_op_id find_outermost(const grout_planner *planner, grout_op_id id) {
    grout_op_id found = 0;
    for (; id != 0; id = grout_module_get_block(planner->module,
                                                grout_module_get_op(planner->module, id)->parent)
                             ->parent) {
        const grout_op *op = grout_module_get_op(planner->module, id);
        if (op->block_count > 0 && grout_op_get_region((grout_opcode)op->opcode)->blocks == 2) {
            found = id;
        }
    }
    return found;
}

/* The outermost loop: an actor that goes round in an inner one may leave it and come again. */
static void find_deciding(grout_planner *planner, grout_op_id loop) {
    marker m = {.planner = planner, .has_changed = true};
    memset(planner->decides, 0, grout_module_get_value_count(planner->module));
    while (m.has_changed && !planner->failed) {
        m.has_changed = false;
        /* Backwards, as it goes from uses to what they use; an op with blocks on both sides of
         * them.
         */
        for (uint32_t at = planner->op_end[loop];
             at >= planner->op_begin[loop] && grout_planner__goes_on(planner); at--) {
            mark_op(&m, grout_module_get_op(planner->module, planner->op_at[at]));
        }
    }
    planner->decides_in = loop;
}

/* ---- what becomes of what a look finds ---- */

static bool is_marked(const marker *m, const grout_operand *operand) {
    const bool *marks = m->planner->decides;
    grout_view view;
    bool is = false;
    if (!grout_module_get_view(m->planner->module, operand, &view)) {
        return operand->kind == GROUT_OPERAND_VALUE && marks[operand->id];
    }
    for (uint32_t dim = 0; dim < view.rank; dim++) {
        for (uint32_t i = 0; i < view.start_term_count[dim]; i++) {
            is = is || marks[view.start_terms[dim][i]];
        }
    }
    for (uint32_t i = 0; i < view.cluster_index_count; i++) {
        is = is ||
             (view.cluster_index[i].kind == GROUT_OPERAND_VALUE && marks[view.cluster_index[i].id]);
    }
    return is;
}

static bool uses_any(const marker *m, const grout_op *op, uint32_t count) {
    bool does = false;
    for (uint32_t i = 0; i < count && i < op->operand_count; i++) {
        does = does || is_marked(m, grout_module_get_operand(m->planner->module, op, i));
    }
    return does;
}

static void mark_results(marker *m, const grout_op *op) {
    for (uint32_t i = 0; i < op->result_count; i++) {
        mark(m, op->first_result + i);
    }
}

/* Marks what comes of marked values in a block. Whether one decides more than the condition of the
 * loop whose condition is in the block 'own'. */
static bool follow_block(grout_planner *planner, marker *m, grout_block_id block,
                         grout_block_id own) {
    const grout_module *module = planner->module;
    bool decides = false;
    grout_op_id id = grout_module_get_block(module, block)->first;
    while (id != 0 && !decides && grout_planner__goes_on(planner)) {
        const grout_op *op = grout_module_get_op(module, id);
        const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
        const bool is_used = uses_any(m, op, op->operand_count);
        const bool is_pure =
            grout_effect_row_get_class((grout_effect_row)info->effect_row) == GROUT_EFFECT_PURE;
        if (op->block_count > 0 || info->rule == GROUT_RULE_YIELD) {
            decides = is_used; /* handed on: what the next turn may go by */
        } else if (is_used && is_pure) {
            mark_results(m, op);
        } else if (is_used) {
            decides = (info->rule != GROUT_RULE_CONDITION || block != own) &&
                      info->effect_row != GROUT_EFFECT_ROW_HINT;
        }
        for (uint32_t i = 0; i < op->block_count && !decides; i++) {
            decides = follow_block(planner, m, op->first_block + i, own);
        }
        id = op->next;
    }
    return decides;
}

static grout_block_id find_condition(const grout_planner *planner, grout_op_id id) {
    const grout_op *op = grout_module_get_op(planner->module, id);
    do {
        id = grout_module_get_block(planner->module, op->parent)->parent;
        op = grout_module_get_op(planner->module, id);
    } while (grout_op_get_region((grout_opcode)op->opcode)->blocks != 2 ||
             grout_op_get_region((grout_opcode)op->opcode)->kind != GROUT_REGION_LOOP);
    return op->first_block;
}

bool grout_planner__tells_more(grout_planner *planner, grout_op_id op) {
    const grout_op *loop = grout_module_get_op(planner->module, find_outermost(planner, op));
    marker m = {.planner = planner};
    bool decides = false;
    memset(planner->decides, 0, grout_module_get_value_count(planner->module));
    planner->decides_in = 0;
    mark_results(&m, grout_module_get_op(planner->module, op));
    while (m.has_changed && !decides && !planner->failed) {
        m.has_changed = false;
        for (uint32_t i = 0; i < loop->block_count && !decides; i++) {
            decides = follow_block(planner, &m, loop->first_block + i, find_condition(planner, op));
        }
    }
    return decides;
}

static void keep(grout_planner *planner, uint32_t inst, const grout_slot *slot) {
    uint32_t bytes = slot->count * slot->element_bytes;
    const grout_decider parts[] = {{slot->flag, 1}, {slot->data, bytes}};
    for (uint32_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint32_t index = grout_pool__take(&planner->plan->deciders, planner->plan->heap);
        if (index == 0) {
            planner->failed = true;
            return;
        }
        *(grout_decider *)grout_pool__at(&planner->plan->deciders, index) = parts[i];
        grout_planner__get_inst(planner, inst)->decider_count++;
    }
}

void grout_planner__keep_deciding(grout_planner *planner, uint32_t inst, grout_op_id op,
                                  uint32_t position) {
    grout_op_id loop = find_outermost(planner, op);
    uint32_t value_count = grout_module_get_value_count(planner->module);
    if (loop == 0 || planner->failed) {
        return;
    }
    if (planner->decides_in != loop) {
        find_deciding(planner, loop);
    }
    grout_planner__get_inst(planner, inst)->first_decider =
        grout_plan__get_next(&planner->plan->deciders);
    for (uint32_t value = 1; value < value_count && grout_planner__goes_on(planner); value++) {
        const grout_slot *slot = &planner->value_slots[value];
        if (planner->decides[value] && planner->defined[value] != 0 &&
            planner->defined[value] <= position && planner->last_use[value] > position &&
            !slot->is_constant && !slot->is_temporary) {
            keep(planner, inst, slot);
        }
    }
}
