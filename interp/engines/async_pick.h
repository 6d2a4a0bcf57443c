/*
 * async_pick.h - what cp.async copies by indices or with a mask.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ASYNC_PICK_H
#define GROUT_INTERP_ASYNC_PICK_H

#include "pick.h"

/* The accesses: reads of what is picked, byte by byte, and the write of all of boxes[1]. Reports a
 * contiguous(n) that does not hold. False: not all that is read is in aligned pieces. */
bool grout_async_pick__publish(grout_picks *picks, const grout_box *boxes,
                               const grout_stamp *stamps, uint32_t piece);
/* The destination becomes as defined as what is picked is now; where nothing is, it is 0. */
void grout_async_pick__definedness(grout_picks *picks, const grout_box *to);
/* Moves the elements: 0 where the mask is false, poison where the index lies outside. */
void grout_async_pick__move(grout_picks *picks, const grout_box *to);

#endif
