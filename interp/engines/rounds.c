/*
 * rounds.c - see rounds.h.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "rounds.h"

#include "barrier.h"
#include "collective.h"

static grout_round *get_round(const grout_cta *cta, uint32_t element, uint32_t rank) {
    void *all = cta->state + cta->machine->at.rounds;
    return (grout_round *)all + (size_t)element * cta->machine->plan->shape.cta_count + rank;
}

/*
 * A peer that need not have seen the bytes of the round before, though the own CTA has. If their
 * phase takes these bytes too, that is where they count, and the peer's rounds are not those of the
 * own CTA. If it lacks nothing any more, they are for the phase of the new round, and nothing says
 * that it has begun: an overrun. False while the peer's arrivals have yet to say which.
 */
static bool find_round(const grout_cta *cta, uint32_t element, uint32_t rank, uint32_t *phases) {
    const grout_cta *peer = grout_cta__peer(cta, rank);
    const grout_round *last = get_round(cta, element, rank);
    uint32_t known = phases[rank], own = phases[cta->rank] + 1;
    uint32_t base = grout_cta__barrier(peer, element)->phase_base;
    uint32_t next = last->peer == 0 || own < last->own ? 0 : last->peer - 1 + own - last->own;
    if (next <= known || known < base) {
        return true;
    }
    grout_bytes_room room = grout_barrier__find_room(peer, element, known - base);
    phases[rank] = room == GROUT_BYTES_ROOM_NONE ? next : known;
    return room != GROUT_BYTES_ROOM_OPEN;
}

bool grout_rounds__find(const grout_cta *cta, uint32_t thread, uint32_t element, uint32_t mask,
                        uint32_t *phases) {
    const uint32_t peers = mask & ~(1u << cta->rank);
    bool is_alone = grout_cta__thread(cta, thread)->retry == GROUT_RETRY_ALONE;
    for (uint32_t rank = 0; rank < cta->machine->plan->shape.cta_count; rank++) {
        if ((peers >> rank & 1u) != 0 && !find_round(cta, element, rank, phases) && !is_alone) {
            (void)grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_INIT, element, 0);
            return false;
        }
    }
    for (uint32_t rank = 0; rank < cta->machine->plan->shape.cta_count; rank++) {
        if ((peers >> rank & 1u) != 0) {
            *get_round(cta, element, rank) = (grout_round){phases[cta->rank] + 1, phases[rank] + 1};
        }
    }
    return true;
}
