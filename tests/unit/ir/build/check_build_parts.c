/* check_build_parts.c - the builder's slice, reshape and concatenate.
 * SPDX-License-Identifier: Apache-2.0 */
#include "grout/build.h"
#include "grout/text.h"
#include "tests/unit/ir/module_equal.h"

#include <check.h>
#include <stdlib.h>

static grout_builder *b;
static grout_diags *diags;

static void set_up(void) {
    b = grout_builder_new("test");
    diags = grout_diags_new();
    ck_assert(b != NULL && diags != NULL);
}

static void tear_down(void) {
    grout_diags_free(diags);
}

static grout_operand expr(int64_t value) {
    return grout_expr_operand(grout_build_int(b, value));
}

static grout_operand value(grout_value_id id) {
    return grout_value_operand(id);
}

/* Checks that a module prints as expected (NULL: whatever) and that the text reads back equal. */
static void check_text(grout_module *module, const char *expected) {
    if (module == NULL) {
        ck_abort_msg("no module: %s", grout_diags_count(diags) > 0
                                          ? grout_diags_get(diags, 0)->message
                                          : "and no reason");
    }
    grout_text text = {0};
    grout_text said = {0};
    grout_module_print(module, &text);
    if (expected != NULL) {
        ck_assert_str_eq(text.data, expected);
    }
    grout_module *reread = grout_parse("built.grout", text.data, text.size, diags);
    grout_diags_render(diags, NULL, &said);
    ck_assert_msg(reread != NULL, "%s\n%s", text.data, said.data != NULL ? said.data : "");
    const char *difference = find_module_difference(module, reread);
    ck_assert_msg(difference == NULL, "%s differs in\n%s", difference, text.data);
    grout_text_free(&text);
    grout_text_free(&said);
    grout_module_free(reread);
    grout_module_free(module);
}

/* Ends the one kernel and checks its body. */
static void expect_body(const char *body) {
    grout_text text = {0};
    grout_builder_end_kernel(b);
    grout_text_add(&text, "kernel @k(%%a: in gmem f32[4, 8], %%n: i32) grid(x = 2)\n{\n%s}\n",
                   body);
    check_text(grout_builder_finish(b, diags), text.data);
    grout_text_free(&text);
}

static grout_value_id a, n;

static void begin_kernel(void) {
    grout_expr_id dims[] = {grout_build_int(b, 4), grout_build_int(b, 8)};
    grout_builder_kernel(b, "k");
    a = grout_build_param_array(b, "a", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 2, dims);
    n = grout_build_param_scalar(b, "n", GROUT_DTYPE_I32);
    grout_build_axis(b, GROUT_AXIS_GRID, "x", grout_build_int(b, 2));
}

START_TEST(boxes_are_built) {
    begin_kernel();
    grout_expr_id dims[] = {grout_build_int(b, 4), grout_build_int(b, 1)};
    grout_value_id v = grout_build_load(b, value(a));
    grout_build_index indices[] = {{.kind = GROUT_INDEX_SLICE, .start = expr(1), .size = dims[0]},
                                   {.kind = GROUT_INDEX_AT, .start = expr(2)}};
    grout_operand two[] = {value(grout_build_slice(b, grout_build_ref(b, v, 2, indices))), {0}};
    two[1] = two[0];
    grout_value_id both = grout_build_concatenate(b, grout_build_int(b, 0), 2, two);
    (void)grout_build_reshape(b, value(both), GROUT_DTYPE_F32, 2, dims);
    expect_body("  %0 = load %a\n  %1 = slice %0[ds(1, 4), 2]\n"
                "  %2 = concatenate %1, %1 dim(0)\n  %3 = reshape %2 : f32[4, 1]\n");
}
END_TEST

/* Indices that only the run tells, two lists of them, or none. */
START_TEST(other_boxes_are_refused) {
    begin_kernel();
    grout_value_id v = grout_build_load(b, value(a));
    grout_build_index at[] = {{.kind = GROUT_INDEX_AT, .start = _i == 0 ? value(n) : expr(0)}};
    static const uint32_t order[] = {0};
    grout_operand box = _i == 2 ? value(v) : grout_build_ref(b, v, 1, at);
    if (_i == 1) {
        box = grout_build_transpose(b, box, 1, order);
    }
    ck_assert_uint_eq(grout_build_slice(b, box), 0);
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
}
END_TEST

int main(void) {
    Suite *suite = suite_create("build_parts");
    TCase *tcase = tcase_create("build_parts");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, boxes_are_built);
    tcase_add_loop_test(tcase, other_boxes_are_refused, 0, 3);
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
