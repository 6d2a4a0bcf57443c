/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.h - the checker: an observer that turns a run into findings.
 *
 * It follows happens-before and proxies (docs/memory_model.md), so what it finds does not depend on
 * what happened to collide: a finding's identity (code, primary place, related place) is the same
 * under every timing, seed and number of workers, and under every schedule of a run that is well
 * synchronised.
 */
#ifndef GROUT_RACE_H
#define GROUT_RACE_H

#include "grout-internal/observe.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum grout_verdict {
    GROUT_VERDICT_CLEAN,
    GROUT_VERDICT_ERROR,
    GROUT_VERDICT_INCOMPLETE /* a budget ran out, or something is not modelled: never 'clean' */
} grout_verdict;

/* One side of a finding, in words. Strings belong to the checker. */
typedef struct grout_finding_access {
    grout_place place;
    const char *op;     /* as written: "store %cs, %v" */
    const char *where;  /* "CTA x=0, thread wg=0, %j=2" */
    const char *engine; /* "generic proxy", "TMA, async proxy", "tensor core, async proxy", or
                           "registers" for the thread's own access to an accumulator */
    const char *box;    /* "%cs[0:32, 0:64]" or "" */
    bool is_write;
} grout_finding_access;

/*
 * A repair as an edit: put text on lines of its own before or after a line of the file, or in the
 * place of what stands at place.
 */
typedef struct grout_finding_edit {
    grout_place place; /* the line it refers to; file NULL: there is no unique edit */
    bool is_after;
    bool is_replacement; /* of the bytes of place: line, column, length */
    const char *text;    /* "commit_smem"; several lines have '\n' between them */
} grout_finding_edit;

typedef struct grout_finding {
    grout_diag_code code;
    grout_severity severity;
    grout_place primary;
    grout_place related;              /* file NULL: none */
    uint64_t identity;                /* hash of code, primary and related */
    uint64_t count;                   /* how often it was seen */
    const grout_diag *diag;           /* headline and notes, ready for grout_diag_render */
    grout_finding_access accesses[2]; /* the later first */
    uint32_t access_count;
    const char *missing_edge; /* what order exists, what is absent, what came close; "" if none */
    const char *repair;       /* in words; "" if none */
    grout_finding_edit edit;
    /* What it follows from, by the table of race_checker/explain/causes.def: look at that one
     * first, and at this one when it is mended. It comes before this one. NULL: nothing. */
    const struct grout_finding *cause;
} grout_finding;

typedef struct grout_checker_options {
    uint32_t max_findings; /* distinct identities; 0: GROUT_DIAGS_MAX */
    /* who makes a plain access runs its proxy fence too, before it hands the bytes over; else
     * anybody on the way may (docs/memory_model.md) */
    bool strict_fences;
    /* A checker of another run of the launch, whose races of two writes are to be judged: this one
     * compares what those writes leave, for grout_checker_judge_writes. The launch has eager timing
     * and one worker; no snapshots are taken. Borrowed until the run has ended. NULL: none. */
    const struct grout_checker *judged;
    /* of the checker, its snapshots and its findings (alloc.h); NULL: libc */
    const grout_allocator *allocator;
} grout_checker_options;

typedef struct grout_check_summary {
    grout_verdict verdict;
    bool is_well_synchronised; /* the verdict holds for every schedule and timing of this launch */
    const char *not_well_synchronised_because; /* "" if it is */
    /* it is not, it has no error, and a test of a barrier, an atomic or an answer of launch control
     * decides something: other schedules may take other ways (grout_second_look) */
    bool goes_by_chance;
    /* some writes race, and leave the same bytes: the promise is made with them */
    bool has_equal_writes;
    const char *assuming; /* what that rests on besides: "CTAs start in grid order", "the tensor
                             core works in the order of issue", both; "": nothing */
    uint64_t error_count, warning_count;          /* identities */
    uint64_t suppressed_count;                    /* follow-on findings, not listed */
    uint64_t dropped_count;                       /* identities past max_findings */
    uint64_t accesses, async_ops, barrier_phases; /* how much was looked at */
    uint64_t shadow_bytes_peak;
} grout_check_summary;

typedef struct grout_checker grout_checker;

/*
 * What a launch of a list has done to its arrays. Where launches after it may run beside it (a
 * grout_launch.earlier of theirs), the checker compares their accesses with it. It follows one
 * launch, which one worker runs, without snapshots.
 */
typedef struct grout_ledger grout_ledger;

/* allocator: alloc.h; NULL: libc. NULL without memory. */
grout_ledger *grout_ledger_new(const grout_allocator *allocator, grout_diags *diags);
void grout_ledger_free(grout_ledger *ledger);
/* To be put into grout_launch.observers; borrowed from the ledger. */
const grout_observer *grout_ledger_get_observer(grout_ledger *ledger);
/*
 * Sets what of the earlier launches comes before the start of the launch after them, and before its
 * griddepcontrol_wait, from their ledgers. All launches of the list that may still run then, oldest
 * first: each but the first depends on the one before it.
 */
void grout_ledger_order(grout_earlier_launch *earlier, uint32_t count);
/* Whether the launch has released anything to the next one (griddepcontrol_launch_dependents with
 * order(release)). */
bool grout_ledger_hands_on(const grout_ledger *ledger);
/*
 * Copies those bytes of a parameter's array from old that the earlier launch has written, and that
 * the later one need not see when it begins. Both are as large as the array. False without memory.
 */
bool grout_ledger_keep_unseen(const grout_earlier_launch *earlier, uint32_t param, const void *old,
                              void *bytes);

/* A checker for one launch; options may be NULL. NULL without memory. */
grout_checker *grout_checker_new(const grout_checker_options *options, grout_diags *diags);
void grout_checker_free(grout_checker *checker);
/* To be put into grout_launch.observers; borrowed from the checker. */
const grout_observer *grout_checker_get_observer(grout_checker *checker);

/* Whether it has found races of two writes. They are errors until they are judged (equal.h). */
bool grout_checker_has_racing_writes(const grout_checker *checker);
/* What a checker that compares writes says of the races of the one that it was made for: whether
 * both leave the same bytes in some of them; whether it has met all of them. */
bool grout_checker_finds_equal(const grout_checker *compared, const grout_checker *checker);
bool grout_checker_knows_writes(const grout_checker *compared, const grout_checker *checker);
/*
 * Judges races of two writes; equal.h makes the runs for it. compared: checkers of the same kernel
 * that were made for this one (judged), the first with the inputs of this one, the others with
 * other inputs. A race becomes the warning same-value-race if both writes leave the same bytes with
 * these inputs, and, if there are other checkers, in the first of those that has met it. It stays
 * an error if not, or if a value depends on the schedule, or comes of a race. False without memory.
 */
bool grout_checker_judge_writes(grout_checker *checker, const grout_checker *const *compared,
                                uint32_t compared_count);

/* What a step of a finding's path is. */
typedef enum grout_step_role {
    GROUT_STEP_ACCESS,  /* one of the two accesses, or the use of a barrier that is wrong */
    GROUT_STEP_ISSUE,   /* the operation that started an engine, which makes the access */
    GROUT_STEP_SYNC,    /* synchronisation that came closest, and does not help */
    GROUT_STEP_PHASE,   /* a phase of a barrier completes: the access is over */
    GROUT_STEP_BLOCKED, /* a thread of a deadlock, where it stands */
    GROUT_STEP_ABSENT,  /* an operation that would let it go on, and does not come */
    GROUT_STEP_END      /* the CTA ends */
} grout_step_role;

/* Something that an actor or an engine does. */
typedef struct grout_path_step {
    uint8_t role;      /* grout_step_role */
    uint32_t lane;     /* who: index of the path's lanes */
    grout_place place; /* file NULL: it is no operation of the file */
    const char *text;  /* the operation as written, or "phase 0 completes" */
    const char *round; /* "%j=2": of the loops around it; "" if there are none */
} grout_path_step;

/* An order between two steps of different lanes, which the checker knows of or misses. */
typedef struct grout_path_edge {
    uint32_t from, to; /* steps */
    bool is_missing;
    const char *word; /* "starts", "completes", "no commit_smem", "waits for %go[0]" */
} grout_path_edge;

#define GROUT_PATH_STEPS_MAX 24
#define GROUT_PATH_EDGES_MAX 24

/*
 * What lies between the two accesses of a finding, and the edge that is missing; of a deadlock, who
 * waits for whom. Steps come in the order in which they ran or would have to run, those of a lane
 * are in program order.
 */
typedef struct grout_finding_path {
    const char *lanes[GROUT_PATH_STEPS_MAX]; /* "CTA (x=0), thread wg=0", "TMA", "%full[0]" */
    grout_path_step steps[GROUT_PATH_STEPS_MAX];
    grout_path_edge edges[GROUT_PATH_EDGES_MAX];
    uint32_t lane_count, step_count, edge_count;
} grout_finding_path;

/* After the run. Errors come before warnings, each in the order of their primary place, and at most
 * max_findings of them; the summary counts all. Borrowed from the checker. */
uint32_t grout_checker_get_count(const grout_checker *checker);
const grout_finding *grout_checker_get_finding(const grout_checker *checker, uint32_t index);
/*
 * The path of one of the checker's findings, made anew. NULL: the finding is not about an order, or
 * memory has run out. It owns its strings; its places are the module's. Free it with
 * grout_finding_path_free.
 */
grout_finding_path *grout_checker_make_path(const grout_checker *checker,
                                            const grout_finding *finding);
void grout_finding_path_free(grout_finding_path *path);
/* was_cut: the run did not reach its end (interrupted, step limit). A checker that has followed no
 * launch, because there was no machine, is incomplete too. */
grout_check_summary grout_checker_get_summary(const grout_checker *checker, bool was_cut);

/*
 * What a launch of a list has left to the schedule, for the launches after it (past.h): chances_out
 * has GROUT_CHANCE_COUNT entries for each parameter, in the order of grout_chance_kind. If the
 * verdict does not hold for every schedule, that is all that the launch may have written. launch:
 * its number, from 1. What an earlier launch has left stays under that one's number. False without
 * memory.
 */
bool grout_checker_find_chances(const grout_checker *checker, bool was_cut, uint32_t launch,
                                grout_chance *chances_out);

/*
 * The headline of a fault that is about a value alone: debug-check-failed, not-a-multiple,
 * non-finite, non-finite-input. False for any other, of which nothing is said. For observers beside
 * the checker.
 */
bool grout_race_describe_fault(const grout_module *bound, grout_op_id op, const grout_fault *fault,
                               grout_text *out);

/*
 * Whether the order of the atomics on an array may decide a branch, an address or a synchronisation
 * of the kernel: their order is then part of the schedule. It may do so through what they return,
 * or through what those that do not commute leave (float sums, exchanges, different ones). The
 * allocator (alloc.h; NULL: libc) is for this call alone. False without memory.
 */
bool grout_race_is_decisive(const grout_allocator *allocator, const grout_module *module,
                            grout_kernel_id kernel, grout_object_id object, bool *is_decisive_out);
/*
 * Whether the order of the atomics on an array, or of the signals, waits and readings of a
 * semaphore object, may show in what leaves the kernel: it decides something, or reaches an array
 * of the launch. As grout_race_is_decisive otherwise.
 */
bool grout_race_leaves_kernel(const grout_allocator *allocator, const grout_module *module,
                              grout_kernel_id kernel, grout_object_id object, bool *leaves_out);
/*
 * Whether a value that the loops around an op only hand on from turn to turn decides something
 * after them, a count of the turns for example: then it matters how often the op has looked. look:
 * the op; counts_arrays: what reaches an array of the launch matters too. As grout_race_is_decisive
 * otherwise.
 */
bool grout_race_counts_turns(const grout_allocator *allocator, const grout_module *module,
                             grout_kernel_id kernel, grout_op_id look, bool counts_arrays,
                             bool *counts_out);

#ifdef __cplusplus
}
#endif
#endif
