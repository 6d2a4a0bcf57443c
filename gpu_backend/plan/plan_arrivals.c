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

#include "alloc.h"
#include "invariant.h"

/* The barriers of one object, or of several that are made together: by the first of them. */
typedef struct pool {
    bool has_single;       /* somebody arrives once for all: a copy, a warp */
    bool has_lanes;        /* each lane arrives for itself somewhere: async_copy_arrive */
    bool is_special;       /* threads are counted, whichever lane arrives */
    uint32_t arrive_count; /* arrivals of each warp: 0, 1, or several in program order */
    uint32_t most;         /* arrivals of a phase */
} pool;

typedef struct arrival_walk {
    const grout_gpu_plan *plan;
    const grout_module *module;
    pool *pools;      /* by barrier */
    bool is_in_warps; /* what is visited stands in a warp_map, or has fewer than four warps */
} arrival_walk;

/* The pool that an operand names, or NULL. */
static pool *find_pool(const arrival_walk *walk, const grout_op *op, uint32_t index) {
    grout_view view;
    if (!grout_module_get_view(walk->module, grout_module_get_operand(walk->module, op, index),
                               &view)) {
        return NULL;
    }
    const uint32_t number = grout_gpu__plan_find_barrier(walk->plan, view.object);
    return number == UINT32_MAX ? NULL : &walk->pools[walk->plan->barriers[number].owner];
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
static void note_arrival(const arrival_walk *walk, const grout_op *op, pool *to) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync != NULL && sync->lanes == GROUT_SYNC_LANES_EACH) {
        to->has_lanes = true;
    } else if (sync != NULL && sync->lanes == GROUT_SYNC_LANES_ANY) {
        to->arrive_count += is_in_loop(walk->module, op) ? 2 : 1;
        to->has_single = to->has_single || walk->is_in_warps;
    } else {
        to->has_single = true;
    }
}

static bool visit(void *payload, grout_op_id id, const grout_op *op) {
    arrival_walk *walk = payload;
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    (void)id;
    for (uint32_t k = 0; k < count; k++) {
        pool *to = effects[k].access == GROUT_ACCESS_ARRIVE
                       ? find_pool(walk, op, effects[k].operand)
                       : NULL;
        if (to != NULL) {
            note_arrival(walk, op, to);
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

/* What each barrier says of its pool. */
static void note_barriers(const grout_gpu_plan *plan, pool *pools) {
    for (uint32_t k = 0; k < plan->barrier_count; k++) {
        const grout_gpu_barrier *barrier = &plan->barriers[k];
        pool *of = &pools[barrier->owner];
        of->most = barrier->arrivals > of->most ? barrier->arrivals : of->most;
        of->is_special = of->is_special || barrier->is_explicit || barrier->is_clustered ||
                         barrier->is_cluster_scope;
    }
}

static void decide(grout_gpu_barrier *barrier, const pool *of) {
    /* What mbarrier counts to bounds them. */
    const bool counts_warps = !of->has_single && !of->has_lanes && !of->is_special &&
                              of->most <= GROUT_GPU_ARRIVALS_MAX / GROUT_GPU_WARPS;
    barrier->counts_warps = counts_warps;
    barrier->counts_lanes = of->has_lanes;
    GROUT_ASSERT(!counts_warps || !of->has_lanes);
    barrier->is_watched = counts_warps && of->most > 1 && of->arrive_count > 1;
}

bool grout_gpu__plan_arrivals(grout_gpu_plan *plan, const grout_module *module,
                              grout_block_id body) {
    pool *pools =
        grout__new(grout_module_get_allocator(module), plan->barrier_count, sizeof *pools);
    arrival_walk walk = {.plan = plan, .module = module, .pools = pools};
    if (pools == NULL) {
        return false;
    }
    (void)grout_gpu__walk(module, body, visit, &walk);
    note_barriers(plan, pools);
    for (uint32_t k = 0; k < plan->barrier_count; k++) {
        decide(&plan->barriers[k], &pools[plan->barriers[k].owner]);
    }
    grout__free(pools);
    return true;
}
