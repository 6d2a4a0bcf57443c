/* verifying.h - what the files of the verifier share; private to ir/.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GROUT_IR_VERIFYING_H
#define GROUT_IR_VERIFYING_H

#include "bound.h"
#include "grout/verify.h"

/* A bound module being verified, one kernel at a time. */
typedef struct grout_verifying {
    const grout_module *module;
    grout_arch arch;
    grout_diags *diags;
    grout_kernel_id kernel;
    bool *has_bad_pitch;      /* by object: reported, one report an array is enough */
    grout_kernel_id *differs; /* by value: the kernel in which threads have different ones */
    bool ok;                  /* no error yet */
} grout_verifying;

/* Adds a diagnostic; errors clear ok. */
void grout_verifying__report(grout_verifying *verifying, grout_diag_code code, grout_loc_id loc,
                             const char *format, ...) GROUT_PRINTF(4, 5);

/* One file a topic: verify_launch.c, verify_types.c, verify_memory.c, verify_sync.c,
 * verify_wgmma.c, verify_registers.c. */
void grout_verify__launch(grout_verifying *verifying);
void grout_verify__types(grout_verifying *verifying, const grout_op *op);
void grout_verify__memory(grout_verifying *verifying, grout_op_id id, const grout_op *op);
/* Barriers and waits of one op; collective scopes of the whole kernel. */
void grout_verify__sync(grout_verifying *verifying, const grout_op *op);
void grout_verify__scopes(grout_verifying *verifying);
/* Accumulators, wgmma, waits and registers of one op; the registers of the whole kernel. */
void grout_verify__wgmma(grout_verifying *verifying, grout_op_id id, const grout_op *op);
void grout_verify__registers(grout_verifying *verifying);

/* The parameter that a gmem object is, or NULL. */
const grout_param *grout_verify__find_param(const grout_verifying *verifying,
                                            grout_object_id object);

#endif
