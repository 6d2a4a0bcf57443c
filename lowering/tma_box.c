/* tma_box.c - which digits of an SMEM address become dimensions of a TMA box, and which loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tma_box.h"

#include "invariant.h"
#include "view_digits.h"

bool grout_tma_box__is_part_dim(const grout_tma_box *box, uint32_t dim) {
    return box->tma->part_count > 1 && box->gmem->view_dim[box->tma->part_dim] == dim;
}

/* ---- dimensions that become one -------------------------------------------------------------- */

/* The dimension of the array that has the place of all that are folded: the innermost one. */
static uint8_t get_last_folded(const grout_tma *tma) {
    return tma->fold_dims[tma->fold_count - 1];
}

static bool can_fold(const grout_tma_box *box, uint32_t dim) {
    return box->is_kept[dim] && box->gmem->extent[dim] == 1 && dim != box->inner &&
           !box->is_boxed[dim] && !grout_tma_box__is_part_dim(box, dim);
}

uint32_t grout_tma_box__fold(grout_tma_box *box) {
    grout_tma *tma = box->tma;
    if (box->is_fixed || tma->fold_count > 0) {
        return 0;
    }
    for (uint8_t dim = 0; dim < box->gmem->rank; dim++) {
        if (can_fold(box, dim)) {
            tma->fold_dims[tma->fold_count++] = dim;
        }
    }
    if (tma->fold_count < 2) {
        tma->fold_count = 0;
        return 0;
    }
    const int64_t stride = tma->object_strides[get_last_folded(tma)];
    for (uint32_t k = 0; k < tma->fold_count; k++) {
        tma->fold_steps[k] = tma->object_strides[tma->fold_dims[k]] / stride;
        box->is_kept[tma->fold_dims[k]] = false;
    }
    return tma->fold_count - 1u;
}

int64_t grout_tma_box__get_fold_size(const grout_tma_box *box) {
    const grout_tma *tma = box->tma;
    int64_t size = 1;
    for (uint32_t k = 0; k < tma->fold_count; k++) {
        size += (box->dims[tma->fold_dims[k]] - 1) * tma->fold_steps[k];
    }
    return size;
}

/* ---- dimensions ------------------------------------------------------------------------------ */

void grout_tma_box__add_dim(grout_tma_box *box, uint8_t dim, int64_t extent) {
    grout_tma *tma = box->tma;
    uint32_t place = tma->rank++;
    GROUT_ASSERT(place < GROUT_TMA_RANK_MAX && !box->is_boxed[dim] && extent >= 1);
    tma->object_dim[place] = dim;
    tma->dims[place] = box->dims[dim];
    tma->strides[place] = tma->object_strides[dim];
    tma->box[place] = extent;
    tma->steps[place] = 1;
    box->is_boxed[dim] = true;
}

void grout_tma_box__add_rest(grout_tma_box *box, bool is_whole) {
    grout_tma *tma = box->tma;
    for (uint32_t dim = box->gmem->rank; dim-- > 0;) {
        if (box->is_kept[dim] && !box->is_boxed[dim]) {
            grout_tma_box__add_dim(box, (uint8_t)dim, is_whole ? box->gmem->extent[dim] : 1);
        }
    }
    if (tma->fold_count > 0) {
        grout_tma_box__add_dim(box, get_last_folded(tma), 1);
        tma->dims[tma->rank - 1] = grout_tma_box__get_fold_size(box);
    }
}

/* Whether the box may get a dimension more, beside those that are still to come. */
static bool has_room(const grout_tma_box *box) {
    const grout_tma *tma = box->tma;
    uint32_t rank = tma->rank;
    for (uint32_t dim = 0; dim < box->gmem->rank; dim++) {
        rank += box->is_kept[dim] && !box->is_boxed[dim] ? 1 : 0;
    }
    if (tma->fold_count > 0 && !box->is_boxed[get_last_folded(tma)]) {
        rank++;
    }
    return rank < GROUT_TMA_RANK_MAX;
}

/* ---- loops ----------------------------------------------------------------------------------- */

/* The place of a dimension in the box: that of its part inside a tile, where it is split. */
static uint32_t find_place(const grout_tma_box *box, uint32_t dim) {
    const grout_tma *tma = box->tma;
    uint32_t place = 0;
    while (place < tma->rank && tma->object_dim[place] != dim) {
        place++;
    }
    return place;
}

/* Makes a loop around the instruction of a digit that counts tiles; false if it is not to be. */
static bool add_loop(grout_tma_box *box, const grout_tma_digit *digit) {
    grout_tma *tma = box->tma;
    const uint32_t place = find_place(box, digit->dim);
    if (digit->divisor == 1 || place == tma->rank || tma->steps[place] == 0) {
        return false;
    }
    if (digit->dim == box->inner && tma->panel_count == 1) {
        tma->panel_count = (uint32_t)digit->extent;
        tma->panel_elements = digit->divisor;
        tma->panel_bytes = digit->stride;
        return true;
    }
    if (digit->dim != box->inner && tma->band_count == 1) {
        tma->band_count = (uint32_t)digit->extent;
        tma->band_dim = (uint8_t)place;
        tma->band_elements = digit->divisor;
        tma->band_bytes = digit->stride;
        return true;
    }
    return false;
}

/* Whether a dimension of the box is whole tiles of this many elements in the array, and starts at
 * one in every CTA that has a part. */
static bool has_whole_tiles(const grout_tma_box *box, uint32_t place, int64_t elements) {
    const grout_tma *tma = box->tma;
    const uint32_t dim = tma->object_dim[place];
    const grout_view_start start = grout_view__get_start(box->module, box->gmem, dim);
    return tma->box[place] == elements && box->dims[dim] % elements == 0 &&
           grout_view_start__is_multiple(&start, elements) &&
           (!grout_tma_box__is_part_dim(box, dim) || tma->part_elements % elements == 0);
}

/* Splits a dimension of the box: count tiles of this many elements become one dimension more. */
static void split(grout_tma_box *box, uint32_t place, int64_t elements, uint32_t count) {
    grout_tma *tma = box->tma;
    const uint32_t made = tma->rank++;
    tma->object_dim[made] = tma->object_dim[place];
    tma->dims[made] = tma->dims[place] / elements;
    tma->strides[made] = tma->strides[place] * elements;
    tma->box[made] = count;
    tma->steps[made] = elements;
    tma->dims[place] = elements;
    tma->steps[place] = 0;
}

/* The bytes that the box takes in SMEM. */
static int64_t get_dense(const grout_tma *tma) {
    const int64_t row = tma->box[0] * tma->element_bytes;
    int64_t dense = tma->swizzle > row ? tma->swizzle : row;
    for (uint32_t k = 1; k < tma->rank; k++) {
        dense *= tma->box[k];
    }
    return dense;
}

void grout_tma_box__split_tiles(grout_tma_box *box) {
    grout_tma *tma = box->tma;
    int64_t dense = get_dense(tma);
    for (bool goes_on = !box->is_fixed; goes_on && has_room(box);) {
        goes_on = false;
        if (tma->panel_count > 1 && tma->panel_count <= GROUT_TMA_BOX_MAX &&
            tma->panel_bytes == dense && has_whole_tiles(box, 0, tma->panel_elements)) {
            split(box, 0, tma->panel_elements, tma->panel_count);
            dense *= tma->panel_count;
            tma->panel_count = 1;
            goes_on = true;
        } else if (tma->band_count > 1 && tma->band_count <= GROUT_TMA_BOX_MAX &&
                   tma->band_bytes == dense &&
                   has_whole_tiles(box, tma->band_dim, tma->band_elements)) {
            split(box, tma->band_dim, tma->band_elements, tma->band_count);
            dense *= tma->band_count;
            tma->band_count = 1;
            goes_on = true;
        }
    }
}

/* ---- digits ---------------------------------------------------------------------------------- */

/* The next dimension of the box, or a loop. */
static bool place_digit(grout_tma_box *box, const grout_tma_digit *digit, int64_t *dense) {
    if (digit->stride == *dense && digit->divisor == 1 && !box->is_boxed[digit->dim]) {
        grout_tma_box__add_dim(box, digit->dim, digit->extent);
        *dense *= digit->extent;
        return true;
    }
    return add_loop(box, digit);
}

/* Splits the dimensions of the loops so far, for the sake of what lies around them. False if none
 * could be. */
static bool make_next(grout_tma_box *box, int64_t *dense) {
    const uint32_t rank = box->tma->rank;
    if (!has_room(box)) {
        grout_tma_box__fold(box);
    }
    grout_tma_box__split_tiles(box);
    *dense = get_dense(box->tma);
    return box->tma->rank > rank;
}

bool grout_tma_box__add_digit(grout_tma_box *box, const grout_tma_digit *digit, int64_t *dense) {
    return place_digit(box, digit, dense) ||
           (make_next(box, dense) && place_digit(box, digit, dense));
}
