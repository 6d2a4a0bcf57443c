/* wrap.c - text in lines of at most this many columns.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wrap.h"

#include <string.h>

static size_t count(const char *bytes, size_t size) {
    size_t columns = 0;
    for (size_t i = 0; i < size; i++) {
        columns += ((unsigned char)bytes[i] & 0xc0) != 0x80;
    }
    return columns;
}

size_t grout_wrap__count_columns(const char *text) {
    return count(text, strlen(text));
}

void grout_wrap__add(grout_text *out, const char *text, size_t column, const char *indent,
                     size_t width) {
    size_t start = grout_wrap__count_columns(indent), at = column;
    bool is_first = true; /* on its line */
    while (*text != '\0') {
        size_t blanks = strspn(text, " "), size = strcspn(text + blanks, " \n");
        size_t columns = count(text + blanks, size);
        if (text[blanks] == '\n') {
            grout_text_add(out, "\n%s", indent);
            at = start;
            is_first = true;
            text += blanks + 1;
            continue;
        }
        if (width > 0 && !is_first && at + blanks + columns > width) {
            grout_text_add(out, "\n%s", indent);
            at = start;
        } else {
            grout_text_add_bytes(out, text, blanks);
            at += blanks;
        }
        grout_text_add_bytes(out, text + blanks, size);
        at += columns;
        is_first = false;
        text += blanks + size;
    }
}

void grout_wrap__add_lines(grout_text *out, const char *text, size_t hang, size_t width) {
    while (*text != '\0') {
        size_t size = strcspn(text, "\n");
        grout_text line = {.allocator = out->allocator}, indent = {.allocator = out->allocator};
        grout_text_add_bytes(&line, text, size);
        grout_text_add(&indent, "%*s", (int)(strspn(text, " ") + hang), "");
        out->failed |= line.failed || indent.failed;
        if (!out->failed) {
            grout_wrap__add(out, line.data, 0, indent.data, width);
        }
        grout_text_free(&line);
        grout_text_free(&indent);
        text += size;
        if (*text == '\n') {
            grout_text_add(out, "\n");
            text++;
        }
    }
}
