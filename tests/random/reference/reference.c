/* reference.c - float64 evaluation of a kernel with running error bounds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference_state.h"

#include <stdlib.h>

static void run_block(reference *ref, grout_block_id block);

/* ---- control --------------------------------------------------------------------------------- */

static void copy_value(reference *ref, const grout_operand *from, grout_value_id to) {
    num constant;
    int64_t count;
    const num *numbers = reference__get_operand(ref, from, &constant, &count);
    const int64_t wanted = reference__get_value_count(ref, to);
    num *copy = calloc((size_t)wanted, sizeof *copy);
    for (int64_t i = 0; copy != NULL && i < wanted; i++) {
        copy[i] = numbers[count == 1 ? 0 : i];
    }
    free(ref->values[to]);
    ref->values[to] = copy;
    if (from->kind == GROUT_OPERAND_VALUE) {
        reference_ops_add(&ref->made_by[to], &ref->made_by[from->id]);
    }
}

/* Moves what a block yields to values that follow each other. All are read before one is written:
 * a loop may exchange its carries. */
static void take_yields(reference *ref, grout_block_id block, grout_value_id first,
                        uint32_t count) {
    const grout_op_id last = grout_module_get_block(ref->module, block)->last;
    num *taken[64];
    if (count == 0 || count > 64) {
        return;
    }
    const grout_op *yield = grout_module_get_op(ref->module, last);
    for (uint32_t k = 0; k < count; k++) {
        num constant;
        int64_t have;
        const grout_operand *operand = grout_module_get_operand(ref->module, yield, k);
        const num *numbers = reference__get_operand(ref, operand, &constant, &have);
        const int64_t wanted = reference__get_value_count(ref, first + k);
        taken[k] = calloc((size_t)wanted, sizeof **taken);
        for (int64_t i = 0; taken[k] != NULL && i < wanted; i++) {
            taken[k][i] = numbers[have == 1 ? 0 : i];
        }
        if (operand->kind == GROUT_OPERAND_VALUE) {
            reference_ops_add(&ref->made_by[first + k], &ref->made_by[operand->id]);
        }
        ref->made_by[first + k].has[yield->opcode] = true;
    }
    for (uint32_t k = 0; k < count; k++) {
        free(ref->values[first + k]);
        ref->values[first + k] = taken[k];
    }
}

static void take_carries(reference *ref, const grout_op *op, grout_value_id carries) {
    for (uint32_t k = 0; k < op->result_count; k++) {
        const grout_operand carry = {.kind = GROUT_OPERAND_VALUE, .id = carries + k};
        copy_value(ref, &carry, op->first_result + k);
    }
}

/* An operation with bodies decides whether, and how often, they run: so it makes their results too.
 * Returns what decides outside of it. */
static reference_ops enter(reference *ref, const grout_op *op) {
    const reference_ops around = ref->deciding;
    ref->deciding.has[op->opcode] = true;
    reference__add_operand_ops(ref, op, &ref->deciding);
    return around;
}

static void run_for(reference *ref, const grout_op *op) {
    const reference_ops around = enter(ref, op);
    const grout_block *body = grout_module_get_block(ref->module, op->first_block);
    int64_t bounds[3];
    for (uint32_t k = 0; k < 3; k++) {
        bounds[k] = reference__get_integer(ref, grout_module_get_operand(ref->module, op, k));
    }
    for (uint32_t k = 3; k < op->operand_count; k++) {
        copy_value(ref, grout_module_get_operand(ref->module, op, k), body->first_arg + k - 2);
    }
    for (int64_t i = bounds[0]; i < bounds[1] && ref->why == NULL; i += bounds[2]) {
        reference__define(ref, body->first_arg)[0].value = (double)i;
        run_block(ref, op->first_block);
        take_yields(ref, op->first_block, body->first_arg + 1, op->operand_count - 3);
    }
    take_carries(ref, op, body->first_arg + 1);
    ref->deciding = around;
}

static void run_while(reference *ref, const grout_op *op) {
    const reference_ops around = enter(ref, op);
    const grout_block *first = grout_module_get_block(ref->module, op->first_block);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        copy_value(ref, grout_module_get_operand(ref->module, op, k), first->first_arg + k);
    }
    for (;;) {
        run_block(ref, op->first_block);
        const grout_op *cond = grout_module_get_op(ref->module, first->last);
        if (ref->why != NULL ||
            reference__get_integer(ref, grout_module_get_operand(ref->module, cond, 0)) == 0) {
            break;
        }
        (void)enter(ref, cond);
        run_block(ref, op->first_block + 1);
        take_yields(ref, op->first_block + 1, first->first_arg, op->operand_count);
    }
    take_carries(ref, op, first->first_arg);
    ref->deciding = around;
}

static void run_branch(reference *ref, const grout_op *op, uint32_t which) {
    if (which < op->block_count) {
        run_block(ref, op->first_block + which);
        take_yields(ref, op->first_block + which, op->first_result, op->result_count);
    }
}

static void run_if(reference *ref, const grout_op *op) {
    const grout_operand *condition = grout_module_get_operand(ref->module, op, 0);
    const reference_ops around = enter(ref, op);
    run_branch(ref, op, reference__get_integer(ref, condition) != 0 ? 0 : 1);
    ref->deciding = around;
}

/* One body after the other: those that are drawn have nothing to do with each other. Each is of a
 * thread, and the first one's runs all else. */
static void run_partitions(reference *ref, const grout_op *op) {
    ref->is_specialized = true;
    for (uint32_t which = op->block_count; which-- > 1;) {
        ref->thread = which;
        run_block(ref, op->first_block + which);
    }
    ref->thread = 0;
    run_branch(ref, op, 0);
}

/* Its accumulators start at zero. */
static void run_scope(reference *ref, const grout_op *op) {
    reference__clear_objects(ref, true);
    run_branch(ref, op, 0);
}

/* Operations of forms that have one function here, and whose meaning that function is. */
static bool is_known(const grout_op *op) {
    switch (op->opcode) {
    case GROUT_OP_FOR:
    case GROUT_OP_WHILE:
    case GROUT_OP_IF:
    case GROUT_OP_SCOPED:
    case GROUT_OP_WARP_SPECIALIZE:
    case GROUT_OP_AXIS_INDEX:
    case GROUT_OP_LOAD:
    case GROUT_OP_MASKED_LOAD:
    case GROUT_OP_MASKED_STORE:
    case GROUT_OP_GATHER:
    case GROUT_OP_ASYNC_MASKED_COPY:
    case GROUT_OP_ASYNC_GATHER:
    case GROUT_OP_ACC_LOAD:
    case GROUT_OP_BROADCAST:
    case GROUT_OP_IOTA:
    case GROUT_OP_SLICE:
    case GROUT_OP_RESHAPE:
    case GROUT_OP_TRANSPOSE:
    case GROUT_OP_CONCATENATE:
    case GROUT_OP_COPY_GMEM_TO_SMEM:
    case GROUT_OP_COPY_SMEM_TO_GMEM:
    case GROUT_OP_ASYNC_COPY:
    case GROUT_OP_WGMMA:
    case GROUT_OP_WGMMA_ASYNC:
    case GROUT_OP_WGMMA_SP:
    case GROUT_OP_WGMMA_SP_ASYNC:
    case GROUT_OP_TCGEN05_MMA:
    case GROUT_OP_ASYNC_LOAD_TMEM:
    case GROUT_OP_MMA:
    case GROUT_OP_DEBUG_PRINT:
        return true; /* and not extern_elementwise, whose meaning is somebody else's */
    default:
        return false;
    }
}

static void run_known(reference *ref, const grout_op *op,
                      void (*run)(reference *ref, const grout_op *op)) {
    if (is_known(op)) {
        run(ref, op);
    } else {
        reference__lack(ref, op);
    }
}

static bool writes_memory(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    uint32_t count = 0;
    const grout_effect *effects =
        grout_effect_row_get_effects((grout_effect_row)info->effect_row, &count);
    for (uint32_t i = 0; i < count; i++) {
        if (effects[i].access == GROUT_ACCESS_WRITE || effects[i].access == GROUT_ACCESS_ATOMIC) {
            return true;
        }
    }
    return false;
}

/* Whether values come out of the op, or out of blocks that are not run here. */
static bool has_value(const grout_op *op) {
    const grout_op_info *info = grout_op_get_info((grout_opcode)op->opcode);
    return info->shape == GROUT_SHAPE_REGION ||
           (info->shape == GROUT_SHAPE_PLAIN && op->result_count > 0);
}

/* NOLINTNEXTLINE(readability-function-size): one short case for each form */
static void run_op(reference *ref, const grout_op *op) {
    switch ((int)grout_op_get_info((grout_opcode)op->opcode)->form) {
    case GROUT_FORM_UNARY:
    case GROUT_FORM_BINARY:
    case GROUT_FORM_TEST:
    case GROUT_FORM_COMPARE:
    case GROUT_FORM_TERNARY:
    case GROUT_FORM_SELECT:
    case GROUT_FORM_CONVERT:
    case GROUT_FORM_BITCAST:
    case GROUT_FORM_MATH:
    case GROUT_FORM_MATH_BINARY:
    case GROUT_FORM_LAYOUT:
    case GROUT_FORM_PROMISE: /* which is kept */
        reference__run_elementwise(ref, op);
        break;
    case GROUT_FORM_BROADCAST:
        run_known(ref, op, reference__run_broadcast);
        break;
    case GROUT_FORM_IOTA:
        run_known(ref, op, reference__run_iota);
        break;
    case GROUT_FORM_SLICE:
        run_known(ref, op, reference__run_slice);
        break;
    case GROUT_FORM_RESHAPE:
    case GROUT_FORM_CONCATENATE:
        run_known(ref, op, reference__run_concatenate);
        break;
    case GROUT_FORM_TRANSPOSE:
        run_known(ref, op, reference__run_transpose);
        break;
    case GROUT_FORM_REDUCE:
        reference__run_reduce(ref, op);
        break;
    case GROUT_FORM_AXIS:
        run_known(ref, op, reference__run_axis);
        break;
    case GROUT_FORM_LOAD:
    case GROUT_FORM_LOAD_TMEM:
        run_known(ref, op, reference__run_load);
        break;
    case GROUT_FORM_STORE:
    case GROUT_FORM_STORE_TMEM:
        reference__run_store(ref, op);
        break;
    case GROUT_FORM_SCAN:
        reference__run_scan(ref, op);
        break;
    case GROUT_FORM_MASKED_LOAD:
        run_known(ref, op, reference__run_masked_load);
        break;
    case GROUT_FORM_MASKED_STORE:
        run_known(ref, op, reference__run_masked_store);
        break;
    case GROUT_FORM_GATHER:
        run_known(ref, op, reference__run_gather);
        break;
    case GROUT_FORM_SCATTER:
        reference__run_scatter(ref, op);
        break;
    case GROUT_FORM_MASKED_COPY:
        run_known(ref, op, reference__run_masked_copy);
        break;
    case GROUT_FORM_GATHER_COPY:
        run_known(ref, op, reference__run_gather_copy);
        break;
    case GROUT_FORM_FETCH:
    case GROUT_FORM_COMPARE_SWAP:
        reference__run_fetch(ref, op);
        break;
    case GROUT_FORM_COPY:
    case GROUT_FORM_COPY_IN:
    case GROUT_FORM_COPY_OUT:
        run_known(ref, op, reference__run_copy);
        break;
    case GROUT_FORM_WGMMA:
    case GROUT_FORM_WGMMA_SP:
    case GROUT_FORM_TCGEN05:
        run_known(ref, op, reference__run_wgmma);
        break;
    case GROUT_FORM_MMA:
        run_known(ref, op, reference__run_mma);
        break;
    case GROUT_FORM_PRINT:
        run_known(ref, op, reference__run_print);
        break;
    case GROUT_FORM_FOR:
        run_known(ref, op, run_for);
        break;
    case GROUT_FORM_WHILE:
        run_known(ref, op, run_while);
        break;
    case GROUT_FORM_IF:
        run_known(ref, op, run_if);
        break;
    case GROUT_FORM_SCOPED:
        run_known(ref, op, run_scope);
        break;
    case GROUT_FORM_SPECIALIZE:
        run_known(ref, op, run_partitions);
        break;
    case GROUT_FORM_DESCRIPTOR:
    case GROUT_FORM_MADE_DESCRIPTOR: /* a name for boxes, which a view sees through */
        return;
    default: /* ops without a result order, and here everything has an order */
        if (writes_memory(op) || has_value(op)) {
            reference__lack(ref, op);
        }
        return;
    }
    if (ref->why == NULL && op->result_count > 0) {
        reference__note_ops(ref, op);
    }
}

static void run_block(reference *ref, grout_block_id block) {
    grout_op_id id = grout_module_get_block(ref->module, block)->first;
    for (; id != 0 && ref->why == NULL; id = grout_module_get_op(ref->module, id)->next) {
        run_op(ref, grout_module_get_op(ref->module, id));
    }
}

static void set_scalars(reference *ref) {
    for (uint32_t i = 0; i < ref->kernel->param_count; i++) {
        if (grout_module_get_param(ref->module, ref->kernel, i)->direction ==
            GROUT_DIRECTION_SCALAR) {
            ref->why = "scalar parameters";
        }
    }
}

static void free_objects(reference *ref, uint32_t count) {
    for (uint32_t i = 0; ref->objects != NULL && i < count; i++) {
        free(ref->objects[i].numbers);
        free(ref->objects[i].is_written);
    }
    free(ref->objects);
}

bool reference_run(const grout_module *bound, grout_kernel_id kernel, reference_array *arrays,
                   reference_output *output, const char **why_out) {
    const uint32_t values = grout_module_get_value_count(bound);
    const uint32_t objects = grout_module_get_object_count(bound);
    reference ref = {.module = bound,
                     .kernel_id = kernel,
                     .kernel = grout_module_get_kernel(bound, kernel),
                     .arrays = arrays,
                     .output = output};
    ref.values = calloc(values, sizeof(num *));
    ref.made_by = calloc(values, sizeof *ref.made_by);
    ref.objects = calloc(objects, sizeof *ref.objects);
    set_scalars(&ref);
    for (; ref.cta < grout_kernel_get_grid_size(bound, kernel) && ref.why == NULL; ref.cta++) {
        reference__clear_objects(&ref, false);
        const uint32_t threads = grout_kernel_get_thread_count(bound, kernel);
        for (ref.thread = 0; ref.thread < (ref.is_specialized ? 1 : threads) && ref.why == NULL;
             ref.thread++) {
            reference__clear_objects(&ref, true);
            run_block(&ref, ref.kernel->body);
        }
    }
    for (uint32_t i = 0; i < values; i++) {
        free(ref.values[i]);
    }
    free_objects(&ref, objects);
    free(ref.values);
    free(ref.made_by);
    *why_out = ref.why;
    return ref.why == NULL;
}

void reference_output_deinit(reference_output *output) {
    for (uint32_t i = 0; i < output->line_count; i++) {
        free(output->lines[i].numbers);
    }
    free(output->lines);
    *output = (reference_output){0};
}
