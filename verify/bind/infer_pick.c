/* infer_pick.c - types of accesses by indices, and of those with a mask.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>

/* ---- operands -------------------------------------------------------------------------------- */

bool grout_infer__check_indices(grout_binding *binding, const grout_op *op, uint32_t index,
                                const grout_type *type) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    if (type->kind == GROUT_TYPE_ARRAY && type->dtype == GROUT_DTYPE_I32) {
        return true;
    }
    grout_binding__report(
        binding, GROUT_DIAG_TYPE_MISMATCH, operand->loc,
        "'%s' takes its indices as an array of i32, and %s is %s", grout_infer__get_mnemonic(op),
        grout_infer__get_operand_text(binding, op, index).chars,
        type->dtype == GROUT_DTYPE_NONE ? "a constant" : grout_type__get_text(type).chars);
    if (type->kind == GROUT_TYPE_ARRAY) {
        grout_diags_help(binding->diags, "cast it: (cast .. : i32)");
    } else {
        grout_diags_help(binding->diags, "index the reference, as in (load %%x[%%i])");
    }
    return false;
}

bool grout_infer__check_mask(grout_binding *binding, const grout_op *op, uint32_t index,
                             const grout_type *type) {
    if (type->kind == GROUT_TYPE_NONE || type->dtype == GROUT_DTYPE_BOOL) {
        return type->kind != GROUT_TYPE_NONE;
    }
    if (type->dtype == GROUT_DTYPE_NONE) {
        return grout_infer__set_constant(binding, op, index, GROUT_DTYPE_BOOL);
    }
    grout_binding__report(
        binding, GROUT_DIAG_TYPE_MISMATCH, grout_infer__get_operand(binding, op, index)->loc,
        "the mask of '%s' is of bools, and %s is %s", grout_infer__get_mnemonic(op),
        grout_infer__get_operand_text(binding, op, index).chars, grout_type__get_text(type).chars);
    grout_diags_help(binding->diags, "compare it, as in (ne .., 0)");
    return false;
}

/* A mask is a scalar, of the shape of what is touched, or (may_be_along) of that of the indices. */
static bool check_mask_shape(grout_binding *binding, const grout_op *op, uint32_t index,
                             const grout_type *mask, const grout_type *shape,
                             const grout_type *indices) {
    if (mask->kind != GROUT_TYPE_ARRAY || grout_type__is_same_shape(mask, shape) ||
        (indices != NULL && grout_type__is_same_shape(mask, indices))) {
        return true;
    }
    const bool is_one_shape = indices == NULL || grout_type__is_same_shape(indices, shape);
    grout_binding__report(
        binding, GROUT_DIAG_SHAPE_MISMATCH, grout_infer__get_operand(binding, op, index)->loc,
        "the mask of '%s' has shape %s, and the elements %s%s%s", grout_infer__get_mnemonic(op),
        grout_type__get_shape_text(mask).chars, grout_type__get_shape_text(shape).chars,
        is_one_shape ? "" : ", the indices ",
        is_one_shape ? "" : grout_type__get_shape_text(indices).chars);
    grout_diags_help(binding->diags, "broadcast it: (broadcast .. : bool%s)",
                     grout_type__get_shape_text(shape).chars);
    return false;
}

/* A value to be written has the element type of the reference and a shape. */
static bool check_value(grout_binding *binding, const grout_op *op, uint32_t index,
                        const grout_type *ref, const grout_type *value, const grout_type *shape) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    if (value->dtype == GROUT_DTYPE_NONE) {
        if (!grout_infer__set_constant(binding, op, index, (grout_dtype)ref->dtype)) {
            return false;
        }
    } else if (value->dtype != ref->dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, operand->loc,
                              "'%s' of %s to %s: the element types differ",
                              grout_infer__get_mnemonic(op), grout_type__get_text(value).chars,
                              grout_type__get_text(ref).chars);
        grout_diags_help(binding->diags, "there are no implicit casts: write (cast .. : %s)",
                         grout_infer__get_dtype_text(ref->dtype));
        return false;
    }
    if (grout_type__is_same_shape(value, shape)) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, operand->loc,
                          "'%s' of %s where %s%s is meant", grout_infer__get_mnemonic(op),
                          value->rank == 0 ? "one element" : grout_type__get_text(value).chars,
                          grout_infer__get_dtype_text(ref->dtype),
                          grout_type__get_shape_text(shape).chars);
    if (value->rank == 0) {
        grout_diags_help(binding->diags, "write (broadcast .. : %s%s)",
                         grout_infer__get_dtype_text(ref->dtype),
                         grout_type__get_shape_text(shape).chars);
    } else {
        grout_diags_help(binding->diags, "it has an element for each that the indices name");
    }
    return false;
}

/* ---- indices --------------------------------------------------------------------------------- */

/* The dimension that the indices count; false after a report. */
static bool find_dim(grout_binding *binding, const grout_op *op, const grout_type *ref,
                     int64_t *dim_out) {
    const grout_attr_value *attr = grout_module_find_attr(binding->module, op, GROUT_ATTR_DIM);
    *dim_out = grout_op_get_attr_integer(binding->module, op, GROUT_ATTR_DIM, 0);
    if (ref->rank == 0) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, grout_infer__get_operand(binding, op, 0)->loc,
            "'%s' takes a reference that has dimensions, and %s is one element",
            grout_infer__get_mnemonic(op), grout_infer__get_operand_text(binding, op, 0).chars);
        grout_diags_help(binding->diags, "leave the dimension that the indices count");
        return false;
    }
    if (attr == NULL && ref->rank > 1) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, op->loc,
                              "'%s' needs dim(d), the dimension of %s that the indices count",
                              grout_infer__get_mnemonic(op),
                              grout_infer__get_operand_text(binding, op, 0).chars);
        grout_diags_help(binding->diags, "write dim(0) to name rows");
        return false;
    }
    if (attr != NULL && (*dim_out < 0 || *dim_out >= ref->rank)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                              "dim(%" PRId64 "): %s is %s, which has %d dimension%s", *dim_out,
                              grout_infer__get_operand_text(binding, op, 0).chars,
                              grout_type__get_text(ref).chars, ref->rank,
                              ref->rank == 1 ? "" : "s");
        return false;
    }
    return true;
}

static uint32_t find_indices(const grout_op *op) {
    return grout_op_find_letter((grout_opcode)op->opcode, 'j');
}

/* Whether indices of the reference's rank have its shape but for one dimension. */
static bool is_beside(const grout_type *ref, const grout_type *indices, int64_t dim) {
    for (uint32_t k = 0; k < ref->rank; k++) {
        if (k != dim && ref->dims[k] != indices->dims[k]) {
            return false;
        }
    }
    return true;
}

/* The shape of what the indices name; false after a report. */
static bool find_shape(grout_binding *binding, const grout_op *op, const grout_type *ref,
                       const grout_type *indices, grout_type *shape) {
    int64_t dim;
    if (!find_dim(binding, op, ref, &dim)) {
        return false;
    }
    *shape = ref->rank == 1 ? *indices : *ref;
    if (ref->rank > 1 && indices->rank == 1) {
        shape->dims[dim] = indices->dims[0];
    } else if (ref->rank > 1 && (indices->rank != ref->rank || !is_beside(ref, indices, dim))) {
        grout_type whole = *ref;
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH,
                              grout_infer__get_operand(binding, op, find_indices(op))->loc,
                              "indices of shape %s along dimension %" PRId64 " of shape %s",
                              grout_type__get_shape_text(indices).chars, dim,
                              grout_type__get_shape_text(&whole).chars);
        grout_diags_help(binding->diags,
                         "one dimension of them names whole slices; else they have the "
                         "reference's shape but for dimension %" PRId64,
                         dim);
        return false;
    } else if (ref->rank > 1) {
        shape->dims[dim] = indices->dims[dim];
    }
    return true;
}

/* ---- rules ----------------------------------------------------------------------------------- */

static bool has_mask(const grout_op *op, uint32_t index) {
    return op->operand_count > index;
}

bool grout_infer__masked_load(grout_binding *binding, const grout_op *op, const grout_type *types,
                              grout_type *type) {
    return check_mask_shape(binding, op, 1, &types[1], &types[0], NULL) &&
           grout_infer__make_register(binding, op, types, (grout_dtype)types[0].dtype, type);
}

bool grout_infer__masked_store(grout_binding *binding, const grout_op *op,
                               const grout_type *types) {
    return check_value(binding, op, 1, &types[0], &types[1], &types[0]) &&
           check_mask_shape(binding, op, 2, &types[2], &types[0], NULL);
}

bool grout_infer__gather(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type) {
    grout_type shape;
    return find_shape(binding, op, &types[0], &types[1], &shape) &&
           (!has_mask(op, 2) || check_mask_shape(binding, op, 2, &types[2], &shape, &types[1])) &&
           grout_infer__make_register(binding, op, &shape, (grout_dtype)types[0].dtype, type);
}

bool grout_infer__scatter(grout_binding *binding, const grout_op *op, const grout_type *types) {
    const bool is_word = grout_op_get_info((grout_opcode)op->opcode)->types == GROUT_TYPES_WORD;
    grout_type shape;
    return (!is_word || grout_infer__check_integers(binding, op, 0, &types[0])) &&
           find_shape(binding, op, &types[0], &types[1], &shape) &&
           check_value(binding, op, 2, &types[0], &types[2], &shape) &&
           (!has_mask(op, 3) || check_mask_shape(binding, op, 3, &types[3], &shape, &types[1]));
}

bool grout_infer__masked_copy(grout_binding *binding, const grout_op *op, const grout_type *types) {
    return check_mask_shape(binding, op, 2, &types[2], &types[0], NULL);
}

/* The destination has the shape of what the indices name. */
static bool check_destination(grout_binding *binding, const grout_op *op, const grout_type *to,
                              const grout_type *shape) {
    if (grout_type__is_same_shape(to, shape)) {
        return true;
    }
    grout_binding__report(
        binding, GROUT_DIAG_SHAPE_MISMATCH, grout_infer__get_operand(binding, op, 1)->loc,
        "'%s' of elements of shape %s, and the destination is %s", grout_infer__get_mnemonic(op),
        grout_type__get_shape_text(shape).chars, grout_type__get_text(to).chars);
    grout_diags_help(binding->diags, "it has an element for each that the indices name");
    return false;
}

bool grout_infer__gather_copy(grout_binding *binding, const grout_op *op, const grout_type *types) {
    grout_type shape;
    return find_shape(binding, op, &types[0], &types[2], &shape) &&
           check_destination(binding, op, &types[1], &shape) &&
           (!has_mask(op, 3) || check_mask_shape(binding, op, 3, &types[3], &shape, &types[2]));
}
