/* check_generate.c - the generators of arrays: the same bytes for ever.
 * SPDX-License-Identifier: Apache-2.0 */
#include "call/input/generator_words.h"
#include "call/session/options.h"
#include "grout-internal/interp.h"
#include "tests/tests.h"

#include <math.h>
#include <string.h>

static uint64_t get_hash(const void *data, size_t size) {
    const uint8_t *bytes = data;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++) {
        hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* The bytes of 1000 elements, as first released: a change here changes everybody's results. */
TEST(test_bytes) {
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

TEST(test_ints) {
    float values[4000];
    grout_generator generator = {.kind = GROUT_GENERATOR_INTS};
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

TEST(test_randn) {
    static double values[100000];
    grout_generator generator = {.kind = GROUT_GENERATOR_RANDN, .seed = 42};
    double sum = 0, squares = 0;
    grout_generator_fill(&generator, GROUT_DTYPE_F64, values, 100000);
    for (size_t i = 0; i < 100000; i++) {
        sum += values[i];
        squares += values[i] * values[i];
    }
    ck_assert(fabs(sum / 100000) < 0.01);
    ck_assert(fabs(squares / 100000 - 1) < 0.02);
}

/* The generators round as casts do, in every float type. */
TEST(test_rounding) {
    static const double numbers[] = {
        0.0,      -0.0,     1.0,   -1.5,        0.1,        1.0 / 3,  2.5,   447.9, 448.0,
        449.0,    464.0,    465.0, 57344.0,     57345.0,    61439.0,  61440, 65504, 65519.9,
        65520.0,  1e-3,     1e-5,  0x1p-9,      0x1.8p-10,  0x1p-10,  1e-7,  6e-8,  3e-8,
        0x1p-133, 0x1p-134, 1e-40, 3.3895e+38,  3.4028e+38, 3.41e+38, 1e60,  -1e60, 0x1p-149,
        0x1p-150, 1e-300,   1e300, 0x1.002p-14, 0x1.01p+0,  0x1.03p+0};
    static const grout_dtype dtypes[] = {GROUT_DTYPE_F8E4M3, GROUT_DTYPE_F8E5M2, GROUT_DTYPE_F16,
                                         GROUT_DTYPE_BF16,   GROUT_DTYPE_F32,    GROUT_DTYPE_F64};
    for (size_t d = 0; d < sizeof dtypes / sizeof dtypes[0]; d++) {
        const size_t bytes = grout_dtype_get_info(dtypes[d])->bytes;
        for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
            const grout_generator value = {.kind = GROUT_GENERATOR_VALUE, .low = numbers[i]};
            uint8_t element[8] = {0}, cast[8] = {0};
            grout_generator_fill(&value, dtypes[d], element, 1);
            grout_element_from_double(dtypes[d], numbers[i], cast);
            ck_assert_msg(memcmp(element, cast, bytes) == 0, "%a as %s", numbers[i],
                          grout_dtype_get_info(dtypes[d])->text);
        }
    }
}

/* The help of --input is a text of its own: it names each generator. */
TEST(test_help) {
    grout_text help = {0};
    grout_option__describe(GROUT_OPTION_INPUT, &help);
    for (int kind = 0; kind < GROUT_GENERATOR_VALUE; kind++) {
        grout_text form = {0};
        grout_generator_print_form((grout_generator_kind)kind, &form);
        ck_assert_msg(strstr(help.data, form.data) != NULL, "no '%s' in '%s'", form.data,
                      help.data);
        grout_text_free(&form);
    }
    grout_text_free(&help);
}

TEST(test_text) {
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
        {"uniform", false},
        {"zeros:", false},
        {"zeros:1", false},
        {"ints:1", false},
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

TEST(test_fits) {
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
