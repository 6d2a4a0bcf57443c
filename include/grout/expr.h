/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - constant expressions of a module, and the values that a bound one gives them.
 */
#ifndef GROUT_EXPR_H
#define GROUT_EXPR_H

#include "grout/diag.h"
#include "grout/ids.h"
#include "grout/tables.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Constant expressions: 64-bit integers with checked overflow, doubles, and truth values. */
typedef enum grout_expr_kind {
    GROUT_EXPR_NONE,
    GROUT_EXPR_INT,   /* integer; with dtype set of that type, as in u8:255 (of u64: in bits) */
    GROUT_EXPR_FLOAT, /* number, or with dtype set a bit pattern in bits */
    GROUT_EXPR_TYPED, /* number, to be rounded to the float type dtype, as in f64:0.1 */
    GROUT_EXPR_BOOL,  /* integer, 0 or 1: 'false' and 'true' */
    GROUT_EXPR_NAME,  /* constant, the const it names */
    GROUT_EXPR_UNARY, /* operator on a: NEG */
    GROUT_EXPR_BINARY /* operator on a and b, infix or call */
} grout_expr_kind;

typedef enum grout_expr_operator {
    GROUT_EXPR_ADD,
    GROUT_EXPR_SUB,
    GROUT_EXPR_MUL,
    GROUT_EXPR_DIV,
    GROUT_EXPR_REM,
    GROUT_EXPR_SHL,
    GROUT_EXPR_SHR,
    GROUT_EXPR_EQ,
    GROUT_EXPR_NE,
    GROUT_EXPR_LT,
    GROUT_EXPR_LE,
    GROUT_EXPR_GT,
    GROUT_EXPR_GE,
    GROUT_EXPR_MIN,
    GROUT_EXPR_MAX,
    GROUT_EXPR_CDIV,
    GROUT_EXPR_ALIGN_UP,
    GROUT_EXPR_LOG2,
    GROUT_EXPR_NEG
} grout_expr_operator;

typedef struct grout_expr {
    uint8_t kind;      /* grout_expr_kind */
    uint8_t operator_; /* grout_expr_operator */
    uint8_t dtype;     /* of a literal that names its type, such as f32:0x7fc00001, else NONE */
    grout_loc_id loc;
    grout_expr_id a, b; /* LOG2 and NEG have a only */
    grout_const_id constant;
    union {
        int64_t integer;
        double number;
        uint64_t bits;
    } u;
} grout_expr;

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
GROUT_API uint64_t grout_expr_value_to_bits(grout_expr_value value, grout_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif
