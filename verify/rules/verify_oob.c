/* verify_oob.c - what oob(..) may say: of which operation, of which element type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "im2col_plan.h"
#include "row_plan.h"

static void report(grout_verifying *verifying, const grout_op *op, const grout_attr_value *attr,
                   const char *why, const char *help) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc, "oob(%s) of '%s': %s",
                            grout_choice_get_info((grout_choice)attr->choice)->text,
                            grout_verify__get_text(op), why);
    grout_diags_help(verifying->diags, "%s", help);
}

/* A descriptor's choice is part of the hardware's: zeros or NaN. */
static void check_descriptor(grout_verifying *verifying, const grout_op *op,
                             const grout_attr_value *attr) {
    if (attr->choice != GROUT_CHOICE_OOB_ZERO && attr->choice != GROUT_CHOICE_OOB_NAN) {
        report(verifying, op, attr, "a descriptor fills with zeros or with NaN",
               grout_op_get_info((grout_opcode)op->opcode)->effect_row == GROUT_EFFECT_ROW_PURE
                   ? "say it at each copy through the descriptor"
                   : "omit it, or take oob(zero)");
    }
}

static void check_copy(grout_verifying *verifying, const grout_op *op, uint32_t array,
                       const grout_attr_value *attr) {
    const grout_effect *effect = grout_op_find_effect((grout_opcode)op->opcode, array);
    const bool is_store = effect != NULL && effect->access != GROUT_ACCESS_READ;
    grout_view view;
    if (grout_row_plan__is_of(op) && attr->choice == GROUT_CHOICE_OOB_UNDEFINED) {
        report(verifying, op, attr, "rows outside the array are filled with zeros or with NaN",
               "omit it; oob(in_bounds) promises that there are none");
        return;
    }
    if (grout_im2col__is_mode_of(op) && attr->choice != GROUT_CHOICE_OOB_ZERO &&
        attr->choice != GROUT_CHOICE_OOB_NAN) {
        report(verifying, op, attr, "im2col mode fills with zeros or with NaN", "omit it");
        return;
    }
    if (is_store && attr->choice != GROUT_CHOICE_OOB_IN_BOUNDS) {
        report(verifying, op, attr, "a store writes nothing outside the array",
               "omit it; oob(in_bounds) promises that the box lies inside");
        return;
    }
    if (is_store ||
        grout_verify__find_object(verifying, grout_module_get_operand(verifying->module, op, array),
                                  &view) == NULL) {
        return;
    }
    if (view.descriptor != 0 &&
        grout_module_find_attr(
            verifying->module,
            grout_module_get_op(verifying->module,
                                grout_module_get_value(verifying->module, view.descriptor)->op),
            GROUT_ATTR_OOB) != NULL) {
        report(verifying, op, attr, "the tensor_descriptor says already what comes from outside",
               "keep one of the two");
    }
}

void grout_verify__oob(grout_verifying *verifying, const grout_op *op) {
    const grout_module *module = verifying->module;
    const grout_attr_value *attr = grout_module_find_attr(module, op, GROUT_ATTR_OOB);
    const uint32_t array = grout_op_find_letter((grout_opcode)op->opcode, 'G');
    if (attr == NULL || attr->choice == GROUT_CHOICE_NONE) {
        return;
    }
    const grout_type type = grout_module_get_operand_type(
        module, array == UINT32_MAX ? grout_descriptor_get_array(module, op)
                                    : grout_module_get_operand(module, op, array));
    if (array == UINT32_MAX) {
        check_descriptor(verifying, op, attr);
    } else {
        check_copy(verifying, op, array, attr);
    }
    if (attr->choice == GROUT_CHOICE_OOB_NAN &&
        grout_dtype_get_fill((grout_dtype)type.dtype) == 0) {
        report(verifying, op, attr, "TMA has a NaN for f16, bf16, f32 and f64",
               "take oob(zero), or hold the array in such a type");
    }
}
