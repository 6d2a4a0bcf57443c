/* emit_reduce.c - reductions, and moving elements between the lanes of a thread.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__reduce(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}

void grout_emit__layout_cast(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}
