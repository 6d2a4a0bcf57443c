/*
 * copy_sides.c - what the plans of copies that move more than a box look at, and how they report.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "copy_sides.h"

#include <stdarg.h>

bool grout_copy_sides__fail(const grout_copy_sides *sides, grout_diag_code code, grout_loc_id loc,
                            const char *format, ...) {
    if (sides->diags != NULL) {
        va_list arguments;
        va_start(arguments, format);
        grout_diags_add_list(sides->diags, code, grout_module_get_place(sides->module, loc), format,
                             arguments);
        va_end(arguments);
        grout_module_note_callers(sides->module, loc, sides->diags);
    }
    return false;
}

bool grout_copy_sides__help(const grout_copy_sides *sides, const char *text) {
    if (sides->diags != NULL) {
        grout_diags_help(sides->diags, "%s", text);
    }
    return false;
}

const grout_operand *grout_copy_sides__get_operand(const grout_copy_sides *sides, char letter) {
    const uint32_t index = grout_op_find_letter((grout_opcode)sides->op->opcode, letter);
    return grout_module_get_operand(sides->module, sides->op, index);
}

grout_value_text grout_copy_sides__get_name(const grout_copy_sides *sides) {
    return grout_value__get_text(sides->module, sides->gmem->base, "the array");
}
