/* lookup.h - numbers by keys: which item of a list has a key, however long the list is.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_BASE_LOOKUP_H
#define GROUT_BASE_LOOKUP_H

#include "grout/alloc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct grout_lookup_slot {
    uint64_t key;
    uint32_t number; /* 0: none has the key */
} grout_lookup_slot;

/* Zeroed, it is empty. */
typedef struct grout_lookup {
    const grout_allocator *allocator; /* NULL: libc */
    grout_lookup_slot *slots;
    size_t size, count; /* a power of two, or 0; of the slots that have a number */
} grout_lookup;

void grout_lookup__deinit(grout_lookup *lookup);
/* Replaces to, whatever it holds, by a copy of from, from the same allocator; false, and an empty
 * one, without memory. */
bool grout_lookup__clone(grout_lookup *to, const grout_lookup *from);
/* The number of a key; 0: it has none. */
uint32_t grout_lookup__find(const grout_lookup *lookup, uint64_t key);
/* The number of a key, to be set before the next call to something else than 0; NULL without
 * memory. */
uint32_t *grout_lookup__at(grout_lookup *lookup, uint64_t key);

#endif
