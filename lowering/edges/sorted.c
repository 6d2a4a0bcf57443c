/*
 * sorted.c - lists that are sorted, of which one of each kind is kept.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sorted.h"

#include <stdlib.h>
#include <string.h>

size_t grout_sorted__keep_first(void *items, size_t count, size_t size, grout_sorted_order *order,
                                grout_sorted_order *alike) {
    char *all = items;
    size_t kept = 0;
    if (count > 0) {
        qsort(all, count, size, order);
    }
    for (size_t i = 0; i < count; i++) {
        const char *item = all + i * size;
        if (kept > 0 && alike(all + (kept - 1) * size, item) == 0) {
            continue;
        }
        memmove(all + kept * size, item, size);
        kept++;
    }
    return kept;
}
