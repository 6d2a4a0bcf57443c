/* access.h - the memories of a machine, as an instruction of the tensor core reads and writes them.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The machine looks at bounds, at undefined bytes and at who else is there; a false ends the
 * instruction, with the machine's words. In a pair of CTAs, cta is 0 or 1; else 0.
 */
#ifndef GROUT_PTX_ACCESS_H
#define GROUT_PTX_ACCESS_H

#include "matrix_desc.h"
#include "product.h"
#include "tmem.h"

/* Bytes, and for each of them the bits that have a value. */
typedef struct grout_ptx_known_bytes {
    uint8_t *bytes, *known;
} grout_ptx_known_bytes;

typedef struct grout_ptx_access {
    void *machine;
    bool (*read_shared)(void *machine, uint32_t cta, uint32_t address, uint32_t size,
                        uint8_t *bytes, grout_ptx_fault *fault);
    /* mask: the bits of the cell that count. */
    bool (*read_tmem)(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                      uint32_t *bits, grout_ptx_fault *fault);
    /* The same of the accumulator, which a product reads as its C. */
    bool (*read_sums)(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                      uint32_t *bits, grout_ptx_fault *fault);
    bool (*write_tmem)(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t mask,
                       uint32_t bits, grout_ptx_fault *fault);
    /* For what only moves values: undefined bits are none of its faults. known: the bits with a
     * value. */
    bool (*move_shared)(void *machine, uint32_t cta, uint32_t address, uint32_t size,
                        grout_ptx_known_bytes to, grout_ptx_fault *fault);
    bool (*move_from_tmem)(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t *bits,
                           uint32_t *known, grout_ptx_fault *fault);
    bool (*move_to_tmem)(void *machine, uint32_t cta, grout_ptx_tmem_cell cell, uint32_t bits,
                         uint32_t known, grout_ptx_fault *fault);
} grout_ptx_access;

enum { GROUT_PTX_M_MAX = 256, GROUT_PTX_N_MAX = 256 };

/* Where the elements of one product are between reading and writing: 550 KB, which the machine
 * keeps. */
typedef struct grout_ptx_scratch {
    uint32_t a[GROUT_PTX_M_MAX * GROUT_PTX_K_MAX], b[GROUT_PTX_N_MAX * GROUT_PTX_K_MAX];
    uint32_t d[GROUT_PTX_M_MAX * GROUT_PTX_N_MAX];
    uint8_t kept[GROUT_PTX_M_MAX * GROUT_PTX_K_MAX / 2];
    uint32_t a_scales[GROUT_PTX_M_MAX * 4], b_scales[GROUT_PTX_N_MAX * 4];
} grout_ptx_scratch;

/* What to read: the rows of the matrix of one CTA, and k elements of
 * each, into 'to' one after another. b1: words of 32 bits. */
typedef struct grout_ptx_operand {
    grout_ptx_matrix_desc desc;
    grout_ptx_operand_form form;
    uint32_t cta, rows, k;
} grout_ptx_operand;

bool grout_ptx__operand_read(const grout_ptx_operand *operand, const grout_ptx_access *access,
                             uint32_t *to, grout_ptx_fault *fault);

#endif
