/*
 * bulk_plan.h - copies between GMEM and SMEM that need no tensor map.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_BULK_PLAN_H
#define GROUT_BULK_PLAN_H

#include "grout-internal/ir.h"
#include "grout-internal/layout.h"

/* A copy of a bound module. */
typedef struct grout_bulk_sides {
    const grout_module *module;
    const grout_op *op;
    const grout_view *gmem, *smem;
    const grout_layout *smem_layout;
    grout_choice oob;
} grout_bulk_sides;

/* Whether it is one run of bytes on both sides, in multiples of 16, for one CTA or as a multicast,
 * without a reduction, and elements outside the array need not become anything certain. */
bool grout_bulk__is_possible(const grout_bulk_sides *sides);

/* The byte of the array that it starts at, but for multiples of 16 that only the run knows; 0 if
 * the run can add others. */
int64_t grout_bulk__get_known_start(const grout_view *gmem, const int64_t *strides);

#endif
