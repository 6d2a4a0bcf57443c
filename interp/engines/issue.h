/*
 * issue.h - between the issue of an async copy (issue.c) and the engine that makes it (tma.c).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ISSUE_H
#define GROUT_INTERP_ISSUE_H

#include "memory.h"

/* One destination of a load: the box and the barrier of the CTA of a rank. */
typedef struct grout_load {
    uint32_t rank, element;
    uint32_t record; /* of the phase that its bytes are in flight to */
    uint32_t phase;  /* over all lives of the element */
    int64_t bytes;
    bool is_void;         /* refused: moves nothing */
    bool is_part;         /* not the first destination of its op */
    uint32_t part, parts; /* of a collective copy; parts 0: all of the box */
    uint32_t spoilt;      /* slot of the destination with a mask of what stays poison, plus 1 */
} grout_load;

/* Takes over a copy whose issue has been told: makes it at once, or puts it in flight. The boxes
 * are those of the destination's CTA. */
void grout_tma__start_load(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           const grout_box *boxes, const grout_load *load);
void grout_tma__start_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *boxes, bool is_void);
/* Copies a box to a box. */
void grout_tma__move(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                     const grout_box *to);
/* A store's copy: moves, or reduces. */
void grout_tma__move_store(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                           const grout_box *to);
/* Combines elements with what a box of GMEM holds, as the instruction's reduce says. */
void grout_tma__reduce(grout_machine *machine, const grout_inst *inst, const grout_box *to,
                       const uint8_t *elements);
/* Writes the elements of an async_store_smem to their box, or combines them with what it holds. */
void grout_tma__combine(grout_machine *machine, const grout_inst *inst, const grout_box *to,
                        const uint8_t *elements);
/* Puts an operation in flight, whose origin is what the actor is at, in its CTA's list. 0 without
 * memory. */
uint32_t grout_tma__add_flight(const grout_cta *cta, uint32_t thread, const grout_inst *inst);
/* The same in the list of the CTA of a rank. */
uint32_t grout_tma__add_flight_to(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                  uint32_t rank);
/* What is in flight belongs to a phase (of the CTA): it takes effect before that
 * completes. */
void grout_tma__attach(const grout_cta *cta, uint32_t element, uint32_t record, uint32_t index);
/* The destination becomes as defined as the source is now, whenever the bytes move. */
void grout_tma__copy_definedness(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 const grout_box *boxes);
/* It is over: no longer in flight, and told. Its record stays. */
void grout_tma__end_flight(const grout_cta *cta, uint32_t index);
/* A slot of the CTA for captured bytes, plus 1. If none is free the oldest operation that
 * has one finishes. */
uint32_t grout_tma__take_payload(const grout_cta *cta);
void grout_tma__give_payload(const grout_cta *cta, uint32_t slot);
static inline uint8_t *grout_tma__get_payload(const grout_cta *cta, uint32_t slot) {
    const grout_machine *machine = cta->machine;
    return cta->state + machine->at.payload + (size_t)(slot - 1) * machine->payload_slot_bytes;
}
/*
 * Captures the bytes of a box that an engine started by a thread must not see yet, into a slot of
 * its own: their old values, and behind payload_mask_at 1 for each such byte. 0: there are none.
 */
uint32_t grout_tma__capture(const grout_cta *cta, uint32_t thread, const grout_box *from);
/* The same into a slot of the CTA of a rank, of a box in SMEM or GMEM. */
uint32_t grout_tma__capture_for(const grout_cta *cta, uint32_t thread, const grout_box *box,
                                uint32_t rank);
/* What the engine sees: the box as it is, but for captured bytes. */
void grout_tma__read_captured(const grout_cta *cta, const grout_box *from, uint32_t slot);
/* Tells an ISSUE of an operation, and counts it. */
void grout_tma__publish_issue(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                              const grout_issue *issue);
/* Tells the end of a copy or wgmma. */
void grout_tma__publish_complete(const grout_cta *cta, const grout_async *async);

#endif
