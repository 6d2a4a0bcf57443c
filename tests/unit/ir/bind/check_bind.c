/* check_bind.c - defines, objects, axes; what a bound module answers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/tests.h"
#include "tests/unit/support/bind_text.h"

#include "grout/build.h"

static const char ring_text[] =
    "const X = 256, XB = 32, BUF = 2, SCALE : f32 = 0.5, CAUSAL = true\n"
    "require BUF >= 2, \"a ring has two slots\"\n"
    "kernel @ring(%a: in gmem f32[X, 64], %s: f32, %b: out gmem f32[X, 64])\n"
    "    grid(x = X / XB, y = 3) threads(wg = 2)\n"
    "{\n"
    "  scratch %as : smem f32[BUF, XB, 64]\n"
    "  scratch %ts : smem bf16[BUF, 64, 64] tile(8, 64) swizzle(128)\n"
    "  scratch %full : barrier[BUF] arrivals(BUF + 1)\n"
    "  scratch %done : barrier[1]\n"
    "  store %as[0], (load %a[ds(0, XB)])\n"
    "  barrier_arrive %full[0]\n"
    "  barrier_arrive %done[0]\n"
    "  store %b[ds(0, XB)], (mul (load %as[0]), SCALE)\n"
    "  for %i in 0..3 unroll(3) {\n"
    "    barrier_wait %done[0]\n"
    "  }\n"
    "}\n";

TEST(answers) {
    bound_text text = bind_text(ring_text, NULL, 0);
    const grout_module *module = text.bound;
    ck_assert_msg(module != NULL, "%s", get_said(text.diags));
    ck_assert(grout_module_is_bound(module));
    ck_assert(!grout_module_is_bound(text.symbolic));
    ck_assert_int_eq(grout_kernel_get_grid_size(module, 1), 24);
    ck_assert_uint_eq(grout_kernel_get_thread_count(module, 1), 2);
    ck_assert_int_eq(grout_kernel_get_axis_size(module, 1, 0), 8);
    ck_assert_int_eq(grout_kernel_get_axis_size(module, 1, 2), 2);
    ck_assert_uint_eq(grout_object_get_arrivals(module, find_object(module, "full")), 3);
    ck_assert_uint_eq(grout_object_get_arrivals(module, find_object(module, "done")), 1);
    ck_assert_int_eq(grout_object_get_offset(module, find_object(module, "a")), -1);
    ck_assert_int_eq(grout_object_get_layout(module, find_object(module, "as"))->bytes, 16384);
    ck_assert(grout_layout_is_plain(grout_object_get_layout(module, find_object(module, "a"))));
    ck_assert_uint_eq(grout_object_get_layout(module, find_object(module, "ts"))->swizzle, 128);
    ck_assert_uint_eq(grout_module_get_type(module, find_value(module, "s"))->kind,
                      GROUT_TYPE_SCALAR);
    const grout_op *loop = grout_module_get_op(module, find_op(module, GROUT_OP_FOR, 0));
    ck_assert_int_eq(grout_op_get_attr_integer(module, loop, GROUT_ATTR_UNROLL, 1), 3);
    const grout_op *wait = grout_module_get_op(module, find_op(module, GROUT_OP_BARRIER_WAIT, 0));
    ck_assert_int_eq(grout_op_get_attr_integer(module, wait, GROUT_ATTR_UNROLL, 7), 7);
    free_text(&text);
}

/* A bound module stands on its own, prints as what it came from, and binds from the same text
 * twice. */
TEST(owns_itself) {
    bound_text text = bind_text(ring_text, NULL, 0);
    grout_text symbolic = {0}, bound = {0};
    grout_module_print(text.symbolic, &symbolic);
    grout_module_free(text.symbolic);
    text.symbolic = NULL;
    grout_module_print(text.bound, &bound);
    ck_assert_str_eq(bound.data, symbolic.data);
    ck_assert(grout_verify(text.bound, GROUT_ARCH_SM_90A, text.diags));
    grout_text_free(&symbolic);
    grout_text_free(&bound);
    free_text(&text);
}

typedef struct define_case {
    const char *name;
    grout_define defines[2];
    size_t count;
    grout_diag_code code;
    int64_t x, buf;
} define_case;

static const define_case define_cases[] = {
    {"one", {{.name = "X", .integer = 64}}, 1, 0, 64, 2},
    {"two", {{.name = "X", .integer = 64}, {.name = "BUF", .integer = 3}}, 2, 0, 64, 3},
    {"twice the same",
     {{.name = "X", .integer = 64}, {.name = "X", .integer = 64, .origin = "a.npy"}},
     2,
     0,
     64,
     2},
    {"twice another",
     {{.name = "X", .integer = 64}, {.name = "X", .integer = 96, .origin = "a.npy"}},
     2,
     GROUT_DIAG_SHAPE_CONFLICT,
     0,
     0},
    {"unknown", {{.name = "XX", .integer = 64}}, 1, GROUT_DIAG_UNKNOWN_DEFINE, 0, 0},
    {"a float for an integer",
     {{.name = "X", .is_float = true, .number = 64}},
     1,
     GROUT_DIAG_CONST_TYPE,
     0,
     0},
    {"a float for a float", {{.name = "SCALE", .is_float = true, .number = 2.5}}, 1, 0, 256, 2},
    {"an integer for a float", {{.name = "SCALE", .integer = 2}}, 1, 0, 256, 2},
    {"a truth value", {{.name = "CAUSAL", .integer = 0}}, 1, 0, 256, 2},
    {"no truth value", {{.name = "CAUSAL", .integer = 2}}, 1, GROUT_DIAG_CONST_TYPE, 0, 0},
    {"against a require", {{.name = "BUF", .integer = 1}}, 1, GROUT_DIAG_REQUIRE_FAILED, 0, 0},
    {"inexact", {{.name = "X", .integer = 100}}, 1, GROUT_DIAG_INEXACT_DIVISION, 0, 0},
};

TEST_EACH(defines, COUNT_OF(define_cases)) {
    const define_case *c = &define_cases[_i];
    bound_text text = bind_text(ring_text, c->defines, c->count);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->name, get_said(text.diags));
    ck_assert_int_eq(text.bound == NULL, c->code != GROUT_DIAG_NONE);
    if (text.bound != NULL) {
        const grout_type *type = grout_object_get_type(text.bound, find_object(text.bound, "a"));
        ck_assert_int_eq(type->dims[0], c->x);
        type = grout_object_get_type(text.bound, find_object(text.bound, "as"));
        ck_assert_int_eq(type->dims[0], c->buf);
        /* The symbolic module still has its own. */
        grout_module *again = grout_module_bind(text.symbolic, NULL, 0, text.diags);
        type = grout_object_get_type(again, find_object(again, "a"));
        ck_assert_int_eq(type->dims[0], 256);
        grout_module_free(again);
    }
    free_text(&text);
}

/* A const that is overridden is not evaluated. */
TEST(overridden_const_has_no_value) {
    grout_define define = {.name = "N", .integer = 8};
    bound_text text = bind_text("const M = 7, N = M / 2\n"
                                "kernel @k(%a: out gmem f32[N]) {\n"
                                "  store %a, (broadcast 0.0 : f32[N])\n"
                                "}\n",
                                &define, 1);
    ck_assert_msg(text.bound != NULL, "%s", get_said(text.diags));
    free_text(&text);
}

typedef struct dimension_case {
    const char *type;
    grout_diag_code code;
} dimension_case;

static const dimension_case dimension_cases[] = {
    {"f32[1]", 0},
    {"f32[0]", GROUT_DIAG_BAD_DIMENSION},
    {"f32[-1]", GROUT_DIAG_BAD_DIMENSION},
    {"u8[2147483647]", 0},
    {"u8[2147483648]", GROUT_DIAG_BAD_DIMENSION},
    {"u8[1 << 20, 1 << 20]", 0},
    {"u8[1 << 20, 1 << 20, 2]", GROUT_DIAG_BAD_DIMENSION},
    {"f64[1 << 30, 1 << 30, 1 << 30]", GROUT_DIAG_BAD_DIMENSION},
    {"f32[1, 1, 1, 1, 1, 1, 1, 1]", 0},
    {"f32[1.5]", GROUT_DIAG_CONST_TYPE},
    {"f32[true]", GROUT_DIAG_CONST_TYPE},
};

TEST_EACH(dimensions, COUNT_OF(dimension_cases)) {
    const dimension_case *c = &dimension_cases[_i];
    char source[256];
    snprintf(source, sizeof source, "kernel @k(%%a: in gmem %s) {\n}\n", c->type);
    bound_text text = bind_text(source, NULL, 0);
    ck_assert_msg(get_code(text.diags) == c->code, "%s: %s", c->type, get_said(text.diags));
    free_text(&text);
}

/* A program may give one expression to two operations; each operand has an element type of its own.
 */
TEST(shared_expression) {
    grout_diags *diags = grout_diags_new();
    grout_builder *builder = grout_builder_new("test");
    grout_builder_kernel(builder, "k");
    grout_operand x = grout_value_operand(grout_build_param_scalar(builder, "x", GROUT_DTYPE_F32));
    grout_operand n = grout_value_operand(grout_build_param_scalar(builder, "n", GROUT_DTYPE_I32));
    grout_operand one = grout_expr_operand(grout_build_int(builder, 1));
    grout_value_id sums[] = {grout_build_add(builder, x, one), grout_build_add(builder, n, one)};
    grout_builder_end_kernel(builder);
    grout_module *module = grout_builder_finish(builder, diags);
    ck_assert_msg(module != NULL, "%s", get_said(diags));
    grout_module *bound = grout_module_bind(module, NULL, 0, diags);
    ck_assert_msg(bound != NULL, "%s", get_said(diags));
    grout_dtype dtypes[] = {GROUT_DTYPE_F32, GROUT_DTYPE_I32};
    for (uint32_t k = 0; k < 2; k++) {
        grout_op_id id = find_op(bound, GROUT_OP_ADD, k);
        const grout_operand *operand =
            grout_module_get_operand(bound, grout_module_get_op(bound, id), 1);
        ck_assert_int_eq(grout_module_get_operand_dtype(bound, operand), dtypes[k]);
        ck_assert_uint_eq(grout_module_get_type(bound, sums[k])->dtype, dtypes[k]);
    }
    grout_module_free(bound);
    grout_module_free(module);
    grout_diags_free(diags);
}

/* The builder does not watch where values are used; binding does. */
TEST(use_outside_its_block) {
    grout_diags *diags = grout_diags_new();
    grout_builder *builder = grout_builder_new("test");
    grout_builder_kernel(builder, "k");
    grout_operand n = grout_value_operand(grout_build_param_scalar(builder, "n", GROUT_DTYPE_I32));
    grout_operand one = grout_expr_operand(grout_build_int(builder, 1));
    grout_build_for(builder, "i", one, n, one, 0, NULL, NULL);
    grout_value_id inside = grout_build_add(builder, n, one);
    grout_build_end(builder, 0, NULL);
    grout_build_add(builder, grout_value_operand(inside), n);
    grout_builder_end_kernel(builder);
    grout_module *module = grout_builder_finish(builder, diags);
    if (module != NULL) {
        ck_assert_ptr_null(grout_module_bind(module, NULL, 0, diags));
        ck_assert_int_eq(get_code(diags), GROUT_DIAG_UNKNOWN_NAME);
    }
    ck_assert(grout_diags_has_errors(diags));
    grout_module_free(module);
    grout_diags_free(diags);
}
