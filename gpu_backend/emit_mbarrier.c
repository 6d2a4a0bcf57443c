/* emit_mbarrier.c - barriers of the explicit face, and tests of barriers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__mbarrier_init(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'mbarrier_init' is not built yet");
}

void grout_emit__mbarrier_expect(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'mbarrier_expect' is not built yet");
}

void grout_emit__mbarrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'mbarrier_arrive' is not built yet");
}

void grout_emit__mbarrier_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'mbarrier_wait' is not built yet");
}

void grout_emit__mbarrier_test(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'mbarrier_test' is not built yet");
}

void grout_emit__mbarrier_invalidate(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'mbarrier_invalidate' is not built yet");
}

void grout_emit__barrier_test(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'barrier_test' is not built yet");
}

void grout_emit__tensor_descriptor(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'tensor_descriptor' is not built yet");
}
