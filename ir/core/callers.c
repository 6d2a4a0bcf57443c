/* callers.c - diagnostics at a place of a module, with the frames around it as notes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <stdarg.h>

static grout_loc_id get_caller(const grout_module *module, grout_loc_id id) {
    return id != 0 ? grout_module_get_loc(module, id)->parent : 0;
}

static uint32_t count_callers(const grout_module *module, grout_loc_id id) {
    uint32_t count = 0;
    for (grout_loc_id at = get_caller(module, id); at != 0; at = get_caller(module, at)) {
        count++;
    }
    return count;
}

void grout_module_note_callers(const grout_module *module, grout_loc_id id, grout_diags *diags) {
    const uint32_t count = count_callers(module, id);
    grout_loc_id caller = id;
    for (uint32_t i = 1; i <= count && i <= GROUT_CALLERS_MAX; i++) {
        caller = get_caller(module, caller);
        const grout_place place = grout_module_get_place(module, caller);
        if (i == GROUT_CALLERS_MAX && i < count) {
            grout_diags_note(diags, place, "called from here, and %u frame%s around it",
                             (unsigned)(count - i), count - i == 1 ? "" : "s");
        } else {
            grout_diags_note(diags, place, "called from here");
        }
    }
}

bool grout_module__refuse_list(const grout_module *module, grout_diags *diags, grout_diag_code code,
                               grout_loc_id loc, const char *format, va_list arguments) {
    if (diags != NULL) {
        grout_diags_add_list(diags, code, grout_module_get_place(module, loc), format, arguments);
        grout_module_note_callers(module, loc, diags);
    }
    return false;
}

bool grout_module__refuse(const grout_module *module, grout_diags *diags, grout_diag_code code,
                          grout_loc_id loc, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)grout_module__refuse_list(module, diags, code, loc, format, arguments);
    va_end(arguments);
    return false;
}
