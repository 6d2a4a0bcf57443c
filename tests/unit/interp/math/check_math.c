/* check_math.c - the functions of MATH ops against float64, and each instruction set against the
 * others.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/loops.h"

#include "tests/unit/support/run_kernel.h"

#include <math.h>

/* What the interpreter's functions keep, in units in the last place. Measured on 2026-11-21, over
 * all 2^32 values: exp 0.988, exp2 0.885, log 0.629, log2 0.674; over every seventh: sin 0.903, cos
 * 0.937, tanh 1.000, rsqrt 1.491, logistic 2.330, erf 1.1. ops.def promises what this and CUDA's
 * functions keep. */
static const struct math_case {
    grout_opcode opcode;
    double ulp;
} math_cases[] = {
    {GROUT_OP_EXP, 1.0}, {GROUT_OP_EXP2, 1.0},     {GROUT_OP_LOG, 1.0},   {GROUT_OP_LOG2, 1.0},
    {GROUT_OP_SIN, 1.0}, {GROUT_OP_COS, 1.0},      {GROUT_OP_TANH, 1.01}, {GROUT_OP_RSQRT, 1.5},
    {GROUT_OP_ERF, 1.1}, {GROUT_OP_LOGISTIC, 2.5},
};
#define MATH_CASES ((int)(sizeof math_cases / sizeof math_cases[0]))

static double reference(grout_opcode opcode, double x) {
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
static void compute(grout_opcode opcode, const float *a, float *result, int64_t count) {
    static float other[BATCH];
    grout_loops__find_math(opcode, GROUT_SIMD_PLAIN)(result, a, NULL, NULL, count);
    for (int simd = GROUT_SIMD_PLAIN + 1; simd < GROUT_SIMD_COUNT; simd++) {
        if (!grout_simd__has((grout_simd)simd)) {
            continue;
        }
        grout_loops__find_math(opcode, (grout_simd)simd)(other, a, NULL, NULL, count);
        for (int64_t i = 0; i < count; i++) {
            if (get_bits(other[i]) != get_bits(result[i])) {
                ck_abort_msg("%s %a: %a, plain %a", grout_op_get_info(opcode)->text, (double)a[i],
                             (double)other[i], (double)result[i]);
            }
        }
    }
}

START_TEST(every_function_keeps_its_bound) {
    const struct math_case *c = &math_cases[_i];
    static float a[BATCH], result[BATCH];
    const uint32_t step = 3067; /* a prime: all low bits come up */
    for (uint64_t first = 0; first < UINT64_C(1) << 32; first += (uint64_t)BATCH * step) {
        for (uint32_t i = 0; i < BATCH; i++) {
            uint32_t bits = (uint32_t)(first + (uint64_t)i * step);
            memcpy(&a[i], &bits, sizeof bits);
        }
        compute(c->opcode, a, result, BATCH);
        for (uint32_t i = 0; i < BATCH; i++) {
            double error = get_error(result[i], reference(c->opcode, (double)a[i]));
            if (error > c->ulp) { /* an assertion for each would take minutes */
                ck_abort_msg("%s %a: %a is %g ulp off", grout_op_get_info(c->opcode)->text,
                             (double)a[i], (double)result[i], error);
            }
        }
    }
    ck_assert(c->ulp <= (double)grout_op_get_info(c->opcode)->ulp);
}
END_TEST

/* Neighbours of the values at which something changes: limits of range, signs, small and large. */
START_TEST(edges) {
    static const float centres[] = {
        0.0f,      0x1p-149f, 0x1p-126f,       1.0f,       0.5f,       88.72284f,
        87.33655f, 103.9721f, 128.0f,          126.0f,     149.0f,     0x1p-24f,
        9.01f,     3.919206f, 0.78539816f,     1.5707964f, 6.2831855f, 39000.0f,
        0x1p24f,   0x1p127f,  0x1.fffffep127f, INFINITY};
    const struct math_case *c = &math_cases[_i];
    enum { NEAR = 64, COUNT = (int)(sizeof centres / sizeof centres[0]) * NEAR * 2 };
    static float a[COUNT], result[COUNT];
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
    compute(c->opcode, a, result, count);
    for (uint32_t i = 0; i < count; i++) {
        double exact = reference(c->opcode, (double)a[i]);
        ck_assert_msg(get_error(result[i], exact) <= c->ulp, "%s %a: %a, not %a",
                      grout_op_get_info(c->opcode)->text, (double)a[i], (double)result[i], exact);
        bool is_zero = exact == 0 && result[i] == 0;
        ck_assert_msg(!is_zero || !signbit(exact) == !signbit(result[i]), "%s %a: sign of zero",
                      grout_op_get_info(c->opcode)->text, (double)a[i]);
    }
}
END_TEST

/* Lengths that leave a part of a vector, at unaligned addresses. Nothing after them is written. */
START_TEST(any_length) {
    const struct math_case *c = &math_cases[_i];
    enum { MAX = 70 };
    float a[MAX + 1], whole[MAX + 1], part[MAX + 2];
    for (uint32_t i = 0; i <= MAX; i++) {
        a[i] = 0.37f * (float)(i + 1);
    }
    for (int simd = 0; simd < GROUT_SIMD_COUNT; simd++) {
        grout_loop *loop = grout_loops__find_math(c->opcode, (grout_simd)simd);
        if (!grout_simd__has((grout_simd)simd)) {
            continue;
        }
        grout_loops__find_math(c->opcode, GROUT_SIMD_PLAIN)(whole, a, NULL, NULL, MAX + 1);
        for (uint32_t length = 0; length <= MAX; length++) {
            part[length + 1] = 77.0f;
            loop(part + 1, a + 1, NULL, NULL, length);
            ck_assert_mem_eq(part + 1, whole + 1, length * sizeof *part);
            ck_assert(part[length + 1] == 77.0f || length > MAX);
        }
    }
}
END_TEST

/* On f16 and bf16: the f32 function, rounded once more. */
START_TEST(narrow_types_round_once) {
    static const char *const types[] = {"f16", "bf16"};
    static const grout_dtype dtypes[] = {GROUT_DTYPE_F16, GROUT_DTYPE_BF16};
    const struct math_case *c = &math_cases[_i / 2];
    char text[256];
    snprintf(text, sizeof text,
             "kernel @k(%%x: in gmem %s[2000], %%y: out gmem %s[2000]) { store %%y, (%s (load %%x) "
             "approx) }",
             types[_i % 2], types[_i % 2], grout_op_get_info(c->opcode)->text);
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
        grout_loops__find_math(c->opcode, GROUT_SIMD_PLAIN)(&result, &wide, NULL, NULL, 1);
        grout_element_from_double(dtypes[_i % 2], (double)result, &expected);
        ck_assert_uint_eq(((uint16_t *)r->arguments[1].data)[i], expected);
    }
    run_delete(r);
}
END_TEST

START_TEST(every_function_has_a_case) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)_i);
    bool has_case = false;
    for (int k = 0; k < MATH_CASES; k++) {
        has_case = has_case || (int)math_cases[k].opcode == _i;
    }
    ck_assert_msg(has_case == (info->form == GROUT_FORM_MATH),
                  has_case ? "op '%s' of math_cases is no function"
                           : "op '%s' is not in math_cases",
                  info->text);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("math");
    TCase *tests = tcase_create("math");
    tcase_add_loop_test(tests, every_function_has_a_case, 1, GROUT_OP_COUNT);
    tcase_add_loop_test(tests, every_function_keeps_its_bound, 0, MATH_CASES);
    tcase_add_loop_test(tests, edges, 0, MATH_CASES);
    tcase_add_loop_test(tests, any_length, 0, MATH_CASES);
    tcase_add_loop_test(tests, narrow_types_round_once, 0, 2 * MATH_CASES);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
