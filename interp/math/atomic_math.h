/*
 * atomic_math.h - what one atomic update makes of an element: atomics of threads and the reductions
 * of TMA copies and of st.async share it.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_ATOMIC_MATH_H
#define GROUT_INTERP_ATOMIC_MATH_H

#include "grout-internal/tables.h"

/*
 * Combines count elements with as many values, one after another; the two may not overlap. Integers
 * wrap. A sum is rounded once; in GMEM (is_gmem) subnormal operands and sums of f32 count as zeros
 * of their sign (PTX ISA 9.1, 'atom', 'cp.reduce.async.bulk'). The smaller or larger of a number
 * and a NaN is the number. False: there is no such update of this type, nothing has happened.
 */
bool grout_update__apply(grout_update update, grout_dtype dtype, bool is_gmem, void *elements,
                         const void *values, int64_t count);
#endif
