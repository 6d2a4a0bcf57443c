/* html.h - a report as one web page that needs nothing else: no script, no other file.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_HTML_H
#define GROUT_REPORT_HTML_H

#include "host.h"

struct json_t;

/* Appends the page of a report (grout-report/1, with what page_facts.c adds) and of the file's
 * text. False without memory. */
bool grout_html__print(const struct json_t *report, const grout_bytes *text, grout_text *out);

#endif
