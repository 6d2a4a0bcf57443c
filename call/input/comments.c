/* comments.c - finds comments outside of string literals.
 * SPDX-License-Identifier: Apache-2.0 */
#include "comments.h"

#include "array.h"
#include "invariant.h"

#include <string.h>

grout_span grout_span__trim(grout_span text) {
    while (text.size > 0 && strchr(" \t\r", text.data[0]) != NULL) {
        text.data++;
        text.size--;
    }
    while (text.size > 0 && strchr(" \t\r", text.data[text.size - 1]) != NULL) {
        text.size--;
    }
    return text;
}

bool grout_span__take(grout_span *text, const char *start) {
    size_t size = strlen(start);
    if (text->size < size || memcmp(text->data, start, size) != 0) {
        return false;
    }
    *text = grout_span__trim((grout_span){text->data + size, text->size - size});
    return true;
}

grout_span grout_span__split(grout_span *text, char separator) {
    const char *at = text->size == 0 ? NULL : memchr(text->data, separator, text->size);
    size_t size = at == NULL ? text->size : (size_t)(at - text->data);
    grout_span part = {text->data, size};
    size += at == NULL ? 0u : 1u;
    GROUT_ASSERT(size <= text->size);
    text->data += size;
    text->size -= size;
    return grout_span__trim(part);
}

size_t grout_span__find_comment(grout_span line) {
    bool is_string = false;
    for (size_t i = 0; i < line.size; i++) {
        if (is_string && line.data[i] == '\\') {
            i++;
        } else if (line.data[i] == '"') {
            is_string = !is_string;
        } else if (!is_string && line.data[i] == '/' && i + 1 < line.size &&
                   line.data[i + 1] == '/') {
            return i;
        }
    }
    return line.size;
}

static bool add(grout_comments *comments, const grout_comment *comment) {
    if (!GROUT_ARRAY_RESERVE(comments, NULL, 1)) {
        return false;
    }
    GROUT_ASSERT(comment->code_line == 0 || comment->code_line >= comment->line);
    comments->items[comments->count++] = *comment;
    return true;
}

/* Adds all comments of a line; text begins after the first slashes. */
static bool add_all(grout_comments *comments, grout_span text, uint32_t line, uint32_t code_line) {
    bool is_good = true;
    while (is_good && text.size > 0) {
        size_t next = 0;
        while (next < text.size &&
               !(next + 1 < text.size && text.data[next] == '/' && text.data[next + 1] == '/')) {
            next++;
        }
        const grout_comment comment = {grout_span__trim((grout_span){text.data, next}), line,
                                       code_line};
        is_good = add(comments, &comment);
        next = next + 2 < text.size ? next + 2 : text.size;
        text.data += next;
        text.size -= next;
    }
    return is_good;
}

bool grout_comments__init(grout_comments *comments, const char *text, size_t size) {
    grout_span rest = {text, size};
    size_t waiting = 0; /* the first comment that has no line of code yet */
    bool is_good = true;
    *comments = (grout_comments){0};
    for (uint32_t number = 1; is_good && rest.size > 0; number++) {
        const char *end = memchr(rest.data, '\n', rest.size);
        grout_span line = {rest.data, end == NULL ? rest.size : (size_t)(end - rest.data)};
        size_t step = line.size + (end == NULL ? 0u : 1u);
        rest = (grout_span){rest.data + step, rest.size - step};
        size_t start = grout_span__find_comment(line);
        bool has_code = grout_span__trim((grout_span){line.data, start}).size > 0;
        for (; has_code && waiting < comments->count; waiting++) {
            comments->items[waiting].code_line = number;
        }
        if (start < line.size) {
            is_good = add_all(comments, (grout_span){line.data + start + 2, line.size - start - 2},
                              number, has_code ? number : 0);
        }
        waiting = has_code ? comments->count : waiting;
        GROUT_ASSERT(waiting <= comments->count);
    }
    return is_good;
}

void grout_comments__deinit(grout_comments *comments) {
    grout__free(comments->items);
    *comments = (grout_comments){0};
}
