/*
 * tma_starts.c - where in SMEM the instructions of a TMA copy can start.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tma_starts.h"

#include "bound.h"
#include "view_digits.h"

/* What a digit can add to the address when the start of its dimension moves by step elements. */
static int64_t get_digit_step(const grout_layout *layout, uint32_t digit, int64_t step) {
    int64_t divisor = layout->divisor[digit];
    if (step % (divisor * layout->extent[digit]) == 0) {
        return 0;
    }
    return (step > divisor ? step / divisor : 1) * layout->stride[digit];
}

/* By how many elements the start of a dimension of the box in SMEM moves at the least, as far as
 * its digit can tell: by whole tiles, or by more if the start is known to be a multiple of more. */
static int64_t get_start_step(const grout_tma_starts *starts, uint32_t digit, int64_t tile) {
    const grout_layout *layout = starts->layout;
    const uint32_t dim = layout->dim[digit];
    const int64_t packed = grout_view_get_term_divisor(starts->smem, dim);
    const int64_t step = starts->smem->is_squeezed[dim] || tile <= packed ? 1 : tile / packed;
    const grout_view_start bound = {
        .known = layout->divisor[digit] * layout->extent[digit],
        .divisor = grout_view__get_start(starts->module, starts->smem, dim).divisor};
    const int64_t known = grout_view_start__get_divisor(&bound);
    return known > step && known % step == 0 && known % layout->divisor[digit] == 0 ? known : step;
}

/* The same of the parts of a collective copy: the least distance that is no multiple. */
static int64_t get_part_step(const grout_tma_starts *starts) {
    const grout_layout *layout = starts->layout;
    for (uint32_t k = 0; starts->tma->part_count > 1 && k < layout->tiled_rank; k++) {
        if (layout->dim[k] == starts->smem->view_dim[starts->tma->part_dim]) {
            const int64_t step = get_digit_step(layout, k, starts->tma->part_elements);
            if (step % starts->alignment != 0) {
                return step;
            }
        }
    }
    return 0;
}

int64_t grout_tma_starts__find_unaligned(const grout_tma_starts *starts) {
    const grout_layout *layout = starts->layout;
    int64_t tiles[GROUT_RANK_MAX];
    int64_t worst = 0;  /* a byte that a box can start at */
    int64_t offset = 0; /* of the constant starts */
    grout_object__get_tiles(starts->module, starts->smem->object, tiles);
    for (uint32_t k = 0; k < layout->tiled_rank; k++) {
        uint32_t dim = layout->dim[k];
        int64_t start = starts->smem->start_const[dim];
        int64_t step = get_digit_step(layout, k, get_start_step(starts, k, tiles[dim]));
        if (starts->smem->start_term_count[dim] > 0 && step % starts->alignment != 0) {
            worst = step;
        }
        if (start > 0) {
            offset += start / layout->divisor[k] % layout->extent[k] * layout->stride[k];
        }
    }
    if (offset % starts->alignment != 0) {
        worst = offset;
    }
    const int64_t part = get_part_step(starts);
    if (part % starts->alignment != 0) {
        worst = part;
    }
    if (starts->tma->panel_count > 1 && starts->tma->panel_bytes % starts->alignment != 0) {
        worst = starts->tma->panel_bytes;
    }
    if (starts->tma->band_count > 1 && starts->tma->band_bytes % starts->alignment != 0) {
        worst = starts->tma->band_bytes;
    }
    return worst;
}
