/* pairs.c - the set of the pairs in conflict.
 * SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include "alloc.h"
#include "invariant.h"
#include "mix.h"

#include <string.h>

enum { SIZE_FIRST = 32 };

void grout_pairs__deinit(grout_pairs *pairs) {
    grout__free(pairs->slots);
    memset(pairs, 0, sizeof *pairs);
}

void grout_pairs__forget(grout_pairs *pairs) {
    if (pairs->count) {
        memset(pairs->slots, 0, pairs->size * sizeof *pairs->slots);
    }
    pairs->count = 0;
}

/* One execution of one op; not which of its operands. */
static uint64_t mix_side(uint64_t hash, const grout_side *side) {
    hash = grout_check__mix(hash, (uint64_t)side->origin.op << 32 | side->origin.cta);
    hash = grout_check__mix(hash, (uint64_t)side->stamp.component << 32 | side->stamp.number);
    hash = grout_check__mix(hash, (uint64_t)side->origin.thread << 32 | side->epoch);
    for (uint32_t i = 0; i < GROUT_ORIGIN_LOOPS; i++) {
        hash = grout_check__mix(hash, (uint32_t)side->origin.loops[i]);
    }
    return hash;
}

static uint64_t hash_pair(const grout_finding_key *key, const grout_side *const sides[2]) {
    uint64_t hash =
        grout_check__mix(UINT64_C(0x51afd7ed558ccdff), (uint64_t)key->code << 8 | key->severity);
    for (uint32_t i = 0; i < 2 && sides[i]; i++) {
        hash = mix_side(hash, sides[i]);
    }
    return hash ? hash : 1;
}

/* The slot of the pair, or the empty one where it belongs. */
static uint64_t *find_slot(const grout_pairs *pairs, uint64_t pair) {
    uint32_t slot = (uint32_t)pair & (pairs->size - 1);
    while (pairs->slots[slot] && pairs->slots[slot] != pair) {
        slot = (slot + 1) & (pairs->size - 1);
    }
    return &pairs->slots[slot];
}

static bool grow(grout_pairs *pairs) {
    grout_pairs grown = *pairs;
    grown.size = pairs->size ? pairs->size * 2 : SIZE_FIRST;
    grown.slots = grout__new(grown.allocator, grown.size, sizeof *grown.slots);
    if (!grown.slots) {
        return false;
    }
    for (uint32_t i = 0; i < pairs->size; i++) {
        if (pairs->slots[i]) {
            *find_slot(&grown, pairs->slots[i]) = pairs->slots[i];
        }
    }
    grout__free(pairs->slots);
    *pairs = grown;
    return true;
}

bool grout_pairs__add(grout_pairs *pairs, uint64_t step, const grout_finding_key *key,
                      const grout_side *const sides[2], bool *is_new_out) {
    uint64_t pair = hash_pair(key, sides);
    GROUT_ASSERT(pair != 0);
    uint64_t *slot = NULL;
    if (pairs->step != step) {
        grout_pairs__forget(pairs);
        pairs->step = step;
    }
    if (pairs->count >= pairs->size / 2 && !grow(pairs)) {
        return false;
    }
    GROUT_ASSERT(pairs->count < pairs->size);
    slot = find_slot(pairs, pair);
    *is_new_out = *slot == 0;
    pairs->count += *is_new_out ? 1 : 0;
    *slot = pair;
    return true;
}
