/*
 * SPDX-License-Identifier: Apache-2.0
 *
 * convert.c - element conversions: floats round once, to nearest even; float to integer truncates
 * and saturates with NaN as 0; integers wrap; to bool is 'differs from zero'. 8-bit floats saturate
 * at their largest finite value (PTX ISA 9.1 'cvt', .rn and .satfinite), and so do those of 4 and 6
 * bits, which have no NaN: of one they make their largest value too. f8e8m0 holds scales: it
 * rounds up, to the next power of two (.rp), and what is below 0 is NaN.
 *
 * The simple way: each element widens exactly to one of three carriers (int64, uint64, double) and
 * narrows from there. A strip at a time, so that no element costs a call. The frequent pairs have
 * loops of their own; tests/unit/interp/math/check_convert.c compares both with a naive reference.
 */
#include "convert.h"

#include "float_env.h"
#include "invariant.h"

#include "loops.h"

#include "grout/num.h"

#include <string.h>

#define STRIP 256

/* A float format narrower than f32: sign, exponent, mantissa from the top. */
typedef struct small_float {
    int mantissa_bits;
    int exponent_min; /* of the smallest normal */
    uint32_t sign;
    uint32_t largest;  /* finite */
    uint32_t overflow; /* what is larger becomes */
    uint32_t nan;
} small_float;

static const small_float format_f16 = {10, -14, 0x8000u, 0x7bffu, 0x7c00u, 0x7fffu};
static const small_float format_bf16 = {7, -126, 0x8000u, 0x7f7fu, 0x7f80u, 0x7fffu};
static const small_float format_f4e2m1 = {1, 0, 0x8u, 0x7u, 0x7u, 0x7u};
static const small_float format_f6e2m3 = {3, 0, 0x20u, 0x1fu, 0x1fu, 0x1fu};
static const small_float format_f6e3m2 = {2, -2, 0x20u, 0x1fu, 0x1fu, 0x1fu};
static const small_float format_f8e4m3 = {3, -6, 0x80u, 0x7eu, 0x7eu, 0x7fu};
static const small_float format_f8e5m2 = {2, -14, 0x80u, 0x7bu, 0x7bu, 0x7fu};

/* Rounds the bits of a double once, to nearest even. */
static uint32_t round_to_small(const small_float *format, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 63 != 0 ? format->sign : 0;
    int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (value != value) {
        return format->nan;
    }
    if (exponent == -1023) { /* zero, or far below half of the smallest subnormal */
        return sign;
    }
    if (exponent > 1000) {
        return sign | format->overflow;
    }
    uint64_t mantissa = (bits & 0xfffffffffffffu) | UINT64_C(1) << 52;
    int below = exponent < format->exponent_min ? format->exponent_min - exponent : 0;
    int shift = 52 - format->mantissa_bits + below;
    if (shift > 54) {
        return sign;
    }
    uint64_t quotient = mantissa >> shift, rest = mantissa - (quotient << shift);
    uint64_t half = UINT64_C(1) << (shift - 1);
    quotient += rest > half || (rest == half && (quotient & 1) != 0) ? 1 : 0;
    uint64_t biased = below > 0 ? 0 : (uint64_t)(exponent - format->exponent_min);
    uint64_t result = (biased << format->mantissa_bits) + quotient;
    return sign | (result > format->largest ? format->overflow : (uint32_t)result);
}

static inline float f16_to_f32(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000u) << 16, rest = (uint32_t)(half & 0x7fffu) << 13;
    float scaled = grout_from_bits_f32(rest) * 0x1p112f; /* exact: rebias, subnormals included */
    uint32_t finite = grout_bits_f32(scaled) | sign;
    uint32_t special = rest == 0x0f800000u ? 0x7f800000u | sign : 0x7fffffffu;
    return grout_from_bits_f32(rest < 0x0f800000u ? finite : special);
}
static inline float bf16_to_f32(uint16_t bits) {
    return grout_from_bits_f32((uint32_t)bits << 16);
}
static inline float f8e4m3_to_f32(uint8_t bits) {
    uint32_t sign = (uint32_t)(bits & 0x80u) << 24, rest = (uint32_t)(bits & 0x7fu) << 20;
    uint32_t finite = grout_bits_f32(grout_from_bits_f32(rest) * 0x1p120f) | sign;
    return grout_from_bits_f32((bits & 0x7fu) == 0x7fu ? 0x7fffffffu : finite);
}
static inline float f8e5m2_to_f32(uint8_t bits) {
    return f16_to_f32((uint16_t)((uint32_t)bits << 8));
}

/* A format of 4 or 6 bits, of which every pattern is a number; bits above them do not count. */
static inline float tiny_to_f32(const small_float *format, uint8_t bits) {
    uint32_t rest = (uint32_t)(bits & (format->sign - 1)) << (23 - format->mantissa_bits);
    uint32_t sign = (bits & format->sign) != 0 ? 0x80000000u : 0;
    float rebias = grout_from_bits_f32((uint32_t)(126 + format->exponent_min + 127) << 23);
    return grout_from_bits_f32(grout_bits_f32(grout_from_bits_f32(rest) * rebias) | sign);
}

static inline int64_t i4_to_signed(uint8_t bits) {
    return (int64_t)((bits & 15u) ^ 8u) - 8;
}

/* A power of two, by its exponent; the least one is no normal f32. */
static inline float f8e8m0_to_f32(uint8_t bits) {
    return grout_from_bits_f32(bits == 0      ? 0x00400000u
                               : bits == 0xff ? 0x7fffffffu
                                              : (uint32_t)bits << 23);
}
/* The next power of two from the number on; there is none below 0. */
static uint8_t round_to_scale(double value) {
    int exponent;
    if (!(value >= 0)) {
        return 0xff;
    }
    if (value <= 0x1p-127) {
        return 0;
    }
    if (value > 0x1p126) {
        return 0xfe;
    }
    const double fraction = frexp(value, &exponent); /* of 1/2 and more */
    return (uint8_t)(exponent + 127 - (fraction == 0.5 ? 1 : 0));
}

static inline uint16_t f32_to_bf16(float value) {
    uint32_t bits = grout_bits_f32(value);
    uint32_t rounded = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
    return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded);
}
static inline uint16_t f32_to_f16(float value) {
    uint32_t bits = grout_bits_f32(value), sign = bits >> 16 & 0x8000u;
    uint32_t size = bits & 0x7fffffffu;
    /* Adding 0.5 puts a result below 2^-14 into the low bits, rounded by the adder. */
    float sum = grout_from_bits_f32(size) + 0.5f;
    uint32_t small = grout_bits_f32(sum) - 0x3f000000u;
    uint32_t normal = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    uint32_t result = size < 0x38800000u ? small : normal;
    result = size >= 0x477ff000u ? 0x7c00u : result;
    return (uint16_t)(size > 0x7f800000u ? 0x7fffu : result | sign);
}

/* ---- narrowing one element from a carrier --------------------------------------------------- */

static inline int64_t truncate_signed(double value, double low, double high) {
    if (value != value) {
        return 0;
    }
    if (value <= low) {
        return (int64_t)low;
    }
    /* 2^63 itself is no int64. */
    return value >= high ? (high >= 0x1p63 ? INT64_MAX : (int64_t)high) : (int64_t)value;
}
static inline uint64_t truncate_unsigned(double value, double high) {
    if (!(value > 0)) {
        return 0;
    }
    return value >= high ? (high >= 0x1p64 ? UINT64_MAX : (uint64_t)high) : (uint64_t)value;
}

/* An integer as a double whose last bit is set if any was lost: a later rounding to f32 or less is
 * then the only one (Boldo and Melquiond, 'Emulation of FMA', 2008: rounding to odd). */
static inline double to_odd(uint64_t size, bool is_negative) {
    uint64_t kept = size;
    if (size >> 53 != 0) {
        kept = (size & ~UINT64_C(0xfff)) | ((size & 0xfffu) != 0 ? UINT64_C(0x1000) : 0);
    }
    return is_negative ? -(double)kept : (double)kept;
}
static inline double signed_to_odd(int64_t value) {
    return value < 0 ? to_odd(0 - (uint64_t)value, true) : to_odd((uint64_t)value, false);
}

static inline float double_to_f32(double value) {
    return value != value ? grout_from_bits_f32(0x7fffffffu) : (float)value;
}

/* NARROW(dtype, C type, from int64, from uint64, from double) */
#define NARROW_LIST(X)                                                                        \
    X(BOOL, uint8_t, a != 0, a != 0, a != 0)                                                  \
    X(I4, uint8_t, (uint8_t)(a & 15), (uint8_t)(a & 15),                                      \
      (uint8_t)(truncate_signed(a, -8.0, 7.0) & 15))                                          \
    X(U4, uint8_t, (uint8_t)(a & 15), (uint8_t)(a & 15), (uint8_t)truncate_unsigned(a, 15.0)) \
    X(I8, int8_t, (int8_t)a, (int8_t)a, (int8_t)truncate_signed(a, -128.0, 127.0))            \
    X(U8, uint8_t, (uint8_t)a, (uint8_t)a, (uint8_t)truncate_unsigned(a, 255.0))              \
    X(I16, int16_t, (int16_t)a, (int16_t)a, (int16_t)truncate_signed(a, -32768.0, 32767.0))   \
    X(U16, uint16_t, (uint16_t)a, (uint16_t)a, (uint16_t)truncate_unsigned(a, 65535.0))       \
    X(I32, int32_t, (int32_t)a, (int32_t)a, (int32_t)truncate_signed(a, -0x1p31, 0x1p31 - 1)) \
    X(U32, uint32_t, (uint32_t)a, (uint32_t)a, (uint32_t)truncate_unsigned(a, 0x1p32 - 1))    \
    X(I64, int64_t, a, (int64_t)a, truncate_signed(a, -0x1p63, 0x1p63))                       \
    X(U64, uint64_t, (uint64_t)a, a, truncate_unsigned(a, 0x1p64))                            \
    X(F4E2M1, uint8_t, (uint8_t)round_to_small(&format_f4e2m1, signed_to_odd(a)),             \
      (uint8_t)round_to_small(&format_f4e2m1, to_odd(a, false)),                              \
      (uint8_t)round_to_small(&format_f4e2m1, a))                                             \
    X(F6E2M3, uint8_t, (uint8_t)round_to_small(&format_f6e2m3, signed_to_odd(a)),             \
      (uint8_t)round_to_small(&format_f6e2m3, to_odd(a, false)),                              \
      (uint8_t)round_to_small(&format_f6e2m3, a))                                             \
    X(F6E3M2, uint8_t, (uint8_t)round_to_small(&format_f6e3m2, signed_to_odd(a)),             \
      (uint8_t)round_to_small(&format_f6e3m2, to_odd(a, false)),                              \
      (uint8_t)round_to_small(&format_f6e3m2, a))                                             \
    X(F8E4M3, uint8_t, (uint8_t)round_to_small(&format_f8e4m3, signed_to_odd(a)),             \
      (uint8_t)round_to_small(&format_f8e4m3, to_odd(a, false)),                              \
      (uint8_t)round_to_small(&format_f8e4m3, a))                                             \
    X(F8E5M2, uint8_t, (uint8_t)round_to_small(&format_f8e5m2, signed_to_odd(a)),             \
      (uint8_t)round_to_small(&format_f8e5m2, to_odd(a, false)),                              \
      (uint8_t)round_to_small(&format_f8e5m2, a))                                             \
    X(F8E8M0, uint8_t, round_to_scale(signed_to_odd(a)), round_to_scale(to_odd(a, false)),    \
      round_to_scale(a))                                                                      \
    X(F16, uint16_t, (uint16_t)round_to_small(&format_f16, signed_to_odd(a)),                 \
      (uint16_t)round_to_small(&format_f16, to_odd(a, false)),                                \
      (uint16_t)round_to_small(&format_f16, a))                                               \
    X(BF16, uint16_t, (uint16_t)round_to_small(&format_bf16, signed_to_odd(a)),               \
      (uint16_t)round_to_small(&format_bf16, to_odd(a, false)),                               \
      (uint16_t)round_to_small(&format_bf16, a))                                              \
    X(F32, float, (float)a, (float)a, double_to_f32(a))                                       \
    X(F64, double, (double)a, (double)a, a)

/* WIDEN(dtype, C type, carrier, expression) */
#define WIDEN_LIST(X)                                                  \
    X(BOOL, uint8_t, int64_t, a != 0)                                  \
    X(I4, uint8_t, int64_t, i4_to_signed(a))                           \
    X(U4, uint8_t, int64_t, a & 15)                                    \
    X(I8, int8_t, int64_t, a)                                          \
    X(U8, uint8_t, int64_t, a)                                         \
    X(I16, int16_t, int64_t, a)                                        \
    X(U16, uint16_t, int64_t, a)                                       \
    X(I32, int32_t, int64_t, a)                                        \
    X(U32, uint32_t, int64_t, a)                                       \
    X(I64, int64_t, int64_t, a)                                        \
    X(U64, uint64_t, uint64_t, a)                                      \
    X(F4E2M1, uint8_t, double, (double)tiny_to_f32(&format_f4e2m1, a)) \
    X(F6E2M3, uint8_t, double, (double)tiny_to_f32(&format_f6e2m3, a)) \
    X(F6E3M2, uint8_t, double, (double)tiny_to_f32(&format_f6e3m2, a)) \
    X(F8E4M3, uint8_t, double, (double)f8e4m3_to_f32(a))               \
    X(F8E5M2, uint8_t, double, (double)f8e5m2_to_f32(a))               \
    X(F8E8M0, uint8_t, double, (double)f8e8m0_to_f32(a))               \
    X(F16, uint16_t, double, (double)f16_to_f32(a))                    \
    X(BF16, uint16_t, double, (double)bf16_to_f32(a))                  \
    X(F32, float, double, (double)a)                                   \
    X(F64, double, double, a)

/* One element of any type, or one carrier. */
typedef union carrier {
    int64_t signed_;
    uint64_t unsigned_;
    double floating;
    float f32;
    int32_t i32;
    uint32_t u32;
    int16_t i16;
    uint16_t u16;
    int8_t i8;
    uint8_t u8;
} carrier;

typedef void convert_loop(const void *source, void *destination, int64_t count);

/* Elements are read and written through pointers to their own type: buffers are aligned for it. */
#define LOOP_FOR(TARGET, NAME, FROM, TO, EXPRESSION)                                \
    TARGET static void NAME(const void *source, void *destination, int64_t count) { \
        const FROM *restrict from = source;                                         \
        TO *restrict to = destination;                                              \
        for (int64_t i = 0; i < count; i++) {                                       \
            const FROM a = from[i];                                                 \
            to[i] = (TO)(EXPRESSION);                                               \
        }                                                                           \
    }
#define LOOP(NAME, FROM, TO, EXPRESSION) LOOP_FOR(, NAME, FROM, TO, EXPRESSION)

#define WIDEN(NAME, TYPE, CARRIER, EXPRESSION) LOOP(widen_##NAME, TYPE, CARRIER, EXPRESSION)
WIDEN_LIST(WIDEN)
#define NARROW(NAME, TYPE, SIGNED, UNSIGNED, FLOATING)     \
    LOOP(narrow_signed_##NAME, int64_t, TYPE, SIGNED)      \
    LOOP(narrow_unsigned_##NAME, uint64_t, TYPE, UNSIGNED) \
    LOOP(narrow_float_##NAME, double, TYPE, FLOATING)
NARROW_LIST(NARROW)

static convert_loop *const widen_loops[GROUT_DTYPE_COUNT] = {
#define WIDEN_ENTRY(NAME, TYPE, CARRIER, EXPRESSION) [GROUT_DTYPE_##NAME] = widen_##NAME,
    WIDEN_LIST(WIDEN_ENTRY)};
static convert_loop *const narrow_loops[3][GROUT_DTYPE_COUNT] = {
#define NARROW_ENTRY(NAME, TYPE, SIGNED, UNSIGNED, FLOATING) \
    [0][GROUT_DTYPE_##NAME] = narrow_signed_##NAME,          \
    [1][GROUT_DTYPE_##NAME] = narrow_unsigned_##NAME,        \
    [2][GROUT_DTYPE_##NAME] = narrow_float_##NAME,
    NARROW_LIST(NARROW_ENTRY)};

/* ---- pairs with a loop of their own --------------------------------------------------------- */

/* Arithmetic on f16 and bf16 goes through f32: these are as wide as its own loops. */
#if GROUT_SIMD_IS_X86
#define WIDE_LOOP(NAME, FROM, TO, EXPRESSION)                           \
    LOOP_FOR(, NAME, FROM, TO, EXPRESSION)                              \
    LOOP_FOR(GROUT_SIMD_TARGET_AVX2, NAME##_avx2, FROM, TO, EXPRESSION) \
    LOOP_FOR(GROUT_SIMD_TARGET_AVX512, NAME##_avx512, FROM, TO, EXPRESSION)
#define WIDE(NAME) \
    { NAME, NAME##_avx2, NAME##_avx512 }
#else
#define WIDE_LOOP(NAME, FROM, TO, EXPRESSION) LOOP_FOR(, NAME, FROM, TO, EXPRESSION)
#define WIDE(NAME) \
    { NAME }
#endif
#define PLAIN(NAME) \
    { NAME, NAME, NAME }

WIDE_LOOP(direct_f32_f16, float, uint16_t, f32_to_f16(a))
WIDE_LOOP(direct_f32_bf16, float, uint16_t, f32_to_bf16(a))
WIDE_LOOP(direct_f16_f32, uint16_t, float, f16_to_f32(a))
WIDE_LOOP(direct_bf16_f32, uint16_t, float, bf16_to_f32(a))
LOOP(direct_f8e4m3_f32, uint8_t, float, f8e4m3_to_f32(a))
LOOP(direct_f8e5m2_f32, uint8_t, float, f8e5m2_to_f32(a))
LOOP(direct_i32_f32, int32_t, float, a)
LOOP(direct_u32_f32, uint32_t, float, a)
LOOP(direct_f32_i32, float, int32_t,
     a != a          ? 0
     : a >= 0x1p31f  ? INT32_MAX
     : a <= -0x1p31f ? INT32_MIN
                     : (int32_t)a)
LOOP(direct_i32_u32, int32_t, uint32_t, a)
LOOP(direct_bool_f32, uint8_t, float, a != 0)
LOOP(direct_bool_i32, uint8_t, int32_t, a != 0)

static convert_loop *find_direct(grout_dtype from, grout_dtype to) {
#define PAIR(FROM, TO) [GROUT_DTYPE_##FROM][GROUT_DTYPE_##TO]
    static convert_loop *const loops[GROUT_DTYPE_COUNT][GROUT_DTYPE_COUNT][GROUT_SIMD_COUNT] = {
        PAIR(F32, F16) = WIDE(direct_f32_f16),        PAIR(F32, BF16) = WIDE(direct_f32_bf16),
        PAIR(F16, F32) = WIDE(direct_f16_f32),        PAIR(BF16, F32) = WIDE(direct_bf16_f32),
        PAIR(F8E4M3, F32) = PLAIN(direct_f8e4m3_f32), PAIR(F8E5M2, F32) = PLAIN(direct_f8e5m2_f32),
        PAIR(I32, F32) = PLAIN(direct_i32_f32),       PAIR(U32, F32) = PLAIN(direct_u32_f32),
        PAIR(F32, I32) = PLAIN(direct_f32_i32),       PAIR(I32, U32) = PLAIN(direct_i32_u32),
        PAIR(U32, I32) = PLAIN(direct_i32_u32),       PAIR(BOOL, F32) = PLAIN(direct_bool_f32),
        PAIR(BOOL, I32) = PLAIN(direct_bool_i32),
    };
    return loops[from][to][grout_simd__get_best()];
}

/* ---- rounding in place ---------------------------------------------------------------------- */

#define ROUND_FOR(TARGET, NAME, EXPRESSION)                 \
    TARGET static void NAME(float *values, int64_t count) { \
        for (int64_t i = 0; i < count; i++) {               \
            const float a = values[i];                      \
            values[i] = (EXPRESSION);                       \
        }                                                   \
    }
#if GROUT_SIMD_IS_X86
#define ROUND(NAME, EXPRESSION)                                \
    ROUND_FOR(, NAME, EXPRESSION)                              \
    ROUND_FOR(GROUT_SIMD_TARGET_AVX2, NAME##_avx2, EXPRESSION) \
    ROUND_FOR(GROUT_SIMD_TARGET_AVX512, NAME##_avx512, EXPRESSION)
#else
#define ROUND(NAME, EXPRESSION) ROUND_FOR(, NAME, EXPRESSION)
#endif
ROUND(round_f16, f16_to_f32(f32_to_f16(a)))
ROUND(round_bf16, bf16_to_f32(f32_to_bf16(a)))

void grout_round_to(grout_dtype dtype, float *values, int64_t count) {
    static void (*const loops[2][GROUT_SIMD_COUNT])(float *values, int64_t count) = {
        WIDE(round_f16), WIDE(round_bf16)};
    loops[dtype == GROUT_DTYPE_BF16 ? 1 : 0][grout_simd__get_best()](values, count);
}

static uint32_t get_carrier(grout_dtype dtype) {
    if (grout_dtype_get_info(dtype)->class_ == GROUT_CLASS_FLOAT) {
        return 2;
    }
    return dtype == GROUT_DTYPE_U64 ? 1 : 0;
}

void grout_convert(grout_dtype from, const void *source, grout_dtype to, void *destination,
                   int64_t count) {
    size_t from_bytes = grout_dtype_get_info(from)->bytes,
           to_bytes = grout_dtype_get_info(to)->bytes;
    convert_loop *direct = find_direct(from, to);
    if (from == to) {
        memcpy(destination, source, (size_t)count * from_bytes);
        return;
    }
    if (direct != NULL) {
        direct(source, destination, count);
        return;
    }
    carrier strip[STRIP];
    convert_loop *narrow = narrow_loops[get_carrier(from)][to];
    for (int64_t first = 0; first < count; first += STRIP) {
        int64_t length = count - first < STRIP ? count - first : STRIP;
        widen_loops[from]((const uint8_t *)source + (size_t)first * from_bytes, strip, length);
        narrow(strip, (uint8_t *)destination + (size_t)first * to_bytes, length);
    }
}

void grout_fill_element(uint32_t bytes, const void *element, void *destination, int64_t count) {
    size_t size = (size_t)count * bytes, done = bytes;
    if (count <= 0) {
        return;
    }
    if (bytes == 1) {
        memset(destination, *(const unsigned char *)element, size);
        return;
    }
    memcpy(destination, element, bytes);
    while (done < size) { /* doubling: the copies soon are as large as memcpy likes them */
        size_t part = done < 4096 ? done : (size_t)4096 / bytes * bytes;
        part = part < size - done ? part : size - done;
        memcpy((unsigned char *)destination + done, destination, part);
        done += part;
    }
}

static void fill_bits(grout_dtype dtype, uint64_t bits, void *destination, int64_t count) {
    uint8_t element[8];
    for (uint32_t i = 0; i < 8; i++) {
        element[i] = (uint8_t)(bits >> (8 * i));
    }
    grout_fill_element(grout_dtype_get_info(dtype)->bytes, element, destination, count);
}

void grout_fill_poison(grout_dtype dtype, void *destination, int64_t count) {
    fill_bits(dtype, grout_dtype_get_pattern(dtype, grout_dtype_get_info(dtype)->poison),
              destination, count);
}

void grout_fill_nan(grout_dtype dtype, void *destination, int64_t count) {
    GROUT_ASSERT(grout_dtype_get_fill(dtype) != 0);
    fill_bits(dtype, grout_dtype_get_fill(dtype), destination, count);
}

double grout_element_to_double(grout_dtype dtype, const void *element) {
    carrier narrow = {0}, wide;
    memcpy(&narrow, element, grout_dtype_get_info(dtype)->bytes);
    grout_float_env caller = grout_float_env__enter();
    widen_loops[dtype](&narrow, &wide, 1);
    grout_float_env__leave(&caller);
    switch (get_carrier(dtype)) {
    case 0:
        return (double)wide.signed_;
    case 1:
        return (double)wide.unsigned_;
    default:
        return wide.floating;
    }
}

void grout_element_from_double(grout_dtype dtype, double value, void *element_out) {
    carrier narrow = {0};
    grout_float_env caller = grout_float_env__enter();
    narrow_loops[2][dtype](&value, &narrow, 1);
    grout_float_env__leave(&caller);
    memcpy(element_out, &narrow, grout_dtype_get_info(dtype)->bytes);
}
