/*
 * line_starts.h - where the lines of a text begin: finds any line without going through the text.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_LINE_STARTS_H
#define GROUT_BASE_LINE_STARTS_H

#include "array.h"

#include <stdbool.h>

/* A search for a line goes through no more than these. */
enum { GROUT_MARKED_LINES = 64 };

typedef struct grout_line_starts {
    const char *text; /* borrowed; it does not change */
    size_t size;
    size_t count;              /* of lines: one more than there are newlines */
    GROUT_ARRAY(size_t) marks; /* where the lines 1, 1 + GROUT_MARKED_LINES, .. begin */
} grout_line_starts;

/* The text may be NULL, and has no line then. False without memory. Deinit even then. */
bool grout_line_starts__init(grout_line_starts *starts, const grout_allocator *allocator,
                             const char *text, size_t size);
void grout_line_starts__deinit(grout_line_starts *starts);
/* A line, from 1, and its bytes without the newline; NULL: there is none. What comes after the last
 * newline is a line, even if it is empty. */
const char *grout_line_starts__find(const grout_line_starts *starts, size_t line, size_t *size_out);

#endif
