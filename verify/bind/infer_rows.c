/* infer_rows.c - the operands of a copy of rows that indices name: as many rows in SMEM as there
 * are indices, as wide as the slice of columns. SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

static const grout_type *get_type(const grout_op *op, const grout_type *types, char letter) {
    return &types[grout_op_find_letter((grout_opcode)op->opcode, letter)];
}

bool grout_infer__rows(grout_binding *binding, const grout_op *op, const grout_type *types) {
    const grout_type *array = get_type(op, types, 'G'), *smem = get_type(op, types, 'H');
    const grout_type *rows = get_type(op, types, 'w');
    if (array->rank == 2 && smem->rank == 2 && rows->rank == 1 && smem->dims[0] == rows->dims[0] &&
        smem->dims[1] == array->dims[1]) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                          "'%s' moves a row for each index, and these are %s, %s, and indices of "
                          "type %s",
                          grout_infer__get_mnemonic(op), grout_type__get_text(&types[0]).chars,
                          grout_type__get_text(&types[1]).chars, grout_type__get_text(rows).chars);
    grout_diags_help(binding->diags, "with indices i32[N] and columns %%x[:, ds(%%c, W)] the array "
                                     "in SMEM is [N, W]");
    return false;
}
