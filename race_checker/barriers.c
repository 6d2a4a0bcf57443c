/*
 * barriers.c - the protocol of barriers, as facts of happens-before.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rules (docs/memory_model.md, 'Barriers'), for each pair of phases p, p+1 of an element:
 * (a) every contribution to p+1 knows that p is complete; (b) the completion of p+1, the union of
 * its contributions, knows every wait on p, and there is at least one. What breaks either is one
 * finding of the pair. It is judged when all is in: when p+1 is complete and every thread that
 * waits on the element has waited for p, or at the element's end. So it does not matter whether the
 * wait or the completion came first in this run: a wait that comes after the completion is not
 * known to it. Primary: the contribution to p+1 that breaks (a), else of all its contributions, the
 * last in the source. Related: the wait on p that (b) misses, else of all waits on p, the first in
 * the source.
 */
#include "checker.h"

#include "alloc.h"

#include <string.h>

enum { OPEN_PAIRS_MAX = 1024 }; /* of an element; older ones are judged as they stand */

/* ---- phases of an element ---------------------------------------------------------------------
 */

/* Room for index more phases behind the first that is kept. */
static bool reserve_phases(grout_element_state *element, uint32_t index) {
    uint32_t capacity = element->capacity ? element->capacity : 4;
    grout_phase_state *phases = NULL;
    if (element->head + index < element->capacity) {
        return true;
    }
    if (element->head > 0) {
        memmove(element->phases, grout_element__at(element, 0),
                element->count * sizeof *element->phases);
        element->head = 0;
    }
    while (capacity <= index + element->count) { /* half is free: moving stays rare */
        capacity *= 2;
    }
    if (capacity <= element->capacity) {
        return true;
    }
    phases = grout_check__realloc(element->phases, capacity * sizeof *phases);
    if (!phases) {
        return false;
    }
    element->phases = phases;
    element->capacity = capacity;
    return true;
}

/* The state of a phase; NULL if it was dropped, or without memory. */
static grout_phase_state *find_phase(grout_element_state *element, uint32_t phase) {
    if (phase < element->first || !reserve_phases(element, phase - element->first)) {
        return NULL;
    }
    while (element->count <= phase - element->first) {
        memset(grout_element__at(element, element->count++), 0, sizeof *element->phases);
    }
    return grout_element__at(element, phase - element->first);
}

/* Keeps the one that stands last (sign 1) or first (sign -1) in the source. */
static void keep_origin(const grout_module *module, grout_origin *kept, const grout_origin *other,
                        int sign) {
    if (!kept->op || sign * grout_loc__compare(module, grout_origin__get_loc(module, other),
                                               grout_origin__get_loc(module, kept)) >
                         0) {
        *kept = *other;
    }
}

/* ---- findings ----------------------------------------------------------------------------------
 */

static bool report_barrier(grout_checker *checker, grout_diag_code code, grout_severity severity,
                           const grout_facts *facts) {
    const grout_module *module = checker->info.module;
    grout_object_id object = checker->info.element_objects[facts->element];
    grout_finding_key key = {.code = code,
                             .severity = severity,
                             .primary = grout_origin__get_loc(module, &facts->sides[0].origin),
                             .related = grout_origin__get_loc(module, &facts->sides[1].origin)};
    if (!key.primary) { /* the declaration */
        key.primary = grout_module_get_object(module, object)->loc;
    }
    return grout_checker__find(checker, &key, facts);
}

static bool report_overrun(grout_checker *checker, uint32_t element, uint32_t phase,
                           const grout_origin *contribution, const grout_origin *wait) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.element = element;
    facts.phase = phase;
    facts.fault.object = checker->info.element_objects[element];
    facts.sides[0].origin = *contribution;
    facts.sides[1].origin = *wait;
    facts.side_count = wait->op ? 2 : 1;
    return report_barrier(checker, GROUT_DIAG_BARRIER_OVERRUN, GROUT_SEVERITY_ERROR, &facts);
}

/* Judges the pair of the oldest phase and the next. has_all: nothing can follow any more. */
static bool judge_oldest(grout_checker *checker, grout_element_state *element, uint32_t index,
                         bool has_all) {
    const grout_phase_state *phase = grout_element__at(element, 0);
    const grout_phase_state *next = grout_element__at(element, 1);
    const grout_origin *wait = phase->missed.op ? &phase->missed : &phase->wait;
    bool has_no_wait = has_all && next->is_complete && !phase->has_wait;
    if (!next->early.op && !phase->missed.op && !has_no_wait) {
        return true;
    }
    return report_overrun(checker, index, element->first,
                          next->early.op ? &next->early : &next->contribution, wait);
}

static void drop_oldest(grout_element_state *element) {
    element->last_contribution = grout_element__at(element, 1)->contribution;
    element->first++;
    element->head++;
    element->count--;
}

/* Has every thread that waits on the element waited for its oldest phase? */
static bool is_observed(const grout_checker *checker, const grout_cta_state *state,
                        uint32_t index) {
    const grout_element_state *element = &state->elements[index];
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        if ((element->waiting_threads >> t & 1) &&
            state->waits[t * checker->shape.barrier_count + index].waits <= element->first) {
            return false;
        }
    }
    return element->waiting_threads != 0;
}

static bool settle(grout_checker *checker, grout_cta_state *state, uint32_t index) {
    grout_element_state *element = &state->elements[index];
    while (element->count > 1 && grout_element__at(element, 1)->is_complete &&
           (is_observed(checker, state, index) || element->count > OPEN_PAIRS_MAX)) {
        if (!judge_oldest(checker, element, index, false)) {
            return false;
        }
        drop_oldest(element);
    }
    return true;
}

/* The element ends: what is open is judged as it stands. */
static bool settle_last(grout_checker *checker, grout_element_state *element, uint32_t index) {
    bool has_all = !checker->has_deadlock && !checker->has_step_limit;
    while (element->count > 1) {
        if (!judge_oldest(checker, element, index, has_all)) {
            return false;
        }
        drop_oldest(element);
    }
    return true;
}

bool grout_checker__settle_all(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->cta_count; i++) {
        grout_cta_state *state = &checker->ctas[i];
        for (uint32_t k = 0; state->is_live && k < checker->shape.barrier_count; k++) {
            if (!settle_last(checker, &state->elements[k], k)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- events -------------------------------------------------------------------------------------
 */

/* Does the contribution know that the phase before its own is complete? */
static bool knows_previous(const grout_checker *checker, const grout_event *event) {
    const grout_phase_fact *previous = &event->u.arrive.previous;
    const uint32_t *known = event->clocks->known;
    if (known[grout_clock_ph(&checker->shape, event->u.arrive.element)] >=
        event->u.arrive.phase_base + event->u.arrive.phase) {
        return true;
    }
    if (!previous->is_complete || previous->had_bytes || !previous->completion) {
        return false;
    }
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        uint32_t x = grout_clock_x(&checker->shape, t);
        if (previous->completion[x] > known[x]) {
            return false;
        }
    }
    return true;
}

bool grout_checker__arrive(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    uint32_t index = event->u.arrive.element;
    grout_phase_state *phase = NULL;
    if (!state) {
        return false;
    }
    if (event->u.arrive.phase < state->elements[index].first) {
        return true;
    }
    phase = find_phase(&state->elements[index], event->u.arrive.phase);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    keep_origin(checker->info.module, &phase->contribution, &event->origin, 1);
    if (event->u.arrive.phase > 0 && !knows_previous(checker, event)) {
        keep_origin(checker->info.module, &phase->early, &event->origin, 1);
    }
    return true;
}

bool grout_checker__phase(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    const grout_barrier_fact *barrier = event->u.phase.barrier;
    uint32_t number = event->u.phase.phase;
    grout_element_state *element = NULL;
    grout_phase_state *phase = NULL;
    grout_phase_state *before = NULL;
    checker->barrier_phases++;
    if (!state) {
        return false;
    }
    element = &state->elements[barrier->element];
    if (number < element->first) {
        return true;
    }
    phase = find_phase(element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    phase->is_complete = true;
    element->completed = number + 1;
    before = number > element->first ? phase - 1 : NULL;
    for (uint32_t t = 0; before && t < barrier->thread_count; t++) {
        const grout_wait_fact *wait = &barrier->waits[t];
        if (wait->waits == number && !(element->skipped_threads >> t & 1) &&
            event->u.phase.completion[grout_clock_x(&checker->shape, t)] < wait->epoch) {
            keep_origin(checker->info.module, &before->missed, &wait->origin, -1);
        }
    }
    return settle(checker, state, barrier->element);
}

/* A thread's first wait, when it knows already that the phase after has completed too. */
static bool report_skipped(grout_checker *checker, const grout_event *event,
                           const grout_element_state *element) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.element = event->u.wait.barrier->element;
    facts.phase = event->u.wait.phase;
    facts.sides[0].origin = event->origin;
    facts.sides[1].origin = event->u.wait.barrier->last_contribution;
    facts.side_count = facts.sides[1].origin.op ? 2 : 1;
    facts.have = element->completed;
    return report_barrier(checker, GROUT_DIAG_BARRIER_SKIPPED, GROUT_SEVERITY_ERROR, &facts);
}

bool grout_checker__wait(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    uint32_t index = event->u.wait.barrier->element;
    uint32_t number = event->u.wait.phase;
    uint32_t bit = 1u << event->origin.thread;
    grout_element_state *element = NULL;
    grout_phase_state *phase = NULL;
    if (!state) {
        return false;
    }
    grout_checker__note(checker, event, state);
    element = &state->elements[index];
    if (!(element->waiting_threads & bit) &&
        event->clocks->known[grout_clock_ph(&checker->shape, index)] >
            event->u.wait.barrier->phase_base + number + 1) {
        element->skipped_threads |= bit;
        if (!report_skipped(checker, event, element)) {
            return false;
        }
    }
    element->waiting_threads |= bit;
    if (number < element->first) { /* its pair is settled: this thread came to wait later */
        return (element->skipped_threads & bit) ||
               report_overrun(checker, index, number, &element->last_contribution, &event->origin);
    }
    phase = find_phase(element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    phase->has_wait = true;
    keep_origin(checker->info.module, &phase->wait, &event->origin, -1);
    if (element->completed > number + 1 && !(element->skipped_threads & bit)) {
        keep_origin(checker->info.module, &phase->missed, &event->origin, -1);
    }
    return settle(checker, state, index);
}

/* ---- the end of an element
 * ------------------------------------------------------------------------ */

static bool report_at_end(grout_checker *checker, const grout_event *event, grout_diag_code code,
                          grout_severity severity, uint32_t phase) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_facts facts;
    if (checker->has_deadlock || checker->has_step_limit) {
        checker->suppressed++;
        return true;
    }
    memset(&facts, 0, sizeof facts);
    facts.element = barrier->element;
    facts.phase = phase;
    facts.is_inner = event->u.barrier_end.is_inner;
    facts.have = (int64_t)(barrier->arrived % barrier->arrivals);
    facts.need = barrier->arrivals;
    facts.fault.have = barrier->bytes_due;
    facts.sides[0].origin.cta = event->origin.cta;
    if (barrier->has_contribution) {
        facts.sides[1].origin = barrier->last_contribution;
        facts.side_count = 2;
    }
    return report_barrier(checker, code, severity, &facts);
}

static bool report_unobserved(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_severity severity =
        event->u.barrier_end.is_inner ? GROUT_SEVERITY_ERROR : GROUT_SEVERITY_WARNING;
    bool has_waiter = false;
    for (uint32_t t = 0; t < barrier->thread_count; t++) {
        uint32_t waits = barrier->waits[t].waits;
        has_waiter = has_waiter || waits > 0;
        if (waits > 0 && waits < barrier->completed &&
            !report_at_end(checker, event, GROUT_DIAG_BARRIER_UNOBSERVED, severity, waits)) {
            return false;
        }
    }
    if (!has_waiter && barrier->completed == 1) { /* more of them are an overrun */
        return report_at_end(checker, event, GROUT_DIAG_BARRIER_UNOBSERVED, GROUT_SEVERITY_WARNING,
                             0);
    }
    return true;
}

bool grout_checker__barrier_end(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    grout_element_state *element = NULL;
    grout_severity severity =
        event->u.barrier_end.is_inner ? GROUT_SEVERITY_ERROR : GROUT_SEVERITY_WARNING;
    if (!state) {
        return false;
    }
    element = &state->elements[barrier->element];
    if (!settle_last(checker, element, barrier->element) || !report_unobserved(checker, event)) {
        return false;
    }
    if ((barrier->arrived % barrier->arrivals != 0 || barrier->bytes_due != 0) &&
        !report_at_end(checker, event, GROUT_DIAG_BARRIER_PARTIAL, severity, barrier->completed)) {
        return false;
    }
    /* Its next life, if its scope runs again, begins afresh. */
    element->first = element->count = element->head = element->completed = 0;
    element->skipped_threads = element->waiting_threads = 0;
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        memset(&state->waits[t * checker->shape.barrier_count + barrier->element], 0,
               sizeof *state->waits);
    }
    return true;
}
