/*
 * kept_strings.c - strings that live until all of them are freed.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "kept_strings.h"

#include "alloc.h"
#include "invariant.h"

enum { FIRST_CAPACITY = 64 };

/* Makes room for one more; false without memory. */
static bool reserve(grout_strings *strings, const grout_allocator *allocator) {
    GROUT_ASSERT(strings->count <= strings->capacity);
    if (strings->count < strings->capacity) {
        return true;
    }
    uint32_t capacity = strings->capacity ? strings->capacity * 2 : FIRST_CAPACITY;
    char **items = grout__resize(allocator, strings->items, capacity * sizeof *items);
    if (items) {
        strings->items = items;
        strings->capacity = capacity;
    }
    return items != NULL;
}

char *grout_strings__keep(grout_strings *strings, const grout_allocator *allocator,
                          grout_text *text) {
    char *string = NULL;
    if (!text->failed && reserve(strings, allocator)) {
        string = grout__copy(allocator, text->data, text->size);
    }
    if (string) {
        strings->items[strings->count++] = string;
    } else {
        strings->has_failed = true;
        string = strings->nothing;
    }
    grout_text_free(text);
    return string;
}

void grout_strings__free(grout_strings *strings) {
    for (uint32_t i = 0; i < strings->count; i++) {
        grout__free(strings->items[i]);
    }
    grout__free(strings->items);
    *strings = (grout_strings){.count = 0};
}
