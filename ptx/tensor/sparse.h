/* sparse.h - which half of A's elements a sparse product has.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Sparse matrix storage' (wgmma.mma_async.sp, tcgen05.mma.sp): four bits of metadata for a
 * chunk of 4 elements, of 2 elements of tf32, or of 8 elements of mxf4 in pairs. 'Sparsity
 * selector': which threads or lanes have them.
 */
#ifndef GROUT_PTX_SPARSE_H
#define GROUT_PTX_SPARSE_H

#include "fault.h"
#include "number.h"

/* How the elements of a chunk are chosen. */
typedef enum grout_ptx_sparsity {
    GROUT_PTX_SPARSITY_2_4, /* two of four; 16- and 8-bit types */
    GROUT_PTX_SPARSITY_1_2, /* one of two; tf32 */
    GROUT_PTX_SPARSITY_4_8  /* two pairs of four pairs; mxf4 kinds */
} grout_ptx_sparsity;

/* Elements of a dense row that a chunk covers: 4, 2 or 8. The kept ones are half of them. */
uint32_t grout_ptx__sparse_chunk(grout_ptx_sparsity sparsity);

/* The indices in the row of the k / 2 elements that are kept; chunks has four bits of metadata for
 * each chunk. Bits that name no pair, or not in order, are a fault. */
bool grout_ptx__sparse_select(grout_ptx_sparsity sparsity, const uint8_t *chunks, uint32_t k,
                              uint8_t *kept, grout_ptx_fault *fault);

/* Where the four bits of a chunk are. */
typedef struct grout_ptx_meta_place {
    uint32_t lane;   /* wgmma: thread of the warpgroup; tcgen05: lane of tensor memory */
    uint32_t column; /* tcgen05: after the first column of the metadata */
    uint32_t bit;    /* of the word: the lowest of four */
} grout_ptx_meta_place;

/* wgmma: a register of each thread; element bits 8, 16 or 32 (tf32). k is the first element of the
 * chunk. The selector is 0 or 1 for 16 and 32 bits: the pair of threads in each quad; 0 for 8 bits.
 */
grout_ptx_meta_place grout_ptx__wgmma_meta(uint32_t bits, uint32_t selector, uint32_t row,
                                           uint32_t k);

/* tcgen05: words in tensor memory. bits as above, or 4 (mxf4 kinds). row is that of a CTA's share;
 * rows64: it has 64 of them, 16 in every 32 lanes. What the selector adds is the caller's: for 16
 * bits it picks the column of a pair, for 32 bits too. */
grout_ptx_meta_place grout_ptx__tcgen05_meta(uint32_t bits, bool is_rows64, uint32_t row,
                                             uint32_t k);

#endif
