/* text.c - grout_text, a text that grows.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/diag.h"

#include "alloc.h"

#include <stdio.h>
#include <string.h>

/* Makes room for size more bytes and a final NUL. */
static bool reserve(grout_text *text, size_t size) {
    if (text->failed || size > SIZE_MAX / 4 || text->size > SIZE_MAX / 4) {
        text->failed = true;
        return false;
    }
    size_t needed = text->size + size + 1;
    if (needed <= text->capacity) {
        return true;
    }
    size_t capacity = text->capacity > 0 ? text->capacity : 64;
    while (capacity < needed) {
        capacity *= 2;
    }
    char *data = grout__realloc(text->data, capacity);
    if (data == NULL) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
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
    *text = (grout_text){0};
}
