/*
 * barriers.h - phases of barrier elements, for the files that judge them; private to race_checker/.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_BARRIERS_H
#define GROUT_RACE_CHECKER_BARRIERS_H

#include "checker.h"

/* A barrier element of a CTA, as the rules see it. */
typedef struct grout_element_at {
    grout_cta_state *state;
    grout_element_state *element;
    uint32_t index;   /* in its CTA */
    uint32_t barrier; /* in the cluster: for the component ph */
    bool is_explicit;
    bool has_late_bytes; /* bytes may come when all arrivals of a phase are in */
} grout_element_at;

/* state NULL: the CTA has ended, or there is no memory (has_failed). */
grout_element_at grout_checker__find_element(grout_checker *checker, uint32_t cta, uint32_t index);
/* Keeps the one that stands last (sign 1) or first (sign -1) in the source. */
void grout_origin__keep(const grout_module *module, grout_origin *kept, const grout_origin *other,
                        int sign);
/* The finding's primary is side 0, or the declaration of the element's object if that has no op. */
bool grout_checker__report_barrier(grout_checker *checker, grout_diag_code code,
                                   grout_severity severity, const grout_facts *facts);
/* For which phase an actor of the CTA waits next: its own waits, and what a warp has from its
 * thread, or a thread from its warps. */
uint32_t grout_checker__get_observed(const grout_checker *checker, const grout_cta_state *state,
                                     uint32_t index, uint32_t local_actor);
/* All contributions of the phases below are in. False without memory. */
bool grout_element__fill(grout_checker *checker, const grout_element_at *at, uint32_t phases);
/* Judges what nothing can change any more; at the end of the element, all. */
bool grout_element__settle(grout_checker *checker, const grout_element_at *at);
bool grout_element__settle_last(grout_checker *checker, const grout_element_at *at);
/* A deadlock: waits whose phase and the next one have both completed, so that the parity they wait
 * for has passed, are waits on that phase all the same. False without memory. */
bool grout_checker__observe_blocked(grout_checker *checker, const grout_event *event);
/* A new life of the element: its phases and the waits on it are forgotten. */
void grout_checker__renew_element(grout_checker *checker, const grout_element_at *at);
/* Has the actor of a clock heard of all that another clock's has, in the cluster? (x) */
bool grout_checker__knows_actors(const grout_checker *checker, const uint32_t *known,
                                 const uint32_t *clock);
/* Nothing is in flight any more: do the bytes of the open phase come out even? barrier_end.c */
bool grout_checker__check_bytes(grout_checker *checker, const grout_barrier_fact *barrier);

/* ---- visits.c ----------------------------------------------------------------------------------
 */

/* Counts an execution of a synchronising op, for a deadlock's words. */
void grout_checker__note_visit(grout_checker *checker, const grout_event *event);
/* NULL: the op is none that synchronises. */
grout_visit *grout_checker__find_visit(const grout_checker *checker, const grout_cta_state *state,
                                       uint32_t local_actor, grout_op_id op);
/* The first turn of the innermost loop around the op that went past it, up to where the actor
 * stands now: in this turn behind the op (is_behind), or not yet there. False: there is none. */
bool grout_visit__find_gap(const grout_module *module, const grout_visit *visit,
                           const grout_origin *now, bool is_behind, int32_t *turn_out);

/* ---- init.c ------------------------------------------------------------------------------------
 */

/* Of a use of an mbarrier: does its actor know of the init? */
bool grout_checker__check_init(grout_checker *checker, const grout_event *event,
                               const grout_element_at *at);
/* Remembers the contribution of an event. False without memory. */
bool grout_checker__note_contributor(grout_checker *checker, const grout_event *event,
                                     const grout_element_at *at);
/* Bytes that a phase does not wait for; primary: what brings them. barriers.c */
bool grout_checker__report_late(grout_checker *checker, grout_diag_code code,
                                const grout_element_at *at, uint32_t phase,
                                const grout_origin *bytes);
/* An arrival: which bytes that announced themselves does it know of? */
void grout_element__meet_bytes(const grout_checker *checker, const grout_event *event,
                               const grout_element_at *at);
/* A phase is full: bytes of its that no arrival knows of may come when it is complete. */
bool grout_element__check_bytes_met(grout_checker *checker, const grout_element_at *at,
                                    uint32_t number);
/* Is the contribution before all that the clock knows? */
bool grout_contributor__is_known(const grout_checker *checker, const grout_contributor *it,
                                 uint32_t barrier, const uint32_t *known);
/* An mbarrier ends: what it still got must be known to known, a clock. origin: who ends it. */
bool grout_checker__end_mbarrier(grout_checker *checker, const grout_element_at *at,
                                 const grout_origin *origin, const uint32_t *known);

/* ---- cluster_barrier.c -------------------------------------------------------------------------
 */

/* An arrival on a barrier of a CTA that has ended. */
bool grout_checker__reach_ended(grout_checker *checker, const grout_event *event);
/* A thread ends: what it has not waited for on the cluster's barrier. */
bool grout_checker__end_rendezvous(grout_checker *checker, const grout_event *event,
                                   grout_cta_state *state);

#endif
