/* wgmma_accumulator.c - accumulators: their shapes, slices of their columns, their registers.
 * SPDX-License-Identifier: Apache-2.0 */
#include "wgmma.h"

#include "type.h"

#include <inttypes.h>

/* Bytes of one register in all lanes of a thread. */
#define REGISTER_BYTES 512

static void help(grout_diags *diags, const char *text) {
    if (diags != NULL) {
        grout_diags_help(diags, "%s", text);
    }
}

bool grout_wgmma__check_accumulator(const grout_module *module, grout_object_id id,
                                    grout_diags *diags) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_type *type = grout_object_get_type(module, id);
    grout_value_text name = grout_value__get_text(module, object->value, "the accumulator");
    if (type->dtype != GROUT_DTYPE_F32 && type->dtype != GROUT_DTYPE_F16 &&
        type->dtype != GROUT_DTYPE_I32) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_ACCUMULATOR, object->loc,
                             "%s is an accumulator of %s: the tensor core adds up in "
                             "f32, f16 or i32",
                             name.chars, grout_dtype_get_info((grout_dtype)type->dtype)->text);
        help(diags, grout_dtype_get_info((grout_dtype)type->dtype)->class_ == GROUT_CLASS_FLOAT
                        ? "accumulate in f32, and cast what is loaded from it"
                        : "accumulate in i32, and cast what is loaded from it");
        return false;
    }
    if (object->tile_rank > 0 || object->transpose_rank > 0 || object->swizzle != 0) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_ACCUMULATOR, object->loc,
                             "%s is an accumulator with a tile, swizzle or transpose: "
                             "it lies in registers",
                             name.chars);
        help(diags, "omit them");
        return false;
    }
    if (type->rank != 2 || type->dims[0] % GROUT_WGMMA_ROWS != 0 ||
        type->dims[1] % GROUT_WGMMA_COLUMN_STEP != 0) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_ACCUMULATOR, object->loc,
                             "%s is an accumulator of shape %s: it has to be [M, N] "
                             "with M a multiple of %d and N one of %d",
                             name.chars, grout_type__get_shape_text(type).chars, GROUT_WGMMA_ROWS,
                             GROUT_WGMMA_COLUMN_STEP);
        help(diags, type->rank != 2 ? "declare one accumulator for each matrix"
                                    : "pad the tile: rows and columns that TMA fills with zeros do "
                                      "no harm");
        return false;
    }
    return true;
}

/* A slice of the columns: a constant one, of whole groups of 8. */
static bool check_columns(const grout_module *module, const grout_operand *operand,
                          const grout_view *view, grout_diags *diags) {
    grout_value_text name = grout_value__get_text(module, view->base, "the accumulator");
    if (view->start_term_count[1] > 0) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_ACCUMULATOR, operand->loc,
                             "this slice of %s starts where only the run tells: "
                             "registers have no address to compute",
                             name.chars);
        help(diags, "use constants, and one operation for each slice");
        return false;
    }
    if (view->start_const[1] % GROUT_WGMMA_COLUMN_STEP != 0 ||
        view->extent[1] % GROUT_WGMMA_COLUMN_STEP != 0) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_ACCUMULATOR, operand->loc,
                             "this slice of %s takes %" PRId64 " columns from %" PRId64
                             " on: both have to be multiples of %d",
                             name.chars, view->extent[1], view->start_const[1],
                             GROUT_WGMMA_COLUMN_STEP);
        help(diags, "take whole groups of 8 columns, and of the array that is loaded what is "
                    "needed");
        return false;
    }
    return true;
}

bool grout_wgmma__find_columns(const grout_module *module, const grout_operand *operand,
                               grout_diags *diags, int64_t *column_out) {
    grout_view view;
    if (!grout_module_get_view(module, operand, &view)) {
        return false;
    }
    grout_value_text name = grout_value__get_text(module, view.base, "the accumulator");
    const grout_type *type = grout_object_get_type(module, view.object);
    if (view.rank != 2 || view.view_rank != 2 || view.view_dim[0] != 0 ||
        view.extent[0] != type->dims[0]) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_ACCUMULATOR, operand->loc,
                             "of %s, %s, only columns can be sliced: its rows are "
                             "spread over the lanes of the thread",
                             name.chars, grout_type__get_text(type).chars);
        help(diags, "write %acc[:, ds(start, size)], or load it and work on the array");
        return false;
    }
    *column_out = view.start_const[1];
    return check_columns(module, operand, &view, diags);
}

int64_t grout_wgmma__count_registers(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    int64_t bytes = grout_dtype_get_info((grout_dtype)type->dtype)->bytes;
    return grout_type_get_count(type) * bytes / REGISTER_BYTES;
}
