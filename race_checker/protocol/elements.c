/*
 * elements.c - a barrier element of a CTA, as the rules see it, and findings about it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "elements.h"

#include <string.h>

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
    GROUT_ASSERT(index < at.state->element_count && at.state->life.cta == cta);
    at.element = &at.state->elements[index];
    at.barrier = grout_clock_barrier(&checker->shape, grout_checker__get_rank(checker, cta), index);
    at.is_explicit = object->is_explicit;
    at.has_late_bytes =
        object->is_explicit || (checker->shape.cta_count > 1 && !is_cluster_barrier(object));
    return at;
}

grout_wait_at grout_checker__get_wait(const grout_checker *checker, const grout_cta_state *state,
                                      uint32_t index, uint32_t local) {
    size_t at = (size_t)local * checker->local_elements + index;
    GROUT_ASSERT(local < checker->local_actors && index < checker->local_elements);
    return (grout_wait_at){&state->facts.waits[at], &state->notes.waits[at]};
}

uint32_t grout_checker__get_observed(const grout_checker *checker, const grout_cta_state *state,
                                     uint32_t index, uint32_t local_actor) {
    uint32_t threads = checker->shape.thread_count;
    uint32_t own = grout_checker__get_wait(checker, state, index, local_actor).mark->waits;
    uint32_t other = UINT32_MAX;
    if (checker->local_actors == threads) {
        return own;
    }
    if (local_actor >= threads) {
        other =
            grout_checker__get_wait(checker, state, index, (local_actor - threads) / 4).mark->waits;
    }
    for (uint32_t w = 0; local_actor < threads && w < 4; w++) {
        uint32_t warp =
            grout_checker__get_wait(checker, state, index, threads + 4 * local_actor + w)
                .mark->waits;
        other = warp < other ? warp : other;
    }
    return own < other ? other : own;
}

bool grout_checker__knows_actors(const grout_checker *checker, const uint32_t *known,
                                 const uint32_t *clock) {
    for (uint32_t i = 0; i < checker->shape.actor_count; i++) {
        uint32_t x = grout_clock_epoch(&checker->shape, i);
        if (clock[x] > known[x]) {
            return false;
        }
    }
    return true;
}

bool grout_checker__report_barrier(grout_checker *checker, grout_diag_code code,
                                   grout_severity severity, const grout_facts *facts) {
    const grout_module *module = checker->info.module;
    GROUT_ASSERT(facts->element < checker->local_elements);
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

bool grout_checker__report_late(grout_checker *checker, grout_diag_code code,
                                const grout_element_at *at, uint32_t phase,
                                const grout_origin *bytes) {
    grout_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.subject = GROUT_SUBJECT_LATE;
    at->element->facts.has_overrun = 1;
    facts.element = at->index;
    facts.phase = phase;
    facts.fault.object = checker->info.element_objects[at->index];
    facts.sides[0].origin = *bytes;
    facts.side_count = 1;
    return grout_checker__report_barrier(checker, code, GROUT_SEVERITY_ERROR, &facts);
}

void grout_checker__renew_element(grout_checker *checker, const grout_element_at *at) {
    grout_element__renew(at->element);
    for (uint32_t i = 0; i < checker->local_actors; i++) {
        grout_wait_at wait = grout_checker__get_wait(checker, at->state, at->index, i);
        memset(wait.mark, 0, sizeof *wait.mark);
        memset(wait.origin, 0, sizeof *wait.origin);
    }
}
