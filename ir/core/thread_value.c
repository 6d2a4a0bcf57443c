/*
 * thread_value.c - values that the index of a thread decides.
 * SPDX-License-Identifier: Apache-2.0
 */
#include "thread_value.h"

#include "grout/num.h"

#define EVALUATE_MAX 256 /* operands of one value */

/* A value being evaluated for one thread of a CTA, whichever that is. */
typedef struct evaluation {
    const grout_module *module;
    grout_kernel_id kernel;
    uint32_t thread;
    uint32_t evaluated; /* operands so far */
} evaluation;

static grout_known_value evaluate(evaluation *eval, const grout_operand *operand);

static grout_known_value know(int32_t value) {
    return (grout_known_value){.is_known = true, .value = value};
}

static grout_known_value evaluate_axis(const evaluation *eval, uint32_t index) {
    const grout_module *module = eval->module;
    grout_kernel_id id = eval->kernel;
    const grout_kernel *kernel = grout_module_get_kernel(module, id);
    int64_t inner = 1;
    if (kernel->axes[index].kind != GROUT_AXIS_THREADS) {
        return (grout_known_value){.is_known = false};
    }
    for (uint32_t k = index + 1; k < kernel->axis_count; k++) {
        if (kernel->axes[k].kind == GROUT_AXIS_THREADS) {
            inner *= grout_kernel_get_axis_size(module, id, k);
        }
    }
    return know((int32_t)(eval->thread / inner % grout_kernel_get_axis_size(module, id, index)));
}

/* The expression of an op of ops.def over whole numbers (i32), and over truth values. */
#define NUMBER_NUM(NAME, EXPRESSION)     NUMBER_CASE(NAME, EXPRESSION)
#define NUMBER_INT(NAME, EXPRESSION)     NUMBER_CASE(NAME, EXPRESSION)
#define NUMBER_LOGIC(NAME, EXPRESSION)   NUMBER_CASE(NAME, EXPRESSION)
#define NUMBER_CMP(NAME, EXPRESSION)     NUMBER_CASE(NAME, EXPRESSION)
#define NUMBER_CMP_ANY(NAME, EXPRESSION) NUMBER_CASE(NAME, EXPRESSION)
#define NUMBER_FLOAT(NAME, EXPRESSION)
#define NUMBER_CMP_FLOAT(NAME, EXPRESSION)
#define NUMBER_CASE(NAME, EXPRESSION) \
    case GROUT_OP_##NAME:             \
        return know((int32_t)(EXPRESSION));

static grout_known_value apply_numbers(const grout_op *op, const int32_t in[3]) {
    const int32_t a = in[0], b = in[1], c = in[2];
    (void)b;
    (void)c;
    switch (op->opcode) {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) NUMBER_##TYPES(NAME, EXPRESSION)
#include "grout/ops.def"
    default:
        return (grout_known_value){.is_known = false};
    }
}

#define TRUTH_NUM(NAME, EXPRESSION)
#define TRUTH_INT(NAME, EXPRESSION)
#define TRUTH_CMP(NAME, EXPRESSION)
#define TRUTH_CMP_ANY(NAME, EXPRESSION) NUMBER_CASE(NAME, EXPRESSION)
#define TRUTH_FLOAT(NAME, EXPRESSION)
#define TRUTH_CMP_FLOAT(NAME, EXPRESSION)
#define TRUTH_LOGIC(NAME, EXPRESSION) NUMBER_CASE(NAME, EXPRESSION)

static grout_known_value apply_truths(const grout_op *op, bool a, bool b) {
    (void)b;
    switch (op->opcode) {
#define GROUT_ALU(NAME, text, FORM, TYPES, EXPRESSION) TRUTH_##TYPES(NAME, EXPRESSION)
#include "grout/ops.def"
    default:
        return (grout_known_value){.is_known = false};
    }
}

static grout_known_value apply(const grout_op *op, grout_dtype dtype, const int32_t in[3]) {
    return dtype == GROUT_DTYPE_BOOL ? apply_truths(op, in[0] != 0, in[1] != 0)
                                     : apply_numbers(op, in);
}

/* Whether one operand alone decides the result: a zero that is and'ed. */
static bool is_settled(const grout_op *op, grout_known_value operand) {
    return op->opcode == GROUT_OP_AND && /* by name: no column says what absorbs */
           operand.is_known && operand.value == 0;
}

static grout_known_value evaluate_op(evaluation *eval, const grout_op *op) {
    const grout_module *module = eval->module;
    grout_known_value unknown = {.is_known = false};
    if (grout_op_get_letter((grout_opcode)op->opcode, 0) == 'x') {
        return evaluate_axis(eval, grout_module_get_operand(module, op, 0)->id - 1);
    }
    if (op->operand_count == 0 || op->operand_count > 3 || op->block_count > 0) {
        return unknown;
    }
    grout_dtype dtype =
        grout_module_get_operand_dtype(module, grout_module_get_operand(module, op, 0));
    if (dtype != GROUT_DTYPE_I32 && dtype != GROUT_DTYPE_BOOL) {
        return unknown;
    }
    int32_t in[3] = {0, 0, 0};
    bool is_known = true;
    for (uint32_t k = 0; k < op->operand_count; k++) {
        grout_known_value value = evaluate(eval, grout_module_get_operand(module, op, k));
        if (is_settled(op, value)) {
            return know(0);
        }
        is_known = is_known && value.is_known;
        in[k] = value.value;
    }
    return is_known ? apply(op, dtype, in) : unknown;
}

/* An operand as this thread sees it, in whichever CTA. */
static grout_known_value evaluate(evaluation *eval, const grout_operand *operand) {
    const grout_module *module = eval->module;
    grout_known_value unknown = {.is_known = false};
    if (++eval->evaluated > EVALUATE_MAX) {
        return unknown;
    }
    if (operand->kind == GROUT_OPERAND_EXPR) {
        grout_expr_value value = grout_module_get_expr_value(module, operand->id);
        bool is_number = !value.is_float && value.bits_dtype == GROUT_DTYPE_NONE;
        return is_number && value.integer >= INT32_MIN && value.integer <= INT32_MAX
                   ? know((int32_t)value.integer)
                   : unknown;
    }
    if (operand->kind != GROUT_OPERAND_VALUE) {
        return unknown;
    }
    const grout_value *value = grout_module_get_value(module, operand->id);
    return value->kind == GROUT_VALUE_RESULT && value->op != 0
               ? evaluate_op(eval, grout_module_get_op(module, value->op))
               : unknown;
}

grout_known_value grout_thread__evaluate(const grout_module *module, grout_kernel_id kernel,
                                         uint32_t thread, const grout_operand *operand) {
    evaluation eval = {.module = module, .kernel = kernel, .thread = thread};
    return evaluate(&eval, operand);
}
