/*
 * tma_box.h - the dimensions of a TMA box, and the loops around it, as they are chosen.
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TMA_BOX_H
#define GROUT_TMA_BOX_H

#include "grout-internal/verify.h"

#define GROUT_TMA_RANK_MAX 5
#define GROUT_TMA_BOX_MAX  256 /* elements of a dimension */

/* One digit of the SMEM view's address, innermost first. */
typedef struct grout_tma_digit {
    uint8_t dim; /* of the GMEM object */
    int64_t divisor, extent, stride;
} grout_tma_digit;

typedef struct grout_tma_box {
    const grout_module *module;
    const grout_view *gmem;
    int64_t dims[GROUT_RANK_MAX];  /* of the array, as the layout counts them */
    bool is_kept[GROUT_RANK_MAX];  /* the descriptor has it */
    bool is_boxed[GROUT_RANK_MAX]; /* it has its place in the box */
    uint8_t inner;                 /* GMEM dimension that is dimension 0 */
    bool is_fixed; /* the map has the array's own dimensions: none is split or folded */
    grout_tma *tma;
} grout_tma_box;

/* Whether the parts of a collective copy start at different places of a dimension. */
bool grout_tma_box__is_part_dim(const grout_tma_box *box, uint32_t dim);

/*
 * An array of more dimensions than a tensor map has: those of which the box has one element become
 * one. Its stride is that of the innermost of them, of which the others' are multiples. Returns how
 * many fewer there are, 0 if there are not two.
 */
uint32_t grout_tma_box__fold(grout_tma_box *box);
/* Elements that the dimension made of them has. */
int64_t grout_tma_box__get_fold_size(const grout_tma_box *box);

/* Gives a GMEM dimension the next place in the box. */
void grout_tma_box__add_dim(grout_tma_box *box, uint8_t dim, int64_t extent);
/* The dimensions that the row and the rows of SMEM have left, each one element wide, or as wide as
 * the view (is_whole). */
void grout_tma_box__add_rest(grout_tma_box *box, bool is_whole);
/* Finds a place for a digit: the next dimension of the box, or a loop. *dense: the bytes of the
 * box. False: it has none. */
bool grout_tma_box__add_digit(grout_tma_box *box, const grout_tma_digit *digit, int64_t *dense);
/* Makes dimensions of the loops as far as their tiles follow each other in SMEM, the nearer ones
 * first. */
void grout_tma_box__split_tiles(grout_tma_box *box);

#endif
