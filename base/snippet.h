/*
 * snippet.h - lines of a source with marks under them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BASE_SNIPPET_H
#define GROUT_BASE_SNIPPET_H

#include "diag_list.h"

/* A place that is marked, and what is said of it. */
typedef struct grout_mark {
    const grout_place *place;
    const char *text;        /* after the carets; NULL: nothing */
    grout_severity severity; /* of the colour */
} grout_mark;

enum { GROUT_MARKS_MAX = 3 };

/* Columns of the line numbers that the places of the marks need. */
size_t grout_snippet__get_gutter(const grout_mark *marks, uint32_t count);
/*
 * Appends the lines of the marks in their order in the source, each with its number, and the marks
 * under them. All marks lie in the source; those past its end are left out. count is at most
 * GROUT_MARKS_MAX; gutter: columns of the line numbers.
 */
void grout_snippet__render(const grout_diag_source *source, const grout_mark *marks, uint32_t count,
                           size_t gutter, const grout_render_options *options, grout_text *out);
const char *grout_severity__get_color(grout_severity severity);

#endif
