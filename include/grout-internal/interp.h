/* SPDX-License-Identifier: Apache-2.0 */
/*
 * interp.h - running a kernel on the CPU.
 *
 * A launch is deterministic: kernel, arguments, schedule, timing and seed fix every value, event
 * and report. Two launches may run in two OS threads; they share nothing but the bound module,
 * which is read only.
 */
#ifndef GROUT_INTERNAL_INTERP_H
#define GROUT_INTERNAL_INTERP_H

#include "grout-internal/observe.h"
#include "grout/function.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In which order threads run. */
typedef enum grout_schedule {
    GROUT_SCHEDULE_FAIR,   /* round robin, over threads and clusters */
    GROUT_SCHEDULE_RANDOM, /* the next thread is drawn from the seed */
    /* probabilistic concurrency testing (Burckhardt et al., ASPLOS 2010): random priorities, and
     * launch.pct_depth - 1 points, drawn from the seed, where the priority of the running thread
     * drops */
    GROUT_SCHEDULE_PCT,
    GROUT_SCHEDULE_REPLAY /* what launch.replay says, then fair */
} grout_schedule;

/* The actor that ran at each point where more than one could: numbers of actors of the launch (CTA
 * index times actors of a CTA plus actor), in order. Between them stand the answers that a GPU may
 * give either way: whether a phase that lacks nothing but what is in flight is complete (a test of
 * a barrier), and whether launch control hands out a cluster while there are some. The record of a
 * launch begins zeroed, grows with the launch's allocator, and is the caller's to deinit. Actors to
 * replay are borrowed. */
typedef struct grout_decisions {
    uint32_t *actors;
    size_t count, capacity;
} grout_decisions;

#define GROUT_DECISION_NO  (UINT32_MAX - 1) /* the answers */
#define GROUT_DECISION_YES UINT32_MAX

static inline bool grout_decision_is_answer(uint32_t decision) {
    return decision >= GROUT_DECISION_NO;
}

/*
 * When async operations take effect, within what their completion permits. LAZY, the default, is
 * the debugging adversary: a copy reads its source and writes its destination as late as possible,
 * the destination holds poison in between, and bytes written but not committed are read as they
 * were before. A kernel with a missing wait or commit then computes wrong, as a GPU may.
 */
typedef enum grout_timing {
    GROUT_TIMING_LAZY,
    GROUT_TIMING_EAGER,
    GROUT_TIMING_RANDOM
} grout_timing;

/*
 * What the sums of wgmma are, bit for bit. FAST, the default: fma(a, b, c) in f32, k by k, rounded
 * each time; any host makes the same. EXACT: what the tensor core of Hopper makes, which cuts terms
 * before it adds them; slower (docs/numerics.md).
 */
typedef enum grout_numerics { GROUT_NUMERICS_FAST, GROUT_NUMERICS_EXACT } grout_numerics;

/* "fair", "random", "lazy", ...; false if there is none of this name. */
bool grout_schedule_find(const char *text, grout_schedule *schedule_out);
bool grout_timing_find(const char *text, grout_timing *timing_out);
bool grout_numerics_find(const char *text, grout_numerics *numerics_out);

#define GROUT_OBSERVERS_MAX 8

/* What an array held before the launches that may still run wrote it, and what it holds when this
 * one begins: both as large as the argument. An actor that has not waited for them may read either.
 */
typedef struct grout_stale_array {
    const void *before, *now; /* NULL: they do not write it */
} grout_stale_array;

typedef struct grout_launch {
    const grout_module *module; /* bound and verified; borrowed until the machine is freed */
    grout_kernel_id kernel;
    const grout_argument *arguments; /* one for each parameter; data borrowed */
    size_t argument_count;
    grout_schedule schedule;
    grout_timing timing;
    grout_numerics numerics;
    uint64_t seed;
    uint32_t pct_depth; /* GROUT_SCHEDULE_PCT: 1 or more */
    uint32_t sm_count;  /* of the GPU; 0: GROUT_SMS_DEFAULT */
    uint32_t resident;  /* CTAs that fit on the GPU at once, at most 65,536; 0: worked out */
    /*
     * OS threads that may run clusters at the same time; 0: one. Values, events' meaning and
     * reports are those of one worker for every number. Several are used only where no cluster can
     * wait for another or see what it writes (no semaphores or atomics in GMEM), under the fair and
     * the random schedule, without record and debug_print. If clusters then touch the same elements
     * all the same, what they did is dropped, and one worker runs them again. Each worker has its
     * own copy of the arrays that the kernel writes.
     */
    uint32_t workers;
    const grout_decisions *replay; /* borrowed; GROUT_SCHEDULE_REPLAY */
    grout_decisions *record;       /* what was decided is appended; NULL: not kept */
    uint64_t max_steps;            /* 0: GROUT_STEPS_DEFAULT; at most GROUT_STEPS_MAX count */
    uint64_t max_memory;           /* bytes of machine state; 0: no limit of ours */
    /* of the machine's state and its snapshots (alloc.h); NULL: libc. With several workers it is
     * called from several OS threads at once. */
    const grout_allocator *allocator;
    const bool *skipped;  /* by op: it does nothing; ops without results only. NULL: none */
    const bool *relaxed;  /* by op: it orders nothing, as with order(relaxed). NULL: none */
    bool track_undefined; /* follow undefined values; the checker needs it */
    /* Look at what operations make of floats: NaN and infinity out of numbers are faults
     * (non-finite), what follows from them is counted. Slower: elementwise ops run one by one. */
    bool track_non_finite;
    bool is_unfused;         /* elementwise ops one by one, not strip by strip: the same, slower */
    bool print_whole_arrays; /* of a debug_print; else one of more than 1000 elements is abbreviated
                              */
    const grout_extern *externs; /* one for each name; borrowed until the machine is freed */
    uint32_t extern_count;
    /*
     * The launches before this one of a launch list that may still run when it begins, because
     * this one is dependent, the oldest first; all are over here, and their results in the
     * arguments. stale: by parameter; NULL: none. Under lazy and random timing an actor that has
     * not waited (griddepcontrol_wait) reads the older contents. Borrowed until the machine is
     * freed. One worker runs such a launch.
     */
    const grout_earlier_launch *earlier;
    uint32_t earlier_count;
    const grout_stale_array *stale;
    /* By parameter: what earlier launches of a list have left in the array (past.h); nothing is
     * asked of an 'out' array, which begins anew. NULL: none came before. Borrowed until the
     * machine is freed. */
    const grout_array_past *pasts;
    const grout_observer *observers[GROUT_OBSERVERS_MAX];
    uint32_t observer_count;
    /* Called every some operations, also of those that are prepared, and for each CTA, from the OS
     * thread that makes or runs the machine; false interrupts the run. May be NULL. */
    bool (*progress)(void *payload, const grout_progress *progress);
    /* What a debug_print says, without the last newline: a line, or several if an array has several
     * rows or the text has newlines. The first begins with the thread, those of an array with
     * blanks and '[' or '...', the others with "  | "; the text is made visible
     * (grout_text_add_visible). May be NULL. */
    void (*print)(void *payload, const char *line);
    void *payload;
} grout_launch;

#define GROUT_STEPS_DEFAULT UINT64_C(1000000000)
#define GROUT_STEPS_MAX     (UINT64_C(1) << 31) /* clocks count in 32 bits */
#define GROUT_SMS_DEFAULT   132                 /* of an H100 SXM or H200 */

/* Whether two of its arrays have bytes in common, and the kernel may write one of them. find says
 * which: the parameter that it may write, and the other one. */
bool grout_launch_find_overlap(const grout_launch *launch, size_t *written_out, size_t *other_out);
bool grout_launch_shares_bytes(const grout_launch *launch);

typedef enum grout_run_status {
    GROUT_RUN_DONE,
    GROUT_RUN_PAUSED, /* the step count asked for is reached; run again to go on */
    GROUT_RUN_DEADLOCK,
    GROUT_RUN_STEP_LIMIT,
    GROUT_RUN_INTERRUPTED, /* progress said so, or an extern */
    GROUT_RUN_FAILED       /* reasons in diags: memory, an observer that gave up */
} grout_run_status;

typedef struct grout_run_stats {
    uint64_t steps, async_ops, events;
    /* Elements that the steps have read and made, and a share of the products of matrices: what a
     * run costs, the same on every machine. */
    uint64_t work;
    int64_t ctas_done;
    uint64_t peak_bytes; /* machine state, arrays excluded */
    /* with track_non_finite: elements that were made NaN or infinite, and those computed from such
     */
    uint64_t non_finite_made, non_finite_follow;
} grout_run_stats;

typedef struct grout_machine grout_machine;

/* Prepares a launch: lowers the kernel to its plan, fills 'out' arrays. progress is asked there,
 * too: what it interrupts is a machine whose run is over, interrupted. NULL: reasons in diags. */
grout_machine *grout_machine_new(const grout_launch *launch, grout_diags *diags);
void grout_machine_free(grout_machine *machine);
/* Runs at most max_steps more ops (0: to the end). */
grout_run_status grout_machine_run(grout_machine *machine, uint64_t max_steps, grout_diags *diags);
grout_run_stats grout_machine_get_stats(const grout_machine *machine);
/* The elements of a parameter's array that have no defined value now: bit e % 64 of word e / 64 is
 * set for element e; room for one bit an element, in whole words. Returns how many there are. They
 * are followed with track_undefined alone. */
int64_t grout_machine_get_undefined(const grout_machine *machine, size_t param, uint64_t *bits_out);

/* The whole state of a paused machine, its observers' and its output arrays' included. */
typedef struct grout_snapshot grout_snapshot;
grout_snapshot *grout_machine_snapshot(const grout_machine *machine, grout_diags *diags);
bool grout_machine_restore(grout_machine *machine, const grout_snapshot *snapshot,
                           grout_diags *diags);
void grout_snapshot_free(grout_snapshot *snapshot);
/* A hash of the machine's state, the same for equal states. */
uint64_t grout_machine_hash(const grout_machine *machine);

/* Frees what a launch has recorded and leaves it empty. */
void grout_decisions_deinit(grout_decisions *decisions);

/* What 'grout doctor' shows: the libraries that the interpreter was built with, by lines, and what
 * multiplies tiles on this processor. Adds to out; without memory out->failed is set. */
void grout_interp_describe(grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
