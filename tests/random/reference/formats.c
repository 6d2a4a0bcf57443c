/* formats.c - what the bits of an element mean, and how a number becomes one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "formats.h"

#include <float.h>
#include <math.h>

typedef struct format {
    int fraction_bits, exponent_bits, exponent_min; /* of the least normal number */
    double largest;
    bool has_infinity, has_nan;
} format;

static format get_format(grout_dtype dtype) {
    switch ((int)dtype) {
    case GROUT_DTYPE_F4E2M1:
        return (format){1, 2, 0, 6, false, false};
    case GROUT_DTYPE_F6E2M3:
        return (format){3, 2, 0, 7.5, false, false};
    case GROUT_DTYPE_F6E3M2:
        return (format){2, 3, -2, 28, false, false};
    case GROUT_DTYPE_F8E4M3:
        return (format){3, 4, -6, 448, false, true};
    case GROUT_DTYPE_F8E5M2:
        return (format){2, 5, -14, 57344, true, true};
    case GROUT_DTYPE_F16:
        return (format){10, 5, -14, 65504.0, true, true};
    case GROUT_DTYPE_BF16:
        return (format){7, 8, -126, 0x1.fep127, true, true};
    case GROUT_DTYPE_F64:
        return (format){52, 11, -1022, DBL_MAX, true, true};
    default:
        return (format){23, 8, -126, 0x1.fffffep127, true, true};
    }
}

bool formats_is_float(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT;
}

bool formats_is_signed(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_SINT;
}

uint32_t formats_get_bits(grout_dtype dtype) {
    return grout_dtype_get_info(dtype)->bits;
}

bool formats_is_wide(grout_dtype dtype) {
    return !formats_is_float(dtype) && formats_get_bits(dtype) == 64;
}

double formats_get_largest(grout_dtype dtype) {
    return dtype == GROUT_DTYPE_F8E8M0 ? 0x1p127 : get_format(dtype).largest;
}

double formats_get_quantum(grout_dtype dtype, double value) {
    const format f = get_format(dtype);
    int exponent = f.exponent_min;
    if (value != 0 && isfinite(value)) {
        (void)frexp(value, &exponent);
        exponent -= 1;
    }
    exponent = exponent < f.exponent_min ? f.exponent_min : exponent;
    return ldexp(1.0, exponent - f.fraction_bits);
}

reference_number formats_make(double value, double bound) {
    return (reference_number){.value = value, .bound = bound};
}

reference_number formats_make_whole(grout_dtype dtype, uint64_t whole) {
    const uint32_t bits = formats_get_bits(dtype);
    uint64_t low = whole & UINT64_MAX >> (64 - bits);
    if (formats_is_signed(dtype) && (low >> (bits - 1) & 1) != 0) {
        low |= bits < 64 ? UINT64_MAX << bits : 0;
    }
    const double value = formats_is_signed(dtype) ? (double)(int64_t)low : (double)low;
    return (reference_number){.value = value, .bound = 0, .wide = low};
}

uint64_t formats_get_whole(grout_dtype dtype, reference_number number) {
    if (formats_is_wide(dtype)) {
        return number.wide;
    }
    return (uint64_t)(int64_t)number.value;
}

/* ---- bits ------------------------------------------------------------------------------------ */

static double decode_float(grout_dtype dtype, uint64_t bits) {
    const format f = get_format(dtype);
    const uint64_t exponent_all = (UINT64_C(1) << f.exponent_bits) - 1;
    const uint64_t fraction_all = (UINT64_C(1) << f.fraction_bits) - 1;
    const uint64_t fraction = bits & fraction_all,
                   exponent = bits >> f.fraction_bits & exponent_all;
    const bool is_negative = (bits >> (f.fraction_bits + f.exponent_bits) & 1) != 0;
    double value = 0;
    if (exponent == exponent_all && f.has_infinity) {
        value = fraction == 0 ? (double)INFINITY : (double)NAN;
    } else if (exponent == exponent_all && fraction == fraction_all && f.has_nan) { /* of f8e4m3 */
        value = (double)NAN;
    } else if (exponent == 0) {
        value = ldexp((double)fraction, f.exponent_min - f.fraction_bits);
    } else {
        value = ldexp((double)(fraction + fraction_all + 1),
                      (int)exponent - 1 + f.exponent_min - f.fraction_bits);
    }
    return is_negative ? -value : value;
}

reference_number formats_decode(grout_dtype dtype, uint64_t bits) {
    if (dtype == GROUT_DTYPE_F8E8M0) {
        return formats_make((bits & 255) == 255 ? (double)NAN : ldexp(1.0, (int)(bits & 255) - 127),
                            0);
    }
    return formats_is_float(dtype) ? formats_make(decode_float(dtype, bits), 0)
                                   : formats_make_whole(dtype, bits);
}

static uint64_t encode_float(grout_dtype dtype, double value) {
    const format f = get_format(dtype);
    const int width = f.fraction_bits + f.exponent_bits;
    const uint64_t sign = signbit(value) ? UINT64_C(1) << width : 0;
    if (isinf(value)) {
        return sign | ((UINT64_C(1) << f.exponent_bits) - 1) << f.fraction_bits;
    }
    int exponent;
    (void)frexp(value, &exponent);
    exponent -= 1;
    if (exponent < f.exponent_min) {
        return sign | (uint64_t)ldexp(fabs(value), f.fraction_bits - f.exponent_min);
    }
    const uint64_t fraction = (uint64_t)ldexp(fabs(value), f.fraction_bits - exponent);
    return sign | (((uint64_t)(exponent - f.exponent_min) << f.fraction_bits) + fraction);
}

bool formats_encode(grout_dtype dtype, reference_number number, uint64_t *bits_out) {
    if (number.bound > 0 ||
        (formats_is_float(dtype) && (isnan(number.value) || number.value == 0))) {
        return false;
    }
    if (dtype == GROUT_DTYPE_F8E8M0) {
        *bits_out = (uint64_t)ilogb(number.value) + 127;
    } else if (formats_is_float(dtype)) {
        *bits_out = encode_float(dtype, number.value);
    } else {
        *bits_out = formats_get_whole(dtype, number) & UINT64_MAX >> (64 - formats_get_bits(dtype));
    }
    return true;
}

/* ---- rounding -------------------------------------------------------------------------------- */

/* To the next power of two, as scales are made. */
static double round_scale(double value) {
    int exponent;
    if (isnan(value) || value < 0) {
        return (double)NAN;
    }
    if (value > 0x1p127) {
        return 0x1p127;
    }
    const double fraction = frexp(value, &exponent);
    const double up = ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
    return value == 0 || up < 0x1p-127 ? 0x1p-127 : up;
}

double formats_round(grout_dtype dtype, double value) {
    if (dtype == GROUT_DTYPE_F8E8M0) {
        return round_scale(value);
    }
    const bool saturates = formats_is_float(dtype) && formats_get_bits(dtype) <= 8;
    if (isnan(value) && formats_is_float(dtype) && !get_format(dtype).has_nan) {
        return get_format(dtype).largest;
    }
    if (!formats_is_float(dtype) || isnan(value) || value == 0 || (isinf(value) && !saturates)) {
        return value;
    }
    const double largest = get_format(dtype).largest;
    if (isinf(value)) {
        return copysign(largest, value);
    }
    if (dtype == GROUT_DTYPE_F64) {
        return value;
    }
    const double quantum = formats_get_quantum(dtype, value);
    const double rounded = rint(value / quantum) * quantum;
    if (fabs(rounded) > largest) {
        return copysign(saturates ? largest : (double)INFINITY, value);
    }
    return rounded == 0 ? copysign(0.0, value) : rounded;
}

double formats_round_whole(grout_dtype dtype, bool is_negative, uint64_t magnitude) {
    double value = (double)magnitude;
    if (dtype != GROUT_DTYPE_F64 && magnitude >> 53 != 0) {
        /* What is cut off stays as one bit: no format has so many that it could round up alone. */
        const uint64_t rest = (magnitude & 2047) != 0 ? 1 : 0;
        value = ldexp((double)(magnitude >> 11 | rest), 11);
    }
    return formats_round(dtype, is_negative ? -value : value);
}
