/* check_ptx_run_wgmma.c - whole wgmmas and mma.syncs: a box that TMA has written, by its
 * descriptor. SPDX-License-Identifier: Apache-2.0 */
#include "two_memories.h"

#include "ptx/tensor/run_mma.h"
#include "ptx/tensor/run_wgmma.h"
#include "tests/tests.h"

/* ---- wgmma ---- */

static uint32_t registers[128 * 128], a_registers[4 * 128], metadata[128];

/* D of 32 bits: register r of thread t has row 16w + l/4 + 8(r/2 % 2), column 8(r/4) + 2(l%4) +
 * r%2. */
static void check_d(uint32_t n, uint32_t k, int32_t c, bool is_integer) {
    for (uint32_t r = 0; r < n / 2; r++) {
        for (uint32_t t = 0; t < 128; t++) {
            const uint32_t row = t / 32 * 16 + t % 32 / 4 + 8 * (r / 2 % 2);
            const uint32_t column = 8 * (r / 4) + 2 * (t % 4) + r % 2;
            const int32_t sum = multiply(row, column, k) + c;
            ck_assert_uint_eq(registers[r * 128 + t], is_integer ? (uint32_t)sum : as_float(sum));
        }
    }
}

static void run_wgmma(const grout_ptx_wgmma *instruction, uint64_t a, uint64_t b, bool reads_d) {
    const grout_ptx_wgmma_operands operands = {.a_desc = a,
                                               .b_desc = b,
                                               .a_registers = a_registers,
                                               .metadata = metadata,
                                               .reads_d = reads_d,
                                               .d = registers};
    ck_assert_msg(grout_ptx__wgmma_run(instruction, &operands, &ACCESS, &scratch, &fault), "%s",
                  fault.text);
}

static const grout_ptx_wgmma BF16 = {.n = 64,
                                     .k = 16,
                                     .a = GROUT_PTX_BF16,
                                     .b = GROUT_PTX_BF16,
                                     .d = GROUT_PTX_F32,
                                     .scale_a = 1,
                                     .scale_b = 1};

/* Rows of a swizzle's width in K: the descriptor advances by 32 bytes from one k16 to the next. */
static void check_k_major(grout_ptx_swizzle swizzle, uint32_t k, uint64_t code) {
    const uint32_t span = grout_ptx__swizzle_span(swizzle);
    begin();
    load(&(tile){left, 0, 64, k, GROUT_PTX_BF16, swizzle, false, 0, 1024});
    load(&(tile){right, 0, 64, k, GROUT_PTX_BF16, swizzle, false, 0, BASE_B});
    const uint64_t stride = (uint64_t)span * 8;
    for (uint64_t step = 0; step < k / 16; step++) {
        run_wgmma(&BF16, make_desc(1024 + 32 * step, 16, stride, code),
                  make_desc(BASE_B + 32 * step, 16, stride, code), step != 0);
    }
    check_d(64, k, 0, false);
}

TEST(wgmma_k_major) {
    check_k_major(GROUT_PTX_SWIZZLE_128B, 64, 2);
    check_k_major(GROUT_PTX_SWIZZLE_64B, 32, 4);
    check_k_major(GROUT_PTX_SWIZZLE_32B, 16, 6);
}

/* 128 columns of B as two panels of 64, 16 rows of k each; and A the other way round too. */
TEST(wgmma_mn_major) {
    grout_ptx_wgmma instruction = BF16;
    begin();
    load(&(tile){left, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, true, 0, 1024});
    load(&(tile){right, 0, 128, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, true, 0, BASE_B});
    instruction.n = 128;
    instruction.transpose_a = instruction.transpose_b = 1;
    run_wgmma(&instruction, make_desc(1024, 2048, 1024, 2), make_desc(BASE_B, 2048, 1024, 2),
              false);
    check_d(128, 16, 0, false);
}

/* Each mode: from one panel to the next is the leading offset, from 8 rows of k to the next 8 the
 * stride offset; without a swizzle the other way round. */
TEST_EACH(wgmma_mn_modes, 4) {
    const uint64_t widths[] = {16, 32, 64, 128}, codes[] = {0, 6, 4, 2};
    const uint64_t panel = 16 * widths[_i], group = 8 * widths[_i];
    const uint64_t leading = _i == 0 ? group : panel, stride = _i == 0 ? panel : group;
    grout_ptx_wgmma instruction = BF16;
    begin();
    load(&(tile){left, 0, 64, 16, GROUT_PTX_BF16, (grout_ptx_swizzle)_i, true, 0, 1024});
    load(&(tile){right, 0, 64, 16, GROUT_PTX_BF16, (grout_ptx_swizzle)_i, true, 0, BASE_B});
    instruction.transpose_a = instruction.transpose_b = 1;
    run_wgmma(&instruction, make_desc(1024, leading, stride, codes[_i]),
              make_desc(BASE_B, leading, stride, codes[_i]), false);
    check_d(64, 16, 0, false);
}

/* Core matrices: 8 rows of 16 bytes, the next 8 rows after them, the next 16 bytes of k after 64
 * rows. */
TEST(wgmma_no_swizzle) {
    begin();
    load(&(tile){left, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_NONE, false, 0, 1024});
    load(&(tile){right, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_NONE, false, 0, BASE_B});
    run_wgmma(&BF16, make_desc(1024, 1024, 128, 0), make_desc(BASE_B, 1024, 128, 0), false);
    check_d(64, 16, 0, false);
}

/* A in registers: 2(l%4) + h + 8(r/2) is k, 16w + l/4 + 8(r%2) the row. */
TEST(wgmma_registers) {
    grout_ptx_wgmma instruction = BF16;
    begin();
    load(&(tile){right, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_32B, false, 0, BASE_B});
    for (uint32_t r = 0; r < 4; r++) {
        for (uint32_t t = 0; t < 128; t++) {
            const uint32_t row = t / 32 * 16 + t % 32 / 4 + 8 * (r % 2),
                           k = 2 * (t % 4) + 8 * (r / 2);
            a_registers[r * 128 + t] = encode(GROUT_PTX_BF16, left[row][k]) |
                                       encode(GROUT_PTX_BF16, left[row][k + 1]) << 16;
        }
    }
    for (size_t i = 0; i < sizeof registers / sizeof *registers; i++) {
        registers[i] = as_float(3);
    }
    instruction.is_a_register = true;
    run_wgmma(&instruction, 0, make_desc(BASE_B, 16, 256, 6), true);
    check_d(64, 16, 3, false);
}

TEST(wgmma_bytes) {
    const grout_ptx_wgmma s8 = {.n = 64,
                                .k = 32,
                                .a = GROUT_PTX_S8,
                                .b = GROUT_PTX_S8,
                                .d = GROUT_PTX_S32,
                                .scale_a = 1,
                                .scale_b = 1};
    begin();
    load(&(tile){left, 0, 64, 32, GROUT_PTX_S8, GROUT_PTX_SWIZZLE_32B, false, 0, 1024});
    load(&(tile){right, 0, 64, 32, GROUT_PTX_S8, GROUT_PTX_SWIZZLE_32B, false, 0, BASE_B});
    run_wgmma(&s8, make_desc(1024, 16, 256, 6), make_desc(BASE_B, 16, 256, 6), false);
    check_d(64, 32, 0, true);
}

/* Elements 1 and 3 of each four (nibble 0xd) are the only ones that A has. */
TEST(wgmma_sparse) {
    grout_ptx_wgmma instruction = BF16;
    int32_t dense[64][32] = {{0}};
    begin();
    for (uint32_t row = 0; row < 64; row++) {
        for (uint32_t i = 0; i < 16; i++) {
            dense[row][i / 2 * 4 + (i % 2 == 0 ? 1 : 3)] = left[row][i];
        }
    }
    memset(metadata, 0xdd, sizeof metadata);
    load(&(tile){left, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, false, 0, 1024});
    load(&(tile){right, 0, 64, 32, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, false, 0, BASE_B});
    instruction.is_sparse = true;
    instruction.k = 32;
    run_wgmma(&instruction, make_desc(1024, 16, 1024, 2), make_desc(BASE_B, 16, 1024, 2), false);
    for (uint32_t row = 0; row < 64; row++) {
        memset(left[row], 0, sizeof left[row]);
        memcpy(left[row], dense[row], sizeof dense[row]);
    }
    check_d(64, 32, 0, false);
}

/* ---- mma.sync ---- */

static const grout_ptx_mma MMAS[] = {
    {16, GROUT_PTX_BF16, GROUT_PTX_BF16, GROUT_PTX_F32, false},
    {8, GROUT_PTX_BF16, GROUT_PTX_BF16, GROUT_PTX_F32, false},
    {8, GROUT_PTX_TF32, GROUT_PTX_TF32, GROUT_PTX_F32, false},
    {4, GROUT_PTX_TF32, GROUT_PTX_TF32, GROUT_PTX_F32, false},
    {32, GROUT_PTX_E4M3, GROUT_PTX_E4M3, GROUT_PTX_F32, false},
    {32, GROUT_PTX_S8, GROUT_PTX_S8, GROUT_PTX_S32, true},
    {16, GROUT_PTX_S8, GROUT_PTX_S8, GROUT_PTX_S32, false},
};

/* Elements to registers by the ISA's formulas: groupID is lane / 4, threadID_in_group lane % 4; as
 * many neighbours in k as a register holds. */
TEST_EACH(mma_sync, COUNT_OF(MMAS)) {
    const grout_ptx_mma *at = &MMAS[_i];
    const uint32_t bits = grout_ptx__format_bits(at->a), packed = 32 / bits;
    uint32_t a[4 * 32] = {0}, b[2 * 32] = {0}, d[4 * 32];
    draw_matrices();
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < 4 * packed; i++) {
            const uint32_t r = i / packed, h = i % packed;
            const uint32_t k = lane % 4 * packed + h, row = lane / 4 + 8 * (r % 2);
            const uint32_t k_a = k + r / 2 * 4 * packed, k_b = k + r * 4 * packed;
            if (k_a < at->k) {
                a[r * 32 + lane] |= encode(at->a, left[row][k_a]) << h * bits;
            }
            if (r < 2 && k_b < at->k) {
                b[r * 32 + lane] |= encode(at->b, right[lane / 4][k_b]) << h * bits;
            }
            d[r * 32 + lane] = at->d == GROUT_PTX_S32 ? 5 : as_float(5);
        }
    }
    ck_assert_msg(grout_ptx__mma_check(at, &fault), "%s", fault.text);
    ck_assert_uint_eq(grout_ptx__mma_d_registers(at), 4);
    grout_ptx__mma_sync(at, a, b, d);
    for (uint32_t i = 0; i < 4 * 32; i++) {
        const uint32_t lane = i % 32, r = i / 32;
        const int32_t sum = multiply(lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2, at->k) + 5;
        ck_assert_uint_eq(d[i], at->d == GROUT_PTX_S32 ? (uint32_t)sum : as_float(sum));
    }
}

TEST(mma_sync_illegal) {
    const grout_ptx_mma bad[] = {{32, GROUT_PTX_BF16, GROUT_PTX_BF16, GROUT_PTX_F32, false},
                                 {16, GROUT_PTX_BF16, GROUT_PTX_F16, GROUT_PTX_F32, false},
                                 {16, GROUT_PTX_BF16, GROUT_PTX_BF16, GROUT_PTX_F16, false},
                                 {16, GROUT_PTX_E4M3, GROUT_PTX_E4M3, GROUT_PTX_F32, false},
                                 {16, GROUT_PTX_F16, GROUT_PTX_F16, GROUT_PTX_F32, true},
                                 {32, GROUT_PTX_S8, GROUT_PTX_E4M3, GROUT_PTX_S32, false}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        ck_assert(!grout_ptx__mma_check(&bad[i], &fault));
    }
}

/* Every bit of both descriptors, one at a time: refused, or another D. */
TEST(wgmma_planted) {
    static uint32_t good[sizeof registers / sizeof *registers];
    const uint64_t a = make_desc(1024, 16, 1024, 2), b = make_desc(BASE_B, 16, 1024, 2);
    begin();
    fill_shared();
    load(&(tile){left, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, false, 0, 1024});
    load(&(tile){right, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_128B, false, 0, BASE_B});
    memset(registers, 0, sizeof registers);
    run_wgmma(&BF16, a, b, false);
    memcpy(good, registers, sizeof good);
    for (int bit = 0; bit < 128; bit++) {
        const grout_ptx_wgmma_operands operands = {
            .a_desc = a ^ (bit < 64 ? (uint64_t)1 << bit : 0),
            .b_desc = b ^ (bit >= 64 ? (uint64_t)1 << (bit - 64) : 0),
            .d = registers};
        memset(registers, 0, sizeof registers);
        const bool runs = grout_ptx__wgmma_run(&BF16, &operands, &ACCESS, &scratch, &fault);
        const bool is_same = runs && memcmp(good, registers, sizeof good) == 0;
        ck_assert_msg(is_same == is_leading(bit), "bit %d", bit);
    }
}
