/* beside.c - launches of a list whose grids may run beside each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "beside.h"

#include <string.h>

/* The array that an atomic of the launch's kernel works on: its name; 0: the op is none such. */
static grout_string_id find_array(const grout_module *module, const grout_kernel *kernel,
                                  grout_op_id id) {
    const grout_op *op = grout_module_get_op(module, id);
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    grout_view view;
    memset(&view, 0, sizeof view);
    if (grout_op_get_update(module, op) == GROUT_UPDATE_NONE || target >= op->operand_count ||
        !grout_module_get_view(module, grout_module_get_operand(module, op, target), &view)) {
        return 0;
    }
    const grout_object_id root = grout_object_get_root(module, view.object);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_param *param = grout_module_get_param(module, kernel, i);
        if (param->object == root) {
            return grout_module_get_value(module, param->value)->name;
        }
    }
    return 0;
}

/* Whether an atomic of the launch works on an array of this name. */
static bool has_atomic_on(const grout_module *module, grout_launch_id launch,
                          grout_string_id name) {
    const grout_kernel_id id = grout_module_get_launch_kernel(module, launch);
    const grout_kernel *kernel = grout_module_get_kernel(module, id);
    for (grout_op_id op = 1; op < grout_module_get_op_count(module); op++) {
        const grout_op *it = grout_module_get_op(module, op);
        if (grout_module_get_block(module, it->parent)->kernel == id &&
            find_array(module, kernel, op) == name) {
            return true;
        }
    }
    return false;
}

static bool meet(const grout_module *module, grout_launch_id one, grout_launch_id other) {
    const grout_kernel *kernel =
        grout_module_get_kernel(module, grout_module_get_launch_kernel(module, one));
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_string_id name =
            grout_module_get_value(module, grout_module_get_param(module, kernel, i)->value)->name;
        if (has_atomic_on(module, one, name) && has_atomic_on(module, other, name)) {
            return true;
        }
    }
    return false;
}

const char *grout_beside__find_open(const grout_module *bound, grout_launch_id launch) {
    for (grout_launch_id id = 1; id < grout_module_get_launch_count(bound); id++) {
        const bool are_beside = grout_module_launches_overlap(bound, id, launch) ||
                                grout_module_launches_overlap(bound, launch, id);
        if (id != launch && are_beside && meet(bound, launch, id)) {
            return "its atomics and those of a grid beside it are not tried in both orders";
        }
    }
    return NULL;
}
