/*
 * emit_tcgen05.c - operations of Blackwell: there is no CUDA of them yet.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A kernel that has them is refused where it is planned (plan_op in plan.c), so that nobody comes
 * here; if somebody did, the kernel would be refused here.
 */
#include "emit.h"

static void refuse(grout_emitter *e, const grout_op *op) {
    grout_emit__unsupported(e, op, "'%s' has no CUDA yet: that for sm_100a comes later",
                            grout_op_get_info((grout_opcode)op->opcode)->text);
}

void grout_emit__tcgen05_mma(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__tcgen05_commit_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__async_load_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__wait_load_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__async_store_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__commit_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__tcgen05_mma_scaled(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__try_cluster_cancel(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__tcgen05_mma_sp(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__tcgen05_mma_sp_scaled(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__async_copy_smem_to_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__async_copy_scales_to_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__async_copy_sparse_metadata_to_tmem(grout_emitter *e, grout_op_id id,
                                                    const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__query_cluster_cancel(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}
