/*
 * generation.h - the clock sets that a cluster has for the generations of its hardware barrier.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_GENERATION_H
#define GROUT_INTERP_GENERATION_H

#include "machine.h"

/* How many clock sets a cluster has for the generations of its hardware barrier: two, and where
 * operations on it may be relaxed, two more for each CTA. */
static inline uint32_t grout_machine__generation_sets(const grout_machine *machine) {
    return 2 + (machine->plan->has_relaxed_meetings ? 2 * machine->plan->shape.cta_count : 0);
}
/* The clock set of a generation of the hardware barrier. */
static inline uint32_t *grout_cta__generation(const grout_cta *cta, uint32_t generation) {
    return (uint32_t *)(void *)(grout_cta__cluster(cta) + 1) +
           (size_t)(generation & 1) * cta->machine->plan->order.words;
}
/* What the threads of the CTA itself have left in it: an edge within the CTA carries more. NULL
 * where no operation is relaxed. */
static inline uint32_t *grout_cta__own_generation(const grout_cta *cta, uint32_t generation) {
    return cta->machine->plan->has_relaxed_meetings
               ? grout_cta__generation(cta, generation) +
                     (size_t)(2 + 2 * cta->rank) * cta->machine->plan->order.words
               : NULL;
}

#endif
