/* reference.c - float64 evaluation of a kernel with running error bounds.
 * SPDX-License-Identifier: Apache-2.0 */
#include "reference.h"

#include "rounding.h"

#include "grout/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef reference_number num;

typedef struct reference {
    const grout_module *module;
    grout_kernel_id kernel_id;
    const grout_kernel *kernel;
    reference_array *arrays;  /* of the parameters */
    reference_array *objects; /* SMEM and accumulators, by object id */
    num **values;             /* by value id */
    int64_t cta, thread;
    const char *why; /* set: cannot go on */
} reference;

static void run_block(reference *ref, grout_block_id block);

/* ---- storage --------------------------------------------------------------------------------- */

static int64_t get_value_count(const reference *ref, grout_value_id value) {
    return grout_type_get_count(grout_module_get_type(ref->module, value));
}

static num *define(reference *ref, grout_value_id value) {
    free(ref->values[value]);
    ref->values[value] = calloc((size_t)get_value_count(ref, value), sizeof(num));
    return ref->values[value];
}

static reference_array *get_array(reference *ref, grout_object_id id) {
    for (uint32_t i = 0; i < ref->kernel->param_count; i++) {
        if (grout_module_get_param(ref->module, ref->kernel, i)->object == id) {
            return &ref->arrays[i];
        }
    }
    reference_array *array = &ref->objects[id];
    if (array->numbers == NULL) {
        array->count = grout_type_get_count(grout_object_get_type(ref->module, id));
        array->numbers = calloc((size_t)array->count, sizeof *array->numbers);
        array->is_written = calloc((size_t)array->count, sizeof *array->is_written);
    }
    return array;
}

static void clear_objects(reference *ref, bool accumulators_only) {
    const uint32_t count = grout_module_get_object_count(ref->module);
    for (grout_object_id id = 1; id < count; id++) {
        reference_array *array = &ref->objects[id];
        if (array->numbers != NULL &&
            (!accumulators_only ||
             grout_module_get_object(ref->module, id)->space == GROUT_SPACE_ACC)) {
            memset(array->numbers, 0, (size_t)array->count * sizeof *array->numbers);
        }
    }
}

/* ---- operands -------------------------------------------------------------------------------- */

/* A value or constant as an array of numbers; *count_out says how many. */
static const num *get_operand(reference *ref, const grout_operand *operand, num *constant,
                              int64_t *count_out) {
    if (operand->kind == GROUT_OPERAND_VALUE) {
        *count_out = get_value_count(ref, operand->id);
        return ref->values[operand->id];
    }
    grout_dtype dtype = grout_module_get_operand_dtype(ref->module, operand);
    uint64_t bits =
        grout_expr_value_to_bits(grout_module_get_expr_value(ref->module, operand->id), dtype);
    *constant = (num){rounding_decode(dtype, bits), 0};
    *count_out = 1;
    return constant;
}

static int64_t get_integer(reference *ref, const grout_operand *operand) {
    num constant;
    int64_t count;
    const num *number = get_operand(ref, operand, &constant, &count);
    if (number->bound != 0) {
        ref->why = "rounding decides an index or a branch";
    }
    return (int64_t)number->value;
}

typedef struct box {
    reference_array *array;
    const grout_type *type; /* of the object */
    grout_view view;
    int64_t start[GROUT_RANK_MAX], count;
} box;

static box get_box(reference *ref, const grout_operand *operand) {
    box result = {.count = 1};
    if (!grout_module_get_view(ref->module, operand, &result.view)) {
        ref->why = "an operand that is no reference";
        return result;
    }
    result.array = get_array(ref, result.view.object);
    result.type = grout_object_get_type(ref->module, result.view.object);
    for (uint32_t d = 0; d < result.view.rank; d++) {
        result.start[d] = result.view.start_const[d];
        for (uint32_t t = 0; t < result.view.start_term_count[d]; t++) {
            const grout_operand term = {.kind = GROUT_OPERAND_VALUE,
                                        .id = result.view.start_terms[d][t]};
            result.start[d] += get_integer(ref, &term);
        }
        result.count *= result.view.extent[d];
    }
    return result;
}

/* The place in the object of element i of the box, in the view's order; -1: outside. */
static int64_t get_place(const box *b, int64_t i) {
    int64_t index[GROUT_RANK_MAX], place = 0;
    for (uint32_t k = b->view.rank; k-- > 0;) {
        const uint32_t d = b->view.order[k];
        index[d] = b->start[d] + i % b->view.extent[d];
        i /= b->view.extent[d];
    }
    for (uint32_t d = 0; d < b->view.rank; d++) {
        if (index[d] < 0 || index[d] >= b->type->dims[d]) {
            return -1;
        }
        place = place * b->type->dims[d] + index[d];
    }
    return place;
}

static num read_box(const box *b, int64_t i) {
    const int64_t place = get_place(b, i);
    return place < 0 ? (num){0, 0} : b->array->numbers[place];
}

static void write_box(const box *b, int64_t i, num number) {
    const int64_t place = get_place(b, i);
    if (place >= 0) {
        b->array->numbers[place] = number;
        b->array->is_written[place] = true;
    }
}

/* ---- operations ------------------------------------------------------------------------------ */

static void run_elementwise(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    num constants[3];
    const num *from[3] = {NULL, NULL, NULL};
    int64_t counts[3] = {1, 1, 1};
    grout_dtype dtype = (grout_dtype)type->dtype;
    for (uint32_t k = 0; k < op->operand_count && k < 3; k++) {
        const grout_operand *operand = grout_module_get_operand(ref->module, op, k);
        from[k] = get_operand(ref, operand, &constants[k], &counts[k]);
        if (k == 0) {
            dtype = grout_module_get_operand_dtype(ref->module, operand);
            if (operand->kind == GROUT_OPERAND_VALUE) {
                dtype = (grout_dtype)grout_module_get_type(ref->module, operand->id)->dtype;
            }
        }
    }
    num *result = define(ref, op->first_result);
    const int64_t count = grout_type_get_count(type);
    for (int64_t i = 0; i < count; i++) {
        num in[3] = {{0, 0}, {0, 0}, {0, 0}};
        for (uint32_t k = 0; k < op->operand_count && k < 3; k++) {
            in[k] = from[k][counts[k] == 1 ? 0 : i];
        }
        if (!rounding_apply((grout_opcode)op->opcode, dtype, (grout_dtype)type->dtype, in,
                            &result[i])) {
            ref->why = grout_op_get_info((grout_opcode)op->opcode)->text;
            return;
        }
    }
}

static void run_broadcast(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    num constant;
    int64_t from_count;
    const num *from = get_operand(ref, operand, &constant, &from_count);
    const grout_type from_type = grout_module_get_operand_type(ref->module, operand);
    const int64_t first = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM,
                                                    (int64_t)type->rank - from_type.rank);
    num *result = define(ref, op->first_result);
    const int64_t count = grout_type_get_count(type);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i, place = 0, stride = 1;
        for (int64_t d = (int64_t)type->rank - 1; d >= 0; d--) {
            const int64_t at = rest % type->dims[d], k = d - first;
            rest /= type->dims[d];
            if (k >= 0 && k < from_type.rank) {
                place += from_type.dims[k] == 1 ? 0 : at * stride;
                stride *= from_type.dims[k];
            }
        }
        result[i] = from[from_count == 1 ? 0 : place];
    }
}

static void run_iota(reference *ref, const grout_op *op) {
    const grout_type *type = grout_module_get_type(ref->module, op->first_result);
    const int64_t dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, 0);
    num *result = define(ref, op->first_result);
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < type->rank; d++) {
        inner *= type->dims[d];
    }
    for (int64_t i = 0; i < grout_type_get_count(type); i++) {
        result[i] = rounding_round((grout_dtype)type->dtype,
                                   (num){(double)(i / inner % type->dims[dim]), 0});
    }
}

static void run_reduce(reference *ref, const grout_op *op) {
    const grout_operand *operand = grout_module_get_operand(ref->module, op, 0);
    num constant;
    int64_t count;
    const num *from = get_operand(ref, operand, &constant, &count);
    const grout_type type = grout_module_get_operand_type(ref->module, operand);
    const int64_t dim = grout_op_get_attr_integer(ref->module, op, GROUT_ATTR_DIM, -1);
    int64_t inner = 1, extent = count;
    for (int64_t d = dim + 1; dim >= 0 && d < type.rank; d++) {
        inner *= type.dims[d];
    }
    if (dim >= 0) {
        extent = type.dims[dim];
    }
    num *result = define(ref, op->first_result);
    for (int64_t i = 0; i < count / extent; i++) {
        const num *first = from + i / inner * inner * extent + i % inner;
        result[i] = rounding_reduce((grout_opcode)op->opcode, (grout_dtype)type.dtype, first, inner,
                                    extent);
    }
}

static void run_load(reference *ref, const grout_op *op) {
    const box from = get_box(ref, grout_module_get_operand(ref->module, op, 0));
    num *result = define(ref, op->first_result);
    for (int64_t i = 0; i < from.count && ref->why == NULL; i++) {
        result[i] = read_box(&from, i);
    }
}

static void run_store(reference *ref, const grout_op *op) {
    const box to = get_box(ref, grout_module_get_operand(ref->module, op, 0));
    num constant;
    int64_t count;
    const num *from =
        get_operand(ref, grout_module_get_operand(ref->module, op, 1), &constant, &count);
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        write_box(&to, i, from[count == 1 ? 0 : i]);
    }
}

static void run_copy(reference *ref, const grout_op *op) {
    const box from = get_box(ref, grout_module_get_operand(ref->module, op, 0));
    const box to = get_box(ref, grout_module_get_operand(ref->module, op, 1));
    for (int64_t i = 0; i < to.count && ref->why == NULL; i++) {
        write_box(&to, i, read_box(&from, i));
    }
}

/* An operand of a wgmma as numbers, row-major; NULL without memory. */
static num *get_matrix(reference *ref, const grout_operand *operand, int64_t count) {
    num *result = calloc((size_t)count, sizeof *result);
    grout_view view;
    if (result != NULL && grout_module_get_view(ref->module, operand, &view)) {
        const box from = get_box(ref, operand);
        for (int64_t i = 0; i < count; i++) {
            result[i] = read_box(&from, i);
        }
    } else if (result != NULL) {
        memcpy(result, ref->values[operand->id], (size_t)count * sizeof *result);
    }
    return result;
}

static void run_wgmma(reference *ref, const grout_op *op) {
    const grout_operand *operands[3];
    grout_type types[3];
    for (uint32_t k = 0; k < 3; k++) {
        operands[k] = grout_module_get_operand(ref->module, op, k);
        types[k] = grout_module_get_operand_type(ref->module, operands[k]);
    }
    const int64_t m = types[0].dims[0], n = types[0].dims[1], depth = types[1].dims[1];
    const box acc = get_box(ref, operands[0]);
    num *a = get_matrix(ref, operands[1], m * depth);
    num *b = get_matrix(ref, operands[2], depth * n);
    for (int64_t i = 0; i < m * n && a != NULL && b != NULL; i++) {
        const rounding_dot dot = {.a = a + i / n * depth,
                                  .b = b + i % n,
                                  .b_stride = n,
                                  .depth = depth,
                                  .operand_dtype = (grout_dtype)types[1].dtype,
                                  .accumulator_dtype = (grout_dtype)types[0].dtype};
        write_box(&acc, i, rounding_dot_add(&dot, read_box(&acc, i)));
    }
    free(a);
    free(b);
}

static void run_axis(reference *ref, const grout_op *op) {
    const uint32_t axis = grout_module_get_operand(ref->module, op, 0)->id - 1;
    int64_t rest = ref->kernel->axes[axis].kind == GROUT_AXIS_THREADS ? ref->thread : ref->cta;
    for (uint32_t k = ref->kernel->axis_count; k-- > axis + 1;) {
        if (ref->kernel->axes[k].kind == ref->kernel->axes[axis].kind) {
            rest /= grout_kernel_get_axis_size(ref->module, ref->kernel_id, k);
        }
    }
    define(ref, op->first_result)[0].value =
        (double)(rest % grout_kernel_get_axis_size(ref->module, ref->kernel_id, axis));
}

/* ---- control --------------------------------------------------------------------------------- */

static void copy_value(reference *ref, const grout_operand *from, grout_value_id to) {
    num constant;
    int64_t count;
    const num *numbers = get_operand(ref, from, &constant, &count);
    const int64_t wanted = get_value_count(ref, to);
    num *copy = calloc((size_t)wanted, sizeof *copy);
    for (int64_t i = 0; copy != NULL && i < wanted; i++) {
        copy[i] = numbers[count == 1 ? 0 : i];
    }
    free(ref->values[to]);
    ref->values[to] = copy;
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
        const num *numbers =
            get_operand(ref, grout_module_get_operand(ref->module, yield, k), &constant, &have);
        const int64_t wanted = get_value_count(ref, first + k);
        taken[k] = calloc((size_t)wanted, sizeof **taken);
        for (int64_t i = 0; taken[k] != NULL && i < wanted; i++) {
            taken[k][i] = numbers[have == 1 ? 0 : i];
        }
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

static void run_for(reference *ref, const grout_op *op) {
    const grout_block *body = grout_module_get_block(ref->module, op->first_block);
    int64_t bounds[3];
    for (uint32_t k = 0; k < 3; k++) {
        bounds[k] = get_integer(ref, grout_module_get_operand(ref->module, op, k));
    }
    for (uint32_t k = 3; k < op->operand_count; k++) {
        copy_value(ref, grout_module_get_operand(ref->module, op, k), body->first_arg + k - 2);
    }
    for (int64_t i = bounds[0]; i < bounds[1] && ref->why == NULL; i += bounds[2]) {
        define(ref, body->first_arg)[0].value = (double)i;
        run_block(ref, op->first_block);
        take_yields(ref, op->first_block, body->first_arg + 1, op->operand_count - 3);
    }
    take_carries(ref, op, body->first_arg + 1);
}

static void run_while(reference *ref, const grout_op *op) {
    const grout_block *first = grout_module_get_block(ref->module, op->first_block);
    for (uint32_t k = 0; k < op->operand_count; k++) {
        copy_value(ref, grout_module_get_operand(ref->module, op, k), first->first_arg + k);
    }
    for (;;) {
        run_block(ref, op->first_block);
        const grout_op *cond = grout_module_get_op(ref->module, first->last);
        if (ref->why != NULL ||
            get_integer(ref, grout_module_get_operand(ref->module, cond, 0)) == 0) {
            break;
        }
        run_block(ref, op->first_block + 1);
        take_yields(ref, op->first_block + 1, first->first_arg, op->operand_count);
    }
    take_carries(ref, op, first->first_arg);
}

static void run_branch(reference *ref, const grout_op *op, uint32_t which) {
    if (which < op->block_count) {
        run_block(ref, op->first_block + which);
        take_yields(ref, op->first_block + which, op->first_result, op->result_count);
    }
}

/* NOLINTNEXTLINE(readability-function-size): one short case for each form */
static void run_op(reference *ref, const grout_op *op) {
    switch ((grout_form)grout_op_get_info((grout_opcode)op->opcode)->form) {
    case GROUT_FORM_UNARY:
    case GROUT_FORM_BINARY:
    case GROUT_FORM_COMPARE:
    case GROUT_FORM_TERNARY:
    case GROUT_FORM_SELECT:
    case GROUT_FORM_CONVERT:
    case GROUT_FORM_MATH:
    case GROUT_FORM_LAYOUT:
        run_elementwise(ref, op);
        return;
    case GROUT_FORM_BROADCAST:
        run_broadcast(ref, op);
        return;
    case GROUT_FORM_IOTA:
        run_iota(ref, op);
        return;
    case GROUT_FORM_REDUCE:
        run_reduce(ref, op);
        return;
    case GROUT_FORM_AXIS:
        run_axis(ref, op);
        return;
    case GROUT_FORM_LOAD:
        run_load(ref, op);
        return;
    case GROUT_FORM_STORE:
        run_store(ref, op);
        return;
    case GROUT_FORM_COPY_IN:
    case GROUT_FORM_COPY_OUT:
        run_copy(ref, op);
        return;
    case GROUT_FORM_WGMMA:
        run_wgmma(ref, op);
        return;
    case GROUT_FORM_FOR:
        run_for(ref, op);
        return;
    case GROUT_FORM_WHILE:
        run_while(ref, op);
        return;
    case GROUT_FORM_IF:
        run_branch(ref, op,
                   get_integer(ref, grout_module_get_operand(ref->module, op, 0)) != 0 ? 0 : 1);
        return;
    case GROUT_FORM_SCOPED:
        clear_objects(ref, true); /* its accumulators start at zero; others' loops are around it */
        run_branch(ref, op, 0);
        return;
    case GROUT_FORM_BARRIER_TEST:
    case GROUT_FORM_BARRIER_COUNT:
    case GROUT_FORM_PARITY_WAIT:
    case GROUT_FORM_PARITY_TEST:
    case GROUT_FORM_SEMAPHORE:
    case GROUT_FORM_SEMAPHORE_READ:
    case GROUT_FORM_NAMED_BARRIER:
    case GROUT_FORM_FETCH:
    case GROUT_FORM_COMPARE_SWAP:
    case GROUT_FORM_COPY:
    case GROUT_FORM_STORE_ASYNC:
    case GROUT_FORM_DESCRIPTOR:
    case GROUT_FORM_WARP_MAP:
    case GROUT_FORM_SPECIALIZE:
    case GROUT_FORM_BARRIER: /* orders, and here everything has an order */
    case GROUT_FORM_FENCE:
    case GROUT_FORM_WAIT:
    case GROUT_FORM_PRINT:
    case GROUT_FORM_SCRATCH:
    case GROUT_FORM_YIELD:
    case GROUT_FORM_COND:
    case GROUT_FORM_NONE:
    case GROUT_FORM_COUNT:
        return;
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

bool reference_run(const grout_module *bound, grout_kernel_id kernel, reference_array *arrays,
                   const char **why_out) {
    const uint32_t values = grout_module_get_value_count(bound);
    const uint32_t objects = grout_module_get_object_count(bound);
    reference ref = {.module = bound,
                     .kernel_id = kernel,
                     .kernel = grout_module_get_kernel(bound, kernel),
                     .arrays = arrays};
    ref.values = calloc(values, sizeof(num *));
    ref.objects = calloc(objects, sizeof *ref.objects);
    set_scalars(&ref);
    for (; ref.cta < grout_kernel_get_grid_size(bound, kernel) && ref.why == NULL; ref.cta++) {
        clear_objects(&ref, false);
        for (ref.thread = 0;
             ref.thread < grout_kernel_get_thread_count(bound, kernel) && ref.why == NULL;
             ref.thread++) {
            clear_objects(&ref, true);
            run_block(&ref, ref.kernel->body);
        }
    }
    for (uint32_t i = 0; i < values; i++) {
        free(ref.values[i]);
    }
    for (uint32_t i = 0; i < objects; i++) {
        free(ref.objects[i].numbers);
        free(ref.objects[i].is_written);
    }
    free(ref.values);
    free(ref.objects);
    *why_out = ref.why;
    return ref.why == NULL;
}
