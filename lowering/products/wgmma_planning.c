/* wgmma_planning.c - what the files that plan a wgmma share: reports, and names for them.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wgmma.h"

#include <stdarg.h>
#include <stdio.h>

bool grout_wgmma__fail(grout_wgmma_planning *planning, grout_diag_code code,
                       const grout_operand *operand, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)grout_module__refuse_list(planning->module, planning->diags, code, operand->loc, format,
                                    arguments);
    va_end(arguments);
    return false;
}

void grout_wgmma__help(grout_wgmma_planning *planning, const char *format, ...) {
    if (planning->diags != NULL) {
        char text[256];
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
        grout_diags_help(planning->diags, "%s", text);
    }
}

grout_value_text grout_wgmma__get_name(const grout_wgmma_planning *planning,
                                       const grout_operand *operand, const char *fallback) {
    grout_value_id base = operand->kind == GROUT_OPERAND_REF
                              ? grout_module_get_ref(planning->module, operand->id)->base
                              : operand->id;
    return grout_value__get_text(planning->module, base, fallback);
}
