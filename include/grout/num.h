/* SPDX-License-Identifier: Apache-2.0 */
/*
 * num.h - the arithmetic of ops.def: one text, which is C11 here and CUDA C++ in emitted kernels.
 *
 * Each operation GROUT_X(a, b) chooses a function by the type of a: i32, u32, f32 and, where it
 * makes sense, bool. Signed arithmetic wraps. Floats: IEEE single precision, round to nearest even,
 * no contraction, min and max propagate NaN. Division by zero is 0 here, and INT_MIN / -1 wraps
 * (INT_MIN, remainder 0); the interpreter reports both. Sources: docs/language.md 'Numbers'; PTX
 * ISA 9.1 'min', 'max', 'shl', 'shr', 'cvt'.
 *
 * What C and CUDA cannot say in the same words, they have said before: the types, bits of a float,
 * sums and products that round once, min and max of floats, shifts by any number of bits, and how
 * a function is chosen. C says it in num_c.h, CUDA in gpu_backend/device/grout_num.cuh, which
 * defines GROUT_DEVICE and includes this file. What is missing on one side does not compile there;
 * tests/differential/emulate/arithmetic.cpp compiles the side of CUDA.
 */
#ifndef GROUT_NUM_H
#define GROUT_NUM_H

#ifndef GROUT_DEVICE
#include "grout/num_c.h"
#endif

GROUT_NUM grout_i32 grout_add_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32((grout_u32)a + (grout_u32)b);
}
GROUT_NUM grout_u32 grout_add_u32(grout_u32 a, grout_u32 b) {
    return a + b;
}

GROUT_NUM grout_i32 grout_sub_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32((grout_u32)a - (grout_u32)b);
}
GROUT_NUM grout_u32 grout_sub_u32(grout_u32 a, grout_u32 b) {
    return a - b;
}

GROUT_NUM grout_i32 grout_mul_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32((grout_u32)a * (grout_u32)b);
}
GROUT_NUM grout_u32 grout_mul_u32(grout_u32 a, grout_u32 b) {
    return a * b;
}

GROUT_NUM grout_i32 grout_div_i32(grout_i32 a, grout_i32 b) {
    return b == 0 ? 0 : b == -1 ? grout_sub_i32(0, a) : a / b;
}
GROUT_NUM grout_u32 grout_div_u32(grout_u32 a, grout_u32 b) {
    return b == 0 ? 0 : a / b;
}

GROUT_NUM grout_i32 grout_rem_i32(grout_i32 a, grout_i32 b) {
    return b == 0 || b == -1 ? 0 : a % b;
}
GROUT_NUM grout_u32 grout_rem_u32(grout_u32 a, grout_u32 b) {
    return b == 0 ? 0 : a % b;
}

GROUT_NUM grout_i32 grout_cdiv_i32(grout_i32 a, grout_i32 b) {
    grout_i32 quotient = grout_div_i32(a, b);
    return b != 0 && grout_rem_i32(a, b) != 0 && (a < 0) == (b < 0) ? quotient + 1 : quotient;
}
GROUT_NUM grout_u32 grout_cdiv_u32(grout_u32 a, grout_u32 b) {
    return b == 0 ? 0 : a / b + (a % b != 0 ? 1u : 0u);
}

GROUT_NUM grout_i32 grout_min_i32(grout_i32 a, grout_i32 b) {
    return a < b ? a : b;
}
GROUT_NUM grout_u32 grout_min_u32(grout_u32 a, grout_u32 b) {
    return a < b ? a : b;
}
GROUT_NUM grout_i32 grout_max_i32(grout_i32 a, grout_i32 b) {
    return a > b ? a : b;
}
GROUT_NUM grout_u32 grout_max_u32(grout_u32 a, grout_u32 b) {
    return a > b ? a : b;
}

GROUT_NUM grout_i32 grout_neg_i32(grout_i32 a) {
    return grout_sub_i32(0, a);
}
GROUT_NUM grout_u32 grout_neg_u32(grout_u32 a) {
    return 0u - a;
}
GROUT_NUM grout_f32 grout_neg_f32(grout_f32 a) {
    return grout_from_bits_f32(grout_bits_f32(a) ^ 0x80000000u);
}
GROUT_NUM grout_i32 grout_abs_i32(grout_i32 a) {
    return a < 0 ? grout_neg_i32(a) : a;
}
GROUT_NUM grout_u32 grout_abs_u32(grout_u32 a) {
    return a;
}
GROUT_NUM grout_f32 grout_abs_f32(grout_f32 a) {
    return grout_from_bits_f32(grout_bits_f32(a) & 0x7fffffffu);
}

GROUT_NUM grout_i32 grout_and_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32((grout_u32)a & (grout_u32)b);
}
GROUT_NUM grout_u32 grout_and_u32(grout_u32 a, grout_u32 b) {
    return a & b;
}
GROUT_NUM bool grout_and_bool(bool a, bool b) {
    return a && b;
}
GROUT_NUM grout_i32 grout_or_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32((grout_u32)a | (grout_u32)b);
}
GROUT_NUM grout_u32 grout_or_u32(grout_u32 a, grout_u32 b) {
    return a | b;
}
GROUT_NUM bool grout_or_bool(bool a, bool b) {
    return a || b;
}
GROUT_NUM grout_i32 grout_xor_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32((grout_u32)a ^ (grout_u32)b);
}
GROUT_NUM grout_u32 grout_xor_u32(grout_u32 a, grout_u32 b) {
    return a ^ b;
}
GROUT_NUM bool grout_xor_bool(bool a, bool b) {
    return a != b;
}
GROUT_NUM grout_i32 grout_not_i32(grout_i32 a) {
    return grout_wrap_i32(~(grout_u32)a);
}
GROUT_NUM grout_u32 grout_not_u32(grout_u32 a) {
    return ~a;
}
GROUT_NUM bool grout_not_bool(bool a) {
    return !a;
}

GROUT_NUM grout_i32 grout_shl_i32(grout_i32 a, grout_i32 b) {
    return grout_wrap_i32(grout_shl_u32((grout_u32)a, (grout_u32)b));
}

GROUT_NUM grout_f32 grout_floor_f32(grout_f32 a) {
    return floorf(a);
}
GROUT_NUM grout_f32 grout_ceil_f32(grout_f32 a) {
    return ceilf(a);
}
GROUT_NUM grout_i32 grout_sign_i32(grout_i32 a) {
    return (a > 0) - (a < 0);
}
GROUT_NUM grout_u32 grout_sign_u32(grout_u32 a) {
    return a != 0;
}
GROUT_NUM grout_f32 grout_sign_f32(grout_f32 a) {
    return a > 0 ? 1.0f : a < 0 ? -1.0f : a;
}

/* ---- the names that the expressions of ops.def use ---- */

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
