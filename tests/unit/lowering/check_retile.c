/* check_retile.c - the tile of an array with other dimensions, against all tiles that there are.
 * SPDX-License-Identifier: Apache-2.0 */
#include "lowering/layout.h"
#include "tests/tests.h"

#include <string.h>

#define DIMS_MAX 4

/* A small generator of our own: the same cases on every machine. */
static uint32_t pick(uint64_t *state, uint32_t below) {
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

static grout_layout_spec make_spec(uint64_t *state) {
    static const uint32_t widths[] = {0, 0, 32, 64};
    static const int64_t tiles[] = {1, 1, 2, 4, 3}, counts[] = {1, 2, 3, 4};
    grout_layout_spec spec = {.rank = (uint8_t)(1 + pick(state, DIMS_MAX)), .element_bytes = 8};
    spec.swizzle = widths[pick(state, 4)];
    spec.tile_rank = (uint8_t)pick(state, spec.rank + 1u);
    for (uint32_t dim = 0; dim < spec.rank; dim++) {
        const bool is_row = dim + 1u == spec.rank && spec.swizzle > 0;
        const bool is_tiled = dim + spec.tile_rank >= spec.rank;
        const int64_t tile = is_row     ? spec.swizzle / spec.element_bytes
                             : is_tiled ? tiles[pick(state, 5)]
                                        : 1;
        spec.dims[dim] = is_row && !is_tiled ? tile : tile * counts[pick(state, 4)];
        if (is_tiled) {
            spec.tile[dim + spec.tile_rank - spec.rank] = tile;
        }
    }
    return spec;
}

static int64_t count_elements(const grout_layout_spec *spec) {
    int64_t count = 1;
    for (uint32_t dim = 0; dim < spec->rank; dim++) {
        count *= spec->dims[dim];
    }
    return count;
}

/* Other dimensions of as many elements. */
static void change_dims(grout_layout_spec *spec, uint64_t *state) {
    int64_t left = count_elements(spec);
    spec->rank = 0;
    while (spec->rank + 1 < DIMS_MAX && pick(state, 4) != 0) {
        int64_t size = 1 + pick(state, 16);
        while (left % size != 0) {
            size--;
        }
        spec->dims[spec->rank++] = size;
        left /= size;
    }
    spec->dims[spec->rank++] = left;
}

static void split_index(const grout_layout_spec *spec, int64_t element, int64_t *index) {
    for (uint32_t dim = spec->rank; dim-- > 0;) {
        index[dim] = element % spec->dims[dim];
        element /= spec->dims[dim];
    }
}

static bool is_same(const grout_layout_spec *before, const grout_layout_spec *after) {
    const grout_layout old = grout_layout__make(before), made = grout_layout__make(after);
    for (int64_t element = 0; element < count_elements(before); element++) {
        int64_t from[GROUT_RANK_MAX], to[GROUT_RANK_MAX];
        split_index(before, element, from);
        split_index(after, element, to);
        if (grout_layout_get_offset(&old, from) != grout_layout_get_offset(&made, to)) {
            return false;
        }
    }
    return true;
}

/* Whether any tile keeps every element: the next one of all that divide, until there is no more. */
static bool has_tile(const grout_layout_spec *before, grout_layout_spec after) {
    const uint32_t last = after.rank - 1u;
    after.tile_rank = after.rank;
    for (uint32_t dim = 0; dim < after.rank; dim++) {
        after.tile[dim] = 1;
    }
    for (;;) {
        const bool fits =
            after.swizzle == 0 || after.tile[last] * after.element_bytes == (int64_t)after.swizzle;
        if (fits && is_same(before, &after)) {
            return true;
        }
        uint32_t dim = 0;
        for (; dim < after.rank; dim++) {
            do {
                after.tile[dim]++;
            } while (after.tile[dim] <= after.dims[dim] && after.dims[dim] % after.tile[dim] != 0);
            if (after.tile[dim] <= after.dims[dim]) {
                break;
            }
            after.tile[dim] = 1;
        }
        if (dim == after.rank) {
            return false;
        }
    }
}

TEST_EACH(every_tile_that_there_is_is_found, 4) {
    uint64_t state = (uint64_t)_i + 1;
    uint32_t found = 0, none = 0;
    for (uint32_t k = 0; k < 400; k++) {
        const grout_layout_spec before = make_spec(&state);
        grout_layout_spec after = before;
        change_dims(&after, &state);
        grout_layout_spec made = after;
        if (count_elements(&before) > 2048) {
            continue;
        }
        if (grout_layout__retile(&before, &made)) {
            ck_assert(is_same(&before, &made));
            found++;
        } else {
            ck_assert(!has_tile(&before, after));
            none++;
        }
    }
    ck_assert_uint_gt(found, 50);
    ck_assert_uint_gt(none, 50);
}
