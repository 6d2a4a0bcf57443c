/*
 * sparse.c - products with a sparse left operand, element by element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse.h"

#include "loops.h"

#include "grout-internal/verify.h"

#include <math.h>
#include <string.h>

#define STEP_MAX        GROUT_TENSOR_CORE_BLOCK_MAX /* what a keeps, of an instruction */
#define INTEGERS_A_STEP 32
#define COLUMNS         8

/* Elements of a in an instruction. */
static uint32_t get_step(const grout_gemm *gemm) {
    return gemm->core.block != 0   ? gemm->core.block
           : gemm->round_step != 0 ? gemm->round_step
           : gemm->is_integer      ? INTEGERS_A_STEP
                                   : 8;
}

static uint32_t get_code(const grout_sparse_tiles *tiles, size_t words, uint32_t m,
                         uint32_t group_index) {
    const uint32_t word = tiles->metadata[m * words + group_index / GROUT_SPARSE_CODES];
    return word >> GROUT_SPARSE_CODE_BITS * (group_index % GROUT_SPARSE_CODES) & 0xfu;
}

uint32_t grout_sparse__get_row(const grout_gemm *gemm, const grout_sparse_tiles *tiles, uint32_t m,
                               uint32_t k) {
    const uint32_t kept = gemm->group / 2u;
    const uint32_t code = get_code(tiles, grout_sparse__count_words(gemm), m, k / kept);
    return k / kept * gemm->group + grout_sparse_get_place(code, gemm->group, k % kept);
}

grout_sparse_problem grout_sparse__find_problem(const uint16_t *metadata, uint32_t rows,
                                                uint32_t words, uint32_t group) {
    const grout_sparse_tiles tiles = {.metadata = metadata};
    for (uint32_t m = 0; m < rows; m++) {
        for (uint32_t i = 0; i < words * GROUT_SPARSE_CODES; i++) {
            const uint32_t code = get_code(&tiles, words, m, i);
            if (!grout_sparse_is_code(code, group)) {
                return (grout_sparse_problem){.row_number = m + 1, .group = i, .code = code};
            }
        }
    }
    return (grout_sparse_problem){0};
}

size_t grout_sparse__find_left(const grout_gemm *gemm, const grout_sparse_tiles *tiles, size_t m,
                               size_t k) {
    return tiles->has_m_rows ? m * gemm->k + k : k * gemm->m + m;
}

size_t grout_sparse__find_right(const grout_gemm *gemm, size_t k, size_t n) {
    return gemm->has_k_rows ? k * gemm->n + n : n * 2 * gemm->k + k;
}

/* What an instruction adds to one element: its elements of a, and where those of b are. */
typedef struct step {
    size_t left[STEP_MAX];
    uint32_t rows[STEP_MAX];
    uint32_t count;
} step;

static float add_block(const grout_gemm *gemm, const grout_sparse_tiles *tiles, const step *its,
                       uint32_t n, float sum) {
    float a[STEP_MAX], b[STEP_MAX];
    for (uint32_t i = 0; i < its->count; i++) {
        a[i] = tiles->a[its->left[i]];
        b[i] = tiles->b[grout_sparse__find_right(gemm, its->rows[i], n)];
    }
    return grout_tensor_core__add_block(&gemm->core, a, 1, b, 1, sum);
}

/* What an instruction adds to neighbouring columns by fast numerics. */
typedef struct strip {
    float a[STEP_MAX];
    const float *b[STEP_MAX]; /* for column 0 */
    size_t at, pitch;         /* from there to the first column, and from one to the next */
    uint32_t count;
    float sums[COLUMNS];
} strip;

typedef void strip_loop(strip *it);

/* Plain ones of C, and for processors with FMA: the same bits. */
#define ADD_STRIP(TARGET, NAME, PITCH)                                                     \
    TARGET static void NAME(strip *it) {                                                   \
        float sums[COLUMNS];                                                               \
        memcpy(sums, it->sums, sizeof sums);                                               \
        for (uint32_t i = 0; i < it->count; i++) {                                         \
            for (uint32_t j = 0; j < COLUMNS; j++) {                                       \
                sums[j] = fmaf(it->a[i], it->b[i][it->at + (size_t)j * (PITCH)], sums[j]); \
            }                                                                              \
        }                                                                                  \
        memcpy(it->sums, sums, sizeof sums);                                               \
    }

ADD_STRIP(, add_strip, it->pitch)
#if GROUT_SIMD_IS_X86
ADD_STRIP(GROUT_SIMD_TARGET_AVX2, add_strip_avx2, it->pitch)
ADD_STRIP(GROUT_SIMD_TARGET_AVX2, add_strip_of_rows_avx2, 1)
#endif

static strip_loop *find_strip_loop(const grout_gemm *gemm) {
#if GROUT_SIMD_IS_X86
    if (grout_simd__has(GROUT_SIMD_AVX2)) {
        return gemm->has_k_rows ? add_strip_of_rows_avx2 : add_strip_avx2;
    }
#endif
    (void)gemm;
    return add_strip;
}

/* N is a multiple of COLUMNS. */
static void add_floats(const grout_gemm *gemm, float *c, const grout_sparse_tiles *tiles,
                       const step *its) {
    strip_loop *loop = find_strip_loop(gemm);
    strip it = {.pitch = grout_sparse__find_right(gemm, 0, 1), .count = its->count};
    for (uint32_t i = 0; i < its->count; i++) {
        it.a[i] = tiles->a[its->left[i]];
        it.b[i] = &tiles->b[grout_sparse__find_right(gemm, its->rows[i], 0)];
    }
    for (uint32_t n = 0; n < gemm->n; n += COLUMNS) {
        for (uint32_t j = 0; j < COLUMNS; j++) {
            it.sums[j] = c[(size_t)(n + j) * gemm->m];
        }
        loop(&it);
        for (uint32_t j = 0; j < COLUMNS; j++) {
            c[(size_t)(n + j) * gemm->m] =
                gemm->round_step != 0 ? grout_gemm__round_f16(it.sums[j]) : it.sums[j];
        }
        it.at += COLUMNS * it.pitch;
    }
}

/* Tiles of integers are i16, two in a word. */
static int16_t get_integer(const float *tile, size_t at) {
    int16_t value;
    memcpy(&value, (const char *)tile + at * sizeof value, sizeof value);
    return value;
}

static float add_integers(const grout_gemm *gemm, const grout_sparse_tiles *tiles, const step *its,
                          uint32_t n, float sum) {
    int32_t before;
    memcpy(&before, &sum, sizeof before);
    int64_t exact = before;
    for (uint32_t i = 0; i < its->count; i++) {
        const int64_t left = get_integer(tiles->a, its->left[i]);
        exact += left * get_integer(tiles->b, grout_sparse__find_right(gemm, its->rows[i], n));
    }
    if (gemm->is_saturating) {
        exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
    }
    const uint32_t after = (uint32_t)(uint64_t)exact;
    memcpy(&sum, &after, sizeof sum);
    return sum;
}

static void run_row(const grout_gemm *gemm, float *c, const grout_sparse_tiles *tiles, uint32_t m) {
    step its = {.count = get_step(gemm)};
    for (uint32_t k = 0; k < gemm->k; k += its.count) {
        for (uint32_t i = 0; i < its.count; i++) {
            its.left[i] = grout_sparse__find_left(gemm, tiles, m, k + i);
            its.rows[i] = grout_sparse__get_row(gemm, tiles, m, k + i);
        }
        const bool is_fast = !gemm->is_integer && gemm->core.block == 0;
        if (is_fast) {
            add_floats(gemm, &c[m], tiles, &its);
        }
        for (uint32_t n = 0; n < gemm->n && !is_fast; n++) {
            float *sum = &c[(size_t)n * gemm->m + m];
            *sum = gemm->is_integer ? add_integers(gemm, tiles, &its, n, *sum)
                                    : add_block(gemm, tiles, &its, n, *sum);
        }
    }
}

void grout_sparse__run(const grout_gemm *gemm, float *c, const grout_sparse_tiles *tiles) {
    for (uint32_t m = 0; m < gemm->m; m++) {
        run_row(gemm, c, tiles, m);
    }
}
