/* rounding.h - one operation on numbers with error bounds: the exact value in float64, rounded as
 * the element type rounds, and how much a rounding more or less may move it.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_RANDOM_ROUNDING_H
#define GROUT_TESTS_RANDOM_ROUNDING_H

#include "reference.h"

/* Rounded to an element of the type; an exact number stays exact. */
reference_number rounding_round(grout_dtype dtype, reference_number number);
/* result = op(in); the operands have type from, the result type to. False: no such operation. */
bool rounding_apply(grout_opcode opcode, grout_dtype from, grout_dtype to,
                    const reference_number in[3], reference_number *result);
/* count numbers, stride apart, in any order of sums. */
typedef struct rounding_row {
    const reference_number *first;
    int64_t stride, count;
} rounding_row;
/* False: no such reduction. */
bool rounding_reduce(grout_opcode opcode, grout_dtype dtype, const rounding_row *row,
                     reference_number *result);

/* One element of a wgmma or mma: row a, column b (b_stride apart). */
typedef struct rounding_dot {
    const reference_number *a, *b;
    int64_t b_stride, depth;
    grout_dtype operand_dtype, accumulator_dtype;
    bool is_saturating; /* sums of integers, after every 32 products */
} rounding_dot;
reference_number rounding_dot_add(const rounding_dot *dot, reference_number acc);

#endif
