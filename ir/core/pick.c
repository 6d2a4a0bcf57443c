/* pick.c - which elements of memory an access by indices, or with a mask, touches.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

static uint8_t find_operand(const grout_op *op, char letter) {
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, letter);
    return index < op->operand_count ? (uint8_t)index : 0;
}

static grout_type get_type(const grout_module *module, const grout_op *op, uint32_t operand) {
    return grout_module_get_operand_type(module, grout_module_get_operand(module, op, operand));
}

/* Whether each element has a pick of its own: an index, or a bit of the mask. */
static bool is_single(const grout_module *module, const grout_op *op, const grout_pick *pick) {
    const bool has_array =
        pick->mask != 0 && get_type(module, op, pick->mask).kind == GROUT_TYPE_ARRAY;
    return pick->indices == 0 || !pick->is_along || (has_array && !pick->is_mask_along);
}

static void set_indices(const grout_module *module, const grout_op *op, const grout_type *ref,
                        grout_pick *pick) {
    const grout_type indices = get_type(module, op, pick->indices);
    pick->dim = (uint8_t)grout_op_get_attr_integer(module, op, GROUT_ATTR_DIM, 0);
    pick->limit = ref->dims[pick->dim];
    pick->is_along = ref->rank > 1 && indices.rank == 1;
    pick->is_mask_along =
        pick->is_along && pick->mask != 0 && get_type(module, op, pick->mask).rank == 1;
}

/* The array: what is written or made, or for a copy, which leaves no value, its destination. */
static grout_type get_array(const grout_module *module, const grout_op *op,
                            const grout_pick *pick) {
    if (pick->destination == 0) {
        return pick->value != 0 ? get_type(module, op, pick->value)
                                : *grout_module_get_type(module, op->first_result);
    }
    grout_type type = get_type(module, op, pick->destination);
    type.kind = type.rank == 0 ? GROUT_TYPE_SCALAR : GROUT_TYPE_ARRAY;
    return type;
}

bool grout_op_get_pick(const grout_module *module, const grout_op *op, grout_pick *pick_out) {
    grout_pick pick = {.indices = find_operand(op, 'j'), .mask = find_operand(op, 'c')};
    if (!grout_op_takes_picks((grout_opcode)op->opcode)) {
        return false;
    }
    const grout_type ref = get_type(module, op, 0);
    pick.value = find_operand(op, 'v');
    pick.mask = pick.mask != 0 ? pick.mask : find_operand(op, 'o');
    pick.destination = pick.value == 0 && op->result_count == 0 ? 1 : 0;
    pick.type = get_array(module, op, &pick);
    pick.ref_rank = ref.rank;
    if (pick.indices != 0) {
        set_indices(module, op, &ref, &pick);
    }
    pick.lead = is_single(module, op, &pick) ? pick.type.rank : (uint8_t)(pick.dim + 1);
    *pick_out = pick;
    return true;
}

int grout_pick_get_dim(const grout_pick *pick, uint32_t dim) {
    const bool is_index = pick->indices != 0 && (pick->ref_rank == 1 || dim == pick->dim);
    return is_index ? -1 : (int)dim;
}
