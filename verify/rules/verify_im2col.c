/* verify_im2col.c - copies in im2col mode: the array that they read, and what is known of the base
 * pixel and its offsets. The numbers of the tensor map are lowering/im2col_plan.c's.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "im2col_plan.h"

#include <inttypes.h>

#define FIRST_OFFSET 3

/* The pixels of a copy do not form a box, so that nothing that follows boxes of bytes in flight,
 * from a store to a load, can follow them: the array is one that the kernel only reads. */
static bool check_array(grout_verifying *verifying, const grout_operand *operand,
                        const grout_view *view) {
    const grout_module *module = verifying->module;
    const grout_value *value = grout_module_get_value(module, view->base);
    if (value->kind == GROUT_VALUE_PARAM &&
        grout_module_get_param(module, grout_module_get_kernel(module, verifying->kernel),
                               value->index)
                ->direction == GROUT_DIRECTION_IN) {
        return true;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_DIRECTION, operand->loc,
                            "a copy in im2col mode reads an 'in' parameter, and %s is none",
                            grout_verify__get_name(verifying, view).chars);
    grout_diags_help(
        verifying->diags,
        "its pixels form no box, so stores of the same kernel to them are not followed: "
        "let a launch before this one write the array, or copy it with "
        "copy_gmem_to_smem, a box at a time");
    return false;
}

static void check_offsets(grout_verifying *verifying, const grout_op *op, const grout_tma *tma) {
    const grout_module *module = verifying->module;
    const uint32_t spatial_count = tma->spatial_count;
    for (uint32_t k = FIRST_OFFSET; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(module, op, k);
        const int64_t offset = operand->kind == GROUT_OPERAND_EXPR
                                   ? module->bound->expr_values[operand->id].integer
                                   : 0;
        if (offset < 0 || offset > tma->offset_max) {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, operand->loc,
                                    "an offset of %" PRId64 " pixels: with %" PRIu32
                                    " spatial dimension%s the instruction holds 0 to %" PRId32,
                                    offset, spatial_count, spatial_count == 1 ? "" : "s",
                                    tma->offset_max);
            grout_diags_help(verifying->diags, "base pixels may lie further outside: pixels(..) "
                                               "says where they begin");
        }
    }
}

/* A base pixel that is known lies in the box, at a step of it. */
static void check_start(grout_verifying *verifying, const grout_operand *operand,
                        const grout_view *view, const grout_tma *tma) {
    for (uint32_t k = 0; k < tma->spatial_count; k++) {
        const uint32_t dim = tma->object_dim[1 + k];
        const int64_t start = view->start_const[dim], low = tma->lower[k];
        const int64_t high = tma->dims[1 + k] - 1 + tma->upper[k];
        if (view->start_term_count[dim] == 0 &&
            (start < low || start > high || (start - low) % tma->pixel_steps[k] != 0)) {
            grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, operand->loc,
                                    "a base pixel at %" PRId64 " in dimension %" PRIu32
                                    " of %s: pixels(..) has them from %" PRId64 " to %" PRId64
                                    ", every %" PRIu32,
                                    start, dim, grout_verify__get_name(verifying, view).chars, low,
                                    high, tma->pixel_steps[k]);
            grout_diags_help(verifying->diags,
                             "begin at a pixel of the box; the offsets move what is read");
        }
    }
    if (view->start_term_count[0] == 0 && view->start_const[0] < 0) {
        grout_verifying__report(verifying, GROUT_DIAG_BAD_INDEX, operand->loc,
                                "a base pixel at %" PRId64 " in dimension 0 of %s: images are "
                                "counted from 0",
                                view->start_const[0],
                                grout_verify__get_name(verifying, view).chars);
        grout_diags_help(verifying->diags, "begin at an image of the array");
    }
}

void grout_verify__im2col(grout_verifying *verifying, grout_op_id id, const grout_op *op) {
    grout_view view;
    grout_tma tma;
    if (!grout_im2col__is_mode_of(op)) {
        return;
    }
    const grout_operand *operand = grout_module_get_operand(verifying->module, op, 0);
    if (grout_verify__find_object(verifying, operand, &view) == NULL ||
        !grout_tma_plan(verifying->module, id, &tma, NULL) ||
        !check_array(verifying, operand, &view)) {
        return; /* what does not fit TMA is reported with all copies: verify_memory.c */
    }
    check_offsets(verifying, op, &tma);
    check_start(verifying, operand, &view, &tma);
}
