/* verifying.c - what the topics share: reports, and the questions that several of them ask.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "goes_on.h"
#include "invariant.h"

#include <stdarg.h>

void grout_verifying__report(grout_verifying *verifying, grout_diag_code code, grout_loc_id loc,
                             const char *format, ...) {
    va_list arguments;
    GROUT_ASSERT(grout_diag_get(code)->stage != GROUT_STAGE_PARSE);
    va_start(arguments, format);
    (void)grout_module__refuse_list(verifying->module, verifying->diags, code, loc, format,
                                    arguments);
    va_end(arguments);
    if (grout_diag_get(code)->severity == GROUT_SEVERITY_ERROR) {
        verifying->ok = false;
    }
}

bool grout_verify__goes_on(const grout_verifying *verifying) {
    return grout_diags__goes_on(verifying->diags, "the rules were checked");
}

const grout_param *grout_verify__find_param(const grout_verifying *verifying,
                                            grout_object_id object) {
    const grout_module *module = verifying->module;
    const grout_value *value =
        grout_module_get_value(module, grout_module_get_object(module, object)->value);
    if (value->kind != GROUT_VALUE_PARAM) {
        return NULL;
    }
    return grout_module_get_param(module, grout_module_get_kernel(module, verifying->kernel),
                                  value->index);
}

const grout_object *grout_verify__find_object(const grout_verifying *verifying,
                                              const grout_operand *operand, grout_view *view_out) {
    if (operand->kind != GROUT_OPERAND_VALUE && operand->kind != GROUT_OPERAND_REF) {
        return NULL;
    }
    return grout_module_get_view(verifying->module, operand, view_out)
               ? grout_module_get_object(verifying->module, view_out->object)
               : NULL;
}

grout_value_text grout_verify__get_name(const grout_verifying *verifying, const grout_view *view) {
    return grout_value__get_text(verifying->module, view->base, "the reference");
}

bool grout_verify__find_constant(const grout_verifying *verifying, const grout_operand *operand,
                                 int64_t *value_out) {
    if (operand->kind != GROUT_OPERAND_EXPR) {
        return false;
    }
    grout_expr_value value = grout_module_get_expr_value(verifying->module, operand->id);
    *value_out = value.integer;
    return !value.is_float && !value.is_bool && value.bits_dtype == GROUT_DTYPE_NONE;
}

void grout_verify__note_object(grout_verifying *verifying, grout_object_id object) {
    grout_loc_id loc = grout_module_get_object(verifying->module, object)->loc;
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, loc),
                     "declared here");
}
