/* inputs.c - elements drawn from a seed and their place.
 * SPDX-License-Identifier: Apache-2.0 */
#include "inputs.h"

#include "formats.h"

#include "grout-internal/interp.h"

#include <string.h>

static uint64_t mix(uint64_t x) {
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t get_bits(grout_dtype dtype, double value) {
    uint64_t bits = 0;
    grout_element_from_double(dtype, value, &bits);
    return bits;
}

/* All that an exponent, a fraction or a sign can be at its ends, and what lies beside it. */
static uint64_t draw_end(grout_dtype dtype, uint64_t x) {
    const uint32_t bits = formats_get_bits(dtype);
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    const uint64_t ends[] = {0, sign, sign - 1, 1, ~UINT64_C(0), sign | 1};
    if (!formats_is_float(dtype) || x % 3 == 0) {
        return ends[x / 3 % (sizeof ends / sizeof *ends)];
    }
    const uint64_t one = get_bits(dtype, 1), two = get_bits(dtype, 2);
    /* the bits of the exponent, all set: infinity, or in f8e4m3 its largest numbers */
    const uint64_t high = get_bits(dtype, 1) | get_bits(dtype, 2);
    const uint64_t floats[] = {one, one + 1, one - 1, two | sign, high, high - 1, high | sign, 2};
    return floats[x / 3 % (sizeof floats / sizeof *floats)];
}

static uint64_t draw_wild(grout_dtype dtype, uint64_t x) {
    if (dtype == GROUT_DTYPE_BOOL) {
        return x & 1;
    }
    const uint64_t rest = mix(x);
    switch (x % 4) {
    case 0:
        return draw_end(dtype, rest);
    case 1:
        return get_bits(dtype, (double)(rest % 9) - (formats_is_signed(dtype) ? 4 : 0));
    case 2: /* floats that are no larger than 2^17 and seldom small */
        return formats_is_float(dtype) ? get_bits(dtype, ((double)(rest >> 11) * 0x1p-52 - 1) *
                                                             (double)(1 << x / 4 % 18))
                                       : rest;
    default:
        return rest;
    }
}

static uint64_t draw_bits(grout_dtype dtype, char style, uint64_t seed, uint64_t at) {
    const uint64_t x = mix(seed * UINT64_C(0x9e3779b97f4a7c15) + at);
    if (style == 'w') {
        return draw_wild(dtype, x);
    }
    if (!formats_is_float(dtype)) {
        return get_bits(dtype, (double)(x % 17) - (formats_is_signed(dtype) ? 8 : 0));
    }
    return get_bits(dtype, style == 'p' && seed % 2 == 0 ? (double)(x % 9) - 4
                                                         : (double)(x >> 11) * 0x1p-50 - 4);
}

uint64_t inputs_draw(grout_dtype dtype, char style, uint64_t seed, uint64_t at) {
    return draw_bits(dtype, style, seed, at) & UINT64_MAX >> (64 - formats_get_bits(dtype));
}
