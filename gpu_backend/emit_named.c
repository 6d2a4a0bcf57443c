/* emit_named.c - threads of a CTA that meet: block_barrier and named barriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__block_barrier(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'block_barrier' is not built yet");
}

void grout_emit__named_barrier_sync(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'named_barrier_sync' is not built yet");
}

void grout_emit__named_barrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'named_barrier_arrive' is not built yet");
}
