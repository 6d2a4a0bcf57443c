/* emit_wide.c - which edges of a loop cost a fence of the whole GPU, and why.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An arrive that releases for the cluster is MEMBAR.ALL.GPU on Hopper, and a wait that acquires for
 * it CCTL.IVALL. Where nothing has to travel they are emitted for the CTA (lowering/edges.h); where
 * something may have to, in each turn of a loop, the author should know what it is.
 */
#include "edges.h"
#include "emit.h"

/* Whether an operation releases or acquires beyond its CTA where the CUDA runs. */
static bool is_wide(const grout_emitter *e, const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    if (sync == NULL || sync->side == GROUT_SYNC_SIDE_NONE ||
        (info->attrs & GROUT_ATTR_BIT(ORDER)) == 0 || grout_emit__is_relaxed(e, op)) {
        return false;
    }
    const grout_object_id object = grout_edges__find_barrier(e->module, op);
    const uint32_t number = grout_gpu__plan_find_barrier(e->plan, object);
    if (object != 0 && number != UINT32_MAX) {
        /* An async_copy_arrive, which has no scope, counts in another way if it is relaxed. */
        return (info->attrs & GROUT_ATTR_BIT(SCOPE)) != 0 &&
               grout_emit__is_wide(e, op, &e->plan->barriers[number]);
    }
    /* Not where a cluster meets: once, most often to make mbarriers known to the peers. */
    return sync->reach == GROUT_SYNC_REACH_GRID &&
           grout_op_get_choice(e->module, op, GROUT_ATTR_SCOPE) != GROUT_CHOICE_SCOPE_CTA;
}

static bool is_in_loop(const grout_emitter *e, const grout_op *op) {
    return grout_op_find_around(e->module, op, GROUT_REGION_LOOP, NULL) != NULL;
}

static void add_cause(grout_emitter *e, const char *name, grout_object_id barrier) {
    const grout_op_id cause = grout_edges__find_cause(e->module, e->kernel_id, barrier, e->diags);
    if (cause == 0) {
        return;
    }
    const grout_op *op = grout_module_get_op(e->module, cause);
    grout_diags_note(e->diags, grout_module_get_place(e->module, op->loc),
                     "another CTA may have to learn of this '%s' through '%%%s'",
                     grout_op_get_info((grout_opcode)op->opcode)->text, name);
}

static void report(grout_emitter *e, const grout_op *op, grout_object_id barrier) {
    const char *name = grout_gpu__get_object_name(e->module, barrier);
    const grout_sync_info *sync = grout_op_get_sync((grout_opcode)op->opcode);
    const bool is_wait = sync != NULL && sync->side == GROUT_SYNC_SIDE_ACQUIRE;
    grout_diags_add(e->diags, GROUT_DIAG_GPU_LOSS, grout_module_get_place(e->module, op->loc),
                    is_wait ? "'%s' acquires for the cluster in a loop: each time it empties the "
                              "L1 cache of the SM"
                            : "'%s' releases for the cluster in a loop: each time it is a fence of "
                              "the whole GPU",
                    grout_op_get_info((grout_opcode)op->opcode)->text);
    add_cause(e, name, barrier);
    grout_diags_help(
        e->diags,
        "if none has to, give the operations on '%%%s' scope(cta), or "
        "order(relaxed) where it only counts; 'grout check --advice' says which orders "
        "a launch does not need",
        name);
}

void grout_emit__report_wide(grout_emitter *e) {
    for (uint32_t k = 0; e->plan->cluster_size > 1 && k < e->plan->barrier_count; k++) {
        const grout_object_id barrier = e->plan->barriers[k].object;
        for (grout_op_id id = 1; id < grout_module_get_op_count(e->module); id++) {
            const grout_op *op = grout_module_get_op(e->module, id);
            if (grout_edges__find_barrier(e->module, op) == barrier && is_in_loop(e, op) &&
                is_wide(e, op)) {
                report(e, op, barrier);
                break;
            }
        }
    }
}

bool grout_gpu_find_wide_orders(const grout_module *bound, grout_kernel_id kernel,
                                bool *is_wide_out, grout_diags *diags) {
    grout_gpu_plan plan;
    const grout_emitter e = {.module = bound, .kernel_id = kernel, .plan = &plan};
    const bool is_planned = grout_gpu__plan_init(&plan, bound, kernel, diags);
    for (grout_op_id id = 1; is_planned && id < grout_module_get_op_count(bound); id++) {
        const grout_op *op = grout_module_get_op(bound, id);
        is_wide_out[id] =
            grout_module_get_block(bound, op->parent)->kernel == kernel && is_wide(&e, op);
    }
    grout_gpu__plan_deinit(&plan);
    return is_planned;
}
