/*
 * cluster_barrier.c - the CTAs of a cluster: their hardware barrier, and their ends.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An actor's arrive on the hardware barrier is followed by its wait before it arrives again (the
 * two would count for one generation), and had better be before it ends. A CTA ends after every
 * arrival that a peer makes on its barriers: it knows of the arrive, or has waited for its phase.
 */
#include "contributors.h"
#include "elements.h"
#include "protocols.h"
#include "visits.h"

#include <string.h>

static bool report_pending(grout_checker *checker, grout_diag_code code, grout_severity severity,
                           const grout_origin *primary, const grout_origin *related) {
    const grout_module *module = checker->info.module;
    grout_finding_key key = {.code = code,
                             .severity = severity,
                             .primary = grout_origin__get_loc(module, primary),
                             .related = grout_origin__get_loc(module, related)};
    grout_facts facts;
    if (checker->run.has_deadlock || checker->run.has_step_limit) {
        checker->run.suppressed++;
        return true;
    }
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_RENDEZVOUS;
    facts.sides[0].origin = *primary;
    facts.sides[1].origin = *related;
    facts.side_count = related->op ? 2 : 1;
    if (!key.primary) { /* the end of the kernel, which is an arrive too */
        key.primary = key.related;
        key.related = 0;
        facts.sides[0].origin = *related;
        facts.side_count = 1;
    }
    return grout_checker__find(checker, &key, &facts);
}

/* Notes an arrive, or a wait, of one of the threads that come. */
static bool note_meeting(grout_checker *checker, const grout_event *event, grout_cta_state *state,
                         uint32_t local) {
    bool is_arrive = event->kind == GROUT_EVENT_CLUSTER_ARRIVE;
    bool is_pending = state->facts.rendezvous[local] != 0;
    grout_origin earlier = state->notes.rendezvous[local];
    state->facts.rendezvous[local] = is_arrive ? event->origin.op : 0;
    if (!is_arrive) {
        return true;
    }
    state->notes.rendezvous[local] = event->origin;
    return !is_pending || report_pending(checker, GROUT_DIAG_BARRIER_OVERRUN, GROUT_SEVERITY_ERROR,
                                         &event->origin, &earlier);
}

/* How many threads come, from the origin's on. */
static uint32_t count_threads(const grout_checker *checker, const grout_event *event) {
    return event->u.rendezvous.is_for_all ? checker->shape.thread_count : 1;
}

bool grout_checker__rendezvous(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    uint32_t first = grout_checker__get_local(checker, &event->origin);
    bool is_kept = state != NULL;
    if (!state) {
        return !checker->has_failed;
    }
    grout_checker__note_visit(checker, event);
    for (uint32_t i = 0; i < count_threads(checker, event) && is_kept; i++) {
        is_kept = note_meeting(checker, event, state, first + i);
    }
    return is_kept;
}

bool grout_checker__end_rendezvous(grout_checker *checker, const grout_event *event,
                                   grout_cta_state *state) {
    static const grout_origin nowhere;
    uint32_t first = grout_checker__get_local(checker, &event->origin);
    bool is_kept = true;
    for (uint32_t i = first; i < first + count_threads(checker, event) && is_kept; i++) {
        grout_origin pending = state->notes.rendezvous[i];
        is_kept = state->facts.rendezvous[i] == 0 ||
                  report_pending(checker, GROUT_DIAG_BARRIER_UNOBSERVED, GROUT_SEVERITY_WARNING,
                                 &pending, &nowhere);
    }
    return is_kept;
}

/* ---- ends ---- */

static bool report_arrival(grout_checker *checker, uint32_t index, uint32_t owner,
                           const grout_origin *arrival) {
    grout_facts facts;
    if (checker->run.has_deadlock || checker->run.has_step_limit) {
        checker->run.suppressed++;
        return true;
    }
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_ARRIVAL;
    facts.element = index;
    facts.owner = owner;
    facts.fault.object = checker->info.element_objects[index];
    facts.sides[0].origin = *arrival;
    facts.side_count = 1;
    return grout_checker__report_barrier(checker, GROUT_DIAG_CLUSTER_EXIT, GROUT_SEVERITY_ERROR,
                                         &facts);
}

bool grout_checker__reach_ended(grout_checker *checker, const grout_event *event) {
    return event->u.arrive.is_bytes || /* an access, which says it */
           report_arrival(checker, event->u.arrive.element, event->u.arrive.cta, &event->origin);
}

bool grout_checker__cta_exit(grout_checker *checker, const grout_event *event,
                             grout_cta_state *state) {
    for (uint32_t i = 0; i < checker->local_elements; i++) {
        grout_element_at at = grout_checker__find_element(checker, state->life.cta, i);
        for (uint32_t k = 0; k < at.element->contributor_count; k++) {
            const grout_contributor *it = &at.element->contributors[k];
            /* Bytes are accesses, which say it; what the tensor core sends is known by its phase.
             */
            if (it->origin.cta != state->life.cta && (!it->is_of_engine || it->is_later) &&
                !grout_contributor__is_known(checker, it, at.barrier, event->u.scope.last) &&
                !report_arrival(checker, i, state->life.cta, &it->origin)) {
                return false;
            }
        }
    }
    return true;
}
