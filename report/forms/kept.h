/* kept.h - a report that outlives its call: its facts, of which every form is made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_KEPT_H
#define GROUT_REPORT_KEPT_H

#include "host.h"

struct json_t;

typedef struct grout_kept {
    struct json_t *facts; /* with those of the page; NULL: nothing was reported */
    char *name;           /* of the file; owned */
    grout_text text;      /* of the file */
} grout_kept;

/* Takes a reference of the facts, and copies name and text. text may be NULL. False without memory.
 */
bool grout_kept__take(grout_kept *kept, struct json_t *facts, const char *name,
                      const grout_bytes *text);
void grout_kept__deinit(grout_kept *kept);
/* Append the report: as JSON, as a SARIF log, as a page. False without memory, or where there is
 * none. */
bool grout_kept__print_json(const grout_kept *kept, grout_text *out);
bool grout_kept__print_facts(const grout_kept *kept, grout_text *out); /* JSON, nothing dropped */
bool grout_kept__print_sarif(const grout_kept *kept, grout_text *out);
bool grout_kept__print_html(const grout_kept *kept, grout_text *out);

#endif
