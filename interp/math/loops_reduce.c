/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * loops_reduce.c - sums and extremes, from the expressions of ops.def.
 *
 * The order of a float sum is part of the language (docs/language.md, 'Reductions'), so that every
 * processor gives the same bits: blocks of 256 elements; in a block sixteen sums, of every
 * sixteenth element each; then halves are added to halves, first of the sixteen, then of the
 * blocks. The simple model of it, which tests/unit/interp/math/check_reduce.c compares with this:
 *
 *     sum(x, n) = n > 256: p = the largest 256 * 2^k below n; sum(x, p) + sum(x + p, n - p)
 *                 else:    s[j] = -0 + x[j] + x[j + 16] + ..., for j in 0..16
 *                          s[j] += s[j + 8]; s[j] += s[j + 4]; s[j] += s[j + 2]; s[0] + s[1]
 *
 * Sixteen sums fill a vector of any width, an element is in no more than 20 + log2(n / 256)
 * additions, and adding -0 changes nothing. The other reductions give the same in any order.
 */
#include "convert.h"
#include "loops.h"

#include "grout/num.h"

enum {
    BLOCK = 256,
    SUMS = 16,
    WIDTH_MAX = 32, /* columns that are worked on at a time */
    STACK_MAX = 24, /* results of blocks that wait for each other: a bit of their number each */
};

/* An element as it is combined: f16 and bf16 are an f32. */
typedef union word {
    int8_t i8;
    uint8_t u8; /* a bool too */
    int16_t i16;
    uint16_t u16;
    int32_t i32;
    uint32_t u32;
    int64_t i64;
    uint64_t u64;
    float f32;
    double f64;
} word;

struct grout_reduce {
    /* neighbouring elements, at most BLOCK, to one */
    void (*block)(void *result, const void *from, int64_t count);
    /* at most BLOCK rows, pitch elements apart, of at most WIDTH_MAX columns, to one row */
    void (*columns)(void *result, const void *from, int64_t rows, int64_t pitch, int64_t width);
    /* result[j] and b[j] together */
    void (*join)(void *result, const void *b, int64_t width);
};

/* The value that changes nothing when it is combined with another, by the kind of type. */
#define IDENTITY_REDUCE_SUM(LOW, HIGH)  0
#define IDENTITY_REDUCE_PROD(LOW, HIGH) 1
#define IDENTITY_REDUCE_MAX(LOW, HIGH)  LOW
#define IDENTITY_REDUCE_MIN(LOW, HIGH)  HIGH
#define IDENTITY_REDUCE_AND(LOW, HIGH)  (-1) /* all ones */
#define IDENTITY_REDUCE_OR(LOW, HIGH)   0
#define IDENTITY_REDUCE_XOR(LOW, HIGH)  0
#define FLOAT_IDENTITY_REDUCE_SUM       (-0.0f)
#define FLOAT_IDENTITY_REDUCE_PROD      1.0f
#define FLOAT_IDENTITY_REDUCE_MAX       (-INFINITY)
#define FLOAT_IDENTITY_REDUCE_MIN       INFINITY

/* VALUE is what the expression is over: TYPE itself, but for bools, which are bytes. */
#define PAIR_FOR(TARGET, NAME, TYPE, VALUE, EXPRESSION)                          \
    TARGET static inline TYPE NAME##_pair(const TYPE first, const TYPE second) { \
        const VALUE a = (VALUE)first, b = (VALUE)second;                         \
        return (TYPE)(EXPRESSION);                                               \
    }

#define BLOCK_FOR(TARGET, NAME, TYPE, IDENTITY)                                      \
    TARGET static void NAME##_block(void *result, const void *from, int64_t count) { \
        const TYPE *x = from;                                                        \
        TYPE part[SUMS];                                                             \
        int64_t i = 0;                                                               \
        for (int64_t j = 0; j < SUMS; j++) {                                         \
            part[j] = (TYPE)(IDENTITY);                                              \
        }                                                                            \
        for (; i + SUMS <= count; i += SUMS) {                                       \
            for (int64_t j = 0; j < SUMS; j++) {                                     \
                part[j] = NAME##_pair(part[j], x[i + j]);                            \
            }                                                                        \
        }                                                                            \
        for (int64_t j = 0; i + j < count; j++) {                                    \
            part[j] = NAME##_pair(part[j], x[i + j]);                                \
        }                                                                            \
        for (int64_t half = SUMS / 2; half > 0; half /= 2) {                         \
            for (int64_t j = 0; j < half; j++) {                                     \
                part[j] = NAME##_pair(part[j], part[j + half]);                      \
            }                                                                        \
        }                                                                            \
        *(TYPE *)result = part[0];                                                   \
    }

#define JOIN_FOR(TARGET, NAME, TYPE)                                             \
    TARGET static void NAME##_join(void *result, const void *b, int64_t width) { \
        TYPE *restrict to = result;                                              \
        const TYPE *from = b;                                                    \
        for (int64_t j = 0; j < width; j++) {                                    \
            to[j] = NAME##_pair(to[j], from[j]);                                 \
        }                                                                        \
    }

#define COLUMNS_FOR(TARGET, NAME, TYPE, IDENTITY)                                                  \
    TARGET static void NAME##_columns(void *result, const void *from, int64_t rows, int64_t pitch, \
                                      int64_t width) {                                             \
        const TYPE *x = from;                                                                      \
        TYPE *to = result;                                                                         \
        TYPE part[SUMS][WIDTH_MAX];                                                                \
        for (int64_t k = 0; k < SUMS; k++) {                                                       \
            for (int64_t j = 0; j < width; j++) {                                                  \
                part[k][j] = (TYPE)(IDENTITY);                                                     \
            }                                                                                      \
        }                                                                                          \
        for (int64_t i = 0; i < rows; i++) {                                                       \
            NAME##_join(part[i % SUMS], x + i * pitch, width);                                     \
        }                                                                                          \
        for (int64_t half = SUMS / 2; half > 0; half /= 2) {                                       \
            for (int64_t k = 0; k < half; k++) {                                                   \
                NAME##_join(part[k], part[k + half], width);                                       \
            }                                                                                      \
        }                                                                                          \
        for (int64_t j = 0; j < width; j++) {                                                      \
            to[j] = part[0][j];                                                                    \
        }                                                                                          \
    }

#define REDUCE_FOR(TARGET, NAME, TYPE, VALUE, EXPRESSION, IDENTITY) \
    PAIR_FOR(TARGET, NAME, TYPE, VALUE, EXPRESSION)                 \
    BLOCK_FOR(TARGET, NAME, TYPE, IDENTITY)                         \
    JOIN_FOR(TARGET, NAME, TYPE)                                    \
    COLUMNS_FOR(TARGET, NAME, TYPE, IDENTITY)
#define LOOPS(NAME) \
    { NAME##_block, NAME##_columns, NAME##_join }

/* f32 for each instruction set; the plain loops of the others are wide enough. */
#define PLAIN_OF(NAME, SUFFIX, TYPE, VALUE, E, IDENTITY) \
    REDUCE_FOR(, NAME##_##SUFFIX, TYPE, VALUE, E, IDENTITY)
#define REDUCE_INT(NAME, E)                                                         \
    PLAIN_OF(NAME, i8, int8_t, int8_t, E, IDENTITY_##NAME(INT8_MIN, INT8_MAX))      \
    PLAIN_OF(NAME, u8, uint8_t, uint8_t, E, IDENTITY_##NAME(0, UINT8_MAX))          \
    PLAIN_OF(NAME, i16, int16_t, int16_t, E, IDENTITY_##NAME(INT16_MIN, INT16_MAX)) \
    PLAIN_OF(NAME, u16, uint16_t, uint16_t, E, IDENTITY_##NAME(0, UINT16_MAX))      \
    PLAIN_OF(NAME, i32, int32_t, int32_t, E, IDENTITY_##NAME(INT32_MIN, INT32_MAX)) \
    PLAIN_OF(NAME, u32, uint32_t, uint32_t, E, IDENTITY_##NAME(0, UINT32_MAX))      \
    PLAIN_OF(NAME, i64, int64_t, int64_t, E, IDENTITY_##NAME(INT64_MIN, INT64_MAX)) \
    PLAIN_OF(NAME, u64, uint64_t, uint64_t, E, IDENTITY_##NAME(0, UINT64_MAX))
#if GROUT_SIMD_IS_X86
#define REDUCE_F32(NAME, E)                                                                 \
    REDUCE_FOR(, NAME##_f32, float, float, E, FLOAT_IDENTITY_##NAME)                        \
    REDUCE_FOR(GROUT_SIMD_TARGET_AVX2, NAME##_avx2, float, float, E, FLOAT_IDENTITY_##NAME) \
    REDUCE_FOR(GROUT_SIMD_TARGET_AVX512, NAME##_avx512, float, float, E, FLOAT_IDENTITY_##NAME)
#define F32_ENTRIES(NAME) \
    { LOOPS(NAME##_f32), LOOPS(NAME##_avx2), LOOPS(NAME##_avx512) }
#else
#define REDUCE_F32(NAME, E) REDUCE_FOR(, NAME##_f32, float, float, E, FLOAT_IDENTITY_##NAME)
#define F32_ENTRIES(NAME) \
    { LOOPS(NAME##_f32) }
#endif
#define REDUCE_NUM(NAME, E) \
    REDUCE_INT(NAME, E)     \
    REDUCE_F32(NAME, E)     \
    PLAIN_OF(NAME, f64, double, double, E, (double)FLOAT_IDENTITY_##NAME)
#define REDUCE_LOGIC(NAME, E) \
    REDUCE_INT(NAME, E)       \
    PLAIN_OF(NAME, bool, uint8_t, bool, E, (bool)IDENTITY_##NAME(0, 0))
#define PLAIN_ENTRY(NAME, TYPE, SUFFIX) \
    {GROUT_OP_##NAME,                   \
     GROUT_DTYPE_##TYPE,                \
     {LOOPS(NAME##_##SUFFIX), LOOPS(NAME##_##SUFFIX), LOOPS(NAME##_##SUFFIX)}},
// clang-format off
#define ENTRIES_INT(NAME)                                                               \
    PLAIN_ENTRY(NAME, I8, i8)                                                           \
    PLAIN_ENTRY(NAME, U8, u8)                                                           \
    PLAIN_ENTRY(NAME, I16, i16)                                                         \
    PLAIN_ENTRY(NAME, U16, u16) PLAIN_ENTRY(NAME, I32, i32) PLAIN_ENTRY(NAME, U32, u32) \
        PLAIN_ENTRY(NAME, I64, i64) PLAIN_ENTRY(NAME, U64, u64)
#define ENTRIES_NUM(NAME)                                                   \
    ENTRIES_INT(NAME){GROUT_OP_##NAME, GROUT_DTYPE_F32, F32_ENTRIES(NAME)}, \
        PLAIN_ENTRY(NAME, F64, f64)
// clang-format on
#define ENTRIES_LOGIC(NAME) ENTRIES_INT(NAME) PLAIN_ENTRY(NAME, BOOL, bool)

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION) REDUCE_##TYPES(NAME, EXPRESSION)
#include "grout/ops.def"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

const grout_reduce *grout_loops__find_reduce(grout_opcode opcode, grout_dtype dtype,
                                             grout_simd simd) {
    static const struct {
        uint16_t opcode;
        uint8_t dtype;
        grout_reduce loops[GROUT_SIMD_COUNT];
    } entries[] = {
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION) ENTRIES_##TYPES(NAME)
#include "grout/ops.def"
    };
    dtype = grout_loops__get_compute_dtype(dtype);
    for (uint32_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (entries[i].opcode == opcode && entries[i].dtype == dtype) {
            return &entries[i].loops[simd];
        }
    }
    return NULL;
}

/* A block of rows to one row of words. */
static void reduce_block(const grout_reduce *reduce, grout_dtype dtype, word *to,
                         const grout_reduce_box *box, int64_t row, int64_t column) {
    int64_t rows = box->rows - row < BLOCK ? box->rows - row : BLOCK;
    int64_t width = box->columns - column < WIDTH_MAX ? box->columns - column : WIDTH_MAX;
    int64_t pitch = box->columns, bytes = grout_dtype_get_info(dtype)->bytes;
    const uint8_t *from = (const uint8_t *)box->from + (row * pitch + column) * bytes;
    float wide[BLOCK * WIDTH_MAX];
    if (grout_loops__get_compute_dtype(dtype) != dtype) {
        int64_t run = pitch == width ? rows * width : width;
        for (int64_t done = 0; done < rows * width; done += run) {
            grout_convert(dtype, from + done / width * pitch * bytes, GROUT_DTYPE_F32, wide + done,
                          run);
        }
        from = (const uint8_t *)wide;
        pitch = width;
    }
    if (width == 1 && pitch == 1) {
        reduce->block(to, from, rows);
    } else {
        reduce->columns(to, from, rows, pitch, width);
    }
}

/* The result of a block waits on a stack. It is joined to earlier results as a binary counter
 * carries: as often as the block's number has ones at the end. */
static void reduce_columns(const grout_reduce *reduce, grout_dtype dtype, void *result,
                           const grout_reduce_box *box, int64_t column) {
    word stack[STACK_MAX][WIDTH_MAX];
    uint32_t depth = 0;
    int64_t width = box->columns - column < WIDTH_MAX ? box->columns - column : WIDTH_MAX;
    for (int64_t row = 0; row < box->rows; row += BLOCK) {
        reduce_block(reduce, dtype, stack[depth++], box, row, column);
        for (int64_t bits = row / BLOCK; (bits & 1) != 0; bits >>= 1) {
            depth--;
            reduce->join(stack[depth - 1], stack[depth], width);
        }
    }
    for (; depth > 1; depth--) {
        reduce->join(stack[depth - 2], stack[depth - 1], width);
    }
    grout_convert(grout_loops__get_compute_dtype(dtype), stack[0], dtype, result, width);
}

void grout_loops__reduce(const grout_reduce *reduce, grout_dtype dtype, void *result,
                         const grout_reduce_box *box) {
    uint32_t bytes = grout_dtype_get_info(dtype)->bytes;
    for (int64_t column = 0; column < box->columns; column += WIDTH_MAX) {
        reduce_columns(reduce, dtype, (uint8_t *)result + column * bytes, box, column);
    }
}

void grout_loops__join(const grout_reduce *reduce, void *to, const void *from, int64_t count) {
    reduce->join(to, from, count);
}
