/* check_ptx_run.c - whole instructions: a box that TMA has written, multiplied by its descriptor.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The matrices hold small integers, so that every order of the sums gives the same bits. Shared
 * memory is written by the walk over boxes, tensor memory is read by formulas of this file: what
 * descriptors and fragments say meets something that does not share their code.
 */
#include "ptx/tensor/run_mma.h"
#include "ptx/tensor/run_tcgen05.h"
#include "ptx/tensor/run_wgmma.h"
#include "ptx/tensor/tensor_box.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { SHARED = 1 << 17, K_MAX = 128, BASE_B = 1 << 16 };

/* Two CTAs' memories. */
typedef struct machine {
    uint8_t shared[2][SHARED];
    uint32_t tmem[2][GROUT_PTX_TMEM_LANES][GROUT_PTX_TMEM_COLUMNS];
    uint8_t global[256 * 512];
} machine;

static machine it;
static grout_ptx_scratch scratch;
static grout_ptx_fault fault;
static int32_t left[256][K_MAX], right[256][K_MAX]; /* A by rows, B by columns */

static bool read_shared(void *to, uint32_t cta, uint32_t address, uint32_t size, uint8_t *bytes,
                        grout_ptx_fault *words) {
    const machine *memory = to;
    if (address + size > SHARED) {
        return grout_ptx__fail(words, "out of shared memory");
    }
    memcpy(bytes, &memory->shared[cta][address], size);
    return true;
}

static bool read_tmem(void *to, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                      uint32_t *bits, grout_ptx_fault *words) {
    const machine *memory = to;
    (void)words;
    *bits = memory->tmem[cta][cell.lane][cell.column] & mask;
    return true;
}

static bool write_tmem(void *to, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                       uint32_t bits, grout_ptx_fault *words) {
    machine *memory = to;
    uint32_t *word = &memory->tmem[cta][cell.lane][cell.column];
    (void)words;
    *word = (*word & ~mask) | (bits & mask);
    return true;
}

static const grout_ptx_access ACCESS = {&it, read_shared, read_tmem, write_tmem};

/* The bits of a small integer; -4 to 4 is exact everywhere, -2 to 2 in 4 bits. */
static uint32_t encode(grout_ptx_format format, int32_t number) {
    const uint32_t sizes_bf16[] = {0, 0x3f80, 0x4000, 0x4040, 0x4080};
    const uint32_t sizes_e4m3[] = {0, 0x38, 0x40, 0x44, 0x48};
    const uint32_t size = (uint32_t)(number < 0 ? -number : number);
    switch ((int)format) {
    case GROUT_PTX_BF16:
        return sizes_bf16[size] | (number < 0 ? 0x8000u : 0);
    case GROUT_PTX_TF32:
        return sizes_bf16[size] << 16 | (number < 0 ? 0x80000000u : 0);
    case GROUT_PTX_E4M3:
        return sizes_e4m3[size] | (number < 0 ? 0x80u : 0);
    default:
        return (uint32_t)number & 0xff;
    }
}

static void draw_matrices(void) {
    uint32_t seed = 7;
    for (int i = 0; i < 256; i++) {
        for (int k = 0; k < K_MAX; k++) {
            seed = seed * 1664525u + 1013904223u;
            left[i][k] = (int32_t)(seed >> 24) % 9 - 4;
            right[i][k] = (int32_t)(seed >> 16 & 0xff) % 9 - 4;
        }
    }
}

static int32_t multiply(uint32_t row, uint32_t column, uint32_t k) {
    int32_t sum = 0;
    for (uint32_t i = 0; i < k; i++) {
        sum += left[row][i] * right[column][i];
    }
    return sum;
}

typedef struct target {
    uint32_t cta;
} target;

static bool take(void *to, const grout_ptx_run *run) {
    const target *where = to;
    ck_assert(!run->is_fill);
    memcpy(&it.shared[where->cta][run->shared], &it.global[run->global], run->bytes);
    return true;
}

/* A matrix in shared memory, as TMA writes it: panels as wide as the swizzle, or 16 bytes wide, one
 * after another. */
typedef struct tile {
    int32_t (*from)[K_MAX];
    uint32_t first, rows, k; /* of 'from' */
    grout_ptx_format format;
    grout_ptx_swizzle swizzle;
    bool is_mn_major;
    uint32_t cta, shared;
} tile;

static void put_global(const tile *at, uint32_t pitch) {
    const uint32_t bits = grout_ptx__format_bits(at->format);
    for (uint32_t mn = 0; mn < at->rows; mn++) {
        for (uint32_t k = 0; k < at->k; k++) {
            const uint32_t element = encode(at->format, at->from[at->first + mn][k]);
            const uint32_t outer = at->is_mn_major ? k : mn, inner = at->is_mn_major ? mn : k;
            memcpy(&it.global[outer * pitch + inner * bits / 8], &element, bits / 8);
        }
    }
}

static void load(const tile *at) {
    const uint32_t bytes = grout_ptx__format_bits(at->format) / 8;
    const uint32_t inner = at->is_mn_major ? at->rows : at->k;
    const uint32_t outer = at->is_mn_major ? at->k : at->rows;
    const uint32_t width = grout_ptx__swizzle_span(at->swizzle);
    const uint32_t span = width == 0 ? 16 : width, wide = span / bytes;
    const uint32_t pitch = (inner * bytes + 15) / 16 * 16;
    put_global(at, pitch);
    const grout_ptx_tensor_map map = {.elem = bytes == 1   ? GROUT_PTX_ELEM_U8
                                              : bytes == 2 ? GROUT_PTX_ELEM_BF16
                                                           : GROUT_PTX_ELEM_F32,
                                      .rank = 2,
                                      .swizzle = at->swizzle,
                                      .dims = {inner, outer},
                                      .strides = {pitch},
                                      .box = {inner < wide ? inner : wide, outer},
                                      .element_strides = {1, 1}};
    ck_assert_msg(grout_ptx__map_check(&map, 100, &fault), "%s", fault.text);
    for (uint32_t panel = 0; panel * wide < inner; panel++) {
        const grout_ptx_box box = {.dims = 2,
                                   .shared = at->shared + panel * outer * span,
                                   .coordinates = {(int32_t)(panel * wide), 0}};
        target where = {at->cta};
        ck_assert_msg(grout_ptx__box_walk(&map, &box, take, &where, &fault), "%s", fault.text);
    }
}

static uint64_t make_desc(uint64_t start, uint64_t leading, uint64_t stride, uint64_t code) {
    return start >> 4 | leading >> 4 << 16 | stride >> 4 << 32 | code << 61;
}

static uint32_t as_float(int32_t number) {
    const float value = (float)number;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void begin(void) {
    memset(&it, 0x3c, sizeof it); /* ordinary numbers: what is read by mistake counts */
    draw_matrices();
}

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

START_TEST(wgmma_k_major) {
    check_k_major(GROUT_PTX_SWIZZLE_128B, 64, 2);
    check_k_major(GROUT_PTX_SWIZZLE_64B, 32, 4);
    check_k_major(GROUT_PTX_SWIZZLE_32B, 16, 6);
}
END_TEST

/* 128 columns of B as two panels of 64, 16 rows of k each; and A the other way round too. */
START_TEST(wgmma_mn_major) {
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
END_TEST

/* Each mode: from one panel to the next is the leading offset, from 8 rows of k to the next 8 the
 * stride offset; without a swizzle the other way round. */
START_TEST(wgmma_mn_modes) {
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
END_TEST

/* Core matrices: 8 rows of 16 bytes, the next 8 rows after them, the next 16 bytes of k after 64
 * rows. */
START_TEST(wgmma_no_swizzle) {
    begin();
    load(&(tile){left, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_NONE, false, 0, 1024});
    load(&(tile){right, 0, 64, 16, GROUT_PTX_BF16, GROUT_PTX_SWIZZLE_NONE, false, 0, BASE_B});
    run_wgmma(&BF16, make_desc(1024, 1024, 128, 0), make_desc(BASE_B, 1024, 128, 0), false);
    check_d(64, 16, 0, false);
}
END_TEST

/* A in registers: 2(l%4) + h + 8(r/2) is k, 16w + l/4 + 8(r%2) the row. */
START_TEST(wgmma_registers) {
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
END_TEST

START_TEST(wgmma_bytes) {
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
END_TEST

/* Elements 1 and 3 of each four (nibble 0xd) are the only ones that A has. */
START_TEST(wgmma_sparse) {
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
END_TEST

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
START_TEST(mma_sync) {
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
END_TEST

START_TEST(mma_sync_illegal) {
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
END_TEST

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

START_TEST(mma_layouts) {
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
END_TEST

/* A in tensor memory: two elements of bf16 in a cell; M = 128 of two CTAs has it twice. */
START_TEST(mma_a_tmem) {
    const layout_case *at = &LAYOUTS[_i];
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
END_TEST

/* An MN-major A of tf32 needs atoms of 32 bytes, in groups of 4 rows of k; one of e4m3 has whole
 * lines. */
START_TEST(mma_mn_major) {
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
END_TEST

START_TEST(mma_disabled) {
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
END_TEST

/* Scales of 2^(m % 3) and 2^-(n % 2), copied as blocks of 512 bytes: byte m%32 * 16 + m/32 * 4 +
 * id. */
START_TEST(mma_scaled) {
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
END_TEST

START_TEST(shifted) {
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
END_TEST

/* Bytes that are not zero and not all alike, so that what is read by mistake counts. */
static void fill_shared(void) {
    for (uint32_t i = 0; i < SHARED; i += 2) {
        it.shared[0][i] = (uint8_t)(i * 7 >> 3);
    }
}

/* Bits 16 to 29 of a matrix descriptor: the leading offset of a K-major swizzled matrix, the one
 * field without effect. */
static bool is_leading(int bit) {
    return bit < 128 && bit % 64 >= 16 && bit % 64 < 30;
}

/* Every bit of the three descriptors, one at a time: refused, or another D. */
START_TEST(mma_planted) {
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
END_TEST

START_TEST(wgmma_planted) {
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
END_TEST

int main(void) {
    Suite *suite = suite_create("ptx_run");
    TCase *tests = tcase_create("run");
    tcase_add_test(tests, wgmma_k_major);
    tcase_add_test(tests, wgmma_mn_major);
    tcase_add_loop_test(tests, wgmma_mn_modes, 0, 4);
    tcase_add_test(tests, wgmma_no_swizzle);
    tcase_add_test(tests, wgmma_registers);
    tcase_add_test(tests, wgmma_bytes);
    tcase_add_test(tests, wgmma_sparse);
    tcase_add_loop_test(tests, mma_sync, 0, sizeof MMAS / sizeof *MMAS);
    tcase_add_test(tests, mma_sync_illegal);
    tcase_add_loop_test(tests, mma_layouts, 0, sizeof LAYOUTS / sizeof *LAYOUTS);
    tcase_add_loop_test(tests, mma_a_tmem, 0, 2);
    tcase_add_loop_test(tests, mma_a_tmem, 3, 4);
    tcase_add_test(tests, mma_mn_major);
    tcase_add_test(tests, mma_disabled);
    tcase_add_test(tests, mma_scaled);
    tcase_add_test(tests, shifted);
    tcase_add_test(tests, mma_planted);
    tcase_add_test(tests, wgmma_planted);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
