/*
 * loops.h - loops over elements: arithmetic, functions, reductions. Each is compiled for several
 * instruction sets, and the widest that the processor has is taken when a kernel is lowered. They
 * differ in speed alone: every set gives the same bits (of numbers, not of NaN's payload).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_INTERP_LOOPS_H
#define GROUT_INTERP_LOOPS_H

#include "grout-internal/ir.h"

/* An elementwise loop over count elements; unused operands are not read. */
typedef void grout_loop(void *result, const void *a, const void *b, const void *c, int64_t count);

typedef enum grout_simd {
    GROUT_SIMD_PLAIN, /* what every processor has */
    GROUT_SIMD_AVX2,  /* AVX2 and FMA */
    GROUT_SIMD_AVX512,
    GROUT_SIMD_COUNT
} grout_simd;

#if defined(__x86_64__) && defined(__GNUC__)
#define GROUT_SIMD_IS_X86      1
#define GROUT_SIMD_TARGET_AVX2 __attribute__((target("avx2,fma")))
#define GROUT_SIMD_TARGET_AVX512 \
    __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl")))
#else
#define GROUT_SIMD_IS_X86 0
#endif

static inline bool grout_simd__has(grout_simd simd) {
#if GROUT_SIMD_IS_X86
    bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (simd == GROUT_SIMD_AVX512) {
        return has_avx2 && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    }
    return simd == GROUT_SIMD_PLAIN || has_avx2;
#else
    return simd == GROUT_SIMD_PLAIN;
#endif
}
static inline grout_simd grout_simd__get_best(void) {
    return grout_simd__has(GROUT_SIMD_AVX512) ? GROUT_SIMD_AVX512
           : grout_simd__has(GROUT_SIMD_AVX2) ? GROUT_SIMD_AVX2
                                              : GROUT_SIMD_PLAIN;
}

/* The element type that an operation computes in: f32 for f16 and bf16, else its own. */
static inline grout_dtype grout_loops__get_compute_dtype(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_F16 || dtype == GROUT_DTYPE_BF16 ? GROUT_DTYPE_F32 : dtype;
}

/* loops_alu.c, loops_math.c: the loop of an ALU or MATH op, for a compute type of its operands;
 * NULL if there is none. */
grout_loop *grout_loops__find(grout_opcode opcode, grout_dtype dtype, grout_simd simd);
grout_loop *grout_loops__find_math(grout_opcode opcode, grout_dtype dtype, grout_simd simd);
/* The loop of 'select', by the size of an element; a is the condition. */
grout_loop *grout_loops__find_select(uint32_t element_bytes, grout_simd simd);

/* loops_reduce.c: the loop of a REDUCE op, for a type of its class, including f16 and bf16; NULL if
 * there is none. */
typedef struct grout_reduce grout_reduce;
const grout_reduce *grout_loops__find_reduce(grout_opcode opcode, grout_dtype dtype,
                                             grout_simd simd);
/* Rows of neighbouring elements, at least one of each. */
typedef struct grout_reduce_box {
    const void *from;
    int64_t rows, columns;
} grout_reduce_box;
/* All rows to one. */
void grout_loops__reduce(const grout_reduce *reduce, grout_dtype dtype, void *result,
                         const grout_reduce_box *box);
/* Elements of its compute type with others: to[j] becomes to[j] and from[j] together. */
void grout_loops__join(const grout_reduce *reduce, void *to, const void *from, int64_t count);

#endif
