/* check_register_layout.c - which lane holds what in each register layout, which layouts are chosen
 * for a kernel's values, and how wide references are accessed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/register_layout.h"

#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* ---- one layout ------------------------------------------------------------------------------ */

static const grout_type shape_types[] = {
    {.kind = GROUT_TYPE_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 2, .dims = {64, 8}},
    {.kind = GROUT_TYPE_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 2, .dims = {64, 256}},
    {.kind = GROUT_TYPE_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 2, .dims = {192, 72}},
    {.kind = GROUT_TYPE_ARRAY, .dtype = GROUT_DTYPE_BF16, .rank = 3, .dims = {256, 1, 16}},
};

/* In a thread of four warps. */
static grout_register_layout make(grout_register_layout_kind kind, const grout_type *type) {
    return grout_register_layout_make(kind, GROUT_WARPS, type);
}

static grout_register_layout make_vector(grout_register_layout_kind kind, int64_t size) {
    const grout_type type = {.kind = GROUT_TYPE_ARRAY, .rank = 1, .dims = {size}};
    return make(kind, &type);
}

/* A ck_assert for each element would take minutes: faults are counted. */
static int64_t count_faults(const grout_register_layout *layout, int64_t lane, int64_t reg,
                            int64_t element) {
    return grout_register_layout_get_element(layout, (uint32_t)lane, (uint32_t)reg) != element;
}

/* Where the header says that element (row, column) lies. */
TEST_EACH(wgmma_is_the_fragment_of_the_instruction, COUNT_OF(shape_types)) {
    const grout_type *type = &shape_types[_i];
    const int64_t rows = type->dims[0], cols = type->dims[type->rank - 1];
    const grout_register_layout layout = make(GROUT_LAYOUT_WGMMA, type);
    int64_t faults = 0;
    ck_assert_uint_eq(layout.kind, GROUT_LAYOUT_WGMMA);
    ck_assert(layout.rows == rows && layout.cols == cols && layout.count == rows * cols);
    /* As many places as elements, and every element in its own: a bijection. */
    ck_assert_int_eq((int64_t)layout.registers * GROUT_LANES, rows * cols);
    for (int64_t r = 0; r < rows; r++) {
        for (int64_t c = 0; c < cols; c++) {
            const int64_t lane = r % 64 / 16 * 32 + 4 * (r % 8) + c % 8 / 2;
            const int64_t reg = (((r / 64) * (cols / 8) + c / 8) * 2 + r % 16 / 8) * 2 + c % 2;
            faults += count_faults(&layout, lane, reg, r * cols + c);
        }
    }
    ck_assert_int_eq(faults, 0);
}

TEST(bytes_are_in_the_lanes_that_wgmma_reads) {
    const grout_type type = {
        .kind = GROUT_TYPE_ARRAY, .dtype = GROUT_DTYPE_I8, .rank = 2, .dims = {128, 48}};
    const grout_register_layout layout = make(GROUT_LAYOUT_WGMMA_8BIT, &type);
    int64_t faults = 0;
    ck_assert_int_eq((int64_t)layout.registers * GROUT_LANES, layout.count);
    for (int64_t r = 0; r < 128; r++) {
        for (int64_t c = 0; c < 48; c++) {
            const int64_t lane = r % 64 / 16 * 32 + 4 * (r % 8) + c % 16 / 4;
            const int64_t reg = (((r / 64) * 3 + c / 16) * 2 + r % 16 / 8) * 4 + c % 4;
            faults += count_faults(&layout, lane, reg, r * 48 + c);
        }
    }
    ck_assert_int_eq(faults, 0);
}

/* How often each element is held; every place has one. */
static void count_copies(const grout_register_layout *layout, int64_t copies[512]) {
    for (uint32_t lane = 0; lane < GROUT_LANES; lane++) {
        for (uint32_t reg = 0; reg < layout->registers; reg++) {
            const int64_t element = grout_register_layout_get_element(layout, lane, reg);
            ck_assert(element >= 0 && element < layout->count && element < 512);
            copies[element]++;
        }
    }
}

TEST(rows_are_in_the_four_lanes_of_a_quad) {
    for (int64_t rows = 64; rows <= 512; rows += 192) {
        int64_t copies[512] = {0}, faults = 0;
        const grout_register_layout layout = make_vector(GROUT_LAYOUT_WGMMA_ROW, rows);
        count_copies(&layout, copies);
        for (int64_t r = 0; r < rows; r++) {
            faults += copies[r] != 4;
            for (int64_t k = 0; k < 4; k++) {
                faults += count_faults(&layout, r % 64 / 16 * 32 + r % 8 * 4 + k,
                                       r / 64 * 2 + r % 16 / 8, r);
            }
        }
        ck_assert_int_eq(faults, 0);
    }
}

TEST(columns_are_in_every_warp) {
    for (int64_t cols = 8; cols <= 256; cols += 40) {
        int64_t copies[512] = {0}, faults = 0;
        const grout_register_layout layout = make_vector(GROUT_LAYOUT_WGMMA_COL, cols);
        count_copies(&layout, copies);
        for (int64_t c = 0; c < cols; c++) {
            faults += copies[c] != 32;
            for (int64_t lane = c % 8 / 2; lane < (int64_t)GROUT_LANES; lane += 4) {
                faults += count_faults(&layout, lane, c / 8 * 2 + c % 2, c);
            }
        }
        ck_assert_int_eq(faults, 0);
    }
}

/* What a lane holds of a row or column is what it holds of the array: reductions and broadcasts
 * between the three layouts move nothing. */
TEST(rows_and_columns_go_with_wgmma) {
    const grout_register_layout all = make(GROUT_LAYOUT_WGMMA, &shape_types[2]);
    const grout_register_layout row = make_vector(GROUT_LAYOUT_WGMMA_ROW, all.rows);
    const grout_register_layout col = make_vector(GROUT_LAYOUT_WGMMA_COL, all.cols);
    const int64_t groups = all.cols / 8;
    int64_t faults = 0;
    for (uint32_t lane = 0; lane < GROUT_LANES; lane++) {
        for (uint32_t reg = 0; reg < all.registers; reg++) {
            const int64_t element = grout_register_layout_get_element(&all, lane, reg);
            faults +=
                count_faults(&row, lane, reg / 4 / groups * 2 + reg / 2 % 2, element / all.cols);
            faults += count_faults(&col, lane, reg / 4 % groups * 2 + reg % 2, element % all.cols);
        }
    }
    ck_assert_int_eq(faults, 0);
}

typedef struct shape_case {
    grout_register_layout_kind kind;
    uint8_t rank;
    int64_t dims[3];
    uint32_t registers; /* 0: the kind has no such shape */
} shape_case;

static const shape_case shape_cases[] = {
    {GROUT_LAYOUT_WGMMA, 2, {64, 8}, 4},       {GROUT_LAYOUT_WGMMA, 2, {128, 256}, 256},
    {GROUT_LAYOUT_WGMMA, 3, {1, 64, 16}, 8},   {GROUT_LAYOUT_WGMMA, 3, {64, 16, 1}, 8},
    {GROUT_LAYOUT_WGMMA, 2, {32, 8}, 0},       {GROUT_LAYOUT_WGMMA, 2, {64, 4}, 0},
    {GROUT_LAYOUT_WGMMA, 2, {64, 1}, 0},       {GROUT_LAYOUT_WGMMA, 1, {64}, 0},
    {GROUT_LAYOUT_WGMMA, 3, {2, 64, 8}, 0},    {GROUT_LAYOUT_WGMMA_ROW, 1, {64}, 2},
    {GROUT_LAYOUT_WGMMA_ROW, 2, {128, 1}, 4},  {GROUT_LAYOUT_WGMMA_ROW, 1, {32}, 0},
    {GROUT_LAYOUT_WGMMA_ROW, 2, {64, 8}, 0},   {GROUT_LAYOUT_WGMMA_COL, 1, {8}, 2},
    {GROUT_LAYOUT_WGMMA_COL, 2, {1, 256}, 64}, {GROUT_LAYOUT_WGMMA_COL, 1, {12}, 0},
    {GROUT_LAYOUT_WGMMA_COL, 2, {64, 8}, 0},   {GROUT_LAYOUT_WGMMA_COL, 1, {1}, 0},
    {GROUT_LAYOUT_WGMMA_8BIT, 2, {64, 16}, 8}, {GROUT_LAYOUT_WGMMA_8BIT, 2, {64, 8}, 0},
    {GROUT_LAYOUT_WGMMA_8BIT, 1, {64}, 0},     {GROUT_LAYOUT_WGMMA_8BIT, 2, {32, 16}, 0},
    {GROUT_LAYOUT_STRIDED, 1, {64}, 0},        {GROUT_LAYOUT_NONE, 1, {64}, 0},
};

static void check_shape(const shape_case *row) {
    grout_type type = {.kind = GROUT_TYPE_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = row->rank};
    memcpy(type.dims, row->dims, sizeof row->dims);
    const grout_register_layout layout = make(row->kind, &type);
    ck_assert_uint_eq(layout.kind, row->registers == 0 ? GROUT_LAYOUT_NONE : row->kind);
    ck_assert_uint_eq(layout.registers, row->registers);
}

TEST(shapes_have_layouts) {
    for (int i = 0; i < COUNT_OF(shape_cases); i++) {
        check_shape(&shape_cases[i]);
    }
}

TEST(no_register_no_element) {
    const grout_register_layout none = {.kind = GROUT_LAYOUT_NONE};
    const grout_register_layout splat = {
        .kind = GROUT_LAYOUT_SPLAT, .vec = 1, .warps = GROUT_WARPS, .registers = 1, .count = 50};
    const grout_register_layout row = make_vector(GROUT_LAYOUT_WGMMA_ROW, 64);
    ck_assert_int_eq(grout_register_layout_get_element(&none, 0, 0), -1);
    ck_assert_int_eq(grout_register_layout_get_element(&splat, 77, 0), 0);
    ck_assert_int_eq(grout_register_layout_get_element(&row, 0, 2), -1);
    ck_assert_int_eq(grout_register_layout_get_element(&row, GROUT_LANES, 0), -1);
}

TEST(names_are_those_of_layout_cast) {
    static const char *const names[] = {"none",       "wg_splat",  "wg_strided", "wgmma",
                                        "wgmma_8bit", "wgmma_row", "wgmma_col"};
    for (int kind = 0; kind < COUNT_OF(names); kind++) {
        const char *text = grout_register_layout_get_text((grout_register_layout_kind)kind);
        ck_assert_str_eq(text, names[kind]);
        ck_assert((grout_attr_find(text, strlen(text)) != GROUT_ATTR_COUNT) ==
                  (kind >= GROUT_LAYOUT_STRIDED));
    }
}

/* ---- inference ------------------------------------------------------------------------------- */

#define OBJECTS                                                    \
    "  scratch %as : smem bf16[64, 64] tile(8, 64) swizzle(128)\n" \
    "  scratch %bs : smem bf16[64, 64] tile(8, 64) swizzle(128)\n" \
    "  scratch %s : smem f32[64, 64]\n"                            \
    "  scratch %acc : acc f32[64, 64]\n"

/* One kernel body, and the layout of its value %v. */
typedef struct layout_case {
    const char *name, *params, *body;
    grout_register_layout_kind kind;
    uint32_t vec, registers;
    bool is_guarded;
} layout_case;

static const layout_case layout_cases[] = {
    {"f32 takes 4 neighbours", "%x: in gmem f32[N, 4]", "%v = load %x", GROUT_LAYOUT_STRIDED, 4, 8,
     false},
    {"bf16 takes 8", "%x: in gmem bf16[N, 4]", "%v = load %x", GROUT_LAYOUT_STRIDED, 8, 8, false},
    {"i8 takes 16", "%x: in gmem i8[N, 16]", "%v = load %x", GROUT_LAYOUT_STRIDED, 16, 32, false},
    {"f64 takes 2", "%x: in gmem f64[N]", "%v = load %x", GROUT_LAYOUT_STRIDED, 2, 2, false},
    {"all lanes before wide accesses", "%x: in gmem f32[128]", "%v = load %x", GROUT_LAYOUT_STRIDED,
     1, 1, false},
    {"a size that lanes do not divide", "%x: in gmem f32[7, 13]", "%v = load %x",
     GROUT_LAYOUT_STRIDED, 1, 1, true},
    {"the same with neighbours", "%x: in gmem f32[6, 36]", "%v = load %x", GROUT_LAYOUT_STRIDED, 4,
     4, true},
    {"one element is a scalar", "%x: in gmem f32[1, 1]", "%v = load %x", GROUT_LAYOUT_SPLAT, 1, 1,
     false},
    {"a broadcast scalar", "%x: f32", "%v = broadcast %x : f32[N]", GROUT_LAYOUT_SPLAT, 1, 1,
     false},
    {"arithmetic keeps a splat", "%x: f32", "%v = exp (add (broadcast %x : f32[N]), 1.0)",
     GROUT_LAYOUT_SPLAT, 1, 1, false},
    {"a splat beside an array", "%x: in gmem f32[N, 2]",
     "%v = add (load %x), (broadcast 1.0 : f32[N, 2])", GROUT_LAYOUT_STRIDED, 4, 4, false},
    {"the widest element rules", "%x: in gmem bf16[N, 8], %y: out gmem f32[N, 8]",
     "%v = load %x\nstore %y, (cast %v : f32)", GROUT_LAYOUT_STRIDED, 4, 16, false},
    {"a store rules like a load", "%x: in gmem i8[N, 16], %y: out gmem f64[N, 16]",
     "%v = load %x\nstore %y, (cast %v : f64)", GROUT_LAYOUT_STRIDED, 2, 32, false},
    {"nothing but iota", "", "%v = iota dim(0) : i32[N, 4]", GROUT_LAYOUT_STRIDED, 4, 8, false},
    {"a pitch of odd elements", "%x: in gmem f32[N, 5]", "%v = load %x[:, ds(0, 4)]",
     GROUT_LAYOUT_STRIDED, 1, 8, false},
    {"a start that is not aligned", "%x: in gmem f32[4096], %n: i32", "%v = load %x[ds(%n, 512)]",
     GROUT_LAYOUT_STRIDED, 1, 4, false},
    {"a start that is", "%x: in gmem f32[4096], %n: i32", "%v = load %x[ds(%n * 4, 512)]",
     GROUT_LAYOUT_STRIDED, 4, 4, false},
    {"only half aligned", "%x: in gmem f32[4096], %n: i32", "%v = load %x[ds(%n * 4 + 2, 512)]",
     GROUT_LAYOUT_STRIDED, 2, 4, false},
    {"a transposed view has no neighbours", "%x: in gmem f32[32, 32]",
     "%v = load %x.transpose(1, 0)", GROUT_LAYOUT_STRIDED, 1, 8, false},
    {"unless another reference has", "%x: in gmem f32[32, 32], %y: out gmem f32[32, 32]",
     "%v = load %x.transpose(1, 0)\nstore %y, %v", GROUT_LAYOUT_STRIDED, 4, 8, false},
    {"a carry takes its yield's layout", "%x: in gmem f32[N, 2]",
     "%v = for %i in 0..3 carry(%c = (broadcast 0.0 : f32[N, 2])) {\nyield (add %c, (load %x))\n}",
     GROUT_LAYOUT_STRIDED, 4, 4, false},
    {"a carry of splats", "%x: f32",
     "%v = for %i in 0..3 carry(%c = (broadcast 0.0 : f32[N, 2])) {\nyield (add %c, %x)\n}",
     GROUT_LAYOUT_SPLAT, 1, 1, false},
    {"a branch with one array", "%x: in gmem f32[N, 2], %n: i32",
     "%v = if (gt %n, 0) {\nyield (load %x)\n} else {\nyield (broadcast 0.0 : f32[N, 2])\n}",
     GROUT_LAYOUT_STRIDED, 4, 4, false},
    {"a broadcast of a row", "%x: in gmem f32[1, 64]", "%v = broadcast (load %x) : f32[16, 64]",
     GROUT_LAYOUT_STRIDED, 4, 8, false},
    {"an atomic rules like a store", "%x: in gmem bf16[N, 8], %y: out gmem f32[N, 8]",
     "%v = load %x\natomic_add %y, (cast %v : f32)", GROUT_LAYOUT_STRIDED, 4, 16, false},
    {"so does an async store", "%x: in gmem bf16[64, 64]",
     "scratch %b : barrier[1]\n%v = load %x\nasync_store_smem (cast %v : f32), %s, %b[0]",
     GROUT_LAYOUT_STRIDED, 4, 32, false},
    {"an atomic of one row", "%x: in gmem f32[32, 32], %y: out gmem f32[32, 32]",
     "%v = load %x.transpose(1, 0)\natomic_max %y, %v", GROUT_LAYOUT_STRIDED, 4, 8, false},
    {"an accumulator's elements go to an atomic", "%y: out gmem f32[64, 64]",
     "%v = load %acc\natomic_add %y, %v", GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"what a first body yields", "%x: in gmem f32[N, 2]",
     "%v = warp_specialize {\nyield (load %x)\n} partition {\n}", GROUT_LAYOUT_STRIDED, 4, 4,
     false},
    {"an accumulator that it yields", "",
     "%v = warp_specialize {\nyield (load %acc)\n} partition {\n%w = load %s\n}\nstore %s, %v",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"an array of a partition", "",
     "warp_specialize {\n} partition {\n%v = load %s\nstore %s, (add %v, (load %acc))\n}",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    /* what accumulators bring */
    {"a load of an accumulator", "", "%v = load %acc", GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a slice of one", "", "%v = acc_load %acc[:, ds(32, 32)] wait(0)", GROUT_LAYOUT_WGMMA, 1, 16,
     false},
    {"what is stored to one", "%x: in gmem f32[64, 64]", "%v = load %x\nacc_store %acc, %v",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a splat that is stored to one", "", "%v = broadcast 0.0 : f32[64, 64]\nacc_store %acc, %v",
     GROUT_LAYOUT_SPLAT, 1, 1, false},
    {"a wgmma's operand", "", "%v = load %as\nwgmma %acc, %v, %bs", GROUT_LAYOUT_WGMMA, 1, 32,
     false},
    {"of wgmma_async", "", "%v = load %as\nwgmma_async %acc, %v, %bs", GROUT_LAYOUT_WGMMA, 1, 32,
     false},
    {"the source of the operand", "", "%v = load %s\nwgmma %acc, (cast (exp %v) : bf16), %bs",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"an array beside an accumulator", "%x: in gmem f32[64, 64]",
     "%v = load %x\nstore %s, (fma %v, (load %acc), 2.0)", GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"an iota beside one", "", "%v = iota dim(1) : f32[64, 64]\nstore %s, (add %v, (load %acc))",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a comparison's truth", "%x: in gmem f32[64, 64]",
     "%v = lt (load %x), 0.0\nstore %s, (select %v, (load %acc), 0.0)", GROUT_LAYOUT_WGMMA, 1, 32,
     false},
    {"a carry that ends in one", "%x: in gmem f32[64, 64]",
     "%r = for %i in 0..3 carry(%v = (load %x)) {\nyield (add %v, 1.0)\n}\nacc_store %acc, %r",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a carry that starts as a splat", "",
     "%r = for %i in 0..3 carry(%v = (broadcast 0.0 : f32[64, 64])) {\nyield (add %v, (load "
     "%acc))\n}\nstore %s, %r",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a while's carry", "%x: in gmem f32[64, 64]",
     "%n, %r = while carry(%i = 0, %v = (load %x)) {\ncond (lt %i, 3)\n} do {\nyield (add %i, 1), "
     "(add %v, (load %acc))\n}\nstore %s, %r",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a while's result", "",
     "%n, %v = while carry(%i = 0, %c = (load %s)) {\ncond (lt %i, 3)\n} do {\nyield (add %i, 1), "
     "(load %acc)\n}\nstore %s, %v",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"an if's other branch", "%n: i32",
     "%r = if (gt %n, 0) {\n%v = load %s\nyield %v\n} else {\nyield (load %acc)\n}\nstore %s, %r",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"a scope's yield", "",
     "%v = scoped(%t : smem f32[64, 64]) {\nyield (load %acc)\n}\nstore %s, %v", GROUT_LAYOUT_WGMMA,
     1, 32, false},
    /* reductions and broadcasts */
    {"what is reduced along rows", "",
     "%v = load %s\n%m = reduce_max %v dim(1)\nstore %s[:, 0], %m", GROUT_LAYOUT_WGMMA, 1, 32,
     false},
    {"the rows that are left", "", "%v = reduce_max (load %s) dim(1)\nstore %s[:, 0], %v",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    {"the columns that are left", "", "%v = reduce_min (load %s) dim(0)\nstore %s[0], %v",
     GROUT_LAYOUT_WGMMA_COL, 1, 16, false},
    {"a load beside rows", "%x: in gmem f32[64]",
     "%v = load %x\nstore %s[:, 0], (add %v, (reduce_sum (load %s) dim(1)))",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    {"a running maximum", "",
     "%v = for %i in 0..3 carry(%m = (broadcast 0.0 : f32[64])) {\nyield (max %m, (reduce_max "
     "(load "
     "%s) dim(1)))\n}\nstore %s[:, 0], %v",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    {"all elements of a strided array", "%x: in gmem f32[100, 3]",
     "%v = load %x\nstore %s[0, 0], (reduce_sum %v)", GROUT_LAYOUT_STRIDED, 4, 4, true},
    {"a row of its own", "%x: in gmem f32[100]",
     "%v = load %x\nstore %s[0, 0], (reduce_sum %v dim(0))", GROUT_LAYOUT_STRIDED, 4, 4, true},
    {"the only row of a slice", "%x: in gmem f32[1, 256]",
     "%v = reduce_sum (load %x) dim(0)\nstore %s[0, 0], (reduce_sum %v)", GROUT_LAYOUT_STRIDED, 2,
     2, false},
    {"a reduced splat", "", "%v = reduce_max (broadcast 1.0 : f32[5, 3]) dim(1)",
     GROUT_LAYOUT_SPLAT, 1, 1, false},
    {"rows go back to wgmma", "",
     "%v = broadcast (reduce_max (load %s) dim(1)) dim(0) : f32[64, 128]", GROUT_LAYOUT_WGMMA, 1,
     64, false},
    {"columns too", "", "%v = broadcast (reduce_max (load %s) dim(0)) : f32[128, 64]",
     GROUT_LAYOUT_WGMMA, 1, 64, false},
    {"unless the shape is none of wgmma's", "",
     "%v = broadcast (reduce_max (load %s) dim(1)) dim(0) : f32[64, 4]", GROUT_LAYOUT_STRIDED, 2, 2,
     false},
    {"what becomes rows", "%x: in gmem f32[64]",
     "%v = load %x\nacc_store %acc, (broadcast %v dim(0) : f32[64, 64])", GROUT_LAYOUT_WGMMA_ROW, 1,
     2, false},
    {"what becomes columns", "%x: in gmem f32[64]",
     "%v = load %x\nacc_store %acc, (broadcast %v dim(1) : f32[64, 64])", GROUT_LAYOUT_WGMMA_COL, 1,
     16, false},
    {"a row of rank 2", "%x: in gmem f32[1, 64]",
     "%v = load %x\nacc_store %acc, (broadcast %v : f32[64, 64])", GROUT_LAYOUT_WGMMA_COL, 1, 16,
     false},
    {"a column of rank 2", "%x: in gmem f32[64, 1]",
     "%v = load %x\nacc_store %acc, (broadcast %v : f32[64, 64])", GROUT_LAYOUT_WGMMA_ROW, 1, 2,
     false},
    {"the first of two wishes", "%x: in gmem f32[64]",
     "%v = load %x\n%a = broadcast %v dim(0) : f32[64, 64]\nacc_store %acc, (add %a, (broadcast %v "
     "dim(1) : f32[64, 64]))",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    {"a wish through several operations", "%x: in gmem f32[64]",
     "%v = load %x\n%w = broadcast (mul %v, 2.0) dim(0) : f32[64, 64]\n%u = layout_cast (exp %w) "
     "wgmma\nstore %s, %u",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    /* the conflicts of tests/golden/layout, mended as the messages say */
    {"an accumulator's load in a cast", "%x: in gmem f32[64, 64]",
     "%b = layout_cast (load %x) wg_strided\n%v = add %b, (layout_cast (load %acc) "
     "wg_strided)\nstore %s, %v",
     GROUT_LAYOUT_STRIDED, 4, 32, false},
    {"a loop's operand in a cast", "%x: in gmem bf16[64, 64]",
     "%f = layout_cast (load %x) wg_strided\n%l = for %i in 0..4 carry(%a = %f) {\n%n = mul %a, "
     "(exp %a)\n%v = layout_cast %n wgmma\nwgmma %acc, %v, %bs\nyield %n\n}\nstore %as, %l",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"columns in a cast", "",
     "%w = load %s\n%r = reduce_sum %w dim(1)\n%v = add %r, (layout_cast (reduce_sum %w dim(0)) "
     "wgmma_row)\nstore %s[0], %v",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    {"a reduction's operand in a cast", "",
     "%l = for %i in 0..4 carry(%v = (broadcast 1.0 : f32[64, 64])) {\nstore %s[0], (reduce_max "
     "(layout_cast %v wgmma) dim(1))\nyield (layout_cast (load %s) wg_strided)\n}\nstore %s, %l",
     GROUT_LAYOUT_STRIDED, 4, 32, false},
    /* layout_cast */
    {"a cast's result", "", "%v = layout_cast (load %acc) wg_strided\nstore %s, %v",
     GROUT_LAYOUT_STRIDED, 4, 32, false},
    {"a cast's operand keeps its own", "", "%v = load %acc\nstore %s, (layout_cast %v wg_strided)",
     GROUT_LAYOUT_WGMMA, 1, 32, false},
    {"an undecided operand follows", "%x: in gmem f32[64]",
     "%v = load %x\nstore %s[:, 0], (layout_cast %v wgmma_col)", GROUT_LAYOUT_WGMMA_COL, 1, 16,
     false},
    {"a strided operand keeps wide runs", "%x: in gmem f32[64, 64]",
     "%v = layout_cast (load %x) wg_strided", GROUT_LAYOUT_STRIDED, 4, 32, false},
    {"a cast of a splat", "", "%v = layout_cast (broadcast 1.0 : f32[64]) wgmma_row",
     GROUT_LAYOUT_WGMMA_ROW, 1, 2, false},
    {"one element stays a splat", "%x: in gmem f32[1]", "%v = layout_cast (load %x) wg_strided",
     GROUT_LAYOUT_SPLAT, 1, 1, false},
};

static bound_text bind_body(const char *name, const char *params, const char *body) {
    grout_text text = {0};
    grout_text_add(&text, "const N = 256\nkernel @k(%s) {\n%s%s\n}\n", params, OBJECTS, body);
    bound_text bound = bind_text(text.data, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s: %s", name, get_said(bound.diags));
    grout_text_free(&text);
    return bound;
}

TEST_EACH(infers_layout, COUNT_OF(layout_cases)) {
    const layout_case *row = &layout_cases[_i];
    bound_text text = bind_body(row->name, row->params, row->body);
    grout_register_layouts *layouts = grout_register_layouts_infer(text.bound, 1, text.diags);
    ck_assert_msg(layouts != NULL, "%s: %s", row->name, get_said(text.diags));
    const grout_register_layout *found =
        grout_register_layouts_get(layouts, find_value(text.bound, "v"));
    ck_assert_msg(found->kind == row->kind && found->vec == row->vec &&
                      found->registers == row->registers && found->is_guarded == row->is_guarded,
                  "%s: kind %u vec %u registers %u guarded %d", row->name, found->kind, found->vec,
                  found->registers, found->is_guarded);
    grout_register_layouts_free(layouts);
    free_text(&text);
}

/* ---- ways through SMEM ----------------------------------------------------------------------- */

/* What the last op of an opcode takes. */
typedef struct exchange_case {
    const char *name, *params, *body;
    grout_opcode opcode;
    int64_t bytes;
} exchange_case;

static const exchange_case exchange_cases[] = {
    {"between strided arrays", "%x: in gmem f32[9]", "%v = broadcast (load %x) : f32[4, 9]",
     GROUT_OP_BROADCAST, 48},
    {"of a splat", "%x: f32", "%v = broadcast %x : f32[4, 9]", GROUT_OP_BROADCAST, 0},
    {"to the same elements", "%x: in gmem f32[9]", "%v = broadcast (load %x) : f32[1, 9]",
     GROUT_OP_BROADCAST, 0},
    {"from rows to wgmma", "", "%v = broadcast (reduce_max (load %s) dim(1)) dim(0) : f32[64, 128]",
     GROUT_OP_BROADCAST, 0},
    {"from columns to wgmma", "", "%v = broadcast (reduce_max (load %s) dim(0)) : f32[128, 64]",
     GROUT_OP_BROADCAST, 0},
    {"from rows to strided", "", "%v = broadcast (reduce_max (load %s) dim(1)) dim(0) : f32[64, 4]",
     GROUT_OP_BROADCAST, 256},
    {"from rows to wgmma's columns", "",
     "%v = broadcast (reduce_max (load %s) dim(1)) dim(1) : f32[64, 64]\nacc_store %acc, %v",
     GROUT_OP_BROADCAST, 256},
    {"the second of two wishes", "%x: in gmem bf16[64]",
     "%v = load %x\n%a = broadcast %v dim(0) : bf16[64, 64]\nwgmma %acc, (add %a, (broadcast %v "
     "dim(1) : bf16[64, 64])), %bs",
     GROUT_OP_BROADCAST, 128},
    {"a slice becomes wgmma", "%x: in gmem f32[2, 64, 1]",
     "acc_store %acc, (broadcast (load %x[0]) : f32[64, 64])", GROUT_OP_BROADCAST, 0},
    {"a cast to another layout", "", "store %s, (layout_cast (load %acc) wg_strided)",
     GROUT_OP_LAYOUT_CAST, 16384},
    {"a cast of bools", "",
     "store %s, (select (layout_cast (lt (load %acc), 0.0) wg_strided), 1.0, 0.0)",
     GROUT_OP_LAYOUT_CAST, 4096},
    {"a cast to the same layout", "", "store %s, (layout_cast (load %acc) wgmma)",
     GROUT_OP_LAYOUT_CAST, 0},
    {"a cast of a load", "%x: in gmem f32[64, 64]", "acc_store %acc, (layout_cast (load %x) wgmma)",
     GROUT_OP_LAYOUT_CAST, 0},
    {"a cast of a splat", "", "%v = layout_cast (broadcast 1.0 : f32[64]) wgmma_row",
     GROUT_OP_LAYOUT_CAST, 0},
    {"strided to strided", "%x: in gmem f32[64, 64], %y: out gmem f32[64, 64]",
     "store %y, (layout_cast (load %x.transpose(1, 0)) wg_strided)", GROUT_OP_LAYOUT_CAST, 0},
    {"along rows", "", "%v = reduce_max (load %s) dim(1)", GROUT_OP_REDUCE_MAX, 0},
    {"along columns", "", "%v = reduce_max (load %s) dim(0)", GROUT_OP_REDUCE_MAX, 1024},
    {"of all", "", "%v = reduce_max (load %s)", GROUT_OP_REDUCE_MAX, 16},
    {"of all in wgmma", "", "%v = reduce_max (load %acc)", GROUT_OP_REDUCE_MAX, 16},
    {"of all rows", "", "%v = reduce_max (reduce_min (load %s) dim(1))", GROUT_OP_REDUCE_MAX, 16},
    {"of all columns", "", "%v = reduce_max (reduce_min (load %s) dim(0))", GROUT_OP_REDUCE_MAX, 0},
    {"of all bf16", "", "%v = reduce_sum (load %as)", GROUT_OP_REDUCE_SUM, 16},
    {"of a splat's", "", "%v = reduce_sum (broadcast 1.0 : f32[100, 2]) dim(0)",
     GROUT_OP_REDUCE_SUM, 0},
    {"of 30 columns", "%x: in gmem f32[64, 30]", "%v = reduce_max (load %x) dim(1)",
     GROUT_OP_REDUCE_MAX, 7680},
    {"of 63 rows", "%x: in gmem bf16[63, 8]", "%v = reduce_max (load %x) dim(0)",
     GROUT_OP_REDUCE_MAX, 1008},
    {"of three dimensions", "%x: in gmem f32[2, 64, 8]", "%v = reduce_max (load %x) dim(2)",
     GROUT_OP_REDUCE_MAX, 4096},
    {"of one element", "%x: in gmem f32[1, 100]", "%v = reduce_sum (load %x) dim(0)",
     GROUT_OP_REDUCE_SUM, 0},
    {"an addition", "", "%v = add (load %s), 1.0", GROUT_OP_ADD, 0},
};

TEST_EACH(counts_exchange_bytes, COUNT_OF(exchange_cases)) {
    const exchange_case *row = &exchange_cases[_i];
    bound_text text = bind_body(row->name, row->params, row->body);
    grout_register_layouts *layouts = grout_register_layouts_infer(text.bound, 1, text.diags);
    ck_assert_msg(layouts != NULL, "%s: %s", row->name, get_said(text.diags));
    grout_op_id last = 0;
    int64_t most = 0;
    for (grout_op_id id = 1; id < grout_module_get_op_count(text.bound); id++) {
        const int64_t bytes = grout_register_layouts_get_exchange_bytes(layouts, id);
        most = bytes > most ? bytes : most;
        last = grout_module_get_op(text.bound, id)->opcode == row->opcode ? id : last;
    }
    const int64_t bytes = grout_register_layouts_get_exchange_bytes(layouts, last);
    ck_assert_msg(last != 0 && bytes == row->bytes, "%s: %ld", row->name, (long)bytes);
    ck_assert_int_eq(grout_register_layouts_get_scratch_bytes(layouts), most);
    grout_register_layouts_free(layouts);
    free_text(&text);
}

/* ---- what cannot be -------------------------------------------------------------------------- */

/* The texts are goldens: tests/golden/layout. */
typedef struct refusal_case {
    const char *name, *params, *body;
    grout_diag_code code;
    uint32_t line; /* of the body */
    uint32_t count;
} refusal_case;

static const refusal_case refusal_cases[] = {
    {"too large", "%x: in gmem f32[1024, 1024]", "%v = load %x", GROUT_DIAG_GPU_UNSUPPORTED, 1, 1},
    {"too large for an accumulator's layout", "%x: in gmem f32[1024, 256]",
     "%m = reduce_max (load %x) dim(1)", GROUT_DIAG_GPU_UNSUPPORTED, 1, 1},
    {"a cast of 30 columns", "%x: in gmem f32[64, 30]", "%m = layout_cast (load %x) wgmma",
     GROUT_DIAG_GPU_UNSUPPORTED, 1, 1},
    {"a cast of 63 rows", "%x: in gmem f32[63]", "%m = layout_cast (load %x) wgmma_row",
     GROUT_DIAG_GPU_UNSUPPORTED, 1, 1},
    {"an accumulator and a strided array", "%x: in gmem f32[64, 64]",
     "%v = layout_cast (load %x) wg_strided\nstore %s, (add %v, (load %acc))",
     GROUT_DIAG_LAYOUT_CONFLICT, 2, 1},
    {"rows and columns", "",
     "%m = reduce_max (load %s) dim(1)\nstore %s[0], (add %m, (reduce_max (load %s) dim(0)))",
     GROUT_DIAG_LAYOUT_CONFLICT, 2, 1},
    {"a conflict through a loop", "",
     "%r = for %i in 0..3 carry(%c = (layout_cast (load %s) wg_strided)) {\n%d = exp %c\nwgmma "
     "%acc, (cast %d : bf16), %bs\nyield %d\n}\nstore %s, %r",
     GROUT_DIAG_LAYOUT_CONFLICT, 3, 1},
    {"one report a class", "",
     "%v = layout_cast (load %s) wg_strided\nacc_store %acc, %v\nacc_store %acc, %v",
     GROUT_DIAG_LAYOUT_CONFLICT, 2, 1},
    {"two classes", "",
     "%v = layout_cast (load %s) wg_strided\nacc_store %acc, %v\n%w = layout_cast (load %s) "
     "wg_strided\nacc_store %acc, %w",
     GROUT_DIAG_LAYOUT_CONFLICT, 2, 2},
};

TEST_EACH(refuses, COUNT_OF(refusal_cases)) {
    const refusal_case *row = &refusal_cases[_i];
    bound_text text = bind_body(row->name, row->params, row->body);
    ck_assert_ptr_null(grout_register_layouts_infer(text.bound, 1, text.diags));
    ck_assert_msg(get_code(text.diags) == row->code, "%s: %s", row->name, get_said(text.diags));
    ck_assert_msg(grout_diags_count(text.diags) == row->count, "%s: %s", row->name,
                  get_said(text.diags));
    const grout_diag *diag = grout_diags_get(text.diags, 0);
    ck_assert_msg(diag->place.line == row->line + 6, "%s: line %u", row->name, diag->place.line);
    ck_assert_uint_ge(diag->note_count, 1);
    ck_assert_int_eq(diag->notes[diag->note_count - 1].severity, GROUT_SEVERITY_ADVICE);
    free_text(&text);
}

/* ---- references ------------------------------------------------------------------------------ */

/* How wide the first load's reference may be accessed. */
typedef struct width_case {
    const char *name, *object, *reference;
    uint32_t width;
} width_case;

static const width_case width_cases[] = {
    {"plain", "smem f32[16, 64]", "%s", 4},
    {"a row", "smem f32[16, 64]", "%s[%n]", 4},
    {"a column", "smem f32[16, 64]", "%s[:, %n]", 1},
    {"part of a row", "smem f32[16, 64]", "%s[%n, ds(8, 16)]", 4},
    {"two rows, not aligned", "smem f32[16, 64]", "%s[ds(0, 2), ds(%n, 8)]", 1},
    {"rows of 3 together", "smem f32[16, 3]", "%s", 4},
    {"rows of 3 from anywhere", "smem f32[16, 3]", "%s[ds(%n, 4)]", 1},
    {"rows of 6 from anywhere", "smem f32[16, 6]", "%s[ds(%n, 4)]", 2},
    {"a transposed array", "smem f32[16, 64] transpose(1, 0)", "%s", 1},
    {"a transposed array, transposed back", "smem f32[16, 64] transpose(1, 0)",
     "%s.transpose(1, 0)", 4},
    {"tiles with a swizzle", "smem bf16[32, 128] tile(8, 64) swizzle(128)", "%s", 8},
    {"one tile column", "smem bf16[32, 128] tile(8, 64) swizzle(128)", "%s[:, ds(%n * 64, 64)]", 8},
    {"narrow tiles", "smem f32[8, 8] tile(4, 2)", "%s", 2},
    {"bytes", "smem u8[64, 64]", "%s", 16},
    {"a scalar", "smem f32[64]", "%s[3]", 1},
    {"size 1 in between", "smem f32[16, 1, 4]", "%s", 4},
};

TEST_EACH(finds_access_width, COUNT_OF(width_cases)) {
    const width_case *row = &width_cases[_i];
    grout_text body = {0};
    grout_view view;
    grout_text_add(&body, "kernel @k(%%n: i32) {\n  scratch %%s : %s\n  %%v = load %s\n}\n",
                   row->object, row->reference);
    bound_text text = bind_text(body.data, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s: %s", row->name, get_said(text.diags));
    const grout_op *load = grout_module_get_op(text.bound, find_op(text.bound, GROUT_OP_LOAD, 0));
    ck_assert(
        grout_module_get_view(text.bound, grout_module_get_operand(text.bound, load, 0), &view));
    const uint32_t width = grout_view_get_access_width(text.bound, &view);
    ck_assert_msg(width == row->width, "%s: %u", row->name, width);
    free_text(&text);
    grout_text_free(&body);
}

/* What divides %v. */
typedef struct divisor_case {
    const char *body;
    int64_t divisor;
} divisor_case;

static const divisor_case divisor_cases[] = {
    {"%v = add %n, 0", 1},
    {"%v = mul %n, 64", 64},
    {"%v = mul %n, 48", 16},
    {"%v = add (mul %n, 64), 32", 32},
    {"%v = sub (mul %n, 64), (mul %n, 8)", 8},
    {"%v = mul (mul %n, 8), (mul %n, 16)", 128},
    {"%v = shl %n, 5", 32},
    {"%v = and %n, -16", 16},
    {"%v = rem (mul %n, 12), 8", 4},
    {"%v = select (gt %n, 0), (mul %n, 8), 12", 4},
    {"%v = multiple_of %n, 64", 64},
    {"%v = multiple_of %n, 96", 32},
    {"%v = multiple_of (mul %n, 128), 8", 128},
    {"%v = mul %n, 0", 1 << 20},
    {"%v = mul (axis_index t), 2097152", 1 << 20},
    {"for %v in 64..%n step 16 {\n}", 16},
    {"for %v in 8..%n step 64 {\n}", 8},
};

TEST_EACH(finds_known_divisor, COUNT_OF(divisor_cases)) {
    const divisor_case *row = &divisor_cases[_i];
    grout_text body = {0};
    grout_text_add(&body, "kernel @k(%%n: i32) threads(t = 2) {\n  %s\n}\n", row->body);
    bound_text text = bind_text(body.data, NULL, 0);
    ck_assert_msg(text.bound != NULL, "%s: %s", row->body, get_said(text.diags));
    const int64_t divisor = grout_value_get_known_divisor(text.bound, find_value(text.bound, "v"));
    ck_assert_msg(divisor == row->divisor, "%s: %ld", row->body, (long)divisor);
    free_text(&text);
    grout_text_free(&body);
}
