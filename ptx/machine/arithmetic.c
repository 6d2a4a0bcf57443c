/* arithmetic.c - instructions that compute a value of each lane from those of its sources: a row
 * for each type and form. PTX ISA 9.1, 9.7.1 to 9.7.8; the rows say what the sections say.
 * SPDX-License-Identifier: Apache-2.0 */
#include "decoders.h"
#include "floats.h"
#include "machine.h"

#include <math.h>

/* How a row differs from others of its opcode and type. */
enum { PLAIN, HIGH, WIDE, NANS, SATURATED, TO_ZERO, TO_DOWN, TO_UP, SHIFTED, NO_FORM };

/* The values of a type, as C computes with them, and the word that a register holds. */
#define GET_u16(x)  ((uint32_t)(uint16_t)(x))
#define GET_s16(x)  ((int32_t)(int16_t)(x))
#define GET_u32(x)  ((uint32_t)(x))
#define GET_s32(x)  ((int32_t)(x))
#define GET_u64(x)  ((uint64_t)(x))
#define GET_s64(x)  ((int64_t)(x))
#define GET_f32(x)  (ptx_float(x))
#define GET_f64(x)  (ptx_double(x))
#define GET_f16(x)  ((float)grout_ptx__widen(&grout_ptx__f16, (uint16_t)(x)))
#define GET_bf16(x) (ptx_float((uint32_t)(uint16_t)(x) << 16))
#define PUT_u16(x)  ((uint32_t)(uint16_t)(x))
#define PUT_s16(x)  ((uint32_t)(uint16_t)(x))
#define PUT_u32(x)  ((uint32_t)(x))
#define PUT_s32(x)  ((uint32_t)(x))
#define PUT_u64(x)  ((uint64_t)(x))
#define PUT_s64(x)  ((uint64_t)(x))
#define PUT_f32(x)  (ptx_canonical(x))
#define PUT_f64(x)  (ptx_double_bits(x))
#define PUT_f16(x)  (grout_ptx__narrow(&grout_ptx__f16, (double)(x), PTX_ROUND_NEAREST, false))
#define PUT_bf16(x) (grout_ptx__narrow(&grout_ptx__bf16, (double)(x), PTX_ROUND_NEAREST, false))
#define WORD_u16    uint32_t
#define WORD_s16    uint32_t
#define WORD_u32    uint32_t
#define WORD_s32    uint32_t
#define WORD_u64    uint64_t
#define WORD_s64    uint64_t
#define WORD_f32    uint32_t
#define WORD_f64    uint64_t
#define WORD_f16    uint32_t
#define WORD_bf16   uint32_t
#define VALUE_u16   uint32_t
#define VALUE_s16   int32_t
#define VALUE_u32   uint32_t
#define VALUE_s32   int32_t
#define VALUE_u64   uint64_t
#define VALUE_s64   int64_t
#define VALUE_f32   float
#define VALUE_f64   double
#define VALUE_f16   float
#define VALUE_bf16  float

/* ---- meanings ---- */

static uint64_t mul_hi_u64(uint64_t a, uint64_t b) {
    uint64_t low = (a & UINT32_MAX) * (b & UINT32_MAX);
    uint64_t middle = (a >> 32) * (b & UINT32_MAX) + (low >> 32);
    uint64_t other = (a & UINT32_MAX) * (b >> 32) + (middle & UINT32_MAX);
    return (a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32);
}

static int64_t mul_hi_s64(int64_t a, int64_t b) {
    uint64_t high = mul_hi_u64((uint64_t)a, (uint64_t)b);
    high -= a < 0 ? (uint64_t)b : 0;
    high -= b < 0 ? (uint64_t)a : 0;
    return (int64_t)high;
}

/* Division by zero has no value in PTX: hardware gives all ones. */
static uint32_t div_u32(uint32_t a, uint32_t b) {
    return b == 0 ? UINT32_MAX : a / b;
}
static uint64_t div_u64(uint64_t a, uint64_t b) {
    return b == 0 ? UINT64_MAX : a / b;
}
static uint32_t rem_u32(uint32_t a, uint32_t b) {
    return b == 0 ? a : a % b;
}
static uint64_t rem_u64(uint64_t a, uint64_t b) {
    return b == 0 ? a : a % b;
}
static int32_t div_s32(int32_t a, int32_t b) {
    return b == 0 ? -1 : (int32_t)((int64_t)a / b);
}
static int32_t rem_s32(int32_t a, int32_t b) {
    return b == 0 ? a : (int32_t)((int64_t)a % b);
}
static int64_t div_s64(int64_t a, int64_t b) {
    return b == 0 ? -1 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
}
static int64_t rem_s64(int64_t a, int64_t b) {
    return b == 0 ? a : b == -1 ? 0 : a % b;
}

/* -0 is less than +0; of a NaN and a number the number. */
static double min_f64(double a, double b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) != 0 ? a : b) : a < b ? a : b;
}
static double max_f64(double a, double b) {
    return a != a ? b : b != b ? a : a == b ? (signbit(a) != 0 ? b : a) : a > b ? a : b;
}
static float min_f32(float a, float b) {
    return (float)min_f64((double)a, (double)b);
}
static float max_f32(float a, float b) {
    return (float)max_f64((double)a, (double)b);
}
static float min_nan(float a, float b) {
    return a != a || b != b ? NAN : min_f32(a, b);
}
static float max_nan(float a, float b) {
    return a != a || b != b ? NAN : max_f32(a, b);
}

static float saturate(float a) {
    return a > 0 ? (a < 1 ? a : 1) : 0;
}

static float round_f32(double value, ptx_rounding rounding) {
    return isfinite(value) ? ptx_float(grout_ptx__narrow(&grout_ptx__f32, value, rounding, false))
                           : (float)value;
}

static uint32_t shr_s32(uint32_t a, uint32_t b) {
    uint32_t by = b > 31 ? 31 : b;
    return (a & 0x80000000u) != 0 ? ~(~a >> by) : a >> by;
}

static uint32_t clz_u32(uint32_t a) {
    return a == 0 ? 32 : (uint32_t)__builtin_clz(a);
}
static uint32_t clz_u64(uint64_t a) {
    return a == 0 ? 64 : (uint32_t)__builtin_clzll(a);
}

static uint32_t brev(uint32_t a) {
    a = (a >> 1 & 0x55555555u) | (a & 0x55555555u) << 1;
    a = (a >> 2 & 0x33333333u) | (a & 0x33333333u) << 2;
    a = (a >> 4 & 0x0f0f0f0fu) | (a & 0x0f0f0f0fu) << 4;
    a = (a >> 8 & 0x00ff00ffu) | (a & 0x00ff00ffu) << 8;
    return a >> 16 | a << 16;
}

/* bfe: bits pos to pos + len - 1; signed ones repeat the last bit. */
static uint64_t bfe(uint64_t a, uint32_t pos, uint32_t len, uint32_t width, bool is_signed) {
    pos &= 0xff;
    len &= 0xff;
    uint32_t last = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
    uint64_t sign = is_signed && len > 0 ? a >> last & 1 : 0, result = 0;
    for (uint32_t i = 0; i < width; i++) {
        result |= (i < len && pos + i < width ? a >> (pos + i) & 1 : sign) << i;
    }
    return result;
}

static uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width) {
    pos &= 0xff;
    len &= 0xff;
    for (uint32_t i = 0; i < len && pos + i < width; i++) {
        b = (b & ~(UINT64_C(1) << (pos + i))) | (a >> i & 1) << (pos + i);
    }
    return b;
}

/* prmt without a mode: each nibble of c chooses a byte, or repeats its sign. */
static uint32_t prmt(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t choice = c >> 4 * i & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (choice & 7)) & 0xff;
        byte = choice < 8 ? byte : (byte & 0x80) != 0 ? 0xff : 0;
        result |= byte << 8 * i;
    }
    return result;
}

/* A pair of 16-bit floats at once. */
static uint32_t map_pair(const ptx_format *format, uint32_t a, uint32_t b, uint32_t c,
                         double (*operation)(double, double, double)) {
    uint32_t result = 0;
    for (uint32_t i = 0; i < 32; i += 16) {
        double value = operation(grout_ptx__widen(format, a >> i & 0xffff),
                                 grout_ptx__widen(format, b >> i & 0xffff),
                                 grout_ptx__widen(format, c >> i & 0xffff));
        result |= grout_ptx__narrow(format, value, PTX_ROUND_NEAREST, false) << i;
    }
    return result;
}
/* Two f32 at once, the first in the low bits, each as it is alone. */
static uint64_t map_floats(uint64_t a, uint64_t b, uint64_t c, float (*of)(float, float, float)) {
    uint64_t result = 0;
    for (uint32_t i = 0; i < 64; i += 32) {
        float value = of(ptx_float((uint32_t)(a >> i)), ptx_float((uint32_t)(b >> i)),
                         ptx_float((uint32_t)(c >> i)));
        result |= (uint64_t)ptx_canonical(value) << i;
    }
    return result;
}
#define FLOATS(NAME, SIGN)                            \
    static float NAME(float a, float b, float none) { \
        (void)none;                                   \
        return a SIGN b;                              \
    }
FLOATS(float_add, +)
FLOATS(float_sub, -)
FLOATS(float_mul, *)
static double pair_add(double a, double b, double c) {
    (void)c;
    return grout_ptx__add_odd(a, b);
}
static double pair_sub(double a, double b, double c) {
    (void)c;
    return grout_ptx__add_odd(a, -b);
}
static double pair_mul(double a, double b, double c) {
    (void)c;
    return a * b;
}
static double pair_min(double a, double b, double c) {
    (void)c;
    return min_f64(a, b);
}
static double pair_max(double a, double b, double c) {
    (void)c;
    return max_f64(a, b);
}
static double pair_min_nan(double a, double b, double c) {
    (void)c;
    return a != a || b != b ? (double)NAN : min_f64(a, b);
}
static double pair_max_nan(double a, double b, double c) {
    (void)c;
    return a != a || b != b ? (double)NAN : max_f64(a, b);
}

/* ---- rows: X(opcode, type, form, sources, type of the result, of the sources, expression) ---- */

// clang-format off
#define INTEGER_ROWS(X, T, UT, U, SU) \
    X(ADD, T, PLAIN, 2, U, U, a + b) \
    X(SUB, T, PLAIN, 2, U, U, a - b) \
    X(MUL, T, PLAIN, 2, U, U, a * b) \
    X(MAD, T, PLAIN, 3, U, U, a * b + c) \
    X(MIN, T, PLAIN, 2, SU, SU, a < b ? a : b) \
    X(MAX, T, PLAIN, 2, SU, SU, a > b ? a : b)
#define SIGNED_ROWS(X, T, S, U) \
    X(ABS, T, PLAIN, 1, U, S, a < 0 ? (VALUE_##U)(0 - (VALUE_##U)a) : (VALUE_##U)a) \
    X(NEG, T, PLAIN, 1, U, U, 0 - a)
#define BIT_ROWS(X, T, U) \
    X(AND, T, PLAIN, 2, U, U, a & b) \
    X(OR, T, PLAIN, 2, U, U, a | b) \
    X(XOR, T, PLAIN, 2, U, U, a ^ b) \
    X(NOT, T, PLAIN, 1, U, U, ~a) \
    X(CNOT, T, PLAIN, 1, U, U, a == 0)
#define PAIR_ROWS(X, T, FORMAT) \
    X(ADD, T, PLAIN, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_add)) \
    X(SUB, T, PLAIN, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_sub)) \
    X(MUL, T, PLAIN, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_mul)) \
    X(FMA, T, PLAIN, 3, u32, u32, map_pair(&FORMAT, a, b, c, grout_ptx__fma_odd)) \
    X(MIN, T, PLAIN, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_min)) \
    X(MAX, T, PLAIN, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_max)) \
    X(MIN, T, NANS, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_min_nan)) \
    X(MAX, T, NANS, 2, u32, u32, map_pair(&FORMAT, a, b, 0, pair_max_nan)) \
    X(NEG, T, PLAIN, 1, u32, u32, a ^ 0x80008000u) \
    X(ABS, T, PLAIN, 1, u32, u32, a & 0x7fff7fffu)
#define HALF_ROWS(X, T, F, FORMAT) \
    X(ADD, T, PLAIN, 2, F, F, a + b) \
    X(SUB, T, PLAIN, 2, F, F, a - b) \
    X(MUL, T, PLAIN, 2, F, F, a * b) \
    X(FMA, T, PLAIN, 3, F, F, grout_ptx__fma_odd((double)a, (double)b, (double)c)) \
    X(MIN, T, PLAIN, 2, F, F, min_f32(a, b)) \
    X(MAX, T, PLAIN, 2, F, F, max_f32(a, b)) \
    X(MIN, T, NANS, 2, F, F, min_nan(a, b)) \
    X(MAX, T, NANS, 2, F, F, max_nan(a, b)) \
    X(NEG, T, PLAIN, 1, u16, u16, a ^ 0x8000u) \
    X(ABS, T, PLAIN, 1, u16, u16, a & 0x7fffu)
#define ROUNDED_ROWS(X, FORM, MODE) \
    X(ADD, F32, FORM, 2, f32, f32, round_f32(grout_ptx__add_odd((double)a, (double)b), MODE)) \
    X(SUB, F32, FORM, 2, f32, f32, round_f32(grout_ptx__add_odd((double)a, -(double)b), MODE)) \
    X(MUL, F32, FORM, 2, f32, f32, round_f32((double)a * (double)b, MODE)) \
    X(FMA, F32, FORM, 3, f32, f32, round_f32(grout_ptx__fma_odd((double)a, (double)b, (double)c), MODE))
#define ROUNDED64_ROWS(X, FORM, MODE) \
    X(ADD, F64, FORM, 2, f64, f64, grout_ptx__add_f64(a, b, MODE)) \
    X(SUB, F64, FORM, 2, f64, f64, grout_ptx__add_f64(a, -b, MODE)) \
    X(MUL, F64, FORM, 2, f64, f64, grout_ptx__mul_f64(a, b, MODE))
#define ROWS(X) \
    INTEGER_ROWS(X, U16, U16, u16, u16) \
    INTEGER_ROWS(X, S16, U16, u16, s16) \
    INTEGER_ROWS(X, U32, U32, u32, u32) \
    INTEGER_ROWS(X, S32, U32, u32, s32) \
    INTEGER_ROWS(X, U64, U64, u64, u64) \
    INTEGER_ROWS(X, S64, U64, u64, s64) \
    SIGNED_ROWS(X, S16, s16, u16) \
    SIGNED_ROWS(X, S32, s32, u32) \
    SIGNED_ROWS(X, S64, s64, u64) \
    BIT_ROWS(X, B16, u16) \
    BIT_ROWS(X, B32, u32) \
    BIT_ROWS(X, B64, u64) \
    PAIR_ROWS(X, F16X2, grout_ptx__f16) \
    PAIR_ROWS(X, BF16X2, grout_ptx__bf16) \
    X(ADD, F32X2, PLAIN, 2, u64, u64, map_floats(a, b, 0, float_add)) \
    X(SUB, F32X2, PLAIN, 2, u64, u64, map_floats(a, b, 0, float_sub)) \
    X(MUL, F32X2, PLAIN, 2, u64, u64, map_floats(a, b, 0, float_mul)) \
    X(FMA, F32X2, PLAIN, 3, u64, u64, map_floats(a, b, c, fmaf)) \
    HALF_ROWS(X, F16, f16, grout_ptx__f16) \
    HALF_ROWS(X, BF16, bf16, grout_ptx__bf16) \
    ROUNDED64_ROWS(X, TO_ZERO, PTX_ROUND_ZERO) \
    ROUNDED64_ROWS(X, TO_DOWN, PTX_ROUND_DOWN) \
    ROUNDED64_ROWS(X, TO_UP, PTX_ROUND_UP) \
    ROUNDED_ROWS(X, TO_ZERO, PTX_ROUND_ZERO) \
    ROUNDED_ROWS(X, TO_DOWN, PTX_ROUND_DOWN) \
    ROUNDED_ROWS(X, TO_UP, PTX_ROUND_UP) \
    X(MUL, U16, WIDE, 2, u32, u16, a * b) \
    X(MUL, S16, WIDE, 2, u32, s16, a * b) \
    X(MUL, U32, WIDE, 2, u64, u32, (uint64_t)a * b) \
    X(MUL, S32, WIDE, 2, u64, s32, (int64_t)a * b) \
    X(MUL, U16, HIGH, 2, u16, u16, a * b >> 16) \
    X(MUL, S16, HIGH, 2, u16, s16, (uint32_t)(a * b) >> 16) \
    X(MUL, U32, HIGH, 2, u32, u32, (uint64_t)a * b >> 32) \
    X(MUL, S32, HIGH, 2, u32, s32, (uint64_t)((int64_t)a * b) >> 32) \
    X(MUL, U64, HIGH, 2, u64, u64, mul_hi_u64(a, b)) \
    X(MUL, S64, HIGH, 2, u64, s64, mul_hi_s64(a, b)) \
    X(DIV, U16, PLAIN, 2, u16, u16, div_u32(a, b)) \
    X(DIV, S16, PLAIN, 2, u16, s16, div_s32(a, b)) \
    X(DIV, U32, PLAIN, 2, u32, u32, div_u32(a, b)) \
    X(DIV, S32, PLAIN, 2, u32, s32, div_s32(a, b)) \
    X(DIV, U64, PLAIN, 2, u64, u64, div_u64(a, b)) \
    X(DIV, S64, PLAIN, 2, u64, s64, div_s64(a, b)) \
    X(REM, U16, PLAIN, 2, u16, u16, rem_u32(a, b)) \
    X(REM, S16, PLAIN, 2, u16, s16, rem_s32(a, b)) \
    X(REM, U32, PLAIN, 2, u32, u32, rem_u32(a, b)) \
    X(REM, S32, PLAIN, 2, u32, s32, rem_s32(a, b)) \
    X(REM, U64, PLAIN, 2, u64, u64, rem_u64(a, b)) \
    X(REM, S64, PLAIN, 2, u64, s64, rem_s64(a, b)) \
    X(ADD, F32, PLAIN, 2, f32, f32, a + b) \
    X(SUB, F32, PLAIN, 2, f32, f32, a - b) \
    X(MUL, F32, PLAIN, 2, f32, f32, a * b) \
    X(FMA, F32, PLAIN, 3, f32, f32, fmaf(a, b, c)) \
    X(ADD, F32, SATURATED, 2, f32, f32, saturate(a + b)) \
    X(MUL, F32, SATURATED, 2, f32, f32, saturate(a * b)) \
    X(FMA, F32, SATURATED, 3, f32, f32, saturate(fmaf(a, b, c))) \
    X(MAD, F32, PLAIN, 3, f32, f32, fmaf(a, b, c)) \
    X(DIV, F32, PLAIN, 2, f32, f32, a / b) \
    X(MIN, F32, PLAIN, 2, f32, f32, min_f32(a, b)) \
    X(MAX, F32, PLAIN, 2, f32, f32, max_f32(a, b)) \
    X(MIN, F32, NANS, 2, f32, f32, min_nan(a, b)) \
    X(MAX, F32, NANS, 2, f32, f32, max_nan(a, b)) \
    X(ABS, F32, PLAIN, 1, u32, u32, a & 0x7fffffffu) \
    X(NEG, F32, PLAIN, 1, u32, u32, a ^ 0x80000000u) \
    X(COPYSIGN, F32, PLAIN, 2, u32, u32, (a & 0x80000000u) | (b & 0x7fffffffu)) \
    X(ADD, F64, PLAIN, 2, f64, f64, a + b) \
    X(SUB, F64, PLAIN, 2, f64, f64, a - b) \
    X(MUL, F64, PLAIN, 2, f64, f64, a * b) \
    X(FMA, F64, PLAIN, 3, f64, f64, fma(a, b, c)) \
    X(MAD, F64, PLAIN, 3, f64, f64, fma(a, b, c)) \
    X(DIV, F64, PLAIN, 2, f64, f64, a / b) \
    X(MIN, F64, PLAIN, 2, f64, f64, min_f64(a, b)) \
    X(MAX, F64, PLAIN, 2, f64, f64, max_f64(a, b)) \
    X(ABS, F64, PLAIN, 1, u64, u64, a & UINT64_C(0x7fffffffffffffff)) \
    X(NEG, F64, PLAIN, 1, u64, u64, a ^ UINT64_C(0x8000000000000000)) \
    X(COPYSIGN, F64, PLAIN, 2, u64, u64, (a & UINT64_C(0x8000000000000000)) | (b & UINT64_C(0x7fffffffffffffff))) \
    X(SAD, U32, PLAIN, 3, u32, u32, c + (a < b ? b - a : a - b)) \
    X(SAD, S32, PLAIN, 3, u32, s32, (uint32_t)c + (a < b ? (uint32_t)b - (uint32_t)a : (uint32_t)a - (uint32_t)b)) \
    X(POPC, B32, PLAIN, 1, u32, u32, __builtin_popcount(a)) \
    X(POPC, B64, PLAIN, 1, u32, u64, __builtin_popcountll(a)) \
    X(CLZ, B32, PLAIN, 1, u32, u32, clz_u32(a)) \
    X(CLZ, B64, PLAIN, 1, u32, u64, clz_u64(a)) \
    X(BREV, B32, PLAIN, 1, u32, u32, brev(a)) \
    X(BREV, B64, PLAIN, 1, u64, u64, (uint64_t)brev((uint32_t)a) << 32 | brev((uint32_t)(a >> 32))) \
    X(BFIND, U32, PLAIN, 1, u32, u32, 31 - clz_u32(a)) \
    X(BFIND, S32, PLAIN, 1, u32, s32, 31 - clz_u32((uint32_t)(a < 0 ? ~a : a))) \
    X(BFIND, U64, PLAIN, 1, u32, u64, 63 - clz_u64(a)) \
    X(BFIND, U32, SHIFTED, 1, u32, u32, a == 0 ? UINT32_MAX : clz_u32(a)) \
    X(BFIND, U64, SHIFTED, 1, u32, u64, a == 0 ? UINT32_MAX : clz_u64(a)) \
    X(BFE, U32, PLAIN, 3, u32, u32, bfe(a, b, c, 32, false)) \
    X(BFE, S32, PLAIN, 3, u32, u32, bfe(a, b, c, 32, true)) \
    X(BFI, B32, PLAIN, 4, u32, u32, bfi(a, b, c, e, 32)) \
    X(SHL, B32, PLAIN, 2, u32, u32, b > 31 ? 0 : a << b) \
    X(SHR, B32, PLAIN, 2, u32, u32, b > 31 ? 0 : a >> b) \
    X(SHR, U32, PLAIN, 2, u32, u32, b > 31 ? 0 : a >> b) \
    X(SHR, S32, PLAIN, 2, u32, u32, shr_s32(a, b)) \
    X(PRMT, B32, PLAIN, 3, u32, u32, prmt(a, b, c))
// clang-format on

/* One routine a row. All lanes at once is the common case, and a loop that compilers vectorise. */
#define COMPUTE(D, S, EXPRESSION)                         \
    do {                                                  \
        VALUE_##S a = GET_##S(as[i]), b = GET_##S(bs[i]); \
        VALUE_##S c = GET_##S(cs[i]), e = GET_##S(es[i]); \
        (void)a, (void)b, (void)c, (void)e;               \
        ds[i] = (WORD_##D)PUT_##D(EXPRESSION);            \
    } while (0)
#define POINTER(WORD, PLANE) ((WORD *)(void *)ptx_words(context, &(PLANE)))
#define DEFINE(OP, TYPE, FORM, COUNT, D, S, EXPRESSION)                               \
    static ptx_outcome run_##OP##_##TYPE##_##FORM(ptx_context *context) {             \
        const ptx_step *step = context->step;                                         \
        const WORD_##S *as = POINTER(WORD_##S, step->sources[0]);                     \
        const WORD_##S *bs = POINTER(WORD_##S, step->sources[COUNT > 1 ? 1 : 0]);     \
        const WORD_##S *cs = POINTER(WORD_##S, step->sources[COUNT > 2 ? 2 : 0]);     \
        const WORD_##S *es = POINTER(WORD_##S, step->sources[COUNT > 3 ? 3 : 0]);     \
        WORD_##D *ds = POINTER(WORD_##D, step->result);                               \
        if (context->lanes == UINT32_MAX) {                                           \
            for (uint32_t i = 0; i < PTX_LANES; i++) {                                \
                COMPUTE(D, S, EXPRESSION);                                            \
            }                                                                         \
        } else {                                                                      \
            PTX_FOR_LANES(i, context->lanes) {                                        \
                COMPUTE(D, S, EXPRESSION);                                            \
            }                                                                         \
        }                                                                             \
        ptx_set_defined(context, &step->result,                                       \
                        ptx_defined(context, &step->sources[0]) &                     \
                            ptx_defined(context, &step->sources[COUNT > 1 ? 1 : 0]) & \
                            ptx_defined(context, &step->sources[COUNT > 2 ? 2 : 0]) & \
                            ptx_defined(context, &step->sources[COUNT > 3 ? 3 : 0])); \
        return PTX_NEXT;                                                              \
    }

ROWS(DEFINE)

typedef struct ptx_row {
    ptx_op op;
    ptx_word_id type;
    uint8_t form, count;
    uint16_t bits; /* of the result */
    uint16_t source_bits;
    ptx_routine *run;
} ptx_row;

#define ROW(OP, TYPE, FORM, COUNT, D, S, EXPRESSION)                                     \
    {PTX_OP_##OP,          PTX_WORD_##TYPE,           FORM, COUNT, sizeof(WORD_##D) * 8, \
     sizeof(WORD_##S) * 8, run_##OP##_##TYPE##_##FORM},
static const ptx_row rows[] = {ROWS(ROW)};

/* ---- what has sources of several widths ---- */

static uint64_t sign_extend(uint64_t value, uint32_t bits) {
    uint64_t sign = UINT64_C(1) << (bits - 1);
    return bits == 64 ? value : ((value & ((sign << 1) - 1)) ^ sign) - sign;
}

static uint64_t shift_right(uint64_t a, uint64_t by, uint32_t bits, bool is_signed) {
    uint64_t wide = is_signed ? sign_extend(a, bits) : a;
    if (by >= bits) {
        return is_signed && (wide >> 63) != 0 ? UINT64_MAX : 0;
    }
    return is_signed && (wide >> 63) != 0 ? ~(~wide >> by) : wide >> by;
}

static uint64_t multiply_add(const ptx_step *step, const uint64_t *v, uint32_t bits,
                             bool is_signed) {
    uint64_t a = is_signed ? sign_extend(v[0], bits) : v[0];
    uint64_t b = is_signed ? sign_extend(v[1], bits) : v[1];
    if (step->more == WIDE || bits < 64) {
        uint64_t product = a * b;
        return (step->more == HIGH ? shift_right(product, bits, 64, is_signed) : product) + v[2];
    }
    return (is_signed ? (uint64_t)mul_hi_s64((int64_t)a, (int64_t)b) : mul_hi_u64(a, b)) + v[2];
}

static ptx_outcome run_mixed(ptx_context *context) {
    const ptx_step *step = context->step;
    const ptx_word_info *type = grout_ptx__get_word((ptx_word_id)step->type);
    bool is_signed = type->kind == PTX_KIND_SIGNED;
    uint32_t defined = UINT32_MAX;
    for (uint32_t i = 0; i < step->size; i++) {
        defined &= ptx_defined(context, &step->sources[i]);
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t v[4] = {0, 0, 0, 0}, result = 0;
        for (uint32_t i = 0; i < step->size; i++) {
            v[i] = ptx_value(context, &step->sources[i], lane);
        }
        switch (step->detail) {
        case PTX_OP_SHL:
            result = v[1] >= type->bits ? 0 : v[0] << v[1];
            break;
        case PTX_OP_SHR:
            result = shift_right(v[0], v[1], type->bits, is_signed);
            break;
        case PTX_OP_BFE:
            result = bfe(v[0], (uint32_t)v[1], (uint32_t)v[2], type->bits, is_signed);
            break;
        case PTX_OP_BFI:
            result = bfi(v[0], v[1], (uint32_t)v[2], (uint32_t)v[3], type->bits);
            break;
        default:
            result = multiply_add(step, v, type->bits, is_signed);
            break;
        }
        ptx_put(context, &step->result, lane, result);
    }
    ptx_set_defined(context, &step->result, defined);
    return PTX_NEXT;
}

/* The type of a source: shifts and fields are said in .u32, and a wide sum has a wide term. */
static uint16_t get_source_type(const ptx_decoder *decoder, uint32_t i, uint8_t form) {
    uint16_t type = grout_ptx__type(decoder, 0);
    ptx_op op = decoder->inst->op;
    if ((i == 1 && (op == PTX_OP_SHL || op == PTX_OP_SHR)) || (i >= 1 && op == PTX_OP_BFE) ||
        (i >= 2 && op == PTX_OP_BFI)) {
        return PTX_WORD_U32;
    }
    if (i == 2 && form == WIDE) {
        uint32_t bits = grout_ptx__get_word((ptx_word_id)type)->bits;
        return bits == 32 ? PTX_WORD_U64 : PTX_WORD_U32;
    }
    return type;
}

static bool decode_sources(ptx_decoder *decoder, uint32_t count, uint8_t form) {
    if (decoder->inst->operand_count != count + 1) {
        return grout_ptx__unknown(decoder, "this form takes %u sources", count);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!grout_ptx__decode_source(decoder, i + 1, get_source_type(decoder, i, form), i)) {
            return false;
        }
    }
    return true;
}

static bool decode_mixed(ptx_decoder *decoder, uint8_t form) {
    decoder->step->run = run_mixed;
    decoder->step->type = grout_ptx__type(decoder, 0);
    decoder->step->detail = decoder->inst->op;
    decoder->step->more = form;
    decoder->step->size = (uint8_t)(decoder->inst->operand_count - 1);
    return decode_sources(decoder, decoder->inst->operand_count - 1u, form);
}

/* ---- predicates ---- */

static ptx_outcome run_predicates(ptx_context *context) {
    const ptx_step *step = context->step;
    uint32_t a = ptx_mask(context, &step->sources[0]);
    uint32_t b = ptx_mask(context, &step->sources[1]);
    uint32_t value = step->detail == PTX_OP_AND   ? a & b
                     : step->detail == PTX_OP_OR  ? a | b
                     : step->detail == PTX_OP_XOR ? a ^ b
                                                  : ~a;
    uint32_t *result = ptx_words(context, &step->result);
    *result = (*result & ~context->lanes) | (value & context->lanes);
    ptx_set_defined(context, &step->result,
                    ptx_defined(context, &step->sources[0]) &
                        ptx_defined(context, &step->sources[1]));
    return PTX_NEXT;
}

static bool decode_predicates(ptx_decoder *decoder) {
    bool has_two = decoder->inst->op != PTX_OP_NOT;
    decoder->step->run = run_predicates;
    decoder->step->detail = decoder->inst->op;
    return grout_ptx__decode_source(decoder, 1, PTX_WORD_PRED, 0) &&
           grout_ptx__decode_source(decoder, has_two ? 2 : 1, PTX_WORD_PRED, 1);
}

/* ---- decoding ---- */

/* Which form the words say; NO_FORM if it is none of the rows. Flushing of subnormals is not. */
static uint8_t get_form(const ptx_decoder *decoder) {
    bool is_wide = grout_ptx__has(decoder, PTX_WORD_WIDE),
         is_high = grout_ptx__has(decoder, PTX_WORD_HI);
    ptx_word round = grout_ptx__word(decoder, PTX_CLASS_ROUND, 0);
    if (grout_ptx__has(decoder, PTX_WORD_SHIFTAMT)) {
        return SHIFTED;
    }
    if (grout_ptx__has(decoder, PTX_WORD_FTZ) || grout_ptx__has(decoder, PTX_WORD_XORSIGN) ||
        grout_ptx__has(decoder, PTX_WORD_RELU) || grout_ptx__has(decoder, PTX_WORD_CC) ||
        grout_ptx__word(decoder, PTX_CLASS_DETAIL, 0).id != PTX_WORD_NONE ||
        grout_ptx__word(decoder, PTX_CLASS_APPROXIMATE, 0).id != PTX_WORD_NONE) {
        return NO_FORM;
    }
    if (round.id != PTX_WORD_NONE && round.id != PTX_WORD_RN) {
        return round.id == PTX_WORD_RZ ? TO_ZERO : round.id == PTX_WORD_RM ? TO_DOWN : TO_UP;
    }
    return is_wide                                  ? WIDE
           : is_high                                ? HIGH
           : grout_ptx__has(decoder, PTX_WORD_NAN_) ? NANS
           : grout_ptx__has(decoder, PTX_WORD_SAT)  ? SATURATED
                                                    : PLAIN;
}

static bool fits(const ptx_plane *plane, uint32_t bits) {
    return bits == 64 ? plane->bits == 64 : plane->bits > 1 && plane->bits <= 32;
}

bool grout_ptx__decode_arithmetic(ptx_decoder *decoder) {
    uint16_t type = grout_ptx__type(decoder, 0);
    uint8_t form = get_form(decoder);
    ptx_op op = decoder->inst->op;
    if (grout_ptx__has(decoder, PTX_WORD_CC)) {
        return grout_ptx__decode_carry(decoder);
    }
    if (!grout_ptx__decode_result(decoder, 0, &decoder->step->result)) {
        return false;
    }
    if (type == PTX_WORD_PRED) {
        return decode_predicates(decoder);
    }
    if (op == PTX_OP_DIV && form == NO_FORM) {
        return grout_ptx__decode_function(decoder);
    }
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const ptx_row *row = &rows[i];
        if (row->op == op && row->type == type && row->form == form) {
            decoder->step->run = row->run;
            if (!decode_sources(decoder, row->count, form)) {
                return false;
            }
            bool is_right =
                decoder->step->result.is_sink || fits(&decoder->step->result, row->bits);
            for (uint32_t j = 0; j < row->count; j++) {
                is_right = is_right && fits(&decoder->step->sources[j], row->source_bits);
            }
            return is_right ||
                   grout_ptx__unknown(decoder, "a register of another width than the type");
        }
    }
    if (op == PTX_OP_SHL || op == PTX_OP_SHR || op == PTX_OP_BFE || op == PTX_OP_BFI ||
        (op == PTX_OP_MAD && (form == WIDE || form == HIGH))) {
        return decode_mixed(decoder, form);
    }
    return grout_ptx__unknown(decoder, "the emulator does not know this form of '%s'",
                              grout_ptx__get_op(op)->text);
}

/* ---- carries ---- */

/* addc, subc, madc, and add, sub, mad with .cc: detail says which, more whether it writes the carry
 * and reads it. PTX ISA 9.1, 'Extended-Precision Integer Arithmetic Instructions'. */
static ptx_outcome run_carry(ptx_context *context) {
    const ptx_step *step = context->step;
    bool reads = (step->more & 1) != 0, writes = (step->more & 2) != 0;
    uint32_t bits = grout_ptx__get_word((ptx_word_id)step->type)->bits, defined = UINT32_MAX;
    uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    for (uint32_t i = 0; i < step->size; i++) {
        defined &= ptx_defined(context, &step->sources[i]);
    }
    PTX_FOR_LANES(lane, context->lanes) {
        uint64_t a = ptx_value(context, &step->sources[0], lane);
        uint64_t b = ptx_value(context, &step->sources[1], lane);
        uint64_t in = reads ? context->warp->carry >> lane & 1 : 0;
        if (step->detail == PTX_OP_MAD) {
            uint64_t high = bits == 64 ? mul_hi_u64(a, b) : a * b >> bits;
            a = step->size > 3 ? high : a * b & mask;
            b = ptx_value(context, &step->sources[2], lane);
        } else if (step->detail == PTX_OP_SUB) {
            b = ~b & mask;
            in ^= 1; /* a - b is a + ~b + 1; the flag is a borrow */
        }
        uint64_t sum = (a + b + in) & mask;
        bool out = sum < a || (sum == a && in != 0 && b == mask) || (in != 0 && sum == a && b != 0);
        out ^= step->detail == PTX_OP_SUB;
        if (writes) {
            context->warp->carry = (context->warp->carry & ~(1u << lane)) | (uint32_t)out << lane;
        }
        ptx_put(context, &step->result, lane, sum);
    }
    ptx_set_defined(context, &step->result, defined);
    return PTX_NEXT;
}

bool grout_ptx__decode_carry(ptx_decoder *decoder) {
    ptx_op op = decoder->inst->op;
    uint16_t type = grout_ptx__type(decoder, 0);
    bool is_high = grout_ptx__has(decoder, PTX_WORD_HI);
    bool reads = op == PTX_OP_ADDC || op == PTX_OP_SUBC || op == PTX_OP_MADC;
    decoder->step->run = run_carry;
    decoder->step->type = type;
    decoder->step->more = (uint32_t)reads | (grout_ptx__has(decoder, PTX_WORD_CC) ? 2u : 0u);
    decoder->step->detail = op == PTX_OP_ADDC   ? PTX_OP_ADD
                            : op == PTX_OP_SUBC ? PTX_OP_SUB
                            : op == PTX_OP_MADC ? PTX_OP_MAD
                                                : op;
    if (is_high && grout_ptx__get_word((ptx_word_id)type)->kind == PTX_KIND_SIGNED) {
        return grout_ptx__unknown(decoder, "the emulator knows .hi with carry for unsigned types");
    }
    if (!grout_ptx__decode_result(decoder, 0, &decoder->step->result)) {
        return false;
    }
    uint32_t count = decoder->inst->operand_count - 1u;
    for (uint32_t i = 0; i < count; i++) {
        if (!grout_ptx__decode_source(decoder, i + 1, type, i)) {
            return false;
        }
    }
    /* .hi of madc has one source more than there are: the sources that exist count for 'defined'.
     */
    if (is_high) {
        decoder->step->sources[3] = decoder->step->sources[2];
        count++;
    }
    decoder->step->size = (uint8_t)count;
    return true;
}
