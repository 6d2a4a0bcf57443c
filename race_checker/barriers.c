/*
 * barriers.c - the protocol of barriers, as facts of happens-before.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rules (docs/memory_model.md, 'Barriers'), for each pair of phases p, p+1 of an element:
 * (a) every contribution to p+1 knows that p is complete; (b) the completion of p+1, the union of
 * its contributions, knows every wait on p, and there is at least one. What breaks either is one
 * finding of the pair. It is judged when all is in: when the arrivals of p+1 are, and every thread
 * has waited for p or exited; or at the element's end. Nothing here asks when an engine brings its
 * bytes: arrivals, waits and exits come in the same order under every timing. Nor does it matter
 * whether the wait or the last arrival came first in this run: a wait that comes after p+1 is full
 * is not known to it. Primary: the contribution to p+1 that breaks (a), else of all its
 * contributions, the last in the source. Related: the wait on p that (b) misses, else of all waits
 * on p, the first in the source.
 */
#include "checker.h"

#include "alloc.h"

#include <string.h>

/* Of an element. Older ones are judged as they stand; of them only the contribution is kept. */
enum { OPEN_PAIRS_MAX = 1024 };

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

/* The contribution that the pair of a phase's predecessor and the phase is reported at. */
static const grout_origin *get_primary(const grout_phase_state *phase) {
    return phase->early.op ? &phase->early : &phase->contribution;
}

/* Judges the pair of the oldest phase and the next. has_all: nothing can follow any more. */
static bool judge_oldest(grout_checker *checker, const grout_element_state *element, uint32_t index,
                         bool has_all) {
    const grout_phase_state *phase = grout_element__at(element, 0);
    const grout_phase_state *next = grout_element__at(element, 1);
    const grout_origin *wait = phase->missed.op ? &phase->missed : &phase->wait;
    bool has_no_wait = has_all && element->full > element->first + 1 && !phase->has_wait;
    if (!next->early.op && !phase->missed.op && !has_no_wait) {
        return true;
    }
    return report_overrun(checker, index, element->first, get_primary(next), wait);
}

static void drop_oldest(grout_element_state *element) {
    element->first++;
    element->head++;
    element->count--;
}

/* Keeps what a wait for the oldest phase would point at: its pair is dropped before its time. */
static bool keep_dropped(grout_element_state *element) {
    const grout_origin *contribution = get_primary(grout_element__at(element, 1));
    uint32_t count = element->dropped_count;
    if (count > 0 && element->dropped[count - 1].contribution.op == contribution->op) {
        return true;
    }
    if (count == element->dropped_capacity) {
        uint32_t capacity = element->dropped_capacity ? element->dropped_capacity * 2 : 4;
        grout_dropped_phase *dropped =
            grout_check__realloc(element->dropped, capacity * sizeof *dropped);
        if (!dropped) {
            return false;
        }
        element->dropped = dropped;
        element->dropped_capacity = capacity;
    }
    element->dropped[element->dropped_count++] =
        (grout_dropped_phase){element->first, *contribution};
    return true;
}

/* The contribution to phase + 1, of a phase that was dropped. */
static const grout_origin *find_dropped(const grout_element_state *element, uint32_t phase) {
    uint32_t i = element->dropped_count - 1;
    while (i > 0 && element->dropped[i].phase > phase) {
        i--;
    }
    return &element->dropped[i].contribution;
}

/* Has every thread waited for the oldest phase of the element, or exited? */
static bool is_observed(const grout_checker *checker, const grout_cta_state *state,
                        uint32_t index) {
    const grout_element_state *element = &state->elements[index];
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        if (!(state->exited_threads >> t & 1) &&
            state->waits[t * checker->shape.barrier_count + index].waits <= element->first) {
            return false;
        }
    }
    return true;
}

static bool settle(grout_checker *checker, grout_cta_state *state, uint32_t index) {
    grout_element_state *element = &state->elements[index];
    while (element->count > 1 && element->full > element->first + 1) {
        bool has_all = is_observed(checker, state, index);
        if (has_all) {
            element->dropped_count = 0;
        } else if (element->count <= OPEN_PAIRS_MAX) {
            return true;
        } else if (!keep_dropped(element)) {
            return grout_checker__fail(checker);
        }
        if (!judge_oldest(checker, element, index, has_all)) {
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

/* The arrivals of a phase are all in: which waits on the phase before do they not know? */
static void fill_phase(grout_checker *checker, grout_cta_state *state, uint32_t index,
                       uint32_t number) {
    grout_element_state *element = &state->elements[index];
    const grout_phase_state *phase = find_phase(element, number);
    grout_phase_state *before = number > element->first ? find_phase(element, number - 1) : NULL;
    element->full = number + 1;
    for (uint32_t t = 0; before && t < checker->shape.thread_count; t++) {
        const grout_wait_fact *wait = &state->waits[t * checker->shape.barrier_count + index];
        if (wait->waits == number && !(element->skipped_threads >> t & 1) &&
            phase->known[t] < wait->epoch) {
            keep_origin(checker->info.module, &before->missed, &wait->origin, -1);
        }
    }
}

bool grout_checker__arrive(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    uint32_t index = event->u.arrive.element, number = event->u.arrive.phase;
    const grout_object_id object = checker->info.element_objects[index];
    grout_element_state *element = NULL;
    grout_phase_state *phase = NULL;
    if (!state) {
        return false;
    }
    grout_checker__note(checker, event, state);
    element = &state->elements[index];
    phase = find_phase(element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    element->phase_base = event->u.arrive.phase_base;
    if (event->u.arrive.by_copy) {
        element->last_load = element->phase_base + number + 1;
    }
    keep_origin(checker->info.module, &phase->contribution, &event->origin, 1);
    if (number > 0 && !knows_previous(checker, event)) {
        keep_origin(checker->info.module, &phase->early, &event->origin, 1);
    }
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        uint32_t known = event->clocks->known[grout_clock_x(&checker->shape, t)];
        phase->known[t] = phase->known[t] < known ? known : phase->known[t];
    }
    phase->arrived += event->u.arrive.count;
    if (phase->arrived >= grout_object_get_arrivals(checker->info.module, object)) {
        fill_phase(checker, state, index, number);
    }
    return settle(checker, state, index);
}

bool grout_checker__thread_exit(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    if (!state) {
        return false;
    }
    state->exited_threads |= 1u << event->origin.thread;
    for (uint32_t i = 0; i < checker->shape.barrier_count; i++) {
        if (!settle(checker, state, i)) {
            return false;
        }
    }
    return true;
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
    facts.have = element->full;
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
    if (number == 0 && event->clocks->known[grout_clock_ph(&checker->shape, index)] >
                           event->u.wait.barrier->phase_base + number + 1) {
        element->skipped_threads |= bit;
        if (!report_skipped(checker, event, element)) {
            return false;
        }
    }
    if (number < element->first) { /* its pair had to be settled before its time */
        return (element->skipped_threads & bit) || element->dropped_count == 0 ||
               report_overrun(checker, index, number, find_dropped(element, number),
                              &event->origin);
    }
    phase = find_phase(element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    phase->has_wait = true;
    keep_origin(checker->info.module, &phase->wait, &event->origin, -1);
    if (element->full > number + 1 && !(element->skipped_threads & bit)) {
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
    facts.sides[0].origin.cta = event->origin.cta;
    if (barrier->has_contribution) {
        facts.sides[1].origin = barrier->last_contribution;
        facts.side_count = 2;
    }
    return report_barrier(checker, code, severity, &facts);
}

/* Phases that complete: all their arrivals are in. Their bytes land, at some time or other. */
static uint32_t count_full(const grout_barrier_fact *barrier) {
    return (uint32_t)(barrier->arrived / barrier->arrivals);
}

static bool report_unobserved(grout_checker *checker, const grout_event *event,
                              grout_severity severity) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    uint32_t full = count_full(barrier);
    bool has_waiter = false;
    for (uint32_t t = 0; t < barrier->actor_count; t++) {
        uint32_t waits = barrier->waits[t].waits;
        has_waiter = has_waiter || waits > 0;
        if (waits > 0 && waits < full &&
            !report_at_end(checker, event, GROUT_DIAG_BARRIER_UNOBSERVED, severity, waits)) {
            return false;
        }
    }
    if (!has_waiter && full == 1) { /* more of them are an overrun */
        return report_at_end(checker, event, GROUT_DIAG_BARRIER_UNOBSERVED, severity, 0);
    }
    return true;
}

/* Its next life, if its scope runs again, begins afresh. */
static void reset_element(grout_checker *checker, grout_cta_state *state, uint32_t index) {
    grout_element_state *element = &state->elements[index];
    element->first = element->count = element->head = element->full = element->dropped_count = 0;
    element->skipped_threads = 0;
    for (uint32_t t = 0; t < checker->shape.thread_count; t++) {
        memset(&state->waits[t * checker->shape.barrier_count + index], 0, sizeof *state->waits);
    }
}

bool grout_checker__barrier_end(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.barrier_end.barrier;
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    grout_severity severity =
        event->u.barrier_end.is_inner ? GROUT_SEVERITY_ERROR : GROUT_SEVERITY_WARNING;
    if (!state) {
        return false;
    }
    if (!settle_last(checker, &state->elements[barrier->element], barrier->element) ||
        !report_unobserved(checker, event, severity)) {
        return false;
    }
    if (barrier->arrived % barrier->arrivals != 0 &&
        !report_at_end(checker, event, GROUT_DIAG_BARRIER_PARTIAL, severity, count_full(barrier))) {
        return false;
    }
    reset_element(checker, state, barrier->element);
    return true;
}
