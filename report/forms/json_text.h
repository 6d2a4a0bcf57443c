/* json_text.h - the text of a JSON document, part by part.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_REPORT_JSON_TEXT_H
#define GROUT_REPORT_JSON_TEXT_H

#include "grout-internal/diagnose.h"

struct json_t;

/*
 * A list of a report. As text its items are text from the moment on that they are given, which is a
 * tenth of what their trees take; nobody can look at them any more.
 */
typedef struct grout_json_list {
    struct json_t *array; /* the items; of a text nothing, where it stands in the report */
    bool is_text;
    uint32_t depth;  /* of the items in the report */
    grout_text text; /* the items, but for what encloses them */
} grout_json_list;

/* False without memory. */
bool grout_json_list__init(grout_json_list *list, bool is_text, uint32_t depth);
void grout_json_list__deinit(grout_json_list *list);
/* Takes the item over. False without memory, or if it is NULL. */
bool grout_json_list__take(grout_json_list *list, struct json_t *item);

/* Appends a value that stands so deep in its document. Nothing in its strings steers a terminal or
 * the log of a workflow. False without memory. */
bool grout_json_text__add(grout_text *out, struct json_t *value, uint32_t depth);

enum { GROUT_JSON_LISTS = 3, GROUT_JSON_PIECES = 2 * GROUT_JSON_LISTS + 1 };

/* A document in pieces: what lies between its lists, and the lists. */
typedef struct grout_json_pieces {
    grout_text items[GROUT_JSON_PIECES];
    uint32_t count;
} grout_json_pieces;

/* Takes the texts of the lists, which stand in the document. False without memory. Deinit even
 * then. */
bool grout_json_pieces__init(grout_json_pieces *pieces, struct json_t *root,
                             grout_json_list *const lists[GROUT_JSON_LISTS]);
void grout_json_pieces__deinit(grout_json_pieces *pieces);

#endif
