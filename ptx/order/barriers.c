/* barriers.c - mbarriers, and the engines that they hear of. PTX ISA 9.1, 'mbarrier',
 * 'Asynchronous operations'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

#include <string.h>

enum {
    MBARRIER_BYTES = 8
}; /* PTX ISA 9.1, 'mbarrier': its size, and what its address is a multiple of */

/* ---- phases ---- */

/* Where the table says which one is at a place; NULL without memory. */
static uint32_t *get_number(const ptx_order *order, ptx_cta_order *owner, uint32_t offset) {
    const size_t at = offset / MBARRIER_BYTES, count = owner->phases_at.count;
    if (at < count) {
        return &owner->phases_at.items[at];
    }
    if (!GROUT_ARRAY_RESERVE(&owner->phases_at, order->means.allocator, at + 1 - count)) {
        return NULL;
    }
    memset(owner->phases_at.items + count, 0, (at + 1 - count) * sizeof *owner->phases_at.items);
    owner->phases_at.count = at + 1;
    return &owner->phases_at.items[at];
}

/* The mbarrier at a place; one that nobody has made is made here. NULL without memory. */
static ptx_phases *get_phases(ptx_order *order, uint32_t cta, uint32_t offset) {
    ptx_cta_order *owner = order->ctas.items[cta];
    uint32_t *number = get_number(order, owner, offset);
    if (number == NULL ||
        (*number == 0 && !GROUT_ARRAY_RESERVE(&owner->phases, order->means.allocator, 1))) {
        return NULL;
    }
    if (*number == 0) {
        *number = (uint32_t)owner->phases.count + 1;
        owner->phases.items[owner->phases.count++] =
            (ptx_phases){.cta = cta,
                         .offset = offset,
                         .agent = ptx_agent(PTX_AGENT_BARRIER, order->barrier_count++)};
    }
    return &owner->phases.items[*number - 1];
}

/* What it hears of from here on has nothing to do with what it heard of before. */
bool grout_ptx__init_barrier(ptx_order *order, uint32_t cta, uint32_t offset) {
    ptx_phases *phases = get_phases(order, cta, offset);
    if (phases == NULL) {
        return false;
    }
    grout_ptx__drop_heads(&phases->open);
    grout_ptx__drop_heads(&phases->done);
    phases->count = 0;
    phases->agent = ptx_agent(PTX_AGENT_BARRIER, order->barrier_count++);
    return true;
}

/* A relaxed arrival hands over what fences before it cover, and no more. */
bool grout_ptx__arrive_at_barrier(ptx_order *order, const ptx_actor *actor, uint32_t cta,
                                  uint32_t offset, ptx_ordering ordering) {
    ptx_phases *phases = get_phases(order, cta, offset);
    ptx_head head = {.scope = ordering.scope,
                     .carrier = ordering.scope,
                     .handed = grout_ptx__get_released(ordering.sem),
                     .cta = actor->cta};
    if (phases == NULL) {
        return false;
    }
    const uint32_t now = grout_ptx__get_lanes(order, actor)->now;
    bool is_done = grout_ptx__capture(order, actor, &head.view) &&
                   (cta == actor->cta ||
                    grout_ptx__note_time(
                        &order->means, &head.view.clocks[PTX_KNOWN_BEGUN],
                        grout_ptx__get_agent(order, PTX_AGENT_ARRIVALS, actor->cta, actor->warp),
                        actor->lanes, now)) &&
                   grout_ptx__add_head(&order->means, &phases->open, &head);
    FOR_LANES(lane, actor->lanes) {
        const ptx_lane *it = &grout_ptx__get_lanes(order, actor)->lanes[lane];
        is_done =
            is_done && grout_ptx__add_fenced(order, it, actor->cta, ordering.scope, &phases->open);
    }
    grout_ptx__drop_view(&head.view);
    return is_done;
}

/* Arrivals are atomic operations on one object: a thread that waits for a phase takes what those
 * before it have handed over, too. */
bool grout_ptx__end_phase(ptx_order *order, uint32_t cta, uint32_t offset) {
    ptx_phases *phases = get_phases(order, cta, offset);
    if (phases == NULL || !grout_ptx__add_heads(&order->means, &phases->done, &phases->open)) {
        return false;
    }
    grout_ptx__drop_heads(&phases->open);
    phases->count++;
    return true;
}

/* A lane's wait: what it acquires, and what is left for a fence after it. */
static bool take_phase(const ptx_order *order, ptx_lane *lane, const ptx_heads *observed,
                       const ptx_taker *taker) {
    return grout_ptx__take_heads(&order->means, observed, taker, &lane->view) &&
           (grout_ptx__takes_all(observed, taker) || grout_ptx__note_seen(order, lane, observed));
}

bool grout_ptx__wait_at_barrier(ptx_order *order, const ptx_actor *actor, uint32_t cta,
                                uint32_t offset, ptx_ordering ordering) {
    const ptx_phases *phases = get_phases(order, cta, offset);
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const ptx_taker wait = {actor->cta, order->cluster_size, ordering.scope};
    ptx_taker taker = wait;
    ptx_heads observed = {NULL, 0, 0};
    if (ordering.sem != PTX_SEM_ACQUIRE && ordering.sem != PTX_SEM_ACQ_REL) {
        taker.scope = PTX_SCOPE_NONE;
    }
    bool is_done =
        phases != NULL && grout_ptx__add_observed(&order->means, &observed, &phases->done, &wait);
    FOR_LANES(lane, is_done && observed.count > 0 ? actor->lanes : 0) {
        is_done = is_done && take_phase(order, &warp->lanes[lane], &observed, &taker);
    }
    grout_ptx__drop_heads(&observed);
    return is_done;
}

/* ---- engines ---- */

static bool join_admitted(ptx_view *view, const ptx_view *other) {
    return grout_ptx__join_clock(&view->clocks[PTX_KNOWN_ADMITTED],
                                 other->clocks[PTX_KNOWN_ADMITTED]) &&
           grout_ptx__join_clock(&view->clocks[PTX_KNOWN_ADMITTED_SEEN],
                                 other->clocks[PTX_KNOWN_ADMITTED_SEEN]);
}

bool grout_ptx__start_flight(ptx_order *order, const ptx_actor *actor, ptx_flight *flight_out) {
    const ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    *flight_out = (ptx_flight){
        .own_agent = grout_ptx__get_agent(order, PTX_AGENT_THREADS, actor->cta, actor->warp),
        .own_lane = (uint32_t)__builtin_ctz(actor->lanes),
        .own_time = warp->now};
    if (!grout_ptx__capture(order, actor, &flight_out->view)) {
        return false;
    }
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        is_done = is_done && join_admitted(&flight_out->view, &warp->lanes[lane].view);
    }
    if (!is_done) {
        grout_ptx__drop_view(&flight_out->view);
    }
    return is_done;
}

bool grout_ptx__know_alike(ptx_order *order, const ptx_actor *actor) {
    const ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const ptx_view *first = &warp->lanes[__builtin_ctz(actor->lanes)].view;
    FOR_LANES(lane, actor->lanes) {
        if (memcmp(warp->lanes[lane].view.clocks, first->clocks, sizeof first->clocks) != 0) {
            return false;
        }
    }
    return true;
}

void grout_ptx__start_lane_flights(ptx_order *order, const ptx_actor *actor,
                                   ptx_flight *flight_out) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const uint32_t first = (uint32_t)__builtin_ctz(actor->lanes);
    *flight_out = (ptx_flight){
        .view = grout_ptx__share_view(&warp->lanes[first].view),
        .own_agent = grout_ptx__get_agent(order, PTX_AGENT_THREADS, actor->cta, actor->warp),
        .own_lane = first,
        .own_time = grout_ptx__tick(order, &warp->now)};
}

void grout_ptx__end_flight(ptx_flight *flight) {
    grout_ptx__drop_view(&flight->view);
}

bool grout_ptx__aim_flight(ptx_order *order, ptx_flight *flight, uint32_t cta, uint32_t offset) {
    const ptx_phases *phases = get_phases(order, cta, offset);
    if (phases != NULL) {
        flight->agent = phases->agent;
        flight->lane = 0;
        flight->time = phases->count + 1;
    }
    return phases != NULL;
}

/* The operation itself, among what is known. */
static bool note_end(const ptx_order *order, const ptx_flight *flight, ptx_known known,
                     ptx_view *view) {
    return grout_ptx__note_time(&order->means, &view->clocks[known], flight->agent,
                                1u << flight->lane, flight->time);
}

bool grout_ptx__seal_flight(const ptx_order *order, ptx_flight *flight) {
    return grout_ptx__seal_view(&flight->view) &&
           (flight->time == 0 || (note_end(order, flight, PTX_KNOWN_SEALED, &flight->view) &&
                                  note_end(order, flight, PTX_KNOWN_SEALED_SEEN, &flight->view)));
}

bool grout_ptx__note_tensor_start(ptx_order *order, const ptx_actor *actor,
                                  const ptx_flight *flight) {
    return grout_ptx__learn(order, actor, PTX_KNOWN_THREADS,
                            flight->agent + PTX_AGENT_TENSOR_ISSUED - PTX_AGENT_TENSOR,
                            1u << flight->lane, flight->time);
}

/* What the thread that started it knew of engines. What these have written can be seen in its own
 * CTA alone, since the end of an operation tells of that operation (PTX ISA 9.1, 'Asynchronous
 * Operations'). */
static bool hand_known(const ptx_order *order, const ptx_flight *flight, uint32_t cta,
                       ptx_view *view) {
    const bool is_own = flight->own_agent / PTX_AGENT_KINDS / order->warp_count == cta;
    return grout_ptx__join_handed(view, &flight->view,
                                  is_own ? PTX_HANDED_VISIBLE : PTX_HANDED_ENGINES) &&
           (!is_own || grout_ptx__join_seen(view, &flight->view)) &&
           (ptx_agent_get_kind(flight->agent) != PTX_AGENT_TENSOR ||
            note_end(order, flight, PTX_KNOWN_SEALED_SEEN, view));
}

bool grout_ptx__hear_flight(ptx_order *order, const ptx_flight *flight, uint32_t cta,
                            uint32_t offset) {
    ptx_phases *phases = get_phases(order, cta, offset);
    ptx_head head = {.scope = PTX_SCOPE_CLUSTER, .handed = PTX_HANDED_VISIBLE, .cta = cta};
    bool is_done = phases != NULL && hand_known(order, flight, cta, &head.view) &&
                   note_end(order, flight, PTX_KNOWN_ENGINES, &head.view) &&
                   note_end(order, flight, PTX_KNOWN_VISIBLE, &head.view) &&
                   grout_ptx__add_head(&order->means, &phases->open, &head);
    grout_ptx__drop_view(&head.view);
    return is_done;
}
