/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observe.h - what the interpreter tells its observers: the only view that the race checker, the
 * trace writer and the counters have of it.
 *
 * The machine keeps the clocks (docs/memory_model.md): it knows what happened before what, because
 * lazy timing asks the same question. An observer gets them with each event and decides what is
 * wrong; it never steers the run. Nothing in an event outlives the callback unless it says so.
 *
 * Terms. A *thread* is a warpgroup; it issues its bulk copies from one *lane*. A *barrier element*
 * is one mbarrier of the CTA, numbered from 0 over all barrier objects of the kernel. A *mechanism*
 * is something that completes in the order of its numbers: the phases of a barrier element, the
 * reads or the writes of a lane's bulk groups, a thread's wgmma groups; so 'operation k is done' is
 * one comparison.
 */
#ifndef GROUT_OBSERVE_H
#define GROUT_OBSERVE_H

#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clocks ---------------------------------------------------------------------------------- */

/*
 * A clock is a vector of counters of one CTA: with T threads, L lanes and B barrier elements
 *
 *     x[T] how far each thread has got            (epoch; an engine fact, carried by every edge)
 *     g[T] up to which epoch its accesses are released (a memory fact: release -> acquire only)
 *     br[L] bulk groups whose sources are read    (engine fact)
 *     bw[L] bulk groups whose writes are finished (memory fact)
 *     ph[B] phases of each barrier known complete (engine fact)
 *     wg[T] wgmma groups of each thread known done: operands read, accumulator written (engine
 * fact)
 *
 * Epochs start at 1, phase and group numbers count from 1 (phase q, counted from 0, is done when
 * ph >= q + 1); 0 means nothing is known. Clocks of different CTAs of a launch share nothing.
 */
typedef struct grout_clock_shape {
    uint32_t thread_count;
    uint32_t lane_count;
    uint32_t barrier_count;
} grout_clock_shape;

static inline uint32_t grout_clock_size(const grout_clock_shape *shape) {
    return 3 * shape->thread_count + 2 * shape->lane_count + shape->barrier_count;
}
static inline uint32_t grout_clock_x(const grout_clock_shape *shape, uint32_t thread) {
    (void)shape;
    return thread;
}
static inline uint32_t grout_clock_g(const grout_clock_shape *shape, uint32_t thread) {
    return shape->thread_count + thread;
}
static inline uint32_t grout_clock_br(const grout_clock_shape *shape, uint32_t lane) {
    return 2 * shape->thread_count + lane;
}
static inline uint32_t grout_clock_bw(const grout_clock_shape *shape, uint32_t lane) {
    return 2 * shape->thread_count + shape->lane_count + lane;
}
static inline uint32_t grout_clock_ph(const grout_clock_shape *shape, uint32_t barrier) {
    return 2 * shape->thread_count + 2 * shape->lane_count + barrier;
}
static inline uint32_t grout_clock_wg(const grout_clock_shape *shape, uint32_t thread) {
    return 2 * shape->thread_count + 2 * shape->lane_count + shape->barrier_count + thread;
}

/* The clocks of a thread at an event; each has grout_clock_size counters. */
typedef struct grout_clocks {
    uint32_t cta;          /* whose counters these are (linear index in the grid) */
    const uint32_t *known; /* V: what happened before */
    const uint32_t
        *published_smem; /* PS: the part that async accesses of SMEM may assume published */
    const uint32_t *published_gmem; /* PG: the same for GMEM */
} grout_clocks;

/* ---- who and where --------------------------------------------------------------------------- */

#define GROUT_ORIGIN_LOOPS 4

/* One execution of one op: enough to name it in a report. Plain data; may be kept. */
typedef struct grout_origin {
    grout_op_id op;
    uint32_t cta; /* linear index in the grid */
    uint8_t thread;
    uint8_t operand;    /* operand of the op that the access is about */
    uint8_t loop_depth; /* loops around the op; the outermost GROUT_ORIGIN_LOOPS are kept */
    uint8_t reserved;
    int32_t loops[GROUT_ORIGIN_LOOPS]; /* loop indices, outermost first */
} grout_origin;

/* ---- what ------------------------------------------------------------------------------------ */

/*
 * How an access can be known to be over, and who made it. Generic accesses: component g of the
 * thread, number its epoch. Async accesses: component br, bw, ph or wg, number of the group or
 * phase.
 */
typedef struct grout_stamp {
    uint32_t cta;
    uint32_t component;
    uint32_t number;
    bool is_async; /* async proxy, by an engine; else generic proxy, by the thread itself */
} grout_stamp;

typedef struct grout_access {
    grout_object_id object;
    uint8_t space; /* grout_space; ACC: the instance of the thread of the event's origin */
    bool is_write;
    grout_stamp stamp;
    const grout_run *runs; /* bytes inside the object; sorted, disjoint */
    uint32_t run_count;
} grout_access;

/* What is known about phase q-1 of a barrier when something contributes to phase q. */
typedef struct grout_phase_fact {
    bool is_complete; /* of a phase without bytes: its arrivals are all in, under every timing */
    bool had_bytes;
    const uint32_t *completion; /* clock of its completion (V part), or NULL if not complete */
} grout_phase_fact;

/* A thread's last wait on a barrier element. */
typedef struct grout_wait_fact {
    uint32_t waits; /* how often it waited; the last was for phase waits - 1 */
    uint32_t epoch; /* the thread's epoch (x) at the last wait */
    grout_origin origin;
} grout_wait_fact;

/* A barrier element as it stands. */
typedef struct grout_barrier_fact {
    uint32_t element;
    grout_object_id object;
    uint32_t index;      /* inside the object */
    uint32_t arrivals;   /* needed for one phase */
    uint64_t arrived;    /* in all so far */
    uint32_t completed;  /* phases */
    uint32_t phase_base; /* phases of its earlier lives: phase q is complete when ph > base + q */
    int64_t bytes_due;   /* of the open phase: announced, not landed */
    const grout_wait_fact *waits; /* by thread */
    uint32_t thread_count;
    bool has_contribution;
    grout_origin last_contribution; /* the latest in source order of the newest phase */
} grout_barrier_fact;

typedef enum grout_event_kind {
    GROUT_EVENT_CTA_BEGIN,
    GROUT_EVENT_ACCESS, /* u.access: generic accesses; async ones at their issue */
    GROUT_EVENT_ARRIVE, /* u.arrive: barrier_arrive, or the arrival that a copy makes */
    GROUT_EVENT_PHASE,  /* u.phase: a phase completed */
    /* u.wait: a barrier_wait returned. Clocks are those before it; it then acquires what its own
     * phase released and nothing of a later phase, however late it comes: else the race that an
     * overrun makes would be hidden under some schedules. */
    GROUT_EVENT_WAIT,
    GROUT_EVENT_COMMIT_SMEM,
    GROUT_EVENT_COMMIT_GROUP, /* u.group: a bulk group was closed */
    GROUT_EVENT_GROUP_WAIT,   /* u.group: a wait_smem_to_gmem returned */
    /* u.issue: an async op began; its ACCESS events follow. A wgmma closes its own group: number of
     * both stamps. */
    GROUT_EVENT_ISSUE,
    GROUT_EVENT_WGMMA_WAIT,    /* u.group: a wgmma_wait returned, or the wait inside another op */
    GROUT_EVENT_COMPLETE,      /* u.issue: an async op has done all its accesses (for traces) */
    GROUT_EVENT_BLOCK_BARRIER, /* all threads met at the entry of a collective scope */
    GROUT_EVENT_SCOPE_BEGIN,   /* u.scope */
    GROUT_EVENT_SCOPE_END,     /* u.scope: its objects die; may come once per thread, see scope */
    GROUT_EVENT_BARRIER_END, /* u.barrier_end: a barrier element dies, before SCOPE_END, CTA_END */
    GROUT_EVENT_THREAD_EXIT,
    GROUT_EVENT_CTA_END,  /* u.scope with all the kernel's own objects */
    GROUT_EVENT_FAULT,    /* u.fault: an access or value that is wrong by itself */
    GROUT_EVENT_DEADLOCK, /* u.deadlock */
    GROUT_EVENT_STEP_LIMIT,
    GROUT_EVENT_KIND_COUNT
} grout_event_kind;

/* Which async op an ISSUE or COMPLETE is about. */
typedef struct grout_issue {
    uint64_t serial; /* number of the async op in the CTA, from 0 */
    int64_t bytes;
    grout_stamp read; /* when its source is read */
    grout_stamp write;
} grout_issue;

typedef enum grout_uninitialised_use {
    GROUT_USE_BRANCH,  /* condition of an if, bound of a loop */
    GROUT_USE_ADDRESS, /* index of a reference */
    GROUT_USE_OUTPUT,  /* stored, in bounds, to a gmem array */
    GROUT_USE_PRINT
} grout_uninitialised_use;

/* A fault: code says which of the numbers count. */
typedef struct grout_fault {
    grout_diag_code code;
    grout_object_id object; /* 0: none */
    uint32_t dimension;     /* of the object: OUT_OF_BOUNDS, MISALIGNED */
    int64_t start, extent;  /* of the access in that dimension */
    int64_t limit;          /* size of the dimension; MISALIGNED: bytes it must be a multiple of */
    uint32_t use;           /* grout_uninitialised_use */
    uint32_t element;       /* barrier element: TOO_MANY, TX_MISMATCH */
    uint32_t phase;
    int64_t have, need; /* arrivals or bytes; OUTPUT_NOT_WRITTEN: elements missing, in all */
    bool is_static;     /* LAUNCH-level fault: origin.op is 0 (OUTPUT_NOT_WRITTEN) */
} grout_fault;

typedef enum grout_thread_state {
    GROUT_THREAD_RUNNABLE,
    GROUT_THREAD_BLOCKED_BARRIER,   /* in barrier_wait: element, phase */
    GROUT_THREAD_BLOCKED_SCOPE,     /* at the entry of a collective scope */
    GROUT_THREAD_BLOCKED_REGISTERS, /* in set_max_registers increase: registers, free */
    GROUT_THREAD_EXITED
} grout_thread_state;

typedef struct grout_thread_fact {
    uint8_t state; /* grout_thread_state */
    uint32_t element;
    uint32_t phase;
    /* BLOCKED_REGISTERS: asked for; in the CTA's pool, so many for each lane of one thread */
    uint32_t registers, registers_free;
    uint32_t registers_held; /* that each lane of the thread has now, whatever its state */
    grout_origin origin;     /* of the op it stands at; of its last op if it has exited */
} grout_thread_fact;

typedef struct grout_event {
    uint32_t kind; /* grout_event_kind */
    uint64_t step; /* ops executed so far in the launch */
    grout_origin origin;
    const grout_clocks *clocks; /* of the thread, before the event takes effect; NULL: no thread */
    union {
        const grout_access *access;
        struct {
            uint32_t element;
            uint32_t phase; /* that this contribution belongs to */
            uint32_t count;
            bool by_copy;
            uint32_t phase_base;       /* as in grout_barrier_fact */
            grout_phase_fact previous; /* phase - 1; meaningless for phase 0 */
        } arrive;
        struct {
            const grout_barrier_fact *barrier;
            uint32_t phase;
            const uint32_t *completion; /* union of its contributions' clocks and its bytes' */
            const grout_origin *contributions; /* one for each arrive or copy, in arrival order */
            uint32_t contribution_count;
        } phase;
        struct {
            const grout_barrier_fact *barrier; /* as it stands; waits[thread] counts this wait */
            uint32_t phase;
            bool is_late; /* a later phase had completed too; depends on the timing: for traces */
        } wait;
        struct {
            uint32_t lane;    /* WGMMA_WAIT: the thread */
            uint32_t number;  /* COMMIT_GROUP: of the group; the waits: groups now known done */
            uint32_t allowed; /* the waits: n */
            bool read_only;
        } group;
        const grout_issue *issue;
        struct {
            const grout_object_id *objects;
            uint32_t object_count;
            /* SCOPE_END: union of the V that each thread had as it left the scope, however far it
             * has come since; else of the V of all threads of the CTA at this point */
            const uint32_t *last;
            bool is_inner; /* a scoped, not the CTA */
        } scope;
        struct {
            const grout_barrier_fact *barrier;
            bool is_inner; /* the scope of a scoped ends, not the CTA */
        } barrier_end;
        const grout_fault *fault;
        struct {
            const grout_thread_fact *threads;
            uint32_t thread_count;
            const grout_barrier_fact *barriers;
            uint32_t barrier_count;
        } deadlock;
    } u;
} grout_event;

/* ---- observers ------------------------------------------------------------------------------- */

/* What an observer is told once, before the first event; lives as long as the launch. */
typedef struct grout_launch_info {
    const grout_module *module; /* bound */
    grout_kernel_id kernel;
    grout_clock_shape shape;
    int64_t cta_count;
    /* barrier element -> object and index inside it */
    const grout_object_id *element_objects;
    const uint32_t *element_indices;
} grout_launch_info;

typedef struct grout_observer {
    void *self;
    uint32_t interest; /* bit 1 << grout_event_kind for each kind that it wants */
    /* false stops the launch (out of memory in the observer, say) */
    bool (*begin)(void *self, const grout_launch_info *info);
    bool (*event)(void *self, const grout_event *event);
    bool (*end)(void *self);
    /* A copy of the observer's state, for restore; NULL without memory. Freed by snapshot_free. */
    void *(*snapshot)(void *self);
    bool (*restore)(void *self, const void *snapshot);
    void (*snapshot_free)(void *self, void *snapshot);
    /* The same for equal states, whatever way they were reached. */
    uint64_t (*hash)(void *self);
} grout_observer;

/*
 * Appends the bytes [offset, offset + length) of an object as a box of the object, as the text
 * format writes references: "%as[1, 0:32, 0:64]". Bytes that are no box are enclosed in the
 * smallest one.
 */
GROUT_API void grout_describe_bytes(const grout_module *bound, grout_object_id object,
                                    int64_t offset, int64_t length, grout_text *out);
/* Appends "CTA (x=1, y=0), thread wg=0, %j=3": where an origin stands in the launch. */
GROUT_API void grout_describe_origin(const grout_module *bound, grout_kernel_id kernel,
                                     const grout_origin *origin, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
