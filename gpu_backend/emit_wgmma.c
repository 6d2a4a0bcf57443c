/* emit_wgmma.c - wgmma: descriptors, groups, accumulators, registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__wgmma(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__wgmma_async(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__wgmma_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__acc_load(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__acc_store(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__set_max_registers(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}
