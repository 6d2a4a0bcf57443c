/*
 * sparse.h - the product of packed tiles of which the left one keeps half of its elements along K.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A row of a is what it keeps, in order of K; b has all of K. What is not kept takes no part: the
 * product is that of a dense wgmma whose k-th row of b is, for each row of a on its own, the one
 * that the metadata chooses. Both numerics, instructions and their rounding are gemm.h's, k counted
 * in a.
 */
#ifndef GROUT_INTERP_SPARSE_H
#define GROUT_INTERP_SPARSE_H

#include "gemm.h"

/* Packed as grout_pack does, a not turned. */
typedef struct grout_sparse_tiles {
    const float *a, *b;
    const uint16_t *metadata; /* [m][2 k / (4 group)] */
    bool has_m_rows;          /* a is [m][k], else [k][m]; that of b is gemm->has_k_rows */
} grout_sparse_tiles;

/* The row of b that the k-th element which row m of a keeps is multiplied by. */
uint32_t grout_sparse__get_row(const grout_gemm *gemm, const grout_sparse_tiles *tiles, uint32_t m,
                               uint32_t k);
/* The first code in the metadata of this many words of a row that says nothing, and 1 + its row; 0:
 * there is none. */
typedef struct grout_sparse_problem {
    uint32_t row_number, group, code;
} grout_sparse_problem;
grout_sparse_problem grout_sparse__find_problem(const uint16_t *metadata, uint32_t rows,
                                                uint32_t words, uint32_t group);
/* Words of metadata in a row. */
static inline uint32_t grout_sparse__count_words(const grout_gemm *gemm) {
    return 2 * gemm->k / (4u * gemm->group);
}
/* Where the k-th element lies that row m of a keeps, and the element of b in a row and column. */
size_t grout_sparse__find_left(const grout_gemm *gemm, const grout_sparse_tiles *tiles, size_t m,
                               size_t k);
size_t grout_sparse__find_right(const grout_gemm *gemm, size_t k, size_t n);
/* c += a b, c [n][m]. */
void grout_sparse__run(const grout_gemm *gemm, float *c, const grout_sparse_tiles *tiles);

#endif
