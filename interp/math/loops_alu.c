/*
 * loops_alu.c - the loops of arithmetic, from the expressions of ops.def: one for each element type
 * of the class and each instruction set. The compiler vectorises them.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "loops.h"

#include "grout/num.h"

/* Which operands a form has. */
#define BIND1(TYPE)  const TYPE a = (TYPE)from_a[i]
#define BIND2(TYPE)  BIND1(TYPE), b = (TYPE)from_b[i]
#define BIND3(TYPE)  BIND2(TYPE), c = (TYPE)from_c[i]
#define BIND_UNARY   BIND1
#define BIND_TEST    BIND1
#define BIND_BINARY  BIND2
#define BIND_COMPARE BIND2
#define BIND_TERNARY BIND3

/* A loop over elements of one type; a bool is a byte, 0 or 1. */
#define LOOP_FOR(TARGET, NAME, FORM, TYPE, STORED, RESULT, EXPRESSION)                          \
    TARGET static void NAME(void *result, const void *in_a, const void *in_b, const void *in_c, \
                            int64_t count) {                                                    \
        RESULT *restrict to = result;                                                           \
        const STORED *from_a = in_a, *from_b = in_b, *from_c = in_c;                            \
        (void)from_b;                                                                           \
        (void)from_c;                                                                           \
        for (int64_t i = 0; i < count; i++) {                                                   \
            BIND_##FORM(TYPE);                                                                  \
            to[i] = (RESULT)(EXPRESSION);                                                       \
        }                                                                                       \
    }
#if GROUT_SIMD_IS_X86
#define LOOP_OF(NAME, FORM, TYPE, STORED, RESULT, EXPRESSION)                             \
    LOOP_FOR(, NAME, FORM, TYPE, STORED, RESULT, EXPRESSION)                              \
    LOOP_FOR(GROUT_SIMD_TARGET_AVX2, NAME##_avx2, FORM, TYPE, STORED, RESULT, EXPRESSION) \
    LOOP_FOR(GROUT_SIMD_TARGET_AVX512, NAME##_avx512, FORM, TYPE, STORED, RESULT, EXPRESSION)
#else
#define LOOP_OF(NAME, FORM, TYPE, STORED, RESULT, EXPRESSION) \
    LOOP_FOR(, NAME, FORM, TYPE, STORED, RESULT, EXPRESSION)
#endif

/*
 * The element types of each class (TYPES column), as loops and as table entries. The types that
 * kernels compute in most have a loop for each instruction set; of the others the plain one serves
 * all, so that the table does not grow by their number three times.
 */
#define PLAIN_OF(NAME, FORM, TYPE, RESULT, E) LOOP_FOR(, NAME, FORM, TYPE, TYPE, RESULT, E)
#define LOOPS_SMALL(NAME, FORM, E)                    \
    PLAIN_OF(NAME##_i8, FORM, int8_t, int8_t, E)      \
    PLAIN_OF(NAME##_u8, FORM, uint8_t, uint8_t, E)    \
    PLAIN_OF(NAME##_i16, FORM, int16_t, int16_t, E)   \
    PLAIN_OF(NAME##_u16, FORM, uint16_t, uint16_t, E) \
    PLAIN_OF(NAME##_i64, FORM, int64_t, int64_t, E)   \
    PLAIN_OF(NAME##_u64, FORM, uint64_t, uint64_t, E)
#define LOOPS_INT(NAME, FORM, E)                            \
    LOOPS_SMALL(NAME, FORM, E)                              \
    LOOP_OF(NAME##_i32, FORM, int32_t, int32_t, int32_t, E) \
    LOOP_OF(NAME##_u32, FORM, uint32_t, uint32_t, uint32_t, E)
#define LOOPS_FLOAT(NAME, FORM, E)                    \
    LOOP_OF(NAME##_f32, FORM, float, float, float, E) \
    PLAIN_OF(NAME##_f64, FORM, double, double, E)
#define LOOPS_NUM(NAME, FORM, E) \
    LOOPS_INT(NAME, FORM, E)     \
    LOOPS_FLOAT(NAME, FORM, E)
#define LOOPS_LOGIC(NAME, FORM, E) \
    LOOPS_INT(NAME, FORM, E)       \
    LOOP_OF(NAME##_bool, FORM, bool, uint8_t, uint8_t, E)
#define LOOPS_CMP_FLOAT(NAME, FORM, E)                  \
    LOOP_OF(NAME##_f32, FORM, float, float, uint8_t, E) \
    PLAIN_OF(NAME##_f64, FORM, double, uint8_t, E)
#define LOOPS_CMP(NAME, FORM, E)                              \
    PLAIN_OF(NAME##_i8, FORM, int8_t, uint8_t, E)             \
    PLAIN_OF(NAME##_u8, FORM, uint8_t, uint8_t, E)            \
    PLAIN_OF(NAME##_i16, FORM, int16_t, uint8_t, E)           \
    PLAIN_OF(NAME##_u16, FORM, uint16_t, uint8_t, E)          \
    PLAIN_OF(NAME##_i64, FORM, int64_t, uint8_t, E)           \
    PLAIN_OF(NAME##_u64, FORM, uint64_t, uint8_t, E)          \
    LOOP_OF(NAME##_i32, FORM, int32_t, int32_t, uint8_t, E)   \
    LOOP_OF(NAME##_u32, FORM, uint32_t, uint32_t, uint8_t, E) \
    LOOPS_CMP_FLOAT(NAME, FORM, E)
#define LOOPS_CMP_ANY(NAME, FORM, E) \
    LOOPS_CMP(NAME, FORM, E)         \
    LOOP_OF(NAME##_bool, FORM, bool, uint8_t, uint8_t, E)

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) LOOPS_##TYPES(NAME, FORM, EXPRESSION)
#include "grout/ops.def"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#if GROUT_SIMD_IS_X86
#define ENTRY(NAME, TYPE, SUFFIX)                                                     \
    [GROUT_OP_##NAME][GROUT_DTYPE_##TYPE] = {NAME##_##SUFFIX, NAME##_##SUFFIX##_avx2, \
                                             NAME##_##SUFFIX##_avx512},
#else
#define ENTRY(NAME, TYPE, SUFFIX) [GROUT_OP_##NAME][GROUT_DTYPE_##TYPE] = {NAME##_##SUFFIX},
#endif
#define PLAIN_ENTRY(NAME, TYPE, SUFFIX) \
    [GROUT_OP_##NAME][GROUT_DTYPE_##TYPE] = {NAME##_##SUFFIX, NAME##_##SUFFIX, NAME##_##SUFFIX},
// clang-format off
#define ENTRIES_INT(NAME)                                                               \
    PLAIN_ENTRY(NAME, I8, i8)                                                           \
    PLAIN_ENTRY(NAME, U8, u8)                                                           \
    PLAIN_ENTRY(NAME, I16, i16)                                                         \
    PLAIN_ENTRY(NAME, U16, u16) PLAIN_ENTRY(NAME, I64, i64) PLAIN_ENTRY(NAME, U64, u64) \
        ENTRY(NAME, I32, i32) ENTRY(NAME, U32, u32)
// clang-format on
#define ENTRIES_FLOAT(NAME)     ENTRY(NAME, F32, f32) PLAIN_ENTRY(NAME, F64, f64)
#define ENTRIES_NUM(NAME)       ENTRIES_INT(NAME) ENTRIES_FLOAT(NAME)
#define ENTRIES_LOGIC(NAME)     ENTRIES_INT(NAME) ENTRY(NAME, BOOL, bool)
#define ENTRIES_CMP_FLOAT(NAME) ENTRIES_FLOAT(NAME)
#define ENTRIES_CMP(NAME)       ENTRIES_NUM(NAME)
#define ENTRIES_CMP_ANY(NAME)   ENTRIES_NUM(NAME) ENTRY(NAME, BOOL, bool)

/* ---- select -------------------------------------------------------------------------------------
 */

#define SELECT_FOR(TARGET, NAME, TYPE)                                                          \
    TARGET static void NAME(void *result, const void *in_a, const void *in_b, const void *in_c, \
                            int64_t count) {                                                    \
        TYPE *restrict to = result;                                                             \
        const uint8_t *condition = in_a;                                                        \
        const TYPE *from_b = in_b, *from_c = in_c;                                              \
        for (int64_t i = 0; i < count; i++) {                                                   \
            to[i] = condition[i] != 0 ? from_b[i] : from_c[i];                                  \
        }                                                                                       \
    }
#if GROUT_SIMD_IS_X86
#define SELECT_OF(BITS)                                                      \
    SELECT_FOR(, select_##BITS, uint##BITS##_t)                              \
    SELECT_FOR(GROUT_SIMD_TARGET_AVX2, select_##BITS##_avx2, uint##BITS##_t) \
    SELECT_FOR(GROUT_SIMD_TARGET_AVX512, select_##BITS##_avx512, uint##BITS##_t)
#define SELECT_ENTRY(BITS) \
    { select_##BITS, select_##BITS##_avx2, select_##BITS##_avx512 }
#else
#define SELECT_OF(BITS) SELECT_FOR(, select_##BITS, uint##BITS##_t)
#define SELECT_ENTRY(BITS) \
    { select_##BITS }
#endif
SELECT_OF(8)
SELECT_OF(16)
SELECT_OF(32)
SELECT_OF(64)

grout_loop *grout_loops__find_select(uint32_t element_bytes, grout_simd simd) {
    static grout_loop *const loops[4][GROUT_SIMD_COUNT] = {SELECT_ENTRY(8), SELECT_ENTRY(16),
                                                           SELECT_ENTRY(32), SELECT_ENTRY(64)};
    uint32_t index = element_bytes == 1 ? 0 : element_bytes == 2 ? 1 : element_bytes == 4 ? 2 : 3;
    return loops[index][simd];
}

/* ---- by op --------------------------------------------------------------------------------------
 */

grout_loop *grout_loops__find(grout_opcode opcode, grout_dtype dtype, grout_simd simd) {
    static grout_loop *const loops[GROUT_OP_COUNT][GROUT_DTYPE_COUNT][GROUT_SIMD_COUNT] = {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) ENTRIES_##TYPES(NAME)
#include "grout/ops.def"
    };
    if (grout_op_get_info(opcode)->ulp >
        0) { /* a function: MATH ops alone say how exact they are */
        return grout_loops__find_math(opcode, dtype, simd);
    }
    return loops[opcode][dtype][simd];
}
