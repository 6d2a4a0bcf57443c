/*
 * history.h - what actors did that no rule asks about, and that a report may mention.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_HISTORY_H
#define GROUT_RACE_CHECKER_HISTORY_H

#include "state.h"

#include "grout-internal/events.h"

/* A wait for wgmma groups, on its own or inside another op. op 0: there was none. */
typedef struct grout_wgmma_wait {
    grout_origin origin;
    uint32_t allowed; /* its n */
    uint32_t issued;  /* the newest group when it ran */
    GROUT_NOTE_END
} grout_wgmma_wait;

/* An arrive of a thread: what it had done by then that concerns wgmmas. */
typedef struct grout_handover {
    grout_origin origin;
    uint32_t element;
    uint32_t epoch; /* a thread that knows x of this one up to here has heard of the arrive */
    uint32_t issued;
    grout_wgmma_wait wait;
    GROUT_NOTE_END
} grout_handover;

enum { GROUT_HANDOVERS_MAX = 16 }; /* the newest that are kept; older ones are not named */

/* What an actor had learnt by a wait_smem_to_gmem that is not read_only. */
typedef struct grout_bulk_wait {
    uint32_t cta, actor; /* actor in its CTA */
    uint32_t epoch;
    uint32_t number; /* groups whose writes were known finished */
    GROUT_NOTE_END
} grout_bulk_wait;

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
    uint32_t bulk_waited;   /* bulk groups whose writes were known finished by its newest wait */
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
    uint32_t wgmma_issued;       /* groups so far */
    grout_origin mma_commit;     /* the newest commit of tcgen05 */
    uint32_t mma_committed;      /* its number in the queue of its lane */
    uint32_t mma_commit_element; /* of the barrier, in its CTA */
    uint16_t told;               /* of how many barriers it knew a phase at its last read of SMEM */
    uint32_t handover_count;
    grout_handover handovers[GROUT_HANDOVERS_MAX]; /* number i stands at i % MAX */
    GROUT_NOTE_END
} grout_thread_history;

struct grout_checker;
struct grout_cta_state;

/* Remembers what a thread did, for saying what came close. */
void grout_checker__note(struct grout_checker *checker, const grout_event *event,
                         struct grout_cta_state *state);
/* The actor's lane of the tensor core, in its cluster; the number of the newest operation in the
 * queue of the event's lane, of a commit its own. */
uint32_t grout_checker__get_lane(const struct grout_checker *checker, const grout_origin *origin);
uint32_t grout_checker__count_mmas(const struct grout_checker *checker, const grout_event *event);
/* What the actor did; nothing if its CTA has ended. */
const grout_thread_history *grout_checker__get_history(const struct grout_checker *checker,
                                                       const grout_origin *origin);
/* A CTA ends: what its actors had learnt of their bulk groups is forgotten, if nobody can ask. */
void grout_checker__drop_waits(struct grout_checker *checker, const struct grout_cta_state *state);

#endif
