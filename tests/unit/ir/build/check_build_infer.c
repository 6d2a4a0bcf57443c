/* Types while building: grout_builder_infer of modules that are not finished.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/ir/build/one_kernel.h"

#include "grout-internal/type.h"

#include <stdio.h>

/* The type of a value so far, as text; faults are expected to be this many. */
static const char *infer(grout_value_id id, uint32_t faults) {
    static char chars[64];
    grout_text text = {0};
    grout_module *module = grout_builder_infer(b, diags);
    ck_assert_ptr_nonnull(module);
    ck_assert_uint_eq(grout_diags_count(diags), faults);
    grout_type_print(grout_module_get_type(module, id), &text);
    (void)snprintf(chars, sizeof chars, "%s", text.data != NULL ? text.data : "");
    grout_text_free(&text);
    grout_module_free(module);
    return chars;
}

TEST(values_have_types) {
    begin_kernel();
    grout_value_id loaded = grout_build_load(b, value(a));
    ck_assert_str_eq(infer(loaded, 0), "f32[4, 8]");
    ck_assert_str_eq(infer(a, 0), "gmem f32[4, 8]");
    ck_assert_str_eq(infer(grout_build_lt(b, value(n), expr(4)), 0), "bool");
    const grout_operand truth = grout_expr_operand(grout_build_bool(b, true));
    ck_assert_str_eq(infer(grout_build_not(b, truth), 0), "bool");
    grout_builder_free(b);
}

/* The ends that they lack are not missed, however deep. */
TEST(regions_may_be_open) {
    begin_kernel();
    const grout_operand zero = expr(0);
    const char *const name = "acc";
    grout_value_id i = grout_build_for(b, "i", zero, expr(4), expr(1), 1, &name, &zero);
    grout_value_id sum = grout_build_add(b, value(grout_build_carry(b, 0)), value(i));
    ck_assert_str_eq(infer(sum, 0), "i32");
    grout_build_while(b, 1, NULL, &zero);
    ck_assert_str_eq(infer(grout_build_carry(b, 0), 0), "i32");
    grout_build_do(b, value(grout_build_lt(b, value(grout_build_carry(b, 0)), expr(3))));
    grout_build_if(b, value(grout_build_lt(b, value(i), expr(1))));
    ck_assert_str_eq(infer(sum, 0), "i32");
    const grout_operand one = expr(1);
    grout_build_else(b, 1, &one);
    ck_assert_str_eq(infer(sum, 0), "i32");
    grout_value_id chosen = grout_build_end(b, 1, &one);
    ck_assert_str_eq(infer(chosen, 0), "i32");
    grout_builder_free(b);
}

TEST(a_fault_is_seen_at_once) {
    begin_kernel();
    const grout_operand zero = expr(0);
    (void)grout_build_for(b, "i", zero, expr(4), expr(1), 0, NULL, NULL);
    (void)grout_builder_at(b, (grout_loc){.line = 7}, "x.py");
    grout_value_id wrong = grout_build_add(b, value(a), expr(1));
    ck_assert_str_eq(infer(wrong, 1), "unknown");
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_int_eq(diag->code, GROUT_DIAG_OPERAND_KIND);
    ck_assert_uint_eq(diag->place.line, 7);
    grout_builder_free(b);
}

/* What is closed wrongly is a fault although the loop around it is open. */
TEST(an_end_is_judged_when_it_is_built) {
    begin_kernel();
    const grout_operand zero = expr(0);
    const grout_operand half = grout_expr_operand(grout_build_float(b, 0.5));
    (void)grout_build_for(b, "i", zero, expr(4), expr(1), 0, NULL, NULL);
    (void)grout_build_for(b, "j", zero, expr(4), expr(1), 1, NULL, &zero);
    (void)infer(n, 0);
    (void)grout_build_end(b, 1, &half);
    (void)infer(n, 1);
    grout_builder_free(b);
}

/* The values that a module is built for may come later. */
TEST(a_require_says_nothing_yet) {
    grout_build_require(
        b, grout_build_expr(b, GROUT_EXPR_LT, grout_build_int(b, 2), grout_build_int(b, 1)), NULL);
    begin_kernel();
    grout_value_id loaded = grout_build_load(b, value(a));
    ck_assert_str_eq(infer(loaded, 0), "unknown");
    grout_builder_free(b);
}

/* It is a copy that is asked. */
TEST(asking_changes_nothing) {
    begin_kernel();
    grout_value_id sum = grout_build_add(b, value(n), expr(1));
    ck_assert_str_eq(infer(sum, 0), "i32");
    (void)grout_build_neg(b, value(sum));
    expect_body("  %0 = add %n, 1\n  %1 = neg %0\n");
}

TEST(nothing_to_infer) {
    ck_assert_ptr_null(grout_builder_infer(NULL, diags));
    begin_kernel();
    (void)grout_build_neg(b, value(999));
    ck_assert_ptr_null(grout_builder_infer(b, diags));
    grout_builder_free(b);
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
