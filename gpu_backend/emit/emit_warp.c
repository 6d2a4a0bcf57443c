/* emit_warp.c - warp_map: each warp of a thread for itself, between two meetings of all four.
 *
 * The text is written once, with the warp's number as a variable: it is the same in all lanes of a
 * warp, so that branches on it do not diverge. Meanwhile is_warp says that a meeting is one of the
 * warp's lanes, and lane 0 of each warp issues. Phase words are each lane's own and stay so.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "invariant.h"

/* Every op on bulk groups is a store, or ends a group of stores; but waits do not count. */
static bool is_no_store(void *payload, grout_op_id id, const grout_op *op) {
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    (void)payload;
    (void)id;
    return sync == NULL || sync->object != GROUT_SYNC_OBJECT_BULK ||
           sync->mode == GROUT_SYNC_MODE_WAITS;
}

/* The payload points at the module. */
static bool has_no_warp_store(void *payload, grout_op_id id, const grout_op *op) {
    const grout_module *const *module = payload;
    (void)id;
    return grout_op_get_region((grout_opcode)op->opcode)->kind != GROUT_REGION_WARPS ||
           grout_gpu__walk(*module, op->first_block, is_no_store, NULL);
}

bool grout_emit__has_warp_stores(const grout_emitter *e) {
    const grout_module *module = e->module;
    return !grout_gpu__walk(module, e->kernel->body, has_no_warp_store, &module);
}

void grout_emit__warp_map(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_block *block = grout_module_get_block(e->module, op->first_block);
    (void)id;
    GROUT_ASSERT(!e->is_warp && !e->is_alone && e->warps == GROUT_GPU_WARPS);
    bool is_fenced = grout_emit__begin_meeting(e, true);
    grout_emit__settle(e);
    grout_emit__thread_barrier(e, "the warps go their own ways");
    grout_emit__end_meeting(e, is_fenced);
    grout_emit__line(e, "{");
    e->indent++;
    e->is_warp = true;
    grout_emit__line(e, "const grout_i32 %s = (grout_i32)(warp %% 4);",
                     grout_emit__name(e, block->first_arg));
    grout_emit__block(e, op->first_block);
    e->is_warp = false;
    grout_emit__close(e, "");
    grout_emit__leave_block(e, op->first_block);
    is_fenced = grout_emit__begin_meeting(e, true);
    grout_emit__settle(e);
    grout_emit__thread_barrier(e, "all four have come back");
    grout_emit__end_meeting(e, is_fenced);
}
