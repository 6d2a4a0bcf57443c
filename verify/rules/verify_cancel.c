/* verify_cancel.c - launch control: the arrays of its answers, and which CTAs get one.
 * SPDX-License-Identifier: Apache-2.0 */
#include "verifying.h"

#include "type.h"

#include <inttypes.h>

enum { ANSWER_BYTES = 16 }; /* PTX ISA 9.1, 'clusterlaunchcontrol.try_cancel' */

static bool is_of_launch_control(const grout_op *op) {
    const uint8_t row = grout_op_get_info((grout_opcode)op->opcode)->effect_row;
    return row == GROUT_EFFECT_ROW_CANCEL || row == GROUT_EFFECT_ROW_CANCEL_QUERY;
}

/* ---- the array ------------------------------------------------------------------------------- */

/* A row of the array, all of it: 16 bytes that lie together, from a multiple of 16 on. */
static void check_row(grout_verifying *verifying, const grout_operand *operand,
                      const grout_view *view, const grout_object *object) {
    const grout_dtype_info *dtype = grout_dtype_get_info((grout_dtype)object->type.dtype);
    const uint32_t last = view->rank == 0 ? 0 : view->rank - 1u;
    const grout_type *type = grout_object_get_type(verifying->module, view->object);
    int64_t count = 1;
    for (uint32_t dim = 0; dim < view->rank; dim++) {
        count *= view->extent[dim];
    }
    const int64_t bytes = count * dtype->bytes;
    const bool is_row = view->rank > 0 && view->extent[last] == count && view->packed == 1 &&
                        type->dims[last] == view->extent[last];
    if (bytes == ANSWER_BYTES && is_row) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ANSWER, operand->loc,
                            "an answer of launch control is a row of 16 bytes, and this is %s of "
                            "%" PRId64 " bytes",
                            is_row ? "a row" : "a part of the array", bytes);
    grout_verify__note_object(verifying, view->object);
    grout_diags_help(verifying->diags,
                     "declare 'smem i32[2, 4]' for two answers, and index one: %%answers[i]");
}

static void check_array(grout_verifying *verifying, const grout_operand *operand,
                        const grout_view *view, const grout_object *object) {
    grout_tiling found = {0};
    const bool is_tiled =
        object->tile_rank > 0 ||
        (grout_object_get_inferred_tiling(verifying->module, view->object, &found) &&
         (found.rank > 0 || found.swizzle != 0));
    const bool has_form =
        is_tiled || object->swizzle != 0 || object->transpose_rank > 0 || object->layout != 0;
    if (!has_form && object->alias == 0) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ANSWER, operand->loc,
                            has_form
                                ? "%s has a tile, swizzle, transpose or layout, and launch control "
                                  "writes 16 bytes as they come"
                                : "%s shares its bytes with another array, and what launch "
                                  "control writes there means nothing to others",
                            grout_verify__get_name(verifying, view).chars);
    grout_verify__note_object(verifying, view->object);
    grout_diags_help(verifying->diags, "give the answers an array of their own: 'smem i32[2, 4]'");
}

/* ---- what else touches it -------------------------------------------------------------------- */

static void report_other(grout_verifying *verifying, const grout_operand *operand,
                         const grout_view *view, const grout_op *other) {
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ANSWER, operand->loc,
                            "%s holds answers of launch control, and '%s' touches it too",
                            grout_verify__get_name(verifying, view).chars,
                            grout_verify__get_text(other));
    grout_diags_note(verifying->diags, grout_module_get_place(verifying->module, other->loc),
                     "here");
    grout_diags_help(verifying->diags, "query_cluster_cancel reads an answer; keep other values in "
                                       "an array of their own");
}

static bool touches(const grout_verifying *verifying, const grout_op *op, grout_object_id object) {
    grout_view view;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        const grout_operand *operand = grout_module_get_operand(verifying->module, op, k);
        if (grout_verify__find_object(verifying, operand, &view) != NULL && view.object == object) {
            return true;
        }
    }
    return false;
}

/* Arrays that share the bytes are reported as touching them. */
static bool shares(const grout_verifying *verifying, const grout_op *op, grout_object_id answers) {
    const grout_module *module = verifying->module;
    const grout_value_id value = grout_module_get_object(module, answers)->value;
    grout_value_id first;
    const uint32_t count = grout_op_get_made_objects(module, op, &first);
    for (uint32_t k = 0; k < count; k++) {
        const grout_object_id made = grout_module_get_value(module, first + k)->object;
        if (grout_module_get_object(module, made)->alias == value) {
            return true;
        }
    }
    return false;
}

static void check_others(grout_verifying *verifying, const grout_operand *operand,
                         const grout_view *view) {
    const grout_module *module = verifying->module;
    grout_op_id id = grout_kernel__get_first_op(module, verifying->kernel);
    for (; id != 0 && grout_verify__goes_on(verifying);
         id = grout_kernel__get_next_op(module, id)) {
        const grout_op *op = grout_module_get_op(module, id);
        if (!is_of_launch_control(op) &&
            (touches(verifying, op, view->object) || shares(verifying, op, view->object))) {
            report_other(verifying, operand, view, op);
            return;
        }
    }
}

/* ---- who gets it ----------------------------------------------------------------------------- */

static void check_receivers(grout_verifying *verifying, const grout_op *op, grout_attr attr) {
    const grout_module *module = verifying->module;
    const grout_attr_value *axes = grout_module_find_attr(module, op, attr);
    const grout_kernel *kernel = grout_module_get_kernel(module, verifying->kernel);
    uint32_t all = 0;
    for (uint32_t k = 0; k < kernel->axis_count; k++) {
        all |= kernel->axes[k].kind == GROUT_AXIS_CLUSTER ? 1u << k : 0u;
    }
    if (axes == NULL || grout_op_get_axes(module, op, attr) == all) {
        return;
    }
    grout_verifying__report(verifying, GROUT_DIAG_BAD_ATTRIBUTE, axes->loc,
                            "an answer goes to one CTA, or to every CTA of the cluster");
    grout_diags_help(verifying->diags, "name all cluster axes, or leave %s out",
                     grout_attr_get_info(attr)->text);
}

void grout_verify__cancel(grout_verifying *verifying, const grout_op *op) {
    const grout_operand *operand;
    grout_view view;
    if (!is_of_launch_control(op)) {
        return;
    }
    operand = grout_module_get_operand(verifying->module, op, 0);
    const grout_object *object = grout_verify__find_object(verifying, operand, &view);
    if (object != NULL && object->kind == GROUT_OBJECT_ARRAY && object->space == GROUT_SPACE_SMEM) {
        check_row(verifying, operand, &view, object);
        check_array(verifying, operand, &view, object);
        check_others(verifying, operand, &view);
    }
    check_receivers(verifying, op, GROUT_ATTR_MULTICAST);
    check_receivers(verifying, op, GROUT_ATTR_COLLECTIVE_AXES);
}
