/*
 * init.c - the life of mbarriers: which actors may use them, and when.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An init happens before every use (a fact in time is enough: the object's 8 bytes are written and
 * used through one proxy), and everything that the mbarrier still gets, every phase that it
 * completes and every wait on it happen before its invalidate. An actor's newest
 * contribution is enough: a clock that knows it knows those before. What an engine brings, bytes or
 * the arrival of async_copy_arrive, is over when its phase is, and known by a wait for that alone.
 */
#include "contributors.h"
#include "elements.h"
#include "phases.h"
#include "protocols.h"

#include "alloc.h"

#include <string.h>

/* ---- uses ---- */

static bool report_invisible(grout_checker *checker, const grout_element_at *at,
                             const grout_origin *use, const grout_origin *init) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.element = at->index;
    facts.fault.object = checker->info.element_objects[at->index];
    facts.sides[0].origin = *use;
    facts.sides[1].origin = *init;
    facts.side_count = 2;
    return grout_checker__report_barrier(checker, GROUT_DIAG_INIT_NOT_VISIBLE, GROUT_SEVERITY_ERROR,
                                         &facts);
}

bool grout_checker__check_init(grout_checker *checker, const grout_event *event,
                               const grout_element_at *at) {
    const grout_element_state *element = at->element;
    return !at->is_explicit || !element->init.op || !event->clocks ||
           event->clocks->known[grout_clock_epoch(&checker->shape, element->init_actor)] >=
               element->facts.init_epoch ||
           report_invisible(checker, at, &event->origin, &element->init);
}

/* ---- ends ---- */

/* Something that its end does not know. */
static bool report_unknown(grout_checker *checker, const grout_element_at *at,
                           const grout_origin *end, const grout_origin *use) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_END;
    facts.element = at->index;
    facts.fault.object = checker->info.element_objects[at->index];
    facts.sides[0].origin = *end;
    facts.sides[1].origin = *use;
    facts.side_count = 2;
    return grout_checker__report_barrier(checker, GROUT_DIAG_BARRIER_UNINITIALISED,
                                         GROUT_SEVERITY_ERROR, &facts);
}

static bool check_waits(grout_checker *checker, const grout_element_at *at, const grout_origin *end,
                        const uint32_t *known) {
    uint32_t rank = grout_checker__get_rank(checker, at->state->life.cta);
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        const grout_wait_at wait = grout_checker__get_wait(checker, at->state, at->index, i);
        uint32_t x =
            grout_clock_epoch(&checker->shape, grout_clock_actor(&checker->shape, rank, i));
        if (wait.origin->op && known[x] < wait.mark->epoch &&
            !report_unknown(checker, at, end, wait.origin)) {
            return false;
        }
    }
    return true;
}

bool grout_checker__end_mbarrier(grout_checker *checker, const grout_element_at *at,
                                 const grout_origin *origin, const uint32_t *known) {
    const grout_element_state *element = at->element;
    for (uint32_t i = 0; i < element->contributor_count; i++) {
        const grout_contributor *it = &element->contributors[i];
        if (!grout_contributor__is_known(checker, it, at->barrier, known) &&
            !report_unknown(checker, at, origin, &it->origin)) {
            return false;
        }
    }
    return check_waits(checker, at, origin, known);
}

/* A use that came when the mbarrier had ended, and might have come before: as if it had. */
bool grout_checker__check_ended(grout_checker *checker, const grout_event *event,
                                bool *is_reported_out) {
    const grout_fault *fault = event->u.fault;
    grout_element_at at = grout_checker__find_element(checker, fault->cta, fault->element);
    const grout_element_state *element = at.element;
    *is_reported_out =
        at.state && element->ended.op && event->clocks &&
        event->clocks->known[grout_clock_epoch(&checker->shape, element->ended_actor)] <
            element->ended_epoch;
    return *is_reported_out ? report_unknown(checker, &at, &element->ended, &event->origin)
                            : !checker->has_failed;
}

static bool report_twice(grout_checker *checker, const grout_event *event,
                         const grout_element_at *at) {
    const grout_object *object =
        grout_module_get_object(checker->info.module, event->u.init.barrier->object);
    grout_finding_key key = {.code = GROUT_DIAG_BARRIER_UNINITIALISED,
                             .severity = GROUT_SEVERITY_ERROR,
                             .primary = grout_origin__get_loc(checker->info.module, &event->origin),
                             .related =
                                 grout_origin__get_loc(checker->info.module, &at->element->init)};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_INIT;
    facts.element = at->index;
    facts.fault.object = event->u.init.barrier->object;
    facts.sides[0].origin = event->origin;
    facts.sides[1].origin = at->element->init;
    facts.side_count = at->element->init.op ? 2 : 1;
    key.related = key.related ? key.related : object->loc;
    return grout_checker__find(checker, &key, &facts);
}

/* Whether the init comes after the use. If so, it does whatever the schedule. */
static bool is_known_use(const grout_checker *checker, const grout_event *event,
                         const grout_facts *use) {
    const grout_origin *origin = &use->sides[0].origin;
    uint32_t actor = grout_checker__get_actor(checker, origin);
    return origin->cta / checker->shape.cta_count == event->origin.cta / checker->shape.cta_count &&
           event->clocks->known[grout_clock_epoch(&checker->shape, actor)] >= use->epoch;
}

/* Whether a use came before the init or after it is chance if nothing orders them: uses that were
 * reported as coming before any are uses that do not know of this one. */
static bool replace_premature(grout_checker *checker, const grout_event *event,
                              const grout_element_at *at) {
    grout_findings *findings = &checker->memory.findings;
    for (uint32_t i = 0, count = findings->count; i < count; i++) {
        grout_record *record = &findings->records[i];
        grout_origin use = record->facts.sides[0].origin;
        if (record->code != GROUT_DIAG_BARRIER_UNINITIALISED || record->is_replaced ||
            record->facts.subject != GROUT_SUBJECT_USUAL || record->facts.element != at->index ||
            record->facts.fault.cta != at->state->life.cta ||
            is_known_use(checker, event, &record->facts)) {
            continue;
        }
        record->is_replaced = true;
        if (!report_invisible(checker, at, &use, &event->origin)) {
            return false;
        }
    }
    return true;
}

static bool begin_life(grout_checker *checker, const grout_event *event,
                       const grout_element_at *at) {
    grout_element_state *element = at->element;
    grout_checker__renew_element(checker, at);
    element->init = event->origin;
    element->init_actor = grout_checker__get_actor(checker, &event->origin);
    element->facts.init_epoch =
        event->clocks->known[grout_clock_epoch(&checker->shape, element->init_actor)];
    return true;
}

static void end_life(grout_checker *checker, const grout_event *event, const grout_element_at *at) {
    grout_element_state *element = at->element;
    grout_checker__renew_element(checker, at);
    element->ended = event->origin;
    element->ended_actor = grout_checker__get_actor(checker, &event->origin);
    element->ended_epoch =
        event->clocks->known[grout_clock_epoch(&checker->shape, element->ended_actor)];
}

/* The init knows the invalidate of the life before: else it may be one of a live mbarrier. */
static bool check_order_of_lives(grout_checker *checker, const grout_event *event,
                                 const grout_element_at *at) {
    const grout_element_state *element = at->element;
    return !element->ended.op ||
           event->clocks->known[grout_clock_epoch(&checker->shape, element->ended_actor)] >=
               element->ended_epoch ||
           report_unknown(checker, at, &event->origin, &element->ended);
}

bool grout_checker__init(grout_checker *checker, const grout_event *event) {
    const grout_barrier_fact *barrier = event->u.init.barrier;
    grout_element_at at = grout_checker__find_element(checker, barrier->cta, barrier->element);
    bool is_init = event->kind == GROUT_EVENT_BARRIER_INIT;
    if (!at.state) {
        return !checker->has_failed;
    }
    if (is_init && event->u.init.was_live && !report_twice(checker, event, &at)) {
        return false;
    }
    if (!is_init && !grout_checker__check_init(checker, event, &at)) {
        return false;
    }
    if (!is_init || event->u.init.was_live) {
        if (!grout_element__settle_last(checker, &at) ||
            (!is_init &&
             !grout_checker__end_mbarrier(checker, &at, &event->origin, event->clocks->known))) {
            return false;
        }
    }
    if (is_init) {
        return check_order_of_lives(checker, event, &at) &&
               (at.element->ended.op || event->u.init.was_live ||
                replace_premature(checker, event, &at)) &&
               begin_life(checker, event, &at);
    }
    end_life(checker, event, &at);
    return true;
}
