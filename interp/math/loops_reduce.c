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
    int32_t i32;
    uint32_t u32;
    float f32;
} word;

struct grout_reduce {
    /* neighbouring elements, at most BLOCK, to one */
    void (*block)(void *result, const void *from, int64_t count);
    /* at most BLOCK rows, pitch elements apart, of at most WIDTH_MAX columns, to one row */
    void (*columns)(void *result, const void *from, int64_t rows, int64_t pitch, int64_t width);
    /* result[j] and b[j] together */
    void (*join)(void *result, const void *b, int64_t width);
};

/* The value that changes nothing when it is combined with another. */
#define IDENTITY_REDUCE_SUM_I32 0
#define IDENTITY_REDUCE_SUM_U32 0
#define IDENTITY_REDUCE_SUM_F32 (-0.0f)
#define IDENTITY_REDUCE_MAX_I32 INT32_MIN
#define IDENTITY_REDUCE_MAX_U32 0
#define IDENTITY_REDUCE_MAX_F32 (-INFINITY)
#define IDENTITY_REDUCE_MIN_I32 INT32_MAX
#define IDENTITY_REDUCE_MIN_U32 UINT32_MAX
#define IDENTITY_REDUCE_MIN_F32 INFINITY

#define PAIR_FOR(TARGET, NAME, TYPE, EXPRESSION)                        \
    TARGET static inline TYPE NAME##_pair(const TYPE a, const TYPE b) { \
        return (EXPRESSION);                                            \
    }

#define BLOCK_FOR(TARGET, NAME, TYPE, IDENTITY)                                      \
    TARGET static void NAME##_block(void *result, const void *from, int64_t count) { \
        const TYPE *x = from;                                                        \
        TYPE part[SUMS];                                                             \
        int64_t i = 0;                                                               \
        for (int64_t j = 0; j < SUMS; j++) {                                         \
            part[j] = (IDENTITY);                                                    \
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
                part[k][j] = (IDENTITY);                                                           \
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

#define REDUCE_FOR(TARGET, NAME, TYPE, EXPRESSION, IDENTITY) \
    PAIR_FOR(TARGET, NAME, TYPE, EXPRESSION)                 \
    BLOCK_FOR(TARGET, NAME, TYPE, IDENTITY)                  \
    JOIN_FOR(TARGET, NAME, TYPE)                             \
    COLUMNS_FOR(TARGET, NAME, TYPE, IDENTITY)
#define LOOPS(NAME) \
    { NAME##_block, NAME##_columns, NAME##_join }

/* Floats for each instruction set; the plain loops of integers are wide enough. */
#define REDUCE_INT(NAME, E)                                     \
    REDUCE_FOR(, NAME##_i32, int32_t, E, IDENTITY_##NAME##_I32) \
    REDUCE_FOR(, NAME##_u32, uint32_t, E, IDENTITY_##NAME##_U32)
#if GROUT_SIMD_IS_X86
#define REDUCE_FLOAT(NAME, E)                                                        \
    REDUCE_FOR(, NAME##_f32, float, E, IDENTITY_##NAME##_F32)                        \
    REDUCE_FOR(GROUT_SIMD_TARGET_AVX2, NAME##_avx2, float, E, IDENTITY_##NAME##_F32) \
    REDUCE_FOR(GROUT_SIMD_TARGET_AVX512, NAME##_avx512, float, E, IDENTITY_##NAME##_F32)
#define FLOAT_ENTRIES(NAME) \
    { LOOPS(NAME##_f32), LOOPS(NAME##_avx2), LOOPS(NAME##_avx512) }
#else
#define REDUCE_FLOAT(NAME, E) REDUCE_FOR(, NAME##_f32, float, E, IDENTITY_##NAME##_F32)
#define FLOAT_ENTRIES(NAME) \
    { LOOPS(NAME##_f32) }
#endif
#define REDUCE_NUM(NAME, E) \
    REDUCE_INT(NAME, E)     \
    REDUCE_FLOAT(NAME, E)
#define ENTRIES_NUM(NAME)                                                                          \
    {GROUT_OP_##NAME, GROUT_DTYPE_I32, {LOOPS(NAME##_i32), LOOPS(NAME##_i32), LOOPS(NAME##_i32)}}, \
        {GROUT_OP_##NAME,                                                                          \
         GROUT_DTYPE_U32,                                                                          \
         {LOOPS(NAME##_u32), LOOPS(NAME##_u32), LOOPS(NAME##_u32)}},                               \
        {GROUT_OP_##NAME, GROUT_DTYPE_F32, FLOAT_ENTRIES(NAME)},

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wfloat-equal"
#endif
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION, DOC) REDUCE_##TYPES(NAME, EXPRESSION)
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
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION, DOC) ENTRIES_##TYPES(NAME)
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
