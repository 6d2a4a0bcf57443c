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
typedef int32_t grout_i32;
typedef uint32_t grout_u32;
typedef float grout_f32;

GROUT_NUM grout_i32 grout_wrap_i32(grout_u32 bits) {
    grout_i32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
GROUT_NUM grout_u32 grout_bits_f32(grout_f32 value) {
    grout_u32 bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
GROUT_NUM grout_f32 grout_from_bits_f32(grout_u32 bits) {
    grout_f32 value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
GROUT_NUM grout_f32 grout_add_f32(grout_f32 a, grout_f32 b) {
    return a + b;
}
GROUT_NUM grout_f32 grout_sub_f32(grout_f32 a, grout_f32 b) {
    return a - b;
}
GROUT_NUM grout_f32 grout_mul_f32(grout_f32 a, grout_f32 b) {
    return a * b;
}
GROUT_NUM grout_f32 grout_div_f32(grout_f32 a, grout_f32 b) {
    return a / b;
}
GROUT_NUM grout_f32 grout_fma_f32(grout_f32 a, grout_f32 b, grout_f32 c) {
    return fmaf(a, b, c);
}
GROUT_NUM grout_f32 grout_sqrt_f32(grout_f32 a) {
    return sqrtf(a);
}
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

// clang-format off
#define GROUT_NUM1(name, a)                                                                        \
    _Generic((a), grout_i32: grout_##name##_i32, grout_u32: grout_##name##_u32, grout_f32: grout_##name##_f32)(a)
#define GROUT_NUM2(name, a, b)                                                                     \
    _Generic((a), grout_i32: grout_##name##_i32, grout_u32: grout_##name##_u32, grout_f32: grout_##name##_f32)(a, b)
#define GROUT_INT2(name, a, b)                                                                     \
    _Generic((a), grout_i32: grout_##name##_i32, grout_u32: grout_##name##_u32)(a, b)
#define GROUT_LOGIC1(name, a)                                                                      \
    _Generic((a), grout_i32: grout_##name##_i32, grout_u32: grout_##name##_u32, bool: grout_##name##_bool)(a)
#define GROUT_LOGIC2(name, a, b)                                                                   \
    _Generic((a), grout_i32: grout_##name##_i32, grout_u32: grout_##name##_u32, bool: grout_##name##_bool)(a, b)
// clang-format on

#endif
