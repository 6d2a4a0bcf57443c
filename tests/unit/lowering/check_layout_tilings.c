/* check_layout_tilings.c - which lane holds what in the register layouts of tiles, and of runs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/register_layout.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* As the documentation of Pallas' Mosaic GPU has them: the lane and the register of each element.
 */
static int64_t get_lane(grout_register_layout_kind kind, int64_t r, int64_t c) {
    const int64_t warp = r % 64 / 16 * 32;
    switch ((int)kind) {
    case GROUT_LAYOUT_WGMMA_TRANSPOSED:
        return warp + 8 * (r % 8 / 2) + 4 * (c % 2) + c % 8 / 2;
    case GROUT_LAYOUT_WGMMA_UPCAST_2X:
        return warp + 4 * (r % 8) + 2 * (c % 8 / 4) + c % 16 / 8;
    default:
        return warp + 4 * (r % 8) + c % 32 / 8;
    }
}

static int64_t get_register(grout_register_layout_kind kind, int64_t r, int64_t c, int64_t cols) {
    const int64_t width = kind == GROUT_LAYOUT_WGMMA_TRANSPOSED  ? 8
                          : kind == GROUT_LAYOUT_WGMMA_UPCAST_2X ? 16
                                                                 : 32;
    const int64_t run = width / 4, group = (r / 64 * (cols / width) + c / width) * 2 + r % 16 / 8;
    return group * run + (kind == GROUT_LAYOUT_WGMMA_TRANSPOSED ? r % 2 : c % run);
}

TEST_EACH(tiled_layouts_are_those_of_mosaic, 3) {
    const grout_register_layout_kind kind =
        (grout_register_layout_kind)(GROUT_LAYOUT_WGMMA_TRANSPOSED + _i);
    const grout_type type = {.kind = GROUT_TYPE_ARRAY, .rank = 3, .dims = {128, 1, 96}};
    const grout_type narrow = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {64, 8 << _i >> 1}};
    const grout_register_layout layout = grout_register_layout_make(kind, GROUT_WARPS, &type);
    const int64_t elements = (int64_t)128 * 96;
    int64_t faults = 0;
    ck_assert_uint_eq(layout.kind, kind);
    ck_assert_int_eq((int64_t)layout.registers * GROUT_LANES, elements);
    for (int64_t i = 0; i < elements; i++) {
        const int64_t lane = get_lane(kind, i / 96, i % 96);
        const int64_t reg = get_register(kind, i / 96, i % 96, 96);
        faults += grout_register_layout_get_element(&layout, (uint32_t)lane, (uint32_t)reg) != i;
    }
    ck_assert_int_eq(faults, 0);
    ck_assert_uint_eq(grout_register_layout_make(kind, GROUT_WARPS, &narrow).kind,
                      GROUT_LAYOUT_NONE);
}

/* Rows of tensor memory: lane r % 128 has row r, its registers the columns. */
TEST(a_lane_has_rows_of_tensor_memory) {
    const grout_type type = {.kind = GROUT_TYPE_ARRAY, .rank = 3, .dims = {256, 1, 12}};
    const grout_type row = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {256, 1}};
    const grout_type low = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {64, 12}};
    const grout_register_layout all =
        grout_register_layout_make(GROUT_LAYOUT_TMEM, GROUT_WARPS, &type);
    const grout_register_layout rows =
        grout_register_layout_make(GROUT_LAYOUT_TMEM_ROW, GROUT_WARPS, &row);
    ck_assert_uint_eq(all.registers, 24);
    ck_assert_uint_eq(rows.registers, 2);
    for (uint32_t r = 0; r < 256; r++) {
        ck_assert_int_eq(grout_register_layout_get_element(&rows, r % 128, r / 128), r);
        for (uint32_t c = 0; c < 12; c++) {
            ck_assert_int_eq(grout_register_layout_get_element(&all, r % 128, r / 128 * 12 + c),
                             r * 12 + c);
        }
    }
    ck_assert_int_eq(grout_register_layout_get_element(&all, 0, 24), -1);
    ck_assert_uint_eq(grout_register_layout_make(GROUT_LAYOUT_TMEM, GROUT_WARPS, &low).kind,
                      GROUT_LAYOUT_NONE);
    ck_assert_uint_eq(grout_register_layout_make(GROUT_LAYOUT_TMEM, 1, &type).kind,
                      GROUT_LAYOUT_NONE);
    ck_assert_uint_eq(grout_register_layout_make(GROUT_LAYOUT_TMEM, GROUT_WARPS, &row).kind,
                      GROUT_LAYOUT_NONE);
    ck_assert_uint_eq(grout_register_layout_make(GROUT_LAYOUT_TMEM_ROW, GROUT_WARPS, &type).kind,
                      GROUT_LAYOUT_NONE);
}

/* An mma's a of 32-bit elements and its b, as PTX has the fragments of mma.m16n8k8, k16 and k32. */
static const struct {
    grout_register_layout_kind kind;
    int64_t rows, per_word; /* of a tile, which has 8 columns; elements in 4 bytes */
    int64_t wrong_rows, wrong_cols;
} fragments[] = {{GROUT_LAYOUT_MMA_LHS_32BIT, 64, 1, 32, 4},
                 {GROUT_LAYOUT_MMA_RHS_32BIT, 8, 1, 4, 4},
                 {GROUT_LAYOUT_MMA_RHS_16BIT, 16, 2, 8, 4},
                 {GROUT_LAYOUT_MMA_RHS_8BIT, 32, 4, 16, 4}};

/* The lane in each warp that has it, and the register. */
static int64_t get_fragment_lane(int64_t which, int64_t r, int64_t c) {
    const int64_t e = fragments[which].per_word;
    return which == 0 ? r % 64 / 16 * 32 + r % 8 * 4 + c % 4 : c % 8 * 4 + r % (4 * e) / e;
}

static int64_t get_fragment_register(int64_t which, int64_t r, int64_t c, int64_t cols) {
    const int64_t e = fragments[which].per_word, rows = fragments[which].rows;
    const int64_t tile = r / rows * (cols / 8) + c / 8;
    return which == 0 ? tile * 4 + c % 8 / 4 * 2 + r % 16 / 8
                      : tile * 2 * e + r % (8 * e) / (4 * e) * e + r % e;
}

TEST_EACH(mma_layouts_are_the_fragments, 4) {
    const grout_type type = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {128, 24}};
    const grout_type low = {.kind = GROUT_TYPE_ARRAY,
                            .rank = 2,
                            .dims = {fragments[_i].rows, fragments[_i].wrong_cols}};
    const grout_type narrow = {
        .kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {fragments[_i].wrong_rows, 8}};
    const grout_type least = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {fragments[_i].rows, 8}};
    const grout_register_layout layout =
        grout_register_layout_make(fragments[_i].kind, GROUT_WARPS, &type);
    const int64_t copies = _i == 0 ? 1 : 4;
    int64_t faults = 0;
    ck_assert_uint_eq(layout.kind, fragments[_i].kind);
    ck_assert_int_eq((int64_t)layout.registers * GROUT_LANES, INT64_C(128) * 24 * copies);
    ck_assert_int_eq(grout_register_layout_is_whole_in_warps(&layout), copies == 4);
    for (int64_t i = 0; i < INT64_C(128) * 24; i++) {
        const int64_t reg = get_fragment_register(_i, i / 24, i % 24, 24);
        for (int64_t copy = 0; copy < copies; copy++) {
            const int64_t lane = copy * 32 + get_fragment_lane(_i, i / 24, i % 24);
            faults +=
                grout_register_layout_get_element(&layout, (uint32_t)lane, (uint32_t)reg) != i;
        }
    }
    ck_assert_int_eq(faults, 0);
    ck_assert_uint_eq(grout_register_layout_make(fragments[_i].kind, GROUT_WARPS, &least).kind,
                      fragments[_i].kind);
    ck_assert_uint_eq(grout_register_layout_make(fragments[_i].kind, GROUT_WARPS, &low).kind,
                      GROUT_LAYOUT_NONE);
    ck_assert_uint_eq(grout_register_layout_make(fragments[_i].kind, GROUT_WARPS, &narrow).kind,
                      GROUT_LAYOUT_NONE);
}

/* With fewer warps a lane's registers hold what those of the same lane hold with four, but that a
 * block of 64 rows has 16 of each warp that there is. */
TEST_EACH(fewer_warps_have_smaller_blocks, 2 * (GROUT_LAYOUT_TMEM - GROUT_LAYOUT_WGMMA)) {
    const grout_register_layout_kind kind =
        (grout_register_layout_kind)(_i / 2 + GROUT_LAYOUT_WGMMA);
    const uint32_t warps = 1 + (uint32_t)_i % 2, lanes = 32 * warps;
    const bool is_row = kind == GROUT_LAYOUT_WGMMA_ROW, is_col = kind == GROUT_LAYOUT_WGMMA_COL;
    const bool has_copies = kind >= GROUT_LAYOUT_MMA_RHS_32BIT || is_col;
    const int64_t block = has_copies ? 64 : 16 * (int64_t)warps, cols = is_row ? 1 : 32;
    const grout_type type = {
        .kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {is_col ? 1 : 3 * block, cols}};
    const grout_type whole = {
        .kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {is_col ? 1 : 192, cols}};
    const grout_type wrong = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {block + block / 2, 31}};
    const grout_register_layout it = grout_register_layout_make(kind, warps, &type);
    const grout_register_layout four = grout_register_layout_make(kind, GROUT_WARPS, &whole);
    int64_t faults = 0;
    ck_assert_uint_eq(it.kind, kind);
    ck_assert_uint_eq(it.registers, four.registers);
    ck_assert_uint_eq(grout_register_layout_get_lanes(&it), lanes);
    for (uint32_t i = 0; i < lanes * it.registers; i++) {
        const uint32_t lane = i % lanes, reg = i / lanes;
        const int64_t other = grout_register_layout_get_element(&four, lane, reg);
        const int64_t row = other / cols / 64 * block + other / cols % 64;
        faults += grout_register_layout_get_element(&it, lane, reg) != row * cols + other % cols;
    }
    ck_assert_int_eq(faults, 0);
    ck_assert_int_eq(grout_register_layout_get_element(&it, lanes, 0), -1);
    ck_assert_uint_eq(grout_register_layout_make(kind, warps, &wrong).kind, GROUT_LAYOUT_NONE);
}

/* How many registers of the layout hold no element; every element is held once. */
static int64_t check_strided(const grout_register_layout *layout, int64_t count) {
    static unsigned char held[3000];
    const uint32_t lanes = grout_register_layout_get_lanes(layout);
    int64_t behind = 0, faults = 0;
    memset(held, 0, sizeof held);
    for (uint32_t k = 0; k < lanes * layout->registers; k++) {
        const uint32_t lane = k % lanes, reg = k / lanes;
        const int64_t flat =
            ((int64_t)(reg / layout->vec) * lanes + lane) * layout->vec + reg % layout->vec;
        faults +=
            grout_register_layout_get_element(layout, lane, reg) != (flat < count ? flat : -1);
        behind += flat >= count;
        if (flat < count) {
            held[flat]++;
        }
    }
    for (int64_t k = 0; k < count; k++) {
        faults += held[k] != 1;
    }
    ck_assert_int_eq(faults, 0);
    return behind;
}

/* By threads of one, two and four warps. */
TEST_EACH(strided_layouts_hold_each_element_once, 3) {
    for (int64_t count = 1; count < 3000; count += 37) {
        for (uint32_t vec = 1; vec <= 16; vec *= 2) {
            const grout_register_layout layout =
                grout_register_layout_make_strided(1u << _i, count, vec);
            ck_assert(layout.is_guarded == (check_strided(&layout, count) > 0));
            ck_assert(layout.vec <= vec && count % layout.vec == 0);
            const grout_register_layout packed =
                grout_register_layout_make_packed(1u << _i, count, vec);
            ck_assert(packed.is_guarded == (check_strided(&packed, count) > 0));
            ck_assert(packed.vec == (layout.vec == 1 && count % 2 == 0 ? 2 : layout.vec));
        }
    }
}
