/* observe_order.c - what orders accesses, as ptx/order hears of it: mbarriers, meetings of threads,
 * the starts and ends of what engines do.
 * SPDX-License-Identifier: Apache-2.0 */
#include "mbarrier.h"
#include "observe.h"

/* Arrivals of cp.async in a group that are told apart, and groups: both make up the time of a copy.
 */
enum { MARKS = 1 << 12, GROUPS = 1 << 20 };

/* ---- mbarriers ---- */

static uint32_t get_offset(const ptx_bytes *bytes) {
    return (uint32_t)(bytes->cells - bytes->owner->cells);
}

static bool is_observed(const ptx_machine *machine, const ptx_bytes *bytes) {
    return machine->order != NULL && bytes->cells != NULL && bytes->owner != NULL;
}

bool grout_ptx__observe_init(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             bool is_init) {
    ptx_machine *machine = context->machine;
    const ptx_touch how = {.inst = context->step->inst,
                           .is_write = true,
                           .is_init = is_init,
                           .span = grout_ptx__get_span(bytes, GROUT_PTX_MBARRIER_SIZE)};
    return !is_observed(machine, bytes) ||
           (grout_ptx__touch_by_lanes(context, 1u << lane, bytes, how) &&
            grout_ptx__need_memory(
                machine,
                grout_ptx__init_barrier(machine->order, bytes->owner->number, get_offset(bytes))));
}

static bool use_barrier(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes) {
    const ptx_touch how = {.inst = context->step->inst,
                           .is_barrier = true,
                           .span = grout_ptx__get_span(bytes, GROUT_PTX_MBARRIER_SIZE)};
    return grout_ptx__touch_by_lanes(context, 1u << lane, bytes, how);
}

static bool has_ended_phase(uint64_t before, uint64_t after) {
    grout_ptx_mbarrier old, new;
    return grout_ptx__mbarrier_unpack(before, &old) && grout_ptx__mbarrier_unpack(after, &new) &&
           old.phase != new.phase;
}

static bool end_phase(ptx_machine *machine, const ptx_bytes *bytes, uint64_t before,
                      uint64_t after) {
    return !has_ended_phase(before, after) ||
           grout_ptx__end_phase(machine->order, bytes->owner->number, get_offset(bytes));
}

bool grout_ptx__observe_arrival(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                                uint64_t before, uint64_t after) {
    ptx_machine *machine = context->machine;
    const ptx_actor one = grout_ptx__get_actor(context, 1u << lane);
    return !is_observed(machine, bytes) ||
           (use_barrier(context, lane, bytes) &&
            grout_ptx__need_memory(
                machine, grout_ptx__arrive_at_barrier(machine->order, &one, bytes->owner->number,
                                                      get_offset(bytes), context->step->ordering) &&
                             end_phase(machine, bytes, before, after)));
}

bool grout_ptx__observe_wait(const ptx_context *context, uint32_t lane, const ptx_bytes *bytes,
                             bool is_over) {
    ptx_machine *machine = context->machine;
    const ptx_actor one = grout_ptx__get_actor(context, 1u << lane);
    return !is_observed(machine, bytes) ||
           (use_barrier(context, lane, bytes) &&
            (!is_over ||
             grout_ptx__need_memory(
                 machine, grout_ptx__wait_at_barrier(machine->order, &one, bytes->owner->number,
                                                     get_offset(bytes), context->step->ordering))));
}

bool grout_ptx__observe_target(ptx_machine *machine, ptx_async *async, uint64_t address) {
    ptx_bytes bytes;
    ptx_cta *owner = NULL;
    if (machine->order == NULL ||
        !grout_ptx__find_shared(async->own, address, GROUT_PTX_MBARRIER_SIZE, &bytes, &owner)) {
        return true; /* what tells the mbarrier finds that it is not there */
    }
    return grout_ptx__observe_async_reach(machine, async, owner) &&
           grout_ptx__need_memory(machine,
                                  grout_ptx__aim_flight(machine->order, &async->flight,
                                                        owner->number, get_offset(&bytes)));
}

bool grout_ptx__observe_hearing(ptx_machine *machine, const ptx_async *async,
                                const ptx_bytes *bytes, uint64_t before, uint64_t after) {
    const ptx_touch how = {.is_barrier = true,
                           .span = grout_ptx__get_span(bytes, GROUT_PTX_MBARRIER_SIZE)};
    ptx_flight flight = async->flight;
    flight.is_async_proxy = false; /* PTX ISA 9.1, 'mbarrier': by the generic proxy */
    return !is_observed(machine, bytes) ||
           (grout_ptx__touch_by_async(machine, async, &flight, bytes, how) &&
            grout_ptx__need_memory(machine, grout_ptx__hear_flight(machine->order, &async->flight,
                                                                   bytes->owner->number,
                                                                   get_offset(bytes)) &&
                                                end_phase(machine, bytes, before, after)));
}

/* ---- threads ---- */

bool grout_ptx__observe_warp_sync(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return machine->order == NULL ||
           grout_ptx__need_memory(machine, grout_ptx__sync_lanes(machine->order, &actor));
}

bool grout_ptx__observe_bar(const ptx_context *context, uint32_t bar, bool waits, bool is_end) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return machine->order == NULL ||
           grout_ptx__need_memory(
               machine, grout_ptx__come_to_bar(machine->order, &actor, bar, waits) &&
                            (!is_end || grout_ptx__end_bar(machine->order, actor.cta, bar)));
}

bool grout_ptx__observe_cluster_arrival(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return machine->order == NULL ||
           grout_ptx__need_memory(
               machine, grout_ptx__come_to_cluster(machine->order, &actor,
                                                   context->step->ordering.sem != PTX_SEM_RELAXED));
}

void grout_ptx__observe_cluster_end(const ptx_context *context) {
    if (context->machine->order != NULL) {
        grout_ptx__end_cluster_bar(context->machine->order, context->cta->number);
    }
}

bool grout_ptx__observe_cluster_wait(const ptx_context *context) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    return machine->order == NULL ||
           grout_ptx__need_memory(machine, grout_ptx__leave_cluster(machine->order, &actor));
}

/* ---- engines ---- */

/* Which engine, and its time: of a group, its number and 1. */
static void name_flight(const ptx_context *context, ptx_async *async) {
    const ptx_order *order = context->machine->order;
    ptx_warp *warp = context->warp;
    ptx_agent_kind kind = PTX_AGENT_BARRIER; /* until it is aimed */
    async->flight.lane = async->lane;
    async->flight.pipe = async->pipe;
    async->flight.time = async->group + 1;
    if (async->kind == PTX_ASYNC_COPY || async->kind == PTX_ASYNC_ALONE) {
        kind = PTX_AGENT_COPIES;
        async->flight.time =
            (warp->copy_groups[async->lane] + 1) * MARKS + warp->copy_marks[async->lane];
    } else if (async->kind == PTX_ASYNC_PRODUCT) {
        kind = PTX_AGENT_PRODUCTS;
        async->flight.lane = 0;
    } else if (async->kind == PTX_ASYNC_TENSOR) {
        kind = PTX_AGENT_TENSOR;
        warp->tensor_started[async->lane] += async->pipe.kind != PTX_PIPE_NONE;
        async->flight.time = warp->tensor_started[async->lane];
    } else if (async->kind == PTX_ASYNC_TENSOR_LOAD) {
        kind = PTX_AGENT_TENSOR_LOADS;
        async->flight.time = ++warp->tensor_loads;
    } else if (async->kind == PTX_ASYNC_TENSOR_STORE) {
        kind = PTX_AGENT_TENSOR_STORES;
        async->flight.time = ++warp->tensor_stores;
    }
    async->flight.agent = grout_ptx__get_agent(order, kind, context->cta->number, warp->index);
}

bool grout_ptx__observe_mark(const ptx_context *context, uint32_t lane) {
    ptx_warp *warp = context->warp;
    if (context->machine->order == NULL ||
        (++warp->copy_marks[lane] < MARKS && warp->copy_groups[lane] < GROUPS - 1)) {
        return true;
    }
    grout_ptx__reach_limit(
        context, lane,
        "limit ptx-copy-groups: the search for races tells at most %u groups of cp.async apart, "
        "and %u arrivals in a group",
        GROUPS - 1u, MARKS - 1u);
    return false;
}

bool grout_ptx__starts_alike(const ptx_context *context, uint32_t lane, uint32_t other) {
    const ptx_warp *warp = context->warp;
    const ptx_actor actor = grout_ptx__get_actor(context, 1u << lane | 1u << other);
    return warp->copy_groups[lane] == warp->copy_groups[other] &&
           (context->machine->order == NULL ||
            (warp->copy_marks[lane] == warp->copy_marks[other] &&
             grout_ptx__know_alike(context->machine->order, &actor)));
}

bool grout_ptx__observe_start(const ptx_context *context, ptx_async *async) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, async->lanes);
    if (machine->order == NULL) {
        return true;
    }
    if (async->kind == PTX_ASYNC_COPY) {
        grout_ptx__start_lane_flights(machine->order, &actor, &async->flight);
    } else if (!grout_ptx__start_flight(machine->order, &actor, &async->flight)) {
        return grout_ptx__need_memory(machine, false);
    }
    async->flight.is_async_proxy = !async->is_generic;
    name_flight(context, async);
    return async->kind != PTX_ASYNC_TENSOR ||
           grout_ptx__need_memory(
               machine, async->pipe.kind == PTX_PIPE_NONE /* a commit */
                            ? grout_ptx__seal_flight(machine->order, &async->flight)
                            : grout_ptx__note_tensor_start(machine->order, &actor, &async->flight));
}

/* One lane's groups of copies. */
static bool learn_groups(const ptx_context *context, ptx_async_kind kind, uint32_t lane,
                         uint32_t before, bool only_reads) {
    ptx_order *order = context->machine->order;
    const ptx_actor one = grout_ptx__get_actor(context, 1u << lane);
    const uint32_t cta = context->cta->number, warp = context->warp->index;
    if (kind == PTX_ASYNC_COPY) {
        /* of the open group, those so far */
        bool is_open = before > context->warp->copy_groups[lane];
        uint32_t last = is_open ? context->warp->copy_marks[lane] : MARKS - 1;
        return grout_ptx__learn(order, &one, PTX_KNOWN_ENGINES,
                                grout_ptx__get_agent(order, PTX_AGENT_COPIES, cta, warp), 0,
                                before * MARKS + last) &&
               (!is_open || grout_ptx__observe_mark(context, lane));
    }
    return grout_ptx__learn(order, &one, PTX_KNOWN_ENGINES,
                            grout_ptx__get_agent(order, PTX_AGENT_BULK_READS, cta, warp), 0,
                            before) &&
           (only_reads ||
            grout_ptx__learn(order, &one, PTX_KNOWN_THREADS,
                             grout_ptx__get_agent(order, PTX_AGENT_BULK_WRITES, cta, warp), 0,
                             before));
}

bool grout_ptx__observe_groups(const ptx_context *context, ptx_async_kind kind,
                               const uint32_t *before, bool only_reads) {
    ptx_machine *machine = context->machine;
    const ptx_actor actor = grout_ptx__get_actor(context, context->lanes);
    bool is_done = true;
    if (machine->order == NULL) {
        return true;
    }
    if (kind == PTX_ASYNC_TENSOR_LOAD || kind == PTX_ASYNC_TENSOR_STORE) {
        bool is_load = kind == PTX_ASYNC_TENSOR_LOAD;
        uint64_t agent = grout_ptx__get_agent(
            machine->order, is_load ? PTX_AGENT_TENSOR_LOADS : PTX_AGENT_TENSOR_STORES, actor.cta,
            actor.warp);
        return grout_ptx__need_memory(
            machine,
            grout_ptx__learn(machine->order, &actor, PTX_KNOWN_ADMITTED, agent, 1, *before));
    }
    if (kind == PTX_ASYNC_PRODUCT) {
        return grout_ptx__need_memory(
            machine, grout_ptx__learn(machine->order, &actor, PTX_KNOWN_ENGINES,
                                      grout_ptx__get_agent(machine->order, PTX_AGENT_PRODUCTS,
                                                           actor.cta, actor.warp),
                                      1, *before));
    }
    PTX_FOR_LANES(lane, context->lanes) {
        is_done = is_done && (before[lane] == 0 ||
                              learn_groups(context, kind, lane, before[lane], only_reads));
    }
    return grout_ptx__need_memory(machine, is_done);
}
