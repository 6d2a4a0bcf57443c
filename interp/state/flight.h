/*
 * flight.h - the work of an engine for one operation and one destination: issued, and not yet over.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A flight is in the list of the CTA whose SMEM or barrier it reaches, else of the CTA that issued
 * it. Others learn that it is over from a phase of a barrier, which does not complete before it,
 * or from a group of a queue, which a wait goes through, or from both. The record lives until the
 * last of these has dropped it.
 */
#ifndef GROUT_INTERP_FLIGHT_H
#define GROUT_INTERP_FLIGHT_H

#include "memory.h"

enum { GROUT_HELD_BY_PHASE = 1, GROUT_HELD_BY_QUEUE = 2 };

GROUT_NO_PADDING_BEGIN

#define GROUT_FLIGHT_SLOTS 4

typedef struct grout_flight {
    /* not hashed: places in pools, and the order of issue in the launch */
    uint32_t link;
    uint32_t previous, next; /* all in flight in the CTA, by serial */
    uint32_t held;           /* the lists that still hold the record: GROUT_HELD_.. */
    uint32_t phase_record, phase_next;
    uint32_t queue_next, reserved_next;
    /* Slots of bytes of the CTA's (capture.h), plus 1; 0: none. */
    union {
        uint32_t slots[GROUT_FLIGHT_SLOTS];
        struct {
            uint32_t source; /* bytes that were read, or captured at the issue */
            uint32_t
                spoilt;    /* mask of destination bytes that an older, unpublished store may win */
            uint32_t rows; /* indices of the rows that it moves, noted by tma_rows.c */
        } copy;
        /* wgmma: copied from registers, or captured; the third is of the metadata of a.
         * tcgen05_mma: a and b, then those of the other CTA of a pair; a copy to tensor memory:
         * its source, then that of the other CTA */
        uint32_t operands[GROUT_FLIGHT_SLOTS];
        uint32_t elements; /* st.async */
        uint32_t picks;    /* cp.async by indices or with a mask: what grout_picks__note notes */
    } bytes;
    uint64_t order;
    /* hashed, from here on */
    uint32_t pc;
    uint8_t engine;         /* grout_engine */
    bool is_void;           /* refused: moves nothing */
    bool is_captured;       /* some of its source bytes were captured at the issue */
    bool is_part;           /* not the first destination of its op: its end is not reported */
    bool has_read;          /* the source has been read */
    bool is_done;           /* all accesses are over */
    uint8_t is_fresh : 1;   /* a wgmma: what its accumulator held before does not count */
    uint8_t coded_ctas : 2; /* a tcgen05_mma_sp: CTAs where its metadata was defined at its issue */
    uint8_t unused_bits : 5;
    bool is_stale;  /* its source is shown as the launches before left it unfinished: stale.c */
    uint32_t actor; /* in the CTA that issued it */
    uint64_t serial;
    uint64_t read_due, write_due; /* scheduling points, in random timing */
    grout_origin origin;
    uint32_t owner;                   /* in a queue: actor or lane */
    int64_t start[6][GROUT_RANK_MAX]; /* of the boxes; of an MMA, of its operands', then of the
                                         accumulator's in tensor memory and of what lies beside */
    grout_box_limits limits;          /* of the box of GMEM, through a made descriptor */
    uint32_t group;                   /* in a queue */
    uint32_t home;                    /* rank of the CTA in whose list it is */
    /* due at a phase */
    struct {
        uint32_t rank, element; /* of the barrier: that of a pair is that of the CTA which leads */
        uint32_t number;        /* over all lives of the element */
        uint32_t reserved;
        int64_t bytes; /* that it brings */
    } phase;
    /* what only one engine asks */
    union {
        struct {
            uint32_t part, parts; /* of a collective copy: it moves this one of this many */
        } load;
        uint64_t reserved;
    } u;
    GROUT_STATE_END
} grout_flight;

GROUT_NO_PADDING_END

static inline grout_flight *grout_flight__get(const grout_machine *machine, uint32_t index) {
    return grout_pool__at(&machine->pools[GROUT_POOL_FLIGHTS], index);
}
static inline const grout_inst *grout_flight__inst(const grout_machine *machine,
                                                   const grout_flight *flight) {
    return grout_plan__inst(machine->plan, flight->pc);
}

static inline bool grout_flight__has_slots(const grout_flight *flight) {
    uint32_t any = 0;
    for (uint32_t k = 0; k < GROUT_FLIGHT_SLOTS; k++) {
        any |= flight->bytes.slots[k];
    }
    return any != 0;
}

/* Into and out of the list of the CTA. */
void grout_flight__link(const grout_cta *cta, uint32_t index);
void grout_flight__unlink(const grout_cta *cta, uint32_t index);
/* A walk through the list of a CTA on which flights may leave it, this one and any other: it
 * begins, and gives the next flight, 0: no more. One walk at a time. */
void grout_flight__begin_walk(const grout_cta *cta);
uint32_t grout_flight__walk(grout_machine *machine);
/* The record is no longer held by this one; freed after the last. */
void grout_flight__drop(const grout_cta *cta, uint32_t index, uint32_t holder);
/* At the end of a queue, in a group; those that are over leave from its beginning. */
void grout_flight__push(grout_machine *machine, grout_queue *queue, uint32_t index);
void grout_flight__pop(const grout_cta *cta, grout_queue *queue);
uint64_t grout_flight__hash(const grout_cta *cta, uint64_t hash);

#endif
