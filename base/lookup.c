/* lookup.c - numbers by keys, in a table with open addresses.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lookup.h"

#include "alloc.h"
#include "hash.h"
#include "invariant.h"

#include <string.h>

enum { FIRST_SIZE = 64 };

void grout_lookup__deinit(grout_lookup *lookup) {
    grout__free(lookup->slots);
    *lookup = (grout_lookup){.allocator = lookup->allocator};
}

bool grout_lookup__clone(grout_lookup *to, const grout_lookup *from) {
    *to = (grout_lookup){.allocator = from->allocator};
    if (from->size == 0) {
        return true;
    }
    to->slots = grout__resize(to->allocator, NULL, from->size * sizeof *to->slots);
    if (to->slots == NULL) {
        return false;
    }
    memcpy(to->slots, from->slots, from->size * sizeof *to->slots);
    to->size = from->size;
    to->count = from->count;
    return true;
}

/* The slot of a key, or the one where it would stand. */
static grout_lookup_slot *find_slot(const grout_lookup *lookup, uint64_t key) {
    size_t mask = lookup->size - 1, at = grout_hash__index(grout_hash__word(0, key)) & mask;
    GROUT_ASSERT(lookup->count < lookup->size);
    while (lookup->slots[at].number != 0 && lookup->slots[at].key != key) {
        at = (at + 1) & mask;
    }
    return &lookup->slots[at];
}

static bool grow(grout_lookup *lookup) {
    grout_lookup more = {.allocator = lookup->allocator,
                         .size = lookup->size == 0 ? FIRST_SIZE : 2 * lookup->size,
                         .count = lookup->count};
    more.slots = grout__new(more.allocator, more.size, sizeof *more.slots);
    if (more.slots == NULL) {
        return false;
    }
    for (size_t i = 0; i < lookup->size; i++) {
        if (lookup->slots[i].number != 0) {
            *find_slot(&more, lookup->slots[i].key) = lookup->slots[i];
        }
    }
    grout__free(lookup->slots);
    *lookup = more;
    return true;
}

uint32_t grout_lookup__find(const grout_lookup *lookup, uint64_t key) {
    return lookup->size == 0 ? 0 : find_slot(lookup, key)->number;
}

uint32_t *grout_lookup__at(grout_lookup *lookup, uint64_t key) {
    if (2 * (lookup->count + 1) > lookup->size && !grow(lookup)) {
        return NULL;
    }
    grout_lookup_slot *slot = find_slot(lookup, key);
    if (slot->number == 0) {
        slot->key = key;
        lookup->count++;
    }
    return &slot->number;
}
