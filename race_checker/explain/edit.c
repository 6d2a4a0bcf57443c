/*
 * edit.c - the edit that a repair offers.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

bool grout_wording__is_alone(const grout_wording *wording, const grout_origin *origin) {
    return wording->checker->run.op_threads[origin->op] == 1u << origin->thread;
}

void grout_wording__set_edit(grout_wording *wording, const grout_spot *spot, const char *lines) {
    grout_text text = {.allocator = wording->checker->allocator};
    if (!spot->place.file) {
        return;
    }
    grout_text_add(&text, "%s", lines);
    wording->finding->edit.place = spot->place;
    wording->finding->edit.is_after = spot->is_after;
    wording->finding->edit.text = grout_wording__keep(wording, &text);
}

void grout_wording__set_edit_at_end(grout_wording *wording, grout_block_id block,
                                    const char *lines) {
    grout_spot spot = grout_block__get_end(&wording->shared->lines, block);
    grout_wording__set_edit(wording, &spot, lines);
}

void grout_wording__set_edit_before(grout_wording *wording, const grout_origin *origin,
                                    const char *lines) {
    grout_op_id statement = grout_statement__find(wording->module, origin->op);
    grout_spot spot = grout_statement__get_before(&wording->shared->lines, statement);
    if (grout_wording__is_alone(wording, origin)) {
        grout_wording__set_edit(wording, &spot, lines);
    }
}
