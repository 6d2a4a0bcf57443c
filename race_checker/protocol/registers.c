/*
 * registers.c - set_max_registers: whether the order of the threads that ask for registers matters.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The first that asks gets them. That matters only if a thread that asks in vain can keep another
 * from giving some back: a decrease that happens after an increase, of any CTA of the cluster.
 * Where no decrease does, all of them come under every schedule, and then the increases fit as they
 * do in this run.
 */
#include "protocols.h"

/* Whether the event's actor knows of an increase in its cluster. A CTA that has ended may have had
 * one. */
static bool knows_increase(grout_checker *checker, const grout_event *event) {
    const grout_clock_shape *shape = &checker->shape;
    uint32_t first = event->origin.cta / shape->cta_count * shape->cta_count;
    for (uint32_t rank = 0; rank < shape->cta_count; rank++) {
        const grout_cta_state *state = grout_checker__find_cta(checker, first + rank);
        if (!state) {
            return true;
        }
        for (uint32_t i = 0; i < checker->local_actors; i++) {
            uint32_t epoch = state->facts.increases[i];
            uint32_t actor = grout_clock_actor(shape, rank, i);
            if (epoch > 0 && event->clocks->known[grout_clock_epoch(shape, actor)] >= epoch - 1) {
                return true;
            }
        }
    }
    return false;
}

bool grout_checker__registers(grout_checker *checker, const grout_event *event) {
    grout_cta_state *state = grout_checker__find_cta(checker, event->origin.cta);
    if (!state) {
        return !checker->has_failed;
    }
    uint32_t local = grout_checker__get_local(checker, &event->origin);
    uint32_t actor = grout_checker__get_actor(checker, &event->origin);
    uint32_t *increase = &state->facts.increases[local];
    if (event->u.registers.is_increase) {
        uint32_t epoch = event->clocks->known[grout_clock_epoch(&checker->shape, actor)];
        *increase = *increase == 0 ? epoch + 1 : *increase;
    } else if (event->clocks->foreign_count > 0 || knows_increase(checker, event)) {
        /* Too little is kept of other clusters. */
        grout_origin__keep(checker->info.module, &checker->memory.protocol.held_up, &event->origin,
                           -1);
    }
    return !checker->has_failed;
}
