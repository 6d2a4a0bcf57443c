/* tensor_memory.h - the tensor memory of CTAs, and what instructions on it share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 9.1, 'Tensor Memory'. Each bit of a cell is defined or not; an allocation makes those of
 * its columns undefined.
 */
#ifndef GROUT_PTX_TENSOR_MEMORY_H
#define GROUT_PTX_TENSOR_MEMORY_H

#include "access.h"
#include "machine.h"

enum { PTX_TENSOR_CELLS = GROUT_PTX_TMEM_LANES * GROUT_PTX_TMEM_COLUMNS };

/* Both CTAs of a pair come to an instruction of .cta_group::2: which are here, and what each asks.
 */
typedef struct ptx_meeting {
    bool is_here[2], is_done[2];
    uint32_t warps[2], asked[2]; /* asked: the operation's number */
    uint32_t places[2], columns[2];
} ptx_meeting;

typedef struct ptx_tensor {
    grout_ptx_tmem state;
    ptx_meeting meeting; /* that of the pair's even CTA counts */
    uint32_t cells[PTX_TENSOR_CELLS], known[PTX_TENSOR_CELLS];
    ptx_cell *shadow; /* of each cell; NULL if nobody looks for races */
} ptx_tensor;

/* An instruction's way to the memories of one CTA or of a pair. */
typedef struct ptx_tensor_view {
    ptx_machine *machine;
    const ptx_async *async;   /* whose accesses they are */
    ptx_cta *first;           /* the CTA, or the pair's even one */
    bool is_loose;            /* undefined bits are noted, not refused: tcgen05.ld */
    uint32_t parts, accesses; /* cells of a register, and accesses so far */
    uint32_t undefined[GROUT_PTX_TMEM_LANES]; /* of each register the lanes without a value */
    const uint32_t *defined;                  /* of each register the lanes with one: tcgen05.st */
} ptx_tensor_view;

/* That of an operation, and its functions; ctas: 1 or 2. */
ptx_tensor_view grout_ptx__view_tensor(ptx_machine *machine, const ptx_async *async, uint32_t ctas);
grout_ptx_access grout_ptx__access_tensor(ptx_tensor_view *view);

void grout_ptx__free_tensor(ptx_tensor *tensor);
/* The tensor memory of a CTA, empty at first; NULL without memory, with a diagnostic. */
ptx_tensor *grout_ptx__get_tensor(ptx_cta *owner);

/* What a CTA may not leave allocated: called when its last warp ends. False with a fault. */
bool grout_ptx__end_tensor(const ptx_context *context);

/* Whether an operation of tcgen05 may happen now: those that a pipeline has before it have. */
bool grout_ptx__tensor_may_happen(const ptx_machine *machine, size_t index);

/* 100 of sm_100a; 90 if the name of the target has no number. */
uint32_t grout_ptx__get_arch(const grout_ptx_module *module);

/* Decoders: .cta_group::N as 1 or 2, the same in all of the module; false with a diagnostic where
 * it is missing, and where the module's target has no tensor memory. */
bool grout_ptx__decode_group(const ptx_decoder *decoder, uint32_t *ctas_out);
/* An operand as an item; NULL: zero. */
bool grout_ptx__add_item(const ptx_decoder *decoder, const ptx_operand *operand, uint16_t type);
/* [a + offset] as two items; NULL: two zeros. */
bool grout_ptx__add_address(const ptx_decoder *decoder, const ptx_operand *operand);

#endif
