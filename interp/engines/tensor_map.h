/*
 * tensor_map.h - tensor maps that a kernel makes, in their slots of GMEM.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_TENSOR_MAP_H
#define GROUT_INTERP_TENSOR_MAP_H

#include "memory.h"

/* What stands in the 128 bytes of a slot, here. The part of the array is in the registers of the
 * thread that made it, which alone uses it. */
typedef struct grout_tensor_map {
    uint64_t maker, cta, actor; /* the op that made it, for whom; 0: nothing has been made */
    uint64_t is_void;           /* its part was refused: copies through it move nothing */
    uint64_t is_acquired;       /* by this actor, since then */
    uint64_t unused[11];
} grout_tensor_map;

/* Writes the map of an op, not acquired yet. The box is a slot, and inside its array. */
void grout_tensor_map__make(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                            const grout_box *slot, bool is_void);
/* The actor's copies see the map in the slot from here on, if it made it. */
void grout_tensor_map__acquire(const grout_cta *cta, uint32_t thread, const grout_box *slot);

/* Whether a copy cannot go through its map; reported, unless the making of the map was. False if
 * the kernel does not make it. operand: the reference through the descriptor. */
bool grout_tensor_map__is_void(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                               uint32_t operand);
/* The read of the map by a copy, over when its source has been read: stamp. */
void grout_tensor_map__publish_read(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                    const grout_stamp *stamp);

#endif
