/* expansion.c - arrays whose elements of 4 and 6 bits TMA expands: 'packed' in GMEM, 'padded' in
 * SMEM. SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "layout.h"

#include <inttypes.h>

/* Units of 16 elements: TMA makes rows of 128 of them in SMEM, in the swizzle of 128 bytes, and
 * reads whole rows of the array (CUDA Driver API, cuTensorMapEncodeTiled: 16U4_ALIGN16B,
 * 16U6_ALIGN16B).
 */
bool grout_bind__expansion(grout_binding *binding, const grout_object *object,
                           const grout_layout_spec *spec) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)object->type.dtype);
    const grout_value_text name =
        grout_value__get_text(binding->module, object->value, "the array");
    const char *word = object->is_padded ? "padded" : "packed";
    if (!grout_object__is_expanded(object)) {
        return true;
    }
    if (info->class_ != GROUT_CLASS_FLOAT || info->bits >= 8) {
        grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                              "%s is '%s', which is of floats of 4 and 6 bits, and has elements "
                              "of %s",
                              name.chars, word, info->text);
        grout_diags_help(binding->diags, "leave '%s' out", word);
        return false;
    }
    const bool is_row =
        spec->tile_rank > 0 && spec->tile[spec->tile_rank - 1] == GROUT_EXPANDED_ROW;
    const bool is_swizzled =
        object->swizzle != 0 && binding->bound->expr_values[object->swizzle].integer == 128;
    if (object->is_padded && (!is_row || !is_swizzled || object->transpose_rank > 0)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_TRANSFORM, object->loc,
                              "%s is padded, and TMA pads rows of %d elements in the swizzle of "
                              "128 bytes",
                              name.chars, GROUT_EXPANDED_ROW);
        grout_diags_help(binding->diags, "write 'padded tile(8, %d) swizzle(128)'",
                         GROUT_EXPANDED_ROW);
        return false;
    }
    if (spec->rank == 0 || spec->dims[spec->rank - 1] % GROUT_EXPANDED_ROW != 0) {
        grout_binding__report(binding, GROUT_DIAG_BAD_DIMENSION, object->loc,
                              "a row of %s has %" PRId64
                              " elements, and one that TMA expands has multiples of %d",
                              name.chars, spec->rank == 0 ? INT64_C(1) : spec->dims[spec->rank - 1],
                              GROUT_EXPANDED_ROW);
        grout_diags_help(binding->diags, "pad the rows with zeros to %d", GROUT_EXPANDED_ROW);
        return false;
    }
    return true;
}
