/*
 * exec_reduce.c - sums and extremes along a dimension, or of everything.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include "exec.h"

#include <string.h>

/* A result is undefined if one of its elements is. */
static void reduce_masks(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *from = grout_plan__slot(cta->machine->plan, inst, 0), *to = &inst->result;
    bool is_undefined = grout_slot__is_undefined(cta, thread, from);
    grout_slot__set_undefined(cta, thread, to, is_undefined);
    if (!is_undefined || !from->is_array || !to->is_array) {
        return;
    }
    const uint8_t *source = grout_slot__mask(cta, thread, from);
    uint8_t *mask = grout_slot__mask(cta, thread, to);
    int64_t columns = inst->u.reduce.rows.columns, rows = inst->u.reduce.rows.rows;
    memset(mask, 0, to->count);
    for (int64_t i = 0; i < from->count; i++) {
        mask[i / (rows * columns) * columns + i % columns] |= source[i];
    }
}

grout_outcome grout_exec_reduce(const grout_cta *cta, uint32_t thread, const grout_inst *inst) {
    const grout_slot *from = grout_plan__slot(cta->machine->plan, inst, 0), *to = &inst->result;
    uint8_t *result = grout_slot__data(cta, thread, to);
    const uint8_t *data = grout_slot__data(cta, thread, from);
    grout_reduce_box box = {.rows = inst->u.reduce.rows.rows,
                            .columns = inst->u.reduce.rows.columns};
    int64_t size = box.rows * box.columns * from->element_bytes;
    int64_t all = (int64_t)from->count * from->element_bytes;
    for (int64_t done = 0; done < all; done += size) {
        box.from = data + done;
        grout_loops__reduce(inst->u.reduce.function, from->dtype, result, &box);
        result += box.columns * to->element_bytes;
    }
    reduce_masks(cta, thread, inst);
    return GROUT_OUTCOME_NEXT;
}
