/* floats.h - floats by their bits, and results rounded once. PTX ISA 9.1, 'Floating Point
 * Comparisons' and 'Rounding Modifiers'.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_FLOATS_H
#define GROUT_PTX_FLOATS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef enum ptx_rounding {
    PTX_ROUND_NEAREST, /* ties to even */
    PTX_ROUND_ZERO,
    PTX_ROUND_DOWN,
    PTX_ROUND_UP,
    PTX_ROUND_AWAY /* nearest, ties away from zero */
} ptx_rounding;

/* The formats of one value: bits of exponent and fraction. */
typedef struct ptx_format {
    uint8_t exponent_bits, fraction_bits;
    bool has_infinity; /* e4m3 has none: its largest pattern is the NaN */
} ptx_format;

static inline float ptx_float(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t ptx_float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline double ptx_double(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint64_t ptx_double_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
/* f32 results that are NaN are the canonical one. */
static inline uint32_t ptx_canonical(float value) {
    return value != value ? 0x7fffffffu : ptx_float_bits(value);
}

/* A value of a narrow format, exact. */
double grout_ptx__widen(const ptx_format *format, uint32_t bits);
/* A double in a format; is_finite: too large ones become the largest, and NaN stays NaN. */
uint32_t grout_ptx__narrow(const ptx_format *format, double value, ptx_rounding rounding,
                           bool is_finite);
/* a * b + c and a + b with the last bit of the fraction set if the result is not exact: rounding
 * that to fewer bits is rounding once. */
double grout_ptx__fma_odd(double a, double b, double c);
double grout_ptx__add_odd(double a, double b);
/* f64 sums and products that are not rounded to nearest. */
double grout_ptx__add_f64(double a, double b, ptx_rounding rounding);
double grout_ptx__mul_f64(double a, double b, ptx_rounding rounding);
/* An integer as a double, odd where it is not exact. */
double grout_ptx__integer_odd(uint64_t magnitude, bool is_negative);

extern const ptx_format grout_ptx__f16, grout_ptx__bf16, grout_ptx__f32, grout_ptx__e4m3,
    grout_ptx__e5m2, grout_ptx__tf32;

#endif
