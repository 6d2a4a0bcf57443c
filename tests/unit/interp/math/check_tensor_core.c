/*
 * check_tensor_core.c - products of 'exact' numerics against a model in integers.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "interp/math/pack.h"
#include "interp/math/tensor_core.h"
#include "tensor_model.h"
#include "tests/tests.h"
#include "tests/unit/support/often.h"

#include "grout/num.h"

#include <math.h>
#include <string.h>

enum { M = 128, N = 8, K = 64, ROUNDS = 12 };

static uint64_t random_state = 1;
static uint32_t draw(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

/* A rule as interp/math and as the model have it. */
typedef struct pair {
    grout_dtype a, b, accumulator;
    const model_type *model_a, *model_b, *model_out;
} pair;

static const pair PAIRS[] = {
    {GROUT_DTYPE_BF16, GROUT_DTYPE_BF16, GROUT_DTYPE_F32, &MODEL_BF16, &MODEL_BF16, &MODEL_F32},
    {GROUT_DTYPE_F16, GROUT_DTYPE_F16, GROUT_DTYPE_F32, &MODEL_F16, &MODEL_F16, &MODEL_F32},
    {GROUT_DTYPE_F16, GROUT_DTYPE_F16, GROUT_DTYPE_F16, &MODEL_F16, &MODEL_F16, &MODEL_F16},
    {GROUT_DTYPE_F32, GROUT_DTYPE_F32, GROUT_DTYPE_F32, &MODEL_TF32, &MODEL_TF32, &MODEL_F32},
    {GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F32, &MODEL_E4M3, &MODEL_E4M3, &MODEL_F32},
    {GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F8E5M2, GROUT_DTYPE_F32, &MODEL_E4M3, &MODEL_E5M2, &MODEL_F32},
    {GROUT_DTYPE_F8E5M2, GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F16, &MODEL_E5M2, &MODEL_E4M3, &MODEL_F16},
    {GROUT_DTYPE_F8E5M2, GROUT_DTYPE_F8E5M2, GROUT_DTYPE_F32, &MODEL_E5M2, &MODEL_E5M2, &MODEL_F32},
};
enum { PAIR_COUNT = sizeof PAIRS / sizeof *PAIRS };

/* ---- bits and values ------------------------------------------------------------------------- */

/* The value of the bits, by the definition of such types: not by code of the interpreter. */
static float widen(uint32_t bits, const model_type *type) {
    const model_value it = model_decode(bits, type);
    const float sign = it.is_negative ? -1.0f : 1.0f;
    if (it.is_nan || it.is_infinite) {
        return it.is_nan ? grout_from_bits_f32(0x7fc00000u)
                         : sign * grout_from_bits_f32(0x7f800000u);
    }
    return sign * ldexpf((float)it.m, it.exponent - type->fraction_bits);
}

/* The bits of an accumulator as the model takes them. */
static uint32_t narrow(float value, const model_type *out) {
    uint32_t bits = out == &MODEL_F16 ? grout_pack__narrow_f16(value) : grout_bits_f32(value);
    const uint32_t magnitude = out == &MODEL_F16 ? bits & 0x7fffu : bits & 0x7fffffffu;
    const bool is_nan = magnitude > (out == &MODEL_F16 ? 0x7c00u : 0x7f800000u);
    return !is_nan ? bits : out == &MODEL_F16 ? 0x7fffu : 0x7fffffffu;
}

typedef enum family { ANY_BITS, NEAR_ONE, WIDE, CANCELLING, SPARSE, TINY, FAMILY_COUNT } family;

/* Bits of a type: exponents as the family has them. */
static uint32_t draw_bits(family kind, const model_type *type) {
    const int size = 1 + type->exponent_bits + type->fraction_bits;
    const uint32_t bits = draw() & (uint32_t)((UINT64_C(1) << size) - 1);
    const uint32_t top = (1u << type->exponent_bits) - 1;
    const uint32_t rest = bits & ~(top << type->fraction_bits);
    const uint32_t middle = (uint32_t)type->bias;
    switch (kind) {
    case NEAR_ONE:
    case CANCELLING:
        return rest | (middle + draw() % 3 - 1) << type->fraction_bits;
    case WIDE:
        return rest | (middle - top / 4 + draw() % (top / 2)) << type->fraction_bits;
    case SPARSE:
        return draw() % 3 != 0 ? bits & 1u << (size - 1) : bits;
    case TINY:
        return rest | (draw() % 3) << type->fraction_bits;
    case ANY_BITS:
    case FAMILY_COUNT:
        break;
    }
    return bits;
}

/* ---- tiles ----------------------------------------------------------------------------------- */

static uint32_t a_bits[K * M], b_bits[K * N];
static float a[K * M], b[N * K], start[N * M], got[N * M];

static void fill(const pair *it, family kind, bool has_k_rows) {
    for (uint32_t k = 0; k < K; k++) {
        for (uint32_t m = 0; m < M; m++) {
            uint32_t *bits = &a_bits[k * M + m];
            *bits = draw_bits(kind, it->model_a);
            if (kind == CANCELLING && k % 2 != 0) { /* the one before, with the other sign */
                *bits = a_bits[(k - 1) * M + m] ^
                        1u << (it->model_a->exponent_bits + it->model_a->fraction_bits);
            }
            a[k * M + m] = widen(*bits, it->model_a);
        }
        for (uint32_t n = 0; n < N; n++) {
            uint32_t *bits = &b_bits[k * N + n];
            *bits = draw_bits(kind, it->model_b);
            if (kind == CANCELLING && k % 2 != 0 && draw() % 8 != 0) {
                *bits = b_bits[(k - 1) * N + n];
            }
            b[has_k_rows ? k * N + n : n * K + k] = widen(*bits, it->model_b);
        }
    }
    for (uint32_t i = 0; i < N * M; i++) {
        const uint32_t bits = draw() % 4 == 0 ? 0 : draw_bits(kind, it->model_out);
        start[i] = widen(bits, it->model_out);
        got[i] = start[i];
    }
}

static uint32_t get_expected(const pair *it, const model_rule *rule, uint32_t m, uint32_t n) {
    uint32_t c = narrow(start[n * M + m], it->model_out);
    for (uint32_t k = 0; k < K; k += (uint32_t)rule->block) {
        uint32_t x[32], y[32];
        for (uint32_t i = 0; i < (uint32_t)rule->block; i++) {
            x[i] = a_bits[(k + i) * M + m];
            y[i] = b_bits[(k + i) * N + n];
        }
        c = model_dot(rule, x, y, c);
    }
    return c;
}

TEST_EACH(tiles_are_as_the_model_says, PAIR_COUNT) {
    const pair *it = &PAIRS[_i];
    const grout_tensor_core core = grout_tensor_core__get(it->a, it->b, it->accumulator);
    const model_rule rule = {it->model_a, it->model_b,   it->model_out,
                             core.block,  core.fraction, core.out_bits};
    for (uint32_t round = 0; round < ROUNDS * FAMILY_COUNT; round++) {
        const grout_tensor_tiles tiles = {.m = M, .n = N, .k = K, .has_k_rows = round % 2 != 0};
        random_state = round + 1 + (uint64_t)_i * 1000;
        fill(it, (family)(round % FAMILY_COUNT), tiles.has_k_rows);
        grout_tensor_core__multiply(&core, &tiles, round / FAMILY_COUNT % 2 == 0, got, a, b);
        for (uint32_t i = 0; i < N * M; i++) {
            const uint32_t expected = get_expected(it, &rule, i % M, i / M);
            if (narrow(got[i], it->model_out) != expected) {
                ck_abort_msg("rule %d, family %u, round %u, row %u, column %u: %08x, not %08x", _i,
                             round % FAMILY_COUNT, round, i % M, i / M,
                             narrow(got[i], it->model_out), expected);
            }
        }
    }
}

/* Some rows alone, as many as one or two warps multiply, come out as among the others. */
TEST_EACH(few_rows_are_as_many, PAIR_COUNT) {
    const pair *it = &PAIRS[_i];
    const grout_tensor_core core = grout_tensor_core__get(it->a, it->b, it->accumulator);
    for (uint32_t few = 16; few <= 48; few += 16) {
        const grout_tensor_tiles tiles = {.m = M, .n = N, .k = K, .has_k_rows = few % 32 == 0};
        static float some_a[K * M], some[N * M];
        random_state = few + (uint64_t)_i * 1000;
        fill(it, (family)(few / 16 % FAMILY_COUNT), tiles.has_k_rows);
        for (uint32_t i = 0; i < K * few; i++) {
            some_a[i] = a[i / few * M + i % few];
        }
        for (uint32_t i = 0; i < N * few; i++) {
            some[i] = start[i / few * M + i % few];
        }
        const grout_tensor_tiles part = {.m = few, .n = N, .k = K, .has_k_rows = tiles.has_k_rows};
        grout_tensor_core__multiply(&core, &tiles, false, got, a, b);
        grout_tensor_core__multiply(&core, &part, few % 32 == 0, some, some_a, b);
        for (uint32_t i = 0; i < N * few; i++) {
            const float whole = got[i / few * M + i % few];
            ck_assert_uint_eq(narrow(some[i], it->model_out), narrow(whole, it->model_out));
        }
    }
}

/* Each of these is in the rule for a reason of its own. */
TEST(corners_are_as_the_hardware_has_them) {
    const grout_tensor_core core =
        grout_tensor_core__get(GROUT_DTYPE_BF16, GROUT_DTYPE_BF16, GROUT_DTYPE_F32);
    const grout_tensor_core half =
        grout_tensor_core__get(GROUT_DTYPE_F16, GROUT_DTYPE_F16, GROUT_DTYPE_F16);
    float x[32] = {0}, y[32] = {0};
    /* a zero beside a huge factor takes no part in the largest exponent */
    y[0] = 0x1p100f;
    x[1] = y[1] = 0x1p-20f;
    ck_assert_float_eq(grout_tensor_core__add_block(&core, x, 1, y, 1, 0.0f), 0x1p-40f);
    /* what is 2^-26 of the largest is lost, on either side */
    x[0] = y[0] = 1.0f;
    x[1] = 0x1p-13f;
    y[1] = 0x1p-13f;
    ck_assert_float_eq(grout_tensor_core__add_block(&core, x, 1, y, 1, 0.0f), 1.0f);
    y[1] = -0x1p-13f;
    ck_assert_float_eq(grout_tensor_core__add_block(&core, x, 1, y, 1, 0.0f), 1.0f);
    /* 2^-25 is kept until the result is cut, toward zero */
    y[1] = -0x1p-12f;
    ck_assert_float_eq(grout_tensor_core__add_block(&core, x, 1, y, 1, 0.0f), 1.0f - 0x1p-24f);
    y[1] = 0x1p-12f;
    ck_assert_float_eq(grout_tensor_core__add_block(&core, x, 1, y, 1, 0.0f), 1.0f);
    /* a sum of nothing but -0 is +0, and so is what is cut to 0 */
    memset(x, 0, sizeof x);
    ck_assert_uint_eq(grout_bits_f32(grout_tensor_core__add_block(&core, x, 1, y, 1, -0.0f)), 0);
    /* an overflow is an infinity; products may leave the range on the way */
    x[0] = y[0] = 0x1p70f;
    ck_assert_uint_eq(grout_bits_f32(grout_tensor_core__add_block(&core, x, 1, y, 1, 0.0f)),
                      0x7f800000u);
    x[1] = -0x1p70f;
    y[1] = 0x1p70f;
    ck_assert_float_eq(grout_tensor_core__add_block(&core, x, 1, y, 1, 3.0f), 0.0f);
    /* an f16 accumulator: 65520 is too large, one less rounds down */
    memset(x, 0, sizeof x);
    x[0] = 16.0f;
    y[0] = 1.0f;
    y[1] = 0;
    ck_assert_uint_eq(grout_bits_f32(grout_tensor_core__add_block(&half, x, 1, y, 1, 65504.0f)),
                      0x7f800000u);
    x[0] = 15.0f;
    ck_assert_float_eq(grout_tensor_core__add_block(&half, x, 1, y, 1, 65504.0f), 65504.0f);
}
