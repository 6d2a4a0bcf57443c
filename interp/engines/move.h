/*
 * move.h - what engines do with bytes: elements from box to box, or combined with what is there.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_MOVE_H
#define GROUT_INTERP_MOVE_H

#include "memory.h"

/* Copies a box to a box. */
void grout_move__copy(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                      const grout_box *to);
/* Gives the elements of the linear scratch that a source box has outside its array what arrives in
 * their place; those inside become anything. Nothing, if none is outside. */
void grout_move__fill_outside(grout_machine *machine, const grout_inst *inst,
                              const grout_box *from);
/* A store's copy: moves, or reduces. origin: the store. */
void grout_move__store(grout_machine *machine, const grout_inst *inst, const grout_box *from,
                       const grout_box *to, const grout_origin *origin);
/* Combines elements with what a box of GMEM holds, as the instruction's reduce says. */
void grout_move__reduce(grout_machine *machine, const grout_inst *inst, const grout_box *to,
                        const uint8_t *elements, const grout_origin *origin);
/* Writes the elements of an async_store_smem to their box, or combines them with what it holds. */
void grout_move__combine(grout_machine *machine, const grout_inst *inst, const grout_box *to,
                         const uint8_t *elements);
/* The destination becomes as defined as the source is now, whenever the bytes move. */
void grout_move__definedness(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                             const grout_box *boxes);

#endif
