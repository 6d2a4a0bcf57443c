/* rows.c - rows of an array in GMEM that indices name, moved by TMA: refused by name.
 * SPDX-License-Identifier: Apache-2.0
 *
 * An instruction takes 4 indices of one lane (tile::gather4, tile::scatter4), and the indices lie
 * in the registers of all: they have to go to the lane that issues.
 */
#include "tensor.h"

static void refuse(grout_emitter *e, const grout_op *op) {
    grout_emit__unsupported(e, op, "'%s' has no CUDA yet",
                            grout_op_get_info((grout_opcode)op->opcode)->text);
    grout_diags_help(e->diags, "'grout check' and 'grout run' take it");
}

void grout_emit__tma_gather(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}

void grout_emit__tma_scatter(grout_emitter *e, grout_op_id id, const grout_op *op) {
    (void)id;
    refuse(e, op);
}
