/*
 * capture.h - slots of bytes of a CTA: what an engine has read and not written, operands that came
 * from registers, and what an engine must not see of newer stores.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_CAPTURE_H
#define GROUT_INTERP_CAPTURE_H

#include "memory.h"
#include "tma_rows.h"

/* A slot, plus 1. If none is free the oldest flight that has one takes effect, which its completion
 * permits at any time. */
uint32_t grout_slots__take(const grout_cta *cta);
void grout_slots__give(const grout_cta *cta, uint32_t slot);
static inline uint8_t *grout_slots__get(const grout_cta *cta, uint32_t slot) {
    return cta->state + cta->machine->at.payload +
           (size_t)(slot - 1) * cta->machine->payload_slot_bytes;
}
/*
 * Captures the bytes of a box, in SMEM or GMEM, that an engine started by a thread must not see
 * yet, into a slot of the CTA of a rank: their old values, and at payload_mask_at 1 for each such
 * byte. 0: there are none.
 */
uint32_t grout_capture__take(const grout_cta *cta, uint32_t thread, const grout_box *box,
                             uint32_t rank);
/*
 * The same of an operand in SMEM that an engine reads, box box_index of inst. Where it sees all
 * bytes, one that knows the read to be over, by its stamp, need not know of the stores before it.
 */
uint32_t grout_capture__take_operand(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                     uint32_t box_index, const grout_box *box,
                                     const grout_stamp *read);
/* What take does, of rows of GMEM that indices name. */
uint32_t grout_capture__take_rows(const grout_tma_rows *rows, uint32_t thread, uint32_t rank);
/* What the engine sees: the box as it is, but for captured bytes; in the slot. */
void grout_capture__read(const grout_cta *cta, const grout_box *from, uint32_t slot);
void grout_capture__read_rows(const grout_tma_rows *rows, uint32_t slot);

#endif
