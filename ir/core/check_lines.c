/* check_lines.c - 'check @k against @r': which kernel has the results that another one is to have.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

uint32_t grout_module_get_check_line_count(const grout_module *module) {
    return module->check_lines.count;
}

const grout_check_line *grout_module_get_check_line(const grout_module *module, uint32_t id) {
    GROUT_ASSERT(id < module->check_lines.count);
    return GROUT_TABLE_AT(module->check_lines, grout_check_line, id);
}

uint32_t grout_module_find_check_line(const grout_module *module, grout_kernel_id kernel) {
    return grout_module__find_name(module, GROUT_NAMED_CHECK,
                                   grout_module_get_kernel(module, kernel)->name);
}

grout_kernel_id grout_module_get_checked_kernel(const grout_module *module, uint32_t id) {
    return grout_module__find_name(module, GROUT_NAMED_KERNEL,
                                   grout_module_get_check_line(module, id)->kernel_name);
}

grout_kernel_id grout_module_get_reference_kernel(const grout_module *module, uint32_t id) {
    return grout_module__find_name(module, GROUT_NAMED_KERNEL,
                                   grout_module_get_check_line(module, id)->reference_name);
}

bool grout_module_is_reference(const grout_module *module, grout_kernel_id kernel) {
    bool is_any = false;
    for (uint32_t id = 1; id < module->check_lines.count && !is_any; id++) {
        is_any = grout_module_get_reference_kernel(module, id) == kernel;
    }
    return is_any;
}

void grout_module__add_check_line(grout_module *module, const grout_check_line *line) {
    uint32_t id = grout_table__push(&module->check_lines, line);
    module->failed |= id == 0;
    grout_module__add_name(module, GROUT_NAMED_CHECK, line->kernel_name, id);
    grout_module__add_item(module, GROUT_ITEM_CHECK, id);
}
