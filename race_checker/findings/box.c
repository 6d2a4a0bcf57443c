/*
 * box.c - bytes of an object as a box of its elements.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "box.h"

enum { CHUNK = 16 /* bytes that a swizzle keeps together */ };

/* Widens the box by the element that holds the byte: the inverse of grout_layout_get_offset. */
static void widen(grout_box *box, const grout_layout *layout, int64_t offset) {
    int64_t index[GROUT_RANK_MAX] = {0};
    grout_layout_get_index(layout, offset, index);
    for (uint32_t i = 0; i < box->rank; i++) {
        box->low[i] = index[i] < box->low[i] ? index[i] : box->low[i];
        box->high[i] = index[i] + 1 > box->high[i] ? index[i] + 1 : box->high[i];
    }
}

/* Rows of a plain layout: the corners of a piece say all; of any other, each chunk or, of a user's
 * own, each element. */
static void widen_by_piece(grout_box *box, const grout_layout *layout, int64_t first,
                           int64_t length) {
    bool is_plain = grout_layout_is_plain(layout);
    int64_t row = is_plain ? length : layout->is_custom ? layout->element_bytes : CHUNK;
    if (is_plain && layout->tiled_rank > 0) {
        row = layout->stride[layout->tiled_rank - 1] * layout->extent[layout->tiled_rank - 1];
    }
    for (int64_t at = first; at < first + length; at = (at / row + 1) * row) {
        int64_t end = (at / row + 1) * row;
        widen(box, layout, at);
        widen(box, layout, (end < first + length ? end : first + length) - 1);
    }
}

grout_box grout_box__from_runs(const grout_module *module, grout_object_id object,
                               const grout_run *runs, uint32_t run_count) {
    const grout_layout *layout = grout_object_get_layout(module, object);
    grout_box box = {.object = object, .rank = layout->rank};
    GROUT_ASSERT(object != 0 && layout->rank <= GROUT_RANK_MAX);
    for (uint32_t i = 0; i < box.rank; i++) {
        box.low[i] = INT64_MAX;
    }
    for (uint32_t i = 0; i < run_count; i++) {
        for (int64_t k = 0; k < runs[i].count; k++) {
            int64_t first = runs[i].base + k * runs[i].stride;
            if (first >= 0 && first + runs[i].length <= layout->bytes) {
                widen_by_piece(&box, layout, first, runs[i].length);
            }
        }
    }
    for (uint32_t i = 0; i < box.rank; i++) {
        if (box.high[i] <= box.low[i]) {
            box.object = 0;
        }
    }
    if (box.object != 0 && box.rank > 0) { /* all elements that a byte has */
        const grout_type *type = grout_object_get_type(module, object);
        const uint8_t packed = grout_type_get_packed(type);
        box.low[box.rank - 1] *= packed;
        box.high[box.rank - 1] *= packed;
    }
    return box;
}
