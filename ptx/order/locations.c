/* locations.c - what atomic operations, and loads and stores with an order, take and hand over. PTX
 * ISA 9.1, 'Release and Acquire Patterns', 'Observation Order', 'Causality Order'.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lanes.h"

enum { LOCATIONS_FIRST = 64 };

/* ---- the table ---- */

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
    ptx_location *larger = grout__new(order->means.allocator, capacity, sizeof *larger);
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

/* ---- patterns of one location ---- */

/* The one of a location, in an array; NULL: there is none. */
static ptx_local_heads *find_local(ptx_local_heads *items, size_t count, const ptx_cell *cells) {
    for (size_t i = 0; i < count; i++) {
        if (items[i].cells == cells) {
            return &items[i];
        }
    }
    return NULL;
}

/* A strong read, which an acquire of the same location may follow. */
static bool note_seen_at(const ptx_order *order, ptx_lane *lane, const ptx_cell *cells,
                         const ptx_heads *heads) {
    ptx_fenced *fenced = heads->count == 0 ? NULL : grout_ptx__get_fenced(order, lane);
    if (fenced == NULL) {
        return heads->count == 0;
    }
    ptx_local_heads *local = find_local(fenced->seen_at.items, fenced->seen_at.count, cells);
    if (local == NULL) {
        if (!GROUT_ARRAY_RESERVE(&fenced->seen_at, order->means.allocator, 1)) {
            return false;
        }
        local = &fenced->seen_at.items[fenced->seen_at.count++];
        *local = (ptx_local_heads){.cells = cells};
    }
    return grout_ptx__add_heads(&order->means, &local->heads, heads);
}

/* A release, which strong writes of the same location may follow. */
static bool note_release(const ptx_order *order, ptx_lane *lane, const ptx_cell *cells,
                         const ptx_head *head) {
    ptx_fenced *fenced = grout_ptx__get_fenced(order, lane);
    if (fenced == NULL) {
        return false;
    }
    ptx_local_heads *local =
        find_local(fenced->released_at.items, fenced->released_at.count, cells);
    if (local == NULL) {
        if (!GROUT_ARRAY_RESERVE(&fenced->released_at, order->means.allocator, 1)) {
            return false;
        }
        local = &fenced->released_at.items[fenced->released_at.count++];
        *local = (ptx_local_heads){.cells = cells};
    }
    return grout_ptx__add_head(&order->means, &local->heads, head);
}

/* ---- reading ---- */

/* Whether a strong access observes the last write, or the chain that ends with it: both are strong,
 * of the same bytes, and each has a scope that includes the other's thread. */
static bool is_linked(const ptx_order *order, const ptx_location *location,
                      const ptx_value_access *access, uint32_t cta) {
    const uint32_t size = order->cluster_size;
    return location != NULL && access->ordering.sem != PTX_SEM_WEAK && access->is_read &&
           location->size == access->size &&
           grout_ptx__includes(access->ordering.scope, cta, location->writer.cta, size) &&
           grout_ptx__includes(location->scope, location->writer.cta, cta, size);
}

static bool acquires(const ptx_value_access *access) {
    return access->ordering.sem == PTX_SEM_ACQUIRE || access->ordering.sem == PTX_SEM_ACQ_REL;
}

/* What it reads: an acquire takes it, and what is too narrow for that is for a fence. */
static bool read_heads(ptx_order *order, const ptx_actor *actor, const ptx_value_access *access,
                       const ptx_heads *heads) {
    const uint32_t lane = (uint32_t)__builtin_ctz(actor->lanes);
    ptx_lane *it = &grout_ptx__get_lanes(order, actor)->lanes[lane];
    const ptx_taker taker = {actor->cta, order->cluster_size,
                             acquires(access) ? access->ordering.scope : PTX_SCOPE_NONE};
    if (access->is_reduction) {
        return true;
    }
    return grout_ptx__take_heads(&order->means, heads, &taker, &it->view) &&
           (grout_ptx__takes_all(heads, &taker) || (grout_ptx__note_seen(order, it, heads) &&
                                                    note_seen_at(order, it, access->cells, heads)));
}

/* What strong reads of the location saw before this acquire of it. */
static bool take_seen(ptx_order *order, const ptx_actor *actor, const ptx_value_access *access) {
    const uint32_t lane = (uint32_t)__builtin_ctz(actor->lanes);
    ptx_lane *it = &grout_ptx__get_lanes(order, actor)->lanes[lane];
    const ptx_taker taker = {actor->cta, order->cluster_size, access->ordering.scope};
    if (it->fenced == NULL || !acquires(access)) {
        return true;
    }
    const ptx_local_heads *local =
        find_local(it->fenced->seen_at.items, it->fenced->seen_at.count, access->cells);
    return local == NULL || grout_ptx__take_heads(&order->means, &local->heads, &taker, &it->view);
}

/* That it has observed the writes of the location so far, if it does not know of the last one
 * already. */
static bool note_observed(ptx_order *order, const ptx_actor *actor, const ptx_location *location) {
    const uint32_t lane = (uint32_t)__builtin_ctz(actor->lanes);
    ptx_clock **known =
        &grout_ptx__get_lanes(order, actor)->lanes[lane].view.clocks[PTX_KNOWN_THREADS];
    const ptx_actor *writer = &location->writer;
    const uint64_t agent =
        grout_ptx__get_agent(order, PTX_AGENT_THREADS, writer->cta, writer->warp);
    bool is_own =
        writer->cta == actor->cta && writer->warp == actor->warp && writer->lanes == actor->lanes;
    return is_own ||
           grout_ptx__knows(*known, agent, (uint32_t)__builtin_ctz(writer->lanes),
                            location->written_at) ||
           grout_ptx__note_time(&order->means, known, location->agent, 1, location->number);
}

/* The location of a strong write; another size is another location. NULL without memory. */
static ptx_location *get_written(ptx_order *order, const ptx_value_access *access) {
    ptx_location *location = make_location(order, access->cells);
    if (location != NULL && location->size != access->size) {
        grout_ptx__drop_heads(&location->heads);
        location->size = access->size;
        location->scope = PTX_SCOPE_NONE;
        location->agent = ptx_agent(PTX_AGENT_LOCATION, order->location_agents++);
        location->number = 0;
    }
    return location;
}

bool grout_ptx__take_over(ptx_order *order, const ptx_actor *actor, const ptx_value_access *access,
                          ptx_mark *mark_out) {
    ptx_location *location = find_location(order, access->cells);
    *mark_out = (ptx_mark){0, 0};
    if (access->ordering.sem == PTX_SEM_WEAK) {
        return true;
    }
    if (is_linked(order, location, access, actor->cta) &&
        !read_heads(order, actor, access, &location->heads)) {
        return false;
    }
    if (!take_seen(order, actor, access)) {
        return false;
    }
    if (access->is_write) {
        location = get_written(order, access);
        if (location == NULL) {
            return false;
        }
        *mark_out = (ptx_mark){location->agent, location->number + 1};
    }
    return true;
}

/* ---- writing ---- */

/* What a strong write hands over: what it releases itself, what fences before it do, and what its
 * lane's releases of the location did before. */
static bool give(ptx_order *order, const ptx_actor *actor, const ptx_value_access *access,
                 ptx_heads *heads) {
    ptx_lane *lane = &grout_ptx__get_lanes(order, actor)->lanes[__builtin_ctz(actor->lanes)];
    const ptx_handed handed = grout_ptx__get_released(access->ordering.sem);
    ptx_head head = {.scope = access->ordering.scope, .handed = handed, .cta = actor->cta};
    bool is_done = grout_ptx__capture(order, actor, &head.view) &&
                   (handed == PTX_HANDED_ALL ? note_release(order, lane, access->cells, &head)
                                             : grout_ptx__add_head(&order->means, heads, &head));
    grout_ptx__drop_view(&head.view);
    const ptx_local_heads *local = lane->fenced == NULL
                                       ? NULL
                                       : find_local(lane->fenced->released_at.items,
                                                    lane->fenced->released_at.count, access->cells);
    return is_done &&
           (local == NULL || grout_ptx__add_heads(&order->means, heads, &local->heads)) &&
           grout_ptx__add_fenced(order, lane, actor->cta, PTX_SCOPE_NONE, heads);
}

bool grout_ptx__hand_over(ptx_order *order, const ptx_actor *actor,
                          const ptx_value_access *access) {
    const bool is_weak = access->ordering.sem == PTX_SEM_WEAK;
    ptx_location *location = find_location(order, access->cells);
    if (location == NULL) {
        return true;
    }
    bool observes = is_linked(order, location, access, actor->cta);
    if (observes && !note_observed(order, actor, location)) {
        return false;
    }
    if (!access->is_write) {
        return true;
    }
    if (!observes) {
        grout_ptx__drop_heads(&location->heads);
    }
    location->scope = is_weak ? PTX_SCOPE_NONE : access->ordering.scope;
    location->writer = *actor;
    location->written_at = grout_ptx__get_lanes(order, actor)->now;
    (void)grout_ptx__tick(order, &location->number);
    return is_weak || give(order, actor, access, &location->heads);
}
