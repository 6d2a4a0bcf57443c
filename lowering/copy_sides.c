/*
 * copy_sides.c - what the plans of copies that move more than a box look at, and how they report.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "copy_sides.h"

#include <stdarg.h>

bool grout_copy_sides__fail(const grout_copy_sides *sides, grout_diag_code code, grout_loc_id loc,
                            const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)grout_module__refuse_list(sides->module, sides->diags, code, loc, format, arguments);
    va_end(arguments);
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

void grout_copy_sides__make_column(grout_view *gmem, const grout_view *smem) {
    const uint8_t rows = (uint8_t)(gmem->rank - 2);
    gmem->view_rank = 2;
    gmem->view_dim[0] = rows;
    gmem->view_dim[1] = (uint8_t)(rows + 1);
    gmem->is_squeezed[rows] = false;
    gmem->extent[rows] = smem->extent[smem->view_dim[0]];
}
