/*
 * scaled.c - products with block scales: by fast numerics a block of many rows at a time, by exact
 * numerics element by element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "scaled.h"

#include "loops.h"
#include "pack.h"

#include <math.h>
#include <string.h>

enum {
    STRIP = 64,
    NAN_SCALE = 0xff,
    BIAS = 127,
    STEP_MAX = GROUT_TENSOR_CORE_GROUPS * GROUT_TENSOR_CORE_GROUP /* of an instruction */
};

/* A scale as fraction * 2^exponent, the fraction in [1, 2), or less of a subnormal f8e4m3. */
typedef struct scale {
    double fraction;
    int32_t exponent;
    bool is_nan;
} scale;

/* The sign of an f8e4m3 does not count. */
static scale get_scale(const grout_gemm *gemm, uint8_t byte) {
    if (gemm->scale_dtype == GROUT_DTYPE_F8E8M0) {
        return (scale){.fraction = 1, .exponent = byte - BIAS, .is_nan = byte == NAN_SCALE};
    }
    const uint8_t rest = byte & 0x7fu;
    const int32_t bits = rest >> 3, exponent = bits == 0 ? -6 : bits - 7;
    return (scale){.fraction = ldexp((double)grout_pack__widen_f8(rest, true), -exponent),
                   .exponent = exponent,
                   .is_nan = rest == 0x7f};
}

static double get_value(const grout_gemm *gemm, uint8_t byte) {
    const scale it = get_scale(gemm, byte);
    return it.is_nan ? (double)NAN : ldexp(it.fraction, it.exponent);
}

static size_t get_right(const grout_gemm *gemm, size_t k, size_t n) {
    return gemm->has_k_rows ? k * gemm->n + n : n * gemm->k + k;
}

/* ---- fast ------------------------------------------------------------------------------------ */

/* A block of K of STRIP rows of a column; the products are exact in f32. */
typedef struct strip {
    float *c;
    const float *a, *b;
    size_t a_step, b_step, count;
    const double *scales;
    double scale;
} strip;

typedef void strip_loop(const strip *it);

/* Plain ones of C, and for processors with AVX2: the same bits. */
#define ADD_STRIP(TARGET, NAME)                                                   \
    TARGET static void NAME(const strip *it) {                                    \
        float sums[STRIP] = {0};                                                  \
        for (size_t k = 0; k < it->count; k++) {                                  \
            const float factor = it->b[k * it->b_step];                           \
            for (size_t i = 0; i < STRIP; i++) {                                  \
                sums[i] = fmaf(it->a[k * it->a_step + i], factor, sums[i]);       \
            }                                                                     \
        }                                                                         \
        for (size_t i = 0; i < STRIP; i++) {                                      \
            const double product = (double)sums[i] * (it->scales[i] * it->scale); \
            it->c[i] = (float)((double)it->c[i] + product);                       \
        }                                                                         \
    }

ADD_STRIP(, add_strip)
#if GROUT_SIMD_IS_X86
ADD_STRIP(GROUT_SIMD_TARGET_AVX2, add_strip_avx2)
#endif

static strip_loop *find_strip_loop(void) {
#if GROUT_SIMD_IS_X86
    if (grout_simd__has(GROUT_SIMD_AVX2)) {
        return add_strip_avx2;
    }
#endif
    return add_strip;
}

/* All columns of STRIP rows of one block. */
static void run_fast(const grout_gemm *gemm, float *c, const grout_scaled_tiles *tiles,
                     size_t block, size_t row) {
    strip_loop *loop = find_strip_loop();
    const size_t blocks = gemm->k / gemm->scale_block, k = block * gemm->scale_block;
    double scales[STRIP];
    for (size_t i = 0; i < STRIP; i++) {
        scales[i] = get_value(gemm, tiles->a_scales[(row + i) * blocks + block]);
    }
    for (size_t n = 0; n < gemm->n; n++) {
        const strip it = {.c = c + n * gemm->m + row,
                          .a = tiles->a + k * gemm->m + row,
                          .b = tiles->b + get_right(gemm, k, n),
                          .a_step = gemm->m,
                          .b_step = gemm->has_k_rows ? gemm->n : 1,
                          .count = gemm->scale_block,
                          .scales = scales,
                          .scale = get_value(gemm, tiles->b_scales[n * blocks + block])};
        loop(&it);
    }
}

/* ---- fast, of a sparse a --------------------------------------------------------------------- */

/* A block of K of a row: what it keeps, and the rows of b that it is multiplied by. */
static void run_sparse_block(const grout_gemm *gemm, float *c, const grout_scaled_tiles *tiles,
                             size_t block, size_t row) {
    const uint32_t count = gemm->scale_block;
    const size_t blocks = gemm->k / count, first = block * count;
    const double a_scale = get_value(gemm, tiles->a_scales[row * blocks + block]);
    float a[STEP_MAX];
    const float *b[STEP_MAX];
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t k = (uint32_t)first + i;
        const uint32_t of_b = grout_sparse__get_row(gemm, tiles->sparse, (uint32_t)row, k);
        a[i] = tiles->a[grout_sparse__find_left(gemm, tiles->sparse, row, k)];
        b[i] = &tiles->b[grout_sparse__find_right(gemm, of_b, 0)];
    }
    const size_t pitch = grout_sparse__find_right(gemm, 0, 1);
    for (size_t n = 0; n < gemm->n; n++) {
        const double b_scale = get_value(gemm, tiles->b_scales[n * blocks + block]);
        float sum = 0, *to = &c[n * gemm->m + row];
        for (uint32_t i = 0; i < count; i++) {
            sum = fmaf(a[i], b[i][n * pitch], sum);
        }
        *to = (float)((double)*to + (double)sum * (a_scale * b_scale));
    }
}

/* ---- exact ----------------------------------------------------------------------------------- */

/* Scales of a place along K, of an element of c. */
typedef struct scale_pair {
    scale a, b;
} scale_pair;

static scale_pair get_pair(const grout_gemm *gemm, const grout_scaled_tiles *tiles, size_t at[3]) {
    const size_t blocks = gemm->k / gemm->scale_block, block = at[2] / gemm->scale_block;
    return (scale_pair){get_scale(gemm, tiles->a_scales[at[0] * blocks + block]),
                        get_scale(gemm, tiles->b_scales[at[1] * blocks + block])};
}

/* The k-th products of an element of c are of these. */
static void find_factors(const grout_gemm *gemm, const grout_scaled_tiles *tiles,
                         const size_t at[3], const float *factors_out[2]) {
    size_t left = at[2] * gemm->m + at[0];
    size_t right = get_right(gemm, at[2], at[1]);
    if (tiles->sparse != NULL) {
        left = grout_sparse__find_left(gemm, tiles->sparse, at[0], at[2]);
        right = grout_sparse__find_right(
            gemm, grout_sparse__get_row(gemm, tiles->sparse, (uint32_t)at[0], (uint32_t)at[2]),
            at[1]);
    }
    factors_out[0] = &tiles->a[left];
    factors_out[1] = &tiles->b[right];
}

/* The products of a group of 16 elements of 4 bits. */
static grout_tensor_group get_group(const grout_gemm *gemm, const grout_scaled_tiles *tiles,
                                    size_t at[3]) {
    const scale_pair pair = get_pair(gemm, tiles, at);
    double sum = 0;
    for (size_t i = 0; i < GROUT_TENSOR_CORE_GROUP; i++) {
        const float *factors[2];
        find_factors(gemm, tiles, (const size_t[]){at[0], at[1], at[2] + i}, factors);
        sum += (double)*factors[0] * (double)*factors[1];
    }
    return (grout_tensor_group){.sum = sum * pair.a.fraction * pair.b.fraction,
                                .exponent = pair.a.exponent + pair.b.exponent,
                                .is_nan = pair.a.is_nan || pair.b.is_nan};
}

static float add_groups(const grout_gemm *gemm, const grout_scaled_tiles *tiles, size_t at[3],
                        float c) {
    grout_tensor_group groups[GROUT_TENSOR_CORE_GROUPS];
    for (uint32_t i = 0; i < GROUT_TENSOR_CORE_GROUPS; i++) {
        size_t place[3] = {at[0], at[1], at[2] + (size_t)i * GROUT_TENSOR_CORE_GROUP};
        groups[i] = get_group(gemm, tiles, place);
    }
    return grout_tensor_core__add_groups(&gemm->core, groups, GROUT_TENSOR_CORE_GROUPS, c);
}

/* An instruction of elements of 8 and 6 bits, whose blocks are as long. */
static float add_products(const grout_gemm *gemm, const grout_scaled_tiles *tiles, size_t at[3],
                          float c) {
    const scale_pair pair = get_pair(gemm, tiles, at);
    float rows[2][GROUT_TENSOR_CORE_BLOCK_MAX];
    grout_tensor_row a = {tiles->a + at[2] * gemm->m + at[0], gemm->m};
    grout_tensor_row b = {tiles->b + get_right(gemm, at[2], at[1]), gemm->has_k_rows ? gemm->n : 1};
    for (size_t i = 0; i < gemm->core.block && tiles->sparse != NULL; i++) {
        const float *factors[2];
        find_factors(gemm, tiles, (const size_t[]){at[0], at[1], at[2] + i}, factors);
        rows[0][i] = *factors[0];
        rows[1][i] = *factors[1];
    }
    if (tiles->sparse != NULL) {
        a = (grout_tensor_row){rows[0], 1};
        b = (grout_tensor_row){rows[1], 1};
    }
    if (pair.a.is_nan || pair.b.is_nan) {
        return grout_tensor_core__add_groups(&gemm->core, &(grout_tensor_group){.is_nan = true}, 1,
                                             c);
    }
    return grout_tensor_core__add_scaled(&gemm->core, &a, &b, pair.a.exponent + pair.b.exponent, c);
}

static void run_exact(const grout_gemm *gemm, float *c, const grout_scaled_tiles *tiles) {
    const bool has_groups = gemm->core.block > GROUT_TENSOR_CORE_BLOCK_MAX;
    for (size_t n = 0; n < gemm->n; n++) {
        for (size_t m = 0; m < gemm->m; m++) {
            float *sum = &c[n * gemm->m + m];
            for (size_t k = 0; k < gemm->k; k += gemm->core.block) {
                size_t at[3] = {m, n, k};
                *sum = has_groups ? add_groups(gemm, tiles, at, *sum)
                                  : add_products(gemm, tiles, at, *sum);
            }
        }
    }
}

void grout_scaled__run(const grout_gemm *gemm, float *c, const grout_scaled_tiles *tiles) {
    if (gemm->core.block != 0) {
        run_exact(gemm, c, tiles);
        return;
    }
    const size_t rows = tiles->sparse != NULL ? 1 : STRIP;
    for (size_t block = 0; block < gemm->k / gemm->scale_block; block++) {
        for (size_t row = 0; row < gemm->m; row += rows) {
            (tiles->sparse != NULL ? run_sparse_block : run_fast)(gemm, c, tiles, block, row);
        }
    }
}
