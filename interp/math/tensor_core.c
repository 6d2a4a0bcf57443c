/*
 * tensor_core.c - products as the tensor core makes them: many at a time where all is finite and
 * normal, else one by one.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * Products are exact in f64: each factor has 11 bits or fewer. Scaled by 2^(fraction - E) a term is
 * less than 2^(fraction + 2), so its integer part fits an int32, and so does a sum of EIGHT.
 */
#include "tensor_core.h"
#include "gemm.h"

#include "grout/num.h"
#include "invariant.h"

#include <math.h>
#include <string.h>

enum {
    ROWS = 64,          /* rows that are worked on together */
    EIGHT = 8,          /* terms of an int32 sum */
    OF_ZERO = -8000,    /* exponent of what takes no part in the largest */
    OF_SPECIAL = 30000, /* of an infinity or NaN: stays above LARGE whatever it is added to */
    LARGE = 10000,
    F32_LEAST = -126,
    F16_LEAST = -14
};

#define NAN_F32 0x7fffffffu

/* ---- rules ----------------------------------------------------------------------------------- */

static int16_t get_least(grout_dtype dtype) {
    if (dtype == GROUT_DTYPE_F8E4M3) {
        return -6;
    }
    if (dtype == GROUT_DTYPE_F6E3M2) {
        return -2;
    }
    if (dtype == GROUT_DTYPE_F6E2M3 || dtype == GROUT_DTYPE_F4E2M1) {
        return 0;
    }
    return dtype == GROUT_DTYPE_F16 || dtype == GROUT_DTYPE_F8E5M2 ? F16_LEAST : F32_LEAST;
}

grout_tensor_core grout_tensor_core__get(grout_dtype a, grout_dtype b, grout_dtype accumulator) {
    const uint32_t bytes = grout_dtype_get_info(a)->bytes;
    const bool is_half = accumulator == GROUT_DTYPE_F16, is_byte = bytes == 1;
    /* The adder has 7 bits above the unit of its largest exponent, and its top is never placed
     * below the least exponent of the result. */
    const int16_t least_out = is_half ? F16_LEAST : F32_LEAST;
    return (grout_tensor_core){.block = (uint8_t)(32 / bytes),
                               .fraction = is_byte ? 13 : 25,
                               .out_bits = is_half   ? 10
                                           : is_byte ? 13
                                                     : 23,
                               .is_half = is_half,
                               .least_a = get_least(a),
                               .least_b = get_least(b),
                               .least_out = least_out,
                               .floor = (int16_t)(least_out - 7)};
}

grout_tensor_core grout_tensor_core__get_tcgen05(grout_dtype a, grout_dtype b,
                                                 grout_dtype accumulator, bool has_groups) {
    grout_tensor_core core = grout_tensor_core__get(a, b, accumulator);
    core.fraction = has_groups ? 35 : 25;
    core.block = has_groups ? GROUT_TENSOR_CORE_GROUPS * GROUT_TENSOR_CORE_GROUP : core.block;
    core.out_bits = core.is_half ? 10 : 23;
    return core;
}

grout_tensor_core grout_tensor_core__get_mma(grout_dtype a, grout_dtype b,
                                             grout_dtype accumulator) {
    if (grout_dtype_get_info(a)->bytes != 1) {
        return grout_tensor_core__get(a, b, accumulator);
    }
    grout_tensor_core core = grout_tensor_core__get(GROUT_DTYPE_F16, GROUT_DTYPE_F16, accumulator);
    core.is_split = true;
    return core;
}

bool grout_tensor_core__is_same(const grout_tensor_core *one, const grout_tensor_core *other) {
    return one->block == other->block && one->fraction == other->fraction &&
           one->out_bits == other->out_bits && one->is_half == other->is_half &&
           one->is_split == other->is_split && one->least_a == other->least_a &&
           one->least_b == other->least_b;
}

/* Where the k-th product of a block is, from the block's first one on. */
static inline size_t get_place(const grout_tensor_core *core, size_t k) {
    return core->is_split ? k / 2 * 4 + k % 2 : k;
}

/* ---- one value ------------------------------------------------------------------------------- */

static inline int32_t get_exponent(float value, int32_t least) {
    const uint32_t bits = grout_bits_f32(value) & 0x7fffffffu;
    const int32_t exponent = (int32_t)(bits >> 23) - 127;
    const int32_t finite = exponent < least ? least : exponent;
    return bits >= 0x7f800000u ? OF_SPECIAL : bits == 0 ? OF_ZERO : finite;
}

static inline double get_finite(float value) {
    return (grout_bits_f32(value) & 0x7f800000u) == 0x7f800000u ? 0.0 : (double)value;
}

/* 2^exponent, for what a double has as a normal number. */
static inline double get_power(int32_t exponent) {
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static float make_special(uint32_t bits) {
    return grout_from_bits_f32(bits);
}

/* A sum that is exact as the accumulator's type keeps it. */
static float round_sum(const grout_tensor_core *core, double sum) {
    if (sum == 0) {
        return 0.0f;
    }
    int exponent = 0;
    (void)frexp(sum, &exponent);
    exponent = exponent - 1 < core->least_out ? core->least_out : exponent - 1;
    const int last = exponent - core->out_bits;
    const double scaled = ldexp(sum, -last);
    const double kept = ldexp(core->is_half ? nearbyint(scaled) : trunc(scaled), last);
    const double limit = core->is_half ? 0x1p16 : 0x1p128;
    if (fabs(kept) >= limit) {
        return make_special(kept < 0 ? 0xff800000u : 0x7f800000u);
    }
    return kept == 0 ? 0.0f : (float)kept; /* what is cut to 0 loses its sign */
}

/* Infinities and NaN among the terms. */
typedef struct specials {
    bool has_nan, has_plus, has_minus;
} specials;

static void note_special(specials *found, float value) {
    found->has_nan |= isnan(value);
    found->has_plus |= isinf(value) && value > 0;
    found->has_minus |= isinf(value) && value < 0;
}

/* All that is not finite among the terms: what the sum is then. */
static float get_special_sum(const specials *found) {
    if (found->has_nan || (found->has_plus && found->has_minus)) {
        return make_special(NAN_F32);
    }
    return make_special(found->has_minus ? 0xff800000u : 0x7f800000u);
}

static bool has_special(const specials *found) {
    return found->has_nan || found->has_plus || found->has_minus;
}

float grout_tensor_core__add_scaled(const grout_tensor_core *core, const grout_tensor_row *a,
                                    const grout_tensor_row *b, int32_t scale, float c) {
    int32_t top = get_exponent(c, core->least_out);
    specials found = {0};
    note_special(&found, c);
    for (size_t k = 0; k < core->block; k++) {
        const size_t place = get_place(core, k);
        const float x = a->first[place * a->step], y = b->first[place * b->step];
        const int32_t exponent =
            get_exponent(x, core->least_a) + get_exponent(y, core->least_b) + scale;
        if (exponent > LARGE) {
            note_special(&found, x * y);
        }
        top = exponent > top ? exponent : top;
    }
    if (has_special(&found)) {
        return get_special_sum(&found);
    }
    top = top < core->floor ? core->floor : top;
    const double unit = get_power(core->fraction - top), scaled = get_power(scale) * unit;
    double sum = trunc((double)c * unit);
    for (size_t k = 0; k < core->block; k++) {
        const size_t place = get_place(core, k);
        sum +=
            trunc((double)a->first[place * a->step] * (double)b->first[place * b->step] * scaled);
    }
    return round_sum(core, sum * get_power(top - core->fraction));
}

float grout_tensor_core__add_block(const grout_tensor_core *core, const float *a, size_t a_step,
                                   const float *b, size_t b_step, float c) {
    const grout_tensor_row left = {a, a_step}, right = {b, b_step};
    return grout_tensor_core__add_scaled(core, &left, &right, 0, c);
}

float grout_tensor_core__add_groups(const grout_tensor_core *core, const grout_tensor_group *groups,
                                    uint32_t count, float c) {
    int32_t top = get_exponent(c, core->least_out);
    specials found = {0};
    note_special(&found, c);
    for (uint32_t i = 0; i < count; i++) {
        found.has_nan |= groups[i].is_nan;
        top = groups[i].exponent > top ? groups[i].exponent : top;
    }
    if (has_special(&found)) {
        return get_special_sum(&found);
    }
    double sum = trunc((double)c * get_power(core->fraction - top));
    for (uint32_t i = 0; i < count; i++) {
        sum += trunc(groups[i].sum * get_power(core->fraction + groups[i].exponent - top));
    }
    return round_sum(core, sum * get_power(top - core->fraction));
}

/* ---- many ------------------------------------------------------------------------------------ */

/* A block of K of the left operand for some rows, and of one column of the right one. */
typedef struct block {
    double a[GROUT_TENSOR_CORE_BLOCK_MAX][ROWS];
    int32_t a_exponents[GROUT_TENSOR_CORE_BLOCK_MAX][ROWS];
    double b[GROUT_TENSOR_CORE_BLOCK_MAX];
    int32_t b_exponents[GROUT_TENSOR_CORE_BLOCK_MAX];
} block;

#if defined(__GNUC__)
#define ALWAYS_INLINE __attribute__((always_inline)) static inline
#else
#define ALWAYS_INLINE static inline
#endif

ALWAYS_INLINE void take_rows(const grout_tensor_core *core, block *it, const float *a, size_t m) {
    for (size_t k = 0; k < core->block; k++) {
        for (size_t i = 0; i < ROWS; i++) {
            const float value = a[get_place(core, k) * m + i];
            it->a[k][i] = get_finite(value);
            it->a_exponents[k][i] = get_exponent(value, core->least_a);
        }
    }
}

ALWAYS_INLINE void take_column(const grout_tensor_core *core, block *it, const float *b,
                               size_t step) {
    for (size_t k = 0; k < core->block; k++) {
        const float value = b[get_place(core, k) * step];
        it->b[k] = get_finite(value);
        it->b_exponents[k] = get_exponent(value, core->least_b);
    }
}

/* The largest exponent of each row, not less than the floor. */
ALWAYS_INLINE void find_tops(const grout_tensor_core *core, const block *it, const float *c,
                             int32_t *tops) {
    for (size_t i = 0; i < ROWS; i++) {
        const int32_t exponent = get_exponent(c[i], core->least_out);
        tops[i] = exponent < core->floor ? core->floor : exponent;
    }
    for (size_t k = 0; k < core->block; k++) {
        const int32_t other = it->b_exponents[k];
        for (size_t i = 0; i < ROWS; i++) {
            const int32_t exponent = it->a_exponents[k][i] + other;
            tops[i] = exponent > tops[i] ? exponent : tops[i];
        }
    }
}

/* The sums of terms cut at 2^(top - fraction), in units of it. */
ALWAYS_INLINE void add_terms(const grout_tensor_core *core, const block *it, const float *c,
                             const double *scales, double *sums) {
    for (size_t i = 0; i < ROWS; i++) {
        sums[i] = (double)(int32_t)(get_finite(c[i]) * scales[i]);
    }
    for (size_t k = 0; k < core->block; k += EIGHT) {
        const size_t end = k + EIGHT < core->block ? k + EIGHT : core->block;
        int32_t part[ROWS] = {0};
        for (size_t j = k; j < end; j++) {
            const double factor = it->b[j];
            for (size_t i = 0; i < ROWS; i++) {
                part[i] += (int32_t)(it->a[j][i] * factor * scales[i]);
            }
        }
        for (size_t i = 0; i < ROWS; i++) {
            sums[i] += part[i];
        }
    }
}

/* A sum in the range of normal results, cut or rounded to the bits that are kept. */
ALWAYS_INLINE double round_normal(const grout_tensor_core *core, double sum) {
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    if (core->is_half) {
        /* Adding 1.5 * 2^(e + 42) leaves the last bit at 2^(e - 10). */
        const uint64_t magic_bits =
            (bits & (UINT64_C(0x7ff) << 52)) + (UINT64_C(42) << 52) + (UINT64_C(1) << 51);
        double magic;
        memcpy(&magic, &magic_bits, sizeof magic);
        return sum + magic - magic;
    }
    bits &= ~UINT64_C(0) << (52 - core->out_bits);
    memcpy(&sum, &bits, sizeof sum);
    return sum;
}

/* Results of rows; returns whether any has to be made one by one. */
ALWAYS_INLINE bool round_rows(const grout_tensor_core *core, const int32_t *tops,
                              const double *sums, float *c, uint8_t *is_odd) {
    const double least = core->is_half ? 0x1p-14 : 0x1p-126;
    const double limit = core->is_half ? 0x1p15 : 0x1p127;
    uint8_t any = 0;
    for (size_t i = 0; i < ROWS; i++) {
        const double sum = sums[i] * get_power(tops[i] > LARGE ? 0 : tops[i] - core->fraction);
        const double size = fabs(sum);
        const bool is_normal = (size >= least) & (size < limit);
        const bool is_zero = size == 0;
        is_odd[i] = (uint8_t)((tops[i] > LARGE) | !(is_normal | is_zero));
        any |= is_odd[i];
        c[i] = is_odd[i] ? c[i] : (float)round_normal(core, is_normal ? sum : 0.0);
    }
    return any != 0;
}

/* One block of both operands where it lies: rows of a m apart, elements of b down apart. */
typedef struct place {
    const float *a, *b;
    size_t m, down;
} place;

/* One block of K of ROWS rows of a column. */
ALWAYS_INLINE void add_column(const grout_tensor_core *core, block *it, float *c, place at) {
    int32_t tops[ROWS];
    double scales[ROWS], sums[ROWS];
    float before[ROWS];
    uint8_t is_odd[ROWS];
    take_column(core, it, at.b, at.down);
    find_tops(core, it, c, tops);
    for (size_t i = 0; i < ROWS; i++) {
        scales[i] = tops[i] > LARGE ? 0.0 : get_power(core->fraction - tops[i]);
    }
    add_terms(core, it, c, scales, sums);
    memcpy(before, c, sizeof before);
    if (!round_rows(core, tops, sums, c, is_odd)) {
        return;
    }
    for (size_t i = 0; i < ROWS; i++) {
        if (is_odd[i]) {
            c[i] = grout_tensor_core__add_block(core, at.a + i, at.m, at.b, at.down, before[i]);
        }
    }
}

/* Two blocks of one instruction, whose sum is added to the column as f32 and f16 are. */
ALWAYS_INLINE void add_halves(const grout_tensor_core *core, block *its, float *c, place at) {
    float sums[ROWS] = {0};
    for (size_t half = 0; half < 2; half++) {
        add_column(core, &its[half], sums, at);
        at.a += 2 * at.m;
        at.b += 2 * at.down;
    }
    for (size_t i = 0; i < ROWS; i++) {
        const float sum = c[i] + sums[i];
        c[i] = core->is_half ? grout_gemm__round_f16(sum) : sum;
    }
}

/* An instruction's blocks added to the column. */
ALWAYS_INLINE void add_step(const grout_tensor_core *core, block *its, float *c, place at) {
    if (core->is_split) {
        add_halves(core, its, c, at);
    } else {
        add_column(core, &its[0], c, at);
    }
}

ALWAYS_INLINE void multiply(const grout_tensor_core *core, const grout_tensor_tiles *tiles,
                            float *c, const float *a, const float *b) {
    const size_t m = tiles->m, across = tiles->has_k_rows ? 1 : tiles->k;
    const size_t down = tiles->has_k_rows ? tiles->n : 1;
    const size_t step = grout_tensor_core__get_step(core);
    block its[2];
    for (size_t k = 0; k < tiles->k; k += step) {
        for (size_t row = 0; row < m; row += ROWS) {
            take_rows(core, &its[0], a + k * m + row, m);
            if (core->is_split) {
                take_rows(core, &its[1], a + (k + 2) * m + row, m);
            }
            for (size_t n = 0; n < tiles->n; n++) {
                const place at = {a + k * m + row, b + n * across + k * down, m, down};
                add_step(core, its, c + n * m + row, at);
            }
        }
    }
}

/* A step of an element: add_step of one row. */
static float add_element(const grout_tensor_core *core, float c, place at) {
    if (!core->is_split) {
        return grout_tensor_core__add_block(core, at.a, at.m, at.b, at.down, c);
    }
    const float half = grout_tensor_core__add_block(core, at.a, at.m, at.b, at.down, 0.0F);
    const float sum = c + grout_tensor_core__add_block(core, at.a + 2 * at.m, at.m,
                                                       at.b + 2 * at.down, at.down, half);
    return core->is_half ? grout_gemm__round_f16(sum) : sum;
}

/* Fewer rows than are worked on together: those of an mma of one or two warps. */
static void multiply_few(const grout_tensor_core *core, const grout_tensor_tiles *tiles, float *c,
                         const float *a, const float *b) {
    const size_t m = tiles->m, across = tiles->has_k_rows ? 1 : tiles->k;
    const size_t down = tiles->has_k_rows ? tiles->n : 1;
    for (size_t k = 0; k < tiles->k; k += grout_tensor_core__get_step(core)) {
        for (size_t i = 0; i < m * tiles->n; i++) {
            const place at = {a + k * m + i % m, b + i / m * across + k * down, m, down};
            c[i] = add_element(core, c[i], at);
        }
    }
}

static void multiply_plain(const grout_tensor_core *core, const grout_tensor_tiles *tiles, float *c,
                           const float *a, const float *b) {
    multiply(core, tiles, c, a, b);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void multiply_avx2(const grout_tensor_core *core,
                                                          const grout_tensor_tiles *tiles, float *c,
                                                          const float *a, const float *b) {
    multiply(core, tiles, c, a, b);
}
static bool has_avx2(void) {
    return __builtin_cpu_supports("avx2") != 0;
}
#else
#define multiply_avx2 multiply_plain
static bool has_avx2(void) {
    return false;
}
#endif

void grout_tensor_core__multiply(const grout_tensor_core *core, const grout_tensor_tiles *tiles,
                                 bool is_wide, float *c, const float *a, const float *b) {
    GROUT_ASSERT(core->block > 0 && tiles->k % grout_tensor_core__get_step(core) == 0);
    if (tiles->m % ROWS != 0) {
        multiply_few(core, tiles, c, a, b);
    } else if (is_wide && has_avx2()) {
        multiply_avx2(core, tiles, c, a, b);
    } else {
        multiply_plain(core, tiles, c, a, b);
    }
}
