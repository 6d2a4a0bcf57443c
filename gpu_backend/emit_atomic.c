/* emit_atomic.c - atomics on GMEM and SMEM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__atomic_add(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_add' is not built yet");
}

void grout_emit__atomic_max(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_max' is not built yet");
}

void grout_emit__atomic_min(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_min' is not built yet");
}

void grout_emit__atomic_and(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_and' is not built yet");
}

void grout_emit__atomic_or(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_or' is not built yet");
}

void grout_emit__atomic_xor(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_xor' is not built yet");
}

void grout_emit__atomic_fetch_add(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_fetch_add' is not built yet");
}

void grout_emit__atomic_exchange(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_exchange' is not built yet");
}

void grout_emit__atomic_cas(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'atomic_cas' is not built yet");
}
