/* build_ops.c - one function of the builder for each operation, generated from ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "builder.h"

/* ---- the arguments of each kind of function ----------------------------------------------------
 */

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))
#define BUILDER         grout_builder *builder
#define OPERAND(name)   grout_operand name

/* A function that returns its op's result (VALUE) or nothing (NOTHING), of what args holds. */
#define VALUE(OP, name, PARAMETERS, ...)                                                    \
    grout_value_id grout_build_##name PARAMETERS {                                          \
        return grout_build_op(builder, GROUT_OP_##OP, &(grout_build_op_args){__VA_ARGS__}); \
    }
#define NOTHING(OP, name, PARAMETERS, ...)                                                 \
    void grout_build_##name PARAMETERS {                                                   \
        (void)grout_build_op(builder, GROUT_OP_##OP, &(grout_build_op_args){__VA_ARGS__}); \
    }
/* Operands as a list that lives as long as the call. */
#define OPERANDS(...)                                 \
    .operands = (const grout_operand[]){__VA_ARGS__}, \
    .operand_count = COUNT_OF(((const grout_operand[]){__VA_ARGS__}))
#define K(expr) grout_expr_operand(expr)

#define DEFINE_V1(OP, name) VALUE(OP, name, (BUILDER, OPERAND(a)), OPERANDS(a))
#define DEFINE_V2(OP, name) VALUE(OP, name, (BUILDER, OPERAND(a), OPERAND(b)), OPERANDS(a, b))
#define DEFINE_V3(OP, name) \
    VALUE(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c)), OPERANDS(a, b, c))
#define DEFINE_V1_ATTRS(OP, name) \
    VALUE(OP, name, (BUILDER, OPERAND(a), uint64_t attrs), OPERANDS(a), .attrs = attrs)
#define DEFINE_V3_ATTRS(OP, name)                                                  \
    VALUE(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), uint64_t attrs), \
          OPERANDS(a, b, c), .attrs = attrs)
#define DEFINE_N0(OP, name) NOTHING(OP, name, (BUILDER), .operand_count = 0)
#define DEFINE_N1(OP, name) NOTHING(OP, name, (BUILDER, OPERAND(a)), OPERANDS(a))
#define DEFINE_N2(OP, name) NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b)), OPERANDS(a, b))
#define DEFINE_N3(OP, name) \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c)), OPERANDS(a, b, c))
#define DEFINE_N3_ATTRS(OP, name)                                                    \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), uint64_t attrs), \
            OPERANDS(a, b, c), .attrs = attrs)
#define DEFINE_N4(OP, name)                                                      \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), OPERAND(d)), \
            OPERANDS(a, b, c, d))
#define DEFINE_N3_OPTION_ATTRS(OP, name)                                             \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), uint64_t attrs), \
            OPERANDS(a, b, c), .attrs = attrs)
#define DEFINE_N4_OPTION_ATTRS(OP, name)                                                         \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), OPERAND(d), uint64_t attrs), \
            OPERANDS(a, b, c, d), .attrs = attrs)
#define DEFINE_N5_OPTION(OP, name)                                                           \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), OPERAND(d), OPERAND(e)), \
            OPERANDS(a, b, c, d, e))
#define DEFINE_N6_OPTION(OP, name)                                                             \
    NOTHING(OP, name,                                                                          \
            (BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), OPERAND(d), OPERAND(e), OPERAND(f)), \
            OPERANDS(a, b, c, d, e, f))
#define DEFINE_N2_ATTRS(OP, name)                                                        \
    NOTHING(OP, name, (BUILDER, OPERAND(a), OPERAND(b), uint64_t attrs), OPERANDS(a, b), \
            .attrs = attrs)
#define DEFINE_N1_K(OP, name) \
    NOTHING(OP, name, (BUILDER, OPERAND(a), grout_expr_id n), OPERANDS(a, K(n)))
#define DEFINE_V1_K(OP, name) \
    VALUE(OP, name, (BUILDER, OPERAND(a), grout_expr_id n), OPERANDS(a, K(n)))
#define DEFINE_K1_ATTRS(OP, name) \
    NOTHING(OP, name, (BUILDER, grout_expr_id n, uint64_t attrs), OPERANDS(K(n)), .attrs = attrs)
#define DEFINE_UNARY(OP, name) DEFINE_V1(OP, name)
#define DEFINE_TEST(OP, name)  DEFINE_V1(OP, name)
#define DEFINE_MATH(OP, name)  DEFINE_V1_ATTRS(OP, name)
#define DEFINE_MATH_BINARY(OP, name)                                                   \
    VALUE(OP, name, (BUILDER, OPERAND(a), OPERAND(b), uint64_t attrs), OPERANDS(a, b), \
          .attrs = attrs)
#define DEFINE_BINARY(OP, name)  DEFINE_V2(OP, name)
#define DEFINE_COMPARE(OP, name) DEFINE_V2(OP, name)
#define DEFINE_TERNARY(OP, name) DEFINE_V3(OP, name)
#define DEFINE_CAST(OP, name) \
    VALUE(OP, name, (BUILDER, OPERAND(a), grout_dtype dtype), OPERANDS(a), .type_dtype = dtype)
#define SHAPE_PARAMETERS grout_dtype dtype, uint32_t rank, const grout_expr_id *dims
#define WRITTEN_TYPE     .type_dtype = dtype, .type_rank = rank, .type_dims = dims
#define DEFINE_SHAPED(OP, name) \
    VALUE(OP, name, (BUILDER, OPERAND(a), SHAPE_PARAMETERS), OPERANDS(a), WRITTEN_TYPE)
#define DEFINE_DESCRIPTOR(OP, name)                                                           \
    VALUE(OP, name, (BUILDER, uint32_t count, const grout_operand *values, SHAPE_PARAMETERS), \
          WRITTEN_TYPE, .operands = values, .operand_count = count)
#define DEFINE_IOTA(OP, name)                                                           \
    VALUE(OP, name, (BUILDER, grout_expr_id dimension, SHAPE_PARAMETERS), WRITTEN_TYPE, \
          .attrs = GROUT_ATTR_BIT(DIM), .attr_value = dimension)
#define DEFINE_REDUCE(OP, name)                                                  \
    VALUE(OP, name, (BUILDER, OPERAND(a), grout_expr_id dimension), OPERANDS(a), \
          .attrs = dimension == 0 ? 0 : GROUT_ATTR_BIT(DIM), .attr_value = dimension)
/* An operand of kind NONE, the last, is omitted. */
#define DIMENSION        .attrs = dimension == 0 ? 0 : GROUT_ATTR_BIT(DIM), .attr_value = dimension
#define LEAST(n, option) .operand_count = (n) + ((option).kind != GROUT_OPERAND_NONE ? 1u : 0u)
#define DEFINE_GATHER(OP, name)                                                            \
    VALUE(OP, name,                                                                        \
          (BUILDER, OPERAND(a), OPERAND(indices), OPERAND(mask), grout_expr_id dimension), \
          .operands = (const grout_operand[]){a, indices, mask}, LEAST(2, mask), DIMENSION)
#define DEFINE_SCATTER(OP, name)                                               \
    NOTHING(OP, name,                                                          \
            (BUILDER, OPERAND(a), OPERAND(indices), OPERAND(b), OPERAND(mask), \
             grout_expr_id dimension),                                         \
            .operands = (const grout_operand[]){a, indices, b, mask}, LEAST(3, mask), DIMENSION)
#define DEFINE_GATHER_COPY(OP, name)                                           \
    NOTHING(OP, name,                                                          \
            (BUILDER, OPERAND(a), OPERAND(b), OPERAND(indices), OPERAND(mask), \
             grout_expr_id dimension),                                         \
            .operands = (const grout_operand[]){a, b, indices, mask}, LEAST(3, mask), DIMENSION)
#define DEFINE_SCAN(OP, name)                                                                    \
    VALUE(OP, name, (BUILDER, OPERAND(a), grout_expr_id dimension, uint64_t attrs), OPERANDS(a), \
          .attrs = attrs | (dimension == 0 ? 0 : GROUT_ATTR_BIT(DIM)), .attr_value = dimension)
#define DEFINE_CONCATENATE(OP, name)                                                       \
    VALUE(OP, name,                                                                        \
          (BUILDER, grout_expr_id dimension, uint32_t count, const grout_operand *values), \
          .operands = values, .operand_count = count, .attrs = GROUT_ATTR_BIT(DIM),        \
          .attr_value = dimension)
#define DEFINE_TRANSPOSE(OP, name)                                                       \
    VALUE(OP, name##_value, (BUILDER, OPERAND(a), uint32_t count, const uint32_t *dims), \
          OPERANDS(a), .attrs = GROUT_ATTR_BIT(PERM),                                    \
          .attr_dims = grout_builder__pack_dims(count, dims))
#define DEFINE_RELAYOUT(OP, name) \
    VALUE(OP, name, (BUILDER, OPERAND(a), const char *text), OPERANDS(a), .text = text)
#define DEFINE_AXIS(OP, name) VALUE(OP, name, (BUILDER, const char *axis), .text = axis)
#define DEFINE_PRINT(OP, name)                                                                  \
    NOTHING(OP, name, (BUILDER, const char *text, uint32_t count, const grout_operand *values), \
            .operands = values, .operand_count = count, .text = text)
/* The condition is the first of the operands, the values follow. */
#define DEFINE_CHECK(OP, name)                                                                     \
    void grout_build_##name(BUILDER, OPERAND(condition), const char *text, uint32_t count,         \
                            const grout_operand *values) {                                         \
        grout_operand operands[1 + GROUT_CHECK_VALUES_MAX] = {condition};                          \
        if (count > GROUT_CHECK_VALUES_MAX) {                                                      \
            (void)grout_builder__error(builder, "'%s' shows at most %d values, not %u", #name,     \
                                       GROUT_CHECK_VALUES_MAX, (unsigned)count);                   \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            operands[1 + i] = values[i];                                                           \
        }                                                                                          \
        (void)grout_build_op(builder, GROUT_OP_##OP,                                               \
                             &(grout_build_op_args){                                               \
                                 .operands = operands, .operand_count = count + 1, .text = text}); \
    }
/* Source, destination and barrier, and the offsets. */
#define DEFINE_IM2COL(OP, name)                                                                \
    void grout_build_##name(BUILDER, OPERAND(a), OPERAND(b), OPERAND(c), uint32_t count,       \
                            const grout_operand *offsets, const grout_written_range *pixels) { \
        grout_operand operands[3 + GROUT_RANGES_MAX] = {a, b, c};                              \
        if (count > GROUT_RANGES_MAX) {                                                        \
            (void)grout_builder__error(builder, "'%s' has at most %d offsets, not %u", #name,  \
                                       GROUT_RANGES_MAX, (unsigned)count);                     \
            return;                                                                            \
        }                                                                                      \
        for (uint32_t i = 0; i < count; i++) {                                                 \
            operands[3 + i] = offsets[i];                                                      \
        }                                                                                      \
        (void)grout_build_op(builder, GROUT_OP_##OP,                                           \
                             &(grout_build_op_args){.operands = operands,                      \
                                                    .operand_count = 3 + count,                \
                                                    .attrs = GROUT_ATTR_BIT(PIXELS),           \
                                                    .attr_ranges = pixels,                     \
                                                    .attr_range_count = count});               \
    }
#define DEFINE_EXTERN(OP, name)                                          \
    VALUE(OP, name,                                                      \
          (BUILDER, const char *text, grout_dtype dtype, uint32_t count, \
           const grout_operand *values),                                 \
          .operands = values, .operand_count = count, .text = text, .type_dtype = dtype)
#define DEFINE_PTX(OP, name)                                                              \
    VALUE(OP, name,                                                                       \
          (BUILDER, const char *text, const char *ptx, grout_dtype dtype, uint32_t count, \
           const grout_operand *values),                                                  \
          .operands = values, .operand_count = count, .text = text, .ptx = ptx,           \
          .type_dtype = dtype)
#define DEFINE_OWN(OP, name)

#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) DEFINE_##BUILD(NAME, text)
#include "grout/ops.def"

/* ---- the columns agree --------------------------------------------------------------------------
 */

/* Operands that a function takes, and whether it has a result; -1: its form says. */
enum {
    operands_of_V1 = 1,
    operands_of_V2 = 2,
    operands_of_V3 = 3,
    operands_of_V1_ATTRS = 1,
    operands_of_V3_ATTRS = 3,
    operands_of_N0 = 0,
    operands_of_N1 = 1,
    operands_of_N2 = 2,
    operands_of_N3 = 3,
    operands_of_N3_ATTRS = 3,
    operands_of_N4 = 4,
    operands_of_N3_OPTION_ATTRS = 4,
    operands_of_N4_OPTION_ATTRS = 5,
    operands_of_N5_OPTION = 6,
    operands_of_N6_OPTION = 7,
    operands_of_N2_ATTRS = 2,
    operands_of_N1_K = 2,
    operands_of_V1_K = 2,
    operands_of_K1_ATTRS = 1,
    operands_of_UNARY = 1,
    operands_of_TEST = 1,
    operands_of_MATH = 1,
    operands_of_MATH_BINARY = 2,
    operands_of_BINARY = 2,
    operands_of_COMPARE = 2,
    operands_of_TERNARY = 3,
    operands_of_CAST = 1,
    operands_of_SHAPED = 1,
    operands_of_DESCRIPTOR = 3,
    operands_of_IOTA = 0,
    operands_of_REDUCE = 1,
    operands_of_SCAN = 1,
    operands_of_GATHER = 3,
    operands_of_SCATTER = 4,
    operands_of_GATHER_COPY = 4,
    operands_of_CONCATENATE = 2,
    operands_of_TRANSPOSE = 1,
    operands_of_RELAYOUT = 2,
    operands_of_AXIS = 1,
    operands_of_PRINT = 2,
    operands_of_CHECK = 3,
    operands_of_IM2COL = 4,
    operands_of_EXTERN = 2,
    operands_of_PTX = 3,
    operands_of_OWN = -1
};
enum {
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX) \
    letters_of_##NAME = sizeof(OPERANDS) - 1,
#include "grout/ops.def"
    letters_end
};
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS)           \
    _Static_assert((int)operands_of_##BUILD == -1 ||                       \
                       (int)operands_of_##BUILD == (int)letters_of_##FORM, \
                   "ops.def: BUILD and FORM of '" #text "' take as many operands");
#include "grout/ops.def"
