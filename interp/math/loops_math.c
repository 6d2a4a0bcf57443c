/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * loops_math.c - the functions of MATH ops, by SLEEF (3.5 or later, https://sleef.org).
 *
 * SLEEF has each function for vectors of several widths and for scalars; those whose names begin
 * with finz give the same bits in every width, but need fused multiply-add. So the same value comes
 * out wherever it is computed, except on x86 processors without FMA (and whatever else lacks it):
 * they take the cinz functions, whose last bits may differ.
 *
 * rsqrt is 1 / sqrt(a), both correctly rounded. logistic, with e = exp(-|a|), is 1 / (1 + e), and
 * e / (1 + e) for a < 0: e never overflows, and small results keep their bits. Every NaN is the one
 * that casts give. tests/unit/interp/math/check_math.c measures all of them.
 */
#include "loops.h"

#include "grout/num.h"

#include <string.h>
#if GROUT_SIMD_IS_X86
#include <immintrin.h>
#define HAS_FUSED   1
#define HAS_UNFUSED 1
#elif defined(__FP_FAST_FMAF)
#define HAS_FUSED   1
#define HAS_UNFUSED 0
#else
#define HAS_FUSED   0
#define HAS_UNFUSED 1
#endif

/* What SLEEF computes, of one operand and of two; the others are below. Its exp and pow of f64 give
 * infinity for results that are as near to the largest number as 2 in a million. */
#define SLEEF_LIST(X)      X(exp) SLEEF_LIST_F64(X)
#define SLEEF_LIST_F64(X)  X(cbrt) X(exp2) X(expm1) X(log) X(log2) X(sin) X(cos) X(tanh) X(erf)
#define SLEEF_LIST2(X)     X(pow) SLEEF_LIST2_F64(X)
#define SLEEF_LIST2_F64(X) X(atan2)

static inline float clean(float a) {
    return a != a ? grout_from_bits_f32(0x7fffffffu) : a;
}
static inline double clean_f64(double a) {
    return a != a ? grout_from_bits_f64(0x7fffffffffffffffu) : a;
}

#define BEGIN_LOOP_OF(TARGET, NAME, TYPE)                                                       \
    TARGET static void NAME(void *result, const void *in_a, const void *in_b, const void *in_c, \
                            int64_t count) {                                                    \
        TYPE *to = result;                                                                      \
        const TYPE *a = in_a;                                                                   \
        (void)in_b;                                                                             \
        (void)in_c;
#define BEGIN_LOOP(TARGET, NAME) BEGIN_LOOP_OF(TARGET, NAME, float)

/* 1 / sqrt(a). */
#define RSQRT_LOOP(TARGET, SET)            \
    BEGIN_LOOP(TARGET, rsqrt_##SET)        \
    for (int64_t i = 0; i < count; i++) {  \
        to[i] = clean(1.0f / sqrtf(a[i])); \
    }                                      \
    }

/* By the exp of the same set, a piece at a time. */
enum { LOGISTIC_PIECE = 256 };
#define LOGISTIC_LOOP(TARGET, SET)                                                   \
    BEGIN_LOOP(TARGET, logistic_##SET)                                               \
    float e[LOGISTIC_PIECE];                                                         \
    for (int64_t first = 0; first < count; first += LOGISTIC_PIECE) {                \
        int64_t rest = count - first;                                                \
        int64_t length = rest < LOGISTIC_PIECE ? rest : LOGISTIC_PIECE;              \
        for (int64_t i = 0; i < length; i++) {                                       \
            e[i] = grout_from_bits_f32(grout_bits_f32(a[first + i]) | 0x80000000u);  \
        }                                                                            \
        exp_##SET(e, e, NULL, NULL, length);                                         \
        for (int64_t i = 0; i < length; i++) {                                       \
            to[first + i] = clean((a[first + i] < 0 ? e[i] : 1.0f) / (1.0f + e[i])); \
        }                                                                            \
    }                                                                                \
    }

/* SLEEF's log1p gives infinity for the largest numbers, whose log is the same. */
#define LOG1P_LOOP(TARGET, SET)                      \
    BEGIN_LOOP(TARGET, log1p_##SET)                  \
    log1p_near_##SET(to, a, NULL, NULL, count);      \
    for (int64_t i = 0; i < count; i++) {            \
        if (a[i] > 0x1p100f) {                       \
            log_##SET(to + i, a + i, NULL, NULL, 1); \
        }                                            \
    }                                                \
    }

/* ---- one at a time ------------------------------------------------------------------------------
 */

#define SCALAR_LOOP(SET, text, FUNCTION)  \
    BEGIN_LOOP(, text##_##SET)            \
    for (int64_t i = 0; i < count; i++) { \
        to[i] = clean(FUNCTION(a[i]));    \
    }                                     \
    }

/* One loop of f64 serves every instruction set: kernels compute little in it. */
#define F64_LOOP(SET, text, FUNCTION)           \
    BEGIN_LOOP_OF(, text##_##SET##_f64, double) \
    for (int64_t i = 0; i < count; i++) {       \
        to[i] = clean_f64(FUNCTION(a[i]));      \
    }                                           \
    }
/* Functions of two operands have one loop for every instruction set too. */
#define BINARY_LOOP(NAME, TYPE, CLEAN, FUNCTION) \
    BEGIN_LOOP_OF(, NAME, TYPE)                  \
    const TYPE *b = in_b;                        \
    for (int64_t i = 0; i < count; i++) {        \
        to[i] = CLEAN(FUNCTION(a[i], b[i]));     \
    }                                            \
    }
#define F64_COMPOSED(SET)                                                                         \
    static inline double rsqrt_one_##SET(double a) {                                              \
        return 1.0 / sqrt(a);                                                                     \
    }                                                                                             \
    static inline double logistic_one_##SET(double a) {                                           \
        double e = SLEEF_EXP_##SET(grout_from_bits_f64(grout_bits_f64(a) | 0x8000000000000000u)); \
        return (a < 0 ? e : 1.0) / (1.0 + e);                                                     \
    }                                                                                             \
    static inline double log1p_one_##SET(double a) {                                              \
        return a > 0x1p1000 ? SLEEF_LOG_##SET(a) : SLEEF_LOG1P_##SET(a);                          \
    }                                                                                             \
    static inline double exp_one_##SET(double a) {                                                \
        return a > EXP_EARLY ? SLEEF_EXPM1_##SET(a) : SLEEF_EXP_##SET(a); /* the same */          \
    }                                                                                             \
    static inline double pow_one_##SET(double a, double b) {                                      \
        const double power = SLEEF_POW_##SET(a, b);                                               \
        if (!isinf(power) || isinf(a) || isinf(b) || a == 0) {                                    \
            return power;                                                                         \
        }                                                                                         \
        const double root = SLEEF_POW_##SET(fabs(a), b / 2);                                      \
        return copysign(root * root, power);                                                      \
    }                                                                                             \
    F64_LOOP(SET, exp, exp_one_##SET)                                                             \
    BINARY_LOOP(pow_##SET##_f64, double, clean_f64, pow_one_##SET)                                \
    F64_LOOP(SET, log1p, log1p_one_##SET)                                                         \
    F64_LOOP(SET, rsqrt, rsqrt_one_##SET)                                                         \
    F64_LOOP(SET, logistic, logistic_one_##SET)
#define EXP_EARLY           709.7827 /* the exp of more than that may be infinite early */
#define SLEEF_EXP_fused     Sleef_finz_expd1_u10purecfma
#define SLEEF_EXP_unfused   Sleef_cinz_expd1_u10purec
#define SLEEF_EXPM1_fused   Sleef_finz_expm1d1_u10purecfma
#define SLEEF_EXPM1_unfused Sleef_cinz_expm1d1_u10purec
#define SLEEF_POW_fused     Sleef_finz_powd1_u10purecfma
#define SLEEF_POW_unfused   Sleef_cinz_powd1_u10purec
#define SLEEF_LOG_fused     Sleef_finz_logd1_u10purecfma
#define SLEEF_LOG_unfused   Sleef_cinz_logd1_u10purec
#define SLEEF_LOG1P_fused   Sleef_finz_log1pd1_u10purecfma
#define SLEEF_LOG1P_unfused Sleef_cinz_log1pd1_u10purec

/* SLEEF's header hides what the compiler's flags do not allow. Here flags say little: which set is
 * taken is decided at run time. */
#if HAS_FUSED
#define FUSED_LOOP(text)                                \
    float Sleef_finz_##text##f1_u10purecfma(float a);   \
    double Sleef_finz_##text##d1_u10purecfma(double a); \
    SCALAR_LOOP(fused, text, Sleef_finz_##text##f1_u10purecfma)
#define FUSED_F64_LOOP(text) F64_LOOP(fused, text, Sleef_finz_##text##d1_u10purecfma)
SLEEF_LIST(FUSED_LOOP)
SLEEF_LIST_F64(FUSED_F64_LOOP)
float Sleef_finz_log1pf1_u10purecfma(float a);
double Sleef_finz_log1pd1_u10purecfma(double a);
SCALAR_LOOP(fused, log1p_near, Sleef_finz_log1pf1_u10purecfma)
LOG1P_LOOP(, fused)
RSQRT_LOOP(, fused)
LOGISTIC_LOOP(, fused)
#define FUSED_LOOP2(text)                                         \
    float Sleef_finz_##text##f1_u10purecfma(float a, float b);    \
    double Sleef_finz_##text##d1_u10purecfma(double a, double b); \
    BINARY_LOOP(text##_fused, float, clean, Sleef_finz_##text##f1_u10purecfma)
#define FUSED_F64_LOOP2(text) \
    BINARY_LOOP(text##_fused_f64, double, clean_f64, Sleef_finz_##text##d1_u10purecfma)
SLEEF_LIST2(FUSED_LOOP2)
SLEEF_LIST2_F64(FUSED_F64_LOOP2)
F64_COMPOSED(fused)
#define FUSED_ENTRY(text) text##_fused
#define FUSED_F64(text)   text##_fused_f64
#else
#define FUSED_ENTRY(text) NULL
#define FUSED_F64(text)   NULL
#endif

#if HAS_UNFUSED
#define UNFUSED_LOOP(text)                           \
    float Sleef_cinz_##text##f1_u10purec(float a);   \
    double Sleef_cinz_##text##d1_u10purec(double a); \
    SCALAR_LOOP(unfused, text, Sleef_cinz_##text##f1_u10purec)
#define UNFUSED_F64_LOOP(text) F64_LOOP(unfused, text, Sleef_cinz_##text##d1_u10purec)
SLEEF_LIST(UNFUSED_LOOP)
SLEEF_LIST_F64(UNFUSED_F64_LOOP)
float Sleef_cinz_log1pf1_u10purec(float a);
double Sleef_cinz_log1pd1_u10purec(double a);
SCALAR_LOOP(unfused, log1p_near, Sleef_cinz_log1pf1_u10purec)
LOG1P_LOOP(, unfused)
RSQRT_LOOP(, unfused)
LOGISTIC_LOOP(, unfused)
#define UNFUSED_LOOP2(text)                                    \
    float Sleef_cinz_##text##f1_u10purec(float a, float b);    \
    double Sleef_cinz_##text##d1_u10purec(double a, double b); \
    BINARY_LOOP(text##_unfused, float, clean, Sleef_cinz_##text##f1_u10purec)
#define UNFUSED_F64_LOOP2(text) \
    BINARY_LOOP(text##_unfused_f64, double, clean_f64, Sleef_cinz_##text##d1_u10purec)
SLEEF_LIST2(UNFUSED_LOOP2)
SLEEF_LIST2_F64(UNFUSED_F64_LOOP2)
F64_COMPOSED(unfused)
#define UNFUSED_ENTRY(text) text##_unfused
#define UNFUSED_F64(text)   text##_unfused_f64
#else
#define UNFUSED_ENTRY(text) NULL
#define UNFUSED_F64(text)   NULL
#endif

/* ---- vectors ------------------------------------------------------------------------------------
 */

#if GROUT_SIMD_IS_X86
GROUT_SIMD_TARGET_AVX2 static inline __m256 clean_avx2(__m256 a) {
    __m256 nan = _mm256_castsi256_ps(_mm256_set1_epi32(0x7fffffff));
    return _mm256_blendv_ps(a, nan, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}
GROUT_SIMD_TARGET_AVX512 static inline __m512 clean_avx512(__m512 a) {
    __m512 nan = _mm512_castsi512_ps(_mm512_set1_epi32(0x7fffffff));
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), a, nan);
}

/* The last elements go through a vector of their own. */
#define VECTOR_LOOP(TARGET, SET, text, LANES, BITS, FUNCTION)                              \
    BEGIN_LOOP(TARGET, text##_##SET)                                                       \
    int64_t i = 0;                                                                         \
    for (; i + (LANES) <= count; i += (LANES)) {                                           \
        _mm##BITS##_storeu_ps(to + i, clean_##SET(FUNCTION(_mm##BITS##_loadu_ps(a + i)))); \
    }                                                                                      \
    if (i < count) {                                                                       \
        float rest[LANES] = {0};                                                           \
        memcpy(rest, a + i, (size_t)(count - i) * sizeof *rest);                           \
        _mm##BITS##_storeu_ps(rest, clean_##SET(FUNCTION(_mm##BITS##_loadu_ps(rest))));    \
        memcpy(to + i, rest, (size_t)(count - i) * sizeof *rest);                          \
    }                                                                                      \
    }

#define AVX2_LOOP(text)                                                    \
    GROUT_SIMD_TARGET_AVX2 __m256 Sleef_finz_##text##f8_u10avx2(__m256 a); \
    VECTOR_LOOP(GROUT_SIMD_TARGET_AVX2, avx2, text, 8, 256, Sleef_finz_##text##f8_u10avx2)
SLEEF_LIST(AVX2_LOOP)
GROUT_SIMD_TARGET_AVX2 __m256 Sleef_finz_log1pf8_u10avx2(__m256 a);
VECTOR_LOOP(GROUT_SIMD_TARGET_AVX2, avx2, log1p_near, 8, 256, Sleef_finz_log1pf8_u10avx2)
LOG1P_LOOP(GROUT_SIMD_TARGET_AVX2, avx2)
RSQRT_LOOP(GROUT_SIMD_TARGET_AVX2, avx2)
LOGISTIC_LOOP(GROUT_SIMD_TARGET_AVX2, avx2)

#define AVX512_LOOP(text)                                                        \
    GROUT_SIMD_TARGET_AVX512 __m512 Sleef_finz_##text##f16_u10avx512f(__m512 a); \
    VECTOR_LOOP(GROUT_SIMD_TARGET_AVX512, avx512, text, 16, 512, Sleef_finz_##text##f16_u10avx512f)
SLEEF_LIST(AVX512_LOOP)
GROUT_SIMD_TARGET_AVX512 __m512 Sleef_finz_log1pf16_u10avx512f(__m512 a);
VECTOR_LOOP(GROUT_SIMD_TARGET_AVX512, avx512, log1p_near, 16, 512, Sleef_finz_log1pf16_u10avx512f)
LOG1P_LOOP(GROUT_SIMD_TARGET_AVX512, avx512)
RSQRT_LOOP(GROUT_SIMD_TARGET_AVX512, avx512)
LOGISTIC_LOOP(GROUT_SIMD_TARGET_AVX512, avx512)
#define VECTOR_MATH(text)        text##_avx2, text##_avx512
#define VECTOR_MATH_BINARY(text) text##_fused, text##_fused
#else
#define VECTOR_MATH(text)        NULL, NULL
#define VECTOR_MATH_BINARY(text) NULL, NULL
#endif

/* ---- by op --------------------------------------------------------------------------------------
 */

static bool has_fused(void) {
#if GROUT_SIMD_IS_X86
    return grout_simd__has(GROUT_SIMD_AVX2); /* what SLEEF's fused scalars are compiled for */
#else
    return HAS_FUSED;
#endif
}

grout_loop *grout_loops__find_math(grout_opcode opcode, grout_dtype dtype, grout_simd simd) {
    enum { UNFUSED = GROUT_SIMD_COUNT };
    static grout_loop *const loops[GROUT_OP_COUNT][GROUT_SIMD_COUNT + 1] = {
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP) \
    [GROUT_OP_##NAME] = {FUSED_ENTRY(text), VECTOR_##FORM(text), UNFUSED_ENTRY(text)},
#include "grout/ops.def"
    };
    static grout_loop *const doubles[GROUT_OP_COUNT][2] = {
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP) \
    [GROUT_OP_##NAME] = {FUSED_F64(text), UNFUSED_F64(text)},
#include "grout/ops.def"
    };
    bool is_unfused = simd == GROUT_SIMD_PLAIN && !has_fused();
    if (dtype == GROUT_DTYPE_F64) {
        return doubles[opcode][is_unfused ? 1 : 0];
    }
    return dtype == GROUT_DTYPE_F32 ? loops[opcode][is_unfused ? UNFUSED : (int)simd] : NULL;
}
