// grout_num.cuh - the arithmetic of emitted kernels: element types, the operations of num.h, casts.
// SPDX-License-Identifier: Apache-2.0
//
// Self-contained: NVRTC and nvcc compile it without any include directory.
#ifndef GROUT_NUM_CUH
#define GROUT_NUM_CUH

#define GROUT_DEVICE static __device__ __forceinline__

// ---- types --------------------------------------------------------------------------------------

typedef signed char grout_i8;
typedef unsigned char grout_u8;
typedef short grout_i16;
typedef unsigned short grout_u16;
typedef int grout_i32;
typedef unsigned int grout_u32;
typedef long long grout_i64;
typedef unsigned long long grout_u64;
typedef float grout_f32;
typedef double grout_f64;

// Narrow floats and 4-bit integers are bits with a type of their own: nothing converts them by accident.
struct grout_i4 { grout_u8 bits; };
struct grout_u4 { grout_u8 bits; };
struct grout_f4e2m1 { grout_u8 bits; };
struct grout_f6e2m3 { grout_u8 bits; };
struct grout_f6e3m2 { grout_u8 bits; };
struct grout_f16 { grout_u16 bits; };
struct grout_bf16 { grout_u16 bits; };
struct grout_f8e4m3 { grout_u8 bits; };
struct grout_f8e5m2 { grout_u8 bits; };
struct grout_f8e8m0 { grout_u8 bits; };

// ---- arithmetic ---------------------------------------------------------------------------------
// What num.h leaves to CUDA: num_c.h says the same in C.

#define GROUT_BY_PTX(NAME, PTX, TO, LETTER, FROM)                                                  \
    GROUT_DEVICE TO grout_##NAME(FROM a, FROM b) {                                                 \
        TO d;                                                                                      \
        asm(PTX " %0, %1, %2;" : "=" LETTER(d) : LETTER(a), LETTER(b));                            \
        return d;                                                                                  \
    }

GROUT_DEVICE grout_i8 grout_wrap_i8(grout_u8 bits) { return (grout_i8)bits; }
GROUT_DEVICE grout_i16 grout_wrap_i16(grout_u16 bits) { return (grout_i16)bits; }
GROUT_DEVICE grout_i32 grout_wrap_i32(grout_u32 bits) { return (grout_i32)bits; }
GROUT_DEVICE grout_i64 grout_wrap_i64(grout_u64 bits) { return (grout_i64)bits; }
GROUT_DEVICE grout_u32 grout_bits_f32(grout_f32 value) { return __float_as_uint(value); }
GROUT_DEVICE grout_f32 grout_from_bits_f32(grout_u32 bits) { return __uint_as_float(bits); }
GROUT_DEVICE grout_u64 grout_bits_f64(grout_f64 value) {
    return (grout_u64)__double_as_longlong(value);
}
GROUT_DEVICE grout_f64 grout_from_bits_f64(grout_u64 bits) {
    return __longlong_as_double((grout_i64)bits);
}
#define GROUT_ROUNDED_ONCE(F, LETTER, FMA)                                                         \
    GROUT_DEVICE grout_##F grout_add_##F(grout_##F a, grout_##F b) { return __##LETTER##add_rn(a, b); } \
    GROUT_DEVICE grout_##F grout_sub_##F(grout_##F a, grout_##F b) { return __##LETTER##sub_rn(a, b); } \
    GROUT_DEVICE grout_##F grout_mul_##F(grout_##F a, grout_##F b) { return __##LETTER##mul_rn(a, b); } \
    GROUT_DEVICE grout_##F grout_div_##F(grout_##F a, grout_##F b) { return __##LETTER##div_rn(a, b); } \
    GROUT_DEVICE grout_##F grout_sqrt_##F(grout_##F a) { return __##LETTER##sqrt_rn(a); }          \
    GROUT_DEVICE grout_##F grout_fma_##F(grout_##F a, grout_##F b, grout_##F c) {                  \
        return FMA(a, b, c);                                                                       \
    }
GROUT_ROUNDED_ONCE(f32, f, __fmaf_rn)
GROUT_ROUNDED_ONCE(f64, d, __fma_rn)
#undef GROUT_ROUNDED_ONCE
GROUT_DEVICE grout_f32 grout_round_f32(grout_f32 a) { return rintf(a); }
GROUT_DEVICE grout_f64 grout_round_f64(grout_f64 a) { return rint(a); }
GROUT_DEVICE grout_u32 grout_clz_u32(grout_u32 a) { return (grout_u32)__clz((int)a); }
GROUT_DEVICE grout_u64 grout_clz_u64(grout_u64 a) { return (grout_u64)__clzll((grout_i64)a); }
GROUT_DEVICE grout_u32 grout_popcount_u32(grout_u32 a) { return (grout_u32)__popc(a); }
GROUT_DEVICE grout_u64 grout_popcount_u64(grout_u64 a) { return (grout_u64)__popcll(a); }
GROUT_BY_PTX(min_f32, "min.NaN.f32", grout_f32, "f", grout_f32)
GROUT_BY_PTX(max_f32, "max.NaN.f32", grout_f32, "f", grout_f32)
// The shift is clamped at 32, and a negative one is a large one.
GROUT_BY_PTX(shl_u32, "shl.b32", grout_u32, "r", grout_u32)
GROUT_BY_PTX(shr_u32, "shr.u32", grout_u32, "r", grout_u32)
GROUT_BY_PTX(shr_i32, "shr.s32", grout_i32, "r", grout_i32)
#undef GROUT_BY_PTX

#define GROUT_NUM1(name, a)         grout_##name(a)
#define GROUT_NUM2(name, a, b)      grout_##name(a, b)
#define GROUT_INT1(name, a)         grout_##name(a)
#define GROUT_INT2(name, a, b)      grout_##name(a, b)
#define GROUT_FLOAT1(name, a)       grout_##name(a)
#define GROUT_FLOAT2(name, a, b)    grout_##name(a, b)
#define GROUT_FLOAT3(name, a, b, c) grout_##name(a, b, c)
#define GROUT_LOGIC1(name, a)       grout_##name(a)
#define GROUT_LOGIC2(name, a, b)    grout_##name(a, b)

#define GROUT_NUM GROUT_DEVICE
#include "grout/num.h"

// The functions of num.h are called grout_add_i32 and so on; these choose one by the types of the
// arguments.
#define GROUT_OVERLOAD1(NAME, TYPE)                                                                \
    GROUT_DEVICE grout_##TYPE grout_##NAME(grout_##TYPE a) { return grout_##NAME##_##TYPE(a); }
#define GROUT_OVERLOAD2(NAME, TYPE)                                                                \
    GROUT_DEVICE grout_##TYPE grout_##NAME(grout_##TYPE a, grout_##TYPE b) {                       \
        return grout_##NAME##_##TYPE(a, b);                                                        \
    }
#define GROUT_OVERLOAD3(NAME, TYPE)                                                                \
    GROUT_DEVICE grout_##TYPE grout_##NAME(grout_##TYPE a, grout_##TYPE b, grout_##TYPE c) {       \
        return grout_##NAME##_##TYPE(a, b, c);                                                     \
    }
#define GROUT_OVERLOADS_INT(ARITY, NAME)                                                           \
    GROUT_OVERLOAD##ARITY(NAME, i8)                                                                \
    GROUT_OVERLOAD##ARITY(NAME, u8)                                                                \
    GROUT_OVERLOAD##ARITY(NAME, i16)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, u16)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, i32)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, u32)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, i64)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, u64)
#define GROUT_OVERLOADS_FLOAT(ARITY, NAME)                                                         \
    GROUT_OVERLOAD##ARITY(NAME, f32)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, f64)
#define GROUT_OVERLOADS_NUM(ARITY, NAME)                                                           \
    GROUT_OVERLOADS_INT(ARITY, NAME)                                                               \
    GROUT_OVERLOADS_FLOAT(ARITY, NAME)
typedef bool grout_bool;
#define GROUT_OVERLOADS_LOGIC(ARITY, NAME)                                                         \
    GROUT_OVERLOADS_INT(ARITY, NAME)                                                               \
    GROUT_OVERLOAD##ARITY(NAME, bool)
GROUT_OVERLOADS_NUM(2, add)
GROUT_OVERLOADS_NUM(2, sub)
GROUT_OVERLOADS_NUM(2, mul)
GROUT_OVERLOADS_NUM(2, div)
GROUT_OVERLOADS_INT(2, rem)
GROUT_OVERLOADS_INT(2, cdiv)
GROUT_OVERLOADS_NUM(2, min)
GROUT_OVERLOADS_NUM(2, max)
GROUT_OVERLOADS_NUM(1, neg)
GROUT_OVERLOADS_NUM(1, abs)
GROUT_OVERLOADS_NUM(1, sign)
GROUT_OVERLOADS_LOGIC(2, and)
GROUT_OVERLOADS_LOGIC(2, or)
GROUT_OVERLOADS_LOGIC(2, xor)
GROUT_OVERLOADS_LOGIC(1, not)
GROUT_OVERLOADS_INT(2, shl)
GROUT_OVERLOADS_INT(2, shr)
GROUT_OVERLOADS_INT(1, clz)
GROUT_OVERLOADS_INT(1, popcount)
GROUT_OVERLOADS_FLOAT(3, fma)
GROUT_OVERLOADS_FLOAT(1, sqrt)
GROUT_OVERLOADS_FLOAT(1, floor)
GROUT_OVERLOADS_FLOAT(1, ceil)
GROUT_OVERLOADS_FLOAT(1, round)
GROUT_OVERLOADS_FLOAT(1, round_away)
GROUT_OVERLOADS_FLOAT(2, copysign)
GROUT_DEVICE bool grout_is_finite(grout_f32 a) { return grout_is_finite_f32(a); }
GROUT_DEVICE bool grout_is_finite(grout_f64 a) { return grout_is_finite_f64(a); }
#undef GROUT_OVERLOADS_LOGIC
#undef GROUT_OVERLOADS_NUM
#undef GROUT_OVERLOADS_FLOAT
#undef GROUT_OVERLOADS_INT
#undef GROUT_OVERLOAD3
#undef GROUT_OVERLOAD2
#undef GROUT_OVERLOAD1

template <typename T> GROUT_DEVICE T grout_select(bool condition, T a, T b) {
    return condition ? a : b;
}

// ---- functions that no hardware rounds correctly ------------------------------------------------
// CUDA's own, within the error that ops.def states; subnormals kept.

#define GROUT_FUNCTION(NAME, F32, F64)                                                             \
    GROUT_DEVICE grout_f32 grout_##NAME(grout_f32 a) { return F32(a); }                            \
    GROUT_DEVICE grout_f64 grout_##NAME(grout_f64 a) { return F64(a); }
GROUT_FUNCTION(cbrt, cbrtf, cbrt)
GROUT_FUNCTION(exp, expf, exp)
GROUT_FUNCTION(exp2, exp2f, exp2)
GROUT_FUNCTION(expm1, expm1f, expm1)
GROUT_FUNCTION(log, logf, log)
GROUT_FUNCTION(log2, log2f, log2)
GROUT_FUNCTION(log1p, log1pf, log1p)
GROUT_FUNCTION(sin, sinf, sin)
GROUT_FUNCTION(cos, cosf, cos)
GROUT_FUNCTION(tanh, tanhf, tanh)
GROUT_FUNCTION(rsqrt, rsqrtf, rsqrt)
GROUT_FUNCTION(erf, erff, erf)
#undef GROUT_FUNCTION
GROUT_DEVICE grout_f32 grout_atan2(grout_f32 a, grout_f32 b) { return atan2f(a, b); }
GROUT_DEVICE grout_f64 grout_atan2(grout_f64 a, grout_f64 b) { return atan2(a, b); }
GROUT_DEVICE grout_f32 grout_pow(grout_f32 a, grout_f32 b) { return powf(a, b); }
GROUT_DEVICE grout_f64 grout_pow(grout_f64 a, grout_f64 b) { return pow(a, b); }
// The exponential of a negative number cannot overflow: what is small keeps its digits.
template <typename T> GROUT_DEVICE T grout_logistic(T a) {
    const T e = grout_exp(grout_neg(grout_abs(a)));
    return grout_div(a < 0 ? e : T(1), grout_add(T(1), e));
}

// What 'approx' asks for: one instruction of the special function unit, scaled where its base is 2;
// subnormals are flushed. There is none for erf, expm1, log1p, cbrt and
// atan2, and none of f64.
#define GROUT_APPROX(NAME, PTX)                                                                    \
    GROUT_DEVICE grout_f32 grout_##NAME##_approx(grout_f32 a) {                                    \
        grout_f32 d;                                                                               \
        asm(PTX " %0, %1;" : "=f"(d) : "f"(a));                                                    \
        return d;                                                                                  \
    }
GROUT_APPROX(exp2, "ex2.approx.ftz.f32")
GROUT_APPROX(log2, "lg2.approx.ftz.f32")
GROUT_APPROX(sin, "sin.approx.ftz.f32")
GROUT_APPROX(cos, "cos.approx.ftz.f32")
GROUT_APPROX(tanh, "tanh.approx.f32")
GROUT_APPROX(rsqrt, "rsqrt.approx.ftz.f32")
GROUT_APPROX(rcp, "rcp.approx.ftz.f32")
#undef GROUT_APPROX
GROUT_DEVICE grout_f32 grout_exp_approx(grout_f32 a) {
    return grout_exp2_approx(grout_mul(a, 1.44269504f)); // log2(e)
}
GROUT_DEVICE grout_f32 grout_log_approx(grout_f32 a) {
    return grout_mul(grout_log2_approx(a), 0.693147181f); // ln(2)
}
GROUT_DEVICE grout_f32 grout_logistic_approx(grout_f32 a) {
    return grout_rcp_approx(grout_add(1.0f, grout_exp_approx(grout_neg(a))));
}
GROUT_DEVICE grout_f32 grout_erf_approx(grout_f32 a) { return grout_erf(a); }
GROUT_DEVICE grout_f32 grout_cbrt_approx(grout_f32 a) { return grout_cbrt(a); }
GROUT_DEVICE grout_f32 grout_expm1_approx(grout_f32 a) { return grout_expm1(a); }
GROUT_DEVICE grout_f32 grout_log1p_approx(grout_f32 a) { return grout_log1p(a); }
GROUT_DEVICE grout_f32 grout_atan2_approx(grout_f32 a, grout_f32 b) { return grout_atan2(a, b); }
GROUT_DEVICE grout_f64 grout_atan2_approx(grout_f64 a, grout_f64 b) { return grout_atan2(a, b); }
GROUT_DEVICE grout_f32 grout_pow_approx(grout_f32 a, grout_f32 b) { return grout_pow(a, b); }
GROUT_DEVICE grout_f64 grout_pow_approx(grout_f64 a, grout_f64 b) { return grout_pow(a, b); }
#define GROUT_NOT_APPROX(NAME)                                                                     \
    GROUT_DEVICE grout_f64 grout_##NAME##_approx(grout_f64 a) { return grout_##NAME(a); }
GROUT_NOT_APPROX(cbrt)
GROUT_NOT_APPROX(exp)
GROUT_NOT_APPROX(exp2)
GROUT_NOT_APPROX(expm1)
GROUT_NOT_APPROX(log)
GROUT_NOT_APPROX(log1p)
GROUT_NOT_APPROX(log2)
GROUT_NOT_APPROX(sin)
GROUT_NOT_APPROX(cos)
GROUT_NOT_APPROX(tanh)
GROUT_NOT_APPROX(rsqrt)
GROUT_NOT_APPROX(logistic)
GROUT_NOT_APPROX(erf)
#undef GROUT_NOT_APPROX

// The names that the expressions of ops.def use, beside those of num.h.
#define GROUT_CBRT(a) grout_cbrt(a)
#define GROUT_EXP(a) grout_exp(a)
#define GROUT_EXP2(a) grout_exp2(a)
#define GROUT_EXPM1(a) grout_expm1(a)
#define GROUT_LOG(a) grout_log(a)
#define GROUT_LOG1P(a) grout_log1p(a)
#define GROUT_ATAN2(a, b) grout_atan2(a, b)
#define GROUT_POW(a, b) grout_pow(a, b)
#define GROUT_LOG2(a) grout_log2(a)
#define GROUT_SIN(a) grout_sin(a)
#define GROUT_COS(a) grout_cos(a)
#define GROUT_TANH(a) grout_tanh(a)
#define GROUT_RSQRT(a) grout_rsqrt(a)
#define GROUT_LOGISTIC(a) grout_logistic(a)
#define GROUT_ERF(a) grout_erf(a)
#define GROUT_CBRT_APPROX(a) grout_cbrt_approx(a)
#define GROUT_EXP_APPROX(a) grout_exp_approx(a)
#define GROUT_EXP2_APPROX(a) grout_exp2_approx(a)
#define GROUT_EXPM1_APPROX(a) grout_expm1_approx(a)
#define GROUT_LOG_APPROX(a) grout_log_approx(a)
#define GROUT_LOG1P_APPROX(a) grout_log1p_approx(a)
#define GROUT_ATAN2_APPROX(a, b) grout_atan2_approx(a, b)
#define GROUT_POW_APPROX(a, b) grout_pow_approx(a, b)
#define GROUT_LOG2_APPROX(a) grout_log2_approx(a)
#define GROUT_SIN_APPROX(a) grout_sin_approx(a)
#define GROUT_COS_APPROX(a) grout_cos_approx(a)
#define GROUT_TANH_APPROX(a) grout_tanh_approx(a)
#define GROUT_RSQRT_APPROX(a) grout_rsqrt_approx(a)
#define GROUT_LOGISTIC_APPROX(a) grout_logistic_approx(a)
#define GROUT_ERF_APPROX(a) grout_erf_approx(a)

// ---- conversions --------------------------------------------------------------------------------
// grout_cast<To>(a): floats round once, to nearest even; float to integer truncates and saturates,
// with NaN as 0; integers wrap; to bool is 'differs from zero'. A float of 8 bits or less saturates at its
// largest finite value, which NaN becomes too in one of less; f8e8m0 rounds up, to a power of two, and is NaN of what is below 0. Small types widen first, exactly, to one of i32 u32 i64 u64 f32 f64; then
// grout_cvt takes one of these six to the type of its second argument.

#define GROUT_CVT(FROM, TO, PTX, OUT, IN)                                                          \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) {                                                        \
        TO d;                                                                                      \
        asm(PTX " %0, %1;" : OUT : IN(a));                                                         \
        return d;                                                                                  \
    }
GROUT_DEVICE grout_f32 grout_cvt(grout_f32 a, grout_f32) { return a; }
GROUT_DEVICE grout_f64 grout_cvt(grout_f64 a, grout_f64) { return a; }
GROUT_CVT(grout_f64, grout_f32, "cvt.rn.f32.f64", "=f"(d), "d")
GROUT_CVT(grout_i32, grout_f32, "cvt.rn.f32.s32", "=f"(d), "r")
GROUT_CVT(grout_u32, grout_f32, "cvt.rn.f32.u32", "=f"(d), "r")
GROUT_CVT(grout_i64, grout_f32, "cvt.rn.f32.s64", "=f"(d), "l")
GROUT_CVT(grout_u64, grout_f32, "cvt.rn.f32.u64", "=f"(d), "l")
GROUT_CVT(grout_f32, grout_f64, "cvt.f64.f32", "=d"(d), "f")
GROUT_CVT(grout_i32, grout_f64, "cvt.rn.f64.s32", "=d"(d), "r")
GROUT_CVT(grout_u32, grout_f64, "cvt.rn.f64.u32", "=d"(d), "r")
GROUT_CVT(grout_i64, grout_f64, "cvt.rn.f64.s64", "=d"(d), "l")
GROUT_CVT(grout_u64, grout_f64, "cvt.rn.f64.u64", "=d"(d), "l")
GROUT_CVT(grout_f32, grout_f16, "cvt.rn.f16.f32", "=h"(d.bits), "f")
GROUT_CVT(grout_f64, grout_f16, "cvt.rn.f16.f64", "=h"(d.bits), "d")
GROUT_CVT(grout_i64, grout_f16, "cvt.rn.f16.s64", "=h"(d.bits), "l")
GROUT_CVT(grout_u64, grout_f16, "cvt.rn.f16.u64", "=h"(d.bits), "l")
GROUT_CVT(grout_f32, grout_bf16, "cvt.rn.bf16.f32", "=h"(d.bits), "f")
GROUT_CVT(grout_f64, grout_bf16, "cvt.rn.bf16.f64", "=h"(d.bits), "d")
GROUT_CVT(grout_i64, grout_bf16, "cvt.rn.bf16.s64", "=h"(d.bits), "l")
GROUT_CVT(grout_u64, grout_bf16, "cvt.rn.bf16.u64", "=h"(d.bits), "l")
GROUT_CVT(grout_f32, grout_i32, "cvt.rzi.s32.f32", "=r"(d), "f")
GROUT_CVT(grout_f32, grout_u32, "cvt.rzi.u32.f32", "=r"(d), "f")
#undef GROUT_CVT

// With a f64 source or a 64-bit destination, PTX 'cvt' does not make 0 of NaN.
#define GROUT_CVT_NAN(FROM, TO, PTX, OUT, IN)                                                      \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) {                                                        \
        TO d;                                                                                      \
        asm(PTX " %0, %1;" : OUT(d) : IN(a));                                                      \
        return a != a ? TO(0) : d;                                                                 \
    }
GROUT_CVT_NAN(grout_f64, grout_i32, "cvt.rzi.s32.f64", "=r", "d")
GROUT_CVT_NAN(grout_f64, grout_u32, "cvt.rzi.u32.f64", "=r", "d")
GROUT_CVT_NAN(grout_f32, grout_i64, "cvt.rzi.s64.f32", "=l", "f")
GROUT_CVT_NAN(grout_f32, grout_u64, "cvt.rzi.u64.f32", "=l", "f")
GROUT_CVT_NAN(grout_f64, grout_i64, "cvt.rzi.s64.f64", "=l", "d")
GROUT_CVT_NAN(grout_f64, grout_u64, "cvt.rzi.u64.f64", "=l", "d")
#undef GROUT_CVT_NAN

// 8-bit floats convert in pairs, whose upper half is zero here. A f64 is first cut to f32 with its
// last bit set if anything was lost, so that the second rounding cannot hit a tie that was none.
// Integers that f32 rounds are far above the largest 8-bit float.
#define GROUT_CVT_F8(TO, PTX)                                                                      \
    GROUT_DEVICE TO grout_cvt(grout_f32 a, TO) {                                                   \
        grout_u16 pair;                                                                            \
        asm("cvt.rn.satfinite." PTX "x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(a));        \
        TO d = {(grout_u8)pair};                                                                   \
        return d;                                                                                  \
    }                                                                                              \
    GROUT_DEVICE TO grout_cvt(grout_f64 a, TO) {                                                   \
        const grout_f32 cut = __double2float_rz(a);                                                \
        const grout_u32 lost = (grout_f64)cut != a && a == a ? 1u : 0u;                            \
        return grout_cvt(__uint_as_float(__float_as_uint(cut) | lost), TO());                      \
    }                                                                                              \
    template <typename From> GROUT_DEVICE TO grout_cvt(From a, TO) {                               \
        return grout_cvt(grout_cvt(a, grout_f32()), TO());                                         \
    }                                                                                              \
    GROUT_DEVICE grout_f32 grout_widen(TO a) {                                                     \
        grout_u32 pair;                                                                            \
        grout_f32 d;                                                                               \
        asm("cvt.rn.f16x2." PTX "x2 %0, %1;" : "=r"(pair) : "h"((grout_u16)a.bits));               \
        asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"((grout_u16)pair));                               \
        return d;                                                                                  \
    }
GROUT_CVT_F8(grout_f8e4m3, "e4m3")
GROUT_CVT_F8(grout_f8e5m2, "e5m2")
#undef GROUT_CVT_F8

// Floats of 4 and 6 bits: sign, exponent, MANTISSA bits of fraction, 2^LEAST the smallest normal. sm_90 has no instruction for
// them. The size is counted in units of its last place, which adding 2^23 rounds to an integer, to nearest even.
GROUT_DEVICE grout_u8 grout_round_tiny(grout_f32 a, grout_i32 mantissa, grout_i32 least,
                                       grout_u32 sign) {
    const grout_u32 bits = __float_as_uint(a), size = bits & 0x7fffffffu;
    const grout_i32 exponent = (grout_i32)(size >> 23) - 127;
    const grout_i32 place = exponent < least ? least : exponent;
    const grout_f32 unit = __uint_as_float((grout_u32)(127 + mantissa - place) << 23);
    const grout_u32 count =
        __float_as_uint(__fadd_rn(__uint_as_float(size) * unit, 8388608.0f)) - 0x4b000000u;
    const grout_u32 finite = ((grout_u32)(place - least) << mantissa) + count;
    const grout_u32 largest = sign - 1u;
    return size > 0x7f800000u ? (grout_u8)largest
                              : (grout_u8)((finite < largest ? finite : largest) |
                                           (bits >> 31 != 0 ? sign : 0u));
}
GROUT_DEVICE grout_f32 grout_widen_tiny(grout_u32 bits, grout_i32 mantissa, grout_i32 least,
                                        grout_u32 sign) {
    const grout_f32 size = __uint_as_float((bits & (sign - 1u)) << (23 - mantissa)) *
                           __uint_as_float((grout_u32)(253 + least) << 23);
    return __uint_as_float(__float_as_uint(size) | ((bits & sign) != 0 ? 0x80000000u : 0u));
}
#define GROUT_CVT_TINY(TO, MANTISSA, LEAST, SIGN)                                                  \
    GROUT_DEVICE TO grout_cvt(grout_f32 a, TO) {                                                   \
        return TO{grout_round_tiny(a, MANTISSA, LEAST, SIGN)};                                     \
    }                                                                                              \
    GROUT_DEVICE TO grout_cvt(grout_f64 a, TO) {                                                   \
        const grout_f32 cut = __double2float_rz(a);                                                \
        const grout_u32 lost = (grout_f64)cut != a && a == a ? 1u : 0u;                            \
        return grout_cvt(__uint_as_float(__float_as_uint(cut) | lost), TO());                      \
    }                                                                                              \
    template <typename From> GROUT_DEVICE TO grout_cvt(From a, TO) {                               \
        return grout_cvt(grout_cvt(a, grout_f32()), TO());                                         \
    }                                                                                              \
    GROUT_DEVICE grout_f32 grout_widen(TO a) {                                                     \
        return grout_widen_tiny(a.bits, MANTISSA, LEAST, SIGN);                                    \
    }
GROUT_CVT_TINY(grout_f4e2m1, 1, 0, 8u)
GROUT_CVT_TINY(grout_f6e2m3, 3, 0, 32u)
GROUT_CVT_TINY(grout_f6e3m2, 2, -2, 32u)
#undef GROUT_CVT_TINY

// f8e8m0 is the exponent of a power of two; sm_90 has no instruction for it.
GROUT_DEVICE grout_f8e8m0 grout_scale(bool is_negative, bool is_least, grout_u32 exponent) {
    const grout_u32 finite = is_least ? 0u : exponent > 254u ? 254u : exponent;
    return grout_f8e8m0{(grout_u8)(is_negative ? 255u : finite)};
}
GROUT_DEVICE grout_f8e8m0 grout_cvt(grout_f32 a, grout_f8e8m0) {
    const grout_u32 bits = __float_as_uint(a);
    return grout_scale(!(a >= 0.0f), (bits & 0x7fffffffu) <= 0x00400000u,
                       (bits >> 23 & 255u) + ((bits & 0x7fffffu) != 0 ? 1u : 0u));
}
GROUT_DEVICE grout_f8e8m0 grout_cvt(grout_f64 a, grout_f8e8m0) {
    const grout_u64 bits = grout_bits_f64(a);
    const grout_u32 exponent = (grout_u32)(bits >> 52 & 2047u);
    return grout_scale(!(a >= 0.0), (bits & 0x7fffffffffffffffull) <= 0x3800000000000000ull,
                       exponent - 896u + ((bits & 0xfffffffffffffull) != 0 ? 1u : 0u));
}
GROUT_DEVICE grout_f8e8m0 grout_cvt(grout_u64 a, grout_f8e8m0) {
    return grout_scale(false, a == 0, 191u - (grout_u32)__clzll((grout_i64)(a - 1)));
}
GROUT_DEVICE grout_f8e8m0 grout_cvt(grout_i64 a, grout_f8e8m0) {
    return a < 0 ? grout_f8e8m0{255} : grout_cvt((grout_u64)a, grout_f8e8m0());
}
GROUT_DEVICE grout_f8e8m0 grout_cvt(grout_u32 a, grout_f8e8m0) {
    return grout_cvt((grout_u64)a, grout_f8e8m0());
}
GROUT_DEVICE grout_f8e8m0 grout_cvt(grout_i32 a, grout_f8e8m0) {
    return grout_cvt((grout_i64)a, grout_f8e8m0());
}
GROUT_DEVICE grout_f32 grout_widen(grout_f8e8m0 a) {
    return __uint_as_float(a.bits == 0 ? 0x00400000u : a.bits == 255 ? 0x7fffffffu
                                                                     : (grout_u32)a.bits << 23);
}

GROUT_DEVICE grout_u32 grout_widen(bool a) { return a ? 1u : 0u; }
GROUT_DEVICE grout_i32 grout_widen(grout_i4 a) { return (grout_i32)(a.bits & 15u ^ 8u) - 8; }
GROUT_DEVICE grout_u32 grout_widen(grout_u4 a) { return a.bits & 15u; }
GROUT_DEVICE grout_i32 grout_widen(grout_i8 a) { return a; }
GROUT_DEVICE grout_u32 grout_widen(grout_u8 a) { return a; }
GROUT_DEVICE grout_i32 grout_widen(grout_i16 a) { return a; }
GROUT_DEVICE grout_u32 grout_widen(grout_u16 a) { return a; }
GROUT_DEVICE grout_i32 grout_widen(grout_i32 a) { return a; }
GROUT_DEVICE grout_u32 grout_widen(grout_u32 a) { return a; }
GROUT_DEVICE grout_i64 grout_widen(grout_i64 a) { return a; }
GROUT_DEVICE grout_u64 grout_widen(grout_u64 a) { return a; }
GROUT_DEVICE grout_f32 grout_widen(grout_f32 a) { return a; }
GROUT_DEVICE grout_f64 grout_widen(grout_f64 a) { return a; }
GROUT_DEVICE grout_f32 grout_widen(grout_f16 a) {
    grout_f32 d;
    asm("cvt.f32.f16 %0, %1;" : "=f"(d) : "h"(a.bits));
    return d;
}
GROUT_DEVICE grout_f32 grout_widen(grout_bf16 a) {
    return __uint_as_float((grout_u32)a.bits << 16);
}

// Integers wrap among themselves; what comes from a float is clamped to the type instead.
#define GROUT_CVT_INT(FROM, TO)                                                                    \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) { return (TO)a; }
#define GROUT_CVT_INTS(TO)                                                                         \
    GROUT_CVT_INT(grout_i32, TO)                                                                   \
    GROUT_CVT_INT(grout_u32, TO)                                                                   \
    GROUT_CVT_INT(grout_i64, TO)                                                                   \
    GROUT_CVT_INT(grout_u64, TO)
GROUT_CVT_INTS(grout_i8)
GROUT_CVT_INTS(grout_u8)
GROUT_CVT_INTS(grout_i16)
GROUT_CVT_INTS(grout_u16)
GROUT_CVT_INTS(grout_i32)
GROUT_CVT_INTS(grout_u32)
GROUT_CVT_INTS(grout_i64)
GROUT_CVT_INTS(grout_u64)
#undef GROUT_CVT_INT
#undef GROUT_CVT_INTS
#define GROUT_CVT_CLAMP(FROM, TO, WIDE, LOW, HIGH)                                                 \
    GROUT_DEVICE TO grout_cvt(FROM a, TO) {                                                        \
        return (TO)grout_min(grout_max(grout_cvt(a, WIDE()), WIDE(LOW)), WIDE(HIGH));              \
    }
GROUT_CVT_CLAMP(grout_f32, grout_i8, grout_i32, -128, 127)
GROUT_CVT_CLAMP(grout_f64, grout_i8, grout_i32, -128, 127)
GROUT_CVT_CLAMP(grout_f32, grout_u8, grout_u32, 0, 255)
GROUT_CVT_CLAMP(grout_f64, grout_u8, grout_u32, 0, 255)
GROUT_CVT_CLAMP(grout_f32, grout_i16, grout_i32, -32768, 32767)
GROUT_CVT_CLAMP(grout_f64, grout_i16, grout_i32, -32768, 32767)
GROUT_CVT_CLAMP(grout_f32, grout_u16, grout_u32, 0, 65535)
GROUT_CVT_CLAMP(grout_f64, grout_u16, grout_u32, 0, 65535)
#undef GROUT_CVT_CLAMP
#define GROUT_CVT_NIBBLE(TO, WIDE, LOW, HIGH)                                                      \
    template <typename From> GROUT_DEVICE TO grout_cvt(From a, TO) {                               \
        return TO{(grout_u8)(a & 15)};                                                             \
    }                                                                                              \
    GROUT_DEVICE TO grout_cvt(grout_f32 a, TO) {                                                   \
        return TO{(grout_u8)(grout_min(grout_max(grout_cvt(a, WIDE()), WIDE(LOW)), WIDE(HIGH)) & 15)}; \
    }                                                                                              \
    GROUT_DEVICE TO grout_cvt(grout_f64 a, TO) {                                                   \
        return TO{(grout_u8)(grout_min(grout_max(grout_cvt(a, WIDE()), WIDE(LOW)), WIDE(HIGH)) & 15)}; \
    }
GROUT_CVT_NIBBLE(grout_i4, grout_i32, -8, 7)
GROUT_CVT_NIBBLE(grout_u4, grout_u32, 0, 15)
#undef GROUT_CVT_NIBBLE
template <typename From> GROUT_DEVICE bool grout_cvt(From a, bool) { return a != From(0); }


// Two f32 to two 16-bit floats in one register, low half first: what an epilogue wants.
GROUT_DEVICE grout_u32 grout_pack_f16(grout_f32 low, grout_f32 high) {
    grout_u32 d;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}
GROUT_DEVICE grout_u32 grout_pack_bf16(grout_f32 low, grout_f32 high) {
    grout_u32 d;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(d) : "f"(high), "f"(low));
    return d;
}

// ptxas 13.0 makes one instruction of an integer's way to a 16-bit float, and drops it where it sees
// that the integer is 0 or 1: the bits of the float are then those of the integer. It leaves alone
// what comes from 64 bits, and what is rounded in a pair.
#define GROUT_CVT_WIDE(FROM, WIDE, TO)                                                             \
    GROUT_DEVICE TO grout_cvt(FROM a, TO to) { return grout_cvt((WIDE)a, to); }
GROUT_CVT_WIDE(grout_i32, grout_i64, grout_f16)
GROUT_CVT_WIDE(grout_u32, grout_u64, grout_f16)
GROUT_CVT_WIDE(grout_i32, grout_i64, grout_bf16)
GROUT_CVT_WIDE(grout_u32, grout_u64, grout_bf16)
#undef GROUT_CVT_WIDE

template <typename From, typename To> GROUT_DEVICE To grout_convert(From a, To to) {
    return grout_cvt(grout_widen(a), to);
}
// f32 has every integer of 16 bits.
#define GROUT_CONVERT_SMALL(FROM, TO)                                                              \
    GROUT_DEVICE grout_##TO grout_convert(FROM a, grout_##TO to) {                                 \
        to.bits = (grout_u16)grout_pack_##TO(grout_cvt(grout_widen(a), grout_f32()), 0.0f);        \
        return to;                                                                                 \
    }
#define GROUT_CONVERT_SMALLS(FROM)                                                                 \
    GROUT_CONVERT_SMALL(FROM, f16)                                                                 \
    GROUT_CONVERT_SMALL(FROM, bf16)
GROUT_CONVERT_SMALLS(bool)
GROUT_CONVERT_SMALLS(grout_i8)
GROUT_CONVERT_SMALLS(grout_u8)
GROUT_CONVERT_SMALLS(grout_i16)
GROUT_CONVERT_SMALLS(grout_u16)
#undef GROUT_CONVERT_SMALLS
#undef GROUT_CONVERT_SMALL

template <typename To, typename From> GROUT_DEVICE To grout_cast(From a) {
    return grout_convert(a, To());
}

// The same of two bytes of an array, exactly, without a conversion of each (PTX ISA 9.1, "prmt", "sub.f16x2"). 0x43
// above a byte is the bf16 128 + its low seven bits, if its high bit is left out; with the high bit alone it is 128, or
// of a negative number 256. 0x64 above a byte is the f16 1024 + byte, and a number + 128 is a byte. The bytes are read as
// one: ptxas leaves apart what has been two.
GROUT_DEVICE grout_u32 grout_put_above(const grout_i8 *from, grout_u32 above) {
    grout_u16 bytes;
    grout_u32 pair;
    memcpy(&bytes, from, 2);
    asm("prmt.b32 %0, %1, %2, 0x4140;" : "=r"(pair) : "r"((grout_u32)bytes), "r"(above));
    return pair;
}
GROUT_DEVICE void grout_cast_pair(grout_bf16 *to, const grout_i8 *from) {
    const grout_u32 numbers = grout_put_above(from, 0x43u);
    grout_u32 pair;
    asm("sub.rn.bf16x2 %0, %1, %2;"
        : "=r"(pair) : "r"(numbers & 0xff7fff7fu), "r"(numbers & 0xff80ff80u));
    to[0].bits = (grout_u16)pair;
    to[1].bits = (grout_u16)(pair >> 16);
}
GROUT_DEVICE void grout_cast_pair(grout_f16 *to, const grout_i8 *from) {
    grout_u32 pair;
    asm("sub.rn.f16x2 %0, %1, %2;"
        : "=r"(pair) : "r"(grout_put_above(from, 0x64u) ^ 0x800080u), "r"(0x64806480u));
    to[0].bits = (grout_u16)pair;
    to[1].bits = (grout_u16)(pair >> 16);
}

// Two numbers into neighbouring registers of an array: one instruction rounds both.
GROUT_DEVICE void grout_round_pair(grout_f16 *to, grout_f32 low, grout_f32 high) {
    const grout_u32 pair = grout_pack_f16(low, high);
    to[0].bits = (grout_u16)pair;
    to[1].bits = (grout_u16)(pair >> 16);
}
GROUT_DEVICE void grout_round_pair(grout_bf16 *to, grout_f32 low, grout_f32 high) {
    const grout_u32 pair = grout_pack_bf16(low, high);
    to[0].bits = (grout_u16)pair;
    to[1].bits = (grout_u16)(pair >> 16);
}

#endif
