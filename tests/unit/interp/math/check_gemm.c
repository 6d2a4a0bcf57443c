/* check_gemm.c - every loop that multiplies tiles gives the bits of the definition.
 * SPDX-License-Identifier: Apache-2.0 */
#include "interp/math/gemm.h"
#include "interp/math/pack.h"
#include "tests/tests.h"
#include "tests/unit/support/often.h"
#include "tests/unit/support/run_kernel.h"

#include <math.h>

enum { M_MAX = 256, N_MAX = 256, K_MAX = 256, SAMPLES = 64 };

typedef enum content { SMALL_INTEGERS, BF16, F16, TF32, SPECIAL, CONTENT_COUNT } content;

static uint64_t random_state = 1;
static uint32_t draw(void) {
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(random_state >> 32);
}

static float get_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* What packing makes of random elements of a type; 'special' has subnormals, infinities and NaN. */
static float draw_element(content what) {
    static const uint32_t specials[] = {0x7f800000u, 0xff800000u, 0x7fc00000u, 0x00010000u,
                                        0x80400000u, 0x7f7f0000u, 0x00000000u, 0x80000000u};
    uint32_t bits = draw();
    switch (what) {
    case SMALL_INTEGERS:
        return (float)(bits % 9) - 4.0f;
    case BF16:
        return get_float((bits & 0x807f0000u) | (bits % 24 + 115) << 23);
    case F16:
        return grout_pack__widen_f16((uint16_t)((bits & 0x83ffu) | (bits >> 16) % 24 << 10));
    case TF32:
        return get_float((bits & 0x807fe000u) | (bits % 40 + 107) << 23);
    case SPECIAL:
    case CONTENT_COUNT:
        break;
    }
    return bits % 16 == 0 ? get_float(specials[bits >> 8 & 7]) : get_float(bits & 0xffff0000u);
}

static uint32_t get_bits(float number) {
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static float a[M_MAX * K_MAX], b[N_MAX * K_MAX], start[M_MAX * N_MAX];
static float expected[M_MAX * N_MAX], got[M_MAX * N_MAX];

static void fill(content what, bool is_rounded) {
    for (uint32_t i = 0; i < M_MAX * K_MAX; i++) {
        a[i] = draw_element(what);
    }
    for (uint32_t i = 0; i < N_MAX * K_MAX; i++) {
        b[i] = draw_element(what);
    }
    for (uint32_t i = 0; i < M_MAX * N_MAX; i++) {
        start[i] = is_rounded ? grout_gemm__round_f16(draw_element(what)) : draw_element(what);
    }
}

/* One element, as the definition says it. */
static float define(const grout_gemm *gemm, uint32_t m, uint32_t n) {
    float sum = start[n * gemm->m + m];
    for (uint32_t k = 0; k < gemm->k; k++) {
        float factor = b[gemm->has_k_rows ? k * gemm->n + n : n * gemm->k + k];
        sum = fmaf(a[k * gemm->m + m], factor, sum);
        if (gemm->round_step != 0 && (k + 1) % gemm->round_step == 0) {
            uint16_t half;
            float back[1];
            grout_element_from_double(GROUT_DTYPE_F16, sum, &half);
            back[0] = (float)grout_element_to_double(GROUT_DTYPE_F16, &half);
            sum = back[0];
        }
    }
    return sum;
}

static bool is_same(float x, float y) {
    return (x != x && y != y) || get_bits(x) == get_bits(y);
}

static void assert_equal(const grout_gemm *gemm, const char *against) {
    for (uint32_t i = 0; i < gemm->m * gemm->n; i++) {
        if (!is_same(got[i], expected[i])) {
            ck_abort_msg("%u x %u x %u: %s gives %a at (%u, %u), %s %a", gemm->m, gemm->n, gemm->k,
                         grout_gemm__get_text(gemm->kind), (double)got[i], i % gemm->m, i / gemm->m,
                         against, (double)expected[i]);
        }
    }
}

/* All loops of a shape against the first wide one, and that against the definition. */
static void compare_order(uint32_t m, uint32_t n, uint32_t k, uint8_t round_step, bool has_k_rows) {
    size_t size = (size_t)m * n * sizeof(float);
    const grout_gemm shape = {
        .m = m, .n = n, .k = k, .has_k_rows = has_k_rows, .round_step = round_step};
    const char *against = NULL;
    for (uint32_t kind = GROUT_GEMM_KIND_COUNT; kind-- > 0;) {
        grout_gemm gemm = shape;
        bool is_small = (uint64_t)m * n * k <= 64ull * 64 * 64;
        grout_gemm__init(&gemm, (grout_gemm_kind)kind);
        if (gemm.kind == kind && (kind != GROUT_GEMM_PLAIN || is_small)) {
            memcpy(got, start, size);
            grout_gemm__run(&gemm, got, a, b);
            if (against == NULL) {
                memcpy(expected, got, size);
                against = grout_gemm__get_text((grout_gemm_kind)kind);
            }
            assert_equal(&gemm, against);
        }
        grout_gemm__deinit(&gemm);
    }
    for (uint32_t i = 0; against != NULL && i < SAMPLES; i++) {
        uint32_t row = draw() % m, col = draw() % n;
        ASSERT_OFTEN(is_same(expected[col * m + row], define(&shape, row, col)));
    }
}

static void compare(uint32_t m, uint32_t n, uint32_t k, uint8_t round_step) {
    compare_order(m, n, k, round_step, false);
    compare_order(m, n, k, round_step, true);
}

/* Columns of c that lie apart: the same sums, and nothing between them changes. */
static void compare_apart(const grout_gemm *shape) {
    enum { GAP = 32 };
    static float apart[(M_MAX + GAP) * N_MAX];
    for (uint32_t kind = GROUT_GEMM_PLAIN; kind < GROUT_GEMM_KIND_COUNT; kind++) {
        grout_gemm dense = *shape, gemm = *shape;
        gemm.pitch = shape->m + GAP;
        grout_gemm__init(&dense, GROUT_GEMM_PLAIN);
        grout_gemm__init(&gemm, (grout_gemm_kind)kind);
        memset(apart, 0, sizeof apart);
        for (size_t n = 0; n < shape->n; n++) {
            memcpy(&apart[n * gemm.pitch], &start[n * shape->m], shape->m * sizeof *apart);
        }
        memcpy(expected, start, (size_t)shape->m * shape->n * sizeof *start);
        grout_gemm__run(&dense, expected, a, b);
        grout_gemm__run(&gemm, apart, a, b);
        for (uint32_t i = 0; i < shape->n * gemm.pitch; i++) {
            const uint32_t m = i % gemm.pitch, n = i / gemm.pitch;
            const float wanted = m < shape->m ? expected[n * shape->m + m] : 0.0f;
            ASSERT_OFTEN(shape->is_integer ? get_bits(apart[i]) == get_bits(wanted)
                                           : is_same(apart[i], wanted));
        }
        grout_gemm__deinit(&gemm);
        grout_gemm__deinit(&dense);
    }
}

TEST_EACH(columns_may_lie_apart, CONTENT_COUNT) {
    fill((content)(_i % CONTENT_COUNT), false);
    compare_apart(&(grout_gemm){.m = 64, .n = 64, .k = 32});
    compare_apart(&(grout_gemm){.m = 128, .n = 64, .k = 16, .has_k_rows = true});
    compare_apart(&(grout_gemm){.m = 96, .n = 8, .k = 24});
    compare_apart(&(grout_gemm){.m = 16, .n = 128, .k = 8});
    compare_apart(&(grout_gemm){.m = 32, .n = 64, .k = 64, .is_integer = true});
    compare_apart(&(grout_gemm){.m = 48, .n = 8, .k = 32, .is_integer = true});
    compare_apart(
        &(grout_gemm){.m = 32, .n = 8, .k = 64, .is_integer = true, .is_saturating = true});
}

/* The one NaN of the tensor core; other values stay, and NaNs that no sum is. */
TEST(nans_become_one) {
    static const uint32_t others[] = {0x7f800000u, 0xff800000u, 0x80000000u, 0x7f800001u,
                                      0x7f7fffffu};
    static const uint32_t nans[] = {0x7fc00000u, 0xffc00001u, 0x7fc01234u, 0xffffffffu};
    for (uint32_t at = 0; at < 48; at++) {
        for (uint32_t i = 0; i < 48; i++) {
            got[i] = get_float(others[i % 5]);
        }
        got[at] = get_float(nans[at % 4]);
        grout_gemm__unify_nans(got, 48);
        for (uint32_t i = 0; i < 48; i++) {
            ASSERT_OFTEN(get_bits(got[i]) == (i == at ? 0x7fffffffu : others[i % 5]));
        }
    }
}

/* Every N there is, and M of an instruction; M of several with every third N, of each content
 * others. */
TEST_EACH(all_loops_give_the_same_bits, CONTENT_COUNT) {
    static const uint32_t depths[] = {8, 16, 24, 32, 40, 48, 64, 96, 128, 256};
    fill((content)(_i % CONTENT_COUNT), false);
    for (uint32_t m = 64; m <= M_MAX; m += 64) {
        for (uint32_t n = 8; n <= N_MAX; n += 8) {
            uint32_t turn = n / 8 + m / 64 + (uint32_t)_i;
            if (m == 64 || turn % 3 == 0) {
                compare(m, n, depths[turn % 10], 0);
            }
        }
    }
    compare(64, 8, depths[_i % 10], 0);
    for (uint32_t m = 16; m <= 112; m += 16) { /* of an mma of one or two warps */
        compare(m, 24, depths[(m / 16 + (uint32_t)_i) % 10], 0);
    }
}

TEST_EACH(f16_accumulators_round_at_each_step, CONTENT_COUNT) {
    fill((content)(_i % CONTENT_COUNT), true);
    for (uint32_t n = 8; n <= N_MAX; n += 24) {
        compare(64, n, 16, 16);
        compare(128, n, 64, 16);
        compare(64, n, 64, 32);
    }
    compare(64, 64, 48, 16);
    compare(16, 40, 48, 16);
    compare(32, 8, 64, 32);
}

/* ---- integers ---- */

/* Two i16 of a word. */
static int32_t get_part(const float *word, uint32_t k) {
    int16_t parts[2];
    memcpy(parts, word, sizeof parts);
    return parts[k % 2];
}

static uint32_t define_integer(const grout_gemm *gemm, uint32_t m, uint32_t n) {
    uint32_t sum = get_bits(start[n * gemm->m + m]);
    for (uint32_t k = 0; k < gemm->k; k++) {
        sum += (uint32_t)(get_part(&a[k / 2 * gemm->m + m], k) *
                          get_part(&b[n * (gemm->k / 2) + k / 2], k));
    }
    return sum;
}

/* Words of what i8 and u8 widen to, the extremes often. */
static float draw_word(void) {
    static const int16_t extremes[] = {-128, 127, 255, 0};
    int16_t parts[2];
    float word;
    for (uint32_t k = 0; k < 2; k++) {
        const uint32_t bits = draw();
        const int32_t other = (int32_t)(bits % 384) - 128;
        parts[k] = (int16_t)(bits % 3 == 0 ? extremes[bits >> 8 & 3] : other);
    }
    memcpy(&word, parts, sizeof word);
    return word;
}

static void compare_integers(uint32_t m, uint32_t n, uint32_t k) {
    for (uint32_t kind = GROUT_GEMM_PLAIN; kind <= GROUT_GEMM_AVX512; kind++) {
        grout_gemm gemm = {.m = m, .n = n, .k = k, .is_integer = true};
        grout_gemm__init(&gemm, (grout_gemm_kind)kind);
        memcpy(got, start, (size_t)m * n * sizeof(float));
        grout_gemm__run(&gemm, got, a, b);
        for (uint32_t i = 0; i < m * n; i += 1 + draw() % 16) {
            ASSERT_OFTEN(get_bits(got[i]) == define_integer(&gemm, i % m, i / m));
        }
        grout_gemm__deinit(&gemm);
    }
}

TEST(integers_wrap) {
    for (uint32_t i = 0; i < M_MAX * K_MAX; i++) {
        a[i] = draw_word();
        b[i] = draw_word();
    }
    for (uint32_t i = 0; i < M_MAX * N_MAX; i++) { /* some near the ends of an i32 */
        start[i] = get_float(draw() % 2 == 0 ? draw() : 0x7fffffffu + draw() % 4);
    }
    for (uint32_t n = 8; n <= N_MAX; n += 24) {
        compare_integers(64, n, 32 + n % 3 * 64);
    }
    compare_integers(192, 256, 128);
    compare_integers(16, 24, 96);
    compare_integers(32, 8, 64);
    compare_integers(48, 64, 32);
}

/* As a cast to f16 does. */
TEST(rounding_is_that_of_f16) {
    for (uint32_t i = 0; i < 400000; i++) {
        uint32_t exponent = i % 3 == 0 ? draw() % 256 : 95 + draw() % 60;
        float value = get_float((draw() & 0x807fffffu) | exponent << 23);
        if (i % 5 == 0) { /* halfway between two */
            uint32_t bits;
            memcpy(&bits, &value, sizeof bits);
            value = get_float((bits & 0xffffe000u) | 0x1000u);
        }
        uint16_t half;
        grout_element_from_double(GROUT_DTYPE_F16, value, &half);
        float wanted = (float)grout_element_to_double(GROUT_DTYPE_F16, &half);
        ASSERT_OFTEN(is_same(grout_gemm__round_f16(value), wanted));
        ASSERT_OFTEN(value != value || grout_pack__narrow_f16(wanted) == half);
    }
    for (uint32_t half = 0; half < 65536; half++) {
        ASSERT_OFTEN(grout_pack__narrow_f16(grout_pack__widen_f16((uint16_t)half)) == half);
    }
}
