/*
 * row_plan.h - the instructions of a tma_gather or tma_scatter: rows of an array that indices name.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_ROW_PLAN_H
#define GROUT_ROW_PLAN_H

#include "copy_sides.h"

/* Rows of one instruction: gather4 and scatter4 of PTX. */
#define GROUT_ROWS_OF_INSTRUCTION 4

bool grout_row_plan__is_of(const grout_op *op);

/* The array in GMEM is one of two dimensions, of which all rows are there to choose from. False
 * after a report. */
bool grout_row_plan__check_array(const grout_copy_sides *sides);
/* Makes instructions of the column of rows that is planned as a box. False after a report. */
bool grout_row_plan__group(const grout_copy_sides *sides, grout_tma *tma);

#endif
