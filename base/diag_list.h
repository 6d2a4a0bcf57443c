/*
 * diag_list.h - the list of diagnostics from the inside.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_DIAG_LIST_H
#define GROUT_BASE_DIAG_LIST_H

#include "array.h"
#include "grout-internal/diagnose.h"
#include "shared_text.h"

/* A text that the renderer shows lines of. */
typedef struct grout_diag_source {
    const char *file; /* one of the list's files */
    grout_shared_text *text;
} grout_diag_source;

struct grout_diags {
    const grout_allocator *allocator;
    grout_diag items[GROUT_DIAGS_MAX];
    uint32_t count;
    uint64_t total;
    bool is_newest_kept;
    bool has_dropped_error;
    bool has_oom;
    bool has_ended; /* why_end has said so: all work with the list fails */
    uint32_t asked; /* calls of grout_diags__goes_on (goes_on.h) */
    grout_diag_code (*why_end)(void *payload);
    void *why_end_payload;
    char oom_message[16];      /* the message of the one diagnostic that must not need memory */
    GROUT_ARRAY(char *) files; /* names that places point to */
    GROUT_ARRAY(grout_diag_source) sources;
};

/* The text of a file, or NULL. */
const grout_diag_source *grout_diags__find_source(const grout_diags *diags, const char *file);
/* Gives the list a text that others own too, as grout_diags_add_source does. */
bool grout_diags__add_shared_source(grout_diags *diags, const char *file, grout_shared_text *text);
/* Adds the diagnostics that another list has kept, with their severities and notes. */
void grout_diags__append(grout_diags *diags, const grout_diags *from);
/* Adds a note, whose message is not set, to the newest diagnostic. */
void grout_diags__add_note(grout_diags *diags, grout_note note, const char *format,
                           va_list arguments) GROUT_PRINTF(3, 0);
/* Brings the kept diagnostics from the first-th on into the order of their places, stably. */
void grout_diags__sort(grout_diags *diags, uint32_t first);

#endif
