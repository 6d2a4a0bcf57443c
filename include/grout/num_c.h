/* SPDX-License-Identifier: Apache-2.0 */
/*
 * num_c.h - what C has to say for num.h: types, functions that CUDA has instructions for, and how
 * a function is chosen by the type of its argument. Include num.h instead.
 *
 * Compile with -ffp-contract=off. gpu_backend/device/grout_num.cuh says the same in CUDA.
 */
#ifndef GROUT_NUM_C_H
#define GROUT_NUM_C_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define GROUT_NUM static inline
typedef int8_t grout_i8;
typedef uint8_t grout_u8;
typedef int16_t grout_i16;
typedef uint16_t grout_u16;
typedef int32_t grout_i32;
typedef uint32_t grout_u32;
typedef int64_t grout_i64;
typedef uint64_t grout_u64;
typedef float grout_f32;
typedef double grout_f64;

/* The same bits as another type. */
#define GROUT_SAME_BITS(NAME, FROM, TO)    \
    GROUT_NUM TO grout_##NAME(FROM from) { \
        TO to;                             \
        memcpy(&to, &from, sizeof to);     \
        return to;                         \
    }
GROUT_SAME_BITS(wrap_i8, grout_u8, grout_i8)
GROUT_SAME_BITS(wrap_i16, grout_u16, grout_i16)
GROUT_SAME_BITS(wrap_i32, grout_u32, grout_i32)
GROUT_SAME_BITS(wrap_i64, grout_u64, grout_i64)
GROUT_SAME_BITS(bits_f32, grout_f32, grout_u32)
GROUT_SAME_BITS(from_bits_f32, grout_u32, grout_f32)
GROUT_SAME_BITS(bits_f64, grout_f64, grout_u64)
GROUT_SAME_BITS(from_bits_f64, grout_u64, grout_f64)
#undef GROUT_SAME_BITS

#define GROUT_ROUNDED_ONCE(F, FMA, SQRT)                                       \
    GROUT_NUM grout_##F grout_add_##F(grout_##F a, grout_##F b) {              \
        return a + b;                                                          \
    }                                                                          \
    GROUT_NUM grout_##F grout_sub_##F(grout_##F a, grout_##F b) {              \
        return a - b;                                                          \
    }                                                                          \
    GROUT_NUM grout_##F grout_mul_##F(grout_##F a, grout_##F b) {              \
        return a * b;                                                          \
    }                                                                          \
    GROUT_NUM grout_##F grout_div_##F(grout_##F a, grout_##F b) {              \
        return a / b;                                                          \
    }                                                                          \
    GROUT_NUM grout_##F grout_fma_##F(grout_##F a, grout_##F b, grout_##F c) { \
        return FMA(a, b, c);                                                   \
    }                                                                          \
    GROUT_NUM grout_##F grout_sqrt_##F(grout_##F a) {                          \
        return SQRT(a);                                                        \
    }
GROUT_ROUNDED_ONCE(f32, fmaf, sqrtf)
GROUT_ROUNDED_ONCE(f64, fma, sqrt)
#undef GROUT_ROUNDED_ONCE
/* Halves to even, whatever the rounding mode of the process. */
GROUT_NUM grout_f32 grout_round_f32(grout_f32 a) {
    const grout_u32 sign = grout_bits_f32(a) & 0x80000000u;
    const grout_f32 size = grout_from_bits_f32(grout_bits_f32(a) ^ sign);
    if (!(size < 0x1p23f)) {
        return a;
    }
    grout_f32 sum = size + 0x1p23f;
    return grout_from_bits_f32(grout_bits_f32(sum - 0x1p23f) | sign);
}
GROUT_NUM grout_f64 grout_round_f64(grout_f64 a) {
    const grout_u64 sign = grout_bits_f64(a) & 0x8000000000000000u;
    const grout_f64 size = grout_from_bits_f64(grout_bits_f64(a) ^ sign);
    if (!(size < 0x1p52)) {
        return a;
    }
    grout_f64 sum = size + 0x1p52;
    return grout_from_bits_f64(grout_bits_f64(sum - 0x1p52) | sign);
}
/* NaN in, canonical NaN out; -0 is less than +0 (PTX min.NaN.f32, max.NaN.f32). */
GROUT_NUM grout_f32 grout_min_f32(grout_f32 a, grout_f32 b) {
    if (a != a || b != b) {
        return grout_from_bits_f32(0x7fffffffu);
    }
    if (a == b) {
        return grout_from_bits_f32(grout_bits_f32(a) | grout_bits_f32(b));
    }
    return a < b ? a : b;
}
GROUT_NUM grout_f32 grout_max_f32(grout_f32 a, grout_f32 b) {
    if (a != a || b != b) {
        return grout_from_bits_f32(0x7fffffffu);
    }
    if (a == b) {
        return grout_from_bits_f32(grout_bits_f32(a) & grout_bits_f32(b));
    }
    return a > b ? a : b;
}
GROUT_NUM grout_u32 grout_shl_u32(grout_u32 a, grout_u32 b) {
    return b > 31 ? 0 : a << b;
}
GROUT_NUM grout_u32 grout_shr_u32(grout_u32 a, grout_u32 b) {
    return b > 31 ? 0 : a >> b;
}
GROUT_NUM grout_i32 grout_shr_i32(grout_i32 a, grout_i32 b) {
    grout_u32 shift = b < 0 || b > 31 ? 31u : (grout_u32)b;
    grout_u32 sign = a < 0 ? ~(0xffffffffu >> shift) : 0u;
    return grout_wrap_i32((grout_u32)a >> shift | (shift == 0 ? 0u : sign));
}
/* Ones are counted in pairs, fours and bytes; the product adds up the bytes. */
GROUT_NUM grout_u32 grout_popcount_u32(grout_u32 a) {
    a -= a >> 1 & 0x55555555u;
    a = (a & 0x33333333u) + (a >> 2 & 0x33333333u);
    return ((a + (a >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}
GROUT_NUM grout_u64 grout_popcount_u64(grout_u64 a) {
    return grout_popcount_u32((grout_u32)a) + grout_popcount_u32((grout_u32)(a >> 32));
}
/* What is below the highest one becomes ones. */
GROUT_NUM grout_u32 grout_clz_u32(grout_u32 a) {
    a |= a >> 1;
    a |= a >> 2;
    a |= a >> 4;
    a |= a >> 8;
    a |= a >> 16;
    return grout_popcount_u32(~a);
}
GROUT_NUM grout_u64 grout_clz_u64(grout_u64 a) {
    const grout_u32 high = (grout_u32)(a >> 32);
    return high != 0 ? grout_clz_u32(high) : 32 + grout_clz_u32((grout_u32)a);
}

// clang-format off
#define GROUT_CASE(name, T)  grout_##T: grout_##name##_##T
#define GROUT_INTS(name)                                                                           \
    GROUT_CASE(name, i8), GROUT_CASE(name, u8), GROUT_CASE(name, i16), GROUT_CASE(name, u16),      \
    GROUT_CASE(name, i32), GROUT_CASE(name, u32), GROUT_CASE(name, i64), GROUT_CASE(name, u64)
#define GROUT_FLOATS(name) GROUT_CASE(name, f32), GROUT_CASE(name, f64)
#define GROUT_OF_INT(name, a)   _Generic((a), GROUT_INTS(name))
#define GROUT_OF_FLOAT(name, a) _Generic((a), GROUT_FLOATS(name))
#define GROUT_OF_NUM(name, a)   _Generic((a), GROUT_INTS(name), GROUT_FLOATS(name))
#define GROUT_OF_LOGIC(name, a) _Generic((a), GROUT_INTS(name), bool: grout_##name##_bool)
#define GROUT_NUM1(name, a)         GROUT_OF_NUM(name, a)(a)
#define GROUT_NUM2(name, a, b)      GROUT_OF_NUM(name, a)(a, b)
#define GROUT_INT1(name, a)         GROUT_OF_INT(name, a)(a)
#define GROUT_INT2(name, a, b)      GROUT_OF_INT(name, a)(a, b)
#define GROUT_FLOAT1(name, a)       GROUT_OF_FLOAT(name, a)(a)
#define GROUT_FLOAT2(name, a, b)    GROUT_OF_FLOAT(name, a)(a, b)
#define GROUT_FLOAT3(name, a, b, c) GROUT_OF_FLOAT(name, a)(a, b, c)
#define GROUT_LOGIC1(name, a)       GROUT_OF_LOGIC(name, a)(a)
#define GROUT_LOGIC2(name, a, b)    GROUT_OF_LOGIC(name, a)(a, b)
// clang-format on

#endif
