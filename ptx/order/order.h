/* order.h - which accesses of a run are ordered, and which race.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 9.1, 'Memory Consistency Model'. The machine tells of each instruction that orders, of
 * each access, and of each operation that an engine makes. Nothing here depends on when things
 * happened: two accesses that are not ordered race, however far apart they were.
 *
 * Functions that return bool are false without memory, and where the means' time is over, where
 * nothing else is said.
 */
#ifndef GROUT_PTX_ORDER_H
#define GROUT_PTX_ORDER_H

#include "shadow.h"

enum { PTX_ORDER_LANES = 32, PTX_NAMED_BARRIERS = 16 };

/* Lanes of a warp of a CTA. */
typedef struct ptx_actor {
    uint32_t cta, warp, lanes;
} ptx_actor;

/* The words of an instruction. */
typedef enum ptx_sem {
    PTX_SEM_WEAK,
    PTX_SEM_RELAXED,
    PTX_SEM_ACQUIRE,
    PTX_SEM_RELEASE,
    PTX_SEM_ACQ_REL
} ptx_sem;

typedef struct ptx_ordering {
    ptx_sem sem;
    ptx_scope scope;
} ptx_ordering;

/* An operation of an engine: what it is ordered after, and who it counts as. */
typedef struct ptx_flight {
    ptx_view view;
    uint64_t own_agent; /* the threads of the warp that started it; its lane; before what time */
    uint32_t own_lane, own_time;
    uint64_t agent;
    uint32_t lane, time;
    bool is_async_proxy;
    ptx_pipe pipe; /* of the tensor core */
} ptx_flight;

typedef struct ptx_order ptx_order;

/* warp_count: of a CTA. The means are copied. */
ptx_order *grout_ptx__new_order(const ptx_means *means, uint32_t warp_count, uint32_t cluster_size);
void grout_ptx__free_order(ptx_order *order);
bool grout_ptx__begin_order(ptx_order *order, uint32_t cta);
void grout_ptx__end_order(ptx_order *order, uint32_t cta);

/* ---- accesses ---- */

/* What the machine knows of one; place and instruction. */
typedef struct ptx_touch {
    uint32_t inst;
    ptx_ordering ordering;
    bool is_map;                        /* it reads a tensor map */
    bool is_write, is_barrier, is_init; /* of an mbarrier; is_init: its init */
    bool is_cached;                     /* ld.global.nc */
    const uint8_t *same;                /* ptx_same of each byte; NULL: each is PTX_SAME_NOT */
    bool is_operand;                    /* of a product of tcgen05: no part of its sums */
    uint32_t size;                      /* of a strong access, in bytes */
    ptx_mark mark;                      /* of a strong write */
    ptx_span span;
} ptx_touch;

/* By lanes that all access the same place; false also with a race: race_out->missing says so. */
bool grout_ptx__touch(ptx_order *order, const ptx_actor *actor, const ptx_touch *touch,
                      ptx_race *race_out);
bool grout_ptx__touch_by_flight(ptx_order *order, const ptx_flight *flight, uint32_t cta,
                                uint32_t warp, const ptx_touch *touch, ptx_race *race_out);
/* Two writes that race and leave the same values, by their number from 0; NULL: there are not
 * that many. */
const ptx_equal *grout_ptx__get_equal(const ptx_order *order, size_t number);
/* What there was more of than can be told apart, in words that begin with the limit's name; NULL.
 */
const char *grout_ptx__get_limit(const ptx_order *order);

/* ---- CTAs of a cluster ---- */

/* Whether one of the lanes knows that a CTA of its cluster has begun. */
bool grout_ptx__knows_begun(ptx_order *order, const ptx_actor *actor, uint32_t cta);
/* The same of the lanes that have started an operation. */
bool grout_ptx__flight_knows_begun(const ptx_flight *flight, uint32_t cta);
/* Lanes end. */
bool grout_ptx__leave(ptx_order *order, const ptx_actor *actor);
/* Whether the lanes of a CTA, which have ended, knew of all accesses of other CTAs to its shared
 * memory. */
bool grout_ptx__has_waited(ptx_order *order, uint32_t cta, const ptx_span *shared,
                           ptx_race *race_out);

/* ---- threads ---- */

/* bar.warp.sync: the lanes know what each of them knows. */
bool grout_ptx__sync_lanes(ptx_order *order, const ptx_actor *actor);
/* bar: lanes come to a named barrier, to wait there or not; its generation ends, and those that
 * wait know what all knew that came. */
bool grout_ptx__come_to_bar(ptx_order *order, const ptx_actor *actor, uint32_t bar, bool waits);
bool grout_ptx__end_bar(ptx_order *order, uint32_t cta, uint32_t bar);
/* The same of the barrier of a cluster; with .relaxed the arrival hands over what fences
 * have prepared. */
bool grout_ptx__come_to_cluster(ptx_order *order, const ptx_actor *actor, bool is_release);
void grout_ptx__end_cluster_bar(ptx_order *order, uint32_t cta);
bool grout_ptx__leave_cluster(ptx_order *order, const ptx_actor *actor);

/* fence and membar. */
bool grout_ptx__fence(ptx_order *order, const ptx_actor *actor, ptx_ordering ordering);
/* fence.proxy.async: rank says for whose shared memory, PTX_ALL_RANKS for that of all. */
bool grout_ptx__publish(ptx_order *order, const ptx_actor *actor, bool is_shared, bool is_global,
                        uint32_t rank);
/* fence.proxy.tensormap: of a release, and of an acquire of one tensor map. */
bool grout_ptx__release_maps(ptx_order *order, const ptx_actor *actor);
bool grout_ptx__acquire_map(ptx_order *order, const ptx_actor *actor, const ptx_cell *map);
/* The number of a tensor map, from 1, by where it is; 0 without memory, and if there are too many.
 */
uint32_t grout_ptx__number_map(ptx_order *order, const ptx_cell *map);
/* fence.mbarrier_init: a release fence for the cluster of the lanes' own inits. */
bool grout_ptx__fence_inits(ptx_order *order, const ptx_actor *actor);
/* tcgen05.fence::before_thread_sync and after_thread_sync. */
bool grout_ptx__seal(ptx_order *order, const ptx_actor *actor);
bool grout_ptx__admit(ptx_order *order, const ptx_actor *actor);

/* One value that one lane loads, stores or updates. */
typedef struct ptx_value_access {
    const ptx_cell *cells;
    uint32_t size;
    ptx_ordering ordering;
    bool is_read, is_write;
    bool is_reduction; /* what red reads is no part of an acquire pattern */
} ptx_value_access;

/* What it takes from those before it, which counts for the access itself; of a strong write, how
 * many of its location it is. */
bool grout_ptx__take_over(ptx_order *order, const ptx_actor *actor, const ptx_value_access *access,
                          ptx_mark *mark_out);
/* What it observes, which counts for what its thread does next, and what it hands over. */
bool grout_ptx__hand_over(ptx_order *order, const ptx_actor *actor, const ptx_value_access *access);

/* ---- mbarriers, by the CTA that has them and where they are in its shared memory ---- */

bool grout_ptx__init_barrier(ptx_order *order, uint32_t cta, uint32_t offset);
bool grout_ptx__arrive_at_barrier(ptx_order *order, const ptx_actor *actor, uint32_t cta,
                                  uint32_t offset, ptx_ordering ordering);
bool grout_ptx__end_phase(ptx_order *order, uint32_t cta, uint32_t offset);
bool grout_ptx__wait_at_barrier(ptx_order *order, const ptx_actor *actor, uint32_t cta,
                                uint32_t offset, ptx_ordering ordering);

/* ---- engines ---- */

/* An operation that lanes start; agent and time are 0. */
bool grout_ptx__start_flight(ptx_order *order, const ptx_actor *actor, ptx_flight *flight_out);
/* One for lanes that know the same, each of which does its own part: what the others have done
 * themselves is not before it. */
bool grout_ptx__know_alike(ptx_order *order, const ptx_actor *actor);
void grout_ptx__start_lane_flights(ptx_order *order, const ptx_actor *actor,
                                   ptx_flight *flight_out);
void grout_ptx__end_flight(ptx_flight *flight);
/* The lane knows that it has started an operation of the tensor core, and so do those that are
 * ordered after it. */
bool grout_ptx__note_tensor_start(ptx_order *order, const ptx_actor *actor,
                                  const ptx_flight *flight);
uint64_t grout_ptx__get_agent(const ptx_order *order, ptx_agent_kind kind, uint32_t cta,
                              uint32_t warp);
/* The flight counts as what an mbarrier hears of in its present phase; and the mbarrier hears. */
bool grout_ptx__aim_flight(ptx_order *order, ptx_flight *flight, uint32_t cta, uint32_t offset);
/* tcgen05.commit hands over what its lane has started before it, sealed: PTX ISA 9.1, 'tcgen05
 * Memory Consistency Model'. */
bool grout_ptx__seal_flight(const ptx_order *order, ptx_flight *flight);
bool grout_ptx__hear_flight(ptx_order *order, const ptx_flight *flight, uint32_t cta,
                            uint32_t offset);
/* Lanes know what an agent's lanes have done up to a time, and see it. lanes 0: each lane of the
 * actor its own.
 */
bool grout_ptx__learn(ptx_order *order, const ptx_actor *actor, ptx_known known, uint64_t agent,
                      uint32_t lanes, uint32_t time);

#endif
