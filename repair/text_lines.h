/* text_lines.h - the lines of a kernel file, as they stand in it.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPAIR_TEXT_LINES_H
#define GROUT_REPAIR_TEXT_LINES_H

#include "comments.h"

/* One line; borrowed from the text. */
typedef struct grout_line {
    grout_span whole; /* with its end: "\n", "\r\n" or nothing */
    grout_span code;  /* without blanks around it, its comment and its end */
    size_t indent;    /* bytes of blanks at its start */
} grout_line;

/* Zero-initialise. */
typedef struct grout_text_lines {
    grout_line *items;
    size_t count, capacity;
} grout_text_lines;

/* False without memory. The text has to live as long. Deinit even then. */
bool grout_text_lines__init(grout_text_lines *lines, const char *text, size_t size);
void grout_text_lines__deinit(grout_text_lines *lines);

bool grout_span__is_equal(grout_span a, grout_span b);
bool grout_span__is(grout_span a, const char *text);
/* "\n" or "\r\n" at the end of a line; empty if it has none. */
grout_span grout_line__get_end(const grout_line *line);

#endif
