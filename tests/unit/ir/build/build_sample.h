/* build_sample.h - kernels by the builder, for tests that need a module: the elementwise add
 * through TMA, and a product on the tensor core in a while. SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_TESTS_BUILD_SAMPLE_H
#define GROUT_TESTS_BUILD_SAMPLE_H

#include "grout/build.h"

/* Names of what the kernel is made of. */
typedef struct sample {
    grout_builder *b;
    grout_expr_id xb, yb, buf, steps;
    grout_value_id a, b_array, c;
    grout_value_id as, bs, cs, bar;
    grout_value_id row;
} sample;

static inline grout_operand box_of(sample *s, grout_value_id array, grout_operand column) {
    grout_build_index indices[] = {grout_index_slice(grout_value_operand(s->row), s->xb),
                                   grout_index_slice(column, s->yb)};
    return grout_build_ref(s->b, array, 2, indices);
}

static inline grout_operand slot_of(sample *s, grout_value_id object, grout_value_id slot) {
    grout_build_index index = grout_index_at(grout_value_operand(slot));
    return grout_build_ref(s->b, object, 1, &index);
}

/* Loads block number block into a slot. */
static inline void build_fill(sample *s, grout_value_id block, grout_value_id slot) {
    grout_operand column = grout_value_operand(
        grout_build_mul(s->b, grout_value_operand(block), grout_expr_operand(s->yb)));
    grout_build_copy_gmem_to_smem(s->b, box_of(s, s->a, column), slot_of(s, s->as, slot),
                                  slot_of(s, s->bar, slot));
    column = grout_value_operand(
        grout_build_mul(s->b, grout_value_operand(block), grout_expr_operand(s->yb)));
    grout_build_copy_gmem_to_smem(s->b, box_of(s, s->b_array, column), slot_of(s, s->bs, slot),
                                  slot_of(s, s->bar, slot));
}

static inline void build_header(sample *s) {
    grout_builder *b = s->b;
    grout_expr_id x = grout_build_const(b, "X", grout_build_int(b, 256));
    grout_expr_id y = grout_build_const(b, "Y", grout_build_int(b, 256));
    s->xb = grout_build_const(b, "XB", grout_build_int(b, 32));
    s->yb = grout_build_const(b, "YB", grout_build_int(b, 64));
    s->buf = grout_build_const(b, "BUF", grout_build_int(b, 2));
    s->steps = grout_build_expr(b, GROUT_EXPR_CDIV, y, s->yb);
    grout_build_require(b, grout_build_expr(b, GROUT_EXPR_GE, s->buf, grout_build_int(b, 2)),
                        "at least two buffers");
    grout_expr_id shape[] = {x, y};
    grout_builder_kernel(b, "add");
    s->a = grout_build_param_array(b, "a", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 2, shape);
    s->b_array = grout_build_param_array(b, "b", GROUT_DIRECTION_IN, GROUT_DTYPE_F32, 2, shape);
    s->c = grout_build_param_array(b, "c", GROUT_DIRECTION_OUT, GROUT_DTYPE_F32, 2, shape);
    grout_build_axis(b, GROUT_AXIS_THREADS, "wg", grout_build_int(b, 1));
    grout_build_axis(b, GROUT_AXIS_GRID, "x", grout_build_expr(b, GROUT_EXPR_CDIV, x, s->xb));
    grout_expr_id dims[] = {s->buf, s->xb, s->yb};
    grout_build_object array = {
        .kind = GROUT_OBJECT_ARRAY, .dtype = GROUT_DTYPE_F32, .rank = 3, .dims = dims};
    s->as = grout_build_scratch(b, "as", &array);
    s->bs = grout_build_scratch(b, "bs", &array);
    array.rank = 2;
    array.dims = dims + 1;
    s->cs = grout_build_scratch(b, "cs", &array);
    grout_build_object barrier = {
        .kind = GROUT_OBJECT_BARRIER, .rank = 1, .dims = dims, .arrivals = grout_build_int(b, 2)};
    s->bar = grout_build_scratch(b, "bar", &barrier);
}

static inline void build_step(sample *s, grout_value_id j, grout_expr_id ahead) {
    grout_builder *b = s->b;
    grout_value_id next = grout_build_name(
        b, grout_build_add(b, grout_value_operand(j), grout_expr_operand(ahead)), "next");
    grout_build_if(b, grout_value_operand(grout_build_lt(b, grout_value_operand(next),
                                                         grout_expr_operand(s->steps))));
    build_fill(
        s, next,
        grout_build_name(
            b, grout_build_rem(b, grout_value_operand(next), grout_expr_operand(s->buf)), "fill"));
    (void)grout_build_end(b, 0, NULL);
    grout_value_id slot = grout_build_name(
        b, grout_build_rem(b, grout_value_operand(j), grout_expr_operand(s->buf)), "slot");
    grout_build_barrier_wait(b, slot_of(s, s->bar, slot));
    grout_value_id left = grout_build_load(b, slot_of(s, s->as, slot));
    grout_value_id right = grout_build_load(b, slot_of(s, s->bs, slot));
    grout_value_id sum = grout_build_add(b, grout_value_operand(left), grout_value_operand(right));
    grout_build_wait_smem_to_gmem(b, grout_build_int(b, 0), GROUT_ATTR_BIT(READ_ONLY));
    grout_build_store(b, grout_value_operand(s->cs), grout_value_operand(sum));
    grout_build_commit_smem(b);
    grout_value_id column = grout_build_mul(b, grout_value_operand(j), grout_expr_operand(s->yb));
    grout_build_copy_smem_to_gmem(b, grout_value_operand(s->cs),
                                  box_of(s, s->c, grout_value_operand(column)), 0);
}

/* Builds the whole; NULL with the reason in diags. */
static inline grout_module *build_sample(bool is_inline, grout_diags *diags) {
    sample s = {.b = grout_builder_new("sample")};
    grout_builder_inline(s.b, is_inline);
    build_header(&s);
    grout_expr_id ahead = grout_build_expr(s.b, GROUT_EXPR_SUB, s.buf, grout_build_int(s.b, 1));
    s.row =
        grout_build_name(s.b,
                         grout_build_mul(s.b, grout_value_operand(grout_build_axis_index(s.b, "x")),
                                         grout_expr_operand(s.xb)),
                         "row");
    grout_operand none = {0};
    grout_operand zero = grout_expr_operand(grout_build_int(s.b, 0));
    grout_value_id j =
        grout_build_for(s.b, "j", zero, grout_expr_operand(ahead), none, 0, NULL, NULL);
    build_fill(&s, j, j);
    (void)grout_build_end(s.b, 0, NULL);
    j = grout_build_for(s.b, "j", zero, grout_expr_operand(s.steps), none, 0, NULL, NULL);
    build_step(&s, j, ahead);
    (void)grout_build_end(s.b, 0, NULL);
    grout_build_wait_smem_to_gmem(s.b, grout_build_int(s.b, 0), 0);
    grout_builder_end_kernel(s.b);
    return grout_builder_finish(s.b, diags);
}

/* Builds a loop of products that ends when a sum is large enough; NULL with the reason in diags. */
static inline grout_module *build_tensor_sample(bool is_inline, grout_diags *diags) {
    static const char *const carries[] = {"step", NULL};
    static const uint32_t order[] = {1, 0};
    grout_builder *b = grout_builder_new("sample");
    grout_builder_inline(b, is_inline);
    grout_expr_id dims[] = {grout_build_int(b, 64), grout_build_int(b, 64)};
    grout_builder_kernel(b, "product");
    grout_value_id y =
        grout_build_param_array(b, "y", GROUT_DIRECTION_OUT, GROUT_DTYPE_F32, 2, dims);
    grout_build_object object = {.kind = GROUT_OBJECT_ARRAY,
                                 .dtype = GROUT_DTYPE_F16,
                                 .rank = 2,
                                 .dims = dims,
                                 .tile_rank = 2,
                                 .tile = (grout_expr_id[]){grout_build_int(b, 8), dims[1]},
                                 .swizzle = grout_build_int(b, 128)};
    grout_operand a = grout_value_operand(grout_build_scratch(b, "as", &object));
    grout_build_object sum = {.kind = GROUT_OBJECT_ARRAY,
                              .space = GROUT_SPACE_ACC,
                              .dtype = GROUT_DTYPE_F32,
                              .rank = 2,
                              .dims = dims};
    grout_operand acc = grout_value_operand(grout_build_scratch(b, "acc", &sum));
    grout_operand inits[] = {grout_expr_operand(grout_build_int(b, 0)),
                             grout_expr_operand(grout_build_float(b, 0.0))};
    grout_build_while(b, 2, carries, inits);
    grout_operand step = grout_value_operand(grout_build_carry(b, 0));
    grout_operand total = grout_value_operand(grout_build_carry(b, 1));
    grout_operand limit = grout_expr_operand(grout_build_float(b, 100.0));
    grout_build_do(b, grout_value_operand(grout_build_lt(b, total, limit)));
    grout_build_wgmma(b, acc, a, grout_build_transpose(b, a, 2, order), 0);
    grout_value_id loaded = grout_build_load(b, acc);
    grout_value_id next = grout_build_reduce_sum(b, grout_value_operand(loaded), 0);
    grout_operand yields[] = {
        grout_value_operand(grout_build_add(b, step, grout_expr_operand(grout_build_int(b, 1)))),
        grout_value_operand(next)};
    (void)grout_build_end(b, 2, yields);
    grout_build_store(b, grout_value_operand(y), grout_value_operand(grout_build_load(b, acc)));
    grout_builder_end_kernel(b);
    return grout_builder_finish(b, diags);
}

#endif
