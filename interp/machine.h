/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * machine.h - the state of a launch, private to interp/.
 *
 * Three kinds of data, kept apart. The plan: constant, full of host pointers. The state: the CTA
 * that runs, in one arena and a few pools, 32-bit offsets and indices only, so that a snapshot is a
 * copy; and the launch's arrays, written in place. The scratch: means nothing between two ops.
 * CTAs run one after the other in grid order, each with the same arena; nothing of a CTA but GMEM
 * outlives it, so that later several may run at once, each with an arena of its own.
 */
#ifndef GROUT_INTERP_MACHINE_H
#define GROUT_INTERP_MACHINE_H

#include "order.h"
#include "plan.h"

#include "grout/interp.h"

/* A loop that a thread is in. */
typedef struct grout_loop_state {
    int64_t index, high, step;
} grout_loop_state;

typedef struct grout_thread {
    uint32_t pc;
    uint32_t state;                   /* grout_thread_state */
    uint32_t element, phase;          /* BLOCKED_BARRIER */
    uint32_t scope;                   /* BLOCKED_SCOPE: of the plan's scopes */
    uint32_t committed;               /* bulk groups closed */
    uint32_t first_store, last_store; /* async stores in flight, in issue order */
    uint32_t first_unread;            /* the first of them whose source has not been read */
    uint32_t wgmma_groups;            /* issued */
    uint32_t first_wgmma, last_wgmma; /* those not performed, in issue order */
    uint32_t last_pc;                 /* of its latest op */
    uint32_t is_released;             /* the scope it stands at has let it in */
    uint32_t is_retry;                /* it has tried its op before, and blocked */
    uint32_t registers;               /* of each of its lanes, on the GPU */
} grout_thread;

/* An mbarrier. Phases complete in order; arrival number j belongs to phase j / arrivals. */
typedef struct grout_barrier {
    uint64_t arrived;
    uint32_t completed;
    uint32_t phase_base; /* its phases in earlier scopes: component ph counts over all lives */
    uint32_t first_open, last_open; /* records of the phases that have begun */
    uint32_t first_old, last_old;   /* of completed ones that a late wait may still ask for */
    uint32_t old_count;
    uint32_t had_bytes; /* bit q & 1: phase q, of the last two completed */
    uint32_t has_contribution;
    uint32_t newest_phase; /* of last_contribution */
    uint32_t newest_pc;
    grout_origin last_contribution;
} grout_barrier;

/* A phase that has begun; its clock set follows. */
typedef struct grout_phase {
    uint32_t link;
    uint32_t next;
    uint32_t number;
    uint32_t had_bytes;
    int64_t bytes;     /* announced */
    int64_t bytes_due; /* of these not landed */
    uint32_t first_load, last_load;
    uint32_t first_contribution, last_contribution, contribution_count;
    uint32_t reserved;
} grout_phase;

/* A completed phase, older than the snapshots kept for all; its clock set follows. */
typedef struct grout_old_phase {
    uint32_t link;
    uint32_t next;
    uint32_t number;
    uint32_t reserved;
} grout_old_phase;

typedef struct grout_contribution {
    uint32_t link;
    uint32_t next;
    grout_origin origin;
} grout_contribution;

enum {
    GROUT_ASYNC_READ = 1,   /* the source has been read */
    GROUT_ASYNC_DONE = 2,   /* all accesses are over */
    GROUT_ASYNC_STORE = 4,  /* SMEM to GMEM */
    GROUT_ASYNC_VOID = 8,   /* refused: moves nothing */
    GROUT_ASYNC_STALE = 16, /* some of its source bytes were captured at issue */
    GROUT_ASYNC_WGMMA = 32,
    GROUT_ASYNC_STALE_B = 64 /* of a wgmma's second operand */
};

/* An async copy or wgmma in flight. */
typedef struct grout_async {
    uint32_t link;
    uint32_t previous, next; /* all in flight, by serial */
    /* next load of the same phase, next store of the same thread, next wgmma of it */
    uint32_t peer;
    uint32_t pc;
    uint32_t flags;
    uint32_t element, phase; /* of a load */
    uint32_t phase_record;
    uint32_t group;      /* of a store or wgmma */
    uint32_t payload[2]; /* slots of captured bytes, plus 1; of a wgmma's two operands */
    uint64_t serial;
    uint64_t read_due, write_due; /* scheduling points, in random timing */
    grout_origin origin;
    int64_t start[2][GROUT_RANK_MAX]; /* of the boxes; of a wgmma, of its operands' */
} grout_async;

struct grout_tile;
typedef struct grout_tile grout_tile; /* operand.c */

/* A plain store to SMEM that engines may not see yet, or (is_engine) a load's write over it. */
typedef struct grout_undo {
    uint32_t pc;
    uint32_t box;
    uint32_t thread;
    uint32_t epoch;
    uint32_t is_engine;
    uint32_t data; /* offset of the old bytes, in the box's order */
    uint32_t size;
    uint32_t reserved;
    int64_t low, high; /* all of the box's bytes of SMEM are in [low, high) */
    int64_t start[GROUT_RANK_MAX];
} grout_undo;

/* The head of a CTA's state. */
typedef struct grout_cta {
    uint32_t index;
    uint32_t is_begun;
    uint32_t current; /* thread that runs, plus 1; 0: to be chosen */
    uint32_t last;    /* thread that ran before, plus 1 */
    uint32_t exited;
    uint32_t registers_free; /* of a lane: what threads have given back */
    uint32_t first_flight, last_flight;
    uint32_t payload_used;           /* slots in use */
    uint32_t undo_first, undo_count; /* ring of entries */
    uint32_t undo_data_first,
        undo_dropped;   /* ring of bytes: next free; entries lost to the limit */
    uint64_t points;    /* scheduling points */
    uint64_t random[2]; /* of the schedule, of the engine */
    uint64_t async_serial;
} grout_cta;

/* A step of a chain on its way from strip to strip. */
typedef struct grout_chain_run {
    const grout_inst *inst;
    grout_strip strip;
    uint32_t steps[3], result_step; /* bytes to the next strip; 0 in a buffer */
} grout_chain_run;

/* A parameter array. */
typedef struct grout_array {
    uint8_t *data;
    int64_t size, count; /* bytes, elements */
    uint8_t direction;   /* grout_direction */
    bool is_mapped;      /* the two below are there: an array that the kernel may write */
    bool has_tainted;
    uint64_t *written; /* of an out array: elements that have been written */
    uint64_t *tainted; /* elements whose value is undefined though written */
} grout_array;

/* Where the parts of a CTA's state lie. */
typedef struct grout_state_layout {
    size_t threads, loops, clocks, scopes, barriers, snapshots, waits, payload_free, registers,
        smem, defined, accumulators, size;
    uint32_t snapshots_kept; /* of the latest phases of each element; a power of two */
    uint32_t old_max;        /* of older ones, for late waits */
} grout_state_layout;

struct grout_machine {
    grout_launch launch;
    grout_plan *plan;
    grout_heap heap;
    uint64_t interest;
    bool has_clocks, tracks, is_lazy; /* is_lazy: timing is not eager */
    bool is_over, has_failed;
    grout_run_status status;
    uint64_t max_steps;
    /* state */
    grout_run_stats stats;
    int64_t next_cta;
    uint8_t *state;
    grout_state_layout at;
    grout_pool phases, old_phases, contributions, asyncs;
    uint8_t *payload; /* slots of captured bytes and their masks */
    uint32_t payload_slot_bytes, payload_mask_at, payload_slots;
    uint8_t *undo_entries, *undo_data;
    uint32_t undo_data_size;
    grout_array *arrays; /* by parameter */
    uint32_t array_count;
    /* scratch */
    grout_pool run_scratch;
    uint8_t *linear;      /* a box in logical order */
    uint8_t *mask_linear; /* one byte an element */
    uint8_t *image;       /* SMEM as an engine sees it, while a store's source is captured */
    uint64_t *image_stale, *image_settled;
    grout_tile *tiles; /* packed operands of wgmmas: see operand.h */
    float *tile_data;
    uint64_t *page_versions;
    int32_t *chunk_offsets;
    uint32_t tile_count;
    uint64_t tile_clock, tiles_packed;
    uint32_t *clock_scratch;
    uint8_t *strips;             /* see strip.h */
    grout_chain_run *chain_runs; /* the steps of the chain that runs */
    uint64_t step_limit;         /* of all steps: where this run stops at the latest */
    grout_thread_fact *thread_facts;
    grout_barrier_fact *barrier_facts;
    grout_pool origin_scratch;
};

/* ---- the parts of the state ------------------------------------------------------------------ */

static inline grout_cta *grout_machine__cta(const grout_machine *machine) {
    return (grout_cta *)(void *)machine->state;
}
static inline grout_thread *grout_machine__thread(const grout_machine *machine, uint32_t thread) {
    return (grout_thread *)(void *)(machine->state + machine->at.threads) + thread;
}
static inline grout_loop_state *grout_machine__loops(const grout_machine *machine,
                                                     uint32_t thread) {
    return (grout_loop_state *)(void *)(machine->state + machine->at.loops) +
           (size_t)thread * machine->plan->loop_depth_max;
}
static inline uint32_t *grout_machine__clocks(const grout_machine *machine, uint32_t thread) {
    return (uint32_t *)(void *)(machine->state + machine->at.clocks) +
           (size_t)thread * grout_order__get_size(&machine->plan->shape);
}
/* Of the running instance of a scope: how many threads have left it, and behind that the union of
 * what each knew (V) as it left. All 0 when no thread has left yet. */
static inline uint32_t *grout_machine__scope(const grout_machine *machine, uint32_t scope) {
    return (uint32_t *)(void *)(machine->state + machine->at.scopes) +
           (size_t)scope * (1 + grout_clock_size(&machine->plan->shape));
}
static inline grout_barrier *grout_machine__barrier(const grout_machine *machine,
                                                    uint32_t element) {
    return (grout_barrier *)(void *)(machine->state + machine->at.barriers) + element;
}
/* The clock set of a completed phase, of the last snapshots_kept. */
static inline uint32_t *grout_machine__snapshot_of(const grout_machine *machine, uint32_t element,
                                                   uint32_t phase) {
    return (uint32_t *)(void *)(machine->state + machine->at.snapshots) +
           ((size_t)element * machine->at.snapshots_kept +
            (phase & (machine->at.snapshots_kept - 1))) *
               grout_order__get_size(&machine->plan->shape);
}
static inline grout_wait_fact *grout_machine__waits(const grout_machine *machine,
                                                    uint32_t element) {
    return (grout_wait_fact *)(void *)(machine->state + machine->at.waits) +
           (size_t)element * machine->plan->shape.thread_count;
}
static inline uint8_t *grout_machine__registers(const grout_machine *machine, uint32_t thread) {
    return machine->state + machine->at.registers + (size_t)thread * machine->plan->register_bytes;
}
static inline uint8_t *grout_machine__smem(const grout_machine *machine) {
    return machine->state + machine->at.smem;
}
/* One bit for each byte of SMEM: somebody wrote it. */
static inline uint64_t *grout_machine__defined(const grout_machine *machine) {
    return (uint64_t *)(void *)(machine->state + machine->at.defined);
}
/* The accumulators of a thread. */
static inline uint8_t *grout_machine__accumulators(const grout_machine *machine, uint32_t thread) {
    return machine->state + machine->at.accumulators +
           (size_t)thread * machine->plan->accumulator_bytes;
}
static inline grout_phase *grout_machine__phase(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(&machine->phases, index);
}
static inline uint32_t *grout_phase__clocks(grout_phase *phase) {
    return (uint32_t *)(void *)(phase + 1);
}
static inline grout_old_phase *grout_machine__old_phase(const grout_machine *machine,
                                                        uint32_t index) {
    return grout_pool__at(&machine->old_phases, index);
}
static inline uint32_t *grout_old_phase__clocks(grout_old_phase *phase) {
    return (uint32_t *)(void *)(phase + 1);
}
static inline grout_async *grout_machine__async(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(&machine->asyncs, index);
}

/* ---- values of a thread -----------------------------------------------------------------------
 */

static inline uint8_t *grout_slot__data(const grout_machine *machine, uint32_t thread,
                                        const grout_slot *slot) {
    uint8_t *base = slot->is_constant ? machine->plan->constants.data
                                      : grout_machine__registers(machine, thread);
    return base + slot->data;
}
static inline bool grout_slot__is_undefined(const grout_machine *machine, uint32_t thread,
                                            const grout_slot *slot) {
    return !slot->is_constant && grout_machine__registers(machine, thread)[slot->flag] != 0;
}
static inline void grout_slot__set_undefined(const grout_machine *machine, uint32_t thread,
                                             const grout_slot *slot, bool is_undefined) {
    grout_machine__registers(machine, thread)[slot->flag] = is_undefined ? 1 : 0;
}
static inline uint8_t *grout_slot__mask(const grout_machine *machine, uint32_t thread,
                                        const grout_slot *slot) {
    return grout_machine__registers(machine, thread) + slot->mask;
}
int64_t grout_slot__get_integer(const grout_machine *machine, uint32_t thread,
                                const grout_slot *slot);

/* ---- events (event.c) --------------------------------------------------------------------------
 */

static inline bool grout_machine__wants(const grout_machine *machine, grout_event_kind kind) {
    return (machine->interest >> kind & 1u) != 0;
}
/* The execution that a thread is at; operand as in grout_origin. */
grout_origin grout_machine__origin(const grout_machine *machine, uint32_t thread,
                                   const grout_inst *inst);
/* An event of a thread, with its clocks in *clocks. */
grout_event grout_machine__event(const grout_machine *machine, grout_event_kind kind,
                                 uint32_t thread, const grout_inst *inst, grout_clocks *clocks);
void grout_machine__publish(grout_machine *machine, const grout_event *event);
/* An event that has no thread. */
void grout_machine__publish_cta(grout_machine *machine, grout_event *event);
void grout_machine__fault(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                          uint32_t operand, const grout_fault *fault);
void grout_machine__fault_undefined(grout_machine *machine, uint32_t thread, const grout_inst *inst,
                                    uint32_t operand, grout_uninitialised_use use);

/* ---- life (machine.c) --------------------------------------------------------------------------
 */

/* Prepares the state of the next CTA, and ends the one that has run. */
void grout_machine__begin_cta(grout_machine *machine);
void grout_machine__end_cta(grout_machine *machine);
/* The objects of a scope begin or end: bytes uninitialised, barriers fresh. */
void grout_machine__begin_scope(grout_machine *machine, const grout_scope_plan *scope,
                                const grout_inst *inst);
/* last: what the threads of the scope knew as they left it. */
void grout_machine__end_scope(grout_machine *machine, const grout_scope_plan *scope,
                              const uint32_t *last, uint32_t thread, const grout_inst *inst);

/* ---- scheduler.c --------------------------------------------------------------------------------
 */

/* Draws from the CTA's random state. The engine has its own, so that the schedule of a seed is the
 * same under every timing. */
enum { GROUT_DRAW_SCHEDULE, GROUT_DRAW_ENGINE };
uint64_t grout_machine__draw(grout_machine *machine, uint32_t stream);
/* Runs the CTA until it has ended (true) or the run stops (false, status set). */
bool grout_machine__run_cta(grout_machine *machine, uint64_t step_limit);

#endif
