/* build_ops.c - one function of the builder for each operation, generated from ops.def by form.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

#define DEFINE_UNARY(NAME, name)                                                           \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a) {           \
        return grout_build_op(builder, GROUT_OP_##NAME,                                    \
                              &(grout_build_op_args){.operands = &a, .operand_count = 1}); \
    }
#define DEFINE_BINARY(NAME, name)                                                                 \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b) { \
        grout_operand operands[] = {a, b};                                                        \
        return grout_build_op(                                                                    \
            builder, GROUT_OP_##NAME,                                                             \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)});   \
    }
#define DEFINE_COMPARE(NAME, name) DEFINE_BINARY(NAME, name)
#define DEFINE_TERNARY(NAME, name)                                                              \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, grout_operand b, \
                                      grout_operand c) {                                        \
        grout_operand operands[] = {a, b, c};                                                   \
        return grout_build_op(                                                                  \
            builder, GROUT_OP_##NAME,                                                           \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)}); \
    }
#define DEFINE_SELECT(NAME, name) DEFINE_TERNARY(NAME, name)
#define DEFINE_CONVERT(NAME, name)                                                            \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a,                \
                                      grout_dtype dtype) {                                    \
        return grout_build_op(                                                                \
            builder, GROUT_OP_##NAME,                                                         \
            &(grout_build_op_args){.operands = &a, .operand_count = 1, .type_dtype = dtype}); \
    }
#define DEFINE_BROADCAST(NAME, name)                                                              \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, grout_dtype dtype, \
                                      uint32_t rank, const grout_expr_id *dims) {                 \
        return grout_build_op(builder, GROUT_OP_##NAME,                                           \
                              &(grout_build_op_args){.operands = &a,                              \
                                                     .operand_count = 1,                          \
                                                     .type_dtype = dtype,                         \
                                                     .type_rank = rank,                           \
                                                     .type_dims = dims});                         \
    }
#define DEFINE_IOTA(NAME, name)                                                        \
    grout_value_id grout_build_##name(grout_builder *builder, grout_expr_id dimension, \
                                      grout_dtype dtype, uint32_t rank,                \
                                      const grout_expr_id *dims) {                     \
        return grout_build_op(builder, GROUT_OP_##NAME,                                \
                              &(grout_build_op_args){.type_dtype = dtype,              \
                                                     .type_rank = rank,                \
                                                     .type_dims = dims,                \
                                                     .attrs = GROUT_ATTR_BIT_DIM,      \
                                                     .attr_value = dimension});        \
    }
#define DEFINE_MATH(NAME, name)                                                                  \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a, uint32_t attrs) { \
        return grout_build_op(                                                                   \
            builder, GROUT_OP_##NAME,                                                            \
            &(grout_build_op_args){.operands = &a, .operand_count = 1, .attrs = attrs});         \
    }
#define DEFINE_LAYOUT(NAME, name) DEFINE_MATH(NAME, name)
#define DEFINE_REDUCE(NAME, name)                                                              \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand a,                 \
                                      grout_expr_id dimension) {                               \
        return grout_build_op(                                                                 \
            builder, GROUT_OP_##NAME,                                                          \
            &(grout_build_op_args){.operands = &a,                                             \
                                   .operand_count = 1,                                         \
                                   .attrs = dimension == 0 ? 0 : (uint32_t)GROUT_ATTR_BIT_DIM, \
                                   .attr_value = dimension});                                  \
    }
#define DEFINE_WGMMA(NAME, name)                                                                \
    void grout_build_##name(grout_builder *builder, grout_operand acc, grout_operand a,         \
                            grout_operand b) {                                                  \
        grout_operand operands[] = {acc, a, b};                                                 \
        (void)grout_build_op(                                                                   \
            builder, GROUT_OP_##NAME,                                                           \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)}); \
    }
#define DEFINE_AXIS(NAME, name)                                                                \
    grout_value_id grout_build_##name(grout_builder *builder, const char *axis) {              \
        return grout_build_op(builder, GROUT_OP_##NAME, &(grout_build_op_args){.text = axis}); \
    }
#define DEFINE_LOAD(NAME, name)                                                              \
    grout_value_id grout_build_##name(grout_builder *builder, grout_operand ref) {           \
        return grout_build_op(builder, GROUT_OP_##NAME,                                      \
                              &(grout_build_op_args){.operands = &ref, .operand_count = 1}); \
    }
#define DEFINE_STORE(NAME, name)                                                                \
    void grout_build_##name(grout_builder *builder, grout_operand ref, grout_operand a) {       \
        grout_operand operands[] = {ref, a};                                                    \
        (void)grout_build_op(                                                                   \
            builder, GROUT_OP_##NAME,                                                           \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)}); \
    }
#define DEFINE_BARRIER(NAME, name)                                                              \
    void grout_build_##name(grout_builder *builder, grout_operand barrier) {                    \
        (void)grout_build_op(builder, GROUT_OP_##NAME,                                          \
                             &(grout_build_op_args){.operands = &barrier, .operand_count = 1}); \
    }
#define DEFINE_FENCE(NAME, name)                                                   \
    void grout_build_##name(grout_builder *builder) {                              \
        (void)grout_build_op(builder, GROUT_OP_##NAME, &(grout_build_op_args){0}); \
    }
#define DEFINE_COPY_IN(NAME, name)                                                              \
    void grout_build_##name(grout_builder *builder, grout_operand source,                       \
                            grout_operand destination, grout_operand barrier) {                 \
        grout_operand operands[] = {source, destination, barrier};                              \
        (void)grout_build_op(                                                                   \
            builder, GROUT_OP_##NAME,                                                           \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)}); \
    }
#define DEFINE_COPY_OUT(NAME, name)                                                      \
    void grout_build_##name(grout_builder *builder, grout_operand source,                \
                            grout_operand destination, uint32_t attrs) {                 \
        grout_operand operands[] = {source, destination};                                \
        (void)grout_build_op(builder, GROUT_OP_##NAME,                                   \
                             &(grout_build_op_args){.operands = operands,                \
                                                    .operand_count = COUNT_OF(operands), \
                                                    .attrs = attrs});                    \
    }
#define DEFINE_WAIT(NAME, name)                                                                \
    void grout_build_##name(grout_builder *builder, grout_expr_id n, uint32_t attrs) {         \
        grout_operand operand = grout_expr_operand(n);                                         \
        (void)grout_build_op(                                                                  \
            builder, GROUT_OP_##NAME,                                                          \
            &(grout_build_op_args){.operands = &operand, .operand_count = 1, .attrs = attrs}); \
    }
#define DEFINE_PRINT(NAME, name)                                                               \
    void grout_build_##name(grout_builder *builder, const char *text, uint32_t count,          \
                            const grout_operand *values) {                                     \
        (void)grout_build_op(                                                                  \
            builder, GROUT_OP_##NAME,                                                          \
            &(grout_build_op_args){.operands = values, .operand_count = count, .text = text}); \
    }
#define DEFINE_BARRIER_TEST(NAME, name) DEFINE_LOAD(NAME, name)
#define DEFINE_BARRIER_COUNT(NAME, name)                                                        \
    void grout_build_##name(grout_builder *builder, grout_operand barrier, grout_expr_id n) {   \
        grout_operand operands[] = {barrier, grout_expr_operand(n)};                            \
        (void)grout_build_op(                                                                   \
            builder, GROUT_OP_##NAME,                                                           \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)}); \
    }
#define DEFINE_PARITY_WAIT(NAME, name)    DEFINE_STORE(NAME, name)
#define DEFINE_PARITY_TEST(NAME, name)    DEFINE_BINARY(NAME, name)
#define DEFINE_SEMAPHORE(NAME, name)      DEFINE_STORE(NAME, name)
#define DEFINE_SEMAPHORE_READ(NAME, name) DEFINE_LOAD(NAME, name)
#define DEFINE_NAMED_BARRIER(NAME, name)                                                        \
    void grout_build_##name(grout_builder *builder, grout_expr_id id, grout_expr_id threads) {  \
        grout_operand operands[] = {grout_expr_operand(id), grout_expr_operand(threads)};       \
        (void)grout_build_op(                                                                   \
            builder, GROUT_OP_##NAME,                                                           \
            &(grout_build_op_args){.operands = operands, .operand_count = COUNT_OF(operands)}); \
    }
#define DEFINE_FETCH(NAME, name)        DEFINE_BINARY(NAME, name)
#define DEFINE_COMPARE_SWAP(NAME, name) DEFINE_TERNARY(NAME, name)
#define DEFINE_COPY(NAME, name)         DEFINE_STORE(NAME, name)
#define DEFINE_STORE_ASYNC(NAME, name)  DEFINE_COPY_IN(NAME, name)
#define DEFINE_DESCRIPTOR(NAME, name)   DEFINE_BROADCAST(NAME, name)
#define DEFINE_WARP_MAP(NAME, name)
#define DEFINE_SPECIALIZE(NAME, name)
#define DEFINE_SCRATCH(NAME, name)
#define DEFINE_FOR(NAME, name)
#define DEFINE_WHILE(NAME, name)
#define DEFINE_COND(NAME, name)
#define DEFINE_IF(NAME, name)
#define DEFINE_SCOPED(NAME, name)
#define DEFINE_YIELD(NAME, name)

#define GROUT_OP(NAME, text, FORM, TYPES, ATTRS, EFFECTS, DOC) DEFINE_##FORM(NAME, text)
#include "grout/ops.def"
