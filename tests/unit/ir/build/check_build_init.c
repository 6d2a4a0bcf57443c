/* check_build_init.c - contents that a program gives to parameters and scratch, and elements.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout-internal/text.h"
#include "grout/build.h"
#include "tests/tests.h"
#include "tests/unit/ir/module_equal.h"

#include <string.h>

static grout_builder *b;
static grout_diags *diags;
static grout_value_id x, n, y, table;

static void begin_kernel(void) {
    grout_expr_id four = grout_build_int(b, 4);
    grout_builder_kernel(b, "k");
    x = grout_build_param_array(b, "x", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 1, &four);
    n = grout_build_param_scalar(b, "n", GROUT_DTYPE_I32);
    y = grout_build_param_array(b, "y", GROUT_DIRECTION_INOUT, GROUT_DTYPE_I32, 1, &four);
    const grout_build_object object = {.kind = GROUT_OBJECT_ARRAY,
                                       .space = GROUT_SPACE_GMEM,
                                       .dtype = GROUT_DTYPE_I32,
                                       .rank = 1,
                                       .dims = &four};
    table = grout_build_scratch(b, "table", &object);
}

static void set_up(void) {
    b = grout_builder_new("test");
    diags = grout_diags_new();
    ck_assert(b != NULL && diags != NULL);
    begin_kernel();
}

static void tear_down(void) {
    grout_diags_free(diags);
}

static void init(grout_value_id value, grout_generator_kind kind, uint32_t count,
                 const int64_t *numbers) {
    grout_expr_id arguments[8] = {0};
    for (uint32_t i = 0; i < count && i < 8; i++) {
        arguments[i] = grout_build_int(b, numbers[i]);
    }
    grout_build_init(b, value, kind, count, arguments);
}

TEST(what_is_built_reads_back) {
    static const char text[] = "kernel @k(%x: in gmem f32[4] init(uniform(3, -1, 1)), %n: i32 "
                               "init(7), %y: inout gmem i32[4])\n"
                               "{\n  scratch %table : gmem i32[4] init([4, 3, 2, 1])\n}\n";
    init(table, GROUT_GENERATOR_LIST, 4, (const int64_t[]){4, 3, 2, 1});
    init(x, GROUT_GENERATOR_UNIFORM, 3, (const int64_t[]){3, -1, 1});
    init(n, GROUT_GENERATOR_VALUE, 1, (const int64_t[]){7});
    grout_builder_end_kernel(b);
    grout_module *built = grout_builder_finish(b, diags);
    ck_assert_msg(built != NULL, "%s",
                  grout_diags_count(diags) > 0 ? grout_diags_get(diags, 0)->message : "");
    grout_text printed = {0};
    grout_module_print(built, &printed);
    ck_assert_str_eq(printed.data, text);
    grout_module *parsed = grout_parse("t.grout", text, strlen(text), diags);
    const char *difference = find_module_difference(built, parsed);
    ck_assert_msg(difference == NULL, "%s", difference);
    grout_text_free(&printed);
    grout_module_free(parsed);
    grout_module_free(built);
}

/* The low bits count, and a signed type has its sign. */
TEST(elements_of_every_type) {
    static const char body[] = "  %c = bitcast i8:-3 : u8\n"
                               "  %d = popcount u64:18446744073709551615\n"
                               "  %e = pow f16:0x3c00, f16:0x3c00 approx\n";
    grout_operand minus = grout_expr_operand(grout_build_element(b, GROUT_DTYPE_I8, 0x1fd));
    (void)grout_build_name(b, grout_build_bitcast(b, minus, GROUT_DTYPE_U8), "c");
    grout_operand large = grout_expr_operand(grout_build_element(b, GROUT_DTYPE_U64, UINT64_MAX));
    (void)grout_build_name(b, grout_build_popcount(b, large), "d");
    grout_operand one = grout_expr_operand(grout_build_element(b, GROUT_DTYPE_F16, 0x3c00));
    (void)grout_build_name(b, grout_build_pow(b, one, one, GROUT_ATTR_BIT(APPROX)), "e");
    grout_builder_end_kernel(b);
    grout_module *built = grout_builder_finish(b, diags);
    ck_assert_ptr_nonnull(built);
    grout_text printed = {0};
    grout_module_print(built, &printed);
    ck_assert_ptr_nonnull(strstr(printed.data, body));
    grout_text_free(&printed);
    grout_module_free(built);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void seed_is_missing(void) {
    init(x, GROUT_GENERATOR_RANDN, 0, NULL);
}
static void argument_of_zeros(void) {
    init(x, GROUT_GENERATOR_ZEROS, 1, (const int64_t[]){1});
}
static void two_values(void) {
    init(x, GROUT_GENERATOR_VALUE, 2, (const int64_t[]){1, 2});
}
static void empty_list(void) {
    init(x, GROUT_GENERATOR_LIST, 0, NULL);
}
static void unknown_kind(void) {
    init(x, GROUT_GENERATOR_COUNT, 1, (const int64_t[]){1});
}
static void twice(void) {
    init(y, GROUT_GENERATOR_ONES, 0, NULL);
    init(y, GROUT_GENERATOR_ZEROS, 0, NULL);
}
static void of_no_value(void) {
    init(0, GROUT_GENERATOR_ONES, 0, NULL);
}
static void of_a_result(void) {
    init(grout_build_load(b, grout_value_operand(x)), GROUT_GENERATOR_ONES, 0, NULL);
}
static void element_of_bool(void) {
    (void)grout_build_element(b, GROUT_DTYPE_BOOL, 1);
}
static void of_an_unknown_expression(void) {
    grout_build_init(b, x, GROUT_GENERATOR_VALUE, 1, &(grout_expr_id){1000});
}

static const struct {
    void (*make)(void);
    const char *message;
} mistakes[] = {
    {seed_is_missing, "init(randn) takes 1 arguments, not 0"},
    {argument_of_zeros, "init(zeros) takes 0 arguments, not 1"},
    {two_values, "init(VALUE) takes 1 arguments, not 2"},
    {empty_list, "an init lists 1 to 65536 elements, not 0"},
    {unknown_kind, "there is no generator 8"},
    {twice, "value 3 has an init already"},
    {of_no_value, "value 0 is not a parameter or scratch of the kernel"},
    {of_a_result, "value 5 is not a parameter or scratch of the kernel"},
    {element_of_bool, "an element of no type, or of bool"},
    {of_an_unknown_expression, "there is no expression 1000"},
};

TEST_EACH(each_mistake_is_reported_once, COUNT_OF(mistakes)) {
    mistakes[_i].make();
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_uint_eq(grout_diags_total(diags), 1);
    ck_assert_str_eq(grout_diags_get(diags, 0)->message, mistakes[_i].message);
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_BUILDER);
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
