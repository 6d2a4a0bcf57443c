/* one_kernel.h - what tests of the builder share: a kernel begun, its text expected.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_TESTS_UNIT_IR_BUILD_ONE_KERNEL_H
#define GROUT_TESTS_UNIT_IR_BUILD_ONE_KERNEL_H

#include "grout-internal/text.h"
#include "grout/build.h"
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

#endif
