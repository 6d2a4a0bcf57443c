/* infer_region.c - types through blocks: loops, conditions, scopes, warps and partitions, and what
 * they yield. SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>

static void infer_block(grout_binding *binding, grout_block_id id);

static grout_rule get_rule(const grout_module *module, grout_op_id id) {
    return (grout_rule)grout_op_get_info((grout_opcode)grout_module_get_op(module, id)->opcode)
        ->rule;
}

/* Whether one of the bodies is still being built, so that nothing can be said of their ends. */
static bool is_open(const grout_binding *binding, const grout_op *op) {
    grout_block_id id = binding->unfinished;
    while (id != 0) {
        const grout_op *around = grout_module_get_op(
            binding->module, grout_module_get_block(binding->module, id)->parent);
        if (around == op) {
            return true;
        }
        id = around->parent;
    }
    return false;
}

/* Checks that a block yields as many values as op has results; the yield, or NULL if there is none.
 */
static bool check_yield_count(grout_binding *binding, const grout_op *op, grout_block_id id,
                              const grout_op **yield_out) {
    const grout_op *yield = grout_block_find_yield(binding->module, id);
    uint32_t count = yield == NULL ? 0 : yield->operand_count;
    *yield_out = yield;
    if (is_open(binding, op)) {
        return false;
    }
    if (count == op->result_count) {
        return true;
    }
    grout_loc_id loc =
        yield == NULL ? grout_module_get_block(binding->module, id)->end_loc : yield->loc;
    return grout_binding__report(binding, GROUT_DIAG_BAD_REGION, loc,
                                 "this body yields %" PRIu32 " value%s, and the '%s' around it has "
                                 "%" PRIu32 " result%s",
                                 count, count == 1 ? "" : "s",
                                 grout_op_get_info((grout_opcode)op->opcode)->text,
                                 op->result_count, op->result_count == 1 ? "" : "s");
}

/* One yielded value against the type that it has to have. */
static bool check_yielded(grout_binding *binding, const grout_op *yield, uint32_t index,
                          const grout_type *wanted) {
    grout_type type = grout_infer__get_value(binding, yield, index);
    const grout_operand *operand = grout_module_get_operand(binding->module, yield, index);
    if (type.kind == GROUT_TYPE_NONE || wanted->kind == GROUT_TYPE_NONE) {
        return type.kind != GROUT_TYPE_NONE;
    }
    if (operand->kind == GROUT_OPERAND_EXPR && wanted->kind == GROUT_TYPE_SCALAR) {
        return grout_infer__set_constant(binding, yield, index, (grout_dtype)wanted->dtype);
    }
    if (operand->kind == GROUT_OPERAND_EXPR) {
        type.dtype = (uint8_t)grout_infer__get_default(binding, operand);
    }
    if (grout_type_is_equal(&type, wanted)) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_BAD_REGION, operand->loc,
                          "value %" PRIu32 " of the yield is %s, and has to be %s", index + 1,
                          grout_type__get_text(&type).chars, grout_type__get_text(wanted).chars);
    grout_diags_help(binding->diags, "a carry keeps the type it starts with, and both bodies of an "
                                     "if yield the same types: cast one of the values");
    return false;
}

static void set_results(grout_binding *binding, const grout_op *op, uint32_t index,
                        const grout_type *type) {
    if (index < op->result_count) {
        grout_infer__set_type(binding, op->first_result + index, op->parent, type);
    }
}

/* The type of an operand that nothing else decides: a carry's start, a yield. */
static grout_type settle_value(grout_binding *binding, const grout_op *op, uint32_t index) {
    grout_type type = grout_infer__get_value(binding, op, index);
    const grout_operand *operand = grout_module_get_operand(binding->module, op, index);
    if (type.kind != GROUT_TYPE_NONE && operand->kind == GROUT_OPERAND_EXPR) {
        type.dtype = (uint8_t)grout_infer__get_default(binding, operand);
        if (!grout_infer__set_constant(binding, op, index, (grout_dtype)type.dtype)) {
            type.kind = GROUT_TYPE_NONE;
        }
    }
    return type;
}

/* The carries of a loop: arguments of its body, and its results, from an operand each on. */
static void infer_carries(grout_binding *binding, const grout_op *op, grout_value_id first_arg,
                          uint32_t first_operand) {
    for (uint32_t k = 0; k < op->operand_count - first_operand; k++) {
        grout_type type = settle_value(binding, op, first_operand + k);
        grout_infer__set_type(binding, first_arg + k, op->first_block, &type);
        set_results(binding, op, k, &type);
    }
}

/* After a report an op has results without a type, so that nobody reports again. */
static void drop_results(grout_binding *binding, const grout_op *op) {
    const grout_type none = {.kind = GROUT_TYPE_NONE};
    for (uint32_t k = 0; k < op->result_count; k++) {
        grout_infer__set_type(binding, op->first_result + k, op->parent, &none);
    }
}

/* The yield of a loop against its carries; block is the body that yields. */
static void check_carries(grout_binding *binding, const grout_op *op, grout_block_id block,
                          grout_value_id first_arg, uint32_t carries) {
    const grout_op *yield;
    if (is_open(binding, op)) {
        return;
    }
    if (op->result_count != carries) {
        grout_binding__report(binding, GROUT_DIAG_BAD_REGION, op->loc,
                              "a loop has a result for each carry: %" PRIu32 " results, %" PRIu32
                              " carries",
                              op->result_count, carries);
        drop_results(binding, op);
        return;
    }
    if (!check_yield_count(binding, op, block, &yield)) {
        return;
    }
    for (uint32_t k = 0; k < carries; k++) {
        check_yielded(binding, yield, k, &binding->bound->value_types[first_arg + k]);
    }
}

static void infer_for(grout_binding *binding, const grout_op *op) {
    static const char *const whats[] = {"the start of a loop", "the end of a loop",
                                        "the step of a loop"};
    const grout_type index_type = {.kind = GROUT_TYPE_SCALAR, .dtype = GROUT_DTYPE_I32};
    const grout_block *body = grout_module_get_block(binding->module, op->first_block);
    for (uint32_t k = 0; k < 3; k++) {
        grout_infer__check_scalar(binding, op, k, GROUT_DTYPE_I32, whats[k]);
    }
    grout_infer__set_type(binding, body->first_arg, op->first_block, &index_type);
    infer_carries(binding, op, body->first_arg + 1, 3);
    infer_block(binding, op->first_block);
    check_carries(binding, op, op->first_block, body->first_arg + 1, op->operand_count - 3);
}

/* The second body lies in the scope of the first, which stays open for it. */
static void infer_while(grout_binding *binding, const grout_op *op) {
    const grout_block *body = grout_module_get_block(binding->module, op->first_block);
    infer_carries(binding, op, body->first_arg, 0);
    infer_block(binding, op->first_block);
    if (!is_open(binding, op) &&
        (body->last == 0 || get_rule(binding->module, body->last) != GROUT_RULE_CONDITION)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_REGION, body->end_loc,
                              "the first body of 'while' ends without 'cond'");
    }
    binding->open_blocks[op->first_block] = true;
    infer_block(binding, op->first_block + 1);
    binding->open_blocks[op->first_block] = false;
    check_carries(binding, op, op->first_block + 1, body->first_arg, op->operand_count);
}

/* The type of result index: from the branch that says one; two constants: their default. */
static void infer_if_result(grout_binding *binding, const grout_op *op, const grout_op *yields[2],
                            uint32_t index) {
    const grout_operand *first = grout_module_get_operand(binding->module, yields[0], index);
    const grout_operand *second = grout_module_get_operand(binding->module, yields[1], index);
    uint32_t said = first->kind == GROUT_OPERAND_EXPR && second->kind != GROUT_OPERAND_EXPR ? 1 : 0;
    if (first->kind == GROUT_OPERAND_EXPR && second->kind == GROUT_OPERAND_EXPR &&
        binding->bound->expr_values[second->id].is_float) {
        said = 1;
    }
    grout_type type = settle_value(binding, yields[said], index);
    if (type.kind != GROUT_TYPE_NONE) {
        check_yielded(binding, yields[1 - said], index, &type);
    }
    set_results(binding, op, index, &type);
}

static void infer_if(grout_binding *binding, const grout_op *op) {
    const grout_type none = {.kind = GROUT_TYPE_NONE};
    const grout_op *yields[2] = {NULL, NULL};
    grout_infer__check_scalar(binding, op, 0, GROUT_DTYPE_BOOL, "the condition of an 'if'");
    bool ok = true;
    for (uint32_t k = 0; k < op->block_count; k++) {
        infer_block(binding, op->first_block + k);
        ok = check_yield_count(binding, op, op->first_block + k, &yields[k & 1]) && ok;
    }
    if (op->result_count > 0 && op->block_count < 2) {
        grout_binding__report(binding, GROUT_DIAG_BAD_REGION, op->loc,
                              "an 'if' with results needs an 'else' that yields them too");
        ok = false;
    }
    for (uint32_t k = 0; k < op->result_count; k++) {
        if (ok) {
            infer_if_result(binding, op, yields, k);
        } else {
            set_results(binding, op, k, &none);
        }
    }
}

static void infer_scoped(grout_binding *binding, const grout_op *op) {
    const grout_type none = {.kind = GROUT_TYPE_NONE};
    const grout_block *body = grout_module_get_block(binding->module, op->first_block);
    for (uint32_t k = 0; k < body->arg_count; k++) {
        binding->value_scopes[body->first_arg + k] = op->first_block;
    }
    infer_block(binding, op->first_block);
    const grout_op *yield;
    bool ok = check_yield_count(binding, op, op->first_block, &yield);
    for (uint32_t k = 0; k < op->result_count; k++) {
        grout_type type = ok ? settle_value(binding, yield, k) : none;
        set_results(binding, op, k, &type);
    }
}

static void infer_warp_map(grout_binding *binding, const grout_op *op) {
    const grout_type index_type = {.kind = GROUT_TYPE_SCALAR, .dtype = GROUT_DTYPE_I32};
    const grout_block *body = grout_module_get_block(binding->module, op->first_block);
    const grout_op *yield;
    grout_infer__set_type(binding, body->first_arg, op->first_block, &index_type);
    infer_block(binding, op->first_block);
    check_yield_count(binding, op, op->first_block, &yield);
}

/* The results are what the first body yields; a partition yields nothing. */
static void infer_warp_specialize(grout_binding *binding, const grout_op *op) {
    const grout_type none = {.kind = GROUT_TYPE_NONE};
    const grout_op *yield;
    for (uint32_t k = 0; k < op->block_count; k++) {
        infer_block(binding, op->first_block + k);
        const grout_op *own = grout_block_find_yield(binding->module, op->first_block + k);
        if (k > 0 && own != NULL) {
            grout_binding__report(binding, GROUT_DIAG_BAD_REGION, own->loc,
                                  "'yield' in a partition of 'warp_specialize': its results are "
                                  "those of the first body");
        }
    }
    bool ok = check_yield_count(binding, op, op->first_block, &yield);
    for (uint32_t k = 0; k < op->result_count; k++) {
        grout_type type = ok ? settle_value(binding, yield, k) : none;
        set_results(binding, op, k, &type);
    }
}

/* By form; NULL of forms without blocks. */
typedef void infer_region(grout_binding *binding, const grout_op *op);
static infer_region *const infer_regions[GROUT_FORM_COUNT] = {
#define GROUT_REGION(FORM, text, KIND, LEAD_OPERANDS, LEAD_ARGS, BLOCKS, YIELDS) \
    [GROUT_FORM_##FORM] = infer_##text,
#include "grout/ops.def"
};

static void infer_op(grout_binding *binding, const grout_op *op) {
    if (!grout_infer__check_uses(binding, op)) {
        drop_results(binding, op);
        return;
    }
    infer_region *region = infer_regions[grout_op_get_info((grout_opcode)op->opcode)->form];
    if (region != NULL) {
        region(binding, op);
    } else {
        grout_infer__op(binding, op);
    }
}

/* Blocks nest at most GROUT_NESTING_MAX deep: parser and builder see to it. */
static void infer_block(grout_binding *binding, grout_block_id id) {
    binding->open_blocks[id] = true;
    grout_op_id op = grout_module_get_block(binding->module, id)->first;
    while (op != 0 && grout_binding__goes_on(binding)) {
        const grout_op *inst = grout_module_get_op(binding->module, op);
        infer_op(binding, inst);
        op = inst->next;
    }
    binding->open_blocks[id] = false;
}

void grout_infer__kernel(grout_binding *binding, grout_kernel_id id) {
    const grout_kernel *kernel = grout_module_get_kernel(binding->module, id);
    for (uint32_t k = 0; k < kernel->param_count; k++) {
        const grout_param *param = grout_module_get_param(binding->module, kernel, k);
        if (param->direction == GROUT_DIRECTION_SCALAR) {
            grout_type type = {.kind = GROUT_TYPE_SCALAR, .dtype = param->dtype};
            binding->bound->value_types[param->value] = type;
        }
        binding->value_scopes[param->value] = kernel->body;
    }
    infer_block(binding, kernel->body);
}
