/*
 * sparse.c - products with a sparse left operand, element by element.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "sparse.h"

#include "grout/verify.h"

#include <math.h>
#include <string.h>

#define STEP_MAX        GROUT_TENSOR_CORE_BLOCK_MAX /* what a keeps, of an instruction */
#define INTEGERS_A_STEP 32

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

static size_t get_left(const grout_gemm *gemm, const grout_sparse_tiles *tiles, size_t m,
                       size_t k) {
    return tiles->has_m_rows ? m * gemm->k + k : k * gemm->m + m;
}

static size_t get_right(const grout_gemm *gemm, size_t k, size_t n) {
    return gemm->has_k_rows ? k * gemm->n + n : n * 2 * gemm->k + k;
}

/* What an instruction adds to one element: its elements of a, and where those of b are. */
typedef struct step {
    size_t left[STEP_MAX];
    uint32_t rows[STEP_MAX];
    uint32_t count;
} step;

static float add_floats(const grout_gemm *gemm, const grout_sparse_tiles *tiles, const step *its,
                        uint32_t n, float sum) {
    float a[STEP_MAX], b[STEP_MAX];
    for (uint32_t i = 0; i < its->count; i++) {
        a[i] = tiles->a[its->left[i]];
        b[i] = tiles->b[get_right(gemm, its->rows[i], n)];
    }
    if (gemm->core.block != 0) {
        return grout_tensor_core__add_block(&gemm->core, a, 1, b, 1, sum);
    }
    for (uint32_t i = 0; i < its->count; i++) {
        sum = fmaf(a[i], b[i], sum);
    }
    return gemm->round_step != 0 ? grout_gemm__round_f16(sum) : sum;
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
        exact += left * get_integer(tiles->b, get_right(gemm, its->rows[i], n));
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
            its.left[i] = get_left(gemm, tiles, m, k + i);
            its.rows[i] = grout_sparse__get_row(gemm, tiles, m, k + i);
        }
        for (uint32_t n = 0; n < gemm->n; n++) {
            float *sum = &c[(size_t)n * gemm->m + m];
            *sum = gemm->is_integer ? add_integers(gemm, tiles, &its, n, *sum)
                                    : add_floats(gemm, tiles, &its, n, *sum);
        }
    }
}

void grout_sparse__run(const grout_gemm *gemm, float *c, const grout_sparse_tiles *tiles) {
    for (uint32_t m = 0; m < gemm->m; m++) {
        run_row(gemm, c, tiles, m);
    }
}
