/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h - the rest of the tables: forms, letters, rules, regions, effects, synchronisation.
 */
#ifndef GROUT_INTERNAL_TABLES_H
#define GROUT_INTERNAL_TABLES_H

#include "grout-internal/diagnose.h"
#include "grout-internal/spaces.h"
#include "grout/tables.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One line of generators.def. */
typedef struct grout_generator_info {
    const char *text, *form, *doc;
    uint8_t argument_count;
    bool is_float; /* for floats only */
} grout_generator_info;

/* What there is to say of an arch that grout does not take. */
#define GROUT_ARCH_WITHOUT_TENSOR_MEMORY                                                        \
    "sm_120a and its kin have no tensor memory, no tcgen05 and no wgmma: their tensor core is " \
    "that of 'mma'"

/* Its name: "sm_90a". */
const char *grout_arch_get_text(grout_arch arch);
/* Whether it has the operations and memory spaces of a generation. */
bool grout_arch_has(grout_arch arch, grout_generation generation);

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
    GROUT_LETTER_OPTION, /* from here on: they may be omitted */
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
#include "grout-internal/effects.def"
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
#define GROUT_UPDATE(NAME, COMMUTES) GROUT_UPDATE_##NAME,
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
/* The op's line of sync.def; NULL if it has none: it neither orders nor waits, nor starts an
 * engine. */
const grout_sync_info *grout_op_get_sync(grout_opcode opcode);
/* What the op does with its blocks; kind NONE if it has none. */
const grout_region_info *grout_op_get_region(grout_opcode opcode);
/* The line of the op's effect row about an operand; NULL if there is none. */
const grout_effect *grout_op_find_effect(grout_opcode opcode, uint32_t operand);
/* The letter of an operand (OPERANDS column of ops.def). Operands after the last letter have that
 * one too; '*' where the form has none. */
char grout_op_get_letter(grout_opcode opcode, uint32_t operand);
/* How many of these letters are operands that cannot be omitted. */
uint32_t grout_letters_count_least(const char *letters);
/* What a letter says; NULL if there is no such letter. */
const grout_letter_info *grout_letter_get_info(char letter);
/* Whether indices or a mask decide which elements of its memory it touches. */
bool grout_op_takes_picks(grout_opcode opcode);
/* The first operand that has a letter; UINT32_MAX if none has. */
uint32_t grout_op_find_letter(grout_opcode opcode, char letter);
/* Whether the op's effect row has a line with this access. */
bool grout_op_has_access(grout_opcode opcode, grout_access_kind access);
/* Whether the op has no value for some integers, and its result is undefined: division by zero. */
bool grout_op_is_partial(grout_opcode opcode);
/* What to write on the other hardware in its place ("" of ANY). */
const char *grout_op_get_instead(grout_opcode opcode);
/* Whether the op's result is what memory or a counter held at that moment: this is chance, unless
 * something orders the op. */
bool grout_op_returns_old_value(grout_opcode opcode);
/* How a GROUT_REDUCE line combines elements: the update whose name its expression's function has.
 * NONE for other ops. */
grout_update grout_op_get_reduction(grout_opcode opcode);
/* The GROUT_REDUCE line that a GROUT_SCAN line names; NONE for other ops. */
grout_opcode grout_op_get_scanned(grout_opcode opcode);
/* The bits of what changes no element that it is combined with: of ADD, MUL, MIN and MAX. */
uint64_t grout_update_get_identity(grout_update update, grout_dtype dtype);
/* The first operand whose memory the op writes or combines with; UINT32_MAX if there is none. */
uint32_t grout_op_find_target(grout_opcode opcode);
const char *grout_update_get_doc(grout_update update); /* "" of NONE */
grout_commutes grout_update_get_commutes(grout_update update);
/* Whether what such updates leave in an element of this type depends on the order in which they
 * come; false for NONE. */
bool grout_update_is_ordered(grout_update update, grout_dtype dtype);
/* What a reduce(..) attribute says; NONE for GROUT_CHOICE_NONE and other attributes' choices. */
grout_update grout_update_from_choice(grout_choice choice);
/* The bits of the NaN that TMA fills with outside an array (a GROUT_FILL line); 0: it has none. */
uint64_t grout_dtype_get_fill(grout_dtype dtype);
/* Whether the values of an op with such a TYPES column may have an element type. */
bool grout_type_rule_takes(grout_type_rule rule, grout_dtype dtype);
/* NULL of VALUE and LIST, which have no line. */
const grout_generator_info *grout_generator_get_info(grout_generator_kind kind);
const grout_space_info *grout_space_get_info(grout_space space);
const char *grout_space_get_text(grout_space space);
grout_effect_class grout_effect_row_get_class(grout_effect_row row);
const char *grout_effect_row_get_doc(grout_effect_row row);
/* The lines of a row, in operand order; *count_out says how many. */
const grout_effect *grout_effect_row_get_effects(grout_effect_row row, uint32_t *count_out);
/* By name; GROUT_OP_NONE, GROUT_ATTR_COUNT, GROUT_SPACE_NONE, GROUT_GENERATOR_COUNT or (of a CHOICE
 * attribute) GROUT_CHOICE_NONE if unknown. */
grout_opcode grout_op_find(const char *text, size_t size);
grout_attr grout_attr_find(const char *text, size_t size);
grout_space grout_space_find(const char *text, size_t size);
grout_generator_kind grout_generator_find(const char *text, size_t size);
grout_choice grout_choice_find(grout_attr attr, const char *text, size_t size);

/* Appends the form of an operation with its own name: "barrier_wait barrier". */
void grout_op_print_syntax(grout_opcode opcode, grout_text *out);
/* Appends an attribute with what follows it: "count(N)", "order(relaxed | acquire | ..)". */
void grout_attr_print_syntax(grout_attr attr, grout_text *out);
/* Appends the form of an operation and, in words, its attributes. */
void grout_op_print_usage(grout_opcode opcode, grout_text *out);

#ifdef __cplusplus
}
#endif
#endif
