/* tilings.c - what 'tile(infer)' became, in words.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tilings.h"

#include <inttypes.h>

/* Whether the object is made by an operation of the kernel. */
static bool is_of_kernel(const grout_module *module, const grout_object *object,
                         grout_kernel_id kernel) {
    const grout_value *value = grout_module_get_value(module, object->value);
    const grout_block_id block = value->block != 0 ? value->block
                                 : value->op != 0  ? grout_module_get_op(module, value->op)->parent
                                                   : 0;
    return block != 0 && grout_module_get_block(module, block)->kernel == kernel;
}

static void add_line(const grout_module *module, grout_object_id id, grout_text *out) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_value *value = grout_module_get_value(module, object->value);
    const char *name = grout_module_get_string(module, value->name);
    grout_tiling tiling;
    (void)grout_object_get_inferred_tiling(module, id, &tiling);
    grout_text_add(out, "line %" PRIu32 ": '%s%s' in tile(infer) has %s\n",
                   grout_module_get_place(module, object->loc).line, value->name == 0 ? "" : "%",
                   value->name == 0 ? "the array" : name, grout_tiling_get_text(&tiling).chars);
}

void grout_tilings__note(grout_session *session, const grout_load *load) {
    const grout_module *module = load->bound;
    grout_text text = {0};
    const bool are_all = load->kernel_count + 1 == grout_module_get_kernel_count(module);
    const grout_object_id count = grout_module_get_object_count(module);
    for (grout_object_id id = 1; session->is_verbose && id < count; id++) {
        grout_tiling tiling;
        if (grout_object_is_declared(module, id) &&
            grout_object_get_inferred_tiling(module, id, &tiling) &&
            (are_all ||
             is_of_kernel(module, grout_module_get_object(module, id), load->kernels[0]))) {
            add_line(module, id, &text);
        }
    }
    grout_session__flush_prose(session, GROUT_STREAM_ERR, &text, 4);
}
