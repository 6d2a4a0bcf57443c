/* infer.c - the result type of every operation without regions, by its RULE and TYPES in ops.def.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "invariant.h"
#include "type.h"

#include "grout-internal/text.h"

#include <inttypes.h>

static void set_result(grout_binding *binding, const grout_op *op, const grout_type *type) {
    grout_infer__set_type(binding, op->first_result, op->parent, type);
}

/* ---- element by element ---------------------------------------------------------------------- */

static void help_cast(grout_binding *binding, const grout_op *op, uint32_t index,
                      grout_dtype dtype) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, index);
    const grout_value *value = operand->kind == GROUT_OPERAND_VALUE
                                   ? grout_module_get_value(binding->module, operand->id)
                                   : NULL;
    bool has_name = value != NULL && value->name != 0;
    grout_diags_help(binding->diags, "there are no implicit casts: write (cast %s%s : %s)",
                     has_name ? "%" : "(..)",
                     has_name ? grout_module_get_string(binding->module, value->name) : "",
                     grout_infer__get_dtype_text(dtype));
}

/* The common shape so far and one more operand: scalars go with everything. */
static bool join_shape(grout_binding *binding, const grout_op *op, uint32_t index,
                       const grout_type *type, grout_type *joined) {
    if (type->kind == GROUT_TYPE_SCALAR) {
        return true;
    }
    if (joined->rank == 0) {
        uint8_t dtype = joined->dtype;
        *joined = *type;
        joined->dtype = dtype;
        return true;
    }
    if (grout_type__is_same_shape(type, joined)) {
        return true;
    }
    grout_binding__report(
        binding, GROUT_DIAG_SHAPE_MISMATCH, grout_infer__get_operand(binding, op, index)->loc,
        "'%s' takes arrays of one shape: %s has shape %s, not %s", grout_infer__get_mnemonic(op),
        grout_infer__get_operand_text(binding, op, index).chars,
        grout_type__get_shape_text(type).chars, grout_type__get_shape_text(joined).chars);
    grout_diags_help(binding->diags, "broadcast the smaller one: (broadcast .. : %s%s)",
                     grout_infer__get_dtype_text(type->dtype),
                     grout_type__get_shape_text(joined).chars);
    return false;
}

/* The one element type of operands first .. count-1: the first that says one. */
static bool join_dtypes(grout_binding *binding, const grout_op *op, uint32_t first,
                        const grout_type *types, grout_dtype *dtype_out) {
    uint32_t said = op->operand_count;
    grout_dtype constants = GROUT_DTYPE_I32;
    for (uint32_t k = first; k < op->operand_count; k++) {
        if (types[k].dtype == GROUT_DTYPE_NONE) {
            grout_dtype dtype =
                grout_infer__get_default(binding, grout_infer__get_operand(binding, op, k));
            constants =
                constants == GROUT_DTYPE_I32 || dtype == GROUT_DTYPE_BOOL ? dtype : constants;
            continue;
        }
        if (said == op->operand_count) {
            said = k;
        } else if (types[k].dtype != types[said].dtype) {
            grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH,
                                  grout_infer__get_operand(binding, op, k)->loc,
                                  "'%s' takes operands of one element type: %s is %s, and %s is %s",
                                  grout_infer__get_mnemonic(op),
                                  grout_infer__get_operand_text(binding, op, said).chars,
                                  grout_infer__get_dtype_text(types[said].dtype),
                                  grout_infer__get_operand_text(binding, op, k).chars,
                                  grout_infer__get_dtype_text(types[k].dtype));
            help_cast(binding, op, k, (grout_dtype)types[said].dtype);
            return false;
        }
    }
    *dtype_out = said < op->operand_count ? (grout_dtype)types[said].dtype : constants;
    return true;
}

/* Operands first to the last: their element type and joined shape. False after a report. */
static bool join_operands(grout_binding *binding, const grout_op *op, uint32_t first,
                          const grout_type *types, grout_type *joined) {
    grout_dtype dtype = GROUT_DTYPE_NONE;
    if (!join_dtypes(binding, op, first, types, &dtype)) {
        return false;
    }
    for (uint32_t k = first; k < op->operand_count; k++) {
        bool is_constant = types[k].dtype == GROUT_DTYPE_NONE;
        if (is_constant && !grout_infer__set_constant(binding, op, k, dtype)) {
            return false;
        }
        if (!join_shape(binding, op, k, &types[k], joined)) {
            return false;
        }
    }
    joined->dtype = (uint8_t)dtype;
    return grout_infer__check_rule(binding, op, op->loc, dtype);
}

/* An operand as it is written in prefix form: "%v", "1.0", or ".." for what has no name. */
static void add_prefix_operand(const grout_binding *binding, const grout_operand *operand,
                               grout_text *out) {
    const grout_module *module = binding->module;
    if (operand->kind == GROUT_OPERAND_EXPR) {
        grout_text_add(out, " ");
        grout_expr_print(module, operand->id, out);
        return;
    }
    const grout_value *value = grout_module_get_value(module, operand->id);
    bool has_name = value->name != 0;
    grout_text_add(out, " %s%s", has_name ? "%" : "..",
                   has_name ? grout_module_get_string(module, value->name) : "");
}

/* The first operand that is a register array, or the number of operands. */
static uint32_t find_array(const grout_binding *binding, const grout_op *op) {
    uint32_t found = op->operand_count;
    for (uint32_t k = op->operand_count; k-- > 0;) {
        const grout_operand *operand = grout_infer__get_operand(binding, op, k);
        if (operand->kind != GROUT_OPERAND_VALUE) {
            continue;
        }
        grout_type_kind kind = (grout_type_kind)binding->bound->value_types[operand->id].kind;
        if (kind == GROUT_TYPE_NONE) {
            return op->operand_count; /* a fault of its own, reported */
        }
        found = kind == GROUT_TYPE_ARRAY ? k : found;
    }
    return found;
}

/* Infix is for scalars, as in indices: on arrays the operation is named. */
static bool check_infix(grout_binding *binding, const grout_op *op) {
    uint32_t index = find_array(binding, op);
    if (index == op->operand_count) {
        return true;
    }
    grout_text prefix = {.allocator = binding->module->allocator};
    for (uint32_t k = 0; k < op->operand_count; k++) {
        grout_text_add(&prefix, "%s", k > 0 ? "," : "");
        add_prefix_operand(binding, grout_infer__get_operand(binding, op, k), &prefix);
    }
    const grout_type *type =
        &binding->bound->value_types[grout_infer__get_operand(binding, op, index)->id];
    grout_binding__report(
        binding, GROUT_DIAG_OPERAND_KIND, op->loc, "infix is for scalars, and %s is %s",
        grout_infer__get_operand_text(binding, op, index).chars, grout_type__get_text(type).chars);
    grout_diags_help(binding->diags, "name the operation: (%s%s)", grout_infer__get_mnemonic(op),
                     prefix.data == NULL ? "" : prefix.data);
    grout_text_free(&prefix);
    return false;
}

static bool infer_joined(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type) {
    *type = (grout_type){.kind = GROUT_TYPE_SCALAR};
    return ((op->flags & GROUT_OP_FLAG_INFIX) == 0 || check_infix(binding, op)) &&
           join_operands(binding, op, 0, types, type);
}

static bool infer_select(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type) {
    const grout_type *condition = &types[0];
    *type = (grout_type){.kind = GROUT_TYPE_SCALAR};
    if (!join_operands(binding, op, 1, types, type)) {
        return false;
    }
    if (condition->dtype == GROUT_DTYPE_NONE) {
        return grout_infer__set_constant(binding, op, 0, GROUT_DTYPE_BOOL);
    }
    if (condition->dtype != GROUT_DTYPE_BOOL) {
        grout_binding__report(
            binding, GROUT_DIAG_TYPE_MISMATCH, grout_infer__get_operand(binding, op, 0)->loc,
            "the condition of a select is bool, not %s", grout_type__get_text(condition).chars);
        grout_diags_help(binding->diags, "compare it, as in (gt .., 0)");
        return false;
    }
    return join_shape(binding, op, 0, condition, type);
}

/* ---- casts ----------------------------------------------------------------------------------- */

static bool infer_cast(grout_binding *binding, const grout_op *op, const grout_type *from,
                       grout_type *type) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, 0);
    grout_type to = grout_infer__get_written(binding, op);
    *type = *from;
    if (to.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (operand->kind == GROUT_OPERAND_EXPR) {
        type->dtype = (uint8_t)grout_infer__get_default(binding, operand);
        if (!grout_infer__set_constant(binding, op, 0, (grout_dtype)type->dtype)) {
            return false;
        }
    }
    if (to.kind == GROUT_TYPE_ARRAY) {
        grout_binding__report(binding, GROUT_DIAG_BAD_CAST, op->loc,
                              "a cast from %s to %s: it changes the element type only",
                              grout_type__get_text(type).chars, grout_type__get_text(&to).chars);
        grout_diags_help(binding->diags, "write ': %s'; shapes are changed by broadcast",
                         grout_infer__get_dtype_text(to.dtype));
        return false;
    }
    type->dtype = to.dtype;
    return true;
}

static bool report_widths(grout_binding *binding, const grout_op *op, grout_dtype before,
                          grout_dtype after) {
    grout_binding__report(binding, GROUT_DIAG_BAD_CAST, op->loc,
                          "'%s' from %s to %s: they have %d and %d bits",
                          grout_infer__get_mnemonic(op), grout_infer__get_dtype_text(before),
                          grout_infer__get_dtype_text(after), grout_dtype_get_info(before)->bits,
                          grout_dtype_get_info(after)->bits);
    grout_diags_help(binding->diags, "cast between integers of both sizes, before it or after it");
    return false;
}

/* A truth value is a byte of which only 0 and 1 mean something. */
static bool infer_bitcast(grout_binding *binding, const grout_op *op, const grout_type *from,
                          grout_type *type) {
    const grout_type to = grout_infer__get_written(binding, op);
    if (to.kind == GROUT_TYPE_ARRAY && from->dtype != GROUT_DTYPE_NONE &&
        grout_dtype_get_info((grout_dtype)from->dtype)->bits !=
            grout_dtype_get_info((grout_dtype)to.dtype)->bits) {
        return report_widths(binding, op, (grout_dtype)from->dtype, (grout_dtype)to.dtype);
    }
    if (!infer_cast(binding, op, from, type)) {
        return false;
    }
    grout_dtype before = (grout_dtype)from->dtype, after = (grout_dtype)type->dtype;
    if (before == GROUT_DTYPE_NONE) {
        before = grout_infer__get_default(binding, grout_infer__get_operand(binding, op, 0));
    }
    if (before == GROUT_DTYPE_BOOL || after == GROUT_DTYPE_BOOL) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_CLASS, op->loc,
                              "'%s' takes the bits of numbers, not of bool",
                              grout_infer__get_mnemonic(op));
        grout_diags_help(binding->diags, "cast a bool to an integer; compare an integer with 0");
        return false;
    }
    if (grout_dtype_get_info(before)->bits == grout_dtype_get_info(after)->bits) {
        return true;
    }
    return report_widths(binding, op, before, after);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A value and where it goes, in either order. */
static bool check_stored(grout_binding *binding, const grout_op *op, const grout_type *types) {
    bool is_first = types[0].kind == GROUT_TYPE_REF;
    uint32_t ref_index = is_first ? 0 : 1, value_index = is_first ? 1 : 0;
    grout_type ref = types[ref_index], value = types[value_index];
    bool is_update = grout_op_get_info((grout_opcode)op->opcode)->update != GROUT_UPDATE_NONE;
    bool is_store = is_first && !is_update;
    const char *what = is_store ? "store" : grout_infer__get_mnemonic(op);
    const char *article = is_store || what[0] != 'a' ? "a" : "an";
    grout_loc_id loc = grout_infer__get_operand(binding, op, value_index)->loc;
    /* Which types a store or an atomic takes where is the verifier's; WORD is a rule of the op. */
    if (grout_op_get_info((grout_opcode)op->opcode)->types == GROUT_TYPES_WORD &&
        !grout_infer__check_integers(binding, op, ref_index, &ref)) {
        return false;
    }
    if (value.dtype == GROUT_DTYPE_NONE) {
        if (!grout_infer__set_constant(binding, op, value_index, (grout_dtype)ref.dtype)) {
            return false;
        }
    } else if (value.dtype != ref.dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, loc,
                              "%s %s of %s to %s: the element types differ", article, what,
                              grout_type__get_text(&value).chars, grout_type__get_text(&ref).chars);
        help_cast(binding, op, value_index, (grout_dtype)ref.dtype);
        return false;
    }
    if (!grout_type__is_same_shape(&ref, &value)) {
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, loc,
                              "%s %s of %s to a reference of shape %s", article, what,
                              value.rank == 0 ? "one element" : grout_type__get_text(&value).chars,
                              grout_type__get_shape_text(&ref).chars);
        if (value.rank == 0) {
            grout_diags_help(binding->diags, "write (broadcast .. : %s%s)",
                             grout_infer__get_dtype_text(ref.dtype),
                             grout_type__get_shape_text(&ref).chars);
        } else {
            grout_diags_help(binding->diags, "slice the reference with ds(start, size)");
        }
        return false;
    }
    return true;
}

static bool check_copied_types(grout_binding *binding, const grout_op *op,
                               const grout_type *types) {
    grout_type from = types[0], to = types[1];
    if (from.dtype != to.dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, op->loc,
                              "'%s' copies bytes as they are: the source is %s, the destination %s",
                              grout_infer__get_mnemonic(op), grout_type__get_text(&from).chars,
                              grout_type__get_text(&to).chars);
        grout_diags_help(binding->diags, "give the SMEM array the type of the gmem array, and cast "
                                         "what is loaded from it or stored to it");
        return false;
    }
    if (from.is_expanded != to.is_expanded) {
        grout_binding__report(
            binding, GROUT_DIAG_TYPE_MISMATCH, op->loc,
            "'%s' takes a 'packed' array to a 'padded' one: the source is %s, the "
            "destination %s",
            grout_infer__get_mnemonic(op), grout_type__get_text(&from).chars,
            grout_type__get_text(&to).chars);
        grout_diags_help(binding->diags, "say both, or neither");
        return false;
    }
    return true;
}

/* The part of its source that one CTA of a pair takes: half of a dimension. */
static bool take_part(grout_binding *binding, const grout_op *op, grout_type *from) {
    const grout_attr_value *attr =
        grout_module_find_attr(binding->module, op, GROUT_ATTR_PARTITIONED);
    const int64_t dim = grout_op_get_attr_integer(binding->module, op, GROUT_ATTR_PARTITIONED, -1);
    if (attr == NULL) {
        return true;
    }
    if (dim < 0 || dim >= from->rank) {
        grout_binding__report(binding, GROUT_DIAG_BAD_ATTRIBUTE, attr->loc,
                              "partitioned(%" PRId64 "): the source is %s", dim,
                              grout_type__get_text(from).chars);
        grout_diags_help(binding->diags, "name a dimension of the source: the outermost is 0");
        return false;
    }
    if (from->dims[dim] % GROUT_PAIR != 0) {
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, attr->loc,
                              "two CTAs divide dimension %" PRId64 " of %s, which has %" PRId64
                              " elements",
                              dim, grout_type__get_text(from).chars, from->dims[dim]);
        grout_diags_help(binding->diags, "take a box with an even number of them");
        return false;
    }
    from->dims[dim] /= GROUT_PAIR;
    return true;
}

static bool check_copy(grout_binding *binding, const grout_op *op, const grout_type *types) {
    grout_type from = types[0], to = types[1];
    if (!check_copied_types(binding, op, types) || !take_part(binding, op, &from)) {
        return false;
    }
    const bool is_part = !grout_type__is_same_shape(&from, &types[0]);
    if (!grout_type__is_same_shape(&from, &to)) {
        grout_binding__report(
            binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
            "'%s' copies a box of one shape: the source is %s%s, the destination %s",
            grout_infer__get_mnemonic(op), grout_type__get_text(&from).chars,
            is_part ? " for each CTA" : "", grout_type__get_text(&to).chars);
        grout_diags_help(binding->diags,
                         is_part ? "the source is the box of both CTAs: 'partitioned' halves it"
                                 : "slice the larger one with ds(start, size)");
        return false;
    }
    return true;
}

/* ---- what takes a text ----------------------------------------------------------------------- */

/* Each operand has a type of its own. */
static bool infer_extern(grout_binding *binding, const grout_op *op, grout_type *type) {
    grout_type to = grout_infer__get_written(binding, op);
    *type = (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = to.dtype};
    if (to.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (to.kind == GROUT_TYPE_ARRAY) {
        grout_binding__report(binding, GROUT_DIAG_BAD_CAST, op->loc,
                              "'%s' has the shape of its operands, and an element type is written",
                              grout_infer__get_mnemonic(op));
        grout_diags_help(binding->diags, "write ': %s'", grout_infer__get_dtype_text(to.dtype));
        return false;
    }
    for (uint32_t k = grout_op_count_texts(op); k < op->operand_count; k++) {
        const grout_operand *operand = grout_infer__get_operand(binding, op, k);
        const grout_type from = grout_infer__get_value(binding, op, k);
        if (operand->kind == GROUT_OPERAND_EXPR) {
            if (!grout_infer__set_constant(binding, op, k,
                                           grout_infer__get_default(binding, operand))) {
                return false;
            }
        } else if (from.kind == GROUT_TYPE_NONE || !join_shape(binding, op, k, &from, type)) {
            return false;
        }
    }
    return true;
}

static void check_printed(grout_binding *binding, const grout_op *op, uint32_t k) {
    const grout_operand *operand = grout_infer__get_operand(binding, op, k);
    grout_type type = grout_infer__get_value(binding, op, k);
    if (operand->kind == GROUT_OPERAND_EXPR) {
        grout_infer__set_constant(binding, op, k, grout_infer__get_default(binding, operand));
    } else if (type.kind != GROUT_TYPE_NONE) {
        grout_infer__check_rule(binding, op, operand->loc, (grout_dtype)type.dtype);
    }
}

static void check_print(grout_binding *binding, const grout_op *op) {
    for (uint32_t k = 1; k < op->operand_count; k++) {
        check_printed(binding, op, k);
    }
}

/* Whether an operand names an object, and is no value. */
static bool is_reference(const grout_binding *binding, const grout_operand *operand) {
    grout_view view;
    return operand->kind == GROUT_OPERAND_REF ||
           (operand->kind == GROUT_OPERAND_VALUE &&
            grout_view__resolve(binding->module, operand, &view).fault != GROUT_VIEW_NO_REFERENCE);
}

/* Values have register layouts and smem arrays have bytes; nothing else has a layout to say. */
static void check_print_layout(grout_binding *binding, const grout_op *op) {
    for (uint32_t k = 1; k < op->operand_count; k++) {
        const grout_operand *operand = grout_infer__get_operand(binding, op, k);
        if (!is_reference(binding, operand)) {
            check_printed(binding, op, k);
            continue;
        }
        const grout_type type = grout_infer__get_reference(binding, op, k, GROUT_TYPE_REF);
        if (type.kind != GROUT_TYPE_NONE && type.space != GROUT_SPACE_SMEM) {
            grout_binding__report(binding, GROUT_DIAG_BAD_SPACE, operand->loc,
                                  "'%s' says the layout of values and of arrays in smem, and %s is "
                                  "%s",
                                  grout_infer__get_mnemonic(op),
                                  grout_infer__get_operand_text(binding, op, k).chars,
                                  grout_type__get_text(&type).chars);
            grout_diags_help(binding->diags, "load it, and give the value");
        }
    }
}

/* The type of the result by the rules that give it another shape, or layout. */
static bool infer_shape(grout_binding *binding, const grout_op *op, const grout_type *types,
                        grout_type *type) {
    switch (grout_op_get_info((grout_opcode)op->opcode)->rule) {
    case GROUT_RULE_BROADCAST:
        return grout_infer__broadcast(binding, op, types, type);
    case GROUT_RULE_IOTA:
        return grout_infer__iota(binding, op, type);
    case GROUT_RULE_SLICE:
        return grout_infer__slice(binding, op, types, type);
    case GROUT_RULE_RESHAPE:
        return grout_infer__reshape(binding, op, types, type);
    case GROUT_RULE_CONCATENATE:
        return grout_infer__concatenate(binding, op, type);
    case GROUT_RULE_TRANSPOSE:
        return grout_infer__transpose(binding, op, types, type);
    case GROUT_RULE_LAYOUT:
        return grout_infer__layout(binding, op, types, type);
    case GROUT_RULE_REDUCE:
        return grout_infer__reduce(binding, op, types, type);
    case GROUT_RULE_SCAN:
        return grout_infer__scan(binding, op, types, type);
    default:
        GROUT_UNREACHABLE();
        return false;
    }
}

/* The type of the result by the rules of accesses to memory. */
static bool infer_access(grout_binding *binding, const grout_op *op, const grout_type *types,
                         grout_type *type) {
    switch (grout_op_get_info((grout_opcode)op->opcode)->rule) {
    case GROUT_RULE_LOAD:
        return grout_infer__make_register(binding, op, types, (grout_dtype)types[0].dtype, type);
    case GROUT_RULE_STORE:
        return check_stored(binding, op, types);
    case GROUT_RULE_COPY:
        return check_copy(binding, op, types);
    case GROUT_RULE_IM2COL:
        return grout_infer__im2col(binding, op, types);
    case GROUT_RULE_ROWS:
        return check_copied_types(binding, op, types) && grout_infer__rows(binding, op, types);
    case GROUT_RULE_MASKED_LOAD:
        return grout_infer__masked_load(binding, op, types, type);
    case GROUT_RULE_MASKED_STORE:
        return grout_infer__masked_store(binding, op, types);
    case GROUT_RULE_GATHER:
        return grout_infer__gather(binding, op, types, type);
    case GROUT_RULE_SCATTER:
        return grout_infer__scatter(binding, op, types);
    case GROUT_RULE_MASKED_COPY:
        return check_copy(binding, op, types) && grout_infer__masked_copy(binding, op, types);
    case GROUT_RULE_GATHER_COPY:
        return check_copied_types(binding, op, types) &&
               grout_infer__gather_copy(binding, op, types);
    case GROUT_RULE_FETCH:
        return grout_infer__fetch(binding, op, types, type);
    default:
        GROUT_UNREACHABLE();
        return false;
    }
}

/* The type of the result, from those of the operands; false after a report. Operations without one
 * are checked only. */
/* NOLINTNEXTLINE(readability-function-size): one short case for each rule */
static bool infer_by_rule(grout_binding *binding, const grout_op *op, const grout_type *types,
                          grout_type *type) {
    *type = (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = GROUT_DTYPE_NONE};
    switch ((grout_rule)grout_op_get_info((grout_opcode)op->opcode)->rule) {
    case GROUT_RULE_TRUTH:
        type->dtype = GROUT_DTYPE_BOOL;
        return true;
    case GROUT_RULE_INTEGER:
        type->dtype = GROUT_DTYPE_I32;
        return true;
    case GROUT_RULE_JOIN:
        return infer_joined(binding, op, types, type);
    case GROUT_RULE_COMPARE: {
        bool ok = infer_joined(binding, op, types, type);
        type->dtype = GROUT_DTYPE_BOOL;
        return ok;
    }
    case GROUT_RULE_SELECT:
        return infer_select(binding, op, types, type);
    case GROUT_RULE_CONVERT:
        return infer_cast(binding, op, types, type);
    case GROUT_RULE_BITCAST:
        return infer_bitcast(binding, op, types, type);
    case GROUT_RULE_BROADCAST:
    case GROUT_RULE_IOTA:
    case GROUT_RULE_SLICE:
    case GROUT_RULE_RESHAPE:
    case GROUT_RULE_CONCATENATE:
    case GROUT_RULE_TRANSPOSE:
    case GROUT_RULE_LAYOUT:
    case GROUT_RULE_REDUCE:
    case GROUT_RULE_SCAN:
        return infer_shape(binding, op, types, type);
    case GROUT_RULE_OBJECT:
        *type = binding->bound->value_types[op->first_result];
        return true;
    case GROUT_RULE_LOAD:
    case GROUT_RULE_STORE:
    case GROUT_RULE_COPY:
    case GROUT_RULE_IM2COL:
    case GROUT_RULE_ROWS:
    case GROUT_RULE_MASKED_LOAD:
    case GROUT_RULE_MASKED_STORE:
    case GROUT_RULE_GATHER:
    case GROUT_RULE_SCATTER:
    case GROUT_RULE_MASKED_COPY:
    case GROUT_RULE_GATHER_COPY:
    case GROUT_RULE_FETCH:
        return infer_access(binding, op, types, type);
    case GROUT_RULE_DESCRIPTOR:
        return grout_infer__descriptor(binding, op, types, type);
    case GROUT_RULE_PRINT:
        check_print(binding, op);
        return true;
    case GROUT_RULE_PRINT_LAYOUT:
        check_print_layout(binding, op);
        return true;
    case GROUT_RULE_CHECK:
        return grout_infer__check(binding, op, types);
    case GROUT_RULE_PROMISE:
        return grout_infer__promise(binding, op, types, type);
    case GROUT_RULE_EXTERN:
        return infer_extern(binding, op, type);
    case GROUT_RULE_CONDITION:
        grout_infer__condition(binding, op);
        return true;
    case GROUT_RULE_MMA:
        return grout_infer__mma(binding, op, types, type);
    case GROUT_RULE_WGMMA:   /* shapes and element types are those of grout_wgmma_plan */
    case GROUT_RULE_TCGEN05: /* and of grout_tcgen05_plan */
    case GROUT_RULE_TCGEN05_COPY:
    case GROUT_RULE_YIELD: /* typed with its region, as the regions are: infer_region.c */
    case GROUT_RULE_REGION:
    case GROUT_RULE_NONE:
        return true;
    }
    return true;
}

void grout_infer__op(grout_binding *binding, const grout_op *op) {
    grout_type types[GROUT_LETTERS_MAX];
    grout_type type = {.kind = GROUT_TYPE_NONE};
    if (!grout_infer__check_letters(binding, op, types) ||
        !infer_by_rule(binding, op, types, &type)) {
        type.kind = GROUT_TYPE_NONE;
    }
    if (op->result_count > 0) {
        set_result(binding, op, &type);
    }
}
