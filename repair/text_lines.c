/* text_lines.c - splits a text into lines.
 * SPDX-License-Identifier: Apache-2.0 */
#include "text_lines.h"

#include "array.h"

#include <string.h>

bool grout_span__is_equal(grout_span a, grout_span b) {
    return a.size == b.size && (a.size == 0 || memcmp(a.data, b.data, a.size) == 0);
}

bool grout_span__is(grout_span a, const char *text) {
    return grout_span__is_equal(a, (grout_span){text, strlen(text)});
}

grout_span grout_line__get_end(const grout_line *line) {
    grout_span whole = line->whole;
    size_t size = whole.size;
    if (size == 0 || whole.data[size - 1] != '\n') {
        return (grout_span){"", 0};
    }
    size -= size > 1 && whole.data[size - 2] == '\r' ? 2u : 1u;
    return (grout_span){whole.data + size, whole.size - size};
}

static grout_line read_line(grout_span whole) {
    grout_line line = {.whole = whole};
    grout_span text = {whole.data, whole.size - grout_line__get_end(&line).size};
    while (line.indent < text.size && strchr(" \t", text.data[line.indent]) != NULL) {
        line.indent++;
    }
    line.code = grout_span__trim((grout_span){text.data, grout_span__find_comment(text)});
    return line;
}

bool grout_text_lines__init(grout_text_lines *lines, const char *text, size_t size) {
    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t next = end == NULL ? size : (size_t)(end - text) + 1;
        if (!GROUT_ARRAY_RESERVE(lines, NULL, 1)) {
            return false;
        }
        lines->items[lines->count++] = read_line((grout_span){text + at, next - at});
        at = next;
    }
    return true;
}

void grout_text_lines__deinit(grout_text_lines *lines) {
    grout__free(lines->items);
    *lines = (grout_text_lines){0};
}
