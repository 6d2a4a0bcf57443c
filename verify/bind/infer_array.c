/* infer_array.c - operations whose result has another shape than their operand, or another layout:
 * broadcast, iota, reductions, layout_cast.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>
#include <stdio.h>

/* The attribute dim(d), or NULL. */
static const grout_attr_value *find_dim(const grout_binding *binding, const grout_op *op) {
    return grout_module_find_attr(binding->module, op, GROUT_ATTR_DIM);
}

static int64_t get_dim(const grout_binding *binding, const grout_op *op, int64_t fallback) {
    return grout_op_get_attr_integer(binding->module, op, GROUT_ATTR_DIM, fallback);
}

/* ---- broadcast ------------------------------------------------------------------------------- */

/* Whether the dimensions of an array stretch to those of the result from dimension first on. */
static bool can_stretch(const grout_type *from, const grout_type *to, int64_t first) {
    for (uint32_t k = 0; k < from->rank; k++) {
        if (from->dims[k] != 1 && from->dims[k] != to->dims[first + k]) {
            return false;
        }
    }
    return true;
}

static bool report_shapes(grout_binding *binding, const grout_op *op, const grout_type *from,
                          const grout_type *to) {
    const grout_attr_value *dim = find_dim(binding, op);
    int64_t last = (int64_t)to->rank - from->rank;
    char place[48] = "the last dimension";
    if (dim != NULL) {
        snprintf(place, sizeof place, "dimension %" PRId64, get_dim(binding, op, 0));
    }
    grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, dim == NULL ? op->loc : dim->loc,
                          "shape %s does not broadcast to %s: from %s on, each has to be equal or "
                          "1",
                          grout_type__get_shape_text(from).chars,
                          grout_type__get_shape_text(to).chars, place);
    for (int64_t first = 0; first <= last; first++) {
        if (can_stretch(from, to, first)) {
            grout_diags_help(binding->diags,
                             "dim(%" PRId64 ") maps it to dimension %" PRId64 " of the result%s",
                             first, first, from->rank > 1 ? " and those after it" : "");
            break;
        }
    }
    return false;
}

/* The dimension of the result that the first one of the array becomes; false after a report. */
static bool get_first_dim(grout_binding *binding, const grout_op *op, const grout_type *from,
                          const grout_type *to, int64_t *first_out) {
    const grout_attr_value *dim = find_dim(binding, op);
    int64_t last = (int64_t)to->rank - from->rank;
    *first_out = get_dim(binding, op, last);
    if (dim != NULL && from->rank == 0) {
        return grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, dim->loc,
                                     "dim(%" PRId64 ") says where dimensions go, and %s has none",
                                     *first_out,
                                     grout_infer__get_operand_text(binding, op, 0).chars);
    }
    if (last < 0) {
        return report_shapes(binding, op, from, to);
    }
    if (dim != NULL && (*first_out < 0 || *first_out > last)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, dim->loc,
                              "dim(%" PRId64 "): shape %s fits into %s from dimension %s%" PRId64
                              " on only",
                              *first_out, grout_type__get_shape_text(from).chars,
                              grout_type__get_shape_text(to).chars, last == 0 ? "" : "0 to ", last);
        return false;
    }
    return true;
}

/* Whether it fits from another dimension on, too, where it would mean something else: one row for
 * all, or one column. What has sizes of 1 alone is the same everywhere. */
static bool is_ambiguous(const grout_type *from, const grout_type *to, int64_t first,
                         int64_t *other_out) {
    bool has_extent = false;
    for (uint32_t k = 0; k < from->rank; k++) {
        has_extent = has_extent || from->dims[k] != 1;
    }
    *other_out = 0;
    while (*other_out < first && !can_stretch(from, to, *other_out)) {
        ++*other_out;
    }
    return has_extent && *other_out < first;
}

static bool report_ambiguous(grout_binding *binding, const grout_op *op, const grout_type *from,
                             const grout_type *to, int64_t first, int64_t other) {
    grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                          "shape %s fits into %s from dimension %" PRId64
                          " on and from dimension %" PRId64 " on, and the results differ",
                          grout_type__get_shape_text(from).chars,
                          grout_type__get_shape_text(to).chars, other, first);
    grout_diags_help(binding->diags,
                     "write which: dim(%" PRId64 "), as for a value that a reduction along the "
                     "last dimensions has left, or dim(%" PRId64 ")",
                     other, first);
    return false;
}

bool grout_infer__broadcast(grout_binding *binding, const grout_op *op, const grout_type *types,
                            grout_type *type) {
    grout_type from = types[0];
    int64_t first = 0;
    *type = grout_infer__get_written(binding, op);
    if (type->kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (type->kind != GROUT_TYPE_ARRAY) {
        return grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                                     "'broadcast' makes an array, and %s is a scalar type",
                                     grout_type__get_text(type).chars);
    }
    if (from.dtype != GROUT_DTYPE_NONE && from.dtype != type->dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, op->loc,
                              "a broadcast from %s to %s: it keeps the element type",
                              grout_type__get_text(&from).chars, grout_type__get_text(type).chars);
        grout_diags_help(binding->diags, "cast before it, or after it");
        return false;
    }
    if (!get_first_dim(binding, op, &from, type, &first)) {
        return false;
    }
    if (from.dtype == GROUT_DTYPE_NONE) {
        return grout_infer__set_constant(binding, op, 0, (grout_dtype)type->dtype);
    }
    if (!can_stretch(&from, type, first)) {
        return report_shapes(binding, op, &from, type);
    }
    int64_t other = 0;
    return find_dim(binding, op) != NULL || !is_ambiguous(&from, type, first, &other) ||
           report_ambiguous(binding, op, &from, type, first, other);
}

bool grout_infer__iota(grout_binding *binding, const grout_op *op, grout_type *type) {
    *type = grout_infer__get_written(binding, op);
    if (type->kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (type->kind != GROUT_TYPE_ARRAY || type->rank == 0) {
        return grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                                     "'iota' makes an array, and %s has no dimension",
                                     grout_type__get_text(type).chars);
    }
    return grout_infer__check_rule(binding, op, op->loc, (grout_dtype)type->dtype);
}

/* ---- reductions, layouts --------------------------------------------------------------------- */

grout_type grout_infer__get_array(grout_binding *binding, const grout_op *op, uint32_t index,
                                  grout_type type) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    if (type.kind == GROUT_TYPE_SCALAR) {
        bool is_constant = operand->kind == GROUT_OPERAND_EXPR;
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, operand->loc,
                              "'%s' takes an array, and %s is %s", grout_infer__get_mnemonic(op),
                              grout_infer__get_operand_text(binding, op, index).chars,
                              is_constant ? "a constant" : grout_type__get_text(&type).chars);
        type.kind = GROUT_TYPE_NONE;
    }
    /* Any element has a place, those of storage types too: an 8-bit a of a wgmma is held so. */
    const bool is_layout = grout_op_get_info((grout_opcode)op->opcode)->rule == GROUT_RULE_LAYOUT;
    if (type.kind == GROUT_TYPE_ARRAY && !is_layout &&
        !grout_infer__check_rule(binding, op, op->loc, (grout_dtype)type.dtype)) {
        type.kind = GROUT_TYPE_NONE;
    }
    return type;
}

bool grout_infer__layout(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type) {
    *type = grout_infer__get_array(binding, op, 0, types[0]);
    return type->kind != GROUT_TYPE_NONE;
}

/* The result is like what the product is added to; grout_mma_plan asks whether the three fit. */
bool grout_infer__mma(grout_binding *binding, const grout_op *op, const grout_type *types,
                      grout_type *type) {
    bool ok = true;
    for (uint32_t k = 0; k < 3; k++) {
        ok = grout_infer__get_array(binding, op, k, types[k]).kind != GROUT_TYPE_NONE && ok;
    }
    *type = types[0];
    return ok;
}

/* Without dim(d) all elements become one; with it the result has one dimension less, and is a
 * scalar if none is left. */
bool grout_infer__reduce(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type) {
    const grout_attr_value *attr = find_dim(binding, op);
    grout_type from = grout_infer__get_array(binding, op, 0, types[0]);
    if (from.kind == GROUT_TYPE_NONE) {
        return false;
    }
    *type = (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = from.dtype};
    if (attr == NULL) {
        return true;
    }
    int64_t dim = get_dim(binding, op, 0);
    if (dim < 0 || dim >= from.rank) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                              "dim(%" PRId64 "): %s is %s, which has %d dimension%s", dim,
                              grout_infer__get_operand_text(binding, op, 0).chars,
                              grout_type__get_text(&from).chars, from.rank,
                              from.rank == 1 ? "" : "s");
        return false;
    }
    for (uint32_t k = 0; k < from.rank; k++) {
        if (k != dim) {
            type->dims[type->rank++] = from.dims[k];
        }
    }
    type->kind = type->rank == 0 ? GROUT_TYPE_SCALAR : GROUT_TYPE_ARRAY;
    return true;
}

/* The result is as its operand. An array of one dimension needs no dim(d). */
bool grout_infer__scan(grout_binding *binding, const grout_op *op, const grout_type *types,
                       grout_type *type) {
    const grout_attr_value *attr = find_dim(binding, op);
    const int64_t dim = get_dim(binding, op, 0);
    *type = grout_infer__get_array(binding, op, 0, types[0]);
    if (type->kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (attr == NULL && type->rank != 1) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, op->loc,
                              "'%s' needs dim(d), the dimension that it goes along",
                              grout_infer__get_mnemonic(op));
        grout_diags_help(binding->diags, "write dim(0) to go down the columns");
        return false;
    }
    if (attr != NULL && (dim < 0 || dim >= type->rank)) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                              "dim(%" PRId64 "): %s is %s, which has %d dimension%s", dim,
                              grout_infer__get_operand_text(binding, op, 0).chars,
                              grout_type__get_text(type).chars, type->rank,
                              type->rank == 1 ? "" : "s");
        return false;
    }
    return true;
}
