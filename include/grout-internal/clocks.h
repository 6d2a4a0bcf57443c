/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clocks.h - what an actor knows of the others, as events show it: counters by mechanism. The terms
 * are those of events.h. Needs no header of the IR.
 */
#ifndef GROUT_INTERNAL_CLOCKS_H
#define GROUT_INTERNAL_CLOCKS_H

#include "grout-internal/diagnose.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A clock is a vector of counters of one cluster: with A actors, L lanes and B barrier elements in
 * all its CTAs together
 *
 *     handed[A]         up to which epoch an actor's accesses would be released if every edge were
 *                       strong and wide enough: a relaxed or too narrow edge has lost what lies
 *                       between handed and released
 *     epoch[A]          how far each actor has got (an engine fact, carried by every edge)
 *     bulk_read[L]      bulk groups whose sources are read
 *     async_copy[A]     cp.async groups of each actor known done
 *     phase[B]          phases of each barrier known complete
 *     wgmma[A]          wgmma groups of each thread known done: operands read, accumulator written;
 *                       those of warps stay 0
 *     grid[D]           1: the grid on which the launch depends is known to have ended, all that it
 *                       did is visible (nobody released it, the end of the grid did); D is 1 in a
 *                       kernel with a griddepcontrol_wait, else 0
 *     tcgen05[T]        tcgen05_mma of each lane known done
 *     tmem_load[U]      loads of tensor memory that each actor has waited for
 *     tmem_store[U]     stores to it that each actor has waited for
 *     sealed            tcgen05[T], issued MMAs[T], tmem_load[U] and tmem_store[U] once more: what
 *                       of them was sealed by an edge that orders the tensor core
 *     seen              bulk_read to sealed once more, in a cluster of several CTAs: up to where it
 *                       can be seen, too. An edge between two CTAs that is relaxed, or whose scope
 *                       does not hold both, has lost it, and so has the completion of another
 *                       engine that arrives in another CTA. In a cluster of one CTA it is the same
 *     released[A]       up to which epoch its accesses are released (a memory fact: release ->
 *                       acquire only)
 *     bulk_written[L]   bulk groups whose writes are finished (memory fact)
 *
 * in this order; what stands between epoch and released are engine facts. T is L and U is A in a
 * kernel with tensor memory, else both are 0. What an actor may rely on in tensor memory is a
 * vector of its own, of the four sealed parts, and in a cluster of several CTAs once more, up to
 * where it can be seen: grout_clocks' admitted. It is not enough there that something was admitted,
 * and can be seen in some other way: one path has to lead through both fences along edges that show
 * it. An edge between actors that has lost its memory facts carries the first part of the vector:
 * between CTAs what comes before seen, within one CTA what comes before released. The completion of
 * an engine carries the same from epoch on, without the memory facts of its issuer. Within a group,
 * the counters of rank 0 come first. Epochs start at 1, phase and group numbers count from 1 (phase
 * q, counted from 0, is done when its counter >= q + 1); 0 means nothing is known.
 */
typedef struct grout_clock_shape {
    uint32_t cta_count; /* of the cluster */
    /* in the whole cluster; divide by cta_count for those of one CTA */
    uint32_t actor_count;
    uint32_t lane_count;
    uint32_t barrier_count;
    uint32_t thread_count;     /* of ONE CTA: its actors 0 to thread_count - 1 */
    uint32_t lanes_per_thread; /* 1; 4 in a kernel with a warp_map */
    uint32_t grid_count;       /* D */
    uint32_t has_tensor_facts; /* 1: T is L and U is A; 0: they are 0 */
} grout_clock_shape;

/* T and U; all counters of what is sealed, whether it can be seen or not. */
static inline uint32_t grout_clock_tensor_lanes(const grout_clock_shape *shape) {
    return shape->has_tensor_facts * shape->lane_count;
}
static inline uint32_t grout_clock_tensor_actors(const grout_clock_shape *shape) {
    return shape->has_tensor_facts * shape->actor_count;
}
static inline uint32_t grout_clock_sealed_size(const grout_clock_shape *shape) {
    return 2 * grout_clock_tensor_lanes(shape) + 2 * grout_clock_tensor_actors(shape);
}
/* All counters of what is admitted. */
static inline uint32_t grout_clock_admitted_size(const grout_clock_shape *shape) {
    return grout_clock_sealed_size(shape) * (shape->cta_count > 1 ? 2 : 1);
}
/* Counters of what engines are done with: bulk_read to tmem_store. */
static inline uint32_t grout_clock_done_size(const grout_clock_shape *shape) {
    return 2 * shape->actor_count + shape->lane_count + shape->barrier_count + shape->grid_count +
           grout_clock_tensor_lanes(shape) + 2 * grout_clock_tensor_actors(shape);
}
/* Counters of an edge without memory facts between two CTAs: all before seen. */
static inline uint32_t grout_clock_time_size(const grout_clock_shape *shape) {
    return 2 * shape->actor_count + grout_clock_done_size(shape) + grout_clock_sealed_size(shape);
}
/* The same within a CTA: all before released. */
static inline uint32_t grout_clock_engine_size(const grout_clock_shape *shape) {
    return grout_clock_time_size(shape) +
           (shape->cta_count > 1 ? grout_clock_done_size(shape) + grout_clock_sealed_size(shape)
                                 : 0);
}
static inline uint32_t grout_clock_size(const grout_clock_shape *shape) {
    return grout_clock_engine_size(shape) + shape->actor_count + shape->lane_count;
}
static inline uint32_t grout_clock_handed(const grout_clock_shape *shape, uint32_t actor) {
    (void)shape;
    return actor;
}
static inline uint32_t grout_clock_epoch(const grout_clock_shape *shape, uint32_t actor) {
    return shape->actor_count + actor;
}
static inline uint32_t grout_clock_bulk_read(const grout_clock_shape *shape, uint32_t lane) {
    return 2 * shape->actor_count + lane;
}
static inline uint32_t grout_clock_async_copy(const grout_clock_shape *shape, uint32_t actor) {
    return 2 * shape->actor_count + shape->lane_count + actor;
}
static inline uint32_t grout_clock_phase(const grout_clock_shape *shape, uint32_t barrier) {
    return 3 * shape->actor_count + shape->lane_count + barrier;
}
static inline uint32_t grout_clock_wgmma(const grout_clock_shape *shape, uint32_t actor) {
    return 3 * shape->actor_count + shape->lane_count + shape->barrier_count + actor;
}
static inline uint32_t grout_clock_grid(const grout_clock_shape *shape) {
    return 4 * shape->actor_count + shape->lane_count + shape->barrier_count;
}
static inline uint32_t grout_clock_tcgen05(const grout_clock_shape *shape, uint32_t lane) {
    return grout_clock_grid(shape) + shape->grid_count + lane;
}
static inline uint32_t grout_clock_tmem_load(const grout_clock_shape *shape, uint32_t actor) {
    return grout_clock_tcgen05(shape, 0) + grout_clock_tensor_lanes(shape) + actor;
}
static inline uint32_t grout_clock_tmem_store(const grout_clock_shape *shape, uint32_t actor) {
    return grout_clock_tmem_load(shape, 0) + grout_clock_tensor_actors(shape) + actor;
}
/* Where the sealed parts begin. */
static inline uint32_t grout_clock_sealed(const grout_clock_shape *shape) {
    return grout_clock_tmem_store(shape, 0) + grout_clock_tensor_actors(shape);
}
/* Where it is said that what a component of bulk_read to sealed counts can be seen, too. */
static inline uint32_t grout_clock_seen(const grout_clock_shape *shape, uint32_t component) {
    return shape->cta_count > 1
               ? component - grout_clock_bulk_read(shape, 0) + grout_clock_time_size(shape)
               : component;
}
/* In the vector of what is admitted: the place of a tcgen05, tmem_load or tmem_store component,
 * and of an issued MMA. */
static inline uint32_t grout_clock_admitted(const grout_clock_shape *shape, uint32_t component) {
    const uint32_t index = component - grout_clock_tcgen05(shape, 0);
    const uint32_t lanes = grout_clock_tensor_lanes(shape);
    return index < lanes ? index : index + lanes;
}
static inline uint32_t grout_clock_admitted_issue(const grout_clock_shape *shape, uint32_t lane) {
    return grout_clock_tensor_lanes(shape) + lane;
}
/* There, the place of what such a component counts and can be seen. */
static inline uint32_t grout_clock_admitted_seen(const grout_clock_shape *shape,
                                                 uint32_t component) {
    return grout_clock_admitted(shape, component) + grout_clock_admitted_size(shape) -
           grout_clock_sealed_size(shape);
}
static inline uint32_t grout_clock_released(const grout_clock_shape *shape, uint32_t actor) {
    return grout_clock_engine_size(shape) + actor;
}
static inline uint32_t grout_clock_bulk_written(const grout_clock_shape *shape, uint32_t lane) {
    return grout_clock_engine_size(shape) + shape->actor_count + lane;
}
/* Numbers in the cluster of what has a number in the CTA of a rank. */
static inline uint32_t grout_clock_actor(const grout_clock_shape *shape, uint32_t rank,
                                         uint32_t local) {
    return rank * (shape->actor_count / shape->cta_count) + local;
}
static inline uint32_t grout_clock_lane(const grout_clock_shape *shape, uint32_t rank,
                                        uint32_t local) {
    return rank * (shape->lane_count / shape->cta_count) + local;
}
static inline uint32_t grout_clock_barrier(const grout_clock_shape *shape, uint32_t rank,
                                           uint32_t element) {
    return rank * (shape->barrier_count / shape->cta_count) + element;
}
/* Actor, in its CTA, of a thread (warp 0) or of one of its warps (warp 1 to 4 for w = 0 to 3). */
static inline uint32_t grout_clock_local_actor(const grout_clock_shape *shape, uint32_t thread,
                                               uint32_t warp) {
    return warp == 0 ? thread : shape->thread_count + 4 * thread + warp - 1;
}
/* Its lane, in its CTA: a thread issues from that of its warp 0. */
static inline uint32_t grout_clock_local_lane(const grout_clock_shape *shape, uint32_t thread,
                                              uint32_t warp) {
    return shape->lanes_per_thread * thread + (warp == 0 ? 0 : warp - 1);
}

/* What is known of another cluster's actors and engines, through semaphores and ordered atomics. */
typedef struct grout_foreign_clock {
    uint32_t cluster;
    const uint32_t *known, *published_gmem, *fenced_gmem; /* of that cluster; same shape */
} grout_foreign_clock;

/* The clocks of an actor at an event; each has grout_clock_size counters. */
typedef struct grout_clocks {
    uint32_t cluster;      /* whose counters these are */
    const uint32_t *known; /* V: what happened before */
    /* PG: the part that async accesses of GMEM may assume published */
    const uint32_t *published_gmem;
    /* FG: the part of PG that a commit_gmem of the actor's own CTA has published; NULL: all */
    const uint32_t *fenced_gmem;
    /*
     * PS: the same for the SMEM of each CTA of the cluster, one clock smem_stride counters after
     * the other. smem_stride 0: one clock, in which each counter is about the SMEM of its own CTA;
     * enough for a kernel in which no thread touches another CTA's SMEM by plain loads and stores.
     */
    const uint32_t *published_smem;
    uint32_t smem_stride;
    const uint32_t *admitted; /* grout_clock_admitted_size counters, if there are tensor facts */
    uint32_t foreign_count;
    const grout_foreign_clock *foreign; /* sorted by cluster */
} grout_clocks;

/* PS of the SMEM of a CTA. */
static inline const uint32_t *grout_clocks_get_smem(const grout_clocks *clocks, uint32_t rank) {
    return clocks->published_smem + (size_t)rank * clocks->smem_stride;
}
/* Whether all that the grid did on which the launch depends is over and visible to the actor. */
bool grout_clocks_know_grid(const grout_clocks *clocks, const grout_clock_shape *shape);
/* V, PG and FG for the counters of a cluster; NULL: nothing is known of it. */
const uint32_t *grout_clocks_find_known(const grout_clocks *clocks, uint32_t cluster);
const uint32_t *grout_clocks_find_gmem(const grout_clocks *clocks, uint32_t cluster);
const uint32_t *grout_clocks_find_fenced(const grout_clocks *clocks, uint32_t cluster);

#ifdef __cplusplus
}
#endif
#endif
