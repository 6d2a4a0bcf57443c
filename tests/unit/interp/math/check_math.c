/* check_math.c - the functions of MATH ops against float64, and each instruction set against the
 * others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/loops.h"

#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

#include <float.h>
#include <math.h>

/* What the interpreter's functions keep, in units in the last place. Measured on 2026-11-21, over
 * all 2^32 values: exp 0.988, exp2 0.885, log 0.629, log2 0.674; over every seventh: sin 0.903, cos
 * 0.937, tanh 1.000, rsqrt 1.491, logistic 2.330, erf 1.1. ops.def promises what this and CUDA's
 * functions keep. */
static const struct math_case {
    grout_opcode opcode;
    double ulp;
} math_cases[] = {
    {GROUT_OP_EXP, 1.0},   {GROUT_OP_EXP2, 1.0},     {GROUT_OP_LOG, 1.0},   {GROUT_OP_LOG2, 1.0},
    {GROUT_OP_SIN, 1.0},   {GROUT_OP_COS, 1.0},      {GROUT_OP_TANH, 1.01}, {GROUT_OP_RSQRT, 1.5},
    {GROUT_OP_ERF, 1.1},   {GROUT_OP_LOGISTIC, 2.5}, {GROUT_OP_EXPM1, 1.0}, {GROUT_OP_LOG1P, 1.0},
    {GROUT_OP_ATAN2, 1.0}, {GROUT_OP_POW, 1.0},      {GROUT_OP_CBRT, 1.0},
};
#define MATH_CASES ((int)(sizeof math_cases / sizeof math_cases[0]))

static bool is_binary(grout_opcode opcode) {
    return strlen(grout_op_get_info(opcode)->operands) == 2;
}

static double reference(grout_opcode opcode, double x, double y) {
    switch ((int)opcode) {
    case GROUT_OP_EXP:
        return exp(x);
    case GROUT_OP_EXP2:
        return exp2(x);
    case GROUT_OP_LOG:
        return log(x);
    case GROUT_OP_LOG2:
        return log2(x);
    case GROUT_OP_SIN:
        return sin(x);
    case GROUT_OP_COS:
        return cos(x);
    case GROUT_OP_TANH:
        return tanh(x);
    case GROUT_OP_RSQRT:
        return 1 / sqrt(x);
    case GROUT_OP_LOGISTIC:
        return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x));
    case GROUT_OP_ERF:
        return erf(x);
    case GROUT_OP_EXPM1:
        return expm1(x);
    case GROUT_OP_LOG1P:
        return log1p(x);
    case GROUT_OP_CBRT:
        return cbrt(x);
    case GROUT_OP_ATAN2:
        return atan2(x, y);
    case GROUT_OP_POW:
        return pow(x, y);
    default:
        ck_abort_msg("no reference for op '%s'", grout_op_get_info(opcode)->text);
    }
    return 0;
}

/* Distance of a result from the exact value, in units in its last place. */
static double get_error(float got, double exact) {
    const double largest = 0x1.ffffffp127; /* what is beyond rounds to infinity */
    int exponent;
    if (isnan(exact) || isnan(got)) {
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    }
    if (isinf(got) || fabs(exact) >= largest) {
        bool is_right = isinf(got) && fabs(exact) >= largest && (got < 0) == (exact < 0);
        return is_right ? 0 : INFINITY;
    }
    frexp(exact, &exponent);
    exponent = exact == 0 || exponent < -125 ? -125 : exponent;
    return fabs((double)got - exact) / ldexp(1, exponent - 24);
}

enum { BATCH = 1 << 15 };

static uint32_t get_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Every instruction set's results; all must be the same. */
static void compute(grout_opcode opcode, const float *a, const float *b, float *result,
                    int64_t count) {
    static float other[BATCH];
    grout_loops__find_math(opcode, GROUT_DTYPE_F32, GROUT_SIMD_PLAIN)(result, a, b, NULL, count);
    for (int simd = GROUT_SIMD_PLAIN + 1; simd < GROUT_SIMD_COUNT; simd++) {
        if (!grout_simd__has((grout_simd)simd)) {
            continue;
        }
        grout_loops__find_math(opcode, GROUT_DTYPE_F32, (grout_simd)simd)(other, a, b, NULL, count);
        for (int64_t i = 0; i < count; i++) {
            if (get_bits(other[i]) != get_bits(result[i])) {
                ck_abort_msg("%s %a: %a, plain %a", grout_op_get_info(opcode)->text, (double)a[i],
                             (double)other[i], (double)result[i]);
            }
        }
    }
}

/* The second operand: a number about as large as the first, or one that keeps a power in range. */
static float get_other(grout_opcode opcode, float a, uint32_t i) {
    const float near = 0.37f * (float)(i % 101) - 18.0f;
    return opcode == GROUT_OP_ATAN2 ? a * near : i % 3 == 0 ? near : 10 / logf(fabsf(a));
}

TEST_EACH(every_function_keeps_its_bound, MATH_CASES) {
    const struct math_case *c = &math_cases[_i];
    static float a[BATCH], b[BATCH], result[BATCH];
    const uint32_t step = is_binary(c->opcode) ? 30677 : 3067; /* primes: all low bits come up */
    for (uint64_t first = 0; first < UINT64_C(1) << 32; first += (uint64_t)BATCH * step) {
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t bits = (uint32_t)(first + (uint64_t)i * step);
            memcpy(&a[i], &bits, sizeof bits);
            b[i] = get_other(c->opcode, a[i], i);
        }
        compute(c->opcode, a, b, result, BATCH);
        for (uint32_t i = 0; i < BATCH; i++) {
            double error = get_error(result[i], reference(c->opcode, (double)a[i], (double)b[i]));
            if (error > c->ulp) { /* an assertion for each would take minutes */
                ck_abort_msg("%s %a: %a is %g ulp off", grout_op_get_info(c->opcode)->text,
                             (double)a[i], (double)result[i], error);
            }
        }
    }
    ck_assert(c->ulp <= (double)grout_op_get_info(c->opcode)->ulp);
}

/* Neighbours of the values at which something changes: limits of range, signs, small and large. */
TEST_EACH(edges, MATH_CASES) {
    static const float centres[] = {
        0.0f,      0x1p-149f, 0x1p-126f,       1.0f,       0.5f,       88.72284f,
        87.33655f, 103.9721f, 128.0f,          126.0f,     149.0f,     0x1p-24f,
        9.01f,     3.919206f, 0.78539816f,     1.5707964f, 6.2831855f, 39000.0f,
        0x1p24f,   0x1p127f,  0x1.fffffep127f, INFINITY};
    const struct math_case *c = &math_cases[_i];
    enum { NEAR = 64, COUNT = (int)(sizeof centres / sizeof centres[0]) * NEAR * 2 };
    static float a[COUNT], b[COUNT], result[COUNT];
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof centres / sizeof centres[0]; i++) {
        uint32_t centre;
        memcpy(&centre, &centres[i], sizeof centre);
        for (uint32_t k = 0; k < NEAR; k++) {
            uint32_t low = centre < NEAR / 2 ? 0 : centre - NEAR / 2, bits = low + k;
            memcpy(&a[count], &bits, sizeof bits);
            a[count + 1] = -a[count];
            count += 2;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        b[i] = a[(i * 77) % count];
    }
    compute(c->opcode, a, b, result, count);
    for (uint32_t i = 0; i < count; i++) {
        double exact = reference(c->opcode, (double)a[i], (double)b[i]);
        ck_assert_msg(get_error(result[i], exact) <= c->ulp, "%s %a: %a, not %a",
                      grout_op_get_info(c->opcode)->text, (double)a[i], (double)result[i], exact);
        bool is_zero = exact == 0 && result[i] == 0;
        ck_assert_msg(!is_zero || !signbit(exact) == !signbit(result[i]), "%s %a: sign of zero",
                      grout_op_get_info(c->opcode)->text, (double)a[i]);
    }
}

/* Lengths that leave a part of a vector, at unaligned addresses. Nothing after them is written. */
TEST_EACH(any_length, MATH_CASES) {
    const struct math_case *c = &math_cases[_i];
    enum { MAX = 70 };
    float a[MAX + 1], whole[MAX + 1], part[MAX + 2];
    for (uint32_t i = 0; i <= MAX; i++) {
        a[i] = 0.37f * (float)(i + 1);
    }
    for (int simd = 0; simd < GROUT_SIMD_COUNT; simd++) {
        grout_loop *loop = grout_loops__find_math(c->opcode, GROUT_DTYPE_F32, (grout_simd)simd);
        if (!grout_simd__has((grout_simd)simd)) {
            continue;
        }
        grout_loops__find_math(c->opcode, GROUT_DTYPE_F32, GROUT_SIMD_PLAIN)(whole, a, a, NULL,
                                                                             MAX + 1);
        for (uint32_t length = 0; length <= MAX; length++) {
            part[length + 1] = 77.0f;
            loop(part + 1, a + 1, a + 1, NULL, length);
            ck_assert_mem_eq(part + 1, whole + 1, length * sizeof *part);
            ck_assert(part[length + 1] == 77.0f || length > MAX);
        }
    }
}

/* On f16 and bf16: the f32 function, rounded once more. */
TEST_EACH(narrow_types_round_once, 2 * MATH_CASES) {
    static const char *const types[] = {"f16", "bf16"};
    static const grout_dtype dtypes[] = {GROUT_DTYPE_F16, GROUT_DTYPE_BF16};
    const struct math_case *c = &math_cases[_i / 2];
    char text[256];
    snprintf(
        text, sizeof text,
        "kernel @k(%%x: in gmem %s[2000], %%y: out gmem %s[2000]) { store %%y, (%s (load %%x)%s "
        "approx) }",
        types[_i % 2], types[_i % 2], grout_op_get_info(c->opcode)->text,
        is_binary(c->opcode) ? ", (load %x)" : "");
    run *r = run_new(text, 0);
    run_start(r);
    uint16_t *codes = r->arguments[0].data;
    for (uint32_t i = 0; i < 2000; i++) {
        codes[i] = (uint16_t)(i * 32);
    }
    ck_assert_int_eq(grout_machine_run(r->machine, 0, r->diags), GROUT_RUN_DONE);
    for (uint32_t i = 0; i < 2000; i++) {
        float wide = (float)run_get(r, 0, i), result;
        uint16_t expected;
        grout_loops__find_math(c->opcode, GROUT_DTYPE_F32, GROUT_SIMD_PLAIN)(&result, &wide, &wide,
                                                                             NULL, 1);
        grout_element_from_double(dtypes[_i % 2], (double)result, &expected);
        ck_assert_uint_eq(((uint16_t *)r->arguments[1].data)[i], expected);
    }
    run_delete(r);
}

/* ---- f64 ----------------------------------------------------------------------------------------
 */

static long double reference_long(grout_opcode opcode, long double x, long double y) {
    switch ((int)opcode) {
    case GROUT_OP_EXP:
        return expl(x);
    case GROUT_OP_EXP2:
        return exp2l(x);
    case GROUT_OP_LOG:
        return logl(x);
    case GROUT_OP_LOG2:
        return log2l(x);
    case GROUT_OP_SIN:
        return sinl(x);
    case GROUT_OP_COS:
        return cosl(x);
    case GROUT_OP_TANH:
        return tanhl(x);
    case GROUT_OP_RSQRT:
        return 1 / sqrtl(x);
    case GROUT_OP_LOGISTIC:
        return x < 0 ? expl(x) / (1 + expl(x)) : 1 / (1 + expl(-x));
    case GROUT_OP_ERF:
        return erfl(x);
    case GROUT_OP_EXPM1:
        return expm1l(x);
    case GROUT_OP_LOG1P:
        return log1pl(x);
    case GROUT_OP_CBRT:
        return cbrtl(x);
    case GROUT_OP_ATAN2:
        return atan2l(x, y);
    case GROUT_OP_POW:
        return powl(x, y);
    default:
        ck_abort_msg("no reference for op '%s'", grout_op_get_info(opcode)->text);
    }
    return 0;
}

/* In units in the last place of a double; only of results that are normal numbers. */
static double get_error_f64(double got, long double exact) {
    int exponent;
    if (isnan(exact) || isnan(got)) {
        return isnan(exact) && isnan(got) ? 0 : INFINITY;
    }
    if (fabsl(exact) < 0x1p-1021L || fabsl(exact) > 0x1p1023L) {
        return fabsl((long double)got) < 0x1p-1020L || fabs(got) >= 0x1p1022 ? 0 : INFINITY;
    }
    frexpl(exact, &exponent);
    return (double)(fabsl((long double)got - exact) / ldexpl(1, exponent - 53));
}

/* Where long double has more digits than double: else there is nothing to measure with. */
TEST_EACH(functions_of_f64_keep_their_bound, MATH_CASES) {
    const struct math_case *c = &math_cases[_i];
    enum { COUNT = 4000 };
    static double a[COUNT], b[COUNT], result[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        const double size = ldexp(1 + 0.000251 * i, (int)(i % 41) - 30);
        a[i] = i % 2 == 0 ? size : -size;
        b[i] = 0.37 * (i % 101) - 18;
    }
    a[0] = 0;
    a[1] = NAN;
    a[2] = (double)INFINITY;
    a[3] = -(double)INFINITY;
    for (int simd = 0; simd < GROUT_SIMD_COUNT; simd++) {
        grout_loops__find_math(c->opcode, GROUT_DTYPE_F64, (grout_simd)simd)(result, a, b, NULL,
                                                                             COUNT);
        for (uint32_t i = 0; i < COUNT && LDBL_MANT_DIG > DBL_MANT_DIG; i++) {
            long double exact = reference_long(c->opcode, (long double)a[i], (long double)b[i]);
            double error = get_error_f64(result[i], exact);
            ck_assert_msg(error <= c->ulp, "%s %a, %a: %a is %g ulp off",
                          grout_op_get_info(c->opcode)->text, a[i], b[i], result[i], error);
        }
    }
}

/* The last results before infinity: numbers, within the same bound. */
TEST(functions_of_f64_overflow_no_earlier) {
    static const struct {
        grout_opcode opcode;
        double last; /* operand with a finite result, of pow the exponent of e */
        double ulp;
    } rows[] = {{GROUT_OP_EXP, 0x1.62e42fefa39efp9, 2},
                {GROUT_OP_EXPM1, 0x1.62e42fefa39efp9, 2},
                {GROUT_OP_EXP2, 0x1.fffffffffffffp9, 2},
                {GROUT_OP_POW, 0x1.62e42fefa39e0p9, 4}};
    enum { COUNT = 20000 };
    static double a[COUNT], b[COUNT], result[COUNT];
    for (uint32_t k = 0; k < sizeof rows / sizeof *rows && LDBL_MANT_DIG > DBL_MANT_DIG; k++) {
        const bool is_pow = rows[k].opcode == GROUT_OP_POW;
        for (uint32_t i = 0; i < COUNT; i++) {
            const double near = rows[k].last * (1 - 3e-13 * (double)i);
            a[i] = is_pow ? ldexp(-1 - 0.00005 * i, (int)(i % 31) - 15) : near;
            b[i] = near / log(fabs(a[i]));
            a[i] = is_pow && b[i] != rint(b[i]) ? -a[i] : a[i];
        }
        grout_loops__find_math(rows[k].opcode, GROUT_DTYPE_F64, GROUT_SIMD_PLAIN)(result, a, b,
                                                                                  NULL, COUNT);
        for (uint32_t i = 0; i < COUNT; i++) {
            const long double exact =
                reference_long(rows[k].opcode, (long double)a[i], (long double)b[i]);
            const double error = (double)(fabsl((long double)result[i] - exact) / 0x1p971L);
            ck_assert_msg(exact > (long double)DBL_MAX || exact < 0x1p1023L || error <= rows[k].ulp,
                          "%s %a, %a: %a is %g ulp off", grout_op_get_info(rows[k].opcode)->text,
                          a[i], b[i], result[i], error);
        }
    }
}

TEST_FROM(every_function_has_a_case, 1, GROUT_OP_COUNT) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    bool has_case = false;
    for (int k = 0; k < MATH_CASES; k++) {
        has_case = has_case || (int)math_cases[k].opcode == _i;
    }
    ck_assert_msg(has_case == (info->ulp > 0),
                  has_case ? "op '%s' of math_cases is not a function"
                           : "op '%s' is not in math_cases",
                  info->text);
}
