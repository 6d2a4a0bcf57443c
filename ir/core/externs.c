/* externs.c - the functions that a module's operations call by their names.
 * SPDX-License-Identifier: Apache-2.0 */
#include "module.h"

#include <string.h>

static bool is_extern(const grout_op *op) {
    return op->opcode != GROUT_OP_NONE &&
           grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_EXTERN;
}

const char *grout_op_get_extern_name(const grout_module *module, const grout_op *op) {
    return is_extern(op)
               ? grout_module_get_string(module, grout_module_get_operand(module, op, 0)->id)
               : NULL;
}

const char *grout_op_get_ptx(const grout_module *module, const grout_op *op) {
    return is_extern(op) && grout_op_count_texts(op) == 2
               ? grout_module_get_string(module, grout_module_get_operand(module, op, 1)->id)
               : NULL;
}

uint32_t grout_op_count_texts(const grout_op *op) {
    return (uint32_t)strspn(grout_op_get_info((grout_opcode)op->opcode)->operands, "t");
}

uint32_t grout_module_find_externs(const grout_module *module, grout_op_id *ops_out) {
    uint32_t count = 0;
    for (grout_op_id id = 1; id < grout_module_get_op_count(module); id++) {
        const char *name = grout_op_get_extern_name(module, grout_module_get_op(module, id));
        uint32_t k = 0;
        while (name != NULL && k < count &&
               strcmp(name, grout_op_get_extern_name(
                                module, grout_module_get_op(module, ops_out[k]))) != 0) {
            k++;
        }
        if (name != NULL && k == count && count < GROUT_EXTERNS_MAX) {
            ops_out[count++] = id;
        }
    }
    return count;
}
