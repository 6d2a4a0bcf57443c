/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of operations, attributes, element types and generators (*.def) as
 * enumerators, and the facts of their lines.
 */
#ifndef GROUT_TABLES_H
#define GROUT_TABLES_H

#include "grout/diag.h"
#include "grout/ids.h"

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

/* What fills an array without a file. VALUE and LIST have no word: one constant everywhere, and a
 * constant for each element. */
typedef enum grout_generator_kind {
#define GROUT_GENERATOR(NAME, TEXT, ARGUMENTS, FORM, TYPES, DOC) GROUT_GENERATOR_##NAME,
#include "grout/generators.def"
    GROUT_GENERATOR_VALUE,
    GROUT_GENERATOR_LIST,
    GROUT_GENERATOR_COUNT
} grout_generator_kind;

/* The hardware that has an operation or a memory space. */
typedef enum grout_generation {
    GROUT_GENERATION_ANY,
    GROUT_GENERATION_HOPPER,
    GROUT_GENERATION_BLACKWELL
} grout_generation;

/* The hardware that a kernel is for, or that it is checked for. */
typedef enum grout_arch {
    GROUT_ARCH_SM_90A,  /* Hopper: that of a kernel which says nothing */
    GROUT_ARCH_SM_100A, /* Blackwell of the data centre */
    GROUT_ARCH_SM_103A, /* its successor: no products of integers on the tensor core */
    GROUT_ARCH_SM_110A, /* the same in a module */
    /* What only a check can be for: rules of no particular GPU, without limits that only hardware
     * has; and those of what each kernel says, 'attr arch = "sm_100a"'. */
    GROUT_ARCH_ANY,
    GROUT_ARCH_OWN
} grout_arch;

/* By its name: "sm_90a", "sm_100a", "sm_103a", "sm_110a" or "any"; false if it is none of these. */
GROUT_API bool grout_arch_find(const char *text, grout_arch *arch_out);

/* How ops of a form are written and laid out (SHAPE column of ops.def). */
typedef enum grout_shape {
    GROUT_SHAPE_PLAIN,   /* mnemonic, operands, attributes */
    GROUT_SHAPE_SCRATCH, /* makes an object */
    GROUT_SHAPE_REGION,  /* has blocks */
    GROUT_SHAPE_END      /* ends a block: cond, yield */
} grout_shape;

typedef enum grout_attr {
#define GROUT_ATTR(NAME, text, ARGUMENT) GROUT_ATTR_##NAME,
#include "grout/ops.def"
    GROUT_ATTR_COUNT
} grout_attr;

/* The bit of an attribute in a set of them: GROUT_ATTR_BIT(UNROLL). */
#define GROUT_ATTR_BIT(NAME) (UINT64_C(1) << GROUT_ATTR_##NAME)

/* What an AXES or CHOICE attribute says. */
typedef enum grout_choice {
    GROUT_CHOICE_NONE,
#define GROUT_CHOICE(ATTR, NAME, text) GROUT_CHOICE_##ATTR##_##NAME,
#include "grout/ops.def"
    GROUT_CHOICE_COUNT
} grout_choice;

typedef enum grout_argument_kind {
    GROUT_ARGUMENT_FLAG,
    GROUT_ARGUMENT_INT,
    GROUT_ARGUMENT_AXES,
    GROUT_ARGUMENT_CHOICE,
    GROUT_ARGUMENT_DIMS,
    GROUT_ARGUMENT_RANGES
} grout_argument_kind;

typedef enum grout_opcode {
    GROUT_OP_NONE,
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS) GROUT_OP_##NAME,
#include "grout/ops.def"
    GROUT_OP_COUNT
} grout_opcode;

typedef struct grout_op_info {
    const char *text;       /* mnemonic */
    const char *doc;        /* one sentence */
    const char *expression; /* of an ALU, MATH or REDUCE op, in the functions of num.h; else NULL */
    const char *operands;   /* letters of the form: see ops.def */
    const char *syntax;     /* of the form */
    uint64_t attrs;         /* GROUT_ATTR_BIT(..) it takes */
    uint8_t shape;          /* grout_shape, of the form */
    uint8_t results;        /* number, 9: as its yields */
    uint8_t ulp;            /* of a MATH op: largest error in units in the last place; else 0 */
    bool typed;             /* written with ': type' */
    bool makes_descriptor;  /* its result is used as a reference: a TMA descriptor */
    /* For grout itself, in the words of ops.def: columns FORM, RULE, TYPES, EFFECTS, and how an
     * atomic combines a value with memory. */
    uint8_t form, rule, types, effect_row, update;
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
    uint8_t bits;
    uint8_t bytes;      /* of an element in registers; in memory, of as many as are packed */
    uint8_t packed;     /* elements in a byte of memory: 2 of a type of 4 bits, else 1 */
    uint8_t class_;     /* grout_dtype_class */
    bool is_arithmetic; /* may be an operand of ALU ops */
} grout_dtype_info;

/* Facts of the tables; never NULL for a valid enumerator. */
GROUT_API const grout_op_info *grout_op_get_info(grout_opcode opcode);
/* The hardware that the op is of. */
GROUT_API grout_generation grout_op_get_generation(grout_opcode opcode);
GROUT_API const grout_attr_info *grout_attr_get_info(grout_attr attr);
GROUT_API const grout_choice_info *grout_choice_get_info(grout_choice choice); /* not of NONE */
GROUT_API const grout_dtype_info *grout_dtype_get_info(grout_dtype dtype);
/* By name; GROUT_DTYPE_NONE if unknown. */
GROUT_API grout_dtype grout_dtype_find(const char *text, size_t size);

#ifdef __cplusplus
}
#endif
#endif
