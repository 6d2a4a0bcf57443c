/*
 * elements.h - a barrier element of a CTA, as the rules see it, and findings about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_ELEMENTS_H
#define GROUT_RACE_CHECKER_ELEMENTS_H

#include "checker.h"

typedef struct grout_element_at {
    grout_cta_state *state;
    grout_element_state *element;
    uint32_t index;   /* in its CTA */
    uint32_t barrier; /* in the cluster: for the component phase */
    bool is_explicit;
    bool has_late_bytes; /* bytes may come when all arrivals of a phase are in */
} grout_element_at;

/* state NULL: the CTA has ended, or there is no memory (has_failed). */
grout_element_at grout_checker__find_element(grout_checker *checker, uint32_t cta, uint32_t index);
/* An actor's newest wait on an element. */
typedef struct grout_wait_at {
    grout_wait_mark *mark;
    grout_origin *origin; /* op 0: there was none */
} grout_wait_at;

grout_wait_at grout_checker__get_wait(const grout_checker *checker, const grout_cta_state *state,
                                      uint32_t index, uint32_t local);
/* The phase that an actor of the CTA waits for next: by its own waits, and by what a warp has from
 * its thread, or a thread from its warps. */
uint32_t grout_checker__get_observed(const grout_checker *checker, const grout_cta_state *state,
                                     uint32_t index, uint32_t local_actor);
/* Whether the actor of a clock has heard of all that another clock's has, in the cluster. (x) */
bool grout_checker__knows_actors(const grout_checker *checker, const uint32_t *known,
                                 const uint32_t *clock);
/* The finding's primary is side 0, or the declaration of the element's object if that has no op. */
bool grout_checker__report_barrier(grout_checker *checker, grout_diag_code code,
                                   grout_severity severity, const grout_facts *facts);
/* Bytes that a phase does not wait for; primary: what brings them. */
bool grout_checker__report_late(grout_checker *checker, grout_diag_code code,
                                const grout_element_at *at, uint32_t phase,
                                const grout_origin *bytes);
/* A new life of the element: its phases and the waits on it are forgotten. */
void grout_checker__renew_element(grout_checker *checker, const grout_element_at *at);

#endif
