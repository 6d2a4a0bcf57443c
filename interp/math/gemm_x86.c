/*
 * gemm_x86.c - products of packed tiles with AVX2 and AVX-512, whatever target the compiler was
 * given: a block of rows and columns stays in registers while k runs.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gemm.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#if defined(__clang__)
#include <cpuid.h>
#endif

/* Loops whose bounds the compiler knows: unrolled, or sums would be an array in memory. */
#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

/*
 * One block: VECTORS registers of rows by COLUMNS columns. Its sums take 16 of 32 registers with
 * AVX-512 and 8 of 16 with AVX2; either hides the latency of two fused multiply-adds a cycle.
 */
#define DEFINE_LOOP(NAME, TARGET, VECTOR, WIDTH, VECTORS, COLUMNS, LOAD, STORE, BROADCAST, FMA, \
                    ROUND, PER_WORD)                                                            \
    __attribute__((target(TARGET), always_inline)) static inline void NAME##_round(             \
        VECTOR sums[COLUMNS][VECTORS]) {                                                        \
        UNROLLED                                                                                \
        for (size_t n = 0; n < COLUMNS; n++) {                                                  \
            UNROLLED                                                                            \
            for (size_t v = 0; v < VECTORS; v++) {                                              \
                sums[n][v] = ROUND(sums[n][v]);                                                 \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    __attribute__((target(TARGET))) static inline void NAME##_block(                            \
        const grout_gemm *gemm, float *c, const float *a, const float *b) {                     \
        size_t m = gemm->m, words = gemm->k / (PER_WORD);                                       \
        size_t pitch = grout_gemm__get_pitch(gemm);                                             \
        size_t across = gemm->has_k_rows ? 1 : words;                                           \
        size_t down = gemm->has_k_rows ? gemm->n : 1;                                           \
        VECTOR sums[COLUMNS][VECTORS];                                                          \
        UNROLLED                                                                                \
        for (size_t n = 0; n < COLUMNS; n++) {                                                  \
            UNROLLED                                                                            \
            for (size_t v = 0; v < VECTORS; v++) {                                              \
                sums[n][v] = LOAD(c + n * pitch + v * WIDTH);                                   \
            }                                                                                   \
        }                                                                                       \
        for (size_t k = 0, left = gemm->round_step; k < words; k++, a += m, b += down) {        \
            VECTOR rows[VECTORS];                                                               \
            UNROLLED                                                                            \
            for (size_t v = 0; v < VECTORS; v++) {                                              \
                rows[v] = LOAD(a + v * WIDTH);                                                  \
            }                                                                                   \
            UNROLLED                                                                            \
            for (size_t n = 0; n < COLUMNS; n++) {                                              \
                VECTOR factor = BROADCAST(b + n * across);                                      \
                UNROLLED                                                                        \
                for (size_t v = 0; v < VECTORS; v++) {                                          \
                    sums[n][v] = FMA(rows[v], factor, sums[n][v]);                              \
                }                                                                               \
            }                                                                                   \
            if (gemm->round_step != 0 && --left == 0) {                                         \
                left = gemm->round_step;                                                        \
                NAME##_round(sums);                                                             \
            }                                                                                   \
        }                                                                                       \
        UNROLLED                                                                                \
        for (size_t n = 0; n < COLUMNS; n++) {                                                  \
            UNROLLED                                                                            \
            for (size_t v = 0; v < VECTORS; v++) {                                              \
                STORE(c + n * pitch + v * WIDTH, sums[n][v]);                                   \
            }                                                                                   \
        }                                                                                       \
    }                                                                                           \
    __attribute__((target(TARGET))) static void NAME(const grout_gemm *gemm, float *c,          \
                                                     const float *a, const float *b) {          \
        size_t across = gemm->has_k_rows ? 1 : gemm->k / (PER_WORD);                            \
        size_t pitch = grout_gemm__get_pitch(gemm);                                             \
        for (size_t n = 0; n < gemm->n; n += COLUMNS) {                                         \
            for (size_t m = 0; m < gemm->m; m += VECTORS * WIDTH) {                             \
                NAME##_block(gemm, c + n * pitch + m, a + m, b + n * across);                   \
            }                                                                                   \
        }                                                                                       \
    }

#define ROUND_256(x) _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT))
#define ROUND_512(x) _mm512_cvtph_ps(_mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT))

DEFINE_LOOP(run_avx2, "avx2,fma,f16c", __m256, (size_t)8, 2, 4, _mm256_loadu_ps, _mm256_storeu_ps,
            _mm256_broadcast_ss, _mm256_fmadd_ps, ROUND_256, 1)
#define BROADCAST_512(p) _mm512_set1_ps(*(p))
DEFINE_LOOP(run_avx512, "avx512f", __m512, (size_t)16, 2, 8, _mm512_loadu_ps, _mm512_storeu_ps,
            BROADCAST_512, _mm512_fmadd_ps, ROUND_512, 1)

/* Integers: words of two i16, whose products fit 32 bits together. Their sums wrap. */
#define LOAD_I256(p)      _mm256_loadu_si256((const __m256i *)(const void *)(p))
#define STORE_I256(p, x)  _mm256_storeu_si256((__m256i *)(void *)(p), x)
#define BROADCAST_I256(p) _mm256_castps_si256(_mm256_broadcast_ss(p))
#define ADD_I256(a, b, c) _mm256_add_epi32(_mm256_madd_epi16(a, b), c)
#define LOAD_I512(p)      _mm512_loadu_si512((const void *)(p))
#define STORE_I512(p, x)  _mm512_storeu_si512((void *)(p), x)
#define BROADCAST_I512(p) _mm512_castps_si512(_mm512_set1_ps(*(p)))
#define ADD_I512(a, b, c) _mm512_add_epi32(_mm512_madd_epi16(a, b), c)
#define NO_ROUND(x)       (x)
DEFINE_LOOP(run_i16_avx2, "avx2", __m256i, (size_t)8, 2, 4, LOAD_I256, STORE_I256, BROADCAST_I256,
            ADD_I256, NO_ROUND, 2)
DEFINE_LOOP(run_i16_avx512, "avx512f,avx512bw", __m512i, (size_t)16, 2, 8, LOAD_I512, STORE_I512,
            BROADCAST_I512, ADD_I512, NO_ROUND, 2)

/* Not every clang knows this one by name, and the instruction is slow in a virtual machine. */
static bool has_f16c(void) {
#if defined(__clang__)
    unsigned int a = 0, b = 0, c = 0, d = 0;
    return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
#else
    return __builtin_cpu_supports("f16c") != 0;
#endif
}

__attribute__((target("avx2"))) static bool has_nan(const float *values, size_t count) {
    __m256 any = _mm256_setzero_ps();
    for (size_t i = 0; i < count; i += 16) {
        const __m256 first = _mm256_loadu_ps(values + i), second = _mm256_loadu_ps(values + i + 8);
        any = _mm256_or_ps(any, _mm256_cmp_ps(first, second, _CMP_UNORD_Q));
    }
    return _mm256_movemask_ps(any) != 0;
}

bool grout_gemm__may_have_nan(const float *values, size_t count) {
    return __builtin_cpu_supports("avx2") == 0 || has_nan(values, count);
}

grout_gemm_loop *grout_gemm__find_wide(grout_gemm_kind kind, bool is_integer) {
    if (kind == GROUT_GEMM_AVX2) {
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && has_f16c()
                   ? (is_integer ? run_i16_avx2 : run_avx2)
                   : NULL;
    }
    return kind == GROUT_GEMM_AVX512 && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl")
               ? (is_integer ? run_i16_avx512 : run_avx512)
               : NULL;
}

#else

grout_gemm_loop *grout_gemm__find_wide(grout_gemm_kind kind, bool is_integer) {
    (void)kind;
    (void)is_integer;
    return NULL;
}

bool grout_gemm__may_have_nan(const float *values, size_t count) {
    (void)values;
    (void)count;
    return true;
}

#endif
