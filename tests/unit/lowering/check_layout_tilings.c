/* check_layout_tilings.c - which lane holds what in the register layouts of tiles.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/register_layout.h"

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

START_TEST(tiled_layouts_are_those_of_mosaic) {
    const grout_register_layout_kind kind =
        (grout_register_layout_kind)(GROUT_LAYOUT_WGMMA_TRANSPOSED + _i);
    const grout_type type = {.kind = GROUT_TYPE_ARRAY, .rank = 3, .dims = {128, 1, 96}};
    const grout_type narrow = {.kind = GROUT_TYPE_ARRAY, .rank = 2, .dims = {64, 8 << _i >> 1}};
    const grout_register_layout layout = grout_register_layout_make(kind, &type);
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
    ck_assert_uint_eq(grout_register_layout_make(kind, &narrow).kind, GROUT_LAYOUT_NONE);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("layout_tilings");
    TCase *tcase = tcase_create("layout_tilings");
    tcase_add_loop_test(tcase, tiled_layouts_are_those_of_mosaic, 0, 3);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
