/*
 * arithmetic.cpp - every expression of ops.def in the words of the device header: compiling is the
 * test. What ops.def or num.h uses and CUDA does not have is an error here, without CUDA.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Inline PTX is left out: tests/ops runs it, on the PTX emulator. An overload that is missing
 * would let an argument be converted, so the result's type is looked at too.
 */
#include "cuda_words.h"

#include <type_traits>

#define asm(...) ((void)0)
#include "gpu_backend/device/grout_num.cuh"

/* A function for an element type of the class (column TYPES); f16 and bf16 compute in f32. */
#define AS(NAME, TYPE, RESULT, EXPRESSION)                                             \
    RESULT arithmetic_##NAME##_##TYPE(TYPE a, TYPE b, TYPE c) {                        \
        static_assert(std::is_same<decltype(EXPRESSION), RESULT>::value,               \
                      #NAME " of " #TYPE " has another type: an overload is missing"); \
        (void)b;                                                                       \
        (void)c;                                                                       \
        return EXPRESSION;                                                             \
    }
#define AS_INT(NAME, EXPRESSION)               \
    AS(NAME, grout_i8, grout_i8, EXPRESSION)   \
    AS(NAME, grout_u8, grout_u8, EXPRESSION)   \
    AS(NAME, grout_i16, grout_i16, EXPRESSION) \
    AS(NAME, grout_u16, grout_u16, EXPRESSION) \
    AS(NAME, grout_i32, grout_i32, EXPRESSION) \
    AS(NAME, grout_u32, grout_u32, EXPRESSION) \
    AS(NAME, grout_i64, grout_i64, EXPRESSION) \
    AS(NAME, grout_u64, grout_u64, EXPRESSION)
#define AS_FLOAT(NAME, EXPRESSION)             \
    AS(NAME, grout_f32, grout_f32, EXPRESSION) \
    AS(NAME, grout_f64, grout_f64, EXPRESSION)
#define AS_NUM(NAME, EXPRESSION) \
    AS_INT(NAME, EXPRESSION)     \
    AS_FLOAT(NAME, EXPRESSION)
#define AS_LOGIC(NAME, EXPRESSION) \
    AS_INT(NAME, EXPRESSION)       \
    AS(NAME, bool, bool, EXPRESSION)
#define AS_CMP_FLOAT(NAME, EXPRESSION)    \
    AS(NAME, grout_f32, bool, EXPRESSION) \
    AS(NAME, grout_f64, bool, EXPRESSION)
#define AS_CMP(NAME, EXPRESSION)          \
    AS(NAME, grout_i8, bool, EXPRESSION)  \
    AS(NAME, grout_u8, bool, EXPRESSION)  \
    AS(NAME, grout_i16, bool, EXPRESSION) \
    AS(NAME, grout_u16, bool, EXPRESSION) \
    AS(NAME, grout_i32, bool, EXPRESSION) \
    AS(NAME, grout_u32, bool, EXPRESSION) \
    AS(NAME, grout_i64, bool, EXPRESSION) \
    AS(NAME, grout_u64, bool, EXPRESSION) \
    AS_CMP_FLOAT(NAME, EXPRESSION)
#define AS_CMP_ANY(NAME, EXPRESSION) \
    AS_CMP(NAME, EXPRESSION)         \
    AS(NAME, bool, bool, EXPRESSION)

#define APPROX_MATH(NAME)                                   GROUT_##NAME##_APPROX(a)
#define APPROX_MATH_BINARY(NAME)                            GROUT_##NAME##_APPROX(a, b)
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) AS_##TYPES(NAME, EXPRESSION)
#define GROUT_MATH(NAME, text, FORM, EXPRESSION, ULP) \
    AS_FLOAT(NAME, EXPRESSION)                             \
    AS_FLOAT(NAME##_APPROX, APPROX_##FORM(NAME))
#define GROUT_REDUCE(NAME, text, TYPES, EXPRESSION) AS_##TYPES(NAME, EXPRESSION)
#include "grout/ops.def"
