/* check_ptx_run_tcgen05.c - whole tcgen05.mmas: a box that TMA has written, by its descriptor.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Tensor memory is read by formulas of this file. */
#include "two_memories.h"

#include "ptx/tensor/run_tcgen05.h"
#include "tests/tests.h"

/* ---- tcgen05 ---- */

static const uint64_t VERSION = (uint64_t)1 << 46;

/* The letters of the layouts: which cell element (m, n) has, by the formulas of the figures. */
static uint32_t get_d(char layout, uint32_t n_all, uint32_t m, uint32_t n) {
    switch (layout) {
    case 'A':
        return it.tmem[m / 128][m % 128][n];
    case 'B':
        return it.tmem[m / 64][m % 64 + 64 * (n / (n_all / 2))][n % (n_all / 2)];
    case 'C':
        return it.tmem[m / 64][32 * (m % 64 / 16) + m % 16][n];
    case 'D':
        return it.tmem[0][m][n];
    case 'E':
        return it.tmem[0][m + 64 * (n / (n_all / 2))][n % (n_all / 2)];
    case 'F':
        return it.tmem[0][32 * (m / 16) + m % 16][n];
    default:
        return it.tmem[0][m + 32 * (n / (n_all / 4))][n % (n_all / 4)];
    }
}

typedef struct layout_case {
    char layout;
    uint32_t m, n, ctas;
    bool is_sparse, is_stationary;
} layout_case;

static const layout_case LAYOUTS[] = {
    {'A', 256, 64, 2, false, false}, {'B', 128, 32, 2, false, false},
    {'C', 128, 32, 2, true, false},  {'D', 128, 24, 1, false, false},
    {'E', 64, 64, 1, false, true},   {'F', 64, 8, 1, false, false},
    {'G', 32, 64, 1, false, true},
};

/* A and B of bf16, each CTA its share; a sparse A has elements 0 and 1 of each four. */
static void load_pair(const layout_case *at, uint32_t k) {
    for (uint32_t cta = 0; cta < at->ctas; cta++) {
        const uint32_t m = at->m / at->ctas, n = at->n / at->ctas,
                       stored = at->is_sparse ? k / 2 : k;
        load(&(tile){left, cta * m, m, stored, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, false, cta,
                     1024});
        load(&(tile){right, cta * n, n, k, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, false, cta,
                     BASE_B});
    }
}

static grout_ptx_mma_operands get_operands(const layout_case *at) {
    return (grout_ptx_mma_operands){.a = make_desc(1024, 16, 1024, 2) | VERSION,
                                    .b_desc = make_desc(BASE_B, 16, 1024, 2) | VERSION,
                                    .instr = 0x490 | at->n >> 3 << 17 | at->m >> 4 << 24 |
                                             (at->is_sparse ? 4u : 0),
                                    .metadata = 256};
}

static grout_ptx_mma_words get_words(const layout_case *at) {
    return (grout_ptx_mma_words){.kind = GROUT_PTX_KIND_F16,
                                 .arch = 100,
                                 .ctas = at->ctas,
                                 .is_sparse = at->is_sparse,
                                 .is_stationary = at->is_stationary};
}

static void run_mma(const grout_ptx_mma_words *words, const grout_ptx_mma_operands *operands) {
    ck_assert_msg(grout_ptx__mma_run(words, operands, &ACCESS, &scratch, &fault), "%s", fault.text);
}

/* The product, by the layout's formula. */
static void check_mma(const layout_case *at, uint32_t k, int32_t c) {
    for (uint32_t m = 0; m < at->m; m++) {
        for (uint32_t n = 0; n < at->n; n++) {
            ck_assert_uint_eq(get_d(at->layout, at->n, m, n), as_float(multiply(m, n, k) + c));
        }
    }
}

TEST_EACH(mma_layouts, COUNT_OF(LAYOUTS)) {
    const layout_case *at = &LAYOUTS[_i];
    const uint32_t k = at->is_sparse ? 32 : 16;
    const grout_ptx_mma_words words = get_words(at);
    begin();
    load_pair(at, k);
    grout_ptx_mma_operands operands = get_operands(at);
    for (uint32_t i = 0; i < 256; i++) {
        it.tmem[i / 128][i % 128][256] = 0x44444444;
    }
    run_mma(&words, &operands);
    if (at->is_sparse) {
        for (uint32_t m = 0; m < at->m; m++) {
            for (uint32_t i = 32; i-- > 0;) {
                left[m][i] = i % 4 < 2 ? left[m][i / 4 * 2 + i % 4] : 0;
            }
        }
    }
    check_mma(at, k, 0);
    operands.reads_d = true;
    operands.instr |= 1u << 13; /* minus A */
    run_mma(&words, &operands);
    ck_assert_uint_eq(get_d(at->layout, at->n, at->m - 1, at->n - 1), 0);
}

/* A in tensor memory: two elements of bf16 in a cell; M = 128 of two CTAs has it twice. */
TEST_EACH(mma_a_tmem, 3) {
    const layout_case *at = &LAYOUTS[_i < 2 ? _i : 3]; /* not the sparse one */
    grout_ptx_mma_words words = get_words(at);
    begin();
    load_pair(at, 16);
    grout_ptx_mma_operands operands = get_operands(at);
    words.is_a_tmem = true;
    operands.a = 300;
    for (uint32_t m = 0; m < at->m; m++) {
        const uint32_t cta = m * at->ctas / at->m, own = m % (at->m / at->ctas);
        for (uint32_t k = 0; k < 16; k += 2) {
            const uint32_t both =
                encode(GROUT_PTX_BF16, left[m][k]) | encode(GROUT_PTX_BF16, left[m][k + 1]) << 16;
            it.tmem[cta][own][300 + k / 2] = both;
            if (at->layout == 'B') {
                it.tmem[cta][own + 64][300 + k / 2] = both;
            }
        }
    }
    run_mma(&words, &operands);
    check_mma(at, 16, 0);
    if (at->layout == 'B') {
        it.tmem[1][64][300] ^= 0x10000;
        ck_assert(!grout_ptx__mma_run(&words, &operands, &ACCESS, &scratch, &fault));
    }
}

/* An MN-major A of tf32 needs atoms of 32 bytes, in groups of 4 rows of k; one of e4m3 has whole
 * lines. */
TEST(mma_mn_major) {
    const layout_case *at = &LAYOUTS[3];
    grout_ptx_mma_words words = get_words(at);
    begin();
    load_pair(at, 16);
    words.kind = GROUT_PTX_KIND_TF32;
    load(&(tile){left, 0, 128, 8, GROUT_PTX_TF32, GROUT_PTX_SWIZZLE_128B_ATOM_32B, true, 0, 1024});
    load(&(tile){right, 0, 24, 8, GROUT_PTX_TF32, GROUT_PTX_SWIZZLE_32B, false, 0, BASE_B});
    grout_ptx_mma_operands operands = get_operands(at);
    operands.instr = 1u << 4 | 2u << 7 | 2u << 10 | 1u << 15 | 24 >> 3 << 17 | 128 >> 4 << 24;
    operands.a = make_desc(1024, 1024, 512, 1) | VERSION;
    operands.b_desc = make_desc(BASE_B, 16, 256, 6) | VERSION;
    run_mma(&words, &operands);
    check_mma(at, 8, 0);
    words.kind = GROUT_PTX_KIND_F8F6F4;
    load(&(tile){left, 0, 128, 32, GROUT_PTX_E4M3, GROUT_PTX_SWIZZLE_128B, true, 0, 1024});
    load(&(tile){right, 0, 24, 32, GROUT_PTX_E4M3, GROUT_PTX_SWIZZLE_32B, false, 0, BASE_B});
    operands.instr = 1u << 4 | 1u << 15 | 24 >> 3 << 17 | 128 >> 4 << 24;
    operands.a = make_desc(1024, 4096, 1024, 2) | VERSION;
    run_mma(&words, &operands);
    check_mma(at, 32, 0);
}

TEST(mma_disabled) {
    const layout_case *at = &LAYOUTS[3];
    const grout_ptx_mma_words words = get_words(at);
    const uint32_t masks[4] = {0, 1u << 7, 0, 0};
    begin();
    load_pair(at, 16);
    grout_ptx_mma_operands operands = get_operands(at);
    operands.disabled_lanes = masks;
    run_mma(&words, &operands);
    ck_assert_uint_eq(it.tmem[0][39][0], 0x3c3c3c3c);
    ck_assert_uint_eq(it.tmem[0][40][0], as_float(multiply(40, 0, 16)));
}

/* Scales of 2^(m % 3) and 2^-(n % 2), copied as blocks of 512 bytes: byte m%32 * 16 + m/32 * 4 +
 * id. */
TEST(mma_scaled) {
    const grout_ptx_mma_words words = {.kind = GROUT_PTX_KIND_MXF8F6F4, .arch = 100, .ctas = 1};
    grout_ptx_copy copy = {.shape = GROUT_PTX_COPY_32X128B, .ctas = 1, .arch = 100};
    const uint32_t id = 2;
    begin();
    load(&(tile){left, 0, 128, 32, GROUT_PTX_E4M3, GROUT_PTX_SWIZZLE_32B, false, 0, 1024});
    load(&(tile){right, 0, 128, 32, GROUT_PTX_E4M3, GROUT_PTX_SWIZZLE_32B, false, 0, BASE_B});
    for (uint32_t i = 0; i < 128; i++) {
        const uint32_t at = i % 32 * 16 + i / 32 * 4 + id;
        it.shared[0][0x8000 + at] = (uint8_t)(127 + i % 3);
        it.shared[0][0x9000 + at] = (uint8_t)(127 - i % 2);
    }
    for (uint32_t i = 0; i < 2; i++) {
        copy.desc = make_desc(0x8000 + 0x1000 * i, 16, 128, 0) | VERSION;
        copy.address = 256 + 4 * i;
        ck_assert_msg(grout_ptx__copy_run(&copy, &ACCESS, &fault), "%s", fault.text);
    }
    const grout_ptx_mma_operands operands = {.a = make_desc(1024, 16, 256, 6) | VERSION,
                                             .b_desc = make_desc(BASE_B, 16, 256, 6) | VERSION,
                                             .instr = 128 >> 3 << 17 | 128 >> 4 << 24 | 1u << 23 |
                                                      id << 29 | id << 4,
                                             .a_scales = 256,
                                             .b_scales = 260};
    run_mma(&words, &operands);
    for (uint32_t m = 0; m < 128; m++) {
        for (uint32_t n = 0; n < 128; n++) {
            const float want = (float)(multiply(m, n, 32) * (1 << m % 3)) / (float)(1 << n % 2);
            float got;
            memcpy(&got, &it.tmem[0][m][n], sizeof got);
            ck_assert(got == want);
        }
    }
    it.tmem[0][70][257] ^= 1u << 16;
    ck_assert(!grout_ptx__mma_run(&words, &operands, &ACCESS, &scratch, &fault));
}

/* What is stored comes back, packed or not; the cells are those of a warp's lanes. */
TEST_EACH(moved, 2) {
    grout_ptx_tmem_move move = {GROUT_PTX_TMEM_16X256B, 2, _i == 1, 0, 48u << 16 | 100, 1};
    uint32_t given[8 * 32], got[8 * 32];
    begin();
    for (uint32_t i = 0; i < 8 * 32; i++) {
        given[i] = i * 0x10001 + 0x70000;
    }
    ck_assert(grout_ptx__tmem_store(&move, 1, &ACCESS, given, &fault));
    ck_assert(grout_ptx__tmem_load(&move, 1, &ACCESS, got, &fault));
    ck_assert_mem_eq(given, got, sizeof got);
    /* Register 5 of lane 6: row 1 of the upper 16 lanes, column 8 + 2 * 2 + 1. */
    const uint32_t word = given[5 * 32 + 6];
    if (_i == 0) {
        ck_assert_uint_eq(it.tmem[1][49][113], word);
    } else {
        ck_assert_uint_eq(it.tmem[1][49][126], 0x3c3c0000 | (word & 0xffff));
        ck_assert_uint_eq(it.tmem[1][49][127], 0x3c3c0000 | word >> 16);
    }
    move.warp = 2;
    ck_assert(!grout_ptx__tmem_load(&move, 1, &ACCESS, got, &fault));
    ck_assert(!grout_ptx__tmem_store(&move, 1, &ACCESS, given, &fault));
}

TEST(shifted) {
    begin();
    for (uint32_t lane = 0; lane < 64; lane++) {
        it.tmem[0][lane][9] = lane;
    }
    ck_assert(grout_ptx__shift_run(32u << 16 | 8, 1, &ACCESS, &fault));
    ck_assert_uint_eq(it.tmem[0][31][9], 31);
    ck_assert_uint_eq(it.tmem[0][32][9], 33);
    ck_assert_uint_eq(it.tmem[0][62][9], 63);
    ck_assert_uint_eq(it.tmem[0][63][9], 63);
}

/* Every bit of the three descriptors, one at a time: refused, or another D. */
TEST(mma_planted) {
    const layout_case *at = &LAYOUTS[3];
    static uint32_t good[GROUT_PTX_TMEM_LANES][GROUT_PTX_TMEM_COLUMNS];
    const grout_ptx_mma_words words = get_words(at);
    begin();
    fill_shared();
    load_pair(at, 16);
    const grout_ptx_mma_operands right_ones = get_operands(at);
    run_mma(&words, &right_ones);
    memcpy(good, it.tmem[0], sizeof good);
    for (int bit = 0; bit < 160; bit++) {
        grout_ptx_mma_operands operands = right_ones;
        memset(it.tmem[0], 0x3c, sizeof it.tmem[0]);
        operands.a ^= bit < 64 ? (uint64_t)1 << bit : 0;
        operands.b_desc ^= bit >= 64 && bit < 128 ? (uint64_t)1 << (bit - 64) : 0;
        operands.instr ^= bit >= 128 ? 1u << (bit - 128) : 0;
        const bool runs = grout_ptx__mma_run(&words, &operands, &ACCESS, &scratch, &fault);
        const bool is_same = runs && memcmp(good, it.tmem[0], sizeof good) == 0;
        ck_assert_msg(is_same == is_leading(bit), "bit %d", bit);
    }
}

/* Every bit of the instruction descriptor, in each layout. Only the reuse of B is for speed alone.
 */
TEST_EACH(instr_planted, COUNT_OF(LAYOUTS)) {
    const layout_case *at = &LAYOUTS[_i];
    static uint32_t good[2][GROUT_PTX_TMEM_LANES][GROUT_PTX_TMEM_COLUMNS];
    const grout_ptx_mma_words words = get_words(at);
    begin();
    fill_shared();
    load_pair(at, at->is_sparse ? 32 : 16);
    for (int bit = -1; bit < 32; bit++) {
        grout_ptx_mma_operands operands = get_operands(at);
        memset(it.tmem, 0x3c, sizeof it.tmem);
        for (uint32_t i = 0; i < 256; i++) {
            it.tmem[i / 128][i % 128][256] = 0x44444444;
        }
        operands.instr ^= bit < 0 ? 0 : 1u << bit;
        const bool runs = grout_ptx__mma_run(&words, &operands, &ACCESS, &scratch, &fault);
        if (bit < 0) {
            ck_assert_msg(runs, "%s", fault.text);
            memcpy(good, it.tmem, sizeof good);
        } else {
            const bool is_same = runs && memcmp(good, it.tmem, sizeof good) == 0;
            ck_assert_msg(is_same == (bit >= 30 && at->is_stationary), "bit %d", bit);
        }
    }
}
