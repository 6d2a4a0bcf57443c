/* value_writer.c - a change of a line of computed values, and what its text is read by.
 * SPDX-License-Identifier: Apache-2.0 */
#include "values.h"

#include "alloc.h"

#include <string.h>

/* ---- a change ------------------------------------------------------------------------------- */

/* The bytes of the line's code from start on become text, and what follows it. */
void grout_value_writer__replace(grout_value_writer *it, size_t start, size_t count,
                                 grout_span text, const char *more, uint32_t cost) {
    const grout_line *line = &it->task->outline->lines->items[it->line];
    grout_text copy = {0};
    grout_text_add(&copy, "%.*s%s", (int)text.size, text.data, more);
    grout_change change = {
        .kind = GROUT_CHANGE_REPLACE,
        .line = it->line,
        .column = line->indent + start,
        .count = count,
        .text = copy.failed ? NULL : grout__copy(NULL, copy.data, copy.size),
    };
    grout_text_free(&copy);
    cost += it->base + 2 * it->distance;
    it->is_good =
        it->is_good && change.text != NULL && grout_proposals__take(it->proposals, change, cost);
}

bool grout_value_writer__can_use(const grout_value_writer *it, grout_span name) {
    for (size_t i = 0; i < it->names.count; i++) {
        if (grout_span__is_equal(it->names.items[i], name)) {
            return true;
        }
    }
    return false;
}

/* ---- text ----------------------------------------------------------------------------------- */

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

size_t grout_span__get_word_size(grout_span code, size_t at) {
    size_t size = 0;
    while (at + size < code.size && is_word_byte(code.data[at + size])) {
        size++;
    }
    return size;
}

/* The bytes of "%name =" at the start of a line, which name what it makes. */
size_t grout_span__get_results_size(grout_span code) {
    for (size_t i = 0; i + 2 < code.size && code.data[0] == '%'; i++) {
        if (code.data[i] == ' ' && code.data[i + 1] == '=' && code.data[i + 2] == ' ') {
            return i + 3;
        }
        if (code.data[i] == '(' || code.data[i] == '[') {
            return 0;
        }
    }
    return 0;
}

size_t grout_span__find_close(grout_span code, size_t open) {
    size_t depth = 0;
    for (size_t i = open; i < code.size; i++) {
        depth += code.data[i] == '(' ? 1u : 0u;
        depth -= code.data[i] == ')' ? 1u : 0u;
        if (depth == 0) {
            return i;
        }
    }
    return code.size;
}
