/* infer_type.c - the types that values get, and the element types that an operation takes.
 * SPDX-License-Identifier: Apache-2.0 */
#include "infer.h"

#include "invariant.h"
#include "type.h"

#include <inttypes.h>

void grout_infer__set_type(grout_binding *binding, grout_value_id value, grout_block_id scope,
                           const grout_type *type) {
    GROUT_ASSERT(value < binding->module->values.count && scope < binding->module->blocks.count);
    binding->bound->value_types[value] = *type;
    binding->value_scopes[value] = scope;
}

bool grout_infer__make_register(grout_binding *binding, const grout_op *op, const grout_type *shape,
                                grout_dtype dtype, grout_type *type_out) {
    int64_t count = 1;
    *type_out = (grout_type){.kind = GROUT_TYPE_SCALAR, .dtype = (uint8_t)dtype};
    for (uint32_t dim = 0; dim < shape->rank; dim++) {
        if (shape->dims[dim] < 1) {
            type_out->kind = GROUT_TYPE_NONE;
            return grout_binding__report(
                binding, GROUT_DIAG_BAD_DIMENSION, op->loc,
                "dimension %" PRIu32 " of %s is %" PRId64 ", and has to be at least 1", dim,
                grout_type__get_shape_text(shape).chars, shape->dims[dim]);
        }
        if (__builtin_mul_overflow(count, shape->dims[dim], &count) || count > GROUT_ARRAY_MAX) {
            type_out->kind = GROUT_TYPE_NONE;
            grout_binding__report(binding, GROUT_DIAG_BAD_DIMENSION, op->loc,
                                  "a register array of shape %s: the limit is %u elements",
                                  grout_type__get_shape_text(shape).chars, GROUT_ARRAY_MAX);
            grout_diags_help(binding->diags, "work on slices of it, in a loop");
            return false;
        }
        type_out->dims[dim] = shape->dims[dim];
    }
    type_out->rank = shape->rank;
    type_out->kind = shape->rank == 0 ? GROUT_TYPE_SCALAR : GROUT_TYPE_ARRAY;
    return true;
}

grout_type grout_infer__get_written(grout_binding *binding, const grout_op *op) {
    const grout_written_type *written = grout_module_get_written_type(binding->module, op);
    grout_type shape = {.rank = written->rank}, type;
    for (uint32_t dim = 0; dim < written->rank; dim++) {
        shape.dims[dim] = binding->bound->expr_values[written->dims[dim]].integer;
    }
    if (grout_infer__make_register(binding, op, &shape, (grout_dtype)written->dtype, &type) &&
        written->is_array) {
        type.kind = GROUT_TYPE_ARRAY;
    }
    return type;
}

static const char *get_rule_text(grout_type_rule rule) {
    switch (rule) {
    case GROUT_TYPES_NUM:
    case GROUT_TYPES_CMP:
        return "integers, f16, bf16, f32 or f64";
    case GROUT_TYPES_CMP_ANY:
        return "integers, f16, bf16, f32, f64 or bool";
    case GROUT_TYPES_INT:
        return "integers";
    case GROUT_TYPES_FLOAT:
    case GROUT_TYPES_CMP_FLOAT:
        return "f16, bf16, f32 or f64";
    case GROUT_TYPES_ACC:
        return "f16, f32 or i32";
    case GROUT_TYPES_LOGIC:
        return "integers or bool";
    case GROUT_TYPES_BOOL:
        return "bool";
    case GROUT_TYPES_WORD:
        return "i32 or u32";
    case GROUT_TYPES_NONE:
    case GROUT_TYPES_ANY:
    case GROUT_TYPES_MMA: /* those of the plan of the op */
        break;
    }
    return "any element type";
}

/* The type to cast to: what a truth value counts as, else the widest. */
static const char *get_nearest_text(grout_type_rule rule, grout_dtype dtype) {
    if (dtype == GROUT_DTYPE_BOOL && grout_type_rule_takes(rule, GROUT_DTYPE_I32)) {
        return "i32";
    }
    return grout_type_rule_takes(rule, GROUT_DTYPE_F32)   ? "f32"
           : grout_type_rule_takes(rule, GROUT_DTYPE_I32) ? "i32"
                                                          : "bool";
}

bool grout_infer__check_rule(grout_binding *binding, const grout_op *op, grout_loc_id loc,
                             grout_dtype dtype) {
    grout_type_rule rule = (grout_type_rule)grout_op_get_info((grout_opcode)op->opcode)->types;
    if (grout_type_rule_takes(rule, dtype)) {
        return true;
    }
    grout_binding__report(binding, GROUT_DIAG_TYPE_CLASS, loc, "'%s' takes %s, not %s",
                          grout_infer__get_mnemonic(op), get_rule_text(rule),
                          grout_infer__get_dtype_text(dtype));
    if (!grout_dtype_get_info(dtype)->is_arithmetic) {
        grout_diags_help(binding->diags, "%s is for storage: cast to f32 or i32, and back to store",
                         grout_infer__get_dtype_text(dtype));
    } else {
        grout_diags_help(binding->diags, "cast first: (cast .. : %s)",
                         get_nearest_text(rule, dtype));
    }
    return false;
}
