/* infer_check.c - what is asserted: the condition and the values of a debug_check, and the number
 * of a multiple_of. SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>

/* The condition: a bool, or an array of them. */
static bool check_condition(grout_binding *binding, const grout_op *op, grout_type *condition) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, 0);
    if (operand->kind == GROUT_OPERAND_EXPR) {
        condition->dtype = GROUT_DTYPE_BOOL;
        return grout_infer__set_constant(binding, op, 0, GROUT_DTYPE_BOOL);
    }
    if (condition->dtype == GROUT_DTYPE_BOOL) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, operand->loc,
                          "the condition of '%s' is bool, not %s", grout_infer__get_mnemonic(op),
                          grout_type__get_text(condition).chars);
    grout_diags_help(binding->diags, "compare it, as in (ne .., 0)");
    return false;
}

/* A value of the text: a scalar, or with an array of conditions an array of the same shape. */
static bool check_value(grout_binding *binding, const grout_op *op, uint32_t k,
                        const grout_type *condition) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, k);
    const grout_type type = grout_infer__get_value(binding, op, k);
    if (operand->kind == GROUT_OPERAND_EXPR) {
        return grout_infer__set_constant(binding, op, k,
                                         grout_infer__get_default(binding, operand));
    }
    if (type.kind != GROUT_TYPE_ARRAY || type.rank == 0) {
        return type.kind != GROUT_TYPE_NONE;
    }
    if (condition->kind == GROUT_TYPE_ARRAY && grout_type__is_same_shape(&type, condition)) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, operand->loc,
                          "a value of '%s' is %s, and the condition %s",
                          grout_infer__get_mnemonic(op), grout_type__get_text(&type).chars,
                          grout_type__get_text(condition).chars);
    grout_diags_help(binding->diags,
                     "it shows one element, where the condition is false: an array of the "
                     "condition's shape, or a scalar");
    return false;
}

bool grout_infer__check(grout_binding *binding, const grout_op *op, const grout_type *types) {
    grout_type condition = types[0];
    bool ok = check_condition(binding, op, &condition);
    for (uint32_t k = 2; ok && k < op->operand_count; k++) {
        ok = check_value(binding, op, k, &condition);
    }
    return ok;
}

/* An integer of a type that holds the number. */
bool grout_infer__promise(grout_binding *binding, const grout_op *op, const grout_type *types,
                          grout_type *type) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, 0);
    *type = types[0];
    if (operand->kind == GROUT_OPERAND_EXPR) {
        type->dtype = (uint8_t)grout_infer__get_default(binding, operand);
        if (!grout_infer__set_constant(binding, op, 0, (grout_dtype)type->dtype)) {
            return false;
        }
    }
    if (type->kind != GROUT_TYPE_SCALAR) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, operand->loc,
                              "'%s' is about an index, a scalar, and this is %s",
                              grout_infer__get_mnemonic(op), grout_type__get_text(type).chars);
        grout_diags_help(binding->diags, "load one element: index every dimension");
        return false;
    }
    return grout_infer__check_rule(binding, op, operand->loc, (grout_dtype)type->dtype);
}
