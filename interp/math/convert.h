/*
 * convert.h - element conversions, as 'cast' does them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_CONVERT_H
#define GROUT_INTERP_CONVERT_H

#include "grout-internal/interp.h"

/* Casts count elements; source and destination do not overlap. */
void grout_convert(grout_dtype from, const void *source, grout_dtype to, void *destination,
                   int64_t count);
/* Rounds to f16 or bf16, and back: the same as two casts. */
void grout_round_to(grout_dtype dtype, float *values, int64_t count);
/* Fills count elements with the pattern of memory that nobody has written. */
void grout_fill_poison(grout_dtype dtype, void *destination, int64_t count);
/* Fills count elements with the NaN that TMA puts outside an array; the type has one. */
void grout_fill_nan(grout_dtype dtype, void *destination, int64_t count);
/* Fills count elements of bytes size each with the first of them. */
void grout_fill_element(uint32_t bytes, const void *element, void *destination, int64_t count);

#endif
