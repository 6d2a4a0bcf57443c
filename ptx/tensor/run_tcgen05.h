/* run_tcgen05.h - one tcgen05.mma or tcgen05.cp, from memories to tensor memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'tcgen05.mma', 'tcgen05.mma.sp', 'tcgen05.mma.ws', 'tcgen05.cp', 'tcgen05.shift',
 * 'tcgen05.ld', 'tcgen05.st'. The machine has said before which columns are allocated and what is
 * in flight.
 */
#ifndef GROUT_PTX_RUN_TCGEN05_H
#define GROUT_PTX_RUN_TCGEN05_H

#include "access.h"
#include "sparse.h"
#include "tmem_layout.h"

/* What the instruction names. Addresses are of tensor memory. */
typedef struct grout_ptx_mma_operands {
    uint32_t d;
    uint64_t a; /* a matrix descriptor, or an address */
    uint64_t b_desc;
    uint32_t instr; /* the instruction descriptor */
    uint32_t metadata, a_scales, b_scales;
    bool reads_d;                   /* enable-input-d */
    const uint32_t *disabled_lanes; /* 4 words, or 8 for two CTAs; NULL without */
} grout_ptx_mma_operands;

/* Decodes all descriptors, reads both CTAs' memories, multiplies, and writes D. Nothing is written
 * where it fails before. */
bool grout_ptx__mma_run(const grout_ptx_mma_words *words, const grout_ptx_mma_operands *operands,
                        const grout_ptx_access *access, grout_ptx_scratch *scratch,
                        grout_ptx_fault *fault);

/* tcgen05.cp. With two CTAs each copies from its own memory to its own. */
typedef struct grout_ptx_copy {
    grout_ptx_copy_shape shape;
    grout_ptx_copy_format format;
    uint32_t ctas, arch;
    uint32_t address; /* of tensor memory */
    uint64_t desc;
} grout_ptx_copy;

bool grout_ptx__copy_run(const grout_ptx_copy *copy, const grout_ptx_access *access,
                         grout_ptx_fault *fault);

/* tcgen05.shift.down. */
bool grout_ptx__shift_run(uint32_t address, uint32_t ctas, const grout_ptx_access *access,
                          grout_ptx_fault *fault);

/* tcgen05.ld and tcgen05.st of one warp: register r of lane l is element r * 32 + l of an array. */
bool grout_ptx__tmem_load(const grout_ptx_tmem_move *move, uint32_t cta,
                          const grout_ptx_access *access, uint32_t *registers,
                          grout_ptx_fault *fault);
bool grout_ptx__tmem_store(const grout_ptx_tmem_move *move, uint32_t cta,
                           const grout_ptx_access *access, const uint32_t *registers,
                           grout_ptx_fault *fault);

#endif
