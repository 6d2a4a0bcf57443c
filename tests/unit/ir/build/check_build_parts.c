/* check_build_parts.c - the builder's slice, reshape, concatenate, descriptors and inline_ptx.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/ir/build/one_kernel.h"

#include <string.h>

TEST(boxes_are_built) {
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

TEST(arrays_have_layouts) {
    begin_kernel();
    const grout_expr_id dims[] = {grout_build_int(b, 8), grout_build_int(b, 16)};
    grout_build_object object = {.kind = GROUT_OBJECT_ARRAY,
                                 .dtype = GROUT_DTYPE_F32,
                                 .rank = 2,
                                 .dims = dims,
                                 .layout = "interval_padding_pairs=[[16, 1]]"};
    (void)grout_build_scratch(b, "s", &object);
    expect_body("  scratch %s : smem f32[8, 16] layout(\"interval_padding_pairs=[[16, 1]]\")\n");
}

TEST(tiles_are_inferred) {
    begin_kernel();
    const grout_expr_id dims[] = {grout_build_int(b, 64), grout_build_int(b, 64)};
    grout_build_object object = {.kind = GROUT_OBJECT_ARRAY,
                                 .dtype = GROUT_DTYPE_BF16,
                                 .rank = 2,
                                 .dims = dims,
                                 .infers_tile = true};
    (void)grout_build_scratch(b, "s", &object);
    object.swizzle = grout_build_int(b, 32);
    (void)grout_build_scratch(b, "t", &object);
    expect_body("  scratch %s : smem bf16[64, 64] tile(infer)\n"
                "  scratch %t : smem bf16[64, 64] tile(infer) swizzle(32)\n");
}

/* Not of an accumulator, of a barrier, or beside a tile. */
TEST_EACH(other_tiles_are_not_inferred, 3) {
    static const char *const messages[] = {"accumulators have no tile, swizzle or transpose",
                                           "barriers have no tile, swizzle or transpose",
                                           "an array has a tile, or one that is inferred"};
    begin_kernel();
    const grout_expr_id dims[] = {grout_build_int(b, 64), grout_build_int(b, 64)};
    grout_build_object object = {.kind = _i == 1 ? GROUT_OBJECT_BARRIER : GROUT_OBJECT_ARRAY,
                                 .space = _i == 0 ? GROUT_SPACE_ACC : GROUT_SPACE_NONE,
                                 .dtype = _i == 1 ? GROUT_DTYPE_NONE : GROUT_DTYPE_F32,
                                 .rank = 2,
                                 .dims = dims,
                                 .tile_rank = _i == 2 ? 2 : 0,
                                 .tile = dims,
                                 .infers_tile = true};
    ck_assert_uint_eq(grout_build_scratch(b, "s", &object), 0);
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_ptr_nonnull(strstr(grout_diags_get(diags, 0)->message, messages[_i]));
}

/* Accumulators lie in registers, and barriers are no arrays. */
TEST_EACH(others_have_no_layout, 2) {
    begin_kernel();
    const grout_expr_id dims[] = {grout_build_int(b, 64), grout_build_int(b, 16)};
    grout_build_object object = {.kind = _i == 0 ? GROUT_OBJECT_ARRAY : GROUT_OBJECT_BARRIER,
                                 .space = _i == 0 ? GROUT_SPACE_ACC : GROUT_SPACE_NONE,
                                 .dtype = _i == 0 ? GROUT_DTYPE_F32 : GROUT_DTYPE_NONE,
                                 .rank = _i == 0 ? 2 : 1,
                                 .dims = dims,
                                 .layout = "vec=4, per_phase=1, max_phase=4"};
    ck_assert_uint_eq(grout_build_scratch(b, "s", &object), 0);
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
}

/* Indices that only the run tells, two lists of them, or none. */
TEST_EACH(other_boxes_are_refused, 3) {
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

/* Slot and array, then a start and an extent for each dimension. */
TEST(descriptors_are_made) {
    begin_kernel();
    const grout_operand operands[] = {value(a), value(a), value(n), expr(0), expr(2), value(n)};
    const grout_expr_id dims[] = {grout_build_int(b, 2), grout_build_int(b, 8)};
    (void)grout_build_make_tensor_descriptor(b, 6, operands, GROUT_DTYPE_F32, 2, dims);
    grout_build_tensormap_acquire(b, value(a));
    expect_body("  %0 = make_tensor_descriptor %a, %a, %n, 0, 2, %n : f32[2, 8]\n"
                "  tensormap_acquire %a\n");
}

/* Both texts stand in front of the operands, and neither can be left out. */
TEST_EACH(ptx_has_two_texts, 2) {
    begin_kernel();
    const grout_operand operands[] = {value(n), expr(7)};
    (void)grout_build_inline_ptx(b, "f", _i == 0 ? "add.s32 $0, $1, $2;" : NULL, GROUT_DTYPE_I32, 2,
                                 operands);
    if (_i == 0) {
        expect_body("  %0 = inline_ptx \"f\", \"add.s32 $0, $1, $2;\", %n, 7 : i32\n");
        return;
    }
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_uint_eq(grout_diags_count(diags), 1);
}

/* As many as there may be, before and after the kernel. */
TEST(launches_are_built) {
    static const char *const arguments[] = {"a", "n"};
    grout_text text = {0};
    grout_text_add(&text, "launch @k(%%a, %%n)\n");
    grout_build_launch(b, "k", arguments, 2, false);
    begin_kernel();
    grout_builder_end_kernel(b);
    grout_text_add(&text, "\nkernel @k(%%a: in gmem f32[4, 8], %%n: i32) grid(x = 2)\n{\n}\n");
    for (int i = 1; i < GROUT_LAUNCHES_MAX; i++) {
        grout_build_launch(b, "k", arguments, 2, i % 2 == 1);
        grout_text_add(&text, "launch @k(%%a, %%n)%s\n", i % 2 == 1 ? " dependent" : "");
    }
    check_text(grout_builder_finish(b, diags), text.data);
    grout_text_free(&text);
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
