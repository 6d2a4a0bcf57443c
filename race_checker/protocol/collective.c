/*
 * collective.c - copies that every CTA of a set issues: which CTA issued what, which ended without.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Copies of one barrier element's phase are one copy, whatever the order of issue. Primary: of the
 * two that differ, the one that stands later in the source; where a CTA has ended without, the one
 * that was issued.
 */
#include "protocols.h"

#include <string.h>

bool grout_checker__collective(grout_checker *checker, const grout_event *event) {
    const grout_module *module = checker->info.module;
    grout_origin own = event->origin, other = event->origin;
    grout_finding_key key = {.code = GROUT_DIAG_COLLECTIVE_DIVERGENCE,
                             .severity = GROUT_SEVERITY_ERROR};
    grout_facts facts;
    if (event->u.collective.divergence == GROUT_DIVERGENCE_NONE) {
        return true;
    }
    memset(&facts, 0, sizeof facts);
    memset(other.loops, 0, sizeof other.loops);
    other.op = event->u.collective.other;
    other.cta = event->u.collective.other_cta;
    other.loop_depth = 0;
    if (!own.op || (other.op && grout_loc__compare(module, grout_origin__get_loc(module, &other),
                                                   grout_origin__get_loc(module, &own)) > 0)) {
        grout_origin kept = own;
        own = other;
        other = kept;
    }
    facts.subject = GROUT_SUBJECT_COPY;
    facts.owner = other.cta;
    facts.have = event->u.collective.divergence;
    facts.sides[0].origin = own;
    facts.sides[1].origin = other;
    facts.side_count = other.op && other.op != own.op ? 2 : 1;
    key.primary = grout_origin__get_loc(module, &own);
    key.related = facts.side_count > 1 ? grout_origin__get_loc(module, &other) : 0;
    return key.primary == 0 || grout_checker__find(checker, &key, &facts);
}
