/* text.c - grout_text, a text that grows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/diag.h"

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

void grout_text_add(grout_text *text, const char *format, ...) {
    va_list arguments;

    va_start(arguments, format);
    int size = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (size < 0) {
        text->failed = true;
    } else if (reserve(text, (size_t)size)) {
        va_start(arguments, format);
        /* NOLINTNEXTLINE(clang-analyzer-valist.Uninitialized): va_start has just initialised it */
        (void)vsnprintf(text->data + text->size, (size_t)size + 1, format, arguments);
        va_end(arguments);
        text->size += (size_t)size;
    }
}

void grout_text_free(grout_text *text) {
    grout__free(text->data);
    *text = (grout_text){.allocator = text->allocator};
}
