/* infer_im2col.c - the operands of a copy in im2col mode: the channels of a pixel, rows of as many,
 * and offsets. What the array and the numbers have to be is a matter of TMA:
 * lowering/im2col_plan.c. SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#define FIRST_OFFSET 3

static bool check_shapes(grout_binding *binding, const grout_op *op, const grout_type *types) {
    const grout_type from = types[0], to = types[1];
    if (from.dtype != to.dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, op->loc,
                              "'%s' copies bytes as they are: the source is %s, the destination %s",
                              grout_infer__get_mnemonic(op), grout_type__get_text(&from).chars,
                              grout_type__get_text(&to).chars);
        grout_diags_help(binding->diags, "give the SMEM array the type of the gmem array, and cast "
                                         "what is loaded from it");
        return false;
    }
    if (from.rank != 1 || to.rank != 2 || from.dims[0] != to.dims[1]) {
        grout_binding__report(
            binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
            "'%s' copies the channels of a pixel to each row: the source is %s, the destination %s",
            grout_infer__get_mnemonic(op), grout_type__get_text(&from).chars,
            grout_type__get_text(&to).chars);
        grout_diags_help(binding->diags, "index all dimensions of the source but the channels, as "
                                         "in %%x[%%n, %%h, %%w, ds(%%c, 64)], and give the "
                                         "destination two: pixels and channels");
        return false;
    }
    return true;
}

bool grout_infer__im2col(grout_binding *binding, const grout_op *op, const grout_type *types) {
    bool ok = check_shapes(binding, op, types);
    for (uint32_t k = FIRST_OFFSET; k < op->operand_count; k++) {
        ok =
            grout_infer__check_scalar(binding, op, k, GROUT_DTYPE_I32, "an offset of pixels") && ok;
    }
    return ok;
}
