/* check_init.c - what init(..) puts into parameters and scratch, and how it is shown.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/generate.h"
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

/* An init after a parameter of four elements. */
typedef struct init_case {
    const char *init; /* with its blank; "": none */
    const char *dtype;
    const char *bytes; /* of the elements, in hexadecimal; NULL: as the generator makes them */
    const char *shown;
} init_case;

static const init_case init_cases[] = {
    {" init(zeros)", "i16", "0000000000000000", "zeros"},
    {" init(ones)", "f16", "003c003c003c003c", "ones"},
    {" init(ones)", "bool", "01010101", "ones"},
    {" init(arange)", "i32", "00000000010000000200000003000000", "arange"},
    {" init(-1)", "i64", "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff", "-1"},
    {" init(255)", "u8", "ffffffff", "255"},
    {" init(true)", "bool", "01010101", "true"},
    {" init(9007199254740993)", "u64",
     "0100000000002000010000000000200001000000000020000100000000002000", "9007199254740993"},
    {" init(1.5)", "bf16", "c03fc03fc03fc03f", "1.5"},
    {" init(f32:0x7fc00001)", "f32", "0100c07f0100c07f0100c07f0100c07f", "f32:0x7fc00001"},
    {" init([1, N * 2, -3, 127])", "i8", "0108fd7f", "[1, 8, -3, 127]"},
    {" init([true, false, false, true])", "bool", "01000001", "[true, false, false, true]"},
    {" init([0.5, inf, -2, nan])", "f32", "0000003f0000807f000000c00000c07f",
     "[0.5, inf, -2, f32:0x7fc00000]"},
    {" init(randn(7))", "f32", NULL, "randn:7"},
    {" init(uniform(N, -1, 0.5))", "f64", NULL, "uniform:4:-1:0.5"},
    {" init(ints)", "f32", NULL, "ints"},
    {"", "u16", NULL, "ints"},
};

static bound_text bind_case(const char *type, const char *init) {
    char source[512];
    snprintf(source, sizeof source,
             "const N = 4\nkernel @k(%%a: i32, %%x: in gmem %s[2, 2]%s, %%y: out gmem i32[1])\n{\n"
             "  scratch %%p : gmem %s[2, 2]%s\n  store %%y[0], %%a\n}\n",
             type, init, type, init);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(text.bound != NULL && grout_verify(text.bound, GROUT_ARCH_ANY, text.diags),
                  "%s%s", source, get_said(text.diags));
    return text;
}

static void check_hexadecimal(const char *wanted, const uint8_t *data, size_t size) {
    char got[128] = "";
    ck_assert_uint_lt(2 * size, sizeof got);
    for (size_t i = 0; i < size; i++) {
        snprintf(got + 2 * i, 3, "%02x", data[i]);
    }
    ck_assert_str_eq(got, wanted);
}

/* What a generator makes by itself: an init is no other one. */
static void check_generated(const grout_generator *wanted, grout_dtype dtype, const uint8_t *data) {
    uint8_t made[32] = {0};
    grout_generator_fill(wanted, dtype, made, 4);
    ck_assert_int_eq(memcmp(made, data, (size_t)4 * grout_dtype_get_info(dtype)->bytes), 0);
}

static grout_generator get_wanted(const char *init, uint64_t stream) {
    if (strstr(init, "randn") != NULL) {
        return (grout_generator){.kind = GROUT_GENERATOR_RANDN, .seed = 7};
    }
    if (strstr(init, "uniform") != NULL) {
        return (grout_generator){
            .kind = GROUT_GENERATOR_UNIFORM, .seed = 4, .low = -1, .high = 0.5};
    }
    return (grout_generator){.kind = GROUT_GENERATOR_INTS, .stream = stream};
}

TEST_EACH(contents, COUNT_OF(init_cases)) {
    const init_case *c = &init_cases[_i];
    bound_text text = bind_case(c->dtype, c->init);
    const grout_kernel *kernel = grout_module_get_kernel(text.bound, 1);
    const grout_param *param = grout_module_get_param(text.bound, kernel, 1);
    const grout_dtype dtype = grout_dtype_find(c->dtype, strlen(c->dtype));
    const size_t size = (size_t)4 * grout_dtype_get_info(dtype)->bytes;
    const grout_object_id scratch = grout_module_get_object_count(text.bound) - 1;
    uint8_t data[32] = {0}, own[32] = {0};
    grout_param_fill_default(text.bound, kernel, 1, data);
    if (param->init != 0) {
        (void)grout_scratch_fill_default(text.bound, scratch, own, NULL);
    }
    if (c->bytes != NULL) {
        check_hexadecimal(c->bytes, data, size);
        ck_assert_int_eq(memcmp(data, own, size), 0);
    } else {
        grout_generator wanted = get_wanted(c->init, 1);
        check_generated(&wanted, dtype, data);
        wanted.stream = 3; /* parameters are 0 to 2 */
        if (param->init != 0) {
            check_generated(&wanted, dtype, own);
        }
    }
    free_text(&text);
}

TEST_EACH(text_for_people, COUNT_OF(init_cases)) {
    const init_case *c = &init_cases[_i];
    bound_text text = bind_case(c->dtype, c->init);
    const grout_kernel *kernel = grout_module_get_kernel(text.bound, 1);
    const grout_init *init =
        grout_module_get_init(text.bound, grout_module_get_param(text.bound, kernel, 1)->init);
    const grout_dtype dtype = grout_dtype_find(c->dtype, strlen(c->dtype));
    uint64_t bits = 42;
    grout_text shown = {0};
    grout_init_print_input(text.bound, init, &shown);
    ck_assert_str_eq(shown.data, c->shown);
    grout_text_free(&shown);
    /* Uniform: the bytes are those of one element. */
    if (grout_init_is_uniform(text.bound, init, dtype, &bits)) {
        char first[17];
        const size_t bytes = grout_dtype_get_info(dtype)->bytes;
        for (size_t i = 0; i < bytes; i++) {
            snprintf(first + 2 * i, 3, "%02x", (unsigned)(bits >> (8 * i) & 0xff));
        }
        ck_assert_int_eq(strncmp(c->bytes, first, 2 * bytes), 0);
    }
    ck_assert_int_eq(grout_init_is_uniform(text.bound, init, dtype, &bits),
                     c->bytes != NULL && strchr(c->shown, '[') == NULL &&
                         strcmp(c->shown, "arange") != 0);
    free_text(&text);
}

TEST(long_lists_are_cut) {
    bound_text text = bind_text("kernel @k(%x: in gmem i32[9] init([1, 2, 3, 4, 5, 6, 7, 8, 9])) "
                                "{\n}\n",
                                NULL, 0);
    const grout_kernel *kernel = grout_module_get_kernel(text.bound, 1);
    grout_text shown = {0};
    grout_init_print_input(
        text.bound,
        grout_module_get_init(text.bound, grout_module_get_param(text.bound, kernel, 0)->init),
        &shown);
    ck_assert_str_eq(shown.data, "[1, 2, 3, 4, 5, 6, 7, 8, ..]");
    grout_text_free(&shown);
    free_text(&text);
}
