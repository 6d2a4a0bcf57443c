/*
 * im2col.h - copies in im2col mode: which pixels of the array one moves.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * The source box is the first base pixel. Its start has, after the array's dimensions, the offsets
 * of the spatial ones, so that a flight keeps both.
 */
#ifndef GROUT_INTERP_IM2COL_H
#define GROUT_INTERP_IM2COL_H

#include "memory.h"

static inline bool grout_im2col__is_mode_of(const grout_inst *inst) {
    return inst->u.copy.spatial_count > 0;
}

/* Gives the source its offsets. True: it is not what the hardware takes, which has been reported.
 */
bool grout_im2col__refuses(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                           grout_box *source);
/* ACCESS: each pixel inside the array. */
void grout_im2col__publish_reads(const grout_cta *cta, uint32_t thread, const grout_inst *inst,
                                 const grout_box *boxes, const grout_stamp *stamps);
/* The destination becomes as defined as the pixels are. */
void grout_im2col__definedness(const grout_cta *cta, const grout_inst *inst,
                               const grout_box *boxes);
void grout_im2col__copy(const grout_cta *cta, const grout_inst *inst, const grout_box *source,
                        const grout_box *to);

#endif
