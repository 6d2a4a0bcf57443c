/*
 * collective.h - what a cluster remembers of copies to several CTAs: those that all CTAs of a set
 * have to issue, and how far a CTA is with those that it sends or shares.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_COLLECTIVE_H
#define GROUT_INTERP_COLLECTIVE_H

#include "machine.h"

/*
 * A copy that all CTAs of a set have to issue, and that some have not. What the CTAs issue is one
 * copy if it is for one barrier element, for the same of that element's phases that have collective
 * copies of the set (each CTA counts its own), with the same boxes. The order of issue says
 * nothing: two threads of a CTA may issue theirs in any order.
 */
typedef struct grout_collective {
    /* not hashed: places in pools */
    uint32_t link;
    uint32_t next;
    /* hashed, from here on */
    uint32_t mask, issued; /* ranks */
    uint32_t element;
    uint32_t number;                  /* of the phase, among those with such copies, from 0 */
    int64_t start[2][GROUT_RANK_MAX]; /* of its boxes, source and destination */
    uint32_t pc;                      /* as the first CTA issued it */
    bool is_told;                     /* its divergence has been reported */
    uint8_t reserved[3];
    grout_origin origin; /* of the first that issued it */
    GROUT_STATE_END
} grout_collective;

/* What a CTA has issued of a set's collective copies for one barrier element. */
typedef struct grout_collective_progress {
    uint32_t phases; /* that have such copies */
    uint32_t end;    /* the newest of them, over all lives of the element, plus 1; 0: none yet */
    uint32_t copies; /* that count on the barrier of the CTA which leads, and this one does not */
} grout_collective_progress;

/* The CTA's newest multicast for a barrier element, and one of the peers that it went to. */
typedef struct grout_round {
    uint32_t own, peer; /* phases of their barriers that it was for, over all lives, plus 1 */
} grout_round;

#endif
