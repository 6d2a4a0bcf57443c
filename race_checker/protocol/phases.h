/*
 * phases.h - pairs of phases of a barrier element, as facts of happens-before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_PHASES_H
#define GROUT_RACE_CHECKER_PHASES_H

#include "elements.h"

/* The state of a phase that has not been dropped; NULL without memory. */
grout_phase_state *grout_element__find_phase(const grout_checker *checker,
                                             grout_element_state *element, uint32_t phase);
/* All contributions of the phases below are in. False without memory. */
bool grout_element__fill(grout_checker *checker, const grout_element_at *at, uint32_t phases);
/* A wait on a phase whose successor may be full already. False without memory. */
bool grout_element__observe(grout_checker *checker, const grout_element_at *at, uint32_t number,
                            const grout_origin *origin);
/* Judges what nothing can change any more; at the end of the element, all. */
bool grout_element__settle(grout_checker *checker, const grout_element_at *at);
bool grout_element__settle_last(grout_checker *checker, const grout_element_at *at);
/* Settles what is left open about the phases of every live CTA: after a deadlock, or at the end. */
bool grout_checker__settle_all(grout_checker *checker);
/* A deadlock: waits whose phase and the next one have both completed, so that the parity they wait
 * for has passed, are waits on that phase all the same. False without memory. */
bool grout_checker__observe_blocked(grout_checker *checker, const grout_event *event);

#endif
