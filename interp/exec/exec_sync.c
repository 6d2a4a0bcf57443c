/*
 * exec_sync.c - commits, arrivals and waits.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "barrier.h"
#include "engine.h"
#include "exec.h"
#include "tma.h"

grout_outcome grout_exec_commit_smem(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_cta__publish_plain(cta, GROUT_EVENT_COMMIT_SMEM, thread, inst);
    if (machine->has_clocks) {
        grout_order__commit_smem(&machine->plan->order, grout_cta__clocks(cta, thread),
                                 grout_cta__actor(cta, thread), cta->rank,
                                 (inst->attrs & GROUT_ATTR_BIT(CLUSTER)) != 0);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_fence_async_shared(const grout_cta *cta, uint32_t thread,
                                            const grout_inst *inst) {
    return grout_exec_commit_smem(cta, thread, inst);
}

grout_outcome grout_exec_commit_gmem(const grout_cta *cta, uint32_t thread,
                                     const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_cta__publish_plain(cta, GROUT_EVENT_COMMIT_GMEM, thread, inst);
    if (machine->has_clocks) {
        const grout_order *order = &machine->plan->order;
        uint32_t *set = grout_cta__clocks(cta, thread);
        uint32_t *word = grout_order__get_foreign(order, set);
        grout_order__commit_gmem(order, set, grout_cta__actor(cta, thread), cta->rank);
        *word = *word == 0 ? 0 : grout_foreign__publish(machine, *word, cta->rank);
    }
    return GROUT_OUTCOME_NEXT;
}

/* The launches before this one have been run to their ends, so there is nothing to block on; what
 * their end shows is known from here on only. */
grout_outcome grout_exec_griddepcontrol_wait(const grout_cta *cta, uint32_t thread,
                                             const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_cta__publish_plain(cta, GROUT_EVENT_GRID_WAIT, thread, inst);
    if (machine->has_clocks) {
        uint32_t *known = grout_cta__clocks(cta, thread);
        grout_order__complete(&machine->plan->order, known, grout_clock_grid(&machine->plan->shape),
                              1);
    }
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_griddepcontrol_launch_dependents(const grout_cta *cta, uint32_t thread,
                                                          const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    grout_cta__publish_plain(cta, GROUT_EVENT_GRID_TRIGGER, thread, inst);
    if (machine->has_clocks && inst->order == GROUT_CHOICE_ORDER_RELEASE) {
        grout_order__advance(&machine->plan->order, grout_cta__clocks(cta, thread),
                             grout_cta__actor(cta, thread)); /* what comes later is not released */
    }
    return GROUT_OUTCOME_NEXT;
}

/* On a cluster barrier it is one arrival on several CTAs' elements, at once; else on the element of
 * one CTA, its own or the one that it names. */
grout_outcome grout_exec_barrier_arrive(const grout_cta *cta, uint32_t thread,
                                        const grout_inst *inst) {
    grout_arrival arrival = {
        .count = (uint32_t)inst->u.arrive.count, .order = inst->order, .scope = inst->edge_scope};
    if (!grout_barrier__find_peer_element(cta, thread, inst, 0, &arrival.element, &arrival.rank)) {
        return GROUT_OUTCOME_NEXT;
    }
    const uint32_t mask = grout_barrier__get_targets(cta, arrival.element);
    if (mask == 1u << cta->rank) {
        grout_barrier__arrive(cta, thread, inst, &arrival);
    } else {
        uint32_t records[GROUT_CLUSTER_MAX];
        grout_barrier__arrive_all(cta, thread, inst, &arrival, mask, records);
    }
    return GROUT_OUTCOME_NEXT;
}

/* Blocks until the next phase lacks nothing but what is in flight; the engine then lands that. */
grout_outcome grout_exec_barrier_wait(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    grout_waiting waiting = {.order = inst->order, .scope = inst->edge_scope};
    if (!grout_barrier__find_element(cta, thread, inst, 0, &waiting.element)) {
        return GROUT_OUTCOME_NEXT;
    }
    waiting.phase = grout_barrier__get_next_wait(cta, thread, waiting.element);
    if (!grout_barrier__is_ready(cta, waiting.element, waiting.phase)) {
        return grout_cta__block(cta, thread, GROUT_THREAD_BLOCKED_BARRIER, waiting.element,
                                waiting.phase);
    }
    waiting.has_landed = grout_flight__land_phases(cta, waiting.element, waiting.phase);
    grout_barrier__observe(cta, thread, inst, &waiting);
    return GROUT_OUTCOME_NEXT;
}

grout_outcome grout_exec_commit_group(const grout_cta *cta, uint32_t thread,
                                      const grout_inst *inst) {
    grout_tma__commit_group(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}

/* A wait as to one lane. */
static void wait_lane(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      uint32_t lane) {
    grout_machine *machine = cta->machine;
    const grout_clock_shape *shape = &machine->plan->shape;
    const grout_slot *slot = grout_plan__slot(machine->plan, inst, 0);
    bool is_read_only = (inst->attrs & GROUT_ATTR_BIT(READ_ONLY)) != 0;
    uint32_t allowed = (uint32_t)grout_slot__get_integer(cta, thread, slot);
    uint32_t committed = grout_cta__lane(cta, lane)->committed;
    uint32_t done = committed > allowed ? committed - allowed : 0;
    if (grout_machine__wants(machine, GROUT_EVENT_GROUP_WAIT)) {
        grout_clocks clocks;
        grout_event event = grout_cta__event(cta, GROUT_EVENT_GROUP_WAIT, thread, inst, &clocks);
        event.u.group.lane = cta->lane_base + lane;
        event.u.group.number = done;
        event.u.group.allowed = allowed;
        event.u.group.read_only = is_read_only;
        grout_machine__publish(machine, &event);
    }
    if (machine->is_lazy) {
        (is_read_only ? grout_flight__read_groups
                      : grout_flight__finish_groups)(cta, GROUT_ENGINE_TMA_STORE, lane, done);
    }
    uint32_t *known = grout_cta__clocks(cta, thread);
    grout_order__complete(&machine->plan->order, known,
                          grout_clock_bulk_read(shape, cta->lane_base + lane), done);
    if (!is_read_only) {
        grout_order__raise(&known[grout_clock_bulk_written(shape, cta->lane_base + lane)], done);
    }
}

/* Never blocks here: the engine does at once what is waited for. A thread waits for each of its
 * lanes. */
grout_outcome grout_exec_wait_smem_to_gmem(const grout_cta *cta, uint32_t thread,
                                           const grout_inst *inst) {
    grout_machine *machine = cta->machine;
    uint32_t lane = grout_machine__lane_of(machine, thread);
    uint32_t count =
        grout_machine__warp_of(machine, thread) > 0 ? 1 : machine->plan->shape.lanes_per_thread;
    for (uint32_t i = 0; i < count; i++) {
        wait_lane(cta, thread, inst, lane + i);
    }
    return GROUT_OUTCOME_NEXT;
}
