/* instr_desc.h - the 32-bit instruction descriptor of tcgen05.mma.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Instruction descriptor' and 'Matrix Shape' of tcgen05.
 *
 *   kinds f16, tf32, f8f6f4, i8:
 *   31 30 | 29 | 28   24 | 23 | 22   17 | 16 15 | 14 13 | 12 10 | 9  7 | 6 | 5 4 | 3 | 2 | 1   0
 *   reuse | 0  |  M>>4   | 0  |  N>>3   | tB tA | nB nA |   B   |  A   | 0 |  D  |sat|sp | selector
 *
 *   kinds mxf8f6f4, mxf4, mxf4nvf4:
 *   31  | 30 29 | 28   24 | 23    | 22   17 | 16 15 | 14 13 | 12 10 | 9  7 | 6 | 5 4  | 3 | 2 | 1 0
 *   K96 | SFA id|  M>>4   | scale |  N>>3   | tB tA | nB nA |   B   |  A   | 0 |SFB id| 0 |sp | 0
 */
#ifndef GROUT_PTX_INSTR_DESC_H
#define GROUT_PTX_INSTR_DESC_H

#include "fault.h"
#include "product.h"

typedef enum grout_ptx_mma_kind {
    GROUT_PTX_KIND_F16,
    GROUT_PTX_KIND_TF32,
    GROUT_PTX_KIND_F8F6F4,
    GROUT_PTX_KIND_I8,
    GROUT_PTX_KIND_MXF8F6F4,
    GROUT_PTX_KIND_MXF4,
    GROUT_PTX_KIND_MXF4NVF4,
    GROUT_PTX_KIND_COUNT
} grout_ptx_mma_kind;

/* What the instruction's own modifiers say. */
typedef struct grout_ptx_mma_words {
    grout_ptx_mma_kind kind;
    uint32_t arch;      /* compute capability times 10: 100, 103, 110 */
    uint32_t ctas;      /* .cta_group::1 or 2 */
    bool is_sparse;     /* tcgen05.mma.sp */
    bool is_stationary; /* tcgen05.mma.ws */
    bool is_a_tmem;     /* A is in tensor memory */
    uint32_t scale_vec; /* .scale_vec::1X, 2X, 4X or the .block that is the same; 0 without: the
                           kind's own */
    uint32_t input_d;   /* scale-input-d: 0 to 15 */
} grout_ptx_mma_words;

typedef struct grout_ptx_instr_desc {
    grout_ptx_mma_words words;
    grout_ptx_format a, b, d;
    uint32_t m, n, k; /* k counts the elements of B's columns, twice those of a sparse A */
    bool is_saturating;
    bool is_a_negative, is_b_negative;
    bool is_a_mn_major, is_b_mn_major;
    uint32_t selector;               /* of sparse metadata */
    uint32_t reuse;                  /* .ws: 0, 8, 16 or 32 */
    grout_ptx_format scale;          /* UE8M0 or UE4M3, of the block-scaled kinds */
    uint32_t scales;                 /* of a row: 1, 2 or 4; 0 without block scales */
    uint32_t a_scale_id, b_scale_id; /* the first byte of a cell */
} grout_ptx_instr_desc;

/* False where a bit is set that the kind has not, where a field has a value that there is not, or
 * where descriptor and modifiers do not fit together. K = 96 of sm_103a is not modelled. */
bool grout_ptx__instr_decode(uint32_t bits, const grout_ptx_mma_words *words,
                             grout_ptx_instr_desc *desc, grout_ptx_fault *fault);

/* Whether elements of A or B lie in slots of 16 bytes in shared memory, and in bytes of their own
 * in tensor memory: those of 4 and 6 bits of kinds f8f6f4 and mxf8f6f4. */
bool grout_ptx__instr_is_slotted(const grout_ptx_instr_desc *desc, grout_ptx_format format);

/* The product that it makes: kind, how, m, n, k, scale and scales; the arrays and the input-d
 * predicate are the caller's. */
grout_ptx_product grout_ptx__instr_product(const grout_ptx_instr_desc *desc);

#endif
