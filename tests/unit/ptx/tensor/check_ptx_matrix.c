/* check_ptx_matrix.c - matrix descriptors, fragments, sparse metadata and the products of wgmma.
 * SPDX-License-Identifier: Apache-2.0 */
#include "ptx/tensor/fragment.h"
#include "ptx/tensor/matrix_desc.h"
#include "ptx/tensor/wgmma.h"
#include "tests/tests.h"

#include <string.h>

static grout_ptx_fault fault;

static uint64_t make_bits(uint64_t start, uint64_t leading, uint64_t stride, uint64_t code) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | code << 61;
}

static grout_ptx_matrix_desc decode(uint64_t bits, grout_ptx_desc_kind kind) {
    grout_ptx_matrix_desc desc;
    ck_assert_msg(grout_ptx__desc_decode(bits, kind, 100, &desc, &fault), "%s", fault.text);
    return desc;
}

static uint32_t locate(const grout_ptx_matrix_desc *desc, grout_ptx_operand_form form, uint32_t mn,
                       uint32_t k) {
    uint32_t address = 0, bit = 0;
    ck_assert(grout_ptx__desc_locate(desc, &form, mn, k, &address, &bit));
    ck_assert_uint_eq(bit, 0);
    return address;
}

/* ---- descriptors ---- */

TEST(desc_fields) {
    const uint64_t bits = make_bits(0x4400, 0x10, 0x400, 2) | (uint64_t)3 << 49;
    grout_ptx_matrix_desc desc = decode(bits, GROUT_PTX_DESC_WGMMA);
    ck_assert_uint_eq(desc.start, 0x4400);
    ck_assert_uint_eq(desc.leading, 0x10);
    ck_assert_uint_eq(desc.stride, 0x400);
    ck_assert_uint_eq(desc.base_offset, 3);
    ck_assert_int_eq(desc.swizzle, GROUT_PTX_SWIZZLE_128B);
    ck_assert_int_eq(decode(make_bits(0, 0, 0, 4), GROUT_PTX_DESC_WGMMA).swizzle,
                     GROUT_PTX_SWIZZLE_64B);
    ck_assert_int_eq(decode(make_bits(0, 0, 0, 6), GROUT_PTX_DESC_WGMMA).swizzle,
                     GROUT_PTX_SWIZZLE_32B);
    const uint64_t version = (uint64_t)1 << 46;
    ck_assert_int_eq(decode(make_bits(0, 0, 0, 1) | version, GROUT_PTX_DESC_TCGEN05).swizzle,
                     GROUT_PTX_SWIZZLE_128B_ATOM_32B);
    /* The largest fields: 18 bits of an address. */
    desc = decode(make_bits(0x3fff0, 0x3fff0, 0x3fff0, 0), GROUT_PTX_DESC_WGMMA);
    ck_assert_uint_eq(desc.start, 0x3fff0);
    ck_assert_uint_eq(desc.leading, 0x3fff0);
    ck_assert_uint_eq(desc.stride, 0x3fff0);
}

/* Every bit that may not be set, one at a time. */
TEST(desc_reserved) {
    const uint64_t good = make_bits(0x400, 16, 1024, 2), version = (uint64_t)1 << 46;
    const int bad[] = {14, 15, 30, 31, 46, 47, 48, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61};
    grout_ptx_matrix_desc desc;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const uint64_t bit = (uint64_t)1 << bad[i];
        ck_assert(!grout_ptx__desc_decode(good ^ bit, GROUT_PTX_DESC_WGMMA, 90, &desc, &fault));
        ck_assert(!grout_ptx__desc_decode((good | version) ^ bit, GROUT_PTX_DESC_TCGEN05, 100,
                                          &desc, &fault));
    }
    ck_assert(!grout_ptx__desc_decode(good, GROUT_PTX_DESC_TCGEN05, 100, &desc, &fault));
    const uint64_t codes[] = {3, 5, 7};
    for (size_t i = 0; i < 3; i++) {
        ck_assert(!grout_ptx__desc_decode(make_bits(0, 0, 0, codes[i]) | version,
                                          GROUT_PTX_DESC_TCGEN05, 100, &desc, &fault));
    }
}

/* Every bit counts: with one changed, the descriptor is refused or means something else. */
TEST_EACH(desc_bits, 2) {
    const grout_ptx_desc_kind kind = _i == 0 ? GROUT_PTX_DESC_WGMMA : GROUT_PTX_DESC_TCGEN05;
    const uint64_t bits = make_bits(0x400, 16, 1024, 2) | (uint64_t)_i << 46;
    const grout_ptx_matrix_desc good = decode(bits, kind);
    for (int bit = 0; bit < 64; bit++) {
        grout_ptx_matrix_desc it;
        if (grout_ptx__desc_decode(bits ^ (uint64_t)1 << bit, kind, 100, &it, &fault)) {
            ck_assert_msg(it.start != good.start || it.leading != good.leading ||
                              it.stride != good.stride || it.base_offset != good.base_offset ||
                              it.swizzle != good.swizzle,
                          "bit %d", bit);
        }
    }
}

static const grout_ptx_operand_form BF16_K = {.format = GROUT_PTX_BF16};
static const grout_ptx_operand_form BF16_MN = {.format = GROUT_PTX_BF16, .is_mn_major = true};

/* Row 9, k 10 of a tile of bf16: by hand in each mode. */
TEST(desc_addresses) {
    grout_ptx_matrix_desc desc = decode(make_bits(0x2000, 0x100, 0x800, 0), GROUT_PTX_DESC_WGMMA);
    /* Core matrices of 8 rows by 16 bytes: k 10 is in the second, at byte 4. */
    ck_assert_uint_eq(locate(&desc, BF16_K, 9, 10), 0x2000 + 0x100 + 0x800 + 16 + 4);
    /* MN-major: 8 elements by 8 rows of k; element 9 is in the second along M, k 10 along K. */
    ck_assert_uint_eq(locate(&desc, BF16_MN, 9, 10), 0x2000 + 0x800 + 0x100 + 2 * 16 + 2);
    desc = decode(make_bits(0x2000, 0x10, 0x400, 2), GROUT_PTX_DESC_WGMMA);
    /* Row 9 is row 1 of the second atom: chunk 1 goes to chunk 0. */
    ck_assert_uint_eq(locate(&desc, BF16_K, 9, 10), 0x2000 + 0x400 + 128 + 0 + 4);
    ck_assert_uint_eq(locate(&desc, BF16_K, 8, 10), 0x2000 + 0x400 + 16 + 4);
    desc = decode(make_bits(0x2000, 0x1000, 0x400, 2), GROUT_PTX_DESC_WGMMA);
    /* Element 70 is 6 of the second atom along M, k 10 is row 2 of the second along K. */
    ck_assert_uint_eq(locate(&desc, BF16_MN, 70, 10),
                      0x2000 + 0x1000 + 0x400 + 256 + (2 * 16) + 12);
    desc = decode(make_bits(0x2000, 0x10, 0x200, 4), GROUT_PTX_DESC_WGMMA);
    /* 64 bytes a row: row 2 is on line 1, its chunk 1 at chunk 0. */
    ck_assert_uint_eq(locate(&desc, BF16_K, 2, 10), 0x2000 + 128 + 0 + 4);
    desc = decode(make_bits(0x2000, 0x10, 0x100, 6), GROUT_PTX_DESC_WGMMA);
    ck_assert_uint_eq(locate(&desc, BF16_K, 4, 10), 0x2000 + 128 + 0 + 4);
    ck_assert_uint_eq(locate(&desc, BF16_K, 3, 10), 0x2000 + 96 + 16 + 4);
    uint32_t address, bit;
    ck_assert(!grout_ptx__desc_locate(&desc, &BF16_K, 0, 32, &address, &bit));
    /* A row of two swizzled units, the leading offset apart: sparse products of 8 bits have them.
     */
    desc = decode(make_bits(0x2000, 0x400, 0x100, 6), GROUT_PTX_DESC_WGMMA);
    ck_assert_uint_eq(locate(&desc, BF16_K, 0, 16), 0x2000 + 0x400);
    /* A start within a row: the lines of the addresses count. */
    desc = decode(make_bits(0x2020, 0x10, 0x400, 2), GROUT_PTX_DESC_WGMMA);
    ck_assert_uint_eq(locate(&desc, BF16_K, 1, 0), 0x2000 + 128 + (2 ^ 1) * 16);
    /* A pattern that begins at line 1: line 1 of the addresses is not swizzled. */
    desc = decode(make_bits(0x2080, 0x10, 0x400, 2) | (uint64_t)1 << 49, GROUT_PTX_DESC_WGMMA);
    ck_assert_uint_eq(locate(&desc, BF16_K, 0, 8), 0x2080 + 16);
    ck_assert_uint_eq(locate(&desc, BF16_K, 1, 8), 0x2100 + 0);
}

/* tf32 MN-major: groups of 4 k. Slots of 16 bytes: 16 elements of 4 or 6 bits. */
TEST(desc_tcgen05) {
    const uint64_t version = (uint64_t)1 << 46;
    const grout_ptx_operand_form tf32 = {GROUT_PTX_DESC_TCGEN05, GROUT_PTX_TF32, true, false};
    const grout_ptx_operand_form f6 = {GROUT_PTX_DESC_TCGEN05, GROUT_PTX_E3M2, false, true};
    const grout_ptx_operand_form f4 = {GROUT_PTX_DESC_TCGEN05, GROUT_PTX_E2M1, false, false};
    grout_ptx_matrix_desc desc =
        decode(make_bits(0x2000, 0x1000, 0x200, 1) | version, GROUT_PTX_DESC_TCGEN05);
    ck_assert(grout_ptx__desc_check(&desc, &tf32, &fault));
    ck_assert(!grout_ptx__desc_check(&desc, &BF16_MN, &fault));
    ck_assert_uint_eq(locate(&desc, tf32, 33, 5), 0x2000 + 0x1000 + 0x200 + 128 + 32 + 4);
    desc = decode(make_bits(0x2000, 16, 1024, 2) | version, GROUT_PTX_DESC_TCGEN05);
    ck_assert(!grout_ptx__desc_check(&desc, &tf32, &fault));
    ck_assert(grout_ptx__desc_check(&desc, &f6, &fault));
    uint32_t address = 0, bit = 0;
    /* Element 17 of 6 bits: the second slot, bit 6. */
    ck_assert(grout_ptx__desc_locate(&desc, &f6, 0, 17, &address, &bit));
    ck_assert_uint_eq(address, 0x2010);
    ck_assert_uint_eq(bit, 6);
    ck_assert(grout_ptx__desc_locate(&desc, &f4, 1, 33, &address, &bit));
    ck_assert_uint_eq(address, 0x2080 + 0);
    ck_assert_uint_eq(bit, 4);
    const grout_ptx_operand_form f8 = {GROUT_PTX_DESC_WGMMA, GROUT_PTX_E4M3, true, false};
    const grout_ptx_operand_form f6_mn = {GROUT_PTX_DESC_TCGEN05, GROUT_PTX_E3M2, true, true};
    ck_assert(!grout_ptx__desc_check(&desc, &f8, &fault));
    ck_assert(!grout_ptx__desc_check(&desc, &f6_mn, &fault));
}

/* ---- fragments: by the figures, and each element once ---- */

static void check_place(grout_ptx_place got, uint32_t row, uint32_t column) {
    ck_assert_uint_eq(got.row, row);
    ck_assert_uint_eq(got.column, column);
}

TEST(fragments) {
    check_place(grout_ptx__fragment_d(0, 0, 0, 32), 0, 0);
    check_place(grout_ptx__fragment_d(5, 1, 0, 32), 1, 3);
    check_place(grout_ptx__fragment_d(5, 2, 0, 32), 9, 2);
    check_place(grout_ptx__fragment_d(5, 4, 0, 32), 1, 10);
    check_place(grout_ptx__fragment_d(69, 0, 0, 32), 33, 2);
    check_place(grout_ptx__fragment_d(5, 1, 1, 16), 9, 3);
    check_place(grout_ptx__fragment_d(5, 2, 0, 16), 1, 10);
    check_place(grout_ptx__fragment_a(5, 0, 1, 16), 1, 3);
    check_place(grout_ptx__fragment_a(5, 1, 0, 16), 9, 2);
    check_place(grout_ptx__fragment_a(5, 2, 0, 16), 1, 10);
    check_place(grout_ptx__fragment_a(38, 3, 3, 8), 16 + 1 + 8, 8 + 3 + 16);
    check_place(grout_ptx__fragment_a(5, 2, 0, 32), 1, 5);
    check_place(grout_ptx__fragment_a(5, 2, 7, 1), 1, 32 + 7 + 128);
    check_place(grout_ptx__fragment_b(5, 1, 1, 16), 2 + 1 + 8, 1);
    check_place(grout_ptx__fragment_b(5, 1, 0, 32), 1 + 4, 1);
    check_place(grout_ptx__fragment_b(5, 1, 2, 8), 4 + 2 + 16, 1);
    check_place(grout_ptx__matrix_place(5, 1, false), 1, 3);
    check_place(grout_ptx__matrix_place(5, 1, true), 3, 1);
    ck_assert_uint_eq(grout_ptx__matrix_address_lane(2, 3), 19);
}

/* ---- sparse ---- */

TEST(sparse_choice) {
    const uint8_t chunks[] = {0x4, 0xe, 0x9, 0x6}, bad[] = {0x5, 0}, halves[] = {0xe, 4};
    uint8_t kept[16];
    const uint8_t want[] = {0, 1, 6, 7, 9, 10, 14, 13}, pairs[] = {0, 1, 2, 3, 12, 13, 14, 15};
    ck_assert(grout_ptx__sparse_select(GROUT_PTX_SPARSITY_2_4, chunks, 16, kept, &fault));
    ck_assert_mem_eq(kept, want, sizeof want);
    ck_assert(grout_ptx__sparse_select(GROUT_PTX_SPARSITY_4_8, chunks, 16, kept, &fault));
    ck_assert_mem_eq(kept, pairs, sizeof pairs);
    ck_assert(grout_ptx__sparse_select(GROUT_PTX_SPARSITY_1_2, halves, 4, kept, &fault));
    ck_assert_uint_eq(kept[0], 1);
    ck_assert_uint_eq(kept[1], 2);
    ck_assert(!grout_ptx__sparse_select(GROUT_PTX_SPARSITY_2_4, bad, 4, kept, &fault));
    ck_assert(!grout_ptx__sparse_select(GROUT_PTX_SPARSITY_2_4, bad + 1, 4, kept, &fault));
    ck_assert(!grout_ptx__sparse_select(GROUT_PTX_SPARSITY_1_2, chunks + 2, 2, kept, &fault));
}

/* Each chunk of a 64-row tile has four bits of its own. */
static void check_meta_once(uint32_t bits, uint32_t k, uint32_t step, bool is_tmem) {
    static uint8_t used[128][8][32];
    memset(used, 0, sizeof used);
    for (uint32_t row = 0; row < 64; row++) {
        for (uint32_t at = 0; at < k; at += step) {
            const grout_ptx_meta_place place = is_tmem
                                                   ? grout_ptx__tcgen05_meta(bits, false, row, at)
                                                   : grout_ptx__wgmma_meta(bits, 0, row, at);
            ck_assert_uint_lt(place.lane, 128);
            ck_assert_uint_le(place.bit, 28);
            ck_assert_uint_eq(used[place.lane][place.column][place.bit]++, 0);
            ck_assert_uint_eq(place.bit % 4, 0);
        }
    }
}

TEST(sparse_places) {
    check_meta_once(16, 32, 4, false);
    check_meta_once(32, 16, 2, false);
    check_meta_once(8, 64, 4, false);
    check_meta_once(16, 128, 4, true);
    check_meta_once(32, 64, 2, true);
    check_meta_once(8, 128, 4, true);
    check_meta_once(4, 256, 8, true);
    grout_ptx_meta_place place = grout_ptx__wgmma_meta(16, 1, 9, 20);
    ck_assert_uint_eq(place.lane, 4 + 2 + 1);
    ck_assert_uint_eq(place.bit, 16 + 4);
    place = grout_ptx__wgmma_meta(8, 0, 9, 36);
    ck_assert_uint_eq(place.lane, 4 + 2 + 1);
    ck_assert_uint_eq(place.bit, 4);
    place = grout_ptx__tcgen05_meta(16, false, 25, 20);
    ck_assert_uint_eq(place.lane, 16 + 1 + 8);
    ck_assert_uint_eq(place.bit, 16 + 4);
    ck_assert_uint_eq(grout_ptx__tcgen05_meta(16, true, 25, 20).lane, 32 + 1 + 8);
}

/* ---- wgmma ---- */

static const grout_ptx_wgmma BF16 = {.n = 8,
                                     .k = 16,
                                     .a = GROUT_PTX_BF16,
                                     .b = GROUT_PTX_BF16,
                                     .d = GROUT_PTX_F32,
                                     .scale_a = 1,
                                     .scale_b = 1};

static bool is_legal(const grout_ptx_wgmma *it) {
    return grout_ptx__wgmma_check(it, &fault);
}

TEST(wgmma_legal) {
    grout_ptx_wgmma it = BF16;
    ck_assert(is_legal(&it));
    const uint32_t bad_n[] = {0, 4, 12, 264};
    for (size_t i = 0; i < 4; i++) {
        it.n = bad_n[i];
        ck_assert(!is_legal(&it));
    }
    it = BF16;
    it.n = 256;
    ck_assert(is_legal(&it));
    it.k = 8;
    ck_assert(!is_legal(&it));
    it = BF16;
    it.d = GROUT_PTX_F16;
    ck_assert(!is_legal(&it));
    it.a = it.b = GROUT_PTX_F16;
    ck_assert(is_legal(&it));
    ck_assert_uint_eq(grout_ptx__wgmma_registers(&it), 2);
    it.a = GROUT_PTX_BF16;
    ck_assert(!is_legal(&it));
    it = BF16;
    it.scale_a = 2;
    ck_assert(!is_legal(&it));
    it = BF16;
    it.transpose_a = 1;
    ck_assert(is_legal(&it));
    it.is_a_register = true;
    ck_assert(!is_legal(&it));
    it = BF16;
    it.transpose_b = 2;
    ck_assert(!is_legal(&it));
    it = (grout_ptx_wgmma){40,           32,          GROUT_PTX_S8, GROUT_PTX_U8, GROUT_PTX_S32,
                           .scale_a = 1, .scale_b = 1};
    ck_assert(!is_legal(&it));
    it.n = 24;
    it.is_saturating = true;
    ck_assert(is_legal(&it));
    it.transpose_b = 1;
    ck_assert(!is_legal(&it));
    it = BF16;
    it.is_sparse = true;
    it.k = 32;
    it.selector = 1;
    ck_assert(is_legal(&it));
    it.selector = 2;
    ck_assert(!is_legal(&it));
}

/* 1 + 2 * 3 in every element, twice with C, once without; and the sign. */
TEST(wgmma_product) {
    static uint32_t a[64 * 16], b[8 * 16], d[64 * 8];
    grout_ptx_product product = grout_ptx__wgmma_product(&BF16);
    for (size_t i = 0; i < 64; i++) {
        a[i * 16 + 3] = 0x4000; /* 2 */
    }
    for (size_t i = 0; i < 8; i++) {
        b[i * 16 + 3] = 0x4040; /* 3 */
    }
    for (size_t i = 0; i < 512; i++) {
        d[i] = 0x3f800000; /* 1 */
    }
    product.a = a;
    product.b = b;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[8 * 5 + 3], 0x40e00000); /* 7 */
    product.how.is_negative = true;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[511], 0x3f800000);
    product.is_without_c = true;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0xc0c00000); /* -6 */
}

/* A word of its own for each number. */
static uint32_t draw(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8 ^ *seed << 15;
}

/* Blocks of columns and the simple model: the same bits, whatever the operands are. Most have
 * exponents near each other, some any, with infinities and NaNs among them. */
TEST_EACH(blocks, 12) {
    static const grout_ptx_format FORMATS[] = {GROUT_PTX_F16,  GROUT_PTX_BF16, GROUT_PTX_TF32,
                                               GROUT_PTX_E4M3, GROUT_PTX_E5M2, GROUT_PTX_E2M1};
    enum { M = 3, N = 11, K = 32 };
    const grout_ptx_format format = FORMATS[_i / 2],
                           d = _i % 2 == 0 ? GROUT_PTX_F32 : GROUT_PTX_F16;
    const uint32_t one = format == GROUT_PTX_F16    ? 0x3c00
                         : format == GROUT_PTX_BF16 ? 0x3f80
                         : format == GROUT_PTX_TF32 ? 0x3f800000
                         : format == GROUT_PTX_E2M1 ? 2
                                                    : 0x38;
    uint32_t seed = 1 + (uint32_t)_i, a[M * K], b[N * K], got[M * N], before[M * N];
    for (int round = 0; round < 60; round++) {
        for (int i = 0; i < (M + N) * K; i++) {
            const uint32_t any = draw(&seed), near = any % 8 == 0 ? 0 : one ^ (any & one / 4);
            uint32_t *at = i < M * K ? &a[i] : &b[i - M * K];
            *at = round % 4 == 0 ? any : near | any << 31 >> (32 - grout_ptx__format_bits(format));
        }
        for (int i = 0; i < M * N; i++) {
            before[i] = round % 3 == 0 ? draw(&seed) : draw(&seed) % 0x4fff;
            got[i] = before[i];
        }
        grout_ptx_product product = {.how = grout_ptx__dot_hopper(format, format, d),
                                     .m = M,
                                     .n = N,
                                     .k = K,
                                     .a = a,
                                     .b = b};
        product.how.is_negative = round % 5 == 0;
        product.how.c_shift = round % 7;
        grout_ptx__multiply(&product, got);
        for (size_t i = 0; i < sizeof got / sizeof *got; i++) {
            grout_ptx_vector left, right;
            grout_ptx__vector(format, a + i / N * K, K, &left);
            grout_ptx__vector(format, b + i % N * K, K, &right);
            ck_assert_uint_eq(got[i], grout_ptx__dot(&product.how, &left, &right, 0, before[i]));
        }
    }
}

/* A sparse A takes the elements of B that it names, and no others: there is a NaN beside. */
TEST(sparse_product) {
    uint32_t a[2] = {0x3f80, 0x4000}, b[4] = {0x7fc0, 0x4040, 0x7fc0, 0x4080}, d[1] = {0};
    const uint8_t kept[2] = {1, 3};
    const grout_ptx_product product = {
        .how = grout_ptx__dot_hopper(GROUT_PTX_BF16, GROUT_PTX_BF16, GROUT_PTX_F32),
        .m = 1,
        .n = 1,
        .k = 4,
        .a = a,
        .b = b,
        .kept = kept};
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0x41300000); /* 1 * 3 + 2 * 4 */
}

/* Scales: 2^(128 - 127) * 2^(126 - 127); a NaN; and 4-bit floats with two blocks. */
TEST(scaled_product) {
    uint32_t a[64] = {0}, b[64] = {0}, d[1] = {0x3f800000};
    uint32_t x[4] = {130, 127}, y[4] = {126, 127};
    grout_ptx_product product = {
        .kind = GROUT_PTX_PRODUCT_MXF8,
        .how = grout_ptx__dot_blackwell(GROUT_PTX_E4M3, GROUT_PTX_E4M3, GROUT_PTX_F32),
        .m = 1,
        .n = 1,
        .k = 32,
        .a = a,
        .b = b,
        .scale = GROUT_PTX_UE8M0,
        .scales = 1,
        .a_scales = x,
        .b_scales = y};
    a[7] = 0x38; /* 1 */
    b[7] = 0x40; /* 2 */
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0x41100000); /* 1 + 2 * 8 / 2 */
    x[0] = 255;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0x7fffffff);
    product.kind = GROUT_PTX_PRODUCT_MXF4;
    product.how.a = product.how.b = GROUT_PTX_E2M1;
    product.k = 64;
    product.scales = 2;
    x[0] = 130;
    a[7] = 7;  /* 6 */
    b[7] = 2;  /* 1 */
    a[40] = 3; /* 1.5 */
    b[40] = 9; /* -0.5 */
    d[0] = 0;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0x41ba0000); /* 6 * 4 - 0.75 */
    product.scales = 4;
    product.scale = GROUT_PTX_UE4M3;
    const uint32_t ones[4] = {0x38, 0x40, 0x3c, 0x38}; /* 1, 2, 1.5, 1 */
    memcpy(x, ones, sizeof x);
    memcpy(y, ones, sizeof y);
    product.is_without_c = true;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0x408a0000); /* 6 - 0.75 * 2.25 = 4.3125 */
}

TEST(integer_product) {
    uint32_t a[32], b[32], d[1] = {0x7fffff00};
    grout_ptx_product product = {.kind = GROUT_PTX_PRODUCT_INTEGER,
                                 .how = {.a = GROUT_PTX_S8, .b = GROUT_PTX_U8},
                                 .m = 1,
                                 .n = 1,
                                 .k = 32,
                                 .a = a,
                                 .b = b};
    for (int i = 0; i < 32; i++) {
        a[i] = 0x80; /* -128 */
        b[i] = 0xff;
    }
    d[0] = 0x80000000;
    product.is_saturating = true;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0x80000000);
    product.is_saturating = false;
    d[0] = 5;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 0u - 128 * 255 * 32 + 5);
    product.kind = GROUT_PTX_PRODUCT_BITS;
    product.k = 2;
    d[0] = 1;
    grout_ptx__multiply(&product, d);
    ck_assert_uint_eq(d[0], 1 + 2);
}
