/* check_compare.c - the compare rule and what a mismatch says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/gpu_text.h"

#include "grout-internal/compare.h"

#include <math.h>

static const char kernel[] = "kernel @k(%a: in gmem f32[2, 3], %f: out gmem f32[2, 3],\n"
                             "          %h: out gmem bf16[4], %e: out gmem f8e4m3[4],\n"
                             "          %i: out gmem i16[4], %u: out gmem u64[2])\n"
                             "{\n"
                             "  store %f, (load %a)\n"
                             "  store %f[0, 0], (load %a[1, 1])\n"
                             "}\n";
enum { PARAM_F = 1, PARAM_H, PARAM_E, PARAM_I, PARAM_U };

typedef struct fixture {
    grout_diags *diags;
    grout_module *module;
} fixture;

static fixture begin(void) {
    fixture f = {.diags = grout_diags_new()};
    f.module = bind_text("compare.grout", kernel, f.diags);
    return f;
}

static void end(fixture *f) {
    grout_module_free(f->module);
    grout_diags_free(f->diags);
}

TEST(shipped_ops_compare_exactly) {
    fixture f = begin();
    const grout_compare_options options = grout_compare_get_default(f.module, 1, false, false);
    ck_assert(options.rtol <= 0 && options.atol <= 0 && !options.is_by_type);
    end(&f);
}

/* What is exact, and for which inputs: functions never, float sums for whole numbers. */
TEST(default_tolerance_follows_the_ops) {
    static const struct {
        const char *op;
        bool for_whole, for_any;
    } rows[] = {{"add (load %a), 1", false, false},
                {"sqrt (load %a)", false, false},
                {"exp (load %a)", true, true},
                {"broadcast (reduce_sum (load %a)) : f32[4]", false, true},
                {"broadcast (reduce_max (load %a)) : f32[4]", false, false},
                {"cast (broadcast (reduce_sum (load %i)) : i32[4]) : f32", false, false}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char text[256];
        grout_diags *diags = grout_diags_new();
        (void)snprintf(text, sizeof text,
                       "kernel @k(%%a: in gmem f32[4], %%i: in gmem i32[4], %%f: out gmem f32[4])\n"
                       "{\n  store %%f, (%s)\n}\n",
                       rows[i].op);
        grout_module *module = bind_text("compare.grout", text, diags);
        ck_assert_msg(grout_compare_get_default(module, 1, true, false).is_by_type ==
                          rows[i].for_whole,
                      "%s, whole inputs", rows[i].op);
        ck_assert_msg(grout_compare_get_default(module, 1, false, false).is_by_type ==
                          rows[i].for_any,
                      "%s", rows[i].op);
        grout_module_free(module);
        grout_diags_free(diags);
    }
}

/* A tolerance is that of each expected element; the bound of a type is that of the largest one. */
TEST(large_element_hides_no_wrong_one) {
    const float expected[6] = {1000, 1}, actual[6] = {1001, 1.5f};
    const grout_compare_options written = {.rtol = 0.01}, by_type = {.is_by_type = true};
    const float close[6] = {1000, 1 + 0x1p-9f};
    fixture f = begin();
    ck_assert(!grout_compare_array(f.module, 1, PARAM_F, expected, actual, &written, f.diags));
    const grout_diag *diag = grout_diags_get(f.diags, grout_diags_count(f.diags) - 1);
    ck_assert_str_eq(diag->message,
                     "'%f'[0, 1] is 1.5 (0x3fc00000), expected 1 (0x3f800000); 1 of 6 elements "
                     "differ");
    ck_assert(grout_compare_array(f.module, 1, PARAM_F, expected, close, &by_type, f.diags));
    end(&f);
}

TEST(mismatch_names_element_and_writer) {
    fixture f = begin();
    const float expected[6] = {0, 1, 2, 3, 4, 5};
    const float actual[6] = {0, 1, 2, 3, 4.5f, 6};
    const grout_compare_options exact = {0};
    ck_assert(!grout_compare_array(f.module, 1, PARAM_F, expected, actual, &exact, f.diags));
    const grout_diag *diag = grout_diags_get(f.diags, grout_diags_count(f.diags) - 1);
    ck_assert_int_eq(diag->code, GROUT_DIAG_COMPARE_MISMATCH);
    ck_assert_str_eq(diag->message,
                     "'%f'[1, 1] is 4.5 (0x40900000), expected 4 (0x40800000); 2 of 6 "
                     "elements differ");
    ck_assert_uint_eq(diag->place.line, 1);
    ck_assert_uint_eq(diag->note_count, 3);
    ck_assert_str_eq(diag->notes[0].message, "the largest difference is 1, at [1, 2]; the largest "
                                             "relative to the expected value is 0.2, at [1, 2]");
    ck_assert_str_eq(diag->notes[1].message,
                     "all that differ lie in '%f'[1, 1:3], and every element there differs");
    ck_assert_uint_eq(diag->notes[2].place.line, 6);
    end(&f);
}

/* Bits of two arrays of one parameter, and whether they count as equal. */
typedef struct pair_case {
    const char *name;
    uint32_t param;
    bool is_equal;
    uint64_t expected, actual; /* of element 0; the rest is zero */
    grout_compare_options options;
} pair_case;

static const pair_case pair_cases[] = {
    {"the same", PARAM_F, true, 0x3f800000, 0x3f800000, {0, 0, false}},
    {"one bit", PARAM_F, false, 0x3f800000, 0x3f800001, {0, 0, false}},
    {"two NaNs", PARAM_F, true, 0x7fc00000, 0xffffffff, {0, 0, false}},
    {"a NaN and a number", PARAM_F, false, 0x7fc00000, 0x3f800000, {0, 0, false}},
    {"a number and a NaN", PARAM_F, false, 0x3f800000, 0x7fc00000, {0, 0, false}},
    {"zeros of two signs", PARAM_F, false, 0x00000000, 0x80000000, {0, 0, false}},
    {"zeros of two signs, within a tolerance", PARAM_F, true, 0, 0x80000000, {1e-6, 0, false}},
    {"within rtol", PARAM_F, true, 0x42c80000, 0x42c80001, {1e-6, 0, false}},
    {"beyond it", PARAM_F, false, 0x42c80000, 0x42c90000, {1e-6, 0, false}},
    {"within atol", PARAM_F, true, 0x3f800000, 0x3f8ccccd, {0, 0.2, false}},
    {"infinities alike", PARAM_F, true, 0x7f800000, 0x7f800000, {1e-3, 0, false}},
    {"infinities of two signs", PARAM_F, false, 0x7f800000, 0xff800000, {1e-3, 0, false}},
    {"an infinity and a number", PARAM_F, false, 0x7f800000, 0x3f800000, {1e-3, 0, false}},
    {"a number and an infinity", PARAM_F, false, 0x3f800000, 0x7f800000, {1e-3, 0, false}},
    {"below rtol of the expected one", PARAM_F, true, 0x40800000, 0x40400000, {0.25, 0, false}},
    {"above it", PARAM_F, false, 0x40400000, 0x40800000, {0.25, 0, false}},
    {"rtol and atol together", PARAM_F, true, 0x40400000, 0x40800000, {0.25, 0.25, false}},
    {"NaNs of bf16", PARAM_H, true, 0x7f81, 0xffc0, {0, 0, false}},
    {"bf16 infinity is none", PARAM_H, false, 0x7f80, 0xffc0, {0, 0, false}},
    {"NaNs of e4m3", PARAM_E, true, 0x7f, 0xff, {0, 0, false}},
    {"e4m3 has numbers up there", PARAM_E, false, 0x7e, 0x7f, {0, 0, false}},
    {"integers", PARAM_I, false, 0xffff, 0x0001, {0, 0, false}},
    {"integers within a tolerance", PARAM_I, true, 0xffff, 0x0001, {0, 2, false}},
    {"f32 within its bound", PARAM_F, true, 0x42c80000, 0x42c80040, {0, 0, true}},
    {"f32 beyond it", PARAM_F, false, 0x42c80000, 0x42c80080, {0, 0, true}},
    {"bf16 within its bound", PARAM_H, true, 0x3f80, 0x3f82, {0, 0, true}},
    {"bf16 beyond it", PARAM_H, false, 0x3f80, 0x3f83, {0, 0, true}},
    {"integers have no bound", PARAM_I, false, 100, 101, {0, 0, true}},
    {"large integers", PARAM_U, false, UINT64_MAX, UINT64_MAX - 1, {0, 0, false}},
};

TEST_EACH(pairs_compare, COUNT_OF(pair_cases)) {
    const pair_case *row = &pair_cases[_i];
    fixture f = begin();
    uint64_t expected[8] = {row->expected}, actual[8] = {row->actual};
    const bool is_equal =
        grout_compare_array(f.module, 1, row->param, expected, actual, &row->options, f.diags);
    ck_assert_msg(is_equal == row->is_equal, "%s", row->name);
    ck_assert(grout_diags_has_errors(f.diags) == !row->is_equal);
    end(&f);
}

/* A difference of two elements: the first by NaNs and infinities, the last as a number. */
typedef struct size_case {
    const char *name;
    uint32_t param;
    uint64_t expected[2], actual[2];
    double absolute, relative; /* < 0: none */
    int64_t nan_found, nan_missing, infinite;
    int64_t worst;
} size_case;

static const size_case size_cases[] = {
    {"numbers", PARAM_F, {0x40000000, 0x40800000}, {0x40400000, 0x40000000}, 2, 0.5, 0, 0, 0, 1},
    {"NaN found", PARAM_F, {0x40000000, 0x40800000}, {0x7fc00000, 0x40000000}, 2, 0.5, 1, 0, 0, 0},
    {"NaN missing", PARAM_F, {0x7fc00000, 0}, {0x40400000, 0}, -1, -1, 0, 1, 0, 0},
    {"infinity", PARAM_F, {0x7f800000, 0}, {0xff800000, 0}, -1, -1, 0, 0, 1, 0},
    {"expected zero", PARAM_F, {0, 0}, {0x40000000, 0}, 2, -1, 0, 0, 0, 0},
    {"zeros of two signs", PARAM_F, {0, 0}, {0x80000000, 0}, 0, -1, 0, 0, 0, 0},
    {"large integers",
     PARAM_U,
     {UINT64_MAX, 0},
     {UINT64_MAX - 3, 0},
     3,
     3.0 / 18446744073709551616.0,
     0,
     0,
     0,
     0},
};

TEST_EACH(differences_have_a_size, COUNT_OF(size_cases)) {
    const size_case *row = &size_cases[_i];
    fixture f = begin();
    unsigned char bytes[2][64] = {{0}};
    const size_t size = row->param == PARAM_U ? 8 : 4;
    for (size_t k = 0; k < 2; k++) { /* little-endian, as every host is */
        memcpy(bytes[0] + k * size, &row->expected[k], size);
        memcpy(bytes[1] + k * size, &row->actual[k], size);
    }
    const grout_comparison task = {.bound = f.module,
                                   .kernel = 1,
                                   .param_index = row->param,
                                   .expected = bytes[0],
                                   .actual = bytes[1]};
    grout_difference out;
    ck_assert_msg(!grout_compare_measure(&task, &out), "%s", row->name);
    const double absolute = out.absolute_at < 0 ? -1 : out.absolute;
    const double relative = out.relative_at < 0 ? -1 : out.relative;
    ck_assert_msg(fabs(absolute - row->absolute) <= 0, "%s: %g", row->name, absolute);
    ck_assert_msg(fabs(relative - row->relative) <= 1e-30, "%s: %g", row->name, relative);
    ck_assert_msg(out.nan_found == row->nan_found && out.nan_missing == row->nan_missing &&
                      out.infinite == row->infinite,
                  "%s", row->name);
    ck_assert_msg(grout_difference_get_worst(&out) == row->worst, "%s", row->name);
    ck_assert(grout_compare_is_differing(&task, &out, out.first));
    end(&f);
}

TEST(large_arrays_report_the_first) {
    grout_diags *diags = grout_diags_new();
    static unsigned char expected[100000], actual[100000];
    grout_module *module = bind_text("large.grout",
                                     "kernel @k(%y: out gmem u8[100, 1000]) {\n  store %y[0, 0], "
                                     "(cast 1 : u8)\n}\n",
                                     diags);
    actual[54321] = 7;
    actual[99999] = 1;
    ck_assert(!grout_compare_array(module, 1, 0, expected, actual, NULL, diags));
    const grout_diag *diag = grout_diags_get(diags, grout_diags_count(diags) - 1);
    ck_assert_str_eq(diag->message, "'%y'[54, 321] is 7, expected 0; 2 of 100000 elements differ");
    grout_module_free(module);
    grout_diags_free(diags);
}
