/* floats.c - see floats.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "floats.h"

#include <math.h>

const ptx_format grout_ptx__f16 = {5, 10, true};
const ptx_format grout_ptx__bf16 = {8, 7, true};
const ptx_format grout_ptx__f32 = {8, 23, true};
const ptx_format grout_ptx__e4m3 = {4, 3, false};
const ptx_format grout_ptx__e5m2 = {5, 2, true};
const ptx_format grout_ptx__tf32 = {8, 10, true};

double grout_ptx__widen(const ptx_format *format, uint32_t bits) {
    uint32_t fraction_mask = (1u << format->fraction_bits) - 1;
    uint32_t exponent_mask = (1u << format->exponent_bits) - 1;
    uint32_t fraction = bits & fraction_mask;
    uint32_t exponent = bits >> format->fraction_bits & exponent_mask;
    int bias = (int)(exponent_mask >> 1);
    bool is_negative = (bits >> (format->fraction_bits + format->exponent_bits) & 1) != 0;
    double value;
    if (exponent == exponent_mask && format->has_infinity) {
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else if (exponent == exponent_mask && fraction == fraction_mask && !format->has_infinity) {
        value = (double)NAN;
    } else if (exponent == 0) {
        value = ldexp((double)fraction, 1 - bias - format->fraction_bits);
    } else {
        value = ldexp((double)(fraction | (1u << format->fraction_bits)),
                      (int)exponent - bias - format->fraction_bits);
    }
    return is_negative ? -value : value;
}

/* What of a value is below the last bit that stays: rounds up the magnitude? */
static bool rounds_up(uint64_t kept, double rest, ptx_rounding rounding, bool is_negative) {
    switch (rounding) {
    case PTX_ROUND_NEAREST:
        return rest > 0.5 || (rest == 0.5 && (kept & 1) != 0);
    case PTX_ROUND_AWAY:
        return rest >= 0.5;
    case PTX_ROUND_DOWN:
        return is_negative && rest > 0;
    case PTX_ROUND_UP:
        return !is_negative && rest > 0;
    case PTX_ROUND_ZERO:
        break;
    }
    return false;
}

uint32_t grout_ptx__narrow(const ptx_format *format, double value, ptx_rounding rounding,
                           bool is_finite) {
    uint32_t fraction_mask = (1u << format->fraction_bits) - 1;
    uint32_t exponent_mask = (1u << format->exponent_bits) - 1;
    uint32_t infinity = exponent_mask << format->fraction_bits;
    uint32_t largest = format->has_infinity ? infinity - 1 : (infinity | fraction_mask) - 1;
    int bias = (int)(exponent_mask >> 1), exponent = 0;
    bool is_negative = signbit(value) != 0;
    uint32_t sign = (uint32_t)is_negative << (format->fraction_bits + format->exponent_bits);
    if (isnan(value)) {
        return infinity | fraction_mask; /* the canonical NaN is positive, all ones */
    }
    double magnitude = fabs(value);
    if (isinf(value)) {
        return sign | (is_finite || !format->has_infinity ? largest : infinity);
    }
    (void)frexp(magnitude, &exponent);
    int least = 1 - bias;
    int power = exponent - 1 < least ? least : exponent - 1;
    double scaled = ldexp(magnitude, format->fraction_bits - power);
    uint64_t kept = (uint64_t)scaled;
    kept += rounds_up(kept, scaled - (double)kept, rounding, is_negative);
    uint64_t bits =
        kept <= fraction_mask ? kept : ((uint64_t)(power - least) << format->fraction_bits) + kept;
    if (bits > largest) {
        bool goes_to_largest = rounding == PTX_ROUND_ZERO ||
                               (rounding == PTX_ROUND_DOWN && !is_negative) ||
                               (rounding == PTX_ROUND_UP && is_negative);
        bits = is_finite || goes_to_largest || !format->has_infinity ? largest : infinity;
    }
    return sign | (uint32_t)bits;
}

/* The sum and what it lacks (Knuth's TwoSum), then the last bit. */
static double set_odd(double sum, double error) {
    if (error == 0 || !isfinite(sum)) {
        return sum;
    }
    uint64_t bits = ptx_double_bits(sum);
    if ((bits & 1) == 0) {
        bool grows = (error > 0) == (sum > 0);
        bits = grows ? bits + 1 : bits - 1;
    }
    return ptx_double(bits);
}

double grout_ptx__add_odd(double a, double b) {
    double sum = a + b;
    double part = sum - a;
    double error = (a - (sum - part)) + (b - part);
    return set_odd(sum, isfinite(sum) ? error : 0);
}

/* Products of f32 and narrower values are exact in a double. */
double grout_ptx__fma_odd(double a, double b, double c) {
    return grout_ptx__add_odd(a * b, c);
}

/* The nearest value and what it lacks, as another direction has it. */
static double step_to(double nearest, double error, ptx_rounding rounding) {
    bool is_down = rounding == PTX_ROUND_DOWN || (rounding == PTX_ROUND_ZERO && nearest > 0);
    if (!isfinite(nearest) || error == 0 || (error < 0) != is_down ||
        (rounding == PTX_ROUND_ZERO && nearest == 0)) {
        return nearest;
    }
    return nextafter(nearest, is_down ? -(double)INFINITY : (double)INFINITY);
}

double grout_ptx__add_f64(double a, double b, ptx_rounding rounding) {
    double sum = a + b;
    double part = sum - a;
    return step_to(sum, (a - (sum - part)) + (b - part), rounding);
}

double grout_ptx__mul_f64(double a, double b, ptx_rounding rounding) {
    double product = a * b;
    return step_to(product, fma(a, b, -product), rounding);
}

double grout_ptx__integer_odd(uint64_t magnitude, bool is_negative) {
    uint32_t shift = 0;
    while (magnitude >> shift >> 53 != 0) {
        shift++;
    }
    uint64_t kept = magnitude >> shift;
    kept |= (kept << shift) != magnitude;
    double value = ldexp((double)kept, (int)shift);
    return is_negative ? -value : value;
}
