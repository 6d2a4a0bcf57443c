/* names.c - what has a name that a whole module or kernel knows: kernels, consts, parameters.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <string.h>

static uint64_t make_key(uint32_t owner, grout_string_id name) {
    return (uint64_t)owner << 32 | name;
}

void grout_module__add_name(grout_module *module, uint32_t owner, grout_string_id name,
                            uint32_t id) {
    if (name == 0 || id == 0) { /* it has none, or there was no memory for it */
        return;
    }
    uint32_t *number = grout_lookup__at(&module->named, make_key(owner, name));
    if (number == NULL) {
        module->failed = true;
    } else if (*number == 0) {
        *number = id;
    }
}

uint32_t grout_module__find_name(const grout_module *module, uint32_t owner, grout_string_id name) {
    return name == 0 ? 0 : grout_lookup__find(&module->named, make_key(owner, name));
}

/* The same by the bytes of a name. */
static uint32_t find(const grout_module *module, uint32_t owner, const char *name) {
    return grout_module__find_name(module, owner,
                                   grout_module__find_string(module, name, strlen(name)));
}

grout_kernel_id grout_module_find_kernel(const grout_module *module, const char *name) {
    return find(module, GROUT_NAMED_KERNEL, name);
}

grout_const_id grout_module_find_const(const grout_module *module, const char *name) {
    return find(module, GROUT_NAMED_CONST, name);
}

uint32_t grout_module_find_param(const grout_module *module, const grout_kernel *kernel,
                                 const char *name) {
    /* Kernels without parameters share the first one of the next kernel that has some. */
    const uint32_t number = kernel->param_count == 0 ? 0 : find(module, kernel->first_param, name);
    GROUT_ASSERT(number <= kernel->param_count);
    return number == 0 ? UINT32_MAX : number - 1;
}
