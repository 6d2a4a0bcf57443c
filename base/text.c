/* text.c - grout_text, a text that grows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/diagnose.h"

#include "array.h"
#include "invariant.h"

#include <stdio.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

/* Makes room for size more bytes and a final NUL. */
static bool reserve(grout_text *text, size_t size) {
    GROUT_ASSERT(text->size <= text->capacity && (text->data != NULL || text->capacity == 0));
    size_t more = text->capacity > 0 || size >= FIRST_CAPACITY ? size : FIRST_CAPACITY - 1;
    if (size < text->capacity - text->size && !text->failed) {
        return true; /* nearly always */
    }
    if (text->failed || size > SIZE_MAX / 4) {
        text->failed = true;
        return false;
    }
    text->data =
        grout_array__grow(text->allocator, text->data, text->size, more + 1, &text->capacity, 1);
    text->failed = text->capacity - text->size <= size;
    return !text->failed;
}

void grout_text_add_bytes(grout_text *text, const char *bytes, size_t size) {
    if (!reserve(text, size)) {
        return;
    }
    if (size > 0) {
        memcpy(text->data + text->size, bytes, size);
    }
    text->size += size;
    text->data[text->size] = '\0';
}

/* Formats into what room there is; the length, or a negative number if the format is wrong. */
static int format_at_end(grout_text *text, const char *format, va_list arguments) {
    size_t room = text->failed ? 0 : text->capacity - text->size;
    va_list copy;
    va_copy(copy, arguments);
    int size = vsnprintf(room == 0 ? NULL : text->data + text->size, room, format, copy);
    va_end(copy);
    if (size >= 0 && room > 0 && (size_t)size >= room) {
        text->data[text->size] = '\0'; /* what did not fit is not there */
    }
    return size;
}

void grout_text_add(grout_text *text, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    size_t room = text->failed ? 0 : text->capacity - text->size;
    int size = format_at_end(text, format, arguments);
    if (size >= 0 && (size_t)size >= room && reserve(text, (size_t)size)) {
        size = format_at_end(text, format, arguments);
    }
    va_end(arguments);
    text->failed |= size < 0;
    text->size += text->failed ? 0 : (size_t)size;
}

void grout_text_free(grout_text *text) {
    grout__free(text->data);
    *text = (grout_text){.allocator = text->allocator};
}
