/*
 * gemm.c - products of packed tiles: which loop runs, and the one in plain C.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "gemm.h"

#include "grout/num.h"
#include "invariant.h"

#include <math.h>
#include <string.h>

#define NAN_F32      0x7fffffffu
#define QUIET_NAN    0x7fc00000u
#define STEP_WORDS   16 /* of 32 integers of K, an instruction's */
#define LIBXSMM_ROWS 64 /* m is a multiple of this many: with others its bits may differ */
#define AVX512_ROWS  32 /* of a block; AVX2's has 16 */

const char *grout_gemm__get_text(grout_gemm_kind kind) {
    switch (kind) {
    case GROUT_GEMM_LIBXSMM:
        return "LIBXSMM";
    case GROUT_GEMM_AVX512:
        return "AVX-512";
    case GROUT_GEMM_AVX2:
        return "AVX2";
    case GROUT_GEMM_PLAIN:
    case GROUT_GEMM_KIND_COUNT:
        break;
    }
    return "C";
}

/*
 * Adding 1.5 * 2^e makes f32 arithmetic round at bit e - 23: with e 13 above the value's exponent,
 * or that of the smallest normal f16 if that is larger, at the last bit of an f16.
 */
float grout_gemm__round_f16(float value) {
    uint32_t bits = grout_bits_f32(value), exponent = bits >> 23 & 0xffu;
    if (exponent == 0xffu) {
        return value;
    }
    if (exponent > 127 + 15) {
        return grout_from_bits_f32((bits & 0x80000000u) | 0x7f800000u);
    }
    exponent = exponent < 127 - 14 ? 127 - 14 : exponent;
    float magic = grout_from_bits_f32((exponent + 13) << 23) * 1.5f;
    float rounded = fabsf(value) + magic - magic;
    bool is_too_large = rounded > 65504.0f;
    uint32_t magnitude = is_too_large ? 0x7f800000u : grout_bits_f32(rounded);
    return grout_from_bits_f32((bits & 0x80000000u) | magnitude);
}

/* One column of c for some k. */
static void multiply_column(const grout_gemm *gemm, float *c, const float *a, const float *b,
                            uint32_t count) {
    size_t down = gemm->has_k_rows ? gemm->n : 1;
    for (uint32_t k = 0; k < count; k++, a += gemm->m, b += down) {
        for (uint32_t m = 0; m < gemm->m; m++) {
            c[m] = fmaf(a[m], *b, c[m]);
        }
    }
    for (uint32_t m = 0; gemm->round_step != 0 && m < gemm->m; m++) {
        c[m] = grout_gemm__round_f16(c[m]);
    }
}

static void run_plain(const grout_gemm *gemm, float *c, const float *a, const float *b) {
    uint32_t step = gemm->round_step != 0 ? gemm->round_step : gemm->k;
    size_t across = gemm->has_k_rows ? 1 : gemm->k, down = gemm->has_k_rows ? gemm->n : 1;
    for (uint32_t n = 0; n < gemm->n; n++, c += grout_gemm__get_pitch(gemm), b += across) {
        for (size_t k = 0; k < gemm->k; k += step) {
            multiply_column(gemm, c, a + k * gemm->m, b + k * down, step);
        }
    }
}

/* The sum of the products of two words of two i16 each. */
static uint32_t multiply_words(const float *a, const float *b) {
    int16_t left[2], right[2];
    memcpy(left, a, sizeof left);
    memcpy(right, b, sizeof right);
    return (uint32_t)(left[0] * right[0]) + (uint32_t)(left[1] * right[1]);
}

static void run_integers(const grout_gemm *gemm, float *c, const float *a, const float *b) {
    const size_t m = gemm->m, words = gemm->k / 2, pitch = grout_gemm__get_pitch(gemm);
    for (size_t n = 0; n < gemm->n; n++) {
        for (size_t i = 0; i < m; i++) {
            uint32_t sum;
            memcpy(&sum, &c[n * pitch + i], sizeof sum);
            for (size_t k = 0; k < words; k++) {
                sum += multiply_words(&a[k * m + i], &b[n * words + k]);
            }
            memcpy(&c[n * pitch + i], &sum, sizeof sum);
        }
    }
}

/* What 32 products and an accumulator are as an i32. */
static int32_t clamp(int64_t sum) {
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

/* The products of an instruction added to an element of the accumulator. */
static int32_t add_saturating(int32_t sum, const float *a, size_t m, const float *b) {
    int64_t exact = sum;
    for (size_t k = 0; k < STEP_WORDS; k++) {
        exact += (int32_t)multiply_words(&a[k * m], &b[k]);
    }
    return clamp(exact);
}

static void run_saturating(const grout_gemm *gemm, float *c, const float *a, const float *b) {
    const size_t m = gemm->m, words = gemm->k / 2, pitch = grout_gemm__get_pitch(gemm);
    for (size_t n = 0; n < gemm->n; n++) {
        for (size_t i = 0; i < m; i++) {
            int32_t sum;
            memcpy(&sum, &c[n * pitch + i], sizeof sum);
            for (size_t k = 0; k < words; k += STEP_WORDS) {
                sum = add_saturating(sum, &a[k * m + i], m, &b[n * words + k]);
            }
            memcpy(&c[n * pitch + i], &sum, sizeof sum);
        }
    }
}

static void run_exact(const grout_gemm *gemm, float *c, const float *a, const float *b) {
    const grout_tensor_tiles tiles = {
        .m = gemm->m, .n = gemm->n, .k = gemm->k, .has_k_rows = gemm->has_k_rows};
    grout_tensor_core__multiply(&gemm->core, &tiles, gemm->kind != GROUT_GEMM_PLAIN, c, a, b);
}

/* Exact loops are compiled for AVX2, which is enough for them. */
static void init_exact(grout_gemm *gemm, grout_gemm_kind fastest) {
    const bool is_wide =
        fastest >= GROUT_GEMM_AVX2 && grout_gemm__find_wide(GROUT_GEMM_AVX2, false) != NULL;
    gemm->kind = is_wide ? GROUT_GEMM_AVX2 : GROUT_GEMM_PLAIN;
    gemm->loop = run_exact;
}

void grout_gemm__init(grout_gemm *gemm, grout_gemm_kind fastest) {
    gemm->kind = GROUT_GEMM_PLAIN;
    gemm->loop = gemm->is_saturating ? run_saturating : gemm->is_integer ? run_integers : run_plain;
    gemm->code = NULL;
    if (gemm->group != 0) { /* sparse.c multiplies it */
        gemm->loop = NULL;
        return;
    }
    if (gemm->is_saturating) {
        GROUT_ASSERT(gemm->is_integer && gemm->k / 2 % STEP_WORDS == 0);
        return;
    }
    if (gemm->core.block != 0) {
        init_exact(gemm, fastest);
        return;
    }
    if (fastest >= GROUT_GEMM_LIBXSMM && gemm->m % LIBXSMM_ROWS == 0 &&
        grout_gemm__make_code(gemm)) {
        gemm->kind = GROUT_GEMM_LIBXSMM;
        return;
    }
    for (uint32_t kind = GROUT_GEMM_AVX2; kind <= GROUT_GEMM_AVX512 && kind <= fastest; kind++) {
        if (kind == GROUT_GEMM_AVX512 && gemm->m % AVX512_ROWS != 0) {
            break;
        }
        grout_gemm_loop *loop = grout_gemm__find_wide((grout_gemm_kind)kind, gemm->is_integer);
        if (loop != NULL) {
            gemm->kind = (uint8_t)kind;
            gemm->loop = loop;
        }
    }
}

void grout_gemm__deinit(grout_gemm *gemm) {
    if (gemm->code != NULL) {
        grout_gemm__free_code(gemm);
    }
    gemm->code = NULL;
}

void grout_gemm__run(const grout_gemm *gemm, float *c, const float *a, const float *b) {
    void (*code)(const float *a, const float *b, float *c) = NULL;
    _Static_assert(sizeof code == sizeof gemm->code, "code and data have pointers alike");
    if (gemm->code == NULL) {
        gemm->loop(gemm, c, a, b);
        return;
    }
    memcpy(&code, &gemm->code, sizeof code);
    code(a, b, c);
}

void grout_gemm__unify_nans(float *values, size_t count) {
    const bool may_have = grout_gemm__may_have_nan(values, count);
    for (size_t i = 0; may_have && i < count; i++) {
        const bool is_sum = (grout_bits_f32(values[i]) & QUIET_NAN) == QUIET_NAN;
        values[i] = is_sum ? grout_from_bits_f32(NAN_F32) : values[i];
    }
}
