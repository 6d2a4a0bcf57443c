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

enum { LANES = 128, COLUMN_BITS = 32, SCALE_ROWS_MAX = 256 };

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

/* Whether another operation than a load or a store writes it: its elements lie as the tensor core
 * wants them beside an operand. */
static bool is_table(const grout_object *object) {
    return object->is_scales || object->is_metadata;
}

/* Elements in a column of 32 bits of one lane; of a table of scales or metadata, those that a copy
 * brings to 4 columns. */
static uint32_t get_packing(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    const grout_object *object = grout_module_get_object(module, id);
    return object->is_scales     ? GROUT_TMEM_SCALES_STEP
           : object->is_metadata ? GROUT_TMEM_METADATA_STEP
           : object->is_packed   ? COLUMN_BITS / get_bits(type)
                                 : 1;
}

int64_t grout_tmem__count_scale_blocks(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    return grout_module_get_object(module, id)->is_split ? 1 : type->dims[type->rank - 2] / LANES;
}

/* Scales take each of the four quarters of the lanes, with the same bytes: 32 rows and 4 columns of
 * them are a column. Each half of the rows of split ones takes two quarters. */
int64_t grout_tmem__count_columns(const grout_module *module, grout_object_id id) {
    const grout_type *type = grout_object_get_type(module, id);
    const grout_object *object = grout_module_get_object(module, id);
    if (object->is_scales) {
        const int64_t rows = type->dims[type->rank - 2];
        return grout_type_get_count(type) / rows * grout_tmem__count_scale_blocks(module, id);
    }
    const int64_t packing =
        object->is_metadata ? COLUMN_BITS / get_bits(type) : get_packing(module, id);
    const int64_t cells = grout_type_get_count(type) / packing;
    return (cells + LANES - 1) / LANES;
}

bool grout_tmem__fills_cells(const grout_module *module, grout_object_id id) {
    return is_table(grout_module_get_object(module, id)) ||
           get_packing(module, id) * get_bits(grout_object_get_type(module, id)) == COLUMN_BITS;
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool check_dtype(const grout_module *module, const grout_object *object,
                        const grout_type *type, grout_diags *diags) {
    const grout_dtype_info *info = grout_dtype_get_info((grout_dtype)type->dtype);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    if ((info->bits != 8 && info->bits != 16 && info->bits != COLUMN_BITS) ||
        info->class_ == GROUT_CLASS_BOOL) {
        grout_module__refuse(
            module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
            "%s has elements of type %s: tensor memory takes numbers of 8, 16 and 32 bits",
            name.chars, info->text);
        return help(diags, "keep it in smem, or cast it");
    }
    if (object->is_packed && info->bits == COLUMN_BITS) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s is packed, and an element of %s fills a column of 32 bits",
                             name.chars, info->text);
        return help(diags, "leave 'packed' out");
    }
    if (!object->is_packed && info->bits == 8) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s has elements of 8 bits, which lie four in a column of 32 bits",
                             name.chars);
        return help(diags, "write 'packed' after the type");
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
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s has %" PRId64 " columns: %" PRId64
                             " elements of a row share a column of 32 bits, "
                             "or lie beside each other in %" PRId64 " rows",
                             name.chars, columns, whole, rows);
        return help(diags, "round the columns up: what nobody reads does no harm");
    }
    if (type->rank > 2 && columns / whole % GROUT_TMEM_START_STEP != 0) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "each slot of %s takes %" PRId64
                             " columns of 32 bits, and has to take a multiple "
                             "of %d",
                             name.chars, columns / whole, GROUT_TMEM_START_STEP);
        return help(diags, "make the slots wider, or declare one array for each");
    }
    return true;
}

/* Scales: whole groups of 128 rows and 4 columns, which one copy brings. */
static bool check_scales(const grout_module *module, const grout_object *object,
                         const grout_type *type, grout_diags *diags) {
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    const int64_t rows = type->dims[type->rank - 2], columns = type->dims[type->rank - 1];
    if (type->dtype != GROUT_DTYPE_F8E8M0 && type->dtype != GROUT_DTYPE_F8E4M3) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s has scales of type %s: a block has one of f8e8m0 or "
                             "f8e4m3",
                             name.chars, grout_dtype_get_info((grout_dtype)type->dtype)->text);
        return help(diags, "f8e8m0 are powers of two; f8e4m3 scale blocks of 16 f4e2m1");
    }
    if (rows % LANES != 0 || rows > SCALE_ROWS_MAX) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s has scales of %" PRId64
                             " rows: they come in blocks of %d rows, and a product has "
                             "%d or %d",
                             name.chars, rows, LANES, LANES, SCALE_ROWS_MAX);
        return help(diags, "round the rows up: those from N on do not count");
    }
    if (object->is_split && (rows != SCALE_ROWS_MAX || !object->is_collective)) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s is split_scales%s of %" PRId64
                             " rows: those are the scales of b of a pair of CTAs "
                             "with 64 rows each, and have 128 rows for each half of N",
                             name.chars, object->is_collective ? "" : " of one CTA,", rows);
        return help(diags,
                    "declare it [256, K / B] split_scales collective; with 128 rows of a, or "
                    "for one CTA, they are 'scales'");
    }
    if (columns % GROUT_TMEM_SCALES_STEP != 0) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s has %" PRId64 " scales in a row: they come four at a time",
                             name.chars, columns);
        return help(diags, "take a K that is a multiple of four blocks");
    }
    return true;
}

/* Metadata: the codes of 128 rows, and of 128 neighbours along K, which one copy brings. */
static bool check_metadata(const grout_module *module, const grout_object *object,
                           const grout_type *type, grout_diags *diags) {
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    const int64_t rows = type->dims[type->rank - 2], columns = type->dims[type->rank - 1];
    if (type->dtype == GROUT_DTYPE_U16 && rows == LANES &&
        columns % GROUT_TMEM_METADATA_STEP == 0) {
        return true;
    }
    grout_module__refuse(
        module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
        "%s is %s, and metadata is u16[%d, K / 16], with a K that is a multiple of %d, of f32 "
        "u16[%d, K / 8] and %d",
        name.chars, grout_type__get_text(type).chars, LANES, 16 * GROUT_TMEM_METADATA_STEP, LANES,
        8 * GROUT_TMEM_METADATA_STEP);
    return help(diags, "a word has the codes of 16 neighbours along K, 4 bits for each four of "
                       "them");
}

bool grout_tmem__check_object(const grout_module *module, grout_object_id id, grout_diags *diags) {
    const grout_object *object = grout_module_get_object(module, id);
    const grout_type *type = grout_object_get_type(module, id);
    const grout_value_text name = grout_value__get_text(module, object->value, "the array");
    if (type->rank < 2) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s, %s, has no rows and columns", name.chars,
                             grout_type__get_text(type).chars);
        return help(diags, "tensor memory holds matrices: declare it [128, N] or [64, N]");
    }
    if (is_table(object)) {
        return object->is_scales ? check_scales(module, object, type, diags)
                                 : check_metadata(module, object, type, diags);
    }
    const int64_t rows = type->dims[type->rank - 2];
    if (rows != LANES && rows != LANES / 2) {
        grout_module__refuse(module, diags, GROUT_DIAG_BAD_TMEM, object->loc,
                             "%s has %" PRId64
                             " rows, and tensor memory has %d lanes: an array takes %d or %d",
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
    grout_module__refuse(
        module, diags, GROUT_DIAG_BAD_TMEM, operand->loc,
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
        grout_module__refuse(
            module, diags, GROUT_DIAG_BAD_TMEM, operand->loc,
            "this slice of %s takes %" PRId64 " columns, and start and size have to be multiples "
            "of %" PRId64 ": that many %s",
            name.chars, view.extent[column], packing,
            is_table(grout_module_get_object(module, view.object)) ? "one copy brings"
                                                                   : "lie in a column of 32 bits");
        return help(diags, "take whole columns of 32 bits");
    }
    if (type->dims[column - 1] == LANES / 2 &&
        !is_in_half(&start, view.extent[column], type->dims[column])) {
        grout_module__refuse(
            module, diags, GROUT_DIAG_BAD_TMEM, operand->loc,
            "this slice of %s, which has 64 rows, may lie in both halves of its %" PRId64
            " columns: these are in different lanes",
            name.chars, type->dims[column]);
        return help(diags, "take columns of one half, or all of them");
    }
    return true;
}
