/*
 * pair.h - pairs of CTAs: those whose ranks differ in bit 0. The even one leads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PAIR_H
#define GROUT_INTERP_PAIR_H

#include "machine.h"

static inline uint32_t grout_pair_leader(uint32_t rank) {
    return rank & ~1u;
}
static inline bool grout_cta__leads_pair(const grout_cta *cta) {
    return grout_pair_leader(cta->rank) == cta->rank;
}

#endif
