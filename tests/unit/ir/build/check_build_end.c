/* check_build_end.c - the builder's end: whether it has failed, calls after it, places with frames.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/ir/build/one_kernel.h"

#include <string.h>

/* ---- has it failed? -------------------------------------------------------------------------- */

TEST(failure_is_seen_at_once) {
    begin_kernel();
    ck_assert(!grout_builder_is_failed(b));
    ck_assert_ptr_null(grout_builder_get_mistake(b));
    grout_loc loc = {.line = 7, .column = 1, .length = 3, .kind = GROUT_LOC_PYTHON};
    ck_assert_uint_ne(grout_builder_at(b, loc, "model.py"), 0);
    (void)grout_build_neg(b, value(999));
    ck_assert(grout_builder_is_failed(b));
    const grout_diag *mistake = grout_builder_get_mistake(b);
    ck_assert_ptr_nonnull(mistake);
    ck_assert_str_eq(mistake->message, "there is no value 999");
    ck_assert_str_eq(mistake->place.file, "model.py");
    ck_assert_uint_eq(mistake->place.line, 7);
    (void)grout_build_neg(b, value(998)); /* the first one stays */
    ck_assert_str_eq(grout_builder_get_mistake(b)->message, "there is no value 999");
    grout_builder_free(b);
}

TEST(no_builder_has_failed) {
    ck_assert(grout_builder_is_failed(NULL));
    ck_assert_ptr_null(grout_builder_get_mistake(NULL));
    ck_assert_ptr_null(grout_builder_close(NULL, diags));
    ck_assert_uint_eq(grout_build_element(NULL, GROUT_DTYPE_NONE, 0), 0);
    grout_builder_free(b);
}

/* ---- after the end --------------------------------------------------------------------------- */

static void call_values(void) {
    const grout_operand operands[4] = {value(a), value(n), value(a), value(n)};
    for (int opcode = 0; opcode <= GROUT_OP_COUNT; opcode++) {
        const grout_build_op_args args = {.operands = operands, .operand_count = 2, .text = "x"};
        ck_assert_uint_eq(grout_build_op(b, (grout_opcode)opcode, &args), 0);
    }
    ck_assert_uint_eq(grout_build_name(b, n, "x"), 0);
}

static void call_references(void) {
    const grout_build_index all = grout_index_all();
    const uint32_t order[] = {1, 0};
    const grout_expr_id dims[] = {1, 2};
    const grout_operand place = value(n);
    ck_assert_uint_eq(grout_build_ref(b, a, 1, &all).kind, GROUT_OPERAND_NONE);
    ck_assert_uint_eq(grout_build_transpose(b, value(a), 2, order).kind, GROUT_OPERAND_NONE);
    ck_assert_uint_eq(grout_build_cluster_ref(b, value(a), 1, &place).kind, GROUT_OPERAND_NONE);
    ck_assert_uint_eq(grout_build_bitcast_ref(b, value(a), GROUT_DTYPE_I32).kind,
                      GROUT_OPERAND_NONE);
    ck_assert_uint_eq(grout_build_reshape_ref(b, value(a), 2, dims).kind, GROUT_OPERAND_NONE);
}

static void call_constants(void) {
    ck_assert_uint_eq(grout_build_int(b, 1), 0);
    ck_assert_uint_eq(grout_build_float(b, 1), 0);
    ck_assert_uint_eq(grout_build_element(b, GROUT_DTYPE_F32, 1), 0);
    ck_assert_uint_eq(grout_build_element(b, GROUT_DTYPE_BOOL, 1), 0);
    ck_assert_uint_eq(grout_build_expr(b, GROUT_EXPR_ADD, 1, 1), 0);
    ck_assert_uint_eq(grout_build_const(b, "N", 1), 0);
    grout_build_require(b, 1, "so");
    grout_build_launch(b, "k", NULL, 0, false);
}

static void call_kernels(void) {
    const grout_expr_id dim = 1;
    const uint32_t warps = 4;
    const grout_build_object object = {
        .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 1, .dims = &dim};
    grout_builder_kernel(b, "l");
    ck_assert_uint_eq(grout_build_param_array(b, "p", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 1, &dim),
                      0);
    ck_assert_uint_eq(grout_build_param_scalar(b, "q", GROUT_DTYPE_I32), 0);
    grout_build_init(b, a, GROUT_GENERATOR_ONES, 0, NULL);
    grout_build_axis(b, GROUT_AXIS_GRID, "y", 1);
    grout_build_arch(b, GROUT_ARCH_SM_100A);
    grout_build_cluster_exit(b, GROUT_CLUSTER_EXIT_SYNC);
    grout_build_auto_fence(b, true);
    grout_build_partition_warps(b, 1, &warps);
    ck_assert_uint_eq(grout_build_scratch(b, "s", &object), 0);
    grout_builder_end_kernel(b);
}

static void call_regions(void) {
    const grout_operand one = value(n);
    grout_value_id made = 1;
    const char *name = "c";
    const grout_expr_id dim = 1;
    const grout_build_object object = {
        .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 1, .dims = &dim};
    ck_assert_uint_eq(grout_build_for(b, "i", one, one, one, 1, &name, &one), 0);
    ck_assert_uint_eq(grout_build_carry(b, 0), 0);
    grout_build_while(b, 1, &name, &one);
    grout_build_do(b, one);
    grout_build_if(b, one);
    grout_build_else(b, 0, NULL);
    grout_build_scoped(b, false, 1, &name, &object, &made);
    ck_assert_uint_eq(grout_build_warp_map(b, "w"), 0);
    grout_build_warp_specialize(b);
    grout_build_partition(b, 0, NULL);
    ck_assert_uint_eq(grout_build_end(b, 0, NULL), 0);
}

static void call_places(void) {
    grout_builder_here(b, "x.c", 1);
    ck_assert_uint_eq(grout_builder_at(b, (grout_loc){.line = 1}, "x.py"), 0);
    grout_builder_inline(b, true);
}

static void (*const calls[])(void) = {call_values,  call_references, call_constants,
                                      call_kernels, call_regions,    call_places};

/* Each is a mistake and builds nothing; the module that was taken stays as it is. */
TEST_EACH(calls_after_the_end_are_mistakes, COUNT_OF(calls)) {
    begin_kernel();
    grout_builder_end_kernel(b);
    grout_module *module = grout_builder_close(b, diags);
    ck_assert_ptr_nonnull(module);
    ck_assert(!grout_builder_is_failed(b));
    calls[_i]();
    ck_assert(grout_builder_is_failed(b));
    ck_assert_str_eq(grout_builder_get_mistake(b)->message, "the builder is used after its end");
    ck_assert_uint_eq(grout_diags_count(diags), 0);
    ck_assert_ptr_null(grout_builder_close(b, diags));
    ck_assert_str_eq(grout_diags_get(diags, 0)->message, "the builder is used after its end");
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    grout_diags_free(diags);
    diags = grout_diags_new();
    check_text(module, "kernel @k(%a: in gmem f32[4, 8], %n: i32) grid(x = 2)\n{\n}\n");
}

TEST(a_mistake_is_said_at_each_close) {
    begin_kernel();
    for (uint32_t i = 0; i < 2; i++) {
        ck_assert_ptr_null(grout_builder_close(b, diags));
        ck_assert_str_eq(grout_diags_get(diags, i)->message, "kernel '@k' is not ended");
    }
    grout_builder_free(b);
}

/* ---- places ---------------------------------------------------------------------------------- */

TEST(places_have_frames) {
    grout_loc outer = {.line = 10, .kind = GROUT_LOC_PYTHON};
    grout_loc inner = {.line = 20, .kind = GROUT_LOC_PYTHON};
    begin_kernel();
    inner.parent = grout_builder_at(b, outer, "train.py");
    grout_loc_id id = grout_builder_at(b, inner, "layers.py");
    ck_assert(inner.parent != 0 && id > inner.parent);
    (void)grout_build_neg(b, value(n));
    grout_builder_end_kernel(b);
    grout_module *module = grout_builder_finish(b, diags);
    ck_assert_ptr_nonnull(module);
    const grout_op *op = grout_module_get_op(module, 1);
    ck_assert_uint_eq(op->loc, id);
    ck_assert_str_eq(grout_module_get_place(module, op->loc).file, "layers.py");
    grout_place caller =
        grout_module_get_place(module, grout_module_get_loc(module, op->loc)->parent);
    ck_assert_str_eq(caller.file, "train.py");
    ck_assert_uint_eq(caller.line, 10);
    grout_module_free(module);
}

/* More frames around a mistake than its diagnostic names: that is at most GROUT_CALLERS_MAX. */
TEST_EACH(a_mistake_names_its_callers, GROUT_CALLERS_MAX + 3) {
    const uint32_t frames = (uint32_t)_i;
    const uint32_t shown = frames < GROUT_CALLERS_MAX ? frames : GROUT_CALLERS_MAX;
    grout_loc loc = {.line = 1, .kind = GROUT_LOC_PYTHON};
    begin_kernel();
    for (uint32_t i = 0; i <= frames; i++) {
        loc.parent = grout_builder_at(b, loc, "train.py");
        loc.line++;
    }
    (void)grout_build_neg(b, value(999));
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_uint_eq(diag->place.line, frames + 1);
    ck_assert_uint_eq(diag->note_count, shown);
    for (uint32_t i = 0; i < shown; i++) {
        ck_assert_uint_eq(diag->notes[i].place.line, frames - i);
        ck_assert_str_eq(diag->notes[i].message,
                         i + 1 < shown || frames == shown ? "called from here"
                         : frames == shown + 1 ? "called from here, and 1 frame around it"
                                               : "called from here, and 2 frames around it");
    }
}

/* Faults that only binding and the verifier see name them too. */
TEST(a_fault_names_its_callers) {
    grout_loc inner = {.line = 20, .column = 3, .length = 4, .kind = GROUT_LOC_PYTHON};
    grout_text text = {0};
    static const char source[] = "def inner(k):\n";
    begin_kernel();
    grout_builder_add_source(b, "train.py", source, sizeof source - 1);
    inner.parent = grout_builder_at(b, (grout_loc){.line = 1, .column = 5}, "train.py");
    (void)grout_builder_at(b, inner, "layers.py");
    (void)grout_build_neg(b, value(a));
    grout_builder_end_kernel(b);
    grout_module *module = grout_builder_finish(b, diags);
    ck_assert_ptr_nonnull(module);
    ck_assert_ptr_null(grout_module_bind(module, NULL, 0, diags));
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_uint_eq(diag->place.line, 20);
    ck_assert_uint_eq(diag->notes[0].place.line, 1);
    grout_diag_render(diag, diags, NULL, &text);
    ck_assert_msg(strstr(text.data, "  train.py:1:5: note: called from here\n") != NULL &&
                      strstr(text.data, " 1 | def inner(k):\n") != NULL,
                  "%s", text.data);
    grout_text_free(&text);
    grout_module_free(module);
}

/* ---- what the kernel's text has ---- */

TEST(loops_unroll) {
    const grout_operand zero = expr(0);
    begin_kernel();
    (void)grout_build_for(b, "i", zero, expr(8), expr(1), 0, NULL, NULL);
    grout_build_unroll(b, grout_build_int(b, 4));
    (void)grout_build_neg(b, value(n));
    (void)grout_build_end(b, 0, NULL);
    expect_body("  for %i in 0..8 unroll(4) {\n    %0 = neg %n\n  }\n");
}

/* Outside of a region, twice, in what is no loop. */
TEST_EACH(what_does_not_unroll, 3) {
    const grout_operand zero = expr(0);
    begin_kernel();
    if (_i == 1) {
        (void)grout_build_for(b, "i", zero, expr(8), expr(1), 0, NULL, NULL);
        grout_build_unroll(b, grout_build_int(b, 4));
        ck_assert(!grout_builder_is_failed(b));
    } else if (_i == 2) {
        grout_build_if(b, value(grout_build_lt(b, value(n), expr(4))));
    }
    grout_build_unroll(b, grout_build_int(b, 4));
    ck_assert_str_eq(grout_builder_get_mistake(b)->message, "'unroll' is for a loop, once");
    grout_builder_free(b);
}

TEST(references_have_parts_of_parts) {
    const grout_build_index first = grout_index_at(expr(0));
    begin_kernel();
    grout_operand row = grout_build_ref(b, a, 1, &first);
    (void)grout_build_load(b, grout_build_part_ref(b, row, 1, &first));
    expect_body("  %0 = load %a[0][0]\n");
}

TEST(a_number_has_no_parts) {
    begin_kernel();
    const grout_build_index first = grout_index_at(expr(0));
    (void)grout_build_part_ref(b, expr(3), 1, &first);
    ck_assert_str_eq(grout_builder_get_mistake(b)->message, "indices are for references to memory");
    grout_builder_free(b);
}

/* They are of the diagnostics, not of the text. */
TEST(frames_do_not_print) {
    begin_kernel();
    grout_loc inner = {.line = 2, .kind = GROUT_LOC_PYTHON};
    inner.parent = grout_builder_at(b, (grout_loc){.line = 1}, "x.py");
    (void)grout_builder_at(b, inner, "y.py");
    (void)grout_build_add(b, value(n), expr(1));
    expect_body("  %0 = add %n, 1\n");
}

/* The next id, which is not there yet, is the first that is refused. */
TEST(a_frame_has_to_be_there) {
    grout_loc_id last = grout_builder_at(b, (grout_loc){.line = 1}, "x.py");
    ck_assert_uint_ne(grout_builder_at(b, (grout_loc){.line = 2, .parent = last}, "x.py"), 0);
    ck_assert(!grout_builder_is_failed(b));
    ck_assert_uint_eq(grout_builder_at(b, (grout_loc){.line = 2, .parent = last + 2}, "x.py"), 0);
    ck_assert(grout_builder_is_failed(b));
    ck_assert_ptr_nonnull(strstr(grout_builder_get_mistake(b)->message, "there is no place"));
    grout_builder_free(b);
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
