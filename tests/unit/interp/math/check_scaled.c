/*
 * check_scaled.c - products with block scales: 'exact' numerics against a model in integers, 'fast'
 * against float64.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "interp/math/scaled.h"
#include "tests/tests.h"
#include "tests/unit/support/often.h"

#include "grout-internal/verify.h"
#include "grout/num.h"

#include <math.h>
#include <string.h>

enum { M = 64, N = 8, K = 128, BLOCK_MIN = 16, BLOCKS = K / BLOCK_MIN, F32_LEAST = -126 };

static uint64_t random_state = 1;
static uint32_t draw(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

/* A format without infinities, or of which none is drawn. */
typedef struct format {
    grout_dtype dtype;
    int exponent_bits, fraction_bits, least;
} format;
static const format E4M3 = {GROUT_DTYPE_F8E4M3, 4, 3, -6};
static const format E5M2 = {GROUT_DTYPE_F8E5M2, 5, 2, -14};
static const format E2M3 = {GROUT_DTYPE_F6E2M3, 2, 3, 0};
static const format E3M2 = {GROUT_DTYPE_F6E3M2, 3, 2, -2};
static const format E2M1 = {GROUT_DTYPE_F4E2M1, 2, 1, 0};

/* sign * m * 2^(exponent - fraction_bits); a subnormal has the least exponent. */
typedef struct number {
    int64_t m;
    int exponent;
} number;

typedef struct pair {
    const format *a, *b;
    grout_dtype scales;
    uint32_t block;
} pair;
static const pair PAIRS[] = {
    {&E4M3, &E4M3, GROUT_DTYPE_F8E8M0, 32}, {&E4M3, &E5M2, GROUT_DTYPE_F8E8M0, 32},
    {&E2M3, &E3M2, GROUT_DTYPE_F8E8M0, 32}, {&E5M2, &E2M3, GROUT_DTYPE_F8E8M0, 32},
    {&E2M1, &E2M1, GROUT_DTYPE_F8E8M0, 32}, {&E2M1, &E2M1, GROUT_DTYPE_F8E8M0, 16},
    {&E2M1, &E2M1, GROUT_DTYPE_F8E4M3, 16},
};
enum { PAIR_COUNT = sizeof PAIRS / sizeof *PAIRS };

/* ---- what is multiplied ---------------------------------------------------------------------- */

static number a_numbers[K][M], b_numbers[K][N];
static float a[K * M], b[N * K], start[N * M], got[N * M];
static uint8_t a_scales[M * BLOCKS], b_scales[N * BLOCKS];

static number draw_number(const format *it) {
    const int top = (1 << it->exponent_bits) - 1;
    const int field = it->exponent_bits > 3 ? (int)(draw() % (uint32_t)top) : (int)draw() & top;
    const int64_t fraction = draw() & ((1u << it->fraction_bits) - 1);
    const int64_t m = fraction + (field == 0 ? 0 : INT64_C(1) << it->fraction_bits);
    return (number){.m = draw() % 2 != 0 ? -m : m,
                    .exponent = it->least + (field == 0 ? 0 : field - 1)};
}

static float get_float(const format *it, number value) {
    return ldexpf((float)value.m, value.exponent - it->fraction_bits);
}

static uint8_t draw_scale(const pair *it, bool is_wide) {
    if (it->scales == GROUT_DTYPE_F8E4M3) {
        const uint8_t byte = (uint8_t)draw();
        return (byte & 0x7fu) == 0x7f ? 0x38 : byte;
    }
    return (uint8_t)(is_wide ? draw() % 255 : 117 + draw() % 21);
}

static void fill(const pair *it, bool is_wide, bool has_k_rows) {
    for (uint32_t k = 0; k < K; k++) {
        for (uint32_t m = 0; m < M; m++) {
            a_numbers[k][m] = draw_number(it->a);
            a[k * M + m] = get_float(it->a, a_numbers[k][m]);
        }
        for (uint32_t n = 0; n < N; n++) {
            b_numbers[k][n] = draw_number(it->b);
            b[has_k_rows ? k * N + n : n * K + k] = get_float(it->b, b_numbers[k][n]);
        }
    }
    for (uint32_t i = 0; i < M * BLOCKS; i++) {
        a_scales[i] = draw_scale(it, is_wide);
        b_scales[i % (N * BLOCKS)] = draw_scale(it, is_wide);
    }
    for (uint32_t i = 0; i < N * M; i++) {
        start[i] = draw() % 4 == 0 ? 0.0f : ldexpf((float)(int32_t)draw(), (int)(draw() % 24) - 40);
    }
    memcpy(got, start, sizeof got);
}

static grout_gemm make_gemm(const pair *it, bool has_k_rows, bool is_exact) {
    grout_gemm gemm = {.m = M,
                       .n = N,
                       .k = K,
                       .has_k_rows = has_k_rows,
                       .scale_block = (uint8_t)it->block,
                       .scale_dtype = (uint8_t)it->scales};
    if (is_exact) {
        gemm.core = grout_tensor_core__get_tcgen05(it->a->dtype, it->b->dtype, GROUT_DTYPE_F32,
                                                   it->a->dtype == GROUT_DTYPE_F4E2M1);
    }
    return gemm;
}

/* ---- the model ------------------------------------------------------------------------------- */

/* A term of a sum: m * 2^shift, which counts with an exponent. */
typedef struct term {
    int64_t m;
    int shift, exponent;
    bool counts;
} term;

/* A scale as eighths times a power of two. */
static number get_scale(const pair *it, uint8_t byte) {
    const int field = byte >> 3 & 15;
    if (it->scales == GROUT_DTYPE_F8E8M0) {
        return (number){.m = 8, .exponent = byte - 127};
    }
    return field == 0 ? (number){.m = byte & 7, .exponent = -6}
                      : (number){.m = 8 + (byte & 7), .exponent = field - 7};
}

static term get_term_of_f32(float value) {
    int exponent = 0;
    const double fraction = frexp((double)value, &exponent);
    return (term){.m = (int64_t)ldexp(fraction, 24),
                  .shift = exponent - 24,
                  .exponent = exponent - 1 < F32_LEAST ? F32_LEAST : exponent - 1,
                  .counts = value != 0};
}

__extension__ typedef __int128 wide;

/* The terms cut at 2^(E - fraction), added, and cut to an f32. */
static float add(const term *terms, uint32_t count, int fraction, int floor_exponent) {
    int top = floor_exponent;
    for (uint32_t i = 0; i < count; i++) {
        top = terms[i].counts && terms[i].exponent > top ? terms[i].exponent : top;
    }
    wide sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        const int by = terms[i].shift - (top - fraction);
        const wide size = terms[i].m < 0 ? -terms[i].m : terms[i].m;
        const wide cut = by >= 0 ? size << by : by <= -63 ? 0 : size >> -by;
        sum += terms[i].m < 0 ? -cut : cut;
    }
    const bool is_negative = sum < 0;
    wide size = is_negative ? -sum : sum;
    int unit = top - fraction;
    while (size >> 24 != 0 || (size != 0 && unit < F32_LEAST - 23)) {
        size >>= 1;
        unit++;
    }
    const float value = ldexpf((float)(uint32_t)size, unit);
    return size == 0 ? 0.0f : is_negative ? -value : value;
}

static term get_product(const pair *it, const uint32_t at[3]) {
    const uint32_t block = at[2] / it->block, blocks = K / it->block;
    const number x = a_numbers[at[2]][at[0]], y = b_numbers[at[2]][at[1]];
    const int scale = get_scale(it, a_scales[at[0] * blocks + block]).exponent +
                      get_scale(it, b_scales[at[1] * blocks + block]).exponent;
    const int exponent = x.exponent + y.exponent + scale;
    return (term){.m = x.m * y.m,
                  .shift = exponent - it->a->fraction_bits - it->b->fraction_bits,
                  .exponent = exponent,
                  .counts = x.m * y.m != 0};
}

/* 16 products of 4 bits, in quarters, and both scales. */
static term get_group(const pair *it, const uint32_t at[3]) {
    const uint32_t block = at[2] / it->block, blocks = K / it->block;
    const number left = get_scale(it, a_scales[at[0] * blocks + block]);
    const number right = get_scale(it, b_scales[at[1] * blocks + block]);
    int64_t sum = 0;
    for (uint32_t k = at[2]; k < at[2] + 16; k++) {
        const number x = a_numbers[k][at[0]], y = b_numbers[k][at[1]];
        sum += x.m * y.m * (INT64_C(1) << (x.exponent + y.exponent));
    }
    const int exponent = left.exponent + right.exponent;
    return (term){.m = sum * left.m * right.m,
                  .shift = exponent - 2 - 3 - 3,
                  .exponent = exponent,
                  .counts = true};
}

static float get_expected(const pair *it, uint32_t m, uint32_t n) {
    const bool is_f4 = it->a == &E2M1;
    float c = start[n * M + m];
    for (uint32_t k = 0; k < K; k += is_f4 ? 64 : 32) {
        term terms[33] = {get_term_of_f32(c)};
        const uint32_t count = is_f4 ? 4 : 32;
        for (uint32_t i = 0; i < count; i++) {
            const uint32_t at[3] = {m, n, k + i * (is_f4 ? 16 : 1)};
            terms[1 + i] = is_f4 ? get_group(it, at) : get_product(it, at);
        }
        c = add(terms, 1 + count, is_f4 ? 35 : 25, is_f4 ? -1000 : F32_LEAST - 7);
    }
    return c;
}

TEST_EACH(exact_is_as_the_model_says, PAIR_COUNT) {
    const pair *it = &PAIRS[_i];
    for (uint32_t round = 0; round < 4; round++) {
        const bool has_k_rows = round % 2 != 0;
        const grout_gemm gemm = make_gemm(it, has_k_rows, true);
        const grout_scaled_tiles tiles = {a, b, a_scales, b_scales, NULL};
        fill(it, false, has_k_rows);
        grout_scaled__run(&gemm, got, &tiles);
        for (uint32_t i = 0; i < N * M; i++) {
            const float wanted = get_expected(it, i % M, i / M);
            ASSERT_OFTEN(grout_bits_f32(got[i]) == grout_bits_f32(wanted));
        }
    }
}

/* ---- fast ------------------------------------------------------------------------------------ */

static double get_scale_value(const pair *it, uint8_t byte) {
    const number scale = get_scale(it, it->scales == GROUT_DTYPE_F8E4M3 ? byte & 0x7f : byte);
    return ldexp((double)scale.m, scale.exponent - 3);
}

TEST_EACH(fast_is_near_float64, PAIR_COUNT) {
    const pair *it = &PAIRS[_i];
    const uint32_t blocks = K / it->block;
    const grout_gemm gemm = make_gemm(it, false, false);
    const grout_scaled_tiles tiles = {a, b, a_scales, b_scales, NULL};
    fill(it, false, false);
    grout_scaled__run(&gemm, got, &tiles);
    for (uint32_t i = 0; i < N * M; i++) {
        const uint32_t m = i % M, n = i / M;
        double sum = (double)start[i], size = fabs(sum);
        for (uint32_t k = 0; k < K; k++) {
            const double product = (double)a[k * M + m] * (double)b[n * K + k] *
                                   get_scale_value(it, a_scales[m * blocks + k / it->block]) *
                                   get_scale_value(it, b_scales[n * blocks + k / it->block]);
            sum += product;
            size += fabs(product);
        }
        ASSERT_OFTEN(fabs((double)got[i] - sum) <= size * 0x1p-18);
    }
}

/* ---- of a sparse a ----------------------------------------------------------------------------
 */

enum { CODES = 4, WORDS_MAX = 2 * K / (CODES * 4) };

static float all_b[N * 2 * K], rows_of_b[N * K], turned_a[M * K], dense[N * M];
static uint16_t words[M * WORDS_MAX];

/* Codes of two of four, in either order. */
static void draw_words(void) {
    memset(words, 0, sizeof words);
    for (uint32_t i = 0; i < M * WORDS_MAX * CODES; i++) {
        const uint32_t first = draw() % 4, second = (first + 1 + draw() % 3) % 4;
        words[i / CODES] |= (uint16_t)((first | second << 2) << 4 * (i % CODES));
    }
}

/* The rows of b that a row of a is multiplied by, with their turn of K. */
static void gather_rows(const grout_gemm *gemm, const grout_sparse_tiles *sparse, uint32_t m) {
    for (uint32_t k = 0; k < K; k++) {
        const uint32_t row = grout_sparse__get_row(gemm, sparse, m, k);
        for (uint32_t n = 0; n < N; n++) {
            rows_of_b[n * K + k] = all_b[n * 2 * K + row];
        }
    }
}

/* A row of it is that of a dense a by the rows of b which the codes name, bit for bit. */
TEST_EACH(a_sparse_row_is_a_dense_one, 2 * PAIR_COUNT) {
    const pair *it = &PAIRS[_i / 2];
    const bool is_exact = _i % 2 != 0;
    grout_gemm gemm = make_gemm(it, false, is_exact);
    const grout_gemm dense_gemm = gemm;
    gemm.group = (uint8_t)grout_sparse_get_group(it->a->dtype);
    fill(it, false, false);
    draw_words();
    for (uint32_t i = 0; i < N * 2 * K; i++) {
        all_b[i] = get_float(it->b, draw_number(it->b));
    }
    for (uint32_t i = 0; i < M * K; i++) {
        turned_a[i] = a[i % K * M + i / K];
    }
    const bool has_m_rows = it->block == 32;
    const float *left = has_m_rows ? turned_a : a;
    const grout_sparse_tiles sparse = {left, all_b, words, has_m_rows};
    const grout_scaled_tiles tiles = {left, all_b, a_scales, b_scales, &sparse};
    const grout_scaled_tiles plain = {a, rows_of_b, a_scales, b_scales, NULL};
    grout_scaled__run(&gemm, got, &tiles);
    for (uint32_t m = 0; m < M; m += 7) {
        memcpy(dense, start, sizeof dense);
        gather_rows(&gemm, &sparse, m);
        grout_scaled__run(&dense_gemm, dense, &plain);
        for (uint32_t n = 0; n < N; n++) {
            ASSERT_OFTEN(grout_bits_f32(got[n * M + m]) == grout_bits_f32(dense[n * M + m]));
        }
    }
}

/* A scale that is none makes its row or column NaN, and nothing else. */
TEST_EACH(a_scale_of_nan_spoils_its_row, 2 * PAIR_COUNT) {
    const pair *it = &PAIRS[_i / 2];
    const grout_gemm gemm = make_gemm(it, false, _i % 2 != 0);
    const grout_scaled_tiles tiles = {a, b, a_scales, b_scales, NULL};
    fill(it, false, false);
    a_scales[(size_t)3 * (K / it->block)] = it->scales == GROUT_DTYPE_F8E8M0 ? 0xff : 0x7f;
    grout_scaled__run(&gemm, got, &tiles);
    for (uint32_t i = 0; i < N * M; i++) {
        ASSERT_OFTEN(isnan(got[i]) == (i % M == 3));
    }
}
