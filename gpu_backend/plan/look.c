/* look.c - what is looked up in a kernel and in its plan: ops, parameters, names, entries.
 * SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include "invariant.h"

grout_arch grout_gpu__get_arch(const grout_module *module, grout_kernel_id kernel) {
    const grout_kernel *it = grout_module_get_kernel(module, kernel);
    return it->has_arch ? (grout_arch)it->arch : GROUT_ARCH_SM_90A;
}

grout_gpu_capability grout_gpu__get_capability(grout_arch arch) {
    static const grout_gpu_capability of_arch[] = {[GROUT_ARCH_SM_90A] = {9, 0},
                                                   [GROUT_ARCH_SM_100A] = {10, 0},
                                                   [GROUT_ARCH_SM_103A] = {10, 3},
                                                   [GROUT_ARCH_SM_110A] = {11, 0}};
    GROUT_ASSERT(arch <= GROUT_ARCH_SM_110A);
    return of_arch[arch];
}

bool grout_gpu__walk(const grout_module *module, grout_block_id block, grout_gpu_visit *visit,
                     void *payload) {
    grout_op_id id = grout_module_get_block(module, block)->first;
    while (id != 0) {
        const grout_op *op = grout_module_get_op(module, id);
        if (!visit(payload, id, op)) {
            return false;
        }
        for (uint32_t k = 0; k < op->block_count; k++) {
            if (!grout_gpu__walk(module, op->first_block + k, visit, payload)) {
                return false;
            }
        }
        id = op->next;
    }
    return true;
}

const grout_effect *grout_gpu__get_effects(const grout_op *op, uint32_t *count_out) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    return grout_effect_row_get_effects((grout_effect_row)info->effect_row, count_out);
}

bool grout_gpu__is_pure(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    return grout_effect_row_get_class((grout_effect_row)info->effect_row) == GROUT_EFFECT_PURE;
}

uint32_t grout_gpu__find_param(const grout_module *module, const grout_kernel *kernel,
                               grout_object_id object) {
    const grout_value_id value = grout_module_get_object(module, object)->value;
    if (kernel->param_count == 0 || grout_module_get_value(module, value)->op != 0) {
        return UINT32_MAX;
    }
    /* The values of parameters follow each other. */
    const uint32_t index = value - grout_module_get_param(module, kernel, 0)->value;
    const bool is_param = index < kernel->param_count &&
                          grout_module_get_param(module, kernel, index)->object == object;
    return is_param ? index : UINT32_MAX;
}

const char *grout_gpu__get_value_name(const grout_module *module, grout_value_id value) {
    return grout_module_get_string(module, grout_module_get_value(module, value)->name);
}

const char *grout_gpu__get_param_name(const grout_module *module, const grout_kernel *kernel,
                                      uint32_t index) {
    return grout_gpu__get_value_name(module, grout_module_get_param(module, kernel, index)->value);
}

const char *grout_gpu__get_object_name(const grout_module *module, grout_object_id object) {
    return grout_gpu__get_value_name(module, grout_module_get_object(module, object)->value);
}

/* ---- entries of a plan ---- */

uint32_t grout_gpu__plan_get_arrival_size(const grout_gpu_barrier *barrier) {
    GROUT_ASSERT(!barrier->counts_lanes || !barrier->counts_warps);
    return barrier->counts_lanes ? GROUT_LANES : barrier->counts_warps ? GROUT_GPU_WARPS : 1;
}

uint32_t grout_gpu__plan_find_barrier(const grout_gpu_plan *plan, grout_object_id object) {
    const uint32_t place = plan->place_of_object[object];
    const bool is_barrier = place > 0 && place <= plan->barrier_count;
    return is_barrier && plan->barriers[place - 1].object == object ? place - 1 : UINT32_MAX;
}

uint32_t grout_gpu__plan_find_workspace(const grout_gpu_plan *plan, grout_object_id object) {
    const uint32_t place = plan->place_of_object[object];
    const bool is_workspace = place > 0 && place <= plan->workspace_count;
    return is_workspace && plan->workspaces[place - 1].object == object ? place - 1 : UINT32_MAX;
}

uint32_t grout_gpu__plan_find_capture(const grout_gpu_plan *plan, grout_value_id value) {
    for (uint32_t k = 0; k < plan->capture_count; k++) {
        if (plan->captures[k] == value) {
            return k;
        }
    }
    return UINT32_MAX;
}

bool grout_gpu__is_dependent(const grout_module *module, grout_kernel_id kernel) {
    bool found = false;
    for (grout_launch_id id = 1; id < grout_module_get_launch_count(module) && !found; id++) {
        found = grout_module_get_launch(module, id)->is_dependent &&
                grout_module_get_launch_kernel(module, id) == kernel;
    }
    return found;
}

grout_type grout_gpu__get_map_type(const grout_module *module, const grout_gpu_map *map) {
    grout_type type = *grout_object_get_type(module, map->object);
    type.dtype = map->dtype;
    return type;
}
