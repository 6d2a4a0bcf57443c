/*
 * undo.h - what an engine sees of SMEM when plain stores have not been published to it: the bytes
 * as they were before.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_UNDO_H
#define GROUT_INTERP_UNDO_H

#include "memory.h"

#define GROUT_UNDO_ENTRIES 128

/* An actor is about to store to an SMEM box, of whatever CTA: keeps the bytes it overwrites. */
void grout_undo__note_store(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            uint32_t box_index, const grout_box *box);
/* The same of a cp.async, one of a group of the actor's. */
void grout_undo__note_copy(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           uint32_t box_index, const grout_box *box, uint32_t group);
/* A load was issued over an SMEM box: earlier stores there no longer matter. */
void grout_undo__note_load(const grout_cta *cta, const grout_inst *inst, uint32_t box_index,
                           const grout_box *box);
/*
 * An engine that a thread has started reads an SMEM box, and all stores there are published to it.
 * One that knows that read, a number of a component, to be over need not know of the stores: a
 * reader vouches for what it has read (docs/memory_model.md).
 */
void grout_undo__note_read(const grout_cta *cta, const grout_stamp *read, const grout_inst *inst,
                           uint32_t box_index, const grout_box *box);
/*
 * The bytes of a box that a thread makes an engine read and that are not published to it:
 * writes their old values to linear and 1 to stale, one byte each for a byte of the box. Returns
 * whether there are any; if not, nothing is written.
 */
bool grout_undo__capture(const grout_cta *cta, uint32_t thread, const grout_box *box,
                         uint8_t *linear, uint8_t *stale);

/* The entries, oldest first. */
uint64_t grout_undo__hash(const grout_cta *cta, uint64_t hash);

#endif
