/* code.h - the steps of an entry, and what makes them of its instructions.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_PTX_CODE_H
#define GROUT_PTX_CODE_H

#include "module.h"
#include "number.h"
#include "order.h"
#include "pulse.h"

enum {
    PTX_LANES = 32,
    PTX_SOURCES = 5,
    PTX_SHARED_FIRST = 1024 /* the first address of a CTA's shared memory; 0 is nobody's */
};

typedef struct ptx_context ptx_context;

/* 32 values side by side: where they begin, in the registers of the warp or among the constants of
 * the code; of how many bits each is; and which bit mask says what lanes have a value. */
enum { PTX_PLANE_BYTES = 128 }; /* or a multiple: of words; what is wider takes more */
typedef struct ptx_plane {
    uint32_t offset; /* in this many bytes */
    uint32_t id;     /* 0: always defined */
    uint16_t bits;   /* 1: a mask of lanes; up to 32: a word each; 64: two words; 128: four */
    bool is_constant, is_negated, is_sink;
} ptx_plane;

typedef enum ptx_outcome {
    PTX_NEXT,  /* the group goes on after the step */
    PTX_STAY,  /* it waits: the step runs again */
    PTX_MOVED, /* the step has said where its lanes go on */
    PTX_FAILED /* there is a diagnostic */
} ptx_outcome;

typedef ptx_outcome ptx_routine(ptx_context *context);

typedef struct ptx_step {
    ptx_routine *run;
    uint32_t inst;   /* of the module */
    ptx_plane guard; /* is_sink: none */
    bool needs_all;  /* of the live lanes of its warp: .aligned */
    bool needs_mask; /* the lanes that sources[mask_source] names */
    uint8_t mask_source;
    uint8_t size;          /* bytes of one value, of memory */
    uint16_t space, type;  /* words */
    uint32_t detail, more; /* what the decoder wrote for the routine */
    uint64_t offset;       /* of an address */
    ptx_ordering ordering; /* its order and scope */
    ptx_plane result, result2;
    ptx_plane sources[PTX_SOURCES];
    uint32_t first_item, item_count; /* planes of vectors, of the code */
    uint32_t first_item2, item_count2;
} ptx_step;

/* A function that the entry may call, or the entry. */
typedef struct ptx_reached {
    uint32_t function, first_step;
    uint32_t first_plane; /* of its registers, among those of the code */
} ptx_reached;

/* A variable that these use, at its address in its space; UINT64_MAX: it has none. */
typedef struct ptx_placed {
    uint32_t variable;
    uint64_t address;
} ptx_placed;

/* A constant that is there already: its value, its size in words of 64 bits, and where it is. */
typedef struct ptx_constant {
    uint64_t pattern;
    uint32_t longs, offset; /* longs 0: nobody's */
} ptx_constant;

/* An entry with the functions that it may call, decoded: what else is in the module takes neither
 * time nor memory. */
typedef struct ptx_code {
    const grout_ptx_module *module;
    const grout_allocator *allocator;
    uint32_t entry; /* the function */
    GROUT_ARRAY(ptx_reached) reached;
    uint32_t *places;                  /* of each function, among those, plus 1; 0: it is not */
    GROUT_ARRAY(ptx_placed) variables; /* by number */
    GROUT_ARRAY(ptx_step) steps;       /* of each function its instructions, and one that leaves */
    GROUT_ARRAY(ptx_plane) items;
    GROUT_ARRAY(uint64_t) constants; /* planes of 32 lanes */
    ptx_constant *known;             /* of them, by a hash; a power of 2 */
    uint32_t known_count, known_capacity;
    ptx_plane *registers; /* of the functions, one after the other */
    ptx_plane sink;       /* what '_' takes */
    ptx_plane specials[PTX_SPECIAL_COUNT];
    bool has_requests;        /* clusterlaunchcontrol.try_cancel */
    uint32_t tensor_ctas;     /* the .cta_group of all tcgen05; 0: none seen */
    uint32_t register_planes; /* of PTX_PLANE_BYTES, that the registers of a warp take */
    uint32_t plane_count, local_bytes, parameter_bytes;
    uint64_t static_shared_bytes;
} ptx_code;

/* What makes a code. */
typedef struct ptx_making {
    const grout_ptx_module *module;
    uint32_t entry; /* the function */
    const grout_allocator *allocator;
    grout_pulse *pulse;
    grout_diags *diags;
} ptx_making;

/* What the entry reaches, with a place for each register and variable but those of global and
 * constant space. NULL with diagnostics, or where the pulse is over. */
ptx_code *grout_ptx__begin_code(const ptx_making *making);
void grout_ptx__free_code(ptx_code *code);
/* The first step of a function, which the code reaches. */
uint32_t grout_ptx__get_first_step(const ptx_code *code, uint32_t function);
/* The address of a variable in its space; UINT64_MAX: it has none. */
uint64_t grout_ptx__get_address(const ptx_code *code, uint32_t variable);
/* Whether a variable lies in a lane's local memory, as parameters of calls do. */
bool grout_ptx__is_local(const ptx_code *code, uint32_t variable);

/* What 32 values of this many bits take, in PTX_PLANE_BYTES. */
uint32_t grout_ptx__get_plane_size(uint32_t bits);

/* What a decoder has before it. */
typedef struct ptx_decoder {
    ptx_code *code;
    const grout_ptx_module *module;
    const ptx_inst *inst;
    const ptx_reached *reached; /* the function that it is of */
    ptx_step *step;
    grout_diags *diags;
} ptx_decoder;

typedef bool ptx_decode_routine(ptx_decoder *decoder);

/* ptx-unsupported at the instruction; always false. */
bool grout_ptx__unknown(const ptx_decoder *decoder, const char *format, ...) GROUT_PRINTF(2, 3);
/* The plane of a register of the function. */
ptx_plane grout_ptx__get_register(const ptx_decoder *decoder, uint32_t id);
/* A plane for an operand that is a register, a special register, a number or a variable's address;
 * numbers become what a type of these bits holds. */
bool grout_ptx__decode_value(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             ptx_plane *plane_out);
/* An operand that an instruction writes: a register, or '_'. */
bool grout_ptx__decode_place(const ptx_decoder *decoder, const ptx_operand *operand,
                             ptx_plane *plane_out);
/* The i-th operand as a result or a source. */
bool grout_ptx__decode_result(const ptx_decoder *decoder, uint32_t i, ptx_plane *plane_out);
/* The first operand as both results, d|p, or as the first one alone. */
bool grout_ptx__decode_results(const ptx_decoder *decoder);
/* Whether this many values, of the step's size, are what .v2 and its like say; else a diagnostic.
 */
enum { PTX_VECTOR_BYTES = 32 }; /* PTX ISA 9.1, 'ld', 'st' */
bool grout_ptx__has_vector(const ptx_decoder *decoder, uint32_t count);
bool grout_ptx__decode_source(const ptx_decoder *decoder, uint32_t i, uint16_t type,
                              uint32_t source);
/* The type of the base of an address: addresses in registers have 32 bits or 64. */
uint16_t grout_ptx__get_base_type(const ptx_operand *base);
/* The i-th operand as an address: the source is its base, the step has its offset. */
bool grout_ptx__decode_address(const ptx_decoder *decoder, uint32_t i, uint32_t source);
/* Items of a vector or a pair, or an operand alone, onto the code's items. */
bool grout_ptx__decode_items(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type,
                             uint32_t *first_out, uint32_t *count_out);
const ptx_operand *grout_ptx__operand(const ptx_decoder *decoder, uint32_t i);
ptx_word grout_ptx__word(const ptx_decoder *decoder, ptx_class class, uint32_t i);
bool grout_ptx__has(const ptx_decoder *decoder, ptx_word_id id);
/* A type as the tensor cores have it; false if they have no such type. */
bool grout_ptx__get_number_format(uint16_t word, grout_ptx_format *format_out);
/* The i-th type of the instruction; PTX_WORD_NONE if there are not that many. */
uint16_t grout_ptx__type(const ptx_decoder *decoder, uint32_t i);
/* .relaxed.gpu and its like; what an instruction means that does not say it. */
ptx_ordering grout_ptx__decode_ordering(const ptx_decoder *decoder);

#endif
