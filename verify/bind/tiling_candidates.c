/*
 * tiling_candidates.c - the tiles and swizzles that are tried for an array in 'tile(infer)'.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Rows, without a tile, come first: where they are as good as anything else, nothing is done. Then
 * tiles as wide as a swizzle, of 128, 64 and 32 bytes, and of 16 without one. They are 8 rows high,
 * as the core matrices of the tensor core; then as high as a box that some use takes, so that TMA
 * brings it at once. Where the rows of the array are as wide as a tile, tiles of any height are the
 * same layout as no tile at all, and that has no tile for a slice to cut through.
 */
#include "tiling.h"

#include "invariant.h"

#include <string.h>

#define CORE_ROWS      8
#define CORE_BYTES     16   /* of a row without a swizzle */
#define SWIZZLE_PERIOD 1024 /* bytes: where an alias with a swizzle can start */
#define HEIGHTS_MAX    12
#define WIDTHS         4

typedef struct heights {
    uint32_t count;
    int64_t items[HEIGHTS_MAX];
} heights;

/* The dimension of the array that is stored as the last but k. */
static uint32_t get_stored_dim(const grout_layout_spec *rows, uint32_t k) {
    const uint32_t stored = rows->rank - 1u - k;
    return rows->has_transpose ? rows->permutation[stored] : stored;
}

static void add_height(heights *list, int64_t height) {
    for (uint32_t k = 0; k < list->count; k++) {
        if (list->items[k] == height) {
            return;
        }
    }
    if (list->count < HEIGHTS_MAX) {
        list->items[list->count++] = height;
    }
}

/* 8 rows, then those of the boxes of the uses, then all rows of the array. */
static heights find_heights(const grout_tiling_search *search) {
    const grout_module *module = search->binding->module;
    heights list = {.count = 1, .items = {CORE_ROWS}};
    if (search->rows.rank < 2) {
        return list;
    }
    const uint32_t dim = get_stored_dim(&search->rows, 1);
    for (size_t i = 0; i < search->uses.count; i++) {
        const grout_tiling_use *use = &search->uses.items[i];
        grout_view view;
        if (grout_module_get_view(module,
                                  grout_module_get_operand(
                                      module, grout_module_get_op(module, use->op), use->operand),
                                  &view) &&
            view.object == search->object && view.extent[dim] > 1) {
            add_height(&list, view.extent[dim]);
        }
    }
    add_height(&list, search->rows.dims[dim]);
    return list;
}

static uint8_t find_fault(const grout_tiling_search *search, const grout_tiling *tiling) {
    const grout_layout_spec *rows = &search->rows;
    const grout_module *module = search->binding->module;
    const grout_object *object = grout_module_get_object(module, search->object);
    const uint8_t packed = grout_object__get_packed(object);
    const int64_t start = object->alias_start == 0
                              ? 0
                              : search->binding->bound->expr_values[object->alias_start].integer;
    if (tiling->rank > rows->rank) {
        return GROUT_TILING_NO_RANK;
    }
    for (uint32_t k = 0; k < tiling->rank; k++) {
        const int64_t size = tiling->tile[tiling->rank - 1u - k] / (k == 0 ? packed : 1);
        if (rows->dims[get_stored_dim(rows, k)] % size != 0) {
            return GROUT_TILING_NO_ROWS;
        }
    }
    return object->alias != 0 && tiling->swizzle != 0 && start % SWIZZLE_PERIOD != 0
               ? GROUT_TILING_UNALIGNED
               : GROUT_TILING_FINE;
}

static void add_candidate(grout_tiling_search *search, const grout_tiling *tiling, bool is_height) {
    const uint8_t fault = find_fault(search, tiling);
    if (search->count == GROUT_TILINGS_MAX || (is_height && fault != GROUT_TILING_FINE)) {
        return;
    }
    search->possible |= (uint64_t)(fault == GROUT_TILING_FINE) << search->count;
    search->candidates[search->count++] =
        (grout_tiling_candidate){.tiling = *tiling, .fault = fault, .is_height = is_height};
}

/* Tiles of one width, or the rows of the array if they have it. */
static void add_width(grout_tiling_search *search, uint32_t bytes, const heights *list) {
    const grout_layout_spec *rows = &search->rows;
    const grout_object *object = grout_module_get_object(search->binding->module, search->object);
    const uint8_t packed = grout_object__get_packed(object);
    const int64_t width = bytes / rows->element_bytes;
    grout_tiling tiling = {.swizzle = bytes == CORE_BYTES ? 0 : bytes};
    if (rows->rank > 0 && rows->dims[get_stored_dim(rows, 0)] == width) {
        if (tiling.swizzle != 0) {
            add_candidate(search, &tiling, false);
        }
        return;
    }
    tiling.rank = 2;
    tiling.tile[1] = width * packed;
    for (uint32_t k = 0; k < list->count; k++) {
        tiling.tile[0] = list->items[k];
        add_candidate(search, &tiling, k > 0);
    }
}

void grout_tiling__add_candidates(grout_tiling_search *search) {
    static const uint32_t widths[WIDTHS] = {128, 64, 32, CORE_BYTES};
    const grout_module *module = search->binding->module;
    const grout_object *object = grout_module_get_object(module, search->object);
    const int64_t wanted =
        object->swizzle == 0 ? 0 : search->binding->bound->expr_values[object->swizzle].integer;
    const heights list = find_heights(search);
    GROUT_ASSERT(1 + WIDTHS * HEIGHTS_MAX <= GROUT_TILINGS_MAX);
    if (wanted == 0) {
        add_candidate(search, &(grout_tiling){.rank = 0}, false);
    }
    for (uint32_t k = 0; k < WIDTHS; k++) {
        if (wanted == 0 || wanted == widths[k]) {
            add_width(search, widths[k], &list);
        }
    }
}
