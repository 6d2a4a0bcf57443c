/*
 * tensor_model.h - one dot product of Hopper's tensor core in integers: slow, and as the rule
 * reads.
 *
 * An oracle for interp/math/tensor_core.c, with no floating point in it. It was run against an H200
 * over 6 billion dot products without a difference (docs/numerics.md).
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef GROUT_TESTS_TENSOR_MODEL_H
#define GROUT_TESTS_TENSOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

/* A floating-point type: value = m * 2^(e - fraction), e = max(field, 1) - bias. */
typedef struct model_type {
    int exponent_bits, fraction_bits, bias;
    bool has_infinity; /* else all ones is the NaN, and there is none */
} model_type;

static const model_type MODEL_BF16 = {8, 7, 127, true};
static const model_type MODEL_F16 = {5, 10, 15, true};
static const model_type MODEL_TF32 = {8, 10, 127, true}; /* of bits 13 and up of an f32 */
static const model_type MODEL_E4M3 = {4, 3, 7, false};
static const model_type MODEL_E5M2 = {5, 2, 15, true};
static const model_type MODEL_F32 = {8, 23, 127, true};

typedef struct model_rule {
    const model_type *a, *b, *out;
    int block, fraction, out_bits;
} model_rule;

typedef struct model_value {
    bool is_negative, is_infinite, is_nan;
    int exponent;
    uint64_t m;
} model_value;

static inline model_value model_decode(uint32_t bits, const model_type *type) {
    const uint32_t m = bits & ((1u << type->fraction_bits) - 1);
    const uint32_t top = (1u << type->exponent_bits) - 1;
    const uint32_t field = bits >> type->fraction_bits & top;
    const bool is_special =
        field == top && (type->has_infinity || m == (1u << type->fraction_bits) - 1);
    return (model_value){.is_negative =
                             (bits >> (type->exponent_bits + type->fraction_bits) & 1) != 0,
                         .is_infinite = is_special && type->has_infinity && m == 0,
                         .is_nan = is_special && (!type->has_infinity || m != 0),
                         .exponent = (field == 0 ? 1 : (int)field) - type->bias,
                         .m = m | (field == 0 ? 0u : 1u << type->fraction_bits)};
}

/* m * 2^-count, cut. */
static inline int64_t model_shift(uint64_t m, int count, bool is_negative) {
    const uint64_t cut = m == 0 || count >= 64 ? 0 : count >= 0 ? m >> count : m << -count;
    return is_negative ? -(int64_t)cut : (int64_t)cut;
}

static inline int model_get_top_bit(uint64_t value) {
    int bit = -1;
    for (; value != 0; value >>= 1) {
        bit++;
    }
    return bit;
}

/* sum * 2^unit in the bits of the result's type. */
static inline uint32_t model_round(const model_rule *rule, int64_t sum, int unit) {
    const model_type *out = rule->out;
    const bool is_half = out->fraction_bits == 10;
    const uint32_t sign = sum < 0 ? 1u << (out->exponent_bits + out->fraction_bits) : 0;
    const uint64_t size = sum < 0 ? (uint64_t)-sum : (uint64_t)sum;
    int exponent = model_get_top_bit(size) + unit;
    exponent = exponent < 1 - out->bias ? 1 - out->bias : exponent;
    const int dropped = exponent - rule->out_bits - unit;
    uint64_t m = (uint64_t)model_shift(size, dropped, false);
    if (is_half && dropped > 0 && dropped < 63) {
        const uint64_t rest = size & ((UINT64_C(1) << dropped) - 1);
        const uint64_t middle = UINT64_C(1) << (dropped - 1);
        m += rest > middle || (rest == middle && m % 2 != 0) ? 1 : 0;
    }
    if (m >> (rule->out_bits + 1) != 0) {
        m >>= 1;
        exponent++;
    }
    if (exponent > out->bias) {
        return sign | ((1u << out->exponent_bits) - 1) << out->fraction_bits;
    }
    if (m == 0) {
        return 0;
    }
    const uint32_t fraction = (uint32_t)(m << (out->fraction_bits - rule->out_bits));
    const bool is_normal = m >> rule->out_bits != 0;
    return sign | (is_normal ? (uint32_t)(exponent + out->bias) << out->fraction_bits : 0) |
           (fraction & ((1u << out->fraction_bits) - 1));
}

static inline uint32_t model_dot(const model_rule *rule, const uint32_t *a, const uint32_t *b,
                                 uint32_t c) {
    const int fraction_bits = rule->a->fraction_bits + rule->b->fraction_bits;
    const model_value last = model_decode(c, rule->out);
    bool has_nan = last.is_nan, has_plus = last.is_infinite && !last.is_negative;
    bool has_minus = last.is_infinite && last.is_negative;
    int top = 1 - rule->out->bias - 7; /* the floor */
    int64_t sum = 0;
    if (last.m != 0 && last.exponent > top) {
        top = last.exponent;
    }
    for (int k = 0; k < rule->block; k++) {
        const model_value x = model_decode(a[k], rule->a), y = model_decode(b[k], rule->b);
        const bool is_negative = x.is_negative != y.is_negative;
        has_nan |=
            x.is_nan || y.is_nan || (x.is_infinite && y.m == 0) || (y.is_infinite && x.m == 0);
        has_plus |= (x.is_infinite || y.is_infinite) && !is_negative;
        has_minus |= (x.is_infinite || y.is_infinite) && is_negative;
        if (x.m != 0 && y.m != 0 && x.exponent + y.exponent > top) {
            top = x.exponent + y.exponent;
        }
    }
    if (has_nan || (has_plus && has_minus)) {
        return rule->out->fraction_bits == 10 ? 0x7fffu : 0x7fffffffu;
    }
    if (has_plus || has_minus) {
        return (has_minus ? 1u << (rule->out->exponent_bits + rule->out->fraction_bits) : 0) |
               ((1u << rule->out->exponent_bits) - 1) << rule->out->fraction_bits;
    }
    for (int k = 0; k < rule->block; k++) {
        const model_value x = model_decode(a[k], rule->a), y = model_decode(b[k], rule->b);
        sum +=
            model_shift(x.m * y.m, top - x.exponent - y.exponent + fraction_bits - rule->fraction,
                        x.is_negative != y.is_negative);
    }
    sum += model_shift(last.m, top - last.exponent + rule->out->fraction_bits - rule->fraction,
                       last.is_negative);
    return sum == 0 ? 0 : model_round(rule, sum, top - rule->fraction);
}

#endif
