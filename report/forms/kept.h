/* kept.h - a report that outlives its call: its facts, of which every form is made.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_KEPT_H
#define GROUT_REPORT_KEPT_H

#include "load.h"

struct json_t;

/* A launch of which the page shows the memory: that is found when a page is asked for. */
typedef struct grout_kept_launch {
    struct json_t *object;
    grout_module *bound;
    uint32_t *owners;
    grout_kernel_id kernel;
} grout_kept_launch;

typedef struct grout_kept {
    struct json_t *facts; /* with those of the page; NULL: nothing was reported */
    char *name;           /* of the file; owned */
    grout_text text;      /* of the file */
    struct {
        grout_kept_launch *items;
        size_t count, capacity;
    } launches;
} grout_kept;

/* Takes a reference of the facts, and copies name and text. text may be NULL. False without memory.
 */
bool grout_kept__take(grout_kept *kept, struct json_t *facts, const char *name,
                      const grout_bytes *text);
/* Keeps the module of a launch, for the page. False without memory. */
bool grout_kept__add_launch(grout_kept *kept, struct json_t *object, const grout_load *load,
                            grout_kernel_id kernel);
void grout_kept__deinit(grout_kept *kept);
/* Append the report: as JSON, as a SARIF log, as a page. False without memory, or where there is
 * none. */
bool grout_kept__print_json(const grout_kept *kept, grout_text *out);
bool grout_kept__print_facts(const grout_kept *kept, grout_text *out); /* JSON, nothing dropped */
bool grout_kept__print_sarif(const grout_kept *kept, grout_text *out);
bool grout_kept__print_html(grout_kept *kept, grout_text *out);

#endif
