/* part.c - which elements of its operands a slice, reshape, transpose or concatenate takes, and
 * where they go. SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

/* The box that the indices of a slice name. */
static void take_box(const grout_module *module, const grout_ref_step *box, grout_part *part) {
    for (uint32_t dim = 0; dim < box->count; dim++) {
        const grout_index *index = grout_module_get_index(module, box, dim);
        if (index->kind == GROUT_INDEX_ALL) {
            continue;
        }
        part->start[dim] = module->bound->expr_values[index->start.id].integer;
        part->extent[dim] =
            index->kind == GROUT_INDEX_AT ? 1 : module->bound->expr_values[index->size].integer;
    }
}

/* How long the operands in front of one are, along a dimension. */
static int64_t get_length_before(const grout_module *module, const grout_op *op, uint32_t operand,
                                 uint32_t dim) {
    int64_t length = 0;
    for (uint32_t k = 0; k < operand; k++) {
        const grout_operand *before = grout_module_get_operand(module, op, k);
        length += grout_module_get_type(module, before->id)->dims[dim];
    }
    return length;
}

grout_part grout_op_get_part(const grout_module *module, const grout_op *op, uint32_t operand) {
    const grout_rule rule = (grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule;
    const grout_type from =
        grout_module_get_operand_type(module, grout_module_get_operand(module, op, operand));
    const grout_type *to = grout_module_get_type(module, op->first_result);
    grout_part part = {.rank = from.rank};
    for (uint32_t dim = 0; dim < from.rank; dim++) {
        part.extent[dim] = from.dims[dim];
    }
    if (op->box != 0) {
        take_box(module, grout_module_get_box(module, op), &part);
    }
    int64_t stride = 1;
    if (rule == GROUT_RULE_TRANSPOSE) {
        const uint32_t dims = grout_op_get_dims(module, op, GROUT_ATTR_PERM);
        for (uint32_t k = from.rank; k-- > 0;) {
            const uint32_t dim = (dims >> (4 * k) & 15u) - 1;
            part.stride[dim] = stride;
            stride *= from.dims[dim];
        }
        return part;
    }
    for (uint32_t dim = from.rank; dim-- > 0;) {
        part.stride[dim] = stride;
        stride *= rule == GROUT_RULE_CONCATENATE ? to->dims[dim] : part.extent[dim];
    }
    if (rule == GROUT_RULE_CONCATENATE) {
        const uint32_t dim = (uint32_t)grout_op_get_attr_integer(module, op, GROUT_ATTR_DIM, 0);
        part.offset = get_length_before(module, op, operand, dim) * part.stride[dim];
    }
    return part;
}

int64_t grout_part_get_place(const grout_part *part, const grout_type *type, int64_t element) {
    int64_t place = part->offset;
    for (uint32_t dim = part->rank; dim-- > 0;) {
        const int64_t at = element % type->dims[dim] - part->start[dim];
        element /= type->dims[dim];
        if (at < 0 || at >= part->extent[dim]) {
            return -1;
        }
        place += at * part->stride[dim];
    }
    return place;
}
