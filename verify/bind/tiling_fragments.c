/* tiling_fragments.c - which array values are fragments of the tensor core.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tiling.h"

#include "alloc.h"

#include "grout-internal/register_layout.h"

typedef struct fragment_walk {
    const grout_module *module;
    bool *is_fragment; /* by value */
    bool is_changed;
} fragment_walk;

static grout_rule get_rule(const grout_op *op) {
    return (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
}

static void mark(fragment_walk *walk, grout_value_id value) {
    const grout_type *type = &walk->module->bound->value_types[value];
    if (type->kind == GROUT_TYPE_ARRAY && !walk->is_fragment[value]) {
        walk->is_fragment[value] = true;
        walk->is_changed = true;
    }
}

static void mark_operand(fragment_walk *walk, const grout_op *op, uint32_t k) {
    const grout_operand *operand = grout_module_get_operand(walk->module, op, k);
    if (operand->kind == GROUT_OPERAND_VALUE) {
        mark(walk, operand->id);
    }
}

static bool is_accumulator(const grout_module *module, const grout_op *op, uint32_t k) {
    return grout_module_get_operand_type(module, grout_module_get_operand(module, op, k)).space ==
           GROUT_SPACE_ACC;
}

/* Whether an operation takes its operand in fragments: a reduction along one of two dimensions. */
static bool reduces_fragments(const grout_module *module, const grout_op *op) {
    const grout_type type =
        grout_module_get_operand_type(module, grout_module_get_operand(module, op, 0));
    const grout_type *result = &module->bound->value_types[op->first_result];
    return type.kind == GROUT_TYPE_ARRAY && result->kind == GROUT_TYPE_ARRAY &&
           grout_type_get_count(result) > 1 &&
           grout_register_layout_make(GROUT_LAYOUT_WGMMA, GROUT_WARPS, &type).kind !=
               GROUT_LAYOUT_NONE;
}

/* What comes from the tensor core, or goes there, at an operation, or lies as if it did. */
static void mark_ends(fragment_walk *walk, const grout_op *op) {
    const grout_rule rule = get_rule(op);
    if (rule == GROUT_RULE_LOAD && is_accumulator(walk->module, op, 0)) {
        mark(walk, op->first_result);
    } else if (rule == GROUT_RULE_WGMMA ||
               (rule == GROUT_RULE_STORE && is_accumulator(walk->module, op, 0))) {
        mark_operand(walk, op, 1);
    } else if (rule == GROUT_RULE_LAYOUT) {
        if (grout_module_find_attr(walk->module, op, GROUT_ATTR_LAYOUT_WGMMA) != NULL) {
            mark(walk, op->first_result);
        }
    } else if (rule == GROUT_RULE_REDUCE && reduces_fragments(walk->module, op)) {
        mark_operand(walk, op, 0);
    } else if (rule == GROUT_RULE_MMA) {
        mark(walk, op->first_result);
        for (uint32_t k = 0; k < op->operand_count; k++) {
            mark_operand(walk, op, k);
        }
    }
}

/* Whether the lanes of operands and result hold the same elements, or parts of them. */
static bool is_elementwise(const grout_op *op) {
    const grout_rule rule = get_rule(op);
    return rule == GROUT_RULE_JOIN || rule == GROUT_RULE_COMPARE || rule == GROUT_RULE_SELECT ||
           rule == GROUT_RULE_CONVERT || rule == GROUT_RULE_BITCAST || rule == GROUT_RULE_SLICE ||
           rule == GROUT_RULE_CONCATENATE || rule == GROUT_RULE_PROMISE ||
           rule == GROUT_RULE_EXTERN;
}

/* Values of which one is a fragment, and then all are. */
typedef struct alike {
    uint32_t count;
    grout_value_id values[8];
} alike;

static void add_value(alike *list, grout_value_id value) {
    enum { MAX = sizeof list->values / sizeof list->values[0] };
    if (value != 0 && list->count < MAX) {
        list->values[list->count++] = value;
    }
}

static void add_operand(alike *list, const grout_operand *operand) {
    add_value(list, operand->kind == GROUT_OPERAND_VALUE ? operand->id : 0);
}

static void join(fragment_walk *walk, const alike *list) {
    bool has_one = false;
    for (uint32_t k = 0; k < list->count; k++) {
        has_one = has_one || walk->is_fragment[list->values[k]];
    }
    for (uint32_t k = 0; k < list->count && has_one; k++) {
        mark(walk, list->values[k]);
    }
}

static void join_elements(fragment_walk *walk, const grout_op *op) {
    alike list = {.count = 0};
    add_value(&list, op->first_result);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        add_operand(&list, grout_module_get_operand(walk->module, op, k));
    }
    join(walk, &list);
}

/* Results of a region with what its blocks yield, and the carries of a loop. */
static void join_region(fragment_walk *walk, const grout_op *op) {
    const grout_module *module = walk->module;
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    for (uint32_t k = 0; k < op->result_count; k++) {
        alike list = {.count = 0};
        add_value(&list, op->first_result + k);
        for (uint32_t b = 0; b < op->block_count; b++) {
            const grout_op *yield = grout_block_find_yield(module, op->first_block + b);
            if (yield != NULL && k < yield->operand_count) {
                add_operand(&list, grout_module_get_operand(module, yield, k));
            }
        }
        if (region->kind == GROUT_REGION_LOOP) {
            add_value(&list, grout_module_get_block(module, op->first_block)->first_arg +
                                 region->lead_args + k);
            add_operand(&list, grout_module_get_operand(module, op, region->lead_operands + k));
        }
        join(walk, &list);
    }
}

static void join_op(fragment_walk *walk, const grout_op *op) {
    if (is_elementwise(op)) {
        join_elements(walk, op);
    } else if (op->block_count > 0 && op->result_count > 0) {
        join_region(walk, op);
    }
}

bool *grout_tiling__find_fragments(grout_binding *binding) {
    const grout_module *module = binding->module;
    fragment_walk walk = {.module = module};
    walk.is_fragment = grout_binding__new(binding, module->values.count, sizeof *walk.is_fragment);
    for (grout_op_id id = 1; walk.is_fragment != NULL && id < module->ops.count; id++) {
        mark_ends(&walk, grout_module_get_op(module, id));
    }
    /* By turns upwards and downwards: a chain of operations takes one turn, whichever end is known.
     */
    for (bool is_down = false; walk.is_changed; is_down = !is_down) {
        walk.is_changed = false;
        for (uint32_t i = 1; grout_binding__goes_on(binding) && i < module->ops.count; i++) {
            join_op(&walk, grout_module_get_op(module, is_down ? module->ops.count - i : i));
        }
    }
    return walk.is_fragment;
}
