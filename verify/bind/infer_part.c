/* infer_part.c - operations that take elements of arrays as they are, to another place or shape:
 * slice, reshape, concatenate.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>

/* ---- slice ----------------------------------------------------------------------------------- */

static int64_t get_integer(const grout_binding *binding, grout_expr_id expr) {
    return binding->bound->expr_values[expr].integer;
}

/* One index of a box: its dimension goes to the result, or away. */
static bool take_index(grout_binding *binding, const grout_op *op, const grout_index *index,
                       int64_t extent, grout_type *type) {
    if (index->kind == GROUT_INDEX_ALL) {
        type->dims[type->rank++] = extent;
        return true;
    }
    const grout_loc_id loc = grout_module_get_expr(binding->module, index->start.id)->loc;
    const int64_t start = get_integer(binding, index->start.id);
    const int64_t size = index->kind == GROUT_INDEX_SLICE ? get_integer(binding, index->size) : 1;
    binding->bound->expr_dtypes[index->start.id] = GROUT_DTYPE_I32;
    if (size < 1) {
        return grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, grout_module_get_expr(binding->module, index->size)->loc,
            "a slice of %" PRId64 " elements: the size has to be at least 1", size);
    }
    if (start < 0 || start >= extent || size > extent - start) {
        grout_binding__report(binding, GROUT_DIAG_BAD_INDEX, loc,
                              "elements %" PRId64 " to %" PRId64 " of a dimension of %s, which has "
                              "%" PRId64,
                              start, start + size - 1,
                              grout_infer__get_operand_text(binding, op, 0).chars, extent);
        grout_diags_help(binding->diags, "indices of an array value are 0 to %" PRId64, extent - 1);
        return false;
    }
    if (index->kind == GROUT_INDEX_SLICE) {
        type->dims[type->rank++] = size;
    }
    return true;
}

bool grout_infer__slice(grout_binding *binding, const grout_op *op, const grout_type *types,
                        grout_type *type) {
    const grout_type from = grout_infer__get_array(binding, op, 0, types[0]);
    const grout_ref_step *box = grout_module_get_box(binding->module, op);
    if (from.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (box->count > from.rank) {
        return grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, box->loc,
            "%d indices for the %d dimensions of %s, which is %s", box->count, from.rank,
            grout_infer__get_operand_text(binding, op, 0).chars, grout_type__get_text(&from).chars);
    }
    *type = (grout_type){.dtype = from.dtype};
    for (uint32_t dim = 0; dim < from.rank; dim++) {
        static const grout_index all = {.kind = GROUT_INDEX_ALL};
        const grout_index *index =
            dim < box->count ? grout_module_get_index(binding->module, box, dim) : &all;
        if (!take_index(binding, op, index, from.dims[dim], type)) {
            return false;
        }
    }
    type->kind = type->rank == 0 ? GROUT_TYPE_SCALAR : GROUT_TYPE_ARRAY;
    return true;
}

/* ---- reshape --------------------------------------------------------------------------------- */

bool grout_infer__reshape(grout_binding *binding, const grout_op *op, const grout_type *types,
                          grout_type *type) {
    const grout_type from = grout_infer__get_array(binding, op, 0, types[0]);
    *type = grout_infer__get_written(binding, op);
    if (from.kind == GROUT_TYPE_NONE || type->kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (type->kind != GROUT_TYPE_ARRAY) {
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                              "'reshape' makes an array, and %s is a scalar type",
                              grout_type__get_text(type).chars);
        grout_diags_help(binding->diags, "slice with an index for each dimension gives a scalar");
        return false;
    }
    if (from.dtype != type->dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, op->loc,
                              "a reshape from %s to %s: it keeps the element type",
                              grout_type__get_text(&from).chars, grout_type__get_text(type).chars);
        grout_diags_help(binding->diags, "cast before it, or after it");
        return false;
    }
    if (grout_type_get_count(&from) != grout_type_get_count(type)) {
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                              "a reshape from shape %s, of %" PRId64
                              " elements, to %s, of %" PRId64,
                              grout_type__get_shape_text(&from).chars, grout_type_get_count(&from),
                              grout_type__get_shape_text(type).chars, grout_type_get_count(type));
        grout_diags_help(binding->diags, "it keeps every element: slice takes some of them, "
                                         "broadcast repeats them");
        return false;
    }
    return true;
}

/* ---- transpose ------------------------------------------------------------------------------- */

/* Whether dims, as an attribute has them, take each of the dimensions once. */
static bool is_permutation(uint32_t dims, uint32_t rank) {
    uint32_t seen = 0, count = 0;
    for (; dims != 0; dims >>= 4, count++) {
        seen |= 1u << ((dims & 15u) - 1);
    }
    return count == rank && seen == (1u << rank) - 1;
}

bool grout_infer__transpose(grout_binding *binding, const grout_op *op, const grout_type *types,
                            grout_type *type) {
    const grout_attr_value *attr = grout_module_find_attr(binding->module, op, GROUT_ATTR_PERM);
    const grout_type from = grout_infer__get_array(binding, op, 0, types[0]);
    if (from.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (attr == NULL || !is_permutation(attr->dims, from.rank)) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_ATTRIBUTE, attr == NULL ? op->loc : attr->loc,
            "'%s' needs perm(..) with each of the dimensions 0 to %d of %s once, which is %s",
            grout_infer__get_mnemonic(op), from.rank - 1,
            grout_infer__get_operand_text(binding, op, 0).chars, grout_type__get_text(&from).chars);
        grout_diags_help(binding->diags, "perm(1, 0) exchanges rows and columns");
        return false;
    }
    *type = from;
    for (uint32_t k = 0; k < from.rank; k++) {
        type->dims[k] = from.dims[(attr->dims >> (4 * k) & 15u) - 1];
    }
    return true;
}

/* ---- concatenate ----------------------------------------------------------------------------- */

static bool report_dim(grout_binding *binding, const grout_op *op, const grout_attr_value *attr,
                       const grout_type *first) {
    if (attr == NULL) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, op->loc,
                              "'%s' needs dim(d), the dimension along which the arrays follow each "
                              "other",
                              grout_infer__get_mnemonic(op));
        grout_diags_help(binding->diags, "write dim(0) to put rows after rows");
        return false;
    }
    return grout_binding__report(
        binding, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
        "dim(%" PRId64 "): %s is %s, which has %d dimension%s", get_integer(binding, attr->expr),
        grout_infer__get_operand_text(binding, op, 0).chars, grout_type__get_text(first).chars,
        first->rank, first->rank == 1 ? "" : "s");
}

/* One more array after those whose type is known so far. */
static bool append(grout_binding *binding, const grout_op *op, uint32_t index, int64_t dim,
                   grout_type *type) {
    const grout_type next =
        grout_infer__get_array(binding, op, index, grout_infer__get_value(binding, op, index));
    if (next.kind == GROUT_TYPE_NONE) {
        return false;
    }
    bool fits = next.rank == type->rank && next.dtype == type->dtype;
    for (uint32_t k = 0; fits && k < next.rank; k++) {
        fits = k == dim || next.dims[k] == type->dims[k];
    }
    if (!fits) {
        grout_binding__report(
            binding,
            next.dtype == type->dtype ? GROUT_DIAG_SHAPE_MISMATCH : GROUT_DIAG_TYPE_MISMATCH,
            grout_infer__get_operand(binding, op, index)->loc,
            "%s is %s, and cannot follow %s along dimension %" PRId64,
            grout_infer__get_operand_text(binding, op, index).chars,
            grout_type__get_text(&next).chars, grout_type__get_text(type).chars, dim);
        grout_diags_help(binding->diags,
                         "element type and all other dimensions have to be the same");
        return false;
    }
    type->dims[dim] += next.dims[dim];
    return true;
}

bool grout_infer__concatenate(grout_binding *binding, const grout_op *op, grout_type *type) {
    const grout_attr_value *attr = grout_module_find_attr(binding->module, op, GROUT_ATTR_DIM);
    const int64_t dim = grout_op_get_attr_integer(binding->module, op, GROUT_ATTR_DIM, 0);
    grout_type whole =
        grout_infer__get_array(binding, op, 0, grout_infer__get_value(binding, op, 0));
    if (whole.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (attr == NULL || dim < 0 || dim >= whole.rank) {
        return report_dim(binding, op, attr, &whole);
    }
    for (uint32_t k = 1; k < op->operand_count; k++) {
        if (!append(binding, op, k, dim, &whole)) {
            return false;
        }
    }
    return grout_infer__make_register(binding, op, &whole, (grout_dtype)whole.dtype, type);
}
