/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * operand.h - operands of wgmmas, packed once for each content of SMEM.
 *
 * SMEM is watched in pages of 1 KiB, the span of the widest swizzle: each has the number of its
 * latest write. A packed tile is good as long as none of its box's pages has been written since.
 * Tiles are a few buffers of one size, so memory does not grow with the run; they and the numbers
 * follow from the state and are no part of it.
 */
#ifndef GROUT_INTERP_OPERAND_H
#define GROUT_INTERP_OPERAND_H

#include "memory.h"

/* What to pack: a box, or bytes that lie row by row. */
typedef struct grout_operand_source {
    const grout_operand_plan *plan;
    const grout_box *box;
    const uint8_t *rows; /* NULL: the box's bytes in SMEM */
} grout_operand_source;

/* Buffers for tiles, if the plan has wgmmas; false without memory. */
bool grout_operand__new(grout_machine *machine);
/* All of SMEM may have changed. */
void grout_operand__forget(grout_machine *machine);

/*
 * The packed operands of a product. They stay until the next call.
 */
void grout_operand__pack(const grout_cta *cta, const grout_operand_source sources[2],
                         const float *packed_out[2]);

#endif
