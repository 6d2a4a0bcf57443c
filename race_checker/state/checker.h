/*
 * checker.h - the state of a checker.
 *
 * Two parts. What follows from the launch alone: planes, options. And what a snapshot copies, of
 * which each struct is either plain and copied whole, or has a function that copies it: shadows,
 * what threads did last, barrier phases, findings.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_CHECKER_H
#define GROUT_RACE_CHECKER_CHECKER_H

#include "fences.h"
#include "finding.h"
#include "history.h"
#include "pairs.h"
#include "rules.h"
#include "shadow.h"
#include "state.h"
#include "sync_state.h"

#include "grout-internal/race.h"

/*
 * Where the bytes of an object lie: plane of a shadow, and offset in it. An accumulator,
 * which each thread has for itself, has the plane of thread 0 here, and the others' follow.
 */
typedef struct grout_home {
    uint32_t plane;         /* plus 1; 0: the object is not followed */
    uint32_t first_element; /* of a barrier object */
    int64_t offset;
} grout_home;

GROUT_NO_PADDING_BEGIN

/* An actor's newest wait on a barrier element. */
typedef struct grout_wait_mark {
    uint32_t waits; /* how often it waited; the newest was for phase waits - 1 */
    uint32_t epoch; /* of the actor (x) then */
    GROUT_STATE_END
} grout_wait_mark;

/* The newest wgmma group of an actor that a finding says was not waited for in time. */
typedef struct grout_reported {
    uint32_t own, by_others; /* at an access of this actor, of another one */
    GROUT_STATE_END
} grout_reported;

/*
 * What two states of a CTA must agree in to be equal: arrays without padding, in one block that is
 * copied and hashed whole (see FACTS in slot.c).
 */
typedef struct grout_cta_facts {
    grout_wait_mark *waits; /* [local actor * local_elements + element] */
    uint16_t *told_since;   /* [local actor * barriers of the cluster + barrier]: see grout_rules */
    grout_reported *reported; /* by local actor */
    /* by local actor: its arrive on the cluster's barrier that it has not waited for; 0: none */
    grout_op_id *rendezvous;
    /* by local actor: its epoch at its first increase of registers, plus 1; 0: none */
    uint32_t *increases;
    uint32_t *generations; /* [local actor * NAMED_MAX + id]: of its newest arrival, plus 1 */
    /* by object: a list of those whose scope has ended with something in flight on their bytes, and
     * no scope that could have these bytes has begun since (lifetime.c) */
    grout_object_id *left_in_flight;
} grout_cta_facts;

/* The same for what is only said: copied, and no part of a hash (see NOTES in slot.c). */
typedef struct grout_cta_notes {
    grout_thread_history *threads; /* by local actor */
    grout_origin *waits;           /* of facts.waits; op 0: the actor never waited there */
    grout_origin *rendezvous;      /* of facts.rendezvous */
    grout_origin *named;           /* of facts.generations */
    grout_visit *visits;           /* [local actor * sync ops + its number] */
} grout_cta_notes;

/* The memory of the arrays of such a struct. */
typedef struct grout_arrays {
    unsigned char *bytes;
    size_t size;
} grout_arrays;

/* A CTA that runs. */
typedef struct grout_cta_life {
    uint32_t cta;
    uint32_t exited_threads; /* bit t */
    uint32_t is_live;
    GROUT_STATE_END
} grout_cta_life;

typedef struct grout_cta_state {
    /* what is copied and hashed by functions of its own */
    grout_cta_facts facts;
    grout_cta_notes notes;
    grout_arrays facts_block, notes_block;
    grout_shadow local;            /* SMEM, and the accumulators of each thread */
    grout_element_state *elements; /* by element of the CTA */
    uint32_t element_count;
    /* facts, from here on */
    grout_cta_life life;
    GROUT_STATE_END
} grout_cta_state;

/* ---- what a snapshot copies ---- */

/* Plain members and lists, copied whole (see RUN in snapshot.c). None of these is hashed. */
/* Elements that an op has read and that had no value: all of them, as one box. */
typedef struct grout_unwritten {
    grout_op_id op;
    uint32_t reserved;
    grout_box box;
    GROUT_NOTE_END
} grout_unwritten;

enum { GROUT_UNWRITTEN_MAX = 64 }; /* ops; of more it is not known */

typedef struct grout_run_state {
    bool has_deadlock, has_step_limit;
    bool has_foreign_wait; /* some cluster has waited at a semaphore that another one signals */
    bool reserved[5];
    uint64_t suppressed;
    uint64_t accesses, async_ops, barrier_phases;
    uint64_t local_peak;
    uint32_t *slots;      /* by CTA: its slot in grout_memory.ctas, plus 1; 0: it has none */
    uint64_t *ended_ctas; /* a bit for each */
    uint32_t slot_count, ended_words;
    /* full waits for bulk groups; of CTAs that have ended, where others may hear of them */
    grout_bulk_wait *bulk_waits;
    uint32_t bulk_wait_count, bulk_wait_capacity;
    /* by op: bit t, thread t has executed it; ops that access, arrive or wait */
    uint8_t *op_threads;
    uint8_t *undefined_ops;     /* by op: 1, it has met or made something undefined
                                   (GROUT_EVENT_UNDEFINED) */
    grout_unwritten *unwritten; /* what ops have read that had no value, an op each */
    uint32_t unwritten_count, unwritten_capacity;
    uint32_t op_count, undefined_op_count;
    /* by object: bits 1 << grout_update of the atomics of earlier grids that meet those of this one
     * in no order */
    uint32_t *grid_updates;
    uint32_t object_count;
    /* an earlier launch that may run beside this one, touches an array that one of the two writes,
     * and has a verdict for one schedule only: its number; 0: there is none */
    uint32_t open_launch;
    uint64_t reserved_end;
    GROUT_STATE_END
} grout_run_state;

/* What is copied by functions of its own, and hashed. */
typedef struct grout_memory {
    grout_shadow gmem;
    grout_cta_state *ctas; /* slots; a slot is used again */
    uint32_t cta_count;
    uint32_t reserved;
    grout_protocol protocol;
    grout_fences fences; /* only with strict_fences */
    grout_findings findings;
    GROUT_STATE_END
} grout_memory;

GROUT_NO_PADDING_END

typedef struct grout_values grout_values;

/* The report that was made last, and of how many occurrences. */
typedef struct grout_explained_cache {
    struct grout_explained *explained;
    uint64_t total;
    char doubt[240]; /* the sentence of grout_checker__find_doubt */
} grout_explained_cache;

struct grout_checker {
    grout_observer observer;
    const grout_allocator *allocator; /* of all that is here */
    grout_diags *diags;
    uint32_t max_findings;
    bool strict_fences, has_launch;
    bool has_failed;                    /* for good */
    const struct grout_checker *judged; /* whose racing writes are compared: then it has values */
    grout_launch_info info; /* its arrays are ours: reports are asked for when the launch is gone */
    grout_object_id *element_objects;
    uint32_t *element_indices;
    grout_array_past *pasts; /* info.pasts, copied: their bits are the machine's; NULL: none */
    grout_clock_shape shape; /* info.shape, whose address is kept */
    uint32_t local_actors, local_elements; /* of one CTA */
    grout_home *homes;                     /* by object */
    uint32_t local_plane_count, sync_op_count;
    uint64_t *local_plane_sizes, *local_plane_pitches;
    uint32_t *wgmma_shapes; /* by op: see grout_rules */
    uint32_t *sync_ops;     /* by op: number of a synchronising one, plus 1 */
    grout_run_state run;
    grout_memory memory;
    struct grout_values *values; /* where what racing writes leave is compared: values.h; or NULL */
    /* for the operation that runs; empty between operations, as far as anyone can tell */
    grout_pairs pairs;
    grout_explained_cache *cache; /* made when asked for */
};

/* ---- checker.c ---- */

/* Records that memory ran out. Returns false. */
bool grout_checker__fail(grout_checker *checker);
/* A finding with facts; they are copied if this occurrence is the one to show. */
bool grout_checker__find(grout_checker *checker, const grout_finding_key *key,
                         const grout_facts *facts);

/* ---- slot.c ---- */

/* False without memory; deinit it all the same. */
bool grout_cta_state__init(const grout_checker *checker, grout_cta_state *state);
void grout_cta_state__deinit(grout_cta_state *state);
/* A CTA begins in this slot. */
void grout_cta_state__begin(grout_cta_state *state, uint32_t cta);
/* Makes two slots equal. False without memory. */
bool grout_cta_state__copy(const grout_checker *checker, grout_cta_state *copy,
                           const grout_cta_state *state);
uint64_t grout_cta_state__hash(const grout_checker *checker, const grout_cta_state *state);

/* ---- ctas.c ---- */

/* A CTA begins, in a free slot. NULL without memory. */
grout_cta_state *grout_checker__begin_cta(grout_checker *checker, uint32_t cta);
/* A CTA ends; what others may still ask about it is kept. False without memory. */
bool grout_checker__end_cta(grout_checker *checker, grout_cta_state *state);
/* The state of a CTA that runs; NULL without memory, and if it has ended. */
grout_cta_state *grout_checker__find_cta(grout_checker *checker, uint32_t cta);
/* Makes slots until there are this many. False without memory. */
bool grout_memory__reserve_ctas(const grout_checker *checker, grout_memory *memory, uint32_t count);
void grout_memory__free_ctas(grout_memory *memory);

/* The state of a CTA that runs now, or NULL. */
static inline const grout_cta_state *grout_checker__get_cta(const grout_checker *checker,
                                                            uint32_t cta) {
    uint32_t slot = cta < checker->run.slot_count ? checker->run.slots[cta] : 0;
    GROUT_ASSERT(slot <= checker->memory.cta_count);
    return slot ? &checker->memory.ctas[slot - 1] : NULL;
}
static inline uint32_t grout_checker__get_rank(const grout_checker *checker, uint32_t cta) {
    return cta % checker->shape.cta_count;
}
/* The actor that executed something: its number in its CTA, in its cluster. */
static inline uint32_t grout_checker__get_local(const grout_checker *checker,
                                                const grout_origin *origin) {
    GROUT_ASSERT(origin->thread < checker->shape.thread_count && origin->warp <= GROUT_WARPS);
    return grout_clock_local_actor(&checker->shape, origin->thread, origin->warp);
}
static inline uint32_t grout_checker__get_actor(const grout_checker *checker,
                                                const grout_origin *origin) {
    return grout_clock_actor(&checker->shape, grout_checker__get_rank(checker, origin->cta),
                             grout_checker__get_local(checker, origin));
}
/* Whether somebody may still ask about a CTA that has ended: its peers, or another cluster. */
static inline bool grout_checker__is_heard_of(const grout_checker *checker) {
    return checker->info.has_foreign_order || checker->shape.cta_count > 1;
}

/* ---- snapshot.c ---- */

void *grout_checker__snapshot(void *self);
bool grout_checker__restore(void *self, const void *snapshot);
void grout_checker__snapshot_free(void *self, void *snapshot);
uint64_t grout_checker__hash(void *self);
void grout_checker__deinit_state(grout_checker *checker);

/* ---- homes.c: where bytes lie ---- */

bool grout_checker__place_objects(grout_checker *checker);
/* The plane of an object that is followed, of thread's own instance if each thread has one. */
static inline uint32_t grout_checker__get_plane(const grout_checker *checker,
                                                grout_object_id object, uint32_t thread) {
    bool is_own =
        grout_space_is_of_thread(grout_module_get_object(checker->info.module, object)->space);
    GROUT_ASSERT(checker->homes[object].plane != 0 && thread < checker->shape.thread_count);
    return checker->homes[object].plane - 1 + (is_own ? thread : 0);
}

#endif
