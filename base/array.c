/* array.c - growth by doubling.
 * SPDX-License-Identifier: Apache-2.0 */
#include "array.h"

#include "invariant.h"

#include <stdint.h>

enum { FIRST_CAPACITY = 8 };

void *grout_array__grow(const grout_allocator *allocator, void *items, size_t count, size_t more,
                        size_t *capacity, size_t item_size) {
    GROUT_ASSERT(count <= *capacity && item_size > 0);
    GROUT_ASSERT(items != NULL || *capacity == 0);
    if (more <= *capacity - count) {
        return items;
    }
    size_t most = SIZE_MAX / 2 / item_size;
    if (count > most || more > most - count) {
        return items;
    }
    size_t wanted = *capacity > 0 ? *capacity : FIRST_CAPACITY;
    while (wanted < count + more) {
        wanted = wanted <= most / 2 ? wanted * 2 : most;
    }
    void *larger = grout__resize(allocator, items, wanted * item_size);
    if (larger == NULL) {
        return items;
    }
    *capacity = wanted;
    return larger;
}
