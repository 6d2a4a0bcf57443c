/* wgmma.h - what wgmma.mma_async can multiply.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'wgmma.mma_async', 'wgmma.mma_async.sp', 'Matrix Shape' and 'Data-types' of wgmma.
 */
#ifndef GROUT_PTX_WGMMA_H
#define GROUT_PTX_WGMMA_H

#include "fault.h"
#include "product.h"
#include "sparse.h"

enum { GROUT_PTX_WGMMA_M = 64 };

/* The instruction's modifiers and immediates. */
typedef struct grout_ptx_wgmma {
    uint32_t n, k; /* of .m64nNkK */
    grout_ptx_format a, b, d;
    bool is_sparse;
    bool is_a_register;
    bool is_saturating;                /* .satfinite */
    int32_t scale_a, scale_b;          /* 1 or -1; 1 where the instruction has none */
    uint32_t transpose_a, transpose_b; /* 1: MN-major */
    uint32_t selector;                 /* of sparse metadata */
} grout_ptx_wgmma;

/* Whether there is such an instruction. */
bool grout_ptx__wgmma_check(const grout_ptx_wgmma *it, grout_ptx_fault *fault);

/* Registers of D, and of A where it is in registers (4). */
uint32_t grout_ptx__wgmma_registers(const grout_ptx_wgmma *it);

/* The product that it makes: kind, how, m, n, k (words for b1) and is_saturating; the arrays and
 * scale-d are the caller's. */
grout_ptx_product grout_ptx__wgmma_product(const grout_ptx_wgmma *it);

#endif
