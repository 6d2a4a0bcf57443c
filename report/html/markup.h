/* markup.h - text as HTML, and what the report's JSON says.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_MARKUP_H
#define GROUT_REPORT_MARKUP_H

#include "grout-internal/diagnose.h"

struct json_t;

/*
 * Appends HTML. The format is trusted markup; what it inserts is not: %s is escaped, for text and
 * for attributes in double quotes. It has no other directives than %s, %d (int) and %%.
 */
void grout_markup__add(grout_text *out, const char *format, ...) GROUT_PRINTF(2, 3);
/* Appends bytes of a file, escaped, and made visible where they would steer a page. */
void grout_markup__add_bytes(grout_text *out, const char *bytes, size_t size);
/* Appends at most max characters, and an ellipsis for the rest. */
void grout_markup__add_short(grout_text *out, const char *text, size_t max);

/* A key of an object; "" or 0 if it has none. */
const char *grout_facts__get_text(const struct json_t *object, const char *key);
int grout_facts__get_number(const struct json_t *object, const char *key);
/* The line of a place of this file; 0: it has none. */
int grout_facts__get_line(const struct json_t *place, const char *file);

#endif
