/* run_mma.h - one mma.sync of shape m16n8, from registers to registers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'mma', 'Matrix Fragments for mma.m16n8k8, k16, k32, mma.m16n8k4': A row-major, B
 * column-major.
 */
#ifndef GROUT_PTX_RUN_MMA_H
#define GROUT_PTX_RUN_MMA_H

#include "fault.h"
#include "product.h"

enum { GROUT_PTX_MMA_M = 16, GROUT_PTX_MMA_N = 8, GROUT_PTX_MMA_LANES = 32 };

typedef struct grout_ptx_mma {
    uint32_t k;
    grout_ptx_format a, b, d; /* d: of C and D */
    bool is_saturating;       /* .satfinite */
} grout_ptx_mma;

/* Whether it is one of these: f16 and bf16 with k8 and k16, tf32 with k4 and k8, e4m3, e5m2, u8 and
 * s8 with k32, u8 and s8 with k16. Others (4- and 1-bit types, f64, m8n8k4, .sp, block scales) are
 * not modelled. */
bool grout_ptx__mma_check(const grout_ptx_mma *it, grout_ptx_fault *fault);

/* Registers of a lane: of A, of B, of C and of D (the same). */
uint32_t grout_ptx__mma_a_registers(const grout_ptx_mma *it);
uint32_t grout_ptx__mma_b_registers(const grout_ptx_mma *it);
uint32_t grout_ptx__mma_d_registers(const grout_ptx_mma *it);

/* Register r of lane l is element r * 32 + l of an array; d is C before and D after. */
void grout_ptx__mma_sync(const grout_ptx_mma *it, const uint32_t *a, const uint32_t *b,
                         uint32_t *d);

#endif
