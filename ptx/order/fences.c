/* fences.c - fences. PTX ISA 9.1, 'Release and Acquire Patterns', 'membar', 'fence'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

ptx_fenced *grout_ptx__get_fenced(const ptx_order *order, ptx_lane *lane) {
    if (lane->fenced == NULL) {
        lane->fenced = grout__new(order->means.allocator, 1, sizeof *lane->fenced);
    }
    return lane->fenced;
}

static void drop_local(ptx_local_heads *items, size_t count) {
    for (size_t i = 0; i < count; i++) {
        grout_ptx__drop_heads(&items[i].heads);
    }
    grout__free(items);
}

void grout_ptx__free_fenced(ptx_fenced *fenced) {
    if (fenced == NULL) {
        return;
    }
    for (uint32_t i = 0; i < PTX_SCOPE_COUNT; i++) {
        grout_ptx__drop_view(&fenced->before[i]);
    }
    grout_ptx__drop_view(&fenced->inits);
    grout_ptx__drop_heads(&fenced->seen);
    drop_local(fenced->seen_at.items, fenced->seen_at.count);
    drop_local(fenced->released_at.items, fenced->released_at.count);
    grout__free(fenced);
}

bool grout_ptx__note_seen(const ptx_order *order, ptx_lane *lane, const ptx_heads *heads) {
    ptx_fenced *fenced = heads->count == 0 ? NULL : grout_ptx__get_fenced(order, lane);
    return heads->count == 0 ||
           (fenced != NULL && grout_ptx__add_heads(&order->means, &fenced->seen, heads));
}

ptx_handed grout_ptx__get_released(ptx_sem sem) {
    return sem == PTX_SEM_RELEASE || sem == PTX_SEM_ACQ_REL ? PTX_HANDED_ALL : PTX_HANDED_FENCED;
}

bool grout_ptx__add_fenced(const ptx_order *order, const ptx_lane *lane, uint32_t cta,
                           ptx_scope carrier, ptx_heads *heads) {
    const ptx_fenced *fenced = lane->fenced;
    ptx_head head = {.carrier = carrier, .handed = PTX_HANDED_ALL, .cta = cta};
    bool is_done = true;
    for (uint32_t i = 0; fenced != NULL && i < PTX_SCOPE_COUNT; i++) {
        head.scope = (ptx_scope)i;
        head.view = fenced->before[i];
        is_done =
            is_done && (!fenced->is_fenced[i] || grout_ptx__add_head(&order->means, heads, &head));
    }
    if (fenced != NULL && fenced->has_inits) {
        head.scope = PTX_SCOPE_CLUSTER;
        head.view = fenced->inits;
        is_done = is_done && grout_ptx__add_head(&order->means, heads, &head);
    }
    return is_done;
}

/* ---- fences ---- */

/* What the lane read before is acquired, and what it knows now is what a later write releases. */
static bool fence_lane(ptx_order *order, const ptx_actor *actor, uint32_t lane,
                       ptx_ordering ordering) {
    const ptx_actor one = {actor->cta, actor->warp, 1u << lane};
    const ptx_taker taker = {actor->cta, order->cluster_size, ordering.scope};
    ptx_lane *it = &grout_ptx__get_lanes(order, actor)->lanes[lane];
    ptx_fenced *fenced = grout_ptx__get_fenced(order, it);
    if (fenced == NULL ||
        (ordering.sem != PTX_SEM_RELEASE &&
         !grout_ptx__take_heads(&order->means, &fenced->seen, &taker, &it->view))) {
        return false;
    }
    if (ordering.sem == PTX_SEM_ACQUIRE) {
        return true;
    }
    grout_ptx__drop_view(&fenced->before[ordering.scope]);
    fenced->is_fenced[ordering.scope] = true;
    return grout_ptx__capture(order, &one, &fenced->before[ordering.scope]);
}

bool grout_ptx__fence(ptx_order *order, const ptx_actor *actor, ptx_ordering ordering) {
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        is_done = is_done && fence_lane(order, actor, lane, ordering);
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

bool grout_ptx__release_maps(ptx_order *order, const ptx_actor *actor) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        const ptx_actor one = {actor->cta, actor->warp, 1u << lane};
        ptx_view known = {{NULL}};
        is_done = is_done && grout_ptx__capture(order, &one, &known) &&
                  grout_ptx__join_clock(&warp->lanes[lane].view.clocks[PTX_KNOWN_MAPS_OUT],
                                        known.clocks[PTX_KNOWN_THREADS]);
        grout_ptx__drop_view(&known);
    }
    return is_done;
}

bool grout_ptx__acquire_map(ptx_order *order, const ptx_actor *actor, const ptx_cell *map) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const uint32_t number = grout_ptx__number_map(order, map);
    bool is_done = number != 0;
    FOR_LANES(lane, actor->lanes) {
        ptx_clock **clocks = warp->lanes[lane].view.clocks;
        is_done =
            is_done && grout_ptx__join_renamed(&clocks[PTX_KNOWN_MAPS], clocks[PTX_KNOWN_MAPS_OUT],
                                               PTX_MAPS_MAX, number);
    }
    return is_done;
}

uint32_t grout_ptx__number_map(ptx_order *order, const ptx_cell *map) {
    for (size_t i = 0; i < order->maps.count; i++) {
        if (order->maps.items[i].cells == map) {
            return (uint32_t)i + 1;
        }
    }
    if (order->maps.count + 1 >= PTX_MAPS_MAX) {
        order->limit =
            "limit ptx-tensor-maps: the run has more tensor maps than the search for races can "
            "tell apart";
        return 0;
    }
    if (!GROUT_ARRAY_RESERVE(&order->maps, order->means.allocator, 1)) {
        return 0;
    }
    order->maps.items[order->maps.count++].cells = map;
    return (uint32_t)order->maps.count;
}

/* PTX ISA 9.1, 'fence': it is a release fence, whose effect is on the prior inits of its thread
 * alone. Its thread's strong writes hand them over, and who takes them has to acquire. */
bool grout_ptx__fence_inits(ptx_order *order, const ptx_actor *actor) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    const uint32_t time = grout_ptx__tick(order, &warp->now);
    const uint64_t agent = grout_ptx__get_agent(order, PTX_AGENT_INITS, actor->cta, actor->warp);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        ptx_fenced *fenced = grout_ptx__get_fenced(order, &warp->lanes[lane]);
        is_done = is_done && fenced != NULL &&
                  grout_ptx__note_time(&order->means, &fenced->inits.clocks[PTX_KNOWN_THREADS],
                                       agent, 1u << lane, time);
        if (is_done) {
            fenced->has_inits = true;
        }
    }
    return is_done;
}

bool grout_ptx__seal_view(ptx_view *view) {
    ptx_clock **clocks = view->clocks;
    return grout_ptx__join_clock(&clocks[PTX_KNOWN_SEALED], clocks[PTX_KNOWN_ADMITTED]) &&
           grout_ptx__join_clock(&clocks[PTX_KNOWN_SEALED_SEEN], clocks[PTX_KNOWN_ADMITTED_SEEN]);
}

static bool admit_view(ptx_view *view) {
    ptx_clock **clocks = view->clocks;
    return grout_ptx__join_clock(&clocks[PTX_KNOWN_ADMITTED], clocks[PTX_KNOWN_SEALED]) &&
           grout_ptx__join_clock(&clocks[PTX_KNOWN_ADMITTED_SEEN], clocks[PTX_KNOWN_SEALED_SEEN]);
}

bool grout_ptx__seal(ptx_order *order, const ptx_actor *actor) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        is_done = is_done && grout_ptx__seal_view(&warp->lanes[lane].view);
    }
    return is_done;
}

bool grout_ptx__admit(ptx_order *order, const ptx_actor *actor) {
    ptx_lanes *warp = grout_ptx__get_lanes(order, actor);
    bool is_done = true;
    FOR_LANES(lane, actor->lanes) {
        is_done = is_done && admit_view(&warp->lanes[lane].view);
    }
    return is_done;
}
