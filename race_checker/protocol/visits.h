/*
 * visits.h - how often each actor has executed each op that synchronises, for a deadlock's words.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_VISITS_H
#define GROUT_RACE_CHECKER_VISITS_H

#include "checker.h"

/* Numbers the ops that synchronise. False without memory. */
bool grout_checker__number_sync_ops(grout_checker *checker);
/* Counts an execution of a synchronising op. */
void grout_checker__note_visit(grout_checker *checker, const grout_event *event);
/* NULL: the op does not synchronise. */
grout_visit *grout_checker__find_visit(const grout_checker *checker, const grout_cta_state *state,
                                       uint32_t local_actor, grout_op_id op);
/* The first turn of the innermost loop around the op that went past it, up to where the actor
 * stands now: in this turn after the op (is_behind), or not yet there. False: there is none. */
bool grout_visit__find_gap(const grout_module *module, const grout_visit *visit,
                           const grout_origin *now, bool is_behind, int32_t *turn_out);

#endif
