/* tmem.h - arrays in tensor memory: their shapes, columns and slices; private to the library.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_LOWERING_TMEM_H
#define GROUT_LOWERING_TMEM_H

#include "bound.h"

#define GROUT_TMEM_LANES        128
#define GROUT_TMEM_CELL_BYTES   4   /* a column of one lane */
#define GROUT_TMEM_COLUMN_BYTES 512 /* 128 lanes of 32 bits */
/* Arrays and their slots start at multiples of this many columns. */
#define GROUT_TMEM_START_STEP 4
/* Columns of a table that one copy brings: scales, words of metadata. */
#define GROUT_TMEM_SCALES_STEP   4
#define GROUT_TMEM_METADATA_STEP 8

/* Whether an object in tensor memory has a shape and an element type that it takes. On failure says
 * why, if diags is not NULL. */
bool grout_tmem__check_object(const grout_module *module, grout_object_id id, grout_diags *diags);
/* Whether a reference to such an object is one matrix, all its rows, whole columns of 32 bits, and
 * of 64 rows columns of one half or all. */
bool grout_tmem__check_slice(const grout_module *module, const grout_operand *operand,
                             grout_diags *diags);
/* Columns of 32 bits that the object takes. */
int64_t grout_tmem__count_columns(const grout_module *module, grout_object_id id);
/* Blocks of 128 rows of scales that lie beside each other: 1 or 2. */
int64_t grout_tmem__count_scale_blocks(const grout_module *module, grout_object_id id);
/* Whether its elements leave nothing of its columns free. */
bool grout_tmem__fills_cells(const grout_module *module, grout_object_id id);

/* ---- cells: tmem_cells.c ---- */

/* Where the elements of an array lie that has aliases, or is one: lane by lane, in the columns of
 * the array whose bytes it has. Its shape is a good one. */
grout_layout grout_tmem__make_cells(const grout_module *module, grout_object_id id);
/* The bytes of a lane of that array. */
int64_t grout_tmem__get_pitch(const grout_module *module, grout_object_id id);
/* The first column, of those of the kernel, once it has its place. */
int64_t grout_tmem__get_column(const grout_module *module, grout_object_id id);

#endif
