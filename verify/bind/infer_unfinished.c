/* infer_unfinished.c - the types of what a builder has built so far.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"
#include "builder.h"

grout_module *grout_builder_infer(const grout_builder *builder, grout_diags *diags) {
    if (builder == NULL || builder->module == NULL || grout_builder_is_failed(builder)) {
        return NULL;
    }
    if (!grout_module_add_sources(builder->module, diags)) {
        return NULL;
    }
    grout_binding binding = {.diags = diags, .unfinished = builder->block, .ok = true};
    binding.module = grout_module__clone(builder->module);
    if (binding.module == NULL) {
        (void)grout_diags_add_oom(diags);
        return NULL;
    }
    grout_binding__infer_unfinished(&binding);
    grout_binding__deinit(&binding);
    if (binding.module->bound == NULL) {
        grout_module_free(binding.module);
        return NULL;
    }
    return binding.module;
}
