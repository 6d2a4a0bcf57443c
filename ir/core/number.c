/* number.c - constants as elements: bits of every element type, rounded to nearest even.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* A binary float format. */
typedef struct float_format {
    int exponent_bits, mantissa_bits, bias;
    bool has_infinity;
    bool has_nan; /* f8e4m3 has no infinity: its largest exponent holds numbers, and one NaN */
} float_format;

static float_format get_format(grout_dtype dtype) {
    static const float_format formats[GROUT_DTYPE_COUNT] = {
        [GROUT_DTYPE_F4E2M1] = {2, 1, 1, false, false},
        [GROUT_DTYPE_F6E2M3] = {2, 3, 1, false, false},
        [GROUT_DTYPE_F6E3M2] = {3, 2, 3, false, false},
        [GROUT_DTYPE_F8E4M3] = {4, 3, 7, false, true},
        [GROUT_DTYPE_F8E5M2] = {5, 2, 15, true, true},
        [GROUT_DTYPE_F16] = {5, 10, 15, true, true},
        [GROUT_DTYPE_BF16] = {8, 7, 127, true, true},
        [GROUT_DTYPE_F32] = {8, 23, 127, true, true},
        [GROUT_DTYPE_F64] = {11, 52, 1023, true, true}};
    return formats[dtype];
}

#define INFINITE_EXPONENT 4096

/* magnitude * 2^exponent, exactly. */
typedef struct exact_number {
    bool is_negative;
    uint64_t magnitude;
    int exponent;
} exact_number;

static exact_number split_number(const grout_expr_value *value) {
    exact_number number = {0};
    if (!value->is_float) {
        number.is_negative = value->integer < 0;
        number.magnitude =
            number.is_negative ? 0u - (uint64_t)value->integer : (uint64_t)value->integer;
        return number;
    }
    number.is_negative = signbit(value->number) != 0;
    if (isinf(value->number)) { /* larger than any format holds */
        number.magnitude = 1;
        number.exponent = INFINITE_EXPONENT;
        return number;
    }
    double fraction = frexp(fabs(value->number), &number.exponent);
    number.magnitude = (uint64_t)ldexp(fraction, 53);
    number.exponent -= 53;
    return number;
}

/* magnitude shifted right by count bits, to the nearest, ties to even. */
static uint64_t shift_rounded(uint64_t magnitude, int count) {
    if (count <= 0) {
        return count < -63 ? 0 : magnitude << -count;
    }
    if (count > 64) {
        return 0;
    }
    uint64_t kept = count == 64 ? 0 : magnitude >> count;
    uint64_t half = UINT64_C(1) << (count - 1);
    uint64_t rest = magnitude & (half | (half - 1));
    return kept + (rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0);
}

/* The bits of a number, without its sign; *overflow_out: it rounds to more than the largest. */
static uint64_t round_number(exact_number number, float_format format, bool *overflow_out) {
    int bias = format.bias;
    int mantissa = format.mantissa_bits;
    uint64_t infinity = ((UINT64_C(1) << format.exponent_bits) - 1) << mantissa;
    uint64_t largest =
        format.has_infinity ? infinity - 1 : infinity + (1u << mantissa) - (format.has_nan ? 2 : 1);
    *overflow_out = false;
    if (number.magnitude == 0) {
        return 0;
    }
    int top = 63; /* position of the leading one */
    while (number.magnitude >> top == 0) {
        top--;
    }
    int exponent = top + number.exponent; /* of the leading one */
    if (exponent > bias + 1) {
        *overflow_out = true;
        return format.has_infinity ? infinity : largest;
    }
    /* The last place that the format keeps; below the smallest normal it does not move further. */
    int place = (exponent < 1 - bias ? 1 - bias : exponent) - mantissa;
    uint64_t rounded = shift_rounded(number.magnitude, place - number.exponent);
    uint64_t exponent_field = (uint64_t)(place + mantissa + bias - 1);
    uint64_t bits = (exponent_field << mantissa) + rounded; /* a carry moves into the exponent */
    *overflow_out = bits > largest;
    return bits <= largest ? bits : format.has_infinity ? infinity : largest;
}

/* The exponent of f8e8m0, which has no sign and no zero, and rounds up; of NaN 255. */
static uint64_t get_scale(const grout_expr_value *value, bool *overflow_out) {
    const double number = value->is_float ? value->number : (double)value->integer;
    int exponent = 0;
    *overflow_out = !(number > 0) || number > 0x1p127;
    if (!(number >= 0)) {
        return 255;
    }
    if (number <= 0x1p-127 || number > 0x1p126) {
        return number <= 0x1p-127 ? 0 : 254;
    }
    return (uint64_t)(frexp(number, &exponent) == 0.5 ? exponent + 126 : exponent + 127);
}

double grout_number__get_largest(grout_dtype dtype) {
    if (dtype == GROUT_DTYPE_F8E8M0) {
        return 0x1p127;
    }
    float_format format = get_format(dtype);
    double ulp = ldexp(1.0, -format.mantissa_bits);
    return format.has_infinity ? ldexp(2.0 - ulp, format.bias)
                               : ldexp(2.0 - (format.has_nan ? 2 : 1) * ulp, format.bias + 1);
}

static int64_t get_integer(const grout_expr_value *value) {
    if (!value->is_float) {
        return value->integer;
    }
    return value->number >= -0x1p63 && value->number < 0x1p63 ? (int64_t)value->number : 0;
}

uint64_t grout_expr_value_to_bits(grout_expr_value value, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint64_t mask = UINT64_MAX >> (64 - info->bits);
    bool overflow;
    if (value.bits_dtype != GROUT_DTYPE_NONE) {
        return value.bits & mask;
    }
    switch ((grout_dtype_class)info->class_) {
    case GROUT_CLASS_BOOL:
        return value.is_float ? value.number != 0 : value.integer != 0;
    case GROUT_CLASS_SINT:
    case GROUT_CLASS_UINT:
        return (uint64_t)get_integer(&value) & mask;
    case GROUT_CLASS_FLOAT: {
        if (dtype == GROUT_DTYPE_F8E8M0) {
            return get_scale(&value, &overflow);
        }
        if (value.is_float && isnan(value.number)) {
            return info->bits < 8     ? mask >> 1
                   : info->bytes == 1 ? 0x7f
                                      : mask >> 1; /* the NaN that conversions on a GPU make */
        }
        exact_number number = split_number(&value);
        uint64_t bits = round_number(number, get_format(dtype), &overflow);
        return bits | (number.is_negative ? UINT64_C(1) << (info->bits - 1) : 0);
    }
    case GROUT_CLASS_NONE:
        break;
    }
    return 0;
}

bool grout_fold__fits(const grout_expr_value *value, grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint32_t bits = info->bits;
    bool overflow = false;
    if (value->bits_dtype != GROUT_DTYPE_NONE) {
        return value->bits_dtype == dtype && (bits == 64 || value->bits >> bits == 0);
    }
    switch ((grout_dtype_class)info->class_) {
    case GROUT_CLASS_BOOL:
        return value->is_bool;
    case GROUT_CLASS_SINT:
        return !value->is_float && (bits == 64 || (value->integer >= -(INT64_C(1) << (bits - 1)) &&
                                                   value->integer < INT64_C(1) << (bits - 1)));
    case GROUT_CLASS_UINT:
        return !value->is_float && value->integer >= 0 &&
               (bits == 64 || value->integer < INT64_C(1) << bits);
    case GROUT_CLASS_FLOAT:
        if (value->is_float && isnan(value->number)) {
            return dtype == GROUT_DTYPE_F8E8M0 || get_format(dtype).has_nan;
        }
        if (dtype == GROUT_DTYPE_F8E8M0) {
            (void)get_scale(value, &overflow);
            return !overflow;
        }
        if (value->is_float && isinf(value->number)) {
            return get_format(dtype).has_infinity;
        }
        round_number(split_number(value), get_format(dtype), &overflow);
        return !overflow;
    case GROUT_CLASS_NONE:
        break;
    }
    return false;
}

/* Integers may have float types too, nothing else. */
bool grout_number__is_constant_of(const grout_expr_value *value, grout_dtype dtype) {
    grout_dtype_class class_ = (grout_dtype_class)grout_dtype_get_info(dtype)->class_;
    if (value->bits_dtype != GROUT_DTYPE_NONE) {
        return value->bits_dtype == dtype;
    }
    if (value->is_bool || class_ == GROUT_CLASS_BOOL) {
        return value->is_bool && class_ == GROUT_CLASS_BOOL;
    }
    return !value->is_float || class_ == GROUT_CLASS_FLOAT;
}

void grout_number__help_range(grout_dtype dtype, grout_diags *diags) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    uint32_t bits = info->bits;
    if (dtype == GROUT_DTYPE_F8E8M0) {
        grout_diags_help(diags, "%s holds powers of two up to %g, and no zero", info->text,
                         grout_number__get_largest(dtype));
    } else if (info->class_ == GROUT_CLASS_FLOAT) {
        grout_diags_help(diags, "the largest %s is %g%s", info->text,
                         grout_number__get_largest(dtype),
                         get_format(dtype).has_nan ? "" : ", and it has no NaN");
    } else if (info->class_ == GROUT_CLASS_UINT) {
        grout_diags_help(diags, "%s holds 0 to %" PRIu64, info->text, UINT64_MAX >> (64 - bits));
    } else if (info->class_ == GROUT_CLASS_SINT) {
        grout_diags_help(diags, "%s holds %" PRId64 " to %" PRId64, info->text,
                         -(INT64_MAX >> (64 - bits)) - 1, INT64_MAX >> (64 - bits));
    }
}
