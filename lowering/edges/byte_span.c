/*
 * byte_span.c - where the bytes of an object lie, to find those that share some without comparing
 * each with each.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "byte_span.h"

#include "grout-internal/facts.h"

grout_byte_span grout_byte_span__get(const grout_module *module, grout_object_id id) {
    const uint8_t space = grout_module_get_object(module, id)->space;
    if (grout_space_needs_tensor_order(space)) {
        id = grout_object_get_root(module, id);
    }
    const int64_t start = grout_object_get_offset(module, id);
    if (start < 0) { /* below all offsets, one place for each */
        return (grout_byte_span){-1 - (int64_t)id, -(int64_t)id, space};
    }
    return (grout_byte_span){start, start + grout_object_get_layout(module, id)->bytes, space};
}

int grout_byte_span__compare(const grout_byte_span *a, const grout_byte_span *b) {
    if (a->space != b->space) {
        return a->space < b->space ? -1 : 1;
    }
    return (a->start > b->start) - (a->start < b->start);
}

static const grout_byte_span *get_span(const void *items, size_t at, size_t item_size) {
    return (const void *)((const char *)items + at * item_size);
}

size_t grout_byte_span__count_together(const void *items, size_t count, size_t item_size) {
    grout_byte_span all = *get_span(items, 0, item_size);
    size_t at = 1;
    for (; at < count; at++) {
        const grout_byte_span *next = get_span(items, at, item_size);
        if (next->space != all.space || next->start >= all.end) {
            break;
        }
        all.end = next->end > all.end ? next->end : all.end;
    }
    return at;
}
