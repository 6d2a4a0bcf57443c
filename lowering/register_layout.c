/* register_layout.c - facts of one register layout: its name, and which lane holds what.
 * SPDX-License-Identifier: Apache-2.0 */
#include "register_layouts.h"

#include "invariant.h"

#define WARP_ROWS 16 /* of each block of rows, of the WGMMA layout: 64 of four warps */

const char *grout_register_layout_get_text(grout_register_layout_kind kind) {
    static const char *const texts[] = {
        [GROUT_LAYOUT_NONE] = "none",
        [GROUT_LAYOUT_SPLAT] = "wg_splat",
        [GROUT_LAYOUT_STRIDED] = "wg_strided",
        [GROUT_LAYOUT_WGMMA] = "wgmma", /* by name: the layout's own, as Mosaic calls it */
        [GROUT_LAYOUT_WGMMA_8BIT] = "wgmma_8bit",
        [GROUT_LAYOUT_WGMMA_ROW] = "wgmma_row",
        [GROUT_LAYOUT_WGMMA_COL] = "wgmma_col",
        [GROUT_LAYOUT_WGMMA_TRANSPOSED] = "wgmma_transposed",
        [GROUT_LAYOUT_WGMMA_UPCAST_2X] = "wgmma_upcast_2x",
        [GROUT_LAYOUT_WGMMA_UPCAST_4X] = "wgmma_upcast_4x",
        [GROUT_LAYOUT_WGMMA_METADATA] = "wgmma_metadata",
        [GROUT_LAYOUT_WGMMA_METADATA_8BIT] = "wgmma_metadata_8bit",
        [GROUT_LAYOUT_MMA_LHS_32BIT] = "mma_lhs_32bit",
        [GROUT_LAYOUT_MMA_RHS_32BIT] = "mma_rhs_32bit",
        [GROUT_LAYOUT_MMA_RHS_16BIT] = "mma_rhs_16bit",
        [GROUT_LAYOUT_MMA_RHS_8BIT] = "mma_rhs_8bit",
        [GROUT_LAYOUT_TMEM] = "tmem",
        [GROUT_LAYOUT_TMEM_ROW] = "tmem_row",
        [GROUT_LAYOUT_TILED] = "tiled",
    };
    return texts[kind];
}

/* The row that a lane holds in its row register: two a block of 64 rows, 8 apart. */
static int64_t get_row(uint32_t warps, int64_t lane, int64_t row_register) {
    const int64_t block = (int64_t)warps * WARP_ROWS;
    return row_register / 2 * block + lane / 32 * 16 + row_register % 2 * 8 + lane % 32 / 4;
}

/* The column that a lane holds in its column register: two neighbours of each 8. */
static int64_t get_column(int64_t lane, int64_t column_register) {
    return column_register / 2 * 8 + lane % 4 * 2 + column_register % 2;
}

const grout_register_tiling *grout_register_layout_get_tiling(grout_register_layout_kind kind) {
    static const grout_register_tiling tilings[GROUT_LAYOUT_COUNT] = {
        [GROUT_LAYOUT_WGMMA] = {64,
                                8,
                                2,
                                1,
                                {{0, 2}, {0, 4}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}},
                                {{0, 1}, {8, 0}}},
        [GROUT_LAYOUT_WGMMA_8BIT] = {64,
                                     16,
                                     3,
                                     1,
                                     {{0, 4}, {0, 8}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}},
                                     {{0, 1}, {0, 2}, {8, 0}}},
        [GROUT_LAYOUT_WGMMA_TRANSPOSED] =
            {64,
             8,
             2,
             1,
             {{0, 2}, {0, 4}, {0, 1}, {2, 0}, {4, 0}, {16, 0}, {32, 0}},
             {{1, 0}, {8, 0}}},
        [GROUT_LAYOUT_WGMMA_UPCAST_2X] =
            {64,
             16,
             3,
             1,
             {{0, 8}, {0, 4}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}},
             {{0, 1}, {0, 2}, {8, 0}}},
        [GROUT_LAYOUT_WGMMA_UPCAST_4X] =
            {64,
             32,
             4,
             1,
             {{0, 8}, {0, 16}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}},
             {{0, 1}, {0, 2}, {0, 4}, {8, 0}}},
        [GROUT_LAYOUT_WGMMA_METADATA] =
            {64, 4, 1, 1, {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}}, {{8, 0}}},
        [GROUT_LAYOUT_WGMMA_METADATA_8BIT] =
            {64, 4, 1, 1, {{8, 0}, {0, 2}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}}, {{0, 1}}},
        [GROUT_LAYOUT_MMA_LHS_32BIT] = {64,
                                        8,
                                        2,
                                        1,
                                        {{0, 1}, {0, 2}, {1, 0}, {2, 0}, {4, 0}, {16, 0}, {32, 0}},
                                        {{8, 0}, {0, 4}}},
        [GROUT_LAYOUT_MMA_RHS_32BIT] =
            {8, 8, 1, 4, {{1, 0}, {2, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 0}, {0, 0}}, {{4, 0}}},
        [GROUT_LAYOUT_MMA_RHS_16BIT] = {16,
                                        8,
                                        2,
                                        4,
                                        {{2, 0}, {4, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 0}, {0, 0}},
                                        {{1, 0}, {8, 0}}},
        [GROUT_LAYOUT_MMA_RHS_8BIT] = {32,
                                       8,
                                       3,
                                       4,
                                       {{4, 0}, {8, 0}, {0, 1}, {0, 2}, {0, 4}, {0, 0}, {0, 0}},
                                       {{1, 0}, {2, 0}, {16, 0}}},
    };
    return tilings[kind].rows == 0 ? NULL : &tilings[kind];
}

static bool is_of_tmem(grout_register_layout_kind kind) {
    return kind == GROUT_LAYOUT_TMEM || kind == GROUT_LAYOUT_TMEM_ROW;
}

uint32_t grout_register_layout_get_block_rows(grout_register_layout_kind kind, uint32_t warps) {
    if (is_of_tmem(kind)) {
        return GROUT_LANES;
    }
    const grout_register_tiling *tiling = grout_register_layout_get_tiling(kind);
    return tiling != NULL && tiling->copies > 1 ? tiling->rows : WARP_ROWS * warps;
}

/* How many rows a tile of a layout has. */
static uint32_t get_tile_rows(const grout_register_layout *layout,
                              const grout_register_tiling *tiling) {
    return layout->kind == GROUT_LAYOUT_TILED
               ? tiling->rows
               : grout_register_layout_get_block_rows((grout_register_layout_kind)layout->kind,
                                                      layout->warps);
}

grout_register_layout_kind grout_register_layout_get_mma_left(uint32_t element_bytes) {
    return element_bytes == 1   ? GROUT_LAYOUT_WGMMA_8BIT
           : element_bytes == 2 ? GROUT_LAYOUT_WGMMA
                                : GROUT_LAYOUT_MMA_LHS_32BIT;
}

grout_register_layout_kind grout_register_layout_get_mma_right(uint32_t element_bytes) {
    return element_bytes == 1   ? GROUT_LAYOUT_MMA_RHS_8BIT
           : element_bytes == 2 ? GROUT_LAYOUT_MMA_RHS_16BIT
                                : GROUT_LAYOUT_MMA_RHS_32BIT;
}

/* Adds where the bits of a number lead. */
static void add_steps(const grout_register_step *steps, uint32_t count, uint32_t number,
                      int64_t *row, int64_t *column) {
    for (uint32_t bit = 0; bit < count; bit++) {
        *row += (int64_t)(number >> bit & 1) * steps[bit].row;
        *column += (int64_t)(number >> bit & 1) * steps[bit].col;
    }
}

static int64_t get_tiled_element(const grout_register_layout *layout, uint32_t lane,
                                 uint32_t index) {
    const grout_register_tiling *tiling = grout_register_layout_find_tiling(layout);
    const int64_t across = layout->cols / tiling->cols, tile = index >> tiling->register_bits;
    int64_t row = tile / across * get_tile_rows(layout, tiling),
            column = tile % across * tiling->cols;
    add_steps(tiling->lanes, 7, lane, &row, &column);
    add_steps(tiling->registers, tiling->register_bits, index, &row, &column);
    return row * layout->cols + column;
}

int64_t grout_register_layout_get_element(const grout_register_layout *layout, uint32_t lane,
                                          uint32_t register_index) {
    int64_t element = -1;
    const uint32_t lanes = grout_register_layout_get_lanes(layout);
    if (lane >= lanes || register_index >= layout->registers) {
        return -1;
    }
    switch ((grout_register_layout_kind)layout->kind) {
    case GROUT_LAYOUT_NONE:
    case GROUT_LAYOUT_COUNT:
        return -1;
    case GROUT_LAYOUT_SPLAT:
        return 0;
    case GROUT_LAYOUT_STRIDED:
        element = ((int64_t)(register_index / layout->vec) * lanes + lane) * layout->vec +
                  register_index % layout->vec;
        break;
    case GROUT_LAYOUT_WGMMA:
    case GROUT_LAYOUT_WGMMA_8BIT:
    case GROUT_LAYOUT_WGMMA_TRANSPOSED:
    case GROUT_LAYOUT_WGMMA_UPCAST_2X:
    case GROUT_LAYOUT_WGMMA_UPCAST_4X:
    case GROUT_LAYOUT_WGMMA_METADATA:
    case GROUT_LAYOUT_WGMMA_METADATA_8BIT:
    case GROUT_LAYOUT_TILED:
    case GROUT_LAYOUT_MMA_LHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_32BIT:
    case GROUT_LAYOUT_MMA_RHS_16BIT:
    case GROUT_LAYOUT_MMA_RHS_8BIT:
        element = get_tiled_element(layout, lane, register_index);
        break;
    case GROUT_LAYOUT_TMEM:
        element = (register_index / layout->cols * GROUT_LANES + lane) * layout->cols +
                  register_index % layout->cols;
        break;
    case GROUT_LAYOUT_TMEM_ROW:
        element = (int64_t)register_index * GROUT_LANES + lane;
        break;
    case GROUT_LAYOUT_WGMMA_ROW:
        element = get_row(layout->warps, lane, register_index);
        break;
    case GROUT_LAYOUT_WGMMA_COL:
        element = get_column(lane, register_index);
        break;
    }
    GROUT_ASSERT(element >= 0);
    return element < layout->count ? element : -1;
}

uint32_t grout_layout__get_wide_dims(const grout_type *type, uint32_t dims_out[2]) {
    uint32_t count = 0;
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        if (type->dims[dim] > 1) {
            if (count < 2) {
                dims_out[count] = dim;
            }
            count++;
        }
    }
    return count;
}

/* The layouts of tensor memory: each warp of four has its quarter of 128 rows. */
static grout_register_layout make_of_tmem(grout_register_layout layout, const grout_type *type) {
    uint32_t dims[2] = {0, 0};
    const uint32_t wide = grout_layout__get_wide_dims(type, dims);
    const bool is_matrix = layout.kind == GROUT_LAYOUT_TMEM;
    layout.rows = type->dims[dims[0]];
    layout.cols = is_matrix ? type->dims[dims[1]] : 1;
    layout.registers = (uint32_t)(layout.count / GROUT_LANES);
    if (wide != (is_matrix ? 2u : 1u) || layout.warps != GROUT_WARPS ||
        layout.rows % GROUT_LANES != 0) {
        return (grout_register_layout){.kind = GROUT_LAYOUT_NONE, .rows = 1, .cols = 1};
    }
    return layout;
}

grout_register_layout grout_register_layout_make(grout_register_layout_kind kind, uint32_t warps,
                                                 const grout_type *type) {
    const grout_register_layout none = {.kind = GROUT_LAYOUT_NONE, .rows = 1, .cols = 1};
    grout_register_layout layout = {.kind = (uint8_t)kind,
                                    .vec = 1,
                                    .warps = (uint8_t)warps,
                                    .count = grout_type_get_count(type),
                                    .rows = 1,
                                    .cols = 1};
    uint32_t dims[2];
    const uint32_t wide = grout_layout__get_wide_dims(type, dims);
    const grout_register_tiling *tiling = grout_register_layout_get_tiling(kind);
    if (is_of_tmem(kind)) {
        return make_of_tmem(layout, type);
    }
    if (tiling != NULL && wide == 2) {
        layout.rows = type->dims[dims[0]];
        layout.cols = type->dims[dims[1]];
        /* Copies are those of all warps. */
        layout.registers = (uint32_t)(layout.count / (tiling->copies > 1 ? 1 : warps) / 32);
    } else if (kind == GROUT_LAYOUT_WGMMA_ROW && wide == 1) {
        layout.rows = layout.count;
        layout.registers = (uint32_t)(layout.rows / 8 / warps);
    } else if (kind == GROUT_LAYOUT_WGMMA_COL && wide == 1) {
        layout.cols = layout.count;
        layout.registers = (uint32_t)(layout.cols / 4);
    } else {
        return none;
    }
    const bool has_rows = kind == GROUT_LAYOUT_WGMMA_COL ||
                          layout.rows % grout_register_layout_get_block_rows(kind, warps) == 0;
    const bool has_columns =
        kind == GROUT_LAYOUT_WGMMA_ROW || layout.cols % (tiling == NULL ? 8 : tiling->cols) == 0;
    return has_rows && has_columns ? layout : none;
}

uint32_t grout_register_tiling_get_copies(const grout_register_tiling *tiling) {
    uint32_t copies = 0;
    for (uint32_t bit = 0; bit < 7; bit++) {
        copies |= tiling->lanes[bit].row == 0 && tiling->lanes[bit].col == 0 ? 1u << bit : 0;
    }
    return copies;
}

static bool is_same_step(const grout_register_step *a, const grout_register_step *b) {
    return a->row == b->row && a->col == b->col;
}

bool grout_register_tiling__is_equal(const grout_register_tiling *a,
                                     const grout_register_tiling *b) {
    bool is_equal =
        a->rows == b->rows && a->cols == b->cols && a->register_bits == b->register_bits;
    for (uint32_t bit = 0; bit < 7; bit++) {
        is_equal = is_equal && is_same_step(&a->lanes[bit], &b->lanes[bit]);
    }
    for (uint32_t bit = 0; bit < a->register_bits; bit++) {
        is_equal = is_equal && is_same_step(&a->registers[bit], &b->registers[bit]);
    }
    return is_equal;
}

grout_register_layout_kind grout_register_tiling_get_kind(const grout_register_tiling *tiling) {
    for (uint32_t kind = 0; kind < GROUT_LAYOUT_TILED; kind++) {
        const grout_register_tiling *known =
            grout_register_layout_get_tiling((grout_register_layout_kind)kind);
        if (known != NULL && grout_register_tiling__is_equal(known, tiling)) {
            return (grout_register_layout_kind)kind;
        }
    }
    return GROUT_LAYOUT_TILED;
}

grout_register_layout grout_register_layout_make_tiled(const grout_register_tiling *tiling,
                                                       const grout_type *type) {
    const grout_register_layout none = {.kind = GROUT_LAYOUT_NONE, .rows = 1, .cols = 1};
    const grout_register_layout_kind kind = grout_register_tiling_get_kind(tiling);
    grout_register_layout layout = {.kind = GROUT_LAYOUT_TILED,
                                    .vec = 1,
                                    .warps = GROUT_WARPS,
                                    .count = grout_type_get_count(type),
                                    .rows = 1,
                                    .cols = 1,
                                    .tiling = tiling};
    uint32_t dims[2];
    const uint32_t wide = grout_layout__get_wide_dims(type, dims);
    if (kind != GROUT_LAYOUT_TILED) {
        return grout_register_layout_make(kind, GROUT_WARPS, type);
    }
    if (wide == 2) {
        layout.rows = type->dims[dims[0]];
        layout.cols = type->dims[dims[1]];
    } else if (wide == 1 && tiling->rows == 1) {
        layout.cols = layout.count;
    } else if (wide == 1 && tiling->cols == 1) {
        layout.rows = layout.count;
    } else {
        return none;
    }
    if (layout.rows % tiling->rows != 0 || layout.cols % tiling->cols != 0) {
        return none;
    }
    layout.registers = (uint32_t)(layout.rows / tiling->rows * (layout.cols / tiling->cols))
                       << tiling->register_bits;
    return layout;
}

/* Runs of vec elements, dealt out to the lanes of this many warps. */
static grout_register_layout make_runs(uint32_t warps, int64_t count, uint32_t vec) {
    const int64_t round = (int64_t)warps * GROUT_WARP_LANES * vec;
    const int64_t rounds = (count + round - 1) / round;
    return (grout_register_layout){.kind = GROUT_LAYOUT_STRIDED,
                                   .vec = (uint8_t)vec,
                                   .is_guarded = count % round != 0,
                                   .warps = (uint8_t)warps,
                                   .registers = (uint32_t)(rounds * vec),
                                   .count = count,
                                   .rows = 1,
                                   .cols = 1};
}

grout_register_layout grout_register_layout_make_strided(uint32_t warps, int64_t count,
                                                         uint32_t vec_max) {
    const int64_t lanes = (int64_t)warps * GROUT_WARP_LANES;
    GROUT_ASSERT(count >= 1 && (vec_max & (vec_max - 1)) == 0);
    uint32_t vec = vec_max == 0 ? 1 : vec_max;
    if (count % lanes == 0) {
        while (count % (lanes * vec) != 0) {
            vec /= 2;
        }
    } else {
        while (count % vec != 0) {
            vec /= 2;
        }
    }
    return make_runs(warps, count, vec);
}

grout_register_layout grout_register_layout_make_packed(uint32_t warps, int64_t count,
                                                        uint32_t vec_max) {
    const grout_register_layout layout = grout_register_layout_make_strided(warps, count, vec_max);
    return layout.vec == 1 && count % 2 == 0 ? make_runs(warps, count, 2) : layout;
}
