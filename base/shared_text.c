/* shared_text.c - texts with several owners.
 * SPDX-License-Identifier: Apache-2.0 */
#include "shared_text.h"

#include "invariant.h"

#include <stdatomic.h>
#include <string.h>

grout_shared_text *grout_shared_text__new(const grout_allocator *allocator, const char *data,
                                          size_t size) {
    grout_shared_text *text = size < SIZE_MAX - sizeof *text
                                  ? grout__resize(allocator, NULL, sizeof *text + size + 1)
                                  : NULL;
    if (text == NULL) {
        return NULL;
    }
    memset(text, 0, sizeof *text);
    atomic_init(&text->owner_count, 1);
    text->size = size;
    if (size > 0) {
        memcpy(text->data, data, size);
    }
    text->data[size] = '\0';
    if (!grout_line_starts__init(&text->lines, allocator, text->data, size)) {
        grout_shared_text__drop(text);
        return NULL;
    }
    return text;
}

grout_shared_text *grout_shared_text__share(const grout_allocator *allocator,
                                            grout_shared_text *text) {
    if (grout__get_allocator(text) != allocator) {
        return grout_shared_text__new(allocator, text->data, text->size);
    }
    (void)atomic_fetch_add(&text->owner_count, 1);
    return text;
}

void grout_shared_text__drop(grout_shared_text *text) {
    if (text == NULL) {
        return;
    }
    const uint32_t before = atomic_fetch_sub(&text->owner_count, 1);
    GROUT_ASSERT(before > 0);
    if (before == 1) {
        if (text->twin != NULL) {
            text->twin->twin = NULL;
        }
        grout_line_starts__deinit(&text->lines);
        grout__free(text);
    }
}

void grout_shared_text__pair(grout_shared_text *a, grout_shared_text *b) {
    GROUT_ASSERT(a->twin == NULL && b->twin == NULL && a->size == b->size);
    if (a != b) {
        a->twin = b;
        b->twin = a;
    }
}

bool grout_shared_text__is_equal(const grout_shared_text *a, const grout_shared_text *b) {
    return a == b || a->twin == b || (a->size == b->size && memcmp(a->data, b->data, a->size) == 0);
}
