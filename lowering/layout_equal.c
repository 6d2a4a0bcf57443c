/* layout_equal.c - the tile and swizzle that a layout of the user's own is equal to.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"
#include "layout.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CORE_ROWS  8
#define CORE_BYTES 16

/* Advances an index in row-major order; false at the end. */
static bool advance(int64_t *index, const grout_type *type) {
    for (uint32_t dim = type->rank; dim-- > 0;) {
        if (++index[dim] < type->dims[dim]) {
            return true;
        }
        index[dim] = 0;
    }
    return false;
}

static bool is_equal(const grout_layout *a, const grout_layout *b, const grout_type *type) {
    int64_t index[GROUT_RANK_MAX] = {0};
    do {
        if (grout_layout_get_offset(a, index) != grout_layout_get_offset(b, index)) {
            return false;
        }
    } while (advance(index, type));
    return true;
}

/* Tiles of 8 rows as wide as the swizzle, or as a core matrix. Whether they divide the array. */
static bool fill_spec(const grout_type *type, uint32_t swizzle, bool is_turned,
                      grout_layout_spec *spec) {
    const uint8_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    *spec = (grout_layout_spec){.rank = type->rank,
                                .element_bytes = bytes,
                                .tile_rank = 2,
                                .has_transpose = is_turned,
                                .swizzle = swizzle,
                                .tile = {CORE_ROWS, (swizzle == 0 ? CORE_BYTES : swizzle) / bytes}};
    memcpy(spec->dims, type->dims, sizeof spec->dims);
    for (uint8_t k = 0; k < type->rank; k++) {
        spec->permutation[k] = k;
    }
    if (is_turned) {
        spec->permutation[type->rank - 1u] = (uint8_t)(type->rank - 2u);
        spec->permutation[type->rank - 2u] = (uint8_t)(type->rank - 1u);
    }
    const int64_t rows = type->dims[spec->permutation[type->rank - 2u]];
    const int64_t cols = type->dims[spec->permutation[type->rank - 1u]];
    return rows % CORE_ROWS == 0 && cols % spec->tile[1] == 0;
}

static void help(grout_diags *diags, const grout_layout_spec *spec) {
    char swizzle[32] = "", transpose[32] = "";
    if (spec->swizzle != 0) {
        snprintf(swizzle, sizeof swizzle, " swizzle(%" PRIu32 ")", spec->swizzle);
    }
    if (spec->has_transpose) {
        snprintf(transpose, sizeof transpose, " transpose(1, 0)");
    }
    grout_diags_help(diags, "it is equal to tile(%d, %" PRId64 ")%s%s: write that instead",
                     CORE_ROWS, spec->tile[1], swizzle, spec->rank == 2 ? transpose : "");
}

void grout_layout__help_equal(const grout_module *module, grout_object_id object,
                              grout_diags *diags, const char *text) {
    static const uint32_t swizzles[] = {128, 64, 32, 0};
    const grout_layout *layout = grout_object_get_layout(module, object);
    const grout_type *type = grout_object_get_type(module, object);
    for (uint32_t k = 0; k < 8 && type->rank >= 2 && (k < 4 || type->rank == 2); k++) {
        grout_layout_spec spec;
        if (!fill_spec(type, swizzles[k % 4], k >= 4, &spec)) {
            continue;
        }
        const grout_layout made = grout_layout__make(&spec);
        if (made.bytes == layout->bytes && is_equal(&made, layout, type)) {
            help(diags, &spec);
            return;
        }
    }
    grout_diags_help(diags, "%s", text);
}
