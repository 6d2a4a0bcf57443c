/* emit_ptx.c - inline_ptx: asm for each element, which the compiler may move and leave out.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

/* A float of 16 bits goes by its bits. */
static bool goes_by_bits(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    return info->class_ == GROUT_CLASS_FLOAT && info->bytes == 2;
}

/* The letter by which asm names a register of the type. */
static char get_constraint(grout_dtype dtype) {
    const grout_dtype_info *info = grout_dtype_get_info(dtype);
    const bool is_float = info->class_ == GROUT_CLASS_FLOAT;
    switch (info->bytes) {
    case 2:
        return 'h';
    case 4:
        return is_float ? 'f' : 'r';
    default:
        return is_float ? 'd' : 'l';
    }
}

/* The text in a scope of its own. The result is written last: the compiler takes an operand and the
 * result for one register otherwise, and a text of two instructions overwrites what it still reads.
 */
static void add_text(grout_emitter *e, const char *ptx, unsigned bits) {
    grout_emit__add(e, "\"{ .reg .b%u grout_result; ", bits);
    for (const char *at = ptx; *at != '\0'; at++) {
        const bool is_operand = *at == '$';
        if (is_operand && at[1] == '0' && (at[2] < '0' || at[2] > '9')) {
            grout_emit__add(e, "grout_result");
            at++;
        } else {
            grout_emit__add(e, "%c", is_operand ? '%' : *at);
        }
    }
    grout_emit__add(e, " mov.b%u %%0, grout_result; }\"", bits);
}

static void add_inputs(grout_emitter *e, const grout_op *op, const char *index) {
    const uint32_t texts = grout_op_count_texts(op);
    for (uint32_t k = texts; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(e->module, op, k);
        const grout_dtype dtype =
            (grout_dtype)grout_module_get_operand_type(e->module, operand).dtype;
        grout_emit__add(e, "%s\"%c\"(%s", k > texts ? ", " : " : ", get_constraint(dtype),
                        goes_by_bits(dtype) ? "grout_bits_as<grout_u16>(" : "");
        grout_emit__operand(e, operand, index);
        grout_emit__add(e, "%s", goes_by_bits(dtype) ? "))" : ")");
    }
}

static void add_asm(grout_emitter *e, const grout_op *op, const char *index) {
    const grout_dtype dtype = grout_emit__dtype(e, op->first_result);
    const char *name = grout_emit__name(e, op->first_result);
    grout_emit__begin(e);
    grout_emit__add(e, "asm(");
    add_text(e, grout_op_get_ptx(e->module, op), 8u * grout_dtype_get_info(dtype)->bytes);
    grout_emit__add(e, " : \"=%c\"(%s", get_constraint(dtype), name);
    if (index != NULL) {
        grout_emit__add(e, "[%s]", index);
    }
    grout_emit__add(e, "%s)", goes_by_bits(dtype) ? ".bits" : "");
    add_inputs(e, op, index);
    grout_emit__end(e, ");");
}

void grout_emit__inline_ptx(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_value_id value = op->first_result;
    const grout_register_layout *layout = grout_emit__layout(e, value);
    (void)id;
    if (!grout_emit__has_registers(layout)) {
        grout_emit__line(e, "%s %s;", grout_emit__type_name(e, value), grout_emit__name(e, value));
        add_asm(e, op, NULL);
        return;
    }
    grout_emit__declare_registers(e, value);
    grout_emit__open_registers(e, layout->registers, 1);
    add_asm(e, op, "reg");
    grout_emit__close(e, "");
}
