/*
 * mbarrier.h - barriers of the explicit style: which phase a parity means, which CTAs' barriers an
 * op of one CTA serves, and what happens to a barrier that is not initialised.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_MBARRIER_H
#define GROUT_INTERP_MBARRIER_H

#include "barrier.h"

#define GROUT_PHASE_NONE UINT32_MAX /* the one before the first */

/* A parity at an element, as one actor sees it. */
typedef struct grout_parity {
    uint32_t meant;  /* phase that it means, as far as the actor knows, or GROUT_PHASE_NONE */
    uint32_t real;   /* newest complete phase, or GROUT_PHASE_NONE */
    bool is_awaited; /* meant is not known complete */
    bool passes;
    bool may_fail; /* it passes, and would not if what is in flight came later */
} grout_parity;

grout_parity grout_mbarrier__judge(const grout_cta *cta, uint32_t actor, uint32_t element,
                                   uint32_t parity);
/*
 * Whether an op that waits on an mbarrier or contributes to it, in each CTA of a set of ranks,
 * comes before one of the inits while another actor can still run. The actor is then blocked until
 * the inits have come, so that what follows is the same as when the op comes late. The checker says
 * that nothing orders the two. Call it before the op has done anything.
 */
bool grout_mbarrier__awaits_init(const grout_cta *cta, uint32_t actor, uint32_t element,
                                 uint32_t ranks);
/* Lets the actors of the CTA that wait for inits go on, since these do not come. */
void grout_mbarrier__give_up_inits(const grout_cta *cta);
/* Whether an element of the CTA can be used; a fault if not. */
bool grout_mbarrier__check(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                           uint32_t element);
void grout_mbarrier__init(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                          uint32_t element, uint32_t arrivals);
void grout_mbarrier__invalidate(const grout_cta *cta, uint32_t actor, const grout_inst *inst,
                                uint32_t element);
/* Ranks whose barriers a CTA serves with from_cta(mask): bit r for rank r. */
uint32_t grout_mbarrier__get_served(uint32_t rank, uint32_t mask, uint32_t cluster_size);

#endif
