/* run_wgmma.h - one wgmma.mma_async, from registers and shared memory to registers.
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX ISA 'wgmma.mma_async', 'wgmma.mma_async.sp'.
 */
#ifndef GROUT_PTX_RUN_WGMMA_H
#define GROUT_PTX_RUN_WGMMA_H

#include "access.h"
#include "wgmma.h"

enum { GROUT_PTX_WGMMA_THREADS = 128 };

/* Register r of thread t is element r * 128 + t of an array. */
typedef struct grout_ptx_wgmma_operands {
    uint64_t a_desc, b_desc;
    const uint32_t *a_registers; /* 4, where A is in registers */
    const uint32_t *metadata;    /* 1, where A is sparse */
    bool reads_d;                /* scale-d */
    uint32_t *d;                 /* grout_ptx__wgmma_registers of them; before and after */
} grout_ptx_wgmma_operands;

/* Checks the instruction and its descriptors, reads, multiplies. D is as it was where it fails. */
bool grout_ptx__wgmma_run(const grout_ptx_wgmma *it, const grout_ptx_wgmma_operands *operands,
                          const grout_ptx_access *access, grout_ptx_scratch *scratch,
                          grout_ptx_fault *fault);

#endif
