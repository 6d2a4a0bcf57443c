/* callers.c - where a place was called from: the frames around it, as notes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

void grout_module_note_callers(const grout_module *module, grout_loc_id id, grout_diags *diags) {
    grout_loc_id parent = id != 0 ? grout_module_get_loc(module, id)->parent : 0;
    for (uint32_t count = 1; parent != 0 && count < GROUT_CALLERS_MAX; count++) {
        grout_diags_note(diags, grout_module_get_place(module, parent), "called from here");
        parent = grout_module_get_loc(module, parent)->parent;
    }
    uint32_t further = 0;
    for (grout_loc_id next = parent; next != 0; next = grout_module_get_loc(module, next)->parent) {
        further++;
    }
    if (further == 1) {
        grout_diags_note(diags, grout_module_get_place(module, parent), "called from here");
    } else if (further > 1) {
        grout_diags_note(diags, grout_module_get_place(module, parent),
                         "called from here, and %u frames around it", (unsigned)(further - 1));
    }
}
