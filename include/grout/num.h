/* SPDX-License-Identifier: Apache-2.0 */
/*
 * num.h - the arithmetic of ops.def: one text, which is C11 here and CUDA C++ in emitted kernels.
 *
 * Each operation GROUT_X(a, b) chooses a function by the type of a: an integer of 8 to 64 bits, f32
 * or f64 and, where it makes sense, bool. Signed arithmetic wraps. Floats: IEEE single and double
 * precision, round to nearest even, no contraction, min and max propagate NaN. Division by zero is
 * 0 here, and the least integer by -1 wraps (to itself, remainder 0); the interpreter reports both.
 * Sources: docs/language.md 'Numbers'; PTX ISA 9.1 'min', 'max', 'shl', 'shr', 'cvt'.
 *
 * What C and CUDA cannot say in the same words, they have said before: the types, bits of a float,
 * sums and products that round once, min and max of floats, shifts by any number of bits, and how
 * a function is chosen. C says it in num_c.h, CUDA in gpu_backend/device/grout_num.cuh, which
 * defines GROUT_DEVICE and includes this file. What is missing on one side does not compile there;
 * tests/unit/gpu_backend/arithmetic.cpp compiles the side of CUDA.
 */
#ifndef GROUT_NUM_H
#define GROUT_NUM_H

#ifndef GROUT_DEVICE
#include "grout/num_c.h"
#endif

/* ---- integers ---- */

/*
 * A signed and an unsigned type have one width. They compute in WORD, at least as wide as int,
 * which therefore promotes nothing: u16 times u16 would be an int, and overflow.
 */
#define GROUT_OF_INTEGERS(S, U, WORD)                                           \
    GROUT_NUM grout_##S grout_add_##S(grout_##S a, grout_##S b) {               \
        return grout_wrap_##S((grout_##U)((WORD)a + (WORD)b));                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_add_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)((WORD)a + (WORD)b);                                  \
    }                                                                           \
    GROUT_NUM grout_##S grout_sub_##S(grout_##S a, grout_##S b) {               \
        return grout_wrap_##S((grout_##U)((WORD)a - (WORD)b));                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_sub_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)((WORD)a - (WORD)b);                                  \
    }                                                                           \
    GROUT_NUM grout_##S grout_mul_##S(grout_##S a, grout_##S b) {               \
        return grout_wrap_##S((grout_##U)((WORD)a * (WORD)b));                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_mul_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)((WORD)a * (WORD)b);                                  \
    }                                                                           \
    GROUT_NUM grout_##S grout_div_##S(grout_##S a, grout_##S b) {               \
        return (grout_##S)(b == 0 ? 0 : b == -1 ? grout_sub_##S(0, a) : a / b); \
    }                                                                           \
    GROUT_NUM grout_##U grout_div_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)(b == 0 ? 0 : a / b);                                 \
    }                                                                           \
    GROUT_NUM grout_##S grout_rem_##S(grout_##S a, grout_##S b) {               \
        return (grout_##S)(b == 0 || b == -1 ? 0 : a % b);                      \
    }                                                                           \
    GROUT_NUM grout_##U grout_rem_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)(b == 0 ? 0 : a % b);                                 \
    }                                                                           \
    GROUT_NUM grout_##S grout_cdiv_##S(grout_##S a, grout_##S b) {              \
        grout_##S quotient = grout_div_##S(a, b);                               \
        bool is_up = b != 0 && grout_rem_##S(a, b) != 0 && (a < 0) == (b < 0);  \
        return is_up ? (grout_##S)(quotient + 1) : quotient;                    \
    }                                                                           \
    GROUT_NUM grout_##U grout_cdiv_##U(grout_##U a, grout_##U b) {              \
        return (grout_##U)(b == 0 ? 0 : a / b + (a % b != 0 ? 1u : 0u));        \
    }                                                                           \
    GROUT_NUM grout_##S grout_min_##S(grout_##S a, grout_##S b) {               \
        return a < b ? a : b;                                                   \
    }                                                                           \
    GROUT_NUM grout_##U grout_min_##U(grout_##U a, grout_##U b) {               \
        return a < b ? a : b;                                                   \
    }                                                                           \
    GROUT_NUM grout_##S grout_max_##S(grout_##S a, grout_##S b) {               \
        return a > b ? a : b;                                                   \
    }                                                                           \
    GROUT_NUM grout_##U grout_max_##U(grout_##U a, grout_##U b) {               \
        return a > b ? a : b;                                                   \
    }                                                                           \
    GROUT_NUM grout_##S grout_neg_##S(grout_##S a) {                            \
        return grout_sub_##S(0, a);                                             \
    }                                                                           \
    GROUT_NUM grout_##U grout_neg_##U(grout_##U a) {                            \
        return grout_sub_##U(0, a);                                             \
    }                                                                           \
    GROUT_NUM grout_##S grout_abs_##S(grout_##S a) {                            \
        return a < 0 ? grout_neg_##S(a) : a;                                    \
    }                                                                           \
    GROUT_NUM grout_##U grout_abs_##U(grout_##U a) {                            \
        return a;                                                               \
    }                                                                           \
    GROUT_NUM grout_##S grout_sign_##S(grout_##S a) {                           \
        return (grout_##S)((a > 0) - (a < 0));                                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_sign_##U(grout_##U a) {                           \
        return a != 0;                                                          \
    }                                                                           \
    GROUT_NUM grout_##S grout_and_##S(grout_##S a, grout_##S b) {               \
        return grout_wrap_##S((grout_##U)((WORD)a & (WORD)b));                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_and_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)((WORD)a & (WORD)b);                                  \
    }                                                                           \
    GROUT_NUM grout_##S grout_or_##S(grout_##S a, grout_##S b) {                \
        return grout_wrap_##S((grout_##U)((WORD)a | (WORD)b));                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_or_##U(grout_##U a, grout_##U b) {                \
        return (grout_##U)((WORD)a | (WORD)b);                                  \
    }                                                                           \
    GROUT_NUM grout_##S grout_xor_##S(grout_##S a, grout_##S b) {               \
        return grout_wrap_##S((grout_##U)((WORD)a ^ (WORD)b));                  \
    }                                                                           \
    GROUT_NUM grout_##U grout_xor_##U(grout_##U a, grout_##U b) {               \
        return (grout_##U)((WORD)a ^ (WORD)b);                                  \
    }                                                                           \
    GROUT_NUM grout_##S grout_not_##S(grout_##S a) {                            \
        return grout_wrap_##S((grout_##U) ~(WORD)a);                            \
    }                                                                           \
    GROUT_NUM grout_##U grout_not_##U(grout_##U a) {                            \
        return (grout_##U) ~(WORD)a;                                            \
    }                                                                           \
    GROUT_NUM grout_##S grout_shl_##S(grout_##S a, grout_##S b) {               \
        return grout_wrap_##S(grout_shl_##U((grout_##U)a, (grout_##U)b));       \
    }                                                                           \
    GROUT_NUM grout_##S grout_clz_##S(grout_##S a) {                            \
        return (grout_##S)grout_clz_##U((grout_##U)a);                          \
    }                                                                           \
    GROUT_NUM grout_##S grout_popcount_##S(grout_##S a) {                       \
        return (grout_##S)grout_popcount_##U((grout_##U)a);                     \
    }

/* Types narrower than 32 bits: all bits of b count, and a negative one is a large one. */
#define GROUT_OF_NARROW(S, U, BITS)                               \
    GROUT_NUM grout_##U grout_shl_##U(grout_##U a, grout_##U b) { \
        return (grout_##U)grout_shl_u32(a, b);                    \
    }                                                             \
    GROUT_NUM grout_##U grout_shr_##U(grout_##U a, grout_##U b) { \
        return (grout_##U)grout_shr_u32(a, b);                    \
    }                                                             \
    GROUT_NUM grout_##S grout_shr_##S(grout_##S a, grout_##S b) { \
        return (grout_##S)grout_shr_i32(a, b);                    \
    }                                                             \
    GROUT_NUM grout_##U grout_clz_##U(grout_##U a) {              \
        return (grout_##U)(grout_clz_u32(a) - (32u - BITS));      \
    }                                                             \
    GROUT_NUM grout_##U grout_popcount_##U(grout_##U a) {         \
        return (grout_##U)grout_popcount_u32(a);                  \
    }
GROUT_OF_NARROW(i8, u8, 8u)
GROUT_OF_NARROW(i16, u16, 16u)

GROUT_NUM grout_u64 grout_shl_u64(grout_u64 a, grout_u64 b) {
    return b > 63 ? 0 : a << b;
}
GROUT_NUM grout_u64 grout_shr_u64(grout_u64 a, grout_u64 b) {
    return b > 63 ? 0 : a >> b;
}
/* Negative numbers by their complement: what moves in is the sign. */
GROUT_NUM grout_i64 grout_shr_i64(grout_i64 a, grout_i64 b) {
    grout_u64 bits = (grout_u64)a, by = (grout_u64)b;
    return grout_wrap_i64(a < 0 ? ~grout_shr_u64(~bits, by) : grout_shr_u64(bits, by));
}

GROUT_OF_INTEGERS(i8, u8, grout_u32)
GROUT_OF_INTEGERS(i16, u16, grout_u32)
GROUT_OF_INTEGERS(i32, u32, grout_u32)
GROUT_OF_INTEGERS(i64, u64, grout_u64)
#undef GROUT_OF_INTEGERS
#undef GROUT_OF_NARROW

GROUT_NUM bool grout_and_bool(bool a, bool b) {
    return a && b;
}
GROUT_NUM bool grout_or_bool(bool a, bool b) {
    return a || b;
}
GROUT_NUM bool grout_xor_bool(bool a, bool b) {
    return a != b;
}
GROUT_NUM bool grout_not_bool(bool a) {
    return !a;
}

/* ---- floats ---- */

/* A float type F has the bits of a U: SIGN is its sign bit, INF the bits of infinity. */
#define GROUT_OF_FLOATS(F, U, SIGN, INF)                                                      \
    GROUT_NUM grout_##F grout_neg_##F(grout_##F a) {                                          \
        return grout_from_bits_##F(grout_bits_##F(a) ^ SIGN);                                 \
    }                                                                                         \
    GROUT_NUM grout_##F grout_abs_##F(grout_##F a) {                                          \
        return grout_from_bits_##F(grout_bits_##F(a) & ~SIGN);                                \
    }                                                                                         \
    GROUT_NUM grout_##F grout_copysign_##F(grout_##F a, grout_##F b) {                        \
        return grout_from_bits_##F((grout_bits_##F(a) & ~SIGN) | (grout_bits_##F(b) & SIGN)); \
    }                                                                                         \
    GROUT_NUM grout_##F grout_sign_##F(grout_##F a) {                                         \
        return a > 0 ? (grout_##F)1 : a < 0 ? (grout_##F) - 1 : a;                            \
    }                                                                                         \
    GROUT_NUM bool grout_is_finite_##F(grout_##F a) {                                         \
        return (grout_bits_##F(a) & INF) != INF;                                              \
    }
GROUT_OF_FLOATS(f32, u32, 0x80000000u, 0x7f800000u)
GROUT_OF_FLOATS(f64, u64, 0x8000000000000000ull, 0x7ff0000000000000ull)
#undef GROUT_OF_FLOATS

GROUT_NUM grout_f32 grout_floor_f32(grout_f32 a) {
    return floorf(a);
}
GROUT_NUM grout_f64 grout_floor_f64(grout_f64 a) {
    return floor(a);
}
GROUT_NUM grout_f32 grout_ceil_f32(grout_f32 a) {
    return ceilf(a);
}
GROUT_NUM grout_f64 grout_ceil_f64(grout_f64 a) {
    return ceil(a);
}
GROUT_NUM grout_f32 grout_round_away_f32(grout_f32 a) {
    return roundf(a);
}
GROUT_NUM grout_f64 grout_round_away_f64(grout_f64 a) {
    return round(a);
}

/* As of f32, whose instruction f64 does not have: -0 is less than +0, a NaN gives the canonical
 * one. */
GROUT_NUM grout_f64 grout_min_f64(grout_f64 a, grout_f64 b) {
    if (a != a || b != b) {
        return grout_from_bits_f64(0x7fffffffffffffffull);
    }
    if (a == b) {
        return grout_from_bits_f64(grout_bits_f64(a) | grout_bits_f64(b));
    }
    return a < b ? a : b;
}
GROUT_NUM grout_f64 grout_max_f64(grout_f64 a, grout_f64 b) {
    if (a != a || b != b) {
        return grout_from_bits_f64(0x7fffffffffffffffull);
    }
    if (a == b) {
        return grout_from_bits_f64(grout_bits_f64(a) & grout_bits_f64(b));
    }
    return a > b ? a : b;
}

/* ---- the names that the expressions of ops.def use ---- */

#define GROUT_ADD(a, b)      GROUT_NUM2(add, a, b)
#define GROUT_SUB(a, b)      GROUT_NUM2(sub, a, b)
#define GROUT_MUL(a, b)      GROUT_NUM2(mul, a, b)
#define GROUT_DIV(a, b)      GROUT_NUM2(div, a, b)
#define GROUT_REM(a, b)      GROUT_INT2(rem, a, b)
#define GROUT_CDIV(a, b)     GROUT_INT2(cdiv, a, b)
#define GROUT_MIN(a, b)      GROUT_NUM2(min, a, b)
#define GROUT_MAX(a, b)      GROUT_NUM2(max, a, b)
#define GROUT_FMA(a, b, c)   GROUT_FLOAT3(fma, a, b, c)
#define GROUT_NEG(a)         GROUT_NUM1(neg, a)
#define GROUT_ABS(a)         GROUT_NUM1(abs, a)
#define GROUT_SQRT(a)        GROUT_FLOAT1(sqrt, a)
#define GROUT_FLOOR(a)       GROUT_FLOAT1(floor, a)
#define GROUT_CEIL(a)        GROUT_FLOAT1(ceil, a)
#define GROUT_ROUND(a)       GROUT_FLOAT1(round, a)
#define GROUT_ROUND_AWAY(a)  GROUT_FLOAT1(round_away, a)
#define GROUT_COPYSIGN(a, b) GROUT_FLOAT2(copysign, a, b)
#define GROUT_IS_FINITE(a)   GROUT_FLOAT1(is_finite, a)
#define GROUT_CLAMP(a, b, c) GROUT_MIN(GROUT_MAX(a, b), c)
#define GROUT_CLZ(a)         GROUT_INT1(clz, a)
#define GROUT_POPCOUNT(a)    GROUT_INT1(popcount, a)
#define GROUT_SIGN(a)        GROUT_NUM1(sign, a)
#define GROUT_AND(a, b)      GROUT_LOGIC2(and, a, b)
#define GROUT_OR(a, b)       GROUT_LOGIC2(or, a, b)
#define GROUT_XOR(a, b)      GROUT_LOGIC2(xor, a, b)
#define GROUT_NOT(a)         GROUT_LOGIC1(not, a)
#define GROUT_SHL(a, b)      GROUT_INT2(shl, a, b)
#define GROUT_SHR(a, b)      GROUT_INT2(shr, a, b)
#define GROUT_EQ(a, b)       ((a) == (b))
#define GROUT_NE(a, b)       ((a) != (b))
#define GROUT_LT(a, b)       ((a) < (b))
#define GROUT_LE(a, b)       ((a) <= (b))
#define GROUT_GT(a, b)       ((a) > (b))
#define GROUT_GE(a, b)       ((a) >= (b))

#endif
