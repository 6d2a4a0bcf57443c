/* emit_while.c - while loops: an endless loop that its first body leaves.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__while(grout_emitter *e, grout_op_id id, const grout_op *op) {
    const grout_emit_carries carries = grout_emit__find_carries(e, op);
    (void)id;
    grout_emit__begin_carries(e, &carries);
    grout_emit__collect_pending(e, op->first_block, &e->pending);
    grout_emit__collect_pending(e, op->first_block + 1, &e->pending);
    grout_emit__begin(e);
    grout_emit__add(e, "while (true)");
    grout_emit__open(e);
    grout_emit__block(e, op->first_block);
    const grout_emit_pending at_exit = e->pending;
    grout_emit__block(e, op->first_block + 1);
    grout_emit__assign_carries(e, &carries);
    grout_emit__close(e, "");
    grout_emit__leave_block(e, op->first_block + 1);
    grout_emit__leave_block(e, op->first_block);
    e->pending = at_exit;
}

void grout_emit__cond(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__begin(e);
    grout_emit__add(e, "if (!(");
    grout_emit__operand(e, grout_module_get_operand(e->module, op, 0), NULL);
    grout_emit__add(e, "))");
    grout_emit__open(e);
    grout_emit__line(e, "break;");
    grout_emit__close(e, "");
}
