/* line_starts.c - an index of the lines of a text: it marks every so many-th, and the few between
 * two marks are gone through. SPDX-License-Identifier: Apache-2.0 */
#include "line_starts.h"

#include <string.h>

/* The newline that ends the line at 'at'; NULL: it is the last one. */
static const char *find_newline(const grout_line_starts *starts, const char *at) {
    return memchr(at, '\n', (size_t)(starts->text + starts->size - at));
}

bool grout_line_starts__init(grout_line_starts *starts, const grout_allocator *allocator,
                             const char *text, size_t size) {
    *starts = (grout_line_starts){.text = text, .size = text == NULL ? 0 : size};
    for (const char *at = text; at != NULL; starts->count++) {
        if (starts->count % GROUT_MARKED_LINES == 0) {
            if (!GROUT_ARRAY_RESERVE(&starts->marks, allocator, 1)) {
                return false;
            }
            starts->marks.items[starts->marks.count++] = (size_t)(at - text);
        }
        const char *newline = find_newline(starts, at);
        at = newline == NULL ? NULL : newline + 1;
    }
    return true;
}

void grout_line_starts__deinit(grout_line_starts *starts) {
    grout__free(starts->marks.items);
    *starts = (grout_line_starts){0};
}

const char *grout_line_starts__find(const grout_line_starts *starts, size_t line,
                                    size_t *size_out) {
    if (line < 1 || line > starts->count) {
        return NULL;
    }
    const char *at = starts->text + starts->marks.items[(line - 1) / GROUT_MARKED_LINES];
    for (size_t left = (line - 1) % GROUT_MARKED_LINES; left > 0; left--) {
        at = find_newline(starts, at) + 1;
    }
    const char *newline = find_newline(starts, at);
    const char *end = newline == NULL ? starts->text + starts->size : newline;
    *size_out = (size_t)(end - at);
    return at;
}
