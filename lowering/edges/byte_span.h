/*
 * byte_span.h - where the bytes of an object lie, to find those that share some without comparing
 * each with each.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_BYTE_SPAN_H
#define GROUT_LOWERING_BYTE_SPAN_H

#include "grout-internal/ir.h"

/* From start to before end, in a memory space. */
typedef struct grout_byte_span {
    int64_t start, end;
    uint8_t space;
} grout_byte_span;

/* The bytes of an object of a bound module. Objects that share bytes (grout_objects_share_bytes)
 * have spans that meet; an object without a place has a span that meets no other one. Arrays of
 * tensor memory have that of the columns they were cut from: theirs may meet without a shared byte.
 */
grout_byte_span grout_byte_span__get(const grout_module *module, grout_object_id id);

/* For qsort: by space, then by start. */
int grout_byte_span__compare(const grout_byte_span *a, const grout_byte_span *b);

/* Counts items that are sorted so, each of which begins with its span, up to the first that meets
 * none of those before it: nor do those after it. */
size_t grout_byte_span__count_together(const void *items, size_t count, size_t item_size);

#endif
