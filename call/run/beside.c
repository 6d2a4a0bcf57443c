/* beside.c - launches of a list whose grids may run beside each other.
 * SPDX-License-Identifier: Apache-2.0 */
#include "beside.h"

#include <string.h>

/* The array that an atomic works on: its name; 0: the op is none such. */
static grout_string_id find_array(const grout_module *module, grout_op_id id) {
    const grout_op *op = grout_module_get_op(module, id);
    const uint32_t target = grout_op_find_target((grout_opcode)op->opcode);
    grout_view view;
    memset(&view, 0, sizeof view);
    if (grout_op_get_update(module, op) == GROUT_UPDATE_NONE || target >= op->operand_count ||
        !grout_module_get_view(module, grout_module_get_operand(module, op, target), &view)) {
        return 0;
    }
    const grout_object *root =
        grout_module_get_object(module, grout_object_get_root(module, view.object));
    const grout_value *value = grout_module_get_value(module, root->value);
    return value->kind == GROUT_VALUE_PARAM ? value->name : 0;
}

static uint64_t make_key(grout_kernel_id kernel, grout_string_id name) {
    return (uint64_t)kernel << 32 | name;
}

bool grout_beside__note(grout_beside *beside, const grout_module *bound) {
    for (grout_op_id op = 1; !beside->is_noted && op < grout_module_get_op_count(bound); op++) {
        const grout_string_id name = find_array(bound, op);
        if (name == 0) {
            continue;
        }
        const grout_block_id block = grout_module_get_op(bound, op)->parent;
        uint32_t *number = grout_lookup__at(
            &beside->atomics, make_key(grout_module_get_block(bound, block)->kernel, name));
        if (number == NULL) {
            return false;
        }
        *number = op;
    }
    beside->is_noted = true;
    return true;
}

void grout_beside__deinit(grout_beside *beside) {
    grout_lookup__deinit(&beside->atomics);
}

/* Whether both kernels have an atomic on an array of one name. */
static bool meet(const grout_beside *beside, const grout_module *bound, grout_kernel_id one,
                 grout_kernel_id other) {
    const grout_kernel *kernel = grout_module_get_kernel(bound, one);
    for (uint32_t i = 0; i < kernel->param_count; i++) {
        const grout_string_id name =
            grout_module_get_value(bound, grout_module_get_param(bound, kernel, i)->value)->name;
        if (grout_lookup__find(&beside->atomics, make_key(one, name)) != 0 &&
            grout_lookup__find(&beside->atomics, make_key(other, name)) != 0) {
            return true;
        }
    }
    return false;
}

const char *grout_beside__find_open(const grout_beside *beside, const grout_module *bound,
                                    grout_launch_id launch) {
    const grout_kernel_id kernel = grout_module_get_launch_kernel(bound, launch);
    for (grout_launch_id id = 1; id < grout_module_get_launch_count(bound); id++) {
        const bool are_beside = grout_module_launches_overlap(bound, id, launch) ||
                                grout_module_launches_overlap(bound, launch, id);
        if (id != launch && are_beside &&
            meet(beside, bound, kernel, grout_module_get_launch_kernel(bound, id))) {
            return "its atomics and those of a grid beside it are not tried in both orders";
        }
    }
    return NULL;
}
