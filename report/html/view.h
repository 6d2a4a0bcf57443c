/* view.h - the parts of a page.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_VIEW_H
#define GROUT_REPORT_VIEW_H

#include "host.h"
#include "line_starts.h"

struct json_t;

/* What every part is made from. */
typedef struct grout_page {
    const struct json_t *report;
    const struct json_t *findings, *kernels; /* of the report */
    const char *file;                        /* its name in places */
    const char *text;                        /* of the file */
    size_t size;
    grout_line_starts lines;
    int line_count;
    size_t *heads; /* by finding: the one that it follows from, or itself */
    size_t *next;  /* by finding: the next one of the same head; of a head, the first. Their number
                    * if there is none */
    grout_text *out;
} grout_page;

/* A line of the file, from 1, without its end; NULL: there is none. */
const char *grout_page__get_line(const grout_page *page, int line, size_t *size_out);
/* Appends a link to the line of a place, or the place in words if it is in another file. */
void grout_page__add_place(const grout_page *page, const struct json_t *place);
/* "error", "warning", "advice" or "note": the class of what belongs to a finding. */
const char *grout_page__get_class(const struct json_t *finding);
/* Whether a finding, by its index, stands in the card of another one. */
bool grout_page__is_follower(const grout_page *page, size_t finding);

/* source_view.c: the lines of the file; what a finding says stands below its line. */
void grout_page__add_source(const grout_page *page);
/* findings_view.c: a card for each finding. */
void grout_page__add_findings(const grout_page *page);
/* path_picture.c: what lies between the accesses of a finding. number makes ids unique. */
void grout_page__add_path(const grout_page *page, const struct json_t *finding, int number);
/* memory_view.c: SMEM and its banks. */
void grout_page__add_memory(const grout_page *page);

#endif
