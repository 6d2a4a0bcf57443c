/*
 * checker.h - the state of a checker, private to race_checker/.
 *
 * Two parts. The state: shadows, what threads did last, barrier phases, findings; plain data and
 * slabs, copied for a snapshot. And what follows from the launch alone: planes, options.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_CHECKER_H
#define GROUT_RACE_CHECKER_CHECKER_H

#include "finding.h"
#include "pairs.h"
#include "protocol.h"
#include "rules.h"
#include "shadow.h"

#include "grout/race.h"

/*
 * Where the bytes of an object lie: plane of a shadow, and offset in it. Of an accumulator, which
 * each thread has for itself, the plane is thread 0's, and the others' follow.
 */
typedef struct grout_home {
    uint32_t plane; /* plus 1; 0: the object is not followed */
    int64_t offset;
} grout_home;

/* A wait for wgmma groups, on its own or inside another op. op 0: there was none. */
typedef struct grout_wgmma_wait {
    grout_origin origin;
    uint32_t allowed; /* its n */
    uint32_t issued;  /* the newest group when it ran */
} grout_wgmma_wait;

/* An arrive of a thread: what it had done by then that concerns wgmmas. */
typedef struct grout_handover {
    grout_origin origin;
    uint32_t element;
    uint32_t epoch; /* who knows x of the thread up to here has been told */
    uint32_t issued;
    grout_wgmma_wait wait;
} grout_handover;

enum { GROUT_HANDOVERS_MAX = 16 }; /* the newest that are kept; older ones are not named */

enum { GROUT_BULK_WAITS_MAX = 16 }; /* the newest full waits for bulk groups that are kept */

/* What an actor had learnt by a wait_smem_to_gmem that is not read_only. */
typedef struct grout_bulk_wait {
    uint32_t epoch;
    uint32_t number; /* groups whose writes were known finished */
} grout_bulk_wait;

/* What an actor of a CTA that has ended had learnt so. */
typedef struct grout_ended_waits {
    uint32_t cta, actor; /* actor in its CTA */
    uint32_t count;
    grout_bulk_wait waits[GROUT_BULK_WAITS_MAX];
} grout_ended_waits;

/* What an actor did last, for saying what came close. op 0: it never did. */
typedef struct grout_thread_history {
    grout_origin commit; /* commit_smem */
    uint32_t commit_epoch;
    grout_origin gmem_commit; /* commit_gmem */
    uint32_t gmem_commit_epoch;
    grout_origin release; /* the newest arrive or signal that carries no memory facts, or few */
    uint32_t release_epoch;
    bool release_is_relaxed;
    uint8_t release_scope;  /* grout_choice */
    grout_origin copy_wait; /* async_copy_wait */
    uint32_t copy_allowed;  /* its n */
    uint32_t copy_closed;   /* cp.async groups closed when it waited */
    uint32_t copies_closed; /* so far */
    uint32_t bulk_wait_count;
    grout_bulk_wait bulk_waits[GROUT_BULK_WAITS_MAX]; /* number i stands at i % MAX */
    grout_origin group_wait;
    uint32_t group_allowed; /* its n */
    uint32_t group_closed;  /* groups closed when it waited */
    uint32_t group_issued;  /* the newest group that had a copy then */
    bool group_read_only;
    uint32_t groups_closed; /* bulk groups closed so far */
    uint32_t groups_issued; /* the newest group that has a copy */
    grout_origin wait;      /* on any barrier */
    uint32_t wait_element;
    grout_wgmma_wait wgmma_wait;
    uint32_t wgmma_issued; /* groups so far */
    /* the newest that a finding says was not waited for in time: at an access of this thread, of
     * another one */
    uint32_t wgmma_reported, wgmma_reported_by_others;
    uint16_t told; /* of how many barriers it had been told a phase at its last read of SMEM */
    uint32_t handover_count;
    grout_handover handovers[GROUT_HANDOVERS_MAX]; /* number i stands at i % MAX */
} grout_thread_history;

/* A CTA that runs. */
typedef struct grout_cta_state {
    uint32_t cta;
    bool is_live;
    uint32_t exited_threads; /* bit t */
    grout_shadow local;      /* SMEM, and the accumulators of each thread */
    grout_thread_history *threads;
    /* [local actor * local_elements + element]; waits: the phase of the newest wait, plus 1 */
    grout_wait_fact *waits;
    uint16_t *told_since;          /* the same: see grout_rules */
    grout_element_state *elements; /* by element of the CTA */
    grout_cta_protocol protocol;
} grout_cta_state;

typedef struct grout_report grout_report;

/* The report that was made last, and of how many occurrences. */
typedef struct grout_report_cache {
    grout_report *report;
    uint64_t total;
    char doubt[240]; /* the sentence of grout_checker__find_doubt */
} grout_report_cache;

struct grout_checker {
    grout_observer observer;
    grout_diags *diags;
    uint32_t max_findings;
    bool has_launch;
    grout_launch_info info; /* its arrays are ours: reports are asked for when the launch is gone */
    grout_object_id *element_objects;
    uint32_t *element_indices;
    grout_clock_shape shape;               /* info.shape, whose address is kept */
    uint32_t local_actors, local_elements; /* of one CTA */
    grout_home *homes;                     /* by object */
    uint32_t local_plane_count;
    uint64_t *local_plane_sizes, *local_plane_pitches;
    uint32_t *wgmma_shapes; /* by op: see grout_rules */
    uint32_t *sync_ops;     /* by op: number of a synchronising one, plus 1 */
    uint32_t sync_op_count;
    /* state */
    grout_shadow gmem;
    grout_cta_state *ctas; /* slots; a slot is used again */
    uint32_t cta_count;
    uint32_t *slots; /* by CTA: its slot, plus 1; 0: it has none */
    uint32_t slot_count;
    uint64_t *ended_ctas;
    uint32_t ended_words;
    grout_ended_waits *ended_waits; /* kept where clusters or their CTAs may hear of each other */
    uint32_t ended_wait_count, ended_wait_capacity;
    uint8_t
        *op_threads; /* by op that accesses, arrives or waits; bit t: thread t has executed it */
    grout_protocol protocol;
    grout_findings findings;
    bool has_deadlock, has_step_limit, has_failed;
    uint64_t suppressed;
    uint64_t accesses, async_ops, barrier_phases;
    uint64_t local_peak;
    /* for the operation that runs; empty between operations, as far as anyone can tell */
    grout_pairs pairs;
    grout_report_cache *cache; /* made when asked for */
};

/* ---- checker.c ---------------------------------------------------------------------------------
 */

/* Records that memory ran out. Returns false. */
bool grout_checker__fail(grout_checker *checker);
/* The state of a CTA that runs; NULL without memory, and of one that has ended. */
grout_cta_state *grout_checker__find_cta(grout_checker *checker, uint32_t cta);
/* The state of a CTA that runs now, or NULL. */
const grout_cta_state *grout_checker__get_cta(const grout_checker *checker, uint32_t cta);
bool grout_checker__has_ended(const grout_checker *checker, uint32_t cta);

static inline uint32_t grout_checker__get_rank(const grout_checker *checker, uint32_t cta) {
    return cta % checker->shape.cta_count;
}
/* Who executed something: number of the actor in its CTA, in its cluster. */
static inline uint32_t grout_checker__get_local(const grout_checker *checker,
                                                const grout_origin *origin) {
    return grout_clock_local_actor(&checker->shape, origin->thread, origin->warp);
}
static inline uint32_t grout_checker__get_actor(const grout_checker *checker,
                                                const grout_origin *origin) {
    return grout_clock_actor(&checker->shape, grout_checker__get_rank(checker, origin->cta),
                             grout_checker__get_local(checker, origin));
}
static inline bool grout_origin__is_same_actor(const grout_origin *a, const grout_origin *b) {
    return a->cta == b->cta && a->thread == b->thread && a->warp == b->warp;
}
/* What the actor did; of nothing if its CTA has ended. */
const grout_thread_history *grout_checker__get_history(const grout_checker *checker,
                                                       const grout_origin *origin);
/* A finding with facts; they are copied if this occurrence is the one to show. */
bool grout_checker__find(grout_checker *checker, const grout_finding_key *key,
                         const grout_facts *facts);

/* ---- state.c ------------------------------------------------------------------------------------
 */

bool grout_cta_state__init(grout_checker *checker, grout_cta_state *state);
void grout_cta_state__deinit(grout_checker *checker, grout_cta_state *state);
/* A CTA begins in this slot. */
void grout_cta_state__begin(grout_checker *checker, grout_cta_state *state, uint32_t cta);
void *grout_checker__snapshot(void *self);
bool grout_checker__restore(void *self, const void *snapshot);
void grout_checker__snapshot_free(void *self, void *snapshot);
uint64_t grout_checker__hash(void *self);
void grout_checker__deinit_state(grout_checker *checker);

/* ---- homes.c: where bytes lie
 * -------------------------------------------------------------------- */

bool grout_checker__place_objects(grout_checker *checker);
/* The plane of an object that is followed, of thread's own instance if each thread has one. */
static inline uint32_t grout_checker__get_plane(const grout_checker *checker,
                                                grout_object_id object, uint32_t thread) {
    bool is_own = grout_module_get_object(checker->info.module, object)->space == GROUT_SPACE_ACC;
    return checker->homes[object].plane - 1 + (is_own ? thread : 0);
}
/* Runs of bytes of an object as the smallest box of elements that holds them. */
grout_box grout_box__from_runs(const grout_module *module, grout_object_id object,
                               const grout_run *runs, uint32_t run_count);

/* ---- the rest, one noun each
 * ---------------------------------------------------------------------- */

bool grout_checker__access(grout_checker *checker, const grout_event *event); /* conflicts.c */
/* An entry as a side of a finding, without its box. */
grout_side grout_entry__describe(const grout_entry *entry);
/* Remembers what a thread did, for saying what came close. */
void grout_checker__note(grout_checker *checker, const grout_event *event, grout_cta_state *state);
/* The synchronisation that comes closest to ordering the two sides of an access conflict. */
grout_near grout_near__find(const grout_checker *checker, grout_diag_code code,
                            const grout_facts *facts, const grout_clocks *clocks); /* near.c */
/* A CTA ends: what its actors had learnt of their bulk groups is kept. False without memory. */
bool grout_checker__keep_waits(grout_checker *checker, const grout_cta_state *state);
/* Does the actor know s of the issuer up to a full wait for the copy's group? */
bool grout_checker__is_write_lost(const grout_checker *checker, const grout_entry *copy,
                                  const grout_clocks *clocks);
/* The same for a copy that is in flight when its memory, or its barrier, goes away. */
grout_near grout_near__find_at_exit(grout_checker *checker, const grout_event *event,
                                    const grout_side *copy);
/* ---- wgmma.c -----------------------------------------------------------------------------------
 */

bool grout_code__is_about_wgmma(grout_diag_code code);
/* Fills wgmma_shapes. False without memory. */
bool grout_checker__find_shapes(grout_checker *checker);
/* Of a WGMMA_WAIT, the ISSUE of a wgmma, or an ARRIVE. */
void grout_checker__note_wgmma(const grout_checker *checker, const grout_event *event,
                               grout_thread_history *thread);
/* Of a finding about a wgmma: who waits as it says has waited for all groups up to this one. */
void grout_checker__note_reported(grout_checker *checker, const grout_facts *facts);
/* Primary: who uses what a wgmma still uses; related: the wgmma. */
grout_near grout_near__find_wgmma(const grout_checker *checker, const grout_facts *facts,
                                  const grout_clocks *clocks);
grout_near grout_near__find_wgmma_at_exit(const grout_checker *checker, const grout_side *wgmma);
/* One more occurrence, with its near facts. */
void grout_cover__add(grout_cover *cover, bool is_first, const grout_facts *facts);
/* 0 if the occurrences have none in common. */
grout_op_id grout_cover__get_spot(const grout_cover *cover);
grout_op_id grout_cover__get_wait(const grout_cover *cover);

/* The object that an access was about: what its op's operand names; 0 if it names none. */
grout_object_id grout_origin__find_object(const grout_module *module,
                                          const grout_origin *origin);        /* conflicts.c */
bool grout_checker__arrive(grout_checker *checker, const grout_event *event); /* barriers.c */
bool grout_checker__thread_exit(grout_checker *checker, const grout_event *event);
bool grout_checker__wait(grout_checker *checker, const grout_event *event);
bool grout_checker__phase(grout_checker *checker, const grout_event *event);
bool grout_checker__barrier_end(grout_checker *checker, const grout_event *event);
/* Settles what is left open about the phases of every live CTA: after a deadlock, or at the end. */
bool grout_checker__settle_all(grout_checker *checker);
bool grout_checker__scope_end(grout_checker *checker, const grout_event *event); /* lifetime.c */
bool grout_checker__fault(grout_checker *checker, const grout_event *event);     /* faults.c */
/* The protocols of what else synchronises: each in a file of its name. */
bool grout_checker__named(grout_checker *checker, const grout_event *event);
bool grout_checker__semaphore(grout_checker *checker, const grout_event *event);
bool grout_checker__init(grout_checker *checker, const grout_event *event); /* init.c */
/* init.c; a fault BARRIER_UNINITIALISED: whether it is one of use and end in no order, and told as
 * that. False without memory. */
bool grout_checker__check_ended(grout_checker *checker, const grout_event *event,
                                bool *is_told_out);
bool grout_checker__collective(grout_checker *checker, const grout_event *event);
bool grout_checker__rendezvous(grout_checker *checker, const grout_event *event);
/* A CTA ends: what other CTAs did to its barriers. */
bool grout_checker__cta_exit(grout_checker *checker, const grout_event *event,
                             grout_cta_state *state);
/* A peer's access to SMEM of a CTA that can have ended, or has. lifetime.c */
bool grout_checker__report_exit(grout_checker *checker, const grout_event *event,
                                const grout_side *side);
bool grout_checker__step_limit(grout_checker *checker, const grout_event *event);
bool grout_checker__deadlock(grout_checker *checker, const grout_event *event); /* deadlock.c */
/* Does the op arrive on the barrier object? */
bool grout_op__arrives_on(const grout_module *module, const grout_op *op, grout_object_id object);
/* Why the verdict is about this schedule only; "" if it is about all. well_synchronised.c */
const char *grout_checker__find_doubt(const grout_checker *checker, bool was_cut);

/* ---- report.c
 * ------------------------------------------------------------------------------------- */

/* Words for every finding that is shown; NULL without memory. */
grout_report *grout_report__new(const grout_checker *checker);
void grout_report__free(grout_report *report);
uint32_t grout_report__get_count(const grout_report *report);
const grout_finding *grout_report__get(const grout_report *report, uint32_t index);
typedef struct grout_report_totals {
    uint64_t error_count, warning_count, dropped_count; /* dropped: past max_findings */
} grout_report_totals;
grout_report_totals grout_report__get_totals(const grout_report *report);

#endif
