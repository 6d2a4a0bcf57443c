/* dot.c - fused sums of products, in integers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "dot.h"

#include "grout/num.h"

#include <string.h>

enum { GUARD = 25, GUARD_F8_HOPPER = 13, GUARD_F4 = 35, SHIFT_MAX = 63 };
enum { FLOOR_F32 = -133, FLOOR_F16 = -21, GROUP = 16 };

static bool is_f8(grout_ptx_format format) {
    return format == GROUT_PTX_E4M3 || format == GROUT_PTX_E5M2;
}

grout_ptx_dot grout_ptx__dot_blackwell(grout_ptx_format a, grout_ptx_format b, grout_ptx_format d) {
    return (grout_ptx_dot){.a = a,
                           .b = b,
                           .d = d,
                           .guard = GUARD,
                           .out_fraction = grout_ptx__format_fraction(d),
                           .floor = d == GROUT_PTX_F16 ? FLOOR_F16 : FLOOR_F32};
}

grout_ptx_dot grout_ptx__dot_hopper(grout_ptx_format a, grout_ptx_format b, grout_ptx_format d) {
    grout_ptx_dot how = grout_ptx__dot_blackwell(a, b, d);
    if (is_f8(a)) {
        how.guard = GUARD_F8_HOPPER;
        how.out_fraction = d == GROUT_PTX_F32 ? GUARD_F8_HOPPER : how.out_fraction;
    }
    return how;
}

void grout_ptx__vector(grout_ptx_format format, const uint32_t *bits, uint32_t count,
                       grout_ptx_vector *vector) {
    vector->count = count;
    vector->is_special = false;
    for (uint32_t i = 0; i < count; i++) {
        vector->terms[i] = grout_ptx__term(format, bits[i]);
        vector->is_special =
            vector->is_special || vector->terms[i].exponent >= GROUT_PTX_EXPONENT_INF;
    }
}

/* The magnitude shifted right by this many bits, cut toward zero, with the sign of the number. */
static int64_t align(int64_t number, int32_t right) {
    const uint64_t size = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
    const uint64_t kept = right > SHIFT_MAX ? 0 : right >= 0 ? size >> right : size << -right;
    return number < 0 ? -(int64_t)kept : (int64_t)kept;
}

/* Which infinities and NaNs a sum has met. */
typedef struct specials {
    bool has_nan, has_plus, has_minus;
} specials;

static void meet(specials *met, int32_t exponent, bool is_negative) {
    met->has_nan = met->has_nan || exponent >= GROUT_PTX_EXPONENT_NAN;
    if (exponent == GROUT_PTX_EXPONENT_INF) {
        met->has_plus = met->has_plus || !is_negative;
        met->has_minus = met->has_minus || is_negative;
    }
}

/* An infinity times zero is NaN. */
static void meet_product(specials *met, grout_ptx_term x, grout_ptx_term y, bool is_negated) {
    const int32_t larger = x.exponent > y.exponent ? x.exponent : y.exponent;
    const bool is_zero = x.significand == 0 || y.significand == 0;
    const bool is_negative = ((x.significand < 0) != (y.significand < 0)) != is_negated;
    if (larger >= GROUT_PTX_EXPONENT_INF) {
        meet(met, is_zero ? GROUT_PTX_EXPONENT_NAN : larger, is_negative);
    }
}

/* D where infinities or NaNs are among the terms; false if there are none. */
static bool end_special(const specials *met, grout_ptx_format format, uint32_t *d) {
    if (met->has_nan || (met->has_plus && met->has_minus)) {
        *d = grout_ptx__nan(format);
        return true;
    }
    *d = grout_ptx__infinity(format, met->has_minus);
    return met->has_plus || met->has_minus;
}

static bool is_special_sum(const grout_ptx_dot *how, const grout_ptx_vector *a,
                           const grout_ptx_vector *b, grout_ptx_term c, uint32_t *d) {
    specials met = {false, false, false};
    if (!a->is_special && !b->is_special && c.exponent < GROUT_PTX_EXPONENT_INF) {
        return false;
    }
    meet(&met, c.exponent, c.significand < 0);
    for (uint32_t i = 0; i < a->count; i++) {
        meet_product(&met, a->terms[i], b->terms[i], how->is_negative);
    }
    return end_special(&met, how->d, d);
}

uint32_t grout_ptx__dot(const grout_ptx_dot *how, const grout_ptx_vector *a,
                        const grout_ptx_vector *b, int32_t scale, uint32_t c) {
    grout_ptx_term sum = grout_ptx__term(how->d, c);
    const int32_t fraction =
        grout_ptx__format_fraction(how->a) + grout_ptx__format_fraction(how->b);
    const int32_t own = grout_ptx__format_fraction(how->d);
    int64_t products = 0;
    uint32_t d = 0;
    if (is_special_sum(how, a, b, sum, &d)) {
        return d;
    }
    sum.exponent -= how->c_shift;
    int32_t top = sum.exponent > how->floor ? sum.exponent : how->floor;
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t exponent = a->terms[i].exponent + b->terms[i].exponent + scale;
        top = exponent > top ? exponent : top;
    }
    for (uint32_t i = 0; i < a->count; i++) {
        const int32_t exponent = a->terms[i].exponent + b->terms[i].exponent + scale;
        const int64_t product = (int64_t)a->terms[i].significand * b->terms[i].significand;
        products += align(product, top - exponent + fraction - how->guard);
    }
    products = how->is_negative ? -products : products;
    products += align(sum.significand, top - sum.exponent + own - how->guard);
    const grout_ptx_rounding rounding = {how->d, how->out_fraction, how->d == GROUT_PTX_F16};
    return grout_ptx__round(&rounding, products, top - how->guard);
}

/* ---- e4m3 and e5m2 of mma.sync ---- */

/* The element as an f16: exact. A subnormal of e4m3 is a normal number there. */
static uint32_t widen_f8(grout_ptx_format format, uint32_t bits) {
    const uint32_t sign = (bits & 0x80) << 8;
    const grout_ptx_term term = grout_ptx__term(format, bits);
    const grout_ptx_rounding exact = {GROUT_PTX_F16, 10, true};
    if (format == GROUT_PTX_E5M2) {
        return (bits & 0xff) << 8;
    }
    if (term.exponent == GROUT_PTX_EXPONENT_NAN) {
        return 0x7fff;
    }
    const int32_t size = term.significand < 0 ? -term.significand : term.significand;
    return sign | grout_ptx__round(&exact, size, size == 0 ? 0 : term.exponent - 3);
}

/* FADD, or HADD2: to nearest even, with the tensor core's NaN. */
static uint32_t add_nearest(grout_ptx_format format, uint32_t p, uint32_t c) {
    const grout_ptx_term x = grout_ptx__term(format, p), y = grout_ptx__term(format, c);
    specials met = {false, false, false};
    const int32_t fraction = grout_ptx__format_fraction(format);
    uint32_t d = 0;
    meet(&met, x.exponent, x.significand < 0);
    meet(&met, y.exponent, y.significand < 0);
    if (end_special(&met, format, &d)) {
        return d;
    }
    if (x.significand == 0 || y.significand == 0) {
        return y.significand != 0 ? c : x.significand != 0 ? p : p & c;
    }
    /* The smaller one, too far away to count, becomes a bit that only rounding sees. */
    const int32_t high = x.exponent > y.exponent ? x.exponent : y.exponent;
    const int32_t low = high == x.exponent ? y.exponent : x.exponent;
    const int32_t base = high - low > 30 ? high - 30 : low;
    int64_t sum = 0;
    const grout_ptx_term both[] = {x, y};
    for (int i = 0; i < 2; i++) {
        const int32_t right = base - both[i].exponent;
        const int64_t kept = align(both[i].significand, right);
        const bool is_cut = right > 0 && (right > 31 || align(kept, -right) != both[i].significand);
        const int64_t sticky = kept | 1;
        sum += !is_cut ? kept : both[i].significand < 0 ? -(-kept | 1) : sticky;
    }
    const grout_ptx_rounding nearest = {format, fraction, true};
    return grout_ptx__round(&nearest, sum, base - fraction);
}

uint32_t grout_ptx__dot_mma_f8(const grout_ptx_dot *how, const uint32_t *a, const uint32_t *b,
                               uint32_t count, uint32_t c) {
    grout_ptx_dot half = grout_ptx__dot_blackwell(GROUT_PTX_F16, GROUT_PTX_F16, how->d);
    uint32_t d = 0;
    for (uint32_t pair = 0; pair < 2; pair++) {
        uint32_t x[GROUT_PTX_K_MAX], y[GROUT_PTX_K_MAX], taken = 0;
        grout_ptx_vector left, right;
        for (uint32_t k = 0; k < count; k++) {
            if (k / 2 % 2 == pair) {
                x[taken] = widen_f8(how->a, a[k]);
                y[taken++] = widen_f8(how->b, b[k]);
            }
        }
        grout_ptx__vector(GROUT_PTX_F16, x, taken, &left);
        grout_ptx__vector(GROUT_PTX_F16, y, taken, &right);
        d = grout_ptx__dot(&half, &left, &right, 0, d);
    }
    return add_nearest(how->d, d, c);
}

/* ---- 4-bit floats with scales ---- */

/* An e2m1 in halves: 0, 1, 2, 3, 4, 6, 8, 12. */
static int32_t get_halves(uint32_t bits) {
    static const int32_t HALVES[] = {0, 1, 2, 3, 4, 6, 8, 12};
    return (bits & 8) != 0 ? -HALVES[bits & 7] : HALVES[bits & 7];
}

/* A group of 16 products as one term; its exponent is that of the scales alone. */
typedef struct group {
    int64_t product; /* 2^-2 of the halves, 2^-6 of two significands of 3 bits */
    int32_t exponent;
} group;

static group get_group(const grout_ptx_scaled_dot *how, uint32_t from, bool *is_nan) {
    const uint32_t block = from / how->block;
    const grout_ptx_term x = grout_ptx__term(how->scale, how->a_scales[block]);
    const grout_ptx_term y = grout_ptx__term(how->scale, how->b_scales[block]);
    const int64_t one = how->scale == GROUT_PTX_UE8M0 ? 8 : 1;
    int64_t sum = 0;
    *is_nan =
        *is_nan || x.exponent == GROUT_PTX_EXPONENT_NAN || y.exponent == GROUT_PTX_EXPONENT_NAN;
    for (uint32_t i = from; i < from + GROUP; i++) {
        sum += (int64_t)get_halves(how->a[i]) * get_halves(how->b[i]);
    }
    sum = how->is_negative ? -sum : sum;
    return (group){sum * (x.significand * one) * (y.significand * one), x.exponent + y.exponent};
}

uint32_t grout_ptx__dot_mxf4(const grout_ptx_scaled_dot *how, uint32_t c) {
    const grout_ptx_term sum = grout_ptx__term(GROUT_PTX_F32, c);
    group groups[GROUT_PTX_K_MAX / GROUP];
    const uint32_t count = how->count / GROUP;
    int32_t top = sum.exponent;
    bool is_nan = sum.exponent == GROUT_PTX_EXPONENT_NAN;
    int64_t total = 0;
    for (uint32_t i = 0; i < count; i++) {
        groups[i] = get_group(how, i * GROUP, &is_nan);
        top = groups[i].exponent > top ? groups[i].exponent : top;
    }
    if (is_nan) {
        return grout_ptx__nan(GROUT_PTX_F32);
    }
    if (sum.exponent == GROUT_PTX_EXPONENT_INF) {
        return c;
    }
    for (uint32_t i = 0; i < count; i++) {
        total += align(groups[i].product, top - groups[i].exponent + 8 - GUARD_F4);
    }
    total += align(sum.significand, top - sum.exponent + 23 - GUARD_F4);
    const grout_ptx_rounding rounding = {GROUT_PTX_F32, 23, false};
    return grout_ptx__round(&rounding, total, top - GUARD_F4);
}

/* ---- integers ---- */

uint32_t grout_ptx__dot_integer(const grout_ptx_dot *how, const uint32_t *a, const uint32_t *b,
                                uint32_t count, uint32_t c, bool is_saturating) {
    int64_t sum = grout_wrap_i32(c);
    for (uint32_t i = 0; i < count; i++) {
        sum += (int64_t)grout_ptx__integer(how->a, a[i]) * grout_ptx__integer(how->b, b[i]);
    }
    if (is_saturating) {
        sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
    }
    return (uint32_t)(uint64_t)sum;
}

uint32_t grout_ptx__dot_bits(const uint32_t *a, const uint32_t *b, uint32_t words, uint32_t c) {
    for (uint32_t i = 0; i < words; i++) {
        c += grout_popcount_u32(a[i] & b[i]);
    }
    return c;
}
