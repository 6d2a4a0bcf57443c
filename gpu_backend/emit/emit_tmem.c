/* emit_tmem.c - loads and stores of tensor memory: as the instructions move them, or through SMEM.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include "tensor.h"

/* Whether the plan has room for an array in the exchange area. */
static bool check_room(grout_emitter *e, grout_op_id id) {
    return grout_emit__check_exchange(
        e, id, grout_register_layouts_get_exchange_bytes(e->plan->layouts, id));
}

void grout_emit__async_load_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    if (!grout_tensor__is_exchanged(e, op)) {
        grout_tensor__load(e, op);
    } else if (check_room(e, id)) {
        grout_tensor__load_cells(e, op);
        grout_emit__read_exchange(e, op->first_result);
    }
}

void grout_emit__async_store_tmem(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_operand *from = grout_module_get_operand(e->module, op, 1);
    if (!grout_tensor__is_exchanged(e, op) || !grout_emit__is_spread(e, from)) {
        grout_tensor__store(e, op); /* what is the same everywhere is so in each lane */
    } else if (check_room(e, id)) {
        grout_emit__write_exchange(e, from);
        grout_tensor__store_cells(e, op);
    }
}
