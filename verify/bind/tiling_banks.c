/*
 * tiling_banks.c - bank conflicts of an array in 'tile(infer)', before registers have layouts.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Which lane holds which element is decided later, so this is a model: values of the tensor core
 * lie in fragments, of which the hardware takes 8 rows by 16 bytes at once; of any other value a
 * warp takes elements that follow each other, as many a lane as one access can have. The choice
 * between two layouts that both suit needs no more.
 */
#include "tiling.h"

#include "banks.h"

#include "grout-internal/register_layout.h"

#define LANES         32 /* of a warp */
#define FRAGMENT_ROWS 8
#define RUN_BYTES     16 /* of a row of a fragment, and the widest access of a lane */

/* The byte of an element of a view, whose indices are counted in elements of the layout. */
static int64_t get_offset(const grout_module *module, const grout_view *view,
                          const int64_t *index) {
    int64_t at[GROUT_RANK_MAX] = {0};
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        at[dim] = view->start_const[dim] < 0 ? 0 : view->start_const[dim];
    }
    for (uint32_t k = 0; k < view->view_rank; k++) {
        at[view->view_dim[k]] += index[k];
    }
    return grout_layout_get_offset(grout_object_get_layout(module, view->object), at);
}

/* The last dimensions of a view that are longer than 1: the one along which elements lie side by
 * side is the first of them if the view is transposed. */
static uint32_t find_long_dims(const grout_view *view, uint32_t dims_out[2]) {
    uint32_t count = 0;
    for (uint32_t k = view->view_rank; k-- > 0 && count < 2;) {
        if (view->extent[view->view_dim[k]] > 1) {
            dims_out[count++] = k;
        }
    }
    return count;
}

/* Whether neighbours along a dimension of a view are neighbours in memory. */
static bool is_row(const grout_module *module, const grout_view *view, uint32_t dim) {
    const grout_layout *layout = grout_object_get_layout(module, view->object);
    int64_t index[GROUT_RANK_MAX] = {0};
    const int64_t first = get_offset(module, view, index);
    index[dim] = 1;
    return get_offset(module, view, index) - first == layout->element_bytes;
}

static uint32_t count_passes(const grout_bank_words *asked) {
    uint8_t in_bank[GROUT_BANKS];
    return grout_bank_words__count_passes(asked, in_bank);
}

/* 8 runs of 16 bytes, or of what there is. */
static uint32_t count_fragment(const grout_module *module, const grout_view *view,
                               const uint32_t dims[2]) {
    const uint32_t along = is_row(module, view, dims[0]) ? dims[0] : dims[1];
    const uint32_t across = along == dims[0] ? dims[1] : dims[0];
    const int64_t rows = view->extent[view->view_dim[across]];
    const int64_t bytes = view->extent[view->view_dim[along]] *
                          grout_object_get_layout(module, view->object)->element_bytes;
    grout_bank_words asked = {.count = 0};
    for (int64_t row = 0; row < FRAGMENT_ROWS && row < rows; row++) {
        int64_t index[GROUT_RANK_MAX] = {0};
        index[across] = row;
        grout_bank_words__add(&asked, get_offset(module, view, index),
                              bytes < RUN_BYTES ? bytes : RUN_BYTES);
    }
    return count_passes(&asked);
}

/* As many lanes as one pass can serve, each with neighbouring elements of the view. */
static uint32_t count_lanes(const grout_module *module, const grout_view *view) {
    const uint32_t size = grout_object_get_layout(module, view->object)->element_bytes;
    const uint32_t width = grout_view_get_access_width(module, view) / view->packed;
    const uint32_t bytes = width * size;
    const uint32_t lanes = bytes <= GROUT_BANK_BYTES ? LANES : LANES * GROUT_BANK_BYTES / bytes;
    grout_bank_words asked = {.count = 0};
    for (uint32_t lane = 0; lane < lanes; lane++) {
        int64_t index[GROUT_RANK_MAX] = {0};
        int64_t rest = (int64_t)lane * width;
        for (uint32_t k = view->view_rank; k-- > 0;) {
            const int64_t extent = view->extent[view->view_dim[k]];
            index[k] = rest % extent;
            rest /= extent;
        }
        if (rest == 0) {
            grout_bank_words__add(&asked, get_offset(module, view, index), bytes);
        }
    }
    return count_passes(&asked);
}

uint32_t grout_tiling__count_passes(const grout_module *module, const grout_view *view,
                                    bool is_fragment) {
    uint32_t dims[2];
    return is_fragment && find_long_dims(view, dims) == 2 ? count_fragment(module, view, dims)
                                                          : count_lanes(module, view);
}
