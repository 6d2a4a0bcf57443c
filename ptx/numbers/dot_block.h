/* dot_block.h - the sums of dot.h for one row and several columns at once.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The simple model is grout_ptx__dot. Here a product is a double, which holds it exactly;
 * multiplied by a power of two and converted to an integer, it is cut at the same bit, toward zero.
 * The columns lie side by side, so that compilers make vectors of them. unit/ptx_matrix compares
 * the two.
 */
#ifndef GROUT_PTX_DOT_BLOCK_H
#define GROUT_PTX_DOT_BLOCK_H

#include "dot.h"

enum { GROUT_PTX_BLOCK = 8 }; /* columns of a block */

/* A row: its elements one by one. */
typedef struct grout_ptx_block_row {
    uint32_t count;
    bool is_special; /* an infinity or a NaN is among them: no block can be made of it */
    double values[GROUT_PTX_K_MAX];
    int16_t exponents[GROUT_PTX_K_MAX];
} grout_ptx_block_row;

typedef struct grout_ptx_block_columns {
    uint32_t count;
    bool is_special;
    double values[GROUT_PTX_K_MAX][GROUT_PTX_BLOCK];
    int16_t exponents[GROUT_PTX_K_MAX][GROUT_PTX_BLOCK];
} grout_ptx_block_columns;

void grout_ptx__block_row(grout_ptx_format format, const uint32_t *bits, uint32_t count,
                          grout_ptx_block_row *row);

/* Up to GROUT_PTX_BLOCK columns, each of count elements after the other; the rest counts as zeros.
 */
void grout_ptx__block_columns(grout_ptx_format format, const uint32_t *bits, uint32_t count,
                              uint32_t columns, grout_ptx_block_columns *block);

/* d is C before and D after. False, with d as it was, if C has an infinity or a NaN; neither row
 * nor block may be special. */
bool grout_ptx__dot_block(const grout_ptx_dot *how, const grout_ptx_block_row *row,
                          const grout_ptx_block_columns *block, uint32_t columns, uint32_t *d);

#endif
