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
