/* lanes.h - what each lane of a running CTA knows, inside of the room.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_LANES_H
#define GROUT_PTX_LANES_H

#include "order.h"

/* What concerns one location. */
typedef struct ptx_local_heads {
    const ptx_cell *cells;
    ptx_heads heads;
} ptx_local_heads;

/* What the patterns of a lane are made of that begin or end with another instruction. */
typedef struct ptx_fenced {
    ptx_view before[PTX_SCOPE_COUNT]; /* a fence of each scope; a strong write hands it over */
    bool is_fenced[PTX_SCOPE_COUNT];
    ptx_view inits; /* the lane's own that fence.mbarrier_init has passed; handed over likewise */
    bool has_inits;
    ptx_heads seen;                           /* by strong reads; a fence takes them */
    GROUT_ARRAY(ptx_local_heads) seen_at;     /* the same; an acquire of that location does */
    GROUT_ARRAY(ptx_local_heads) released_at; /* strong writes of that location hand it over */
} ptx_fenced;

typedef struct ptx_lane {
    ptx_view view;
    ptx_fenced *fenced; /* NULL before the first fence and the first such read */
} ptx_lane;

typedef struct ptx_lanes {
    uint32_t now; /* of the next access */
    ptx_lane lanes[PTX_ORDER_LANES];
} ptx_lanes;

typedef struct ptx_bar_order {
    ptx_view open, done; /* of those that have come; of the generation before */
    GROUT_ARRAY(ptx_actor) waiting;
} ptx_bar_order;

/* An mbarrier since its init. */
typedef struct ptx_phases {
    uint32_t cta, offset, count; /* phases that are over */
    uint64_t agent;
    ptx_heads open, done;
} ptx_phases;

/* Where a tensor map begins. */
typedef struct ptx_map_place {
    const ptx_cell *cells;
} ptx_map_place;

typedef struct ptx_cta_order {
    ptx_lanes *warps;
    ptx_bar_order bars[PTX_NAMED_BARRIERS];
    ptx_bar_order cluster; /* that of the cluster's first CTA counts */
    ptx_bar_order near;    /* at the same barrier: what reaches the threads of this CTA */
    ptx_view left;         /* what lanes knew that have ended, together */
    GROUT_ARRAY(ptx_phases) phases;
    GROUT_ARRAY(uint32_t)
    phases_at; /* by the barrier's place in shared memory: its number among
                  them, from 1; 0: nobody has made it */
} ptx_cta_order;

/* Where an atomic operation, or one with an order, has been. */
typedef struct ptx_location {
    const ptx_cell *cells; /* NULL: nobody's */
    uint32_t size;
    ptx_scope scope; /* of the last write; NONE: a weak one */
    ptx_actor writer;
    uint32_t written_at; /* the writer's time */
    uint64_t agent;      /* who knows of it has observed strong writes */
    uint32_t number;     /* of the last write */
    ptx_heads heads;
} ptx_location;

struct ptx_order {
    ptx_means means;
    uint32_t warp_count, cluster_size;
    GROUT_ARRAY(ptx_cta_order *) ctas; /* by number; NULL: not resident */
    ptx_shadow shadow;
    ptx_location *locations; /* by a hash of the cell; a power of 2 */
    size_t location_count, location_capacity;
    GROUT_ARRAY(ptx_map_place) maps; /* tensor maps that are acquired or copied by */
    uint64_t barrier_count, location_agents;
    const char *limit; /* that is reached, in words; NULL: none */
};

/* Counts on: the times of a lane, the writes to a location. */
static inline uint32_t grout_ptx__tick(ptx_order *order, uint32_t *time) {
    if (*time == UINT32_MAX) {
        order->limit = "limit ptx-times: the run has more accesses of one warp, or writes to one "
                       "place, than the search for races can count";
        return *time;
    }
    return (*time)++;
}

ptx_lanes *grout_ptx__get_lanes(ptx_order *order, const ptx_actor *actor);
/* What the lanes know, and all that they have done themselves, whose later accesses are newer. */
bool grout_ptx__capture(ptx_order *order, const ptx_actor *actor, ptx_view *view_out);
/* Each of the lanes learns. */
bool grout_ptx__absorb(ptx_order *order, const ptx_actor *actor, const ptx_view *view);
/* What an operation hands over of what its lanes know. */
ptx_handed grout_ptx__get_released(ptx_sem sem);
/* What lanes that a fence of theirs precedes hand over with a relaxed write; else nothing. */
bool grout_ptx__add_fenced(const ptx_order *order, const ptx_lane *lane, uint32_t cta,
                           ptx_scope carrier, ptx_heads *heads);
/* What a read sees that acquires nothing, or too little, is for a fence after it. */
bool grout_ptx__note_seen(const ptx_order *order, ptx_lane *lane, const ptx_heads *heads);
/* tcgen05.fence::before_thread_sync of one view. */
bool grout_ptx__seal_view(ptx_view *view);
/* The patterns of a lane; NULL without memory. */
ptx_fenced *grout_ptx__get_fenced(const ptx_order *order, ptx_lane *lane);
void grout_ptx__free_fenced(ptx_fenced *fenced);

#endif
