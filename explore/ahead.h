/*
 * ahead.h - attempts that other OS threads make before it is their turn.
 *
 * What an exploration wants to try, it will try with these very decisions, unless its budget ends
 * before. So others may run it already. The exploration takes the results in its own order, and
 * therefore comes to the same for every number of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_EXPLORE_AHEAD_H
#define GROUT_EXPLORE_AHEAD_H

#include "attempt.h"

typedef struct grout_ahead grout_ahead;

/* For launch.workers - 1 threads; they begin with the first job. NULL: one thread explores, because
 * the launch asks for one, or several cannot. */
grout_ahead *grout_ahead__new(const grout_attempts *all);
/* Ends the threads; what they run is dropped. */
void grout_ahead__free(grout_ahead *ahead);
/* Asks for an attempt with these decisions: its number, from 1; 0: there is enough to do. */
uint32_t grout_ahead__add(grout_ahead *ahead, const grout_decisions *decisions);
/*
 * The attempt of a number, whose observers then have seen it, once it is made. NULL: nobody has
 * begun it, or it failed there, or (*was_cut_out) the launch's progress interrupted the waiting.
 * The number is free again.
 */
grout_attempt *grout_ahead__take(grout_ahead *ahead, uint32_t number, bool *was_cut_out);

#endif
