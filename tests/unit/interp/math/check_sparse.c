/* check_sparse.c - products with a sparse left operand against the dense product of the same matrix
 * with its zeros, and the codes of metadata.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/sparse.h"

#include "grout-internal/verify.h"
#include "tests/tests.h"
#include "tests/unit/support/run_kernel.h"

enum { M = 64, N = 8, KEPT = 64, DEPTH = 2 * KEPT, GROUPS = 4 };

static uint64_t random_state = 1;
static uint32_t draw(uint32_t limit) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32) % limit;
}

/* A matrix as a keeps it and as it is, with the metadata that says how. */
typedef struct matrices {
    float kept[M][KEPT], whole[M][DEPTH], b[DEPTH][N], c[N][M], wanted[N][M];
    uint16_t metadata[M][DEPTH / 8];
} matrices;

/* A code of a group, and the places that it names. */
static uint32_t draw_code(uint32_t group, uint32_t places[2]) {
    if (group == 2) {
        places[0] = draw(2);
        return places[0] == 0 ? 0x4 : 0xe;
    }
    places[0] = draw(4);
    places[1] = (places[0] + 1 + draw(3)) % 4;
    return places[0] | places[1] << 2;
}

static void fill(matrices *its, uint32_t group) {
    const uint32_t words = DEPTH / (GROUPS * group);
    uint16_t *metadata = &its->metadata[0][0];
    memset(its, 0, sizeof *its);
    for (uint32_t m = 0; m < M; m++) {
        for (uint32_t i = 0; i < DEPTH / group; i++) {
            uint32_t places[2];
            const uint32_t code = draw_code(group, places);
            metadata[m * words + i / GROUPS] |= (uint16_t)(code << i % GROUPS * 4);
            for (uint32_t k = 0; k < group / 2; k++) {
                const float value = (float)draw(15) - 7.0f;
                its->kept[m][i * group / 2 + k] = value;
                its->whole[m][i * group + places[k]] = value;
            }
        }
    }
    for (uint32_t i = 0; i < DEPTH * N; i++) {
        its->b[i / N][i % N] = (float)draw(15) - 7.0f;
    }
    for (uint32_t i = 0; i < M * N; i++) {
        its->c[i / M][i % M] = (float)draw(15) - 7.0f;
    }
    memcpy(its->wanted, its->c, sizeof its->wanted);
    for (uint32_t i = 0; i < M * N * DEPTH; i++) {
        const uint32_t m = i / DEPTH % M, n = i / DEPTH / M, k = i % DEPTH;
        its->wanted[n][m] += its->whole[m][k] * its->b[k][n];
    }
}

static void turn(const float *from, uint32_t rows, uint32_t cols, float *to) {
    for (uint32_t i = 0; i < rows * cols; i++) {
        to[i % cols * rows + i / cols] = from[i];
    }
}

/* Small integers, so that every sum is exact: by fast and by exact numerics, in every order. */
TEST_EACH(floats_are_those_of_the_whole_matrix, 16) {
    static matrices its;
    static float a[KEPT * M], b[N * DEPTH];
    const uint32_t group = (_i & 1) != 0 ? 2 : 4;
    fill(&its, group);
    grout_gemm gemm = {.m = M, .n = N, .k = KEPT, .group = (uint8_t)group};
    gemm.has_k_rows = (_i & 2) != 0;
    if ((_i & 8) != 0) {
        const grout_dtype dtype = group == 2 ? GROUT_DTYPE_F32 : GROUT_DTYPE_BF16;
        gemm.core = grout_tensor_core__get(dtype, dtype, GROUT_DTYPE_F32);
    }
    grout_gemm__init(&gemm, GROUT_GEMM_LIBXSMM);
    const grout_sparse_tiles tiles = {.a = (_i & 4) != 0 ? &its.kept[0][0] : a,
                                      .b = gemm.has_k_rows ? &its.b[0][0] : b,
                                      .metadata = &its.metadata[0][0],
                                      .has_m_rows = (_i & 4) != 0};
    turn(&its.kept[0][0], M, KEPT, a);
    turn(&its.b[0][0], DEPTH, N, b);
    grout_sparse__run(&gemm, &its.c[0][0], &tiles);
    ck_assert_mem_eq(its.c, its.wanted, sizeof its.c);
    grout_gemm__deinit(&gemm);
}

/* i16, two in a word; with saturation the sums stop after every 32 that a keeps. */
TEST_EACH(integers_wrap_or_stop, 2) {
    static matrices its;
    static int16_t a[M][KEPT], b[N][DEPTH];
    fill(&its, 4);
    grout_gemm gemm = {.m = M, .n = N, .k = KEPT, .group = 4, .is_integer = true};
    gemm.is_saturating = _i == 1;
    grout_gemm__init(&gemm, GROUT_GEMM_LIBXSMM);
    for (uint32_t i = 0; i < M * KEPT; i++) {
        a[i / KEPT][i % KEPT] = (int16_t)its.kept[i / KEPT][i % KEPT];
    }
    for (uint32_t i = 0; i < N * DEPTH; i++) {
        b[i / DEPTH][i % DEPTH] = (int16_t)its.b[i % DEPTH][i / DEPTH];
    }
    const grout_sparse_tiles tiles = {.a = (const float *)(const void *)a,
                                      .b = (const float *)(const void *)b,
                                      .metadata = &its.metadata[0][0],
                                      .has_m_rows = true};
    static int32_t c[N][M];
    for (uint32_t i = 0; i < N * M; i++) {
        c[i / M][i % M] = INT32_MAX - 20;
    }
    grout_sparse__run(&gemm, (float *)(void *)c, &tiles);
    for (uint32_t i = 0; i < N * M; i++) {
        int64_t sum = INT32_MAX - 20;
        for (uint32_t k = 0; k < DEPTH; k++) {
            sum += (int64_t)its.whole[i % M][k] * (int64_t)its.b[k][i / M];
            if (k % (DEPTH / 2) == DEPTH / 2 - 1 && gemm.is_saturating) {
                sum = sum > INT32_MAX ? INT32_MAX : sum;
            }
        }
        ck_assert_int_eq(c[i / M][i % M], (int32_t)(uint32_t)(uint64_t)sum);
    }
}

/* 12 of the 16 codes name two different places of 4, and two say which of 2. */
TEST(codes_that_say_something) {
    for (uint32_t code = 0; code < 16; code++) {
        uint16_t words[2 * 3] = {0x4e4e, 0x4e4e, 0x4e4e, 0x4e4e, 0x4e4e, 0x4e4e};
        words[4] = (uint16_t)(0x4e0e | code << 4);
        for (uint32_t group = 2; group <= 4; group += 2) {
            const bool is_code = group == 2 ? code == 0x4 || code == 0xe : code % 4 != code / 4;
            const grout_sparse_problem problem = grout_sparse__find_problem(words, 2, 3, group);
            ck_assert_uint_eq(problem.row_number, is_code ? 0 : 2);
            ck_assert_uint_eq(problem.group, is_code ? 0 : 5);
            ck_assert_uint_eq(problem.code, is_code ? 0 : code);
        }
    }
}
