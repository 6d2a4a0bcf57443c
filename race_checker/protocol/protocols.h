/*
 * protocols.h - the events that synchronise, each in a file of its name.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_PROTOCOLS_H
#define GROUT_RACE_CHECKER_PROTOCOLS_H

#include "elements.h"

/* ---- barriers.c ---- */

bool grout_checker__arrive(grout_checker *checker, const grout_event *event);
bool grout_checker__wait(grout_checker *checker, const grout_event *event);
bool grout_checker__phase(grout_checker *checker, const grout_event *event);
bool grout_checker__thread_exit(grout_checker *checker, const grout_event *event);

/* ---- barrier_end.c ---- */

bool grout_checker__barrier_end(grout_checker *checker, const grout_event *event);
/* Nothing is in flight any more: checks that the bytes of the open phase come out even. */
bool grout_checker__check_bytes(grout_checker *checker, const grout_barrier_fact *barrier);

/* ---- init.c ---- */

bool grout_checker__init(grout_checker *checker, const grout_event *event);
/* A use of an mbarrier: checks that its actor knows of the init. */
bool grout_checker__check_init(grout_checker *checker, const grout_event *event,
                               const grout_element_at *at);
/* A fault BARRIER_UNINITIALISED: whether it is one of use and end in no order, and reported as
 * that. False without memory. */
bool grout_checker__check_ended(grout_checker *checker, const grout_event *event,
                                bool *is_reported_out);
/* An mbarrier ends: what it still got must be known to known, a clock. origin: what ends it. */
bool grout_checker__end_mbarrier(grout_checker *checker, const grout_element_at *at,
                                 const grout_origin *origin, const uint32_t *known);

/* ---- cluster_barrier.c ---- */

bool grout_checker__rendezvous(grout_checker *checker, const grout_event *event);
/* An arrival on a barrier of a CTA that has ended. */
bool grout_checker__reach_ended(grout_checker *checker, const grout_event *event);
/* A thread ends: what it has not waited for on the cluster's barrier. */
bool grout_checker__end_rendezvous(grout_checker *checker, const grout_event *event,
                                   grout_cta_state *state);
/* A CTA ends: what other CTAs did to its barriers. */
bool grout_checker__cta_exit(grout_checker *checker, const grout_event *event,
                             grout_cta_state *state);

/* ---- and the others ---- */

bool grout_checker__named(grout_checker *checker, const grout_event *event);
bool grout_checker__semaphore(grout_checker *checker, const grout_event *event);
bool grout_checker__collective(grout_checker *checker, const grout_event *event);
bool grout_checker__registers(grout_checker *checker, const grout_event *event);
bool grout_checker__fault(grout_checker *checker, const grout_event *event);
bool grout_checker__step_limit(grout_checker *checker, const grout_event *event);

#endif
