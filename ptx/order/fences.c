/* fences.c - fences, and what atomic operations and accesses with an order hand over. PTX ISA 9.1,
 * 'Release and Acquire Patterns', 'Observation order', 'membar', 'fence'.
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "lanes.h"

enum { LOCATIONS_FIRST = 64 };

ptx_fenced *grout_ptx__get_fenced(ptx_lane *lane) {
    if (lane->fenced == NULL) {
        lane->fenced = grout__new(NULL, 1, sizeof *lane->fenced);
    }
    return lane->fenced;
}

bool grout_ptx__add_fenced(const ptx_lane *lane, uint32_t cta, ptx_heads *heads) {
    bool is_done = true;
    for (uint32_t i = 0; lane->fenced != NULL && i < PTX_SCOPE_COUNT; i++) {
        if (lane->fenced->is_fenced[i]) {
            const ptx_head head = {.scope = (ptx_scope)i,
                                   .is_release = true,
                                   .cta = cta,
                                   .view = lane->fenced->before[i]};
            is_done = is_done && grout_ptx__add_head(heads, &head);
        }
    }
    return is_done;
}

/* ---- fences ---- */

/* What the lane read before is acquired, and what it knows now is what a later write releases. */
static bool fence_lane(ptx_order *order, const ptx_actor *actor, uint32_t lane, ptx_scope scope) {
    const ptx_actor one = {actor->cta, actor->warp, 1u << lane};
    const ptx_taker taker = {actor->cta, order->cluster_size, scope};
    ptx_lane *it = &grout_ptx__get_lanes(order, actor)->lanes[lane];
    ptx_fenced *fenced = grout_ptx__get_fenced(it);
    if (fenced == NULL || !grout_ptx__take_heads(&fenced->seen, &taker, &it->view)) {
        return false;
    }
    grout_ptx__drop_view(&fenced->before[scope]);
    fenced->is_fenced[scope] = true;
    return grout_ptx__capture(order, &one, &fenced->before[scope]);
}

bool grout_ptx__fence(ptx_order *order, const ptx_actor *actor, ptx_scope scope) {
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        is_done = is_done && fence_lane(order, actor, lane, scope);
    }
    return is_done;
}

static bool publish(ptx_clock **clock, const ptx_view *known, uint64_t factor, uint64_t term) {
    return grout_ptx__join_renamed(clock, known->clocks[PTX_KNOWN_THREADS], factor, term) &&
           grout_ptx__join_renamed(clock, known->clocks[PTX_KNOWN_ENGINES], factor, term);
}

bool grout_ptx__publish(ptx_order *order, const ptx_actor *actor, bool is_shared, bool is_global,
                        uint32_t rank) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        const ptx_actor one = {actor->cta, actor->warp, 1u << lane};
        ptx_clock **clocks = warp->lanes[lane].view.clocks;
        ptx_view known;
        if (!is_done || !grout_ptx__capture(order, &one, &known)) {
            return false;
        }
        is_done = (!is_shared || publish(&clocks[PTX_KNOWN_SHARED], &known, PTX_RANKS, rank)) &&
                  (!is_global || publish(&clocks[PTX_KNOWN_GLOBAL], &known, 1, 0));
        grout_ptx__drop_view(&known);
    }
    return is_done;
}

bool grout_ptx__fence_maps(ptx_order *order, const ptx_actor *actor, bool is_release) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        const ptx_actor one = {actor->cta, actor->warp, 1u << lane};
        ptx_clock **clocks = warp->lanes[lane].view.clocks;
        ptx_view known = {{NULL}};
        is_done =
            is_done && (is_release ? grout_ptx__capture(order, &one, &known) &&
                                         grout_ptx__join_clock(&clocks[PTX_KNOWN_MAPS_OUT],
                                                               known.clocks[PTX_KNOWN_THREADS])
                                   : grout_ptx__join_clock(&clocks[PTX_KNOWN_MAPS],
                                                           clocks[PTX_KNOWN_MAPS_OUT]));
        grout_ptx__drop_view(&known);
    }
    return is_done;
}

/* The lanes' own inits are handed over by any arrival from here on. */
bool grout_ptx__fence_inits(ptx_order *order, const ptx_actor *actor) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const uint32_t time = warp->now++;
    return grout_ptx__learn(order, actor, PTX_KNOWN_ENGINES,
                            grout_ptx__get_agent(order, PTX_AGENT_INITS, actor->cta, actor->warp),
                            0, time);
}

bool grout_ptx__seal(ptx_order *order, const ptx_actor *actor, const uint32_t *issued) {
    const uint64_t agent =
        grout_ptx__get_agent(order, PTX_AGENT_TENSOR_ISSUED, actor->cta, actor->warp);
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        ptx_clock **clocks = warp->lanes[lane].view.clocks;
        is_done = is_done &&
                  grout_ptx__join_clock(&clocks[PTX_KNOWN_SEALED], clocks[PTX_KNOWN_ADMITTED]) &&
                  (issued[lane] == 0 || grout_ptx__note_time(&clocks[PTX_KNOWN_SEALED], agent,
                                                             1u << lane, issued[lane]));
    }
    return is_done;
}

bool grout_ptx__admit(ptx_order *order, const ptx_actor *actor) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        ptx_clock **clocks = warp->lanes[lane].view.clocks;
        is_done =
            is_done && grout_ptx__join_clock(&clocks[PTX_KNOWN_ADMITTED], clocks[PTX_KNOWN_SEALED]);
    }
    return is_done;
}

/* ---- locations ---- */

/* The place of a cell in the table, or an empty one for it. */
static ptx_location *find_place(ptx_location *locations, size_t capacity, const ptx_cell *cells) {
    size_t at = (size_t)(((uintptr_t)cells >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20);
    while (locations[at & (capacity - 1)].cells != NULL &&
           locations[at & (capacity - 1)].cells != cells) {
        at++;
    }
    return &locations[at & (capacity - 1)];
}

static bool grow(ptx_order *order) {
    size_t capacity =
        order->location_capacity == 0 ? LOCATIONS_FIRST : 2 * order->location_capacity;
    ptx_location *larger = grout__new(NULL, capacity, sizeof *larger);
    if (larger == NULL) {
        return false;
    }
    for (size_t i = 0; i < order->location_capacity; i++) {
        if (order->locations[i].cells != NULL) {
            *find_place(larger, capacity, order->locations[i].cells) = order->locations[i];
        }
    }
    grout__free(order->locations);
    order->locations = larger;
    order->location_capacity = capacity;
    return true;
}

/* NULL: there is none. */
static ptx_location *find_location(const ptx_order *order, const ptx_cell *cells) {
    if (order->location_count == 0) {
        return NULL;
    }
    ptx_location *place = find_place(order->locations, order->location_capacity, cells);
    return place->cells != NULL ? place : NULL;
}

static ptx_location *make_location(ptx_order *order, const ptx_cell *cells) {
    if (2 * order->location_count >= order->location_capacity && !grow(order)) {
        return NULL;
    }
    ptx_location *place = find_place(order->locations, order->location_capacity, cells);
    if (place->cells == NULL) {
        place->cells = cells;
        order->location_count++;
    }
    return place;
}

static bool is_chained(const ptx_order *order, const ptx_location *location, uint32_t cta,
                       ptx_scope scope) {
    return grout_ptx__includes(scope, cta, location->cta, order->cluster_size) &&
           grout_ptx__includes(location->scope, location->cta, cta, order->cluster_size);
}

static bool take(ptx_order *order, ptx_lane *lane, const ptx_location *location, uint32_t cta,
                 ptx_ordering ordering) {
    const ptx_taker taker = {cta, order->cluster_size, ordering.scope};
    if (ordering.sem == PTX_SEM_ACQUIRE || ordering.sem == PTX_SEM_ACQ_REL) {
        return grout_ptx__take_heads(&location->heads, &taker, &lane->view);
    }
    const ptx_taker relaxed = {cta, order->cluster_size, PTX_SCOPE_NONE};
    ptx_fenced *fenced = location->heads.count == 0 ? NULL : grout_ptx__get_fenced(lane);
    return location->heads.count == 0 ||
           (fenced != NULL && grout_ptx__take_heads(&location->heads, &relaxed, &lane->view) &&
            grout_ptx__add_heads(&fenced->seen, &location->heads));
}

/* Of a relaxed write, that engines are done, and what a fence before it covers. */
static bool give(ptx_order *order, const ptx_actor *actor, const ptx_lane *lane,
                 ptx_ordering ordering, ptx_heads *heads) {
    ptx_head head = {.scope = ordering.scope, .cta = actor->cta};
    head.is_release = ordering.sem == PTX_SEM_RELEASE || ordering.sem == PTX_SEM_ACQ_REL;
    if (!grout_ptx__capture(order, actor, &head.view)) {
        return false;
    }
    bool is_done = grout_ptx__add_head(heads, &head) &&
                   (head.is_release || grout_ptx__add_fenced(lane, actor->cta, heads));
    grout_ptx__drop_view(&head.view);
    return is_done;
}

/* A read takes what the writes that it observes hand over: the last one, and those that atomic
 * operations link to it. */
bool grout_ptx__synchronize(ptx_order *order, const ptx_actor *actor, const ptx_cell *cells,
                            ptx_ordering ordering, bool is_read, bool is_write) {
    uint32_t lane = (uint32_t)__builtin_ctz(actor->lanes);
    ptx_lane *it = &grout_ptx__get_lanes(order, actor)->lanes[lane];
    ptx_location *location = find_location(order, cells);
    bool is_strong = ordering.sem != PTX_SEM_WEAK;
    bool is_linked =
        is_strong && location != NULL && is_chained(order, location, actor->cta, ordering.scope);
    if (is_read && is_linked && !take(order, it, location, actor->cta, ordering)) {
        return false;
    }
    if (!is_write || (!is_strong && location == NULL)) {
        return true;
    }
    location = location != NULL ? location : make_location(order, cells);
    if (location == NULL) {
        return false;
    }
    if (!is_read || !is_linked) {
        grout_ptx__drop_heads(&location->heads);
    }
    location->scope = is_strong ? ordering.scope : PTX_SCOPE_NONE;
    location->cta = actor->cta;
    return !is_strong || give(order, actor, it, ordering, &location->heads);
}
