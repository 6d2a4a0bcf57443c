/*
 * finding.h - findings as data: identity, count, and the facts of the occurrence that is shown.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A finding's identity is (code, primary place, related place). The occurrence shown is the first
 * in the order (CTA, thread, place, iteration) of all that were seen, so it does not depend on the
 * schedule either. Facts hold no pointers: a table of findings is copied with memcpy; only the
 * words of a deadlock, of which a launch has at most one, are text.
 */
#ifndef GROUT_RACE_CHECKER_FINDING_H
#define GROUT_RACE_CHECKER_FINDING_H

#include "origin.h"
#include "shadow.h"
#include "state.h"

#include "grout-internal/events.h"
#include "grout-internal/ir.h"

/* Some bytes of an object as a box of its elements. */
typedef struct grout_box {
    grout_object_id object; /* 0: no box */
    uint8_t rank;
    int64_t low[GROUT_RANK_MAX], high[GROUT_RANK_MAX];
    GROUT_NOTE_END
} grout_box;

/* One of the two accesses of a finding. */
typedef struct grout_side {
    grout_origin origin;
    grout_stamp stamp;
    uint32_t epoch; /* of its thread when it was made or issued */
    bool is_write;
    bool is_atomic;
    uint8_t atomicity; /* scope and width: see grout_entry */
    grout_box box;
    GROUT_NOTE_END
} grout_side;

/* The synchronisation that came closest, and why it does not help. */
typedef enum grout_near_kind {
    GROUT_NEAR_NOTHING,
    GROUT_NEAR_NO_COMMIT,        /* no thread that could has executed a commit_smem */
    GROUT_NEAR_COMMIT_BEFORE,    /* the commit runs before the access that it should publish */
    GROUT_NEAR_COMMIT_OFF_PATH,  /* the commit is not between the two */
    GROUT_NEAR_COMMIT_ABROAD,    /* origin: a commit_gmem, but of another CTA than the copy's; op 0:
                                    not    known which */
    GROUT_NEAR_COMMIT_OTHER_CTA, /* the commit is of another CTA than the bytes */
    GROUT_NEAR_COMMIT_OF_OTHERS, /* only others publish the access (--strict-fences) */
    GROUT_NEAR_NEVER_WAITED,     /* the thread never waits on this barrier element */
    GROUT_NEAR_WAIT_FRESH,       /* its last wait there passed a fresh mbarrier, by its parity */
    GROUT_NEAR_WAIT_EARLIER,     /* its last wait there was for an earlier phase */
    GROUT_NEAR_WAIT_ELSEWHERE,   /* its last wait was on another element: index */
    GROUT_NEAR_WAIT_ABROAD,      /* the barrier is a peer's, whose threads alone can wait on it */
    GROUT_NEAR_BARRIER_GONE,     /* the barrier has ended before the load that arrives on it */
    GROUT_NEAR_STILL_READING,    /* a load's source is written: nothing says that it is read */
    GROUT_NEAR_GROUP_LEFT,       /* wait n leaves this group in flight */
    GROUT_NEAR_GROUP_READ_ONLY,  /* a read_only wait says nothing about the write */
    GROUT_NEAR_GROUP_BEFORE,     /* the wait runs before the copy is issued */
    GROUT_NEAR_GROUP_WAS_OPEN,   /* the wait runs before the group is closed */
    GROUT_NEAR_GROUP_OPEN,       /* the group has not been closed yet */
    GROUT_NEAR_GROUP_NEVER,      /* the issuing thread has not waited for groups at all */
    GROUT_NEAR_GROUP_OTHER_THREAD, /* groups belong to the thread that issued the copy */
    GROUT_NEAR_WGMMA_NEVER,        /* no wait of the wgmma's thread comes in time */
    GROUT_NEAR_WGMMA_BEFORE,       /* its last wait in time runs before the wgmma is issued */
    GROUT_NEAR_WGMMA_LEFT,         /* its last wait in time leaves the group in flight */
    GROUT_NEAR_WGMMA_LATE,         /* a wait covers the group, and comes too late */
    GROUT_NEAR_WGMMA_UNORDERED,    /* nothing orders the overwriting after the wgmma's issue */
    GROUT_NEAR_MMA_COMMIT_BEFORE,  /* the last commit of its lane runs before the MMA is issued */
    GROUT_NEAR_MMA_COMMIT_UNSEEN,  /* a commit of its lane covers the MMA: nobody has waited for it
                                    */
    GROUT_NEAR_MMA_COMMIT_OTHERS,  /* the commit is of another actor than the MMA's */
    GROUT_NEAR_TENSOR_WAIT,        /* its last wait is on a barrier without order: element */
    GROUT_NEAR_MMA_COMMIT_ONLY,    /* of a store: only a commit of tcgen05 comes after it */
    GROUT_NEAR_RELAXED,            /* the edge carries no memory facts: written relaxed */
    GROUT_NEAR_NARROW,             /* the edge's scope does not hold both sides: number */
    GROUT_NEAR_COPY_NEVER,         /* cp.async: the thread has not executed an async_copy_wait */
    GROUT_NEAR_COPY_LEFT,          /* async_copy_wait n leaves this group in flight */
    GROUT_NEAR_COPY_BEFORE,        /* the wait runs before the copy is issued, or closed */
    GROUT_NEAR_COPY_OPEN,          /* no async_copy_commit_group has closed the group */
    GROUT_NEAR_GRID_NEVER,         /* launches that overlap: the later kernel never waits */
    GROUT_NEAR_GRID_LATE,          /* a griddepcontrol_wait comes too late, or is another's */
    GROUT_NEAR_GRID_FURTHER,       /* it waits for a launch that has not waited itself */
    GROUT_NEAR_GRID_UNFENCED,      /* it comes after what that launch has released; no fence does */
    GROUT_NEAR_COPY_OTHER_THREAD   /* groups belong to the thread that issued the copy */
} grout_near_kind;

typedef struct grout_near {
    uint32_t kind;           /* grout_near_kind */
    grout_origin origin;     /* of the synchronisation; op 0: none */
    uint32_t element, phase; /* of a barrier */
    uint32_t cta;            /* the barrier's */
    uint32_t number;         /* allowed groups of a wait */
    bool is_open;            /* the copy's group has not been closed */
    bool is_full;            /* the arrivals of the phase are all in */
    bool is_shown;           /* in tensor memory: by an edge that does not order the tensor core */
    /* of a wgmma group: the arrive by which its thread lets the other go on; op 0: none */
    grout_origin handover;
    uint32_t needed; /* the largest n of a wgmma_wait, or of a wait for bulk groups or groups of
                      * cp.async, that would cover the group: there, or right before the access
                      * if it is the thread's own */
    uint32_t wait_needed; /* WGMMA_LEFT, GROUP_LEFT: n with which the wait would */
    GROUT_NOTE_END
} grout_near;

/* Whether the two sides are of two launches of a list. */
static inline bool grout_near__is_of_grids(const grout_near *near) {
    return near->kind == GROUT_NEAR_GRID_NEVER || near->kind == GROUT_NEAR_GRID_LATE ||
           near->kind == GROUT_NEAR_GRID_FURTHER || near->kind == GROUT_NEAR_GRID_UNFENCED;
}

/* What mends all occurrences of a finding about a wgmma; wait: of one about a bulk group too. */
typedef struct grout_cover {
    grout_op_id spot;      /* a wait right before this op covers each of them; 0: there is none */
    uint32_t allowed;      /* with this n */
    grout_op_id wait;      /* the wait whose n is too large in each of them; 0: there is none */
    uint32_t wait_allowed; /* the n that it would need */
    GROUT_NOTE_END
} grout_cover;

/* What a protocol's finding is about, where the code has words of its own for that. */
typedef enum grout_subject {
    GROUT_SUBJECT_USUAL,        /* what the code says */
    GROUT_SUBJECT_WARPS,        /* skipped: warps of the thread have waited have and need times */
    GROUT_SUBJECT_BYTES,        /* tx-mismatch: have bytes are missing (or, negative, too many) */
    GROUT_SUBJECT_LATE,         /* tx-mismatch, overrun: bytes that the phase does not wait for */
    GROUT_SUBJECT_GONE_ON,      /* unobserved: the next phase of an mbarrier has an arrival */
    GROUT_SUBJECT_END,          /* uninitialised: an end that does not know the use */
    GROUT_SUBJECT_INIT,         /* uninitialised: init of a live one */
    GROUT_SUBJECT_ENDED,        /* uninitialised: a use that knows of the end */
    GROUT_SUBJECT_ARRIVAL,      /* cluster-exit: an arrival, not an access */
    GROUT_SUBJECT_NAMED,        /* overrun of the named barrier element, generation phase */
    GROUT_SUBJECT_NAMED_TWICE,  /* two arrivals of a thread in one generation */
    GROUT_SUBJECT_NAMED_COUNTS, /* have lanes by this op, need by the generation's first */
    GROUT_SUBJECT_NAMED_FULL,   /* have lanes of the need have come, and it brings too many */
    GROUT_SUBJECT_RENDEZVOUS,   /* the cluster's hardware barrier */
    GROUT_SUBJECT_COPY /* collective-divergence of copies; else of a scope: see sentences */
} grout_subject;

/* Why two writes that leave the same bytes are an error all the same. */
typedef enum grout_equal_once {
    GROUT_EQUAL_ONCE_NOT,      /* they do not leave the same bytes, or nobody has asked */
    GROUT_EQUAL_ONCE_INPUTS,   /* with other inputs they do not */
    GROUT_EQUAL_ONCE_UNMET,    /* no run with other inputs came to both */
    GROUT_EQUAL_ONCE_SCHEDULE, /* what they write depends on the schedule */
    GROUT_EQUAL_ONCE_COUNT
} grout_equal_once;

/* What else a report needs; which members count depends on the code. */
typedef struct grout_facts {
    grout_side sides[2]; /* primary, related */
    uint32_t side_count;
    bool primary_is_earlier;    /* it came before the related one in this run */
    bool knows_issue;           /* the later side is ordered after the issue of the earlier one */
    bool is_inner;              /* at the end of a scope, not of the CTA */
    uint32_t epoch;             /* of the primary's actor: use of an mbarrier before its init */
    bool is_contribution_early; /* overrun (a): a contribution does not know the phase before */
    grout_near near;
    uint32_t owner;          /* accesses: the CTA whose bytes they are, if they are a CTA's */
    uint32_t element, phase; /* barrier findings */
    /* overrun: threads that have arrived there, a bit for each, by the rank of their CTA; of a
     * plain barrier those of other CTAs alone */
    uint8_t arrivers[GROUT_CLUSTER_MAX];
    /* overrun: the contribution to the phase before that stands last in the source; op 0: unknown
     */
    grout_origin before;
    uint8_t subject;   /* grout_subject */
    grout_fault fault; /* findings that come as faults */
    int64_t have, need;
    bool counts_lanes;     /* of a named barrier: need is lanes */
    grout_diag_code raced; /* same-value-race: the race that it would be if the values differed */
    uint8_t equal_once;    /* grout_equal_once: of such a race that is an error */
    bool is_equal_varied; /* same-value-race: with other inputs too; there is nothing to vary if not
                           */
    GROUT_NOTE_END
} grout_facts;

/* A sentence with a place, ready made. */
typedef struct grout_sentence {
    grout_loc_id loc;
    bool is_help; /* what to do about it */
    char *text;
    GROUT_NOTE_END
} grout_sentence;

/* A blocked thread of a deadlock, for all that stand where it does. */
typedef struct grout_blocked {
    grout_origin origin;
    grout_origin other;     /* a blocked thread that would bring what it lacks; op 0: none would */
    grout_op_id bringer;    /* the first op of the kernel that could; 0: none is written */
    grout_object_id object; /* barrier or semaphore that it waits on; 0: neither */
    bool is_on_barrier;     /* on this element of it */
    uint32_t element;
    GROUT_NOTE_END
} grout_blocked;

enum { GROUT_BLOCKED_MAX = 8 }; /* blocked threads that are explained */

GROUT_NO_PADDING_BEGIN

typedef struct grout_record {
    uint64_t count;
    grout_facts facts;
    grout_cover cover; /* of codes that have one (cover.h) */
    bool is_replaced;  /* another finding has been made of it: not listed */
    /* a race: some occurrence is of two writes (grout_conflict); some is of anything else */
    bool is_of_writes, is_of_others;
    /* of two writes, where their values are compared: some pair was; some pair left different ones,
     * or nobody can say */
    bool is_compared, is_different;
    bool reserved[3];
    /* its identity is all that is hashed, from here on */
    grout_diag_code code;
    grout_severity severity;
    grout_loc_id primary, related; /* related 0: none */
    GROUT_STATE_END
} grout_record;

typedef struct grout_findings {
    const grout_module *module;
    const grout_allocator *allocator;
    grout_record *records; /* in the order of their first sight */
    uint32_t count, capacity;
    uint32_t *index; /* open addressing by identity: record + 1 */
    uint32_t index_size;
    uint32_t reserved_index;
    uint64_t total; /* occurrences, for noticing change */
    /* the words of the deadlock */
    grout_sentence *sentences;
    uint32_t sentence_count;
    uint32_t blocked_count; /* and who waits for whom */
    grout_blocked blocked[GROUT_BLOCKED_MAX];
    uint64_t reserved;
    GROUT_STATE_END
} grout_findings;

GROUT_NO_PADDING_END

/* What a finding is found under. */
typedef struct grout_finding_key {
    grout_diag_code code;
    grout_severity severity;
    grout_loc_id primary, related;
} grout_finding_key;

/* One time that it is seen. */
typedef struct grout_occurrence {
    const grout_origin *primary, *related; /* related may be NULL */
    bool is_repeat;                        /* its pair of operations has been counted */
} grout_occurrence;

/* Whether it is an error, and all that was seen of it are pairs of writes. */
static inline bool grout_record__is_contested(const grout_record *record) {
    return record->is_of_writes && !record->is_of_others && !record->is_replaced &&
           record->severity == GROUT_SEVERITY_ERROR;
}
/* An entry as a side of a finding, without its box. */
grout_side grout_entry__describe(const grout_entry *entry);

void grout_findings__deinit(grout_findings *findings);
/*
 * Counts an occurrence, unless it repeats one. *wants_facts_out: it is new, or comes before the one
 * shown so far (origins of the two sides): then the caller fills the facts of the returned record.
 * NULL without memory.
 */
grout_record *grout_findings__add(grout_findings *findings, const grout_finding_key *key,
                                  const grout_occurrence *occurrence, bool *wants_facts_out);
/* The record of a finding, or NULL. */
grout_record *grout_findings__find(const grout_findings *findings, const grout_finding_key *key);
/* Adds the box of side i to the one that is shown, if these are the accesses that are shown. */
void grout_record__widen(grout_record *record, const grout_side *sides, uint32_t i);
/* Adds a copy with a text of its own. False without memory. */
bool grout_findings__add_sentence(grout_findings *findings, const grout_sentence *sentence);
bool grout_findings__copy(grout_findings *copy, const grout_findings *findings);
/* The same for the same set of findings, in whatever order they were seen. */
uint64_t grout_findings__hash(const grout_findings *findings);
/* Identity as it is written into reports: of code and places, the same in every run. */
uint64_t grout_findings__identify(const grout_findings *findings, const grout_record *record);
/*
 * Indices of the findings to be shown: errors before warnings, each in the order of their primary
 * places; NULL without memory.
 * An overrun without a wait to point at is left out beside one of the same contribution that has
 * one: they are the same fault. Freed by the caller.
 */
uint32_t *grout_findings__list(const grout_findings *findings, uint32_t *count_out);

#endif
