/* SPDX-License-Identifier: Apache-2.0 */
/*
 * num.h - the arithmetic of ops.def: functions whose meaning is the same in C11 and in CUDA C++.
 *
 * Each operation GROUT_X(a, b) is a _Generic selection in C (an overloaded function in the CUDA
 * device header) over i32, u32, f32 and, where it makes sense, bool. Signed arithmetic wraps.
 * Floats: IEEE single precision, round to nearest even, no contraction (compile with
 * -ffp-contract=off), min and max propagate NaN. Division by zero is 0 here, and INT_MIN / -1
 * wraps (INT_MIN, remainder 0); the interpreter reports both. Sources: docs/language.md 'Numbers';
 * PTX ISA 9.1 'min', 'max', 'shl', 'shr', 'cvt'.
 */
#ifndef GROUT_NUM_H
#define GROUT_NUM_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline int32_t grout_wrap_i32(uint32_t bits) {
    int32_t value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
static inline uint32_t grout_bits_f32(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static inline float grout_from_bits_f32(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline int32_t grout_add_i32(int32_t a, int32_t b) {
    return grout_wrap_i32((uint32_t)a + (uint32_t)b);
}
static inline uint32_t grout_add_u32(uint32_t a, uint32_t b) {
    return a + b;
}
static inline float grout_add_f32(float a, float b) {
    return a + b;
}

static inline int32_t grout_sub_i32(int32_t a, int32_t b) {
    return grout_wrap_i32((uint32_t)a - (uint32_t)b);
}
static inline uint32_t grout_sub_u32(uint32_t a, uint32_t b) {
    return a - b;
}
static inline float grout_sub_f32(float a, float b) {
    return a - b;
}

static inline int32_t grout_mul_i32(int32_t a, int32_t b) {
    return grout_wrap_i32((uint32_t)a * (uint32_t)b);
}
static inline uint32_t grout_mul_u32(uint32_t a, uint32_t b) {
    return a * b;
}
static inline float grout_mul_f32(float a, float b) {
    return a * b;
}

static inline int32_t grout_div_i32(int32_t a, int32_t b) {
    return b == 0 ? 0 : b == -1 ? grout_sub_i32(0, a) : a / b;
}
static inline uint32_t grout_div_u32(uint32_t a, uint32_t b) {
    return b == 0 ? 0 : a / b;
}
static inline float grout_div_f32(float a, float b) {
    return a / b;
}

static inline int32_t grout_rem_i32(int32_t a, int32_t b) {
    return b == 0 || b == -1 ? 0 : a % b;
}
static inline uint32_t grout_rem_u32(uint32_t a, uint32_t b) {
    return b == 0 ? 0 : a % b;
}

static inline int32_t grout_cdiv_i32(int32_t a, int32_t b) {
    int32_t quotient = grout_div_i32(a, b);
    return b != 0 && grout_rem_i32(a, b) != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}
static inline uint32_t grout_cdiv_u32(uint32_t a, uint32_t b) {
    return b == 0 ? 0 : a / b + (a % b != 0 ? 1u : 0u);
}

static inline int32_t grout_min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}
static inline uint32_t grout_min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}
static inline int32_t grout_max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static inline uint32_t grout_max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}
/* NaN in, canonical NaN out; -0 is less than +0 (PTX min.NaN.f32, max.NaN.f32). */
static inline float grout_min_f32(float a, float b) {
    if (a != a || b != b) {
        return grout_from_bits_f32(0x7fffffffu);
    }
    if (a == b) {
        return grout_from_bits_f32(grout_bits_f32(a) | grout_bits_f32(b));
    }
    return a < b ? a : b;
}
static inline float grout_max_f32(float a, float b) {
    if (a != a || b != b) {
        return grout_from_bits_f32(0x7fffffffu);
    }
    if (a == b) {
        return grout_from_bits_f32(grout_bits_f32(a) & grout_bits_f32(b));
    }
    return a > b ? a : b;
}
static inline float grout_fma_f32(float a, float b, float c) {
    return fmaf(a, b, c);
}

static inline int32_t grout_neg_i32(int32_t a) {
    return grout_sub_i32(0, a);
}
static inline uint32_t grout_neg_u32(uint32_t a) {
    return 0u - a;
}
static inline float grout_neg_f32(float a) {
    return grout_from_bits_f32(grout_bits_f32(a) ^ 0x80000000u);
}
static inline int32_t grout_abs_i32(int32_t a) {
    return a < 0 ? grout_neg_i32(a) : a;
}
static inline uint32_t grout_abs_u32(uint32_t a) {
    return a;
}
static inline float grout_abs_f32(float a) {
    return grout_from_bits_f32(grout_bits_f32(a) & 0x7fffffffu);
}

static inline int32_t grout_and_i32(int32_t a, int32_t b) {
    return grout_wrap_i32((uint32_t)a & (uint32_t)b);
}
static inline uint32_t grout_and_u32(uint32_t a, uint32_t b) {
    return a & b;
}
static inline bool grout_and_bool(bool a, bool b) {
    return a && b;
}
static inline int32_t grout_or_i32(int32_t a, int32_t b) {
    return grout_wrap_i32((uint32_t)a | (uint32_t)b);
}
static inline uint32_t grout_or_u32(uint32_t a, uint32_t b) {
    return a | b;
}
static inline bool grout_or_bool(bool a, bool b) {
    return a || b;
}
static inline int32_t grout_xor_i32(int32_t a, int32_t b) {
    return grout_wrap_i32((uint32_t)a ^ (uint32_t)b);
}
static inline uint32_t grout_xor_u32(uint32_t a, uint32_t b) {
    return a ^ b;
}
static inline bool grout_xor_bool(bool a, bool b) {
    return a != b;
}
static inline int32_t grout_not_i32(int32_t a) {
    return grout_wrap_i32(~(uint32_t)a);
}
static inline uint32_t grout_not_u32(uint32_t a) {
    return ~a;
}
static inline bool grout_not_bool(bool a) {
    return !a;
}

static inline int32_t grout_shl_i32(int32_t a, int32_t b) {
    return b < 0 || b > 31 ? 0 : grout_wrap_i32((uint32_t)a << b);
}
static inline uint32_t grout_shl_u32(uint32_t a, uint32_t b) {
    return b > 31 ? 0 : a << b;
}
static inline int32_t grout_shr_i32(int32_t a, int32_t b) {
    uint32_t shift = b < 0 || b > 31 ? 31u : (uint32_t)b;
    uint32_t sign = a < 0 ? ~(0xffffffffu >> shift) : 0u;
    return grout_wrap_i32((uint32_t)a >> shift | (shift == 0 ? 0u : sign));
}
static inline uint32_t grout_shr_u32(uint32_t a, uint32_t b) {
    return b > 31 ? 0 : a >> b;
}

static inline float grout_sqrt_f32(float a) {
    return sqrtf(a);
}
static inline float grout_floor_f32(float a) {
    return floorf(a);
}
static inline float grout_ceil_f32(float a) {
    return ceilf(a);
}
/* Halves to even, whatever the rounding mode of the process. */
static inline float grout_round_f32(float a) {
    if (!(grout_abs_f32(a) < 0x1p23f)) {
        return a;
    }
    float sum = grout_abs_f32(a) + 0x1p23f;
    return grout_from_bits_f32(grout_bits_f32(sum - 0x1p23f) | (grout_bits_f32(a) & 0x80000000u));
}
static inline int32_t grout_sign_i32(int32_t a) {
    return (a > 0) - (a < 0);
}
static inline uint32_t grout_sign_u32(uint32_t a) {
    return a != 0;
}
static inline float grout_sign_f32(float a) {
    return a > 0 ? 1.0f : a < 0 ? -1.0f : a;
}

// clang-format off
#define GROUT_NUM2(name, a, b)                                                                     \
    _Generic((a), int32_t: grout_##name##_i32, uint32_t: grout_##name##_u32, float: grout_##name##_f32)(a, b)
#define GROUT_NUM1(name, a)                                                                        \
    _Generic((a), int32_t: grout_##name##_i32, uint32_t: grout_##name##_u32, float: grout_##name##_f32)(a)
#define GROUT_INT2(name, a, b)                                                                     \
    _Generic((a), int32_t: grout_##name##_i32, uint32_t: grout_##name##_u32)(a, b)
#define GROUT_LOGIC2(name, a, b)                                                                   \
    _Generic((a), int32_t: grout_##name##_i32, uint32_t: grout_##name##_u32, bool: grout_##name##_bool)(a, b)
#define GROUT_LOGIC1(name, a)                                                                      \
    _Generic((a), int32_t: grout_##name##_i32, uint32_t: grout_##name##_u32, bool: grout_##name##_bool)(a)
// clang-format on

#define GROUT_ADD(a, b)    GROUT_NUM2(add, a, b)
#define GROUT_SUB(a, b)    GROUT_NUM2(sub, a, b)
#define GROUT_MUL(a, b)    GROUT_NUM2(mul, a, b)
#define GROUT_DIV(a, b)    GROUT_NUM2(div, a, b)
#define GROUT_REM(a, b)    GROUT_INT2(rem, a, b)
#define GROUT_CDIV(a, b)   GROUT_INT2(cdiv, a, b)
#define GROUT_MIN(a, b)    GROUT_NUM2(min, a, b)
#define GROUT_MAX(a, b)    GROUT_NUM2(max, a, b)
#define GROUT_FMA(a, b, c) grout_fma_f32(a, b, c)
#define GROUT_NEG(a)       GROUT_NUM1(neg, a)
#define GROUT_ABS(a)       GROUT_NUM1(abs, a)
#define GROUT_SQRT(a)      grout_sqrt_f32(a)
#define GROUT_FLOOR(a)     grout_floor_f32(a)
#define GROUT_CEIL(a)      grout_ceil_f32(a)
#define GROUT_ROUND(a)     grout_round_f32(a)
#define GROUT_SIGN(a)      GROUT_NUM1(sign, a)
#define GROUT_AND(a, b)    GROUT_LOGIC2(and, a, b)
#define GROUT_OR(a, b)     GROUT_LOGIC2(or, a, b)
#define GROUT_XOR(a, b)    GROUT_LOGIC2(xor, a, b)
#define GROUT_NOT(a)       GROUT_LOGIC1(not, a)
#define GROUT_SHL(a, b)    GROUT_INT2(shl, a, b)
#define GROUT_SHR(a, b)    GROUT_INT2(shr, a, b)
#define GROUT_EQ(a, b)     ((a) == (b))
#define GROUT_NE(a, b)     ((a) != (b))
#define GROUT_LT(a, b)     ((a) < (b))
#define GROUT_LE(a, b)     ((a) <= (b))
#define GROUT_GT(a, b)     ((a) > (b))
#define GROUT_GE(a, b)     ((a) >= (b))

#endif
