/*
 * copy_sides.h - what the plans of copies that move more than a box look at, and how they report.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_COPY_SIDES_H
#define GROUT_COPY_SIDES_H

#include "grout-internal/verify.h"

#include "bound.h"

/* The copy of a bound module, and the views of its two sides. */
typedef struct grout_copy_sides {
    const grout_module *module;
    const grout_op *op;
    const grout_view *gmem, *smem;
    grout_diags *diags; /* or NULL */
} grout_copy_sides;

/* Both return false, after a report if there are diags. */
bool grout_copy_sides__fail(const grout_copy_sides *sides, grout_diag_code code, grout_loc_id loc,
                            const char *format, ...) GROUT_PRINTF(4, 5);
bool grout_copy_sides__help(const grout_copy_sides *sides, const char *text);

/* The operand of a letter, 'G' or 'H'. */
const grout_operand *grout_copy_sides__get_operand(const grout_copy_sides *sides, char letter);
/* How the array in GMEM is called. */
grout_value_text grout_copy_sides__get_name(const grout_copy_sides *sides);

/* Makes a box of the array's view: as many rows of its last two dimensions as SMEM has. */
void grout_copy_sides__make_column(grout_view *gmem, const grout_view *smem);

#endif
