/* grow.h - arrays that grow.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_EXPLORE_GROW_H
#define GROUT_EXPLORE_GROW_H

#include <stddef.h>
#include <stdlib.h>

/* The array, moved if need be, with room for one item more; NULL without memory: it stays. */
static inline void *grout_grow(void *items, size_t count, size_t *capacity, size_t item_size) {
    if (count < *capacity) {
        return items;
    }
    size_t wanted = *capacity == 0 ? 32 : 2 * *capacity;
    void *larger = realloc(items, wanted * item_size);
    if (larger != NULL) {
        *capacity = wanted;
    }
    return larger;
}

#endif
