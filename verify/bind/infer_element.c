/* infer_element.c - types of atomics on single elements, and of descriptors.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "type.h"

#include <inttypes.h>

bool grout_infer__check_integers(grout_binding *binding, const grout_op *op, uint32_t index,
                                 const grout_type *ref) {
    if (ref->dtype == GROUT_DTYPE_I32 || ref->dtype == GROUT_DTYPE_U32) {
        return true;
    }
    grout_binding__report(
        binding, GROUT_DIAG_TYPE_CLASS, grout_infer__get_operand(binding, op, index)->loc,
        "'%s' is for memory of i32 or u32, and %s is %s", grout_infer__get_mnemonic(op),
        grout_infer__get_operand_text(binding, op, index).chars, grout_type__get_text(ref).chars);
    grout_diags_help(binding->diags, grout_op_takes_picks((grout_opcode)op->opcode)
                                         ? "atomic_scatter_add takes floats too"
                                         : "atomic_add takes floats too; it returns nothing");
    return false;
}

/* Whether the operand of an atomic has the type and shape of the memory; reported if not. */
static bool check_array(grout_binding *binding, const grout_op *op, const grout_type *ref,
                        const grout_type *value) {
    const grout_loc_id loc = grout_infer__get_operand(binding, op, 1)->loc;
    if (value->dtype == GROUT_DTYPE_NONE) {
        if (!grout_infer__set_constant(binding, op, 1, (grout_dtype)ref->dtype)) {
            return false;
        }
    } else if (value->dtype != ref->dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, loc,
                              "the operand of '%s' is %s, and the memory is %s",
                              grout_infer__get_mnemonic(op), grout_type__get_text(value).chars,
                              grout_type__get_text(ref).chars);
        grout_diags_help(binding->diags, "cast it: (cast .. : %s)",
                         grout_infer__get_dtype_text(ref->dtype));
        return false;
    }
    if (grout_type__is_same_shape(value, ref)) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, loc,
                          "'%s' of %s to a reference of shape %s", grout_infer__get_mnemonic(op),
                          value->rank == 0 ? "one element" : grout_type__get_text(value).chars,
                          grout_type__get_shape_text(ref).chars);
    if (value->rank == 0) {
        grout_diags_help(binding->diags, "write (broadcast .. : %s%s), or index every dimension",
                         grout_infer__get_dtype_text(ref->dtype),
                         grout_type__get_shape_text(ref).chars);
    } else {
        grout_diags_help(binding->diags, "slice the reference with ds(start, size)");
    }
    return false;
}

/* What an atomic returns: what its memory held. */
bool grout_infer__fetch(grout_binding *binding, const grout_op *op, const grout_type *types,
                        grout_type *type) {
    grout_type ref = types[0];
    if (!grout_infer__check_integers(binding, op, 0, &ref)) {
        return false;
    }
    const bool takes_arrays = grout_op_find_letter((grout_opcode)op->opcode, 's') == UINT32_MAX;
    if (ref.rank > 0 && takes_arrays) {
        return check_array(binding, op, &ref, &types[1]) &&
               grout_infer__make_register(binding, op, &ref, (grout_dtype)ref.dtype, type);
    }
    if (ref.rank > 0) {
        grout_binding__report(
            binding, GROUT_DIAG_BAD_INDEX, grout_infer__get_operand(binding, op, 0)->loc,
            "'%s' takes one element, and %s is %s", grout_infer__get_mnemonic(op),
            grout_infer__get_operand_text(binding, op, 0).chars, grout_type__get_text(&ref).chars);
        grout_diags_help(binding->diags, "index every dimension");
        return false;
    }
    for (uint32_t k = 1; k < op->operand_count; k++) {
        if (!grout_infer__check_scalar(binding, op, k, (grout_dtype)ref.dtype,
                                       k + 1 == op->operand_count ? "the operand of an atomic"
                                                                  : "the expected value")) {
            return false;
        }
    }
    *type = (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = ref.dtype};
    return true;
}

static bool report_array(grout_binding *binding, const grout_op *op, uint32_t array) {
    grout_binding__report(
        binding, GROUT_DIAG_OPERAND_KIND, grout_infer__get_operand(binding, op, array)->loc,
        "'%s' takes a whole array in gmem, and %s is none", grout_infer__get_mnemonic(op),
        grout_infer__get_operand_text(binding, op, array).chars);
    grout_diags_help(binding->diags, "the box is chosen where the descriptor is used: index that");
    return false;
}

/* The shape of a descriptor's boxes; kind NONE after a report. */
static grout_type get_block(grout_binding *binding, const grout_op *op) {
    const grout_written_type *written = grout_module_get_written_type(binding->module, op);
    grout_type block = {
        .kind = GROUT_TYPE_DESCRIPTOR, .dtype = written->dtype, .space = GROUT_SPACE_GMEM};
    int64_t count = 1;
    block.rank = written->rank;
    for (uint32_t dim = 0; dim < block.rank; dim++) {
        int64_t size = binding->bound->expr_values[written->dims[dim]].integer;
        if (size < 1 || __builtin_mul_overflow(count, size, &count) || count > GROUT_ARRAY_MAX) {
            grout_binding__report(binding, GROUT_DIAG_BAD_DIMENSION,
                                  grout_module_get_expr(binding->module, written->dims[dim])->loc,
                                  "dimension %" PRIu32 " of the box is %" PRId64
                                  ": it has to be at least 1, and a box has at most %u elements",
                                  dim, size, GROUT_ARRAY_MAX);
            block.kind = GROUT_TYPE_NONE;
            return block;
        }
        block.dims[dim] = size;
    }
    return block;
}

/* The part of the array that a descriptor made at run time is of: starts, then extents. */
static bool check_part(grout_binding *binding, const grout_op *op, uint32_t rank) {
    bool ok = true;
    if (op->operand_count != 2 + 2 * rank) {
        grout_binding__report(binding, GROUT_DIAG_OPERAND_COUNT, op->loc,
                              "'%s' of an array of %" PRIu32 " dimensions has %" PRIu32
                              " operands after it: it takes a start for each, then an extent for "
                              "each",
                              grout_infer__get_mnemonic(op), rank, op->operand_count - 2);
        grout_infer__help_operands(binding, op);
        return false;
    }
    for (uint32_t k = 2; k < op->operand_count; k++) {
        ok = grout_infer__check_scalar(binding, op, k, GROUT_DTYPE_I32,
                                       k < 2 + rank ? "a start of a descriptor's part"
                                                    : "an extent of a descriptor's part") &&
             ok;
    }
    return ok;
}

/* A descriptor: the array's element type, a block of its rank. */
bool grout_infer__descriptor(grout_binding *binding, const grout_op *op, const grout_type *types,
                             grout_type *type) {
    /* A slot stands in front of the array where the map is made at run time. */
    const grout_operand *operand = grout_descriptor_get_array(binding->module, op);
    const uint32_t index = operand == grout_infer__get_operand(binding, op, 0) ? 0 : 1;
    grout_type array = types[index];
    grout_type block = get_block(binding, op);
    if (block.kind == GROUT_TYPE_NONE) {
        return false;
    }
    if (operand->kind != GROUT_OPERAND_VALUE || array.space != GROUT_SPACE_GMEM) {
        return report_array(binding, op, index);
    }
    if (block.dtype != array.dtype) {
        grout_binding__report(binding, GROUT_DIAG_TYPE_MISMATCH, op->loc,
                              "boxes of %s of an array of %s: the element types differ",
                              grout_infer__get_dtype_text(block.dtype),
                              grout_infer__get_dtype_text(array.dtype));
        grout_diags_help(binding->diags, "write ': %s%s'", grout_infer__get_dtype_text(array.dtype),
                         grout_type__get_shape_text(&block).chars);
        return false;
    }
    if (block.rank != array.rank) {
        grout_binding__report(binding, GROUT_DIAG_SHAPE_MISMATCH, op->loc,
                              "boxes of shape %s of an array of shape %s",
                              grout_type__get_shape_text(&block).chars,
                              grout_type__get_shape_text(&array).chars);
        grout_diags_help(binding->diags,
                         "a box has all dimensions of its array; 1 where one element "
                         "is meant");
        return false;
    }
    *type = block;
    return index == 0 || check_part(binding, op, array.rank);
}

/* The parser sees to the place of a condition; the builder too. */
void grout_infer__condition(grout_binding *binding, const grout_op *op) {
    const grout_block *block = grout_module_get_block(binding->module, op->parent);
    const grout_op *around = grout_module_get_op(binding->module, block->parent);
    bool has_condition = grout_op_get_region((grout_opcode)around->opcode)->blocks == 2;
    if (!has_condition || around->first_block != op->parent || op->next != 0) {
        grout_binding__report(binding, GROUT_DIAG_BAD_REGION, op->loc,
                              "'cond' stands at the end of the first body of a while only");
    }
    grout_infer__check_scalar(binding, op, 0, GROUT_DTYPE_BOOL, "the condition of a 'while'");
}
