/* view_digits.h - how one dimension of a view steps through memory; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_VIEW_DIGITS_H
#define GROUT_IR_VIEW_DIGITS_H

#include "grout-internal/ir.h"

/* Where a dimension of a view starts: at known plus a multiple of divisor that only the run tells;
 * divisor 0: at known. */
typedef struct grout_view_start {
    int64_t known, divisor;
} grout_view_start;

grout_view_start grout_view__get_start(const grout_module *module, const grout_view *view,
                                       uint32_t dim);
/* The largest number that divides the start whatever the run; 0 if it is 0. */
int64_t grout_view_start__get_divisor(const grout_view_start *start);
bool grout_view_start__is_multiple(const grout_view_start *start, int64_t of);

/*
 * Element i of a dimension of a view lies sum_k digit(i, k) * stride[k] bytes after its element 0
 * (swizzle apart), where digit(i, k) = i / (extent[0] * .. * extent[k - 1]) % extent[k]. Digits
 * that follow each other in memory are one. The last extent is rounded up.
 */
typedef struct grout_view_digits {
    uint32_t count;
    int64_t extent[GROUT_RANK_MAX], stride[GROUT_RANK_MAX];
} grout_view_digits;

/* False if the view may start inside a tile and end in another one: *tile_out elements long. */
bool grout_view__get_digits(const grout_module *module, const grout_view *view, uint32_t dim,
                            grout_view_digits *digits_out, int64_t *tile_out);

/*
 * Takes groups of this many elements away from the inside: the digits then say where the groups
 * lie. False, with nothing taken, if the elements of a group are not equally spaced. *stride_out is
 * their distance in bytes, 0 if there is only one.
 */
bool grout_view_digits__take(grout_view_digits *digits, int64_t size, int64_t *stride_out);
/* Takes all that is left. */
bool grout_view_digits__take_rest(grout_view_digits *digits, int64_t *stride_out);

#endif
