/*
 * named.c - the protocol of named barriers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread that syncs knows its generation complete; one
 * that only arrives does not, and its next arrival may take the place of another's: each
 * contribution to a generation has to know that the one before is complete, and no thread makes two
 * to one. All arrivals of a generation name one count, which they fill to the lane.
 */
#include "protocols.h"
#include "visits.h"

#include <string.h>

static bool report(grout_checker *checker, const grout_event *event, grout_subject subject,
                   const grout_origin *earlier) {
    const grout_module *module = checker->info.module;
    const bool is_mismatch =
        subject == GROUT_SUBJECT_NAMED_COUNTS || subject == GROUT_SUBJECT_NAMED_FULL;
    grout_finding_key key = {.code = is_mismatch ? GROUT_DIAG_NAMED_MISMATCH
                                                 : GROUT_DIAG_BARRIER_OVERRUN,
                             .severity = GROUT_SEVERITY_ERROR,
                             .primary = grout_origin__get_loc(module, &event->origin),
                             .related = grout_origin__get_loc(module, earlier)};
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.subject = (uint8_t)subject;
    facts.element = event->u.named.id;
    facts.phase = event->u.named.generation;
    facts.need = is_mismatch ? event->u.named.open_lanes : event->u.named.count;
    facts.have =
        subject == GROUT_SUBJECT_NAMED_FULL ? event->u.named.arrived : event->u.named.lanes;
    facts.counts_lanes = event->u.named.counts_lanes;
    facts.sides[0].origin = event->origin;
    facts.sides[1].origin = *earlier;
    facts.side_count = earlier->op ? 2 : 1;
    return grout_checker__find(checker, &key, &facts);
}

static bool knows_previous(const grout_checker *checker, const grout_event *event) {
    const grout_phase_fact *previous = &event->u.named.previous;
    return event->u.named.generation == 0 ||
           (previous->is_complete && previous->completion &&
            grout_checker__knows_actors(checker, event->clocks->known, previous->completion));
}

bool grout_checker__named(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    uint32_t id = event->u.named.id, own = event->u.named.generation + 1, last = 0;
    size_t at = (size_t)grout_checker__get_local(checker, &event->origin) * GROUT_NAMED_MAX + id;
    grout_origin earlier;
    if (!state) {
        return !checker->has_failed;
    }
    grout_checker__note_visit(checker, event);
    if (event->kind == GROUT_EVENT_NAMED_SYNC || id >= GROUT_NAMED_MAX) {
        return true;
    }
    last = state->facts.generations[at];
    earlier = state->notes.named[at];
    state->facts.generations[at] = own;
    state->notes.named[at] = event->origin;
    if (event->u.named.lanes != event->u.named.open_lanes) {
        return report(checker, event, GROUT_SUBJECT_NAMED_COUNTS, &(grout_origin){.op = 0});
    }
    if (event->u.named.arrived + event->u.named.brings > event->u.named.lanes) {
        return report(checker, event, GROUT_SUBJECT_NAMED_FULL, &(grout_origin){.op = 0});
    }
    if (last == own) {
        return report(checker, event, GROUT_SUBJECT_NAMED_TWICE, &earlier);
    }
    return knows_previous(checker, event) || report(checker, event, GROUT_SUBJECT_NAMED, &earlier);
}
