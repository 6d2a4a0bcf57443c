/*
 * tma_fold.h - dimensions of an array that become one of a tensor map.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TMA_FOLD_H
#define GROUT_TMA_FOLD_H

#include "grout/verify.h"

/* Makes one of the kept dimensions that are indexed away, but for the innermost: they are kept no
 * longer, and stand in the plan. Returns how many fewer there are, 0 if there are not two. */
uint32_t grout_fold__choose(const grout_view *view, uint32_t inner, bool *is_kept, grout_tma *tma);
/* Elements that the dimension made of them has. */
int64_t grout_fold__get_size(const grout_type *array, const grout_tma *tma);

#endif
