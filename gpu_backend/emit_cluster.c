/* emit_cluster.c - the hardware barrier of a cluster, and stores to the SMEM of its other CTAs.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__cluster_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'cluster_arrive' is not built yet");
}

void grout_emit__cluster_wait(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'cluster_wait' is not built yet");
}

void grout_emit__cluster_barrier(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'cluster_barrier' is not built yet");
}

void grout_emit__async_store_smem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "%s", "'async_store_smem' is not built yet");
}
