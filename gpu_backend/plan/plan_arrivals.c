/*
 * plan_arrivals.c - how a thread arrives on a barrier: one lane for all, each warp or each lane for
 * itself.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread has arrived when its four warps have got as far. If one lane says so for all, they have
 * to meet first. If each warp says so for itself, the barrier does the meeting: it counts to four
 * times as many, and nobody waits. But then a warp may run ahead and arrive twice while another has
 * not arrived at all, and both arrivals would count for the same phase. That cannot happen where
 * one thread makes all arrivals of a phase: it makes those of the next only after somebody has
 * waited for the phase (rules of barriers, docs/memory_model.md), which took all four warps. With
 * several threads one of them may learn from another, not from the one that waits, that the phase
 * is complete: there each thread watches that its warps have met before it arrives on the same
 * barrier again. A copy arrives once for all; barriers that copies arrive on count threads. So do
 * those that the warps of a warp_map arrive on, whose arrivals are as good as a thread's, or
 * threads of fewer than four warps, those of other CTAs and mbarriers.
 *
 * cp.async is each lane's own, and so is its arrival: a barrier with an async_copy_arrive counts
 * lanes, and a thread that arrives otherwise makes 128 arrivals at once.
 */
#include "planning.h"

#include "invariant.h"

typedef struct pool_walk {
    const grout_gpu_plan *plan;
    const grout_module *module;
    uint32_t pool;         /* number of its first barrier */
    bool has_single;       /* somebody arrives once for all: a copy, a warp */
    bool has_lanes;        /* each lane arrives for itself somewhere: async_copy_arrive */
    bool is_in_warps;      /* what is visited stands in a warp_map, or has fewer than four warps */
    uint32_t arrive_count; /* arrivals of each warp: 0, 1, or several in program order */
} pool_walk;

static bool is_in_pool(const pool_walk *walk, const grout_op *op, uint32_t index) {
    grout_view view;
    if (!grout_module_get_view(walk->module, grout_module_get_operand(walk->module, op, index),
                               &view)) {
        return false;
    }
    const uint32_t number = grout_gpu__plan_find_barrier(walk->plan, view.object);
    return number != UINT32_MAX && walk->plan->barriers[number].owner == walk->pool;
}

static bool is_in_loop(const grout_module *module, const grout_op *op) {
    grout_op_id around = grout_module_get_block(module, op->parent)->parent;
    while (around != 0) {
        op = grout_module_get_op(module, around);
        if (grout_op_get_region((grout_opcode)op->opcode)->kind == GROUT_REGION_LOOP) {
            return true;
        }
        around = grout_module_get_block(module, op->parent)->parent;
    }
    return false;
}

/* Notes which lanes make the arrival of an op on a barrier of the pool. */
static void note_arrival(pool_walk *walk, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync != NULL && sync->lanes == GROUT_SYNC_LANES_EACH) {
        walk->has_lanes = true;
    } else if (sync != NULL && sync->lanes == GROUT_SYNC_LANES_ANY) {
        walk->arrive_count += is_in_loop(walk->module, op) ? 2 : 1;
        walk->has_single = walk->has_single || walk->is_in_warps;
    } else {
        walk->has_single = true;
    }
}

static bool visit(void *payload, grout_op_id id, const grout_op *op) {
    pool_walk *walk = payload;
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    (void)id;
    for (uint32_t k = 0; k < count; k++) {
        if (effects[k].access == GROUT_ACCESS_ARRIVE && is_in_pool(walk, op, effects[k].operand)) {
            note_arrival(walk, op);
        }
    }
    const grout_region_kind kind =
        (grout_region_kind)grout_op_get_region((grout_opcode)op->opcode)->kind;
    for (uint32_t k = 0; k < op->block_count && !walk->is_in_warps; k++) {
        if (kind == GROUT_REGION_WARPS ||
            (kind == GROUT_REGION_PARTITIONS && walk->plan->thread_warps[k] < GROUT_GPU_WARPS)) {
            walk->is_in_warps = true;
            (void)grout_gpu__walk(walk->module, op->first_block + k, visit, walk);
            walk->is_in_warps = false;
        }
    }
    return true;
}

void grout_gpu__plan_arrivals(grout_gpu_plan *plan, const grout_module *module,
                              grout_block_id body) {
    for (uint32_t pool = 0; pool < plan->barrier_count; pool++) {
        pool_walk walk = {.plan = plan, .module = module, .pool = pool};
        uint32_t most = 0; /* arrivals of a phase */
        bool is_special = false;
        if (plan->barriers[pool].owner != pool) {
            continue;
        }
        (void)grout_gpu__walk(module, body, visit, &walk);
        for (uint32_t k = pool; k < plan->barrier_count; k++) {
            if (plan->barriers[k].owner == pool && plan->barriers[k].arrivals > most) {
                most = plan->barriers[k].arrivals;
            }
            if (plan->barriers[k].owner == pool) {
                is_special = is_special || plan->barriers[k].is_explicit ||
                             plan->barriers[k].is_clustered || plan->barriers[k].is_cluster_scope;
            }
        }
        /* What mbarrier counts to bounds them. */
        const bool counts_warps = !walk.has_single && !walk.has_lanes && !is_special &&
                                  most <= GROUT_GPU_ARRIVALS_MAX / GROUT_GPU_WARPS;
        for (uint32_t k = pool; k < plan->barrier_count; k++) {
            if (plan->barriers[k].owner == pool) {
                plan->barriers[k].counts_warps = counts_warps;
                plan->barriers[k].counts_lanes = walk.has_lanes;
                GROUT_ASSERT(!counts_warps || !walk.has_lanes);
                plan->barriers[k].is_watched = counts_warps && most > 1 && walk.arrive_count > 1;
            }
        }
    }
}
