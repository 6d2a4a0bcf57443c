/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - the values that a bound module gives its constant expressions.
 */
#ifndef GROUT_INTERNAL_EXPR_H
#define GROUT_INTERNAL_EXPR_H

#include "grout/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Value of a constant expression of a bound module. */
typedef struct grout_expr_value {
    bool is_float; /* number counts, else integer */
    bool is_bool;  /* a truth value, in integer */
    int64_t integer;
    double number;
    uint8_t bits_dtype; /* set: the literal names its type; the element is in bits */
    uint64_t bits;
} grout_expr_value;

/* A constant operand as the low bits of an element of the given type (rounded to nearest even). */
uint64_t grout_expr_value_to_bits(grout_expr_value value, grout_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
