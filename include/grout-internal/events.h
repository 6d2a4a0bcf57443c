/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.h - what the interpreter reports to its observers: the only view that the race checker,
 * the trace writer and the counters have of it. It names parts of a module by their ids, and so
 * needs nothing of the IR; observe.h adds the words.
 *
 * The machine keeps the clocks (docs/memory_model.md): it knows what happened before what, because
 * lazy timing asks the same question. An observer gets them with each event and decides what is
 * wrong; it never steers the run. Nothing in an event outlives the callback unless it says so.
 *
 * Terms. A *CTA* has an index in the launch and a *rank* in its *cluster*. A *thread* is a
 * warpgroup; inside a warp_map its four *warps* run in its stead. Threads and warps are the
 * *actors*: actor i of a CTA is thread i, or after the threads warp w of thread t (see
 * grout_clock_actor). A thread issues its bulk copies from one *lane*, in a kernel with a warp_map
 * each of its warps from one. A *barrier element* is one mbarrier of the CTA, numbered from 0 over
 * all barrier objects of the kernel. A *mechanism* is something that completes in the order of its
 * numbers: the phases of a barrier element, the reads or the writes of a lane's bulk groups, a
 * thread's wgmma or cp.async groups; so 'operation k is done' is one comparison.
 */
#ifndef GROUT_INTERNAL_EVENTS_H
#define GROUT_INTERNAL_EVENTS_H

#include "grout-internal/clocks.h"
#include "grout-internal/diagnose.h"
#include "grout-internal/spaces.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct grout_module;

/* ---- who and where --------------------------------------------------------------------------- */

#define GROUT_ORIGIN_LOOPS 4

/* One execution of one op: enough to name it in a report. Plain data; may be kept. */
typedef struct grout_origin {
    grout_op_id op;
    uint32_t cta; /* linear index in the grid */
    uint8_t thread;
    uint8_t operand;    /* operand of the op that the access is about */
    uint8_t loop_depth; /* loops around the op; the outermost GROUT_ORIGIN_LOOPS are kept */
    uint8_t warp;       /* 0: the thread as a whole; else the warp of it, plus 1 */
    int32_t loops[GROUT_ORIGIN_LOOPS]; /* loop indices, outermost first */
} grout_origin;

/* ---- what ------------------------------------------------------------------------------------ */

/* What makes an access, and through which proxy. */
typedef enum grout_agent {
    GROUT_AGENT_ACTOR,         /* the thread or warp itself: generic proxy, over at once */
    GROUT_AGENT_ENGINE,        /* TMA, tensor core: async proxy */
    GROUT_AGENT_GENERIC_ENGINE /* cp.async, st.async: later, but through the generic proxy */
} grout_agent;

/*
 * How an access can be known to be over. By an actor: component released, number its epoch. By
 * an engine: component bulk_read, bulk_written, phase, wgmma or async_copy, number of the group or
 * phase.
 */
typedef struct grout_stamp {
    uint32_t cluster;
    uint32_t component;
    uint32_t number;
    uint8_t agent; /* grout_agent */
} grout_stamp;

typedef struct grout_access {
    grout_object_id object;
    uint32_t owner; /* SMEM: the CTA whose bytes they are (or the semaphore's, if each has one) */
    uint8_t space;  /* grout_space; ACC: the instance of the thread of the event's origin */
    bool is_write;
    bool is_atomic;       /* no race with another one of the same width whose scope covers both */
    uint8_t atomic_scope; /* grout_choice, GROUT_CHOICE_SCOPE_* */
    uint8_t atomic_width; /* bytes of an element */
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

/* An actor's last wait on a barrier element. */
typedef struct grout_wait_fact {
    uint32_t waits; /* how often it waited; the last was for phase waits - 1 */
    uint32_t epoch; /* the actor's epoch (x) at the last wait */
    grout_origin origin;
} grout_wait_fact;

/* A barrier element as it stands. */
typedef struct grout_barrier_fact {
    uint32_t cta; /* that it lies in */
    uint32_t element;
    grout_object_id object;
    uint32_t index;    /* inside the object */
    uint32_t full;     /* phases whose arrivals are all in; the next one is open */
    uint32_t arrivals; /* that it needs; 0: an mbarrier that is not initialised, or all have left */
    uint32_t arrived;  /* of them so far */
    uint32_t completed; /* phases */
    uint32_t
        phase_base;    /* phases of its earlier lives: phase q is complete when phase > base + q */
    int64_t bytes_due; /* of the open phase: announced, not landed */
    const grout_wait_fact *waits; /* by actor of its CTA */
    uint32_t actor_count;         /* of one CTA */
    bool is_live;                 /* an mbarrier between its init and its invalidate */
    bool has_contribution;
    grout_origin last_contribution; /* the latest in source order of the newest phase */
} grout_barrier_fact;

typedef enum grout_event_kind {
    GROUT_EVENT_CTA_BEGIN,
    GROUT_EVENT_ACCESS, /* u.access: generic accesses; async ones at their issue */
    GROUT_EVENT_ARRIVE, /* u.arrive: barrier_arrive, or the arrival that a copy makes */
    GROUT_EVENT_PHASE,  /* u.phase: a phase completed */
    /* u.wait: a barrier_wait returned. Clocks are those before it. It then acquires what its own
     * phase released and nothing of a later phase, however late it comes; otherwise some schedules
     * would hide the race that an overrun causes. */
    GROUT_EVENT_WAIT,
    GROUT_EVENT_COMMIT_SMEM,
    GROUT_EVENT_COMMIT_GROUP, /* u.group: a bulk group was closed */
    GROUT_EVENT_GROUP_WAIT,   /* u.group: a wait_smem_to_gmem returned */
    /* u.issue: an async op began; its ACCESS events follow. A wgmma closes its own group: number of
     * both stamps. */
    GROUT_EVENT_ISSUE,
    GROUT_EVENT_WGMMA_WAIT,    /* u.group: a wgmma_wait returned, or the wait inside another op */
    GROUT_EVENT_COMPLETE,      /* u.issue: an async op has done all its accesses (for traces) */
    GROUT_EVENT_BLOCK_BARRIER, /* all threads met: entry of a collective scope, or block_barrier */
    GROUT_EVENT_COMMIT_GMEM,
    GROUT_EVENT_ASYNC_COPY_COMMIT,  /* u.group: a cp.async group was closed */
    GROUT_EVENT_ASYNC_COPY_WAIT,    /* u.group: an async_copy_wait returned */
    GROUT_EVENT_NAMED_ARRIVE,       /* u.named: also the arrival that a sync makes */
    GROUT_EVENT_NAMED_SYNC,         /* u.named: a sync returned */
    GROUT_EVENT_CLUSTER_ARRIVE,     /* u.rendezvous */
    GROUT_EVENT_CLUSTER_WAIT,       /* u.rendezvous: a wait returned */
    GROUT_EVENT_SIGNAL,             /* u.semaphore */
    GROUT_EVENT_SEMAPHORE_WAIT,     /* u.semaphore: a wait returned; clocks are those before it */
    GROUT_EVENT_SEMAPHORE_READ,     /* u.semaphore */
    GROUT_EVENT_BARRIER_INIT,       /* u.init: mbarrier_init */
    GROUT_EVENT_BARRIER_INVALIDATE, /* u.init */
    GROUT_EVENT_FORK,               /* u.fork: the actor's warps, or the CTA's threads, begin */
    GROUT_EVENT_JOIN,               /* u.fork: they have ended */
    /* u.collective: the copies that all CTAs of a set must issue differ, or one has ended without
     */
    GROUT_EVENT_COLLECTIVE,
    GROUT_EVENT_SCOPE_BEGIN, /* u.scope */
    GROUT_EVENT_SCOPE_END,   /* u.scope: its objects die; may come once per thread, see scope */
    GROUT_EVENT_BARRIER_END, /* u.barrier_end: a barrier element dies, before SCOPE_END, CTA_END */
    GROUT_EVENT_THREAD_EXIT, /* u.rendezvous.is_for_all */
    GROUT_EVENT_CTA_END,     /* u.scope with all the kernel's own objects */
    GROUT_EVENT_FAULT,       /* u.fault: an access or value that is wrong by itself */
    GROUT_EVENT_DEADLOCK,    /* u.deadlock */
    GROUT_EVENT_STEP_LIMIT,
    GROUT_EVENT_TEST_FALSE,   /* u.wait: a test that was false; barrier and is_test alone are set */
    GROUT_EVENT_REGISTERS,    /* u.registers: a thread has taken some of the CTA's pool, or given */
    GROUT_EVENT_GRID_WAIT,    /* a griddepcontrol_wait returned */
    GROUT_EVENT_GRID_TRIGGER, /* griddepcontrol_launch_dependents */
    /* a select or an atomic met something undefined, or a division had no quotient: what becomes of
     * it may depend on the schedule */
    GROUT_EVENT_UNDEFINED,
    GROUT_EVENT_TMEM_WAIT, /* u.group: a wait_load_tmem (read_only) or commit_tmem returned */
    GROUT_EVENT_UNWRITTEN, /* u.unwritten: a load, copy or wgmma reads what has no value */
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
    GROUT_USE_PRINT,
    GROUT_USE_SYNC,  /* units of a semaphore, parity of an mbarrier, nanoseconds of a delay */
    GROUT_USE_CHECK, /* condition of a debug_check */
    GROUT_USE_COUNT
} grout_uninitialised_use;

/* What may not leave an array, though a TMA box may hang over its end. */
typedef enum grout_outside {
    GROUT_OUTSIDE_PLAIN,    /* it is no such box */
    GROUT_OUTSIDE_PROMISED, /* oob(in_bounds) */
    GROUT_OUTSIDE_FOLDED,   /* the dimension is a part of one of the tensor map */
    GROUT_OUTSIDE_PART,     /* the part that a tensor map is to be of */
    GROUT_OUTSIDE_EMPTY,    /* .. and it has no element */
    GROUT_OUTSIDE_PIXELS,   /* no base pixel that pixels(..) has */
    GROUT_OUTSIDE_OFFSET,   /* an offset of pixels that the instruction does not hold */
    GROUT_OUTSIDE_NEGATIVE, /* before the first element, where TMA does not store */
    GROUT_OUTSIDE_GRANULE   /* a TMA store past an end between 16 bytes */
} grout_outside;
/* Why a copy cannot go through a tensor map. */
typedef enum grout_map_use {
    GROUT_MAP_NOT_ACQUIRED, /* its thread has not acquired it since it was made */
    GROUT_MAP_REPLACED      /* the slot holds another one, or none */
} grout_map_use;
/* Values that a fault may show. */
#define GROUT_FAULT_VALUES_MAX 8

/* A fault: code says which of the numbers count. */
typedef struct grout_fault {
    grout_diag_code code;
    grout_object_id object; /* 0: none */
    /* of the object: OUT_OF_BOUNDS, MISALIGNED; GROUT_RANK_MAX + i: the i-th of the places of a
     * '.cluster(..)', which names no CTA of the cluster */
    uint32_t dimension;
    int64_t start, extent; /* of the access in that dimension */
    int64_t limit;         /* size of the dimension; MISALIGNED: bytes it must be a multiple of */
    /* grout_uninitialised_use; OUT_OF_BOUNDS: grout_outside; NOT_CONTIGUOUS: grout_group_fault;
     * TENSORMAP_IN_FLIGHT: grout_map_use; INDEX_OVERFLOW: grout_uninitialised_use */
    uint32_t use;
    uint32_t element; /* BARRIER_*: the barrier element */
    uint32_t cta;     /* BARRIER_UNINITIALISED: whose it is */
    uint32_t phase;
    /* arrivals or bytes; OUTPUT_NOT_WRITTEN: elements missing, in all; NOT_A_MULTIPLE: the value,
     * and what it was to be a multiple of; SPARSE_METADATA: the code, and how many elements of K it
     * is of, which begin in row 'start' at 'extent'; NON_FINITE, NON_FINITE_INPUT: how many
     * elements, and the bits of the first, which stands at 'start'; INDEX_OVERFLOW: the number, and
     * the op whose result wrapped, 0 if one of several has */
    int64_t have, need;
    uint8_t dtype; /* NON_FINITE, NON_FINITE_INPUT: of the element whose bits 'need' are */
    /* DEBUG_CHECK_FAILED: of the values that the text shows the elements at the place 'start' of
     * an array of 'extent' elements (0: the condition is a scalar), by their bits, and which of
     * them are undefined. NON_FINITE: the same of the operands, if the operation goes element by
     * element; 'have' elements of the result were made */
    uint64_t values[GROUT_FAULT_VALUES_MAX];
    uint32_t undefined;
    bool is_static; /* of the launch: origin.op is 0 (OUTPUT_NOT_WRITTEN, SEMAPHORE_RANGE) */
} grout_fault;

/* NOT_CONTIGUOUS: what is wrong with a group of elements that goes together ('have': the first
 * element of the copy that is, 'need': how many are in the group). */
typedef enum grout_group_fault {
    GROUT_GROUP_CUT,   /* the mask has some of them only */
    GROUT_GROUP_START, /* it starts at no multiple of this many elements */
    GROUT_GROUP_APART  /* the element is no neighbour of the one before it */
} grout_group_fault;

/* In what the copies that two CTAs of a set issue differ. */
typedef enum grout_divergence {
    GROUT_DIVERGENCE_NONE,
    GROUT_DIVERGENCE_ENDED, /* one of them issues none, and has ended */
    GROUT_DIVERGENCE_STUCK, /* one of them issues none, and cannot come to it any more */
    GROUT_DIVERGENCE_SOURCE,
    GROUT_DIVERGENCE_DESTINATION,
    GROUT_DIVERGENCE_PARTS, /* the dimension along which they share the box */
    GROUT_DIVERGENCE_BARRIER
} grout_divergence;

typedef enum grout_thread_state {
    GROUT_THREAD_RUNNABLE,
    GROUT_THREAD_BLOCKED_BARRIER,   /* in barrier_wait: element, phase */
    GROUT_THREAD_BLOCKED_SCOPE,     /* at the entry of a collective scope */
    GROUT_THREAD_BLOCKED_REGISTERS, /* in set_max_registers increase: registers, free */
    GROUT_THREAD_BLOCKED_PARITY,    /* in mbarrier_wait: element, parity in phase */
    GROUT_THREAD_BLOCKED_INIT,    /* before the init of an mbarrier: element; never in a DEADLOCK */
    GROUT_THREAD_BLOCKED_SPIN,    /* in a load or an atomic, round and round: nothing changes */
    GROUT_THREAD_BLOCKED_BLOCK,   /* in block_barrier */
    GROUT_THREAD_BLOCKED_NAMED,   /* in named_barrier_sync: element is the id, phase generation */
    GROUT_THREAD_BLOCKED_CLUSTER, /* in cluster_wait, or at the end of a CTA with an exit sync */
    /* in semaphore_wait: element of the event's semaphores, units in phase */
    GROUT_THREAD_BLOCKED_SEMAPHORE,
    GROUT_THREAD_BLOCKED_JOIN, /* its warps or partitions run */
    GROUT_THREAD_IDLE,         /* a warp or partition that does not run now */
    GROUT_THREAD_WAITING,      /* of a cluster that waits for room on the GPU */
    GROUT_THREAD_EXITED
} grout_thread_state;

/* A semaphore as it stands. */
typedef struct grout_semaphore_fact {
    grout_object_id object;
    uint32_t index;
    uint32_t cta;   /* whose it is; UINT32_MAX: the launch's */
    uint32_t units; /* that nobody has taken */
    uint32_t signal_count, wait_count;
    bool has_signal;
    grout_origin last_signal; /* in the order of the run */
} grout_semaphore_fact;

/* A collective copy that a CTA of its set has not issued. */
typedef struct grout_copy_fact {
    grout_origin origin; /* of the first that was issued */
    uint32_t missing;    /* that CTA */
} grout_copy_fact;

typedef struct grout_thread_fact {
    uint8_t state; /* grout_thread_state */
    uint32_t element;
    uint32_t phase;
    /* BLOCKED_PARITY: the phase that the actor means; UINT32_MAX: the one before the first */
    uint32_t meant;
    /* BLOCKED_SPIN: what it finds there each time, if that is one i32 or u32 */
    bool has_value;
    int64_t value;
    /* BLOCKED_REGISTERS: asked for, and free in the CTA's pool; for each lane of one thread */
    uint32_t registers, registers_free;
    uint32_t registers_held; /* that each lane of the thread has now, whatever its state */
    grout_origin origin;     /* of the op it stands at; of its last op if it has exited */
} grout_thread_fact;

typedef struct grout_event {
    uint32_t kind; /* grout_event_kind */
    uint64_t step; /* ops executed so far in the launch */
    grout_origin origin;
    const grout_clocks *clocks; /* of the thread, before the event takes effect; NULL: no thread */
    uint64_t look; /* where decisions are recorded: place and values of a test or atomic; 0: none */
    bool is_again; /* its actor has looked there before, and has changed nothing since */
    union {
        const grout_access *access;
        struct {
            uint32_t cta; /* that the barrier lies in */
            uint32_t element;
            uint32_t phase; /* that this contribution belongs to */
            uint32_t count;
            bool by_copy;
            /* the arrival of async_copy_arrive: what its issuer has done does not make it, only the
             * phase shows that it was made */
            bool is_deferred;
            bool is_last;  /* with it the phase has all its arrivals */
            bool is_late;  /* bytes for a phase that lacked nothing any more */
            bool is_bytes; /* no arrival: bytes that a copy brings (explicit style), or st.async */
            bool is_first; /* of a cluster barrier's simultaneous arrivals */
            uint8_t order; /* grout_choice */
            uint8_t scope; /* grout_choice */
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
            /* for an mbarrier: the parity asked for. phase is the one that it means, as far as the
             * actor knows (UINT32_MAX: the one before the first). is_other: when the wait ran, the
             * real parity meant another phase. */
            bool has_parity, is_other;
            uint32_t real; /* that other one, by what has been contributed; UINT32_MAX: none */
            uint8_t parity;
            bool is_test;    /* barrier_test, mbarrier_test that were true */
            bool has_landed; /* nobody had found the phase complete before: its bytes landed now */
            uint8_t scope;
        } wait;
        struct {
            uint32_t id, generation;  /* of the named barrier; from 0 */
            uint32_t count;           /* that it takes, as written by this op: threads or lanes */
            uint32_t lanes;           /* the same, in lanes */
            uint32_t open_lanes;      /* what the generation's first arrival said */
            uint32_t arrived, brings; /* lanes: before this op, by it */
            bool counts_lanes;
            bool is_sync;
            grout_phase_fact previous; /* generation - 1; meaningless for 0 */
        } named;
        struct {
            uint32_t generation;
            bool is_relaxed;
            /* thread 0 comes for all threads of its CTA: outside the bodies of a warp_specialize */
            bool is_for_all;
        } rendezvous;
        struct {
            const struct grout_semaphore_fact *semaphore;
            uint32_t units; /* signalled, waited for */
            bool no_decrement;
            uint8_t order, scope; /* grout_choice */
            /* of a wait: the signals it took or looked at, the oldest first; serial numbers count
             * the signals of the semaphore from 0 */
            const uint32_t *serials;
            uint32_t serial_count;
            uint32_t serial; /* of a signal: its own */
        } semaphore;
        struct {
            const grout_barrier_fact *barrier; /* as it was before */
            uint32_t arrivals;                 /* INIT */
            bool was_live;
        } init;
        struct {
            uint32_t count; /* of each lane */
            bool is_increase;
        } registers;
        struct {
            const uint32_t *actors; /* of the CTA that run between fork and join */
            uint32_t actor_count;
        } fork;
        struct {
            uint32_t mask;     /* ranks of the CTAs that must issue it */
            grout_op_id other; /* what another CTA issued instead; 0: it ended without */
            uint32_t other_cta;
            uint8_t divergence; /* grout_divergence */
        } collective;
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
            bool is_inner;        /* the scope of a scoped ends, not the CTA */
            const uint32_t *last; /* as in the SCOPE_END that follows */
        } barrier_end;
        const grout_fault *fault;
        struct {
            grout_object_id object;
            const grout_run *runs; /* bytes of the object: those that have no value */
            uint32_t run_count;
        } unwritten;
        struct {
            const grout_thread_fact *threads; /* actors of the CTAs that run, by CTA */
            uint32_t thread_count;
            const grout_barrier_fact *barriers; /* of the CTAs that run, by CTA */
            uint32_t barrier_count;
            const grout_semaphore_fact *semaphores;
            uint32_t semaphore_count;
            const grout_copy_fact *copies; /* that nothing else has been said about */
            uint32_t copy_count;
            int64_t waiting_ctas;  /* that have not begun, for want of room */
            int64_t resident_ctas; /* that fit at once */
        } deadlock;
    } u;
} grout_event;

/* ---- earlier launches of a list ---------------------------------------------------------------
 */

struct grout_ledger;

/* What of an array may depend on the schedule. */
typedef enum grout_chance_kind {
    GROUT_CHANCE_VALUE,   /* which values it holds */
    GROUT_CHANCE_DEFINED, /* whether they are defined */
    GROUT_CHANCE_COUNT
} grout_chance_kind;

typedef struct grout_chance {
    grout_op_id op;  /* the operation that it comes from; 0: it depends on none */
    uint32_t launch; /* that ran it, from 1 */
} grout_chance;

/* What the launches before this one have left in an array that it is given. */
typedef struct grout_array_past {
    const uint64_t *undefined; /* bit e % 64 of word e / 64: element e has no value; NULL: all do */
    int64_t undefined_count, first_undefined;
    uint32_t launch; /* the last one that had the array and left it so; from 1 */
    grout_chance chances[GROUT_CHANCE_COUNT];
} grout_array_past;

/* What a launch may go by of an earlier one. */
typedef enum grout_earlier_part {
    GROUT_EARLIER_NOTHING,
    GROUT_EARLIER_RELEASED, /* what it has released */
    GROUT_EARLIER_ALL,      /* all that it did */
    GROUT_EARLIER_VISIBLE   /* all that it did, through every proxy */
} grout_earlier_part;

/* An earlier launch of a list, which may still run when this one begins. */
typedef struct grout_earlier_launch {
    struct grout_ledger *ledger; /* what it has accessed: race.h */
    /* by parameter of this launch: the parameter of that one which is the same array, plus 1; 0:
     * none is */
    const uint32_t *params;
    /* what of it comes before the start of this launch, and before a griddepcontrol_wait of it:
     * grout_ledger_order (race.h) says so */
    uint8_t at_start, by_wait; /* grout_earlier_part */
    /* its number in the list, if its verdict does not hold for every schedule: what it accesses and
     * releases is then known of one alone. 0: it does */
    uint32_t open;
} grout_earlier_launch;

#ifdef __cplusplus
}
#endif
#endif
