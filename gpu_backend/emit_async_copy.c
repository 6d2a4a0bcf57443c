/* emit_async_copy.c - cp.async and its groups.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__async_copy(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'async_copy' is not built yet");
}

void grout_emit__async_copy_commit_group(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'async_copy_commit_group' is not built yet");
}

void grout_emit__async_copy_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'async_copy_wait' is not built yet");
}

void grout_emit__async_copy_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'async_copy_arrive' is not built yet");
}
