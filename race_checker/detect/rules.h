/*
 * rules.h - when two accesses of the same bytes are in order, and what it is called if they are
 * not.
 *
 * Everything here is a comparison of counters: an access is known to be over when component has
 * reached number in the right clock of the later one (docs/memory_model.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_RACE_CHECKER_RULES_H
#define GROUT_RACE_CHECKER_RULES_H

#include "shadow.h"

/* What a component of a clock counts. */
typedef enum grout_mechanism {
    GROUT_MECHANISM_LOST,
    GROUT_MECHANISM_EPOCH,
    GROUT_MECHANISM_BULK_READ,
    GROUT_MECHANISM_ASYNC_COPY,
    GROUT_MECHANISM_PHASE,
    GROUT_MECHANISM_WGMMA,
    GROUT_MECHANISM_GRID,
    GROUT_MECHANISM_TCGEN05,
    GROUT_MECHANISM_TMEM_LOAD,
    GROUT_MECHANISM_TMEM_STORE,
    GROUT_MECHANISM_SEALED, /* no access is over by it */
    GROUT_MECHANISM_SEEN,   /* nor by this alone */
    GROUT_MECHANISM_ACCESS,
    GROUT_MECHANISM_BULK_WRITE
} grout_mechanism;

/* index_out: the thread, lane or barrier element; may be NULL. */
grout_mechanism grout_clock__get_mechanism(const grout_clock_shape *shape, uint32_t component,
                                           uint32_t *index_out);

/* Which of two conflicting accesses a finding points at. */
typedef enum grout_primary {
    GROUT_PRIMARY_LATER, /* the one that came later in this run */
    GROUT_PRIMARY_EARLIER,
    GROUT_PRIMARY_SOURCE /* the one whose place comes later in the source: both are alike */
} grout_primary;

typedef struct grout_conflict {
    grout_diag_code code; /* NONE: they are in order */
    grout_primary primary;
    bool is_warning;   /* whatever the severity of the code */
    bool is_of_writes; /* two writes, no atomic, and nothing orders them: values may settle it */
    bool is_idiom; /* they are in order, and yet a fence is not where --strict-fences wants it */
} grout_conflict;

/* In place of the shape of a product; no shape is even. */
#define GROUT_SHAPE_OF_COPY 2u

/* An access against the records, with the clocks of the actor that makes it. */
typedef struct grout_rules {
    const grout_clock_shape *shape;
    const grout_clocks *clocks;
    uint8_t space;     /* grout_space: GMEM, SMEM or ACC */
    uint32_t owner;    /* SMEM: the CTA whose bytes they are */
    grout_entry entry; /* the access, as it will be recorded */
    /* CTAs that have ended, one bit each; NULL: none, or clusters may hear of each other */
    const uint64_t *ended_ctas;
    uint32_t ended_words;
    /*
     * For each op that is a wgmma, or a tcgen05_mma: which part of its accumulator its instructions
     * take, and in which shape. The tensor core runs equal ones in the order of their issue. 0: no
     * wgmma; GROUT_SHAPE_OF_COPY: a copy to tensor memory. NULL: there is none.
     */
    const uint32_t *wgmma_shapes;
    /*
     * The facts of a CTA, at [actor in it * barriers of the cluster + barrier]: the 'told' of the
     * actor's first read that knew of a phase of the barrier; 0: no read did. A read whose own
     * 'told' is no less knew of one too. NULL: the CTA has ended. SMEM only.
     */
    const uint16_t *(*find_told_since)(void *payload, uint32_t cta);
    /* Whether the later actor heard, by an edge that carries no memory facts, from a thread that
     * had waited for the write of this bulk copy. NULL: nobody knows. */
    bool (*is_write_lost)(void *payload, const grout_entry *copy);
    /* Whether the actor of a recorded plain access has run its fence itself before it let the later
     * one go on (--strict-fences). NULL: any fence on the way will do, and a load of GMEM needs
     * none. */
    bool (*is_fenced_by_own)(void *payload, const grout_entry *access, uint32_t number);
    bool (*report)(void *payload, const grout_conflict *conflict, const grout_entry *earlier,
                   const grout_entry *later, const grout_rect *rect);
    void *payload;
} grout_rules;

/* Whether this is a read of SMEM whose bytes its thread must have waited for a load to bring. */
bool grout_rules__is_consumption(const grout_rules *rules);
/* The read of a tensor map that the kernel has made, by a copy: the one access of GMEM through the
 * generic proxy that ends with a copy of TMA. */
bool grout_rules__is_map_read(const grout_rules *rules, const grout_entry *entry);
/* The actor, of its cluster, that made or issued a recorded access. */
uint32_t grout_entry__get_actor(const grout_clock_shape *shape, const grout_entry *entry);
/* The flags of an access by an agent. */
uint8_t grout_entry__make_flags(uint8_t agent, bool is_write, bool is_atomic);
uint8_t grout_entry__get_agent(const grout_entry *entry);
/* Whether the recorded access is over, and visible, before this one. */
bool grout_rules__is_ordered(const grout_rules *rules, const grout_entry *earlier);
/* What is wrong between a recorded access and this one; one of them is a write. */
grout_conflict grout_rules__judge(const grout_rules *rules, const grout_entry *earlier);
/*
 * The visitor of a shadow (payload: a grout_rules): compares the access with a region's record,
 * reports conflicts, and records it.
 */
bool grout_rules__visit(void *payload, grout_shadow *shadow, grout_region *region,
                        const grout_rect *rect);

#endif
