/* binding.c - what the passes of binding share: reports, and memory for their tables.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "alloc.h"
#include "goes_on.h"

#include <stdarg.h>

bool grout_binding__report(grout_binding *binding, grout_diag_code code, grout_loc_id loc,
                           const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    (void)grout_module__refuse_list(binding->module, binding->diags, code, loc, format, arguments);
    va_end(arguments);
    binding->ok = false;
    return false;
}

bool grout_binding__goes_on(grout_binding *binding) {
    const bool goes_on = grout_diags__goes_on(binding->diags, "sizes and types were worked out");
    binding->ok = binding->ok && goes_on;
    return goes_on;
}

void *grout_binding__new(grout_binding *binding, size_t count, size_t size) {
    void *items = grout__new(binding->module->allocator, count, size);
    if (items == NULL) {
        binding->ok = grout_diags_add_oom(binding->diags);
    }
    return items;
}
