/* check_fold.c - constant expressions, their faults, and constants as elements of every type.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* ---- integers -------------------------------------------------------------------------------- */

typedef struct fold_case {
    const char *expr;
    int64_t value;
    grout_diag_code code;
} fold_case;

#define OVERFLOWS GROUT_DIAG_CONST_OVERFLOW
#define NO_VALUE  GROUT_DIAG_CONST_DOMAIN
static const fold_case fold_cases[] = {
    {"2 + 3 * 4", 14, 0},
    {"(2 + 3) * 4", 20, 0},
    {"10 - 4 - 3", 3, 0},
    {"-7", -7, 0},
    {"9223372036854775807", INT64_MAX, 0},
    {"-9223372036854775807 - 1", INT64_MIN, 0},
    {"9223372036854775807 + 1", 0, OVERFLOWS},
    {"-9223372036854775807 - 2", 0, OVERFLOWS},
    {"4611686018427387904 * 2", 0, OVERFLOWS},
    {"-(-9223372036854775807 - 1)", 0, OVERFLOWS},
    {"(-9223372036854775807 - 1) / -1", 0, OVERFLOWS},
    {"(-9223372036854775807 - 1) % -1", 0, OVERFLOWS},
    {"12 / 4", 3, 0},
    {"-12 / 4", -3, 0},
    {"13 / 4", 0, GROUT_DIAG_INEXACT_DIVISION},
    {"1 / 0", 0, NO_VALUE},
    {"1 % 0", 0, NO_VALUE},
    {"-7 % 4", -3, 0},
    {"cdiv(13, 4)", 4, 0},
    {"cdiv(12, 4)", 3, 0},
    {"cdiv(-13, 4)", -3, 0},
    {"cdiv(-13, -4)", 4, 0},
    {"cdiv(1, 0)", 0, NO_VALUE},
    {"align_up(13, 8)", 16, 0},
    {"align_up(16, 8)", 16, 0},
    {"align_up(-13, 8)", -8, 0},
    {"align_up(13, 0)", 0, NO_VALUE},
    {"align_up(13, -8)", 0, NO_VALUE},
    {"align_up(9223372036854775807, 8)", 0, OVERFLOWS},
    {"log2(1)", 0, 0},
    {"log2(1024)", 10, 0},
    {"log2(1 << 62)", 62, 0},
    {"log2(12)", 0, NO_VALUE},
    {"log2(0)", 0, NO_VALUE},
    {"log2(-8)", 0, NO_VALUE},
    {"min(3, -4)", -4, 0},
    {"max(3, -4)", 3, 0},
    {"1 << 40", INT64_C(1) << 40, 0},
    {"-1 << 63", INT64_MIN, 0},
    {"1 << 63", 0, OVERFLOWS},
    {"3 << 62", 0, OVERFLOWS},
    {"0 << 63", 0, 0},
    {"1 << 64", 0, NO_VALUE},
    {"1 << -1", 0, NO_VALUE},
    {"-8 >> 1", -4, 0},
    {"-1 >> 63", -1, 0},
    {"1 >> 64", 0, NO_VALUE},
    {"2 < 3", 1, 0},
    {"2 >= 3", 0, 0},
    {"2 == 2", 1, 0},
    {"true != false", 1, 0},
    {"true < false", 0, GROUT_DIAG_CONST_TYPE},
    {"true + 1", 0, GROUT_DIAG_CONST_TYPE},
    {"1.5", 0, GROUT_DIAG_CONST_TYPE},
    {"1.5 > 1", 1, 0},
    {"1.5 % 2", 0, GROUT_DIAG_CONST_TYPE},
    {"f32:0x3f800000 + 1", 0, GROUT_DIAG_CONST_TYPE},
};

TEST_EACH(integers, COUNT_OF(fold_cases)) {
    const fold_case *c = &fold_cases[_i];
    char text[256];
    snprintf(text, sizeof text, "const V = %s\nkernel @k(%%a: out gmem f32[1]) {\n}\n", c->expr);
    bound_text bound = bind_text(text, NULL, 0);
    ck_assert_msg(get_code(bound.diags) == c->code, "%s: %s", c->expr, get_said(bound.diags));
    if (c->code == GROUT_DIAG_NONE) {
        grout_expr_id expr = grout_module_get_const(bound.bound, 1)->expr;
        int64_t value = grout_module_get_expr_value(bound.bound, expr).integer;
        ck_assert_msg(value == c->value, "%s: %" PRId64, c->expr, value);
    } else {
        ck_assert_ptr_null(bound.bound);
    }
    free_text(&bound);
}

/* ---- floats ---------------------------------------------------------------------------------- */

typedef struct float_case {
    const char *expr;
    double value;
    grout_diag_code code;
} float_case;

static const float_case float_cases[] = {
    {"0.125", 0.125, 0},
    {"3", 3.0, 0},
    {"1.0 / 3.0", 0.3333333432674407958984375, 0}, /* rounded to f32 once, at the end */
    {"2 * 0.5 - 1", 0.0, 0},
    {"max(1.5, 2)", 2.0, 0},
    {"min(1.5, 2)", 1.5, 0},
    {"-0.5", -0.5, 0},
    {"1.0 / 0.0", 0, NO_VALUE},
    {"1e300 * 1e300", 0, OVERFLOWS},
    {"1e39", 0, OVERFLOWS},
    {"inf", INFINITY, 0},
    {"-inf", -INFINITY, 0},
    {"-(inf)", -INFINITY, 0},
    {"max(-inf, 1)", 1.0, 0},
    {"inf + 1", INFINITY, 0},
    {"inf - inf", 0, OVERFLOWS},
    {"true", 0, GROUT_DIAG_CONST_TYPE},
    {"f16:0x3c00", 0, GROUT_DIAG_CONST_TYPE},
};

TEST_EACH(floats, COUNT_OF(float_cases)) {
    const float_case *c = &float_cases[_i];
    char text[256];
    snprintf(text, sizeof text, "const V : f32 = %s\nkernel @k(%%a: out gmem f32[1]) {\n}\n",
             c->expr);
    bound_text bound = bind_text(text, NULL, 0);
    ck_assert_msg(get_code(bound.diags) == c->code, "%s: %s", c->expr, get_said(bound.diags));
    if (c->code == GROUT_DIAG_NONE) {
        grout_expr_id expr = grout_module_get_const(bound.bound, 1)->expr;
        grout_expr_value value = grout_module_get_expr_value(bound.bound, expr);
        ck_assert(value.is_float);
        ck_assert_msg(value.number == c->value, "%s: %.17g", c->expr, value.number);
    }
    free_text(&bound);
}

/* A chain of consts is longer than any stack of ours would be. */
TEST(long_chain) {
    enum { LENGTH = 20000 };
    grout_text text = {0};
    grout_text_add(&text, "const A0 = A1 + 1\n");
    for (int i = 1; i < LENGTH; i++) {
        grout_text_add(&text, "const A%d = A%d + 1\n", i, i + 1);
    }
    grout_text_add(&text, "const A%d = 5\nkernel @k(%%a: out gmem f32[1]) {\n}\n", LENGTH);
    bound_text bound = bind_text(text.data, NULL, 0);
    ck_assert_msg(bound.bound != NULL, "%s", get_said(bound.diags));
    grout_expr_id expr = grout_module_get_const(bound.bound, 1)->expr;
    ck_assert_int_eq(grout_module_get_expr_value(bound.bound, expr).integer, LENGTH + 5);
    free_text(&bound);
    grout_text_free(&text);
}

TEST_EACH(cycles, 3) {
    static const char *const texts[] = {"const A = A", "const A = B, B = C + 1, C = 2 * A",
                                        "const A = 1 + B, B = min(A, 3)"};
    char text[256];
    snprintf(text, sizeof text, "%s\nkernel @k(%%a: out gmem f32[1]) {\n}\n", texts[_i]);
    bound_text bound = bind_text(text, NULL, 0);
    ck_assert_int_eq(get_code(bound.diags), GROUT_DIAG_CONST_CYCLE);
    ck_assert_uint_eq(grout_diags_count(bound.diags), 1);
    free_text(&bound);
}

/* ---- bits ------------------------------------------------------------------------------------ */

typedef struct bits_case {
    double number;
    grout_dtype dtype;
    uint64_t bits;
} bits_case;

static const bits_case bits_cases[] = {
    {1.0, GROUT_DTYPE_F16, 0x3c00},
    {-2.0, GROUT_DTYPE_F16, 0xc000},
    {65504.0, GROUT_DTYPE_F16, 0x7bff},
    {65519.0, GROUT_DTYPE_F16, 0x7bff},
    {65520.0, GROUT_DTYPE_F16, 0x7c00},
    {0x1p-24, GROUT_DTYPE_F16, 0x0001},
    {0x1p-25, GROUT_DTYPE_F16, 0x0000},       /* a tie, to even */
    {0x1.8p-24, GROUT_DTYPE_F16, 0x0002},     /* a tie, to even */
    {0x1.ffcp-15, GROUT_DTYPE_F16, 0x0400},   /* rounds up to the smallest normal */
    {1.00048828125, GROUT_DTYPE_F16, 0x3c00}, /* 1 + 2^-11: tie to even */
    {1.00146484375, GROUT_DTYPE_F16, 0x3c02}, /* 1 + 3 * 2^-11: tie to even */
    {1.0, GROUT_DTYPE_BF16, 0x3f80},
    {3.140625, GROUT_DTYPE_BF16, 0x4049},
    {1.00390625, GROUT_DTYPE_BF16, 0x3f80}, /* 1 + 2^-8: tie to even */
    {1.01171875, GROUT_DTYPE_BF16, 0x3f82}, /* 1 + 3 * 2^-8: tie to even */
    {3.4e38, GROUT_DTYPE_BF16, 0x7f80},
    {-INFINITY, GROUT_DTYPE_F16, 0xfc00},
    {INFINITY, GROUT_DTYPE_BF16, 0x7f80},
    {-INFINITY, GROUT_DTYPE_F32, 0xff800000},
    {1.0, GROUT_DTYPE_F8E4M3, 0x38},
    {448.0, GROUT_DTYPE_F8E4M3, 0x7e},
    {463.0, GROUT_DTYPE_F8E4M3, 0x7e},
    {1e9, GROUT_DTYPE_F8E4M3, 0x7e},
    {0x1p-9, GROUT_DTYPE_F8E4M3, 0x01},
    {-0.0, GROUT_DTYPE_F8E4M3, 0x80},
    {1.0, GROUT_DTYPE_F8E5M2, 0x3c},
    {57344.0, GROUT_DTYPE_F8E5M2, 0x7b},
    {61440.0, GROUT_DTYPE_F8E5M2, 0x7c},
    {0x1p-16, GROUT_DTYPE_F8E5M2, 0x01},
    {0.1, GROUT_DTYPE_F32, 0x3dcccccd},
    {0.1, GROUT_DTYPE_F64, 0x3fb999999999999a},
    {3.0, GROUT_DTYPE_I32, 3},
    {2.0, GROUT_DTYPE_BOOL, 1},
};

TEST_EACH(float_bits, COUNT_OF(bits_cases)) {
    const bits_case *c = &bits_cases[_i];
    grout_expr_value value = {.is_float = true, .number = c->number};
    ck_assert_msg(grout_expr_value_to_bits(value, c->dtype) == c->bits, "%a as %s: %" PRIx64,
                  c->number, grout_dtype_get_info(c->dtype)->text,
                  grout_expr_value_to_bits(value, c->dtype));
}

/* f32 and f64 against the compiler's own conversions, which round to nearest even too. */
TEST(float_bits_random) {
    uint64_t state = 7;
    for (int i = 0; i < 200000; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint64_t bits = state ^ state >> 29;
        double number;
        memcpy(&number, &bits, sizeof number);
        if (i % 2 == 0) { /* near the range of f32, subnormals included */
            number = ldexp((double)(int64_t)bits, (int)(state >> 40 & 255) - 190);
        }
        if (!isfinite(number)) {
            continue;
        }
        grout_expr_value value = {.is_float = true, .number = number};
        uint64_t wide;
        memcpy(&wide, &number, sizeof wide);
        if (grout_expr_value_to_bits(value, GROUT_DTYPE_F64) != wide) {
            ck_abort_msg("%a as f64", number);
        }
        float narrow = (float)number;
        uint32_t narrow_bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        if (grout_expr_value_to_bits(value, GROUT_DTYPE_F32) != narrow_bits) {
            ck_abort_msg("%a as f32", number);
        }
        grout_expr_value integer = {.integer = (int64_t)bits};
        narrow = (float)(int64_t)bits;
        memcpy(&narrow_bits, &narrow, sizeof narrow_bits);
        if (grout_expr_value_to_bits(integer, GROUT_DTYPE_F32) != narrow_bits) {
            ck_abort_msg("%" PRId64 " as f32", (int64_t)bits);
        }
    }
}

/* The one nearest to a number among all finite values of a 16-bit format, the even one of two. */
static uint64_t search_nearest(double number, int exponent_bits, int mantissa_bits) {
    int bias = (1 << (exponent_bits - 1)) - 1;
    uint64_t best = 0, infinity = ((UINT64_C(1) << exponent_bits) - 1) << mantissa_bits;
    double best_error = INFINITY;
    for (uint64_t bits = 0; bits <= infinity; bits++) {
        int field = (int)(bits >> mantissa_bits);
        double mantissa = (double)(bits & ((UINT64_C(1) << mantissa_bits) - 1));
        mantissa += field > 0 ? ldexp(1.0, mantissa_bits) : 0.0;
        double value = ldexp(mantissa, (field > 0 ? field : 1) - bias - mantissa_bits);
        double error = fabs(fabs(number) - value);
        if (error < best_error || (error == best_error && (bits & 1) == 0)) {
            best = bits;
            best_error = error;
        }
    }
    return best | (signbit(number) != 0 ? UINT64_C(0x8000) : 0);
}

/* Constants of the 16-bit types are rounded once, from the number as it was written. */
TEST(half_bits_random) {
    uint64_t state = 11;
    for (int i = 0; i < 400; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        double fraction = (double)(state >> 12) * 0x1p-52 - 0.5;
        int exponent = (int)(state >> 3 & 63) - 40;
        if (i % 4 == 0) { /* ties of f16, and what is just beside them */
            fraction = (double)(2 * (state >> 54) + 1 + 2048) * 0x1p-12;
            fraction += (double)(i / 4 % 3 - 1) * 0x1p-50;
        }
        double number = ldexp(fraction, exponent);
        grout_expr_value value = {.is_float = true, .number = number};
        uint64_t half = grout_expr_value_to_bits(value, GROUT_DTYPE_F16);
        ck_assert_msg(half == search_nearest(number, 5, 10), "%a as f16: %" PRIx64, number, half);
        uint64_t brain = grout_expr_value_to_bits(value, GROUT_DTYPE_BF16);
        ck_assert_msg(brain == search_nearest(number, 8, 7), "%a as bf16: %" PRIx64, number, brain);
    }
}

TEST(integer_bits) {
    grout_expr_value value = {.integer = -2};
    ck_assert_uint_eq(grout_expr_value_to_bits(value, GROUT_DTYPE_I8), 0xfe);
    ck_assert_uint_eq(grout_expr_value_to_bits(value, GROUT_DTYPE_I32), 0xfffffffe);
    ck_assert(grout_expr_value_to_bits(value, GROUT_DTYPE_I64) == UINT64_MAX - 1);
    ck_assert_uint_eq(grout_expr_value_to_bits(value, GROUT_DTYPE_F16), 0xc000);
    grout_expr_value pattern = {
        .is_float = true, .bits_dtype = GROUT_DTYPE_F32, .bits = 0x7fc00001};
    ck_assert_uint_eq(grout_expr_value_to_bits(pattern, GROUT_DTYPE_F32), 0x7fc00001);
    grout_expr_value truth = {.is_bool = true, .integer = 1};
    ck_assert_uint_eq(grout_expr_value_to_bits(truth, GROUT_DTYPE_BOOL), 1);
}
