/*
 * chance.h - what a seed draws, and what the schedule decides.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_CHANCE_H
#define GROUT_INTERP_CHANCE_H

#include "grout-internal/interp.h"

/* ---- chance: random.c ------------------------------------------------------------------------ */

/* Draws from the random state. The engine has its own, so that the schedule of a seed is the same
 * under every timing. */
enum { GROUT_DRAW_SCHEDULE, GROUT_DRAW_ENGINE, GROUT_DRAW_STREAMS };
#define GROUT_GOLDEN_RATIO \
    UINT64_C(0x9e3779b97f4a7c15) /* 2^64 over the golden ratio: SplitMix64's step */
/* SplitMix64 (Steele, Lea and Flood, 'Fast splittable pseudorandom number generators', 2014). */
uint64_t grout_random__mix(uint64_t z);
/* Begins both streams from the launch's seed; index: of the cluster, where each has its own. */
void grout_machine__seed(grout_machine *machine, uint32_t index);
uint64_t grout_machine__draw(grout_machine *machine, uint32_t stream);

/* ---- what the schedule decides: decisions.c -------------------------------------------------- */

/* Appends to the record of the launch, if there is one. */
void grout_machine__record(grout_machine *machine, uint32_t number);
/* An answer that a GPU may give either way: that of the replay, else the usual one. */
bool grout_machine__answer(grout_machine *machine, bool usual);

#endif
