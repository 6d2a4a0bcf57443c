/* number.h - the number formats of the tensor cores, taken apart without floating-point arithmetic.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Alternate Floating-Point Data Formats', 'Packed-format data types' and the element types
 * of wgmma.mma_async and tcgen05.mma.
 */
#ifndef GROUT_PTX_NUMBER_H
#define GROUT_PTX_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum grout_ptx_format {
    GROUT_PTX_F16,
    GROUT_PTX_BF16,
    GROUT_PTX_TF32, /* a 32-bit word whose low 13 bits do not count */
    GROUT_PTX_E4M3,
    GROUT_PTX_E5M2,
    GROUT_PTX_E2M3,
    GROUT_PTX_E3M2,
    GROUT_PTX_E2M1,
    GROUT_PTX_F32,
    GROUT_PTX_UE8M0, /* scales */
    GROUT_PTX_UE4M3,
    GROUT_PTX_U8, /* integers from here on */
    GROUT_PTX_S8,
    GROUT_PTX_B1,
    GROUT_PTX_S32,
    GROUT_PTX_FORMAT_COUNT
} grout_ptx_format;

/* Bits of an element where it is stored densely: 1 to 32. */
uint32_t grout_ptx__format_bits(grout_ptx_format format);
const char *grout_ptx__format_name(grout_ptx_format format);

/* Bits of the fraction: 10 for f16. */
int32_t grout_ptx__format_fraction(grout_ptx_format format);

/* A number as significand * 2^(exponent - fraction bits). A subnormal keeps the least exponent. */
typedef struct grout_ptx_term {
    int32_t significand; /* with its sign; 0 for zero, +-1 for an infinity */
    int32_t exponent;    /* or one of the words below */
} grout_ptx_term;

enum {
    GROUT_PTX_EXPONENT_ZERO = -(1 << 20), /* of a zero: no sum of two reaches a number's */
    GROUT_PTX_EXPONENT_INF = 1 << 20,
    GROUT_PTX_EXPONENT_NAN = 1 << 21
};

/* Takes apart the low bits of a floating-point format. */
grout_ptx_term grout_ptx__term(grout_ptx_format format, uint32_t bits);

/* The value of an integer element: U8, S8 or S32. */
int32_t grout_ptx__integer(grout_ptx_format format, uint32_t bits);

/* sum * 2^scale in F32 or F16. fraction says how many bits of the result's fraction may be set. To
 * nearest even, or cut toward zero; too large is an infinity; subnormals are kept; a sum that is
 * cut to nothing is +0. */
typedef struct grout_ptx_rounding {
    grout_ptx_format format;
    int32_t fraction;
    bool is_nearest;
} grout_ptx_rounding;

uint32_t grout_ptx__round(const grout_ptx_rounding *how, int64_t sum, int32_t scale);

/* The NaN that the tensor cores return, and an infinity, in F32 or F16. */
uint32_t grout_ptx__nan(grout_ptx_format format);
uint32_t grout_ptx__infinity(grout_ptx_format format, bool is_negative);

#endif
