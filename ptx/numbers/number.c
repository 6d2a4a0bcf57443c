/* number.c - formats by the widths of their parts.
 * SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include "grout/num.h"

/* What an exponent of all ones means. */
typedef enum top_exponent {
    TOP_IEEE,     /* infinity, or NaN */
    TOP_NAN_ONLY, /* NaN where the fraction is all ones too */
    TOP_NUMBER
} top_exponent;

typedef struct format_info {
    const char *name;
    uint32_t bits;
    int32_t exponent_bits, fraction_bits, bias;
    top_exponent top;
} format_info;

static const format_info FORMATS[GROUT_PTX_FORMAT_COUNT] = {
    [GROUT_PTX_F16] = {".f16", 16, 5, 10, 15, TOP_IEEE},
    [GROUT_PTX_BF16] = {".bf16", 16, 8, 7, 127, TOP_IEEE},
    [GROUT_PTX_TF32] = {".tf32", 32, 8, 10, 127, TOP_IEEE},
    [GROUT_PTX_E4M3] = {".e4m3", 8, 4, 3, 7, TOP_NAN_ONLY},
    [GROUT_PTX_E5M2] = {".e5m2", 8, 5, 2, 15, TOP_IEEE},
    [GROUT_PTX_E2M3] = {".e2m3", 6, 2, 3, 1, TOP_NUMBER},
    [GROUT_PTX_E3M2] = {".e3m2", 6, 3, 2, 3, TOP_NUMBER},
    [GROUT_PTX_E2M1] = {".e2m1", 4, 2, 1, 1, TOP_NUMBER},
    [GROUT_PTX_F32] = {".f32", 32, 8, 23, 127, TOP_IEEE},
    [GROUT_PTX_UE8M0] = {".ue8m0", 8, 8, 0, 127, TOP_NAN_ONLY},
    [GROUT_PTX_UE4M3] = {".ue4m3", 8, 4, 3, 7, TOP_NAN_ONLY},
    [GROUT_PTX_U8] = {".u8", 8, 0, 0, 0, TOP_NUMBER},
    [GROUT_PTX_S8] = {".s8", 8, 0, 0, 0, TOP_NUMBER},
    [GROUT_PTX_B1] = {".b1", 1, 0, 0, 0, TOP_NUMBER},
    [GROUT_PTX_S32] = {".s32", 32, 0, 0, 0, TOP_NUMBER},
};

uint32_t grout_ptx__format_bits(grout_ptx_format format) {
    return FORMATS[format].bits;
}

const char *grout_ptx__format_name(grout_ptx_format format) {
    return FORMATS[format].name;
}

int32_t grout_ptx__format_fraction(grout_ptx_format format) {
    return FORMATS[format].fraction_bits;
}

/* Scales have no sign, and UE8M0 no zero and no subnormals. */
static grout_ptx_term get_ue8m0(uint32_t bits) {
    const int32_t exponent = (int32_t)(bits & 0xff);
    return (grout_ptx_term){1, exponent == 0xff ? GROUT_PTX_EXPONENT_NAN : exponent - 127};
}

grout_ptx_term grout_ptx__term(grout_ptx_format format, uint32_t bits) {
    const format_info *it = &FORMATS[format];
    if (format == GROUT_PTX_UE8M0) {
        return get_ue8m0(bits);
    }
    if (format == GROUT_PTX_TF32) {
        bits >>= 13;
    }
    const int32_t top = (1 << it->exponent_bits) - 1, ones = (1 << it->fraction_bits) - 1;
    const int32_t fraction = (int32_t)bits & ones;
    const int32_t exponent = (int32_t)(bits >> it->fraction_bits) & top;
    const bool is_negative =
        format != GROUT_PTX_UE4M3 && (bits >> (it->fraction_bits + it->exponent_bits) & 1) != 0;
    const int32_t sign = is_negative ? -1 : 1;
    if (exponent == top && it->top == TOP_IEEE) {
        return (grout_ptx_term){sign,
                                fraction == 0 ? GROUT_PTX_EXPONENT_INF : GROUT_PTX_EXPONENT_NAN};
    }
    if (exponent == top && it->top == TOP_NAN_ONLY && fraction == ones) {
        return (grout_ptx_term){sign, GROUT_PTX_EXPONENT_NAN};
    }
    if (exponent == 0 && fraction == 0) {
        return (grout_ptx_term){0, GROUT_PTX_EXPONENT_ZERO};
    }
    const int32_t whole = exponent == 0 ? 0 : 1 << it->fraction_bits;
    return (grout_ptx_term){sign * (whole | fraction), (exponent == 0 ? 1 : exponent) - it->bias};
}

int32_t grout_ptx__integer(grout_ptx_format format, uint32_t bits) {
    if (format == GROUT_PTX_S8) {
        return grout_wrap_i8((uint8_t)bits);
    }
    return format == GROUT_PTX_S32 ? grout_wrap_i32(bits) : (int32_t)(bits & 0xff);
}

uint32_t grout_ptx__nan(grout_ptx_format format) {
    return format == GROUT_PTX_F16 ? 0x7fffu : 0x7fffffffu;
}

uint32_t grout_ptx__infinity(grout_ptx_format format, bool is_negative) {
    const uint32_t bits = format == GROUT_PTX_F16 ? 0x7c00u : 0x7f800000u;
    const uint32_t sign = format == GROUT_PTX_F16 ? 0x8000u : 0x80000000u;
    return is_negative ? bits | sign : bits;
}

/* Takes off the low bits. */
static uint64_t cut(uint64_t size, int32_t drop, bool is_nearest) {
    if (drop <= 0) {
        return size << -drop;
    }
    if (drop > 63) {
        return 0;
    }
    const uint64_t kept = size >> drop, rest = size & (((uint64_t)1 << drop) - 1);
    const uint64_t half = (uint64_t)1 << (drop - 1);
    const bool is_up = is_nearest && (rest > half || (rest == half && (kept & 1) != 0));
    return kept + (is_up ? 1 : 0);
}

uint32_t grout_ptx__round(const grout_ptx_rounding *how, int64_t sum, int32_t scale) {
    const format_info *it = &FORMATS[how->format];
    const bool is_negative = sum < 0;
    const uint64_t size = is_negative ? 0 - (uint64_t)sum : (uint64_t)sum;
    const uint32_t sign = is_negative ? 1u << (it->fraction_bits + it->exponent_bits) : 0;
    const int32_t least = 1 - it->bias;
    if (size == 0) {
        return 0;
    }
    int32_t exponent = 63 - (int32_t)grout_clz_u64(size) + scale;
    exponent = exponent < least ? least : exponent;
    uint64_t kept = cut(size, exponent - how->fraction - scale, how->is_nearest);
    if (kept >> (how->fraction + 1) != 0) {
        kept >>= 1;
        exponent++;
    }
    if (exponent > it->bias) {
        return grout_ptx__infinity(how->format, is_negative);
    }
    if (kept == 0) {
        return 0;
    }
    const bool is_normal = kept >> how->fraction != 0;
    const uint64_t fraction = kept << (it->fraction_bits - how->fraction);
    const uint32_t mask = (1u << it->fraction_bits) - 1;
    const uint32_t field = is_normal ? (uint32_t)(exponent + it->bias) << it->fraction_bits : 0;
    return sign | field | ((uint32_t)fraction & mask);
}
