/* emit_semaphore.c - semaphores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__semaphore_signal(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'semaphore_signal' is not built yet");
}

void grout_emit__semaphore_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'semaphore_wait' is not built yet");
}

void grout_emit__semaphore_read(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'semaphore_read' is not built yet");
}
