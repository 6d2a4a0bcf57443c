/*
 * sorted.h - lists that are sorted, of which one of each kind is kept.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_LOWERING_SORTED_H
#define GROUT_LOWERING_SORTED_H

#include <stddef.h>
#include <stdint.h>

/* For qsort. */
typedef int grout_sorted_order(const void *a, const void *b);

static inline int grout_sorted__compare(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

/* Sorts the items and keeps the first of those in a row that are alike (alike is 0 for them).
 * Returns how many are left. */
size_t grout_sorted__keep_first(void *items, size_t count, size_t size, grout_sorted_order *order,
                                grout_sorted_order *alike);

#endif
