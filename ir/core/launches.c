/* launches.c - the launch list of a module: its lines, and which of their grids overlap.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

uint32_t grout_module_get_launch_count(const grout_module *module) {
    return module->launches.count;
}

const grout_launch_line *grout_module_get_launch(const grout_module *module, grout_launch_id id) {
    GROUT_ASSERT(id < module->launches.count);
    return GROUT_TABLE_AT(module->launches, grout_launch_line, id);
}

const grout_launch_argument *grout_module_get_launch_argument(const grout_module *module,
                                                              const grout_launch_line *launch,
                                                              uint32_t index) {
    GROUT_ASSERT(index < launch->argument_count);
    return GROUT_TABLE_AT(module->launch_arguments, grout_launch_argument,
                          launch->first_argument + index);
}

grout_kernel_id grout_module_get_launch_kernel(const grout_module *module, grout_launch_id id) {
    const grout_launch_line *launch = grout_module_get_launch(module, id);
    return grout_module__find_name(module, GROUT_NAMED_KERNEL, launch->kernel_name);
}

void grout_module__add_launch_argument(grout_module *module,
                                       const grout_launch_argument *argument) {
    module->failed |= grout_table__push(&module->launch_arguments, argument) == 0;
}

void grout_module__add_launch(grout_module *module, const grout_launch_line *launch) {
    GROUT_ASSERT(launch->argument_count < module->launch_arguments.count);
    grout_launch_line line = *launch;
    line.first_argument = module->launch_arguments.count - line.argument_count;
    grout_launch_id id = grout_table__push(&module->launches, &line);
    module->failed |= id == 0;
    grout_module__add_item(module, GROUT_ITEM_LAUNCH, id);
}

/* The last line up to this one that does not depend: all before it have ended when it begins. */
static grout_launch_id find_boundary(const grout_module *module, grout_launch_id id) {
    while (id > 1 && grout_module_get_launch(module, id)->is_dependent) {
        id--;
    }
    return id;
}

bool grout_module_launches_overlap(const grout_module *module, grout_launch_id earlier,
                                   grout_launch_id later) {
    return earlier < later && earlier >= find_boundary(module, later);
}
