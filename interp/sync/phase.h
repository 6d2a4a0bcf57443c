/*
 * phase.h - phases of mbarriers, of the CTA: records of those that have begun, clock sets
 * of completed ones as long as somebody may still wait for them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_PHASE_H
#define GROUT_INTERP_PHASE_H

#include "barrier.h"

/* Component phase of an element. */
uint32_t grout_phase__get_component(const grout_cta *cta, uint32_t element);
/* The record of the latest phase up to a number that has begun and is not complete; 0: none. */
uint32_t grout_phase__find_last(const grout_cta *cta, uint32_t element, uint32_t number);
/* The record of a phase that is not complete, made if need be; 0 without memory. */
uint32_t grout_phase__open(const grout_cta *cta, uint32_t element, uint32_t number);
/* Completes all phases that can be, in order. */
void grout_phase__complete_all(const grout_cta *cta, uint32_t element);
/*
 * The clock sets of a completed phase; NULL if it is too old to be kept. Its age counts in
 * arrivals, not completions: it must not depend on when an engine finishes.
 */
const uint32_t *grout_phase__find_completion(const grout_cta *cta, uint32_t element,
                                             uint32_t number);
/* Drops old phases that nobody can wait for any more. */
void grout_phase__trim_old(const grout_cta *cta, uint32_t element);
/* All of them are gone, with what is in flight to them. */
void grout_phase__forget_all(const grout_cta *cta, uint32_t element);

#endif
