/*
 * scaled.h - the product of packed tiles whose blocks along K have scales.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each row of a, and each column of b, has a scale for every scale_block elements of K: the product
 * of two elements is multiplied by both of theirs. 'exact' numerics is tensor_core.h's. 'fast'
 * means, bit for bit: the products of a block are added in f32, rounded to nearest even at each
 * step; the sum is multiplied by the scales and added to the accumulator in f64, and that rounded
 * to f32. A sparse a (sparse.h): what is not kept takes no part, and k is counted in a; twice as
 * many of b have one scale.
 */
#ifndef GROUT_INTERP_SCALED_H
#define GROUT_INTERP_SCALED_H

#include "sparse.h"

/* Packed as grout_pack does, a turned but if it is sparse. The scales lie row by row:
 * [m][k / block], [n][k / block]. */
typedef struct grout_scaled_tiles {
    const float *a, *b;
    const uint8_t *a_scales, *b_scales;
    const grout_sparse_tiles *sparse; /* a keeps half of its elements: of a and b; else NULL */
} grout_scaled_tiles;

/* c += a b, c [n][m]. */
void grout_scaled__run(const grout_gemm *gemm, float *c, const grout_scaled_tiles *tiles);

#endif
