/* tcgen05.h - what the files that plan a tcgen05_mma and its kin share; private to lowering/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_LOWERING_TCGEN05_H
#define GROUT_LOWERING_TCGEN05_H

#include "wgmma.h"

/* Operands of every one; then the metadata, or two scales, or the three, then use_acc. */
enum { GROUT_TCGEN05_ACC, GROUT_TCGEN05_A, GROUT_TCGEN05_B, GROUT_TCGEN05_TABLE };

#define GROUT_TCGEN05_PAIRS_TEXT                                                           \
    "the pairs are f16 by f16, bf16 by bf16, f32 by f32, read as tf32 (8 exponent and 10 " \
    "fraction bits), f8e4m3, f8e5m2, f6e2m3, f6e3m2 or f4e2m1 by either, and i8 or u8 by either"

/* One being planned. Its reports are made as those of a wgmma. */
typedef struct grout_tcgen05_planning {
    grout_wgmma_planning wgmma;
    grout_tcgen05 *out;
    grout_type types[GROUT_TCGEN05_TABLE];
    bool is_scaled, is_sparse;
    uint32_t a_scale; /* the operand; that of b follows it */
} grout_tcgen05_planning;

/* tcgen05_tables.c: which arrays of tensor memory stand beside the operands. */
void grout_tcgen05__find_tables(grout_tcgen05_planning *p);
/* Whether a and b of a sparse product without scales have whole bytes. */
bool grout_tcgen05__check_sparse_types(grout_tcgen05_planning *p);
/* The scales and the metadata: what they are, and that they are those of this shape. */
bool grout_tcgen05__plan_tables(grout_tcgen05_planning *p);

#endif
