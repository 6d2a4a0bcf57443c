/* check_ptx_tcgen05.c - instruction descriptors, tensor memory, and launch control.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx/tensor/launch_control.h"
#include "ptx/tensor/tmem_layout.h"
#include "tests/tests.h"

#include <string.h>

static grout_ptx_fault fault;

static const grout_ptx_mma_words F16 = {.kind = GROUT_PTX_KIND_F16, .arch = 100, .ctas = 1};

static bool decodes(uint32_t bits, grout_ptx_mma_words words) {
    grout_ptx_instr_desc desc;
    return grout_ptx__instr_decode(bits, &words, &desc, &fault);
}

static grout_ptx_instr_desc decode(uint32_t bits, grout_ptx_mma_words words) {
    grout_ptx_instr_desc desc;
    memset(&desc, 0, sizeof desc);
    ck_assert_msg(grout_ptx__instr_decode(bits, &words, &desc, &fault), "%s", fault.text);
    return desc;
}

/* Shape and types, by their fields. */
static uint32_t shape(uint32_t m, uint32_t n) {
    return n >> 3 << 17 | m >> 4 << 24;
}

static uint32_t types(uint32_t d, uint32_t a, uint32_t b) {
    return d << 4 | a << 7 | b << 10;
}

/* ---- the instruction descriptor ---- */

TEST(instr_fields) {
    grout_ptx_instr_desc it = decode(0x08200490, F16);
    ck_assert_uint_eq(it.m, 128);
    ck_assert_uint_eq(it.n, 128);
    ck_assert_uint_eq(it.k, 16);
    ck_assert_int_eq(it.a, GROUT_PTX_BF16);
    ck_assert_int_eq(it.b, GROUT_PTX_BF16);
    ck_assert_int_eq(it.d, GROUT_PTX_F32);
    it = decode(0x08200490 | 1u << 13 | 1u << 16, F16);
    ck_assert(it.is_a_negative && !it.is_b_negative && !it.is_a_mn_major && it.is_b_mn_major);
    ck_assert(grout_ptx__instr_product(&it).how.is_negative);
    grout_ptx_mma_words words = {.kind = GROUT_PTX_KIND_F8F6F4, .arch = 100, .ctas = 2};
    it = decode(shape(256, 64) | types(1, 5, 3), words);
    ck_assert_int_eq(it.a, GROUT_PTX_E2M1);
    ck_assert_int_eq(it.b, GROUT_PTX_E2M3);
    ck_assert_uint_eq(it.k, 32);
    ck_assert(grout_ptx__instr_is_slotted(&it, it.a));
    words =
        (grout_ptx_mma_words){.kind = GROUT_PTX_KIND_I8, .arch = 100, .ctas = 1, .is_sparse = true};
    it = decode(shape(64, 48) | types(2, 0, 1) | 1u << 2 | 1u << 3, words);
    ck_assert_int_eq(it.a, GROUT_PTX_U8);
    ck_assert_int_eq(it.b, GROUT_PTX_S8);
    ck_assert_uint_eq(it.k, 64);
    ck_assert(it.is_saturating);
    words = (grout_ptx_mma_words){
        .kind = GROUT_PTX_KIND_MXF4NVF4, .arch = 100, .ctas = 1, .scale_vec = 2};
    it = decode(shape(128, 8) | types(0, 1, 1) | 2u << 4 | 2u << 29 | 1u << 23, words);
    ck_assert_uint_eq(it.scales, 2);
    ck_assert_uint_eq(it.a_scale_id, 2);
    ck_assert_uint_eq(it.b_scale_id, 2);
    ck_assert_int_eq(it.scale, GROUT_PTX_UE8M0);
    ck_assert_int_eq(it.d, GROUT_PTX_F32);
    words = (grout_ptx_mma_words){
        .kind = GROUT_PTX_KIND_TF32, .arch = 100, .ctas = 1, .is_stationary = true, .input_d = 0};
    it = decode(shape(32, 256) | types(1, 2, 2) | 2u << 30, words);
    ck_assert_uint_eq(it.reuse, 16);
}

/* A descriptor and its modifiers, for the tests of single bits. */
typedef struct example {
    uint32_t bits;
    grout_ptx_mma_words words;
} example;

static const example EXAMPLES[] = {
    {0x08200490, {GROUT_PTX_KIND_F16, 100, 1, false, false, false, 0, 0}},
    {0x10400490, {GROUT_PTX_KIND_F16, 100, 2, false, false, false, 0, 0}},
    {0x08200914, {GROUT_PTX_KIND_TF32, 100, 1, true, false, true, 0, 0}},
    {0x04100010, {GROUT_PTX_KIND_F8F6F4, 100, 1, false, false, false, 0, 0}},
    {0x04200490, {GROUT_PTX_KIND_F16, 100, 1, false, true, false, 0, 0}},
    {0x08200020, {GROUT_PTX_KIND_I8, 100, 1, false, false, false, 0, 0}},
    {0x08a00000, {GROUT_PTX_KIND_MXF8F6F4, 100, 1, false, false, false, 1, 0}},
    {0x08a00480, {GROUT_PTX_KIND_MXF4, 100, 1, false, false, false, 2, 0}},
    {0x08200480, {GROUT_PTX_KIND_MXF4NVF4, 100, 1, false, false, false, 4, 0}},
};

static bool is_same(const grout_ptx_instr_desc *x, const grout_ptx_instr_desc *y) {
    return x->a == y->a && x->b == y->b && x->d == y->d && x->m == y->m && x->n == y->n &&
           x->k == y->k && x->is_saturating == y->is_saturating &&
           x->is_a_negative == y->is_a_negative && x->is_b_negative == y->is_b_negative &&
           x->is_a_mn_major == y->is_a_mn_major && x->is_b_mn_major == y->is_b_mn_major &&
           x->selector == y->selector && x->reuse == y->reuse && x->scale == y->scale &&
           x->scales == y->scales && x->a_scale_id == y->a_scale_id &&
           x->b_scale_id == y->b_scale_id;
}

/* Every bit counts: with one changed, the descriptor is refused or means something else. */
TEST_EACH(instr_bits, COUNT_OF(EXAMPLES)) {
    const example *it = &EXAMPLES[_i];
    const grout_ptx_instr_desc good = decode(it->bits, it->words);
    for (int bit = 0; bit < 32; bit++) {
        grout_ptx_instr_desc other;
        memset(&other, 0, sizeof other);
        if (grout_ptx__instr_decode(it->bits ^ 1u << bit, &it->words, &other, &fault)) {
            ck_assert_msg(!is_same(&good, &other), "bit %d", bit);
        }
    }
}

/* Any bits: refused, or a shape that the tables of the ISA have. */
TEST(instr_any) {
    uint32_t seed = 5, legal = 0;
    for (uint32_t round = 0; round < 40000; round++) {
        seed = seed * 1664525u + 1013904223u;
        /* Most of the fixed bits are as they have to be. */
        const uint32_t fixed = round / 14 % 2 == 0 ? 0x1c7fff94 : 0x7cffffb4;
        const uint32_t bits = (seed >> 7 ^ seed << 20) & fixed;
        const grout_ptx_mma_words words = {
            .kind = (grout_ptx_mma_kind)(round % GROUT_PTX_KIND_COUNT),
            .arch = 100,
            .ctas = 1 + round / 7 % 2,
            .is_sparse = (bits & 4) != 0,
            .scale_vec = round % 7 == GROUT_PTX_KIND_MXF4NVF4 ? 4 : 0};
        grout_ptx_instr_desc it;
        if (grout_ptx__instr_decode(bits, &words, &it, &fault)) {
            legal++;
            ck_assert(it.m / words.ctas <= 128 && it.m % 64 == 0);
            ck_assert(it.n >= 8 * words.ctas && it.n <= 256 && it.n % 8 == 0);
            ck_assert_uint_le(it.k, (words.is_sparse ? 512 : 256) / grout_ptx__format_bits(it.b));
            ck_assert_uint_le(grout_ptx__layout_d_columns(&it), GROUT_PTX_TMEM_COLUMNS / 2);
        }
    }
    ck_assert_uint_gt(legal, 50);
}

TEST(instr_reserved) {
    const uint32_t good = 0x08200490;
    const int bad[] = {0, 1, 2, 3, 5, 6, 7 + 1, 9, 11, 12, 23, 29, 30, 31};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert_msg(!decodes(good ^ 1u << bad[i], F16), "bit %d", bad[i]);
    }
    const grout_ptx_mma_words mxf8 = {.kind = GROUT_PTX_KIND_MXF8F6F4, .arch = 100, .ctas = 1};
    const int bad_scaled[] = {0, 1, 2, 3, 6, 8, 11, 23, 31};
    for (size_t i = 0; i < sizeof bad_scaled / sizeof *bad_scaled; i++) {
        ck_assert_msg(!decodes(0x08a00000 ^ 1u << bad_scaled[i], mxf8), "bit %d", bad_scaled[i]);
    }
}

TEST(instr_shapes) {
    const uint32_t bf16 = types(1, 1, 1);
    grout_ptx_mma_words words = F16;
    ck_assert(decodes(shape(64, 8) | bf16, words));
    ck_assert(decodes(shape(128, 256) | bf16, words));
    ck_assert(!decodes(shape(256, 16) | bf16, words));
    ck_assert(!decodes(shape(32, 64) | bf16, words));
    ck_assert(!decodes(shape(128, 0) | bf16, words));
    ck_assert(!decodes(shape(128, 264) | bf16, words));
    words.ctas = 2;
    ck_assert(decodes(shape(256, 16) | bf16, words));
    ck_assert(!decodes(shape(256, 8) | bf16, words));
    ck_assert(!decodes(shape(64, 16) | bf16, words));
    words.ctas = 1;
    words.is_stationary = true;
    ck_assert(decodes(shape(32, 64) | bf16, words));
    ck_assert(!decodes(shape(32, 32) | bf16, words));
    words.ctas = 2;
    ck_assert(!decodes(shape(128, 64) | bf16, words));
    words = F16;
    words.kind = GROUT_PTX_KIND_I8;
    ck_assert(decodes(shape(128, 24) | types(2, 1, 1), words));
    ck_assert(!decodes(shape(128, 40) | types(2, 1, 1), words));
    words.arch = 103;
    ck_assert(!decodes(shape(128, 32) | types(2, 1, 1), words));
    words = F16;
    words.kind = GROUT_PTX_KIND_F8F6F4;
    ck_assert(!decodes(shape(128, 8) | types(1, 0, 0) | 1u << 16, words));
    ck_assert(decodes(shape(128, 16) | types(1, 0, 0) | 1u << 16, words));
    ck_assert(!decodes(shape(128, 16) | types(1, 0, 5) | 1u << 16, words));
    words.kind = GROUT_PTX_KIND_MXF8F6F4;
    ck_assert(!decodes(shape(64, 16) | 1u << 23, words));
    words = F16;
    words.input_d = 16;
    ck_assert(!decodes(shape(128, 8) | bf16, words));
    words.input_d = 15;
    ck_assert(decodes(shape(128, 8) | bf16, words));
    words.arch = 90;
    ck_assert(!decodes(shape(128, 8) | bf16, words));
}

/* ---- allocation ---- */

TEST(allocation) {
    grout_ptx_tmem tmem = {.last = 0};
    uint32_t first = 1, second = 1, third = 1;
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 16, &first, &fault), GROUT_PTX_TMEM_FAULT);
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 96, &first, &fault), GROUT_PTX_TMEM_FAULT);
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 1024, &first, &fault), GROUT_PTX_TMEM_FAULT);
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 256, &first, &fault), GROUT_PTX_TMEM_DONE);
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 512, &second, &fault), GROUT_PTX_TMEM_FAULT);
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 256, &second, &fault), GROUT_PTX_TMEM_DONE);
    ck_assert_uint_eq(first, 0);
    ck_assert_uint_eq(second, 256);
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 32, &third, &fault), GROUT_PTX_TMEM_WAITS);
    ck_assert(!grout_ptx__tmem_dealloc(&tmem, second, 128, &fault));
    ck_assert(!grout_ptx__tmem_dealloc(&tmem, second + 32, 256, &fault));
    ck_assert(!grout_ptx__tmem_dealloc(&tmem, second | 16u << 16, 256, &fault));
    ck_assert(grout_ptx__tmem_dealloc(&tmem, second, 256, &fault));
    ck_assert(!grout_ptx__tmem_dealloc(&tmem, second, 256, &fault));
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 32, &third, &fault), GROUT_PTX_TMEM_DONE);
    ck_assert(grout_ptx__tmem_is_allocated(&tmem, 0, 288));
    ck_assert(!grout_ptx__tmem_is_allocated(&tmem, 0, 289));
    ck_assert(grout_ptx__tmem_relinquish(&tmem, &fault));
    ck_assert(!grout_ptx__tmem_relinquish(&tmem, &fault));
    ck_assert_int_eq(grout_ptx__tmem_alloc(&tmem, 32, &third, &fault), GROUT_PTX_TMEM_FAULT);
    ck_assert(grout_ptx__tmem_dealloc(&tmem, 0, 256, &fault));
    ck_assert(!grout_ptx__tmem_end(&tmem, &fault));
    ck_assert(grout_ptx__tmem_dealloc(&tmem, 256, 32, &fault));
    ck_assert(grout_ptx__tmem_end(&tmem, &fault));
}

/* ---- moves ---- */

static void check_cell(grout_ptx_tmem_cell got, uint32_t lane, uint32_t column) {
    ck_assert_uint_eq(got.lane, lane);
    ck_assert_uint_eq(got.column, column);
}

TEST(move_cells) {
    grout_ptx_tmem_move it = {GROUT_PTX_TMEM_32X32B, 4, false, 0, 32u << 16 | 100, 5};
    ck_assert(grout_ptx__tmem_move_check(&it, &fault));
    check_cell(grout_ptx__tmem_move_cell(&it, 7, 3), 39, 103);
    it.is_packed = true;
    check_cell(grout_ptx__tmem_move_cell(&it, 7, 3), 39, 106);
    it = (grout_ptx_tmem_move){GROUT_PTX_TMEM_16X64B, 2, false, 0, 0, 0};
    check_cell(grout_ptx__tmem_move_cell(&it, 7, 1), 1 + 8, 2 + 1);
    it.shape = GROUT_PTX_TMEM_16X128B;
    check_cell(grout_ptx__tmem_move_cell(&it, 7, 3), 1 + 8, 4 + 3);
    it.shape = GROUT_PTX_TMEM_16X256B;
    check_cell(grout_ptx__tmem_move_cell(&it, 7, 7), 1 + 8, 8 + 6 + 1);
    it = (grout_ptx_tmem_move){GROUT_PTX_TMEM_16X32BX2, 2, false, 20, 16u << 16, 0};
    ck_assert(grout_ptx__tmem_move_check(&it, &fault));
    check_cell(grout_ptx__tmem_move_cell(&it, 17, 1), 17, 21);
    check_cell(grout_ptx__tmem_move_cell(&it, 1, 1), 17, 1);
}

/* Every cell of the rectangle belongs to one register of one lane. */
TEST_EACH(move_once, 2 * GROUT_PTX_TMEM_SHAPE_COUNT) {
    const grout_ptx_tmem_shape which = (grout_ptx_tmem_shape)(_i / 2);
    static uint8_t used[GROUT_PTX_TMEM_LANES][GROUT_PTX_TMEM_COLUMNS];
    const bool is_packed = _i % 2 != 0;
    grout_ptx_tmem_move it = {which, 4, is_packed, is_packed ? 8 : 4, 0, 0};
    memset(used, 0, sizeof used);
    uint32_t cells = 0;
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t r = 0; r < grout_ptx__tmem_move_registers(&it); r++) {
            const grout_ptx_tmem_cell cell = grout_ptx__tmem_move_cell(&it, lane, r);
            for (uint32_t i = 0; i < (it.is_packed ? 2u : 1u); i++) {
                ck_assert_uint_lt(cell.column + i, grout_ptx__tmem_move_columns(&it));
                ck_assert_uint_eq(used[cell.lane][cell.column + i]++, 0);
                cells++;
            }
        }
    }
    const uint32_t lanes = which == GROUT_PTX_TMEM_32X32B ? 32 : 16;
    ck_assert_uint_eq(cells / lanes, grout_ptx__tmem_move_columns(&it));
    ck_assert_uint_eq(cells % lanes, 0);
}

TEST(move_illegal) {
    const grout_ptx_tmem_move good = {GROUT_PTX_TMEM_16X256B, 32, false, 0, 32u << 16 | 256, 1};
    grout_ptx_tmem_move it = good;
    ck_assert(grout_ptx__tmem_move_check(&it, &fault));
    it.address++;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
    it = good;
    it.count = 64;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
    it.count = 3;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
    it = good;
    it.warp = 2;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
    it.warp = 5;
    ck_assert(grout_ptx__tmem_move_check(&it, &fault));
    it.address = 48u << 16;
    ck_assert(grout_ptx__tmem_move_check(&it, &fault));
    it.shape = GROUT_PTX_TMEM_32X32B;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
    it.address = 33u << 16;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
    it.address = 128u << 16;
    ck_assert(!grout_ptx__tmem_move_check(&it, &fault));
}

/* ---- layouts ---- */

static grout_ptx_instr_desc make_layout(uint32_t m, uint32_t n, uint32_t ctas, bool is_sparse,
                                        bool is_stationary) {
    const grout_ptx_mma_words words = {.kind = GROUT_PTX_KIND_F16,
                                       .arch = 100,
                                       .ctas = ctas,
                                       .is_sparse = is_sparse,
                                       .is_stationary = is_stationary};
    return decode(shape(m, n) | types(1, 1, 1) | (is_sparse ? 4u : 0u), words);
}

static void check_pair(grout_ptx_pair_cell got, uint32_t cta, uint32_t lane, uint32_t column) {
    ck_assert_uint_eq(got.cta, cta);
    ck_assert_uint_eq(got.lane, lane);
    ck_assert_uint_eq(got.column, column);
}

TEST(layouts) {
    grout_ptx_instr_desc it = make_layout(256, 128, 2, false, false);
    check_pair(grout_ptx__layout_d(&it, 200, 70), 1, 72, 70);
    it = make_layout(128, 128, 2, false, false);
    check_pair(grout_ptx__layout_d(&it, 70, 30), 1, 6, 30);
    check_pair(grout_ptx__layout_d(&it, 70, 100), 1, 6 + 64, 36);
    ck_assert_uint_eq(grout_ptx__layout_d_columns(&it), 64);
    ck_assert_uint_eq(grout_ptx__layout_a_copies(&it), 2);
    check_pair(grout_ptx__layout_a(&it, 70, 5, 1).cell, 1, 70, 2);
    ck_assert_uint_eq(grout_ptx__layout_a(&it, 70, 5, 1).bit, 16);
    it = make_layout(128, 128, 2, true, false);
    check_pair(grout_ptx__layout_d(&it, 64 + 20, 100), 1, 32 + 4, 100);
    it = make_layout(128, 128, 1, false, false);
    check_pair(grout_ptx__layout_d(&it, 100, 100), 0, 100, 100);
    it = make_layout(64, 128, 1, false, true);
    check_pair(grout_ptx__layout_d(&it, 40, 100), 0, 40 + 64, 36);
    it = make_layout(64, 128, 1, false, false);
    check_pair(grout_ptx__layout_d(&it, 40, 100), 0, 64 + 8, 100);
    ck_assert(grout_ptx__layout_check(&it, "D", 16u << 16 | 384, 128, &fault));
    ck_assert(!grout_ptx__layout_check(&it, "D", 385, 128, &fault));
    ck_assert(!grout_ptx__layout_check(&it, "D", 32u << 16, 128, &fault));
    it = make_layout(32, 128, 1, false, true);
    check_pair(grout_ptx__layout_d(&it, 20, 100), 0, 20 + 96, 4);
    ck_assert(!grout_ptx__layout_check(&it, "D", 16u << 16, 32, &fault));
}

TEST(pairs) {
    const grout_ptx_instr_desc it = make_layout(256, 128, 2, false, false);
    const uint32_t masks[8] = {0, 0, 0, 0, 0, 1u << 5, 0, 0};
    uint32_t cta = 9, own = 9;
    grout_ptx__pair_b(&it, 70, &cta, &own);
    ck_assert(cta == 1 && own == 6);
    grout_ptx__pair_a(&it, 127, &cta, &own);
    ck_assert(cta == 0 && own == 127);
    ck_assert(grout_ptx__lane_is_disabled(masks, 1, 37));
    ck_assert(!grout_ptx__lane_is_disabled(masks, 0, 37));
}

TEST(scales) {
    grout_ptx_mma_words words = {.kind = GROUT_PTX_KIND_MXF4, .arch = 100, .ctas = 1};
    grout_ptx_instr_desc it = decode(shape(128, 256) | types(0, 1, 1) | 1u << 23 | 2u << 29, words);
    grout_ptx_tmem_element at;
    ck_assert(grout_ptx__layout_scale(&it, false, 70, 1, 2, &at));
    check_pair(at.cell, 0, 64 + 6, 2);
    ck_assert_uint_eq(at.bit, 24);
    ck_assert(grout_ptx__layout_scale(&it, true, 200, 1, 0, &at));
    check_pair(at.cell, 0, 8, 6);
    ck_assert_uint_eq(at.bit, 8);
    words.ctas = 2;
    it = decode(shape(128, 128) | types(0, 1, 1) | 1u << 23, words);
    ck_assert(grout_ptx__layout_scale(&it, true, 100, 0, 3, &at));
    check_pair(at.cell, 0, 96 + 4, 1);
    ck_assert(!grout_ptx__layout_scale(&it, true, 100, 0, 0, &at));
    ck_assert(grout_ptx__layout_scale(&it, false, 100, 0, 0, &at));
    check_pair(at.cell, 1, 4, 1);
}

TEST(copies) {
    uint32_t lanes[4] = {0};
    ck_assert_uint_eq(grout_ptx__copy_lanes(GROUT_PTX_COPY_128X256B, 100, lanes), 1);
    ck_assert_uint_eq(lanes[0], 100);
    ck_assert_uint_eq(grout_ptx__copy_lanes(GROUT_PTX_COPY_4X256B, 3, lanes), 1);
    ck_assert_uint_eq(lanes[0], 96);
    ck_assert_uint_eq(grout_ptx__copy_lanes(GROUT_PTX_COPY_64X128B_02_13, 40, lanes), 2);
    ck_assert(lanes[0] == 40 && lanes[1] == 104);
    ck_assert_uint_eq(grout_ptx__copy_lanes(GROUT_PTX_COPY_64X128B_01_23, 40, lanes), 2);
    ck_assert(lanes[0] == 72 && lanes[1] == 104);
    ck_assert_uint_eq(grout_ptx__copy_lanes(GROUT_PTX_COPY_32X128B, 5, lanes), 4);
    ck_assert(lanes[0] == 5 && lanes[3] == 101);
    ck_assert_uint_eq(grout_ptx__copy_rows(GROUT_PTX_COPY_64X128B_01_23), 64);
    ck_assert_uint_eq(grout_ptx__copy_row_bytes(GROUT_PTX_COPY_4X256B), 32);
    /* 4 bits: 0x1 0x2 0x3 ..; 6 bits: 0x3f 0 0x3f .. */
    const uint8_t slot[16] = {0x21, 0x43}, six[16] = {0x3f, 0xf0, 0x03};
    uint8_t bytes[16];
    grout_ptx__copy_expand(GROUT_PTX_COPY_B4X16_P64, slot, bytes);
    ck_assert(bytes[0] == 1 && bytes[1] == 2 && bytes[2] == 3 && bytes[3] == 4 && bytes[4] == 0);
    grout_ptx__copy_expand(GROUT_PTX_COPY_B6X16_P32, six, bytes);
    ck_assert(bytes[0] == 0x3f && bytes[1] == 0 && bytes[2] == 0x3f && bytes[3] == 0);
    grout_ptx__copy_expand(GROUT_PTX_COPY_PLAIN, slot, bytes);
    ck_assert_mem_eq(bytes, slot, 16);
    grout_ptx_tmem_cell first;
    ck_assert(grout_ptx__shift_check(32u << 16 | 504, &first, &fault));
    ck_assert(!grout_ptx__shift_check(32u << 16 | 505, &first, &fault));
    ck_assert(!grout_ptx__shift_check(16u << 16, &first, &fault));
    ck_assert(grout_ptx__commit_check(3, 2, &fault));
    ck_assert(!grout_ptx__commit_check(4, 2, &fault));
    ck_assert(!grout_ptx__commit_check(0, 2, &fault));
}

/* ---- launch control ---- */

TEST(answers) {
    const grout_ptx_answer given = {true, {0x7fffffff, 0xffff, 3}};
    grout_ptx_answer got;
    uint64_t words[2] = {0, 0};
    uint32_t ctaid[3];
    ck_assert(!grout_ptx__answer_decode(words, &got, &fault));
    grout_ptx__answer_encode(&given, words);
    ck_assert(grout_ptx__answer_decode(words, &got, &fault) && got.is_cancelled);
    ck_assert(grout_ptx__answer_ctaid(words, ctaid, &fault));
    ck_assert_mem_eq(ctaid, given.ctaid, sizeof ctaid);
    grout_ptx__answer_encode(&(grout_ptx_answer){.is_cancelled = false}, words);
    ck_assert(grout_ptx__answer_decode(words, &got, &fault) && !got.is_cancelled);
    ck_assert(!grout_ptx__answer_ctaid(words, ctaid, &fault));
}
