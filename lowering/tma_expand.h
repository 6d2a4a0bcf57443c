/*
 * tma_expand.h - tensor maps of arrays whose elements TMA expands.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TMA_EXPAND_H
#define GROUT_TMA_EXPAND_H

#include "grout-internal/verify.h"

/* Counts, if the array is 'packed', distances in GMEM and the bytes of a box, as a barrier does, by
 * the bits of an element. Any other plan stays as it is. */
void grout_tma__expand(const grout_type *array, grout_tma *tma);

#endif
