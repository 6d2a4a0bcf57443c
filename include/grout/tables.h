/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of operations, attributes, effects, element types and memory spaces (*.def)
 * as enumerators, and the facts of their lines.
 */
#ifndef GROUT_TABLES_H
#define GROUT_TABLES_H

#include "grout/diag.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum grout_dtype {
    GROUT_DTYPE_NONE,
#define GROUT_DTYPE(NAME, TEXT, BITS, CLASS, USE, POISON, DOC) GROUT_DTYPE_##NAME,
#include "grout/types.def"
    GROUT_DTYPE_COUNT
} grout_dtype;

typedef enum grout_dtype_class {
    GROUT_CLASS_NONE,
    GROUT_CLASS_BOOL,
    GROUT_CLASS_SINT,
    GROUT_CLASS_UINT,
    GROUT_CLASS_FLOAT
} grout_dtype_class;

typedef enum grout_space {
    GROUT_SPACE_NONE,
#define GROUT_SPACE(NAME, TEXT, DOC) GROUT_SPACE_##NAME,
#include "grout/types.def"
    GROUT_SPACE_COUNT
} grout_space;

typedef enum grout_form {
    GROUT_FORM_NONE,
#define GROUT_FORM(NAME, OPERANDS, TYPED, RESULTS, SYNTAX) GROUT_FORM_##NAME,
#include "grout/ops.def"
    GROUT_FORM_COUNT
} grout_form;

typedef enum grout_attr {
#define GROUT_ATTR(NAME, text, ARGUMENT, DOC) GROUT_ATTR_##NAME,
#include "grout/ops.def"
    GROUT_ATTR_COUNT
} grout_attr;

enum {
#define GROUT_ATTR(NAME, text, ARGUMENT, DOC) GROUT_ATTR_BIT_##NAME = 1 << GROUT_ATTR_##NAME,
#include "grout/ops.def"
    GROUT_ATTR_BITS_END
};

/* What an AXES or CHOICE attribute says. */
typedef enum grout_choice {
    GROUT_CHOICE_NONE,
#define GROUT_CHOICE(ATTR, NAME, text, DOC) GROUT_CHOICE_##ATTR##_##NAME,
#include "grout/ops.def"
    GROUT_CHOICE_COUNT
} grout_choice;

typedef enum grout_argument_kind {
    GROUT_ARGUMENT_FLAG,
    GROUT_ARGUMENT_INT,
    GROUT_ARGUMENT_AXES,
    GROUT_ARGUMENT_CHOICE
} grout_argument_kind;

typedef enum grout_opcode {
    GROUT_OP_NONE,
#define GROUT_OP(NAME, text, FORM, TYPES, ATTRS, EFFECTS, DOC) GROUT_OP_##NAME,
#include "grout/ops.def"
    GROUT_OP_COUNT
} grout_opcode;

/* Which element types an op's values may have (TYPES column of ops.def). */
typedef enum grout_type_rule {
    GROUT_TYPES_NONE,
    GROUT_TYPES_ANY,
    GROUT_TYPES_NUM,
    GROUT_TYPES_INT,
    GROUT_TYPES_FLOAT,
    GROUT_TYPES_LOGIC,
    GROUT_TYPES_BOOL,
    GROUT_TYPES_CMP,
    GROUT_TYPES_ACC, /* of accumulators */
    GROUT_TYPES_MMA  /* what the tensor core multiplies, and into what */
} grout_type_rule;

typedef enum grout_effect_row {
#define GROUT_EFFECT_ROW(NAME, CLASS, DOC) GROUT_EFFECT_ROW_##NAME,
#include "grout/effects.def"
    GROUT_EFFECT_ROW_COUNT
} grout_effect_row;

typedef enum grout_effect_class {
    GROUT_EFFECT_PURE,
    GROUT_EFFECT_ACCESS,
    GROUT_EFFECT_ASYNC,
    GROUT_EFFECT_SYNC,
    GROUT_EFFECT_BLOCKING,
    GROUT_EFFECT_CONTROL
} grout_effect_class;

typedef enum grout_proxy { GROUT_PROXY_GENERIC, GROUT_PROXY_ASYNC } grout_proxy;

typedef enum grout_access_kind {
    GROUT_ACCESS_READ,
    GROUT_ACCESS_WRITE,
    GROUT_ACCESS_ATOMIC,
    GROUT_ACCESS_ARRIVE,
    GROUT_ACCESS_BYTES,
    GROUT_ACCESS_WAIT,
    GROUT_ACCESS_SIGNAL
} grout_access_kind;

typedef enum grout_milestone {
    GROUT_MILESTONE_ISSUE,
    GROUT_MILESTONE_BULK_READ,
    GROUT_MILESTONE_BULK_WRITE,
    GROUT_MILESTONE_PHASE,
    GROUT_MILESTONE_WGMMA,
    GROUT_MILESTONE_ASYNC_COPY
} grout_milestone;

/* Where an operand of an effect row lives; ANY is the operand's own space. */
typedef enum grout_effect_space {
    GROUT_EFFECT_SPACE_ANY,
    GROUT_EFFECT_SPACE_GMEM,
    GROUT_EFFECT_SPACE_SMEM,
    GROUT_EFFECT_SPACE_ACC,
    GROUT_EFFECT_SPACE_BARRIER,
    GROUT_EFFECT_SPACE_SEMAPHORE
} grout_effect_space;

/* One line of effects.def. */
typedef struct grout_effect {
    uint8_t operand;
    uint8_t space;     /* grout_effect_space */
    uint8_t proxy;     /* grout_proxy */
    uint8_t access;    /* grout_access_kind */
    uint8_t milestone; /* grout_milestone */
} grout_effect;

typedef struct grout_op_info {
    const char *text;       /* mnemonic */
    const char *doc;        /* one sentence */
    const char *expression; /* of an ALU, MATH or REDUCE op, in the functions of num.h; else NULL */
    const char *operands;   /* letters of the form: see ops.def */
    const char *syntax;     /* of the form */
    uint32_t attrs;         /* GROUT_ATTR_BIT_* it takes */
    uint8_t form;           /* grout_form */
    uint8_t types;          /* grout_type_rule */
    uint8_t effect_row;     /* grout_effect_row */
    uint8_t results;        /* number, 9: as its yields */
    uint8_t ulp;            /* of a MATH op: largest error in units in the last place; else 0 */
    bool typed;             /* written with ': type' */
} grout_op_info;

typedef struct grout_attr_info {
    const char *text, *doc;
    uint8_t argument; /* grout_argument_kind */
} grout_attr_info;

typedef struct grout_choice_info {
    const char *text, *doc;
    uint8_t attr; /* grout_attr that it belongs to */
} grout_choice_info;

typedef struct grout_dtype_info {
    const char *text, *doc;
    uint64_t poison; /* pattern of an unwritten element, in its low bits */
    uint8_t bytes;
    uint8_t class_;     /* grout_dtype_class */
    bool is_arithmetic; /* may be an operand of ALU ops */
} grout_dtype_info;

/* Facts of the tables; never NULL for a valid enumerator. */
GROUT_API const grout_op_info *grout_op_get_info(grout_opcode opcode);
GROUT_API const grout_attr_info *grout_attr_get_info(grout_attr attr);
GROUT_API const grout_choice_info *grout_choice_get_info(grout_choice choice); /* not of NONE */
GROUT_API const grout_dtype_info *grout_dtype_get_info(grout_dtype dtype);
GROUT_API const char *grout_space_get_text(grout_space space);
GROUT_API grout_effect_class grout_effect_row_get_class(grout_effect_row row);
GROUT_API const char *grout_effect_row_get_doc(grout_effect_row row);
/* The lines of a row, in operand order; *count_out says how many. */
GROUT_API const grout_effect *grout_effect_row_get_effects(grout_effect_row row,
                                                           uint32_t *count_out);
/* By name; GROUT_OP_NONE, GROUT_DTYPE_NONE, GROUT_ATTR_COUNT, GROUT_SPACE_NONE or (of a CHOICE
 * attribute) GROUT_CHOICE_NONE if unknown. */
GROUT_API grout_opcode grout_op_find(const char *text, size_t size);
GROUT_API grout_dtype grout_dtype_find(const char *text, size_t size);
GROUT_API grout_attr grout_attr_find(const char *text, size_t size);
GROUT_API grout_space grout_space_find(const char *text, size_t size);
GROUT_API grout_choice grout_choice_find(grout_attr attr, const char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
