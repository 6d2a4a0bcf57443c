/*
 * wording.c - the strings and notes of a finding that is being put into words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "wording.h"

#include "alloc.h"

#include <stdio.h>
#include <string.h>

char *grout_wording__keep(const grout_wording *wording, grout_text *text) {
    return grout_strings__keep(wording->strings, wording->checker->allocator, text);
}

void grout_wording__note(grout_wording *wording, grout_severity severity, grout_place place,
                         const char *format, ...) {
    grout_diag *diag = wording->diag;
    char line[1024];
    grout_text text = {.allocator = wording->checker->allocator};
    va_list arguments;
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
    va_start(arguments, format);
    (void)vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    grout_text_add_bytes(&text, line, strlen(line));
    diag->notes[diag->note_count].severity = severity;
    diag->notes[diag->note_count].place = place;
    diag->notes[diag->note_count].message = grout_wording__keep(wording, &text);
    diag->note_count++;
}
