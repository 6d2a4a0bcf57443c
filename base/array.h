/*
 * array.h - the one array that grows.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     GROUT_ARRAY(uint32_t) numbers = {0};
 *     if (!GROUT_ARRAY_RESERVE(&numbers, allocator, 1)) {
 *         return grout_diags_add_oom(diags);
 *     }
 *     numbers.items[numbers.count++] = 7;
 *     grout__free(numbers.items);
 */
#ifndef GROUT_BASE_ARRAY_H
#define GROUT_BASE_ARRAY_H

#include "alloc.h"

/* Zeroed: empty. */
#define GROUT_ARRAY(type)       \
    struct {                    \
        type *items;            \
        size_t count, capacity; \
    }

/* Makes room for more items after those that there are: capacity >= count + more. False without
 * memory, or if there can be no array so large: the array stays as it is. */
#define GROUT_ARRAY_RESERVE(array, allocator, more)                                          \
    ((array)->items = grout_array__grow((allocator), (array)->items, (array)->count, (more), \
                                        &(array)->capacity, sizeof *(array)->items),         \
     (array)->capacity - (array)->count >= (more))

/* The items, moved if they have to be, with room for more of item_size bytes after the first count;
 * capacity says for how many. Without memory both stay as they are. */
void *grout_array__grow(const grout_allocator *allocator, void *items, size_t count, size_t more,
                        size_t *capacity, size_t item_size);

#endif
