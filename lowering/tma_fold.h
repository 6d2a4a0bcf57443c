/*
 * tma_fold.h - dimensions of an array that become one of a tensor map.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TMA_FOLD_H
#define GROUT_TMA_FOLD_H

#include "grout/verify.h"

/* Makes one of the dimensions that it can: they are kept no longer, and stand in the plan. Returns
 * how many fewer there are, 0 if there are not two. */
uint32_t grout_fold__choose(uint32_t rank, const bool *can_fold, bool *is_kept, grout_tma *tma);
/* The dimension of the array that has the place of all of them in the box: the innermost one. */
uint8_t grout_fold__get_last(const grout_tma *tma);
/* Elements that the dimension made of them has. */
int64_t grout_fold__get_size(const grout_type *array, const grout_tma *tma);

#endif
