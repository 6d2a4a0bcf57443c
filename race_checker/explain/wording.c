/*
 * wording.c - the strings and notes of a finding that is being put into words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include "alloc.h"

#include <string.h>

char *grout_wording__keep(const grout_wording *wording, grout_text *text) {
    return grout_strings__keep(wording->strings, wording->checker->allocator, text);
}

char *grout_wording__say(const grout_wording *wording, grout_sentence_id sentence,
                         const grout_words *words) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_sentence__add(&text, sentence, words);
    return grout_wording__keep(wording, &text);
}

const char *grout_wording__spell(const grout_wording *wording, grout_spelling_id spelling,
                                 const grout_words *words) {
    grout_text text = {.allocator = wording->checker->allocator};
    grout_spelling__add(&text, grout_module_get_surface(wording->module), spelling, words);
    return grout_wording__keep(wording, &text);
}

bool grout_wording__is_pallas(const grout_wording *wording) {
    return grout_module_get_surface(wording->module) == GROUT_SURFACE_PALLAS;
}

void grout_wording__note(grout_wording *wording, grout_severity severity, grout_place place,
                         const char *message) {
    grout_diag *diag = wording->diag;
    grout_text text = {.allocator = wording->checker->allocator};
    if (diag->note_count == GROUT_REPORT_NOTES_MAX) {
        return;
    }
    if (!diag->notes) {
        diag->notes =
            grout__new(wording->checker->allocator, GROUT_REPORT_NOTES_MAX, sizeof *diag->notes);
        if (!diag->notes) {
            wording->strings->has_failed = true;
            return;
        }
    }
    grout_text_add_bytes(&text, message, strlen(message));
    diag->notes[diag->note_count++] = (grout_note){
        .severity = severity, .place = place, .message = grout_wording__keep(wording, &text)};
}

static bool is_noted(const grout_diag *diag, const grout_place *place, const char *message) {
    for (uint32_t i = 0; i < diag->note_count; i++) {
        const grout_place *other = &diag->notes[i].place;
        if (other->file == place->file && other->line == place->line &&
            other->column == place->column && strcmp(diag->notes[i].message, message) == 0) {
            return true;
        }
    }
    return false;
}

void grout_wording__note_callers(grout_wording *wording, grout_loc_id loc) {
    const char *message = grout_phrase__get(GROUT_PHRASE_CALLED_FROM_HERE);
    for (uint32_t count = 0; loc != 0 && count < GROUT_CALLERS_MAX; count++) {
        loc = grout_module_get_loc(wording->module, loc)->parent;
        const grout_place place = grout_module_get_place(wording->module, loc);
        if (loc != 0 && !is_noted(wording->diag, &place, message)) {
            grout_wording__note(wording, GROUT_SEVERITY_NOTE, place, message);
        }
    }
}
