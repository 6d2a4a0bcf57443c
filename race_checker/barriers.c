/*
 * barriers.c - the protocol of barriers, as facts of happens-before.
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
 * when all arrivals are in; whoever waits for the phase, or for it to complete, comes later still,
 * and only then are the contributions held against the waits. Of an mbarrier there is a phase
 * before the first: a fresh one's wait for parity 1 is a wait on that, and rule (b) holds for it.
 */
#include "barriers.h"

#include "alloc.h"

#include <assert.h>
#include <string.h>

/* Of an element. Older ones are judged as they stand; of them only the contribution is kept. */
enum { OPEN_PAIRS_MAX = 1024 };

/* ---- elements ----------------------------------------------------------------------------------
 */

static bool is_cluster_barrier(const grout_object *object) {
    return object->cluster_group_count > 0;
}

grout_element_at grout_checker__find_element(grout_checker *checker, uint32_t cta, uint32_t index) {
    const grout_object *object =
        grout_module_get_object(checker->info.module, checker->info.element_objects[index]);
    grout_element_at at = {.state = grout_checker__find_cta(checker, cta), .index = index};
    if (!at.state) {
        return at;
    }
    at.element = &at.state->elements[index];
    at.barrier = grout_clock_barrier(&checker->shape, grout_checker__get_rank(checker, cta), index);
    at.is_explicit = object->is_explicit;
    at.has_late_bytes =
        object->is_explicit || (checker->shape.cta_count > 1 && !is_cluster_barrier(object));
    return at;
}

/* An actor of the element's CTA, in the cluster. */
static uint32_t get_actor(const grout_checker *checker, const grout_element_at *at,
                          uint32_t local) {
    return grout_clock_actor(&checker->shape, grout_checker__get_rank(checker, at->state->cta),
                             local);
}

static grout_wait_fact *get_wait(const grout_checker *checker, const grout_cta_state *state,
                                 uint32_t index, uint32_t local) {
    return &state->waits[(size_t)local * checker->local_elements + index];
}

uint32_t grout_checker__get_observed(const grout_checker *checker, const grout_cta_state *state,
                                     uint32_t index, uint32_t local_actor) {
    uint32_t threads = checker->shape.thread_count;
    uint32_t own = get_wait(checker, state, index, local_actor)->waits;
    uint32_t other = UINT32_MAX;
    if (checker->local_actors == threads) {
        return own;
    }
    if (local_actor >= threads) {
        other = get_wait(checker, state, index, (local_actor - threads) / 4)->waits;
    }
    for (uint32_t w = 0; local_actor < threads && w < 4; w++) {
        uint32_t warp = get_wait(checker, state, index, threads + 4 * local_actor + w)->waits;
        other = warp < other ? warp : other;
    }
    return own < other ? other : own;
}

/* ---- phases of an element ---------------------------------------------------------------------
 */

static bool grow_phases(grout_element_state *element, uint32_t capacity, uint32_t local_actors) {
    grout_phase_state *phases = grout_check__realloc(element->phases, capacity * sizeof *phases);
    uint32_t *known = NULL;
    if (!phases) {
        return false;
    }
    element->phases = phases;
    known = grout_check__realloc(element->known, (size_t)capacity * local_actors * sizeof *known);
    if (!known) {
        return false;
    }
    element->known = known;
    element->capacity = capacity;
    return true;
}

/* Room for index more phases behind the first that is kept. */
static bool reserve_phases(grout_element_state *element, uint32_t index, uint32_t local_actors) {
    uint32_t capacity = element->capacity ? element->capacity : 4;
    if (element->head + index < element->capacity) {
        return true;
    }
    if (element->head > 0 && element->count > 0) {
        memmove(element->phases, grout_element__at(element, 0),
                element->count * sizeof *element->phases);
        memmove(element->known, grout_element__get_known(element, local_actors, 0),
                (size_t)element->count * local_actors * sizeof *element->known);
    }
    element->head = 0;
    while (capacity <= index + element->count) { /* half is free: moving stays rare */
        capacity *= 2;
    }
    return capacity <= element->capacity || grow_phases(element, capacity, local_actors);
}

/* The state of a phase that has not been dropped; NULL without memory. */
static grout_phase_state *find_phase(const grout_checker *checker, grout_element_state *element,
                                     uint32_t phase) {
    if (!reserve_phases(element, phase - element->first, checker->local_actors)) {
        return NULL;
    }
    while (element->count <= phase - element->first) {
        memset(grout_element__get_known(element, checker->local_actors, element->count), 0,
               checker->local_actors * sizeof *element->known);
        memset(grout_element__at(element, element->count++), 0, sizeof *element->phases);
    }
    return grout_element__at(element, phase - element->first);
}

void grout_origin__keep(const grout_module *module, grout_origin *kept, const grout_origin *other,
                        int sign) {
    if (!kept->op || sign * grout_loc__compare(module, grout_origin__get_loc(module, other),
                                               grout_origin__get_loc(module, kept)) >
                         0) {
        *kept = *other;
    }
}

/* ---- findings ----------------------------------------------------------------------------------
 */

bool grout_checker__report_barrier(grout_checker *checker, grout_diag_code code,
                                   grout_severity severity, const grout_facts *facts) {
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
    return grout_checker__report_barrier(checker, GROUT_DIAG_BARRIER_OVERRUN, GROUT_SEVERITY_ERROR,
                                         &facts);
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
    bool has_no_wait =
        has_all && !at->is_explicit && element->full > element->first + 1 && !phase->has_wait;
    if (!next->early.op && !phase->missed.op && !has_no_wait) {
        return true;
    }
    return report_overrun(checker, at->index, element->first, get_primary(next), wait);
}

/* The pair of the phase before the first, and the first. */
static bool judge_fresh(grout_checker *checker, const grout_element_at *at) {
    grout_element_state *element = at->element;
    assert(element != NULL);
    grout_origin missed = element->fresh_missed;
    if (!missed.op || element->first > 0 || element->count == 0) {
        return true;
    }
    memset(&element->fresh_missed, 0, sizeof element->fresh_missed);
    return report_overrun(checker, at->index, UINT32_MAX,
                          get_primary(grout_element__at(element, 0)), &missed);
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

/*
 * Has every actor waited for the oldest phase of the element, or exited? A parity may name a phase
 * again, until the actor knows the next one complete.
 */
static bool is_observed(const grout_checker *checker, const grout_element_at *at) {
    uint32_t threads = checker->shape.thread_count;
    uint32_t last = at->element->first + (at->is_explicit ? 1 : 0);
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        uint32_t thread = i < threads ? i : (i - threads) / 4;
        if (!(at->state->exited_threads >> thread & 1) &&
            grout_checker__get_observed(checker, at->state, at->index, i) <= last) {
            return false;
        }
    }
    return true;
}

bool grout_element__settle(grout_checker *checker, const grout_element_at *at) {
    grout_element_state *element = at->element;
    assert(element != NULL);
    while (element->count > 1 && element->full > element->first + 1) {
        bool has_all = is_observed(checker, at);
        if (has_all) {
            element->dropped_count = 0;
        } else if (element->count <= OPEN_PAIRS_MAX) {
            return true;
        } else if (!keep_dropped(element)) {
            return grout_checker__fail(checker);
        }
        if (!judge_fresh(checker, at) || !judge_oldest(checker, at, has_all)) {
            return false;
        }
        drop_oldest(element);
    }
    return true;
}

/* Phases of which all arrivals are in, as far as they are kept. */
static uint32_t count_arrived(const grout_element_state *element) {
    assert(element != NULL);
    uint32_t count = element->full;
    while (count - element->first < element->count &&
           grout_element__at(element, count - element->first)->has_all) {
        count++;
    }
    return count;
}

/* The element ends: what is open is judged as it stands. */
bool grout_element__settle_last(grout_checker *checker, const grout_element_at *at) {
    grout_element_state *element = at->element;
    bool has_all = !checker->has_deadlock && !checker->has_step_limit;
    if (!grout_element__fill(checker, at, count_arrived(element)) || !judge_fresh(checker, at)) {
        return false;
    }
    while (element->count > 1) {
        if (!judge_oldest(checker, at, has_all)) {
            return false;
        }
        drop_oldest(element);
    }
    return true;
}

bool grout_checker__settle_all(grout_checker *checker) {
    for (uint32_t i = 0; i < checker->cta_count; i++) {
        for (uint32_t k = 0; checker->ctas[i].is_live && k < checker->local_elements; k++) {
            grout_element_at at = grout_checker__find_element(checker, checker->ctas[i].cta, k);
            if (!grout_element__settle_last(checker, &at)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- contributions -----------------------------------------------------------------------------
 */

/* Does the contribution know that the phase before its own is complete? */
static bool knows_previous(const grout_checker *checker, const grout_event *event,
                           uint32_t barrier) {
    const grout_phase_fact *previous = &event->u.arrive.previous;
    const uint32_t *known = event->clocks->known;
    if (known[grout_clock_ph(&checker->shape, barrier)] >=
        event->u.arrive.phase_base + event->u.arrive.phase) {
        return true;
    }
    return previous->is_complete && !previous->had_bytes && previous->completion &&
           grout_checker__knows_actors(checker, known, previous->completion);
}

bool grout_checker__knows_actors(const grout_checker *checker, const uint32_t *known,
                                 const uint32_t *clock) {
    for (uint32_t i = 0; i < checker->shape.actor_count; i++) {
        uint32_t x = grout_clock_x(&checker->shape, i);
        if (clock[x] > known[x]) {
            return false;
        }
    }
    return true;
}

/* Which waits on the phase before do the contributions of a phase not know? */
static void hold_against_waits(grout_checker *checker, const grout_element_at *at,
                               uint32_t number) {
    grout_element_state *element = at->element;
    const uint32_t *known =
        grout_element__get_known(element, checker->local_actors, number - element->first);
    grout_origin *missed = NULL;
    if (number > element->first) {
        missed = &grout_element__at(element, number - 1 - element->first)->missed;
    } else if (number == 0 && at->is_explicit) {
        missed = &element->fresh_missed;
    }
    for (uint32_t i = 0; missed && i < checker->local_actors; i++) {
        const grout_wait_fact *wait = get_wait(checker, at->state, at->index, i);
        if (wait->origin.op && wait->waits == number && !(element->skipped >> i & 1) &&
            known[i] < wait->epoch) {
            grout_origin__keep(checker->info.module, missed, &wait->origin, -1);
        }
    }
}

bool grout_element__fill(grout_checker *checker, const grout_element_at *at, uint32_t phases) {
    grout_element_state *element = at->element;
    for (; element->full < phases; element->full++) {
        if (element->full < element->first) {
            continue;
        }
        if (!find_phase(checker, element, element->full)) {
            return grout_checker__fail(checker);
        }
        hold_against_waits(checker, at, element->full);
        if (!grout_element__check_bytes_met(checker, at, element->full)) {
            return false;
        }
    }
    return true;
}

/* Adds the contribution to its phase. */
static void contribute(grout_checker *checker, const grout_event *event, const grout_element_at *at,
                       grout_phase_state *phase) {
    const grout_module *module = checker->info.module;
    grout_element_state *element = at->element;
    uint32_t number = event->u.arrive.phase;
    uint32_t *known =
        grout_element__get_known(element, checker->local_actors, number - element->first);
    grout_origin__keep(module, &phase->contribution, &event->origin, 1);
    if (number > 0 && !knows_previous(checker, event, at->barrier)) {
        grout_origin__keep(module, &phase->early, &event->origin, 1);
    }
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        uint32_t x =
            event->clocks->known[grout_clock_x(&checker->shape, get_actor(checker, at, i))];
        known[i] = known[i] < x ? x : known[i];
    }
    if (event->u.arrive.by_copy || event->u.arrive.is_bytes) {
        element->last_load = element->phase_base + number + 1;
    }
    if (!event->u.arrive.is_bytes) {
        phase->arrived += event->u.arrive.count;
        phase->has_all = event->u.arrive.is_last;
        element->notes[element->note_count++ % GROUT_ARRIVAL_NOTES] =
            (grout_arrival_note){event->origin, number, event->u.arrive.count};
    }
}

bool grout_checker__report_late(grout_checker *checker, grout_diag_code code,
                                const grout_element_at *at, uint32_t phase,
                                const grout_origin *bytes) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_LATE;
    facts.element = at->index;
    facts.phase = phase;
    facts.fault.object = checker->info.element_objects[at->index];
    facts.sides[0].origin = *bytes;
    facts.side_count = 1;
    return grout_checker__report_barrier(checker, code, GROUT_SEVERITY_ERROR, &facts);
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
    if (event->u.arrive.is_bytes && (event->u.arrive.is_late || number < at.element->full)) {
        /* They are no contribution to it. */
        return grout_checker__report_late(
            checker, at.is_explicit ? GROUT_DIAG_BARRIER_TX_MISMATCH : GROUT_DIAG_BARRIER_OVERRUN,
            &at, number, &event->origin);
    }
    phase = find_phase(checker, at.element, number);
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
    checker->barrier_phases++;
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
    state->exited_threads |= 1u << event->origin.thread;
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

/* ---- waits -------------------------------------------------------------------------------------
 */

/* What a wait does that cannot mean the phase it stands for. */
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

/* A contribution to the newest phase that the actor knows complete: whatever came after it by
 * chance is none of its business. */
static const grout_origin *find_known_contribution(const grout_checker *checker,
                                                   const grout_event *event,
                                                   const grout_element_at *at) {
    static const grout_origin nowhere;
    uint32_t known = event->clocks->known[grout_clock_ph(&checker->shape, at->barrier)];
    uint32_t newest = known - event->u.wait.barrier->phase_base - 1;
    bool is_kept = newest >= at->element->first && newest - at->element->first < at->element->count;
    return is_kept ? &grout_element__at(at->element, newest - at->element->first)->contribution
                   : &nowhere;
}

/* An actor's first wait, when it knows already that the phase after has completed too. */
static bool check_skipped(grout_checker *checker, const grout_event *event,
                          const grout_element_at *at, bool is_first) {
    grout_facts facts;
    uint32_t number = event->u.wait.phase;
    memset(&facts, 0, sizeof facts);
    if (at->is_explicit || !is_first ||
        event->clocks->known[grout_clock_ph(&checker->shape, at->barrier)] <=
            event->u.wait.barrier->phase_base + number + 1) {
        return true;
    }
    at->element->skipped |= UINT64_C(1) << grout_checker__get_local(checker, &event->origin);
    facts.have = at->element->full;
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

/* The parity that was asked for stood for another phase when the wait ran. */
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

/* A wait on a phase whose successor may be full already. */
static bool observe(grout_checker *checker, const grout_element_at *at, uint32_t number,
                    const grout_origin *origin) {
    grout_element_state *element = at->element;
    uint32_t local = grout_checker__get_local(checker, origin);
    bool is_skipped = (element->skipped >> local & 1) != 0;
    grout_phase_state *phase = NULL;
    if (number == UINT32_MAX) { /* the phase before the first */
        if (element->full > 0) {
            grout_origin__keep(checker->info.module, &element->fresh_missed, origin, -1);
        }
        return true;
    }
    if (number < element->first) { /* its pair had to be settled before its time */
        return is_skipped || element->dropped_count == 0 ||
               report_overrun(checker, at->index, number, find_dropped(element, number), origin);
    }
    phase = find_phase(checker, element, number);
    if (!phase) {
        return grout_checker__fail(checker);
    }
    phase->has_wait = true;
    grout_origin__keep(checker->info.module, &phase->wait, origin, -1);
    if (element->full > number + 1 && !is_skipped) {
        grout_origin__keep(checker->info.module, &phase->missed, origin, -1);
    }
    return grout_element__settle(checker, at);
}

bool grout_checker__wait(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.wait.barrier;
    grout_element_at at = grout_checker__find_element(checker, barrier->cta, barrier->element);
    uint32_t number = event->u.wait.phase;
    grout_wait_fact *wait = NULL;
    bool is_first = false;
    if (!at.state) {
        return !checker->has_failed;
    }
    wait = get_wait(checker, at.state, at.index, grout_checker__get_local(checker, &event->origin));
    is_first = !wait->origin.op;
    if ((number != UINT32_MAX && !grout_element__fill(checker, &at, number + 1)) ||
        !check_warps(checker, event, &at)) {
        return false;
    }
    grout_checker__note(checker, event, at.state);
    grout_checker__note_visit(checker, event);
    wait->waits = number + 1;
    wait->origin = event->origin;
    wait->epoch = event->clocks->known[grout_clock_x(
        &checker->shape, grout_checker__get_actor(checker, &event->origin))];
    return grout_checker__check_init(checker, event, &at) &&
           check_skipped(checker, event, &at, is_first) && check_parity(checker, event) &&
           observe(checker, &at, number, &event->origin);
}

bool grout_checker__observe_blocked(grout_checker *checker, const grout_event *event) {
    for (uint32_t i = 0; i < event->u.deadlock.thread_count; i++) {
        const grout_thread_fact *thread = &event->u.deadlock.threads[i];
        grout_element_at at;
        if (thread->state != GROUT_THREAD_BLOCKED_PARITY || thread->meant == UINT32_MAX) {
            continue;
        }
        at = grout_checker__find_element(checker, thread->origin.cta, thread->element);
        if (at.state && at.element->full > thread->meant + 1 &&
            !observe(checker, &at, thread->meant, &thread->origin)) {
            return false;
        }
    }
    return !checker->has_failed;
}
