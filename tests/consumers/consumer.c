/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consumer.c - a program of somebody else's that uses an installed grout: it builds a kernel with
 * the builder (the add_one_smem of kernels/add_one.grout), prints it, checks it for races, runs it
 * and looks at the result.
 */
#include <grout/grout.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 256, BLOCK = 128 };

static grout_module *build_add_one(grout_diags *diags) {
    grout_builder *b = grout_builder_new("consumer.c");
    grout_builder_here(b, __FILE__, __LINE__);

    grout_expr_id n = grout_build_const(b, "N", grout_build_int(b, COUNT));
    grout_expr_id block = grout_build_const(b, "B", grout_build_int(b, BLOCK));
    grout_expr_id one = grout_build_int(b, 1);

    grout_builder_kernel(b, "add_one_smem");
    grout_value_id x = grout_build_param_array(b, "x", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 1, &n);
    grout_value_id y = grout_build_param_array(b, "y", GROUT_DIRECTION_OUT, GROUT_DTYPE_F32, 1, &n);
    grout_build_axis(b, GROUT_AXIS_GRID, "x", grout_build_expr(b, GROUT_EXPR_DIV, n, block));

    grout_build_object array = {
        .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 1, .dims = &block};
    grout_build_object barrier = {.kind = GROUT_OBJECT_BARRIER, .rank = 1, .dims = &one};
    grout_value_id xs = grout_build_scratch(b, "xs", &array);
    grout_value_id ys = grout_build_scratch(b, "ys", &array);
    grout_value_id full = grout_build_scratch(b, "full", &barrier);

    grout_value_id cta = grout_build_axis_index(b, "x");
    grout_value_id first = grout_build_name(
        b, grout_build_mul(b, grout_value_operand(cta), grout_expr_operand(block)), "first");
    grout_build_index rows = grout_index_slice(grout_value_operand(first), block);
    grout_build_index zero = grout_index_at(grout_expr_operand(grout_build_int(b, 0)));
    grout_operand x_block = grout_build_ref(b, x, 1, &rows);
    grout_operand y_block = grout_build_ref(b, y, 1, &rows);
    grout_operand full_0 = grout_build_ref(b, full, 1, &zero);

    grout_build_copy_gmem_to_smem(b, x_block, grout_value_operand(xs), full_0);
    grout_build_barrier_wait(b, full_0);
    grout_value_id v = grout_build_load(b, grout_value_operand(xs));
    grout_value_id sum =
        grout_build_add(b, grout_value_operand(v), grout_expr_operand(grout_build_float(b, 1.0)));
    grout_build_store(b, grout_value_operand(ys), grout_value_operand(sum));
    grout_build_commit_smem(b);
    grout_build_copy_smem_to_gmem(b, grout_value_operand(ys), y_block, 0);
    grout_build_wait_smem_to_gmem(b, grout_build_int(b, 0), 0);
    grout_builder_end_kernel(b);
    return grout_builder_finish(b, diags);
}

/* Runs the kernel with the checker watching: whether it is clean. */
static bool run_checked(grout_module *module, float *x, float *y, grout_diags *diags) {
    const grout_array in = {GROUT_DTYPE_F32, 1, {COUNT}, x},
                      out = {GROUT_DTYPE_F32, 1, {COUNT}, NULL};
    const size_t size = COUNT * sizeof *x;
    grout_check *check = grout_check_new("consumer.c", "", 0);
    if (check == NULL) {
        return false;
    }
    grout_check_use_module(check, module);
    bool ok = grout_check_give_array(check, "x", &in, size, NULL) &&
              grout_check_give_array(check, "y", &out, size, y);
    grout_report *report = ok ? grout_check_run(check, diags) : NULL;
    ok = report != NULL && strcmp(grout_report_get_verdict(report), "clean") == 0;
    grout_report_free(report);
    grout_check_free(check);
    return ok;
}

int main(void) {
    grout_diags *diags = grout_diags_new();
    grout_module *module = build_add_one(diags);
    float x[COUNT], y[COUNT];

    for (int i = 0; i < COUNT; i++) {
        x[i] = (float)i;
    }
    bool ok = module != NULL && run_checked(module, x, y, diags);
    for (int i = 0; ok && i < COUNT; i++) {
        ok = y[i] == x[i] + 1.0f;
    }

    grout_text text = {0};
    if (module != NULL) {
        grout_module_print(module, &text);
    }
    grout_diags_render(diags, &(grout_render_options){.color = false}, &text);
    if (text.data != NULL) {
        fputs(text.data, stdout);
    }
    puts(ok ? "clean, and every element is right" : "FAILED");
    grout_text_free(&text);
    grout_module_free(module);
    grout_diags_free(diags);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
