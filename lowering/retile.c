/* retile.c - the tile of an array that is seen with other dimensions.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A tiled array is a row-major number of digits: each dimension has one that counts tiles and,
 * below it, one that counts the elements of a tile. Memory has those of tiles first, then those of
 * elements. Other dimensions cut the same number elsewhere. They have a tile of their own if each
 * of them is a number of elements below a number of tiles again.
 */
#include "invariant.h"
#include "layout.h"

#include <string.h>

#define DIGITS_MAX (2 * GROUT_RANK_MAX)

/* Digits of the row-major number, the innermost first. Neighbours of one kind are one. */
typedef struct digits {
    uint32_t count;
    int64_t extent[DIGITS_MAX];
    bool is_in_tile[DIGITS_MAX];
} digits;

static void push(digits *all, int64_t extent, bool is_in_tile) {
    if (extent == 1) {
        return;
    }
    if (all->count > 0 && all->is_in_tile[all->count - 1] == is_in_tile) {
        all->extent[all->count - 1] *= extent;
        return;
    }
    GROUT_ASSERT(all->count < DIGITS_MAX);
    all->extent[all->count] = extent;
    all->is_in_tile[all->count++] = is_in_tile;
}

/* The elements of a tile along a dimension. Tiles that follow each other as rows do are none; then
 * the rows that a swizzle needs are the tiles. */
static int64_t get_tile(const grout_layout_spec *spec, bool is_plain, uint32_t dim) {
    const uint32_t first_tiled = (uint32_t)spec->rank - spec->tile_rank;
    if (is_plain) {
        return dim + 1u == spec->rank && spec->swizzle > 0 ? spec->swizzle / spec->element_bytes
                                                           : 1;
    }
    return dim < first_tiled ? 1 : spec->tile[dim - first_tiled];
}

static digits list_digits(const grout_layout_spec *spec) {
    grout_layout layout = grout_layout__make(spec);
    layout.swizzle = 0;
    const bool is_plain = grout_layout_is_plain(&layout);
    digits all = {0};
    for (uint32_t dim = spec->rank; dim-- > 0;) {
        const int64_t tile = get_tile(spec, is_plain, dim);
        push(&all, tile, true);
        push(&all, spec->dims[dim] / tile, false);
    }
    return all;
}

/* Takes the inner digits for a dimension of this many elements; false if it is not made of digits,
 * or would have elements of a tile above tiles. */
static bool take(digits *all, uint32_t *at, int64_t elements, int64_t *tile_out) {
    bool has_tiles = false;
    *tile_out = 1;
    while (elements > 1) {
        GROUT_ASSERT(*at < all->count);
        const int64_t left = all->extent[*at];
        const int64_t taken = elements % left == 0 ? left : elements;
        if (left % taken != 0 || (all->is_in_tile[*at] && has_tiles)) {
            return false;
        }
        has_tiles = !all->is_in_tile[*at];
        *tile_out *= has_tiles ? 1 : taken;
        elements /= taken;
        all->extent[*at] /= taken;
        *at += all->extent[*at] == 1 ? 1u : 0u;
    }
    return true;
}

bool grout_layout__retile(const grout_layout_spec *before, grout_layout_spec *after) {
    int64_t tile[GROUT_RANK_MAX];
    uint32_t at = 0, first = 0;
    GROUT_ASSERT(!before->has_transpose && !before->is_custom);
    digits all = list_digits(before);
    for (uint32_t dim = after->rank; dim-- > 0;) {
        if (!take(&all, &at, after->dims[dim], &tile[dim])) {
            return false;
        }
    }
    while (first < after->rank && tile[first] == 1) {
        first++;
    }
    after->tile_rank = (uint8_t)(after->rank - first);
    memset(after->tile, 0, sizeof after->tile);
    memcpy(after->tile, tile + first, after->tile_rank * sizeof *tile);
    return before->swizzle == 0 ||
           (first < after->rank &&
            tile[after->rank - 1u] * after->element_bytes == (int64_t)after->swizzle);
}
