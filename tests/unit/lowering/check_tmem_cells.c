/*
 * check_tmem_cells.c - the lanes and columns of arrays in tensor memory that share them, element by
 * element, against what the PTX ISA says of each way in which they lie; and the way back from a
 * byte to its element. An array of 128 lanes by 64 columns is the base of all.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

enum { PITCH = 64 * 4, LANES = 128 };

typedef struct cell {
    int64_t lane, column, byte; /* the column counts from the first one of the alias */
} cell;

/* Element [slot, row, column] of an array. */
typedef cell cell_of(int64_t slot, int64_t row, int64_t column);

/* Row r is lane r; a slot of 16 columns. */
static cell find_32_bits(int64_t slot, int64_t row, int64_t column) {
    return (cell){row, slot * 16 + column, 0};
}
/* Two neighbours share a column; a slot of 8 columns. */
static cell find_16_bits(int64_t slot, int64_t row, int64_t column) {
    return (cell){row, slot * 8 + column / 2, column % 2 * 2};
}
static cell find_8_bits(int64_t slot, int64_t row, int64_t column) {
    return (cell){row, slot * 4 + column / 4, column % 4};
}
/* 64 rows of one CTA: rows 16 q to 16 q + 15 are lanes from 32 q on, the second half of the columns
 * 16 lanes further. */
static cell find_halves(int64_t slot, int64_t row, int64_t column) {
    return (cell){row / 16 * 32 + row % 16 + column / 8 * 16, slot * 8 + column % 8, 0};
}
static cell find_packed_halves(int64_t slot, int64_t row, int64_t column) {
    return (cell){row / 16 * 32 + row % 16 + column / 16 * 16, slot * 8 + column % 16 / 2,
                  column % 2 * 2};
}
/* 64 rows of each CTA of a pair: the second half of the columns is 64 lanes further. */
static cell find_halves_of_pair(int64_t slot, int64_t row, int64_t column) {
    return (cell){row + column / 8 * 64, slot * 8 + column % 8, 0};
}
/* Scales of 128 rows: row r is lane r % 32, column r / 32; four of them a column. */
static cell find_scales(int64_t slot, int64_t row, int64_t column) {
    return (cell){row % 32, slot * 8 + column / 4 * 4 + row / 32, column % 4};
}
/* Scales of 256 rows: eight columns for each four. */
static cell find_tall_scales(int64_t slot, int64_t row, int64_t column) {
    return (cell){row % 32, slot * 16 + column / 4 * 8 + row / 32, column % 4};
}
/* Split ones: rows from 128 on begin again in lane 64. */
static cell find_split_scales(int64_t slot, int64_t row, int64_t column) {
    return (cell){row / 128 * 64 + row % 32, slot * 8 + column / 4 * 4 + row % 128 / 32,
                  column % 4};
}

static const struct {
    const char *base, *type; /* of the alias */
    cell_of *find;
    int64_t slots, rows, columns;
} cases[] = {
    {"", "f32[2, 128, 16]", find_32_bits, 2, 128, 16},
    {"", "bf16[3, 128, 16] packed", find_16_bits, 3, 128, 16},
    {"", "f8e4m3[2, 128, 16] packed", find_8_bits, 2, 128, 16},
    {"", "i32[2, 64, 16]", find_halves, 2, 64, 16},
    {"", "f16[2, 64, 32] packed", find_packed_halves, 2, 64, 32},
    {" collective", "f32[2, 64, 16] collective", find_halves_of_pair, 2, 64, 16},
    {"", "f8e8m0[2, 128, 8] scales", find_scales, 2, 128, 8},
    {"", "f8e8m0[2, 256, 8] scales", find_tall_scales, 2, 256, 8},
    {" collective", "f8e8m0[2, 256, 8] split_scales collective", find_split_scales, 2, 256, 8},
    {"", "u16[2, 128, 16] metadata", find_16_bits, 2, 128, 16},
};

static bound_text bind_case(int k) {
    char source[512];
    snprintf(source, sizeof source,
             "kernel @k(%%a: out gmem f32[1]) attr arch = \"sm_100a\"\n{\n"
             "  scratch %%before : tmem f32[128, 12]\n"
             "  scratch %%all : tmem u32[128, 64]%s\n"
             "  scratch %%x : tmem %s alias(%%all, 20)\n  store %%a[0], 1.0\n}\n",
             cases[k].base, cases[k].type);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    return text;
}

TEST_EACH(elements_lie_as_ptx_says, COUNT_OF(cases)) {
    bound_text text = bind_case(_i);
    const grout_object_id all = find_object(text.bound, "all"), x = find_object(text.bound, "x");
    const grout_layout *layout = grout_object_get_layout(text.bound, x);
    ck_assert_int_eq(grout_object_get_layout(text.bound, all)->bytes, (intmax_t)LANES * PITCH);
    ck_assert_int_eq(grout_object_get_offset(text.bound, x),
                     grout_object_get_offset(text.bound, all) + INT64_C(80));
    for (int64_t slot = 0; slot < cases[_i].slots; slot++) {
        for (int64_t row = 0; row < cases[_i].rows; row++) {
            for (int64_t column = 0; column < cases[_i].columns; column++) {
                const int64_t index[GROUT_RANK_MAX] = {slot, row, column};
                int64_t back[GROUT_RANK_MAX] = {0};
                const cell at = cases[_i].find(slot, row, column);
                const int64_t offset = grout_layout_get_offset(layout, index);
                ck_assert_int_eq(offset, at.lane * PITCH + at.column * 4 + at.byte);
                ck_assert_int_lt(offset, layout->bytes);
                grout_layout_get_index(layout, offset, back);
                ck_assert_mem_eq(back, index, 3 * sizeof *index);
            }
        }
    }
    free_text(&text);
}

/* Two names of one array share bytes where they share columns, whatever lies between in memory. */
TEST(columns_decide_what_is_shared) {
    bound_text text = bind_text("kernel @k(%a: out gmem f32[1]) attr arch = \"sm_100a\"\n{\n"
                                "  scratch %all : tmem u32[128, 64]\n"
                                "  scratch %x : tmem f32[128, 16] alias(%all)\n"
                                "  scratch %y : tmem f16[128, 32] packed alias(%all, 16)\n"
                                "  scratch %z : tmem f32[64, 16] alias(%y, 8)\n"
                                "  scratch %other : tmem f32[128, 16]\n"
                                "  store %a[0], 1.0\n}\n",
                                NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    const grout_object_id all = find_object(text.bound, "all"), x = find_object(text.bound, "x"),
                          y = find_object(text.bound, "y"), z = find_object(text.bound, "z"),
                          other = find_object(text.bound, "other");
    ck_assert(grout_objects_share_bytes(text.bound, all, x));
    ck_assert(grout_objects_share_bytes(text.bound, z, all));
    ck_assert(!grout_objects_share_bytes(text.bound, x, y));
    ck_assert(grout_objects_share_bytes(text.bound, y, z));
    ck_assert(!grout_objects_share_bytes(text.bound, x, z));
    ck_assert(!grout_objects_share_bytes(text.bound, all, other));
    ck_assert(!grout_objects_share_bytes(text.bound, z, other));
    ck_assert_int_eq(grout_kernel_get_space_bytes(text.bound, 1, GROUT_SPACE_TMEM),
                     INT64_C(80) * 512);
    free_text(&text);
}
