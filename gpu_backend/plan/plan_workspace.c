/* plan_workspace.c - device memory that a launch brings beside the arrays; waits across
 * clusters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "planning.h"

#include "array.h"
#include "grout-internal/generate.h"

static bool add_workspace(grout_gpu_planning *walk, const grout_gpu_workspace *workspace) {
    grout_gpu_plan *plan = walk->plan;
    plan->workspaces = grout_array__grow(grout_module_get_allocator(walk->module), plan->workspaces,
                                         plan->workspace_count, 1, &walk->workspace_capacity,
                                         sizeof *plan->workspaces);
    if (plan->workspace_count == walk->workspace_capacity) {
        return grout_diags_add_oom(walk->diags);
    }
    plan->workspaces[plan->workspace_count++] = *workspace;
    plan->place_of_object[workspace->object] = plan->workspace_count;
    return true;
}

bool grout_gpu__plan_workspace(grout_gpu_planning *walk, grout_object_id id) {
    const grout_object *object = grout_module_get_object(walk->module, id);
    const grout_type *type = grout_object_get_type(walk->module, id);
    grout_gpu_workspace workspace = {.object = id, .count = grout_type_get_count(type)};
    if (object->kind == GROUT_OBJECT_SEMAPHORE) {
        workspace.is_per_cta = !object->is_global;
        workspace.fill_bytes = GROUT_GPU_SEMAPHORE_BYTES;
        workspace.bytes = workspace.count * GROUT_GPU_SEMAPHORE_BYTES;
        if (workspace.is_per_cta &&
            __builtin_mul_overflow(workspace.bytes, walk->grid_size, &workspace.bytes)) {
            return grout_diags_add(walk->diags, GROUT_DIAG_GPU_UNSUPPORTED,
                                   grout_module_get_place(walk->module, object->loc),
                                   "%" PRId64 " semaphores in each of %" PRId64
                                   " CTAs are more than a GPU's memory holds",
                                   workspace.count, walk->grid_size);
        }
        return add_workspace(walk, &workspace);
    }
    if (object->kind == GROUT_OBJECT_ARRAY && grout_space_is_of_launch(object->space)) {
        const grout_dtype_info *dtype = grout_dtype_get_info((grout_dtype)type->dtype);
        workspace.fill = grout_dtype_get_pattern((grout_dtype)type->dtype, dtype->poison);
        if (object->init != 0) {
            workspace.has_contents = !grout_init_is_uniform(
                walk->module, grout_module_get_init(walk->module, object->init),
                (grout_dtype)type->dtype, &workspace.fill);
        }
        workspace.fill_bytes = dtype->bytes;
        workspace.bytes = grout_type_get_bytes(type);
        return add_workspace(walk, &workspace);
    }
    return true;
}

/* ---- waits across clusters ---- */

/* Whether an op stands in a loop without bounds: it may look again until the value changes. */
static bool is_in_endless_loop(const grout_module *module, const grout_op *op) {
    grout_op_id around = grout_module_get_block(module, op->parent)->parent;
    while (around != 0) {
        op = grout_module_get_op(module, around);
        const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
        if (region->kind == GROUT_REGION_LOOP && region->lead_operands == 0) {
            return true;
        }
        around = grout_module_get_block(module, op->parent)->parent;
    }
    return false;
}

/* Whether other clusters can change an operand: an array in GMEM, or a semaphore of the launch. */
static bool is_of_grid(const grout_gpu_planning *walk, const grout_op *op, uint32_t operand) {
    grout_view view;
    if (!grout_module_get_view(walk->module, grout_module_get_operand(walk->module, op, operand),
                               &view)) {
        return false;
    }
    const grout_object *object = grout_module_get_object(walk->module, view.object);
    return object->kind == GROUT_OBJECT_SEMAPHORE ? object->is_global
                                                  : grout_space_is_of_launch(object->space);
}

void grout_gpu__plan_cross_wait(grout_gpu_planning *walk, grout_op_id id, const grout_op *op) {
    const grout_opcode opcode = (grout_opcode)op->opcode;
    uint32_t count;
    const grout_effect *effects = grout_gpu__get_effects(op, &count);
    for (uint32_t k = 0; k < count && walk->plan->waits_for_clusters == 0; k++) {
        const bool is_wait = effects[k].access == GROUT_ACCESS_WAIT;
        const bool is_poll =
            grout_op_returns_old_value(opcode) && is_in_endless_loop(walk->module, op);
        if ((is_wait || is_poll) && is_of_grid(walk, op, effects[k].operand)) {
            walk->plan->waits_for_clusters = id;
        }
    }
}
