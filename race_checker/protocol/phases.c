/*
 * phases.c - pairs of phases of a barrier element, as facts of happens-before.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rules (docs/memory_model.md, 'Barriers'), for each pair of phases p, p+1 of an element:
 * (a) every contribution to p+1 knows that p is complete; (b) the completion of p+1, the union of
 * its contributions, knows every wait on p, and (but for an mbarrier) there is at least one. What
 * breaks either is one finding of the pair. It is judged when all is in: when the contributions to
 * p+1 are, and every thread has waited for p or exited; or at the element's end. Nothing here asks
 * when an engine brings its bytes: arrivals, issues, waits and exits come in the same order under
 * every timing. Nor does it matter whether the wait or the last arrival came first in this run: a
 * wait that comes after p+1 is full is not known to it. Primary: the contribution to p+1 that
 * breaks (a), else of all its contributions, the last in the source. Related: the wait on p that
 * (b) misses, else of all waits on p, the first in the source.
 *
 * Contributions come from all CTAs of the cluster: arrivals on a cluster barrier or through
 * .cluster(..), bytes of multicast and partitioned copies and of st.async. Bytes of others may come
 * when all arrivals are in; a wait for the phase, and its completion, come later still, and only
 * then are the contributions held against the waits. An mbarrier has a phase before the first: a
 * fresh one's wait for parity 1 is a wait on that, and rule (b) holds for it.
 *
 * Nobody has to see a phase of an mbarrier for the kernel to be right, but PTX asks for it: before
 * an arrive in the next phase, at least one wait or test has to have found this one complete (PTX
 * ISA 9.1, 'Phase of the mbarrier object'). A pair that lacks no more than that is a warning, at
 * the last arrive of the next phase in the source.
 */
#include "phases.h"

#include "alloc.h"
#include "contributors.h"
#include "invariant.h"

#include <string.h>

/* Pairs that an element keeps. Older ones are judged before every thread has waited, and only their
 * contribution is kept: a wait that comes so late is an overrun, even if others have waited. */
enum { OPEN_PAIRS_MAX = 1024 };

/* ---- memory ---- */

static bool grow_phases(const grout_checker *checker, grout_element_state *element,
                        uint32_t capacity) {
    const uint32_t local_actors = checker->local_actors;
    grout_phase_state *phases =
        grout__resize(checker->allocator, element->phases, capacity * sizeof *phases);
    uint32_t *known = NULL;
    if (!phases) {
        return false;
    }
    element->phases = phases;
    known = grout__resize(checker->allocator, element->known,
                          (size_t)capacity * local_actors * sizeof *known);
    if (!known) {
        return false;
    }
    element->known = known;
    element->known_capacity = capacity * local_actors;
    element->capacity = capacity;
    return true;
}

/* The phases that are kept move to the start of their memory. */
static void move_phases(grout_element_state *element, uint32_t local_actors) {
    uint32_t count = grout_element__count(element);
    if (element->head > 0 && count > 0) {
        memmove(element->phases, &element->phases[element->head], count * sizeof *element->phases);
        memmove(element->known, &element->known[(size_t)element->head * local_actors],
                (size_t)count * local_actors * sizeof *element->known);
    }
    element->head = 0;
    element->end = count;
    element->known_count = count * local_actors;
}

/* Room for index more phases after the first that is kept. */
static bool reserve_phases(const grout_checker *checker, grout_element_state *element,
                           uint32_t index) {
    const uint32_t local_actors = checker->local_actors;
    uint32_t capacity = element->capacity ? element->capacity : 4;
    GROUT_ASSERT(element->known_capacity >= element->capacity * local_actors);
    if (element->head + index < element->capacity) {
        return true;
    }
    move_phases(element, local_actors);
    while (capacity <= index + element->end) { /* half is free: moving stays rare */
        capacity *= 2;
    }
    return capacity <= element->capacity || grow_phases(checker, element, capacity);
}

grout_phase_state *grout_element__find_phase(const grout_checker *checker,
                                             grout_element_state *element, uint32_t phase) {
    const uint32_t local_actors = checker->local_actors;
    GROUT_ASSERT(phase >= element->facts.first);
    if (!reserve_phases(checker, element, phase - element->facts.first)) {
        return NULL;
    }
    while (grout_element__count(element) <= phase - element->facts.first) {
        memset(&element->phases[element->end], 0, sizeof *element->phases);
        memset(&element->known[(size_t)element->end * local_actors], 0,
               local_actors * sizeof *element->known);
        element->end++;
        element->known_count += local_actors;
    }
    return grout_element__at(element, phase - element->facts.first);
}

/* ---- pairs of phases ---- */

/* Notes the threads that have arrived on the element so far. */
static void note_arrivers(const grout_checker *checker, const grout_element_at *at,
                          grout_facts *facts) {
    const uint32_t threads = checker->shape.thread_count;
    for (uint32_t i = 0; i < at->element->contributor_count; i++) {
        const grout_contributor *it = &at->element->contributors[i];
        const uint32_t rank = it->actor / checker->local_actors;
        const uint32_t local = it->actor % checker->local_actors;
        const uint32_t thread = local < threads ? local : (local - threads) / 4;
        if (!it->is_of_engine) {
            facts->arrivers[rank] |= (uint8_t)(1u << thread);
        }
    }
}

/* before: the phase whose number that is; NULL: not known any more. */
static bool report_overrun(grout_checker *checker, const grout_element_at *at, uint32_t phase,
                           const grout_origin *contribution, const grout_origin *wait,
                           const grout_phase_state *before) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.element = at->index;
    facts.phase = phase;
    facts.need = before != NULL ? before->arrived : 0;
    facts.before = before != NULL ? before->contribution : (grout_origin){.op = 0};
    note_arrivers(checker, at, &facts);
    facts.fault.object = checker->info.element_objects[at->index];
    at->element->facts.has_overrun = 1;
    facts.sides[0].origin = *contribution;
    facts.sides[1].origin = *wait;
    facts.side_count = wait->op ? 2 : 1;
    return grout_checker__report_barrier(checker, GROUT_DIAG_BARRIER_OVERRUN, GROUT_SEVERITY_ERROR,
                                         &facts);
}

/* A phase of an mbarrier that nobody has seen, and an arrive in the next. */
static bool report_gone_on(grout_checker *checker, const grout_element_at *at,
                           const grout_phase_state *next) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_GONE_ON;
    facts.element = at->index;
    facts.phase = at->element->facts.first;
    facts.fault.object = checker->info.element_objects[at->index];
    facts.sides[0].origin = next->arrival;
    facts.side_count = 1;
    return grout_checker__report_barrier(checker, GROUT_DIAG_BARRIER_UNOBSERVED,
                                         GROUT_SEVERITY_WARNING, &facts);
}

/* The contribution that the pair of a phase's predecessor and the phase is reported at. */
static const grout_origin *get_primary(const grout_phase_state *phase) {
    return phase->early.op ? &phase->early : &phase->contribution;
}

/* Judges the pair of the oldest phase and the next. has_all: nothing can follow any more. */
static bool judge_oldest(grout_checker *checker, const grout_element_at *at, bool has_all) {
    const grout_element_state *element = at->element;
    const grout_phase_state *phase = grout_element__at(element, 0);
    const grout_phase_state *next = grout_element__at(element, 1);
    const grout_origin *wait = phase->missed.op ? &phase->missed : &phase->wait;
    bool has_no_wait = has_all && !phase->has_wait;
    bool is_overrun =
        has_no_wait && !at->is_explicit && element->facts.full > element->facts.first + 1;
    if (!next->early.op && !phase->missed.op && !is_overrun) {
        bool goes_on = has_no_wait && at->is_explicit && next->arrived > 0;
        return !goes_on || report_gone_on(checker, at, next);
    }
    return report_overrun(checker, at, element->facts.first, get_primary(next), wait, phase);
}

/* The pair of the phase before the first, and the first. */
static bool judge_fresh(grout_checker *checker, const grout_element_at *at) {
    grout_element_state *element = at->element;
    GROUT_ASSERT(element != NULL);
    grout_origin missed = element->fresh_missed;
    if (!missed.op || element->facts.first > 0 || grout_element__count(element) == 0) {
        return true;
    }
    memset(&element->fresh_missed, 0, sizeof element->fresh_missed);
    return report_overrun(checker, at, UINT32_MAX, get_primary(grout_element__at(element, 0)),
                          &missed, NULL);
}

static void drop_oldest(grout_element_state *element) {
    GROUT_ASSERT(grout_element__count(element) > 0);
    element->facts.first++;
    element->head++;
}

/* Keeps what a wait for the oldest phase would point at: its pair is dropped before its time. */
static bool keep_dropped(const grout_checker *checker, grout_element_state *element) {
    const grout_origin *contribution = get_primary(grout_element__at(element, 1));
    uint32_t count = element->dropped_count;
    if (count > 0 && element->dropped[count - 1].contribution.op == contribution->op) {
        return true;
    }
    if (count == element->dropped_capacity) {
        uint32_t capacity = element->dropped_capacity ? element->dropped_capacity * 2 : 4;
        grout_dropped_phase *dropped =
            grout__resize(checker->allocator, element->dropped, capacity * sizeof *dropped);
        if (!dropped) {
            return false;
        }
        element->dropped = dropped;
        element->dropped_capacity = capacity;
    }
    element->dropped[element->dropped_count++] =
        (grout_dropped_phase){.contribution = *contribution, .phase = element->facts.first};
    return true;
}

/* The contribution to phase + 1, of a phase that was dropped. */
static const grout_origin *find_dropped(const grout_element_state *element, uint32_t phase) {
    uint32_t low = 0, high = element->dropped_count; /* they come in the order of their phases */
    GROUT_ASSERT(element->dropped_count > 0 && phase < element->facts.first);
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (element->dropped[middle].phase > phase) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return &element->dropped[low].contribution;
}

/*
 * Whether every actor has waited for the oldest phase of the element, or exited. A parity may name
 * a phase again, until the actor knows that the next one is complete.
 */
static bool is_observed(const grout_checker *checker, const grout_element_at *at) {
    uint32_t threads = checker->shape.thread_count;
    uint32_t last = at->element->facts.first + (at->is_explicit ? 1 : 0);
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        uint32_t thread = i < threads ? i : (i - threads) / 4;
        if (!(at->state->life.exited_threads >> thread & 1) &&
            grout_checker__get_observed(checker, at->state, at->index, i) <= last) {
            return false;
        }
    }
    return true;
}

bool grout_element__settle(grout_checker *checker, const grout_element_at *at) {
    grout_element_state *element = at->element;
    GROUT_ASSERT(element != NULL);
    while (grout_element__count(element) > 1 && element->facts.full > element->facts.first + 1) {
        if (is_observed(checker, at)) {
            element->dropped_count = 0;
        } else if (grout_element__count(element) <= OPEN_PAIRS_MAX) {
            return true;
        } else if (!keep_dropped(checker, element)) {
            return grout_checker__fail(checker);
        }
        if (!judge_fresh(checker, at) || !judge_oldest(checker, at, true)) {
            return false;
        }
        drop_oldest(element);
    }
    return true;
}

/* Phases of which all arrivals are in, as far as they are kept. */
static uint32_t count_arrived(const grout_element_state *element) {
    GROUT_ASSERT(element != NULL);
    uint32_t count = element->facts.full;
    while (count - element->facts.first < grout_element__count(element) &&
           grout_element__at(element, count - element->facts.first)->has_all) {
        count++;
    }
    return count;
}

/* The element ends: what is open is judged as it stands. */
bool grout_element__settle_last(grout_checker *checker, const grout_element_at *at) {
    grout_element_state *element = at->element;
    bool has_all = !checker->run.has_deadlock && !checker->run.has_step_limit;
    if (!grout_element__fill(checker, at, count_arrived(element)) || !judge_fresh(checker, at)) {
        return false;
    }
    while (grout_element__count(element) > 1) {
        if (!judge_oldest(checker, at, has_all)) {
            return false;
        }
        drop_oldest(element);
    }
    return true;
}

bool grout_checker__settle_all(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->memory.cta_count; i++) {
        for (uint32_t k = 0; checker->memory.ctas[i].life.is_live && k < checker->local_elements;
             k++) {
            grout_element_at at =
                grout_checker__find_element(checker, checker->memory.ctas[i].life.cta, k);
            if (!grout_element__settle_last(checker, &at)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- what comes in ---- */

/* Keeps the last of an actor's waits: a parity may name a phase again, and which of these waits
 * comes before the next phase is full is chance. Among actors the first in the source is kept. */
static void note_missed(const grout_checker *checker, grout_origin *missed,
                        const grout_origin *wait) {
    if (missed->op && grout_origin__is_same_actor(missed, wait)) {
        *missed = *wait;
    } else {
        grout_origin__keep(checker->info.module, missed, wait, -1);
    }
}

/* Notes the waits on the phase before that the contributions of a phase do not know of. */
static void hold_against_waits(grout_checker *checker, const grout_element_at *at,
                               uint32_t number) {
    grout_element_state *element = at->element;
    const uint32_t *known =
        grout_element__get_known(element, checker->local_actors, number - element->facts.first);
    grout_origin *missed = NULL;
    if (number > element->facts.first) {
        missed = &grout_element__at(element, number - 1 - element->facts.first)->missed;
    } else if (number == 0 && at->is_explicit) {
        missed = &element->fresh_missed;
    }
    for (uint32_t i = 0; missed && i < checker->local_actors; i++) {
        const grout_wait_at wait = grout_checker__get_wait(checker, at->state, at->index, i);
        if (wait.origin->op && wait.mark->waits == number && !(element->facts.skipped >> i & 1) &&
            known[i] < wait.mark->epoch) {
            note_missed(checker, missed, wait.origin);
        }
    }
}

bool grout_element__fill(grout_checker *checker, const grout_element_at *at, uint32_t phases) {
    grout_element_state *element = at->element;
    for (; element->facts.full < phases; element->facts.full++) {
        if (element->facts.full < element->facts.first) {
            continue;
        }
        if (!grout_element__find_phase(checker, element, element->facts.full)) {
            return grout_checker__fail(checker);
        }
        hold_against_waits(checker, at, element->facts.full);
        if (!grout_element__check_bytes_met(checker, at, element->facts.full)) {
            return false;
        }
    }
    return true;
}

/* A wait on a phase whose successor may be full already. */
bool grout_element__observe(grout_checker *checker, const grout_element_at *at, uint32_t number,
                            const grout_origin *origin) {
    grout_element_state *element = at->element;
    uint32_t local = grout_checker__get_local(checker, origin);
    bool is_skipped = (element->facts.skipped >> local & 1) != 0;
    grout_phase_state *phase = NULL;
    if (number == UINT32_MAX) { /* the phase before the first */
        if (element->facts.full > 0) {
            note_missed(checker, &element->fresh_missed, origin);
        }
        return true;
    }
    if (number < element->facts.first) { /* its pair had to be settled before its time */
        return is_skipped || element->dropped_count == 0 ||
               report_overrun(checker, at, number, find_dropped(element, number), origin, NULL);
    }
    phase = grout_element__find_phase(checker, element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    phase->has_wait = true;
    grout_origin__keep(checker->info.module, &phase->wait, origin, -1);
    if (element->facts.full > number + 1 && !is_skipped) {
        note_missed(checker, &phase->missed, origin);
    }
    return grout_element__settle(checker, at);
}

bool grout_checker__observe_blocked(grout_checker *checker, const grout_event *event) {
    for (uint32_t i = 0; i < event->u.deadlock.thread_count; i++) {
        const grout_thread_fact *thread = &event->u.deadlock.threads[i];
        grout_element_at at;
        if (thread->state != GROUT_THREAD_BLOCKED_PARITY || thread->meant == UINT32_MAX) {
            continue;
        }
        at = grout_checker__find_element(checker, thread->origin.cta, thread->element);
        if (at.state && at.element->facts.full > thread->meant + 1 &&
            !grout_element__observe(checker, &at, thread->meant, &thread->origin)) {
            return false;
        }
    }
    return !checker->has_failed;
}
