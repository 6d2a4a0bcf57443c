/* matrix_desc.h - the 64-bit descriptor of a matrix in shared memory.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'Asynchronous Warpgroup Level Matrix Shared Memory Layout' and 'Matrix Descriptor Format'
 * (wgmma), 'Shared Memory Descriptor' and 'Canonical Layouts' (tcgen05):
 *
 *   63    61 | 60  53 | 52 | 51      49 | 48  46 | 45   32 | 31 30 | 29   16 | 15 14 | 13      0
 *   swizzle  |   0    | abs| base offset| version| SBO>>4  |   0   | LBO>>4  |   0   | start>>4
 *
 * wgmma: the swizzle has bits 62 and 63 only, 1, 2 and 3 for 128, 64 and 32 bytes, and bits 46 to
 * 48 and 52 to 61 are zero. tcgen05: version is 1; the swizzle is 0, 2, 4 or 6 for none, 128, 64
 * and 32 bytes, or 1 for 128 bytes with atoms of 32.
 */
#ifndef GROUT_PTX_MATRIX_DESC_H
#define GROUT_PTX_MATRIX_DESC_H

#include "fault.h"
#include "number.h"
#include "swizzle.h"

typedef enum grout_ptx_desc_kind {
    GROUT_PTX_DESC_WGMMA,
    GROUT_PTX_DESC_TCGEN05
} grout_ptx_desc_kind;

typedef struct grout_ptx_matrix_desc {
    uint32_t start;       /* address of the first element, modulo 2^18 */
    uint32_t leading;     /* leading-dimension byte offset */
    uint32_t stride;      /* stride-dimension byte offset */
    uint32_t base_offset; /* 0 to 7: the line that the swizzle's pattern begins at */
    grout_ptx_swizzle swizzle;
} grout_ptx_matrix_desc;

/* False where bits are set that the kind has not, or a field has a value that there is not. arch is
 * compute capability times 10. */
bool grout_ptx__desc_decode(uint64_t bits, grout_ptx_desc_kind kind, uint32_t arch,
                            grout_ptx_matrix_desc *desc, grout_ptx_fault *fault);

/* How the elements of an operand lie. */
typedef struct grout_ptx_operand_form {
    grout_ptx_desc_kind kind;
    grout_ptx_format format;
    bool is_mn_major; /* elements of one column (A) or row (B) are neighbours */
    bool is_slotted; /* 16 elements of 4 or 6 bits in each slot of 16 bytes (kinds f8f6f4, mxf8f6f4)
                      */
} grout_ptx_operand_form;

/* Whether the descriptor can be of such an operand: MN-major is for 16-bit types of wgmma, for 8
 * and 16 bits of tcgen05, and for tf32 there with atoms of 32 bytes, which nothing else has. */
bool grout_ptx__desc_check(const grout_ptx_matrix_desc *desc, const grout_ptx_operand_form *form,
                           grout_ptx_fault *fault);

/* Where an element is: its byte, and the bit in it for types narrower than a byte (an element of 6
 * bits may reach into the next byte). mn is the row of A or the column of B, k the other index.
 * False where k lies out of a swizzled row: no instruction gets there. */
bool grout_ptx__desc_locate(const grout_ptx_matrix_desc *desc, const grout_ptx_operand_form *form,
                            uint32_t mn, uint32_t k, uint32_t *address, uint32_t *bit);

#endif
