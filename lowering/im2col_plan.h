/*
 * im2col_plan.h - the tensor map of a copy in im2col mode.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_IM2COL_PLAN_H
#define GROUT_IM2COL_PLAN_H

#include "copy_sides.h"

#define GROUT_IM2COL_RANK_MIN 3
#define GROUT_IM2COL_RANK_MAX 5

bool grout_im2col__is_mode_of(const grout_op *op);

/* Checks the source, and what pixels(..) says, and gives tma its part of it. False after a report.
 */
bool grout_im2col__choose_pixels(const grout_copy_sides *sides, grout_tma *tma);
/* The box of one instruction: channels, and pixels. */
bool grout_im2col__check_box(const grout_copy_sides *sides, const grout_tma *tma);

#endif
