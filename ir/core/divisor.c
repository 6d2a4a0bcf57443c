/* divisor.c - which power of two divides an integer value whatever the run.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bound.h"

#include "grout-internal/register_layout.h"

#define DIVISOR_MAX ((int64_t)1 << 20)
#define DEPTH_MAX   24

static int64_t get_operand_divisor(const grout_module *module, const grout_operand *operand,
                                   int depth);

int64_t grout_divisor__of_constant(int64_t value) {
    int64_t divisor = 1;
    while (divisor < DIVISOR_MAX && value % (2 * divisor) == 0) {
        divisor *= 2;
    }
    return divisor;
}

static int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* by name: what each op of the arithmetic leaves of the divisors of its operands. */
static int64_t get_op_divisor(const grout_module *module, const grout_op *op, int depth) {
    int64_t d[3] = {1, 1, 1};
    for (uint32_t k = 0; k < op->operand_count && k < 3; k++) {
        d[k] = get_operand_divisor(module, grout_module_get_operand(module, op, k), depth);
    }
    switch (op->opcode) {
    case GROUT_OP_NEG:
    case GROUT_OP_ABS:
        return d[0];
    case GROUT_OP_ADD:
    case GROUT_OP_SUB:
    case GROUT_OP_REM: /* a - b * q */
    case GROUT_OP_MIN:
    case GROUT_OP_MAX:
    case GROUT_OP_OR:
    case GROUT_OP_XOR:
        return min_i64(d[0], d[1]);
    case GROUT_OP_SELECT:
        return min_i64(d[1], d[2]);
    case GROUT_OP_AND:
    case GROUT_OP_MULTIPLE_OF:
        return max_i64(d[0], d[1]);
    case GROUT_OP_MUL:
        return min_i64(d[0] * d[1], DIVISOR_MAX);
    case GROUT_OP_SHL: {
        const grout_operand *by = grout_module_get_operand(module, op, 1);
        if (by->kind != GROUT_OPERAND_EXPR) {
            return d[0];
        }
        const int64_t shift = grout_module_get_expr_value(module, by->id).integer;
        return shift < 0 || shift > 20 ? DIVISOR_MAX : min_i64(d[0] << shift, DIVISOR_MAX);
    }
    default:
        return 1;
    }
}

static int64_t get_value_divisor(const grout_module *module, grout_value_id id, int depth) {
    const grout_value *value = grout_module_get_value(module, id);
    if (depth > DEPTH_MAX || value->op == 0) {
        return 1;
    }
    const grout_op *op = grout_module_get_op(module, value->op);
    if (value->kind == GROUT_VALUE_RESULT) {
        return get_op_divisor(module, op, depth + 1);
    }
    const grout_region_info *region = grout_op_get_region((grout_opcode)op->opcode);
    const bool is_index = region->kind == GROUT_REGION_LOOP && value->index < region->lead_args;
    if (value->kind == GROUT_VALUE_BLOCK_ARG && is_index) {
        return min_i64(
            get_operand_divisor(module, grout_module_get_operand(module, op, 0), depth + 1),
            get_operand_divisor(module, grout_module_get_operand(module, op, 2), depth + 1));
    }
    return 1;
}

static int64_t get_operand_divisor(const grout_module *module, const grout_operand *operand,
                                   int depth) {
    if (operand->kind == GROUT_OPERAND_EXPR) {
        const grout_expr_value value = grout_module_get_expr_value(module, operand->id);
        return value.is_float || value.bits_dtype != 0 ? 1
                                                       : grout_divisor__of_constant(value.integer);
    }
    return operand->kind == GROUT_OPERAND_VALUE ? get_value_divisor(module, operand->id, depth) : 1;
}

int64_t grout_value_get_known_divisor(const grout_module *module, grout_value_id value) {
    return get_value_divisor(module, value, 0);
}
