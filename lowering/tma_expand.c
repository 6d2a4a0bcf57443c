/* tma_expand.c - tensor maps of arrays whose elements TMA expands.
 * SPDX-License-Identifier: Apache-2.0
 *
 * In SMEM 16 elements have 16 bytes. A barrier counts the bytes that come from GMEM: CUTLASS
 * expects this many, and docs/blackwell.md says that no GPU has shown it. */
#include "tma_expand.h"

static int64_t get_bytes(const grout_type *array, int64_t elements) {
    return elements * grout_dtype_get_info((grout_dtype)array->dtype)->bits / 8;
}

void grout_tma__expand(const grout_type *array, grout_tma *tma) {
    if (!array->is_expanded) {
        return;
    }
    for (uint32_t k = 1; k < tma->rank; k++) {
        tma->strides[k] = get_bytes(array, tma->strides[k]);
    }
    for (uint32_t dim = 0; dim < array->rank; dim++) {
        tma->object_strides[dim] = get_bytes(array, tma->object_strides[dim]);
    }
    tma->box_bytes = (uint32_t)get_bytes(array, tma->box_bytes);
}
