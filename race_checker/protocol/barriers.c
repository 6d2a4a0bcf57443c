/*
 * barriers.c - the events of barriers: arrivals, waits, and the ends of threads.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contributors.h"
#include "elements.h"
#include "history.h"
#include "phases.h"
#include "protocols.h"
#include "visits.h"

#include <string.h>

/* An actor of the element's CTA, in the cluster. */
static uint32_t get_actor(const grout_checker *checker, const grout_element_at *at,
                          uint32_t local) {
    return grout_clock_actor(&checker->shape, grout_checker__get_rank(checker, at->state->life.cta),
                             local);
}

/* ---- contributions ---- */

/* Whether the contribution knows that the phase before its own is complete. */
static bool knows_previous(const grout_checker *checker, const grout_event *event,
                           uint32_t barrier) {
    const grout_phase_fact *previous = &event->u.arrive.previous;
    const uint32_t *known = event->clocks->known;
    if (known[grout_clock_phase(&checker->shape, barrier)] >=
        event->u.arrive.phase_base + event->u.arrive.phase) {
        return true;
    }
    return previous->is_complete && !previous->had_bytes && previous->completion &&
           grout_checker__knows_actors(checker, known, previous->completion);
}

/* Adds the contribution to its phase. */
static void contribute(grout_checker *checker, const grout_event *event, const grout_element_at *at,
                       grout_phase_state *phase) {
    const grout_module *module = checker->info.module;
    grout_element_state *element = at->element;
    uint32_t number = event->u.arrive.phase;
    uint32_t *known =
        grout_element__get_known(element, checker->local_actors, number - element->facts.first);
    grout_origin__keep(module, &phase->contribution, &event->origin, 1);
    if (number > 0 && !knows_previous(checker, event, at->barrier)) {
        grout_origin__keep(module, &phase->early, &event->origin, 1);
    }
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        uint32_t x =
            event->clocks->known[grout_clock_epoch(&checker->shape, get_actor(checker, at, i))];
        known[i] = known[i] < x ? x : known[i];
    }
    if (event->u.arrive.by_copy || event->u.arrive.is_bytes) {
        element->facts.last_load = element->phase_base + number + 1;
    }
    if (!event->u.arrive.is_bytes) {
        grout_origin__keep(module, &phase->arrival, &event->origin, 1);
        phase->arrived += event->u.arrive.count;
        phase->has_all = event->u.arrive.is_last;
        element->notes[element->note_count++ % GROUT_ARRIVAL_NOTES] = (grout_arrival_note){
            .origin = event->origin, .phase = number, .count = event->u.arrive.count};
    }
}

bool grout_checker__arrive(grout_checker *checker, const grout_event *event) {
    bool has_own = grout_checker__find_cta(checker, event->origin.cta) != NULL;
    grout_element_at at =
        grout_checker__find_element(checker, event->u.arrive.cta, event->u.arrive.element);
    uint32_t number = event->u.arrive.phase;
    grout_phase_state *phase = NULL;
    if (!has_own || !at.state) {
        return !checker->has_failed && grout_checker__reach_ended(checker, event);
    }
    grout_checker__note(checker, event, grout_checker__find_cta(checker, event->origin.cta));
    grout_checker__note_visit(checker, event);
    at.element->phase_base = event->u.arrive.phase_base;
    if (!grout_checker__check_init(checker, event, &at) ||
        !grout_checker__note_contributor(checker, event, &at)) {
        return false;
    }
    if (!event->u.arrive.is_bytes) {
        grout_element__meet_bytes(checker, event, &at);
    }
    if (event->u.arrive.is_bytes && (event->u.arrive.is_late || number < at.element->facts.full)) {
        /* They are no contribution to it. */
        return grout_checker__report_late(
            checker, at.is_explicit ? GROUT_DIAG_BARRIER_TX_MISMATCH : GROUT_DIAG_BARRIER_OVERRUN,
            &at, number, &event->origin);
    }
    phase = grout_element__find_phase(checker, at.element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    contribute(checker, event, &at, phase);
    if (!at.has_late_bytes && phase->has_all && !grout_element__fill(checker, &at, number + 1)) {
        return false;
    }
    return grout_element__settle(checker, &at);
}

bool grout_checker__phase(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.phase.barrier;
    grout_element_at at = grout_checker__find_element(checker, barrier->cta, barrier->element);
    checker->run.barrier_phases++;
    if (!at.state) {
        return !checker->has_failed;
    }
    if (!at.has_late_bytes) { /* its arrivals have said it */
        return true;
    }
    return grout_element__fill(checker, &at, event->u.phase.phase + 1) &&
           grout_element__settle(checker, &at);
}

bool grout_checker__thread_exit(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    if (!state) {
        return !checker->has_failed;
    }
    state->life.exited_threads |= 1u << event->origin.thread;
    if (!grout_checker__end_rendezvous(checker, event, state)) {
        return false;
    }
    for (uint32_t i = 0; i < checker->local_elements; i++) {
        grout_element_at at = grout_checker__find_element(checker, event->origin.cta, i);
        if (!grout_element__settle(checker, &at)) {
            return false;
        }
    }
    return true;
}

/* ---- waits ---- */

/* Reports a wait that cannot be for the phase that it is counted for. */
static bool report_wait(grout_checker *checker, const grout_event *event, grout_diag_code code,
                        const grout_origin *related, const grout_facts *numbers) {
    grout_facts facts = *numbers;
    facts.element = event->u.wait.barrier->element;
    facts.phase = event->u.wait.phase;
    facts.fault.object = event->u.wait.barrier->object;
    facts.sides[0].origin = event->origin;
    facts.sides[1].origin = *related;
    facts.side_count = related->op ? 2 : 1;
    return grout_checker__report_barrier(checker, code, GROUT_SEVERITY_ERROR, &facts);
}

/* A contribution to the newest phase that the actor knows complete. What came after that phase came
 * by chance and does not count. */
static const grout_origin *find_known_contribution(const grout_checker *checker,
                                                   const grout_event *event,
                                                   const grout_element_at *at) {
    static const grout_origin nowhere;
    uint32_t known = event->clocks->known[grout_clock_phase(&checker->shape, at->barrier)];
    uint32_t newest = known - event->u.wait.barrier->phase_base - 1;
    bool is_kept = newest >= at->element->facts.first &&
                   newest - at->element->facts.first < grout_element__count(at->element);
    return is_kept
               ? &grout_element__at(at->element, newest - at->element->facts.first)->contribution
               : &nowhere;
}

/* An actor's first wait, when it knows already that the phase after has completed too. */
static bool check_skipped(grout_checker *checker, const grout_event *event,
                          const grout_element_at *at, bool is_first) {
    grout_facts facts;
    uint32_t number = event->u.wait.phase;
    memset(&facts, 0, sizeof facts);
    if (at->is_explicit || !is_first ||
        event->clocks->known[grout_clock_phase(&checker->shape, at->barrier)] <=
            event->u.wait.barrier->phase_base + number + 1) {
        return true;
    }
    at->element->facts.skipped |= UINT64_C(1) << grout_checker__get_local(checker, &event->origin);
    facts.have = at->element->facts.full;
    return report_wait(checker, event, GROUT_DIAG_BARRIER_SKIPPED,
                       find_known_contribution(checker, event, at), &facts);
}

/* A thread may wait again only when its warps have waited equally often. */
static bool check_warps(grout_checker *checker, const grout_event *event,
                        const grout_element_at *at) {
    uint32_t threads = checker->shape.thread_count;
    uint32_t first = threads + 4u * event->origin.thread, low = UINT32_MAX, high = 0;
    const grout_origin nowhere = {0};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    if (checker->local_actors == threads || event->origin.warp != 0 || at->is_explicit) {
        return true;
    }
    for (uint32_t w = 0; w < 4; w++) {
        uint32_t waits = grout_checker__get_observed(checker, at->state, at->index, first + w);
        low = waits < low ? waits : low;
        high = waits > high ? waits : high;
    }
    if (low == high) {
        return true;
    }
    facts.subject = GROUT_SUBJECT_WARPS;
    facts.have = low;
    facts.need = high;
    return report_wait(checker, event, GROUT_DIAG_BARRIER_SKIPPED, &nowhere, &facts);
}

/* The parity that was asked for meant another phase when the wait ran. */
static bool check_parity(grout_checker *checker, const grout_event *event) {
    const grout_origin nowhere = {0};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    if (!event->u.wait.has_parity || !event->u.wait.is_other) {
        return true;
    }
    facts.have = (int32_t)event->u.wait.real; /* -1: the phase before the first */
    facts.need = event->u.wait.parity;
    return report_wait(checker, event, GROUT_DIAG_BARRIER_WRONG_PARITY, &nowhere, &facts);
}

bool grout_checker__wait(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.wait.barrier;
    grout_element_at at = grout_checker__find_element(checker, barrier->cta, barrier->element);
    uint32_t number = event->u.wait.phase;
    grout_wait_at wait;
    bool is_first = false;
    if (!at.state) {
        return !checker->has_failed;
    }
    wait = grout_checker__get_wait(checker, at.state, at.index,
                                   grout_checker__get_local(checker, &event->origin));
    is_first = !wait.origin->op;
    if ((number != UINT32_MAX && !grout_element__fill(checker, &at, number + 1)) ||
        !check_warps(checker, event, &at)) {
        return false;
    }
    grout_checker__note(checker, event, at.state);
    grout_checker__note_visit(checker, event);
    wait.mark->waits = number + 1;
    *wait.origin = event->origin;
    wait.mark->epoch = event->clocks->known[grout_clock_epoch(
        &checker->shape, grout_checker__get_actor(checker, &event->origin))];
    return grout_checker__check_init(checker, event, &at) &&
           check_skipped(checker, event, &at, is_first) && check_parity(checker, event) &&
           grout_element__observe(checker, &at, number, &event->origin);
}
