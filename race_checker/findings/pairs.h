/*
 * pairs.h - pairs of executed operations that are in conflict: each is one occurrence of a finding,
 * in however many regions and objects the two meet.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_PAIRS_H
#define GROUT_RACE_CHECKER_PAIRS_H

#include "finding.h"

/* The pairs of the operation that runs with others, which came before; a set of their hashes. */
typedef struct grout_pairs {
    const grout_allocator *allocator;
    uint64_t *slots; /* open addressing; 0: empty */
    uint32_t size, count;
    uint64_t step; /* of the operation */
} grout_pairs;

void grout_pairs__deinit(grout_pairs *pairs);
/* Before steps come again: after a snapshot was restored. */
void grout_pairs__forget(grout_pairs *pairs);
/*
 * Adds the pair of the two sides (NULL: there is one side) under the key, seen at this step.
 * *is_new_out: it was not there. False without memory.
 */
bool grout_pairs__add(grout_pairs *pairs, uint64_t step, const grout_finding_key *key,
                      const grout_side *const sides[2], bool *is_new_out);

#endif
