/*
 * contributors.c - the latest contribution of each actor to a barrier element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "contributors.h"

/* Bytes of st.async on a barrier announce themselves when they are issued. */
static bool arms_itself(const grout_checker *checker, const grout_event *event,
                        const grout_element_at *at) {
    return event->u.arrive.is_bytes && !at->is_explicit &&
           grout_op_has_access(
               (grout_opcode)grout_module_get_op(checker->info.module, event->origin.op)->opcode,
               GROUT_ACCESS_BYTES);
}

void grout_element__meet_bytes(const grout_checker *checker, const grout_event *event,
                               const grout_element_at *at) {
    for (uint32_t i = 0; i < at->element->contributor_count; i++) {
        grout_contributor *it = &at->element->contributors[i];
        if (it->arms && it->phase == event->u.arrive.phase_base + event->u.arrive.phase &&
            event->clocks->known[grout_clock_epoch(&checker->shape, it->actor)] >= it->epoch) {
            it->is_met = true;
        }
    }
}

bool grout_element__check_bytes_met(grout_checker *checker, const grout_element_at *at,
                                    uint32_t number) {
    grout_element_state *element = at->element;
    uint32_t kept = 0;
    bool done = true;
    for (uint32_t i = 0; i < element->contributor_count; i++) {
        const grout_contributor it = element->contributors[i];
        if (!it.arms || it.phase > element->phase_base + number) {
            element->contributors[kept++] = it;
        } else if (!it.is_met) {
            done = grout_checker__report_late(checker, GROUT_DIAG_BARRIER_OVERRUN, at, number,
                                              &it.origin) &&
                   done;
        }
    }
    element->contributor_count = kept;
    return done;
}

bool grout_checker__note_contributor(grout_checker *checker, const grout_event *event,
                                     const grout_element_at *at) {
    grout_element_state *element = at->element;
    uint32_t actor = grout_checker__get_actor(checker, &event->origin);
    grout_contributor *it = NULL;
    void *list = element->contributors;
    uint32_t number = event->u.arrive.phase_base + event->u.arrive.phase;
    bool arms = arms_itself(checker, event, at);
    bool is_of_engine =
        event->u.arrive.is_bytes || event->u.arrive.by_copy || event->u.arrive.is_deferred;
    if (!at->is_explicit && !arms && event->origin.cta == at->state->life.cta) {
        return true;
    }
    for (uint32_t i = 0; i < element->contributor_count && !it; i++) {
        const grout_contributor *other = &element->contributors[i];
        bool is_same = other->actor == actor && other->is_of_engine == is_of_engine &&
                       other->arms == arms && (!arms || other->phase == number);
        it = is_same ? &element->contributors[i] : NULL;
    }
    if (!it) {
        if (!grout_check__reserve(checker->allocator, &list, element->contributor_count,
                                  &element->contributor_capacity, sizeof *it)) {
            return grout_checker__fail(checker);
        }
        element->contributors = list;
        it = &element->contributors[element->contributor_count++];
    }
    *it = (grout_contributor){.origin = event->origin,
                              .actor = actor,
                              .epoch =
                                  event->clocks->known[grout_clock_epoch(&checker->shape, actor)],
                              .phase = number,
                              .arms = arms,
                              .is_of_engine = is_of_engine,
                              .is_later = event->u.arrive.is_deferred,
                              .mmas = grout_checker__count_mmas(checker, event)};
    return true;
}

/*
 * The lane's queue makes its arrivals in their order: a CTA that has heard of a later commit knows
 * those before it. It may have heard of the commit itself from another CTA, where it arrived too.
 */
static bool is_passed(const grout_checker *checker, const grout_contributor *it,
                      const uint32_t *known) {
    const grout_clock_shape *shape = &checker->shape;
    return it->is_later && shape->has_tensor_facts != 0 &&
           known[grout_clock_tcgen05(shape, grout_checker__get_lane(checker, &it->origin))] >
               it->mmas;
}

bool grout_contributor__is_known(const grout_checker *checker, const grout_contributor *it,
                                 uint32_t barrier, const uint32_t *known) {
    return known[grout_clock_phase(&checker->shape, barrier)] > it->phase ||
           is_passed(checker, it, known) ||
           (!it->is_of_engine && known[grout_clock_epoch(&checker->shape, it->actor)] >= it->epoch);
}
