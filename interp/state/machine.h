/* machine.h - the state of a launch, private to interp/.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Three kinds of data, kept apart. The plan: constant, full of host pointers. The state: the
 * clusters that are in flight, each in an arena of its own (its head, then its CTAs, all alike),
 * and a few pools, 32-bit offsets and indices only, so that a snapshot is a copy; and the launch's
 * arrays, written in place. The scratch: means nothing between two ops.
 */
#ifndef GROUT_INTERP_MACHINE_H
#define GROUT_INTERP_MACHINE_H

#include "chance.h"
#include "hash.h"
#include "invariant.h"
#include "keyed.h"
#include "order.h"
#include "plan.h"
#include "state.h"

#include "grout-internal/interp.h"

GROUT_NO_PADDING_BEGIN

/* A loop that an actor is in. */
typedef struct grout_loop_state {
    int64_t index, high, step;
} grout_loop_state;

/* The engines (engines.def). */
typedef enum grout_engine {
#define GROUT_ENGINE(NAME, text, QUEUE, STAGES, ORDER, DOC) GROUT_ENGINE_##NAME,
#include "grout-internal/engines.def"
    GROUT_ENGINES
} grout_engine;

/* An actor has an even number of queues, so that there is no padding after them. */
enum { GROUT_QUEUES = (GROUT_ENGINES + 1) / 2 * 2 };

/* Flights of an engine in the groups of one owner, in the order of their issue. */
typedef struct grout_queue {
    uint32_t first, last;
    uint32_t first_unread; /* of an engine with two stages: that has not read its source */
} grout_queue;

/* How often an actor has tried its op. */
typedef enum grout_retry {
    GROUT_RETRY_FIRST,
    GROUT_RETRY_BLOCKED, /* it has blocked in it */
    GROUT_RETRY_ALONE    /* the same, on an init that does not come: nobody else can run */
} grout_retry;

/* An actor: a thread, or a warp of one. */
#define GROUT_LOOKED_MAX 8
typedef struct grout_thread {
    /* not hashed: places in pools, and what spin.c knows */
    grout_queue queues[GROUT_QUEUES];  /* of its groups, by engine */
    uint64_t looks_at;                 /* changes of the machine when it looked last */
    uint64_t look_hash;                /* of its registers when the sample was taken */
    uint64_t looked[GROUT_LOOKED_MAX]; /* places of its looks since it has changed something, the
                                          newest first; 0: none */
    uint64_t turns_at;                 /* hands at the end of its last turn, under pct */
    uint64_t seen;                     /* sum of hashes: what it has gone by at its points */
    uint64_t seen_at,
        seen_between;              /* at the end of the turn at turn_pc, and since the one before */
    uint32_t look_pc;              /* where it looked then */
    uint32_t looks;                /* since the last change */
    uint32_t is_spinning;          /* its next look blocks it */
    uint32_t turn_pc;              /* the way back of a while that is watched */
    uint32_t turns;                /* since another actor has changed something */
    uint32_t last_point, lower_at; /* places plus 1; 0: none */
    /* hashed, from here on */
    uint32_t pc;
    uint32_t state;                          /* grout_thread_state */
    uint32_t element, phase;                 /* what it is blocked on: see grout_thread_state */
    uint32_t scope;                          /* BLOCKED_SCOPE: of the plan's scopes */
    uint32_t wgmma_groups;                   /* issued */
    uint32_t last_pc;                        /* of its latest op */
    uint32_t is_released;                    /* the scope it stands at has let it in */
    uint32_t retry;                          /* grout_retry */
    uint32_t registers;                      /* of each of its lanes, on the GPU */
    uint32_t cluster_arrives, cluster_waits; /* on the hardware barrier of the cluster */
    uint32_t is_leaving;                     /* it has arrived on the exit sync */
    uint32_t dropped;                        /* pct: number of the change point that lowered it */
    uint32_t async_copies;                   /* cp.async groups closed */
    uint32_t parent_pc;                      /* free for the actor that forks */
    uint32_t stage;                   /* of an op that blocks more than once; 0 between ops */
    uint32_t tmem_loads, tmem_stores; /* issued */
    GROUT_STATE_END
} grout_thread;

/* A lane: its groups. */
typedef struct grout_lane {
    /* not hashed: places in pools */
    grout_queue queues[GROUT_ENGINES];
    /* hashed, from here on */
    uint32_t committed, mmas; /* bulk groups closed, MMAs, copies, commits issued */
    GROUT_STATE_END
} grout_lane;

/* An mbarrier. Phases complete in order; arrivals belong to the open phase. */
typedef struct grout_barrier {
    /* not hashed: places in pools */
    uint32_t first_open, last_open; /* records of the phases that have begun */
    uint32_t first_old, last_old;   /* of completed ones that a late wait may still ask for */
    /* hashed, from here on */
    uint32_t full;    /* phases whose arrivals are all in; the next one is open */
    uint32_t arrived; /* in the open phase */
    uint32_t needed;  /* by it; 0 in a life: all have left */
    uint32_t leaving; /* of arrived: later phases need that many fewer */
    uint32_t is_live; /* no mbarrier that is not initialised */
    uint32_t completed;
    uint32_t phase_base; /* its phases in earlier scopes: component phase counts over all lives */
    uint32_t old_count;
    uint32_t had_bytes; /* bit q & 1: phase q, of the last two completed */
    uint32_t has_contribution;
    uint32_t newest_phase; /* of last_contribution */
    uint32_t newest_pc;
    grout_origin last_contribution;
    GROUT_STATE_END
} grout_barrier;

/* A phase that has begun. Its clock sets (completion.h) follow, or are a row of sheets. */
typedef struct grout_phase {
    /* not hashed: places in pools */
    uint32_t link;
    uint32_t previous, next;            /* that have begun, by number */
    uint32_t first_flight, last_flight; /* that it waits for */
    uint32_t first_contribution, last_contribution;
    uint32_t clocks; /* the row */
    /* hashed, from here on */
    uint32_t number;
    uint32_t had_bytes;
    int64_t bytes;        /* announced */
    int64_t bytes_due;    /* of these not landed; below 0 if more have landed than were announced */
    int64_t bytes_flying; /* in flight to it */
    uint32_t contribution_count;
    uint32_t reserved;
    GROUT_STATE_END
} grout_phase;

/* A scope that some threads have left: the union of what each knew (V) as it left follows. */
typedef struct grout_scope_left {
    uint32_t link; /* not hashed: of the pool */
    uint32_t count;
} grout_scope_left;

/* A completed phase, older than the snapshots kept for all; its clock sets follow. */
typedef struct grout_old_phase {
    /* not hashed: places in pools */
    uint32_t link;
    uint32_t next;
    /* hashed, from here on */
    uint32_t number;
    uint32_t reserved;
    GROUT_STATE_END
} grout_old_phase;

typedef struct grout_contribution {
    uint32_t link;
    uint32_t next;
    grout_origin origin;
} grout_contribution;

struct grout_tile;
typedef struct grout_tile grout_tile; /* operand.c */

/* A plain store to SMEM that engines may not see yet, a load's write over it (is_engine), or a read
 * of it by an engine that had to see it (is_reader). */
typedef struct grout_undo {
    /* not hashed: its place in the ring */
    uint32_t data; /* offset of the old bytes, in the box's order */
    /* hashed, from here on */
    uint32_t pc;
    uint32_t box;
    uint32_t component, number; /* seen by actors with PS[component], of a read V, >= number */
    uint32_t is_engine, is_reader;
    uint32_t size;
    int64_t low, high; /* all of the box's bytes of SMEM are in [low, high) */
    int64_t start[GROUT_RANK_MAX];
    GROUT_STATE_END
} grout_undo;

/* The head of a CTA's state. */
typedef struct grout_cta_state {
    /* not hashed: places in pools and rings */
    uint32_t first_flight, last_flight;
    uint32_t payload_used; /* slots in use */
    uint32_t undo_first;   /* ring of entries */
    uint32_t undo_data_first,
        undo_dropped;       /* ring of bytes: next free; entries lost to the limit */
    uint32_t newest_clocks; /* the row of clock sets that was kept last (completion.h) */
    uint32_t flight_count;  /* in the list */
    /* hashed, from here on */
    uint32_t index; /* in the launch */
    uint32_t is_begun, has_ended;
    uint32_t exited;         /* threads */
    uint32_t registers_free; /* of a lane: what threads have given back */
    uint32_t undo_count;
    uint32_t has_had_all, reserved; /* it has found that there is no cluster left */
    uint64_t async_serial;
    GROUT_STATE_END
} grout_cta_state;

/* The head of a cluster's state; clock sets of two generations of its hardware barrier follow
 * (generation.h). */
typedef struct grout_cluster {
    /* not hashed: places in pools */
    uint32_t first_collective, last_collective;
    /* hashed, from here on */
    uint32_t index; /* in the grid */
    uint32_t is_begun;
    uint32_t ended;      /* CTAs */
    uint32_t generation; /* generations that are complete */
    uint32_t arrived;    /* in the open one, including threads that have exited */
    uint32_t exited;     /* threads that count as arrived for good */
    GROUT_STATE_END
} grout_cluster;

/* What decides the rest of the run. */
typedef struct grout_run_facts {
    int64_t next_cluster; /* that has not begun */
    int64_t begun;        /* clusters in flight */
    uint32_t current;     /* actor that runs, as a number over all slots, plus 1; 0: none yet */
    uint32_t last;        /* that ran before, plus 1 */
    uint64_t decisions;   /* points so far where more than one actor could run */
    uint64_t random;      /* of the schedule */
    GROUT_STATE_END
} grout_run_facts;

/* The same of the engines. */
typedef struct grout_engine_facts {
    uint64_t points; /* scheduling points */
    uint64_t random;
    GROUT_STATE_END
} grout_engine_facts;

GROUT_NO_PADDING_END

/* What a run is at, beside the clusters. A snapshot is a copy of all of it. */
typedef struct grout_run_state {
    grout_run_facts facts;     /* hashed */
    grout_engine_facts engine; /* hashed where their timing is random */
    /* What is only counted, or follows from the rest: not hashed. */
    grout_run_stats stats;
    /* Actors that look again and again: spin.c. */
    struct grout_spin {
        uint64_t changes;   /* that others can see, since the launch began */
        uint64_t parked_at; /* changes by then */
        uint64_t hands;     /* how often the actor that makes the changes has become another one */
        uint32_t changer;   /* who made the last change, plus 1; 0: no actor */
        uint32_t lowered;   /* pct: how often an actor that goes round was lowered */
        uint32_t polls;     /* tests that were false since anything else has happened */
        bool has_parked;    /* actors go round */
        bool is_idle;       /* the atomic or store that runs has left its element as it was */
        bool is_again;      /* the look that runs is one more at its place */
        uint64_t look;      /* place of that look; 0: none, or nobody asks */
    } spin;
    grout_run_status status;
    bool is_over, has_failed;
    uint32_t foreign_limit; /* clocks in maps before the next collection */
} grout_run_state;

/* The pools of the state: records and lists of them, by what they hold. */
typedef enum grout_pool_index {
    GROUT_POOL_PHASES,
    GROUT_POOL_OLD_PHASES,
    GROUT_POOL_SHEETS, /* sheets.h */
    GROUT_POOL_SCOPES, /* grout_scope_left */
    GROUT_POOL_CONTRIBUTIONS,
    GROUT_POOL_FLIGHTS,
    GROUT_POOL_COLLECTIVES,
    GROUT_POOL_SETS,         /* clock sets that ops leave: foreign.c */
    GROUT_POOL_FOREIGN_MAPS, /* foreign.c */
    GROUT_POOL_FOREIGN_CLOCKS,
    GROUT_POOL_SEMAPHORES, /* a table; its buckets come next, and so on */
    GROUT_POOL_SEMAPHORE_BUCKETS,
    GROUT_POOL_SIGNAL_PASTS,
    GROUT_POOL_SIGNAL_PAST_BUCKETS,
    GROUT_POOL_NAMED,
    GROUT_POOL_NAMED_BUCKETS,
    GROUT_POOL_LOCATIONS,
    GROUT_POOL_LOCATION_BUCKETS,
    GROUT_POOL_COPIERS,
    GROUT_POOL_COPIER_BUCKETS,
    GROUT_POOL_SIGNALS, /* lists */
    GROUT_POOL_GENERATIONS,
    GROUT_POOL_RELEASES,
    GROUT_POOL_SCRATCH, /* of one op: 32-bit numbers */
    GROUT_POOLS
} grout_pool_index;

/* A box that an op with indices or a mask touches: where it begins, and its number among all. */
typedef struct grout_picked {
    int64_t offset;
    int64_t number;
} grout_picked;

/* Lists that mean nothing between two ops. */
typedef enum grout_scratch_index {
    GROUT_SCRATCH_RUNS,         /* grout_run, of a box */
    GROUT_SCRATCH_PICKED_RUNS,  /* grout_run, of all boxes that an op picks */
    GROUT_SCRATCH_PICKED,       /* grout_picked, these boxes */
    GROUT_SCRATCH_ORIGINS,      /* grout_origin, of a phase's contributions */
    GROUT_SCRATCH_FOREIGN,      /* grout_foreign_clock, of an event */
    GROUT_SCRATCH_THREAD_FACTS, /* of a deadlock */
    GROUT_SCRATCH_BARRIER_FACTS,
    GROUT_SCRATCH_SEMAPHORE_FACTS,
    GROUT_SCRATCH_COPY_FACTS,
    GROUT_SCRATCH_NEWEST,    /* tma_order.c */
    GROUT_SCRATCH_LEAVING,   /* scope_flights.c */
    GROUT_SCRATCH_UNWRITTEN, /* grout_run, of what has no value in a box */
    GROUT_SCRATCH_POOLS
} grout_scratch_index;

/* A step of a chain on its way from strip to strip. */
typedef struct grout_chain_run {
    const grout_inst *inst;
    grout_strip strip;
    uint32_t steps[3], result_step; /* bytes to the next strip; 0 in a buffer */
} grout_chain_run;

/* A parameter array, or (after all of these) a gmem scratch. */
typedef struct grout_gmem_array {
    uint8_t *data;
    int64_t size, count; /* bytes, elements */
    uint8_t direction;   /* grout_direction; OUT of a scratch */
    bool is_scratch;     /* the machine's own */
    bool is_mapped;      /* the two below are there: an array that the kernel may write */
    bool has_tainted;
    uint64_t *written; /* of an out array: elements that have been written */
    uint64_t *tainted; /* elements whose value is undefined though written */
    uint8_t *seen;     /* scratch: what an actor sees before it has waited; NULL: the same */
} grout_gmem_array;

/* Where the parts of a CTA's state lie. */
typedef struct grout_state_layout {
    size_t head; /* of a cluster, before its CTAs */
    size_t threads, lanes, loops, clocks, scopes, barriers, snapshots, waits, collectives, rounds,
        payload_free, registers, memory, defined, accumulators, undo_entries, undo_data, payload,
        size;                /* of a CTA */
    uint32_t snapshots_kept; /* of the latest phases of each element; a power of two */
    uint32_t old_max;        /* of older ones, for late waits */
    bool has_sheets;         /* clock sets of phases are rows of sheets (completion.h) */
} grout_state_layout;

/*
 * A CTA that may be in flight: where its state lies and how its parts are numbered. It is constant
 * once its slot is made. Functions that take an actor (the argument 'thread') or a barrier element
 * take the CTA that this belongs to.
 */
typedef struct grout_cta {
    grout_machine *machine;
    uint8_t *state; /* begins with its head; after the arena of the cluster's head */
    uint32_t device;
    uint32_t slot; /* of its cluster */
    uint32_t rank;
    uint32_t actor_base, lane_base, element_base; /* numbers in the cluster of its first ones */
    uint64_t *page_versions;                      /* pages.h */
} grout_cta;

struct grout_kept;

struct grout_machine {
    grout_launch launch;
    grout_plan *plan;
    grout_heap heap;
    struct grout_kept *kept;                 /* blocks that live as long as the machine */
    const struct grout_engine_info *engines; /* by grout_engine: engine.h */
    uint64_t interest;
    bool has_clocks, tracks, is_lazy; /* is_lazy: timing is not eager */
    bool has_looked;                  /* at its arrays (track_non_finite) */
    uint64_t max_steps;
    /* state */
    grout_run_state run;
    uint32_t slot_count; /* clusters that may be in flight at once */
    uint8_t **slots;     /* their arenas; NULL: not needed yet */
    grout_cta *ctas;     /* of all slots, slot by slot */
    grout_state_layout at;
    grout_pool pools[GROUT_POOLS];
    uint32_t payload_slot_bytes, payload_mask_at, payload_slots; /* of a CTA */
    uint32_t undo_data_size;
    struct grout_gmem_log *gmem_log; /* gmem.h */
    struct grout_flying *flying;     /* by CTA, what follows from its flights: flying.h; or NULL */
    grout_gmem_array *arrays;        /* by parameter, then gmem scratches */
    uint32_t array_count;
    struct grout_claims *claims; /* by array: claims.h; NULL: no other machine has a part in this */
    grout_argument *arguments;   /* of a launch with several workers: the list */
    bool shares_bytes;           /* grout_launch_shares_bytes of it */
    /* scratch */
    grout_pool scratch[GROUT_SCRATCH_POOLS];
    uint8_t *linear;      /* a box in logical order */
    uint8_t *mask_linear; /* one byte an element */
    uint8_t *image;       /* SMEM as an engine sees it, while a store's source is captured */
    uint64_t *image_stale, *image_settled;
    grout_tile *tiles; /* packed operands of wgmmas: see operand.h */
    float *tile_data;
    uint64_t *all_page_versions;
    int32_t *chunk_offsets;
    uint32_t tile_count;
    uint32_t walk_next; /* flight: see grout_flight__walk */
    float *sums;        /* of an mma, as those of an accumulator, with their masks and marks */
    uint8_t *turned, *pair_sums; /* its b of integers, by columns; rows of a pair's accumulator */
    uint64_t tile_clock, tiles_packed;
    uint32_t *clock_scratch;
    uint32_t *completed_clocks, *open_clocks; /* completion.h; NULL: not needed */
    uint8_t *strips;                          /* see strip.h */
    grout_chain_run *chain_runs;              /* the steps of the chain that runs */
    uint64_t step_limit;                      /* of all steps: where this run stops at the latest */
    bool is_stopped;                          /* an extern said stop: the run is over */
    uint64_t asked_at; /* work when the launch was asked whether to go on: scheduler.c */
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Zeroed bytes, or bytes of any value, that live as long as the machine; NULL: no memory. keep.c */
void *grout_machine__keep(grout_machine *machine, size_t size);
void *grout_machine__keep_unset(grout_machine *machine, size_t size);
void grout_machine__free_kept(grout_machine *machine);

/* The arena of a slot, made if need be; false without memory (has_failed is set). cta.c */
bool grout_machine__add_slot(grout_machine *machine, uint32_t slot);

/* ---- pools ----------------------------------------------------------------------------------- */

static inline grout_pool *grout_machine__pool(const grout_machine *machine,
                                              grout_pool_index index) {
    return (grout_pool *)&machine->pools[index];
}
static inline grout_keyed_table grout_machine__table(const grout_machine *machine,
                                                     grout_pool_index index) {
    return (grout_keyed_table){grout_machine__pool(machine, index),
                               grout_machine__pool(machine, index + 1)};
}

/* ---- CTAs ------------------------------------------------------------------------------------ */

static inline uint32_t grout_machine__cluster_size(const grout_machine *machine) {
    return machine->plan->shape.cta_count;
}
static inline uint8_t *grout_machine__get_arena(const grout_machine *machine, uint32_t slot,
                                                uint32_t rank) {
    return machine->slots[slot] + machine->at.head + (size_t)rank * machine->at.size;
}
/* A CTA of the cluster in a slot that has been made. */
static inline const grout_cta *grout_machine__get_cta(const grout_machine *machine, uint32_t slot,
                                                      uint32_t rank) {
    GROUT_ASSERT(slot < machine->slot_count && rank < machine->plan->shape.cta_count &&
                 machine->slots[slot] != NULL);
    return &machine->ctas[(size_t)slot * machine->plan->shape.cta_count + rank];
}
/* The CTAs of the clusters that have begun and not ended, in turn: the one after cta, the first
 * after NULL, NULL after the last. */
const grout_cta *grout_machine__next_cta(const grout_machine *machine, const grout_cta *cta);
/* A CTA of the same cluster. */
static inline const grout_cta *grout_cta__peer(const grout_cta *cta, uint32_t rank) {
    GROUT_ASSERT(rank < cta->machine->plan->shape.cta_count);
    return cta + ((ptrdiff_t)rank - (ptrdiff_t)cta->rank);
}

/* ---- the parts of the state ------------------------------------------------------------------ */

static inline grout_cluster *grout_cta__cluster(const grout_cta *cta) {
    return (grout_cluster *)(void *)cta->machine->slots[cta->slot];
}
static inline grout_cta_state *grout_cta__head(const grout_cta *cta) {
    return (grout_cta_state *)(void *)cta->state;
}
static inline grout_thread *grout_cta__thread(const grout_cta *cta, uint32_t thread) {
    GROUT_ASSERT(thread < cta->machine->plan->actor_count);
    return (grout_thread *)(void *)(cta->state + cta->machine->at.threads) + thread;
}
/* Actors of a CTA. */
static inline uint32_t grout_machine__actor_count(const grout_machine *machine) {
    return machine->plan->actor_count;
}
/* Numbers in the cluster, as clocks count, of an actor and of a barrier element of the CTA. */
static inline uint32_t grout_cta__actor(const grout_cta *cta, uint32_t thread) {
    return cta->actor_base + thread;
}
static inline uint32_t grout_cta__element(const grout_cta *cta, uint32_t element) {
    return cta->element_base + element;
}
/* The thread that an actor is or belongs to; its warp plus 1, 0 for a thread. */
static inline uint32_t grout_machine__thread_of(const grout_machine *machine, uint32_t actor) {
    uint32_t threads = machine->plan->shape.thread_count;
    return actor < threads ? actor : (actor - threads) / GROUT_WARPS;
}
static inline uint32_t grout_machine__warp_of(const grout_machine *machine, uint32_t actor) {
    uint32_t threads = machine->plan->shape.thread_count;
    return actor < threads ? 0 : (actor - threads) % GROUT_WARPS + 1;
}
/* The lane, in its CTA, that an actor issues from. */
static inline uint32_t grout_machine__lane_of(const grout_machine *machine, uint32_t actor) {
    return grout_clock_local_lane(&machine->plan->shape, grout_machine__thread_of(machine, actor),
                                  grout_machine__warp_of(machine, actor));
}
static inline grout_lane *grout_cta__lane(const grout_cta *cta, uint32_t lane) {
    GROUT_ASSERT(lane < cta->machine->plan->lane_count);
    return (grout_lane *)(void *)(cta->state + cta->machine->at.lanes) + lane;
}
static inline grout_loop_state *grout_cta__loops(const grout_cta *cta, uint32_t thread) {
    const grout_machine *machine = cta->machine;
    return (grout_loop_state *)(void *)(cta->state + machine->at.loops) +
           (size_t)thread * machine->plan->loop_depth_max;
}
static inline uint32_t *grout_cta__clocks(const grout_cta *cta, uint32_t thread) {
    const grout_machine *machine = cta->machine;
    GROUT_ASSERT(thread <= cta->machine->plan->actor_count); /* the end of them too */
    return (uint32_t *)(void *)(cta->state + machine->at.clocks) +
           (size_t)thread * machine->plan->order.words;
}
/* For the running instance of a scope: the record of those that have left it; 0 while no thread
 * has. */
static inline uint32_t *grout_cta__scope(const grout_cta *cta, uint32_t scope) {
    const grout_machine *machine = cta->machine;
    GROUT_ASSERT(scope < cta->machine->plan->scopes.count);
    return (uint32_t *)(void *)(cta->state + machine->at.scopes) + scope;
}
static inline grout_barrier *grout_cta__barrier(const grout_cta *cta, uint32_t element) {
    GROUT_ASSERT(element < cta->machine->plan->element_count);
    return (grout_barrier *)(void *)(cta->state + cta->machine->at.barriers) + element;
}
/*
 * A phase has a clock set of all its contributions. In a kernel with waits of narrow scope
 * (plan->has_narrow_waits) a second one follows, for those waits: it has only what a weak edge
 * carries of the contributions by other CTAs.
 */
static inline size_t grout_machine__phase_words(const grout_machine *machine) {
    return (size_t)machine->plan->order.words * (machine->plan->has_narrow_waits ? 2 : 1);
}
/* By actor of the CTA. */
static inline grout_wait_fact *grout_cta__waits(const grout_cta *cta, uint32_t element) {
    const grout_machine *machine = cta->machine;
    GROUT_ASSERT(element < cta->machine->plan->element_count);
    return (grout_wait_fact *)(void *)(cta->state + machine->at.waits) +
           (size_t)element * machine->plan->actor_count;
}
static inline uint8_t *grout_cta__registers(const grout_cta *cta, uint32_t thread) {
    const grout_machine *machine = cta->machine;
    GROUT_ASSERT(thread < cta->machine->plan->actor_count);
    return cta->state + machine->at.registers + (size_t)thread * machine->plan->register_bytes;
}
/* The bytes of the CTA's spaces: SMEM first, the others from plan->space_first on. */
static inline uint8_t *grout_cta__memory(const grout_cta *cta) {
    return cta->state + cta->machine->at.memory;
}
/* One bit for each of these bytes: it has been written. */
static inline uint64_t *grout_cta__defined(const grout_cta *cta) {
    return (uint64_t *)(void *)(cta->state + cta->machine->at.defined);
}
/* The accumulators of a thread. */
static inline uint8_t *grout_cta__accumulators(const grout_cta *cta, uint32_t thread) {
    const grout_machine *machine = cta->machine;
    return cta->state + machine->at.accumulators +
           (size_t)thread * machine->plan->accumulator_bytes;
}
static inline grout_phase *grout_machine__phase(const grout_machine *machine, uint32_t index) {
    GROUT_ASSERT(index != 0);
    return grout_pool__at(&machine->pools[GROUT_POOL_PHASES], index);
}
static inline grout_old_phase *grout_machine__old_phase(const grout_machine *machine,
                                                        uint32_t index) {
    return grout_pool__at(&machine->pools[GROUT_POOL_OLD_PHASES], index);
}
static inline uint32_t *grout_old_phase__clocks(grout_old_phase *phase) {
    return (uint32_t *)(void *)(phase + 1);
}

/* ---- clock sets (order.h), foreign words included: foreign.c --------------------------------- */

/* A record of the pool 'sets', all zero, or 0 without memory (has_failed is set). */
uint32_t grout_machine__take_set(grout_machine *machine);
void grout_machine__give_set(grout_machine *machine, uint32_t index);
/* Its clock set: void after the next take. */
static inline uint32_t *grout_machine__set(const grout_machine *machine, uint32_t index) {
    GROUT_ASSERT(index != 0);
    return (uint32_t *)grout_pool__at(&machine->pools[GROUT_POOL_SETS], index) + 2;
}
/* A set joins what an edge carries of one of the same cluster. */
void grout_machine__carry(grout_machine *machine, uint32_t *into, const uint32_t *from,
                          grout_edge edge);
/* A set of the selected cluster joins what an edge carries of a set of any cluster. */
void grout_cta__carry_from(const grout_cta *cta, uint32_t *into, const uint32_t *from,
                           uint32_t cluster, grout_edge edge);
static inline void grout_cta__advance(const grout_cta *cta, uint32_t thread) {
    grout_order__advance(&cta->machine->plan->order, grout_cta__clocks(cta, thread),
                         grout_cta__actor(cta, thread));
}
/* Leaves what an edge carries of an actor's clock set in a snapshot; its epoch advances. */
static inline void grout_cta__release(const grout_cta *cta, uint32_t thread, uint32_t *snapshot,
                                      grout_edge edge) {
    grout_machine__carry(cta->machine, snapshot, grout_cta__clocks(cta, thread), edge);
    grout_cta__advance(cta, thread);
}
/* Actors first to first + count - 1 of the CTA learn all that any of them knows. */
void grout_cta__meet(const grout_cta *cta, uint32_t first, uint32_t count);
/* The foreign clocks that a word names, as events of a CTA show them; *count_out of them, in
 * scratch.
 */
const grout_foreign_clock *grout_foreign__show(grout_machine *machine, uint32_t word, uint32_t rank,
                                               uint32_t *count_out);
/* The clock set of a cluster that a foreign word knows of, or NULL. */
const uint32_t *grout_foreign__find(const grout_machine *machine, uint32_t word, uint32_t cluster);
/* The word after a commit_gmem of a CTA: all that is known of other clusters is published too. */
uint32_t grout_foreign__publish(grout_machine *machine, uint32_t word, uint32_t rank);
/* The same for equal knowledge. */
uint64_t grout_foreign__hash(const grout_machine *machine, uint32_t word);
/* Hashes clock sets, with the clocks that their foreign words name instead of the words. */
uint64_t grout_foreign__hash_sets(const grout_machine *machine, uint64_t hash, const uint32_t *sets,
                                  size_t count);
/* Frees maps that no clock set names, if there are many; between two ops only. */
void grout_foreign__collect(grout_machine *machine);

/* ---- values of a thread -----------------------------------------------------------------------
 */

static inline uint8_t *grout_slot__data(const grout_cta *cta, uint32_t thread,
                                        const grout_slot *slot) {
    uint8_t *base =
        slot->is_constant ? cta->machine->plan->constants.data : grout_cta__registers(cta, thread);
    return base + slot->data;
}
static inline bool grout_slot__is_undefined(const grout_cta *cta, uint32_t thread,
                                            const grout_slot *slot) {
    return !slot->is_constant && (grout_cta__registers(cta, thread)[slot->flag] & 1) != 0;
}
static inline void grout_slot__set_undefined(const grout_cta *cta, uint32_t thread,
                                             const grout_slot *slot, bool is_undefined) {
    grout_cta__registers(cta, thread)[slot->flag] = is_undefined ? 1 : 0;
}
static inline uint8_t *grout_slot__mask(const grout_cta *cta, uint32_t thread,
                                        const grout_slot *slot) {
    return grout_cta__registers(cta, thread) + slot->mask;
}
int64_t grout_slot__get_integer(const grout_cta *cta, uint32_t thread, const grout_slot *slot);

/* ---- events (event.c) --------------------------------------------------------------------------
 */

static inline bool grout_machine__wants(const grout_machine *machine, grout_event_kind kind) {
    return (machine->interest >> kind & 1u) != 0;
}
/* The execution that an actor is at; operand as in grout_origin. */
grout_origin grout_cta__origin(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* An event of an actor, with its clocks in *clocks. */
grout_event grout_cta__event(const grout_cta *cta, grout_event_kind kind, uint32_t thread,
                             const grout_inst *inst, grout_clocks *clocks);
void grout_machine__publish(grout_machine *machine, const grout_event *event);
/* An event that has no actor. */
void grout_cta__publish_cta(const grout_cta *cta, grout_event *event);
/* An event of an actor that says nothing but its kind. */
void grout_cta__publish_plain(const grout_cta *cta, grout_event_kind kind, uint32_t thread,
                              const grout_inst *inst);
void grout_cta__fault(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                      uint32_t operand, const grout_fault *fault);
void grout_cta__fault_undefined(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                uint32_t operand, grout_uninitialised_use use);

/* ---- actors: threads.c ----------------------------------------------------------------------- */

/* An actor blocks in its op: it is tried again once it is runnable. */
static inline grout_outcome grout_cta__block(const grout_cta *cta, uint32_t thread,
                                             grout_thread_state state, uint32_t element,
                                             uint32_t phase) {
    grout_thread *own = grout_cta__thread(cta, thread);
    own->state = state;
    own->element = element;
    own->phase = phase;
    return GROUT_OUTCOME_BLOCKED;
}
/* Actors are numbered over all slots, slot by slot, CTA by CTA: how many a slot has; the actor of a
 * number, or NULL if its slot is empty. Selects nothing. */
static inline uint32_t grout_machine__actors_per_slot(const grout_machine *machine) {
    return machine->plan->shape.cta_count * machine->plan->actor_count;
}

static inline grout_thread *grout_machine__find_actor(const grout_machine *machine,
                                                      uint32_t number) {
    GROUT_ASSERT(number / grout_machine__actors_per_slot(machine) < machine->slot_count);
    uint32_t per_slot = grout_machine__actors_per_slot(machine), slot = number / per_slot;
    const grout_cluster *cluster = (const grout_cluster *)(const void *)machine->slots[slot];
    if (cluster == NULL || cluster->is_begun == 0) {
        return NULL;
    }
    uint32_t rank = number % per_slot / machine->plan->actor_count;
    uint8_t *arena = grout_machine__get_arena(machine, slot, rank);
    return (grout_thread *)(void *)(arena + machine->at.threads) +
           number % machine->plan->actor_count;
}
/* Actors, their values and clocks, the scopes that they are in. */
uint64_t grout_actors__hash(const grout_cta *cta, uint64_t hash);
/* All actors of the CTA that are blocked in this way can try again; those of all CTAs in flight. */
void grout_cta__wake(const grout_cta *cta, grout_thread_state state, uint32_t element);
void grout_machine__wake_all(grout_machine *machine, grout_thread_state state, uint32_t element);

#endif
