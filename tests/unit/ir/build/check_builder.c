/* check_builder.c - what is built prints as a text that reads back equal; mistakes are reported
 * once. SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/ir/build/build_sample.h"
#include "tests/unit/ir/build/one_kernel.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what is built --------------------------------------------------------------------------- */

TEST(values_get_numbers) {
    begin_kernel();
    grout_value_id x = grout_build_add(b, value(n), expr(1));
    grout_value_id y = grout_build_name(b, grout_build_mul(b, value(x), value(x)), "1");
    (void)grout_build_neg(b, value(y));
    expect_body("  %0 = add %n, 1\n  %1 = mul %0, %0\n  %2 = neg %1\n");
}

TEST(values_nest_if_asked) {
    begin_kernel();
    grout_builder_inline(b, true);
    grout_value_id x = grout_build_axis_index(b, "x");
    grout_value_id y = grout_build_mul(b, value(x), expr(2));
    grout_value_id z = grout_build_neg(b, value(n));
    (void)grout_build_name(b, grout_build_add(b, value(y), value(z)), "sum");
    expect_body("  %sum = add (mul (axis_index x), 2), (neg %n)\n");
}

TEST(values_nest_only_in_order) {
    begin_kernel();
    grout_builder_inline(b, true);
    grout_value_id x = grout_build_neg(b, value(n));
    grout_value_id y = grout_build_abs(b, value(n));
    (void)grout_build_name(b, grout_build_sub(b, value(y), value(x)), "s"); /* y before x */
    grout_value_id z = grout_build_neg(b, value(n));
    grout_build_commit_smem(b); /* between */
    (void)grout_build_name(b, grout_build_neg(b, value(z)), "t");
    grout_value_id w = grout_build_neg(b, value(n)); /* two uses */
    (void)grout_build_name(b, grout_build_add(b, value(w), value(w)), "u");
    expect_body("  %0 = neg %n\n  %s = sub (abs %n), %0\n  %1 = neg %n\n  commit_smem\n"
                "  %t = neg %1\n  %2 = neg %n\n  %u = add %2, %2\n");
}

TEST(values_do_not_nest_without_end) {
    begin_kernel();
    grout_builder_inline(b, true);
    grout_value_id x = n;
    for (int i = 0; i < 1000; i++) {
        x = grout_build_neg(b, value(x));
    }
    grout_builder_end_kernel(b);
    check_text(grout_builder_finish(b, diags), NULL);
}

TEST(references_have_indices_and_views) {
    begin_kernel();
    grout_builder_inline(b, true);
    grout_value_id i = grout_build_add(b, value(n), expr(1));
    grout_build_index indices[] = {grout_index_at(value(i)),
                                   grout_index_slice(expr(2), grout_build_int(b, 4))};
    grout_operand ref = grout_build_ref(b, a, 2, indices);
    (void)grout_build_name(b, grout_build_load(b, ref), "v");
    uint32_t order[] = {1, 0};
    grout_operand view = grout_build_transpose(b, value(a), 2, order);
    grout_build_store(b, view, expr(0));
    grout_build_index all = grout_index_all();
    grout_build_store(b, grout_build_ref(b, a, 1, &all),
                      grout_expr_operand(grout_build_float(b, NAN)));
    expect_body("  %v = load %a[(add %n, 1), ds(2, 4)]\n  store %a.transpose(1, 0), 0\n"
                "  store %a[:], f32:0x7fc00000\n");
}

TEST(aliases_and_views_of_bytes) {
    begin_kernel();
    const grout_expr_id bytes = grout_build_int(b, 256),
                        dims[] = {grout_build_int(b, 2), grout_build_int(b, 32)};
    const grout_value_id s = grout_build_scratch(
        b, "s",
        &(grout_build_object){
            .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_U8, .rank = 1, .dims = &bytes});
    const grout_value_id t =
        grout_build_scratch(b, "t",
                            &(grout_build_object){.kind = GROUT_OBJECT_ARRAY,
                                                  .dtype = GROUT_DTYPE_I32,
                                                  .rank = 1,
                                                  .dims = &dims[1],
                                                  .alias = s,
                                                  .alias_start = grout_build_int(b, 128)});
    const grout_operand view =
        grout_build_reshape_ref(b, grout_build_bitcast_ref(b, value(s), GROUT_DTYPE_F32), 2, dims);
    grout_build_store(b, view, expr(0));
    grout_build_store(b, value(t), expr(0));
    expect_body("  scratch %s : smem u8[256]\n  scratch %t : smem i32[32] alias(%s, 128)\n"
                "  store %s.bitcast(f32).reshape(2, 32), 0\n  store %t, 0\n");
}

TEST(regions_have_results) {
    static const char *const carries[] = {"c", NULL};
    begin_kernel();
    grout_operand inits[] = {value(n), expr(-5)};
    grout_value_id i = grout_build_for(b, NULL, expr(0), value(n), expr(2), 2, carries, inits);
    grout_value_id first = grout_build_carry(b, 0);
    grout_value_id second = grout_build_carry(b, 1);
    grout_build_if(b, grout_expr_operand(grout_build_expr(b, GROUT_EXPR_LT, grout_build_int(b, 1),
                                                          grout_build_int(b, 2))));
    grout_operand yields[] = {value(first)};
    grout_build_else(b, 1, yields);
    yields[0] = value(i);
    grout_value_id chosen = grout_build_end(b, 1, yields);
    grout_operand both[] = {value(chosen), value(second)};
    grout_value_id results = grout_build_end(b, 2, both);
    (void)grout_build_name(b, results, "r");
    (void)grout_build_add(b, value(results), value(results + 1));
    expect_body("  %r, %0 = for %1 in 0..%n step 2 carry(%c = %n, %2 = -5) {\n"
                "    %3 = if 1 < 2 {\n      yield %c\n    } else {\n      yield %1\n    }\n"
                "    yield %3, %2\n  }\n  %4 = add %r, %0\n");
}

TEST(whiles_have_two_bodies) {
    static const char *const carries[] = {"c", NULL};
    begin_kernel();
    grout_operand inits[] = {value(n), expr(-5)};
    grout_build_while(b, 2, carries, inits);
    grout_value_id first = grout_build_carry(b, 0);
    grout_value_id second = grout_build_carry(b, 1);
    grout_value_id sum = grout_build_add(b, value(first), value(second));
    grout_build_do(b, value(grout_build_lt(b, value(sum), expr(5))));
    ck_assert_uint_eq(grout_build_carry(b, 0), first);
    grout_operand yields[] = {value(grout_build_neg(b, value(sum))), value(second)};
    grout_value_id results = grout_build_end(b, 2, yields);
    (void)grout_build_name(b, results, "r");
    (void)grout_build_add(b, value(results), value(results + 1));
    expect_body("  %r, %0 = while carry(%c = %n, %1 = -5) {\n    %2 = add %c, %1\n"
                "    %3 = lt %2, 5\n    cond %3\n  } do {\n    %4 = neg %2\n"
                "    yield %4, %1\n  }\n  %5 = add %r, %0\n");
}

/* What the first body defines and the second uses is written in the first. */
TEST(values_do_not_nest_across_bodies) {
    begin_kernel();
    grout_builder_inline(b, true);
    grout_operand init = expr(0);
    grout_build_while(b, 1, NULL, &init);
    grout_operand carry = value(grout_build_carry(b, 0));
    grout_operand yielded = value(grout_build_neg(b, carry));
    grout_build_do(b, value(grout_build_lt(b, carry, expr(5))));
    (void)grout_build_end(b, 1, &yielded);
    grout_build_while(b, 0, NULL, NULL);
    grout_build_if(b, value(grout_build_eq(b, value(n), expr(3))));
    (void)grout_build_end(b, 0, NULL);
    grout_build_do(b, value(grout_build_lt(b, value(n), expr(5))));
    ck_assert_uint_eq(grout_build_end(b, 0, NULL), 0);
    expect_body("  %0 = while carry(%1 = 0) {\n    %2 = neg %1\n    cond (lt %1, 5)\n  } do {\n"
                "    yield %2\n  }\n  while {\n    if (eq %n, 3) {\n    }\n"
                "    cond (lt %n, 5)\n  } do {\n  }\n");
}

TEST(tensor_cores_are_built) {
    static const uint32_t order[] = {1, 0};
    begin_kernel();
    grout_builder_inline(b, true);
    grout_expr_id dims[] = {grout_build_int(b, 64), grout_build_int(b, 128)};
    grout_build_object object = {.kind = GROUT_OBJECT_ARRAY,
                                 .space = GROUT_SPACE_ACC,
                                 .dtype = GROUT_DTYPE_F32,
                                 .rank = 2,
                                 .dims = dims};
    grout_value_id acc = grout_build_scratch(b, "acc", &object);
    grout_build_index columns[] = {grout_index_all(),
                                   grout_index_slice(expr(0), grout_build_int(b, 64))};
    grout_operand half = grout_build_ref(b, acc, 2, columns);
    grout_build_acc_store(b, value(acc),
                          value(grout_build_broadcast(b, expr(0), GROUT_DTYPE_F32, 2, dims)));
    grout_build_wgmma(b, value(acc), value(a), grout_build_transpose(b, value(a), 2, order), 0);
    grout_build_wgmma_async(b, half, value(grout_build_load(b, value(a))), value(a), 0);
    grout_build_wgmma_wait(b, grout_build_int(b, 1), 0);
    grout_operand waiting = value(acc);
    grout_value_id loaded =
        grout_build_op(b, GROUT_OP_ACC_LOAD,
                       &(grout_build_op_args){.operands = &waiting,
                                              .operand_count = 1,
                                              .attrs = GROUT_ATTR_BIT(WAIT_GROUPS),
                                              .attr_value = grout_build_int(b, 0)});
    grout_operand all = value(grout_build_name(b, loaded, "all"));
    grout_operand rows = value(grout_build_reduce_max(b, all, grout_build_int(b, 1)));
    (void)grout_build_layout_cast(b, rows, GROUT_ATTR_BIT(LAYOUT_ROW));
    (void)grout_build_exp(b, value(grout_build_reduce_sum(b, all, 0)), GROUT_ATTR_BIT(APPROX));
    grout_build_set_max_registers(b, grout_build_int(b, 24), GROUT_ATTR_BIT(DECREASE));
    expect_body("  scratch %acc : acc f32[64, 128]\n"
                "  acc_store %acc, (broadcast 0 : f32[64, 128])\n"
                "  wgmma %acc, %a, %a.transpose(1, 0)\n"
                "  wgmma_async %acc[:, ds(0, 64)], (load %a), %a\n  wgmma_wait 1\n"
                "  %all = acc_load %acc wait(0)\n"
                "  %0 = layout_cast (reduce_max %all dim(1)) wgmma_row\n"
                "  %1 = exp (reduce_sum %all) approx\n  set_max_registers 24 decrease\n");
}

TEST(scopes_have_objects) {
    begin_kernel();
    grout_expr_id four = grout_build_int(b, 4);
    grout_expr_id wide = grout_build_int(b, 32);
    grout_build_object objects[] = {
        {.kind = GROUT_OBJECT_ARRAY,
         .dtype = GROUT_DTYPE_BF16,
         .rank = 1,
         .dims = &four,
         .tile_rank = 1,
         .tile = &four,
         .swizzle = wide},
        {.kind = GROUT_OBJECT_BARRIER, .rank = 1, .dims = &four, .arrivals = four}};
    static const char *const names[] = {"s", NULL};
    grout_value_id values[2];
    grout_build_scoped(b, true, 2, names, objects, values);
    grout_build_barrier_wait(b, value(values[1]));
    grout_operand loaded = value(grout_build_load(b, value(values[0])));
    (void)grout_build_end(b, 1, &loaded);
    expect_body("  %0 = scoped(%s : smem bf16[4] tile(4) swizzle(32), %1 : barrier[4] arrivals(4)) "
                "collective {\n    barrier_wait %1\n    %2 = load %s\n    yield %2\n  }\n");
}

TEST(other_forms_are_built) {
    begin_kernel();
    grout_expr_id dims[] = {grout_build_int(b, 4)};
    grout_value_id i = grout_build_iota(b, grout_build_int(b, 0), GROUT_DTYPE_I32, 1, dims);
    (void)grout_build_cast(b, value(i), GROUT_DTYPE_F32);
    (void)grout_build_broadcast(b, expr(1), GROUT_DTYPE_I32, 1, dims);
    (void)grout_build_fma(b, expr(1), expr(2), expr(3));
    (void)grout_build_select(b, expr(1), expr(2), expr(3));
    grout_operand printed[] = {value(n), value(n)};
    grout_build_debug_print(b, "n \"{}\"\n", 1, printed);
    grout_build_copy_smem_to_gmem(b, value(a), value(a), GROUT_ATTR_BIT(NO_COMMIT_GROUP));
    expect_body("  %0 = iota dim(0) : i32[4]\n  %1 = cast %0 : f32\n  %2 = broadcast 1 : i32[4]\n"
                "  %3 = fma 1, 2, 3\n  %4 = select 1, 2, 3\n  debug_print \"n \\\"{}\\\"\\n\", %n\n"
                "  copy_smem_to_gmem %a, %a no_commit_group\n");
}

TEST(consts_are_f32_if_their_value_is) {
    grout_expr_id half = grout_build_const(b, "HALF", grout_build_float(b, 0.5));
    (void)grout_build_const(b, "MORE",
                            grout_build_expr(b, GROUT_EXPR_MUL, half, grout_build_int(b, 3)));
    (void)grout_build_const(b, "NEG",
                            grout_build_expr(b, GROUT_EXPR_NEG, grout_build_int(b, 5), 0));
    (void)grout_build_const(b, "LOG",
                            grout_build_expr(b, GROUT_EXPR_LOG2, grout_build_int(b, 8), 0));
    (void)grout_build_const(b, "LOW", grout_build_int(b, INT64_MIN));
    (void)grout_build_const(b, "INF", grout_build_float(b, -INFINITY));
    check_text(grout_builder_finish(b, diags),
               "const HALF : f32 = 0.5\nconst MORE : f32 = HALF * 3\nconst NEG = -(5)\n"
               "const LOG = log2(8)\nconst LOW = -9223372036854775808\nconst INF : f32 = -inf\n");
}

TEST_EACH(each_sample_reads_back_in_both_styles, 4) {
    grout_builder_free(b);
    check_text(_i < 2 ? build_sample(_i == 1, diags) : build_tensor_sample(_i == 3, diags), NULL);
}

TEST(places_are_kept) {
    grout_builder_here(b, "user.c", 12);
    begin_kernel();
    grout_builder_at(b, (grout_loc){.line = 3, .column = 4, .length = 5, .kind = GROUT_LOC_PYTHON},
                     "user.py");
    grout_build_commit_smem(b);
    grout_builder_end_kernel(b);
    grout_module *module = grout_builder_finish(b, diags);
    ck_assert_ptr_nonnull(module);
    grout_place place = grout_module_get_place(module, grout_module_get_kernel(module, 1)->loc);
    ck_assert_str_eq(place.file, "user.c");
    ck_assert_uint_eq(place.line, 12);
    const grout_loc *loc = grout_module_get_loc(module, grout_module_get_op(module, 1)->loc);
    ck_assert_uint_eq(loc->kind, GROUT_LOC_PYTHON);
    ck_assert_uint_eq(loc->column, 4);
    grout_module_free(module);
}

/* ---- mistakes -------------------------------------------------------------------------------- */

static void end_outside(void) {
    grout_builder_end_kernel(b);
}
static void op_outside(void) {
    grout_build_commit_smem(b);
}
static void unended_kernel(void) {
    begin_kernel();
}
static void unended_region(void) {
    begin_kernel();
    grout_build_if(b, value(n));
    grout_builder_end_kernel(b);
}
static void end_without_region(void) {
    begin_kernel();
    (void)grout_build_end(b, 0, NULL);
}
static void else_without_if(void) {
    begin_kernel();
    (void)grout_build_for(b, "i", expr(0), expr(1), expr(1), 0, NULL, NULL);
    grout_build_else(b, 0, NULL);
}
static void second_else(void) {
    begin_kernel();
    grout_build_if(b, value(n));
    grout_build_else(b, 0, NULL);
    grout_build_else(b, 0, NULL);
}
static void no_value(void) {
    begin_kernel();
    (void)grout_build_neg(b, value(0));
}
static void unknown_value(void) {
    begin_kernel();
    (void)grout_build_neg(b, value(999));
}
static void unknown_expr(void) {
    begin_kernel();
    (void)grout_build_neg(b, grout_expr_operand(999));
}
static void ref_as_value(void) {
    begin_kernel();
    grout_build_index all = grout_index_all();
    (void)grout_build_neg(b, grout_build_ref(b, a, 1, &all));
}
static void expr_as_ref(void) {
    begin_kernel();
    (void)grout_build_load(b, expr(1));
}
static void too_many_operands(void) {
    grout_operand operands[] = {expr(1), expr(2)};
    begin_kernel();
    (void)grout_build_op(b, GROUT_OP_NEG,
                         &(grout_build_op_args){.operands = operands, .operand_count = 2});
}
static void wrong_attribute(void) {
    begin_kernel();
    grout_build_copy_smem_to_gmem(b, value(a), value(a), GROUT_ATTR_BIT(READ_ONLY));
}
static void unknown_axis(void) {
    begin_kernel();
    (void)grout_build_axis_index(b, "y");
}
static void bad_name(void) {
    begin_kernel();
    (void)grout_build_name(b, n, "not a name");
}
static void same_name_twice(void) {
    begin_kernel();
    (void)grout_build_name(b, grout_build_neg(b, value(n)), "n");
    grout_builder_end_kernel(b);
}
static void hidden_value(void) {
    begin_kernel();
    grout_build_if(b, value(n));
    grout_value_id inner = grout_build_name(b, grout_build_neg(b, value(n)), "n");
    (void)grout_build_add(b, value(inner), value(n));
    (void)grout_build_end(b, 0, NULL);
    grout_builder_end_kernel(b);
}
static void value_of_an_ended_block(void) {
    begin_kernel();
    grout_build_if(b, value(n));
    grout_value_id inner = grout_build_neg(b, value(n));
    (void)grout_build_end(b, 0, NULL);
    (void)grout_build_neg(b, value(inner));
    grout_builder_end_kernel(b);
}
static void value_of_another_kernel(void) {
    begin_kernel();
    grout_value_id other = n;
    grout_builder_end_kernel(b);
    grout_builder_kernel(b, "l");
    (void)grout_build_neg(b, value(other));
    grout_builder_end_kernel(b);
}
static void reserved_const(void) {
    (void)grout_build_const(b, "load", grout_build_int(b, 1));
}
static void const_twice(void) {
    (void)grout_build_const(b, "A", grout_build_int(b, 1));
    (void)grout_build_const(b, "A", grout_build_int(b, 1));
}
static void kernel_twice(void) {
    begin_kernel();
    grout_builder_end_kernel(b);
    begin_kernel();
}
static void late_param(void) {
    begin_kernel();
    grout_build_commit_smem(b);
    (void)grout_build_param_scalar(b, "late", GROUT_DTYPE_I32);
}
static void carries_without_yields(void) {
    grout_operand init = {0};
    begin_kernel();
    init = expr(0);
    (void)grout_build_for(b, "i", expr(0), expr(1), expr(1), 1, NULL, &init);
    (void)grout_build_end(b, 0, NULL);
}
static void deep_expression(void) {
    grout_expr_id deep = grout_build_int(b, 1);
    for (int i = 0; i < 1000; i++) {
        deep = grout_build_expr(b, GROUT_EXPR_NEG, deep, 0);
    }
}
static void deep_regions(void) {
    begin_kernel();
    for (int i = 0; i < GROUT_NESTING_MAX; i++) {
        grout_build_if(b, value(n));
    }
}
static void bad_text(void) {
    begin_kernel();
    grout_build_debug_print(b, "\xff", 0, NULL);
}
static void op_behind_yield(void) {
    grout_operand one = {0};
    begin_kernel();
    one = expr(1);
    grout_build_if(b, value(n));
    (void)grout_build_op(b, GROUT_OP_YIELD,
                         &(grout_build_op_args){.operands = &one, .operand_count = 1});
    grout_build_commit_smem(b);
}

static void while_without_do(void) {
    begin_kernel();
    grout_build_while(b, 0, NULL, NULL);
    (void)grout_build_end(b, 0, NULL);
}
static void do_without_while(void) {
    begin_kernel();
    grout_build_if(b, value(n));
    grout_build_do(b, value(n));
}
static void second_do(void) {
    begin_kernel();
    grout_build_while(b, 0, NULL, NULL);
    grout_build_do(b, value(n));
    grout_build_do(b, value(n));
}
static void condition_is_a_reference(void) {
    begin_kernel();
    grout_build_index all = grout_index_all();
    grout_build_while(b, 0, NULL, NULL);
    grout_build_do(b, grout_build_ref(b, a, 1, &all));
}
static void while_without_yields(void) {
    grout_operand init = {0};
    begin_kernel();
    init = expr(0);
    grout_build_while(b, 1, NULL, &init);
    grout_build_do(b, value(n));
    (void)grout_build_end(b, 0, NULL);
}
static void yield_in_the_first_body(void) {
    grout_operand one = {0};
    begin_kernel();
    one = expr(1);
    grout_build_while(b, 1, NULL, &one);
    (void)grout_build_op(b, GROUT_OP_YIELD,
                         &(grout_build_op_args){.operands = &one, .operand_count = 1});
    grout_build_do(b, value(n));
}
static void cond_by_itself(void) {
    begin_kernel();
    grout_operand one = value(n);
    grout_build_while(b, 0, NULL, NULL);
    (void)grout_build_op(b, GROUT_OP_COND,
                         &(grout_build_op_args){.operands = &one, .operand_count = 1});
}
static void carry_of_no_loop(void) {
    begin_kernel();
    grout_build_while(b, 0, NULL, NULL);
    (void)grout_build_carry(b, 0);
}
static void value_of_the_second_body(void) {
    begin_kernel();
    grout_build_while(b, 0, NULL, NULL);
    grout_build_do(b, value(n));
    grout_value_id inner = grout_build_neg(b, value(n));
    (void)grout_build_end(b, 0, NULL);
    (void)grout_build_neg(b, value(inner));
    grout_builder_end_kernel(b);
}
static void deep_whiles(void) {
    begin_kernel();
    for (int i = 0; i < GROUT_NESTING_MAX / 2; i++) {
        grout_build_while(b, 0, NULL, NULL);
        grout_build_do(b, value(n));
    }
}
static void build_object(grout_object_kind kind, grout_space space, uint32_t tile_rank) {
    begin_kernel();
    grout_expr_id size = grout_build_int(b, 64);
    grout_build_object object = {.kind = kind,
                                 .space = space,
                                 .dtype = GROUT_DTYPE_F32,
                                 .rank = 1,
                                 .dims = &size,
                                 .tile_rank = tile_rank,
                                 .tile = &size};
    (void)grout_build_scratch(b, "s", &object);
}
static void tiled_accumulator(void) {
    build_object(GROUT_OBJECT_ARRAY, GROUT_SPACE_ACC, 1);
}
static void barrier_in_acc(void) {
    build_object(GROUT_OBJECT_BARRIER, GROUT_SPACE_ACC, 0);
}
static void tiled_array_in_gmem(void) {
    build_object(GROUT_OBJECT_ARRAY, GROUT_SPACE_GMEM, 1);
}
static void alias_in_acc(void) {
    begin_kernel();
    const grout_expr_id dims[] = {grout_build_int(b, 64), grout_build_int(b, 8)};
    grout_build_object object = {
        .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 2, .dims = dims};
    object.alias = grout_build_scratch(b, "s", &object);
    object.space = GROUT_SPACE_ACC;
    (void)grout_build_scratch(b, "t", &object);
}
static void bitcast_of_a_constant(void) {
    begin_kernel();
    (void)grout_build_bitcast_ref(b, expr(1), GROUT_DTYPE_F32);
}
static void bitcast_to_no_type(void) {
    begin_kernel();
    (void)grout_build_bitcast_ref(b, value(a), GROUT_DTYPE_NONE);
}
static void reshape_to_no_dimension(void) {
    begin_kernel();
    (void)grout_build_reshape_ref(b, value(a), 0, NULL);
}
static void constant_as_matrix(void) {
    begin_kernel();
    grout_build_wgmma(b, value(a), expr(1), value(a), 0);
}

static void launch_inside(void) {
    begin_kernel();
    grout_build_launch(b, "k", NULL, 0, false);
}
static void launch_of_no_name(void) {
    grout_build_launch(b, "not a name", NULL, 0, false);
}
static void many_launches(void) {
    for (int i = 0; i <= GROUT_LAUNCHES_MAX; i++) {
        grout_build_launch(b, "k", NULL, 0, i > 0);
    }
}

static const struct {
    void (*make)(void);
    const char *message;
} mistakes[] = {
    {end_outside, "this is for the inside of a kernel"},
    {op_outside, "this is for the inside of a kernel"},
    {unended_kernel, "kernel '@k' is not ended"},
    {unended_region, "the kernel ends inside a region"},
    {end_without_region, "there is no region to end"},
    {else_without_if, "'else' without an 'if' in front of it"},
    {second_else, "'else' without an 'if' in front of it"},
    {no_value, "there is no value 0"},
    {unknown_value, "there is no value 999"},
    {unknown_expr, "there is no expression 999"},
    {ref_as_value, "an operand of 'neg' is of the wrong kind"},
    {expr_as_ref, "an operand of 'load' is of the wrong kind"},
    {too_many_operands, "'neg' takes 1 operands, not 2"},
    {wrong_attribute, "'copy_smem_to_gmem' does not take one of its attributes"},
    {unknown_axis, "the kernel has no axis 'y'"},
    {bad_name, "'not a name' cannot name a value"},
    {same_name_twice, "two values of one block have the name '%n'"},
    {hidden_value,
     "value '%n' is used where it is not visible: outside its block or kernel, before it "
     "is built, or hidden by another value of its name"},
    {value_of_an_ended_block,
     "value '%0' is used where it is not visible: outside its block or kernel, "
     "before it is built, or hidden by another value of its name"},
    {value_of_another_kernel,
     "value '%n' is used where it is not visible: outside its block or kernel, "
     "before it is built, or hidden by another value of its name"},
    {reserved_const, "'load' is a word of the language and cannot name a const"},
    {const_twice, "const 'A' is defined twice"},
    {kernel_twice, "kernel '@k' is defined twice"},
    {late_param, "parameters and axes come before the kernel's operations"},
    {carries_without_yields, "a loop with 1 carried values yields 0"},
    {deep_expression, "a constant expression of more than 64 operators on one another"},
    {deep_regions, "blocks nest deeper than 256"},
    {bad_text, "a text is not UTF-8, or has control characters"},
    {op_behind_yield, "an operation after 'yield'"},
    {while_without_do, "a 'while' ends without 'do'"},
    {do_without_while, "'do' without a 'while' in front of it"},
    {second_do, "'do' without a 'while' in front of it"},
    {condition_is_a_reference, "a condition is a reference; load it first"},
    {while_without_yields, "a loop with 1 carried values yields 0"},
    {yield_in_the_first_body, "an operation after 'yield'"},
    {cond_by_itself, "'cond' has a function of its own"},
    {carry_of_no_loop, "the loop has no carried value 0"},
    {value_of_the_second_body,
     "value '%0' is used where it is not visible: outside its block or kernel, "
     "before it is built, or hidden by another value of its name"},
    {deep_whiles, "blocks nest deeper than 256"},
    {tiled_accumulator, "accumulators have no tile, swizzle or transpose"},
    {barrier_in_acc, "barriers lie in smem"},
    {tiled_array_in_gmem, "arrays in gmem have no tile, swizzle or transpose"},
    {alias_in_acc, "only arrays in smem and tmem have an alias"},
    {bitcast_of_a_constant, "bitcast is for references to memory"},
    {bitcast_to_no_type, "there is no element type 0"},
    {reshape_to_no_dimension, "a reshape has 1 to 8 dimensions"},
    {constant_as_matrix, "an operand of 'wgmma' is of the wrong kind"},
    {launch_inside, "launch inside a kernel"},
    {launch_of_no_name, "'not a name' cannot name a kernel of a launch"},
    {many_launches, "more than 64 launches"},
};

TEST(nothing_happens_after_a_mistake) {
    begin_kernel();
    ck_assert_uint_eq(grout_build_neg(b, value(0)), 0);
    ck_assert_uint_eq(grout_build_neg(b, value(n)), 0);
    ck_assert_uint_eq(grout_build_int(b, 1), 0);
    ck_assert_uint_eq(grout_build_name(b, n, "m"), 0);
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_str_eq(grout_diags_get(diags, 0)->message, "there is no value 0");
}

TEST_EACH(each_mistake_is_reported_once, COUNT_OF(mistakes)) {
    grout_builder_here(b, "user.c", 7);
    mistakes[_i].make();
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_uint_eq(grout_diags_total(diags), 1);
    const grout_diag *diag = grout_diags_get(diags, 0);
    ck_assert_int_eq(diag->code, GROUT_DIAG_BUILDER);
    ck_assert_str_eq(diag->message, mistakes[_i].message);
    ck_assert_str_eq(diag->place.file, "user.c");
    ck_assert_uint_eq(diag->place.line, 7);
}

TEST(a_builder_that_is_not_there_does_nothing) {
    grout_builder_free(b);
    b = NULL;
    grout_builder_inline(b, true);
    begin_kernel();
    ck_assert_uint_eq(grout_build_neg(b, value(n)), 0);
    grout_builder_end_kernel(b);
    ck_assert_ptr_null(grout_builder_finish(b, diags));
    ck_assert_int_eq(grout_diags_get(diags, 0)->code, GROUT_DIAG_OUT_OF_MEMORY);
}

int main(void) {
    return run_tests_between(set_up, tear_down);
}
