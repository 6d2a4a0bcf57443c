/* verify_check_lines.c - 'check @k against @r': both kernels are there, and @r can be given what @k
 * is given.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include <math.h>

/* A line and its kernels. */
typedef struct compared {
    const grout_check_line *line;
    const grout_kernel *kernel, *reference;
    const char *kernel_name, *reference_name;
} compared;

static void note(grout_verifying *verifying, grout_loc_id loc, const char *text) {
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, loc), "%s", text);
}

static void report_missing(grout_verifying *verifying, grout_string_id name, grout_loc_id loc,
                           const char *what) {
    const char *text = grout_module_get_string(verifying->module, name);
    grout_verifying__report(verifying, GROUT_DIAG_BAD_REFERENCE, loc, "there is no kernel '@%s' %s",
                            text, what);
    grout_verifying__suggest_kernel(verifying, text);
}

/* Whether the line has two kernels, and is the first of the checked one. */
static bool find_kernels(grout_verifying *verifying, uint32_t id, compared *out) {
    const grout_module *module = verifying->module;
    const grout_check_line *line = grout_module_get_check_line(module, id);
    const grout_kernel_id kernel = grout_module_get_checked_kernel(module, id);
    const grout_kernel_id reference = grout_module_get_reference_kernel(module, id);
    *out = (compared){
        .line = line,
        .kernel = grout_module_get_kernel(module, kernel),
        .reference = grout_module_get_kernel(module, reference),
        .kernel_name = grout_module_get_string(module, line->kernel_name),
        .reference_name = grout_module_get_string(module, line->reference_name),
    };
    if (kernel == 0) {
        report_missing(verifying, line->kernel_name, line->kernel_loc, "to check");
    }
    if (reference == 0) {
        report_missing(verifying, line->reference_name, line->reference_loc, "to check against");
    }
    if (kernel == 0 || reference == 0) {
        return false;
    }
    const uint32_t first = grout_module_find_check_line(module, kernel);
    if (kernel == reference) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REFERENCE, line->reference_loc,
                                "'@%s' is checked against itself", out->kernel_name);
        grout_diags_help(verifying->diags,
                         "name a kernel that computes the same in the simplest way");
    } else if (first != id) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REFERENCE, line->kernel_loc,
                                "'@%s' has a reference already", out->kernel_name);
        note(verifying, grout_module_get_check_line(module, first)->kernel_loc,
             "it is given here before");
    }
    return kernel != reference && first == id;
}

static bool is_result(const grout_param *param) {
    return grout_direction_is_written(param->direction);
}

static bool is_input(const grout_param *param) {
    return param->direction != GROUT_DIRECTION_OUT;
}

/* Names both parameters, and where they are. */
static void report_pair(grout_verifying *verifying, const compared *it, const grout_value *own,
                        const grout_value *other, const char *why) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_REFERENCE, it->line->reference_loc,
                            "'%%%s' of '@%s' is not that of '@%s': %s",
                            grout_module_get_string(verifying->module, other->name),
                            it->reference_name, it->kernel_name, why);
    note(verifying, own->loc, "the parameter of the kernel that is checked");
    note(verifying, other->loc, "the parameter of the reference");
}

static void report_type(grout_verifying *verifying, const compared *it, const grout_param *own,
                        const grout_param *other) {
    const grout_module *module = verifying->module;
    grout_text type = {0}, other_type = {0}, why = {0};
    grout_type_print(grout_module_get_type(module, own->value), &type);
    grout_type_print(grout_module_get_type(module, other->value), &other_type);
    grout_text_add(&why, "it is %s, and here %s", other_type.data == NULL ? "" : other_type.data,
                   type.data == NULL ? "" : type.data);
    report_pair(verifying, it, grout_module_get_value(module, own->value),
                grout_module_get_value(module, other->value), why.data == NULL ? "" : why.data);
    grout_text_free(&type);
    grout_text_free(&other_type);
    grout_text_free(&why);
}

static void report_unknown(grout_verifying *verifying, const compared *it, const grout_value *value,
                           const char *what) {
    grout_verifying__report(
        verifying, GROUT_DIAG_BAD_REFERENCE, it->line->reference_loc,
        "'@%s' %s '%%%s', and '@%s' has no parameter of that name", it->reference_name, what,
        grout_module_get_string(verifying->module, value->name), it->kernel_name);
    note(verifying, value->loc, "the parameter of the reference");
    grout_diags_help(verifying->diags, "parameters are matched by their names; memory that the "
                                       "reference alone needs is a scratch in gmem");
}

/* A parameter of the reference; is_compared_out: set if it is a result of both. */
static void check_param(grout_verifying *verifying, const compared *it, uint32_t index,
                        bool *is_compared_out) {
    const grout_module *module = verifying->module;
    const grout_param *other = grout_module_get_param(module, it->reference, index);
    const grout_value *value = grout_module_get_value(module, other->value);
    const uint32_t at =
        grout_module_find_param(module, it->kernel, grout_module_get_string(module, value->name));
    if (at == UINT32_MAX) {
        report_unknown(verifying, it, value, is_input(other) ? "takes" : "writes");
        return;
    }
    const grout_param *own = grout_module_get_param(module, it->kernel, at);
    const grout_value *own_value = grout_module_get_value(module, own->value);
    if (!grout_type_is_equal(grout_module_get_type(module, own->value),
                             grout_module_get_type(module, other->value))) {
        report_type(verifying, it, own, other);
    } else if (is_input(other) && !is_input(own)) {
        report_pair(verifying, it, own_value, value, "one reads what the other starts without");
    } else if (is_result(other) && !is_result(own)) {
        report_pair(verifying, it, own_value, value, "one writes what the other only reads");
    } else {
        *is_compared_out |= is_result(other);
    }
}

static void check_tolerance(grout_verifying *verifying, grout_expr_id id, const char *what) {
    if (id == 0) {
        return;
    }
    const grout_expr_value value = grout_module_get_expr_value(verifying->module, id);
    const double number = value.is_float ? value.number : (double)value.integer;
    if (value.bits_dtype != GROUT_DTYPE_NONE || value.is_bool || !isfinite(number) || number < 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_REFERENCE,
                                grout_module_get_expr(verifying->module, id)->loc,
                                "%s tolerance is a finite number that is at least 0", what);
        grout_diags_help(verifying->diags, "write 'rtol(1e-3)', or leave it out: bit for bit");
    }
}

void grout_verify__check_lines(grout_verifying *verifying) {
    const grout_module *module = verifying->module;
    for (uint32_t id = 1; id < grout_module_get_check_line_count(module); id++) {
        compared it;
        bool is_compared = false;
        const uint32_t count = grout_diags_count(verifying->diags);
        if (!find_kernels(verifying, id, &it)) {
            continue;
        }
        check_tolerance(verifying, it.line->rtol, "a relative");
        check_tolerance(verifying, it.line->atol, "an absolute");
        for (uint32_t i = 0; i < it.reference->param_count; i++) {
            check_param(verifying, &it, i, &is_compared);
        }
        if (!is_compared && grout_diags_count(verifying->diags) == count) {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_REFERENCE, it.line->reference_loc,
                                    "'@%s' writes no array: there is nothing to compare",
                                    it.reference_name);
        }
    }
}
