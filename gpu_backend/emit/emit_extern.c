/* emit_extern.c - extern_elementwise: a __device__ function that comes with the launch.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

/* What the function takes for an element: a float that C does not have goes by its bits. */
static bool goes_by_bits(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    return info->class_ == GROUT_CLASS_FLOAT && info->bytes < sizeof(float);
}

static const char *get_c_type(grout_dtype dtype) {
    return !goes_by_bits(dtype)                      ? grout_gpu__get_type_name(dtype)
           : grout_dtype_get_info(dtype)->bytes == 1 ? "grout_u8"
                                                     : "grout_u16";
}

static grout_dtype get_dtype(const grout_module *module, const grout_op *op, uint32_t k) {
    return (grout_dtype)grout_module_get_operand_type(module,
                                                      grout_module_get_operand(module, op, k))
        .dtype;
}

void grout_emit__declare_extern(const grout_module *module, const grout_op *op, grout_text *out) {
    const grout_dtype result = (grout_dtype)grout_module_get_type(module, op->first_result)->dtype;
    grout_text_add(out, "extern \"C\" __device__ %s %s(", get_c_type(result),
                   grout_op_get_extern_name(module, op));
    for (uint32_t k = 1; k < op->operand_count; k++) {
        grout_text_add(out, "%s%s", k > 1 ? ", " : "", get_c_type(get_dtype(module, op, k)));
    }
    grout_text_add(out, ");\n");
}

/* A value of the kernel may have the function's name: '::' finds the function all the same. */
static void add_call(grout_emitter *e, const grout_op *op, const char *index) {
    const grout_dtype result = grout_emit__dtype(e, op->first_result);
    if (goes_by_bits(result)) {
        grout_emit__add(e, "grout_bits_as<%s>(", grout_gpu__get_type_name(result));
    }
    grout_emit__add(e, "::%s(", grout_op_get_extern_name(e->module, op));
    for (uint32_t k = 1; k < op->operand_count; k++) {
        const grout_dtype dtype = get_dtype(e->module, op, k);
        grout_emit__add(e, "%s", k > 1 ? ", " : "");
        if (goes_by_bits(dtype)) {
            grout_emit__add(e, "grout_bits_as<%s>(", get_c_type(dtype));
        }
        grout_emit__operand(e, grout_module_get_operand(e->module, op, k), index);
        grout_emit__add(e, "%s", goes_by_bits(dtype) ? ")" : "");
    }
    grout_emit__add(e, "%s", goes_by_bits(result) ? "))" : ")");
}

/* Only for elements that there are: the function may not take what else lies in a register. */
void grout_emit__extern_elementwise(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    const grout_register_layout *layout = grout_emit__layout(e, value);
    (void)id;
    if (!grout_emit__has_registers(layout)) {
        grout_emit__begin_scalar(e, value);
        add_call(e, op, NULL);
        grout_emit__end(e, ";");
        return;
    }
    grout_emit__declare_elements(e, value);
    grout_emit__open_registers(e, layout->registers, 1);
    if (layout->is_guarded) {
        grout_emit__open_element(e, layout, 1);
    }
    grout_emit__begin(e);
    grout_emit__add(e, "%s[reg] = ", grout_emit__name(e, value));
    add_call(e, op, "reg");
    grout_emit__end(e, ";");
    if (layout->is_guarded) {
        grout_emit__close_registers(e, layout);
    } else {
        grout_emit__close(e, "");
    }
}
