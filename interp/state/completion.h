/*
 * completion.h - the clock sets of the phases of mbarriers: those of the last completed phases of
 * each element, and those of phases that have begun.
 * SPDX-License-Identifier: Apache-2.0
 *
 * They lie in the state of the CTA. Where many barriers make each set long and all of them large,
 * they are rows of sheets (sheets.h): a barrier that nobody uses has none, and the others share
 * what is alike. What is asked for is then copied, and stays until the next is asked for.
 */
#ifndef GROUT_INTERP_COMPLETION_H
#define GROUT_INTERP_COMPLETION_H

#include "machine.h"

/* The clock sets of a completed phase, of the last snapshots_kept. */
const uint32_t *grout_completion__get(const grout_cta *cta, uint32_t element, uint32_t phase);
/* The phase is complete, with these. */
void grout_completion__put(const grout_cta *cta, uint32_t element, uint32_t phase,
                           const uint32_t *clocks);
/* Those of the element mean nothing any more. */
void grout_completion__forget(const grout_cta *cta, uint32_t element);
/* After that, where other CTAs go on: nothing of the CTA is left in the pools. */
void grout_completion__end_cta(const grout_cta *cta);
/* The foreign word of one of the sets that are kept of an element, up to
 * grout_completion__count_sets. */
uint32_t grout_completion__get_foreign(const grout_cta *cta, uint32_t element, uint32_t set);
uint32_t grout_completion__count_sets(const grout_machine *machine);
/* A hash of all of them. */
uint64_t grout_completion__hash(const grout_cta *cta, uint64_t hash);

/* The clock sets of a phase that has begun, to be read; or to be changed, until end_clocks. */
uint32_t *grout_phase__begin_clocks(const grout_cta *cta, grout_phase *phase);
void grout_phase__end_clocks(const grout_cta *cta, grout_phase *phase);
/* The same of one set's foreign word. */
uint32_t grout_phase__get_foreign(const grout_machine *machine, grout_phase *phase, uint32_t set);
/* The phase ends. */
void grout_phase__drop_clocks(const grout_cta *cta, grout_phase *phase);

#endif
