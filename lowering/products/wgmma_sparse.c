/* wgmma_sparse.c - the metadata of a wgmma whose a keeps half of its elements along K.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wgmma.h"

#include "type.h"

#include <inttypes.h>

#define WORDS 4 /* of a row, in the registers of a quad of lanes */

const grout_operand *grout_wgmma_get_metadata(const grout_module *module, const grout_op *op) {
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'v');
    return index == UINT32_MAX ? NULL : grout_module_get_operand(module, op, index);
}

const grout_operand *grout_wgmma_get_use(const grout_module *module, const grout_op *op) {
    const uint32_t index = grout_op_find_letter((grout_opcode)op->opcode, 'u');
    return index >= op->operand_count ? NULL : grout_module_get_operand(module, op, index);
}

/* Elements of K that a word is about. */
static uint32_t get_span(const grout_wgmma *wgmma) {
    return GROUT_SPARSE_CODES * grout_wgmma_get_group(wgmma);
}

uint32_t grout_wgmma__get_sparse_step(const grout_wgmma *wgmma) {
    return WORDS * get_span(wgmma);
}

bool grout_wgmma__check_metadata(grout_wgmma_planning *planning) {
    const grout_wgmma *wgmma = planning->wgmma;
    const grout_operand *operand = grout_wgmma_get_metadata(planning->module, planning->op);
    if (operand == NULL) {
        return true;
    }
    const grout_type type = grout_module_get_operand_type(planning->module, operand);
    const char *a = grout_dtype_get_info((grout_dtype)wgmma->a_dtype)->text;
    const uint32_t span = get_span(wgmma);
    const bool is_array = type.kind == GROUT_TYPE_ARRAY && type.rank == 2;
    if (is_array && type.dtype == GROUT_DTYPE_U16 && type.dims[0] == wgmma->m &&
        type.dims[1] * span == 2 * (int64_t)wgmma->k) {
        return true;
    }
    const bool is_constant = operand->kind == GROUT_OPERAND_EXPR;
    grout_wgmma__fail(planning, GROUT_DIAG_WGMMA_SHAPE, operand,
                      "the metadata of %" PRIu32 " rows and a K of %" PRIu32
                      " of %s is u16[%" PRIu32 ", %" PRIu32 "], and %s is %s",
                      wgmma->m, 2 * wgmma->k, a, wgmma->m, 2 * wgmma->k / span,
                      is_constant ? "this" : grout_wgmma__get_name(planning, operand, "this").chars,
                      is_constant ? "a constant" : grout_type__get_text(&type).chars);
    grout_wgmma__help(planning,
                      "a word has the codes of %u groups of %" PRIu32
                      " neighbours along K, four bits each, the first in the low bits",
                      GROUT_SPARSE_CODES, grout_wgmma_get_group(wgmma));
    return false;
}
