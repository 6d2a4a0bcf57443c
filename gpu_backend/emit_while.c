/* emit_while.c - while loops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__while(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__cond(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}
