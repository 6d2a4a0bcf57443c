/* tmem.h - arrays in tensor memory: their shapes, columns and slices; private to the library.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_LOWERING_TMEM_H
#define GROUT_LOWERING_TMEM_H

#include "bound.h"

#define GROUT_TMEM_COLUMN_BYTES 512 /* 128 lanes of 32 bits */
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

#endif
