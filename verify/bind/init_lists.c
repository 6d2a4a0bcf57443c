/* init_lists.c - contents that a size, or another kernel, decides: a list of elements that does not
 * fit the size that an array has got is left out, as if none were written, and the caller brings
 * its contents; a reference that says nothing of a parameter has what its kernel says.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

/* Whether the file alone does not say how many elements there are. */
static bool has_free_size(const grout_module *module, const grout_object *object) {
    bool is_free = false;
    for (uint32_t dim = 0; dim < object->type.rank; dim++) {
        is_free |= grout_module_get_expr(module, object->type.dims[dim])->kind != GROUT_EXPR_INT;
    }
    return is_free;
}

static bool is_misfit(const grout_module *module, const grout_param *param) {
    const grout_init *init = grout_module_get_init(module, param->init);
    const grout_type *type = &module->bound->value_types[param->value];
    return init->kind == GROUT_GENERATOR_LIST && type->kind != GROUT_TYPE_SCALAR &&
           grout_type_get_count(type) != init->count &&
           has_free_size(module, grout_module_get_object(module, param->object));
}

/* The parameters of a reference take the contents of those of the kernel that it is the reference
 * of, by their names: run alone, it is run with what it is compared with. */
static void take_over(const grout_module *module, grout_kernel_id from, grout_kernel_id to) {
    const grout_kernel *kernel = grout_module_get_kernel(module, from);
    const grout_kernel *reference = grout_module_get_kernel(module, to);
    for (uint32_t i = 0; i < reference->param_count; i++) {
        grout_param *param =
            GROUT_TABLE_AT(module->params, grout_param, reference->first_param + i);
        const grout_string_id name = grout_module_get_value(module, param->value)->name;
        const uint32_t own =
            grout_module_find_param(module, kernel, grout_module_get_string(module, name));
        if (param->init != 0 || param->direction == GROUT_DIRECTION_OUT || own == UINT32_MAX) {
            continue;
        }
        param->init = grout_module_get_param(module, kernel, own)->init; /* of the same type */
    }
}

void grout_init_lists__take_over(grout_binding *binding) {
    const grout_module *module = binding->module;
    for (uint32_t id = 1; id < grout_module_get_check_line_count(module); id++) {
        const grout_kernel_id kernel = grout_module_get_checked_kernel(module, id);
        const grout_kernel_id reference = grout_module_get_reference_kernel(module, id);
        if (kernel != 0 && reference != 0) {
            take_over(module, kernel, reference);
        }
    }
}

void grout_init_lists__leave_out(grout_binding *binding) {
    grout_module *module = binding->module;
    for (uint32_t i = 1; i < module->params.count; i++) {
        grout_param *param = GROUT_TABLE_AT(module->params, grout_param, i);
        if (param->init != 0 && is_misfit(module, param)) {
            param->init = 0;
        }
    }
}
