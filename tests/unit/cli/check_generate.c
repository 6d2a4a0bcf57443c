/* check_generate.c - the generators of arrays: the same bytes for ever.
 * SPDX-License-Identifier: Apache-2.0 */
#include "cli/input/generate.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Known answers of Philox4x32-10, from Random123's kat_vectors. */
START_TEST(test_philox) {
    static const struct {
        uint32_t counter[4], key[2], out[4];
    } cases[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
         {0xffffffff, 0xffffffff},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t out[4];
        grout_philox(cases[i].counter, cases[i].key, out);
        ck_assert_int_eq(memcmp(out, cases[i].out, sizeof out), 0);
    }
}
END_TEST

/* Quantiles to 16 digits. */
START_TEST(test_quantile) {
    static const struct {
        double p, x;
    } cases[] = {
        {0.5, 0.0},
        {0.975, 1.959963984540054},
        {0.025, -1.959963984540054},
        {0.9, 1.2815515655446004},
        {0.999, 3.090232306167813},
        {1e-6, -4.753424308822899},
        {0x1p-33, -6.337957754553789},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double x = grout_normal_quantile(cases[i].p);
        ck_assert_msg(fabs(x - cases[i].x) <= 4e-15 * (1 + fabs(cases[i].x)), "%g: %.17g",
                      cases[i].p, x);
    }
}
END_TEST

static uint64_t get_hash(const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The bytes of 1000 elements, as first released: a change here changes everybody's results. */
START_TEST(test_bytes) {
    static const struct {
        const char *text;
        grout_dtype dtype;
        uint64_t hash;
    } cases[] = {
        {"ints", GROUT_DTYPE_F32, UINT64_C(0x8c3a5ba0109b7888)},
        {"ints", GROUT_DTYPE_U8, UINT64_C(0xfaf44afafb02d398)},
        {"randn:1", GROUT_DTYPE_F32, UINT64_C(0xb626a04ab00fd5b2)},
        {"randn:1", GROUT_DTYPE_F64, UINT64_C(0xc702934e9c2ef75c)},
        {"uniform:2:-1:1", GROUT_DTYPE_BF16, UINT64_C(0xdddb507f3fbab430)},
        {"arange", GROUT_DTYPE_I8, UINT64_C(0x9ebd4ca7a79e5ddd)},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        static uint8_t data[8000];
        grout_generator generator;
        ck_assert(grout_generator_read(cases[i].text, &generator));
        ck_assert(grout_generator_fits(&generator, cases[i].dtype));
        grout_generator_fill(&generator, cases[i].dtype, data, 1000);
        uint64_t hash = get_hash(data, (size_t)1000 * grout_dtype_get_info(cases[i].dtype)->bytes);
        ck_assert_msg(hash == cases[i].hash, "%s as %s: %#llx", cases[i].text,
                      grout_dtype_get_info(cases[i].dtype)->text, (unsigned long long)hash);
    }
}
END_TEST

START_TEST(test_ints) {
    float values[4000];
    grout_generator generator = {.kind = GROUT_GENERATE_INTS};
    int counts[9] = {0};
    grout_generator_fill(&generator, GROUT_DTYPE_F32, values, 4000);
    for (size_t i = 0; i < 4000; i++) {
        ck_assert(values[i] >= -4 && values[i] <= 4 && values[i] == floorf(values[i]));
        counts[(int)values[i] + 4]++;
    }
    for (size_t i = 0; i < 9; i++) {
        ck_assert_int_gt(counts[i], 300);
    }
    /* Two arrays of one launch are not the same. */
    float others[4000];
    generator.stream = 1;
    grout_generator_fill(&generator, GROUT_DTYPE_F32, others, 4000);
    size_t same = 0;
    for (size_t i = 0; i < 4000; i++) {
        same += values[i] == others[i] ? 1u : 0u;
    }
    ck_assert_uint_lt(same, 1000);
}
END_TEST

START_TEST(test_randn) {
    static double values[100000];
    grout_generator generator = {.kind = GROUT_GENERATE_RANDN, .seed = 42};
    double sum = 0, squares = 0;
    grout_generator_fill(&generator, GROUT_DTYPE_F64, values, 100000);
    for (size_t i = 0; i < 100000; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    ck_assert(fabs(sum / 100000) < 0.01);
    ck_assert(fabs(squares / 100000 - 1) < 0.02);
}
END_TEST

START_TEST(test_text) {
    static const struct {
        const char *text;
        bool is_good;
    } cases[] = {
        {"ints", true},
        {"zeros", true},
        {"randn:7", true},
        {"uniform:1:0:1", true},
        {"uniform:1:-2.5:1e3", true},
        {"2.5", true},
        {"-3", true},
        {"nan", true},
        {"randn", false},
        {"randn:", false},
        {"randn:x", false},
        {"randn:-1", false},
        {"uniform:1:2", false},
        {"uniform:1:2:1", false},
        {"uniform:1:0:inf", false},
        {"uniform:1:0:1:2", false},
        {"", false},
        {"int", false},
        {" 1", false},
        {"1 ", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        grout_generator generator, again;
        ck_assert_msg(grout_generator_read(cases[i].text, &generator) == cases[i].is_good, "'%s'",
                      cases[i].text);
        if (cases[i].is_good && strcmp(cases[i].text, "nan") != 0) {
            grout_text text = {0};
            grout_generator_print(&generator, &text);
            ck_assert(grout_generator_read(text.data, &again));
            ck_assert(generator.kind == again.kind && generator.seed == again.seed &&
                      generator.low == again.low && generator.high == again.high);
            grout_text_free(&text);
        }
    }
}
END_TEST

START_TEST(test_fits) {
    static const struct {
        const char *text;
        grout_dtype dtype;
        bool fits;
    } cases[] = {
        {"255", GROUT_DTYPE_U8, true},
        {"256", GROUT_DTYPE_U8, false},
        {"-1", GROUT_DTYPE_U8, false},
        {"-128", GROUT_DTYPE_I8, true},
        {"-129", GROUT_DTYPE_I8, false},
        {"1.5", GROUT_DTYPE_I32, false},
        {"1.5", GROUT_DTYPE_F32, true},
        {"nan", GROUT_DTYPE_I32, false},
        {"2", GROUT_DTYPE_BOOL, false},
        {"1", GROUT_DTYPE_BOOL, true},
        {"randn:1", GROUT_DTYPE_I32, false},
        {"9223372036854775808", GROUT_DTYPE_I64, false},
        {"18446744073709551616", GROUT_DTYPE_U64, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        grout_generator generator;
        ck_assert(grout_generator_read(cases[i].text, &generator));
        ck_assert_msg(grout_generator_fits(&generator, cases[i].dtype) == cases[i].fits, "%s as %s",
                      cases[i].text, grout_dtype_get_info(cases[i].dtype)->text);
    }
}
END_TEST

int main(void) {
    Suite *suite = suite_create("generate");
    TCase *tcase = tcase_create("generate");
    tcase_add_test(tcase, test_philox);
    tcase_add_test(tcase, test_quantile);
    tcase_add_test(tcase, test_bytes);
    tcase_add_test(tcase, test_ints);
    tcase_add_test(tcase, test_randn);
    tcase_add_test(tcase, test_text);
    tcase_add_test(tcase, test_fits);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
