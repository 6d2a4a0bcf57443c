/*
 * tmem_cells.c - the cells of tensor memory that the elements of an array are in.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A cell is a column of 32 bits of one lane. The bytes of an array and of its aliases go lane by
 * lane, all columns of the array beside each other, so that two of them share the bytes whose cells
 * they share. Nobody can tell where an array lies that has no alias: its bytes go row by row.
 */
#include "tmem.h"

#include "invariant.h"
#include "type.h"

enum { LANES = GROUT_TMEM_LANES, QUARTER = 32, HALF_QUARTER = 16 };

static void add_digit(grout_layout *layout, uint32_t dim, int64_t divisor, int64_t extent,
                      int64_t stride) {
    const uint32_t last = layout->tiled_rank;
    if (extent == 1) {
        return;
    }
    GROUT_ASSERT(last < 2 * GROUT_RANK_MAX);
    layout->dim[last] = (uint8_t)dim;
    layout->divisor[last] = divisor;
    layout->extent[last] = extent;
    layout->stride[last] = stride;
    layout->tiled_rank++;
}

/* The slots lie beside each other, each of this many bytes of a lane. */
static void add_slots(grout_layout *layout, const grout_type *type, int64_t bytes) {
    const uint32_t slot_dims = type->rank - 2u;
    int64_t strides[GROUT_RANK_MAX];
    for (uint32_t dim = slot_dims; dim-- > 0;) {
        strides[dim] = bytes;
        bytes *= type->dims[dim];
    }
    for (uint32_t dim = 0; dim < slot_dims; dim++) {
        add_digit(layout, dim, 1, type->dims[dim], strides[dim]);
    }
}

/* Scale [r, c] of this many rows, of the first quarter of the lanes: byte c % 4 of column r / 32 of
 * the group c / 4, in lane r % 32. The other quarters have the same. Split ones begin again in the
 * third quarter with row 128, and the second and the fourth have the same as those before. */
static void add_scales(grout_layout *layout, const grout_type *type, bool is_split, int64_t pitch) {
    const uint32_t row = type->rank - 2u, column = row + 1;
    const int64_t halves = is_split ? 2 : 1, blocks = type->dims[row] / halves / QUARTER;
    add_digit(layout, row, LANES, halves, LANES / 2 * pitch);
    add_digit(layout, row, QUARTER, blocks, GROUT_TMEM_CELL_BYTES);
    add_digit(layout, row, 1, QUARTER, pitch);
    add_slots(layout, type, blocks * type->dims[column]);
    add_digit(layout, column, GROUT_TMEM_SCALES_STEP, type->dims[column] / GROUT_TMEM_SCALES_STEP,
              blocks * GROUT_TMEM_CELL_BYTES);
    add_digit(layout, column, 1, GROUT_TMEM_SCALES_STEP, 1);
}

/* Elements that fill their columns. 64 rows have two halves of the columns: in the 16 lanes beside
 * each other of each 32, or, of a pair's array, in the upper 64 lanes. */
static void add_matrix(grout_layout *layout, const grout_type *type, bool is_of_pair,
                       int64_t pitch) {
    const uint32_t row = type->rank - 2u, column = row + 1;
    const int64_t rows = type->dims[row];
    const int64_t halves = LANES / rows, half = type->dims[column] / halves;
    if (is_of_pair) {
        add_digit(layout, column, half, halves, rows * pitch);
        add_digit(layout, row, 1, rows, pitch);
    } else if (halves > 1) {
        add_digit(layout, row, HALF_QUARTER, rows / HALF_QUARTER, QUARTER * pitch);
        add_digit(layout, column, half, halves, HALF_QUARTER * pitch);
        add_digit(layout, row, 1, HALF_QUARTER, pitch);
    } else {
        add_digit(layout, row, 1, rows, pitch);
    }
    add_slots(layout, type, half * layout->element_bytes);
    add_digit(layout, column, 1, half, layout->element_bytes);
}

int64_t grout_tmem__get_pitch(const grout_module *module, grout_object_id id) {
    return grout_tmem__count_columns(module, grout_object_get_root(module, id)) *
           GROUT_TMEM_CELL_BYTES;
}

grout_layout grout_tmem__make_cells(const grout_module *module, grout_object_id id) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_type *type = grout_object_get_type(module, id);
    const int64_t pitch = grout_tmem__get_pitch(module, id);
    grout_layout layout = {.rank = type->rank,
                           .element_bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes,
                           .chunk = UINT32_MAX,
                           .period = 1};
    if (object->is_scales) {
        add_scales(&layout, type, object->is_split, pitch);
    } else {
        add_matrix(&layout, type, object->is_collective, pitch);
    }
    layout.bytes =
        (LANES - 1) * pitch + grout_tmem__count_columns(module, id) * GROUT_TMEM_CELL_BYTES;
    return layout;
}

int64_t grout_tmem__get_column(const grout_module *module, grout_object_id id) {
    const int64_t first = grout_object_get_offset(module, grout_object_get_root(module, id));
    return first / GROUT_TMEM_COLUMN_BYTES +
           (grout_object_get_offset(module, id) - first) / GROUT_TMEM_CELL_BYTES;
}
