/*
 * tmem.c - arrays in tensor memory: shapes, columns, slices.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A CTA has 128 lanes by 512 columns of 32 bits (PTX ISA 9.1, 'Tensor Memory'). Row r of an array
 * of 128 rows is lane r; of 64 rows the two halves of the columns lie in the 16 lanes beside each
 * other of each 32 (docs/blackwell.md).
 */
#include "tmem.h"

#include "type.h"
#include "view_digits.h"

#include <inttypes.h>
#include <stdarg.h>

enum { LANES = 128, COLUMN_BITS = 32, SLOT_COLUMNS = 4 };

/* Reports what is wrong with an array or a slice, if anybody listens; returns false. */
static bool fail(const grout_module *module, grout_diags *diags, grout_loc_id loc,
                 const char *format, ...) GROUT_PRINTF(4, 5);
static bool fail(const grout_module *module, grout_diags *diags, grout_loc_id loc,
                 const char *format, ...) {
    if (diags != NULL) {
        va_list arguments;
        va_start(arguments, format);
        grout_diags_add_list(diags, GROUT_DIAG_BAD_TMEM, grout_module_get_place(module, loc),
                             format, arguments);
        va_end(arguments);
        grout_module_note_callers(module, loc, diags);
    }
    return false;
}

/* Always false. */
static bool help(grout_diags *diags, const char *text) {
    if (diags != NULL) {
        grout_diags_help(diags, "%s", text);
    }
    return false;
}

static uint32_t get_bits(const grout_type *type) {
    return grout_dtype_get_info((grout_dtype)type->dtype)->bits;
}

/* Elements in a column of 32 bits of one lane. */
static uint32_t get_packing(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    return grout_module_get_object(module, id)->is_packed ? COLUMN_BITS / get_bits(type) : 1;
}

int64_t grout_tmem__count_columns(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    const int64_t cells = grout_type_get_count(type) / get_packing(module, id);
    return (cells + LANES - 1) / LANES;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool check_dtype(const grout_module *module, const grout_object *object,
                        const grout_type *type, grout_diags *diags) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    if ((info->bits != 8 && info->bits != 16 && info->bits != COLUMN_BITS) ||
        info->class_ == GROUT_CLASS_BOOL) {
        fail(module, diags, object->loc,
             "%s has elements of type %s: tensor memory takes numbers of 8, 16 and 32 bits",
             name.chars, info->text);
        return help(diags, "keep it in smem, or cast it");
    }
    if (object->is_packed && info->bits == COLUMN_BITS) {
        fail(module, diags, object->loc,
             "%s is packed, and an element of %s fills a column of 32 bits", name.chars,
             info->text);
        return help(diags, "leave 'packed' out");
    }
    if (!object->is_packed && info->bits == 8) {
        fail(module, diags, object->loc,
             "%s has elements of 8 bits, which lie four in a column of 32 bits", name.chars);
        return help(diags, "write 'packed' behind the type");
    }
    return true;
}

static bool check_columns(const grout_module *module, grout_object_id id, grout_diags *diags) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_type *type = grout_object_get_type(module, id);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    const int64_t rows = type->dims[type->rank - 2], columns = type->dims[type->rank - 1];
    const int64_t whole = (int64_t)get_packing(module, id) * (rows == LANES ? 1 : 2);
    if (columns % whole != 0) {
        fail(module, diags, object->loc,
             "%s has %" PRId64 " columns: %" PRId64 " elements of a row share a column of 32 bits, "
             "or lie beside each other in %" PRId64 " rows",
             name.chars, columns, whole, rows);
        return help(diags, "round the columns up: what nobody reads does no harm");
    }
    if (type->rank > 2 && columns / whole % SLOT_COLUMNS != 0) {
        fail(module, diags, object->loc,
             "each slot of %s takes %" PRId64 " columns of 32 bits, and has to take a multiple "
             "of %d",
             name.chars, columns / whole, SLOT_COLUMNS);
        return help(diags, "make the slots wider, or declare one array for each");
    }
    return true;
}

bool grout_tmem__check_object(const grout_module *module, grout_object_id id, grout_diags *diags) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_type *type = grout_object_get_type(module, id);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    if (type->rank < 2) {
        fail(module, diags, object->loc, "%s, %s, has no rows and columns", name.chars,
             grout_type__get_text(type).chars);
        return help(diags, "tensor memory holds matrices: declare it [128, N] or [64, N]");
    }
    const int64_t rows = type->dims[type->rank - 2];
    if (rows != LANES && rows != LANES / 2) {
        fail(module, diags, object->loc,
             "%s has %" PRId64 " rows, and tensor memory has %d lanes: an array takes %d or %d",
             name.chars, rows, LANES, LANES, LANES / 2);
        return help(diags, "pad the rows to 64 or 128, or keep several arrays");
    }
    return check_dtype(module, object, type, diags) && check_columns(module, id, diags);
}

/* ---- slices ---------------------------------------------------------------------------------- */

static bool check_rows(const grout_module *module, const grout_operand *operand,
                       const grout_view *view, grout_diags *diags) {
    const grout_value_text name = grout_value__get_text(module, view->base, "the array");
    const grout_type *type = grout_object_get_type(module, view->object);
    const uint32_t row = view->rank - 2u;
    if (view->view_rank == 2 && view->view_dim[0] == row && view->view_dim[1] == row + 1 &&
        view->extent[row] == type->dims[row]) {
        return true;
    }
    fail(module, diags, operand->loc,
         "of %s, %s, a matrix with all its rows is taken, and only its columns are sliced: each "
         "warp reaches its own quarter of the lanes",
         name.chars, grout_type__get_text(type).chars);
    return help(diags, view->rank > 2 ? "index the slots in front, and slice the last dimension: "
                                        "%acc[%slot, :, ds(start, size)]"
                                      : "write %acc[:, ds(start, size)], or load it and work on "
                                        "the array");
}

/* Whether columns of an array of 64 rows are those of one half. */
static bool is_in_half(const grout_view_start *start, int64_t extent, int64_t columns) {
    const int64_t half = columns / 2;
    if (extent == columns) {
        return true;
    }
    if (start->divisor == 0) {
        return start->known / half == (start->known + extent - 1) / half;
    }
    return half % extent == 0 && grout_view_start__is_multiple(start, extent);
}

bool grout_tmem__check_slice(const grout_module *module, const grout_operand *operand,
                             grout_diags *diags) {
    grout_view view;
    if (!grout_module_get_view(module, operand, &view) ||
        !check_rows(module, operand, &view, diags)) {
        return false;
    }
    const grout_value_text name = grout_value__get_text(module, view.base, "the array");
    const grout_type *type = grout_object_get_type(module, view.object);
    const uint32_t column = view.rank - 1u;
    const int64_t packing = get_packing(module, view.object);
    const grout_view_start start = grout_view__get_start(module, &view, column);
    if (view.extent[column] % packing != 0 || !grout_view_start__is_multiple(&start, packing)) {
        fail(module, diags, operand->loc,
             "this slice of %s takes %" PRId64 " columns, and start and size have to be multiples "
             "of %" PRId64 ": so many lie in a column of 32 bits",
             name.chars, view.extent[column], packing);
        return help(diags, "take whole columns of 32 bits");
    }
    if (type->dims[column - 1] == LANES / 2 &&
        !is_in_half(&start, view.extent[column], type->dims[column])) {
        fail(module, diags, operand->loc,
             "this slice of %s, which has 64 rows, may lie in both halves of its %" PRId64
             " columns: these are in different lanes",
             name.chars, type->dims[column]);
        return help(diags, "take columns of one half, or all of them");
    }
    return true;
}
