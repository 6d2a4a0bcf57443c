/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the tables of operations, attributes, effects, element types, memory spaces and
 * generators (*.def) as enumerators, and the facts of their lines.
 */
#ifndef GROUT_TABLES_H
#define GROUT_TABLES_H

#include "grout/diag.h"
#include "grout/ids.h"

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

/* What fills an array without a file. VALUE and LIST have no word: one constant everywhere, and a
 * constant for each element. */
typedef enum grout_generator_kind {
#define GROUT_GENERATOR(NAME, TEXT, ARGUMENTS, FORM, TYPES, DOC) GROUT_GENERATOR_##NAME,
#include "grout/generators.def"
    GROUT_GENERATOR_VALUE,
    GROUT_GENERATOR_LIST,
    GROUT_GENERATOR_COUNT
} grout_generator_kind;

/* One line of generators.def. */
typedef struct grout_generator_info {
    const char *text, *form, *doc;
    uint8_t argument_count;
    bool is_float; /* for floats only */
} grout_generator_info;

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

/* What there is to say of an arch that grout does not take. */
#define GROUT_ARCH_WITHOUT_TENSOR_MEMORY                                                        \
    "sm_120a and its kin have no tensor memory, no tcgen05 and no wgmma: their tensor core is " \
    "that of 'mma'"

/* By its name: "sm_90a", "sm_100a", "sm_103a", "sm_110a" or "any"; false if it is none of these. */
GROUT_API bool grout_arch_find(const char *text, grout_arch *arch_out);
GROUT_API const char *grout_arch_get_text(grout_arch arch);
/* Whether it has the operations and memory spaces of a generation. */
GROUT_API bool grout_arch_has(grout_arch arch, grout_generation generation);

typedef enum grout_form {
    GROUT_FORM_NONE,
#define GROUT_FORM(NAME, OPERANDS, SHAPE, RULE, TYPED, RESULTS, SYNTAX) GROUT_FORM_##NAME,
#include "grout/ops.def"
    GROUT_FORM_COUNT
} grout_form;

/* What an operand is (KIND column of GROUT_LETTER lines). */
typedef enum grout_letter_kind {
    GROUT_LETTER_VALUE,
    GROUT_LETTER_SCALAR,
    GROUT_LETTER_INTEGER,
    GROUT_LETTER_BOXED,
    GROUT_LETTER_MEMORY,
    GROUT_LETTER_MEMORY_OR_ARRAY,
    GROUT_LETTER_BARRIER,
    GROUT_LETTER_SEMAPHORE,
    GROUT_LETTER_CONSTANT,
    GROUT_LETTER_AXIS,
    GROUT_LETTER_TEXT,
    GROUT_LETTER_INDICES,
    GROUT_LETTER_MASK,
    GROUT_LETTER_ROWS,
    GROUT_LETTER_OPTION, /* from here on: they may be left away */
    GROUT_LETTER_OPTIONAL_MASK,
    GROUT_LETTER_REST
} grout_letter_kind;

/* One GROUT_LETTER line. */
typedef struct grout_letter_info {
    const char *doc;
    char letter;
    uint8_t kind;  /* grout_letter_kind */
    uint8_t space; /* grout_effect_space */
} grout_letter_info;

/* How ops of a form are written and laid out (SHAPE column of ops.def). */
typedef enum grout_shape {
    GROUT_SHAPE_PLAIN,   /* mnemonic, operands, attributes */
    GROUT_SHAPE_SCRATCH, /* makes an object */
    GROUT_SHAPE_REGION,  /* has blocks */
    GROUT_SHAPE_END      /* ends a block: cond, yield */
} grout_shape;

/* What decides the types of an op beyond the letters of its operands (RULE column of ops.def). */
typedef enum grout_rule {
    GROUT_RULE_NONE,    /* the letters say all; no result */
    GROUT_RULE_TRUTH,   /* the result is a bool */
    GROUT_RULE_INTEGER, /* the result is an i32 */
    GROUT_RULE_JOIN,    /* operands and result have one element type and shape */
    GROUT_RULE_COMPARE, /* the same, with bools as result */
    GROUT_RULE_SELECT,
    GROUT_RULE_CONVERT,
    GROUT_RULE_BITCAST,
    GROUT_RULE_BROADCAST,
    GROUT_RULE_IOTA,
    GROUT_RULE_SLICE,
    GROUT_RULE_RESHAPE,
    GROUT_RULE_CONCATENATE,
    GROUT_RULE_TRANSPOSE,
    GROUT_RULE_LAYOUT,
    GROUT_RULE_REDUCE,
    GROUT_RULE_SCAN,
    GROUT_RULE_LOAD,        /* the result is what the reference holds */
    GROUT_RULE_STORE,       /* the value fits the reference */
    GROUT_RULE_MASKED_LOAD, /* the elements of the reference that a mask lets through */
    GROUT_RULE_MASKED_STORE,
    GROUT_RULE_GATHER,      /* the elements of the reference that indices name */
    GROUT_RULE_SCATTER,     /* the value fits these elements */
    GROUT_RULE_MASKED_COPY, /* a copy of the elements that a mask lets through */
    GROUT_RULE_GATHER_COPY, /* a copy of those that indices name */
    GROUT_RULE_FETCH,       /* one element, and the result what it held */
    GROUT_RULE_COPY,        /* two boxes of one shape and element type */
    GROUT_RULE_IM2COL,      /* a pixel's channels, and rows of as many; offsets of the pixels */
    GROUT_RULE_ROWS,        /* two boxes, and the rows of the one that those of the other go with */
    GROUT_RULE_DESCRIPTOR,
    GROUT_RULE_WGMMA,
    GROUT_RULE_TCGEN05,
    GROUT_RULE_TCGEN05_COPY, /* to tensor memory; shapes are those of grout_tcgen05_copy_plan */
    GROUT_RULE_MMA, /* two matrices and what is added to their product, which the result is like */
    GROUT_RULE_PRINT,
    GROUT_RULE_PRINT_LAYOUT,
    GROUT_RULE_CHECK,     /* a bool or an array of them, a text, values */
    GROUT_RULE_PROMISE,   /* an integer, and a number that fits its type; the result has it */
    GROUT_RULE_EXTERN,    /* operands of one shape; the result has it, and the written type */
    GROUT_RULE_OBJECT,    /* the result is the object made */
    GROUT_RULE_CONDITION, /* a bool that decides about the loop around */
    GROUT_RULE_YIELD,     /* its operands are the results of the region around */
    GROUT_RULE_REGION     /* typed with its blocks */
} grout_rule;

/* What an op does with its blocks (KIND column of GROUT_REGION lines). */
typedef enum grout_region_kind {
    GROUT_REGION_NONE,      /* it has none */
    GROUT_REGION_LOOP,      /* runs them again and again */
    GROUT_REGION_BRANCH,    /* runs one of them */
    GROUT_REGION_SCOPE,     /* runs its block with objects that live there */
    GROUT_REGION_WARPS,     /* runs its block in each warp of the thread */
    GROUT_REGION_PARTITIONS /* runs each block in a thread of its own */
} grout_region_kind;

/* The blocks whose yields are the results of a region's op. */
typedef enum grout_region_yields {
    GROUT_YIELDS_NONE,
    GROUT_YIELDS_EACH,
    GROUT_YIELDS_FIRST,
    GROUT_YIELDS_LAST
} grout_region_yields;

/* One GROUT_REGION line. */
typedef struct grout_region_info {
    uint8_t kind;          /* grout_region_kind */
    uint8_t lead_operands; /* in front of those that are carried: a loop's bounds, a condition */
    uint8_t lead_args; /* arguments of its blocks in front of the carried ones: a loop's index */
    uint8_t blocks;    /* 0: any number; a loop of 2 computes its condition in the first */
    uint8_t yields;    /* grout_region_yields */
} grout_region_info;

typedef enum grout_attr {
#define GROUT_ATTR(NAME, text, ARGUMENT, DOC) GROUT_ATTR_##NAME,
#include "grout/ops.def"
    GROUT_ATTR_COUNT
} grout_attr;

/* The bit of an attribute in a set of them: GROUT_ATTR_BIT(UNROLL). */
#define GROUT_ATTR_BIT(NAME) (UINT64_C(1) << GROUT_ATTR_##NAME)

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
    GROUT_ARGUMENT_CHOICE,
    GROUT_ARGUMENT_DIMS,
    GROUT_ARGUMENT_RANGES
} grout_argument_kind;

typedef enum grout_opcode {
    GROUT_OP_NONE,
#define GROUT_OP(NAME, text, FORM, BUILD, TYPES, EFFECTS, ATTRS, DOC) GROUT_OP_##NAME,
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
    GROUT_TYPES_CMP_ANY,
    GROUT_TYPES_CMP_FLOAT,
    GROUT_TYPES_WORD,
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
    GROUT_MILESTONE_ASYNC_COPY,
    GROUT_MILESTONE_TCGEN05,
    GROUT_MILESTONE_TMEM_LOAD,
    GROUT_MILESTONE_TMEM_STORE
} grout_milestone;

/* How an atomic or a reduce(..) combines a value with memory. */
typedef enum grout_update {
    GROUT_UPDATE_NONE,
#define GROUT_UPDATE(NAME, COMMUTES, DOC) GROUT_UPDATE_##NAME,
#include "grout/ops.def"
    GROUT_UPDATE_COUNT
} grout_update;

/* Whether two equal updates of an element leave the same bits in either order. */
typedef enum grout_commutes {
    GROUT_COMMUTES_NEVER,
    GROUT_COMMUTES_INTEGERS, /* not of floats, which are rounded in the order they come */
    GROUT_COMMUTES_ALWAYS
} grout_commutes;

/* The numbers of a space of CTAs (spaces.def); what spaces.h answers is not here. */
typedef struct grout_space_info {
    const char *text, *doc;
    int64_t budget_bytes; /* of all objects of a kernel; 0: of no CTA */
    int32_t alignment_bytes;
    uint8_t generation; /* grout_generation */
} grout_space_info;

/* Where an operand of an effect row lives; ANY is the operand's own space. */
typedef enum grout_effect_space {
    GROUT_EFFECT_SPACE_ANY, /* GROUT_SPACE_NONE; a space has the number that it has alone */
#define GROUT_SPACE(NAME, ...) GROUT_EFFECT_SPACE_##NAME,
#include "grout/spaces.def"
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

/* The columns of sync.def, which says what each word means. */
typedef enum grout_sync_object {
    GROUT_SYNC_OBJECT_BARRIER,
    GROUT_SYNC_OBJECT_MBARRIER,
    GROUT_SYNC_OBJECT_ANY_BARRIER,
    GROUT_SYNC_OBJECT_SEMAPHORE,
    GROUT_SYNC_OBJECT_NAMED,
    GROUT_SYNC_OBJECT_CTA,
    GROUT_SYNC_OBJECT_CLUSTER,
    GROUT_SYNC_OBJECT_REGISTERS,
    GROUT_SYNC_OBJECT_PROXY,
    GROUT_SYNC_OBJECT_BULK,
    GROUT_SYNC_OBJECT_ASYNC_COPY,
    GROUT_SYNC_OBJECT_WGMMA,
    GROUT_SYNC_OBJECT_TCGEN05,
    GROUT_SYNC_OBJECT_TMEM_LOAD,
    GROUT_SYNC_OBJECT_TMEM_STORE,
    GROUT_SYNC_OBJECT_OBJECTS,
    GROUT_SYNC_OBJECT_PARTS,
    GROUT_SYNC_OBJECT_GRIDS
} grout_sync_object;

typedef enum grout_sync_reach {
    GROUT_SYNC_REACH_OWN,
    GROUT_SYNC_REACH_CLUSTER,
    GROUT_SYNC_REACH_PEER,
    GROUT_SYNC_REACH_GRID
} grout_sync_reach;

typedef enum grout_sync_mode {
    GROUT_SYNC_MODE_POSTS,
    GROUT_SYNC_MODE_WAITS,
    GROUT_SYNC_MODE_MEETS,
    GROUT_SYNC_MODE_TESTS,
    GROUT_SYNC_MODE_STARTS,
    GROUT_SYNC_MODE_CLOSES,
    GROUT_SYNC_MODE_FENCES,
    GROUT_SYNC_MODE_MAKES,
    GROUT_SYNC_MODE_ENDS,
    GROUT_SYNC_MODE_FORKS
} grout_sync_mode;

typedef enum grout_sync_side {
    GROUT_SYNC_SIDE_NONE = 0,
    GROUT_SYNC_SIDE_RELEASE = 1,
    GROUT_SYNC_SIDE_ACQUIRE = 2,
    GROUT_SYNC_SIDE_BOTH = 3
} grout_sync_side;

typedef enum grout_sync_scope {
    GROUT_SYNC_SCOPE_THREAD,
    GROUT_SYNC_SCOPE_CTA,
    GROUT_SYNC_SCOPE_CLUSTER,
    GROUT_SYNC_SCOPE_SHARERS,
    GROUT_SYNC_SCOPE_SYS
} grout_sync_scope;

typedef enum grout_sync_arrival {
    GROUT_SYNC_ARRIVAL_NONE,
    GROUT_SYNC_ARRIVAL_NOW,
    GROUT_SYNC_ARRIVAL_LATER
} grout_sync_arrival;

typedef enum grout_sync_lanes {
    GROUT_SYNC_LANES_ONE,
    GROUT_SYNC_LANES_ANY,
    GROUT_SYNC_LANES_EACH,
    GROUT_SYNC_LANES_VOTE,
    GROUT_SYNC_LANES_MEET,
    GROUT_SYNC_LANES_OWN
} grout_sync_lanes;

typedef enum grout_sync_redundant {
    GROUT_SYNC_REDUNDANT_NO,
    GROUT_SYNC_REDUNDANT_COMMIT,
    GROUT_SYNC_REDUNDANT_WAIT,
    GROUT_SYNC_REDUNDANT_BARRIER,
    GROUT_SYNC_REDUNDANT_PAIR
} grout_sync_redundant;

typedef enum grout_sync_tensor {
    GROUT_SYNC_TENSOR_NO,
    GROUT_SYNC_TENSOR_SEALS,
    GROUT_SYNC_TENSOR_ADMITS
} grout_sync_tensor;

/* One line of sync.def. */
typedef struct grout_sync_info {
    const char *warp;  /* why it cannot stand in a warp_map; "" if it can */
    uint8_t object;    /* grout_sync_object */
    uint8_t reach;     /* grout_sync_reach */
    uint8_t mode;      /* grout_sync_mode */
    uint8_t side;      /* grout_sync_side */
    uint8_t scope;     /* grout_sync_scope */
    uint8_t arrival;   /* grout_sync_arrival */
    uint16_t covers;   /* bits 1 << GROUT_MILESTONE_* */
    uint8_t lanes;     /* grout_sync_lanes */
    uint8_t redundant; /* grout_sync_redundant */
    uint8_t tensor;    /* grout_sync_tensor */
} grout_sync_info;

typedef struct grout_op_info {
    const char *text;       /* mnemonic */
    const char *doc;        /* one sentence */
    const char *expression; /* of an ALU, MATH or REDUCE op, in the functions of num.h; else NULL */
    const char *operands;   /* letters of the form: see ops.def */
    const char *syntax;     /* of the form */
    uint64_t attrs;         /* GROUT_ATTR_BIT(..) it takes */
    uint8_t form;           /* grout_form */
    uint8_t shape;          /* grout_shape, of the form */
    uint8_t rule;           /* grout_rule, of the form */
    uint8_t types;          /* grout_type_rule */
    uint8_t effect_row;     /* grout_effect_row */
    uint8_t results;        /* number, 9: as its yields */
    uint8_t update;         /* grout_update, of an atomic; else GROUT_UPDATE_NONE */
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
    uint8_t bits;
    uint8_t bytes;      /* of an element in registers; in memory, of as many as are packed */
    uint8_t packed;     /* elements in a byte of memory: 2 of a type of 4 bits, else 1 */
    uint8_t class_;     /* grout_dtype_class */
    bool is_arithmetic; /* may be an operand of ALU ops */
} grout_dtype_info;

/* Facts of the tables; never NULL for a valid enumerator. */
GROUT_API const grout_op_info *grout_op_get_info(grout_opcode opcode);
/* The op's line of sync.def; NULL if it has none: it neither orders nor waits, nor starts an
 * engine. */
GROUT_API const grout_sync_info *grout_op_get_sync(grout_opcode opcode);
/* What the op does with its blocks; kind NONE if it has none. */
GROUT_API const grout_region_info *grout_op_get_region(grout_opcode opcode);
/* The line of the op's effect row about an operand; NULL if there is none. */
GROUT_API const grout_effect *grout_op_find_effect(grout_opcode opcode, uint32_t operand);
/* The letter of an operand (OPERANDS column of ops.def). Operands after the last letter have that
 * one too; '*' where the form has none. */
GROUT_API char grout_op_get_letter(grout_opcode opcode, uint32_t operand);
/* How many of these letters are operands that cannot be left away. */
GROUT_API uint32_t grout_letters_count_least(const char *letters);
/* What a letter says; NULL if there is no such letter. */
GROUT_API const grout_letter_info *grout_letter_get_info(char letter);
/* Whether indices or a mask decide which elements of its memory it touches. */
GROUT_API bool grout_op_takes_picks(grout_opcode opcode);
/* The first operand that has a letter; UINT32_MAX if none has. */
GROUT_API uint32_t grout_op_find_letter(grout_opcode opcode, char letter);
/* Whether the op's effect row has a line with this access. */
GROUT_API bool grout_op_has_access(grout_opcode opcode, grout_access_kind access);
/* Whether the op has no value for some integers, and its result is undefined: division by zero. */
GROUT_API bool grout_op_is_partial(grout_opcode opcode);
/* The hardware that the op is of, and what to write on the other one ("" of ANY). */
GROUT_API grout_generation grout_op_get_generation(grout_opcode opcode);
GROUT_API const char *grout_op_get_instead(grout_opcode opcode);
/* Whether the op's result is what memory or a counter held at that moment: this is chance, unless
 * something orders the op. */
GROUT_API bool grout_op_returns_old_value(grout_opcode opcode);
/* How a GROUT_REDUCE line combines elements: the update whose name its expression's function has.
 * NONE for other ops. */
GROUT_API grout_update grout_op_get_reduction(grout_opcode opcode);
/* The GROUT_REDUCE line that a GROUT_SCAN line names; NONE for other ops. */
GROUT_API grout_opcode grout_op_get_scanned(grout_opcode opcode);
/* The bits of what changes no element that it is combined with: of ADD, MUL, MIN and MAX. */
GROUT_API uint64_t grout_update_get_identity(grout_update update, grout_dtype dtype);
/* The first operand whose memory the op writes or combines with; UINT32_MAX if there is none. */
GROUT_API uint32_t grout_op_find_target(grout_opcode opcode);
GROUT_API const char *grout_update_get_doc(grout_update update); /* "" of NONE */
GROUT_API grout_commutes grout_update_get_commutes(grout_update update);
/* Whether what such updates leave in an element of this type depends on the order in which they
 * come; false for NONE. */
GROUT_API bool grout_update_is_ordered(grout_update update, grout_dtype dtype);
/* What a reduce(..) attribute says; NONE for GROUT_CHOICE_NONE and other attributes' choices. */
GROUT_API grout_update grout_update_from_choice(grout_choice choice);
GROUT_API const grout_attr_info *grout_attr_get_info(grout_attr attr);
GROUT_API const grout_choice_info *grout_choice_get_info(grout_choice choice); /* not of NONE */
GROUT_API const grout_dtype_info *grout_dtype_get_info(grout_dtype dtype);
/* The bits of the NaN that TMA fills with outside an array (a GROUT_FILL line); 0: it has none. */
GROUT_API uint64_t grout_dtype_get_fill(grout_dtype dtype);
/* Whether the values of an op with such a TYPES column may have an element type. */
GROUT_API bool grout_type_rule_takes(grout_type_rule rule, grout_dtype dtype);
/* NULL of VALUE and LIST, which have no line. */
GROUT_API const grout_generator_info *grout_generator_get_info(grout_generator_kind kind);
GROUT_API const grout_space_info *grout_space_get_info(grout_space space);
GROUT_API const char *grout_space_get_text(grout_space space);
GROUT_API grout_effect_class grout_effect_row_get_class(grout_effect_row row);
GROUT_API const char *grout_effect_row_get_doc(grout_effect_row row);
/* The lines of a row, in operand order; *count_out says how many. */
GROUT_API const grout_effect *grout_effect_row_get_effects(grout_effect_row row,
                                                           uint32_t *count_out);
/* By name; GROUT_OP_NONE, GROUT_DTYPE_NONE, GROUT_ATTR_COUNT, GROUT_SPACE_NONE,
 * GROUT_GENERATOR_COUNT or (of a CHOICE attribute) GROUT_CHOICE_NONE if unknown. */
GROUT_API grout_opcode grout_op_find(const char *text, size_t size);
GROUT_API grout_dtype grout_dtype_find(const char *text, size_t size);
GROUT_API grout_attr grout_attr_find(const char *text, size_t size);
GROUT_API grout_space grout_space_find(const char *text, size_t size);
GROUT_API grout_generator_kind grout_generator_find(const char *text, size_t size);
GROUT_API grout_choice grout_choice_find(grout_attr attr, const char *text, size_t size);

/* Appends the form of an operation with its own name: "barrier_wait barrier". */
GROUT_API void grout_op_print_syntax(grout_opcode opcode, grout_text *out);
/* Appends an attribute with what follows it: "count(N)", "order(relaxed | acquire | ..)". */
GROUT_API void grout_attr_print_syntax(grout_attr attr, grout_text *out);
/* Appends the form of an operation and, in words, its attributes. */
GROUT_API void grout_op_print_usage(grout_opcode opcode, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
