/* emit_math.c - functions that no hardware rounds correctly.
 * SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

void grout_emit__math(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__unsupported(e, op, "to come");
}
