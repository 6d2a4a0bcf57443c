/*
 * tma_fold.c - arrays of more dimensions than a tensor map has: those of which a box has one
 * element become one. Its stride is that of the innermost of them, of which the others' are
 * multiples. SPDX-License-Identifier: Apache-2.0
 */
#include "tma_fold.h"

uint32_t grout_fold__choose(uint32_t rank, const bool *can_fold, bool *is_kept, grout_tma *tma) {
    for (uint8_t dim = 0; dim < rank; dim++) {
        if (can_fold[dim]) {
            tma->fold_dims[tma->fold_count++] = dim;
        }
    }
    if (tma->fold_count < 2) {
        tma->fold_count = 0;
        return 0;
    }
    const int64_t stride = tma->object_strides[tma->fold_dims[tma->fold_count - 1]];
    for (uint32_t k = 0; k < tma->fold_count; k++) {
        tma->fold_steps[k] = tma->object_strides[tma->fold_dims[k]] / stride;
        is_kept[tma->fold_dims[k]] = false;
    }
    return tma->fold_count - 1u;
}

int64_t grout_fold__get_size(const grout_type *array, const grout_tma *tma) {
    int64_t size = 1;
    for (uint32_t k = 0; k < tma->fold_count; k++) {
        size += (array->dims[tma->fold_dims[k]] - 1) * tma->fold_steps[k];
    }
    return size;
}

uint8_t grout_fold__get_last(const grout_tma *tma) {
    return tma->fold_dims[tma->fold_count - 1];
}
