/* compare.h - elements of arrays that are compared, as bits and as numbers.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_GPU_COMPARE_H
#define GROUT_GPU_COMPARE_H

#include "grout-internal/compare.h"

/* The bits of an element, whose bytes are this many. */
uint64_t grout_compare__read(const void *bytes, int64_t index, grout_dtype dtype);
/* An element as a number, near enough for tolerances; integers of 64 bits are rounded. */
double grout_compare__decode(uint64_t bits, grout_dtype dtype);

#endif
