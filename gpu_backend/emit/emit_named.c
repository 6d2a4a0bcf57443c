/* emit_named.c - threads of a CTA that meet: block_barrier and named barriers. The kernel's named
 * barriers 0 to 6 are the hardware's 9 to 15, after the one of each thread's lanes (device
 * header). SPDX-License-Identifier: Apache-2.0 */
#include "emit.h"

#include <inttypes.h>

void grout_emit__block_barrier(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    (void)op;
    grout_emit__line(e, "grout_block_barrier();");
    grout_emit__settle(e);
}

static int64_t get_constant(const grout_emitter *e, const grout_op *op, uint32_t index) {
    const grout_operand *operand = grout_module_get_operand(e->module, op, index);
    return grout_module_get_expr_value(e->module, operand->id).integer;
}

void grout_emit__named_barrier_sync(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__line(e, "grout_named_sync(%" PRId64 ", %" PRId64 ");", get_constant(e, op, 0),
                     get_constant(e, op, 1));
    grout_emit__settle(e);
}

/* Each lane arrives for what it has done. */
void grout_emit__named_barrier_arrive(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    grout_emit__line(e, "grout_named_arrive(%" PRId64 ", %" PRId64 ");", get_constant(e, op, 0),
                     get_constant(e, op, 1));
}
