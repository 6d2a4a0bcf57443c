/* init_lists.c - lists of elements that do not fit the size that an array has got: it then has no
 * init, as if none were written, and the caller brings its contents.
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

void grout_init_lists__leave_out(grout_binding *binding) {
    grout_module *module = binding->module;
    for (uint32_t i = 1; i < module->params.count; i++) {
        grout_param *param = GROUT_TABLE_AT(module->params, grout_param, i);
        if (param->init != 0 && is_misfit(module, param)) {
            param->init = 0;
        }
    }
}
