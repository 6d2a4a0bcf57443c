/* module.h - PTX as the parser leaves it: flat tables, ids from 0, names resolved.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_TEXT_MODULE_H
#define GROUT_PTX_TEXT_MODULE_H

#include "array.h"
#include "grout-internal/diagnose.h"
#include "grout-internal/ptx_counts.h"
#include "limited.h"
#include "words.h"

#define PTX_NO_ID UINT32_MAX

/* A part of the text: its byte offset is not kept, a place of a diagnostic is made of it. */
typedef struct ptx_place {
    uint32_t line, column, length;
} ptx_place;

typedef enum ptx_operand_kind {
    PTX_OPERAND_REGISTER,  /* id; is_negated: !p or -r */
    PTX_OPERAND_SPECIAL,   /* id: a ptx_special */
    PTX_OPERAND_SINK,      /* _ */
    PTX_OPERAND_IMMEDIATE, /* bits: an integer's, or a double's if is_float */
    PTX_OPERAND_VARIABLE,  /* the address of variable id, and bits more */
    PTX_OPERAND_ADDRESS,   /* [a + bits] or [a, {..}]: items, the first a register, variable, number
                            */
    PTX_OPERAND_VECTOR,    /* {a, b, ..}: items */
    PTX_OPERAND_LIST,      /* (a, b, ..): items, of a call */
    PTX_OPERAND_PAIR,      /* a|b: items */
    PTX_OPERAND_LABEL,     /* id: an instruction of the function, from its first */
    PTX_OPERAND_TARGETS,   /* id: a list of branch targets */
    PTX_OPERAND_FUNCTION   /* id: a function; PTX_NO_ID: one that is not in the module */
} ptx_operand_kind;

typedef struct ptx_operand {
    ptx_operand_kind kind;
    bool is_negated, is_float, is_single; /* is_single: a float of 32 bits, 0f... */
    uint32_t id;
    uint32_t first, count; /* items, of the module's operands */
    uint64_t bits;
    ptx_place place;
} ptx_operand;

/* Special registers whose value a lane keeps, and others that are read anew each time. */
typedef enum ptx_special {
#define PTX_SPECIAL(NAME, TEXT, BITS) PTX_SPECIAL_##NAME,
#include "ptx_specials.def"
    PTX_SPECIAL_COUNT
} ptx_special;

typedef struct ptx_special_info {
    const char *text;
    uint8_t text_size, bits;
} ptx_special_info;

const ptx_special_info *grout_ptx__get_special(ptx_special special);

typedef struct ptx_inst {
    ptx_op op;
    uint32_t guard; /* a register, or PTX_NO_ID */
    bool is_guard_negated;
    uint32_t first_word, word_count;
    uint32_t first_operand, operand_count;
    ptx_place place;
    uint32_t source_file, source_line; /* of the last .loc before it; line 0: none */
} ptx_inst;

typedef struct ptx_register {
    uint16_t type; /* a ptx_word_id */
} ptx_register;

typedef struct ptx_variable {
    uint32_t name;
    uint16_t space, type; /* words */
    bool is_extern, is_parameter, is_pointer;
    uint32_t align;
    uint64_t size;       /* bytes; 0: of no known size, as of extern .shared */
    uint64_t first_byte; /* of the initial contents, in the module's bytes */
    uint64_t byte_count; /* of the initial contents; the rest is zero */
    uint64_t offset;     /* of a parameter, in its function's parameter space */
    uint32_t function;   /* whose it is, or PTX_NO_ID */
    ptx_place place;
} ptx_variable;

typedef struct ptx_targets {
    uint32_t first, count; /* labels, of the module's targets */
    uint32_t function;
} ptx_targets;

typedef struct ptx_function {
    uint32_t name;
    bool is_entry, has_body, is_cluster_explicit;
    uint32_t first_inst, inst_count;
    uint32_t first_register, register_count;
    uint32_t first_parameter, parameter_count; /* variables */
    uint32_t result_count;                     /* of them, those that it returns: the first ones */
    /* of the body: its variables, which follow the parameters, its operands and lists of targets */
    uint32_t variable_count, first_operand, operand_count, first_table, table_count;
    uint32_t max_threads[3], needed_threads[3], cluster[3]; /* 0: not said */
    uint32_t max_registers, min_ctas;
    ptx_place place;
} ptx_function;

/* Entries by name: a table of hashes. */
typedef struct ptx_entries {
    GROUT_ARRAY(uint32_t) functions; /* those that have a body, in order */
    uint32_t *buckets;               /* numbers of entries from 1; 0: nobody's */
    uint32_t bucket_count;           /* a power of two, more than entries; 0: not made */
} ptx_entries;

struct grout_ptx_module {
    grout_limited limited; /* all else that the module has is from it */
    char *file, *text;     /* owned copies, for places */
    size_t text_size;
    uint32_t version_major, version_minor;
    uint32_t target;         /* a name: "sm_90a" */
    GROUT_ARRAY(char) names; /* NUL-terminated, each found by its offset */
    GROUT_ARRAY(ptx_function) functions;
    GROUT_ARRAY(ptx_variable) variables;
    GROUT_ARRAY(ptx_register) registers;
    GROUT_ARRAY(ptx_inst) insts;
    GROUT_ARRAY(ptx_operand) operands;
    GROUT_ARRAY(ptx_word) words;
    GROUT_ARRAY(ptx_targets) tables;
    GROUT_ARRAY(uint32_t) targets;
    GROUT_ARRAY(uint8_t) bytes;
    ptx_entries entries;
};

/* What the arrays of a module grow with. */
static inline const grout_allocator *ptx_module_allocator(const grout_ptx_module *module) {
    return &module->limited.allocator;
}
/* Once all functions are there; false without memory. */
bool grout_ptx__index_entries(grout_ptx_module *module);
/* The entry of a name; NULL: the only one. False if there is none, or, with NULL, not one alone. */
bool grout_ptx__find_entry(const grout_ptx_module *module, const char *name,
                           uint32_t *function_out);
const char *grout_ptx__get_name(const grout_ptx_module *module, uint32_t name);
/* The place of a diagnostic: strings are the module's. */
grout_place grout_ptx__get_place(const grout_ptx_module *module, ptx_place place);
/* The i-th operand of an instruction. */
const ptx_operand *grout_ptx__get_operand(const grout_ptx_module *module, const ptx_inst *inst,
                                          uint32_t i);
/* The i-th item of an operand. */
const ptx_operand *grout_ptx__get_item(const grout_ptx_module *module, const ptx_operand *operand,
                                       uint32_t i);
/* The i-th word of a class in an instruction, from 0; id PTX_WORD_NONE if there are not that many.
 */
ptx_word grout_ptx__get_word_of(const grout_ptx_module *module, const ptx_inst *inst,
                                ptx_class class, uint32_t i);
bool grout_ptx__has_word(const grout_ptx_module *module, const ptx_inst *inst, ptx_word_id id);

#endif
