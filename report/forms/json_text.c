/* json_text.c - text of JSON, as jansson prints it with an indentation of 2.
 * SPDX-License-Identifier: Apache-2.0 */
#include "json_text.h"

#include "invariant.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- values -----------------------------------------------------------------------------------
 */

static void indent(grout_text *out, uint32_t depth) {
    grout_text_add_bytes(out, "\n", 1);
    for (uint32_t i = 0; i < depth; i++) {
        grout_text_add_bytes(out, "  ", 2);
    }
}

/* The bytes here that are ASCII and never steer anything: nearly all of a report. */
static size_t count_harmless(const char *text) {
    size_t size = 0;
    while (text[size] >= ' ' && text[size] <= '~' && text[size] != '#') {
        size++;
    }
    return size;
}

/* One character, or more, that may steer a terminal or the log of a workflow, which JSON is dumped
 * to all the same: as escapes, so the values stay what they are. How many bytes it is. */
static size_t add_doubtful(grout_text *out, const char *at, bool is_after_hash) {
    size_t size = 1;
    while (((unsigned char)at[size] & 0xc0) == 0x80) {
        size++; /* jansson writes UTF-8 */
    }
    if ((*at == '#' && is_after_hash) || *at == 0x7f) {
        grout_text_add(out, "\\u%04x", (unsigned)*at);
    } else {
        grout_text_add_visible(out, at, size, GROUT_KEEP_LINES | GROUT_KEEP_TABS);
    }
    return size;
}

bool grout_json_text__add(grout_text *out, json_t *value, uint32_t depth) {
    char *text = value == NULL
                     ? NULL
                     : json_dumps(value, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_ENCODE_ANY);
    for (const char *at = text; at != NULL && *at != '\0';) {
        const size_t size = count_harmless(at);
        if (size > 0) {
            grout_text_add_bytes(out, at, size);
            at += size;
        } else if (*at == '\n') {
            indent(out, depth);
            at++;
        } else {
            at += add_doubtful(out, at, at > text && at[-1] == '#');
        }
    }
    free(text);
    return text != NULL && !out->failed;
}

/* ---- lists ------------------------------------------------------------------------------------
 */

bool grout_json_list__init(grout_json_list *list, bool is_text, uint32_t depth) {
    *list = (grout_json_list){.array = json_array(), .is_text = is_text, .depth = depth};
    return list->array != NULL;
}

void grout_json_list__deinit(grout_json_list *list) {
    json_decref(list->array);
    grout_text_free(&list->text);
    *list = (grout_json_list){0};
}

bool grout_json_list__take(grout_json_list *list, json_t *item) {
    if (!list->is_text) {
        return item != NULL && json_array_append_new(list->array, item) == 0;
    }
    if (list->text.size > 0) {
        grout_text_add_bytes(&list->text, ",", 1);
    }
    indent(&list->text, list->depth);
    const bool is_good = grout_json_text__add(&list->text, item, list->depth);
    json_decref(item);
    return is_good;
}

/* ---- a document -------------------------------------------------------------------------------
 */

/* Lists stand no deeper in a document: in that of SARIF there. */
enum { LEVELS = 5 };

typedef struct writer {
    grout_json_pieces *pieces;
    grout_json_list *const *lists;
    bool is_good;
} writer;

static grout_text *get_last(const writer *it) {
    return &it->pieces->items[it->pieces->count - 1];
}

static void add_list(const writer *it, grout_json_list *list) {
    if (list->text.size == 0) {
        grout_text_add(get_last(it), "[]");
        return;
    }
    grout_text_add(get_last(it), "[");
    GROUT_ASSERT(it->pieces->count + 2 <= GROUT_JSON_PIECES);
    it->pieces->items[it->pieces->count] = list->text;
    list->text = (grout_text){0};
    it->pieces->count += 2;
    indent(get_last(it), list->depth - 1);
    grout_text_add(get_last(it), "]");
}

static grout_json_list *find_list(const writer *it, const json_t *value) {
    for (uint32_t i = 0; i < GROUT_JSON_LISTS; i++) {
        if (it->lists[i]->array == value && it->lists[i]->is_text) {
            return it->lists[i];
        }
    }
    return NULL;
}

/* Whether one of the lists stands in the value, no more than this many levels below it. */
static bool has_list(const writer *it, json_t *value, int levels) {
    const char *key;
    size_t index;
    json_t *part;
    if (find_list(it, value) != NULL) {
        return true;
    }
    bool found = false;
    json_object_foreach(value, key, part) {
        found = found || (levels > 0 && has_list(it, part, levels - 1));
    }
    json_array_foreach(value, index, part) {
        found = found || (levels > 0 && has_list(it, part, levels - 1));
    }
    return found;
}

static void add_value(writer *it, json_t *value, uint32_t depth);

/* What an object or an array holds, each part on lines of its own. */
static void add_parts(writer *it, json_t *value, uint32_t depth) {
    const bool is_object = json_is_object(value);
    const char *key, *separator = is_object ? "{" : "[";
    size_t index;
    json_t *part;
    json_object_foreach(value, key, part) {
        grout_text_add(get_last(it), "%s", separator);
        indent(get_last(it), depth + 1);
        grout_text_add(get_last(it), "\"%s\": ", key);
        add_value(it, part, depth + 1);
        separator = ",";
    }
    json_array_foreach(value, index, part) {
        grout_text_add(get_last(it), "%s", separator);
        indent(get_last(it), depth + 1);
        add_value(it, part, depth + 1);
        separator = ",";
    }
    indent(get_last(it), depth);
    grout_text_add(get_last(it), is_object ? "}" : "]");
}

static void add_value(writer *it, json_t *value, uint32_t depth) {
    grout_json_list *list = find_list(it, value);
    if (list != NULL) {
        add_list(it, list);
    } else if (has_list(it, value, LEVELS - (int)depth)) {
        add_parts(it, value, depth);
    } else {
        it->is_good = grout_json_text__add(get_last(it), value, depth) && it->is_good;
    }
}

bool grout_json_pieces__init(grout_json_pieces *pieces, json_t *root,
                             grout_json_list *const lists[GROUT_JSON_LISTS]) {
    writer it = {.pieces = pieces, .lists = lists, .is_good = root != NULL};
    *pieces = (grout_json_pieces){.count = 1};
    if (root != NULL) {
        add_value(&it, root, 0);
        grout_text_add(get_last(&it), "\n");
    }
    for (uint32_t i = 0; i < pieces->count; i++) {
        it.is_good = it.is_good && !pieces->items[i].failed;
    }
    return it.is_good;
}

void grout_json_pieces__deinit(grout_json_pieces *pieces) {
    for (uint32_t i = 0; i < pieces->count; i++) {
        grout_text_free(&pieces->items[i]);
    }
    *pieces = (grout_json_pieces){0};
}
